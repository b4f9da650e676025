//! Methods that learn from their own refreshes and nothing else.

use super::page::WatchedPage;
use super::{Apart, Refresher, Settings, is_past};
use crate::change::VersionId;
use crate::change::profile::Profiles;
use crate::estimate::Seen;
use crate::estimate::bias_reduced::ratio;
use crate::estimate::censored::{History as Intervals, KEPT_LENGTHS};
use crate::longevity::bound::{MOST_POINTS, Rule};
use crate::longevity::curve::Curve;
use crate::policy::Lesson;
use crate::policy::content::{Fitted, POINTS_TO_SEE_A_CURVE};
use crate::simulate::Measuring;
use crate::simulate::moved::Moved;
use crate::time::Age;

/// From what refreshes found to a period.
pub(super) trait Learns {
    /// The page was refreshed at `moment`, and before that at `last`; both are the same for the first copy. Gives the days
    /// to wait, which should be at most `most_days`.
    fn learn(&mut self, page: &WatchedPage, last: usize, moment: usize, most_days: f64) -> f64;
}

/// Waits as long as was learnt, within the bounds of learning and of risk.
pub(super) struct Learner<L> {
    learns: L,
    learning_days: f64,
    /// Moments that the learning phase lasts.
    learning: usize,
    most_days: f64,
    refreshes: f64,
    last: usize,
    due: f64,
}

impl<L: Learns> Learner<L> {
    /// `most_days`: the bound on risk (§4.5).
    pub fn new(learns: L, page: &WatchedPage, most_days: f64, settings: &Settings) -> Self {
        let learning_days = settings.learning_days;
        let learning = if settings.keeps_learning { usize::MAX } else { settings.warm_moments(page).max(1) };
        let (refreshes, last, due) = (0.0, 0, 0.0);
        let mut learner = Self { learns, learning_days, learning, most_days, refreshes, last, due };
        learner.refreshed(page, 0);
        learner
    }
}

impl<L: Learns> Refresher for Learner<L> {
    fn is_due(&self, days: f64, _apart: Apart) -> bool {
        is_past(self.due, days)
    }

    fn refreshed(&mut self, page: &WatchedPage, moment: usize) {
        self.refreshes += 1.0;
        // The learning phase (§4.2): l·n.
        let learning =
            if moment < self.learning { self.learning_days * self.refreshes } else { f64::INFINITY };
        let most_days = self.most_days.min(learning);
        let period = self.learns.learn(page, self.last, moment, most_days).min(most_days);
        self.last = moment;
        self.due = (self.due + period).max(page.days(moment));
    }
}

/// The most likely rate by what refreshes found (Grimes & Ford 2008, eq. 2), and the period that is best for freshness.
pub(super) struct Cgm {
    threshold: f64,
    intervals: Intervals,
}

impl Cgm {
    pub fn new(threshold: f64) -> Self {
        Self { threshold, intervals: Intervals::keeping(KEPT_LENGTHS) }
    }
}

impl Learns for Cgm {
    fn learn(&mut self, page: &WatchedPage, last: usize, moment: usize, _most_days: f64) -> f64 {
        if moment == last {
            return f64::INFINITY;
        }
        let changed = page.text(last) != page.text(moment);
        self.intervals.add(page.days(moment) - page.days(last), Seen::from(changed));
        // Pages that change 1/T times a day or faster have no period: they are left alone.
        let curve = Curve::churn(1.0, self.intervals.most_likely());
        curve.refresh_period(self.threshold).unwrap_or(f64::INFINITY)
    }
}

/// The same with the bias-reduced estimate (Cho & Garcia-Molina 2003), by the mean of the intervals. A page that was never seen
/// to change has rate 0, and is left alone.
pub(super) struct CgmBiasReduced {
    threshold: f64,
    visits: f64,
    changes: f64,
}

impl CgmBiasReduced {
    pub fn new(threshold: f64) -> Self {
        Self { threshold, visits: 0.0, changes: 0.0 }
    }
}

impl Learns for CgmBiasReduced {
    fn learn(&mut self, page: &WatchedPage, last: usize, moment: usize, _most_days: f64) -> f64 {
        if moment == last {
            return f64::INFINITY;
        }
        self.visits += 1.0;
        self.changes += f64::from(u8::from(page.text(last) != page.text(moment)));
        let mean_days = page.days(moment) / self.visits;
        let curve = Curve::churn(1.0, ratio(self.visits, self.changes) / mean_days);
        curve.refresh_period(self.threshold).unwrap_or(f64::INFINITY)
    }
}

/// A curve fitted to change profiles: the memory of the live policy, which begins anew where a page has drifted.
pub(super) struct Fitting {
    threshold: f64,
    measuring: Measuring,
    profiles: Profiles,
    fitted: Fitted,
}

impl Fitting {
    pub fn new(threshold: f64, measuring: Measuring) -> Self {
        Self { threshold, measuring, profiles: Profiles::default(), fitted: Fitted::default() }
    }
}

impl Learns for Fitting {
    fn learn(&mut self, page: &WatchedPage, last: usize, moment: usize, _most_days: f64) -> f64 {
        let Measuring { sketch, profiles } = self.measuring;
        let (held, live) = (page.text(last), page.text(moment));
        let found = page.version(moment);
        let before = (moment > last).then(|| page.version(last).version);
        let from = |base: VersionId| page.measured(base.0 as u32, live, sketch);
        let moved = Moved::measured(&mut self.profiles, found, before, profiles, from);
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

/// Bounds on the utility, by change profiles of which one is pinned: as printed. The live policy keeps what a store keeps,
/// and lets the oldest profile that is left take the place of one that was dropped.
pub(super) struct Bound {
    threshold: f64,
    measuring: Measuring,
    period: f64,
    /// The base of the one that is pinned.
    pinned: usize,
    /// Oldest first.
    profiles: Vec<Profile>,
}

/// How far the page was from one of its versions, so many days later.
struct Profile {
    base: usize,
    points: Vec<(f64, f64)>,
}

impl Bound {
    pub fn new(threshold: f64, measuring: Measuring) -> Self {
        Self { threshold, measuring, period: f64::INFINITY, pinned: 0, profiles: Vec::new() }
    }
}

impl Learns for Bound {
    fn learn(&mut self, page: &WatchedPage, _last: usize, moment: usize, most_days: f64) -> f64 {
        let live = page.text(moment);
        for profile in &mut self.profiles {
            let base = page.text(profile.base);
            let apart = page.measured(base, live, self.measuring.sketch).get();
            profile.points.push((page.days(moment) - page.days(profile.base), apart));
        }
        let rule = Rule { threshold: self.threshold, most_days, most_points: MOST_POINTS };
        let (pinned, others): (Vec<&Profile>, Vec<&Profile>) =
            self.profiles.iter().partition(|profile| profile.base == self.pinned);
        let others: Vec<&[(f64, f64)]> = others.iter().map(|profile| profile.points.as_slice()).collect();
        match pinned.first().map(|pinned| rule.step(&pinned.points, &others, self.period)) {
            Some(step) => {
                self.period = step.period;
                self.pinned = if step.starts_anew { moment } else { self.pinned };
            }
            None => (self.period, self.pinned) = (most_days, moment),
        }
        self.profiles.push(Profile { base: moment, points: Vec::new() });
        // The pinned one stays, and of the others the newest.
        while self.profiles.len() > self.measuring.profiles.max(1)
            && let Some(oldest) = self.profiles.iter().position(|profile| profile.base != self.pinned)
        {
            self.profiles.remove(oldest);
        }
        self.period
    }
}
