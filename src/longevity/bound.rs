//! UtilityBounds on the utility of a refresh from change profiles, and the refresh period that follows; no curve is assumed.
//!
//! Between two observations, divergence is assumed to lie between the observed values. So the observations bound the curve, and
//! with it the utility, from both sides (Olston & Pandey 2008, §4.3). After each refresh the period is doubled if the refresh
//! can't have been worth the threshold, halved if it certainly was, and kept if the bounds leave it open.
//!
//! The paper leaves some points open, which are decided here. The interval X over which utility is taken starts at the base of
//! one profile, which is pinned until the period is halved. Profiles are averaged point by point, over those that are long
//! enough. The period is capped after each step.

/// The most points of the pinned profile; then it restarts from the present version.
///
/// If a page reaches its full divergence within the first gap, the upper bound stays above the threshold and the lower bound
/// near 0: the period stays the same, and the pinned profile grows. This only limits memory and time; raising the period at the
/// same time did not lower staleness at equal cost in simulations.
pub const MOST_POINTS: usize = 12;

/// Ages that differ by less than this share count as equal: the same gap between different dates is rounded differently.
const SAME_AGE: f64 = 1e-9;

/// A change profile: (days since the base version, divergence from it), in order of days. The base itself is not in it.
pub type Profile<'a> = &'a [(f64, f64)];

/// Lower and upper bounds of divergence and utility.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UtilityBounds {
    /// Divergence at the end.
    pub divergence: (f64, f64),
    /// ∫ D from 0 to the end.
    pub area: (f64, f64),
    /// X·D(X) − ∫ D: the lower bound uses the upper bound of the area, and vice versa.
    pub utility: (f64, f64),
}

/// The effect of a refresh on the period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodChange {
    /// The refresh was not worth the threshold: the period becomes twice the time since the base.
    Lengthen,
    /// The refresh was worth it, perhaps long ago: the period is halved, and the present version becomes the base.
    Shorten,
    /// The bounds leave it open: the period stays.
    Keep,
}

/// The rule that sets the period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundRule {
    /// The utility a refresh should have, in divergence × days.
    pub threshold: f64,
    /// The longest period, in days: ρ·threshold / (largest divergence) is the paper's cap on risk (§4.5).
    pub most_days: f64,
    /// The most points of the pinned profile.
    pub most_points: usize,
}

/// The result of a refresh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodStep {
    /// The effect on the period.
    pub action: PeriodChange,
    /// Days to the next refresh.
    pub period: f64,
    /// Does the pinned profile restart, with the present version as its base?
    pub restarts: bool,
    /// The bounds that led to it.
    pub bounds: UtilityBounds,
}

impl BoundRule {
    /// The step after a refresh; the last point of each profile belongs to it. X is the age of the `pinned` profile, and the
    /// `others` are averaged with it.
    pub fn step(&self, pinned: Profile<'_>, others: &[Profile<'_>], period: f64) -> PeriodStep {
        let days = last(pinned);
        let bounds = bounds(pinned, others);
        let (least, most) = bounds.utility;
        let (action, period) = if most < self.threshold {
            (PeriodChange::Lengthen, 2.0 * days)
        } else if least >= self.threshold {
            (PeriodChange::Shorten, 0.5 * period)
        } else {
            (PeriodChange::Keep, period)
        };
        let restarts = action == PeriodChange::Shorten || pinned.len() >= self.most_points;
        PeriodStep { action, period: period.min(self.most_days), restarts, bounds }
    }
}

