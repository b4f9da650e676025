//! The name on the command line → the policy.
//!
//! A policy has one row here: its name, a sentence about it, and its constructor. A policy that learns change rates takes an
//! estimator behind a colon: `utility:mle`. Some policies of the papers have short names: `nad` is `change-probability:nad`.

use super::formula::Formula;
pub use super::interval_rule::RuleScale;
use super::{
    Policy, age, age_times_changes, allocation, calibrated, change_probability, change_rate,
    estimated_period, fixed, heritrix, longevity, longevity_bound, longevity_curve, nutch, random,
    stormcrawler, user_centric, utility,
};
use crate::estimate::learner::Learner;
use crate::estimate::registry::{self as estimators, EstimatorSettings};
use crate::near_names;
use crate::quality::measure::MeasureId;
use crate::time::Age;

/// Every policy, the default first; the short names of the papers' policies come last.
pub const ALL: &[PolicyRow] = &[
    PolicyRow {
        name: "calibrated",
        estimator: Takes::None,
        about: "the visit that brings most of what will last, by rates that learn from all pages",
        make: calibrated::make,
    },
    PolicyRow {
        name: "calibrated-freshness",
        estimator: Takes::None,
        about: "the same for copies that are equal to their pages, however small a change",
        make: calibrated::make_for_freshness,
    },
    PolicyRow {
        name: "calibrated-alone",
        estimator: Takes::None,
        about: "the same, deaf to signals: sitemap dates, feeds, hub links, pings",
        make: calibrated::make_without_signals,
    },
    PolicyRow {
        name: "longevity",
        estimator: Takes::None,
        about: "the same, by how far each page and its kin move",
        make: longevity::make,
    },
    PolicyRow {
        name: "utility",
        estimator: Takes::Any,
        about: "the visit that gains most: the time for which a fresh copy lasts",
        make: utility::make,
    },
    PolicyRow {
        name: "longevity-curve",
        estimator: Takes::None,
        about: "the same from a curve fitted to each page (Olston & Pandey 2008)",
        make: longevity_curve::make,
    },
    PolicyRow {
        name: "longevity-bound",
        estimator: Takes::None,
        about: "the same from bounds, with no curve assumed",
        make: longevity_bound::make,
    },
    PolicyRow {
        name: "user-centric",
        estimator: Takes::None,
        about: "the visit that does most for search results, see --queries (Pandey & Olston 2005)",
        make: user_centric::make,
    },
    PolicyRow {
        name: "every",
        estimator: Takes::None,
        about: "all pages each cycle, also those that are gone or fail; the one left alone longest first",
        make: age::make,
    },
    PolicyRow {
        name: "age",
        estimator: Takes::None,
        about: "round robin: the page left alone longest",
        make: age::make,
    },
    PolicyRow {
        name: "random",
        estimator: Takes::None,
        about: "any page, drawn again each cycle",
        make: random::make,
    },
    PolicyRow {
        name: "change-rate",
        estimator: Takes::Any,
        about: "the page that changes most often",
        make: change_rate::make,
    },
    PolicyRow {
        name: "change-probability",
        estimator: Takes::Any,
        about: "the page most likely to have changed",
        make: change_probability::make,
    },
    PolicyRow {
        name: "estimated-period",
        estimator: Takes::AnyElse("two-interval"),
        about: "each page again after its estimated period (Grimes & Ford 2008)",
        make: estimated_period::make,
    },
    PolicyRow {
        name: "optimal",
        estimator: Takes::Any,
        about: "rates that are best for freshness, at random moments (Azar et al.)",
        make: allocation::make_optimal,
    },
    PolicyRow {
        name: "optimal-periodic",
        estimator: Takes::Any,
        about: "the same at even distances (Cho & Garcia-Molina)",
        make: allocation::make_optimal_periodic,
    },
    PolicyRow {
        name: "harmonic",
        estimator: Takes::Any,
        about: "rates that give up no page (LambdaCrawl)",
        make: allocation::make_harmonic,
    },
    PolicyRow {
        name: "proportional",
        estimator: Takes::Any,
        about: "as often as a page changes",
        make: allocation::make_proportional,
    },
    PolicyRow {
        name: "uniform",
        estimator: Takes::None,
        about: "all pages equally often, at random moments",
        make: allocation::make_uniform,
    },
    PolicyRow {
        name: "sbr",
        estimator: Takes::Any,
        about: "fewest stale pages: more than --tau of the text changed (Pandey & Olston 2005)",
        make: allocation::by_shingles::make_sbr,
    },
    PolicyRow {
        name: "ebr",
        estimator: Takes::Any,
        about: "fewest clicks on pages of which at least --tau changed (Wolf et al. 2002)",
        make: allocation::by_shingles::make_ebr,
    },
    PolicyRow { name: "nutch", estimator: Takes::None, about: "the rule of Apache Nutch", make: nutch::make },
    PolicyRow {
        name: "stormcrawler",
        estimator: Takes::None,
        about: "the rule of Apache StormCrawler",
        make: stormcrawler::make,
    },
    PolicyRow {
        name: "heritrix",
        estimator: Takes::None,
        about: "the rule of Heritrix 1",
        make: heritrix::make,
    },
    PolicyRow {
        name: "fixed",
        estimator: Takes::None,
        about: "the same interval for every page, see --interval",
        make: fixed::make,
    },
    PolicyRow {
        name: "nad",
        estimator: Takes::Only("nad"),
        about: "change-probability:nad (Santos et al. 2013)",
        make: change_probability::make,
    },
    PolicyRow {
        name: "sad",
        estimator: Takes::Only("sad"),
        about: "change-probability:sad",
        make: change_probability::make,
    },
    PolicyRow {
        name: "aad",
        estimator: Takes::Only("aad"),
        about: "change-probability:aad",
        make: change_probability::make,
    },
    PolicyRow {
        name: "gad",
        estimator: Takes::Only("gad"),
        about: "change-probability:gad",
        make: change_probability::make,
    },
    PolicyRow { name: "cg", estimator: Takes::Only("cg"), about: "change-rate:cg", make: change_rate::make },
    PolicyRow {
        name: "t*x",
        estimator: Takes::None,
        about: "age times changes seen; also `tx`",
        make: age_times_changes::make,
    },
];

