//! How good copies are, cycle by cycle: ChangeRate, freshness, staleness, age, NDCG, quality of search results.

use serde::Serialize;

use super::truth::Truth;

/// The figures of one cycle, over the pages that compete: its visits, and how good the copies were after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CycleFigures {
    /// The moment.
    pub cycle: u32,
    /// Pages that compete.
    pub pages: usize,
    /// Visits of the cycle.
    pub visits: usize,
    /// Requests of the cycle for lists of signals.
    pub readings: usize,
    /// Visits that found a change.
    pub changed: usize,
    /// Pages whose copy has the text that the page has.
    pub fresh: usize,
    /// The sum of divergences between copies and pages.
    pub staleness: f64,
    /// The sum of the ages of copies: moments since the first change that the copy lacks, 0 for a fresh copy.
    pub age: f64,
    /// The sum of the weights of all pages.
    pub weight: f64,
    /// The sum of the weights of the fresh ones.
    pub fresh_weight: f64,
    /// The sum of weight × divergence.
    pub stale_weight: f64,
    /// How good the order of the visits was: the gains of visits that found a change, discounted by rank, over those of the
    /// best order (Järvelin & Kekäläinen 2002); with the natural logarithm, as in GP4C.
    pub ndcg: f64,
    /// The quality of search results after the visits, 0 to 1 (Pandey & Olston 2005, eq. 5); `None` without queries, or if none has a result.
    pub quality: Option<f64>,
    #[serde(skip)]
    gain: f64,
    #[serde(skip)]
    best_gain: f64,
}

impl CycleFigures {
    /// Figures of which only the staleness is known: a bound on it.
    pub(crate) fn of_staleness(staleness: f64) -> Self {
        Self { pages: 1, staleness, ..Self::default() }
    }

    /// Counts a visit. The first of a cycle has rank 0.
    pub fn visited(&mut self, rank: usize, changed: bool) {
        self.visits += 1;
        self.changed += usize::from(changed);
        if changed {
            self.gain += discount(rank);
        }
    }
}

/// The weight of a visit of that rank in the NDCG. The first has rank 0.
pub(crate) fn discount(rank: usize) -> f64 {
    1.0 / (rank as f64 + 2.0).ln()
}

/// Figures over many cycles, pooled over all pages and cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Visits that found a change ÷ visits (Santos et al. 2013).
    pub change_rate: f64,
    /// The share of copies that are fresh.
    pub freshness: f64,
    /// The mean divergence between copies and pages.
    pub staleness: f64,
    /// The mean age of copies, in moments of the truth.
    pub age: f64,
    /// The share of copies that are fresh, by weight.
    pub weighted_freshness: f64,
    /// The mean divergence between copies and pages, by weight: eq. 1 and 2 of Olston & Pandey 2008. They divide by the number
    /// of pages and lack 1/(t₂ − t₁); here it is Σ W·D ÷ Σ W, the same if the mean weight is 1.
    pub weighted_staleness: f64,
    /// The mean NDCG of cycles with visits.
    pub ndcg: f64,
    /// The mean quality of search results after the visits of a cycle, 0 to 1 (Pandey & Olston 2005, eq. 5); `None` without queries, or if
    /// none has a result.
    pub quality: Option<f64>,
    /// Visits, and lists of signals that were read.
    pub requests: u64,
}

impl Figures {
    /// Pools the figures of cycles.
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
            weighted_staleness: share(sum(&|cycle| cycle.stale_weight), sum(&|cycle| cycle.weight)),
            ndcg: share(
                sum(&|cycle| if cycle.visits > 0 { cycle.ndcg } else { 0.0 }),
                sum(&|cycle| f64::from(u8::from(cycle.visits > 0))),
            ),
            quality: mean_known(cycles.iter().map(|cycle| cycle.quality)),
            requests: visits as u64 + cycles.iter().map(|cycle| cycle.readings as u64).sum::<u64>(),
        }
    }
}

/// The mean of those that are known; `None` if none is.
pub(crate) fn mean_known(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (sum, count) = values.flatten().fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Keeps the figures up to date, change by change and visit by visit.
#[derive(Debug)]
pub struct Ledger<'a> {
    truth: &'a Truth,
    /// For each page: the text of its copy, and the text that it has.
    held: Vec<u32>,
    live: Vec<u32>,
    apart: Vec<f64>,
    /// The cycle since which the copy is stale. 0 for a fresh copy: no page changes at cycle 0.
    stale_since: Vec<u32>,
    counts: Vec<bool>,
    /// For each page: was a copy taken?
    has_copy: Vec<bool>,
    /// The quality of search results, until a copy or a page is another.
    quality: Option<Option<f64>>,
    sums: CycleFigures,
    /// The sum of `stale_since` over pages that count.
    since: f64,
    discounts: Vec<f64>,
}

