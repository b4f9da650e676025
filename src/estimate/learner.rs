//! An estimator with its priors: the way a policy learns change rates.
//!
//! Comes in: the visits of each page, and priors fitted to the collection ([`super::priors`]). Goes out: estimates of change
//! rates. A learner keeps no state of a page; that is an [`EstimatorState`], which the page keeps.

use std::collections::BTreeMap;
use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

use super::gamma::Gamma;
use super::period_grid::PeriodGrid;
use super::priors::{GroupBy, PriorKind, Priors};
use super::registry::{self, EstimatorSettings};
use super::two_intervals::TwoIntervals;
use super::weighted::VisitLength;
use super::{Estimate, Estimator, EstimatorState, Memory, Seen};
use crate::page::{Depth, HostId};
use crate::time::Age;

/// An estimator, with a prior for each group of pages that has one.
pub struct Learner {
    name: String,
    settings: EstimatorSettings,
    by: GroupBy,
    /// The estimator for pages whose group has no prior.
    general: Box<dyn Estimator>,
    groups: BTreeMap<i64, Box<dyn Estimator>>,
    /// The Gamma prior of each group.
    gammas: BTreeMap<i64, Gamma>,
}

impl fmt::Debug for Learner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Learner").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Learner {
    /// A learner that uses the estimator of this name; an error that lists the names if there is none.
    pub fn new(name: &str, settings: &EstimatorSettings) -> Result<Self, String> {
        Ok(Self {
            name: name.to_owned(),
            settings: settings.clone(),
            by: GroupBy::default(),
            general: registry::find(name, settings)?,
            groups: BTreeMap::new(),
            gammas: BTreeMap::new(),
        })
    }

    /// The estimator's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kind of prior that its estimator uses, if it uses one.
    pub(crate) fn prior_kind(&self) -> Option<PriorKind> {
        PriorKind::ALL.into_iter().find(|kind| kind.name() == self.name)
    }

    /// Replaces its priors by fitted ones. Priors of another kind are ignored.
    pub fn believe(&mut self, priors: &Priors) {
        self.by = priors.by;
        self.groups.clear();
        self.gammas.clear();
        let Some(kind) = self.prior_kind() else { return };
        for (group, numbers) in priors.of(kind) {
            let Some(settings) = self.settings_with(kind, &numbers) else { continue };
            let Ok(estimator) = registry::find(&self.name, &settings) else { continue };
            match group {
                None => {
                    self.general = estimator;
                    self.settings = settings;
                }
                Some(group) => {
                    self.groups.insert(group, estimator);
                    self.gammas.insert(group, settings.gamma.prior);
                }
            }
        }
    }

    /// The settings with this prior in the place of their own; `None` if it can't be used.
    fn settings_with(&self, kind: PriorKind, numbers: &[[f64; 2]]) -> Option<EstimatorSettings> {
        let mut settings = self.settings.clone();
        let [first, second] = *numbers.first()?;
        match kind {
            PriorKind::Gamma => settings.gamma.prior = Gamma { shape: first, days: second },
            PriorKind::TwoIntervals => {
                settings.two_intervals = TwoIntervals { changed_days: first, unchanged_days: second };
            }
            PriorKind::Periods => {
                let masses: Vec<f64> = numbers.iter().map(|[_, mass]| *mass).collect();
                settings.periods = PeriodGrid::new(numbers.iter().map(|[days, _]| *days).collect(), &masses)?;
            }
            PriorKind::FirstInterval => return None,
        }
        Some(settings)
    }

    /// Sets the length of a cycle. Estimators that count visits rather than time need it to give a rate per day.
    pub(crate) fn count_in(&mut self, cycle: Age) {
        self.settings.visit = VisitLength::Cycle(cycle);
        if let Ok(estimator) = registry::find(&self.name, &self.settings) {
            self.general = estimator;
        }
    }

    /// The version of the states it makes: the estimator's ([`Estimator::memory_version`]), and a hash of the groups' ones.
    pub fn memory_version(&self) -> String {
        let version = self.general.memory_version();
        if self.groups.is_empty() {
            return version;
        }
        let groups =
            self.groups.iter().map(|(key, estimator)| format!("{key} {}\n", estimator.memory_version()));
        let groups: String = groups.collect();
        format!("{version} by {} {:016x}", self.by.name(), xxh3_64(groups.as_bytes()))
    }

    /// Adds one visit to the state of a page of this host and depth.
    pub fn learn(&self, host: HostId, depth: Depth, state: &mut EstimatorState, interval: Age, seen: Seen) {
        self.of(host, depth).observe(state, interval, seen);
    }

    /// The state that a page's counts amount to, for a page of which nothing else is kept ([`EstimatorState::even_visits`]).
    pub fn learn_counts(&self, host: HostId, depth: Depth, counts: &EstimatorState) -> EstimatorState {
        let mut state = EstimatorState::default();
        for (interval, seen) in counts.even_visits() {
            self.learn(host, depth, &mut state, interval, seen);
        }
        state
    }

    /// Pages with the same key here have the same prior.
    pub(crate) fn prior_key(&self, host: HostId, depth: Depth) -> i64 {
        if self.groups.is_empty() { 0 } else { self.by.key(host, depth) }
    }

    /// The change rate of a page for scheduling; never 0.
    pub fn estimate(&self, host: HostId, depth: Depth, state: &EstimatorState) -> Estimate {
        self.of(host, depth).estimate(state)
    }

    /// The change rate as the published formula gives it; may be 0.
    pub fn as_published(&self, host: HostId, depth: Depth, state: &EstimatorState) -> Estimate {
        self.of(host, depth).as_published(state)
    }

    /// The distribution of the page's change rate, if the estimator keeps a Gamma distribution.
    pub(crate) fn belief(&self, host: HostId, depth: Depth, state: &EstimatorState) -> Option<Gamma> {
        match state.memory {
            Memory::Gamma(belief) => Some(belief),
            _ if self.name == PriorKind::Gamma.name() => Some(self.gamma_prior(host, depth)),
            _ => None,
        }
    }

    /// Probability that a page has changed this long after it was last seen: 1 − e^(−rate · age) at the rate as published, or
    /// 1 − (b/(b + t))^a where the estimator keeps a Gamma distribution of the rate.
    pub fn chance_of_change(&self, host: HostId, depth: Depth, state: &EstimatorState, age: Age) -> f64 {
        match self.belief(host, depth, state) {
            Some(belief) => belief.chance_of_change(age.days()),
            None => -(-self.as_published(host, depth, state).rate.get() * age.days()).exp_m1(),
        }
    }

    /// The weight of the Gamma prior, in days of watching.
    pub(crate) fn prior_days(&self, host: HostId, depth: Depth) -> f64 {
        self.gamma_prior(host, depth).days
    }

    fn gamma_prior(&self, host: HostId, depth: Depth) -> Gamma {
        let group = self.gammas.get(&self.by.key(host, depth));
        group.copied().unwrap_or(self.settings.gamma.prior)
    }

    /// The estimator for pages of that host and depth.
    pub fn of(&self, host: HostId, depth: Depth) -> &dyn Estimator {
        if self.groups.is_empty() {
            return &*self.general;
        }
        self.groups.get(&self.by.key(host, depth)).map_or(&*self.general, |estimator| &**estimator)
    }
}

