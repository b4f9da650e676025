//! Seeds and draws: the same on every machine, whatever else is drawn.
//!
//! A seed is a hash of what it is for (web, host, page, region, block), so that nothing drawn for one thing moves what
//! is drawn for another. Only integer arithmetic and plain `f64` operations are used: no `exp` or `ln`, whose last bit
//! differs from one machine's library to the next.

use rand::Rng as _;
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The seed of a part of what `seed` is for.
pub(crate) fn sub_seed(seed: u64, part: u64) -> u64 {
    xxh3_64_with_seed(&part.to_le_bytes(), seed)
}

/// A number in [0, 1) that belongs to a seed.
pub(super) fn unit(seed: u64) -> f64 {
    // The 53 bits that an f64 holds exactly.
    (seed >> 11) as f64 / (1u64 << 53) as f64
}

/// A stream of draws.
pub(super) struct SeededDraw(Pcg64Mcg);

impl SeededDraw {
    pub(super) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::new(u128::from(seed) << 64 | u128::from(sub_seed(seed, 0))))
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// True with the probability `share`.
    pub(super) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// A number below `bound`; 0 if that is 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// One of them; the type's default if there are none.
    pub(crate) fn pick<T: Copy + Default>(&mut self, of: &[T]) -> T {
        of.get(self.below(of.len() as u64) as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_the_same_on_every_machine() {
        let mut draw = SeededDraw::new(sub_seed(7, 3));
        let drawn = [draw.bits(), draw.below(1000), draw.below(1000)];
        assert_eq!(drawn, DRAWN);
        assert_eq!(unit(u64::MAX), 1.0 - f64::EPSILON / 2.0);
        assert_eq!(draw.below(0), 0);
    }

    /// Written down once; a change here changes every web there is.
    const DRAWN: [u64; 3] = [17_604_153_800_011_391_684, 330, 190];
}
