//! Whether a change lasted: clocks, adverts and "2 days ago" are gone again by the next visit.

use std::collections::HashSet;

use super::fragment::Fragments;

/// Did what the change from `before` to `after` brought outlive a later visit, which found `later`?
///
/// A word that is new is in `words` fragments, and a cut leaves `words − 1` new ones across its edges: at least that many
/// of the new fragments must be found again, or all if there are fewer. That keeps out a clock whose hour still stands
/// while its minutes moved on. Where nothing new came, what went must have stayed away.
pub(crate) fn lasted(before: &Fragments, after: &Fragments, later: &Fragments, words: usize) -> bool {
    let found_again = |wanted: &dyn Fn(u64) -> bool, among: &Fragments, not_in: &Fragments| {
        let new: Vec<u64> = among.iter().filter(|hash| !not_in.contains(*hash)).collect();
        let kept = new.iter().filter(|hash| wanted(**hash)).count();
        (new.len(), kept)
    };
    let enough = |all: usize| (words.saturating_sub(1)).max(1).min(all);
    let (came, stayed) = found_again(&|hash| later.contains(hash), after, before);
    if came > 0 {
        return stayed >= enough(came);
    }
    let (went, stayed_away) = found_again(&|hash| !later.contains(hash), before, after);
    went > 0 && stayed_away >= enough(went)
}

/// Did a change of case, symbols or punctuation alone (`$ 50` to `€ 50`, `1.50` to `1,50`) outlive a later visit?
///
/// Fragments don't see these changes, so whole lines are compared: one that has the words of a line that went, and is
/// still there at the later visit as it came.
pub(crate) fn form_lasted(before: &str, after: &str, later: &str) -> bool {
    let lines = |text: &'_ str| -> HashSet<String> { text.lines().map(str::to_owned).collect() };
    let (before, after, later) = (lines(before), lines(after), lines(later));
    let went: HashSet<Vec<String>> = before.difference(&after).map(|line| bare_words(line)).collect();
    after.difference(&before).any(|line| later.contains(line) && went.contains(&bare_words(line)))
}

/// The words of a line, whatever their case and whatever stands between them.
fn bare_words(line: &str) -> Vec<String> {
    let words = line.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_changed_in_form_alone_lasts_if_it_is_still_there() {
        let page = |clock: &str, price: &str| format!("It is {clock}\nA boat for {price}\nThe end");
        assert!(form_lasted(&page("10:01", "$ 50"), &page("10:07", "€ 50"), &page("10:19", "€ 50")));
        assert!(form_lasted(&page("10:01", "1.50"), &page("10:07", "1,50"), &page("10:19", "1,50")));
        assert!(!form_lasted(&page("10:01", "$ 50"), &page("10:07", "€ 50"), &page("10:19", "$ 50")));
        assert!(!form_lasted(&page("10:01", "x"), &page("11:01", "x"), &page("11:01", "x")), "words came");
    }

    fn lasts(before: &str, after: &str, later: &str) -> bool {
        let of = |text| Fragments::of(text, 4);
        lasted(&of(before), &of(after), &of(later), 4)
    }

    #[test]
    fn a_new_sentence_that_stays_lasts() {
        let before = "the river is low and the boats are idle";
        let after = "the river is low and the rain has come at last and the boats are idle";
        assert!(lasts(before, after, after));
        assert!(!lasts(before, after, before), "taken back");
        assert!(!lasts(before, before, before), "nothing changed");
    }

    #[test]
    fn a_clock_does_not_last_even_where_its_hour_does() {
        let at = |time: &str| format!("welcome to our page now it is {time} and all is well here");
        assert!(!lasts(&at("10 59"), &at("11 04"), &at("11 31")));
    }

    #[test]
    fn a_new_sentence_lasts_beside_a_clock() {
        let page = |time: &str, more: &str| format!("now it is {time} and all is well {more} in the valley");
        assert!(lasts(
            &page("10 01", ""),
            &page("10 07", "since the rain came"),
            &page("10 19", "since the rain came")
        ));
    }

    #[test]
    fn what_was_taken_out_for_good_lasts() {
        let before = "one two three four five six seven eight nine ten eleven twelve";
        assert!(lasts(
            before,
            "one two three four nine ten eleven twelve",
            "one two three four nine ten eleven twelve"
        ));
        assert!(lasts(before, "one two three four five six", "one two three four five six"), "the end of it");
        assert!(!lasts(before, "one two three four five six", before));
    }

    #[test]
    fn short_pages_need_no_more_than_they_have() {
        assert!(lasts("closed", "open", "open"));
        assert!(!lasts("closed", "open", "closed"));
        assert!(lasts("", "open now", "open now"));
        assert!(lasts("open now", "", ""));
    }
}
