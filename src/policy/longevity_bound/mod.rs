//! `longevity-bound`: the policy of Olston & Pandey 2008 (§4.3) that assumes no curve, only bounds on it.
//!
//! Each page has a period φ. After a visit the change profiles of the page bound the utility of the refresh: if w·U can't have
//! reached the threshold T the period grows, if it certainly has the period is halved ([`bound`]). The page that exceeds its
//! period most, as a ratio, comes first; its score is T·t/φ, which reaches T when the period is over. No period exceeds ρT/w, the
//! risk bound of §4.5 (the largest divergence is 1), nor l·n in the learning phase of the page ([`super::learning_phase`]).
//!
//! The profile from which utility is taken is pinned: it stays until the reference time t_R is reset, and the store keeps its
//! base version ([`Policy::pinned_base`]).
//!
//! The operator may give T. Otherwise T follows the budget: a step up in each cycle in which more pages are due than can be
//! visited, a step down in each other cycle. The values that T had are kept as the memory of the collection
//! ([`threshold_history`]), and each visit has the weight of its page in the log. So the memory of every page follows from the log
//! and that history: rebuilt, it is the same to the byte.

mod pinned;
mod threshold_history;

use super::learning_phase;
use super::registry::{LongevitySettings, Made, PolicyRequest};
use super::unseen::{self, Unseen};
use super::{Fact, Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey};
use crate::estimate::Seen;
use crate::longevity::bound::{self, BoundRule};
use crate::longevity::threshold;
use crate::page::{Depth, HostId};
use crate::time::Timestamp;
use pinned::{Pinned, take_period_and_reference};
use threshold_history::ThresholdHistory;

/// The first value of a threshold that follows the budget, in cycles.
const FIRST_THRESHOLD: f64 = 0.25;

#[derive(Debug)]
struct LongevityBound {
    settings: LongevitySettings,
    unseen: Unseen,
    /// The thresholds so far, unless one is given.
    history: ThresholdHistory,
    /// The threshold of the coming cycle.
    threshold: f64,
    /// See [`bound::MOST_POINTS`].
    most_points: usize,
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(LongevityBound::new(request.settings.longevity)))
}

impl LongevityBound {
    fn new(settings: LongevitySettings) -> Self {
        let history = ThresholdHistory::starting_at(FIRST_THRESHOLD * settings.cycle_days);
        let threshold = settings.threshold.unwrap_or(history.first());
        let (unseen, most_points) = (Unseen::default(), bound::MOST_POINTS);
        Self { settings, unseen, history, threshold, most_points }
    }

    /// The longest period of a page of this weight that was refreshed `refreshes` times: the bounds of risk and of learning.
    fn most_days(&self, threshold: f64, weight: f64, refreshes: u32) -> f64 {
        let risk = self.settings.risk * own_threshold(threshold, weight);
        risk.min(learning_phase::most_days(&self.settings, refreshes))
    }

    /// Days from one visit to the next. No page is visited more often than once in a cycle.
    fn period(&self, page: &PageState) -> f64 {
        let refreshes = learning_phase::refreshes(page.learnt.state.visits);
        let most_days = self.most_days(self.threshold, page.weight, refreshes);
        let known = page.learnt.memory.peek(take_period_and_reference);
        let period = known.map_or(most_days, |(period, _)| period.min(most_days));
        period.max(self.settings.cycle_days)
    }

    /// The time since the page was last seen, in periods.
    fn turns(&self, page: &PageState, now: Timestamp) -> f64 {
        page.copy_age(now).days() / self.period(page)
    }

    /// Moves the threshold towards the one that spends the budget.
    fn follow_budget(&mut self, survey: &mut Survey<'_>) {
        let Some(a_day) = survey.visits_a_day.filter(|visits| *visits > 0.0) else { return };
        let (mut due, now) = (0.0, survey.now);
        (survey.pages)(&mut |page, count| {
            if page.is_held() && self.turns(page, now) >= 1.0 {
                due += count as f64;
            }
        });
        let visits = a_day * survey.cycle_length.days();
        self.history.move_before(survey.cycle, |value| threshold::after(value, due, visits));
        self.threshold = self.history.at(survey.cycle);
    }

    /// The gain of a visit in new pages, in days.
    fn discovery_gain(&self, page: &PageState, now: Timestamp) -> f64 {
        unseen::discovery_gain(page, unseen::LINK_PRIOR_CYCLES * self.settings.cycle_days, now)
    }
}

/// The utility that a refresh of a page of this weight has to reach: w·U ≥ T.
fn own_threshold(threshold: f64, weight: f64) -> f64 {
    threshold / weight.max(f64::MIN_POSITIVE)
}

impl Policy for LongevityBound {
    fn name(&self) -> &str {
        "longevity-bound"
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if let Some(worth) = self.unseen.worth_after_failure(page) {
            return Score::new(worth);
        }
        let links = page.weight * self.discovery_gain(page, now);
        Score::new(self.threshold * self.turns(page, now) + links)
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.unseen.worth(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let period = self.period(page);
        let links = Fact::new_links(self.discovery_gain(page, now))
            .map(|links| links.told_as("new pages that it is expected to link to add a gain of {}"));
        Reason::of(Fact::interval(period, period - page.copy_age(now).days()).into_iter().chain(links))
    }

    fn is_due(&self, page: &PageState, now: Timestamp) -> bool {
        self.turns(page, now) >= 1.0
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let days = learnt.state.count(lesson.interval, seen);
        let known = learnt.memory.peek(Pinned::take_bytes);
        let mut pinned = known.unwrap_or_else(|| Pinned::starting(lesson.at, days));
        pinned.extend(lesson);
        let threshold = self.settings.threshold.unwrap_or_else(|| self.history.at(lesson.cycle));
        let refreshes = learning_phase::refreshes(learnt.state.visits);
        let rule = BoundRule {
            threshold: own_threshold(threshold, lesson.weight),
            most_days: self.most_days(threshold, lesson.weight, refreshes),
            most_points: self.most_points,
        };
        pinned.step(&rule, lesson.at);
        learnt.memory.write(|bytes| pinned.push_bytes(bytes));
    }

    fn memory_version(&self) -> String {
        let LongevitySettings { risk, learning_days, threshold, .. } = self.settings;
        let threshold = match threshold {
            Some(threshold) => format!("threshold {threshold}"),
            None => format!("threshold by budget from {}", self.history.first()),
        };
        format!("longevity-bound/2 {threshold} risk {risk} learning {learning_days}")
    }

    fn recall(&mut self, memory: &str) {
        if let Some(history) = ThresholdHistory::from_text(memory) {
            self.history = history;
        }
    }

    fn pinned_base(&self, learnt: &Learnt) -> Option<Timestamp> {
        learnt.memory.peek(take_period_and_reference).map(|(_, reference)| reference)
    }

    /// The memory of the collection is the history of the threshold that follows the budget.
    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.unseen.look_at_hosts(survey);
        if self.settings.threshold.is_some() {
            return;
        }
        if let Some(memory) = survey.memory.as_deref() {
            self.recall(memory);
        }
        self.threshold = self.history.at(survey.cycle);
        self.follow_budget(survey);
        *survey.memory = Some(self.history.to_string());
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, circumstances: true, ..LooksAt::default() }
    }
}

#[cfg(test)]
mod tests;
