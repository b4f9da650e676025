//! Page state + now → score: which page is most worth a visit.
//!
//! A policy sees a page's state and the time, never the store, the network or a dataset, so the same object ranks
//! pages in the live scheduler and in a replay. One file a policy (or one for a family that differs in a word), one
//! row in [`registry`]. Before a cycle it may look over all pages once ([`Policy::survey`]); what visits taught it of a
//! page is kept with the page ([`Policy::learn`]).

mod age;
mod age_times_changes;
mod change_probability;
mod change_rate;
pub mod content;
mod crawl_rate;
pub mod expression;
mod fixed;
pub mod formula;
mod group_curves;
mod heritrix;
mod interval_rule;
mod kinship;
mod longevity;
mod longevity_bound;
mod longevity_fit;
mod newcomers;
mod nutch;
pub mod optimal_rate;
pub mod page_state;
mod random;
pub mod registry;
mod stormcrawler;
pub mod traces;
mod utility;

pub use page_state::{Apart, Learnt, Lesson, PageState, Reason};

use std::collections::HashMap;

use crate::estimate::Seen;
use crate::estimate::learner::Learner;
use crate::page::{Depth, HostId, PageId};
use crate::time::{Age, Timestamp};

/// What a visit is worth; higher first. Always finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score(f64);

impl Score {
    /// Not-a-number and infinities become the nearest score that can be ranked. What differs by less than a part in 10¹² is
    /// the same, so that two pages in the same situation tie however their numbers were rounded on the way.
    pub fn new(value: f64) -> Self {
        const HALF: u64 = 1 << 11;
        const LAST_BITS: u64 = 2 * HALF - 1;
        // 0 is added so that there is only one nothing.
        let value = if value.is_nan() { 0.0 } else { value.clamp(-1e300, 1e300) + 0.0 };
        // Half of the last step is added before the rest is cut off; as numbers, bits rise with the value on each side of 0.
        Self(f64::from_bits((value.to_bits() + HALF) & !LAST_BITS))
    }

    pub const fn value(self) -> f64 {
        self.0
    }
}

/// Gives a page its score.
pub trait Policy: Send + Sync {
    /// The name on the command line and in the store.
    fn name(&self) -> &str;

    /// What it learns change rates by, if it does.
    fn learner(&self) -> Option<&Learner> {
        None
    }

    /// The same, to be given priors.
    fn learner_mut(&mut self) -> Option<&mut Learner> {
        None
    }

    /// Names what the memory of a page is made by: a memory that was made by anything else is no use, and is made
    /// again from the log.
    fn memory_kind(&self) -> String {
        self.learner().map_or_else(|| "counts".to_owned(), Learner::memory_version)
    }

    /// What it looks at besides whether pages changed, and when: a replay tells apart no more pages than it must.
    fn looks_at(&self) -> LooksAt {
        LooksAt::default()
    }

    /// Takes one more visit into what is remembered of a page of that host and depth. What it saw of changes comes with
    /// it: the page's own word is in it as far as it can be trusted.
    fn learn(&self, host: HostId, depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        match self.learner() {
            Some(learner) => learner.learn(host, depth, &mut learnt.state, lesson.interval, seen),
            None => {
                learnt.state.count(lesson.interval, seen);
            }
        }
    }

    /// Looks over the collection before a cycle.
    fn survey(&mut self, _survey: &mut Survey<'_>) {}

    /// The threshold that it has come to by itself, if it keeps one: a store keeps it for the next run.
    fn threshold(&self) -> Option<f64> {
        None
    }

    /// Takes up the threshold that an earlier run came to.
    fn recall_threshold(&mut self, _threshold: f64) {}

    /// What a visit to a page is worth of which something is held, or was sought. Must be finite, and must not fall
    /// while the page waits.
    fn score(&self, page: &PageState, now: Timestamp) -> Score;

    /// The same of a page that nobody has seen. Unless the policy knows better these come before all others, in order
    /// of depth.
    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(UNSEEN - f64::from(page.depth))
    }

    /// Where chance has a part: a factor of the score that is the page's own, and stays the same while the page waits.
    fn draw(&self, _page: PageId, _waits_since: Timestamp) -> Option<f64> {
        None
    }

    /// Is it time for a visit? Asked where there is no budget that says how many: policies that give each page an
    /// interval leave alone those whose interval has not passed; to the others everything is due.
    fn is_due(&self, _page: &PageState, _now: Timestamp) -> bool {
        true
    }

    /// What its score goes by.
    fn reason(&self, _page: &PageState, _now: Timestamp) -> Reason {
        Reason::default()
    }
}

/// What a policy looks at besides whether pages changed, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LooksAt {
    /// How far pages moved.
    pub divergence: bool,
    /// Whom pages are like.
    pub kin: bool,
    /// For how long pages are known.
    pub age: bool,
}

/// Above any age in seconds (it is 60,000 years), and small enough that a depth still counts below it.
const UNSEEN: f64 = 2e12;

/// Each failure in a row halves the chance that the next visit brings anything. Beyond so many it hardly matters.
const MOST_HALVINGS: u32 = 30;

/// What a visit to this page is worth now, by the policy: the one way in, for the live crawl and for a replay.
pub fn score(policy: &dyn Policy, page: &PageState, now: Timestamp) -> Score {
    let shared = score_shared(policy, page, now);
    match policy.draw(page.page, page.waits_since()) {
        Some(draw) if page.last_visit.is_some() => Score::new(shared.value() * draw),
        _ => shared,
    }
}

/// The part of a score that pages in the same state share: all but [`Policy::draw`].
pub fn score_shared(policy: &dyn Policy, page: &PageState, now: Timestamp) -> Score {
    let worth = if page.last_visit.is_none() { policy.score_unseen(page) } else { policy.score(page, now) };
    if page.failures == 0 {
        return worth;
    }
    let chance = 0.5_f64.powi(page.failures.min(MOST_HALVINGS).cast_signed());
    // A formula may say less than nothing.
    Score::new(if worth.value() < 0.0 { worth.value() / chance } else { worth.value() * chance })
}

/// What a policy may know of the collection as a whole.
pub struct Survey<'a> {
    pub now: Timestamp,
    /// Which cycle it is: what is drawn at random is drawn anew for each.
    pub cycle: i64,
    /// From the start of one cycle to that of the next.
    pub cycle_length: Age,
    /// Visits a day that the budget allows; `None`: as many as there are pages.
    pub visits_a_day: Option<f64>,
    /// What first visits to pages of a host came to.
    pub hosts: &'a HashMap<HostId, Yield>,
    /// Calls what it is given with every page that may be visited.
    pub pages: &'a mut EachPage<'a>,
}

/// Runs over pages; each comes with the number of pages that are in its state.
pub type EachPage<'a> = dyn FnMut(&mut dyn FnMut(&PageState, usize)) + 'a;

/// Pages of a host that were visited, and those of them that brought something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Yield {
    pub visited: u64,
    pub useful: u64,
}

impl Yield {
    /// The chance that a page nobody has seen is worth its visit: the share so far, and 1 before the first.
    pub fn chance(self) -> f64 {
        (self.useful as f64 + 1.0) / (self.visited as f64 + 1.0)
    }
}

#[cfg(test)]
mod tests;