/// UtilityBounds of divergence and utility from the base of the pinned profile to its last point.
///
/// Between two points of a profile, its upper curve has the value of the next point and its lower curve the value of the point
/// before; at a point both are exact.
pub fn bounds(pinned: Profile<'_>, others: &[Profile<'_>]) -> UtilityBounds {
    let days = last(pinned);
    if !(days > 0.0 && days.is_finite()) {
        return UtilityBounds::default();
    }
    let profiles = || std::iter::once(pinned).chain(others.iter().copied());
    let mut cuts: Vec<f64> =
        profiles().flatten().map(|point| point.0).filter(|cut| (0.0..days).contains(cut)).collect();
    cuts.push(days);
    cuts.sort_by(f64::total_cmp);
    let (mut area, mut start) = ((0.0, 0.0), 0.0);
    for end in cuts {
        let (low, up) = mean(
            profiles()
                .filter(|profile| reaches(profile, end))
                .map(|profile| (before(profile, start), next(profile, end))),
        );
        area.0 += (end - start) * low;
        area.1 += (end - start) * up;
        start = end;
    }
    let here = |profile| (before(profile, days), next(profile, days));
    let divergence = mean(profiles().filter(|profile| reaches(profile, days)).map(here));
    let utility = (days * divergence.0 - area.1, days * divergence.1 - area.0);
    UtilityBounds { divergence, area, utility }
}

/// The age of a profile at its last point; 0 without any.
fn last(profile: Profile<'_>) -> f64 {
    profile.last().map_or(0.0, |point| point.0)
}

/// Is the profile at least this long?
fn reaches(profile: Profile<'_>, days: f64) -> bool {
    last(profile) >= days * (1.0 - SAME_AGE)
}

/// The divergence at the last point up to here.
fn before(profile: Profile<'_>, days: f64) -> f64 {
    let after = profile.partition_point(|point| point.0 <= days * (1.0 + SAME_AGE));
    after.checked_sub(1).and_then(|at| profile.get(at)).map_or(0.0, |point| point.1)
}

/// The divergence at the first point from here on.
fn next(profile: Profile<'_>, days: f64) -> f64 {
    profile
        .get(profile.partition_point(|point| point.0 < days * (1.0 - SAME_AGE)))
        .map_or(0.0, |point| point.1)
}

