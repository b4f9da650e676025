//! The name on the command line → the policy.
//!
//! A name is a policy's own, and behind a colon, where it learns rates, the estimator's: `utility:mle`. Some of the
//! papers' policies have short names of their own: `nad` is `change-probability:nad`.

use std::sync::Arc;

use super::Policy;
use super::age::ByAge;
use super::age_times_changes::AgeTimesChanges;
use super::change_probability::ChangeProbability;
use super::change_rate::ChangeRate;
use super::crawl_rate::{Allocation, CrawlRate, Moments};
use super::fixed::fixed;
use super::formula::Formula;
use super::heritrix::heritrix;
pub use super::interval_rule::RuleScale;
use super::longevity::Longevity;
use super::longevity_bound::LongevityBound;
use super::longevity_fit::LongevityFit;
use super::nutch::nutch;
use super::optimal_rate::Objective;
use super::random::Random;
use super::stormcrawler::stormcrawler;
use super::utility::Utility;
use crate::estimate::learner::Learner;
use crate::estimate::registry::{self as estimators, EstimatorSettings};
use crate::time::Age;

/// What policies are made with.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySettings {
    pub estimator: EstimatorSettings,
    /// How long the intervals of other crawlers' rules are.
    pub rules: RuleScale,
    /// How long `fixed` leaves a page alone.
    pub interval: Age,
    pub longevity: LongevitySettings,
}

/// How the policies of Olston & Pandey 2008 are set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongevitySettings {
    /// ρ: how many times longer than its own curve says a page is looked after all the same (§4.5).
    pub risk: f64,
    /// l: a page that was refreshed n times waits n times as long at the most, where there is a threshold (§4.2).
    pub learning_days: f64,
    /// The utility from which on a page is visited, if that is what decides.
    pub threshold: Option<f64>,
    /// Days from one cycle to the next: no page is visited more often.
    pub cycle_days: f64,
}

impl Default for LongevitySettings {
    fn default() -> Self {
        Self { risk: 10.0, learning_days: 1.0, threshold: None, cycle_days: 1.0 }
    }
}

impl Default for PolicySettings {
    fn default() -> Self {
        let day = Age::from_days(1.0);
        let longevity = LongevitySettings::default();
        Self { estimator: EstimatorSettings::default(), rules: RuleScale::Day(day), interval: day, longevity }
    }
}

/// The policy taken if none is named.
pub const DEFAULT: &str = "longevity";

/// What visits may be meant to achieve, and the policy that serves it best on recorded pages: copies that are near to what
/// pages say, copies that are exactly that, or changes found.
pub const AIMS: [(&str, &str); 3] =
    [("staleness", DEFAULT), ("freshness", "utility"), ("changes", "change-probability")];

/// The aim if none is named.
pub const DEFAULT_AIM: &str = "staleness";

/// The policy for an aim, if there is such an aim.
pub fn for_aim(aim: &str) -> Option<&'static str> {
    AIMS.iter().find(|(name, _)| *name == aim).map(|(_, policy)| *policy)
}

/// A row of the registry.
pub struct Row {
    pub name: &'static str,
    /// Whether it takes an estimator behind a colon.
    pub takes_estimator: bool,
    /// In a few words.
    pub about: &'static str,
}

const fn row(name: &'static str, takes_estimator: bool, about: &'static str) -> Row {
    Row { name, takes_estimator, about }
}

/// Every policy, the default first; short names of the papers' policies come last.
pub const ALL: [Row; 24] = [
    row("longevity", false, "the visit that brings most of what will last: by how far pages move"),
    row("utility", true, "the visit that gains most: the time for which a fresh copy lasts"),
    row("longevity-curve", false, "the same from a curve fitted to each page (Olston & Pandey 2008)"),
    row("longevity-bound", false, "the same from bounds, with no curve assumed"),
    row("every", false, "all pages each cycle, the one left alone longest first"),
    row("age", false, "round robin: the page left alone longest"),
    row("random", false, "any page, drawn anew each cycle"),
    row("change-rate", true, "the page that changes most often"),
    row("change-probability", true, "the page most likely to have changed"),
    row("optimal", true, "rates that are best for freshness, at random moments (Azar et al.)"),
    row("optimal-periodic", true, "the same at even distances (Cho & Garcia-Molina)"),
    row("harmonic", true, "rates that give up no page (LambdaCrawl)"),
    row("proportional", true, "as often as a page changes"),
    row("uniform", false, "all pages equally often, at random moments"),
    row("nutch", false, "the rule of Apache Nutch"),
    row("stormcrawler", false, "the rule of Apache StormCrawler"),
    row("heritrix", false, "the rule of Heritrix 1"),
    row("fixed", false, "the same interval for every page, see --interval"),
    row("nad", false, "change-probability:nad (Santos et al. 2013)"),
    row("sad", false, "change-probability:sad"),
    row("aad", false, "change-probability:aad"),
    row("gad", false, "change-probability:gad"),
    row("cg", false, "change-rate:cg"),
    row("t*x", false, "age times changes seen; also `tx`"),
];

