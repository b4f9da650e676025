//! What is true of a page: its text and fragments without noise, how much two moments differ, when it changed.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_64;

use super::life::Tenant;
use super::site::{Site, without_noise};
use crate::extract;

/// Words of a fragment; the paper leaves it open.
pub const FRAGMENT_WORDS: usize = 4;

/// The words that a reader of the page sees, without noise, as `extract` reads them.
pub fn text(site: &Site<'_>, page: &Tenant, day: f64) -> String {
    read(site.quiet_html(page, day).as_bytes())
}

/// The words of a body that a crawler holds, as [`text`] would tell them: noise is no part of the truth, so it is none of
/// what is held against it. `text` is what was read off the body.
pub fn held_text(body: &[u8], text: String) -> String {
    without_noise(body).map_or(text, |quiet| read(&quiet))
}

fn read(html: &[u8]) -> String {
    extract::html(html, Some("text/html; charset=utf-8"), 0).text
}

/// The fragments of a text: xxh3-64 of each run of four words, in lower case, one blank between them. A word is a run of
/// letters and digits. A shorter text is one fragment, an empty one has none.
pub fn fragments(text: &str) -> BTreeSet<u64> {
    // All words in one string, one blank between them: a run of words is a slice of it.
    let mut joined = String::with_capacity(text.len() + 1);
    let mut bounds = Vec::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let start = joined.len();
        joined.push_str(&word.to_lowercase());
        bounds.push((start, joined.len()));
        joined.push(' ');
    }
    if bounds.is_empty() {
        return BTreeSet::new();
    }
    let bytes = joined.as_bytes();
    let runs = bounds.windows(FRAGMENT_WORDS.min(bounds.len()));
    runs.map(|run| xxh3_64(&bytes[run[0].0..run[run.len() - 1].1])).collect()
}

/// How far two sets of fragments are apart, in [0, 1]: 1 − |A ∩ B| / |A ∪ B| (Olston & Pandey 2008, eq. 3); two
/// empty ones are the same.
pub fn divergence(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> f64 {
    let both = a.intersection(b).count();
    let either = a.len() + b.len() - both;
    if either == 0 { 0.0 } else { 1.0 - both as f64 / either as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evolving_web::spec::Spec;

    #[test]
    fn what_is_read_off_a_page_as_served_is_its_true_text_but_for_the_noise() {
        for noise in [false, true] {
            let spec = Spec { pages: 60, median_bytes: 3000, noise, ..Spec::default() };
            let site = Site::new(&spec, 0);
            for page in site.living(4.2) {
                let (served, truth) = (site.html(&page, 4.2), text(&site, &page, 4.2));
                let held = extract::html(served.as_bytes(), Some("text/html; charset=utf-8"), 9).text;
                assert_eq!(held == truth, !noise);
                assert_eq!(held_text(served.as_bytes(), held), truth);
                assert_eq!(without_noise(served.as_bytes()).is_some(), noise);
            }
        }
        assert_eq!(held_text(b"<p class=\"noise clock\">cut", "cut".to_owned()), "cut");
    }

    #[test]
    fn fragments_are_runs_of_four_words() {
        let both = fragments("One two, three four. Five!");
        let expected: BTreeSet<u64> =
            [xxh3_64(b"one two three four"), xxh3_64(b"two three four five")].into_iter().collect();
        assert_eq!(both, expected);
        assert_eq!(fragments("a b"), [xxh3_64(b"a b")].into_iter().collect());
        assert!(fragments(" ").is_empty());
        assert_eq!(divergence(&both, &fragments("one two three four six")), 1.0 - 1.0 / 3.0);
        assert_eq!(divergence(&BTreeSet::new(), &BTreeSet::new()), 0.0);
    }
}
