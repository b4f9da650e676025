//! A stored version of a page, for a terminal.

use std::fmt::Write as _;

use super::diff::harmless;
use super::{bytes, number};
use crate::look::show::ShownVersion;

/// A short heading: what it is, when it came, and how it can be told from others.
pub fn heading(shown: &ShownVersion) -> String {
    let mut text = harmless(&shown.url) + "\n";
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<9} {}", harmless(&value));
    };
    let confirmed = match shown.confirmed_at == shown.fetched_at {
        true => String::new(),
        false => format!(", found unchanged until {}", shown.confirmed_at),
    };
    line("fetched", format!("{}{confirmed}", shown.fetched_at));
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
pub fn with_text(shown: &ShownVersion) -> String {
    let text = if shown.text.is_empty() {
        "it has no text; `freshet show URL --out FILE` writes its bytes\n".to_owned()
    } else {
        lines(&shown.text)
    };
    format!("{}\n{text}", heading(shown))
}

/// A text that a terminal shows and does not obey, line by line.
pub fn lines(text: &str) -> String {
    let mut shown: String = text.lines().map(|line| harmless(line) + "\n").collect();
    if shown.is_empty() {
        shown.push('\n');
    }
    shown
}
