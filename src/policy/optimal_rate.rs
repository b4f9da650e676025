//! How often each page should be visited, if its rate of change is known and the visits a day are given.
//!
//! Comes in: pages with their change rates and weights, and a budget of visits a day. Goes out: visits a day
//! for each page, that spend the budget, and the multiplier: what one visit a day more would be worth. What
//! must stay true: no other rates within the budget do better, and the order of the pages does not matter.
//!
//! For all three objectives a page's best crawl rate is its change rate times a function of one number, y =
//! multiplier · cost · change rate / weight. So they share everything but that function,
//! `Objective::share`.

use crate::numeric::gamma_function::{inverse_churn, inverse_churn_of_rest};
use crate::numeric::root;

/// A page to be visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watched {
    /// Changes a day. 0 is a page known never to change, which is always fresh and gets no visits; so does a
    /// page of weight 0, and one whose numbers are none.
    pub change_rate: f64,
    pub weight: f64,
}

/// What visits to a page cost, and between what bounds their rate must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Of the budget, a visit; what is not above 0 counts as 1.
    pub cost: f64,
    pub least: f64,
    pub most: f64,
}

impl Default for Terms {
    fn default() -> Self {
        Self { cost: 1.0, least: 0.0, most: f64::INFINITY }
    }
}

/// What is to be as large as it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// Freshness, with visits at random moments: Σ w p/(p + Δ) (Avrachenkov et al. 2020, eq. 10, after Azar
    /// et al. 2018).
    Poisson,
    /// Freshness, with visits at even distances: Σ w (1 − e^(−Δ/p)) p/Δ (Cho & Garcia-Molina 2003).
    Periodic,
    /// Less of the harmonic cost of unseen changes, −Σ w ln(p/(p + Δ)) (LambdaCrawl, Kolobov et al. 2019).
    /// The other two give up pages that change too fast; this one gives every page that changes some visits.
    Harmonic,
}

impl Objective {
    pub const ALL: [Self; 3] = [Self::Poisson, Self::Periodic, Self::Harmonic];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Periodic => "periodic",
            Self::Harmonic => "harmonic",
        }
    }

    /// The best crawl rate as a share of the change rate, where y = μ c Δ / w, given as its logarithm.
    ///
    /// Poisson: w Δ/(p + Δ)² = μ c, so 1/√y − 1. Periodic: (w/Δ) G(r) = μ c with r = Δ/p, so 1/G⁻¹(y). Both
    /// are 0 from y = 1 on. Harmonic: w Δ/(p (p + Δ)) = μ c, so (√(1 + 4/y) − 1)/2.
    fn share(self, log_y: f64) -> f64 {
        let (y, rest) = (log_y.exp(), -log_y.exp_m1());
        match self {
            Self::Harmonic => 2.0 / (y + (y * (y + 4.0)).sqrt()),
            _ if rest <= 0.0 => 0.0,
            Self::Poisson => rest / (y.sqrt() * (1.0 + y.sqrt())),
            Self::Periodic if y < 0.5 => 1.0 / inverse_churn(y),
            Self::Periodic => 1.0 / inverse_churn_of_rest(rest.ln()),
        }
    }

    /// What a page's copy is worth at a crawl rate, per weight: its freshness, or for the harmonic cost the
    /// logarithm of that, which has no bound below as the visits become rare.
    pub fn value(self, change_rate: f64, crawl_rate: f64) -> f64 {
        match self {
            Self::Harmonic if change_rate <= 0.0 => 0.0,
            Self::Poisson => freshness_of_random_visits(change_rate, crawl_rate),
            Self::Periodic => freshness_of_even_visits(change_rate, crawl_rate),
            Self::Harmonic => -(change_rate / crawl_rate).ln_1p(),
        }
    }
}

/// The share of time that a copy is the same as the page, visited at random moments: p/(p + Δ) (Avrachenkov
/// et al. 2020, §4).
pub fn freshness_of_random_visits(change_rate: f64, crawl_rate: f64) -> f64 {
    if change_rate <= 0.0 { 1.0 } else { crawl_rate / (crawl_rate + change_rate) }
}

/// The same, visited at even distances: (1 − e^(−r))/r with r = Δ/p (Cho & Garcia-Molina 2003).
pub fn freshness_of_even_visits(change_rate: f64, crawl_rate: f64) -> f64 {
    let r = change_rate / crawl_rate;
    if change_rate <= 0.0 {
        1.0
    } else if r.is_finite() {
        -(-r).exp_m1() / r
    } else {
        0.0
    }
}