fn mean(pairs: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (mut sum, mut count) = ((0.0, 0.0), 0.0);
    for pair in pairs {
        sum = (sum.0 + pair.0, sum.1 + pair.1);
        count += 1.0;
    }
    if count > 0.0 { (sum.0 / count, sum.1 / count) } else { sum }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::curve::Curve;
    use super::*;
    use crate::estimate::tests::{close, golden, number, numbers};

    /// The divergence of the page of a golden case between two times.
    pub(crate) fn trace_divergence(case: &Value, from: f64, to: f64) -> f64 {
        let of = |name: &str| number(&case["params"][name]);
        match case["kind"].as_str().expect("a name") {
            "static" => 0.0,
            "churn" => Curve::churn(of("A"), of("rate")).divergence(to - from),
            "scroll" => Curve::scroll(of("A"), of("rate"), of("K") as u32).divergence(to - from),
            "linear" => of("A") * ((to - from) / of("L")).min(1.0),
            "step_at" => {
                if from < of("t0") && of("t0") <= to {
                    of("A")
                } else {
                    0.0
                }
            }
            other => panic!("{other}"),
        }
    }

    #[test]
    fn steps_are_the_golden_traces() {
        let golden = golden(include_str!("../../tests/golden/bound_policy_traces.json"));
        let (relative, absolute) =
            (number(&golden["tolerance"]["relative"]), number(&golden["tolerance"]["absolute"]));
        for case in golden["cases"].as_array().expect("cases") {
            let (threshold, kept) = (number(&case["T"]), number(&case["h"]) as usize);
            let most_days = number(&case["rho"]) * threshold / number(&case["Dmax"]);
            let rule = BoundRule { threshold, most_days, most_points: usize::MAX };
            let (mut now, mut reference) = (0.0, 0.0);
            let mut period = number(&case["phi0"]).min(most_days);
            let mut profiles: Vec<(f64, Vec<(f64, f64)>)> = vec![(0.0, Vec::new())];
            for row in case["trace"].as_array().expect("rows") {
                now += period;
                for (base, points) in &mut profiles {
                    points.push((now - *base, trace_divergence(case, *base, now)));
                }
                let pinned = profiles.iter().find(|(base, _)| *base == reference).expect("a pinned profile");
                let others: Vec<Profile<'_>> = profiles
                    .iter()
                    .filter(|(base, _)| *base != reference)
                    .map(|(_, points)| points.as_slice())
                    .collect();
                let step = rule.step(&pinned.1, &others, period);
                let action = match row["action"].as_str().expect("a name") {
                    "lengthen" => PeriodChange::Lengthen,
                    "reset" => PeriodChange::Shorten,
                    "keep" => PeriodChange::Keep,
                    other => panic!("{other}"),
                };
                assert_eq!(step.action, action, "{row}");
                period = step.period;
                if step.restarts {
                    reference = now;
                }
                profiles.push((now, Vec::new()));
                // The pinned one and the newest of the others.
                while profiles.len() > kept {
                    let oldest = profiles.iter().position(|(base, _)| *base != reference).expect("another");
                    profiles.remove(oldest);
                }
                let UtilityBounds { divergence, area, utility } = step.bounds;
                for (name, value) in [
                    ("t", now),
                    ("t_ref", reference),
                    ("phi", period),
                    ("A_min", area.0),
                    ("A_max", area.1),
                    ("D_lo", divergence.0),
                    ("D_up", divergence.1),
                    ("U_min", utility.0),
                    ("U_max", utility.1),
                ] {
                    let expected = number(&row[name]);
                    let is_close = close(value, expected, relative) || (value - expected).abs() <= absolute;
                    assert!(is_close, "{name} is {value} in {row}");
                }
                let bases: Vec<f64> = profiles.iter().map(|(base, _)| *base).collect();
                assert_eq!(bases, numbers(&row["bases"]));
            }
        }
    }

    #[test]
    fn a_page_that_leaves_the_bounds_open_restarts_after_its_points() {
        let rule = BoundRule { threshold: 0.2, most_days: 100.0, most_points: MOST_POINTS };
        let points: Vec<(f64, f64)> = (1..=12).map(|day| (f64::from(day), 0.3)).collect();
        let step = |count: usize| rule.step(&points[..count], &[], 1.0);
        assert_eq!((step(11).action, step(11).restarts), (PeriodChange::Keep, false));
        assert_eq!((step(12).action, step(12).restarts, step(12).period), (PeriodChange::Keep, true, 1.0));
    }

    proptest! {
        #[test]
        fn bounds_hold_the_truth_for_a_page_that_only_diverges(
            height in 0.0..1.0_f64, rate in 0.01..10.0_f64, items in 1_u32..40,
            gaps in proptest::collection::vec(0.01..3.0_f64, 1..12),
        ) {
            let curve = Curve::scroll(height, rate, items);
            let mut days = 0.0;
            let points: Vec<(f64, f64)> = gaps.iter().map(|gap| { days += gap; (days, curve.divergence(days)) }).collect();
            let UtilityBounds { utility: (least, most), .. } = bounds(&points, &[]);
            let truth = curve.utility(days);
            prop_assert!(least <= truth + 1e-12 && truth <= most + 1e-12, "{least} {truth} {most}");
        }

        #[test]
        fn whatever_was_seen_steps_are_no_puzzle(
            pinned in proptest::collection::vec((any::<f64>(), 0.0..1.0_f64), 0..6),
            other in proptest::collection::vec((-1.0..9.0_f64, 0.0..1.0_f64), 0..6),
        ) {
            let rule = BoundRule { threshold: 0.3, most_days: 30.0, most_points: MOST_POINTS };
            let step = rule.step(&pinned, &[&other], 2.0);
            prop_assert!(step.period <= 30.0 && !step.bounds.utility.0.is_nan() && !step.bounds.utility.1.is_nan(), "{step:?}");
        }
    }
}
