//! Page state + now → score: which page is most worth a visit.
//!
//! A policy sees a page's state and the time. It never sees the store, the network or a dataset, so the same object ranks
//! pages in the live scheduler and in a replay. A policy is one file (or one folder, or one file for a family that differs in
//! a word) and one row in [`registry`]. `CONTRIBUTING.md` shows how to add one; `tests/conformance/policy.rs` checks every row.

mod age;
pub(crate) mod age_buckets;
mod age_times_changes;
pub mod allocation;
pub(crate) mod calibrated;
pub mod chance;
mod change_probability;
mod change_rate;
mod estimated_period;
pub mod expression;
mod fixed;
mod followed_profiles;
pub mod formula;
mod heritrix;
mod interval_rule;
mod learning_phase;
pub mod longevity;
mod longevity_bound;
pub(crate) mod longevity_curve;
mod nutch;
pub(crate) mod page_memory;
pub(crate) mod page_state;
mod random;
pub mod reason;
pub mod registry;
mod stormcrawler;
pub(crate) mod traces;
mod unseen;
mod user_centric;
mod utility;

pub use crate::observation::{Apart, Lesson};
pub use chance::Draw;
pub use page_memory::PageMemory;
pub use page_state::{Learnt, PageState};
pub use reason::{Fact, Reason, Unit};

use std::collections::HashMap;
use std::num::NonZeroU64;

use crate::estimate::Seen;
use crate::estimate::priors::{PriorKind, Priors};
use crate::page::{Depth, HostId, Kin};
use crate::quality::gain::MeasuredGain;
use crate::quality::measure::MeasureId;
use crate::time::{Age, Timestamp};

/// The worth of a visit: pages with a higher score are visited first. Always finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score(f64);

impl Score {
    /// A number that can be ranked: not-a-number becomes 0, and an infinity the largest score. Numbers are rounded to a part in
    /// 10¹², so that two pages in the same situation tie even if their numbers were rounded differently on the way.
    pub fn new(value: f64) -> Self {
        const HALF: u64 = 1 << 11;
        const LAST_BITS: u64 = 2 * HALF - 1;
        // Adding 0 turns −0 into 0, so that there is only one zero.
        let value = if value.is_nan() { 0.0 } else { value.clamp(-1e300, 1e300) + 0.0 };
        // Half of the last step is added before the rest is cut off. The bits of a float rise with its distance from 0.
        Self(f64::from_bits((value.to_bits() + HALF) & !LAST_BITS))
    }

    /// The score as a number.
    pub const fn value(self) -> f64 {
        self.0
    }
}

/// Gives a page its score. Only [`Policy::name`] and [`Policy::score`] have no default.
pub trait Policy: Send + Sync {
    /// The name on the command line and in the store: that of its row in the registry, with the estimator if one was asked for.
    fn name(&self) -> &str;

    /// The worth of a visit to a page that was visited before. Must be finite, and must not fall while the page waits.
    fn score(&self, page: &PageState, now: Timestamp) -> Score;

