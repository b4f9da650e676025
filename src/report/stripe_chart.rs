//! The lives of a page's fragments as stripes over time, for a page of HTML (Olston & Pandey 2008, Fig. 1).
//!
//! Time goes from left to right. A stripe is a group of fragments that came and went together, as high as the group is large: blue if
//! they are still there, orange if they are gone, grey at the bottom if they were always there. Marks below the chart are the visits
//! that found a text. [`super::stripe_bars`] groups them, as for a terminal.

use std::fmt::Write as _;

use jiff::tz::TimeZone;

use super::counted;
use super::plot::inks::IN_A_PAGE;
use super::plot::svg::{escaped, wide};
use super::stripe_bars::{StripeBar, StripeBars};
use crate::change::lifetime::FragmentLife;
use crate::time::Timestamp;

/// Size of the picture, and of its parts, in pixels.
const WIDTH: f64 = 720.0;
const LEFT: f64 = 4.0;
const RIGHT: f64 = 4.0;
const TOP: f64 = 4.0;
/// Height that goes to the groups by their size, besides the least height of each.
const STRIPES: f64 = 240.0;
/// The least height of a stripe, and the gap below it.
const LEAST: f64 = 2.0;
const GAP: f64 = 1.0;
/// Room for the marks of visits and for the dates.
const MARKS: f64 = 8.0;
const DATES: f64 = 20.0;
/// Columns in which births and deaths are told apart, and stripes at most.
const COLUMNS: usize = 712;
const ROWS: usize = 60;
/// More visits are not marked one by one.
const MOST_MARKS: usize = 400;
const LETTERS: f64 = 12.0;

/// The chart as a part of a page, in the colours of that page; `None` if there is nothing to show.
pub fn stripe_chart(lives: &[FragmentLife], times: &[Timestamp], zone: &TimeZone) -> Option<String> {
    let StripeBars { bars, first, last } = StripeBars::of(lives, times, COLUMNS, ROWS)?;
    let all: usize = bars.iter().map(|bar| bar.fragments).sum();
    let chart = Chart { first, last, zone, all };
    let high = STRIPES + bars.len() as f64 * (LEAST + GAP);
    let height = TOP + high + MARKS + DATES;
    let mut svg = String::new();
    let about = format!(
        "{} in {} between {} and {}",
        counted(all, "fragment"),
        counted(bars.len(), "group"),
        first.in_zone(zone),
        last.in_zone(zone)
    );
    // Writing to a string does not fail.
    let _ = writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.1}" viewBox="0 0 {WIDTH} {height:.1}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="{LETTERS}" fill="{}">"#,
        IN_A_PAGE.ink
    );
    let _ = writeln!(svg, "<title>{}</title>", escaped(&about));
    let mut y = TOP;
    for bar in &bars {
        y += chart.stripe(bar, y, &mut svg) + GAP;
    }
    chart.marks(times, TOP + high, &mut svg);
    chart.dates(TOP + high + MARKS, &mut svg);
    svg.push_str("</svg>\n");
    Some(svg)
}

/// What all parts of the chart need.
struct Chart<'a> {
    first: Timestamp,
    last: Timestamp,
    zone: &'a TimeZone,
    /// Fragments in all.
    all: usize,
}

