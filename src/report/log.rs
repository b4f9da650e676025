//! Visits of the log, a line each, so that they can be printed as they come.

use std::time::Duration;

use unicode_width::UnicodeWidthStr as _;

use crate::look::log::LogLine;

use super::diff::harmless;
use super::table::shortened;
use super::{Screen, Shorten, bytes, span};

/// Width of the column of outcomes; the few longer ones push the rest of their line.
const OUTCOME: usize = 12;
/// Fewer columns of an address say nothing.
const LEAST_ADDRESS: usize = 16;

/// The heading of the columns.
pub fn head(screen: &Screen) -> String {
    let time = screen.time(crate::time::Timestamp::default()).width();
    let line = format!(
        "{:time$}  {:OUTCOME$}  {:>6}  {:>8}  {:>8}  {:7}  url",
        "when", "outcome", "status", "bytes", "took", "changed"
    );
    line + "\n"
}

/// A visit.
pub fn line(line: &LogLine, screen: &Screen) -> String {
    let changed = match line.changed {
        Some(true) => "yes",
        Some(false) => "no",
        None if line.version_id.is_some() => "first",
        None => "-",
    };
    let start = format!(
        "{}  {:OUTCOME$}  {:>6}  {:>8}  {:>8}  {changed:7}  ",
        screen.time(line.at),
        harmless(&line.outcome),
        line.status.map_or("-".to_owned(), |status| status.to_string()),
        if line.body_bytes == 0 { "-".to_owned() } else { bytes(line.body_bytes) },
        span(Duration::from_millis(line.took_ms)),
    );
    let mut address = harmless(&line.url);
    if let Some(to) = &line.redirect_to {
        address += &format!(" → {}", harmless(to));
    }
    let mut reason = line.reason.as_ref().map_or(String::new(), |reason| format!("  ({})", harmless(reason)));
    if let Some(width) = screen.width {
        let room = width.saturating_sub(start.width()).max(LEAST_ADDRESS);
        // The address comes first; the reason gets what it leaves, down to half of the room.
        address = shortened(&address, room.saturating_sub(reason.width()).max(room / 2), Shorten::Middle);
        reason = shortened(&reason, room.saturating_sub(address.width()), Shorten::End);
    }
    format!("{start}{address}{reason}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn visit() -> LogLine {
        LogLine {
            at: Timestamp::from_seconds(1_794_800_714),
            cycle_id: 3,
            observation_id: 9,
            page_id: 1,
            url: "https://example.org/old".to_owned(),
            outcome: "moved".to_owned(),
            reason: None,
            status: Some(301),
            redirect_to: Some("https://example.org/a/much/longer/address".to_owned()),
            body_bytes: 0,
            took_ms: 140,
            changed: None,
            divergence: None,
            version_id: None,
        }
    }

    #[test]
    fn a_line_has_the_outcome_and_where_it_led() {
        let drawn = line(&visit(), &Screen::plain());
        let expected = "2026-11-16 03:45:14 UTC  moved            301         -    140 ms  -        \
                        https://example.org/old → https://example.org/a/much/longer/address\n";
        assert_eq!(drawn, expected);
        let heads = head(&Screen::plain());
        assert_eq!(heads.find("url"), drawn.find("https"), "{heads}{drawn}");
    }

    #[test]
    fn a_line_fits_its_terminal() {
        for width in [100, 120] {
            let screen = Screen { width: Some(width), ..Screen::plain() };
            assert_eq!(line(&visit(), &screen).trim_end().width(), width);
            let reason = Some("DNS lookup failed: Name or service not known".to_owned());
            let failed = line(&LogLine { reason, redirect_to: None, ..visit() }, &screen);
            assert!(failed.trim_end().width() <= width && failed.contains("  (DNS"), "{failed}");
        }
    }
}
