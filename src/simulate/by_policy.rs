//! A policy of the live crawl chooses the pages of a replay.
//!
//! Pages in the same state share a score. The state of a page is the policy's memory of it, its weight, and whatever else
//! the policy looks at.

use std::collections::HashMap;

use super::classes::{Class, Classes};
use super::day_budget::DayBudget;
use super::distinct::Distinct;
use super::known_signals::{self, KnownSignals};
use super::learning::Learning;
use super::truth::Truth;
use super::{Choice, ReplayTerms, best_pages};
use crate::fetch::visit::Outcome;
use crate::observation::{Life, Standing};
use crate::page::{Kin, PageId};
use crate::policy::{PageState, Policy, Survey, score_shared};
use crate::signal::PageSignals;
use crate::varint::{push, push_float};

/// A policy of the live crawl, at work in a replay.
pub struct ByPolicy<'a> {
    learning: Learning<'a>,
    states: Distinct<State>,
    classes: Classes<PageState>,
    /// For each page: does it compete?
    competes: Vec<bool>,
    /// Signals, if there are any and the policy looks at them.
    signals: Option<Box<KnownSignals<'a>>>,
    /// If the cycles of a day share their budget.
    day: Option<Box<DayBudget>>,
}

/// The state of a page.
#[derive(Clone, Copy, Debug)]
struct State {
    /// The number of the policy's memory.
    memory: u32,
    weight: f64,
    /// Empty unless the policy looks at it.
    kin: Kin,
    /// Cycles from the first copy to the last visit, if the policy looks at a page's age; else 0.
    span: u32,
    /// The number of its signals; 0 if the policy doesn't look at them.
    signals: u32,
}

impl State {
    fn to_bytes(self) -> Vec<u8> {
        let Kin { site, section, name, folders } = self.kin;
        let mut bytes = Vec::with_capacity(64);
        [self.memory, self.span, self.signals, site, section, name]
            .iter()
            .chain(&folders)
            .for_each(|part| push(&mut bytes, u64::from(*part)));
        push_float(&mut bytes, self.weight);
        bytes
    }
}

impl<'a> ByPolicy<'a> {
    /// A replay of this policy over these pages.
    pub fn new(policy: Box<dyn Policy>, truth: &'a Truth, terms: ReplayTerms) -> Self {
        let shares = terms.by_day && policy.looks_at().draw.is_none();
        let signals = truth.signals.as_ref().filter(|_| policy.looks_at().signals);
        Self {
            signals: signals.map(|raised| Box::new(KnownSignals::new(raised, truth))),
            learning: Learning::new(policy, truth, terms),
            states: Distinct::default(),
            classes: Classes::new(terms.ties),
            competes: vec![false; truth.pages()],
            day: shares.then(|| DayBudget::new(terms.days(terms.every))).flatten().map(Box::new),
        }
    }

    pub(super) fn born(&mut self, page: u32, cycle: u32) {
        self.learning.born(page, cycle);
    }

    pub(super) fn visited(&mut self, page: u32, cycle: u32, changed: bool) {
        let competes = self.competes.get(page as usize).is_some_and(|competes| *competes);
        let counts = self.signals.as_ref().map(|known| known.counts(known.number(page)));
        self.learning.visited(page, cycle, changed, competes, counts.unwrap_or_default());
        if let Some(signals) = &mut self.signals {
            signals.visited(page);
        }
        if competes {
            self.join(page);
        }
    }

    pub(super) fn competes(&mut self, page: u32) {
        if let Some(competes) = self.competes.get_mut(page as usize) {
            *competes = true;
        }
        self.join(page);
    }

