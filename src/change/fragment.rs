//! Text → fragments: hashed runs of words.
//!
//! A fragment is the xxh3-64 of a run of k words in lower case, one blank between them; a page is the set of its
//! fragments (the shingles of Olston & Pandey 2008, §2.1, who leave k open). The text is lower-cased as
//! [`str::to_lowercase`] does it, and its words are then the longest runs of letters and digits. In scripts without blanks
//! (see [`super::segment`]) the words are the pairs of neighbouring characters instead: `甲乙丙` is `甲乙`, `乙丙`, and a
//! character that stands alone is a word. A text of fewer than k words is one fragment of them all, a text without
//! words has none.

use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

use super::hash_sort::HashSorter;
use super::segment::is_unspaced;

/// Which way of making fragments this is. It is kept with what was measured, and goes up whenever any text would get
/// other fragments than before: those of two schemes can't be compared.
///
/// 1: words are runs of letters and digits. 2: the same, but pairs of characters in scripts without blanks; texts without
/// such scripts have the fragments of scheme 1.
pub(crate) const SCHEME: u32 = 2;

/// A fragment has 1 to this many words.
pub const MOST_WORDS: usize = 64;

/// Text is taken in pieces of about this many bytes, so that what is worked on stays in the nearest cache.
const PIECE_BYTES: usize = 8 * 1024;

/// Bytes that are searched for words at a time: the bits of a mask.
const BLOCK_BYTES: usize = 64;

/// Words are copied when there may be this many edges of them; a multiple of [`BLOCK_BYTES`].
const EDGES: usize = 512;

/// A word up to this length, with the blank behind it, is copied as if it had this length: most words are shorter.
const SHORT_BYTES: usize = 16;

/// The distinct fragments of a text, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fragments {
    hashes: Vec<u64>,
}

impl Fragments {
    /// The fragments of `words` words each; see [`Fragmenter::new`].
    pub fn of(text: &str, words: usize) -> Self {
        let mut hashes = Vec::new();
        Fragmenter::new(words).each(text, |hash| hashes.push(hash));
        Self::from_hashes(hashes)
    }

    /// In any order, each as often as it likes.
    pub fn from_hashes(hashes: Vec<u64>) -> Self {
        Self { hashes: HashSorter::default().sort(&hashes) }
    }

    /// Strictly ascending.
    pub fn as_slice(&self) -> &[u64] {
        &self.hashes
    }

    /// Distinct fragments.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// A text with no words has none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Found by halving: the fragments are sorted.
    pub fn contains(&self, hash: u64) -> bool {
        self.hashes.binary_search(&hash).is_ok()
    }

    /// The hashes, ascending.
    pub fn iter(&self) -> std::iter::Copied<std::slice::Iter<'_, u64>> {
        self.hashes.iter().copied()
    }
}

impl<'a> IntoIterator for &'a Fragments {
    type Item = u64;
    type IntoIter = std::iter::Copied<std::slice::Iter<'a, u64>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Finds the runs of words of one text after the other, in the same memory.
#[derive(Clone, Debug)]
pub struct Fragmenter {
    words: usize,
    /// The present piece in lower case, a blank for each byte that is not of a word, and blanks behind it.
    lower: Vec<u8>,
    /// Where words of it start and end, in turn.
    edges: Vec<usize>,
    /// The present words in lower case, a blank after each, up to `end`; bytes of earlier words follow.
    joined: Vec<u8>,
    end: usize,
    /// Where those words start, and where the next one will: one more than there are words, up to `marks`.
    starts: Vec<usize>,
    marks: usize,
    /// Of the runs of the present piece.
    hashes: Vec<u64>,
}

impl Fragmenter {
    /// `words` of a run below 1 are taken as 1, above [`MOST_WORDS`] as that.
    pub fn new(words: usize) -> Self {
        let words = words.clamp(1, MOST_WORDS);
        Self {
            words,
            lower: Vec::new(),
            edges: vec![0; EDGES + 2],
            joined: Vec::new(),
            end: 0,
            starts: vec![0],
            marks: 1,
            hashes: Vec::new(),
        }
    }

    /// Words of a run.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Gives the hash of each run of words, in the order of the text; one that comes twice is given twice.
    pub fn each(&mut self, text: &str, mut take: impl FnMut(u64)) {
        self.each_batch(text, |hashes| hashes.iter().copied().for_each(&mut take));
    }

