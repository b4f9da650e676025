//! How often each page should be visited, given its change rate and the visits a day.
//!
//! Comes in: pages with their change rates and weights, and a budget of visits a day. Goes out: the visits a day of each page,
//! which spend the budget, and the multiplier, the worth of one more visit a day. What must stay true: no other rates within the
//! budget do better, and the order of the pages does not matter.

use super::objective::Objective;
use crate::numeric::root;

/// A page that visits are to be allotted to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watched {
    /// Changes a day. A page with 0 never changes, is always fresh, and gets no visits. A page of weight 0, or with a number that is
    /// not a number, gets none either.
    pub change_rate: f64,
    /// Importance; 1 is an ordinary page.
    pub weight: f64,
}

/// The cost of a visit to a page, and the bounds of its crawl rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisitTerms {
    /// The part of the budget that a visit costs; a value that is not above 0 counts as 1.
    pub cost: f64,
    /// The least visits a day.
    pub least: f64,
    /// The most visits a day.
    pub most: f64,
}

impl Default for VisitTerms {
    fn default() -> Self {
        Self { cost: 1.0, least: 0.0, most: f64::INFINITY }
    }
}

/// The crawl rate of each page, in the order of the pages.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlRates {
    /// Visits a day.
    pub rates: Vec<f64>,
    /// The worth of one more unit of budget a day; `None` where that has no meaning.
    pub multiplier: Option<f64>,
}

/// The crawl rates that make the objective largest within `budget` visits a day.
///
/// Without a page that changes and has a weight, the budget is not spent.
pub fn optimal(objective: Objective, pages: &[Watched], budget: f64) -> CrawlRates {
    if objective == Objective::Poisson {
        return poisson(pages, budget);
    }
    // Without terms there are no least rates that the budget could fail to pay for.
    let nothing = || CrawlRates { rates: vec![0.0; pages.len()], multiplier: None };
    optimal_under(objective, pages, &[], budget).unwrap_or_else(nothing)
}

/// Are visits to the page worth anything?
fn changes(page: &Watched) -> bool {
    page.weight > 0.0 && page.change_rate > 0.0
}

/// Products and ratios of numbers within this of 1 stay finite.
const VAST: f64 = 1e50;

impl Watched {
    /// The page with numbers that are safe to calculate with: not-a-number and negative numbers become 0, vast and tiny ones are
    /// clamped.
    fn bounded(&self) -> Self {
        let bound = |value: f64| if value > 0.0 { value.clamp(1.0 / VAST, VAST) } else { 0.0 };
        Self { change_rate: bound(self.change_rate), weight: bound(self.weight) }
    }
}

fn bounded_budget(budget: f64) -> f64 {
    if budget > 1.0 / VAST { budget.min(VAST) } else { 0.0 }
}

/// p = √(w Δ/μ) − Δ for the pages with w/Δ > μ, else 0, in O(n log n).
///
/// In descending order of w/Δ the pages that get visits are the first few; of any number of them the
/// multiplier is known, 1/√μ = (B + Σ Δ)/Σ √(w Δ), and the number is right when the next page has w/Δ ≤ μ.
fn poisson(pages: &[Watched], budget: f64) -> CrawlRates {
    let pages: Vec<Watched> = pages.iter().map(Watched::bounded).collect();
    let mut order: Vec<&Watched> = pages.iter().filter(|page| changes(page)).collect();
    // By the ratios, not by products of two pages: rounded products are no order.
    let ratio = |page: &Watched| page.weight / page.change_rate;
    order.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    let budget = bounded_budget(budget);
    // ν = 1/√μ
    let (mut rates_sum, mut roots_sum, mut nu) = (0.0, 0.0, None::<f64>);
    for page in &order {
        if nu.is_some_and(|nu| nu * nu * page.weight <= page.change_rate) {
            break;
        }
        rates_sum += page.change_rate;
        roots_sum += (page.weight * page.change_rate).sqrt();
        nu = Some((budget + rates_sum) / roots_sum);
    }
    let rate = |page: &Watched| match nu {
        Some(nu) if changes(page) && budget > 0.0 => {
            (nu * (page.weight * page.change_rate).sqrt() - page.change_rate).max(0.0)
        }
        _ => 0.0,
    };
    let multiplier = nu.map_or(0.0, |nu| 1.0 / (nu * nu));
    CrawlRates { rates: pages.iter().map(rate).collect(), multiplier: Some(multiplier) }
}

