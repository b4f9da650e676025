//! Did a visit find another content than the stored one, and how far is it from that?
//!
//! Contents are told apart by their hashes. Texts that different rules left are not compared at all: they would differ
//! though the page did not.

use crate::change::VersionId;
use crate::change::changed_when::ChangedWhen;
use crate::change::divergence::Divergence;

/// The parts of a version that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionHashes {
    /// Whose hashes these are.
    pub version: VersionId,
    /// Hash of its bytes.
    pub body: u128,
    /// Hash of its text.
    pub text: u128,
    /// Is there any text in it?
    pub has_text: bool,
}

/// The stored version of a page before the visit.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The version.
    pub hashes: VersionHashes,
    /// Which rules left its text.
    pub text_rules: u64,
    /// Is it something that has words? `None`: it is from before this was noted.
    pub has_words: Option<bool>,
}

/// The content that a visit brought.
#[derive(Clone, Copy, Debug)]
pub enum BroughtContent {
    /// Nothing that could be compared.
    Nothing,
    /// The word, or the bytes, that the page is what is held.
    Confirmation,
    /// A content that was read.
    Content {
        /// The version that has this content.
        hashes: VersionHashes,
        /// Which rules left its text.
        text_rules: u64,
        /// Is it something that has words? A picture is not.
        has_words: bool,
    },
}

/// The version of a page after a visit that brought or confirmed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The version.
    pub version: VersionId,
    /// Which rules left the text of that version.
    pub text_rules: u64,
    /// It is something that has words, though it may hold none.
    pub has_words: bool,
}

/// A visit's content compared with the stored one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The page's version now.
    pub found: Option<Found>,
    /// Its text is the one stored before. `false` where texts can't be compared.
    pub same_text: bool,
    /// Did the page change? `None`: there was nothing to compare with.
    pub changed: Option<bool>,
    /// How far it moved; `None` where there are no words to compare.
    pub divergence: Option<Divergence>,
}

impl Comparison {
    /// Was something compared, and the text another one?
    pub fn text_differs(&self) -> bool {
        self.changed.is_some() && !self.same_text
    }
}

/// Compares the content that a visit brought with the stored one. `divergence_from` measures it from a version;
/// it is asked only if the two texts differ.
pub fn compare<E>(
    brought: BroughtContent,
    held: Option<Held>,
    changed_when: ChangedWhen,
    divergence_from: impl FnOnce(VersionId) -> Result<Divergence, E>,
) -> Result<Comparison, E> {
    let (hashes, text_rules, has_words) = match (brought, held) {
        (BroughtContent::Content { hashes, text_rules, has_words }, _) => (hashes, text_rules, has_words),
        // The stored text was left by the rules of today, or the host would not have been asked to compare.
        (BroughtContent::Confirmation, Some(held)) => {
            (held.hashes, held.text_rules, held.has_words.unwrap_or(held.hashes.has_text))
        }
        (BroughtContent::Confirmation, None) | (BroughtContent::Nothing, _) => {
            return Ok(Comparison::default());
        }
    };
    let found = Some(Found { version: hashes.version, text_rules, has_words });
    let Some(previous) = held.filter(|held| held.text_rules == text_rules) else {
        return Ok(Comparison { found, ..Comparison::default() });
    };
    let bytes_differ = hashes.body != previous.hashes.body;
    let have_words = both_have_words(has_words, previous.has_words);
    let text_differs = text_differs(&hashes, &previous.hashes, have_words);
    let divergence = match (have_words, text_differs) {
        (false, _) => None,
        (true, false) => Some(Divergence::NONE),
        (true, true) => Some(divergence_from(previous.hashes.version)?),
    };
    let changed = changed_when.changed(bytes_differ, text_differs, divergence.map(Divergence::get));
    Ok(Comparison { found, same_text: !text_differs, changed: Some(changed), divergence })
}

/// Are the words of a content and of the one before it to be compared? A release that can read more kinds of content finds
/// words where the one before found none; such contents are compared by their bytes.
pub fn both_have_words(has_words: bool, before: Option<bool>) -> bool {
    has_words && before != Some(false)
}

