//! What is remembered of how far a page moved, for policies that go by it.

use crate::compact::{push_float, take_float};

/// A memory of the policy's own; one that another policy left is taken for none.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Content {
    #[default]
    Nothing,
    Replaced(Replaced),
}

impl Content {
    /// Appends its compact form: nothing for nothing.
    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Nothing => {}
            Self::Replaced(replaced) => {
                bytes.push(1);
                replaced.push_bytes(bytes);
            }
        }
    }

    /// Undoes [`Self::push_bytes`]; `None` if that is not what wrote it.
    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let Some((kind, more)) = rest.split_first() else { return Some(Self::Nothing) };
        *rest = more;
        match kind {
            1 => Replaced::take_bytes(rest).map(Self::Replaced),
            _ => None,
        }
    }
}

/// How much of a page was replaced in how long a time, and what its last visit saw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replaced {
    /// Divergences of visits from what was held, summed: whole pages.
    pub pages: f64,
    /// Days in which it could have been replaced and was not yet.
    pub days: f64,
    /// The divergence that the last visit found, and the days since the one before.
    pub last: f64,
    pub last_days: f64,
}

/// What a page that was hardly watched is taken for, in pages replaced and in days: one in ten days, and hardly believed.
const UNKNOWN: (f64, f64) = (0.05, 0.5);

impl Replaced {
    /// Takes in a visit that found this divergence after so many days.
    ///
    /// What is replaced when is not known, only that it was before the visit. A fragment that was has been there for
    /// 1/s − t/(e^(st) − 1) days in the mean, if fragments go at a rate of s; one that was not, for all t (the
    /// expectation step for exponential lifetimes that are censored). The rate is the page's own, this visit included,
    /// so what is remembered depends on nothing but the page's visits.
    pub fn add(&mut self, divergence: f64, days: f64) {
        let divergence = divergence.clamp(0.0, 1.0);
        let rate = (self.pages + divergence + UNKNOWN.0) / (self.days + days + UNKNOWN.1);
        self.pages += divergence;
        self.days += (1.0 - divergence) * days + divergence * lifetime_within(rate, days);
        (self.last, self.last_days) = (divergence, days);
    }

    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        [self.pages, self.days, self.last, self.last_days]
            .iter()
            .for_each(|number| push_float(bytes, *number));
    }

    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let mut float = || take_float(rest);
        Some(Self { pages: float()?, days: float()?, last: float()?, last_days: float()? })
    }
}

/// The mean lifetime of what goes at this rate, if it is known to have gone within so many days: 1/s − t/(e^(st) − 1).
fn lifetime_within(rate: f64, days: f64) -> f64 {
    let lives = rate * days;
    // The difference of two large numbers, where the time is short: by its series.
    if lives < 1e-3 { days * (0.5 - lives / 12.0) } else { 1.0 / rate - days / lives.min(600.0).exp_m1() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_went_lived_for_half_of_a_short_time_and_for_its_mean_of_a_long_one() {
        assert!((lifetime_within(1e-6, 10.0) - 5.0).abs() < 1e-4);
        assert!((lifetime_within(1.0, 1e4) - 1.0).abs() < 1e-9);
        let (below, above) = (lifetime_within(0.999e-3, 1.0), lifetime_within(1.001e-3, 1.0));
        assert!((below - above).abs() < 1e-6, "the series meets the formula");
    }

    #[test]
    fn the_rate_of_a_page_that_churns_is_found_whatever_the_interval() {
        for days in [0.5, 3.0, 10.0] {
            let mut replaced = Replaced::default();
            let rate = 0.2_f64;
            (0..4000).for_each(|_| replaced.add(-(-rate * days).exp_m1(), days));
            let found = replaced.pages / replaced.days;
            assert!((found / rate - 1.0).abs() < 0.05, "{found} after {days} days");
        }
    }

    proptest! {
        #[test]
        fn sums_stay_numbers(visits in prop::collection::vec((any::<f64>(), 1e-9..1e12f64), 0..50)) {
            let mut replaced = Replaced::default();
            for (divergence, days) in visits {
                let divergence = if divergence.is_nan() { 1.0 } else { divergence };
                let before = replaced;
                replaced.add(divergence, days);
                prop_assert!(replaced.pages >= before.pages && replaced.days >= before.days);
                prop_assert!(replaced.pages.is_finite() && replaced.days.is_finite());
            }
        }
    }
}
