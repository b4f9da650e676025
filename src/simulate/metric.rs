//! How good a copy is, cycle by cycle: ChangeRate, freshness, staleness, age, NDCG.

use serde::Serialize;

use super::truth::Truth;

/// What a cycle found, and how good the copy was after it, over the pages that compete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CycleFigures {
    pub cycle: u32,
    pub pages: usize,
    pub visits: usize,
    /// Visits that found a change.
    pub changed: usize,
    /// Pages whose copy is what the page says.
    pub fresh: usize,
    /// The sum of divergences between copies and pages.
    pub staleness: f64,
    /// Moments since the first change not seen, summed; 0 for a fresh copy.
    pub age: f64,
    /// Weights of all pages, and of the fresh ones.
    pub weight: f64,
    pub fresh_weight: f64,
    /// How well the order of the visits was: gains of the changed ones, discounted by rank, over the best that could be
    /// had (Järvelin & Kekäläinen 2002), with the natural logarithm as in GP4C.
    pub ndcg: f64,
    #[serde(skip)]
    gain: f64,
    #[serde(skip)]
    best_gain: f64,
}

impl CycleFigures {
    /// Where only one figure is known: a bound on the staleness.
    pub fn of_staleness(staleness: f64) -> Self {
        Self { pages: 1, staleness, ..Self::default() }
    }

    /// A visit of that rank, from 0 on.
    pub fn visited(&mut self, rank: usize, changed: bool) {
        self.visits += 1;
        self.changed += usize::from(changed);
        if changed {
            self.gain += discount(rank);
        }
    }
}

/// What a visit of that rank counts, from 0 on.
pub fn discount(rank: usize) -> f64 {
    1.0 / (rank as f64 + 2.0).ln()
}

/// Figures over many cycles, each pooled over all pages and cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    pub change_rate: f64,
    pub freshness: f64,
    pub staleness: f64,
    /// In moments of the truth.
    pub age: f64,
    pub weighted_freshness: f64,
    pub ndcg: f64,
    pub requests: u64,
}

impl Figures {
    pub fn of(cycles: &[CycleFigures]) -> Self {
        let sum = |of: &dyn Fn(&CycleFigures) -> f64| cycles.iter().map(of).sum::<f64>();
        let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
        let (pages, visits) = (sum(&|cycle| cycle.pages as f64), sum(&|cycle| cycle.visits as f64));
        Self {
            change_rate: share(sum(&|cycle| cycle.changed as f64), visits),
            freshness: share(sum(&|cycle| cycle.fresh as f64), pages),
            staleness: share(sum(&|cycle| cycle.staleness), pages),
            age: share(sum(&|cycle| cycle.age), pages),
            weighted_freshness: share(sum(&|cycle| cycle.fresh_weight), sum(&|cycle| cycle.weight)),
            ndcg: share(
                sum(&|cycle| if cycle.visits > 0 { cycle.ndcg } else { 0.0 }),
                sum(&|cycle| f64::from(u8::from(cycle.visits > 0))),
            ),
            requests: visits as u64,
        }
    }
}

/// Keeps account of every copy, event by event.
#[derive(Debug)]
pub struct Ledger<'a> {
    truth: &'a Truth,
    /// The text that is held of each page, and that it has.
    held: Vec<u32>,
    live: Vec<u32>,
    apart: Vec<f64>,
    /// The cycle since which the copy is stale; 0 for a fresh one, as nothing changes before the first.
    stale_since: Vec<u32>,
    counts: Vec<bool>,
    sums: CycleFigures,
    /// Cycles since which copies that count are stale, summed.
    since: f64,
    discounts: Vec<f64>,
}

impl<'a> Ledger<'a> {
    pub fn new(truth: &'a Truth) -> Self {
        let pages = truth.pages();
        Self {
            truth,
            held: vec![0; pages],
            live: vec![0; pages],
            apart: vec![0.0; pages],
            stale_since: vec![0; pages],
            counts: vec![false; pages],
            sums: CycleFigures::default(),
            since: 0.0,
            discounts: vec![0.0],
        }
    }

