//! A recorded page's texts over time: what it said, from when to when, told by the hashes of its texts.
//!
//! Times are seconds since 1970. Versions that differ in their bytes and not in what a reader sees are one text.

use serde::{Deserialize, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

/// From then on, the page has this text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub at: f64,
    /// `None` where the page was removed.
    pub text: Option<TextHash>,
}

/// A hash that stands for a text: two texts of a page share it if they are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextHash(pub u64);

impl TextHash {
    pub fn of(text: &str) -> Self {
        Self(xxh3_64(text.as_bytes()))
    }
}

impl Serialize for TextHash {
    /// As text: many readers of JSON keep only 53 bits of a number.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for TextHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

/// The state of a page at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TextState {
    NotYet,
    Shows { text: TextHash, born: f64 },
    Removed,
}

/// All turns of a page, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TextHistory(Vec<Turn>);

impl TextHistory {
    /// Turns in order of time; one that changes nothing is left out.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let mut turns: Vec<Turn> = turns.into_iter().collect();
        turns.dedup_by(|later, earlier| later.text == earlier.text);
        Self(turns)
    }

    pub fn at(&self, moment: f64) -> TextState {
        let past = self.until(moment);
        let Some(last) = past.last() else { return TextState::NotYet };
        let Some(text) = last.text else { return TextState::Removed };
        let life = past.iter().rev().take_while(|turn| turn.text.is_some());
        TextState::Shows { text, born: life.last().map_or(last.at, |first| first.at) }
    }

    /// When its text changed, after `from` up to and including `to`, in order.
    pub fn changes(&self, from: f64, to: f64) -> Vec<f64> {
        self.until(to).iter().map(|turn| turn.at).filter(|at| *at > from).collect()
    }

    fn until(&self, moment: f64) -> &[Turn] {
        self.0.split_at(self.0.partition_point(|turn| turn.at <= moment)).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_text_of_its_last_turn() {
        let (one, two) = (TextHash::of("one"), TextHash::of("two"));
        let turn = |at, text| Turn { at, text };
        let turns = [(1.0, Some(one)), (2.0, Some(one)), (3.0, Some(two)), (5.0, None), (6.0, Some(one))];
        let history = TextHistory::new(turns.map(|(at, text)| turn(at, text)));
        assert_eq!(history.at(0.9), TextState::NotYet);
        assert_eq!(history.at(2.5), TextState::Shows { text: one, born: 1.0 });
        assert_eq!(history.at(3.0), TextState::Shows { text: two, born: 1.0 });
        assert_eq!(history.at(5.5), TextState::Removed);
        assert_eq!(history.at(9.0), TextState::Shows { text: one, born: 6.0 }, "it began to live again");
        assert_eq!(history.changes(1.0, 5.0), [3.0, 5.0], "the same text again is no change");
        let told = serde_json::to_string(&history).expect("JSON");
        assert_eq!(serde_json::from_str::<TextHistory>(&told).expect("a history"), history);
        assert!(serde_json::from_str::<TextHistory>("[{\"at\":1,\"text\":\"x\"}]").is_err());
    }
}
