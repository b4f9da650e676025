//! Maps whose keys are hashes already: to hash them again would only cost time.

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