    /// A page joins the class of its state and last visit.
    fn join(&mut self, page: u32) {
        let Learning { truth, looks_at, .. } = self.learning;
        let (memory, last) = (self.learning.memory(page), self.learning.last(page));
        let weight = truth.weights.get(page as usize).copied().unwrap_or(1.0);
        let kin = truth.kin.get(page as usize).copied().filter(|_| looks_at.kin).unwrap_or_default();
        let born = truth.born.get(page as usize).copied().filter(|_| looks_at.age).unwrap_or(last);
        let signals = self.signals.as_ref().map_or(0, |signals| signals.number(page));
        let state = State { memory, weight, kin, span: last - born, signals };
        let number = self.states.number(&state.to_bytes(), state);
        let (learning, known) = (&self.learning, self.signals.as_deref());
        let counts = || known.map(|known| known.counts(signals)).unwrap_or_default();
        let class = self.classes.joining(number, last, || page_state(learning, state, last, counts()));
        self.classes.join(class, page);
    }

    /// All pages join their classes again, as their memories are new ones. Pages with the same last visit come together.
    fn join_again(&mut self) {
        self.states.clear();
        self.classes.clear();
        let mut pages: Vec<(u32, u32)> = (0..)
            .zip(&self.competes)
            .filter(|(_, competes)| **competes)
            .map(|(page, _)| (self.learning.last(page), page))
            .collect();
        pages.sort_unstable();
        pages.iter().for_each(|(_, page)| self.join(*page));
    }

    /// Reads lists of signals before a cycle. Gives the requests that it took.
    fn read_signals(&mut self, cycle: u32, requests: usize) -> usize {
        let learning = &self.learning;
        let Some(signals) = &mut self.signals else { return 0 };
        let gain = |host, waited| learning.policy.list_gain(host, learning.terms.days(waited));
        let (read, mut told) = signals.read(cycle, requests, &gain, &|page| learning.last(page));
        told.retain(|page| self.competes.get(*page as usize).is_some_and(|competes| *competes));
        if !told.is_empty() {
            let mut has_news = vec![false; self.competes.len()];
            for page in &told {
                has_news.get_mut(*page as usize).into_iter().for_each(|news| *news = true);
            }
            let is_told = |page: &u32| has_news.get(*page as usize).is_some_and(|news| *news);
            let classes = self.classes.iter().zip(0_u32..);
            let leaving = classes.flat_map(|(class, place)| {
                class.pages().iter().filter(|page| is_told(page)).map(move |page| (*page, place))
            });
            let leaving: Vec<(u32, u32)> = leaving.collect();
            self.classes.remove(leaving);
            self.classes.clear_empty();
            // Pages with the same last visit come together.
            told.sort_unstable_by_key(|page| (self.learning.last(*page), *page));
            told.iter().for_each(|page| self.join(*page));
        }
        read
    }

    pub(super) fn choose(&mut self, cycle: u32, even: usize) -> Choice {
        let now = self.learning.terms.at(cycle);
        let requests = self.day.as_mut().map_or(even, |day| day.budget(now, even));
        let readings = self.read_signals(cycle, requests);
        let visits = requests - readings;
        if self.learning.fit() {
            self.join_again();
        }
        self.learning.learn_from_all();
        self.survey(cycle, even.saturating_sub(readings).max(1));
        let scores: Vec<f64> = {
            let policy = &*self.learning.policy;
            self.classes.iter().map(|class| score_shared(policy, &class.shared, now).value()).collect()
        };
        let visits = self.due(&scores, visits);
        let mut least = None;
        let pages = if visits == 0 {
            Vec::new()
        } else if self.learning.policy.looks_at().draw.is_some() {
            self.choose_drawn(&scores, visits)
        } else {
            self.classes.choose(&scores, visits);
            let chosen = self.classes.in_order(visits);
            for (class, count) in self.classes.chosen() {
                self.classes.leave(class, count, |_, _| {});
            }
            least = self.classes.last_chosen().and_then(|class| scores.get(class as usize)).copied();
            if let Some(signals) = &mut self.signals {
                signals.paid(least.unwrap_or(0.0));
            }
            chosen.into_iter().map(|(page, _)| page).collect()
        };
        if let Some(day) = &mut self.day {
            day.spent(now, requests, pages.len() + readings, least);
        }
        self.classes.clear_empty();
        Choice { pages, readings }
    }

