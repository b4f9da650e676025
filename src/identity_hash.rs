//! Maps whose keys are hashes already, or numbers that we give out: nobody can choose them so that they collide, and to hash
//! them well would only cost time.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by keys that are hashes, of 32, 64 or 128 bits.
pub(crate) type ByHash<K, V> = HashMap<K, V, BuildHasherDefault<AsIs>>;

/// Takes a key for its own hash.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    /// Maps take a few of the highest bits, and a number of the lowest.
    fn write_u32(&mut self, key: u32) {
        self.0 = u64::from(key) | u64::from(key) << 32;
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

/// A map by numbers that we give out ourselves, such as the ids of a store.
pub(crate) type ById<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

/// Spreads numbers that follow one another.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    /// Multiplied by 2⁶⁴ ÷ the golden ratio (Knuth, The Art of Computer Programming, vol. 3, §6.4).
    fn write_u64(&mut self, key: u64) {
        self.0 = (self.0.rotate_left(32) ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_i64(&mut self, key: i64) {
        self.write_u64(key.cast_unsigned());
    }
}