/// How long ago a copy became stale, on average over time, 0 while it is not, in days: visits at random, Δ/(p
/// (p + Δ)).
pub fn age_of_random_visits(change_rate: f64, crawl_rate: f64) -> f64 {
    change_rate / (crawl_rate * (crawl_rate + change_rate))
}

/// The same at even distances I = 1/p: I/2 − 1/Δ + (1 − e^(−ΔI))/(Δ² I).
pub fn age_of_even_visits(change_rate: f64, crawl_rate: f64) -> f64 {
    let r = change_rate / crawl_rate;
    if r < 1e-3 {
        // The terms nearly cancel: r/6 − r²/24 + r³/120 of the interval.
        return r / crawl_rate * (1.0 / 6.0 - r * (1.0 / 24.0 - r / 120.0));
    }
    (0.5 - 1.0 / r - (-r).exp_m1() / (r * r)) / crawl_rate
}

/// Crawl rates, a page each, in the order of the pages.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlRates {
    /// Visits a day.
    pub rates: Vec<f64>,
    /// What one unit of budget more would be worth, a day; `None` where that has no meaning.
    pub multiplier: Option<f64>,
}

/// The crawl rates that make the objective largest within `budget` visits a day.
///
/// Without a page that changes and has a weight, the budget is not spent.
pub fn optimal(objective: Objective, pages: &[Watched], budget: f64) -> CrawlRates {
    if objective == Objective::Poisson {
        return poisson(pages, budget);
    }
    // Without terms there are none that could not be kept.
    let nothing = || CrawlRates { rates: vec![0.0; pages.len()], multiplier: None };
    optimal_under(objective, pages, &[], budget).unwrap_or_else(nothing)
}

/// Whether visits to the page are worth anything.
fn changes(page: &Watched) -> bool {
    page.weight > 0.0 && page.change_rate > 0.0
}

/// Products and ratios of numbers within this of 1 stay finite.
const VAST: f64 = 1e50;