    /// The same, many at a time.
    pub(super) fn each_batch(&mut self, text: &str, mut take: impl FnMut(&[u64])) {
        let mut hashes = std::mem::take(&mut self.hashes);
        self.each_piece(text, |piece, words| {
            hashes.clear();
            hashes.extend(piece.runs(words).map(xxh3_64));
            take(&hashes);
        });
        self.hashes = hashes;
    }

    /// Gives each run of words, as it is hashed: UTF-8, in lower case, one blank between words.
    pub fn each_run(&mut self, text: &str, mut take: impl FnMut(&[u8])) {
        self.each_piece(text, |piece, words| piece.runs(words).for_each(&mut take));
    }

    /// Gives itself, and of how many words the runs are, each time that there are runs whose words are all here.
    fn each_piece(&mut self, text: &str, mut take: impl FnMut(&Self, usize)) {
        (self.end, self.marks) = (0, 1);
        let (mut rest, mut any) = (text, false);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at_checked(piece_bytes(rest.as_bytes())).unwrap_or((rest, ""));
            self.read(piece);
            rest = after;
            let given = self.marks.saturating_sub(self.words);
            if given > 0 {
                any = true;
                take(self, self.words);
                self.forget(given);
            }
        }
        if !any && self.end > 0 {
            take(self, self.marks - 1);
        }
    }

    /// The runs of that many words, all of which are here.
    fn runs(&self, words: usize) -> impl ExactSizeIterator<Item = &[u8]> {
        let starts = &self.starts[..self.marks];
        let ends = starts.get(words..).unwrap_or_default();
        starts.iter().zip(ends).map(|(start, end)| &self.joined[*start..*end - 1])
    }

    /// Keeps the words that later runs begin with: not the first `given`.
    fn forget(&mut self, given: usize) {
        let shift = self.starts[given];
        self.joined.copy_within(shift..self.end, 0);
        self.end -= shift;
        self.starts.copy_within(given..self.marks, 0);
        self.marks -= given;
        self.starts[..self.marks].iter_mut().for_each(|start| *start -= shift);
    }

    /// Adds the words of a piece that no word reaches out of.
    fn read(&mut self, piece: &str) {
        let bytes = piece.as_bytes();
        let ascii = self.lower_ascii(bytes);
        // Where what was not read yet starts, and up to where it is lower-cased.
        let (mut from, mut done) = (0, if ascii { bytes.len() } else { 0 });
        while let Some(other) = self.lower_others(done, bytes.len()) {
            // Lower-casing a letter looks at its neighbours (the Greek sigma), but never past ASCII white space.
            let (before, after) = bytes.split_at(other);
            let start = before.iter().rposition(u8::is_ascii_whitespace).map_or(0, |blank| blank + 1);
            let blank = after.iter().position(u8::is_ascii_whitespace);
            let stop = blank.map_or(bytes.len(), |blank| other + blank);
            self.read_words(from, start);
            self.read_chunk(piece.get(start..stop).unwrap_or_default());
            (from, done) = (stop, stop);
        }
        self.read_words(from, bytes.len());
    }

    /// Writes ASCII in lower case, a blank for what parts words, and leaves the rest as it is. True: there is no rest.
    fn lower_ascii(&mut self, piece: &[u8]) -> bool {
        let padded = piece.len() + BLOCK_BYTES;
        if self.lower.len() < padded {
            self.lower.resize(padded.next_power_of_two(), b' ');
        }
        let (lower, padding) = self.lower.split_at_mut(piece.len());
        let mut all = 0;
        for (lower, byte) in lower.iter_mut().zip(piece) {
            let small = byte | 0x20;
            let other = if byte.is_ascii_digit() || !byte.is_ascii() { *byte } else { b' ' };
            *lower = if small.is_ascii_lowercase() { small } else { other };
            all |= byte;
        }
        padding.iter_mut().take(BLOCK_BYTES).for_each(|byte| *byte = b' ');
        all.is_ascii()
    }

