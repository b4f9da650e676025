//! Lines of a text file, one at a time, each with its number; what is no text is told with its place.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::DatasetError;
use super::record::FARTHEST_MS;

/// No line is longer: a file without line ends is not one of lines, and must not fill the memory.
const LONGEST_BYTES: usize = 256 << 20;

/// A file that is read line by line.
pub struct Lines {
    path: PathBuf,
    input: BufReader<File>,
    number: u64,
    buffer: Vec<u8>,
}

impl Lines {
    pub fn open(path: &Path) -> Result<Self, DatasetError> {
        let file = File::open(path).map_err(DatasetError::read(path))?;
        let input = BufReader::with_capacity(1 << 18, file);
        Ok(Self { path: path.to_owned(), input, number: 0, buffer: Vec::new() })
    }

    /// The next line without its end, and its number from 1. An empty file is a mistake, an empty line is not.
    pub fn next_line(&mut self) -> Result<Option<(u64, &str)>, DatasetError> {
        self.buffer.clear();
        loop {
            let piece = self.input.fill_buf().map_err(DatasetError::read(&self.path))?;
            if piece.is_empty() {
                break;
            }
            let (used, ended) = match memchr::memchr(b'\n', piece) {
                Some(end) => (end + 1, true),
                None => (piece.len(), false),
            };
            self.buffer.extend_from_slice(piece.get(..used).unwrap_or_default());
            self.input.consume(used);
            if ended {
                break;
            }
            if self.buffer.len() > LONGEST_BYTES {
                return Err(self.wrong(LONGEST_BYTES, "this line has no end; is this a text file?"));
            }
        }
        if self.buffer.is_empty() {
            return match self.number {
                0 => Err(DatasetError::at(&self.path, 1, 1, "the file is empty; it must have a line a page")),
                _ => Ok(None),
            };
        }
        self.number += 1;
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line) {
            Ok(text) => Ok(Some((self.number, text))),
            Err(error) => {
                let wrong = "this is not UTF-8; save the file as UTF-8 text";
                Err(DatasetError::at(&self.path, self.number, error.valid_up_to() + 1, wrong))
            }
        }
    }

    fn wrong(&self, column: usize, wrong: &str) -> DatasetError {
        DatasetError::at(&self.path, self.number + 1, column, wrong)
    }
}

/// Names go into tables with tabs: they have no control characters and are not empty.
pub fn check_name<'a>(what: &str, name: &'a str) -> Result<&'a str, String> {
    if name.is_empty() {
        return Err(format!("the {what} is empty"));
    }
    match name.chars().find(|letter| letter.is_control()) {
        Some(letter) => Err(format!("the {what} has the control character {letter:?}")),
        None => Ok(name),
    }
}

/// A number that is finite and not below 0.
pub fn check_weight(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("`{text}` is no weight; it must be a number, 0 or more"))
}

/// A time, as `2012-11-30`, `2012-11-30T08:00:00Z` or milliseconds since 1970.
pub fn parse_time(text: &str) -> Option<i64> {
    if let Ok(time_ms) = text.parse::<i64>() {
        return Some(time_ms).filter(|time_ms| time_ms.unsigned_abs() <= FARTHEST_MS.unsigned_abs());
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(time.as_millisecond());
    }
    let date: jiff::civil::Date = text.parse().ok()?;
    let midnight = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(midnight.timestamp().as_millisecond())
}

/// A time as people read it: the date alone if that says it all.
pub fn show_time(time_ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(time_ms) {
        Ok(time) if time_ms.rem_euclid(super::record::DAY_MS) == 0 => {
            time.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
        }
        Ok(time) => time.to_string(),
        Err(_) => time_ms.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<(u64, String)>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f");
        std::fs::write(&path, bytes).expect("a file");
        let mut lines = Lines::open(&path).map_err(|error| error.to_string())?;
        let mut found = Vec::new();
        loop {
            match lines.next_line() {
                Ok(Some((number, line))) => found.push((number, line.to_owned())),
                Ok(None) => return Ok(found),
                Err(error) => {
                    return Err(error.to_string().rsplit("/f").next().unwrap_or_default().to_owned());
                }
            }
        }
    }

    #[test]
    fn lines_have_numbers_and_lose_their_ends() {
        let line = |number, text: &str| (number, text.to_owned());
        assert_eq!(all(b"a\r\n\nb"), Ok(vec![line(1, "a"), line(2, ""), line(3, "b")]));
        assert!(all(b"").expect_err("empty").contains(":1:1: the file is empty"));
        assert!(all(b"ok\nab\xffc\n").expect_err("no text").contains(":2:3: this is not UTF-8"));
    }

    #[test]
    fn times_are_read_in_three_ways() {
        assert_eq!(parse_time("1970-01-02"), Some(86_400_000));
        assert_eq!(parse_time("1970-01-02T00:00:00.5Z"), Some(86_400_500));
        assert_eq!(parse_time("-5"), Some(-5));
        assert_eq!(parse_time("soon"), None);
        assert_eq!([86_400_000, 86_400_500].map(show_time), ["1970-01-02", "1970-01-02T00:00:00.5Z"]);
        for time_ms in [-1, 0, 86_399_999, 1_700_000_000_123] {
            assert_eq!(parse_time(&show_time(time_ms)), Some(time_ms));
        }
    }
}