/// [`optimal`] with the terms of each page; pages beyond the end of `terms` have the default. The result is `None` if the least
/// rates alone cost more than the budget. If all pages have their most, the rest of the budget is not spent.
///
/// Spending rises as the multiplier falls, so a search finds the right one. With visits at even distances, a page's rate jumps
/// from 0 to a fortieth of its change rate while the multiplier moves by less than a float can express. Then the rates on both
/// sides of the jump are mixed so that the budget is met.
pub fn optimal_under(
    objective: Objective,
    pages: &[Watched],
    terms: &[VisitTerms],
    budget: f64,
) -> Option<CrawlRates> {
    let budget = bounded_budget(budget);
    let priced: Vec<Priced> = (0..)
        .zip(pages)
        .map(|(at, page): (usize, _)| Priced::new(page.bounded(), terms.get(at).copied().unwrap_or_default()))
        .collect();
    let cost_of =
        |rates: &[f64]| -> f64 { priced.iter().zip(rates).map(|(page, rate)| page.terms.cost * rate).sum() };
    let least: Vec<f64> = priced.iter().map(|page| page.terms.least).collect();
    if cost_of(&least) > budget * (1.0 + 1e-12) {
        return None;
    }
    let largest = priced.iter().map(|page| page.log_worth).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY || cost_of(&least) >= budget {
        // No page is worth a visit, or no budget is left.
        let multiplier = (objective != Objective::Harmonic).then(|| largest.exp());
        return Some(CrawlRates { rates: least, multiplier });
    }
    let rates_at = |log_multiplier: f64| -> Vec<f64> {
        priced.iter().map(|page| page.rate(objective, log_multiplier)).collect()
    };
    let spent = |x: f64| -> f64 {
        priced.iter().map(|page| page.terms.cost * page.rate(objective, largest - x)).sum()
    };
    // The logarithm of the spending is nearly a straight line, which suits the search.
    let excess = |x: f64| spent(x).max(f64::MIN_POSITIVE).ln() - budget.ln();
    // At this distance y is 0 in floats.
    const FAR: f64 = 2000.0;
    if spent(FAR) <= budget {
        return Some(CrawlRates { rates: rates_at(largest - FAR), multiplier: Some(0.0) });
    }
    const ENOUGH: f64 = 1e-14;
    let bracket = root::bracket_of_rising(0.0, 1.0, excess).narrowed(ENOUGH, excess);
    let best = largest - bracket.best();
    let mut rates = rates_at(best);
    if cost_of(&rates) != budget && bracket.values.0.abs().min(bracket.values.1.abs()) > ENOUGH {
        let ends = [bracket.ends.0.min(bracket.ends.1), bracket.ends.0.max(bracket.ends.1)];
        let [fewer, more] = ends.map(|x| rates_at(largest - x));
        let (low, high) = (cost_of(&fewer), cost_of(&more));
        let part = ((budget - low) / (high - low)).clamp(0.0, 1.0);
        rates = fewer.iter().zip(&more).map(|(fewer, more)| fewer + part * (more - fewer)).collect();
    }
    Some(CrawlRates { rates, multiplier: Some(best.exp()) })
}

/// The visits a day of one page if one more visit is worth `multiplier`: the rate that [`optimal_under`] gives it, before bounds.
pub(super) fn crawl_rate(objective: Objective, page: Watched, multiplier: f64) -> f64 {
    let rate =
        Priced::new(page.bounded(), VisitTerms::default()).rate(objective, multiplier.max(1.0 / VAST).ln());
    if rate.is_finite() { rate } else { VAST }
}

/// A page with its terms.
struct Priced {
    change_rate: f64,
    /// ln(w / (c Δ)): at this multiplier and above the page gets no visits. −∞ if it never gets any.
    log_worth: f64,
    terms: VisitTerms,
}

impl Priced {
    fn new(page: Watched, terms: VisitTerms) -> Self {
        let cost = if terms.cost > 0.0 && terms.cost.is_finite() { terms.cost } else { 1.0 };
        let terms = VisitTerms { cost, ..terms };
        let log_worth = if changes(&page) {
            page.weight.ln() - page.change_rate.ln() - terms.cost.ln()
        } else {
            f64::NEG_INFINITY
        };
        Self { change_rate: page.change_rate, log_worth, terms }
    }

    fn rate(&self, objective: Objective, log_multiplier: f64) -> f64 {
        if self.log_worth == f64::NEG_INFINITY {
            return self.terms.least;
        }
        let rate = self.change_rate * objective.share(log_multiplier - self.log_worth);
        rate.min(self.terms.most).max(self.terms.least)
    }
}

#[cfg(test)]
#[path = "solve_tests.rs"]
mod tests;