#[cfg(test)]
mod tests {
    use super::super::priors::Prior;
    use super::*;

    fn learner(name: &str) -> Learner {
        Learner::new(name, &EstimatorSettings::default()).expect("an estimator")
    }

    fn prior(kind: PriorKind, group: Option<i64>, shape: f64) -> Prior {
        Prior { kind, group, numbers: [shape, 3.0], pages: 100 }
    }

    #[test]
    fn a_version_follows_the_priors_that_the_estimator_uses_and_no_others() {
        let mut gamma = learner("gamma");
        let mut versions = vec![gamma.memory_version()];
        for all in [
            vec![prior(PriorKind::Gamma, None, 0.5)],
            vec![prior(PriorKind::Gamma, None, 0.5), prior(PriorKind::Gamma, Some(7), 0.2)],
            vec![prior(PriorKind::Gamma, None, 0.5), prior(PriorKind::Gamma, Some(8), 0.2)],
            vec![prior(PriorKind::Gamma, None, 0.5), prior(PriorKind::Gamma, Some(8), 0.3)],
        ] {
            gamma.believe(&Priors { by: GroupBy::Host, all, comparisons: 0 });
            assert!(!versions.contains(&gamma.memory_version()), "{versions:?}");
            versions.push(gamma.memory_version());
        }
        let mut counting = learner("mle");
        let version = counting.memory_version();
        let all = vec![prior(PriorKind::Gamma, None, 0.5)];
        counting.believe(&Priors { by: GroupBy::Host, all, comparisons: 0 });
        assert_eq!(counting.memory_version(), version);
    }

