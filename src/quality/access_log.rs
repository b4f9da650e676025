//! A workload from the log of a web server: the searches that its visitors made.
//!
//! The log is in the common or combined format. The request stands between double quotes, and the query in a parameter of its target:
//!
//! ```text
//! 192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET /search?q=breast+cancer HTTP/1.1" 200 2326 "-" "Mozilla/5.0"
//! ```
//!
//! Each request is worth 1. A line without the parameter is skipped and counted: a log is full of other requests, so none of its lines
//! is an error.

use std::borrow::Cow;
use std::io::BufRead;

use url::form_urlencoded;

use super::workload::{Gathering, Workload, WorkloadError, WorkloadFault};
use super::workload_file::{LineRead, next_line};

/// The longest line of a log that is read, in bytes. Servers refuse longer requests: 8 KB is their usual limit.
const LONGEST_LINE_BYTES: usize = 64 * 1024;

/// The searches of an access log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedQueries {
    /// The queries, each with the number of its requests.
    pub workload: Workload,
    /// Lines that had a query.
    pub used: u64,
    /// Lines that had none.
    pub skipped: u64,
}

/// Reads an access log. `name` is what messages call it, `parameter` the part of the target that has the query (`q` as a rule), and
/// `split` gives the terms of a query.
pub fn read(
    name: &str,
    mut log: impl BufRead,
    parameter: &str,
    split: &dyn Fn(&str) -> Vec<String>,
) -> Result<LoggedQueries, WorkloadError> {
    let mut gathering = Gathering::default();
    let (mut used, mut skipped, mut line) = (0, 0, Vec::new());
    loop {
        let read = next_line(&mut log, LONGEST_LINE_BYTES, &mut line)
            .map_err(|source| WorkloadError::Read { file: name.to_owned(), source })?;
        let query = match read {
            LineRead::End => break,
            LineRead::Cut => None,
            LineRead::Whole => query_of(&line, parameter),
        };
        let is_used = query.is_some_and(|query| gathering.add(split(&query), 1.0).is_ok());
        *(if is_used { &mut used } else { &mut skipped }) += 1;
    }
    let workload = gathering.finish().map_err(|fault| WorkloadError::File {
        file: name.to_owned(),
        fault: match fault {
            WorkloadFault::Empty => WorkloadFault::NoParameter(parameter.to_owned()),
            other => other,
        },
    })?;
    Ok(LoggedQueries { workload, used, skipped })
}

/// The query of a log line: percent-decoded, with a plus for a space, and control characters as spaces. The last parameter of the
/// name counts.
fn query_of(line: &[u8], parameter: &str) -> Option<String> {
    let request = request_of(line)?;
    let target = request.split(|byte| *byte == b' ').nth(1)?;
    let target = target.split(|byte| *byte == b'#').next()?;
    let at = memchr::memchr(b'?', target)?;
    let query = form_urlencoded::parse(target.get(at + 1..)?).filter(|(name, _)| name == parameter).last()?.1;
    Some(query.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect())
}

/// The request of a log line: what stands between its first double quotes. Servers write a quote inside it as `\"`, and other
/// bytes as `\xHH`; these are undone.
fn request_of(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    let rest = line.get(memchr::memchr(b'"', line)? + 1..)?;
    let end = memchr::memchr2(b'"', b'\\', rest)?;
    if rest.get(end) == Some(&b'"') {
        return rest.get(..end).map(Cow::Borrowed);
    }
    let (mut request, mut bytes) = (Vec::new(), rest);
    loop {
        let (first, more) = bytes.split_first()?;
        bytes = more;
        match first {
            b'"' => return Some(Cow::Owned(request)),
            b'\\' => {
                let (escaped, more) = bytes.split_first()?;
                bytes = more;
                let code = bytes.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                    Some(byte) if *escaped == b'x' => {
                        request.push(byte);
                        bytes = bytes.get(2..)?;
                    }
                    _ => request.push(*escaped),
                }
            }
            other => request.push(*other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn line(target: &str) -> String {
        format!(
            "192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] \"GET {target} HTTP/1.1\" 200 23 \"-\" \"Mozilla/5.0\""
        )
    }

    fn queries(log: impl AsRef<[u8]>, parameter: &str) -> (Vec<(String, f64)>, u64, u64) {
        let read = read("access.log", log.as_ref(), parameter, &words).expect("queries");
        let queries = read.workload.queries().iter().map(|query| (query.terms.join(" "), query.frequency));
        (queries.collect(), read.used, read.skipped)
    }

    #[test]
    fn searches_are_counted_and_other_requests_are_skipped() {
        let log = [
            line("/search?q=breast+cancer"),
            line("/search?lang=en&q=cancer%20breast&page=2#top"),
            line("/search?q=caf%C3%A9"),
            line("/"),
            line("/search?query=else"),
            line("/search?q="),
            "nonsense".to_owned(),
            "\"\" - \"GET".to_owned(),
            line(&format!("/search?q={}", "x".repeat(100_000))),
        ]
        .join("\n");
        let expected = [("breast cancer".to_owned(), 2.0), ("café".to_owned(), 1.0)];
        assert_eq!(queries(&log, "q"), (expected.to_vec(), 3, 6));
        assert_eq!(queries(&log, "query"), (vec![("else".to_owned(), 1.0)], 1, 8));
    }

    #[test]
    fn what_servers_escape_is_read() {
        let log = "h - - [d] \"GET /?q=\\\"new+york\\\" HTTP/1.1\" 200 1\nh - - [d] \"GET /?q=caf\\xc3\\xa9%00x HTTP/1.1\" 200 1\n";
        let expected = [("\"new york\"".to_owned(), 1.0), ("café x".to_owned(), 1.0)];
        assert_eq!(queries(log, "q"), (expected.to_vec(), 2, 0));
    }

    #[test]
    fn a_log_without_searches_says_what_to_do() {
        for log in [String::new(), line("/index.html")] {
            let error = read("access.log", log.as_bytes(), "q", &words).expect_err("no queries");
            assert_eq!(error.to_string(), "access.log: no line has a query in the parameter `q`");
            assert!(error.hint().starts_with("name the parameter"));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'\\'), Just(b'?')], 0..200)) {
            let _ = read("access.log", &bytes[..], "q", &words);
        }
    }
}
