//! A policy of the live crawl, as a chooser.
//!
//! Pages that are in the same state share a score. What was learnt depends on the history of gaps and changes alone, so
//! histories are kept as a tree whose nodes many pages share; a state is a node, the last visit and the weight. A cycle
//! costs as much as there are states and visits, not pages.

use std::collections::HashMap;
use std::sync::Arc;

use super::measured_visit::MeasuredVisit;
use super::truth::Truth;
use super::{Chooser, Terms, Ties, best_pages};
use crate::change::profile::Profiles;
use crate::estimate::Seen;
use crate::estimate::censored::{History as Intervals, KEPT_LENGTHS};
use crate::estimate::gamma::Gamma;
use crate::estimate::priors::{GroupBy, Prior, PriorKind, Priors, is_time_to_fit};
use crate::observation::Life;
use crate::page::{HostId, Kin, PageId};
use crate::policy::{Learnt, Lesson, LooksAt, PageState, Policy, Survey};
use crate::time::Age;

/// Visits of a page as a branch of a tree: the last one, and the node of all before it.
#[derive(Clone, Copy, Debug)]
struct Node {
    before: u32,
    gap: u32,
    changed: bool,
    /// A place in what was measured; 0: nothing was.
    measured: u32,
}

/// No visit yet.
pub(super) const ROOT: u32 = 0;

/// Pages in one state.
#[derive(Debug)]
struct Class {
    state: PageState,
    members: Vec<u32>,
}