    /// The worth of the first visit to a page. By default new pages come before all others, in order of depth.
    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(UNSEEN - f64::from(page.depth))
    }

    /// The values that the score depends on, to be printed.
    fn reason(&self, _page: &PageState, _now: Timestamp) -> Reason {
        Reason::default()
    }

    /// Is it time for a visit? Asked when no budget limits the number of visits. A policy that gives each page an interval says
    /// no until the interval has passed; other policies say yes.
    fn is_due(&self, _page: &PageState, _now: Timestamp) -> bool {
        true
    }

    /// The worth of reading the lists (sitemaps) of a host again, `since` they were last read: what they are expected to tell,
    /// on the scale of the scores of pages. Asked where a budget limits the number of requests; then the lists compete with pages.
    /// `None`: nothing is known of that, and they are read once a day.
    fn list_gain(&self, _host: HostId, _since: Age) -> Option<Score> {
        None
    }

    /// Is every page visited in every cycle? Then pages that are gone, fail or stand for others don't wait. The waits of hosts
    /// hold all the same.
    fn visits_all(&self) -> bool {
        false
    }

    /// Adds one visit to what is remembered of a page of this host and depth. `seen` is what the visit tells about changes: the
    /// page's own dates are used in it as far as they can be trusted.
    ///
    /// By default visits and changes are counted. A policy that remembers more keeps it in [`Learnt::memory`].
    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        learnt.state.count(lesson.interval, seen);
    }

    /// Adds what one refresh gained in search results to what is remembered of its page. It is measured some time after the visit, so
    /// this may come after later visits were learnt; the same gain may come twice.
    fn learn_gain(&self, _learnt: &mut Learnt, _gain: &MeasuredGain) {}

    /// The version of what [`Policy::learn`] makes: a name, a number that is raised when the bytes or their meaning change, and
    /// every setting that they depend on. A store keeps it beside the memories. Memories of another version are thrown away and
    /// made again from the log.
    fn memory_version(&self) -> String {
        "counts".to_owned()
    }

    /// The kind of prior that its memories depend on, if they depend on one.
    fn prior_kind(&self) -> Option<PriorKind> {
        None
    }

    /// Takes over priors that were fitted to the collection. Called before pages are learnt; [`Policy::memory_version`] changes
    /// if the priors matter.
    fn believe(&mut self, _priors: &Priors) {}

    /// Takes over its memory of the collection, as its last survey left it ([`Survey::memory`]). Called before pages are learnt, so
    /// that [`Policy::learn`] may depend on it; [`Policy::memory_version`] changes if that makes other memories of earlier visits.
    fn recall(&mut self, _memory: &str) {}

    /// The time of the base version that must stay among the change profiles of a page, if the policy needs one longer than the
    /// newest. Asked after each visit, with what the policy has learnt from it.
    fn pinned_base(&self, _learnt: &Learnt) -> Option<Timestamp> {
        None
    }

    /// Looks over all pages before a cycle, or over a sample of them.
    fn survey(&mut self, _survey: &mut Survey<'_>) {}

    /// Does it learn from the visits of all pages together? Then [`Policy::learn_from_all`] is called with the visits of each
    /// plan before the next one is made, and the state that this leads to is kept beside the memories of pages.
    fn learns_from_all(&self) -> bool {
        false
    }

    /// The plan that [`Policy::survey`] has prepared. It is logged: what its visits teach depends on it.
    fn planned(&self) -> Option<PlanMoment> {
        None
    }

    /// The mean lag ([`PlanMoment::mean_lag`]) where no plan has noted it: over the pages of these visits, before them.
    fn mean_lag(&self, _plan: &PlanMoment, _visits: &[CollectedVisit<'_>]) -> f64 {
        0.0
    }

    /// Takes in the visits that a plan led to, in the order in which they were made.
    fn learn_from_all(&mut self, _plan: &PlanMoment, _visits: &[CollectedVisit<'_>]) {}

    /// The state of the collection that visits have led to.
    fn collection_bytes(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes over the state that [`Policy::collection_bytes`] gave; `false` if the bytes are something else. Without bytes it
    /// starts again.
    fn recall_collection(&mut self, _bytes: &[u8]) -> bool {
        true
    }

    /// Pages that are enough for a survey, evenly taken: each counts for as many as were left out with it. `None`: it has to see
    /// every page.
    fn survey_sample(&self) -> Option<NonZeroU64> {
        None
    }

    /// What the score depends on besides visits, changes, times and weight. A replay treats pages that agree in all of this as
    /// one, so a policy must name everything it looks at. All but [`LooksAt::draw`] stays the same for the life of the policy.
    fn looks_at(&self) -> LooksAt {
        LooksAt::default()
    }
}

/// The moment of a plan, as far as what is learnt from its visits depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanMoment {
    /// When it was made.
    pub at: Timestamp,
    /// From the start of one cycle to the start of the next.
    pub cycle_length: Age,
    /// The mean over all pages of ln(1 + cycles since the page was last seen to change).
    pub mean_lag: f64,
}

/// A visit that had something to compare with, as all pages are learnt from.
#[derive(Clone, Copy, Debug)]
pub struct CollectedVisit<'a> {
    /// The host of the page.
    pub host: HostId,
    /// Pages with similar addresses.
    pub kin: Kin,
    /// When the page was found.
    pub found_at: Timestamp,
    /// When the visit was made.
    pub at: Timestamp,
    /// What the page's visits have taught, this one included.
    pub learnt: &'a Learnt,
    /// The plan chose it by its score. Warm-up visits of a replay are made in any case.
    pub was_planned: bool,
}

/// The methods of [`Policy`] by which a policy learns change rates with its field `learner`, an estimator of the user's choice.
macro_rules! learns_by_estimator {
    () => {
        fn learn(
            &self,
            host: $crate::page::HostId,
            depth: $crate::page::Depth,
            learnt: &mut $crate::policy::Learnt,
            lesson: &$crate::policy::Lesson,
            seen: $crate::estimate::Seen,
        ) {
            self.learner.learn(host, depth, &mut learnt.state, lesson.interval, seen);
        }

        fn memory_version(&self) -> String {
            self.learner.memory_version()
        }

        fn prior_kind(&self) -> Option<$crate::estimate::priors::PriorKind> {
            self.learner.prior_kind()
        }

        fn believe(&mut self, priors: &$crate::estimate::priors::Priors) {
            self.learner.believe(priors);
        }
    };
}
use learns_by_estimator;

/// What a score depends on besides visits, changes, times and weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LooksAt {
    /// How far pages moved.
    pub divergence: bool,
    /// Which pages have similar addresses ([`PageState::kin`]) or are on the same host.
    pub kin: bool,
    /// When pages were found.
    pub age: bool,
    /// Signals ([`PageState::signals`]).
    pub signals: bool,
    /// What refreshes gained in search results, by this measure. That depends on all other pages, so no two pages share their state.
    pub gains: Option<MeasureId>,
    /// In which cycle a visit was made, and the weight that the page had in it ([`Lesson::cycle`], [`Lesson::weight`]). By default
    /// a memory depends on the intervals between visits and on what they found.
    pub circumstances: bool,
    /// Chance: each page's score is multiplied by a factor that is drawn for this page. It may change with every survey, so it is
    /// read again after each one.
    pub draw: Option<Draw>,
}

/// The default score of a new page at depth 0: above any age in seconds (it is 60,000 years), and small enough that
/// subtracting the depth still makes a difference.
const UNSEEN: f64 = 2e12;

/// Each failure in a row halves the score. More failures than this make no difference.
const MOST_HALVINGS: u32 = 30;

/// The score of a page by a policy. The live crawl and replays all use this function.
pub fn score(policy: &dyn Policy, page: &PageState, now: Timestamp) -> Score {
    let shared = score_shared(policy, page, now);
    match policy.looks_at().draw {
        Some(draw) if page.last_visit.is_some() => {
            Score::new(shared.value() * draw.factor(page.page, page.waits_since()))
        }
        _ => shared,
    }
}

/// The part of a score that pages in the same state share: everything but the factor of [`LooksAt::draw`].
pub(crate) fn score_shared(policy: &dyn Policy, page: &PageState, now: Timestamp) -> Score {
    let worth = if page.last_visit.is_none() { policy.score_unseen(page) } else { policy.score(page, now) };
    if page.failures == 0 {
        return worth;
    }
    let chance = 0.5_f64.powi(page.failures.min(MOST_HALVINGS).cast_signed());
    // The value of a formula may be below 0; then a failure must lower it, too.
    Score::new(if worth.value() < 0.0 { worth.value() / chance } else { worth.value() * chance })
}

/// What a policy may know of the collection as a whole.
pub struct Survey<'a> {
    /// When the cycle begins.
    pub now: Timestamp,
    /// The number of the cycle; random numbers are drawn for each cycle.
    pub cycle: i64,
    /// From the start of one cycle to the start of the next.
    pub cycle_length: Age,
    /// Visits a day that the budget allows; `None`: as many as there are pages.
    pub visits_a_day: Option<f64>,
    /// The cycles of a day share a budget, so a visit may come sooner or later in the day.
    pub shares_a_day: bool,
    /// The results of first visits, by host.
    pub hosts: &'a HashMap<HostId, Yield>,
    /// The policy's memory of the collection, as text: what it wrote here in its last survey, also in an earlier run; `None`
    /// before that. What it writes here is kept by the store. (The memory of a page is [`Learnt::memory`].)
    pub memory: &'a mut Option<String>,
    /// Calls a function with every page that may be visited, or with a sample of them ([`Policy::survey_sample`]).
    pub pages: &'a mut EachPage<'a>,
}

/// Runs over pages; each comes with the number of pages that are in its state.
pub(crate) type EachPage<'a> = dyn FnMut(&mut dyn FnMut(&PageState, usize)) + 'a;

/// First visits to the pages of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Yield {
    /// Pages that were visited.
    pub visited: u64,
    /// Pages among them that brought something.
    pub useful: u64,
}

impl Yield {
    /// The chance that the first visit to another page brings something: the share so far, and 1 before the first.
    pub fn chance(self) -> f64 {
        (self.useful as f64 + 1.0) / (self.visited as f64 + 1.0)
    }
}

#[cfg(test)]
mod tests;
