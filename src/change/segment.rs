//! Scripts that are written without blanks between words: a letter in, whether it belongs to one of them out.
//!
//! Chinese, Japanese, Thai, Lao, Burmese and Khmer put no blank between words, so that a run of letters is a sentence.
//! Finding their words takes a dictionary, which would tie every stored fragment to its edition. Pairs of neighbouring
//! characters need none, and one changed character changes two pairs. Search engines index these scripts the same way.

use unicode_normalization::char::is_combining_mark;

/// Blocks of Unicode whose letters, digits and marks are cut into pairs. Fragments depend on them: another block is another
/// [`super::fragment::SCHEME`]. Korean is not here, because it has blanks.
const UNSPACED: [(char, char); 18] = [
    ('\u{0e00}', '\u{0eff}'),   // Thai, Lao
    ('\u{1000}', '\u{109f}'),   // Myanmar
    ('\u{1780}', '\u{17ff}'),   // Khmer
    ('\u{3005}', '\u{3007}'),   // Marks and the zero of Han
    ('\u{3021}', '\u{3029}'),   // Numerals of Suzhou
    ('\u{3031}', '\u{3035}'),   // Marks of repetition
    ('\u{3038}', '\u{303c}'),   // More numerals and marks
    ('\u{3041}', '\u{312f}'),   // Hiragana, katakana, bopomofo
    ('\u{31a0}', '\u{31bf}'),   // Bopomofo
    ('\u{31f0}', '\u{31ff}'),   // Katakana
    ('\u{3400}', '\u{4dbf}'),   // Han
    ('\u{4e00}', '\u{9fff}'),   // Han
    ('\u{a9e0}', '\u{a9ff}'),   // Myanmar
    ('\u{aa60}', '\u{aa7f}'),   // Myanmar
    ('\u{f900}', '\u{faff}'),   // Han
    ('\u{ff66}', '\u{ff9f}'),   // Katakana of half width
    ('\u{1aff0}', '\u{1b16f}'), // Kana
    ('\u{20000}', '\u{3ffff}'), // Han
];

/// Is it a letter, digit or mark of a script that puts no blanks between words?
#[inline]
pub(crate) fn is_unspaced(letter: char) -> bool {
    letter >= '\u{0e00}' && is_in_blocks(letter)
}

fn is_in_blocks(letter: char) -> bool {
    let after = UNSPACED.partition_point(|(first, _)| *first <= letter);
    let block = after.checked_sub(1).and_then(|before| UNSPACED.get(before));
    block.is_some_and(|(_, last)| letter <= *last) && (letter.is_alphanumeric() || is_combining_mark(letter))
}

/// Words as people count them: what stands between blanks; of a script without blanks, each character.
pub fn count_words(text: &str) -> usize {
    text.split_whitespace().map(words_of_chunk).sum()
}

fn words_of_chunk(chunk: &str) -> usize {
    if !chunk.contains(is_unspaced) {
        return 1;
    }
    let (mut words, mut within) = (0, false);
    for letter in chunk.chars() {
        let is_unspaced = is_unspaced(letter);
        let is_word = !is_unspaced && letter.is_alphanumeric();
        let begins = if is_unspaced { !is_combining_mark(letter) } else { is_word && !within };
        words += usize::from(begins);
        within = is_word;
    }
    words
}

/// A run of words as a reader would write it: pairs that follow one another share a character, which is written once.
pub(super) fn readable(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    let mut shared: Option<char> = None;
    for word in words.split(' ') {
        let mut letters = word.chars();
        let pair = match (letters.next(), letters.next(), letters.next()) {
            (Some(first), Some(second), None) if is_unspaced(first) && is_unspaced(second) => {
                Some((first, second))
            }
            _ => None,
        };
        match pair {
            Some((first, second)) if shared == Some(first) => text.push(second),
            _ => {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(word);
            }
        }
        shared = pair.map(|(_, second)| second);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_digits_and_marks_of_scripts_without_blanks() {
        for letter in "中々〇〡あゝアーㇰｱﾞกี่๙ລ່ကြံ်ខ្ម័ㄅ𠀀𛀀".chars()
        {
            assert!(is_unspaced(letter), "{letter} U+{:04X}", u32::from(letter));
        }
        for letter in "aZ0é한글ＡＺ０。、「」・　฿๏។၊हिंदी٣Σ\u{a9cf}\u{2f00}\u{ff65}ꨀ𝐀😀".chars()
        {
            assert!(!is_unspaced(letter), "{letter} U+{:04X}", u32::from(letter));
        }
        assert!(UNSPACED.is_sorted() && UNSPACED.iter().all(|(first, last)| first <= last));
    }

    #[test]
    fn a_character_of_such_a_script_counts_as_a_word() {
        assert_eq!(count_words("don't panic, 3 times"), 4);
        assert_eq!(count_words("今天天气很好。"), 6);
        assert_eq!(count_words("iPhone 15 发布了，售价 5999 元"), 9);
        assert_eq!(count_words("第3章"), 3);
        assert_eq!(count_words("ที่นี่"), 2);
        assert_eq!(count_words("한국어 문장"), 2);
        assert_eq!(count_words(""), 0);
    }

    #[test]
    fn pairs_are_written_as_a_sentence() {
        assert_eq!(readable("今天 天天 天气 is fine"), "今天天气 is fine");
        assert_eq!(readable("今天 明天"), "今天 明天");
        assert_eq!(readable("one two"), "one two");
        assert_eq!(readable("甲 甲乙"), "甲 甲乙");
        assert_eq!(readable(""), "");
    }
}