/// A policy of the live crawl, as a chooser.
pub struct ByPolicy<'a> {
    pub(super) policy: Arc<dyn Policy>,
    terms: Terms,
    truth: &'a Truth,
    looks_at: LooksAt,
    nodes: Vec<Node>,
    children: HashMap<(u32, u32, bool), u32>,
    /// Where the policy looks at how far pages moved, each visit has a node of its own; the first is of none.
    moved: Vec<MeasuredVisit>,
    /// What each page's profiles are, then.
    profiles: Vec<Profiles>,
    /// What each node taught, as far as it was asked for: a place in `learnt`.
    taught: Vec<u32>,
    pub(super) learnt: Vec<Learnt>,
    by_bytes: HashMap<Vec<u8>, u32>,
    classes: HashMap<ClassKey, Class>,
    /// Of each page: its node, its last visit, and its weight.
    pub(super) pages: Vec<Page>,
    /// Visits that had something to compare with, and as many as there were at the last fit.
    comparisons: u64,
    pub(super) fitted: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Page {
    pub(super) node: u32,
    last: u32,
    weight: f64,
    competes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ClassKey {
    learnt: u32,
    last: u32,
    weight: u64,
    /// Only if the policy looks at it.
    kin: Kin,
    /// The same; else as if it were found at its last visit.
    born: u32,
}

impl<'a> ByPolicy<'a> {
    pub fn new(policy: Box<dyn Policy>, truth: &'a Truth, terms: Terms) -> Self {
        let pages = truth.pages();
        let mut looks_at = policy.looks_at();
        looks_at.divergence &= truth.has_fragments();
        let mut chooser = Self {
            policy: Arc::from(policy),
            terms,
            truth,
            looks_at,
            nodes: vec![Node { before: ROOT, gap: 0, changed: false, measured: 0 }],
            children: HashMap::new(),
            moved: vec![MeasuredVisit { divergence: 0.0, bases: Vec::new() }],
            profiles: if looks_at.divergence { vec![Profiles::default(); pages] } else { Vec::new() },
            taught: Vec::new(),
            learnt: Vec::new(),
            by_bytes: HashMap::new(),
            classes: HashMap::new(),
            pages: vec![Page::default(); pages],
            comparisons: 0,
            fitted: 0,
        };
        chooser.forget();
        chooser
    }

    /// Nothing is learnt of any node but the root's nothing.
    fn forget(&mut self) {
        self.taught = vec![ROOT];
        self.learnt = vec![Learnt::default()];
        self.by_bytes = HashMap::from([(Learnt::default().to_bytes(), 0)]);
    }

    /// What a node taught: a place in `learnt`. Those before it are learnt already, as nodes are made in order.
    pub(super) fn teach(&mut self, node: u32) -> u32 {
        while self.taught.len() <= node as usize {
            let next = self.nodes.get(self.taught.len()).copied();
            let Some(Node { before, gap, changed, measured }) = next else { return 0 };
            let from = self.taught.get(before as usize).copied().unwrap_or(0);
            let mut learnt = self.learnt.get(from as usize).cloned().unwrap_or_default();
            let interval = self.terms.days(gap);
            let mut lesson = Lesson::of_bit(self.terms.start, interval, changed);
            if let Some(moved) = self.moved.get(measured as usize).filter(|_| measured > 0) {
                moved.tell(&mut lesson);
            }
            learnt.take(&lesson, HostId(0), 0, &*self.policy);
            let place = self.learnt.len() as u32;
            let known = *self.by_bytes.entry(learnt.to_bytes()).or_insert(place);
            if known == place {
                self.learnt.push(learnt);
            }
            self.taught.push(known);
        }
        self.taught.get(node as usize).copied().unwrap_or(0)
    }

    fn join(&mut self, page: u32) {
        let Page { node, last, weight, .. } = self.pages.get(page as usize).copied().unwrap_or_default();
        let learnt = self.teach(node);
        let kin = if self.looks_at.kin { self.truth.kin.get(page as usize).copied() } else { None };
        let kin = kin.unwrap_or_default();
        let born = self.truth.born.get(page as usize).copied().filter(|_| self.looks_at.age).unwrap_or(last);
        let key = ClassKey { learnt, last, weight: weight.to_bits(), kin, born };
        let (terms, all) = (self.terms, &self.learnt);
        let class = self.classes.entry(key).or_insert_with(|| {
            let at = terms.at(last);
            let mut state =
                PageState::found(PageId(0), HostId(i64::from(kin.site)), 0, weight, terms.at(born));
            state.kin = kin;
            (state.life, state.last_visit, state.seen_at) = (Life::Alive, Some(at), Some(at));
            state.learnt = all.get(learnt as usize).cloned().unwrap_or_default();
            Class { state, members: Vec::new() }
        });
        class.members.push(page);
    }

    /// Fits the prior that the policy goes by again, if it is time, and learns all anew.
    pub(super) fn fit(&mut self) {
        let Some(kind) = self.policy.prior_kind() else { return };
        if !is_time_to_fit(self.comparisons, self.fitted) {
            return;
        }
        self.fitted = self.comparisons;
        let mut counts: HashMap<u32, u32> = HashMap::new();
        for page in &self.pages {
            if page.node != ROOT {
                *counts.entry(page.node).or_default() += 1;
            }
        }
        let mut counted: Vec<(u32, u32)> = counts.into_iter().collect();
        counted.sort_unstable();
        let histories: Vec<(Intervals, u32)> =
            counted.into_iter().map(|(node, count)| (self.intervals(node), count)).collect();
        let borrowed: Vec<(&Intervals, u32)> =
            histories.iter().map(|(history, count)| (history, *count)).collect();
        let pages = histories.iter().map(|(_, count)| u64::from(*count)).sum();
        let numbers = match kind {
            PriorKind::Gamma => Gamma::fit_counted(&borrowed).map(|fit| [fit.shape, fit.days]),
            PriorKind::TwoIntervals => {
                let all = borrowed.iter().flat_map(|(history, count)| {
                    std::iter::repeat_n((HostId(0), 0, (*history).clone()), *count as usize)
                });
                let all: Vec<_> = all.collect();
                Priors::fit(GroupBy::All, &[kind], &all).all.first().map(|prior| prior.numbers)
            }
        };
        let Some(numbers) = numbers else { return };
        let prior = Prior { kind, group: None, numbers, pages };
        let priors = Priors { by: GroupBy::All, all: vec![prior], comparisons: self.comparisons };
        if let Some(policy) = Arc::get_mut(&mut self.policy) {
            policy.believe(&priors);
        }
        self.forget();
        self.classes.clear();
        for page in 0..self.pages.len() as u32 {
            if self.pages.get(page as usize).is_some_and(|page| page.competes) {
                self.join(page);
            }
        }
    }

    /// The intervals that lead to a node.
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

    fn look_over(&mut self, cycle: u32, visits: usize) {
        let days = self.terms.days(self.terms.every);
        let classes = &self.classes;
        let mut pages = |look: &mut dyn FnMut(&PageState, usize)| {
            // In the same order in each run: sums are rounded alike.
            let mut in_order: Vec<(&ClassKey, &Class)> = classes.iter().collect();
            in_order.sort_unstable_by_key(|(key, _)| **key);
            for (_, class) in in_order.iter().filter(|(_, class)| !class.members.is_empty()) {
                look(&class.state, class.members.len());
            }
        };
        let Some(policy) = Arc::get_mut(&mut self.policy) else { return };
        policy.survey(&mut Survey {
            now: self.terms.at(cycle),
            cycle: i64::from(cycle),
            cycle_length: days,
            visits_a_day: Some(visits as f64 / days.days()),
            hosts: &HashMap::new(),
            memory: &mut None,
            pages: &mut pages,
        });
    }
}

/// A class, ready to be ranked.
struct Ranked {
    key: ClassKey,
    score: f64,
}

impl Chooser for ByPolicy<'_> {
    fn born(&mut self, page: u32, cycle: u32, weight: f64) {
        if let Some(place) = self.pages.get_mut(page as usize) {
            *place = Page { node: ROOT, last: cycle, weight, competes: false };
        }
        if self.looks_at.divergence {
            self.measure(page, cycle, cycle);
        }
    }

    fn visited(&mut self, page: u32, cycle: u32, changed: bool) {
        let last = self.pages.get(page as usize).map_or(cycle, |place| place.last);
        let measured = if self.looks_at.divergence { self.measure(page, last, cycle) } else { 0 };
        let Some(place) = self.pages.get_mut(page as usize) else { return };
        let gap = cycle - last;
        let next = self.nodes.len() as u32;
        let node = match measured {
            0 => *self.children.entry((place.node, gap, changed)).or_insert(next),
            _ => next,
        };
        if node == next {
            self.nodes.push(Node { before: place.node, gap, changed, measured });
        }
        (place.node, place.last) = (node, cycle);
        self.comparisons += 1;
        if place.competes {
            self.join(page);
        }
    }

    fn competes(&mut self, page: u32) {
        if let Some(place) = self.pages.get_mut(page as usize) {
            place.competes = true;
        }
        self.join(page);
    }

    fn choose(&mut self, cycle: u32, visits: usize) -> Vec<u32> {
        self.fit();
        self.classes.retain(|_, class| !class.members.is_empty());
        self.look_over(cycle, visits);
        let now = self.terms.at(cycle);
        let draws = self.policy.looks_at().draw.is_some();
        let mut ranked: Vec<Ranked> = self
            .classes
            .iter()
            .map(|(key, class)| Ranked {
                key: *key,
                score: crate::policy::score_shared(&*self.policy, &class.state, now).value(),
            })
            .collect();
        let chosen =
            if draws { self.choose_drawn(&ranked, visits) } else { self.choose_whole(&mut ranked, visits) };
        self.leave(&chosen);
        chosen.into_iter().map(|(page, _)| page).collect()
    }
}

