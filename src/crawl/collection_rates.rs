//! How fresh the copies are expected to be, and how often pages change, for all pages together: a small note that a cycle leaves
//! when it ends, so that a view need not read every page.
//!
//! A page counts if it is wanted, has a copy, is not gone and no other page stands for it. Its chance to have changed is
//! [`Learner::chance_of_change`], the one that `freshet search` prints; the learner is the same too ([`chance_learner`]). Search goes
//! through the visits of the ten pages it shows. A cycle has all pages in hand and not their visits, so it takes what the page
//! keeps: the Gamma distribution of a policy that learns by it, else the counts ([`Learner::learn_counts`]). Where no policy has fitted a
//! prior, one is fitted to these counts, and search believes it as well.
//!
//! With the belief Gamma(a, b) of the rate and a copy of age t₀ at the end T₀ of the cycle, the page is still unchanged then with
//! probability f = (b/(b + t₀))^a. If it is, the belief is Gamma(a, b + t₀). So later, without a visit, Σ f·((b + t₀)/(b + t₀ + now − T₀))^a
//! copies are fresh, which a [`RateMix`] adds up.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::CrawlError;
use super::clock;
use super::opening::is_wanted;
use crate::estimate::censored::VisitHistory;
use crate::estimate::gamma::{Gamma, WEAK_PRIOR};
use crate::estimate::learner::Learner;
use crate::estimate::priors::{LEAST_PAGES_IN_ALL, Prior, PriorKind, Priors};
use crate::estimate::rate_mix::{RateMix, WeighedRate};
use crate::estimate::registry::EstimatorSettings;
use crate::estimate::{EstimatorState, Memory};
use crate::observation::Life;
use crate::page::{Depth, HostId, PageId};
use crate::store::{KnownPage, Store, StoreError};
use crate::time::{Age, Timestamp};

/// The store's note.
const NOTE: &str = "collection-rates";

/// The freshness and the change rates of the pages under watch, at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectionRates {
    /// The moment.
    pub as_of: Timestamp,
    /// Pages that have a copy.
    pub held: u64,
    /// Pages that were never fetched.
    pub without_copy: u64,
    /// Each page by the probability that its copy is fresh at that moment; its rate as it is believed to be if so.
    fresh: RateMix,
    /// Each page once; its rate as its visits tell it.
    rates: RateMix,
    /// The prior that was fitted to the counts of the pages, where the store had none.
    prior: Option<Gamma>,
}

/// As it is written.
#[derive(Serialize, Deserialize)]
struct NotedRates {
    as_of_ms: i64,
    held: u64,
    without_copy: u64,
    fresh: Vec<WeighedRate>,
    rates: Vec<WeighedRate>,
    prior: Option<Gamma>,
}

impl NotedRates {
    fn load(store: &mut dyn Store) -> Result<Option<Self>, StoreError> {
        Ok(store.note(NOTE)?.and_then(|text| serde_json::from_str(&text).ok()))
    }
}

impl CollectionRates {
    /// Nothing is known of any page.
    pub fn none(as_of: Timestamp) -> Self {
        let (fresh, rates) = (RateMix::default(), RateMix::default());
        Self { as_of, held: 0, without_copy: 0, fresh, rates, prior: None }
    }

    /// Counts a page with a copy of this age.
    pub fn add(&mut self, belief: Gamma, age: Age) {
        let days = age.days();
        self.held += 1;
        self.rates.add(belief, 1.0);
        let later = Gamma { days: belief.days + days, ..belief };
        self.fresh.add(later, 1.0 - belief.chance_of_change(days));
    }

    /// The share of the copies that is expected to be as their pages are at this moment, if no page is visited meanwhile; `None` if
    /// there is no copy.
    pub fn expected_freshness(&self, now: Timestamp) -> Option<f64> {
        let days = now.since(self.as_of).days();
        (self.held > 0).then(|| (self.fresh.unchanged_after(days) / self.held as f64).clamp(0.0, 1.0))
    }

