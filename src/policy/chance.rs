//! Chance in a score: a factor that is a page's own.
//!
//! The factor is a hash of the page and a seed. So a run can be repeated, and a replay draws as the live crawl does.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::page::PageId;
use crate::time::Timestamp;

/// How a policy draws the factor that a page's score is multiplied by. The factor stays the same while the page waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// A uniform number in (0, 1], drawn for each cycle.
    EachCycle(u64),
    /// One over an exponential waiting time with mean 1, drawn at each visit: the score reaches 1 at a random moment.
    EachVisit,
}

impl Draw {
    /// The factor for a page that has waited since this moment.
    pub(crate) fn factor(self, page: PageId, waits_since: Timestamp) -> f64 {
        match self {
            Self::EachCycle(cycle) => uniform(page, cycle),
            Self::EachVisit => {
                let wait = -uniform(page, waits_since.millis().cast_unsigned()).ln();
                1.0 / wait.max(1e-12)
            }
        }
    }
}

/// A number in (0, 1] that looks random, and is the same for the same page and seed.
fn uniform(page: PageId, seed: u64) -> f64 {
    let bits = xxh3_64_with_seed(&page.0.to_le_bytes(), seed) >> 11;
    (bits as f64 + 1.0) / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_the_mean_of_their_distribution() {
        let pages = || (0..20_000).map(PageId);
        let mean =
            |draw: Draw| pages().map(|page| draw.factor(page, Timestamp::default())).sum::<f64>() / 2e4;
        assert!((mean(Draw::EachCycle(3)) - 0.5).abs() < 0.01);
        let waits =
            pages().map(|page| 1.0 / Draw::EachVisit.factor(page, Timestamp::default())).sum::<f64>() / 2e4;
        assert!((waits - 1.0).abs() < 0.02, "{waits}");
    }
}
