//! A workload as a file: a query a line.
//!
//! ```text
//! # what people ask, and how often
//! breast cancer<tab>12
//! openbsd install
//! ```
//!
//! After the query there may be a tab and its frequency, 1 unless given. Blank lines are skipped, and those that begin with `#`. What
//! the words of a query are is for the caller to say. What must stay true: a file of any bytes is read without a panic and in
//! little memory, and the first fault stops it, with its line and the repair: a workload with holes would change what is measured.

use std::io::{self, BufRead};

use super::workload::{Gathering, Workload, WorkloadError, WorkloadFault};

/// The longest line of a workload file, in bytes. No one types that much into a search field.
pub const LONGEST_LINE_BYTES: usize = 16 * 1024;

/// Reads a workload file. `name` is what messages call it; `split` gives the terms of a query.
pub fn read(
    name: &str,
    mut file: impl BufRead,
    split: &dyn Fn(&str) -> Vec<String>,
) -> Result<Workload, WorkloadError> {
    let mut gathering = Gathering::default();
    let mut bytes = Vec::new();
    for line in 1.. {
        let wrong = |fault| WorkloadError::Line { file: name.to_owned(), line, fault };
        let read = next_line(&mut file, LONGEST_LINE_BYTES, &mut bytes)
            .map_err(|source| WorkloadError::Read { file: name.to_owned(), source })?;
        match read {
            LineRead::End => break,
            // Comments of any length are skipped like the others.
            LineRead::Cut if bytes.trim_ascii_start().starts_with(b"#") => {}
            LineRead::Cut => return Err(wrong(WorkloadFault::TooLong(LONGEST_LINE_BYTES))),
            LineRead::Whole => {
                let text =
                    if line == 1 { bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes) } else { &bytes };
                add_line(text, split, &mut gathering).map_err(wrong)?;
            }
        }
    }
    gathering.finish().map_err(|fault| WorkloadError::File { file: name.to_owned(), fault })
}

fn add_line(
    bytes: &[u8],
    split: &dyn Fn(&str) -> Vec<String>,
    gathering: &mut Gathering,
) -> Result<(), WorkloadFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| WorkloadFault::NotText)?.trim_end_matches('\r');
    if text.trim().is_empty() || text.trim_start().starts_with('#') {
        return Ok(());
    }
    let mut fields = text.splitn(3, '\t');
    let query = fields.next().unwrap_or_default();
    if let Some(control) = text.chars().find(|letter| letter.is_control() && *letter != '\t') {
        return Err(WorkloadFault::ControlCharacter(u32::from(control)));
    }
    let frequency = fields.next().map_or(Ok(1.0), |written| {
        let number = written.trim().parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite());
        number.ok_or_else(|| WorkloadFault::Frequency(shortened(written.trim())))
    })?;
    if let Some(more) = fields.next() {
        return Err(WorkloadFault::ExtraField(shortened(more)));
    }
    let terms = split(query);
    if terms.is_empty() {
        return Err(WorkloadFault::NoTerms(shortened(query.trim())));
    }
    gathering.add(terms, frequency)
}

