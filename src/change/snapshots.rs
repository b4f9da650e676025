//! A page's snapshots, one after the other → the lives of its fragments, what moved, and how it behaves.
//!
//! Comes in: the versions that visits found, in order of time, and which rules left their texts. Goes out: what
//! [`Lifetimes`] and [`Moves`] add up to. Texts are asked for one at a time: those of the last few versions are kept,
//! so that one that stays or comes back is not read again. What must stay true: texts that other rules left are never
//! compared, the history starts over there.

use super::VersionId;
use super::behaviour::{Behaviour, BehaviourShares, Moves, classify};
use super::fragment::Fragments;
use super::lifetime::Lifetimes;
use crate::time::Timestamp;

/// Versions that are kept in memory: a page that goes back and forth does so between few.
const AT_HAND: usize = 4;
/// Bytes of the texts in memory; the last one stays however long it is.
const BYTES_AT_HAND: usize = 4 << 20;

/// A page's history since its texts can be compared.
#[derive(Clone, Debug)]
pub(crate) struct Snapshots {
    fragment_words: usize,
    text_rules: Option<u64>,
    lifetimes: Lifetimes,
    moves: Moves,
    /// The latest last.
    at_hand: Vec<KeptVersion>,
    anew: usize,
}

#[derive(Clone, Debug)]
struct KeptVersion {
    version: VersionId,
    text: String,
    fragments: Fragments,
}

impl Snapshots {
    /// An empty history; fragments have that many words.
    pub(crate) fn new(fragment_words: usize) -> Self {
        Self {
            fragment_words,
            text_rules: None,
            lifetimes: Lifetimes::default(),
            moves: Moves::default(),
            at_hand: Vec::new(),
            anew: 0,
        }
    }

    /// Adds the next snapshot. `text_of` gives a version's text, and is asked only for one that is not in memory.
    /// Other rules than before: what was seen until now is forgotten.
    pub(crate) fn see<E>(
        &mut self,
        at: Timestamp,
        version: VersionId,
        text_rules: u64,
        text_of: impl FnOnce(VersionId) -> Result<String, E>,
    ) -> Result<(), E> {
        if self.text_rules.is_some_and(|before| before != text_rules) {
            *self = Self { anew: self.anew + 1, ..Self::new(self.fragment_words) };
        }
        let now = match self.at_hand.iter().position(|kept| kept.version == version) {
            // Removing it and putting it behind the others keeps them in order of use.
            Some(place) if place + 1 < self.at_hand.len() => Some(self.at_hand.remove(place)),
            Some(_) => None,
            None => {
                let text = text_of(version)?;
                let fragments = Fragments::of(&text, self.fragment_words);
                Some(KeptVersion { version, text, fragments })
            }
        };
        self.text_rules = Some(text_rules);
        if let Some(now) = now {
            if let Some(before) = self.at_hand.last() {
                self.moves.add(&Moves::between(&before.text, &now.text));
            }
            self.at_hand.push(now);
            self.make_room();
        }
        if let Some(now) = self.at_hand.last() {
            self.lifetimes.see(at, now.fragments.as_slice());
        }
        Ok(())
    }

    fn make_room(&mut self) {
        let bytes = |kept: &[KeptVersion]| kept.iter().map(|kept| kept.text.len()).sum::<usize>();
        while self.at_hand.len() > AT_HAND || self.at_hand.len() > 1 && bytes(&self.at_hand) > BYTES_AT_HAND {
            self.at_hand.remove(0);
        }
    }

    /// The lives of its fragments.
    pub(crate) fn lifetimes(&self) -> &Lifetimes {
        &self.lifetimes
    }

    /// How often it started over.
    pub(crate) fn times_anew(&self) -> usize {
        self.anew
    }

    /// How the page behaves; `None` until it was seen twice with words to follow.
    pub(crate) fn behaviour(&self) -> Option<(Behaviour, BehaviourShares)> {
        let seen = self.lifetimes.times().len() > 1 && !self.lifetimes.lives().is_empty();
        seen.then(|| classify(self.lifetimes.static_share(), &self.moves))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    const WORDS: usize = 2;

    /// Sees the texts a day apart, each text a version of its own, and says which were asked for.
    fn seen(texts: &[(&str, u64)]) -> (Snapshots, Vec<i64>) {
        let mut names: Vec<&str> = Vec::new();
        let (mut past, mut asked) = (Snapshots::new(WORDS), Vec::new());
        for (day, (text, rules)) in texts.iter().enumerate() {
            let place = names.iter().position(|known| known == text);
            let version = place.unwrap_or(names.len());
            if place.is_none() {
                names.push(text);
            }
            let at = Timestamp::from_seconds(day as i64 * 86_400);
            let Ok(()) = past.see(at, VersionId(version as i64), *rules, |version| {
                asked.push(version.0);
                Ok::<_, Infallible>((*text).to_owned())
            });
        }
        (past, asked)
    }

    #[test]
    fn what_stays_or_comes_back_is_read_once() {
        let (past, asked) = seen(&[("a b c", 0), ("a b c", 0), ("a b d", 0), ("a b c", 0), ("a b d", 0)]);
        assert_eq!(asked, [0, 1]);
        assert_eq!((past.lifetimes().times().len(), past.lifetimes().updates()), (5, 3));
        let (_, asked) = seen(&["a", "b", "c", "d", "e", "a", "e"].map(|text| (text, 0)));
        assert_eq!(asked, [0, 1, 2, 3, 4, 0], "what was seen longest ago is let go");
    }

    #[test]
    fn texts_of_other_rules_are_not_compared() {
        let (past, asked) = seen(&[("a b c", 1), ("d e f", 1), ("d e f", 2), ("d e f", 2)]);
        assert_eq!((past.times_anew(), past.lifetimes().updates()), (1, 0));
        assert_eq!(past.lifetimes().times(), [2, 3].map(|day| Timestamp::from_seconds(day * 86_400)));
        assert_eq!(past.behaviour().map(|(behaviour, _)| behaviour), Some(Behaviour::Static));
        assert_eq!(asked, [0, 1, 1]);
    }

    #[test]
    fn one_sight_tells_no_behaviour_nor_does_what_has_no_words() {
        assert_eq!(seen(&[]).0.behaviour(), None);
        assert_eq!(seen(&[("a b c", 0)]).0.behaviour(), None);
        assert_eq!(seen(&[("", 0), ("", 0)]).0.behaviour(), None);
    }

    #[test]
    fn long_texts_are_let_go() {
        let long = [0, 1, 2].map(|more| ".".repeat(BYTES_AT_HAND * 2 / 3 + more));
        let (past, _) = seen(&long.each_ref().map(|text| (text.as_str(), 0)));
        assert_eq!(past.at_hand.len(), 1);
    }

    proptest! {
        #[test]
        fn it_is_what_the_whole_history_amounts_to(pages in prop::collection::vec("([a-d ]{0,6}\n){0,5}", 0..12)) {
            let texts: Vec<(&str, u64)> = pages.iter().map(|page| (page.as_str(), 7)).collect();
            let (past, _) = seen(&texts);
            let mut whole = Lifetimes::default();
            for (day, page) in pages.iter().enumerate() {
                whole.see(Timestamp::from_seconds(day as i64 * 86_400), Fragments::of(page, WORDS).as_slice());
            }
            prop_assert_eq!(past.lifetimes().lives(), whole.lives());
            prop_assert_eq!(&past.moves, &Moves::of(pages.iter().map(String::as_str)));
            prop_assert!(past.at_hand.len() <= AT_HAND);
        }
    }
}