    /// Does the same for what is not ASCII, in the same place; it stops where the lower case is not as long, or depends on
    /// the letters around.
    fn lower_others(&mut self, from: usize, to: usize) -> Option<usize> {
        let mut at = from;
        while let Some(other) = first_other(&self.lower[at..to]) {
            at += other;
            while let Some((letter, length)) = decode(&self.lower[at..to]) {
                match Letter::known(letter) {
                    Letter::Stays => {}
                    Letter::Parts => self.lower[at..at + length].fill(b' '),
                    Letter::Changes => {
                        let small = char::from_u32(letter).into_iter().flat_map(char::to_lowercase).next();
                        small?.encode_utf8(&mut self.lower[at..at + length]);
                    }
                    Letter::Odd => return Some(at),
                }
                at += length;
            }
        }
        None
    }

    /// Adds the words that stand between two places of the piece in lower case, which no word reaches out of.
    ///
    /// A branch for each byte would be mispredicted at each end of a word: it takes a mask of many bytes at a time, and
    /// goes from one edge of a word to the next.
    fn read_words(&mut self, from: usize, to: usize) {
        self.make_room(to.saturating_sub(from));
        let Self { lower, edges, joined, starts, .. } = self;
        let (mut end, mut marks) = (self.end, self.marks);
        let (mut at, mut within, mut count) = (from, 0, 0);
        while at < to {
            let stop = to.min(at + EDGES);
            while at < stop
                && let Some(block) = lower[at..].first_chunk()
            {
                let mut mask = word_bytes(block);
                if to - at < BLOCK_BYTES {
                    mask &= (1 << (to - at)) - 1;
                }
                let mut turns = mask ^ (mask << 1 | within);
                within = mask >> (BLOCK_BYTES - 1);
                while turns != 0 {
                    edges[count] = at + turns.trailing_zeros() as usize;
                    count += 1;
                    turns &= turns - 1;
                }
                at += BLOCK_BYTES;
            }
            if at >= to && within == 1 {
                edges[count] = to;
                count += 1;
            }
            for [start, stop] in edges[..count].as_chunks().0 {
                let length = stop - start + 1;
                if length <= SHORT_BYTES
                    && let Some(short) = lower[*start..].first_chunk::<SHORT_BYTES>()
                    && let Some(room) = joined[end..].first_chunk_mut()
                {
                    *room = *short;
                } else {
                    joined[end..end + length].copy_from_slice(&lower[*start..=*stop]);
                }
                end += length;
                starts[marks] = end;
                marks += 1;
            }
            // The start of a word whose end is yet to come.
            edges[0] = edges[count.saturating_sub(1)];
            count %= 2;
        }
        (self.end, self.marks) = (end, marks);
    }

    /// A piece between ASCII white space that has letters beyond ASCII.
    fn read_chunk(&mut self, chunk: &str) {
        let mut open = OpenWord::None;
        if chunk.contains('Σ') {
            for lower in chunk.to_lowercase().chars() {
                open = self.read_letter(lower, open);
            }
        } else {
            for lower in chunk.chars().flat_map(char::to_lowercase) {
                open = self.read_letter(lower, open);
            }
        }
        self.close(open);
    }

    /// The word that goes on behind a letter.
    fn read_letter(&mut self, lower: char, open: OpenWord) -> OpenWord {
        if is_unspaced(lower) {
            let OpenWord::Pairs { last, .. } = open else {
                self.close(open);
                return OpenWord::Pairs { last: lower, alone: true };
            };
            self.add_letter(last);
            self.add_letter(lower);
            self.end_word();
            return OpenWord::Pairs { last: lower, alone: false };
        }
        if !lower.is_alphanumeric() {
            self.close(open);
            return OpenWord::None;
        }
        if open != OpenWord::Letters {
            self.close(open);
        }
        self.add_letter(lower);
        OpenWord::Letters
    }

    /// Ends the word that is open.
    fn close(&mut self, open: OpenWord) {
        match open {
            OpenWord::Letters => self.end_word(),
            OpenWord::Pairs { last, alone: true } => {
                self.add_letter(last);
                self.end_word();
            }
            OpenWord::Pairs { .. } | OpenWord::None => {}
        }
    }

    fn add_letter(&mut self, letter: char) {
        self.make_room(letter.len_utf8());
        self.end += letter.encode_utf8(&mut self.joined[self.end..]).len();
    }

    fn end_word(&mut self) {
        self.make_room(1);
        self.joined[self.end] = b' ';
        self.end += 1;
        self.starts[self.marks] = self.end;
        self.marks += 1;
    }

