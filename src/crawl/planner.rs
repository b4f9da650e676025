//! The planner of a cycle: which pages are visited, and in which waves.
//!
//! It is pure. Scores, hosts, the budget and the moment come in as arguments; a [`Plan`] goes out. With a budget, the best
//! pages that it has room for are chosen first, over all hosts, and chosen again when new pages come: a good page of a slow
//! host is not given up for a poor page of another host that could be had sooner. A wave takes the chosen pages that their
//! hosts can be asked for soon. Without a budget nothing has to be chosen, and waves take the best of all candidates.

use std::time::Duration;

use tokio::time::Instant;

use super::terms::Terms;
use crate::page::{HostId, PageId};
use crate::policy::{PageState, Policy, Score};
use crate::schedule::{Candidates, Discovery, Plan};
use crate::store::{CycleId, KnownPage};

/// A wave plans for each host the visits that fit into this time. That keeps the host busy while the next wave is planned, and
/// a better page that is found meanwhile does not wait long.
const HORIZON: Duration = Duration::from_secs(10);
/// Visits of one host in one wave.
const HOST_WAVE: usize = 200;
/// Visits of one wave.
const WAVE: usize = 4_000;
/// Choosing among very many pages takes a while. It is not repeated until this many times as long has passed.
const CHOICE_PAUSE: u32 = 50;

/// Where a page stands when a cycle opens or goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eligibility {
    /// This cycle visited it before it was interrupted.
    Visited,
    /// The operator does not want it any more.
    Unwanted,
    /// It is not due, or its score says that it can wait for a later cycle.
    Waits,
    /// An interrupted run of this cycle planned it and did not record a visit.
    Planned,
    /// It may be visited.
    Candidate,
}

impl Eligibility {
    /// `page`: as it is ranked. `is_planned`: its plan of an interrupted run stands.
    pub(super) fn of(
        page: &KnownPage,
        cycle: CycleId,
        terms: &Terms,
        policy: &dyn Policy,
        is_wanted: bool,
        is_planned: bool,
    ) -> Self {
        if page.last_cycle == Some(cycle) {
            Self::Visited
        } else if !is_wanted {
            Self::Unwanted
        } else if page.waits_until() > terms.now && !policy.visits_all() {
            Self::Waits
        } else if is_planned {
            Self::Planned
        } else if terms.can_wait(policy, &page.state) {
            Self::Waits
        } else {
            Self::Candidate
        }
    }
}

/// A host as the planner sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HostLoad {
    /// The pause that is kept between two requests.
    pub(super) delay: Duration,
    /// Visits in its queue.
    pub(super) queued: usize,
    /// Requests that its site's budget still allows.
    pub(super) left: Option<u64>,
    /// It was given up for this cycle.
    pub(super) is_resting: bool,
}

impl HostLoad {
    /// Visits that the host can be asked for until the horizon.
    fn wave(&self) -> usize {
        let delay = self.delay.as_secs_f64();
        if delay <= 0.0 { HOST_WAVE } else { ((HORIZON.as_secs_f64() / delay) as usize).clamp(2, HOST_WAVE) }
    }

    /// Further visits that the cycle has room for: what the site's budget allows, and what fits into the time that is left
    /// of the cycle.
    pub(super) fn cap(&self, time: Option<Duration>) -> usize {
        if self.is_resting {
            return 0;
        }
        let by_budget = self.left.map_or(usize::MAX, |left| left as usize);
        let by_time = time.map_or(usize::MAX, |time| visits_within(time, self.delay));
        by_budget.min(by_time).saturating_sub(self.queued)
    }

    /// Further visits that may be planned now.
    fn room(&self, time: Option<Duration>) -> usize {
        self.wave().saturating_sub(self.queued).min(self.cap(time))
    }
}

/// Visits to one host that start within a time, the pause between them being kept: the first at once, none at the end.
fn visits_within(time: Duration, delay: Duration) -> usize {
    if delay.is_zero() { usize::MAX } else { (time.as_secs_f64() / delay.as_secs_f64()).ceil() as usize }
}

/// The pages that a cycle may still visit.
#[derive(Debug)]
pub(super) struct Planner {
    /// Pages that may be visited and are not chosen.
    candidates: Candidates,
    /// Pages that are chosen for this cycle and not planned yet. Without a budget this is empty.
    chosen: Candidates,
    /// New pages came, or there is budget to fill: the choice is out of date.
    is_stale: bool,
    /// When pages were last chosen, and how long that took.
    last_choice: Option<(Instant, Duration)>,
    discovery: Option<Discovery>,
    /// Nothing more is planned from here on.
    until: Option<Instant>,
    /// A host may have room for more visits.
    has_room: bool,
    /// The lowest score of a page that was planned to be visited again.
    lowest: Option<f64>,
}

impl Planner {
    /// `discover`: the share of visits that goes to new pages, if one is set. `until`: when the cycle's time is over.
    pub(super) fn new(candidates: Candidates, discover: Option<f64>, until: Option<Instant>) -> Self {
        Self {
            candidates,
            chosen: Candidates::default(),
            is_stale: true,
            last_choice: None,
            discovery: discover.map(Discovery::of),
            until,
            has_room: true,
            lowest: None,
        }
    }

