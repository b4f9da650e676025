//! A stored version of a page, for a terminal.

use std::fmt::Write as _;

use super::diff::harmless;
use super::{Screen, bytes, number};
use crate::look::show::ShownVersion;

/// A short heading: what it is, when it came, and how it can be told from others.
pub fn heading(shown: &ShownVersion, screen: &Screen) -> String {
    let mut text = harmless(&shown.url) + "\n";
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<9} {}", harmless(&value));
    };
    if let Some(title) = &shown.title {
        line("title", title.clone());
    }
    let confirmed = match shown.confirmed_at == shown.fetched_at {
        true => String::new(),
        false => format!(", found unchanged until {}", screen.time(shown.confirmed_at)),
    };
    line("fetched", format!("{}{confirmed}", screen.time(shown.fetched_at)));
    if let Some(status) = shown.status {
        let from =
            shown.remote_address.as_ref().map_or_else(String::new, |address| format!(" from {address}"));
        line("status", format!("{status}{from}"));
    }
    line("type", shown.content_type.clone().unwrap_or_else(|| "not known".to_owned()));
    line("size", format!("{} ({} bytes)", bytes(shown.body_bytes), number(shown.body_bytes)));
    line("sha-256", shown.sha256.clone());
    text
}

/// The heading and the text.
pub fn with_text(shown: &ShownVersion, screen: &Screen) -> String {
    let text = if shown.text.is_empty() {
        "it has no text; `freshet show URL --out FILE` writes its bytes\n".to_owned()
    } else {
        lines(&shown.text)
    };
    format!("{}\n{text}", heading(shown, screen))
}

/// A text that a terminal shows and does not obey, line by line.
pub fn lines(text: &str) -> String {
    let mut shown: String = text.lines().map(|line| harmless(line) + "\n").collect();
    if shown.is_empty() {
        shown.push('\n');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn a_terminal_gets_a_short_heading_and_a_text_that_it_does_not_obey() {
        let mut shown = ShownVersion {
            url: "https://example.org/".to_owned(),
            page_id: 1,
            title: Some("Example\u{1b}[1m".to_owned()),
            state: "alive".to_owned(),
            version_id: 2,
            fetched_at: Timestamp::from_seconds(1_794_800_714),
            confirmed_at: Timestamp::from_seconds(1_794_804_314),
            redirect_to: None,
            status: Some(200),
            protocol: Some("HTTP/1.1".to_owned()),
            remote_address: Some("192.0.2.7".to_owned()),
            content_type: Some("text/html\u{1b}[31m".to_owned()),
            headers: None,
            headers_cut: false,
            body_bytes: 1500,
            sha256: "ba78".to_owned(),
            text: "one\n\u{1b}]0;two".to_owned(),
            body: Vec::new(),
            head: None,
        };
        let expected = "https://example.org/\n\
                        title     Example␛[1m\n\
                        fetched   2026-11-16 03:45:14 UTC, found unchanged until 2026-11-16 04:45:14 UTC\n\
                        status    200 from 192.0.2.7\n\
                        type      text/html␛[31m\n\
                        size      1.5 kB (1,500 bytes)\n\
                        sha-256   ba78\n\n\
                        one\n␛]0;two\n";
        assert_eq!(with_text(&shown, &Screen::plain()), expected);
        shown.text.clear();
        assert!(
            with_text(&shown, &Screen::plain())
                .ends_with("it has no text; `freshet show URL --out FILE` writes its bytes\n")
        );
    }
}