    /// The changes that `visits` evenly spaced over `days` are expected to find: round robin.
    ///
    /// Round robin visits each of the N pages once in I = N · days / visits days, in turn. A visit finds a change if there was at
    /// least one since the visit before, so with probability 1 − E\[e^(−rate · I)\] = 1 − (b/(b + I))^a. Each page gets days / I
    /// visits, which makes (days / I) · Σ (1 − (b/(b + I))^a) = visits · mean chance (Cho & Garcia-Molina 2003, the uniform
    /// policy). The rates are those that all visits so far have taught. `None` if there is no copy.
    pub fn found_by_even_visits(&self, visits: f64, days: f64) -> Option<f64> {
        let pages = self.rates.weight();
        if pages <= 0.0 {
            return None;
        }
        if visits <= 0.0 || days <= 0.0 {
            return Some(0.0);
        }
        let interval = pages * days / visits;
        Some(visits / pages * self.rates.changed_after(interval))
    }

    /// What the last cycle has noted; `None` if none has.
    pub fn load(store: &mut dyn Store) -> Result<Option<Self>, StoreError> {
        Ok(NotedRates::load(store)?.map(|noted| Self {
            as_of: Timestamp::from_millis(noted.as_of_ms),
            held: noted.held,
            without_copy: noted.without_copy,
            fresh: RateMix::from_rows(&noted.fresh),
            rates: RateMix::from_rows(&noted.rates),
            prior: noted.prior,
        }))
    }

    fn save(&self, store: &mut dyn Store) -> Result<(), StoreError> {
        let noted = NotedRates {
            as_of_ms: self.as_of.millis(),
            held: self.held,
            without_copy: self.without_copy,
            fresh: self.fresh.to_rows(),
            rates: self.rates.to_rows(),
            prior: self.prior,
        };
        serde_json::to_string(&noted).map_or(Ok(()), |text| store.set_note(NOTE, &text))
    }
}

/// The estimator behind the chance of a change: the one whose uncertainty is known, with the priors of the store. Where a policy
/// needs none, there may be none: then it is the prior that the last cycle has fitted for its note.
pub fn chance_learner(store: &mut dyn Store) -> Result<Learner, StoreError> {
    let mut priors = store.priors()?;
    if priors.of(PriorKind::Gamma).is_empty()
        && let Some(noted) = NotedRates::load(store)?
    {
        priors.all.extend(noted.prior.map(as_prior));
    }
    learner_with(&priors)
}

fn learner_with(priors: &Priors) -> Result<Learner, StoreError> {
    let mut learner = Learner::new("gamma", &EstimatorSettings::default()).map_err(StoreError::BadValue)?;
    learner.believe(priors);
    Ok(learner)
}

/// A prior of all pages.
fn as_prior(gamma: Gamma) -> Prior {
    Prior { kind: PriorKind::Gamma, group: None, numbers: [gamma.shape, gamma.days], pages: 0 }
}

/// Looks over all pages and notes what they amount to. `unwanted`: pages that the operator does not want any more.
pub(super) fn note(
    store: &mut dyn Store,
    unwanted: &HashSet<PageId>,
    now: Timestamp,
) -> Result<(), CrawlError> {
    let mut priors = store.priors()?;
    let has_own = !priors.of(PriorKind::Gamma).is_empty();
    let learner = learner_with(&priors)?;
    let mut pages = CountedPages::default();
    let mut rates = CollectionRates::none(now);
    store.each_page(&mut |page| {
        if !is_wanted(page, unwanted) || page.alias_of.is_some() || page.state.life == Life::Gone {
            return;
        }
        clock::correct_page(page, now);
        let Some(seen_at) = page.state.seen_at else {
            rates.without_copy += 1;
            return;
        };
        match page.state.learnt.state.memory {
            Memory::Gamma(belief) => rates.add(belief, now.since(seen_at)),
            _ => pages.add(page, &learner, now.since(seen_at)),
        }
    })?;
    rates.prior = if has_own { None } else { pages.fit() };
    priors.all.extend(rates.prior.map(as_prior));
    pages.learn(&learner_with(&priors)?, &mut rates);
    Ok(rates.save(store)?)
}

