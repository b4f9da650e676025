//! A policy's memories of the pages of a replay, as visits have taught them so far.
//!
//! The memory of a page follows from the gaps between its visits and from what they found, so pages with the same history
//! share it. Histories are kept as a tree. They are learnt again from the start when the policy's prior is fitted again.

use std::collections::HashMap;

use super::ReplayTerms;
use super::distinct::Distinct;
use super::measured_visit::{self, MeasuredVisit};
use super::replayed_gains::ReplayedGains;
use super::truth::Truth;
use crate::change::profile::Profiles;
use crate::estimate::Seen;
use crate::estimate::censored::{KEPT_LENGTHS, VisitHistory as Intervals};
use crate::estimate::gamma::Gamma;
use crate::estimate::priors::{GroupBy, Prior, PriorKind, Priors, is_time_to_fit};
use crate::page::HostId;
use crate::policy::{CollectedVisit, Learnt, Lesson, LooksAt, PlanMoment, Policy};
use crate::quality::gain::MeasuredGain;
use crate::signal::PageSignals;
use crate::time::{Age, Timestamp};

/// A history of visits: the last one, and the history before it.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    before: u32,
    gap: u32,
    changed: bool,
    /// A place in `measured`; 0: nothing was measured.
    measured: u32,
    /// The cycle of the visit. Histories that pages share count it from the first copy.
    moment: u32,
    /// The weight of the page; 1 in a history that pages share.
    weight: f64,
    /// ΔQ_A of the visit, if it found a change and the policy looks at gains.
    gain: Option<f64>,
    /// The signals that the page had at the visit.
    signals: PageSignals,
}

/// The history without a visit.
const ROOT: u32 = 0;

/// A policy and its memories of all pages.
pub(super) struct Learning<'a> {
    pub(super) policy: Box<dyn Policy>,
    pub(super) terms: ReplayTerms,
    pub(super) truth: &'a Truth,
    pub(super) looks_at: LooksAt,
    nodes: Vec<Node>,
    children: HashMap<(u32, u32, bool), u32>,
    /// If the policy looks at how far pages moved, each visit is a history of its own. The first place stands for no measurement.
    measured: Vec<MeasuredVisit>,
    /// The change profiles of each page, in that case.
    profiles: Vec<Profiles>,
    /// Measures gains in search results, if the policy looks at them. Then each visit is a history of its own, too.
    gains: Option<ReplayedGains>,
    /// The number of the memory of each history, as far as it was asked for.
    taught: Vec<u32>,
    memories: Distinct<Learnt>,
    /// For each page: its history and its last visit.
    pages: Vec<(u32, u32)>,
    /// Visits so far, all of which had a copy to compare with; and the number of them at the last fit.
    comparisons: u64,
    fitted: u64,
    /// Visits that the policy has not learnt from yet, where it learns from all pages together.
    to_learn: Vec<ToLearn>,
}

/// A visit that waits to be learnt from. They are learnt by cycle, those of the plan after those of warm-ups, which came
/// before it, and page by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ToLearn {
    cycle: u32,
    was_planned: bool,
    page: u32,
    history: u32,
}

impl<'a> Learning<'a> {
    pub(super) fn new(policy: Box<dyn Policy>, truth: &'a Truth, terms: ReplayTerms) -> Self {
        let pages = truth.pages();
        let mut looks_at = policy.looks_at();
        looks_at.divergence &= truth.has_fragments();
        let searched = truth.searched.as_ref().filter(|_| looks_at.gains.is_some());
        let mut learning = Self {
            policy,
            terms,
            truth,
            looks_at,
            nodes: vec![Node::default()],
            children: HashMap::new(),
            measured: vec![MeasuredVisit { divergence: 0.0, bases: Vec::new(), is_empty: false }],
            profiles: if looks_at.divergence { vec![Profiles::default(); pages] } else { Vec::new() },
            gains: searched.map(|searched| ReplayedGains::new(searched, pages)),
            taught: Vec::new(),
            memories: Distinct::default(),
            pages: vec![(ROOT, 0); pages],
            comparisons: 0,
            fitted: 0,
            to_learn: Vec::new(),
        };
        learning.forget();
        learning
    }

    /// Forgets all memories but that of the empty history.
    fn forget(&mut self) {
        self.memories.clear();
        let nothing = Learnt::default();
        self.taught = vec![self.memories.number(&nothing.to_bytes(), nothing)];
    }

