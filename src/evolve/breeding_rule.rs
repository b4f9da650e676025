//! Which formulas of a generation have children.

use serde::{Deserialize, Serialize};

/// Which formulas have children.
///
/// Santos et al. 2013 have two rules (§4; Listing 1.1, lines 11 and 12). Both parents of a crossover are drawn at random among
/// the top formulas of the generation. And the best formulas of all generations (N_b) go on evolving. Here each can be left
/// out, to see its effect. Parents of other children always win a tournament of two over the whole generation (§5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BreedingRule {
    /// Both rules.
    #[default]
    Paper,
    /// Only: crossover among the top.
    TopParents,
    /// Only: the best of all generations go on.
    KeptGoOn,
    /// Neither: all parents win a tournament, only the best formula goes on.
    Tournament,
}

impl BreedingRule {
    /// All rules.
    pub const ALL: [Self; 4] = [Self::Tournament, Self::TopParents, Self::KeptGoOn, Self::Paper];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::TopParents => "top-parents",
            Self::KeptGoOn => "kept-go-on",
            Self::Tournament => "tournament",
        }
    }

    /// The rule of files that don't name one: they were written when there was no other.
    pub(super) const fn of_older_files() -> Self {
        Self::Tournament
    }

    /// Are the parents of a crossover drawn among the top formulas?
    pub(super) const fn crosses_the_top(self) -> bool {
        matches!(self, Self::Paper | Self::TopParents)
    }

    /// Do the best of all generations go on?
    pub(super) const fn kept_go_on(self) -> bool {
        matches!(self, Self::Paper | Self::KeptGoOn)
    }
}
