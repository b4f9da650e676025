//! How fresh the copies are expected to be, and how often pages change, for all pages together: a small note that a cycle leaves
//! when it ends, so that a view need not read every page.
//!
//! A page counts if it is wanted, has a copy, is not gone and no other page stands for it. Its chance to have changed is
//! [`Learner::chance_of_change`], the one that `freshet search` prints; the learner is the same too ([`chance_learner`]). Search goes
//! through the visits of the ten pages it shows. A cycle has all pages in hand and not their visits, so it takes what the page
//! keeps: the Gamma distribution of a policy that learns by it, else the counts ([`Learner::learn_counts`]).
//!
//! With the belief Gamma(a, b) of the rate and a copy of age t₀ at the end T₀ of the cycle, the page is still unchanged then with
//! probability f = (b/(b + t₀))^a. If it is, the belief is Gamma(a, b + t₀). So later, without a visit, Σ f·((b + t₀)/(b + t₀ + now − T₀))^a
//! copies are fresh, which a [`RateMix`] adds up.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::CrawlError;
use super::clock;
use super::opening::is_wanted;
use crate::estimate::gamma::Gamma;
use crate::estimate::learner::Learner;
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
}

/// As it is written.
#[derive(Serialize, Deserialize)]
struct Noted {
    as_of_ms: i64,
    held: u64,
    without_copy: u64,
    fresh: Vec<WeighedRate>,
    rates: Vec<WeighedRate>,
}

impl CollectionRates {
    /// Nothing is known of any page.
    pub fn none(as_of: Timestamp) -> Self {
        let (fresh, rates) = (RateMix::default(), RateMix::default());
        Self { as_of, held: 0, without_copy: 0, fresh, rates }
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
        let noted = store.note(NOTE)?.and_then(|text| serde_json::from_str::<Noted>(&text).ok());
        Ok(noted.map(|noted| Self {
            as_of: Timestamp::from_millis(noted.as_of_ms),
            held: noted.held,
            without_copy: noted.without_copy,
            fresh: RateMix::from_rows(&noted.fresh),
            rates: RateMix::from_rows(&noted.rates),
        }))
    }

    fn save(&self, store: &mut dyn Store) -> Result<(), StoreError> {
        let noted = Noted {
            as_of_ms: self.as_of.millis(),
            held: self.held,
            without_copy: self.without_copy,
            fresh: self.fresh.to_rows(),
            rates: self.rates.to_rows(),
        };
        serde_json::to_string(&noted).map_or(Ok(()), |text| store.set_note(NOTE, &text))
    }
}

/// The estimator behind the chance of a change: the one whose uncertainty is known, with the priors of the store.
pub fn chance_learner(store: &mut dyn Store) -> Result<Learner, StoreError> {
    let mut learner = Learner::new("gamma", &EstimatorSettings::default()).map_err(StoreError::BadValue)?;
    learner.believe(&store.priors()?);
    Ok(learner)
}

/// Looks over all pages and notes what they amount to. `unwanted`: pages that the operator does not want any more.
pub(super) fn note(
    store: &mut dyn Store,
    unwanted: &HashSet<PageId>,
    now: Timestamp,
) -> Result<(), CrawlError> {
    let mut beliefs = Beliefs { learner: chance_learner(store)?, known: HashMap::new() };
    let mut rates = CollectionRates::none(now);
    store.each_page(&mut |page| {
        if !is_wanted(page, unwanted) || page.alias_of.is_some() || page.state.life == Life::Gone {
            return;
        }
        clock::correct_page(page, now);
        match page.state.seen_at {
            Some(seen_at) => rates.add(beliefs.of(page), now.since(seen_at)),
            None => rates.without_copy += 1,
        }
    })?;
    Ok(rates.save(store)?)
}

/// What is believed of pages, by what their visits have counted: most pages of a collection share their counts with others.
struct Beliefs {
    learner: Learner,
    known: HashMap<CountsKey, Gamma>,
}

/// Pages of the same prior and counts: key of the prior, visits, changes, hundredths of ln(days watched).
type CountsKey = (i64, u32, u32, i64);

impl Beliefs {
    fn of(&mut self, page: &KnownPage) -> Gamma {
        let (host, depth, state) = (page.host, page.state.depth, &page.state.learnt.state);
        if let Memory::Gamma(belief) = state.memory {
            return belief;
        }
        let log_days = (state.watched_days.max(Age::SHORTEST_DAYS).ln() * 100.0).round();
        let key = (self.learner.prior_key(host, depth), state.visits, state.changes, log_days as i64);
        if let Some(belief) = self.known.get(&key) {
            return *belief;
        }
        // The days of the key, not those of the page: so the order of the pages does not matter.
        let counts = EstimatorState { watched_days: (log_days / 100.0).exp(), ..state.clone() };
        let belief = self.learn(host, depth, &counts);
        self.known.insert(key, belief);
        belief
    }

    fn learn(&self, host: HostId, depth: Depth, counts: &EstimatorState) -> Gamma {
        let learnt = self.learner.learn_counts(host, depth, counts);
        self.learner.belief(host, depth, &learnt).unwrap_or(crate::estimate::gamma::WEAK_PRIOR)
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