/// Pages of which counts are kept, by these: most pages of a collection share them with others.
#[derive(Default)]
struct CountedPages {
    by_counts: BTreeMap<CountsKey, SharedCounts>,
}

/// Pages of the same prior and counts: key of the prior, visits, changes, hundredths of ln(days watched).
type CountsKey = (i64, u32, u32, i64);

/// Pages that share their counts.
struct SharedCounts {
    /// A host and depth of the group with that prior.
    of: (HostId, Depth),
    /// The age of each copy, in days.
    ages: Vec<f32>,
}

/// The most counts that a prior is fitted to, evenly taken.
const MOST_COUNTS: usize = 5_000;

impl CountedPages {
    fn add(&mut self, page: &KnownPage, learner: &Learner, age: Age) {
        let (host, depth, state) = (page.host, page.state.depth, &page.state.learnt.state);
        let log_days = (state.watched_days.max(Age::SHORTEST_DAYS).ln() * 100.0).round();
        let key = (learner.prior_key(host, depth), state.visits, state.changes, log_days as i64);
        let shared =
            self.by_counts.entry(key).or_insert_with(|| SharedCounts { of: (host, depth), ages: Vec::new() });
        shared.ages.push(age.days() as f32);
    }

    /// The counts of a key. The days are those of the key, not of a page: so the order of the pages does not matter.
    fn counts((_, visits, changes, log_days): CountsKey) -> EstimatorState {
        let watched_days = if visits == 0 { 0.0 } else { (log_days as f64 / 100.0).exp() };
        EstimatorState { visits, changes, watched_days, memory: Memory::Nothing }
    }

    /// The prior under which these counts are most likely, their visits taken at even distances ([`Gamma::fit`]); `None` if there are
    /// too few pages, or none ever changed.
    fn fit(&self) -> Option<Gamma> {
        let visited = || self.by_counts.iter().filter(|((_, visits, ..), _)| *visits > 0);
        let pages: usize = visited().map(|(_, shared)| shared.ages.len()).sum();
        if pages < LEAST_PAGES_IN_ALL {
            return None;
        }
        let every = visited().count().div_ceil(MOST_COUNTS).max(1);
        let histories: Vec<(VisitHistory, u32)> = visited()
            .step_by(every)
            .map(|(key, shared)| {
                let pages = u32::try_from(shared.ages.len()).unwrap_or(u32::MAX);
                (VisitHistory::of(Self::counts(*key).even_visits()), pages)
            })
            .collect();
        let histories: Vec<(&VisitHistory, u32)> =
            histories.iter().map(|(history, pages)| (history, *pages)).collect();
        Gamma::fit_counted(&histories)
    }

