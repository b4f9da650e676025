//! Oracles: choosers that know the truth. They show how far any policy could get.
//!
//! Each gives a page a score by the truth, and the best k are visited. [`Oracle::Plan`] follows a plan that is optimal if
//! every visit has a price, found by dynamic programming. Its price is the one that makes the bound highest, and [`bound`]
//! is the least staleness that any schedule with this budget can reach (Lagrangian duality).

use super::truth::Truth;
use super::{ReplayTerms, best_pages};
use crate::longevity::since_refresh::SinceRefresh;

/// An oracle, by what it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// Knows which pages never change after their warm-up. These come last; the others take turns.
    KnownNonstatic,
    /// Knows the mean divergence of each page from itself some cycles earlier, over its whole life. Ranks pages by the
    /// utility of that curve.
    KnownCurve,
    /// The same, with any change counting as a whole one.
    KnownCurveHolistic,
    /// Knows the divergence of each page from its copy now.
    Now,
    /// Knows the utility of the changes since the last visit.
    Utility,
    /// Knows the divergence from the copy, and the cycles to the next change. The score is their product.
    Future,
    /// Knows the whole future, and plans at one price a visit.
    Plan,
}

impl Oracle {
    /// All oracles.
    pub const ALL: [Self; 7] = [
        Self::KnownNonstatic,
        Self::KnownCurve,
        Self::KnownCurveHolistic,
        Self::Now,
        Self::Utility,
        Self::Future,
        Self::Plan,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::KnownNonstatic => "known-nonstatic",
            Self::KnownCurve => "known-curve",
            Self::KnownCurveHolistic => "known-curve-holistic",
            Self::Now => "clairvoyant-now",
            Self::Utility => "clairvoyant-utility",
            Self::Future => "clairvoyant-future",
            Self::Plan => "clairvoyant-plan",
        }
    }

    /// The oracle of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|oracle| oracle.name() == name)
    }
}

/// An oracle at work in a replay.
pub struct ByOracle<'a> {
    oracle: Oracle,
    truth: &'a Truth,
    terms: ReplayTerms,
    /// For each page: its last visit.
    last: Vec<u32>,
    competing: Vec<u32>,
    /// For each page, if the oracle uses curves: its utility by cycles since the last visit.
    curves: Vec<Vec<f32>>,
    plans: Vec<PagePlan>,
}

/// Added to the age of pages that come last: they are below all others.
const LAST: f64 = -1e9;

impl<'a> ByOracle<'a> {
    /// Makes an oracle ready.
    pub fn new(oracle: Oracle, truth: &'a Truth, terms: ReplayTerms) -> Self {
        let pages = 0..truth.pages() as u32;
        let curves = match oracle {
            Oracle::KnownCurve => pages.clone().map(|page| curve(truth, page, false)).collect(),
            Oracle::KnownCurveHolistic => pages.clone().map(|page| curve(truth, page, true)).collect(),
            _ => Vec::new(),
        };
        let plans = match oracle {
            Oracle::Plan => {
                let price = bound(truth, &terms).price;
                pages.map(|page| PagePlan::of(truth, page, &terms, price)).collect()
            }
            _ => Vec::new(),
        };
        Self { oracle, truth, terms, last: vec![0; truth.pages()], competing: Vec::new(), curves, plans }
    }

    fn score(&self, page: u32, cycle: u32) -> f64 {
        let last = self.last.get(page as usize).copied().unwrap_or(0);
        let age = cycle - last;
        let (held, live) = (self.truth.text(page, last), self.truth.text(page, cycle));
        let apart = |text: u32| self.truth.divergence(page, held, text);
        match self.oracle {
            Oracle::KnownNonstatic => {
                let born = self.truth.born.get(page as usize).copied().unwrap_or(0);
                let changes = self
                    .truth
                    .steps(page)
                    .last()
                    .is_some_and(|step| step.cycle > born + self.terms.warm_up * self.terms.every);
                if changes { f64::from(age) } else { LAST + f64::from(age) }
            }
            Oracle::KnownCurve | Oracle::KnownCurveHolistic => {
                let curve = self.curves.get(page as usize).map_or(&[][..], Vec::as_slice);
                f64::from(curve.get(age as usize).or(curve.last()).copied().unwrap_or(0.0))
            }
            Oracle::Now => apart(live),
            Oracle::Utility => {
                let mut since = SinceRefresh::default();
                (last..cycle).for_each(|cycle| since.pass(1.0, apart(self.truth.text(page, cycle))));
                since.utility(apart(live))
            }
            Oracle::Future => {
                let steps = self.truth.steps(page);
                let next = steps.get(steps.partition_point(|step| step.cycle <= cycle));
                apart(live) * f64::from(next.map_or(self.truth.cycles, |step| step.cycle) - cycle)
            }
            Oracle::Plan => {
                self.plans.get(page as usize).map_or(0.0, |plan| plan.loss(self.truth, page, held, cycle))
            }
        }
    }
}

