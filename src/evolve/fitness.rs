//! What formulas are bred for, and how that is counted.

use serde::{Deserialize, Serialize};

use crate::simulate::metric::discount;
use crate::simulate::truth::Truth;

/// What formulas are bred for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fitness {
    /// The share of visits that found a change (Santos et al. 2013).
    #[default]
    ChangeRate,
    /// The same, with earlier visits of a cycle counting more (the journal version of 2015).
    Ndcg,
    /// The share of copies that have the text that the page has.
    Freshness,
}

impl Fitness {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ChangeRate, Self::Ndcg, Self::Freshness];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ChangeRate => "changerate",
            Self::Ndcg => "ndcg",
            Self::Freshness => "freshness",
        }
    }
}

/// A copy of a page, from the visit that took it to the one that replaces it.
#[derive(Clone, Copy)]
pub(super) struct HeldCopy {
    pub page: u32,
    pub last: u32,
    /// The cycle of the visit that replaces it, or the last cycle of all.
    pub until: u32,
}

/// The counts of a replay that a fitness is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct FitnessTally {
    pub visits: u64,
    pub changed: u64,
    pub pages: u64,
    fresh: u64,
    /// For each cycle: the discounted gain of its visits, and their number.
    gains: Vec<f64>,
    room: Vec<usize>,
    /// For each cycle: by how much the number of stale copies rises.
    stale: Vec<i64>,
}

impl FitnessTally {
    pub(super) fn new(cycles: u32) -> Self {
        Self { stale: vec![0; cycles as usize + 2], ..Self::default() }
    }

    /// Counts the discounted gain of the visits of a cycle.
    pub(crate) fn ordered(&mut self, cycle: u32, visits: usize, gain: f64) {
        self.gains.resize(cycle as usize, 0.0);
        self.room.resize(cycle as usize, 0);
        self.gains.push(gain);
        self.room.push(visits);
    }

    /// Counts a copy that is replaced, or held at the end.
    pub(super) fn end(
        &mut self,
        truth: &Truth,
        held: HeldCopy,
        is_entry: bool,
        fitness: Fitness,
        is_over: bool,
    ) {
        let HeldCopy { page, last, until } = held;
        match fitness {
            Fitness::ChangeRate => {}
            Fitness::Ndcg => truth.stale(page, last, until, |cycles| {
                for (cycle, change) in [(cycles.start, 1), (cycles.end, -1)] {
                    if let Some(stale) = self.stale.get_mut(cycle as usize) {
                        *stale += change;
                    }
                }
            }),
            Fitness::Freshness => {
                // From the cycle of the visit on, but for the warm-up's, up to the one before the next visit.
                let until = if is_over { until } else { until - 1 };
                let all = until + 1 - last - u32::from(is_entry);
                let mut stale = 0;
                truth.stale(page, last, until, |cycles| stale += cycles.len() as u64);
                self.fresh += u64::from(all) - stale;
            }
        }
    }

    pub(super) fn fitness(&self, fitness: Fitness) -> f64 {
        let share = |part: u64, all: u64| if all > 0 { part as f64 / all as f64 } else { 0.0 };
        match fitness {
            Fitness::ChangeRate => share(self.changed, self.visits),
            Fitness::Freshness => share(self.fresh, self.pages),
            Fitness::Ndcg => {
                let mut stale = 0;
                let (mut sum, mut count) = (0.0, 0_u32);
                let mut discounts = vec![0.0];
                for (cycle, room) in self.room.iter().enumerate() {
                    stale += self.stale.get(cycle).copied().unwrap_or(0);
                    if *room == 0 {
                        continue;
                    }
                    let most = (*room).min(usize::try_from(stale).unwrap_or(0));
                    while discounts.len() <= most {
                        let rank = discounts.len() - 1;
                        discounts.push(discounts.last().copied().unwrap_or(0.0) + discount(rank));
                    }
                    let best = discounts.get(most).copied().unwrap_or(0.0);
                    let gain = self.gains.get(cycle).copied().unwrap_or(0.0);
                    sum += if best > 0.0 { gain / best } else { 1.0 };
                    count += 1;
                }
                if count > 0 { sum / f64::from(count) } else { 0.0 }
            }
        }
    }
}
