//! Rates from intervals of any length, each of which tells only whether there was a change (Grimes & Ford 2008, §3).
//!
//! [`Naive`] divides changes by time. [`MostLikely`] takes the rate of the highest likelihood; dates and counts of changes, if
//! there are any, enter the same likelihood.

use serde::{Deserialize, Serialize};

use super::online::naive;
use super::share::wilson;
use super::two_intervals::TwoIntervals;
use super::{Estimate, Estimator, EstimatorState, Memory, Seen, bounded_days};
use crate::numeric::root;
use crate::time::Age;

/// X / Σ t (Grimes & Ford 2008, §3.2; Avrachenkov et al. 2020, §3.3): changes seen over the time watched.
///
/// It is biased, because several changes in one interval count once. With visits as a Poisson process of rate p it tends to
/// p · rate / (p + rate). It is here for comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Naive;

impl Estimator for Naive {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        state.count(interval, seen);
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        let Some(days) = state.mean_days() else { return Estimate::of_nothing(0.0) };
        let (visits, changes) = (f64::from(state.visits), f64::from(state.changes));
        let (low, high) = wilson(changes, visits);
        Estimate::new(naive(1.0 / days, visits, changes), low / days, high / days)
    }
}

/// A number of intervals of one length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitRun {
    /// The length, in days.
    pub days: f64,
    /// How many there are.
    pub count: u32,
}

/// The intervals of a page, in the form that a likelihood needs: the sum of those without a change, and the lengths of those with
/// one.
///
/// At most `keep` lengths are kept apart. Beyond that, the two nearest ones, as a ratio, are merged into their mean, which moves an
/// estimate by less than a hundredth (with 16 kept, see the test).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitHistory {
    /// Intervals that found a change of unknown date, by length.
    pub(super) changed: Vec<VisitRun>,
    /// Changes whose date is known.
    pub(super) events: u32,
    /// The time in which nothing is known to have changed, in days (S).
    pub(super) quiet_days: f64,
    /// The shortest interval that found a change.
    pub(super) shortest_days: f64,
    /// The last most likely rate, at which the next search starts.
    pub(super) last_rate: f64,
    pub(super) keep: usize,
}

impl VisitHistory {
    /// An empty history that keeps this many lengths apart.
    pub(crate) fn keeping(keep: usize) -> Self {
        let (changed, events, quiet_days, last_rate) = (Vec::new(), 0, 0.0, 0.0);
        Self { changed, events, quiet_days, shortest_days: f64::MAX, last_rate, keep: keep.max(2) }
    }

    /// The history of these intervals, with all lengths kept.
    pub fn of(intervals: impl IntoIterator<Item = (Age, Seen)>) -> Self {
        let mut history = Self::keeping(usize::MAX);
        for (interval, seen) in intervals {
            history.add(bounded_days(interval), seen);
        }
        history
    }

    /// Adds an interval.
    pub fn add(&mut self, days: f64, seen: Seen) {
        match seen {
            Seen::Unchanged => self.quiet_days += days,
            Seen::Changed => {
                self.shortest_days = self.shortest_days.min(days);
                self.add_run(days);
            }
            // ln(rate) − rate · l: a change, and after it a time without one.
            Seen::ChangedAgo(_) | Seen::Counted(_) => {
                if seen.changed() {
                    self.shortest_days = self.shortest_days.min(days);
                }
                self.events = self.events.saturating_add(super::count::events(seen));
                self.quiet_days += super::dated::exposure_days(days, seen);
            }
        }
    }

    /// Intervals that found a change of unknown date, shortest first.
    pub fn changed(&self) -> &[VisitRun] {
        &self.changed
    }

    /// The shortest interval that found a change.
    pub(super) fn shortest_days(&self) -> Option<f64> {
        (self.shortest_days < f64::MAX).then_some(self.shortest_days)
    }

    /// Is there no change in it?
    pub(crate) fn is_quiet(&self) -> bool {
        self.changed.is_empty() && self.events == 0
    }

    /// The history with two made-up intervals before all others (Grimes & Ford 2008, §4.4).
    pub fn after(&self, prior: TwoIntervals) -> Self {
        let mut history = Self { keep: usize::MAX, ..self.clone() };
        history.add(prior.changed_days, Seen::Changed);
        history.add(prior.unchanged_days, Seen::Unchanged);
        history
    }

