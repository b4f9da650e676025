//! The smallest hashes of a set of fragments: a small set standing for them all.
//!
//! A sketch keeps the m smallest of the distinct fragments of a text (Broder's bottom-m sketch, as Olston & Pandey 2008,
//! §5.2 use it), or all of them. It knows which: one that is whole leaves nothing to estimate. A hash is stored in four bytes, as in the
//! paper, or in eight.

use super::fragment::{Fragmenter, Fragments};
use super::hash_sort::HashSorter;

/// Bits of the first byte of the stored form: these are all fragments there were; a hash has four bytes, not eight.
const WHOLE: u8 = 1;
const SHORT: u8 = 2;

/// How many bytes of a hash are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashBytes {
    /// The upper four bytes, as in Olston & Pandey 2008, §5.2. Two fragments share a hash once in 4·10⁹.
    Four,
    /// All eight bytes.
    Eight,
}

impl HashBytes {
    /// The bytes that serve a sketch of that many hashes. Four are enough for some hundred of them; whole texts have thousands, of
    /// which two may agree in four bytes, and `None` is for divergences that are exact.
    pub fn for_sketch(most: Option<usize>) -> Self {
        if most.is_some() { Self::Four } else { Self::Eight }
    }
}

/// The bits of a hash that four bytes keep: the upper ones, so that the smallest hashes stay the smallest.
const UPPER: u64 = !(u32::MAX as u64);

/// Fewer hashes than this are not worth sorting out.
const LEAST_ROOM: usize = 128;

/// Strictly ascending hashes, at least one unless the text had no words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    hashes: Vec<u64>,
    whole: bool,
    hash_bytes: HashBytes,
}

impl Sketch {
    /// The `most` smallest, at least one; `None` keeps them all.
    pub fn of(fragments: &Fragments, most: Option<usize>) -> Self {
        Self::cut(fragments.as_slice(), true, most)
    }

    /// Strictly ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Whether every fragment of the text is here.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The sketch of the same text with at most `most` hashes, at least one.
    #[cfg(test)]
    pub(super) fn shrunk(&self, most: usize) -> Self {
        Self::cut(&self.hashes, self.whole, Some(most))
    }

    fn cut(hashes: &[u64], whole: bool, most: Option<usize>) -> Self {
        let kept = most.and_then(|most| hashes.get(..most.max(1))).unwrap_or(hashes);
        let whole = whole && kept.len() == hashes.len();
        Self { hashes: kept.to_vec(), whole, hash_bytes: HashBytes::Eight }
    }

    /// How many bytes of each hash there are.
    pub(crate) fn hash_bytes(&self) -> HashBytes {
        self.hash_bytes
    }

    /// The sketch with this many bytes of each hash, or with fewer if it has no more. Lower bytes that are not kept count as 0.
    pub fn with_hashes_of(mut self, bytes: HashBytes) -> Self {
        if bytes == HashBytes::Four && self.hash_bytes == HashBytes::Eight {
            self.hashes.iter_mut().for_each(|hash| *hash &= UPPER);
            self.hashes.dedup();
            self.hash_bytes = HashBytes::Four;
        }
        self
    }

    /// A byte that says whether it is whole and how long hashes are, then each hash, the lowest byte first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(1 + 8 * self.hashes.len());
        let whole = if self.whole { WHOLE } else { 0 };
        match self.hash_bytes {
            HashBytes::Eight => {
                bytes.push(whole);
                bytes.extend(self.hashes.iter().flat_map(|hash| hash.to_le_bytes()));
            }
            HashBytes::Four => {
                bytes.push(whole | SHORT);
                bytes.extend(self.hashes.iter().flat_map(|hash| ((hash >> 32) as u32).to_le_bytes()));
            }
        }
        bytes
    }

    /// Reads the bytes of [`Sketch::to_bytes`]; `None` for anything it can't have written.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (first, rest) = bytes.split_first()?;
        let whole = first & WHOLE != 0;
        let (hashes, left, hash_bytes) = match first & !WHOLE {
            0 => {
                let (words, left) = rest.as_chunks::<8>();
                (words.iter().map(|word| u64::from_le_bytes(*word)).collect(), left, HashBytes::Eight)
            }
            SHORT => {
                let (words, left) = rest.as_chunks::<4>();
                let upper = |word: &[u8; 4]| u64::from(u32::from_le_bytes(*word)) << 32;
                (words.iter().map(upper).collect::<Vec<u64>>(), left, HashBytes::Four)
            }
            _ => return None,
        };
        // A sketch that was cut has at least one hash.
        let sound = left.is_empty() && (whole || !hashes.is_empty()) && hashes.is_sorted_by(|a, b| a < b);
        sound.then_some(Self { hashes, whole, hash_bytes })
    }
}

