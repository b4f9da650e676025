//! The latest visits to a site as a strip: a tick each, the oldest on the left. Its colour says what the visit brought, its height
//! how far the page moved.

use std::fmt::Write as _;

use super::brought::ink;
use super::plot::svg::escaped;
use super::{Screen, counted};
use crate::look::strips::{HostStrip, StripTick};
use crate::store::{BroughtKind, MOST_TICKS};

/// A tick and the gap behind it, in pixels.
const TICK: usize = 4;
const STEP: usize = 5;
/// The height of a strip, of a change that moved nothing, and of visits that found none.
const HEIGHT: f64 = 26.0;
const LEAST_CHANGE: f64 = 9.0;
const QUIET: f64 = 4.0;

/// The strip of a host. Ticks have titles, and the strip a sentence.
pub fn strip(site: &HostStrip, screen: &Screen) -> String {
    strip_of(&site.ticks, &said(site), screen)
}

/// The strip of these visits, which are in order of time, with what is said of it.
pub fn strip_of(ticks: &[StripTick], said: &str, screen: &Screen) -> String {
    let width = MOST_TICKS * STEP;
    let mut svg = format!(
        "<svg class=\"strip\" width=\"{width}\" height=\"{HEIGHT}\" viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escaped(said)
    );
    for (x, height, tick) in placed(ticks) {
        let _ = write!(
            svg,
            "<rect class=\"{}\" x=\"{x}\" y=\"{:.1}\" width=\"{TICK}\" height=\"{height:.1}\" rx=\"1\"><title>{}</title></rect>",
            ink(tick.brought).class,
            HEIGHT - height,
            escaped(&why(tick, screen))
        );
    }
    svg + "</svg>"
}

/// A strip without titles on its ticks, and of half the size: for a table of many. A path for each colour takes a few bytes a tick.
pub fn small_strip(ticks: &[StripTick]) -> String {
    let (width, all) = (MOST_TICKS * STEP, said_of(ticks));
    let mut svg = format!(
        "<svg class=\"strip\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\" aria-label=\"{all}\"><title>{all}</title>",
        width / 2,
        HEIGHT / 2.0
    );
    for kind in BroughtKind::ALL {
        let mut path = String::new();
        for (x, height, _) in placed(ticks).filter(|(.., tick)| tick.brought == kind) {
            let (top, height) = ((HEIGHT - height).round(), height.round());
            let _ = write!(path, "M{x} {top}h{TICK}v{height}h-{TICK}z");
        }
        if !path.is_empty() {
            let _ = write!(svg, "<path class=\"{}\" d=\"{path}\"/>", ink(kind).class);
        }
    }
    svg + "</svg>"
}

/// Where each tick stands, and how high it is. The latest visit stands at the right end, in every strip.
fn placed(ticks: &[StripTick]) -> impl Iterator<Item = (usize, f64, &StripTick)> {
    let ticks = ticks.get(ticks.len().saturating_sub(MOST_TICKS)..).unwrap_or_default();
    let first = MOST_TICKS - ticks.len();
    ticks.iter().enumerate().map(move |(place, tick)| ((first + place) * STEP, height(tick), tick))
}

/// `60 visits: 4 changed, 1 failed`
pub fn said(site: &HostStrip) -> String {
    said_of(&site.ticks)
}

fn said_of(ticks: &[StripTick]) -> String {
    let visits = counted(ticks.len(), "visit");
    let count = |kind: BroughtKind| ticks.iter().filter(|tick| tick.brought == kind).count();
    match (count(BroughtKind::Changed), count(BroughtKind::Failed)) {
        (0, 0) => format!("{visits}, no change"),
        (changed, 0) => format!("{visits}: {changed} changed"),
        (changed, failed) => format!("{visits}: {changed} changed, {failed} failed"),
    }
}

/// Why a tick looks as it does: `2026-11-19 14:05:11 CET: changed, divergence 0.31`
fn why(tick: &StripTick, screen: &Screen) -> String {
    let moved = tick.divergence.filter(|_| tick.brought == BroughtKind::Changed);
    let moved = moved.map_or(String::new(), |moved| format!(", divergence {moved:.2}"));
    format!("{}: {}{moved}", screen.time(tick.at), ink(tick.brought).words)
}

fn height(tick: &StripTick) -> f64 {
    match tick.brought {
        // A content without words is as far from the one before as can be.
        BroughtKind::Changed => {
            let moved = tick.divergence.map_or(1.0, f64::from);
            let moved = if moved.is_finite() { moved.clamp(0.0, 1.0) } else { 1.0 };
            LEAST_CHANGE + (HEIGHT - LEAST_CHANGE) * moved
        }
        BroughtKind::First | BroughtKind::Failed | BroughtKind::Gone => HEIGHT,
        BroughtKind::Moved | BroughtKind::Refused => HEIGHT / 2.0,
        BroughtKind::Unchanged | BroughtKind::NotModified => QUIET,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn site(ticks: Vec<StripTick>) -> HostStrip {
        let count = |kind| ticks.iter().filter(|tick| tick.brought == kind).count() as u64;
        let (changed, failed) = (count(BroughtKind::Changed), count(BroughtKind::Failed));
        HostStrip { host: "https://a.example".to_owned(), pages: 9, ticks, changed, failed, waits: None }
    }

    fn tick(brought: BroughtKind, divergence: Option<f32>) -> StripTick {
        StripTick { at: Timestamp::from_seconds(1_794_800_714), brought, divergence }
    }

    #[test]
    fn the_latest_visit_stands_at_the_right_end() {
        let svg = strip(
            &site(vec![tick(BroughtKind::NotModified, None), tick(BroughtKind::Changed, Some(0.5))]),
            &Screen::plain(),
        );
        assert!(
            svg.contains("class=\"o-not-modified\" x=\"290\" y=\"22.0\" width=\"4\" height=\"4.0\""),
            "{svg}"
        );
        assert!(svg.contains("class=\"o-changed\" x=\"295\" y=\"8.5\" width=\"4\" height=\"17.5\""), "{svg}");
        assert!(svg.contains("<title>2026-11-16 03:45:14 UTC: changed, divergence 0.50</title>"), "{svg}");
        assert!(svg.contains("aria-label=\"2 visits: 1 changed\""), "{svg}");
        assert!(!svg.contains("style="));
    }

    #[test]
    fn a_small_strip_is_a_path_for_each_colour() {
        let svg =
            small_strip(&[tick(BroughtKind::Changed, Some(0.5)), tick(BroughtKind::Changed, Some(1.0))]);
        assert!(svg.contains("<path class=\"o-changed\" d=\"M290 9h4v18h-4zM295 0h4v26h-4z\"/>"), "{svg}");
        assert!(svg.contains("aria-label=\"2 visits: 2 changed\""), "{svg}");
        let most = small_strip(&[tick(BroughtKind::Failed, None); 100]);
        assert!(most.len() < 1500, "{} bytes", most.len());
    }

    #[test]
    fn nothing_wrong_in_a_number_breaks_the_picture() {
        let ticks = [f32::NAN, f32::INFINITY, -1.0, 7.0].map(|far| tick(BroughtKind::Changed, Some(far)));
        let svg = strip(&site(ticks.iter().cycle().take(100).copied().collect()), &Screen::plain());
        assert_eq!(svg.matches("<rect").count(), MOST_TICKS);
        assert!(!svg.contains("height=\"NaN") && !svg.contains("y=\"-"), "{svg}");
        assert!(strip(&site(Vec::new()), &Screen::plain()).contains("0 visits, no change"));
    }
}