impl Chart<'_> {
    /// Draws a stripe, and says how high it is.
    fn stripe(&self, bar: &StripeBar, y: f64, svg: &mut String) -> f64 {
        let (start, end) = bar.cells(COLUMNS);
        let (x, wide) = (LEFT + start as f64, (end - start) as f64);
        let high = LEAST + STRIPES * bar.fragments as f64 / self.all.max(1) as f64;
        let is_there = end >= COLUMNS;
        let colour = match (bar.is_static, is_there) {
            (true, _) => IN_A_PAGE.light,
            (false, true) => IN_A_PAGE.colour(0),
            (false, false) => IN_A_PAGE.colour(1),
        };
        let (from, to) = (self.moment(start), self.moment(end));
        let told = match (bar.is_static, is_there, start) {
            (true, ..) => "always there".to_owned(),
            (_, true, 0) => "nearly always there".to_owned(),
            (_, true, _) => format!("since {from}"),
            (_, false, 0) => format!("there at first, until {to}"),
            (_, false, _) => format!("from {from} to {to}"),
        };
        let _ = writeln!(
            svg,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{wide:.1}" height="{high:.1}" fill="{colour}"><title>{}</title></rect>"#,
            escaped(&format!("{}, {told}", counted(bar.fragments, "fragment")))
        );
        high
    }

    /// The moment at a column.
    fn moment(&self, column: usize) -> String {
        let share = column as f64 / (COLUMNS - 1) as f64;
        let passed = self.last.since(self.first).seconds() * share.min(1.0);
        let at = self.first.plus(std::time::Duration::try_from_secs_f64(passed).unwrap_or_default());
        at.in_zone(self.zone)
    }

    /// A mark for each visit, as far as they can be told apart.
    fn marks(&self, times: &[Timestamp], y: f64, svg: &mut String) {
        let span = self.last.since(self.first).seconds();
        let x = |at: &Timestamp| match span > 0.0 {
            true => LEFT + at.since(self.first).seconds() / span * (COLUMNS - 1) as f64,
            false => LEFT,
        };
        let stride = times.len().div_ceil(MOST_MARKS).max(1);
        let mut path = String::new();
        let mut before = f64::NEG_INFINITY;
        for at in times.iter().step_by(stride).map(x).filter(|at| at.is_finite()) {
            if at - before >= 1.0 {
                let _ = write!(path, "M{at:.1},{:.1}v{:.1}", y + 1.0, MARKS - 3.0);
                before = at;
            }
        }
        let _ = writeln!(svg, r#"<path d="{path}" stroke="{}" fill="none"/>"#, IN_A_PAGE.grey);
    }

    /// The first and the last date; with the time of day where the day is the same.
    fn dates(&self, y: f64, svg: &mut String) {
        let [first, last] = [self.first, self.last].map(|at| at.in_zone(self.zone));
        let day = |time: &str| time.split(' ').next().unwrap_or_default().to_owned();
        let [first, last] = match day(&first) == day(&last) {
            true => [first, last],
            false => [day(&first), day(&last)],
        };
        let y = y + LETTERS;
        let _ = writeln!(svg, r#"<text x="{LEFT:.1}" y="{y:.1}">{}</text>"#, escaped(&first));
        if wide(&first, LETTERS) + wide(&last, LETTERS) < WIDTH && first != last {
            let x = WIDTH - RIGHT;
            let _ =
                writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="end">{}</text>"#, escaped(&last));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::plot::tests::read;

    fn drawn(lives: &[FragmentLife], times: &[i64]) -> Option<String> {
        let times: Vec<Timestamp> = times.iter().map(|at| Timestamp::from_millis(*at)).collect();
        stripe_chart(lives, &times, &TimeZone::UTC)
    }

    fn life(born: Option<usize>, died: Option<usize>, fragments: usize) -> FragmentLife {
        FragmentLife { born, died, fragments }
    }

    #[test]
    fn a_stripe_is_as_long_as_its_fragments_lived_and_as_high_as_they_are_many() {
        let day = 86_400_000;
        let lives = [life(None, None, 75), life(None, Some(1), 5), life(Some(1), None, 20)];
        let svg = drawn(&lives, &[0, day, 2 * day]).expect("fragments");
        let (names, text) = read(&svg);
        assert_eq!(names.iter().filter(|name| *name == "rect").count(), 3);
        for told in [
            "100 fragments in 3 groups between 1970-01-01 00:00:00 UTC and 1970-01-03 00:00:00 UTC",
            "75 fragments, always there",
            "5 fragments, there at first, until 1970-01-01 23:",
            "20 fragments, since 1970-01-01 23:",
        ] {
            assert!(text.contains(told), "{told} in {text}");
        }
        assert!(svg.contains(r#"width="712.0" height="182.0""#), "2 and three quarters of 240: {svg}");
        assert_eq!(drawn(&[], &[0]), None);
        assert_eq!(drawn(&[life(None, None, 0)], &[0]), None);
        assert!(drawn(&[life(None, None, 1)], &[7]).is_some(), "a single moment");
    }

    proptest! {
        #[test]
        fn any_lives_make_a_finite_picture(
            lives in proptest::collection::vec((proptest::option::of(0..9_usize), proptest::option::of(0..9_usize), 0..usize::MAX / 1000), 0..99),
            times in proptest::collection::vec(any::<i64>(), 0..9),
        ) {
            let lives: Vec<FragmentLife> = lives.into_iter().map(|(born, died, fragments)| life(born, died, fragments)).collect();
            if let Some(svg) = drawn(&lives, &times) {
                read(&svg);
                prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
            }
        }
    }
}
