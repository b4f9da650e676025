//! The requests of a day as a bar: what they brought, side by side, and below it the changes that round robin would have found.
//!
//! The picture is SVG with the classes of the style sheet. Places are shares of the width, so that it fits a phone; letters stand
//! beside it, in the table of which it is a cell.

use std::fmt::Write as _;

use super::brought::{BroughtInk, OTHER, ink, sent};
use super::plot::svg::escaped;
use super::{counted, number};
use crate::look::spending::DaySpending;

/// Height of a bar, in pixels, and of the one below it.
const BAR: f64 = 16.0;
const LOW_BAR: f64 = 5.0;
const GAP: f64 = 2.0;

/// A row of the table of days, with its bar.
pub struct BudgetRow {
    /// The day.
    pub day: DaySpending,
    /// Its bar: SVG.
    pub bar: String,
    /// `412 of 1,000`, or the requests alone where there was no budget.
    pub requests: String,
    /// Changes that round robin would have found, or a dash.
    pub round_robin: String,
}

impl BudgetRow {
    /// What the requests of the day brought, without what they did not bring, in the order of the bar.
    pub fn parts(&self) -> Vec<(BroughtInk, String)> {
        parts(&self.day).filter(|(_, count)| *count > 0).map(|(ink, count)| (ink, number(count))).collect()
    }

    /// Changes that round robin would have found, in words: `about 21 changes`.
    pub fn even(&self) -> Option<String> {
        self.day.round_robin_changed.filter(|_| self.day.revisits() > 0).map(about)
    }
}

/// The requests of a day by what they brought, in the order of the bar.
fn parts(day: &DaySpending) -> impl Iterator<Item = (BroughtInk, u64)> {
    let visits = sent(&day.brought).map(|(kind, count)| (ink(kind), count));
    visits.into_iter().chain([(OTHER, day.other_requests)])
}

/// A row for each day.
pub fn rows(days: &[DaySpending]) -> Vec<BudgetRow> {
    let scale = scale(days);
    let row = |day: &DaySpending| {
        let requests = match day.budget {
            Some(budget) => format!("{} of {}", number(day.requests), number(budget)),
            None => number(day.requests),
        };
        let even = day.round_robin_changed.filter(|_| day.revisits() > 0);
        let round_robin = even.map_or("–".to_owned(), |even| format!("{even:.1}"));
        BudgetRow { bar: bar(day, scale), requests, round_robin, day: day.clone() }
    };
    days.iter().map(row).collect()
}

/// The width that all bars of a list share, in requests: that of the largest day or budget.
fn scale(days: &[DaySpending]) -> u64 {
    days.iter().map(|day| day.requests.max(day.budget.unwrap_or(0))).max().unwrap_or(0).max(1)
}

/// A bar. Text alternatives are in it: a sentence, and a title for each part.
fn bar(day: &DaySpending, scale: u64) -> String {
    let percent = |requests: f64| (100.0 * requests / scale.max(1) as f64).clamp(0.0, 100.0);
    let height = BAR + GAP + LOW_BAR;
    let mut svg = format!(
        "<svg class=\"budget\" width=\"100%\" height=\"{height}\" role=\"img\" aria-label=\"{}\">",
        escaped(&said(day))
    );
    if let Some(budget) = day.budget.filter(|budget| *budget > 0) {
        let _ = write!(
            svg,
            "<rect class=\"budget-left\" width=\"{:.3}%\" height=\"{BAR}\"/>",
            percent(budget as f64)
        );
    }
    let mut from = 0.0;
    for (ink, count) in parts(day) {
        if count == 0 {
            continue;
        }
        let _ = write!(
            svg,
            "<rect class=\"{}\" x=\"{:.3}%\" width=\"{:.3}%\" height=\"{BAR}\"><title>{}: {}</title></rect>",
            ink.class,
            percent(from),
            percent(count as f64),
            escaped(ink.words),
            number(count)
        );
        from += count as f64;
    }
    if let Some(even) = day.round_robin_changed.filter(|even| *even > 0.0) {
        let _ = write!(
            svg,
            "<rect class=\"o-even\" y=\"{}\" width=\"{:.3}%\" height=\"{LOW_BAR}\"><title>round robin would have found {}</title></rect>",
            BAR + GAP,
            percent(even),
            about(even)
        );
    }
    svg + "</svg>"
}

/// The day in a sentence: `2026-11-19: 412 of 1,000 requests; 37 changed, 9 new …; round robin would have found about 21 changes`
fn said(day: &DaySpending) -> String {
    let spent = match day.budget {
        Some(budget) => format!("{} of {}", number(day.requests), counted(budget, "request")),
        None => counted(day.requests, "request"),
    };
    let parts = parts(day).filter(|(_, count)| *count > 0);
    let parts: Vec<String> = parts.map(|(ink, count)| format!("{} {}", number(count), ink.words)).collect();
    let parts = if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) };
    let even = day.round_robin_changed.filter(|_| day.revisits() > 0);
    let even = even.map_or(String::new(), |even| {
        format!("; round robin would have found {} with as many visits", about(even))
    });
    format!("{}: {spent}{parts}{even}", day.day)
}

/// An expected number of changes: `about 21 changes`, `about 0.4 changes`
pub fn about(changes: f64) -> String {
    let rounded = changes.round();
    if changes >= 9.95 {
        format!("about {}", counted(rounded as u64, "change"))
    } else {
        format!("about {changes:.1} changes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Brought;

    fn day() -> DaySpending {
        let brought = Brought { changed: 40, first: 10, not_modified: 100, failed: 2, ..Brought::default() };
        DaySpending {
            day: "2026-11-19".to_owned(),
            requests: 160,
            budget: Some(200),
            brought,
            other_requests: 8,
            divergence: 3.0,
            received_bytes: 0,
            round_robin_changed: Some(20.4),
        }
    }

    #[test]
    fn parts_stand_side_by_side_and_fill_what_was_spent() {
        let svg = bar(&day(), 200);
        for part in [
            "class=\"o-changed\" x=\"0.000%\" width=\"20.000%\"",
            "class=\"o-first\" x=\"20.000%\" width=\"5.000%\"",
            "class=\"o-not-modified\" x=\"25.000%\" width=\"50.000%\"",
            "class=\"o-failed\" x=\"75.000%\" width=\"1.000%\"",
            "class=\"o-other\" x=\"76.000%\" width=\"4.000%\"",
            "class=\"o-even\" y=\"18\" width=\"10.200%\"",
            "class=\"budget-left\" width=\"100.000%\"",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(!svg.contains("style="), "no inline style");
        let mut reader = quick_xml::Reader::from_str(&svg);
        while !matches!(reader.read_event().expect("well-formed"), quick_xml::events::Event::Eof) {}
    }

    #[test]
    fn the_same_is_said_in_words() {
        assert_eq!(
            said(&day()),
            "2026-11-19: 160 of 200 requests; 40 changed, 10 new, 100 not modified (304), 2 failed, 8 robots.txt, sitemaps, retries; \
             round robin would have found about 20 changes with as many visits"
        );
        let quiet = DaySpending {
            requests: 0,
            budget: None,
            brought: Brought::default(),
            other_requests: 0,
            ..day()
        };
        assert_eq!(said(&quiet), "2026-11-19: 0 requests");
        assert_eq!(about(0.44), "about 0.4 changes");
    }

    #[test]
    fn bars_of_a_list_share_a_scale() {
        let more = DaySpending { requests: 700, budget: Some(500), ..day() };
        assert_eq!((scale(&[day(), more]), scale(&[])), (700, 1));
    }
}