    /// The first copy of a page is taken.
    pub(super) fn born(&mut self, page: u32, cycle: u32) {
        if let Some(place) = self.pages.get_mut(page as usize) {
            *place = (ROOT, cycle);
        }
        if let Some(gains) = &mut self.gains {
            gains.first_copy(page, self.truth.text(page, cycle));
        }
        if self.looks_at.divergence {
            self.measure(page, cycle, cycle);
            self.start_profile(page, cycle, None);
        }
    }

    /// `was_planned`: the policy chose the page; else it was visited in its warm-up.
    /// `signals`: those that the page had.
    pub(super) fn visited(
        &mut self,
        page: u32,
        cycle: u32,
        changed: bool,
        was_planned: bool,
        signals: PageSignals,
    ) {
        let last = self.last(page);
        let measured = if self.looks_at.divergence { self.measure(page, last, cycle) } else { 0 };
        let text = self.truth.text(page, cycle);
        let gain = self.gains.as_mut().filter(|_| changed).map(|gains| gains.refresh(page, text));
        let Some((history, last)) = self.pages.get_mut(page as usize) else { return };
        let gap = cycle - *last;
        let next = self.nodes.len() as u32;
        let is_own = measured > 0 || self.looks_at.circumstances || self.gains.is_some() || signals.any();
        let node = match is_own {
            false => *self.children.entry((*history, gap, changed)).or_insert(next),
            true => next,
        };
        if node == next {
            let before = self.nodes.get(*history as usize).map_or(0, |node| node.moment);
            let weight = self.truth.weights.get(page as usize).copied().unwrap_or(1.0);
            let (moment, weight) = if is_own { (cycle, weight) } else { (before + gap, 1.0) };
            self.nodes.push(Node { before: *history, gap, changed, measured, moment, weight, gain, signals });
        }
        (*history, *last) = (node, cycle);
        self.comparisons += 1;
        if self.policy.learns_from_all() {
            self.to_learn.push(ToLearn { cycle, was_planned, page, history: node });
        }
        if measured > 0 {
            // Only a policy that may pin a base version has to learn at once.
            let pinned = if self.looks_at.circumstances {
                let memory = self.memory(page);
                self.memories.get(memory).and_then(|learnt| self.policy.pinned_base(learnt))
            } else {
                None
            };
            self.start_profile(page, cycle, pinned);
        }
    }

    /// Starts a profile from what a visit found.
    fn start_profile(&mut self, page: u32, cycle: u32, pinned: Option<Timestamp>) {
        if let Some(profiles) = self.profiles.get_mut(page as usize) {
            measured_visit::start_profile(self.truth, &self.terms, profiles, (page, cycle), pinned);
        }
    }

    /// Measures how far a page moved. Gives the place in `measured`.
    fn measure(&mut self, page: u32, last: u32, cycle: u32) -> u32 {
        let Some(profiles) = self.profiles.get_mut(page as usize) else { return 0 };
        self.measured.push(MeasuredVisit::of(self.truth, &self.terms, profiles, page, last, cycle));
        self.measured.len() as u32 - 1
    }

    /// The cycle of a page's last visit.
    pub(super) fn last(&self, page: u32) -> u32 {
        self.pages.get(page as usize).map_or(0, |(_, last)| *last)
    }

    /// The number of the memory of a page. Histories are learnt in their order, so those before its own are learnt already.
    pub(super) fn memory(&mut self, page: u32) -> u32 {
        let history = self.pages.get(page as usize).map_or(ROOT, |(history, _)| *history);
        self.memory_of(history)
    }

    /// The number of the memory that a history has left.
    fn memory_of(&mut self, history: u32) -> u32 {
        while self.taught.len() <= history as usize {
            let next = self.nodes.get(self.taught.len()).copied();
            let Some(Node { before, gap, changed, measured, moment, weight, gain, signals }) = next else {
                return 0;
            };
            let mut learnt =
                self.taught.get(before as usize).map(|from| self.learnt(*from)).unwrap_or_default();
            let lesson = Lesson::of_bit(self.terms.at(moment), self.terms.days(gap), changed);
            let mut lesson = Lesson { cycle: i64::from(moment), weight, signals, ..lesson };
            if let Some(measured) = self.measured.get(measured as usize).filter(|_| measured > 0) {
                measured.tell(&mut lesson);
            }
            learnt.take(&lesson, HostId(0), 0, &*self.policy);
            if let Some(delta) = gain {
                let gain = MeasuredGain { at: lesson.at, delta, is_first: false };
                self.policy.learn_gain(&mut learnt, &gain);
            }
            self.taught.push(self.memories.number(&learnt.to_bytes(), learnt));
        }
        self.taught.get(history as usize).copied().unwrap_or(0)
    }