/// Makes the sketch of one text after the other, in the same memory.
#[derive(Clone, Debug)]
pub struct Sketcher {
    fragmenter: Fragmenter,
    smallest: Smallest,
}

impl Sketcher {
    /// Of fragments of `words` words, see [`Fragmenter::new`], the `most` smallest, at least one; `None` keeps them all.
    pub fn new(words: usize, most: Option<usize>) -> Self {
        Self { fragmenter: Fragmenter::new(words), smallest: Smallest::new(most) }
    }

    /// The sketch of a text.
    pub fn sketch(&mut self, text: &str) -> Sketch {
        let Self { fragmenter, smallest } = self;
        fragmenter.each_batch(text, |hashes| smallest.add(hashes));
        smallest.finish()
    }
}

/// Gathers the smallest of many hashes.
#[derive(Clone, Debug)]
struct Smallest {
    most: usize,
    /// Distinct or not; sorted out when there are `room`.
    kept: Vec<u64>,
    room: usize,
    /// The largest hash that may still be among the smallest.
    bound: u64,
    /// Whether a hash was left out for being too large.
    cut: bool,
    ascending: HashSorter,
}

impl Smallest {
    fn new(most: Option<usize>) -> Self {
        let most = most.map_or(usize::MAX, |most| most.max(1));
        // Sorting four times as many as stay leaves few to sort in all, and a bound that is seldom far behind.
        let room = most.saturating_mul(4).max(LEAST_ROOM);
        Self { most, kept: Vec::new(), room, bound: u64::MAX, cut: false, ascending: HashSorter::default() }
    }

    fn add(&mut self, mut hashes: &[u64]) {
        while !hashes.is_empty() {
            let many = self.room.saturating_sub(self.kept.len()).max(1);
            let (some, rest) = hashes.split_at_checked(many).unwrap_or((hashes, &[]));
            self.add_some(some);
            if self.kept.len() >= self.room {
                self.sort_out();
            }
            hashes = rest;
        }
    }

    fn add_some(&mut self, hashes: &[u64]) {
        if self.bound == u64::MAX {
            self.kept.extend_from_slice(hashes);
            return;
        }
        // Whether a hash is small enough is hard to guess: it is added, not branched on.
        let mut end = self.kept.len();
        self.kept.resize(end + hashes.len(), 0);
        for hash in hashes {
            self.kept[end] = *hash;
            end += usize::from(*hash <= self.bound);
        }
        self.cut |= end < self.kept.len();
        self.kept.truncate(end);
    }

    #[cold]
    fn sort_out(&mut self) {
        let smallest = self.smallest();
        self.kept.clear();
        self.kept.extend_from_slice(&smallest);
    }

    fn smallest(&mut self) -> Vec<u64> {
        let mut smallest = self.ascending.sort(&self.kept);
        if smallest.len() >= self.most {
            self.cut |= smallest.len() > self.most;
            smallest.truncate(self.most);
            self.bound = smallest.last().copied().unwrap_or(u64::MAX);
        }
        smallest
    }