    /// How many of the visits that there is budget for are due.
    fn due(&self, scores: &[f64], visits: usize) -> usize {
        let Some(day) = &self.day else { return visits };
        let due = self.classes.iter().zip(scores).filter(|(_, score)| day.is_due(**score));
        due.map(|(class, _)| class.size()).sum::<usize>().min(visits)
    }

    /// Chooses where each page has a draw of its own, and so a score of its own.
    fn choose_drawn(&mut self, scores: &[f64], visits: usize) -> Vec<u32> {
        let mut class_of = vec![0; self.competes.len()];
        // It may be another one in each cycle.
        let draw = self.learning.policy.looks_at().draw;
        let terms = self.learning.terms;
        let scored = self.classes.iter().zip(scores).zip(0_u32..).flat_map(|((class, score), place)| {
            let at = terms.at(class.last);
            class.pages().iter().map(move |page| (*page, class.last, at, *score, place))
        });
        let scored = scored.map(|(page, last, at, score, place)| {
            if let Some(class) = class_of.get_mut(page as usize) {
                *class = place;
            }
            let draw = draw.map_or(1.0, |draw| draw.factor(PageId(i64::from(page)), at));
            (score * draw, last, page)
        });
        let chosen = best_pages(scored, visits);
        let class = |page: &u32| (*page, class_of.get(*page as usize).copied().unwrap_or(0));
        self.classes.remove(chosen.iter().map(class).collect());
        chosen
    }

    /// Shows all pages to the policy, in the same order in each run, so that sums are rounded alike.
    fn survey(&mut self, cycle: u32, visits: usize) {
        let terms = self.learning.terms;
        let days = terms.days(terms.every);
        let states = &self.states;
        let mut in_order: Vec<_> = self
            .classes
            .iter()
            .filter_map(|class| states.get(class.state).map(|state| (order(state, class), class)))
            .collect();
        in_order.sort_unstable_by_key(|(order, _)| *order);
        let mut pages = |look: &mut dyn FnMut(&PageState, usize)| {
            // Pages that come out of the warm-up may be in the same state as pages that were chosen in that cycle.
            for alike in in_order.chunk_by(|one, other| one.0 == other.0) {
                if let Some((_, class)) = alike.first() {
                    look(&class.shared, alike.iter().map(|(_, class)| class.size()).sum());
                }
            }
        };
        self.learning.policy.survey(&mut Survey {
            now: terms.at(cycle),
            cycle: i64::from(cycle),
            cycle_length: days,
            visits_a_day: Some(visits as f64 / days.days()),
            shares_a_day: self.day.is_some(),
            hosts: &HashMap::new(),
            memory: &mut None,
            pages: &mut pages,
        });
    }
}

/// The order in which the policy looks at classes.
fn order(state: &State, class: &Class<PageState>) -> (u32, u32, u64, Kin, u32, u32) {
    let born = class.last - state.span;
    (state.memory, class.last, state.weight.to_bits(), state.kin, born, state.signals)
}

/// A page as the policy sees it. Its standing is that of a page whose last live visit brought a copy.
fn page_state(learning: &Learning<'_>, state: State, last: u32, signals: PageSignals) -> PageState {
    let (at, found_at) = (learning.terms.at(last), learning.terms.at(last - state.span));
    let host = known_signals::host(state.kin.site);
    let standing = Standing { life: Life::New, failures: 0, due_at: at }.after(&Outcome::Fetched, at);
    PageState {
        kin: state.kin,
        life: standing.life,
        failures: standing.failures,
        last_visit: Some(at),
        seen_at: Some(at),
        learnt: learning.learnt(state.memory),
        signals,
        ..PageState::found(PageId(0), host, 0, state.weight, found_at)
    }
}
