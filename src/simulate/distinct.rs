//! Values that many pages share, each kept once and known by its number.

use xxhash_rust::xxh3::xxh3_128;

use crate::identity_hash::ByHash;

/// Values with numbers, in the order in which they came.
#[derive(Debug)]
pub(crate) struct Distinct<T> {
    all: Vec<T>,
    /// Numbers by a hash of the bytes of a value. With 128 bits no two hashes are the same.
    numbers: ByHash<u128, u32>,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { all: Vec::new(), numbers: ByHash::default() }
    }
}

impl<T> Distinct<T> {
    /// The number of the value with these bytes. A new value is kept.
    pub(crate) fn number(&mut self, bytes: &[u8], value: T) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(xxh3_128(bytes)).or_insert(next);
        if number == next {
            self.all.push(value);
        }
        number
    }

    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.all.get(number as usize)
    }

    /// How many values there are; their numbers are 0, 1, 2 and so on.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.numbers.clear();
    }
}