    pub fn first_copy(&mut self, page: u32, cycle: u32) {
        let text = self.truth.text(page, cycle);
        let at = page as usize;
        if let (Some(held), Some(live)) = (self.held.get_mut(at), self.live.get_mut(at)) {
            (*held, *live) = (text, text);
        }
    }

    /// The page has another text from this cycle on.
    pub fn changes(&mut self, page: u32, cycle: u32) {
        let text = self.truth.text(page, cycle);
        if let Some(live) = self.live.get_mut(page as usize) {
            *live = text;
        }
        self.settle(page, cycle);
    }

    /// Takes a new copy; did it differ from the one held?
    pub fn visit(&mut self, page: u32, cycle: u32) -> bool {
        let at = page as usize;
        let (Some(held), Some(live)) = (self.held.get_mut(at), self.live.get(at)) else { return false };
        let changed = *held != *live;
        if changed {
            *held = *live;
            self.settle(page, cycle);
        }
        changed
    }

    /// From here on the page counts.
    pub fn counts(&mut self, page: u32) {
        let at = page as usize;
        if let Some(counts) = self.counts.get_mut(at).filter(|counts| !**counts) {
            *counts = true;
            self.sums.pages += 1;
            self.sums.weight += self.truth.weights.get(at).copied().unwrap_or(1.0);
            self.add(page, 1.0);
        }
    }

    pub fn counting(&self) -> usize {
        self.sums.pages
    }

    /// Before the visits of a cycle.
    pub fn open(&mut self, cycle: u32, visits: usize) -> CycleFigures {
        let best = visits.min(self.sums.pages - self.sums.fresh);
        while self.discounts.len() <= best {
            let rank = self.discounts.len() - 1;
            self.discounts.push(self.discounts.last().copied().unwrap_or(0.0) + discount(rank));
        }
        CycleFigures {
            cycle,
            best_gain: self.discounts.get(best).copied().unwrap_or(0.0),
            ..CycleFigures::default()
        }
    }

    /// Between two cycles.
    pub fn between(&self, moment: u32) -> CycleFigures {
        self.close(CycleFigures { cycle: moment, ..CycleFigures::default() }, moment)
    }

    /// After them.
    pub fn close(&self, figures: CycleFigures, cycle: u32) -> CycleFigures {
        let CycleFigures { pages, fresh, staleness, weight, fresh_weight, .. } = self.sums;
        let age = f64::from(cycle) * (pages - fresh) as f64 - self.since;
        let ndcg = if figures.best_gain > 0.0 { figures.gain / figures.best_gain } else { 1.0 };
        // Sums of many small numbers, some taken off again, may fall below nothing by a hair.
        CycleFigures {
            pages,
            fresh,
            staleness: staleness.max(0.0),
            age,
            weight,
            fresh_weight,
            ndcg,
            ..figures
        }
    }

    /// Holds the copy against the page again.
    fn settle(&mut self, page: u32, cycle: u32) {
        let at = page as usize;
        let counts = self.counts.get(at).copied().unwrap_or(false);
        if counts {
            self.add(page, -1.0);
        }
        let (Some(held), Some(live)) = (self.held.get(at), self.live.get(at)) else { return };
        let (is_stale, apart) = (held != live, self.truth.divergence(page, *held, *live));
        if let (Some(place), Some(since)) = (self.apart.get_mut(at), self.stale_since.get_mut(at)) {
            // Texts that differ in order only are apart by nothing, and yet not the same.
            *place = apart;
            *since = match (*since, is_stale) {
                (_, false) => 0,
                (0, true) => cycle,
                (since, true) => since,
            };
        }
        if counts {
            self.add(page, 1.0);
        }
    }

    /// Adds what a page contributes to the sums, or takes it off.
    fn add(&mut self, page: u32, sign: f64) {
        let at = page as usize;
        let since = self.stale_since.get(at).copied().unwrap_or(0);
        let is_stale = since > 0;
        self.sums.staleness += sign * self.apart.get(at).copied().unwrap_or(0.0);
        if is_stale {
            self.since += sign * f64::from(since);
        } else {
            self.sums.fresh = self.sums.fresh.saturating_add_signed(sign as isize);
            self.sums.fresh_weight += sign * self.truth.weights.get(at).copied().unwrap_or(1.0);
        }
    }
}
