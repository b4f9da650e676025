//! Utility from bounds on the curve: the policy of Olston & Pandey 2008 (§4.3) that assumes no curve.
//!
//! Each page has a period. After a visit the bounds that its change profiles put on the utility say whether a refresh was
//! worth the threshold T: if it can't have been the period grows, if it certainly was it is halved ([`bound`]). The page whose
//! period is most exceeded, as a ratio, comes first; its score is T·t/φ, which reaches T when the period is over.
//!
//! T is what the operator gives; else it follows the budget: a step up in each cycle in which more pages are due than can
//! be visited, a step down in others. What is learnt of a page depends on what T was then; learnt anew from the log it is
//! by the T of that moment.

use super::content::{Content, Pinned};
use super::newcomers::{self, Newcomers};
use super::registry::LongevitySettings;
use super::{Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey};
use crate::estimate::Seen;
use crate::longevity::bound::{self, Profile, Rule};
use crate::longevity::threshold;
use crate::page::{Depth, HostId};
use crate::time::Timestamp;

/// The threshold that one starts from without one, in cycles.
const FIRST_THRESHOLD: f64 = 0.25;
/// The longest period, in even turns through all pages.
const MOST_TURNS: f64 = 20.0;

#[derive(Debug)]
pub struct LongevityBound {
    settings: LongevitySettings,
    newcomers: Newcomers,
    threshold: f64,
    most_days: f64,
    /// The last cycle that moved the threshold: looking over the same one again changes nothing.
    moved_in: Option<i64>,
}

impl LongevityBound {
    pub fn new(settings: LongevitySettings) -> Self {
        let threshold = settings.threshold.unwrap_or(FIRST_THRESHOLD * settings.cycle_days);
        // The risk bound of §4.5, where T is known; else until pages are looked over.
        let most_days = match settings.threshold {
            Some(threshold) => settings.risk * threshold,
            None => f64::INFINITY,
        };
        Self { settings, newcomers: Newcomers::default(), threshold, most_days, moved_in: None }
    }

    /// Days from one visit to the next.
    fn period(&self, page: &PageState) -> f64 {
        let period = match &page.learnt.content {
            Content::Pinned(pinned) => pinned.period,
            _ => self.settings.cycle_days,
        };
        period.max(self.settings.cycle_days).min(self.most_days)
    }

    /// The time since the page was seen, in periods.
    fn turns(&self, page: &PageState, now: Timestamp) -> f64 {
        page.copy_age(now).days() / self.period(page)
    }
}

impl Policy for LongevityBound {
    fn name(&self) -> &str {
        "longevity-bound"
    }

    fn memory_kind(&self) -> String {
        format!("{} {:?}", self.name(), self.settings.threshold)
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, kin: false, age: false }
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let days = learnt.state.count(lesson.interval, seen);
        let mut pinned = match std::mem::take(&mut learnt.content) {
            Content::Pinned(pinned) => pinned,
            _ => Box::new(Pinned { period: self.settings.cycle_days, profiles: Vec::new() }),
        };
        pinned.extend(lesson, days);
        let rule =
            Rule { threshold: self.threshold, most_days: self.most_days, most_points: bound::MOST_POINTS };
        if let Some((first, others)) = pinned.profiles.split_first() {
            let points = |profile: &Vec<(f32, f32)>| -> Vec<(f64, f64)> {
                profile.iter().map(|(days, apart)| (f64::from(*days), f64::from(*apart))).collect()
            };
            let (first, others): (Vec<_>, Vec<_>) = (points(first), others.iter().map(points).collect());
            let others: Vec<Profile<'_>> = others.iter().map(Vec::as_slice).collect();
            let step = rule.step(&first, &others, pinned.period);
            pinned.period = f64::from(step.period.max(self.settings.cycle_days) as f32);
            if step.starts_anew {
                pinned.profiles.clear();
            }
        }
        learnt.content = Content::Pinned(pinned);
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.newcomers.look(survey);
        if self.settings.threshold.is_some() {
            return;
        }
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

    fn threshold(&self) -> Option<f64> {
        self.settings.threshold.is_none().then_some(self.threshold)
    }

    fn recall_threshold(&mut self, threshold: f64) {
        if self.settings.threshold.is_none() && threshold.is_finite() && threshold > 0.0 {
            self.threshold = threshold;
        }
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if let Some(worth) = self.newcomers.worth_again(page) {
            return Score::new(worth);
        }
        let links = newcomers::new_links(page, newcomers::LINK_CYCLES * self.settings.cycle_days, now);
        Score::new(page.weight * (self.threshold * self.turns(page, now) + links))
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.newcomers.worth(page))
    }

    fn is_due(&self, page: &PageState, now: Timestamp) -> bool {
        self.turns(page, now) >= 1.0
    }

    fn reason(&self, page: &PageState, _now: Timestamp) -> Reason {
        Reason { interval_days: Some(self.period(page)), ..Reason::default() }
    }
}
