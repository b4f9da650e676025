//! An answer without content, where content was stored: believed when a second visit in a row says the same.
//!
//! A server that is half broken answers 200 with an empty body, or with a shell that has no words. Nothing in the answer
//! tells it from a page that was emptied on purpose. The next visit does: an outage passes, an emptied page stays empty.

use super::compare::Held;
use crate::fetch::visit::Outcome;

/// As much of an answer as tells whether it is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emptiness {
    /// The body has no bytes.
    pub no_bytes: bool,
    /// It is something that has words, and there are none in it.
    pub no_words: bool,
    /// Hash of its body.
    pub body: u128,
    /// Which rules left its text.
    pub text_rules: u64,
}

/// Is this answer emptier than the stored content, and the first in a row that is? Then it is not believed yet: the visit
/// ends as [`Outcome::Empty`], and whatever is stored stays. `last_outcome`: how the visit before ended, as
/// [`Outcome::code`] says it.
pub fn is_doubtful(answer: Emptiness, held: Option<Held>, last_outcome: Option<&str>) -> bool {
    let Some(held) = held else { return false };
    let lost_bytes = answer.no_bytes && answer.body != held.hashes.body;
    // Rules that leave no text are the operator's wish, not an answer of the host.
    let same_rules = answer.text_rules == held.text_rules;
    let lost_words = answer.no_words && held.hashes.has_text && same_rules;
    (lost_bytes || lost_words) && last_outcome != Some(Outcome::Empty.code())
}

#[cfg(test)]
mod tests {
    use super::super::VersionHashes;
    use super::*;
    use crate::change::VersionId;

    const NOTHING: Emptiness = Emptiness { no_bytes: true, no_words: true, body: 0, text_rules: 0 };
    const SHELL: Emptiness = Emptiness { no_bytes: false, body: 5, ..NOTHING };

    fn held(body: u128, has_text: bool) -> Option<Held> {
        let hashes = VersionHashes { version: VersionId(1), body, text: 9, has_text };
        Some(Held { hashes, text_rules: 0, has_words: Some(true) })
    }

    #[test]
    fn an_empty_answer_where_words_were_stored_is_believed_the_second_time() {
        for answer in [NOTHING, SHELL] {
            assert!(is_doubtful(answer, held(1, true), Some("fetched")), "{answer:?}");
            assert!(is_doubtful(answer, held(1, true), Some("server-error")), "{answer:?}");
            assert!(!is_doubtful(answer, held(1, true), Some("empty")), "{answer:?}");
        }
    }

    #[test]
    fn an_empty_body_in_place_of_a_picture_is_doubted_too() {
        let picture = Emptiness { no_words: false, ..NOTHING };
        assert!(is_doubtful(picture, held(1, false), Some("fetched")));
        let other_picture = Emptiness { no_bytes: false, body: 2, ..picture };
        assert!(!is_doubtful(other_picture, held(1, false), Some("fetched")));
    }

    #[test]
    fn a_page_that_was_empty_may_stay_so() {
        assert!(!is_doubtful(NOTHING, None, None), "nothing was stored");
        assert!(!is_doubtful(NOTHING, held(0, false), Some("fetched")), "the same body");
        assert!(!is_doubtful(SHELL, held(1, false), Some("fetched")), "there were no words before");
    }

    #[test]
    fn words_are_not_missed_where_other_rules_left_the_text() {
        let ruled = Emptiness { text_rules: 7, ..SHELL };
        assert!(!is_doubtful(ruled, held(1, true), Some("fetched")));
        assert!(is_doubtful(Emptiness { text_rules: 7, ..NOTHING }, held(1, true), Some("fetched")));
    }
}