impl ByPolicy<'_> {
    /// Measures a page; gives the place of what was found.
    fn measure(&mut self, page: u32, last: u32, cycle: u32) -> u32 {
        let Some(profiles) = self.profiles.get_mut(page as usize) else { return 0 };
        self.moved.push(MeasuredVisit::of(self.truth, &self.terms, profiles, page, last, cycle));
        self.moved.len() as u32 - 1
    }

    /// Classes from the best down, whole ones while there is room.
    fn choose_whole(&self, ranked: &mut [Ranked], visits: usize) -> Vec<(u32, ClassKey)> {
        let older_first = self.terms.ties == Ties::OlderFirst;
        let rank = |class: &Ranked| (class.score, if older_first { class.key.last } else { 0 });
        ranked.sort_by(|a, b| {
            let ((a_score, a_last), (b_score, b_last)) = (rank(a), rank(b));
            b_score.total_cmp(&a_score).then(a_last.cmp(&b_last))
        });
        let mut chosen = Vec::with_capacity(visits);
        let mut at = 0;
        while chosen.len() < visits && at < ranked.len() {
            // Those that only their numbers tell apart.
            let same = |other: &Ranked| ranked.get(at).is_some_and(|first| rank(first) == rank(other));
            let end = at + ranked.iter().skip(at).take_while(|class| same(class)).count();
            let mut tied: Vec<(u32, ClassKey)> = ranked
                .get(at..end)
                .unwrap_or(&[])
                .iter()
                .flat_map(|class| {
                    let members = self.classes.get(&class.key).map_or(&[][..], |class| &class.members);
                    members.iter().map(|page| (*page, class.key))
                })
                .collect();
            let room = visits - chosen.len();
            if tied.len() > room {
                tied.select_nth_unstable_by_key(room, |(page, _)| *page);
                tied.truncate(room);
            }
            tied.sort_unstable_by_key(|(page, _)| *page);
            chosen.extend(tied);
            at = end.max(at + 1);
        }
        chosen
    }

    /// Where each page has its own draw, all are ranked.
    fn choose_drawn(&self, ranked: &[Ranked], visits: usize) -> Vec<(u32, ClassKey)> {
        let draw = self.policy.looks_at().draw;
        let mut class_of: HashMap<u32, ClassKey> = HashMap::new();
        let scored = ranked.iter().flat_map(|class| {
            let at = self.terms.at(class.key.last);
            let members = self.classes.get(&class.key).map_or(&[][..], |class| &class.members);
            members.iter().map(move |page| (*page, at, class))
        });
        let scored = scored.map(|(page, at, class)| {
            class_of.insert(page, class.key);
            let draw = draw.map_or(1.0, |draw| draw.factor(PageId(i64::from(page)), at));
            (class.score * draw, class.key.last, page)
        });
        let chosen = best_pages(scored, visits);
        chosen.into_iter().filter_map(|page| class_of.get(&page).map(|key| (page, *key))).collect()
    }

    /// Takes the chosen out of their classes.
    fn leave(&mut self, chosen: &[(u32, ClassKey)]) {
        let mut by_class: HashMap<ClassKey, Vec<u32>> = HashMap::new();
        for (page, key) in chosen {
            by_class.entry(*key).or_default().push(*page);
        }
        for (key, mut gone) in by_class {
            let Some(class) = self.classes.get_mut(&key) else { continue };
            if gone.len() == class.members.len() {
                class.members.clear();
            } else {
                gone.sort_unstable();
                class.members.retain(|page| gone.binary_search(page).is_err());
            }
        }
    }
}
