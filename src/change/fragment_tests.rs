use super::*;
use crate::extract;
use proptest::prelude::*;
use serde_json::Value;

/// The words of a text by the definition: runs of letters and digits, and pairs of characters in scripts without blanks.
fn plain_words(text: &str) -> Vec<String> {
    let lower: Vec<char> = text.to_lowercase().chars().collect();
    let kind = |letter: &char| match *letter {
        letter if is_unspaced(letter) => 2,
        letter => i32::from(letter.is_alphanumeric()),
    };
    let mut words = Vec::new();
    for run in lower.chunk_by(|one, next| kind(one) == kind(next)) {
        match kind(&run[0]) {
            0 => {}
            2 if run.len() > 1 => words.extend(run.windows(2).map(|pair| pair.iter().collect())),
            _ => words.push(run.iter().collect()),
        }
    }
    words
}

/// The definition, word for word.
fn plain(text: &str, words: usize) -> Vec<u64> {
    let all = plain_words(text);
    match all.len() {
        0 => Vec::new(),
        few => all.windows(words.min(few)).map(|run| xxh3_64(run.join(" ").as_bytes())).collect(),
    }
}

/// The definition of scheme 1.
fn plain_1(text: &str, words: usize) -> Vec<u64> {
    let lower = text.to_lowercase();
    let all: Vec<&str> = lower.split(|letter: char| !letter.is_alphanumeric()).collect();
    let all: Vec<&str> = all.into_iter().filter(|word| !word.is_empty()).collect();
    match all.len() {
        0 => Vec::new(),
        few => all.windows(words.min(few)).map(|run| xxh3_64(run.join(" ").as_bytes())).collect(),
    }
}

fn ours(fragmenter: &mut Fragmenter, text: &str) -> Vec<u64> {
    let mut hashes = Vec::new();
    fragmenter.each(text, |hash| hashes.push(hash));
    hashes
}

#[test]
fn fragments_are_runs_of_words() {
    let both = Fragments::of("One two, three four. Five!", 4);
    let hashes = [xxh3_64(b"two three four five"), xxh3_64(b"one two three four")];
    assert_eq!(both, Fragments::from_hashes(hashes.to_vec()));
    assert!(both.contains(hashes[0]) && !both.contains(0) && both.len() == 2);
    assert_eq!(Fragments::of("a b", 4).as_slice(), [xxh3_64(b"a b")]);
    assert_eq!(Fragments::of("a A a-a", 1).as_slice(), [xxh3_64(b"a")]);
    assert!(Fragments::of(" _ ", 4).is_empty() && Fragments::of("", 1).is_empty());
    assert_eq!(Fragmenter::new(0).words(), 1);
    assert_eq!(Fragmenter::new(usize::MAX).words(), MOST_WORDS);
    let mut runs = Vec::new();
    let mut fragmenter = Fragmenter::new(2);
    fragmenter
        .each_run("Été, ΟΔΟΣ (x)", |run| runs.push(String::from_utf8(run.to_vec()).expect("UTF-8")));
    assert_eq!(runs, ["été οδος", "οδος x"]);
}

#[test]
fn a_text_of_many_pieces_has_the_fragments_of_one() {
    let words = ["river", "Σας", "İ", "x", "ΑΣ'", "don't", "\u{2028}", "a_b", "1999", "文字", "--"];
    let mut text = String::new();
    for turn in 0..9000_usize {
        text += words[turn * turn % 7 % words.len() + turn % 5];
        text += if turn % 900 < 450 { " " } else { "\n\t" };
    }
    let endless = "Σ".repeat(3 * PIECE_BYTES);
    let mut fragmenter = Fragmenter::new(4);
    for text in [text.clone(), text.replace(char::is_whitespace, ","), format!("{text}{endless} {text}")] {
        for words in [1, 4, 64] {
            assert_eq!(ours(&mut Fragmenter::new(words), &text), plain(&text, words));
        }
        assert_eq!(ours(&mut fragmenter, &text), plain(&text, 4));
    }
}

#[test]
fn every_letter_is_lower_cased_as_the_definition_has_it() {
    let mut fragmenter = Fragmenter::new(1);
    for first in (0..=u32::from(char::MAX)).step_by(64) {
        let letters: Vec<char> = (first..first + 64).filter_map(char::from_u32).collect();
        let text: String = letters.iter().flat_map(|letter| ['a', *letter, 'B', ' ', *letter, '.']).collect();
        assert_eq!(ours(&mut fragmenter, &text), plain(&text, 1), "U+{first:04X} and the next");
    }
}

