//! Lines of a text file, one at a time, each with its number. Bytes that are not UTF-8 are an error with their place.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::DatasetError;

/// Longest line: a file without line ends must not fill the memory.
const LONGEST_BYTES: usize = 256 << 20;

/// A file that is read line by line.
pub(super) struct TextLines {
    path: PathBuf,
    input: BufReader<File>,
    number: u64,
    buffer: Vec<u8>,
}

impl TextLines {
    pub(super) fn open(path: &Path) -> Result<Self, DatasetError> {
        let file = File::open(path).map_err(DatasetError::read(path))?;
        let input = BufReader::with_capacity(1 << 18, file);
        Ok(Self { path: path.to_owned(), input, number: 0, buffer: Vec::new() })
    }

    /// The next line without its end, and its number from 1. An empty file is a mistake, an empty line is not.
    pub(super) fn next_line(&mut self) -> Result<Option<(u64, &str)>, DatasetError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<(u64, String)>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f");
        std::fs::write(&path, bytes).expect("a file");
        let mut lines = TextLines::open(&path).map_err(|error| error.to_string())?;
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
}
