//! Two texts → how far they are apart, and the words that make the difference.
//!
//! The divergence says how much, the stretches say what: the words that stand in some fragment that the other text
//! lacks. What must stay true: a text without stretches has no fragment that the other lacks, and each such fragment
//! stands in a stretch, once.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use super::divergence::{Divergence, divergence, exact};
use super::fragment::{Fragmenter, Fragments};
use super::segment::readable;
use super::sketch::Sketch;

/// The shared and the different parts of two texts.
#[derive(Clone, Debug, PartialEq)]
pub struct TextComparison {
    /// By the sketches, if they were to be of a certain size; else exact.
    pub divergence: Divergence,
    /// By all fragments.
    pub exact: Divergence,
    /// Distinct fragments of each text, and those in both.
    pub fragments: [usize; 2],
    /// Fragments that both texts have.
    pub shared: usize,
    /// Stretches that stand in one text only, in its order: words in lower case, one blank between them where the script
    /// has blanks. Fragments that overlap
    /// or touch are one stretch; one that comes again is not told again.
    pub only: [Vec<String>; 2],
}

impl TextComparison {
    /// By fragments of `words` words; `most` is the size of the sketches, `None` for all fragments.
    pub fn of(a: &str, b: &str, words: usize, most: Option<usize>) -> TextComparison {
        let [of_a, of_b] = [a, b].map(|text| Fragments::of(text, words));
        let [sketch_a, sketch_b] = [&of_a, &of_b].map(|fragments| Sketch::of(fragments, most));
        TextComparison {
            divergence: divergence(&sketch_a, &sketch_b),
            exact: exact(&of_a, &of_b),
            fragments: [of_a.len(), of_b.len()],
            shared: of_a.iter().filter(|hash| of_b.contains(*hash)).count(),
            only: [stretches(a, words, &of_b), stretches(b, words, &of_a)],
        }
    }
}

/// The stretches of a text whose fragments `other` lacks.
fn stretches(text: &str, words: usize, other: &Fragments) -> Vec<String> {
    let mut fragmenter = Fragmenter::new(words);
    // Runs this far apart have a word in common; those of one word each stand side by side.
    let reach = fragmenter.words().saturating_sub(1).max(1);
    let mut told = HashSet::new();
    let mut found: Vec<String> = Vec::new();
    let (mut place, mut last) = (0_usize, None);
    fragmenter.each_run(text, |run| {
        let hash = xxh3_64(run);
        if !other.contains(hash) && told.insert(hash) {
            let run = String::from_utf8_lossy(run);
            let ahead = last.map(|last| place - last).filter(|ahead| *ahead <= reach);
            match (found.last_mut(), ahead) {
                (Some(stretch), Some(ahead)) => {
                    let new = run.rmatch_indices(' ').nth(ahead - 1).map(|(blank, _)| blank);
                    match new.and_then(|blank| run.get(blank..)) {
                        Some(new) => stretch.push_str(new),
                        // A run of one word has no blank of its own.
                        None => stretch.extend([" ", &run]),
                    }
                }
                _ => found.push(run.into_owned()),
            }
            last = Some(place);
        }
        place += 1;
    });
    found.iter().map(|words| readable(words)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn only(a: &str, b: &str, words: usize) -> [Vec<String>; 2] {
        TextComparison::of(a, b, words, None).only
    }

    #[test]
    fn stretches_are_the_words_of_the_fragments_that_are_missing() {
        let (fox, leap) =
            ("The quick brown fox jumps over the dog", "the quick brown fox leaps over the dog");
        assert_eq!(
            only(fox, leap, 2),
            [vec!["fox jumps over".to_owned()], vec!["fox leaps over".to_owned()]]
        );
        assert_eq!(only(fox, leap, 1), [vec!["jumps".to_owned()], vec!["leaps".to_owned()]]);
        let found = TextComparison::of(fox, leap, 2, None);
        assert_eq!((found.fragments, found.shared), ([7, 7], 5));
        assert_eq!(found.divergence.get(), 1.0 - 5.0 / 9.0);
    }

    #[test]
    fn what_overlaps_is_one_stretch_and_what_comes_again_is_told_once() {
        // "b c" is shared and stands between two that are not; they have no word in common.
        assert_eq!(only("a b c d", "b c", 2)[0], ["a b", "c d"]);
        // With three words they do: `b c d` is shared, `a b c` and `c d e` both have the `c`.
        assert_eq!(only("a b c d e", "b c d", 3)[0], ["a b c d e"]);
        assert_eq!(only("x y", "", 1)[0], ["x y"]);
        assert_eq!(only("x y z x y", "", 2)[0], ["x y z x"]);
        assert_eq!(only("so few", "other", 4), [["so few"], ["other"]]);
        assert_eq!(only("same", "Same!", 4), [Vec::<String>::new(), Vec::new()]);
        assert_eq!(only("今天天气很好", "今天天气不好", 1), [["气很好"], ["气不好"]]);
    }

    #[test]
    fn the_sketch_only_decides_the_estimate() {
        let numbers = |from: u32| (from..from + 200).map(|n| format!("w{n} ")).collect::<String>();
        let (whole, part) = (
            TextComparison::of(&numbers(0), &numbers(50), 1, None),
            TextComparison::of(&numbers(0), &numbers(50), 1, Some(8)),
        );
        assert_eq!(whole.divergence, whole.exact);
        assert_ne!(part.divergence, part.exact);
        assert_eq!((part.exact, part.shared, part.only), (whole.exact, whole.shared, whole.only));
    }

    proptest! {
        #[test]
        fn every_missing_fragment_stands_in_a_stretch(
            a in "([a-d] ){0,30}",
            b in "([a-d] ){0,30}",
            words in 1_usize..5,
        ) {
            let comparison = TextComparison::of(&a, &b, words, None);
            for (text, other, stretches) in [(&a, &b, &comparison.only[0]), (&b, &a, &comparison.only[1])] {
                let other = Fragments::of(other, words);
                let mut in_stretches = HashSet::new();
                for stretch in stretches {
                    Fragmenter::new(words).each_run(stretch, |run| { in_stretches.insert(run.to_vec()); });
                }
                let mut missing = 0;
                let mut told = true;
                Fragmenter::new(words).each_run(text, |run| if !other.contains(xxh3_64(run)) {
                    missing += 1;
                    told &= in_stretches.contains(run);
                });
                prop_assert!(told, "{:?} of {:?}", stretches, text);
                prop_assert_eq!(missing == 0, stretches.is_empty());
            }
        }
    }
}
