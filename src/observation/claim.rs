//! The word of a page that another page stands for it, by a permanent redirect or a canonical link: what one visit said,
//! and what the visits in a row amount to.
//!
//! One visit is not believed: a site under repair may send every page to one notice, and a faulty template may name one
//! canonical page for all. A [`Claim`] is confirmed when a visit of a later cycle says the same.

use super::Observation;
use crate::fetch::visit::Outcome;
use crate::page::PageId;

/// The word of one visit: the page is another spelling of this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SameAs {
    /// The page that it names.
    pub page: PageId,
    /// Divergence of the page's text from that of the page named. A page that redirects has its last text compared.
    /// `None`: one of them has no text that is known.
    pub apart: Option<f64>,
}

/// Texts that are this far apart are of two pages. Pages of a site share their menus: two pages with texts of their own
/// that are as long as the menu are 2/3 apart, a page and its print view without the menu less than 1/2, as long as the
/// menu is shorter than the text.
const UNLIKE: f64 = 0.5;

/// Visits in a row, of as many cycles, that are believed.
const CONFIRMED: u32 = 2;

/// The word of a page's last visits that another page stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The page that they name.
    pub of: PageId,
    /// Cycles in a row that had a visit which said so.
    pub times: u32,
    /// The last of them was a permanent redirect; else the page has a canonical link.
    pub moved: bool,
    /// The texts of the two pages agree; `None` if they could not be compared.
    pub near: Option<bool>,
}

impl Claim {
    /// The claim after one more visit. `is_new_cycle`: no visit before it was of the same cycle. A visit that got no
    /// answer takes nothing back.
    pub(super) fn after(before: Option<Claim>, fact: &Observation, is_new_cycle: bool) -> Option<Claim> {
        if !fact.answers() {
            return before;
        }
        let SameAs { page: of, apart } = fact.same_as?;
        let moved = matches!(fact.attempt.outcome, Outcome::Redirected { .. });
        let near = apart.map(|apart| apart < UNLIKE);
        Some(match before.filter(|before| before.of == of) {
            None => Claim { of, times: 1, moved, near },
            Some(before) => Claim {
                times: before.times.saturating_add(u32::from(is_new_cycle)),
                // The last text of a page that moved grows old, while the page it moved to goes on changing.
                near: if moved && before.near == Some(true) { before.near } else { near },
                of,
                moved,
            },
        })
    }

    /// Did visits of two cycles say so?
    pub(super) fn is_confirmed(self) -> bool {
        self.times >= CONFIRMED
    }

    /// Are the texts of two pages?
    pub(super) fn is_unlike(self) -> bool {
        self.near == Some(false)
    }
}

impl Observation {
    /// Did the page answer for itself or name another page? A visit that failed did neither.
    pub fn answers(&self) -> bool {
        self.found.is_some() || matches!(self.attempt.outcome, Outcome::Redirected { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Found, observation};
    use super::*;
    use crate::change::VersionId;
    use crate::time::Timestamp;

    const AT: Timestamp = Timestamp::from_seconds(1_000_000);

    fn moved(to: i64, apart: Option<f64>) -> Observation {
        let target = url::Url::parse("https://example.org/").unwrap();
        let same_as = Some(SameAs { page: PageId(to), apart });
        Observation { same_as, ..observation(AT, Outcome::Redirected { to: target, permanent: true }) }
    }

    fn canonical(of: Option<i64>, apart: Option<f64>) -> Observation {
        let found = Found { version: VersionId(1), text_rules: 0, has_words: true };
        let same_as = of.map(|page| SameAs { page: PageId(page), apart });
        Observation { found: Some(found), same_as, ..observation(AT, Outcome::Fetched) }
    }

    /// The claim after visits of as many cycles.
    fn after(facts: &[Observation]) -> Option<Claim> {
        facts.iter().fold(None, |claim, fact| Claim::after(claim, fact, true))
    }

    #[test]
    fn a_second_visit_confirms_what_the_first_said() {
        let once = after(&[moved(2, None)]);
        assert_eq!(once, Some(Claim { of: PageId(2), times: 1, moved: true, near: None }));
        assert!(!once.unwrap().is_confirmed());
        assert!(after(&[moved(2, None), moved(2, None)]).unwrap().is_confirmed());
        assert_eq!(after(&[moved(2, None), moved(3, None)]).unwrap().times, 1, "another page");
        let same_cycle = Claim::after(once, &moved(2, None), false);
        assert!(!same_cycle.unwrap().is_confirmed());
    }

    #[test]
    fn a_page_that_answers_for_itself_takes_its_word_back_and_a_failure_does_not() {
        assert_eq!(after(&[moved(2, None), canonical(None, None)]), None);
        let failed = observation(AT, Outcome::ServerError);
        assert_eq!(after(&[moved(2, None), failed.clone(), moved(2, None)]).unwrap().times, 2);
        let elsewhere = Observation { same_as: None, ..moved(2, None) };
        assert_eq!(after(&[moved(2, None), elsewhere]), None, "a redirect that is not for good");
    }

    #[test]
    fn the_last_text_of_a_page_that_moved_was_near_once_and_that_is_enough() {
        assert_eq!(after(&[moved(2, Some(0.1)), moved(2, Some(0.9))]).unwrap().near, Some(true));
        assert_eq!(after(&[moved(2, Some(0.9)), moved(2, Some(0.1))]).unwrap().near, Some(true));
        let page = [canonical(Some(2), Some(0.1)), canonical(Some(2), Some(0.9))];
        assert_eq!(after(&page).unwrap().near, Some(false), "a page that is there is compared as it is");
    }
}
