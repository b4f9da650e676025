//! `longevity-bound`: the policy of Olston & Pandey 2008 (§4.3) that assumes no curve, only bounds on it.
//!
//! Each page has a period φ. After a visit the change profiles of the page bound the utility of the refresh: if it can't have
//! been worth the threshold T the period grows, if it certainly was the period is halved ([`bound`]). The page that exceeds its
//! period most, as a ratio, comes first; its score is T·t/φ, which reaches T when the period is over.
//!
//! The operator may give T. Otherwise T follows the budget: a step up in each cycle in which more pages are due than can be
//! visited, a step down in each other cycle. Then a page's period depends on the values that T had at its visits, which the log
//! does not record. **So without a given T the memory of a page can't be rebuilt exactly from the log**: a rebuilt period is the
//! one that T's present value would have led to (the first value, if the rebuild comes before the first survey). With a given T
//! the memory follows from the log.

mod profiles;

use super::registry::{LongevitySettings, Made, PolicyRequest};
use super::unseen::{self, Unseen};
use super::{Fact, Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey};
use crate::estimate::Seen;
use crate::longevity::bound::{self, BoundRule, Profile};
use crate::longevity::threshold;
use crate::page::{Depth, HostId};
use crate::time::Timestamp;
use crate::varint::take_float32;
use profiles::Pinned;

/// The first value of a threshold that follows the budget, in cycles.
const FIRST_THRESHOLD: f64 = 0.25;
/// The longest period, in even turns through all pages.
const MOST_TURNS: f64 = 20.0;

#[derive(Debug)]
struct LongevityBound {
    settings: LongevitySettings,
    unseen: Unseen,
    threshold: f64,
    most_days: f64,
    /// The last cycle that moved the threshold: a second survey of the same cycle does not move it again.
    moved_in: Option<i64>,
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(LongevityBound::new(request.settings.longevity)))
}

impl LongevityBound {
    fn new(settings: LongevitySettings) -> Self {
        let threshold = settings.threshold.unwrap_or(FIRST_THRESHOLD * settings.cycle_days);
        // With a given T, the risk bound of §4.5. Otherwise the first survey sets it.
        let most_days = match settings.threshold {
            Some(threshold) => settings.risk * threshold,
            None => f64::INFINITY,
        };
        Self { settings, unseen: Unseen::default(), threshold, most_days, moved_in: None }
    }

    /// Days from one visit to the next.
    fn period(&self, page: &PageState) -> f64 {
        let period = page.learnt.memory.peek(take_float32).unwrap_or(self.settings.cycle_days);
        period.max(self.settings.cycle_days).min(self.most_days)
    }

    /// The time since the page was last seen, in periods.
    fn turns(&self, page: &PageState, now: Timestamp) -> f64 {
        page.copy_age(now).days() / self.period(page)
    }

    /// Moves the threshold towards the one that spends the budget.
    fn follow_budget(&mut self, survey: &mut Survey<'_>) {
        let (mut due, mut all) = (0.0, 0.0);
        let now = survey.now;
        (survey.pages)(&mut |page, count| {
            if page.is_held() {
                all += count as f64;
                due += if self.turns(page, now) >= 1.0 { count as f64 } else { 0.0 };
            }
        });
        let Some(a_day) = survey.visits_a_day.filter(|visits| *visits > 0.0) else { return };
        let visits = a_day * survey.cycle_length.days();
        self.most_days = MOST_TURNS * all / a_day;
        if self.moved_in != Some(survey.cycle) {
            self.moved_in = Some(survey.cycle);
            self.threshold = threshold::after(self.threshold, due, visits);
        }
    }
}

impl LongevityBound {
    /// The gain of a visit in new pages, in days.
    fn discovery_gain(&self, page: &PageState, now: Timestamp) -> f64 {
        unseen::discovery_gain(page, unseen::LINK_PRIOR_CYCLES * self.settings.cycle_days, now)
    }
}

impl Policy for LongevityBound {
    fn name(&self) -> &str {
        "longevity-bound"
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if let Some(worth) = self.unseen.worth_after_failure(page) {
            return Score::new(worth);
        }
        let links = self.discovery_gain(page, now);
        Score::new(page.weight * (self.threshold * self.turns(page, now) + links))
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
        let first = || Pinned { period: self.settings.cycle_days, profiles: Vec::new() };
        let mut pinned = learnt.memory.peek(Pinned::take_bytes).unwrap_or_else(first);
        pinned.extend(lesson, days);
        let rule = BoundRule {
            threshold: self.threshold,
            most_days: self.most_days,
            most_points: bound::MOST_POINTS,
        };
        if let Some((first, others)) = pinned.profiles.split_first() {
            let points = |profile: &Vec<(f32, f32)>| -> Vec<(f64, f64)> {
                profile.iter().map(|(days, apart)| (f64::from(*days), f64::from(*apart))).collect()
            };
            let (first, others): (Vec<_>, Vec<_>) = (points(first), others.iter().map(points).collect());
            let others: Vec<Profile<'_>> = others.iter().map(Vec::as_slice).collect();
            let step = rule.step(&first, &others, pinned.period);
            pinned.period = f64::from(step.period.max(self.settings.cycle_days) as f32);
            if step.restarts {
                pinned.profiles.clear();
            }
        }
        learnt.memory.write(|bytes| pinned.push_bytes(bytes));
    }

    fn memory_version(&self) -> String {
        match self.settings.threshold {
            Some(threshold) => format!("longevity-bound/1 threshold {threshold}"),
            None => "longevity-bound/1 threshold by budget".to_owned(),
        }
    }

    /// The memory of the collection is the threshold that follows the budget, as a decimal number.
    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.unseen.look_at_hosts(survey);
        if self.settings.threshold.is_some() {
            return;
        }
        let kept = survey.memory.as_deref().and_then(|text| text.parse::<f64>().ok());
        if let Some(kept) = kept.filter(|kept| kept.is_finite() && *kept > 0.0) {
            self.threshold = kept;
        }
        self.follow_budget(survey);
        *survey.memory = Some(self.threshold.to_string());
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, ..LooksAt::default() }
    }
}