    fn add_run(&mut self, days: f64) {
        let at = self.changed.partition_point(|run| run.days < days);
        match self.changed.get_mut(at) {
            Some(run) if run.days == days => run.count = run.count.saturating_add(1),
            _ => {
                self.changed.insert(at, VisitRun { days, count: 1 });
                self.merge_if_many();
            }
        }
    }

    fn merge_if_many(&mut self) {
        if self.changed.len() <= self.keep {
            return;
        }
        let gap = |pair: &[VisitRun]| match pair {
            [a, b] => (b.days / a.days).ln() * f64::from(a.count.min(b.count)),
            _ => f64::MAX,
        };
        let gaps = self.changed.windows(2).map(gap).enumerate();
        let Some((at, _)) = gaps.min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        let gone = self.changed.remove(at + 1);
        if let Some(run) = self.changed.get_mut(at) {
            let (here, there) = (f64::from(run.count), f64::from(gone.count));
            run.days = (run.days * here + gone.days * there) / (here + there);
            run.count = run.count.saturating_add(gone.count);
        }
    }

    /// ln P(history | rate): Σ ln(1 − e^(−rate t)) over intervals with a change, −rate · t for those
    /// without, and ln(rate) − rate · l for changes that are dated (Grimes & Ford 2008, §3.3, before eq. 2).
    pub(crate) fn log_likelihood(&self, rate: f64) -> f64 {
        let changed = self.changed.iter().map(|run| f64::from(run.count) * ln_change(rate * run.days));
        let events = if self.events > 0 { f64::from(self.events) * rate.ln() } else { 0.0 };
        changed.sum::<f64>() + events - rate * self.quiet_days
    }

    /// The slope of [`Self::log_likelihood`], Σ t / (e^(rate t) − 1) + events / rate − S (Grimes & Ford 2008,
    /// eq. 2; Avrachenkov et al. 2020, eq. 9), and the slope of that, which is negative.
    fn slopes(&self, rate: f64) -> (f64, f64) {
        let events = f64::from(self.events);
        let start = (events / rate - self.quiet_days, -events / (rate * rate));
        self.changed.iter().fold(start, |(first, second), run| {
            let (count, up) = (f64::from(run.count), (rate * run.days).exp_m1());
            let down = -(-rate * run.days).exp_m1();
            (first + count * run.days / up, second - count * run.days / up * (run.days / down))
        })
    }

    /// The rate of the highest likelihood.
    ///
    /// If the likelihood has no maximum the paper's rules hold (Grimes & Ford 2008, §3.3). If nothing changed, the rate is one change
    /// in the whole time; if every visit found a change, one in the shortest interval. Without visits it is 0.
    pub(crate) fn most_likely(&self) -> f64 {
        let longest = self.changed.last().map(|run| run.days);
        match longest {
            None if self.quiet_days == 0.0 => 0.0,
            None => f64::from(self.events.max(1)) / self.quiet_days,
            Some(_) if self.quiet_days == 0.0 => 1.0 / self.shortest_days,
            Some(longest) => self.climb(longest),
        }
    }

    /// Newton's method for the zero of the slope. The slope is convex and falls, so steps from the left never overshoot.
    fn climb(&self, longest: f64) -> f64 {
        let changes: f64 = self.changed.iter().map(|run| f64::from(run.count)).sum();
        // A start on the left: all intervals with a change as long as the longest, or only the dated changes.
        let least = ((changes * longest / self.quiet_days).ln_1p() / longest)
            .max(f64::from(self.events) / self.quiet_days);
        let mut rate = least.max(self.last_rate);
        for _ in 0..100 {
            let (slope, bend) = self.slopes(rate);
            let next = (rate - slope / bend).max(least);
            if !next.is_finite() {
                break;
            }
            let step = (next - rate).abs();
            rate = next;
            if step <= 1e-13 * rate {
                break;
            }
        }
        rate
    }