impl ByOracle<'_> {
    /// A copy of the page is taken.
    pub(super) fn visited(&mut self, page: u32, cycle: u32) {
        if let Some(last) = self.last.get_mut(page as usize) {
            *last = cycle;
        }
    }

    pub(super) fn competes(&mut self, page: u32) {
        self.competing.push(page);
    }

    pub(super) fn choose(&mut self, cycle: u32, visits: usize) -> Vec<u32> {
        let last = |page: u32| self.last.get(page as usize).copied().unwrap_or(0);
        let scored = self.competing.iter().map(|page| (self.score(*page, cycle), last(*page), *page));
        best_pages(scored, visits)
    }
}

/// The utility of a page's mean curve, by cycles since the last visit: the running maximum of t·D̄(t) − Σ D̄(i), 0 < i < t.
fn curve(truth: &Truth, page: u32, holistic: bool) -> Vec<f32> {
    let born = truth.born.get(page as usize).copied().unwrap_or(0);
    let life: Vec<u32> = (born..truth.cycles).map(|cycle| truth.text(page, cycle)).collect();
    let apart = |one: u32, other: u32| match holistic {
        true => f64::from(u8::from(one != other)),
        false => truth.divergence(page, one, other),
    };
    let (mut utility, mut since, mut last, mut best) = (vec![0.0_f32], SinceRefresh::default(), 0.0, 0.0_f64);
    for age in 1..life.len() {
        let pairs = life.iter().zip(life.iter().skip(age));
        let mean = pairs.map(|(one, other)| apart(*one, *other)).sum::<f64>() / (life.len() - age) as f64;
        since.pass(1.0, last);
        best = best.max(since.utility(mean));
        last = mean;
        utility.push(best as f32);
    }
    utility
}

/// The future of a page, from the first moment at which it competes.
struct Future {
    first: u32,
    texts: usize,
    /// Its text at each moment.
    live: Vec<u32>,
    /// The divergence of each text from each other one, row after row.
    apart: Vec<f32>,
}

impl Future {
    fn of(truth: &Truth, page: u32, terms: &ReplayTerms) -> Self {
        let first = first_of(truth, page, terms);
        let texts = truth.steps(page).iter().map(|step| step.text + 1).max().unwrap_or(1);
        let live = (first..truth.cycles).map(|cycle| truth.text(page, cycle)).collect();
        let row = |one: u32| (0..texts).map(move |other| truth.divergence(page, one, other) as f32);
        Self { first, texts: texts as usize, live, apart: (0..texts).flat_map(row).collect() }
    }

    /// Goes back from the end to the first moment. At each it calls `show` with the least cost from there on, by the text of
    /// the copy: the sum of divergences, and of the prices of visits. At the end the cost is 0.
    fn backwards(&self, price: f64, mut show: impl FnMut(&[f64])) {
        let mut left = vec![0.0; self.texts];
        show(&left);
        for live in self.live.iter().rev().map(|text| *text as usize) {
            let fresh = price + left.get(live).copied().unwrap_or(0.0);
            for (left, apart) in left.iter_mut().zip(self.apart.iter().skip(live * self.texts)) {
                *left = (*left + f64::from(*apart)).min(fresh);
            }
            show(&left);
        }
    }

    /// The least cost from the first moment on, if the copy has that text.
    fn cost(&self, price: f64, held: u32) -> f64 {
        let mut cost = 0.0;
        self.backwards(price, |left| cost = left.get(held as usize).copied().unwrap_or(0.0));
        cost
    }
}

/// The least cost from each moment on, by the text of the copy.
#[derive(Clone, Debug, Default)]
struct PagePlan {
    first: u32,
    texts: usize,
    /// From the last moment to the first, text after text. In double precision: for nearly all visits to quiet pages waiting
    /// costs nothing, and in single precision rounding errors would decide which of them are made.
    left: Vec<f64>,
}

/// Losses that differ by less count as equal, so that rounding errors of sums don't break ties.
const SAME_LOSS: f64 = 1e-9;

impl PagePlan {
    fn of(truth: &Truth, page: u32, terms: &ReplayTerms, price: f64) -> Self {
        let future = Future::of(truth, page, terms);
        let mut left = Vec::with_capacity((future.live.len() + 1) * future.texts);
        future.backwards(price, |row| left.extend_from_slice(row));
        Self { first: future.first, texts: future.texts, left }
    }

    /// How much more waiting costs at this cycle than a visit does, not counting the price.
    fn loss(&self, truth: &Truth, page: u32, held: u32, cycle: u32) -> f64 {
        let live = truth.text(page, cycle);
        let from_the_end = truth.cycles.saturating_sub(cycle.max(self.first) + 1) as usize;
        let left =
            |text: u32| self.left.get(from_the_end * self.texts + text as usize).copied().unwrap_or(0.0);
        let loss = truth.divergence(page, held, live) + left(held) - left(live);
        (loss / SAME_LOSS).round() * SAME_LOSS
    }
}

