//! Pages made ready to be replayed again and again: who changes when, and what the warm-up saw.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::states::Visit;
use crate::simulate::Terms;
use crate::simulate::truth::{Truth, apart};

/// Pages of a group, made ready to be replayed again and again.
#[derive(Debug)]
pub struct Course {
    pub(super) terms: Terms,
    pub(super) cycles: u32,
    pub(super) changes: Changes,
    /// In order of their cycles.
    pub(super) entries: Vec<Entry>,
    apart: Apart,
}

/// Pages that begin to compete at a cycle, with the same visits behind them.
#[derive(Debug)]
pub(super) struct Entry {
    pub cycle: u32,
    pub last: u32,
    pub weight: f64,
    pub visits: Vec<Visit>,
    pub members: Vec<u32>,
}

/// When pages change.
#[derive(Debug)]
pub(super) enum Changes {
    /// Bit c is set if the page has another text at cycle c than at the one before, and no text comes back.
    Words(Vec<u64>),
    /// The text at each cycle, page after page.
    Texts(Vec<u32>),
}

/// How far texts of a page are apart, where that matters; worked out when it is first asked for, by whoever asks.
#[derive(Debug, Default)]
struct Apart {
    texts: Vec<Vec<Arc<[u64]>>>,
    /// Several, so that those who ask at the same time seldom wait.
    known: Vec<Mutex<Shelf>>,
}

/// By page, text and text.
type Shelf = HashMap<(u32, u32, u32), f64>;

const SHELVES: usize = 64;
/// When a shelf is full it is emptied: memory has an end.
const MOST_ON_A_SHELF: usize = 1 << 16;

impl Apart {
    fn new(truth: &Truth) -> Self {
        let texts = (0..truth.pages() as u32).map(|page| truth.fragments(page).to_vec()).collect();
        Self { texts, known: (0..SHELVES).map(|_| Mutex::default()).collect() }
    }

    /// Of two texts that are not the same; wholly, if nothing is known of them.
    fn of(&self, page: u32, one: u32, other: u32) -> f64 {
        let texts = self.texts.get(page as usize).map_or(&[][..], Vec::as_slice);
        let (Some(a), Some(b)) = (texts.get(one as usize), texts.get(other as usize)) else { return 1.0 };
        let key = (page, one.min(other), one.max(other));
        let work_out = || f64::from(apart(a, b));
        match self.known.get(page as usize % SHELVES).map(Mutex::lock) {
            Some(Ok(mut known)) => {
                if known.len() >= MOST_ON_A_SHELF {
                    known.clear();
                }
                *known.entry(key).or_insert_with(work_out)
            }
            _ => work_out(),
        }
    }
}

/// What is done with a copy in the time that it is held: cycles in which it is what the page says, and others.
#[derive(Clone, Copy)]
pub(super) struct Held {
    pub page: u32,
    pub last: u32,
    /// The visit that ends it, or the end of all.
    pub until: u32,
}

impl Course {
    /// Is there no page that competes?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Of the pages of a group, in this order. `moves`: whether it matters how far they move.
    pub fn new(truth: &Truth, terms: Terms, moves: bool) -> Self {
        let pages = truth.pages() as u32;
        let comes_back = (0..pages).any(|page| {
            let mut texts: Vec<u32> = truth.steps(page).iter().map(|step| step.text).collect();
            texts.sort_unstable();
            texts.windows(2).any(|two| two.first() == two.last())
        });
        let is_short = truth.cycles <= 64 && !comes_back && !moves;
        let changes = if is_short {
            let word =
                |page| truth.steps(page).iter().skip(1).fold(0, |word, step| word | 1_u64 << step.cycle);
            Changes::Words((0..pages).map(word).collect())
        } else {
            let texts = |page| (0..truth.cycles).map(move |cycle| truth.text(page, cycle));
            Changes::Texts((0..pages).flat_map(texts).collect())
        };
        let apart = if moves { Apart::new(truth) } else { Apart::default() };
        let mut course = Self { terms, cycles: truth.cycles, changes, entries: Vec::new(), apart };
        course.warm_up(truth);
        course
    }

    fn warm_up(&mut self, truth: &Truth) {
        type Key = (u32, u64, Vec<(bool, u64)>);
        let mut entries: HashMap<Key, Entry> = HashMap::new();
        for page in 0..truth.pages() as u32 {
            let born = truth.born.get(page as usize).copied().unwrap_or(0);
            if !competes(born, self.terms.warm_up, self.cycles) {
                continue;
            }
            let weight = truth.weights.get(page as usize).copied().unwrap_or(1.0);
            let visits: Vec<Visit> = (born + 1..=born + self.terms.warm_up)
                .map(|cycle| self.visit(page, cycle - 1, cycle))
                .collect();
            let seen = visits.iter().map(|visit| (visit.changed, visit.moved.to_bits())).collect();
            let last = born + self.terms.warm_up;
            let entry = entries.entry((born, weight.to_bits(), seen)).or_insert_with(|| Entry {
                cycle: last + 1,
                last,
                weight,
                visits,
                members: Vec::new(),
            });
            entry.members.push(page);
        }
        self.entries = entries.into_values().collect();
        // Members are in order of their numbers, and no page is in two.
        self.entries.sort_by_key(|entry| (entry.cycle, entry.members.first().copied()));
    }

    fn text(&self, page: u32, cycle: u32) -> u32 {
        match &self.changes {
            Changes::Words(_) => 0,
            Changes::Texts(texts) => {
                texts.get(page as usize * self.cycles as usize + cycle as usize).copied().unwrap_or(0)
            }
        }
    }

    /// What a visit finds.
    pub(super) fn visit(&self, page: u32, last: u32, now: u32) -> Visit {
        let gap = now - last;
        match &self.changes {
            Changes::Words(words) => {
                let changed = words.get(page as usize).is_some_and(|word| word & between(last, now) != 0);
                Visit { gap, changed, moved: f64::from(u8::from(changed)) }
            }
            Changes::Texts(_) => {
                let (held, live) = (self.text(page, last), self.text(page, now));
                let changed = held != live;
                let moved = if changed { self.apart.of(page, held, live) } else { 0.0 };
                Visit { gap, changed, moved }
            }
        }
    }

    /// The cycles after the copy was taken, up to that of the next visit, in which the page says something else.
    pub(super) fn stale(&self, held: Held, mut tell: impl FnMut(Range<u32>)) {
        let Held { page, last, until } = held;
        match &self.changes {
            Changes::Words(words) => {
                let word = words.get(page as usize).copied().unwrap_or(0) & between(last, until);
                if word != 0 {
                    tell(word.trailing_zeros()..until + 1);
                }
            }
            Changes::Texts(_) => {
                let text = self.text(page, last);
                for cycle in last + 1..=until {
                    if self.text(page, cycle) != text {
                        tell(cycle..cycle + 1);
                    }
                }
            }
        }
    }
}

/// Is there a cycle left for a page, after its first copy and the warm-up?
pub(super) fn competes(born: u32, warm_up: u32, cycles: u32) -> bool {
    u64::from(born) + u64::from(warm_up) + 1 < u64::from(cycles)
}

/// The bits of the cycles after one, up to another.
pub(super) fn between(last: u32, now: u32) -> u64 {
    let up_to = |cycle: u32| if cycle >= 63 { u64::MAX } else { (1_u64 << (cycle + 1)) - 1 };
    up_to(now) & !up_to(last)
}