    /// Pages that may still be visited in this cycle and are not planned.
    pub(super) fn waiting(&self) -> usize {
        self.candidates.len() + self.chosen.len()
    }

    /// Has the cycle's time run out?
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now >= until)
    }

    /// The lowest score of a page that was planned to be visited again: the threshold that the budget amounts to.
    pub(super) fn lowest(&self) -> Option<f64> {
        self.lowest
    }

    /// How long the host that needs longest takes for its pages, at its pause.
    pub(super) fn longest(&self, delay_of: impl Fn(HostId) -> Option<Duration>) -> Duration {
        let times = self.candidates.hosts().filter_map(|host| {
            let pages = self.candidates.on(host) as f64;
            Some(delay_of(host)?.mul_f64(pages))
        });
        times.max().unwrap_or_default()
    }

    /// A page was found: it competes in the next wave.
    pub(super) fn add(&mut self, page: &PageState, score: Score) {
        self.candidates.push(page, score);
        (self.has_room, self.is_stale) = (true, true);
    }

    /// Pages were scored again. Those of them that were planned meanwhile are left out.
    pub(super) fn scored_again(&mut self, candidates: Candidates, was_planned: impl Fn(PageId) -> bool) {
        self.chosen = Candidates::default();
        self.candidates = candidates.without(was_planned);
        (self.has_room, self.is_stale, self.last_choice) = (true, true, None);
    }

    /// A planned visit was put off. Its host may rest now, and its share of the budget goes to others.
    pub(super) fn visit_put_off(&mut self) {
        (self.has_room, self.is_stale) = (true, true);
    }

    /// A visit to the host ended: it may have room for more.
    pub(super) fn host_freed(&mut self, host: HostId, load: HostLoad, now: Instant) {
        let has_pages = self.candidates.on(host) + self.chosen.on(host) > 0;
        if has_pages && load.room(self.time_left(now)) * 2 > load.wave() {
            self.has_room = true;
        }
    }

    /// Everything planned has ended. Visits that were put off gave their share of the budget back: pages are chosen again, at
    /// once, because another host may have room for them.
    pub(super) fn refill(&mut self) {
        (self.has_room, self.is_stale, self.last_choice) = (true, true, None);
    }

    /// Is it worth planning a wave?
    pub(super) fn wants_wave(&self, now: Instant) -> bool {
        self.has_room && self.waiting() > 0 && !self.is_over(now)
    }

    /// Chooses the pages that get what is `left` of the budget, if the last choice is out of date. Says whether it chose.
    pub(super) fn choose(
        &mut self,
        left: usize,
        now: Instant,
        load: impl Fn(HostId) -> Option<HostLoad>,
    ) -> bool {
        let is_early =
            self.last_choice.is_some_and(|(at, took)| now.duration_since(at) < took * CHOICE_PAUSE);
        let is_full = self.chosen.len() == left || self.candidates.is_empty() && self.chosen.len() < left;
        if is_early || is_full && !self.is_stale {
            return false;
        }
        self.candidates.append(std::mem::take(&mut self.chosen));
        let time = self.time_left(now);
        let cap = |host: HostId| load(host).map_or(0, |load| load.cap(time));
        // A copy, because visits are counted when they are planned.
        self.chosen = self.candidates.split(left, self.discovery.as_ref().copied().as_mut(), cap);
        self.is_stale = false;
        self.last_choice = Some((now, Duration::ZERO));
        true
    }

    /// How long the last choice took. The next one waits a multiple of that.
    pub(super) fn choice_took(&mut self, time: Duration) {
        if let Some((_, took)) = &mut self.last_choice {
            *took = time;
        }
    }

    /// Takes the visits that can be made soon, out of the chosen pages if a budget is `left`, out of all candidates if there
    /// is no budget. `None` if no host has room for a page that waits.
    pub(super) fn next_wave(
        &mut self,
        left: Option<usize>,
        now: Instant,
        load: impl Fn(HostId) -> Option<HostLoad>,
    ) -> Option<Plan> {
        self.has_room = false;
        let time = self.time_left(now);
        let room = |host: HostId| load(host).map_or(0, |load| load.room(time));
        let plan = match left {
            Some(left) => self.chosen.choose(left.min(WAVE), None, room),
            None => self.candidates.choose(WAVE, None, room),
        };
        if plan.visits.is_empty() {
            return None;
        }
        if let Some(discovery) = &mut self.discovery {
            plan.visits.iter().for_each(|visit| discovery.count(visit.is_new));
        }
        let revisits = plan.visits.iter().filter(|visit| !visit.is_new).map(|visit| visit.score.value());
        self.lowest = revisits.chain(self.lowest).min_by(f64::total_cmp);
        Some(plan)
    }

    fn time_left(&self, now: Instant) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(now))
    }
}

#[cfg(test)]
#[path = "planner_tests.rs"]
mod tests;
