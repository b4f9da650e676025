//! Words, and prose made of them.

use super::draw::SeededDraw;

/// Common English words. 256 of them, so that a byte is a word: a run of four is one of 4 · 10⁹, and two runs drawn apart
/// are practically never the same.
#[rustfmt::skip]
pub(super) const WORDS: [&str; 256] = [
    "time", "year", "people", "way", "day", "man", "thing", "woman", "life", "child", "world", "school",
    "state", "family", "student", "group", "country", "problem", "hand", "part", "place", "case", "week",
    "company", "system", "program", "question", "work", "government", "number", "night", "point", "home",
    "water", "room", "mother", "area", "money", "story", "fact", "month", "lot", "right", "study", "book",
    "eye", "job", "word", "business", "issue", "side", "kind", "head", "house", "service", "friend",
    "father", "power", "hour", "game", "line", "end", "member", "law", "car", "city", "community", "name",
    "president", "team", "minute", "idea", "body", "information", "back", "parent", "face", "others",
    "level", "office", "door", "health", "person", "art", "war", "history", "party", "result", "change",
    "morning", "reason", "research", "girl", "guy", "moment", "air", "teacher", "force", "education",
    "foot", "boy", "age", "policy", "music", "market", "sense", "nation", "plan", "college", "interest",
    "death", "experience", "effect", "use", "class", "control", "care", "field", "development", "role",
    "effort", "rate", "heart", "drug", "show", "leader", "light", "voice", "wife", "police", "mind",
    "price", "report", "decision", "son", "view", "relationship", "town", "road", "arm", "difference",
    "value", "building", "action", "season", "society", "tax", "director", "position", "player", "record",
    "paper", "space", "ground", "form", "event", "official", "matter", "center", "couple", "site",
    "project", "base", "activity", "star", "table", "need", "court", "oil", "situation", "cost",
    "industry", "figure", "street", "image", "phone", "data", "picture", "practice", "piece", "land",
    "product", "doctor", "wall", "patient", "worker", "news", "test", "movie", "north", "love", "support",
    "technology", "step", "river", "garden", "window", "summer", "winter", "spring", "bridge", "station",
    "village", "mountain", "island", "forest", "harbour", "letter", "answer", "reading", "writing",
    "ocean", "measure", "pattern", "signal", "engine", "machine", "valley", "kitchen", "weather", "storm",
    "cloud", "shadow", "silver", "copper", "iron", "stone", "glass", "bread", "butter", "coffee", "dinner",
    "lunch", "breakfast", "supper", "apple", "orange", "lemon", "farmer", "baker", "sailor", "painter",
    "singer", "dancer", "writer", "speaker", "hunter", "driver", "pilot", "captain", "soldier", "general",
    "judge", "lawyer", "meadow", "harvest",
];

/// Words of a paragraph; the last of a run has those left over.
const PARAGRAPH_WORDS: usize = 70;

/// Writes exactly `count` words in sentences, a mark after each sentence's last.
pub(super) fn sentences(out: &mut String, draw: &mut SeededDraw, count: usize) {
    let mut left_in_sentence = 0;
    let mut bits = 0;
    for place in 0..count {
        if place % 8 == 0 {
            bits = draw.bits();
        }
        let byte = (bits & 0xff) as u8;
        bits >>= 8;
        let word = WORDS[usize::from(byte)];
        if left_in_sentence == 0 {
            // 6 to 21 words, by the word that begins it: as random as a draw of its own, and free.
            left_in_sentence = 6 + usize::from(byte & 0x0f);
            capitalised(out, word);
        } else {
            out.push_str(word);
        }
        left_in_sentence -= 1;
        if place + 1 == count {
            out.push('.');
        } else if left_in_sentence == 0 {
            out.push_str(". ");
        } else {
            out.push(' ');
        }
    }
}

/// Writes `count` words in paragraphs.
pub(super) fn paragraphs(out: &mut String, draw: &mut SeededDraw, count: usize) {
    let mut left = count;
    while left > 0 {
        let words = left.min(PARAGRAPH_WORDS);
        out.push_str("<p>");
        sentences(out, draw, words);
        out.push_str("</p>\n");
        left -= words;
    }
}

/// Writes `count` words as a heading has them.
pub(super) fn heading(out: &mut String, draw: &mut SeededDraw, count: usize) {
    for place in 0..count {
        let word = draw.pick(&WORDS);
        if place == 0 {
            capitalised(out, word);
        } else {
            out.push(' ');
            out.push_str(word);
        }
    }
}

fn capitalised(out: &mut String, word: &str) {
    let mut letters = word.chars();
    out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
    out.push_str(letters.as_str());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_are_different_and_lower_case() {
        let all: BTreeSet<&str> = WORDS.into_iter().collect();
        assert_eq!(all.len(), WORDS.len());
        assert!(WORDS.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
    }

    #[test]
    fn prose_has_as_many_words_as_asked_for() {
        for count in [0, 1, 7, 8, 9, 70, 71, 500] {
            let mut text = String::new();
            sentences(&mut text, &mut SeededDraw::new(3), count);
            assert_eq!(text.split_whitespace().count(), count);
            assert_eq!(text.ends_with('.'), count > 0);
            let mut html = String::new();
            paragraphs(&mut html, &mut SeededDraw::new(3), count);
            assert_eq!(html.matches("<p>").count(), count.div_ceil(PARAGRAPH_WORDS));
        }
    }
}