impl Watched {
    /// Numbers that can be reckoned with: what is none or negative becomes 0, what is vast or tiny less so.
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
    order.sort_by(|a, b| (b.weight * a.change_rate).total_cmp(&(a.weight * b.change_rate)));
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

/// [`optimal`] with costs and bounds, a page each; none means [`Terms::default`]. `None` if the least rates
/// alone cost more than the budget. Beyond what all pages may have, the budget is not spent.
///
/// The spending rises as the multiplier falls, so the right one is found by a search. Where a page begins to
/// get visits at even distances, its rate goes from nothing to a fortieth of its change rate while the
/// multiplier moves by less than a number can say: what is between the two is shared out in proportion.
pub fn optimal_under(
    objective: Objective,
    pages: &[Watched],
    terms: &[Terms],
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
        // No page is worth a visit, or there is none to give.
        let multiplier = (objective != Objective::Harmonic).then(|| largest.exp());
        return Some(CrawlRates { rates: least, multiplier });
    }
    let rates_at = |log_multiplier: f64| -> Vec<f64> {
        priced.iter().map(|page| page.rate(objective, log_multiplier)).collect()
    };
    let spent = |x: f64| -> f64 {
        priced.iter().map(|page| page.terms.cost * page.rate(objective, largest - x)).sum()
    };
    // In logarithms the spending is nearly a straight line.
    let excess = |x: f64| spent(x).max(f64::MIN_POSITIVE).ln() - budget.ln();
    // There y is 0, as far as numbers go.
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

/// Visits a day that one page gets if one more is worth `multiplier`: what [`optimal_under`] gives it, before bounds.
pub fn crawl_rate(objective: Objective, page: Watched, multiplier: f64) -> f64 {
    let rate = Priced::new(page.bounded(), Terms::default()).rate(objective, multiplier.max(1.0 / VAST).ln());
    if rate.is_finite() { rate } else { VAST }
}

/// A page with its terms.
struct Priced {
    change_rate: f64,
    /// ln(w / (c Δ)): the multiplier from which on the page gets no visits. Below all numbers if it never
    /// does.
    log_worth: f64,
    terms: Terms,
}

impl Priced {
    fn new(page: Watched, terms: Terms) -> Self {
        let cost = if terms.cost > 0.0 && terms.cost.is_finite() { terms.cost } else { 1.0 };
        let terms = Terms { cost, ..terms };
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

/// [`optimal`] with a bound on the visits a day to each host, `hosts` being the host of each page, a place in
/// `most`. A host without a bound there has none.
///
/// A host that would be visited too often has its own multiplier, which spends its bound exactly; what it
/// leaves goes to the others. That only makes the others' rates rise, so no host is freed again, and the
/// rounds end.
pub fn optimal_for_hosts(
    objective: Objective,
    pages: &[Watched],
    hosts: &[usize],
    most: &[f64],
    budget: f64,
) -> CrawlRates {
    let host_of = |at: usize| hosts.get(at).copied().unwrap_or(usize::MAX);
    let mut rates = vec![0.0; pages.len()];
    let mut full = vec![false; most.len()];
    let mut left = bounded_budget(budget);
    loop {
        let is_full = |at: &usize| full.get(host_of(*at)).copied().unwrap_or(false);
        let places: Vec<usize> = (0..pages.len()).filter(|at| !is_full(at)).collect();
        let free: Vec<Watched> = places.iter().filter_map(|at| pages.get(*at).copied()).collect();
        let found = optimal(objective, &free, left);
        let mut visits = vec![0.0; most.len()];
        for (at, rate) in places.iter().zip(&found.rates) {
            if let Some(sum) = visits.get_mut(host_of(*at)) {
                *sum += rate;
            }
        }
        let too_many: Vec<usize> = (0..most.len())
            .filter(|host| matches!((visits.get(*host), most.get(*host)), (Some(visits), Some(most)) if visits > most))
            .collect();
        if too_many.is_empty() {
            for (at, rate) in places.iter().zip(&found.rates) {
                if let Some(place) = rates.get_mut(*at) {
                    *place = *rate;
                }
            }
            return CrawlRates { rates, multiplier: found.multiplier };
        }
        for host in too_many {
            let bound = most.get(host).copied().unwrap_or(0.0).max(0.0);
            let of_host: Vec<usize> = places.iter().copied().filter(|at| host_of(*at) == host).collect();
            let pages_of_host: Vec<Watched> =
                of_host.iter().filter_map(|at| pages.get(*at).copied()).collect();
            let within = optimal(objective, &pages_of_host, bound);
            for (at, rate) in of_host.iter().zip(&within.rates) {
                if let Some(place) = rates.get_mut(*at) {
                    *place = *rate;
                }
            }
            left -= bound;
            if let Some(full) = full.get_mut(host) {
                *full = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{close, golden, number, numbers};
    use crate::numeric::gamma_function::churn;
    use proptest::prelude::*;

    fn pages_of(case: &serde_json::Value) -> Vec<Watched> {
        let (weights, rates) = (numbers(&case["w"]), numbers(&case["delta"]));
        weights
            .iter()
            .zip(&rates)
            .map(|(weight, rate)| Watched { change_rate: *rate, weight: *weight })
            .collect()
    }

    fn freshness(objective: Objective, pages: &[Watched], rates: &[f64]) -> f64 {
        pages
            .iter()
            .zip(rates)
            .map(|(page, rate)| page.weight * objective.value(page.change_rate, *rate))
            .sum()
    }

    #[test]
    fn crawl_rates_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/azar_rates.json"));
        let tolerance = |name: &str| number(&golden["tolerance"][name]);
        let same_rates = |rates: &[f64], expected: &[f64], what: &str| {
            assert_eq!(rates.len(), expected.len());
            for (rate, expected) in rates.iter().zip(expected) {
                let near = close(*rate, *expected, tolerance("rates_relative"))
                    || (rate - expected).abs() <= tolerance("rates_absolute");
                assert!(near, "{what}: {rate} for {expected}");
            }
        };
        let cases = golden["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 17);
        for case in cases {
            let (pages, budget) = (pages_of(case), number(&case["B"]));
            for objective in Objective::ALL {
                let (found, expected) = (optimal(objective, &pages, budget), &case[objective.name()]);
                let what = format!("{} {}", case["label"], objective.name());
                same_rates(&found.rates, &numbers(&expected["rates"]), &what);
                match (found.multiplier, expected["multiplier"].as_f64()) {
                    (None, None) => {}
                    (Some(a), Some(b)) => {
                        assert!(close(a, b, tolerance("multiplier_relative")), "{what} {a} {b}")
                    }
                    (found, expected) => panic!("{what}: {found:?} for {expected:?}"),
                }
                if let Some(expected) = expected["freshness"].as_f64() {
                    let found = freshness(objective, &pages, &found.rates);
                    assert!(
                        close(found, expected, tolerance("objective_relative")),
                        "{what} {found} {expected}"
                    );
                }
            }
            if case["capped"].is_object() {
                let terms: Vec<Terms> = numbers(&case["capped"]["cap"])
                    .iter()
                    .map(|cap| Terms { most: *cap, ..Terms::default() })
                    .collect();
                let found =
                    optimal_under(Objective::Poisson, &pages, &terms, budget).expect("no least rates");
                same_rates(&found.rates, &numbers(&case["capped"]["rates"]), "capped");
                let (a, b) = (found.multiplier.expect("one"), number(&case["capped"]["multiplier"]));
                assert!(close(a, b, tolerance("multiplier_relative")), "{} {a} {b}", case["label"]);
            }
            // The closed form and the search agree.
            let searched = optimal_under(Objective::Poisson, &pages, &[], budget).expect("no least rates");
            same_rates(&searched.rates, &numbers(&case["poisson"]["rates"]), "searched");
        }
    }

    #[test]
    fn freshness_and_age_are_the_golden_values() {
        let golden = golden(include_str!("../../tests/golden/freshness_closed_forms.json"));
        for case in golden["cases"].as_array().expect("cases") {
            let (change, crawl) = (number(&case["delta"]), number(&case["p"]));
            for (value, name) in [
                (freshness_of_random_visits(change, crawl), "freshness_poisson"),
                (freshness_of_even_visits(change, crawl), "freshness_periodic"),
                (age_of_random_visits(change, crawl), "age_poisson"),
                (age_of_even_visits(change, crawl), "age_periodic"),
            ] {
                assert!(close(value, number(&case[name]), 1e-8), "{name} of {case}: {value}");
            }
        }
        assert!(close(age_of_even_visits(0.000_999, 1.0), age_of_even_visits(0.001_001, 1.0), 0.003));
    }

    #[test]
    fn a_host_gets_no_more_than_its_bound_and_the_rest_goes_elsewhere() {
        let page = |change_rate| Watched { change_rate, weight: 1.0 };
        let pages = [page(0.5), page(1.0), page(0.7), page(0.2)];
        let found = optimal_for_hosts(Objective::Periodic, &pages, &[0, 0, 1, 7], &[0.4], 3.0);
        assert!(close(found.rates[0] + found.rates[1], 0.4, 1e-9), "{found:?}");
        assert!(close(found.rates.iter().sum::<f64>(), 3.0, 1e-9), "{found:?}");
        let alone = optimal(Objective::Periodic, &pages[2..], 2.6);
        assert!(close(found.rates[2], alone.rates[0], 1e-9));
    }

    #[test]
    fn least_rates_are_kept_or_refused() {
        let pages = [Watched { change_rate: 50.0, weight: 1.0 }, Watched { change_rate: 0.1, weight: 1.0 }];
        let terms = [Terms { least: 0.2, ..Terms::default() }; 2];
        let found = optimal_under(Objective::Poisson, &pages, &terms, 1.0).expect("enough");
        assert!(close(found.rates[0], 0.2, 1e-9) && close(found.rates[1], 0.8, 1e-9), "{found:?}");
        assert_eq!(optimal_under(Objective::Poisson, &pages, &terms, 0.3), None);
    }

    fn any_pages() -> impl Strategy<Value = Vec<Watched>> {
        let page = (-4.0..3.0_f64, -3.0..3.0_f64, 0_u8..12).prop_map(|(rate, weight, kind)| Watched {
            change_rate: if kind == 0 { 0.0 } else { 10_f64.powf(rate) },
            weight: if kind == 1 { 0.0 } else { 10_f64.powf(weight) },
        });
        proptest::collection::vec(page, 1..40)
    }

    /// What a little more of the crawl rate is worth: the slope of the objective.
    fn slope(objective: Objective, page: &Watched, rate: f64) -> f64 {
        let Watched { change_rate, weight } = *page;
        match objective {
            Objective::Poisson => weight * change_rate / ((rate + change_rate) * (rate + change_rate)),
            Objective::Periodic if rate == 0.0 => weight / change_rate,
            Objective::Periodic => weight / change_rate * churn(change_rate / rate),
            Objective::Harmonic => weight * change_rate / (rate * (rate + change_rate)),
        }
    }

    #[test]
    fn absurd_numbers_give_finite_rates() {
        let absurd = [0.0, -1.0, 1e-308, 1e-300, 1.0, 1e300, f64::MAX, f64::INFINITY, f64::NAN];
        let pages: Vec<Watched> = (absurd.iter())
            .flat_map(|rate| absurd.map(|weight| Watched { change_rate: *rate, weight }))
            .collect();
        for objective in Objective::ALL {
            for budget in absurd {
                let found = optimal(objective, &pages, budget);
                assert!(
                    found.rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0),
                    "{objective:?} {budget}"
                );
                let all = pages.iter().filter(|page| changes(page)).count();
                assert!(all > 0 && found.multiplier.is_none_or(f64::is_finite), "{objective:?} {budget}");
            }
        }
    }

    proptest! {
        #[test]
        fn budgets_are_met_and_no_visit_is_worth_more_elsewhere(
            pages in any_pages(), budget in (-4.0..4.0_f64).prop_map(|log| 10_f64.powf(log))
        ) {
            for objective in Objective::ALL {
                let found = optimal(objective, &pages, budget);
                prop_assert!(found.rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0));
                let sum: f64 = found.rates.iter().sum();
                if !pages.iter().any(changes) {
                    prop_assert_eq!(sum, 0.0);
                    continue;
                }
                // Small differences of large numbers: a rate may be off by a part in 10^9 of its page's
                // change rate.
                let slack = 1e-9 * (budget + pages.iter().map(|page| page.change_rate).sum::<f64>());
                prop_assert!((sum - budget).abs() <= slack.min(1e-6 * budget.max(1e-3)), "{sum} of {budget}");
                let multiplier = found.multiplier.expect("pages that change have one");
                for (page, rate) in pages.iter().zip(&found.rates) {
                    if !changes(page) {
                        prop_assert_eq!(*rate, 0.0);
                    } else if *rate > 1e-6 * page.change_rate {
                        let slope = slope(objective, page, *rate);
                        prop_assert!(close(slope, multiplier, 1e-5), "{objective:?} {slope} {multiplier}");
                    } else if objective != Objective::Harmonic {
                        prop_assert!(page.weight / page.change_rate <= multiplier * (1.0 + 1e-5));
                    }
                }
            }
        }

        #[test]
        fn the_order_of_the_pages_does_not_matter(pages in any_pages(), budget in 0.001..100.0_f64) {
            for objective in Objective::ALL {
                let forwards = optimal(objective, &pages, budget).rates;
                let turned: Vec<Watched> = pages.iter().rev().copied().collect();
                let mut backwards = optimal(objective, &turned, budget).rates;
                backwards.reverse();
                for (a, b) in forwards.iter().zip(&backwards) {
                    prop_assert!(close(*a, *b, 1e-7) || (a - b).abs() < 1e-9, "{a} {b}");
                }
            }
        }

        #[test]
        fn bounds_and_costs_are_kept(pages in any_pages(), most in 0.01..10.0_f64, cost in 0.1..10.0_f64) {
            for objective in Objective::ALL {
                let terms: Vec<Terms> =
                    (0..pages.len()).map(|at| Terms { cost: if at % 2 == 0 { cost } else { 1.0 }, least: 0.0, most }).collect();
                let found = optimal_under(objective, &pages, &terms, 5.0).expect("no least rates");
                let spent: f64 = found.rates.iter().zip(&terms).map(|(rate, terms)| rate * terms.cost).sum();
                prop_assert!(spent <= 5.0 + 1e-6 && found.rates.iter().all(|rate| *rate <= most));
                let hosts: Vec<usize> = (0..pages.len()).map(|at| at % 3).collect();
                let found = optimal_for_hosts(objective, &pages, &hosts, &[most, 2.0 * most], 5.0);
                let of_first: f64 = found.rates.iter().step_by(3).sum();
                prop_assert!(of_first <= most * (1.0 + 1e-6) + 1e-9 && found.rates.iter().sum::<f64>() <= 5.0 + 1e-6);
            }
        }

        /// With the same budget, visits at even distances keep pages fresher.
        #[test]
        fn even_visits_beat_random_ones(pages in any_pages(), budget in 0.001..100.0_f64) {
            let [random, even] = [Objective::Poisson, Objective::Periodic]
                .map(|objective| freshness(objective, &pages, &optimal(objective, &pages, budget).rates));
            prop_assert!(even >= random * (1.0 - 1e-9), "{even} {random}");
        }
    }
}