/// A row of the registry: one policy.
pub struct PolicyRow {
    /// The name on the command line and in the store.
    pub name: &'static str,
    /// The estimator that the policy learns change rates by.
    pub estimator: Takes,
    /// The policy in a few words.
    pub about: &'static str,
    /// Makes the policy.
    pub make: fn(&PolicyRequest<'_>) -> Made,
}

/// A policy, or a sentence about what is wrong with the request.
pub type Made = Result<Box<dyn Policy>, String>;

/// Which estimator a policy may be asked for with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// The name stands alone.
    None,
    /// Any estimator may stand behind a colon; without one it is the default.
    Any,
    /// Any estimator may stand behind a colon; without one it is this one.
    AnyElse(&'static str),
    /// The name stands alone, and means this estimator.
    Only(&'static str),
}

impl PolicyRow {
    /// May an estimator stand behind the name?
    pub fn takes_estimator(&self) -> bool {
        matches!(self.estimator, Takes::Any | Takes::AnyElse(_))
    }
}

/// The request that a policy is made for.
#[derive(Clone, Copy, Debug)]
pub struct PolicyRequest<'a> {
    /// The name of the policy, with the estimator if one was asked for: `utility:mle`.
    pub name: &'a str,
    /// The name of the estimator.
    pub estimator: &'a str,
    /// The settings of all policies.
    pub settings: &'a PolicySettings,
}

impl PolicyRequest<'_> {
    /// The estimator of the request, ready to learn.
    pub fn learner(&self) -> Result<Learner, String> {
        Learner::new(self.estimator, &self.settings.estimator)
    }

    /// The measure of gains in search results, for a policy that can't do without.
    pub fn queries(&self) -> Result<MeasureId, String> {
        self.settings.queries.ok_or_else(|| format!("policy `{}` {NEEDS_QUERIES}", self.name))
    }
}

/// What is missing without queries, and where to get them.
const NEEDS_QUERIES: &str = "needs to know what people search for: give a file with `--queries FILE` (a query a line, a tab and its \
    frequency behind it if you have one), take them from a web server's log with `--queries-from access.log --param q`, or search \
    with `freshet search` for a while and use the queries that it keeps with `--queries-from search`";

/// The policies that can't be made without queries.
pub const NEED_QUERIES: [&str; 1] = ["user-centric"];