/// What a formula is named by: `expr:t * X / n`.
pub const FORMULA: &str = "expr:";
/// What a file is named by that `freshet evolve` wrote: commands put its formula in its place.
pub const EVOLVED: &str = "evolved:";

/// Names that stand in a list, with commas in between; those of a formula are within parentheses.
pub fn split_names(list: &str) -> Vec<&str> {
    let (mut names, mut from, mut open) = (Vec::new(), 0, 0_usize);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            ',' if open == 0 => {
                names.extend(list.get(from..at));
                from = at + 1;
            }
            _ => {}
        }
    }
    names.extend(list.get(from..));
    names.into_iter().map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// One that learns nothing but counts.
pub fn counting() -> Arc<dyn Policy> {
    Arc::new(ByAge { name: "age" })
}

/// The policy of that name, or what is wrong with it.
pub fn find(name: &str, settings: &PolicySettings) -> Result<Box<dyn Policy>, String> {
    if let Some(formula) = name.strip_prefix(FORMULA) {
        let expression =
            formula.parse().map_err(|error| format!("policy `{name}`: in the formula, {error}"))?;
        return Ok(Box::new(Formula::new(name.to_owned(), expression)));
    }
    let (base, estimator) = match name.split_once(':') {
        Some((base, estimator)) => (base, Some(estimator)),
        None => (name, None),
    };
    let base = if base == "tx" { "t*x" } else { base };
    let Some(row) = ALL.iter().find(|row| row.name == base) else {
        let names: Vec<_> = ALL.iter().map(|row| format!("`{}`", row.name)).collect();
        return Err(format!("there is no policy `{base}`; there is {}", names.join(", ")));
    };
    if estimator.is_some() && !row.takes_estimator {
        return Err(format!("policy `{base}` takes no estimator; write `{base}` alone"));
    }
    let learner = |name: &str| Learner::new(name, &settings.estimator);
    let rates = estimator.unwrap_or(estimators::DEFAULT);
    let own = || name.to_owned();
    let shared = |allocation, moments| -> Result<Box<dyn Policy>, String> {
        Ok(Box::new(CrawlRate::new(own(), learner(rates)?, allocation, moments)))
    };
    Ok(match base {
        "longevity" => Box::new(Longevity::default()),
        "longevity-curve" => Box::new(LongevityFit::new(settings.longevity)),
        "longevity-bound" => Box::new(LongevityBound::new(settings.longevity)),
        "every" => Box::new(ByAge { name: "every" }),
        "age" => Box::new(ByAge { name: "age" }),
        "random" => Box::new(Random::default()),
        "change-rate" => Box::new(ChangeRate { name: own(), learner: learner(rates)? }),
        "cg" => Box::new(ChangeRate { name: own(), learner: learner(base)? }),
        "change-probability" => Box::new(ChangeProbability { name: own(), learner: learner(rates)? }),
        "nad" | "sad" | "aad" | "gad" => Box::new(ChangeProbability { name: own(), learner: learner(base)? }),
        "t*x" => Box::new(AgeTimesChanges),
        "optimal" => shared(Allocation::Optimal(Objective::Poisson), Moments::Random)?,
        "optimal-periodic" => shared(Allocation::Optimal(Objective::Periodic), Moments::Even)?,
        "harmonic" => shared(Allocation::Optimal(Objective::Harmonic), Moments::Random)?,
        "proportional" => shared(Allocation::Proportional, Moments::Random)?,
        "uniform" => shared(Allocation::Uniform, Moments::Random)?,
        "nutch" => Box::new(nutch(settings.rules)),
        "stormcrawler" => Box::new(stormcrawler(settings.rules)),
        "heritrix" => Box::new(heritrix(settings.rules)),
        "fixed" => Box::new(fixed(settings.interval)),
        _ => Box::new(Utility::new(own(), learner(rates)?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unknown_ones_listed() {
        let settings = PolicySettings::default();
        for row in &ALL {
            assert_eq!(
                find(row.name, &settings).map(|found| found.name().to_owned()),
                Ok(row.name.to_owned())
            );
            let with = format!("{}:mle", row.name);
            let found = find(&with, &settings).map(|found| found.name().to_owned());
            assert_eq!(found.is_ok(), row.takes_estimator, "{with}");
        }
        let error = |name| find(name, &settings).err().unwrap_or_default();
        assert!(error("psychic").contains("`utility`"));
        assert!(error("utility:psychic").contains("there is no estimator `psychic`"));
        assert!(find(DEFAULT, &settings).is_ok() && find("tx", &settings).is_ok());
    }
}
