//! A sort for hashes: hashes in any order → the distinct ones, ascending.
//!
//! Hashes are spread evenly: one pass puts each into the bucket that its highest bits name, one or two buckets a hash,
//! and next to nothing is left to sort. Those that are not spread evenly take longer, but never more than n·log n.

/// So few are sorted at once.
const FEW: usize = 64;

/// There are at most 2 to the power of this many buckets: more would not fit into the nearest caches.
const MOST_BITS: u32 = 14;

/// A bucket that holds more is sorted by itself.
const CROWD: u32 = 16;

/// Sorts the hashes of one text after the other, in the same memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct HashSorter {
    /// The hashes, bucket by bucket.
    spread: Vec<u64>,
    /// Where the next hash of each bucket goes.
    ends: Vec<u32>,
}

impl HashSorter {
    /// Each hash once, in ascending order.
    pub(super) fn sort(&mut self, hashes: &[u64]) -> Vec<u64> {
        match u32::try_from(hashes.len()) {
            Ok(count) if hashes.len() > FEW => self.sort_many(hashes, count),
            _ => {
                let mut ascending = hashes.to_vec();
                ascending.sort_unstable();
                ascending.dedup();
                ascending
            }
        }
    }

    fn sort_many(&mut self, hashes: &[u64], count: u32) -> Vec<u64> {
        let Self { spread, ends } = self;
        let bits = (count.ilog2() + 1).min(MOST_BITS);
        let any = hashes.iter().fold(0, |any, hash| any | hash);
        let shift = (u64::BITS - any.leading_zeros()).saturating_sub(bits);
        ends.clear();
        ends.resize(1 << bits, 0);
        for hash in hashes {
            ends[(hash >> shift) as usize] += 1;
        }
        let (mut before, mut fullest) = (0, 0);
        for end in &mut *ends {
            let held = *end;
            fullest = held.max(fullest);
            *end = before;
            before += held;
        }
        if spread.len() < hashes.len() {
            spread.resize(hashes.len(), 0);
        }
        let spread = &mut spread[..hashes.len()];
        for hash in hashes {
            let end = &mut ends[(hash >> shift) as usize];
            spread[*end as usize] = *hash;
            *end += 1;
        }
        if fullest > CROWD {
            let mut start = 0;
            for end in &*ends {
                if *end - start > CROWD {
                    spread[start as usize..*end as usize].sort_unstable();
                }
                start = *end;
            }
        }
        settle(spread);
        merge(spread)
    }
}

/// Moves each hash up to two places back to where it belongs: nearly all are in order then. Whether one has to move is
/// hard to guess, so that nothing branches on it.
fn settle(spread: &mut [u64]) {
    let (mut larger, mut largest) = (0, 0);
    let behind = spread.len().saturating_sub(2);
    for at in 0..spread.len() {
        let hash = spread[at];
        let small = hash.min(largest);
        largest = hash.max(largest);
        let out = small.min(larger);
        larger = small.max(larger);
        if at >= 2 {
            spread[at - 2] = out;
        }
    }
    if let [a, b] = &mut spread[behind..] {
        (*a, *b) = (larger, largest);
    }
}

/// Inserts one hash after the other, each where it belongs among the last few, unless it is there.
fn merge(spread: &[u64]) -> Vec<u64> {
    let mut ascending = vec![0; spread.len()];
    let (mut count, mut largest) = (0, 0);
    for hash in spread {
        if largest <= *hash {
            // Some texts say most things twice: whether this one is new is added, not branched on.
            let new = largest < *hash || count == 0;
            ascending[count] = *hash;
            count += usize::from(new);
            largest = *hash;
            continue;
        }
        let mut place = count;
        while place > 0 && ascending[place - 1] >= *hash {
            place -= 1;
        }
        if ascending[place] != *hash {
            ascending.copy_within(place..count, place + 1);
            ascending[place] = *hash;
            count += 1;
        }
    }
    ascending.truncate(count);
    ascending
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(hashes: &[u64]) -> Vec<u64> {
        let mut sorted = hashes.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        sorted
    }

    #[test]
    fn hashes_that_crowd_together_are_sorted_too() {
        let mut ascending = HashSorter::default();
        let spread = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for count in [0, 1, 2, 64, 65, 66, 1000, 40_000] {
            let even: Vec<u64> = (0..count).map(spread).collect();
            let crowd: Vec<u64> =
                even.iter().map(|hash| u64::MAX - (hash >> 40)).chain([0, u64::MAX]).collect();
            let few: Vec<u64> = even.iter().map(|hash| hash % 7).collect();
            let same = vec![u64::MAX; even.len()];
            let falling: Vec<u64> = (0..count).rev().collect();
            for hashes in [even, crowd, few, same, falling] {
                assert_eq!(ascending.sort(&hashes), plain(&hashes));
            }
        }
    }

    proptest! {
        #[test]
        fn each_hash_is_there_once_in_ascending_order(
            lists in prop::collection::vec((prop::collection::vec(any::<u64>(), 0..600), 0_u32..64), 1..3),
        ) {
            let mut ascending = HashSorter::default();
            for (mut hashes, shift) in lists {
                hashes.iter_mut().for_each(|hash| *hash >>= shift);
                hashes.extend_from_within(..hashes.len() / 3);
                prop_assert_eq!(ascending.sort(&hashes), plain(&hashes));
            }
        }
    }
}