    /// Makes room for that many more bytes, and for the blank and the marks that may go with them.
    fn make_room(&mut self, bytes: usize) {
        let joined = self.end + bytes + 1 + SHORT_BYTES;
        if self.joined.len() < joined {
            self.joined.resize(joined.next_power_of_two(), 0);
        }
        let starts = self.marks + bytes / 2 + 2;
        if self.starts.len() < starts {
            self.starts.resize(starts.next_power_of_two(), 0);
        }
    }
}

/// The word that the letters read last belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenWord {
    None,
    /// Letters and digits, which are written already.
    Letters,
    /// Characters of a script without blanks. The last of them is not written yet, unless as the end of a pair.
    Pairs {
        last: char,
        alone: bool,
    },
}

/// Length of the first piece of a text: it ends behind white space, or with the text.
fn piece_bytes(text: &[u8]) -> usize {
    let Some((piece, after)) = text.split_at_checked(PIECE_BYTES) else { return text.len() };
    let within = piece.iter().rposition(u8::is_ascii_whitespace);
    let behind = || after.iter().position(u8::is_ascii_whitespace).map(|blank| piece.len() + blank);
    within.or_else(behind).map_or(text.len(), |blank| blank + 1)
}

/// Which bytes are no blanks: the first byte is the lowest bit.
fn word_bytes(block: &[u8; BLOCK_BYTES]) -> u64 {
    const LOW: u64 = u64::from_le_bytes([0x7f; 8]);
    const BLANKS: u64 = u64::from_le_bytes([b' '; 8]);
    /// Moves the lowest bit of byte i to bit 56 + i: 2^(56 − 7i) for each.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    block.as_chunks().0.iter().rev().fold(0, |mask, eight| {
        let differs = u64::from_le_bytes(*eight) ^ BLANKS;
        let high = (((differs & LOW) + LOW) | differs) & !LOW;
        mask << 8 | (high >> 7).wrapping_mul(GATHER) >> 56
    })
}

/// Where the first byte is that is not ASCII.
fn first_other(bytes: &[u8]) -> Option<usize> {
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let (eights, rest) = bytes.as_chunks();
    let high = |eight: &[u8; 8]| u64::from_le_bytes(*eight) & HIGH;
    match eights.iter().position(|eight| high(eight) != 0) {
        Some(place) => Some(8 * place + high(&eights[place]).trailing_zeros() as usize / 8),
        None => rest.iter().position(|byte| !byte.is_ascii()).map(|place| 8 * eights.len() + place),
    }
}

/// The letter that UTF-8 starts with and its length in bytes, unless it is ASCII or there is none.
fn decode(bytes: &[u8]) -> Option<(u32, usize)> {
    let low = |byte: &u8| u32::from(byte & 0x3f);
    match bytes {
        [0..0x80, ..] => None,
        [a @ ..0xe0, b, ..] => Some((u32::from(a & 0x1f) << 6 | low(b), 2)),
        [a @ ..0xf0, b, c, ..] => Some((u32::from(a & 0x0f) << 12 | low(b) << 6 | low(c), 3)),
        [a, b, c, d, ..] => Some((u32::from(a & 0x07) << 18 | low(b) << 12 | low(c) << 6 | low(d), 4)),
        _ => None,
    }
}

/// The lower case of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letter {
    /// It is of a word, and its own lower case.
    Stays,
    /// Its lower case is one letter of a word, as many bytes long.
    Changes,
    /// It is of no word.
    Parts,
    /// Anything else: what its words are depends on the letters around it.
    Odd,
}

impl Letter {
    /// For a letter of up to three bytes it is looked up in a table: computing it takes several times as long.
    fn known(letter: u32) -> Self {
        static KNOWN: LazyLock<Vec<Letter>> = LazyLock::new(|| (0..=0xffff).map(Letter::of).collect());
        KNOWN.get(letter as usize).copied().unwrap_or_else(|| Self::of(letter))
    }

    fn of(letter: u32) -> Self {
        let Some(letter) = char::from_u32(letter).filter(|letter| !is_unspaced(*letter)) else {
            return Self::Odd;
        };
        let mut lower = letter.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(small), None) if small.len_utf8() == letter.len_utf8() && letter != 'Σ' => {
                match small.is_alphanumeric() {
                    true if small == letter => Self::Stays,
                    true => Self::Changes,
                    false => Self::Parts,
                }
            }
            _ => Self::Odd,
        }
    }
}

#[cfg(test)]
#[path = "fragment_tests.rs"]
mod tests;
