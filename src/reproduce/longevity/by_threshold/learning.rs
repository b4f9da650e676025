//! Methods that learn from their own refreshes only.

use super::LearningPhase;
use super::watched_page::WatchedPage;
use crate::change::VersionId;
use crate::change::profile::Profiles;
use crate::estimate::Seen;
use crate::estimate::bias_reduced::ratio;
use crate::estimate::censored::{KEPT_LENGTHS, VisitHistory as Intervals};
use crate::longevity::bound::{BoundRule, MOST_POINTS};
use crate::longevity::curve::Curve;
use crate::policy::Lesson;
use crate::policy::longevity_curve::{Fitted, POINTS_TO_SEE_A_CURVE};
use crate::simulate::Measuring;
use crate::simulate::measured_visit::MeasuredVisit;
use crate::time::Age;

/// How the days to wait are learnt from refreshes.
pub(super) enum PeriodRule {
    Cgm(CgmPeriod),
    CgmBiasReduced(CgmBiasReducedPeriod),
    Curve(CurvePeriod),
    Bound(BoundPeriod),
}

impl PeriodRule {
    /// The page was refreshed at `moment`, and before that at `last`; both are the same for the first copy. Gives the days
    /// to wait, which should be at most `most_days`.
    fn learn(&mut self, page: &WatchedPage, last: usize, moment: usize, most_days: f64) -> f64 {
        match self {
            Self::Bound(bound) => bound.learn(page, moment, most_days),
            Self::Curve(curve) => curve.learn(page, last, moment),
            // Their rates are learnt from pairs of copies.
            Self::Cgm(_) | Self::CgmBiasReduced(_) if moment == last => f64::INFINITY,
            Self::Cgm(rate) => rate.learn(page, last, moment),
            Self::CgmBiasReduced(rate) => rate.learn(page, last, moment),
        }
    }
}

/// Waits for the learnt period, within the bounds of the learning phase and of risk.
pub(super) struct LearntPeriod {
    rule: PeriodRule,
    learning: LearningPhase,
    /// Moments of the warm-up.
    warm: usize,
    most_days: f64,
    refreshes: f64,
    last: usize,
    /// Days from the first copy to the next refresh: within the bounds of the learning phase, and without them.
    due_days: f64,
    free_due_days: f64,
}

impl LearntPeriod {
    /// `most_days`: the bound on risk (§4.5). `warm`: moments of the warm-up.
    pub(super) fn new(
        rule: PeriodRule,
        page: &WatchedPage,
        most_days: f64,
        learning: LearningPhase,
        warm: usize,
    ) -> Self {
        let (refreshes, last, due_days, free_due_days) = (0.0, 0, 0.0, 0.0);
        let warm = warm.max(1);
        let mut learnt = Self { rule, learning, warm, most_days, refreshes, last, due_days, free_due_days };
        learnt.refreshed(page, 0);
        learnt
    }

    /// Days from the first copy to the next refresh, as it stands at this moment. A learning phase that ends with the warm-up decides
    /// nothing after it.
    pub(super) fn due_days(&self, moment: usize) -> f64 {
        let has_ended = match self.learning {
            LearningPhase::AtMostInWarmUp { .. } | LearningPhase::Schedule { .. } => moment >= self.warm,
            LearningPhase::AtMost { .. } | LearningPhase::Free => false,
        };
        if has_ended { self.free_due_days } else { self.due_days }
    }

    pub(super) fn refreshed(&mut self, page: &WatchedPage, moment: usize) {
        self.refreshes += 1.0;
        let warms_up = moment < self.warm;
        let (most_learning, schedule) = match self.learning {
            LearningPhase::AtMost { days } => (Some(days), None),
            LearningPhase::AtMostInWarmUp { days } => (Some(days).filter(|_| warms_up), None),
            LearningPhase::Schedule { days } => (None, Some(days).filter(|_| warms_up)),
            LearningPhase::Free => (None, None),
        };
        let most_days =
            most_learning.map_or(self.most_days, |days| self.most_days.min(days * self.refreshes));
        let own = self.rule.learn(page, self.last, moment, most_days);
        let period = schedule.map_or(own.min(most_days), |days| days * self.refreshes);
        let due_before = self.due_days(moment);
        self.free_due_days = (due_before + own.min(self.most_days)).max(page.days(moment));
        self.last = moment;
        self.due_days = (due_before + period).max(page.days(moment));
    }
}

/// The most likely rate given all refreshes (Grimes & Ford 2008, eq. 2), and the best period for freshness.
pub(super) struct CgmPeriod {
    threshold: f64,
    intervals: Intervals,
}

impl CgmPeriod {
    pub(super) fn new(threshold: f64) -> Self {
        Self { threshold, intervals: Intervals::keeping(KEPT_LENGTHS) }
    }

