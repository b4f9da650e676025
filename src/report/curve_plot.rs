//! The divergence curve of a page: measured points, the fitted curve, and the utility of a refresh as the shaded area between the curve
//! and its height at the refresh (Olston & Pandey 2008, Fig. 2).

use super::plot::{Axis, Plot, Series};
use super::{rate, span};
use crate::look::curve::{PageCurve, RefreshWorth};
use std::time::Duration;

/// Points that the curve is drawn through.
const STEPS: usize = 120;
const HOURS_PER_DAY: f64 = 24.0;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// The plot of a curve. The shaded area is the utility at the age of the copy now, or at the usual age at a visit if that is later.
pub fn curve_plot(found: &PageCurve) -> Plot {
    let last = found.points.last().map_or(0.0, |point| point.age_days);
    let worth = found.fitted.and_then(|fitted| shaded(fitted.now, fitted.next));
    let end = f64::max(last, worth.map_or(0.0, |worth| worth.age_days)) * 1.05;
    // Ages of less than two days are easier to read in hours.
    let (unit, times) = if end < 2.0 { ("hours", HOURS_PER_DAY) } else { ("days", 1.0) };
    let across = Axis::linear(format!("age of a copy, {unit}")).within(0.0, (end * times).max(1e-9));
    let mut plot =
        Plot::new("Divergence from a copy as it ages", across, Axis::linear("divergence").within(0.0, 1.0));
    if let Some(fitted) = &found.fitted {
        let at =
            |from: f64, to: f64| (0..=STEPS).map(move |step| from + (to - from) * step as f64 / STEPS as f64);
        let on_curve = |days: f64| (days * times, fitted.curve.divergence(days));
        if let Some(worth) = worth {
            let area = at(0.0, worth.age_days).map(|days| {
                let (x, y) = on_curve(days);
                (x, y, worth.divergence.max(y))
            });
            plot = plot.with(Series::area(format!("utility {}", rate(worth.utility)), area));
            let x = worth.age_days * times;
            plot = plot.with(Series::line("", [(x, 0.0), (x, 1.0)]).grey().dashed().thin());
        }
        let name = format!("fitted: {}", fitted.form);
        plot = plot.with(Series::line(name, at(0.0, end).map(on_curve)));
    }
    let points = found.points.iter().map(|point| (point.age_days * times, point.divergence));
    plot.with(Series::points("measured", points))
}

/// The refresh whose utility is shaded: the later of the two.
fn shaded(now: Option<RefreshWorth>, next: Option<RefreshWorth>) -> Option<RefreshWorth> {
    let worth = [now, next].into_iter().flatten();
    worth.max_by(|one, other| one.age_days.total_cmp(&other.age_days)).filter(|worth| worth.age_days > 0.0)
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
            svg.contains("utility 0.5940") && svg.contains("fitted: churn") && svg.contains("measured"),
            "{svg}"
        );
        assert!(svg.contains("fill-opacity=\"0.3\"") && svg.contains("age of a copy, days"), "{svg}");
        let words = curve_in_words(&found).join(" ");
        assert!(
            words.contains("about every 2 d") && words.contains("worth 0.5940 divergence × days"),
            "{words}"
        );
        assert!(curve_plot(&curve(Curve::churn(0.5, 0.5), 0.1, 0.2)).svg().contains("age of a copy, hours"));
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
