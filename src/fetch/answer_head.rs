//! An answer without its body: what is kept beside a stored content.
//!
//! It holds what the server said, and nothing of what was asked: a key that was sent never gets here.

use std::net::IpAddr;

use super::visit::Answer;
use crate::time::Timestamp;

/// Bytes of header lines that are kept of an answer. Most answers have less than one kibibyte.
pub const MOST_HEADER_BYTES: usize = 8 << 10;

/// The head of an answer, with the time and the address that it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerHead {
    /// When the request was sent.
    pub at: Timestamp,
    /// The address that answered, if the connection told it.
    pub address: Option<IpAddr>,
    /// `HTTP/1.1`, `HTTP/2.0`.
    pub protocol: String,
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case with their values, in the order in which the HTTP client gives them: a name stands where it came
    /// first, with all its values in their order. An encoding of the body that was undone is not named any more, nor the
    /// length that the body had in it.
    pub headers: Vec<(String, Vec<u8>)>,
    /// There were more headers than are kept.
    pub is_cut: bool,
}

impl AnswerHead {
    /// The head of an answer to a request that was sent at this time.
    pub fn of(answer: &Answer, at: Timestamp) -> Self {
        let mut head = Self {
            at,
            address: answer.address,
            protocol: format!("{:?}", answer.protocol),
            status: answer.status,
            headers: Vec::with_capacity(answer.headers.len()),
            is_cut: false,
        };
        let mut left = MOST_HEADER_BYTES;
        for (name, value) in &answer.headers {
            // A line has a colon, a space, and two bytes at its end.
            match left.checked_sub(name.as_str().len() + value.len() + 4) {
                Some(rest) => left = rest,
                None => {
                    head.is_cut = true;
                    break;
                }
            }
            head.headers.push((name.as_str().to_owned(), value.as_bytes().to_vec()));
        }
        head
    }

    /// The first value of a header; bytes that are not UTF-8 are replaced.
    pub fn header(&self, wanted: &str) -> Option<String> {
        let found = self.headers.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
    }

    /// As HTTP/1 writes it, without the empty line at its end: the status line and the headers, each with CR LF. The words
    /// after the status are not known.
    pub fn to_block(&self) -> Vec<u8> {
        let mut block = format!("{} {}\r\n", self.protocol, self.status).into_bytes();
        for (name, value) in &self.headers {
            block.extend_from_slice(name.as_bytes());
            block.extend_from_slice(b": ");
            block.extend_from_slice(value);
            block.extend_from_slice(b"\r\n");
        }
        block
    }

    /// Undoes [`AnswerHead::to_block`]; `None` if it is no such block.
    pub fn from_block(block: &[u8], at: Timestamp, address: Option<IpAddr>, is_cut: bool) -> Option<Self> {
        let mut lines = block.strip_suffix(b"\r\n")?.split(|byte| *byte == b'\n');
        let mut next = || lines.next().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let (protocol, status) = std::str::from_utf8(next()?).ok()?.split_once(' ')?;
        let (protocol, status) = (protocol.to_owned(), status.parse().ok()?);
        let mut headers = Vec::new();
        while let Some(line) = next() {
            let colon = line.windows(2).position(|pair| pair == b": ")?;
            let name = std::str::from_utf8(line.get(..colon)?).ok()?.to_owned();
            headers.push((name, line.get(colon + 2..)?.to_vec()));
        }
        Some(Self { at, address, protocol, status, headers, is_cut })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    fn answer(headers: &[(&'static str, &[u8])]) -> Answer {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), HeaderValue::from_bytes(value).expect("a value"));
        }
        Answer {
            status: 200,
            protocol: reqwest::Version::HTTP_11,
            headers: map,
            body: Bytes::new(),
            cut: false,
            address: Some(IpAddr::from([127, 0, 0, 1])),
            place: None,
        }
    }

    #[test]
    fn a_head_comes_back_from_its_block_with_duplicates_and_strange_bytes() {
        let came = answer(&[
            ("server", b"a: b"),
            ("set-cookie", b"one=1"),
            ("x-name", b"caf\xe9"),
            ("set-cookie", b"two=2"),
            ("x-empty", b""),
        ]);
        let head = AnswerHead::of(&came, Timestamp::from_seconds(7));
        let names: Vec<&str> = head.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["server", "set-cookie", "set-cookie", "x-name", "x-empty"]);
        assert_eq!((head.header("server").as_deref(), head.header("nothing")), (Some("a: b"), None));
        assert_eq!(head.header("x-name").as_deref(), Some("caf\u{fffd}"));
        let block = head.to_block();
        assert!(block.starts_with(b"HTTP/1.1 200\r\nserver: a: b\r\nset-cookie: one=1\r\n"));
        assert_eq!(AnswerHead::from_block(&block, head.at, head.address, false), Some(head));
    }

    #[test]
    fn headers_without_end_are_cut_and_the_head_says_so() {
        let long = vec![b'x'; MOST_HEADER_BYTES / 2];
        let head = AnswerHead::of(
            &answer(&[("a", &long), ("b", &long), ("c", b"short")]),
            Timestamp::from_seconds(0),
        );
        assert!(head.is_cut && head.headers.len() == 1, "{} headers", head.headers.len());
        assert!(head.to_block().len() <= MOST_HEADER_BYTES + 20);
    }

    #[test]
    fn a_block_that_makes_no_sense_is_nothing() {
        for wrong in
            [&b""[..], b"HTTP/1.1 200", b"HTTP/1.1\r\n", b"HTTP/1.1 x\r\n", b"HTTP/1.1 200\r\nnocolon\r\n"]
        {
            assert_eq!(AnswerHead::from_block(wrong, Timestamp::from_seconds(0), None, false), None);
        }
    }
}