    #[test]
    fn a_posterior_starts_from_the_periods_of_the_collection() {
        let mut posterior = learner("posterior");
        let version = posterior.memory_version();
        let period =
            |group, days, share| Prior { numbers: [days, share], ..prior(PriorKind::Periods, group, 0.0) };
        let all = vec![
            period(None, 1.0, 0.5),
            period(None, 10.0, 0.5),
            period(Some(7), 2.0, 0.9),
            period(Some(7), 4.0, 0.1),
        ];
        posterior.believe(&Priors { by: GroupBy::Host, all, comparisons: 0 });
        let rate = |host| posterior.as_published(HostId(host), 0, &EstimatorState::default()).rate.get();
        assert!((rate(8) - 0.55).abs() < 1e-9 && (rate(7) - 0.475).abs() < 1e-9, "{} {}", rate(8), rate(7));
        let mut known = learner("posterior");
        known.believe(&Priors { all: vec![period(None, 1.0, 1.0)], ..Priors::default() });
        assert_eq!(known.memory_version(), version, "memories are visits, whatever is believed of them");
    }

    #[test]
    fn counts_teach_nearly_what_the_visits_do() {
        let gamma = learner("gamma");
        let (host, depth) = (HostId(1), 0);
        let visits: Vec<Seen> = (0..30).map(|at| Seen::from(at % 5 == 2)).collect();
        let mut direct = EstimatorState::default();
        visits.iter().for_each(|seen| gamma.learn(host, depth, &mut direct, Age::from_days(2.0), *seen));
        let counts = EstimatorState { memory: Memory::Nothing, ..direct.clone() };
        let learnt = gamma.learn_counts(host, depth, &counts);
        assert_eq!((learnt.visits, learnt.changes), (30, 6));
        let chance = |state: &EstimatorState| gamma.chance_of_change(host, depth, state, Age::from_days(3.0));
        assert!((chance(&learnt) - chance(&direct)).abs() < 0.01, "{} {}", chance(&learnt), chance(&direct));
        assert_eq!(gamma.learn_counts(host, depth, &EstimatorState::default()), EstimatorState::default());
        // A part of many visits teaches the same rate: −ln 0.8 in a hundredth of a day.
        let many =
            EstimatorState { visits: 40_000, changes: 8_000, watched_days: 400.0, memory: Memory::Nothing };
        let rate = gamma.estimate(host, depth, &gamma.learn_counts(host, depth, &many)).rate.get();
        assert!((19.0..25.0).contains(&rate), "{rate}");
    }

    #[test]
    fn a_group_goes_by_its_own_prior() {
        let mut gamma = learner("gamma");
        let all = vec![prior(PriorKind::Gamma, None, 0.5), prior(PriorKind::Gamma, Some(7), 6.0)];
        gamma.believe(&Priors { by: GroupBy::Host, all, comparisons: 0 });
        let rate = |host| gamma.estimate(HostId(host), 0, &EstimatorState::default()).rate.get();
        assert_eq!((rate(7), rate(8)), (2.0, 0.5 / 3.0));
    }
}
