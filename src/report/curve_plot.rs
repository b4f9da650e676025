//! The divergence curve of a page: measured points, the fitted curve, and the utility of a refresh as the shaded area between the curve
//! and its height at the refresh (Olston & Pandey 2008, Fig. 2).

use super::plot::{Axis, Plot, Series};
use super::{rate, span};
use crate::look::curve::{PageCurve, RefreshWorth};
use std::time::Duration;

/// Points that the curve is drawn through.
const STEPS: usize = 120;
/// An age that is longer by this factor than what was measured is cut.
const BEYOND: f64 = 2.0;
const HOURS_PER_DAY: f64 = 24.0;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// The plot of a curve. The shaded area is the utility of a refresh at the age of the copy now, or at its usual age at a visit if that
/// is later; an age far beyond what was measured is cut, so that the measured part can be seen.
pub fn curve_plot(found: &PageCurve) -> Plot {
    let last = found.points.last().map_or(0.0, |point| point.age_days);
    let shaded = found.fitted.and_then(|fitted| shaded_days(fitted.now, fitted.next, last));
    let end = f64::max(last, shaded.unwrap_or(0.0)) * 1.05;
    let (unit, times) = unit(end);
    let across = Axis::linear(format!("age of a copy, {unit}")).within(0.0, (end * times).max(1e-9));
    let up = Axis::linear("divergence").within(0.0, 1.0);
    let mut plot = Plot::new("Divergence from a copy as it ages", across, up);
    if let Some(fitted) = &found.fitted {
        let at = |to: f64| (0..=STEPS).map(move |step| to * step as f64 / STEPS as f64);
        let on_curve = |days: f64| (days * times, fitted.curve.divergence(days));
        if let Some(days) = shaded {
            let top = fitted.curve.divergence(days);
            let area = at(days).map(|days| {
                let (x, y) = on_curve(days);
                (x, y, top.max(y))
            });
            plot = plot.with(Series::area(format!("utility at {}", age(days)), area));
            let x = days * times;
            plot = plot.with(Series::line("", [(x, 0.0), (x, 1.0)]).grey().dashed().thin());
        }
        plot = plot.with(Series::line(format!("fitted: {}", fitted.form), at(end).map(on_curve)));
    }
    let points = found.points.iter().map(|point| (point.age_days * times, point.divergence));
    plot.with(Series::points("measured", points))
}

/// The age of the refresh whose utility is shaded: the later of the two, up to a few times the longest age that was measured.
fn shaded_days(now: Option<RefreshWorth>, next: Option<RefreshWorth>, last: f64) -> Option<f64> {
    let ages = [now, next].into_iter().flatten().map(|worth| worth.age_days);
    let most = if last > 0.0 { BEYOND * last } else { f64::INFINITY };
    ages.max_by(f64::total_cmp).map(|days| days.min(most)).filter(|days| *days > 0.0 && days.is_finite())
}

/// The unit that makes ages up to this one easy to read, and how often it goes into a day.
fn unit(days: f64) -> (&'static str, f64) {
    match days * SECONDS_PER_DAY {
        seconds if seconds < 180.0 => ("seconds", SECONDS_PER_DAY),
        seconds if seconds < 3.0 * 3600.0 => ("minutes", SECONDS_PER_DAY / 60.0),
        seconds if seconds < 3.0 * SECONDS_PER_DAY => ("hours", HOURS_PER_DAY),
        _ => ("days", 1.0),
    }
}

/// What the curve says, in sentences.
pub fn curve_in_words(found: &PageCurve) -> Vec<String> {
    let Some(fitted) = &found.fitted else {
        return vec!["Three measurements are needed to fit a curve.".to_owned()];
    };
    let mut told = vec![match fitted.form {
        "static" => "No measurement found it changed.".to_owned(),
        "churn" => format!(
            "Churn: {} of it is replaced as a whole, about every {}.",
            super::percent(fitted.height),
            every(fitted.rate_per_day)
        ),
        _ => format!(
            "Scroll: {} of it is a list of about {} items, with a new one about every {}.",
            super::percent(fitted.height),
            fitted.items,
            every(fitted.rate_per_day)
        ),
    }];
    if fitted.is_saturated {
        told.push(
            "It had moved as far as it ever does at the first visit after each base version, so the rate is at least this."
                .to_owned(),
        );
    }
    let worth = |worth: RefreshWorth, when: &str| {
        format!(
            "{when}, when its copy is {} old, {} of it is expected to differ, and a refresh is worth {} divergence × days.",
            age(worth.age_days),
            super::percent(worth.divergence),
            rate(worth.utility)
        )
    };
    told.extend(fitted.now.map(|now| worth(now, "Now")));
    let later = fitted.next.filter(|next| fitted.now.is_none_or(|now| next.age_days > now.age_days));
    told.extend(later.map(|next| worth(next, "At its usual pace")));
    told
}

/// The time between two events of this rate a day.
fn every(a_day: f64) -> String {
    if a_day > 0.0 { age(1.0 / a_day) } else { "never".to_owned() }
}

fn age(days: f64) -> String {
    span(Duration::try_from_secs_f64(days * SECONDS_PER_DAY).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::longevity::curve::Curve;
    use crate::look::curve::{FittedCurve, MeasuredPoint};
    use proptest::prelude::*;

    fn curve(curve: Curve, now: f64, next: f64) -> PageCurve {
        let worth = |days: f64| RefreshWorth {
            age_days: days,
            divergence: curve.divergence(days),
            utility: curve.utility(days),
        };
        let fitted = FittedCurve {
            form: "churn",
            height: curve.height(),
            rate_per_day: 0.5,
            items: 1,
            deviation: 0.01,
            is_saturated: true,
            now: Some(worth(now)),
            next: Some(worth(next)),
            most_utility: curve.supremum(),
            curve,
        };
        let point = MeasuredPoint { age_days: 1.0, divergence: 0.2, measurements: 1.0 };
        PageCurve { points: vec![point], fitted: Some(fitted) }
    }

    #[test]
    fn the_area_above_the_curve_is_shaded_up_to_the_refresh() {
        let found = curve(Curve::churn(0.5, 0.5), 1.0, 4.0);
        let svg = curve_plot(&found).svg_in_page();
        assert!(
            svg.contains("utility at 2 d") && svg.contains("fitted: churn") && svg.contains("measured"),
            "{svg}"
        );
        assert!(svg.contains("fill-opacity=\"0.3\"") && svg.contains("age of a copy, hours"), "{svg}");
        let words = curve_in_words(&found).join(" ");
        assert!(
            words.contains("about every 2 d") && words.contains("worth 0.5940 divergence × days"),
            "{words}"
        );
    }

    proptest! {
        #[test]
        fn any_numbers_make_a_finite_picture(
            height in 0.0..1.0_f64, rate in any::<f64>(), now in any::<f64>(), next in any::<f64>(), day in any::<f64>(),
        ) {
            let mut found = curve(Curve::churn(height, rate), now, next);
            found.points.push(MeasuredPoint { age_days: day, divergence: rate, measurements: day });
            let svg = curve_plot(&found).svg_in_page();
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
            prop_assert!(!curve_in_words(&found).is_empty());
        }
    }
}