    fn learn(&mut self, page: &WatchedPage, last: usize, moment: usize) -> f64 {
        let changed = page.text(last) != page.text(moment);
        self.intervals.add(page.days(moment) - page.days(last), Seen::from(changed));
        // Pages that change 1/T times a day or faster have no period: they are left alone.
        let curve = Curve::churn(1.0, self.intervals.most_likely());
        curve.refresh_period(self.threshold).unwrap_or(f64::INFINITY)
    }
}

/// The same with the bias-reduced estimate (Cho & Garcia-Molina 2003), by the mean of the intervals. A page that was never seen
/// to change has rate 0, and is left alone.
pub(super) struct CgmBiasReducedPeriod {
    threshold: f64,
    visits: f64,
    changes: f64,
}

impl CgmBiasReducedPeriod {
    pub(super) fn new(threshold: f64) -> Self {
        Self { threshold, visits: 0.0, changes: 0.0 }
    }

    fn learn(&mut self, page: &WatchedPage, last: usize, moment: usize) -> f64 {
        self.visits += 1.0;
        self.changes += f64::from(u8::from(page.text(last) != page.text(moment)));
        let mean_days = page.days(moment) / self.visits;
        let curve = Curve::churn(1.0, ratio(self.visits, self.changes) / mean_days);
        curve.refresh_period(self.threshold).unwrap_or(f64::INFINITY)
    }
}

/// A curve fitted to the union of the current change profiles (§4.2): the memory of the live policy.
pub(super) struct CurvePeriod {
    threshold: f64,
    measuring: Measuring,
    profiles: Profiles,
    fitted: Fitted,
}

impl CurvePeriod {
    pub(super) fn new(threshold: f64, measuring: Measuring) -> Self {
        Self { threshold, measuring, profiles: Profiles::default(), fitted: Fitted::default() }
    }

    fn learn(&mut self, page: &WatchedPage, last: usize, moment: usize) -> f64 {
        let Measuring { sketch, profiles } = self.measuring;
        let (held, live) = (page.text(last), page.text(moment));
        let found = page.version(moment);
        let before = (moment > last).then(|| page.version(last).version);
        let from = |base: VersionId| page.measured(base.0 as u32, live, sketch);
        let moved = MeasuredVisit::measured(&mut self.profiles, found, before, profiles, from);
        if moment == last {
            return f64::INFINITY;
        }
        let days = page.days(moment) - page.days(last);
        let mut lesson = Lesson::of_bit(found.at, Age::from_days(days), held != live);
        moved.tell(&mut lesson);
        self.fitted.add(&lesson, days);
        if self.fitted.points() < POINTS_TO_SEE_A_CURVE {
            return f64::INFINITY;
        }
        self.fitted.curve.refresh_period(self.threshold).unwrap_or(f64::INFINITY)
    }
}

/// Bounds on the utility, by change profiles of which one is pinned (§4.3).
pub(super) struct BoundPeriod {
    threshold: f64,
    measuring: Measuring,
    /// Days to the next refresh.
    period: f64,
    /// The base of the one that is pinned.
    pinned: usize,
    /// Oldest first.
    profiles: Vec<ProfileSinceBase>,
}

/// Divergences of a page from one of its versions, with the days since that version.
struct ProfileSinceBase {
    base: usize,
    points: Vec<(f64, f64)>,
}

impl BoundPeriod {
    /// `first_days`: the first period, which the paper leaves open.
    pub(super) fn new(threshold: f64, measuring: Measuring, first_days: f64) -> Self {
        Self { threshold, measuring, period: first_days, pinned: 0, profiles: Vec::new() }
    }

    fn learn(&mut self, page: &WatchedPage, moment: usize, most_days: f64) -> f64 {
        let live = page.text(moment);
        for profile in &mut self.profiles {
            let base = page.text(profile.base);
            let apart = page.measured(base, live, self.measuring.sketch).get();
            profile.points.push((page.days(moment) - page.days(profile.base), apart));
        }
        let rule = BoundRule { threshold: self.threshold, most_days, most_points: MOST_POINTS };
        let (pinned, others): (Vec<&ProfileSinceBase>, Vec<&ProfileSinceBase>) =
            self.profiles.iter().partition(|profile| profile.base == self.pinned);
        let others: Vec<&[(f64, f64)]> = others.iter().map(|profile| profile.points.as_slice()).collect();
        match pinned.first().map(|pinned| rule.step(&pinned.points, &others, self.period)) {
            Some(step) => {
                self.period = step.period;
                self.pinned = if step.restarts { moment } else { self.pinned };
            }
            None => (self.period, self.pinned) = (self.period.min(most_days), moment),
        }
        self.profiles.push(ProfileSinceBase { base: moment, points: Vec::new() });
        // The pinned profile is kept, and of the others the newest.
        while self.profiles.len() > self.measuring.profiles.max(1)
            && let Some(oldest) = self.profiles.iter().position(|profile| profile.base != self.pinned)
        {
            self.profiles.remove(oldest);
        }
        self.period
    }
}