    /// The sketch of the text; the next text starts from nothing.
    fn finish(&mut self) -> Sketch {
        let mut hashes = self.smallest();
        hashes.shrink_to_fit();
        let sketch = Sketch { hashes, whole: !self.cut, hash_bytes: HashBytes::Eight };
        self.kept.clear();
        self.bound = u64::MAX;
        self.cut = false;
        sketch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_sketch_keeps_the_smallest_and_knows_whether_they_are_all() {
        let fragments = Fragments::from_hashes(vec![5, 1, 9, 1]);
        let part = Sketch::of(&fragments, Some(2));
        assert_eq!((part.hashes(), part.is_whole()), (&[1, 5][..], false));
        for most in [None, Some(3), Some(100)] {
            let whole = Sketch::of(&fragments, most);
            assert_eq!((whole.hashes(), whole.is_whole()), (&[1, 5, 9][..], true));
            assert_eq!(whole.shrunk(2), part);
            assert_eq!(whole.shrunk(3), whole);
        }
        assert_eq!(Sketch::of(&fragments, Some(0)).hashes(), [1]);
        assert!(Sketch::of(&Fragments::default(), Some(1)).is_whole());
        assert_eq!(part.to_bytes(), [0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn four_bytes_of_a_hash_are_its_upper_ones() {
        let hashes = [0x1_0000_0005, 0x1_0000_0009, 0x7_0000_0000, u64::MAX];
        let long = Sketch::of(&Fragments::from_hashes(hashes.to_vec()), Some(3));
        let short = long.clone().with_hashes_of(HashBytes::Four);
        assert_eq!(short.hashes(), [0x1_0000_0000, 0x7_0000_0000], "two share their upper bytes");
        assert_eq!(short.to_bytes(), [2, 1, 0, 0, 0, 7, 0, 0, 0]);
        assert_eq!(Sketch::from_bytes(&short.to_bytes()), Some(short.clone()));
        assert_eq!(
            short.clone().with_hashes_of(HashBytes::Eight),
            short,
            "what is not there can't come back"
        );
        assert_eq!(long.clone().with_hashes_of(HashBytes::Eight), long);
    }

    #[test]
    fn what_is_no_sketch_is_refused() {
        let two = |first: u64, second: u64| {
            [&[WHOLE][..], &first.to_le_bytes()[..], &second.to_le_bytes()[..]].concat()
        };
        assert!(Sketch::from_bytes(&two(1, 2)).is_some());
        for bytes in [
            &[][..],
            &[0],
            &[SHORT],
            &[4],
            &[WHOLE, 7],
            &[WHOLE | SHORT, 7],
            &two(2, 2),
            &two(2, 1),
            &two(1, 2)[..16],
        ] {
            assert_eq!(Sketch::from_bytes(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn a_sketcher_agrees_with_the_fragments(
            texts in prop::collection::vec("([a-d] |[a-z]{1,3} ){0,120}", 1..4),
            words in 1_usize..4,
            most in prop::option::of(0_usize..40),
        ) {
            let mut sketcher = Sketcher::new(words, most);
            for text in texts {
                let fragments = Fragments::of(&text, words);
                let sketch = sketcher.sketch(&text);
                prop_assert_eq!(&sketch, &Sketch::of(&fragments, most));
                for sketch in [sketch.clone(), sketch.clone().with_hashes_of(HashBytes::Four)] {
                    prop_assert_eq!(Sketch::from_bytes(&sketch.to_bytes()), Some(sketch));
                }
                prop_assert_eq!(sketch.shrunk(3), Sketch::of(&fragments, Some(most.unwrap_or(3).min(3))));
            }
        }

        #[test]
        fn bytes_from_anywhere_are_refused_or_read_as_they_are(
            first in 0_u8..5,
            mut hashes in prop::collection::vec(0_u64..40, 0..5),
            sort in any::<bool>(),
            junk in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            if sort {
                hashes.sort_unstable();
            }
            let made: Vec<u8> = [first].into_iter().chain(hashes.iter().flat_map(|hash| hash.to_le_bytes())).collect();
            for bytes in [&made, &junk] {
                if let Some(sketch) = Sketch::from_bytes(bytes) {
                    prop_assert_eq!(&sketch.to_bytes(), bytes);
                    prop_assert!(sketch.hashes().is_sorted_by(|a, b| a < b));
                }
            }
        }
    }
}