    /// Lets the policy learn from all visits since its last plan, before it plans `cycle`.
    pub(super) fn learn_from_all(&mut self) {
        let mut visits = std::mem::take(&mut self.to_learn);
        visits.sort_unstable();
        for some in
            visits.chunk_by(|one, next| (one.cycle, one.was_planned) == (next.cycle, next.was_planned))
        {
            let Some(first) = some.first() else { continue };
            let learnt: Vec<Learnt> = some
                .iter()
                .map(|visit| {
                    let memory = self.memory_of(visit.history);
                    self.learnt(memory)
                })
                .collect();
            let at = self.terms.at(first.cycle);
            let plan = match self.policy.planned().filter(|_| first.was_planned) {
                Some(plan) => plan,
                None => PlanMoment { at, cycle_length: self.terms.days(self.terms.every), mean_lag: 0.0 },
            };
            let visits: Vec<CollectedVisit<'_>> = some
                .iter()
                .zip(&learnt)
                .map(|(visit, learnt)| {
                    let kin = self.truth.kin.get(visit.page as usize).copied().unwrap_or_default();
                    let born = self.truth.born.get(visit.page as usize).copied().unwrap_or(0);
                    CollectedVisit {
                        host: HostId(i64::from(kin.site)),
                        kin,
                        found_at: self.terms.at(born),
                        at,
                        learnt,
                        was_planned: visit.was_planned,
                    }
                })
                .collect();
            self.policy.learn_from_all(&plan, &visits);
        }
    }

    /// A memory by its number.
    pub(super) fn learnt(&self, memory: u32) -> Learnt {
        self.memories.get(memory).cloned().unwrap_or_default()
    }

    /// Fits the policy's prior again, if it has one and it is time. If so, all memories have new numbers.
    pub(super) fn fit(&mut self) -> bool {
        let Some(kind) = self.policy.prior_kind() else { return false };
        if !is_time_to_fit(self.comparisons, self.fitted) {
            return false;
        }
        self.fitted = self.comparisons;
        let mut counts: HashMap<u32, u32> = HashMap::new();
        for (history, _) in self.pages.iter().filter(|(history, _)| *history != ROOT) {
            *counts.entry(*history).or_default() += 1;
        }
        let mut counted: Vec<(u32, u32)> = counts.into_iter().collect();
        counted.sort_unstable();
        let histories: Vec<(Intervals, u32)> =
            counted.into_iter().map(|(node, count)| (self.intervals(node), count)).collect();
        let borrowed: Vec<(&Intervals, u32)> =
            histories.iter().map(|(history, count)| (history, *count)).collect();
        let pages = histories.iter().map(|(_, count)| u64::from(*count)).sum();
        let all = match kind {
            PriorKind::Gamma => {
                let fitted = Gamma::fit_counted(&borrowed);
                let prior = |fit: Gamma| Prior { kind, group: None, numbers: [fit.shape, fit.days], pages };
                fitted.map(prior).into_iter().collect()
            }
            PriorKind::TwoIntervals | PriorKind::Periods | PriorKind::FirstInterval => {
                let all = borrowed.iter().flat_map(|(history, count)| {
                    std::iter::repeat_n((HostId(0), 0, (*history).clone()), *count as usize)
                });
                let all: Vec<_> = all.collect();
                Priors::fit(GroupBy::All, &[kind], &all).priors.all
            }
        };
        if all.is_empty() {
            return false;
        }
        let priors = Priors { by: GroupBy::All, all, comparisons: self.comparisons };
        self.policy.believe(&priors);
        self.forget();
        true
    }

    /// The intervals of a history.
    fn intervals(&self, node: u32) -> Intervals {
        let mut history = Intervals::keeping(KEPT_LENGTHS);
        let mut at = node;
        while at != ROOT {
            let Some(Node { before, gap, changed, .. }) = self.nodes.get(at as usize).copied() else { break };
            history.add(self.terms.days(gap).days().max(Age::SHORTEST_DAYS), Seen::from(changed));
            at = before;
        }
        history
    }
}