    /// The range of rates whose likelihood is below the highest by at most a factor e^1.92 (19 times out of 20).
    ///
    /// If every visit found a change the likelihood gives no upper bound. Then half a visit more is assumed to have found none, as in
    /// [`super::bias_reduced::ratio`], after the shortest of the intervals.
    fn likely_bounds(&self) -> (f64, f64) {
        const DROP: f64 = 1.920_729_410_347_062;
        if self.quiet_days == 0.0 {
            let Some(shortest) = self.shortest_days() else { return (0.0, f64::MAX) };
            return Self { quiet_days: 0.5 * shortest, ..self.clone() }.likely_bounds();
        }
        if self.is_quiet() {
            return (0.0, DROP / self.quiet_days);
        }
        let peak = self.most_likely();
        let least = self.log_likelihood(peak) - DROP;
        let below = |log_rate: f64| self.log_likelihood(log_rate.exp()) - least;
        let low = root::of_rising(peak.ln(), 1.0, |x| if x < peak.ln() { below(x) } else { DROP });
        let high = root::of_rising(peak.ln(), 1.0, |x| if x > peak.ln() { -below(x) } else { -DROP });
        (low.exp(), high.exp())
    }
}

/// ln(1 − e^(−x)), exact for small and for large x.
fn ln_change(x: f64) -> f64 {
    if x < std::f64::consts::LN_2 { (-(-x).exp_m1()).ln() } else { (-(-x).exp()).ln_1p() }
}

/// [`VisitHistory::most_likely`] as an estimator, with or without two made-up intervals before the first visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MostLikely {
    /// How many lengths of intervals are kept apart.
    pub keep: usize,
    /// The two made-up intervals, if there are any.
    pub prior: Option<TwoIntervals>,
    /// Are dates and counts of changes used, if there are any?
    pub dated: bool,
}

/// The number of lengths that a live crawl keeps apart: enough for estimates that are exact to a hundredth.
pub(crate) const KEPT_LENGTHS: usize = 16;

impl Default for MostLikely {
    fn default() -> Self {
        Self { keep: KEPT_LENGTHS, prior: None, dated: false }
    }
}

impl MostLikely {
    fn history<'a>(&self, state: &'a EstimatorState) -> Option<&'a VisitHistory> {
        match &state.memory {
            Memory::History(history) => Some(history),
            _ => None,
        }
    }
}

/// Adds to the history that a state holds, or to a new one.
pub(super) fn with_history(state: &mut EstimatorState, keep: usize, add: impl FnOnce(&mut VisitHistory)) {
    let mut history = match std::mem::take(&mut state.memory) {
        Memory::History(history) => history,
        _ => Box::new(VisitHistory::keeping(keep)),
    };
    add(&mut history);
    state.memory = Memory::History(history);
}

