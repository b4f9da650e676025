//! Why a visit brought nothing, in plain words.
//!
//! The outcome and the HTTP status are stored with every visit; where these don't say it all (which fault a certificate
//! has), the words are stored too. [`in_words`] puts the three together, for every view and for the log.

use std::net::IpAddr;

use reqwest::StatusCode;

/// The reason of an outcome, by its code, its HTTP status and the words that were stored with it. `None` for outcomes that
/// need none: the page came, is unchanged, or leads to another page.
pub fn in_words(outcome: &str, status: Option<u16>, stored: Option<&str>) -> Option<String> {
    if matches!(outcome, "fetched" | "not-modified" | "moved" | "redirected") {
        return None;
    }
    if let Some(stored) = stored {
        return Some(stored.to_owned());
    }
    let answer = status.map_or("an answer".to_owned(), http_status);
    Some(match outcome {
        "missing" | "server-error" | "http-error" => answer,
        "throttled" => format!("{answer}: the host asks to come back later"),
        "soft-missing" => format!("{answer}, but the page says that it does not exist"),
        "soft-busy" => format!("{answer}, but the page asks to come back later"),
        "empty" => format!("{answer}, but without the content that the page had before"),
        "wall" => format!(
            "{answer}, but a check for robots, a block or a question for consent stands before the page"
        ),
        "redirect-bad-location" => format!("{answer}, and does not say where the page is"),
        "redirect-loop" => "it redirects in a circle".to_owned(),
        "redirect-too-many" => "more redirects in a row than `redirects` in `[limits]` allows".to_owned(),
        "redirect-out-of-scope" => {
            "it redirects out of the scope, or to a URL that is never fetched".to_owned()
        }
        "dns" => "DNS lookup failed".to_owned(),
        "refused" => "connection refused".to_owned(),
        "timed-out" => "connection timed out".to_owned(),
        "connect" => "no connection to the host".to_owned(),
        "tls" => "TLS: no secure connection".to_owned(),
        "no-answer" => "timed out: connected, but no answer came in time".to_owned(),
        "too-slow" => "timed out: the body did not end in time".to_owned(),
        "hung-up" => "the server closed the connection before it answered".to_owned(),
        "cut-off" => "the server closed the connection within the body".to_owned(),
        "malformed" => "the answer is not valid HTTP".to_owned(),
        "encoding" => "the content encoding can't be decoded".to_owned(),
        "too-large" => "the body is larger than `body_bytes` in `[limits]` allows".to_owned(),
        "out-of-files" => "freshet had no file descriptor left".to_owned(),
        "robots" => "robots.txt forbids it".to_owned(),
        "address" => "the address is private or reserved".to_owned(),
        other => other.to_owned(),
    })
}

/// `HTTP 404 Not Found`
pub fn http_status(status: u16) -> String {
    let phrase = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    match phrase {
        Some(phrase) => format!("HTTP {status} {phrase}"),
        None => format!("HTTP {status}"),
    }
}

/// A look-up failed; `why` is what the system's resolver says.
pub(super) fn dns(why: &str) -> String {
    let why = why.strip_prefix("failed to lookup address information: ").unwrap_or(why);
    format!("DNS lookup failed: {why}")
}

/// An address that may not be reached.
pub(super) fn address(address: IpAddr) -> String {
    format!("the address {address} is private or reserved")
}

/// The host asks for time.
pub(super) fn throttled(status: u16, seconds: u64) -> String {
    format!("{}: the host asks to come back in {seconds} s", http_status(status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::visit::Outcome;

    #[test]
    fn every_outcome_that_brings_nothing_has_a_reason() {
        for outcome in Outcome::PLAIN {
            let code = outcome.code();
            let words = in_words(code, Some(500), None);
            let needs_none = matches!(outcome, Outcome::Fetched | Outcome::NotModified);
            assert_eq!(words.is_none(), needs_none, "{code}");
            assert_ne!(words.as_deref(), Some(code), "{code} has words of its own");
        }
        assert_eq!(in_words("moved", Some(301), None), None);
    }

    #[test]
    fn stored_words_come_first_and_a_status_has_its_phrase() {
        assert_eq!(in_words("tls", None, Some("TLS: it expired")).as_deref(), Some("TLS: it expired"));
        assert_eq!(in_words("missing", Some(410), None).as_deref(), Some("HTTP 410 Gone"));
        assert_eq!(in_words("http-error", Some(599), None).as_deref(), Some("HTTP 599"));
        let none = dns("failed to lookup address information: Name or service not known");
        assert_eq!(none, "DNS lookup failed: Name or service not known");
    }
}