/// Do two versions differ in what a reader sees? What has no words differs as its bytes do.
pub fn text_differs(one: &VersionHashes, other: &VersionHashes, has_words: bool) -> bool {
    if has_words { one.text != other.text } else { one.body != other.body }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn hashes(version: i64, body: u128, text: u128) -> VersionHashes {
        VersionHashes { version: VersionId(version), body, text, has_text: text != 0 }
    }

    fn held(hashes: VersionHashes) -> Option<Held> {
        Some(Held { hashes, text_rules: 0, has_words: Some(true) })
    }

    fn page(hashes: VersionHashes) -> BroughtContent {
        BroughtContent::Content { hashes, text_rules: 0, has_words: true }
    }

    fn half(_: VersionId) -> Result<Divergence, Infallible> {
        Ok(Divergence::new(0.5).unwrap())
    }

    fn compared(brought: BroughtContent, held: Option<Held>, when: ChangedWhen) -> Comparison {
        compare(brought, held, when, half).unwrap()
    }

    #[test]
    fn the_first_content_has_nothing_to_be_compared_with() {
        let first = compared(page(hashes(1, 1, 1)), None, ChangedWhen::Text);
        assert_eq!((first.changed, first.divergence, first.text_differs()), (None, None, false));
        assert_eq!(first.found.map(|found| found.version), Some(VersionId(1)));
    }

    #[test]
    fn a_confirmation_is_no_change_and_needs_something_held() {
        let same = compared(BroughtContent::Confirmation, held(hashes(1, 1, 1)), ChangedWhen::Text);
        assert_eq!((same.changed, same.divergence), (Some(false), Some(Divergence::NONE)));
        assert!(same.same_text);
        assert_eq!(compared(BroughtContent::Confirmation, None, ChangedWhen::Text), Comparison::default());
        assert_eq!(
            compared(BroughtContent::Nothing, held(hashes(1, 1, 1)), ChangedWhen::Text),
            Comparison::default()
        );
    }

    #[test]
    fn the_operator_says_which_difference_counts() {
        let before = held(hashes(1, 1, 1));
        let (other_bytes, other_text) = (page(hashes(2, 2, 1)), page(hashes(3, 3, 3)));
        let changed = |brought, when| compared(brought, before, when).changed;
        assert_eq!(changed(other_bytes, ChangedWhen::Bytes), Some(true));
        assert_eq!(changed(other_bytes, ChangedWhen::Text), Some(false));
        assert_eq!(changed(other_text, ChangedWhen::Text), Some(true));
        assert_eq!(changed(other_text, ChangedWhen::Divergence(0.4)), Some(true));
        assert_eq!(changed(other_text, ChangedWhen::Divergence(0.6)), Some(false));
        assert!(compared(other_text, before, ChangedWhen::Divergence(0.6)).text_differs());
    }

    #[test]
    fn texts_that_other_rules_left_are_not_compared() {
        let other = BroughtContent::Content { hashes: hashes(2, 2, 2), text_rules: 7, has_words: true };
        let compared = compared(other, held(hashes(1, 1, 1)), ChangedWhen::Text);
        assert_eq!((compared.changed, compared.text_differs()), (None, false));
        assert_eq!(compared.found.map(|found| found.text_rules), Some(7));
    }

    #[test]
    fn what_has_no_words_differs_as_its_bytes_do() {
        let before = Some(Held { hashes: hashes(1, 1, 0), text_rules: 0, has_words: Some(false) });
        let other = BroughtContent::Content { hashes: hashes(2, 2, 0), text_rules: 0, has_words: false };
        let picture = compared(other, before, ChangedWhen::Text);
        assert_eq!((picture.changed, picture.divergence), (Some(true), None));
    }

    #[test]
    fn a_content_that_could_not_be_read_before_is_compared_by_its_bytes() {
        let before = Some(Held { hashes: hashes(1, 1, 0), text_rules: 0, has_words: Some(false) });
        let brought =
            |body| BroughtContent::Content { hashes: hashes(2, body, 7), text_rules: 0, has_words: true };
        let never = |_| -> Result<Divergence, Infallible> { unreachable!("there are no words to compare") };
        let Ok(same) = compare(brought(1), before, ChangedWhen::default(), never);
        assert_eq!((same.changed, same.same_text, same.divergence), (Some(false), true, None));
        let Ok(other) = compare(brought(2), before, ChangedWhen::default(), never);
        assert_eq!((other.changed, other.same_text, other.divergence), (Some(true), false, None));
    }

    #[test]
    fn an_old_version_has_words_if_it_has_text() {
        let before = |text| Some(Held { hashes: hashes(1, 1, text), text_rules: 0, has_words: None });
        let words = |text| {
            let same = compared(BroughtContent::Confirmation, before(text), ChangedWhen::Text);
            same.found.map(|found| found.has_words)
        };
        assert_eq!((words(5), words(0)), (Some(true), Some(false)));
    }
}
