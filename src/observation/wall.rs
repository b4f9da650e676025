//! A wall without a known form: a page that shrinks to a few words, which other pages of its host show as well.
//!
//! In comes the size of what a page holds and of what it shows now, and the small texts that other pages of the host
//! shrank to in the visits before; out comes whether to believe it. One page that shrinks was emptied by its author, as
//! far as anyone can tell: of some 66,000 changes of real pages, 100 were like that, nearly all of them meant. The same
//! few words on another page of the host are a wall, an outage or a notice. It goes away, or it stays and is believed
//! after a few visits.

use std::collections::VecDeque;

use crate::change::divergence::divergence;
use crate::change::sketch::Sketch;
use crate::fetch::visit::Outcome;
use crate::page::{HostId, PageId};

/// How many times longer the text was that the page held.
const SHRINKS: u64 = 10;
/// Bytes of text that a wall has at the most: some 200 words.
pub(crate) const MOST_WALL_BYTES: u64 = 1500;
/// Bytes of text that a page must have held to shrink at all.
const LEAST_HELD_BYTES: u64 = 1500;
/// Visits in a row that are not believed.
const REFUSALS: u32 = 3;
/// Divergence up to which two small texts are one: walls have a number of their own for each visitor.
const SAME_TEXT: f64 = 0.5;
/// Small texts that are remembered.
const REMEMBERED: usize = 1024;

/// A page and what it shows now, as far as the size tells anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuddenlySmall {
    /// Bytes of the text that it holds.
    pub held_bytes: u64,
    /// Bytes of the text that the visit brought.
    pub found_bytes: u64,
    /// Visits in a row that met a wall or failed since, if the last one met a wall.
    pub refusals: u32,
}

impl SuddenlySmall {
    /// How the page shrank; `None` if it did not. `last_outcome` and `failures` are those of the page before the visit.
    pub fn of(
        held_bytes: u64,
        found_bytes: u64,
        last_outcome: Option<&str>,
        failures: u32,
    ) -> Option<SuddenlySmall> {
        let refusals = if last_outcome == Some(Outcome::Wall.code()) { failures } else { 0 };
        let is_small = (1..=MOST_WALL_BYTES).contains(&found_bytes)
            && held_bytes >= LEAST_HELD_BYTES
            && found_bytes.saturating_mul(SHRINKS) <= held_bytes;
        is_small.then_some(SuddenlySmall { held_bytes, found_bytes, refusals })
    }

    /// Is it a wall? `shared`: another page of the host shrank to the same text.
    pub fn is_wall(self, shared: bool) -> bool {
        shared && self.refusals < REFUSALS
    }
}

/// The small texts that pages shrank to lately, the last visit last.
#[derive(Clone, Debug, Default)]
pub struct SmallTexts {
    recent: VecDeque<SmallText>,
}

#[derive(Clone, Debug)]
struct SmallText {
    host: HostId,
    page: PageId,
    sketch: Sketch,
}

impl SmallTexts {
    /// Takes in a text that `page` shrank to, and says whether another page of its host shrank to the same one.
    pub fn meet(&mut self, host: HostId, page: PageId, sketch: &Sketch) -> bool {
        let is_same = |other: &SmallText| divergence(&other.sketch, sketch).get() <= SAME_TEXT;
        let shared =
            self.recent.iter().any(|other| other.host == host && other.page != page && is_same(other));
        self.recent.retain(|other| other.page != page);
        if self.recent.len() >= REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(SmallText { host, page, sketch: sketch.clone() });
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{ChangeSettings, sketch};

    fn small(held_bytes: u64, found_bytes: u64) -> Option<SuddenlySmall> {
        SuddenlySmall::of(held_bytes, found_bytes, Some("fetched"), 0)
    }

    #[test]
    fn a_page_shrinks_to_a_tenth_of_a_real_text() {
        assert!(small(20_000, 300).is_some());
        assert_eq!(small(2_000, 300), None, "to a seventh");
        assert_eq!(small(1_000, 50), None, "it was small before");
        assert_eq!(small(200_000, 5_000), None, "it is still a page");
        assert_eq!(small(20_000, 0), None, "an empty page is another matter");
    }

    #[test]
    fn it_is_a_wall_only_if_others_show_it_and_only_for_some_visits() {
        let met = |last, failures| SuddenlySmall::of(20_000, 300, Some(last), failures).unwrap();
        assert!(!met("fetched", 0).is_wall(false));
        assert!(met("fetched", 0).is_wall(true));
        assert!(met("wall", 2).is_wall(true));
        assert!(!met("wall", 3).is_wall(true), "it stays: it is the page now");
        assert!(met("server-error", 7).is_wall(true));
    }

    #[test]
    fn the_same_words_with_another_number_are_the_same_text() {
        let sketch = |text: &str| sketch(text, ChangeSettings::default());
        let wall = |number: u32| {
            sketch(&format!(
                "the gate is closed for visitors like you today and opens again when the keeper is back on duty \
                 please come another time or ring the bell at the side entrance of the house number {number} thanks"
            ))
        };
        let mut texts = SmallTexts::default();
        assert!(!texts.meet(HostId(1), PageId(1), &wall(17)));
        assert!(!texts.meet(HostId(1), PageId(1), &wall(18)), "the page itself is no other");
        assert!(!texts.meet(HostId(2), PageId(2), &wall(19)), "another host");
        assert!(texts.meet(HostId(1), PageId(3), &wall(20)));
        assert!(!texts.meet(
            HostId(1),
            PageId(4),
            &sketch("this page was emptied by its author for good reasons")
        ));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut texts = SmallTexts::default();
        let text = sketch("a few words", ChangeSettings::default());
        for page in 0..3_000 {
            texts.meet(HostId(page), PageId(page), &text);
        }
        assert_eq!(texts.recent.len(), REMEMBERED);
    }
}