/// The first moment at which a page competes.
fn first_of(truth: &Truth, page: u32, terms: &ReplayTerms) -> u32 {
    truth.born.get(page as usize).copied().unwrap_or(0) + (terms.warm_up + 1) * terms.every
}

/// How many prices are tried: evenly spread over orders of magnitude.
const PRICES: i32 = 48;
const LEAST_PRICE: f64 = 0.02;
const MOST_PRICE: f64 = 60.0;

/// A bound that no schedule can pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The least mean staleness that any schedule with this budget can reach.
    pub staleness: f64,
    /// The price of a visit that gives this bound.
    pub price: f64,
}

/// Finds the bound. At any price it is the cost of an optimal plan, less the price of the visits that the budget allows.
pub fn bound(truth: &Truth, terms: &ReplayTerms) -> Bound {
    let first = |page: u32| first_of(truth, page, terms);
    let pages = 0..truth.pages() as u32;
    let competing = |cycle: u32| pages.clone().filter(|page| first(*page) <= cycle).count();
    let counts: Vec<usize> = (0..truth.cycles).map(competing).collect();
    let page_cycles: usize = counts.iter().sum();
    let cycles = counts.iter().step_by(terms.every.max(1) as usize);
    let visits: usize = cycles.map(|count| terms.visits(*count)).sum();
    let price =
        |step: i32| LEAST_PRICE * (MOST_PRICE / LEAST_PRICE).powf(f64::from(step) / f64::from(PRICES - 1));
    let mut costs: Vec<(f64, f64)> = (0..PRICES).map(|step| (price(step), 0.0)).collect();
    for page in pages.clone() {
        let future = Future::of(truth, page, terms);
        // After the warm-up the copy is one cycle old.
        let held = truth.text(page, first(page).saturating_sub(terms.every));
        for (price, cost) in &mut costs {
            *cost += future.cost(*price, held);
        }
    }
    let least = |(price, cost): (f64, f64)| Bound {
        staleness: (cost - price * visits as f64) / page_cycles.max(1) as f64,
        price,
    };
    let none = Bound { staleness: f64::NEG_INFINITY, price: LEAST_PRICE };
    let better = |best: Bound, next: Bound| if next.staleness > best.staleness { next } else { best };
    let best = costs.into_iter().map(least).fold(none, better);
    // Even at the lowest price visits may cost more than all staleness, which would make the bound negative.
    Bound { staleness: best.staleness.max(0.0), ..best }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{group_of, in_order, terms_of};
    use super::super::{Chooser, Ties, replay};
    use super::*;

    #[test]
    fn a_plan_pays_for_the_visits_that_are_worth_their_price() {
        // Texts 0 0 1 1 2, which have nothing in common; the first cycle that counts is 1, when the copy has text 0.
        let group = group_of(&["0101".to_owned()]);
        let truth = Truth::of(&group, &in_order(&group));
        let terms = terms_of(&group, 0.5, 0, Ties::OlderFirst);
        let future = Future::of(&truth, 0, &terms);
        assert_eq!(future.cost(0.5, 0), 1.0, "visits at 2 and 4");
        assert_eq!(future.cost(1.5, 0), 2.5, "a visit at 2, and a stale cycle");
        assert_eq!(future.cost(10.0, 0), 3.0, "no visit, and three stale cycles");
        // Waiting at 2 makes two stale cycles instead of none.
        let plan = PagePlan::of(&truth, 0, &terms, 1.5);
        let losses: Vec<f64> = (1..5).map(|cycle| plan.loss(&truth, 0, 0, cycle)).collect();
        assert_eq!(losses, [0.0, 2.0, 1.0, 1.0]);
        assert_eq!(plan.loss(&truth, 0, 1, 3), 0.0, "nothing to be had");
    }

    #[test]
    fn no_schedule_passes_the_bound() {
        let pages: Vec<String> =
            (1..9).map(|gap| (1..60).map(|at| if at % gap == 0 { '1' } else { '0' }).collect()).collect();
        let group = group_of(&pages);
        let truth = Truth::of(&group, &in_order(&group));
        for budget in [0.125, 0.25, 0.5] {
            let terms = terms_of(&group, budget, 2, Ties::OlderFirst);
            let least = bound(&truth, &terms).staleness;
            for oracle in Oracle::ALL {
                let cycles = {
                    let mut chooser = Chooser::Oracle(ByOracle::new(oracle, &truth, terms));
                    replay(&truth, &mut chooser, &terms)
                };
                let reached = super::super::metric::Figures::of(&cycles).staleness;
                assert!(reached >= least - 1e-9, "{oracle:?} at {budget}: {reached} for {least}");
            }
        }
    }
}