impl<'a> Ledger<'a> {
    /// No copy was taken yet.
    pub fn new(truth: &'a Truth) -> Self {
        let pages = truth.pages();
        Self {
            truth,
            held: vec![0; pages],
            live: vec![0; pages],
            apart: vec![0.0; pages],
            stale_since: vec![0; pages],
            counts: vec![false; pages],
            has_copy: vec![false; pages],
            quality: None,
            sums: CycleFigures::default(),
            since: 0.0,
            discounts: vec![0.0],
        }
    }

    /// Takes the first copy of a page.
    pub(crate) fn first_copy(&mut self, page: u32, cycle: u32) {
        let text = self.truth.text(page, cycle);
        let at = page as usize;
        if let (Some(held), Some(live)) = (self.held.get_mut(at), self.live.get_mut(at)) {
            (*held, *live) = (text, text);
        }
        if let Some(has_copy) = self.has_copy.get_mut(at) {
            *has_copy = true;
        }
        self.quality = None;
    }

    /// The page changes at this cycle.
    pub fn changes(&mut self, page: u32, cycle: u32) {
        let text = self.truth.text(page, cycle);
        if let Some(live) = self.live.get_mut(page as usize) {
            *live = text;
        }
        self.settle(page, cycle);
    }

    /// Takes a new copy. Does it differ from the one held?
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

    /// The page counts from now on.
    pub fn counts(&mut self, page: u32) {
        let at = page as usize;
        if let Some(counts) = self.counts.get_mut(at).filter(|counts| !**counts) {
            *counts = true;
            self.sums.pages += 1;
            self.sums.weight += self.truth.weights.get(at).copied().unwrap_or(1.0);
            self.add(page, 1.0);
        }
    }

    /// The quality of search results among all copies, if queries are replayed too.
    pub(crate) fn quality(&mut self) -> Option<f64> {
        let searched = self.truth.searched.as_ref()?;
        let copies = (0..).zip(&self.held).zip(&self.live).zip(&self.has_copy);
        let copies =
            copies.filter(|(_, has_copy)| **has_copy).map(|(((page, held), live), _)| (page, *held, *live));
        *self.quality.get_or_insert_with(|| searched.quality(copies))
    }

    /// How many pages count.
    pub(crate) fn counting(&self) -> usize {
        self.sums.pages
    }

    /// Begins a cycle, before its visits.
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

    /// The figures of a moment between two cycles.
    pub fn between(&self, moment: u32) -> CycleFigures {
        self.close(CycleFigures { cycle: moment, ..CycleFigures::default() }, moment)
    }

    /// Ends a cycle, after its visits.
    pub fn close(&self, figures: CycleFigures, cycle: u32) -> CycleFigures {
        let CycleFigures { pages, fresh, staleness, weight, fresh_weight, stale_weight, .. } = self.sums;
        let age = f64::from(cycle) * (pages - fresh) as f64 - self.since;
        let ndcg = if figures.best_gain > 0.0 { figures.gain / figures.best_gain } else { 1.0 };
        // Sums of many small numbers, from which some are subtracted again, may end a little below 0.
        CycleFigures {
            pages,
            fresh,
            staleness: staleness.max(0.0),
            age,
            weight,
            fresh_weight,
            stale_weight: stale_weight.max(0.0),
            ndcg,
            ..figures
        }
    }

    /// Compares the copy with the page again.
    fn settle(&mut self, page: u32, cycle: u32) {
        self.quality = None;
        let at = page as usize;
        let counts = self.counts.get(at).copied().unwrap_or(false);
        if counts {
            self.add(page, -1.0);
        }
        let (Some(held), Some(live)) = (self.held.get(at), self.live.get(at)) else { return };
        let (is_stale, apart) = (held != live, self.truth.divergence(page, *held, *live));
        if let (Some(place), Some(since)) = (self.apart.get_mut(at), self.stale_since.get_mut(at)) {
            // Texts that differ only in the order of fragments have divergence 0, and yet are not the same.
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

    /// Adds a page to the sums, or subtracts it.
    fn add(&mut self, page: u32, sign: f64) {
        let at = page as usize;
        let since = self.stale_since.get(at).copied().unwrap_or(0);
        let is_stale = since > 0;
        let apart = self.apart.get(at).copied().unwrap_or(0.0);
        let weight = self.truth.weights.get(at).copied().unwrap_or(1.0);
        self.sums.staleness += sign * apart;
        self.sums.stale_weight += sign * weight * apart;
        if is_stale {
            self.since += sign * f64::from(since);
        } else {
            self.sums.fresh = self.sums.fresh.saturating_add_signed(sign as isize);
            self.sums.fresh_weight += sign * weight;
        }
    }
}