impl Estimator for MostLikely {
    fn name(&self) -> &'static str {
        match (self.prior, self.dated) {
            (Some(_), _) => "two-interval",
            (None, true) => "dated",
            (None, false) => "mle",
        }
    }

    fn memory_version(&self) -> String {
        let (name, keep) = (self.name(), self.keep);
        match self.prior {
            Some(TwoIntervals { changed_days, unchanged_days }) => {
                format!("{name}/1 keep {keep} prior {changed_days} {unchanged_days}")
            }
            None => format!("{name}/1 keep {keep}"),
        }
    }

    fn observe(&self, state: &mut EstimatorState, interval: Age, seen: Seen) {
        let days = state.count(interval, seen);
        let seen = if self.dated { seen } else { Seen::from(seen.changed()) };
        with_history(state, self.keep, |history| {
            history.add(days, seen);
            history.last_rate = match self.prior {
                Some(prior) => history.after(prior).most_likely(),
                None => history.most_likely(),
            };
        });
    }

    fn as_published(&self, state: &EstimatorState) -> Estimate {
        match (self.history(state), self.prior) {
            (Some(history), None) => {
                let (low, high) = history.likely_bounds();
                Estimate::new(history.last_rate, low, high)
            }
            (history, Some(prior)) => {
                let history =
                    history.map_or_else(|| VisitHistory::keeping(2).after(prior), |held| held.after(prior));
                let (low, high) = history.likely_bounds();
                Estimate::new(history.most_likely(), low, high)
            }
            (None, None) => Estimate::of_nothing(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{any_history, close, golden, history_case, number};
    use proptest::prelude::*;

    #[test]
    fn naive_and_most_likely_rates_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/estimators.json"));
        let relative = number(&golden["tolerance"]["relative"]);
        let for_roots = number(&golden["tolerance"]["mle_mm_relative"]);
        for case in golden["cases"].as_array().expect("cases") {
            let visits = history_case(case);
            let mut state = EstimatorState::default();
            visits.iter().for_each(|(interval, seen)| Naive.observe(&mut state, *interval, *seen));
            assert!(close(Naive.as_published(&state).rate.get(), number(&case["naive"]), relative), "{case}");

            let (history, expected) = (VisitHistory::of(visits.clone()), number(&case["mle"]["rate"]));
            assert!(close(history.most_likely(), expected, for_roots), "{case}");
            let likelihood = history.log_likelihood(expected);
            let expected_likelihood = number(&case["mle"]["loglik_at_rate"]);
            assert!(close(likelihood, expected_likelihood, 1e-7) || likelihood.abs() < 1e-12, "{case}");

            // Folded visit by visit, each search starting at the last rate.
            let estimator = MostLikely { keep: usize::MAX, ..MostLikely::default() };
            let mut state = EstimatorState::default();
            visits.iter().for_each(|(interval, seen)| estimator.observe(&mut state, *interval, *seen));
            let estimate = estimator.as_published(&state);
            assert!(close(estimate.rate.get(), expected, for_roots), "{case}");
            assert!(estimate.low < estimate.rate && estimate.rate < estimate.high, "{estimate:?}");
        }
    }

    #[test]
    fn dated_changes_have_a_closed_form() {
        let ago = |days| Seen::ChangedAgo(Age::from_days(days));
        let day = Age::from_days(1.0);
        let history = VisitHistory::of([(day, ago(0.25)), (day, Seen::Unchanged), (day, ago(0.5))]);
        assert!(close(history.most_likely(), 2.0 / 1.75, 1e-12));
        // A change without a date among them: more than without it, and at the top of the likelihood.
        let mixed = VisitHistory::of([
            (day, ago(0.25)),
            (day, Seen::Unchanged),
            (day, ago(0.5)),
            (day, Seen::Changed),
        ]);
        let rate = mixed.most_likely();
        assert!(rate > history.most_likely());
        assert!(
            [0.99, 1.01].iter().all(|near| mixed.log_likelihood(rate * near) < mixed.log_likelihood(rate))
        );
        assert!(close(VisitHistory::of([(Age::from_days(4.0), Seen::Counted(6))]).most_likely(), 1.5, 1e-12));
    }

    #[test]
    fn a_prior_of_two_intervals_leaves_no_edge() {
        let prior = TwoIntervals { changed_days: 3.0, unchanged_days: 5.0 };
        let estimator = MostLikely { prior: Some(prior), ..MostLikely::default() };
        let estimate = estimator.as_published(&EstimatorState::default());
        assert!(close(estimate.rate.get(), prior.rate(), 1e-12), "{estimate:?}");
        let mut state = EstimatorState::default();
        for _ in 0..4 {
            estimator.observe(&mut state, Age::from_days(1.0), Seen::Changed);
        }
        let changed = estimator.as_published(&state).rate.get();
        assert!(changed > prior.rate() && changed < 10.0, "{changed}");
    }

    proptest! {
        #[test]
        fn few_kept_lengths_change_an_estimate_by_less_than_a_hundredth(
            visits in proptest::collection::vec((-2.0..2.0_f64, any::<bool>()), 20..200)
        ) {
            let visits: Vec<_> =
                visits.iter().map(|(log, changed)| (Age::from_days(10_f64.powf(*log)), Seen::from(*changed))).collect();
            let exact = VisitHistory::of(visits.clone()).most_likely();
            let mut kept = VisitHistory::keeping(KEPT_LENGTHS);
            visits.iter().for_each(|(interval, seen)| kept.add(interval.days(), *seen));
            prop_assert!(kept.changed().len() <= KEPT_LENGTHS);
            prop_assert!(close(kept.most_likely(), exact, 0.01), "{} for {exact}", kept.most_likely());
        }

        #[test]
        fn no_rate_is_more_likely_than_the_most_likely(visits in any_history(30), factor in 0.1..10.0_f64) {
            let history = VisitHistory::of(visits);
            if history.quiet_days > 0.0 && !history.changed.is_empty() {
                let rate = history.most_likely();
                let (best, other) = (history.log_likelihood(rate), history.log_likelihood(rate * factor));
                prop_assert!(other <= best + 1e-9 * best.abs());
            }
        }
    }
}
