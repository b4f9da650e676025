//! Visits of the log, a line each, so that they can be printed as they come.

use std::time::Duration;

use unicode_width::UnicodeWidthStr as _;

use crate::look::log::LogLine;
use crate::time::Timestamp;

use super::diff::harmless;
use super::table::shortened;
use super::{Screen, Shorten, bytes, span};

/// Width of the column of outcomes; the few longer ones push the rest of their line.
const OUTCOME: usize = 12;
/// Fewer columns of an address say nothing.
const LEAST_ADDRESS: usize = 16;
/// Narrower terminals see the time of day without the date; the heading says the zone.
const FOR_DATES: usize = 120;
/// Narrower terminals don't see how long visits took.
const FOR_SPANS: usize = 100;

/// The lines of a log on one screen.
#[derive(Clone, Debug)]
pub struct LogLines<'a> {
    screen: &'a Screen,
    has_dates: bool,
    has_spans: bool,
    /// The heading of the times, as wide as they are.
    when: String,
}

impl<'a> LogLines<'a> {
    /// `now` tells the zone that the heading names.
    pub fn new(screen: &'a Screen, now: Timestamp) -> Self {
        let is_at_least = |width| screen.width.is_none_or(|columns| columns >= width);
        let has_dates = is_at_least(FOR_DATES);
        let full = screen.time(now);
        let zone = full.rsplit(' ').next().unwrap_or_default();
        let when =
            if has_dates { format!("{:wide$}", "when", wide = full.width()) } else { format!("when {zone}") };
        Self { screen, has_dates, has_spans: is_at_least(FOR_SPANS), when: format!("{when:8}") }
    }

    /// The heading of the columns.
    pub fn head(&self) -> String {
        let took = if self.has_spans { format!("{:>8}  ", "took") } else { String::new() };
        format!(
            "{}  {:OUTCOME$}  {:>4}  {:>8}  {took}{:7}  url\n",
            self.when, "outcome", "HTTP", "bytes", "changed"
        )
    }

    /// A visit.
    pub fn line(&self, line: &LogLine) -> String {
        let changed = match line.changed {
            Some(true) => "yes",
            Some(false) => "no",
            None if line.version_id.is_some() => "first",
            None => "-",
        };
        let time = self.screen.time(line.at);
        let clock = time.split(' ').nth(1).unwrap_or_default();
        let time = if self.has_dates { &time } else { clock };
        let took = span(Duration::from_millis(line.took_ms));
        let took = if self.has_spans { format!("{took:>8}  ") } else { String::new() };
        let start = format!(
            "{time:wide$}  {:OUTCOME$}  {:>4}  {:>8}  {took}{changed:7}  ",
            harmless(&line.outcome),
            line.status.map_or("-".to_owned(), |status| status.to_string()),
            if line.body_bytes == 0 { "-".to_owned() } else { bytes(line.body_bytes) },
            wide = self.when.width(),
        );
        start.clone() + &address(line, start.width(), self.screen)
    }
}

/// The address of the page, where it led, and why it brought nothing, in the room that is left.
fn address(line: &LogLine, taken: usize, screen: &Screen) -> String {
    let mut address = harmless(&line.url);
    if let Some(to) = &line.redirect_to {
        address += &format!(" → {}", harmless(to));
    }
    let mut reason = line.reason.as_ref().map_or(String::new(), |reason| format!("  ({})", harmless(reason)));
    if let Some(width) = screen.width {
        let room = width.saturating_sub(taken).max(LEAST_ADDRESS);
        // The address comes first; the reason gets what it leaves, down to half of the room.
        address = shortened(&address, room.saturating_sub(reason.width()).max(room / 2), Shorten::Middle);
        reason = shortened(&reason, room.saturating_sub(address.width()), Shorten::End);
    }
    format!("{address}{reason}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn line(visit: &LogLine, screen: &Screen) -> String {
        LogLines::new(screen, visit.at).line(visit)
    }

    #[test]
    fn a_line_has_the_outcome_and_where_it_led() {
        let drawn = line(&visit(), &Screen::plain());
        let expected = "2026-11-16 03:45:14 UTC  moved          301         -    140 ms  -        \
                        https://example.org/old → https://example.org/a/much/longer/address\n";
        assert_eq!(drawn, expected);
        let heads = LogLines::new(&Screen::plain(), visit().at).head();
        assert_eq!(heads.find("url"), drawn.find("https"), "{heads}{drawn}");
    }

    #[test]
    fn a_line_fits_its_terminal() {
        for width in [80, 100, 120] {
            let screen = Screen { width: Some(width), ..Screen::plain() };
            assert_eq!(line(&visit(), &screen).trim_end().width(), width);
            let reason = Some("DNS lookup failed: Name or service not known".to_owned());
            let failed = line(&LogLine { reason, redirect_to: None, ..visit() }, &screen);
            assert!(failed.trim_end().width() <= width && failed.contains("  (DNS"), "{failed}");
        }
    }
}
