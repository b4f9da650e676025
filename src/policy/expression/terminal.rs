//! The terminals of formulas: facts about a page, as numbers.
//!
//! Time is counted in cycles, as in Santos et al. 2013 (§4).

use serde::{Deserialize, Serialize};

use crate::estimate::bias_reduced;
use crate::estimate::weighted::VisitWeights;
use crate::policy::traces::Traces;

/// A fact about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Terminal {
    /// n: visits that had something to compare with.
    Visits,
    /// X: visits that found a change.
    Changes,
    /// t: cycles since the last visit.
    Waiting,
    /// The estimator `cg`, in changes a visit.
    Cg,
    /// The weighted share of visits that found a change, as `nad`.
    Nad,
    /// The same as `sad`.
    Sad,
    /// The same as `aad`.
    Aad,
    /// The same as `gad`.
    Gad,
    /// The mean of the Gamma distribution over its rate.
    Gamma,
    /// Cycles since a visit last found a change; since the first copy, if none did.
    Quiet,
    /// Cycles since it was found.
    Age,
    /// Links from a seed.
    Depth,
    /// Importance.
    Weight,
    /// The mean divergence that visits found.
    Divergence,
    /// The mean lifetime of its content, in cycles.
    Longevity,
    /// 0 static, 1 churn, 2 scroll.
    Behaviour,
    /// How often its own dates were right about a change, or about no change.
    Signals,
}

impl Terminal {
    /// Every terminal.
    pub const ALL: [Self; 17] = [
        Self::Visits,
        Self::Changes,
        Self::Waiting,
        Self::Cg,
        Self::Nad,
        Self::Sad,
        Self::Aad,
        Self::Gad,
        Self::Gamma,
        Self::Quiet,
        Self::Age,
        Self::Depth,
        Self::Weight,
        Self::Divergence,
        Self::Longevity,
        Self::Behaviour,
        Self::Signals,
    ];

    /// The terminals of Santos et al. 2013 (§4).
    pub const PAPERS: [Self; 3] = [Self::Visits, Self::Changes, Self::Waiting];

    /// The name in a formula.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Visits => "n",
            Self::Changes => "X",
            Self::Waiting => "t",
            Self::Cg => "cg",
            Self::Nad => "nad",
            Self::Sad => "sad",
            Self::Aad => "aad",
            Self::Gad => "gad",
            Self::Gamma => "gamma",
            Self::Quiet => "quiet",
            Self::Age => "age",
            Self::Depth => "depth",
            Self::Weight => "weight",
            Self::Divergence => "divergence",
            Self::Longevity => "longevity",
            Self::Behaviour => "behaviour",
            Self::Signals => "signals",
        }
    }

    /// A description in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Visits => "visits that had something to compare with",
            Self::Changes => "visits that found a change",
            Self::Waiting => "cycles since a visit last saw it",
            Self::Cg => "changes a visit, by Cho & Garcia-Molina's estimator",
            Self::Nad => "the share of visits that found a change",
            Self::Sad => "1 if the last visit found a change",
            Self::Aad => "the share, later visits counting more",
            Self::Gad => "the share, each visit counting twice as much as the one before",
            Self::Gamma => "changes a cycle, by irregular intervals and a prior",
            Self::Quiet => "cycles since a visit last found a change",
            Self::Age => "cycles since the page was found",
            Self::Depth => "links from a seed",
            Self::Weight => "its importance",
            Self::Divergence => "how far it moved from visit to visit, 0 to 1",
            Self::Longevity => "cycles that its content lasts",
            Self::Behaviour => "0 static, 1 churn, 2 scroll",
            Self::Signals => "times that its own dates were right",
        }
    }

    /// The terminal of this name; an error that lists all names if there is none.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let name = if name == "x" { "X" } else { name };
        Self::ALL.into_iter().find(|terminal| terminal.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|terminal| format!("`{}`", terminal.name())).collect();
            format!(
                "there is no `{name}`; there is {}, and the functions `log`, `exp`, `pow`",
                names.join(", ")
            )
        })
    }

    /// The range of its values.
    pub(super) const fn range(self) -> (f64, f64) {
        match self {
            Self::Sad | Self::Nad | Self::Aad | Self::Gad | Self::Divergence => (0.0, 1.0),
            Self::Behaviour => (0.0, 2.0),
            Self::Cg => (0.0, 30.0),
            _ => (0.0, 1e9),
        }
    }

    /// Its value for a page.
    pub fn of(self, facts: &Facts<'_>) -> f64 {
        let (visits, changes) = (f64::from(facts.visits), f64::from(facts.changes));
        let of_visits = |sum: f64| if facts.visits > 0 { sum / visits } else { 0.0 };
        match self {
            Self::Visits => visits,
            Self::Changes => changes,
            Self::Waiting => facts.waiting,
            Self::Cg => bias_reduced::ratio(visits, changes),
            Self::Nad => of_visits(changes),
            Self::Sad => facts.traces.share(VisitWeights::Last),
            Self::Aad => facts.traces.share(VisitWeights::Linear),
            Self::Gad => facts.traces.share(VisitWeights::Doubling),
            Self::Gamma => facts.traces.rate() * facts.cycle_days,
            Self::Quiet => in_cycles(facts.traces.quiet_days(), facts.cycle_days) + facts.waiting,
            Self::Age => facts.age,
            Self::Depth => f64::from(facts.depth),
            Self::Weight => facts.weight,
            Self::Divergence => of_visits(facts.traces.moved()),
            Self::Longevity => facts.traces.lifetime_days() / facts.cycle_days,
            Self::Behaviour => facts.traces.behaviour(),
            Self::Signals => f64::from(facts.signals),
        }
    }
}

/// Days in cycles. The division must not leave a rounding error beside a whole number of cycles: pages with the same score
/// would come in another order.
pub(in crate::policy) fn in_cycles(days: f64, cycle_days: f64) -> f64 {
    let cycles = days / cycle_days;
    let whole = cycles.round();
    if (cycles - whole).abs() < 1e-9 * whole.max(1.0) { whole } else { cycles }
}

impl From<Terminal> for String {
    fn from(terminal: Terminal) -> Self {
        terminal.name().to_owned()
    }
}

impl TryFrom<String> for Terminal {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::from_name(&name)
    }
}

/// The facts about a page that terminals are read from.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Visits that had something to compare with.
    pub visits: u32,
    /// Visits among them that found a change.
    pub changes: u32,
    /// Time since the copy was last confirmed, in cycles.
    pub waiting: f64,
    /// Time since the page was found, in cycles.
    pub age: f64,
    /// Links from a seed.
    pub depth: u32,
    /// Importance.
    pub weight: f64,
    /// How often the page's own dates were right.
    pub signals: u32,
    /// The length of a cycle, in days.
    pub cycle_days: f64,
    /// The formula's memory of the page.
    pub traces: &'a Traces,
}
