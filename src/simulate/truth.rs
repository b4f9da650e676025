//! The true texts of the pages of a recording, cycle by cycle.
//!
//! The truth of a page is a step function from cycles to texts. Where only change bits were recorded, each change makes a
//! new text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::raised_signals::RaisedSignals;
use super::searched::{SearchedDataset, SearchedPages};
use crate::change::divergence::{Divergence, of_smallest, of_sorted};
use crate::dataset::{Group, History};
use crate::page::Kin;

/// The truth of a group of pages.
#[derive(Debug)]
pub struct Truth {
    /// The steps of all pages, page after page.
    steps: Vec<TruthStep>,
    /// Where the steps of each page begin, and the end of the last.
    starts: Vec<u32>,
    /// For each page: bit c is set if another text begins at cycle c. Empty if there are more cycles than bits, or if a text
    /// of any page comes back.
    words: Vec<u64>,
    distances: Distances,
    /// The cycle at which each page first exists.
    pub born: Vec<u32>,
    /// The importance of each page.
    pub weights: Vec<f64>,
    /// Which pages each page is like, by its address.
    pub kin: Vec<Kin>,
    /// Cycles of the group.
    pub cycles: u32,
    /// The words of the pages, if queries are replayed too.
    pub(crate) searched: Option<SearchedPages>,
    /// The signals of the pages, if there are any.
    pub(crate) signals: Option<RaisedSignals>,
}

/// From this cycle on the page has this text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruthStep {
    /// The first cycle with this text.
    pub cycle: u32,
    /// The number of the text; a text that comes back has its old number.
    pub text: u32,
}

impl Truth {
    /// The truth of these pages of a group, in this order.
    pub fn of(group: &Group, order: &[u32]) -> Self {
        let mut truth = Self {
            steps: Vec::new(),
            starts: vec![0],
            words: Vec::new(),
            distances: Distances::default(),
            born: Vec::with_capacity(order.len()),
            weights: Vec::with_capacity(order.len()),
            kin: Vec::with_capacity(order.len()),
            cycles: group.cycles,
            searched: None,
            signals: None,
        };
        for page in order.iter().filter_map(|at| group.pages.get(*at as usize)) {
            match &page.history {
                History::Bits(bits) => {
                    truth.steps.push(TruthStep { cycle: page.born, text: 0 });
                    truth.push_bits(page.born, bits);
                    truth.distances.texts.push(Vec::new());
                }
                History::Texts { from, texts } => {
                    let mut last = None;
                    for (cycle, text) in from {
                        if last != Some(*text) {
                            truth.steps.push(TruthStep { cycle: *cycle, text: *text });
                        }
                        last = Some(*text);
                    }
                    truth.distances.texts.push(texts.clone());
                }
            }
            truth.starts.push(truth.steps.len() as u32);
            truth.born.push(page.born);
            truth.weights.push(page.weight);
            truth.kin.push(Kin::of(&page.url));
        }
        let pages = 0..truth.pages() as u32;
        if truth.cycles <= u64::BITS && !pages.clone().any(|page| truth.comes_back(page)) {
            let word =
                |page| truth.steps(page).iter().skip(1).fold(0, |word, step| word | 1_u64 << step.cycle);
            truth.words = pages.map(word).collect();
        }
        truth
    }

    /// The same with the words of the pages, where queries are replayed too.
    #[must_use]
    pub fn with_words(self, searched: Option<&SearchedDataset>, group: &Group, order: &[u32]) -> Self {
        Self { searched: searched.map(|searched| searched.pages(group, order)), ..self }
    }

    /// The same with signals.
    #[must_use]
    pub fn with_signals(self, signals: Option<RaisedSignals>) -> Self {
        Self { signals, ..self }
    }

    /// Does a page return to a text that it had before?
    fn comes_back(&self, page: u32) -> bool {
        let steps = self.steps(page);
        // So it is where only bits are known: each text has a higher number than the one before.
        if steps.is_sorted_by(|one, next| one.text < next.text) {
            return false;
        }
        let mut texts: Vec<u32> = steps.iter().map(|step| step.text).collect();
        texts.sort_unstable();
        texts.windows(2).any(|two| two.first() == two.last())
    }