/// The settings of all policies.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySettings {
    /// The settings of all estimators.
    pub estimator: EstimatorSettings,
    /// The scale of the intervals of other crawlers' rules.
    pub rules: RuleScale,
    /// The interval of `fixed`.
    pub interval: Age,
    /// The settings of the policies of Olston & Pandey 2008.
    pub longevity: LongevitySettings,
    /// τ of `sbr` and `ebr`: the share of fragments from which a change counts (Pandey & Olston 2005, §6.1).
    pub tau: f64,
    /// How gains in search results are measured; `None`: there are no queries.
    pub queries: Option<MeasureId>,
}

/// τ unless another is asked for: changes of a tenth of the text or less don't make a copy stale.
pub const USUAL_TAU: f64 = 0.1;

/// The settings of the policies of Olston & Pandey 2008.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongevitySettings {
    /// ρ: bounds the time between visits to a page that is believed not to change any more (§4.5).
    pub risk: f64,
    /// l: in its learning phase, a page that was refreshed n times waits l·n days at most (§4.2).
    pub learning_days: f64,
    /// The utility at which a page is visited; `None`: the budget decides.
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
        Self {
            estimator: EstimatorSettings::default(),
            rules: RuleScale::Day(day),
            interval: day,
            longevity,
            tau: USUAL_TAU,
            queries: None,
        }
    }
}

/// The policy that is used if none is named.
pub const DEFAULT: &str = "calibrated";

/// Aims of a crawl, each with the policy that serves it best on recorded pages: copies that are close to the pages, copies
/// that are equal to the pages, or changes found.
pub const AIMS: [(&str, &str); 3] =
    [("staleness", DEFAULT), ("freshness", "calibrated-freshness"), ("changes", "change-probability")];

/// The aim that is used if none is named.
pub const DEFAULT_AIM: &str = "staleness";

/// The prefix of a formula: `expr:t * X / n`.
pub const FORMULA: &str = "expr:";
/// The prefix of a file that `freshet evolve` wrote. Commands replace it by its formula.
pub const EVOLVED: &str = "evolved:";

/// Splits a list of names at its commas, but not at those within the parentheses of a formula.
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

/// Other spellings of a name.
const SPELLINGS: &[(&str, &str)] = &[("tx", "t*x")];

/// The policy of that name, or what is wrong with the name.
pub fn find(name: &str, settings: &PolicySettings) -> Made {
    if let Some(formula) = name.strip_prefix(FORMULA) {
        let expression =
            formula.parse().map_err(|error| format!("policy `{name}`: in the formula, {error}"))?;
        return Ok(Box::new(Formula::new(name.to_owned(), expression)));
    }
    let spelt = SPELLINGS.iter().find(|(spelling, _)| *spelling == name).map_or(name, |(_, name)| *name);
    let (base, asked) = match spelt.split_once(':') {
        Some((base, estimator)) => (base, Some(estimator)),
        None => (spelt, None),
    };
    let Some(row) = ALL.iter().find(|row| row.name == base) else {
        let instead = near_names::instead(base, ALL.iter().map(|row| row.name));
        return Err(format!("there is no policy `{base}`; {instead}"));
    };
    let estimator = match (row.estimator, asked) {
        (Takes::Any | Takes::AnyElse(_), Some(asked)) => asked,
        (_, Some(_)) => return Err(format!("policy `{base}` takes no estimator; write `{base}` alone")),
        (Takes::Only(estimator) | Takes::AnyElse(estimator), None) => estimator,
        (Takes::Any | Takes::None, None) => estimators::DEFAULT,
    };
    (row.make)(&PolicyRequest { name: spelt, estimator, settings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unknown_ones_listed() {
        let settings = PolicySettings { queries: Some(MeasureId(1)), ..PolicySettings::default() };
        for row in ALL {
            assert_eq!(
                find(row.name, &settings).map(|found| found.name().to_owned()),
                Ok(row.name.to_owned())
            );
            let with = format!("{}:mle", row.name);
            let found = find(&with, &settings).map(|found| found.name().to_owned());
            assert_eq!(found.is_ok(), row.takes_estimator(), "{with}");
        }
        let error = |name| find(name, &settings).err().unwrap_or_default();
        assert!(error("psychic").contains("`utility`"));
        assert!(error("utility:psychic").contains("there is no estimator `psychic`"));
        assert!(find(DEFAULT, &settings).is_ok() && find("tx", &settings).is_ok());
    }
}
