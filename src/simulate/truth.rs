//! What was true of the pages of a recording, cycle by cycle.
//!
//! A page's truth is a step function: from each of these cycles on it has this text. Where only change bits were
//! recorded, each change makes a text nobody has seen before.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::change::divergence::{Divergence, of_smallest, of_sorted};
use crate::dataset::{Group, History};
use crate::page::Kin;

/// The truth of a group of pages.
#[derive(Debug)]
pub struct Truth {
    /// Page after page: from this cycle on, this text.
    steps: Vec<Step>,
    /// Where each page's steps begin; one more than there are pages.
    starts: Vec<u32>,
    /// The fragments of each page's texts, where they are known.
    texts: Vec<Vec<Arc<[u64]>>>,
    pub born: Vec<u32>,
    pub weights: Vec<f64>,
    /// Whom each page is like.
    pub kin: Vec<Kin>,
    pub cycles: u32,
    divergences: RefCell<HashMap<(u32, u32, u32), f32>>,
}

/// From this cycle on the page has this text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub cycle: u32,
    pub text: u32,
}

impl Truth {
    /// Of the pages of a group, in this order.
    pub fn of(group: &Group, order: &[u32]) -> Self {
        let mut truth = Self {
            steps: Vec::new(),
            starts: vec![0],
            texts: Vec::new(),
            born: Vec::with_capacity(order.len()),
            weights: Vec::with_capacity(order.len()),
            kin: Vec::with_capacity(order.len()),
            cycles: group.cycles,
            divergences: RefCell::default(),
        };
        for page in order.iter().filter_map(|at| group.pages.get(*at as usize)) {
            match &page.history {
                History::Bits(bits) => {
                    truth.steps.push(Step { cycle: page.born, text: 0 });
                    truth.push_bits(page.born, bits);
                    truth.texts.push(Vec::new());
                }
                History::Texts { from, texts } => {
                    let mut last = None;
                    for (cycle, text) in from {
                        if last != Some(*text) {
                            truth.steps.push(Step { cycle: *cycle, text: *text });
                        }
                        last = Some(*text);
                    }
                    truth.texts.push(texts.clone());
                }
            }
            truth.starts.push(truth.steps.len() as u32);
            truth.born.push(page.born);
            truth.weights.push(page.weight);
            truth.kin.push(Kin::of(&page.url));
        }
        truth
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
                    self.steps.push(Step { cycle, text });
                }
            }
        }
    }

    pub fn pages(&self) -> usize {
        self.born.len()
    }

    /// The steps of a page, in order of cycles.
    pub fn steps(&self, page: u32) -> &[Step] {
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

    /// How far two texts of a page are apart: by their fragments where these are known, else wholly.
    pub fn divergence(&self, page: u32, one: u32, other: u32) -> f64 {
        if one == other {
            return 0.0;
        }
        let texts = self.texts.get(page as usize).map_or(&[][..], Vec::as_slice);
        let (Some(a), Some(b)) = (texts.get(one as usize), texts.get(other as usize)) else { return 1.0 };
        let key = (page, one.min(other), one.max(other));
        let known = self.divergences.borrow().get(&key).copied();
        f64::from(known.unwrap_or_else(|| {
            let apart = apart(a, b);
            self.divergences.borrow_mut().insert(key, apart);
            apart
        }))
    }

    /// The same as a crawl measures it that keeps sketches of so many hashes; `None`: of all.
    pub fn measured(&self, page: u32, one: u32, other: u32, sketch: Option<usize>) -> Divergence {
        let texts = self.texts.get(page as usize).map_or(&[][..], Vec::as_slice);
        match (sketch, texts.get(one as usize), texts.get(other as usize)) {
            (Some(most), Some(a), Some(b)) => of_smallest(a, b, most),
            _ => Divergence::new(self.divergence(page, one, other)).unwrap_or(Divergence::WHOLE),
        }
    }

    /// The fragments of each text of a page, where they are known.
    pub fn fragments(&self, page: u32) -> &[Arc<[u64]>] {
        self.texts.get(page as usize).map_or(&[], Vec::as_slice)
    }

    /// Are fragments known?
    pub fn has_fragments(&self) -> bool {
        self.texts.iter().any(|texts| !texts.is_empty())
    }
}

/// How far two texts are apart, as precisely as it is kept.
pub fn apart(one: &[u64], other: &[u64]) -> f32 {
    of_sorted(one, other).get() as f32
}