/// A text as messages quote it.
fn shortened(text: &str) -> String {
    const MOST_LETTERS: usize = 60;
    let mut shown: String = text.chars().take(MOST_LETTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// How much of a line was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineRead {
    /// There is none: the file has ended.
    End,
    /// All of it.
    Whole,
    /// Its beginning: the line was longer, and the rest is skipped.
    Cut,
}

/// Reads the next line into `line`, without its end; of a longer line than `most` bytes only the beginning is kept in memory.
pub(super) fn next_line(file: &mut impl BufRead, most: usize, line: &mut Vec<u8>) -> io::Result<LineRead> {
    line.clear();
    let (mut has_bytes, mut is_cut) = (false, false);
    loop {
        let buffer = match file.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result?,
        };
        let end = memchr::memchr(b'\n', buffer);
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        has_bytes |= !buffer.is_empty();
        let kept = part.get(..most.saturating_sub(line.len())).unwrap_or(part);
        is_cut |= kept.len() < part.len();
        line.extend_from_slice(kept);
        let (used, is_end) = (part.len() + usize::from(end.is_some()), buffer.is_empty());
        file.consume(used);
        if end.is_some() || is_end {
            return Ok(match (has_bytes, is_cut) {
                (false, _) => LineRead::End,
                (true, false) => LineRead::Whole,
                (true, true) => LineRead::Cut,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    }

    fn read_text(text: impl AsRef<[u8]>) -> Result<Workload, WorkloadError> {
        read("queries.txt", text.as_ref(), &words)
    }

    fn fault(text: impl AsRef<[u8]>) -> String {
        read_text(text).expect_err("a fault").to_string()
    }

    #[test]
    fn a_file_gives_its_queries() {
        let workload = read_text(
            "\u{FEFF}# asked in May\r\n\r\nBreast cancer\t12\r\n  # indented\nopenbsd\ncancer, breast\t0.5\nc# tutorial\t1e2\n  ",
        )
        .expect("a workload");
        let queries: Vec<(String, f64)> =
            workload.queries().iter().map(|query| (query.terms.join(" "), query.frequency)).collect();
        let expected = [("breast cancer", 12.5), ("c tutorial", 100.0), ("openbsd", 1.0)];
        assert_eq!(queries, expected.map(|(query, frequency)| (query.to_owned(), frequency)));
    }

    #[test]
    fn a_bad_line_says_where_it_is_what_is_wrong_and_what_to_do() {
        for (text, message) in [
            ("a\n# b\nb\tmany", "queries.txt:3: frequency `many` is not a number above 0"),
            ("a\tnan", "queries.txt:1: frequency `nan` is not a number above 0"),
            ("a\tinf", "queries.txt:1: frequency `inf` is not a number above 0"),
            ("a\t-2", "queries.txt:1: frequency `-2` is not a number above 0"),
            ("a\t0", "queries.txt:1: frequency `0` is not a number above 0"),
            ("a\t", "queries.txt:1: frequency `` is not a number above 0"),
            ("a\t2\t3", "queries.txt:1: `3` after the frequency is not expected"),
            ("\n???\t2", "queries.txt:2: query `???` has no words"),
            ("\t2", "queries.txt:1: query `` has no words"),
            ("a\u{7}b", "queries.txt:1: control character `U+0007` in a query"),
            ("a\0", "queries.txt:1: control character `U+0000` in a query"),
            ("", "queries.txt: has no queries"),
            ("# nothing\n\n", "queries.txt: has no queries"),
        ] {
            assert_eq!(fault(text), message);
        }
        assert_eq!(fault(b"a\n\xFF\xFE\n"), "queries.txt:2: the line is not UTF-8");
        assert!(read_text("a\tx").expect_err("a fault").hint().contains("after the tab"));
    }

    #[test]
    fn a_line_without_end_is_refused_and_not_kept() {
        let long = "x".repeat(10_000_000);
        assert_eq!(fault(format!("a\n{long}\nb")), "queries.txt:2: the line is longer than 16384 bytes");
        assert_eq!(read_text(format!("a\n#{long}\nb")).expect("a workload").queries().len(), 2);
        assert!(fault(format!("a\t{}", "x".repeat(9000))).len() < 300);
        let mut line = Vec::new();
        let mut file = long.as_bytes();
        assert_eq!(next_line(&mut file, 10, &mut line).expect("read"), LineRead::Cut);
        assert_eq!((line.len(), next_line(&mut file, 10, &mut line).expect("read")), (10, LineRead::End));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        let error = read("queries.txt", io::BufReader::new(Broken), &words).expect_err("an error");
        assert_eq!(error.to_string(), "queries.txt: the disk is gone");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_text(bytes);
        }

        #[test]
        fn lines_are_those_of_the_file(text in "[ab\n]{0,40}", size in 1_usize..10) {
            let mut file = io::BufReader::with_capacity(size, text.as_bytes());
            let (mut line, mut lines) = (Vec::new(), Vec::new());
            while next_line(&mut file, 100, &mut line).expect("read") == LineRead::Whole {
                lines.push(String::from_utf8(line.clone()).expect("text"));
            }
            prop_assert_eq!(lines, text.lines().collect::<Vec<_>>());
        }
    }
}
