//! A strip of visits for a page of HTML: a tick each, coloured by what it brought and as high as the page had moved.

use std::fmt::Write as _;

use super::plot::inks::IN_A_PAGE;
use super::plot::svg::escaped;

/// Size of a tick and of the strip, in pixels.
const WIDE: f64 = 8.0;
const GAP: f64 = 2.0;
const HIGH: f64 = 32.0;
/// The height of a tick that moved nothing, as a share.
const LEAST: f64 = 0.3;

/// What a visit brought, by the colour of its tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickInk {
    /// Another content.
    Changed,
    /// The first content.
    First,
    /// The same content.
    Same,
    /// The page had gone, or led elsewhere.
    Away,
    /// It failed, or was refused.
    Failed,
}

/// A tick of a strip.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitTick {
    /// Its colour.
    pub ink: TickInk,
    /// How far the page had moved, 0 to 1; `None`: not measured.
    pub divergence: Option<f64>,
    /// What is said of it.
    pub told: String,
}

impl TickInk {
    /// Every colour, in the order of a legend.
    pub const ALL: [TickInk; 5] =
        [TickInk::Changed, TickInk::First, TickInk::Same, TickInk::Away, TickInk::Failed];

    /// The name in a legend.
    pub const fn name(self) -> &'static str {
        match self {
            TickInk::Changed => "changed",
            TickInk::First => "first copy",
            TickInk::Same => "the same",
            TickInk::Away => "gone or moved",
            TickInk::Failed => "failed or refused",
        }
    }

    fn colour(self) -> &'static str {
        match self {
            TickInk::Changed => IN_A_PAGE.colour(0),
            TickInk::First => IN_A_PAGE.colour(2),
            TickInk::Same => IN_A_PAGE.light,
            TickInk::Away => IN_A_PAGE.colour(4),
            TickInk::Failed => IN_A_PAGE.colour(1),
        }
    }
}

/// The strip, in the colours of the page around it. Ticks stand on a line; those of visits that were not measured are as high as the
/// strip if they failed, and low if not.
pub fn visit_strip(ticks: &[VisitTick], about: &str) -> String {
    let width = (ticks.len() as f64 * (WIDE + GAP)).max(WIDE);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HIGH}" viewBox="0 0 {width} {HIGH}" role="img">"#
    );
    let _ = writeln!(svg, "<title>{}</title>", escaped(about));
    for (place, tick) in ticks.iter().enumerate() {
        let is_whole = matches!(tick.ink, TickInk::Away | TickInk::Failed);
        let moved =
            tick.divergence.filter(|moved| moved.is_finite()).unwrap_or(f64::from(u8::from(is_whole)));
        let high = HIGH * (LEAST + (1.0 - LEAST) * moved.clamp(0.0, 1.0));
        let (x, y) = (place as f64 * (WIDE + GAP), HIGH - high);
        let _ = writeln!(
            svg,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{WIDE}" height="{high:.1}" rx="1" fill="{}"><title>{}</title></rect>"#,
            tick.ink.colour(),
            escaped(&tick.told)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A square in the colour of a tick, for a legend.
pub fn tick_sample(ink: TickInk) -> String {
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" fill="{}"/></svg>"#,
        ink.colour()
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::plot::tests::read;

    #[test]
    fn a_tick_is_as_high_as_the_page_had_moved() {
        let tick = |ink, divergence| VisitTick { ink, divergence, told: "<script>".to_owned() };
        let ticks =
            [tick(TickInk::Changed, Some(1.0)), tick(TickInk::Same, Some(0.0)), tick(TickInk::Failed, None)];
        let svg = visit_strip(&ticks, "three visits");
        assert!(
            svg.contains(r#"y="0.0" width="8" height="32.0""#) && svg.contains(r#"height="9.6""#),
            "{svg}"
        );
        assert!(!svg.contains("<script>") && read(&svg).1.contains("three visits"));
        TickInk::ALL.iter().for_each(|ink| drop(read(&tick_sample(*ink))));
    }

    proptest! {
        #[test]
        fn any_strip_is_well_formed(told in any::<String>(), moved in any::<f64>(), ink in 0..5_usize) {
            let tick = VisitTick { ink: TickInk::ALL[ink], divergence: Some(moved), told: told.clone() };
            let svg = visit_strip(&[tick.clone(), tick], &told);
            read(&svg);
            let drawn: String = svg.lines().map(|line| line.split("<title>").next().unwrap_or_default()).collect();
            prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{}", drawn);
        }
    }
}
