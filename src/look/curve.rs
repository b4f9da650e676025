//! The divergence curve of a page: what visits measured, the curve that fits it, and what a refresh is worth (Olston & Pandey 2008,
//! §2.2 and §4.2; Fig. 2).

use serde::Serialize;

use crate::longevity::curve::Curve;
use crate::longevity::fit::Fit;
use crate::longevity::samples::{SAME_GAP, Sample, combined};
use crate::time::Timestamp;

use super::history::PageHistory;

/// The fewest measurements that show a curve, as `longevity-curve` has it.
const FEWEST: f64 = 3.0;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// How far a page moves from a copy of it as the copy ages.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct PageCurve {
    /// The divergences that visits measured from the base versions kept, by age. Equal ages are averaged.
    pub points: Vec<MeasuredPoint>,
    /// The curve that fits them; `None`: three measurements are needed.
    pub fitted: Option<FittedCurve>,
}

/// The divergence of a page from one of its versions after some time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct MeasuredPoint {
    /// The age of the version.
    pub age_days: f64,
    /// 0 the same, 1 nothing in common.
    pub divergence: f64,
    /// Measurements that this is the mean of.
    #[serde(rename = "measurement_count")]
    pub measurements: f64,
}

/// A curve, and what it says of a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct FittedCurve {
    /// `static`, `churn` or `scroll`.
    pub form: &'static str,
    /// The limit of divergence.
    pub height: f64,
    /// Replacements of the region that churns, or new items of the list, a day.
    pub rate_per_day: f64,
    /// Items of the list; 1 for churn, 0 for a page that does not change.
    pub items: u32,
    /// The root mean square difference of the points from the curve.
    pub deviation: f64,
    /// The page had moved as far as it ever does at the shortest age, so the rate is not known. It is taken to turn over once in that
    /// time, so that the page does not look worthless.
    pub is_saturated: bool,
    /// A refresh now; `None`: there is no copy.
    pub now: Option<RefreshWorth>,
    /// A refresh when the copy is as old as the last one was at the last visit that brought or confirmed one.
    pub next: Option<RefreshWorth>,
    /// The most that a refresh can be worth, however old the copy.
    pub most_utility: f64,
    /// The curve itself.
    #[serde(skip)]
    pub curve: Curve,
}

/// What a refresh is worth when the copy has a certain age.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct RefreshWorth {
    /// The age of the copy.
    pub age_days: f64,
    /// How far the page is expected to have moved from it.
    pub divergence: f64,
    /// The utility of the refresh, in divergence × days (eq. 4).
    pub utility: f64,
}

/// The divergence curve of a page; `None` while no version of it was compared with a later visit.
pub fn page_curve(history: &PageHistory, now: Timestamp) -> Option<PageCurve> {
    let points = history.profiles.iter().flat_map(|profile| &profile.points);
    let samples = points
        .map(|point| Sample::new(point.age_seconds / SECONDS_PER_DAY, point.divergence))
        .filter(|sample| sample.days > 0.0);
    let samples = combined(samples, SAME_GAP);
    if samples.is_empty() {
        return None;
    }
    let [last, before] = last_two(&history.times);
    let age = last.map(|last| now.since(last).days());
    let gap = last.zip(before).map(|(last, before)| last.since(before).days());
    Some(of_samples(&samples, age, gap))
}

fn last_two(times: &[Timestamp]) -> [Option<Timestamp>; 2] {
    let mut latest = times.iter().rev().copied();
    [latest.next(), latest.next()]
}

/// The curve of these samples, and the worth of a refresh of a copy as old as `age` and `gap`, in days.
fn of_samples(samples: &[Sample], age: Option<f64>, gap: Option<f64>) -> PageCurve {
    let enough = samples.iter().map(|sample| sample.weight).sum::<f64>() >= FEWEST;
    let fit = Fit::of(samples).filter(|_| enough);
    let fitted = fit.map(|fit| {
        let curve = fit.worth();
        let worth = |days: f64| RefreshWorth {
            age_days: days,
            divergence: curve.divergence(days),
            utility: curve.utility(days),
        };
        let (form, rate_per_day, items) = match curve {
            Curve::Static => ("static", 0.0, 0),
            Curve::Churn { rate, .. } => ("churn", rate, 1),
            Curve::Scroll { rate, items, .. } => ("scroll", rate, items),
        };
        FittedCurve {
            form,
            height: curve.height(),
            rate_per_day,
            items,
            deviation: fit.deviation(),
            is_saturated: fit.is_saturated,
            now: age.map(worth),
            next: gap.filter(|gap| *gap > 0.0).map(worth),
            most_utility: curve.supremum(),
            curve,
        }
    });
    let points = samples.iter().map(|sample| MeasuredPoint {
        age_days: sample.days,
        divergence: sample.divergence,
        measurements: sample.weight,
    });
    PageCurve { points: points.collect(), fitted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_churns_has_the_curve_it_was_made_with() {
        let samples: Vec<Sample> = (1..9)
            .map(|day| f64::from(day) / 2.0)
            .map(|days| Sample::new(days, 0.4 * (1.0 - (-days).exp())))
            .collect();
        let found = of_samples(&samples, Some(0.5), Some(2.0));
        let fitted = found.fitted.expect("eight measurements");
        assert_eq!((fitted.form, fitted.items, fitted.is_saturated), ("churn", 1, false));
        assert!((fitted.height - 0.4).abs() < 1e-3 && (fitted.rate_per_day - 1.0).abs() < 1e-2, "{fitted:?}");
        // U(t) = A/r · P(2, rt) = 0.4 · (1 − 3 e⁻²) at two days.
        let next = fitted.next.expect("a gap");
        assert!((next.utility - 0.4 * (1.0 - 3.0 * (-2.0_f64).exp())).abs() < 1e-3, "{next:?}");
        assert!(
            fitted.now.is_some_and(|now| now.utility < next.utility && next.utility < fitted.most_utility)
        );
    }

    #[test]
    fn two_measurements_show_no_curve() {
        let found = of_samples(&[Sample::new(1.0, 0.5), Sample::new(2.0, 0.5)], None, None);
        assert_eq!((found.points.len(), found.fitted), (2, None));
    }

    #[test]
    fn a_page_that_never_moved_is_static_and_worth_nothing() {
        let samples = [1.0, 2.0, 3.0].map(|days| Sample::new(days, 0.0));
        let fitted = of_samples(&samples, Some(40.0), None).fitted.expect("three measurements");
        assert_eq!((fitted.form, fitted.most_utility, fitted.next), ("static", 0.0, None));
        assert_eq!(fitted.now.map(|now| (now.divergence, now.utility)), Some((0.0, 0.0)));
    }
}