    fn learn(&self, learner: &Learner, rates: &mut CollectionRates) {
        for (key, shared) in &self.by_counts {
            let (host, depth) = shared.of;
            let learnt = learner.learn_counts(host, depth, &Self::counts(*key));
            let belief = learner.belief(host, depth, &learnt).unwrap_or(WEAK_PRIOR);
            shared.ages.iter().for_each(|days| rates.add(belief, Age::from_days(f64::from(*days))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A page whose rate is known well.
    fn sure(rate: f64) -> Gamma {
        Gamma { shape: 1e6, days: 1e6 / rate }
    }

    #[test]
    fn freshness_falls_with_the_time_since_the_cycle() {
        let t0 = Timestamp::from_seconds(1_794_800_000);
        let mut rates = CollectionRates::none(t0);
        rates.add(sure(1.0), Age::default());
        rates.add(sure(0.1), Age::from_days(2.0));
        let fresh = |days: f64| {
            let later = Timestamp::from_seconds(1_794_800_000 + (days * 86_400.0) as i64);
            rates.expected_freshness(later).expect("copies")
        };
        let direct = |days: f64| ((-days).exp() + (-0.1 * (2.0 + days)).exp()) / 2.0;
        for days in [0.0, 0.5, 1.0, 3.0, 30.0] {
            assert!((fresh(days) - direct(days)).abs() < 1e-4, "{days}: {} {}", fresh(days), direct(days));
        }
        assert_eq!(CollectionRates::none(t0).expected_freshness(t0), None);
        assert!(
            (rates.expected_freshness(Timestamp::default()).unwrap() - direct(0.0)).abs() < 1e-4,
            "a clock set back"
        );
    }

    #[test]
    fn round_robin_finds_what_even_visits_would() {
        let mut rates = CollectionRates::none(Timestamp::default());
        rates.add(sure(1.0), Age::default());
        rates.add(sure(0.01), Age::default());
        let found = |visits: f64, days: f64| rates.found_by_even_visits(visits, days).expect("copies");
        // Two visits a day, each page daily: (1 − e^−1) + (1 − e^−0.01).
        let day = 1.0 - (-1.0_f64).exp() + 1.0 - (-0.01_f64).exp();
        assert!((found(2.0, 1.0) - day).abs() < 1e-4, "{}", found(2.0, 1.0));
        // The same pace for three days, and half of it: each page every two days, so half a visit a day.
        assert!((found(6.0, 3.0) - 3.0 * day).abs() < 1e-3);
        let half = 0.5 * (1.0 - (-2.0_f64).exp() + 1.0 - (-0.02_f64).exp());
        assert!((found(1.0, 1.0) - half).abs() < 1e-4);
        // However many visits, no more changes are found than there are.
        assert!((found(1e6, 1.0) - 1.01).abs() < 1e-2);
        assert_eq!((found(0.0, 1.0), found(3.0, 0.0)), (0.0, 0.0));
        assert_eq!(CollectionRates::none(Timestamp::default()).found_by_even_visits(9.0, 1.0), None);
    }

    #[test]
    fn a_prior_is_fitted_to_counts_whatever_the_length_of_a_day() {
        // Half of the pages change at every tenth visit, half at every second one; visits are seconds apart.
        let mut pages = CountedPages::default();
        for page in 0..100_u32 {
            let changes = if page % 2 == 0 { 6 } else { 30 };
            let key = (0, 60, changes, (600.0_f64 / 86_400.0).ln().mul_add(100.0, 0.5).floor() as i64);
            let shared = SharedCounts { of: (HostId(1), 0), ages: Vec::new() };
            pages.by_counts.entry(key).or_insert(shared).ages.push(0.0);
        }
        let fitted = pages.fit().expect("pages that change");
        // −ln 0.9 and −ln 0.5 in ten seconds, on average.
        let mean = (0.1054 + std::f64::consts::LN_2) / 2.0 * 8_640.0;
        assert!((fitted.mean() / mean - 1.0).abs() < 0.15, "{} {mean}", fitted.mean());
        let mut priors = Priors::default();
        assert!(learner_with(&priors).is_ok());
        priors.all.push(as_prior(fitted));
        let mut rates = CollectionRates::none(Timestamp::default());
        pages.learn(&learner_with(&priors).expect("a learner"), &mut rates);
        let found = rates.found_by_even_visits(100.0, 10.0 / 86_400.0).expect("copies");
        assert!((found - 30.0).abs() < 3.0, "one visit each finds what it found before: {found}");
        assert_eq!(CountedPages::default().fit(), None);
    }

    proptest! {
        #[test]
        fn the_note_agrees_with_the_sum_over_all_pages(
            pages in prop::collection::vec((0.05..40.0_f64, -7.0..3.0_f64, 0.0..60.0_f64), 1..200),
            wait in 0.0..100.0_f64,
        ) {
            let t0 = Timestamp::from_seconds(1_794_800_000);
            let now = t0.plus(std::time::Duration::from_secs_f64(wait * 86_400.0));
            let mut rates = CollectionRates::none(t0);
            let mut direct = 0.0;
            for (shape, log_rate, age) in &pages {
                let belief = Gamma { shape: *shape, days: shape / log_rate.exp() };
                rates.add(belief, Age::from_days(*age));
                direct += 1.0 - belief.chance_of_change(age + wait);
            }
            let fresh = rates.expected_freshness(now).expect("copies");
            let direct = direct / pages.len() as f64;
            prop_assert!((fresh - direct).abs() <= 0.005, "{fresh} {direct}");
        }
    }
}