#[test]
fn scripts_without_blanks_are_cut_into_pairs_of_characters() {
    let words = |text: &str| {
        let mut words = Vec::new();
        Fragmenter::new(1)
            .each_run(text, |word| words.push(String::from_utf8(word.to_vec()).expect("UTF-8")));
        words.join(" ")
    };
    assert_eq!(words("今天天气很好。明天"), "今天 天天 天气 气很 很好 明天");
    assert_eq!(words("我 爱iPhone15手机"), "我 爱 iphone15 手机");
    assert_eq!(words("2026年11月，售价５９元"), "2026 年 11 月 售价 ５９ 元");
    assert_eq!(words("ﾊﾝｶｸ・カタカナー"), "ﾊﾝ ﾝｶ ｶｸ カタ タカ カナ ナー");
    assert_eq!(words("ที่นี่"), "ที ี่ ่น นี ี่", "a mark is a character of its own");
    assert_eq!(words("한국어 문장"), "한국어 문장", "Korean has blanks");
    assert_eq!(words("𠮷野家 ΟΔΟΣ野"), "𠮷野 野家 οδος 野");
}

/// Guards what is stored. If this fails, texts have other fragments than those that stores hold: either undo that,
/// or raise [`SCHEME`] and write the golden file again.
#[test]
fn the_scheme_is_the_one_that_it_says_it_is() {
    let golden: Value =
        serde_json::from_str(include_str!("../../tests/golden/fragments.json")).expect("JSON");
    assert_eq!(
        golden["scheme"], SCHEME,
        "raise SCHEME and write tests/golden/fragments.json again, together"
    );
    let hashes = |value: &Value| -> Vec<u64> {
        let hex = |hash: &Value| u64::from_str_radix(hash.as_str().expect("hex"), 16).expect("a hash");
        value.as_array().expect("hashes").iter().map(hex).collect()
    };
    let cases = golden["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 22);
    for case in cases {
        let text = match case["html"].as_str() {
            Some(html) => extract::html(html.as_bytes(), Some("text/html; charset=utf-8"), 0).text,
            None => case["text"].as_str().expect("a text").to_owned(),
        };
        for words in [1, 4] {
            let expected = hashes(&case[format!("k{words}")]);
            let found = Fragments::of(&text, words);
            assert_eq!(found.as_slice(), expected, "scheme {SCHEME} is broken: raise it ({case})");
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    // Letters whose lower case depends on others, is longer, or is no letter; and what parts words.
    let hard = "[aAbZ019 \\t\\n_'.ΣσςİıßẞŉǅȺДж文字ーｶﾞกี่\u{307}\u{a0}\u{ad}\u{2028}\u{1f600}\u{345}]{0,60}";
    prop_oneof![any::<String>(), hard, "[ a-zA-Z,.\u{e9}]{0,200}"]
}

proptest! {
    #[test]
    fn fragments_are_those_of_the_definition(texts in prop::collection::vec(text(), 1..4), words in 1_usize..=9) {
        let mut fragmenter = Fragmenter::new(words);
        for text in &texts {
            prop_assert_eq!(ours(&mut fragmenter, text), plain(text, words));
        }
        let mut hashes = plain(&texts[0], words);
        hashes.sort_unstable();
        hashes.dedup();
        let fragments = Fragments::of(&texts[0], words);
        prop_assert_eq!(fragments.as_slice(), hashes);
    }

    #[test]
    fn texts_with_blanks_have_the_fragments_of_scheme_1(text in text(), words in 1_usize..=9) {
        let text: String = text.chars().filter(|letter| !is_unspaced(*letter)).collect();
        prop_assert_eq!(ours(&mut Fragmenter::new(words), &text), plain_1(&text, words));
    }

    #[test]
    fn one_changed_character_changes_few_fragments(
        before in unspaced_text(),
        after in unspaced_text(),
        (old, new) in (unspaced(), unspaced()),
        words in 1_usize..=6,
    ) {
        let [one, other] = [old, new].map(|letter| format!("{before}{letter}{after}"));
        let [one, other] = [one, other].map(|text| Fragments::of(&text, words));
        for (from, to) in [(&one, &other), (&other, &one)] {
            let lost = from.iter().filter(|hash| !to.contains(*hash)).count();
            // Two pairs have the character, and each run of k words that has one of them is another one.
            prop_assert!(lost <= words + 1, "{} of {}", lost, from.len());
        }
    }
}

/// Letters of scripts without blanks.
fn unspaced() -> impl Strategy<Value = char> {
    prop::sample::select("今天气很好明々あいアイーｱｲﾞกขี่้๑ລ່ကြံខ្ម𠮷".chars().collect::<Vec<_>>())
}

/// Such letters, with others and what parts words between them.
fn unspaced_text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![6 => unspaced(), 1 => prop::sample::select(vec!['a', 'Z', '7', ' ', '。', 'é', '５'])],
        0..60,
    )
    .prop_map(|letters| letters.into_iter().collect())
}