    fn push_bits(&mut self, born: u32, bits: &[u64]) {
        let mut text = 0;
        for (place, word) in bits.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                let cycle = born + 1 + (place * 64) as u32 + left.trailing_zeros();
                left &= left - 1;
                if cycle < self.cycles {
                    text += 1;
                    self.steps.push(TruthStep { cycle, text });
                }
            }
        }
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        self.born.len()
    }

    /// The steps of a page, in order of cycles.
    pub fn steps(&self, page: u32) -> &[TruthStep] {
        let at = |page: usize| self.starts.get(page).copied().unwrap_or(0) as usize;
        self.steps.get(at(page as usize)..at(page as usize + 1)).unwrap_or(&[])
    }

    /// The text that a page has at a cycle.
    pub fn text(&self, page: u32, cycle: u32) -> u32 {
        let steps = self.steps(page);
        let after = steps.partition_point(|step| step.cycle <= cycle);
        after.checked_sub(1).and_then(|at| steps.get(at)).map_or(0, |step| step.text)
    }

    /// Pages whose text changes at each cycle.
    pub fn events(&self) -> Vec<Vec<u32>> {
        let mut events = vec![Vec::new(); self.cycles as usize];
        for page in 0..self.pages() as u32 {
            for step in self.steps(page).iter().skip(1) {
                if let Some(pages) = events.get_mut(step.cycle as usize) {
                    pages.push(page);
                }
            }
        }
        events
    }

    /// Has the page another text at `now` than at `last`?
    pub(crate) fn has_changed(&self, page: u32, last: u32, now: u32) -> bool {
        match self.words.get(page as usize) {
            Some(word) => word & cycles_between(last, now) != 0,
            None => self.text(page, last) != self.text(page, now),
        }
    }

    /// For each page a word whose bit c says that it changes at cycle c. `None` if words can't tell all.
    pub(crate) fn words(&self) -> Option<&[u64]> {
        (self.words.len() == self.pages()).then_some(&self.words)
    }

    /// Calls `tell` with the cycles after `last`, up to and including `until`, in which the page has another text than at `last`.
    pub(crate) fn stale(&self, page: u32, last: u32, until: u32, mut tell: impl FnMut(Range<u32>)) {
        if let Some(word) = self.words.get(page as usize) {
            let changes = word & cycles_between(last, until);
            if changes != 0 {
                tell(changes.trailing_zeros()..until + 1);
            }
            return;
        }
        let (steps, held) = (self.steps(page), self.text(page, last));
        let after = steps.partition_point(|step| step.cycle <= last);
        let mut later =
            steps.get(after..).unwrap_or(&[]).iter().take_while(|step| step.cycle <= until).peekable();
        while let Some(step) = later.next() {
            let end = later.peek().map_or(until + 1, |next| next.cycle);
            if step.text != held {
                tell(step.cycle..end);
            }
        }
    }

    /// The divergence between two texts of a page: by their fragments if these are known, else 1.
    pub fn divergence(&self, page: u32, one: u32, other: u32) -> f64 {
        if one == other { 0.0 } else { self.distances.between(page, one, other) }
    }

    /// The same, as a crawl measures it with sketches of `sketch` hashes; `None`: with all hashes.
    pub fn measured(&self, page: u32, one: u32, other: u32, sketch: Option<usize>) -> Divergence {
        let texts = self.fragments(page);
        match (sketch, texts.get(one as usize), texts.get(other as usize)) {
            (Some(most), Some(a), Some(b)) => of_smallest(a, b, most),
            _ => Divergence::new(self.divergence(page, one, other)).unwrap_or(Divergence::WHOLE),
        }
    }

    /// The fragments of each text of a page; empty if they are not known.
    pub fn fragments(&self, page: u32) -> &[Arc<[u64]>] {
        self.distances.texts.get(page as usize).map_or(&[], Vec::as_slice)
    }

    /// Is it known that a text of a page has no fragments?
    pub(crate) fn is_empty(&self, page: u32, text: u32) -> bool {
        let texts = self.distances.texts.get(page as usize);
        texts.and_then(|texts| texts.get(text as usize)).is_some_and(|text| text.is_empty())
    }

    /// Are fragments known?
    pub(crate) fn has_fragments(&self) -> bool {
        self.distances.texts.iter().any(|texts| !texts.is_empty())
    }
}

/// The bits of the cycles after `last`, up to and including `now`.
pub(crate) fn cycles_between(last: u32, now: u32) -> u64 {
    let up_to = |cycle: u32| if cycle >= 63 { u64::MAX } else { (1_u64 << (cycle + 1)) - 1 };
    up_to(now) & !up_to(last)
}

/// Divergences between texts of a page; worked out when they are first asked for, by the thread that asks.
#[derive(Debug, Default)]
struct Distances {
    /// The fragments of each page's texts, if they are known.
    texts: Vec<Vec<Arc<[u64]>>>,
    /// By page, text and text. There are several maps, so that threads that ask at the same time seldom wait.
    known: [Mutex<KnownDistances>; SHARDS],
}

/// Divergences by page, text and text.
type KnownDistances = HashMap<(u32, u32, u32), f32>;

const SHARDS: usize = 32;
/// A map that is full is emptied, to bound the memory.
const MOST_IN_A_SHARD: usize = 1 << 17;

impl Distances {
    /// The divergence between two different texts; 1 if their fragments are not known.
    fn between(&self, page: u32, one: u32, other: u32) -> f64 {
        let texts = self.texts.get(page as usize).map_or(&[][..], Vec::as_slice);
        let (Some(a), Some(b)) = (texts.get(one as usize), texts.get(other as usize)) else { return 1.0 };
        let work_out = || of_sorted(a, b).get() as f32;
        let apart = match self.known.get(page as usize % SHARDS).map(Mutex::lock) {
            Some(Ok(mut known)) => {
                if known.len() >= MOST_IN_A_SHARD {
                    known.clear();
                }
                *known.entry((page, one.min(other), one.max(other))).or_insert_with(work_out)
            }
            _ => work_out(),
        };
        f64::from(apart)
    }
}
