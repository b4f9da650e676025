//! Choosers that know what no crawler can: how far anyone could go.
//!
//! Each gives a page a score from the truth; the best k are visited. [`Oracle::Plan`] goes by a plan that is optimal at one
//! price a visit, found by dynamic programming; the price that makes the bound highest is its price, and [`bound`] is the
//! least staleness that any schedule with this budget can reach (Lagrangian duality).

use super::truth::Truth;
use super::{Chooser, Terms};
use crate::longevity::since::Since;

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// Which pages never change after their warm-up: these come last, the others in turn.
    KnownNonstatic,
    /// How far each page is from an earlier self after so many cycles, in the mean over its whole life: ranked by the
    /// utility of that curve.
    KnownCurve,
    /// The same of whether it has changed at all.
    KnownCurveHolistic,
    /// How far the page is from the copy now.
    Now,
    /// The utility of what the page did since its last visit.
    Utility,
    /// How far the page is from the copy, times the cycles to its next change.
    Future,
    /// The whole future, planned at one price.
    Plan,
}

impl Oracle {
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

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|oracle| oracle.name() == name)
    }
}

/// An oracle at work.
pub struct ByOracle<'a> {
    oracle: Oracle,
    truth: &'a Truth,
    terms: Terms,
    /// Of each page: the last visit.
    last: Vec<u32>,
    competing: Vec<u32>,
    /// Of each page that has one: its utility by cycles since the last visit.
    curves: Vec<Vec<f32>>,
    plans: Vec<PagePlan>,
}

/// Below any age.
const LAST: f64 = -1e9;

impl<'a> ByOracle<'a> {
    pub fn new(oracle: Oracle, truth: &'a Truth, terms: Terms) -> Self {
        let pages = 0..truth.pages() as u32;
        let curves = match oracle {
            Oracle::KnownCurve => pages.map(|page| curve(truth, page, false)).collect(),
            Oracle::KnownCurveHolistic => pages.map(|page| curve(truth, page, true)).collect(),
            _ => Vec::new(),
        };
        let plans = if oracle == Oracle::Plan { bound(truth, &terms).1 } else { Vec::new() };
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
                let mut since = Since::default();
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

impl Chooser for ByOracle<'_> {
    fn born(&mut self, page: u32, cycle: u32, _weight: f64) {
        self.visited(page, cycle, false);
    }

    fn visited(&mut self, page: u32, cycle: u32, _changed: bool) {
        if let Some(last) = self.last.get_mut(page as usize) {
            *last = cycle;
        }
    }

    fn competes(&mut self, page: u32) {
        self.competing.push(page);
    }

    fn choose(&mut self, cycle: u32, visits: usize) -> Vec<u32> {
        let last = |page: u32| self.last.get(page as usize).copied().unwrap_or(0);
        let mut ranked: Vec<(f64, u32, u32)> =
            self.competing.iter().map(|page| (self.score(*page, cycle), last(*page), *page)).collect();
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        ranked.truncate(visits);
        ranked.into_iter().map(|(_, _, page)| page).collect()
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
    let (mut utility, mut since, mut last, mut best) = (vec![0.0_f32], Since::default(), 0.0, 0.0_f64);
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

/// What is left to pay from each cycle on, by the text that is held, if every visit has a price.
#[derive(Clone, Debug, Default)]
pub struct PagePlan {
    /// The first cycle it competes in.
    first: u32,
    texts: usize,
    /// Cycle after cycle, text after text.
    cost: Vec<f32>,
}

impl PagePlan {
    fn of(truth: &Truth, page: u32, terms: &Terms, price: f64) -> Self {
        let first = first_of(truth, page, terms);
        let texts = truth.steps(page).iter().map(|step| step.text as usize + 1).max().unwrap_or(1);
        let cycles = truth.cycles.saturating_sub(first) as usize;
        let mut plan = Self { first, texts, cost: vec![0.0; (cycles + 1) * texts] };
        for place in (0..cycles).rev() {
            let live = truth.text(page, first + place as u32);
            let fresh = price + f64::from(plan.at(place + 1, live));
            for held in 0..texts as u32 {
                let wait = truth.divergence(page, held, live) + f64::from(plan.at(place + 1, held));
                if let Some(cost) = plan.cost.get_mut(place * texts + held as usize) {
                    *cost = wait.min(fresh) as f32;
                }
            }
        }
        plan
    }

    fn at(&self, place: usize, text: u32) -> f32 {
        self.cost.get(place * self.texts + text as usize).copied().unwrap_or(0.0)
    }

    /// What waiting at this cycle costs more than a visit, its price aside.
    fn loss(&self, truth: &Truth, page: u32, held: u32, cycle: u32) -> f64 {
        let Some(place) = cycle.checked_sub(self.first) else { return 0.0 };
        let live = truth.text(page, cycle);
        let next = place as usize + 1;
        truth.divergence(page, held, live) + f64::from(self.at(next, held)) - f64::from(self.at(next, live))
    }
}

/// The first moment at which a page competes.
fn first_of(truth: &Truth, page: u32, terms: &Terms) -> u32 {
    truth.born.get(page as usize).copied().unwrap_or(0) + (terms.warm_up + 1) * terms.every
}

/// Prices that are tried: evenly spread over orders of magnitude.
const PRICES: i32 = 48;
const LEAST_PRICE: f64 = 0.02;
const MOST_PRICE: f64 = 60.0;

/// The least mean staleness that any schedule with this budget can reach, and the plans at the price that shows it.
pub fn bound(truth: &Truth, terms: &Terms) -> (f64, Vec<PagePlan>) {
    let first = |page: u32| first_of(truth, page, terms);
    let pages = 0..truth.pages() as u32;
    let competing = |cycle: u32| pages.clone().filter(|page| first(*page) <= cycle).count();
    let counts: Vec<usize> = (0..truth.cycles).map(competing).collect();
    let page_cycles: usize = counts.iter().sum();
    let cycles = counts.iter().step_by(terms.every.max(1) as usize);
    let visits: usize = cycles.map(|count| terms.visits(*count)).sum();
    let mut best: (f64, Vec<PagePlan>) = (0.0, Vec::new());
    for step in 0..PRICES {
        let share = f64::from(step) / f64::from(PRICES - 1);
        let price = LEAST_PRICE * (MOST_PRICE / LEAST_PRICE).powf(share);
        let plans: Vec<PagePlan> =
            pages.clone().map(|page| PagePlan::of(truth, page, terms, price)).collect();
        // After its warm-up a page's copy is of the cycle before.
        let start = |page: u32, plan: &PagePlan| {
            f64::from(plan.at(0, truth.text(page, first(page).saturating_sub(terms.every))))
        };
        let cost: f64 = pages.clone().zip(&plans).map(|(page, plan)| start(page, plan)).sum();
        let least = (cost - price * visits as f64) / page_cycles.max(1) as f64;
        if best.1.is_empty() || least > best.0 {
            best = (least, plans);
        }
    }
    // At the lowest price that is tried visits may cost more than all staleness; and no staleness is below nothing.
    (best.0.max(0.0), best.1)
}
