//! Made-up collections: pages with words, some of which come and go.
//!
//! A page has three parts. Its title and base text stay; of its body some words are replaced at each update; and some pages
//! have adverts, which are replaced often and whose words no query has (the paper's first example, Fig. 5(a)). Bodies that
//! move have words that are asked for, as its page of seminars has (Fig. 5(b)).

use std::collections::HashSet;
use std::sync::Arc;

use rand::{Rng, RngExt as _};
use xxhash_rust::xxh3::xxh3_64;

use super::collections::{Collection, MOST_OF_MANY_SITES, MOST_OF_ONE_SITE, SNAPSHOTS};
use crate::dataset::{History, RecordedPage, TextWords};
use crate::reproduce::Effort;

/// Words of all sites, and of one site; the frequency of a word is one by its rank (Zipf).
const COMMON_WORDS: usize = 3000;
const SITE_WORDS: usize = 2000;
/// Words of adverts.
const ADVERT_WORDS: usize = 2000;
/// Words in a fragment, as in the crawl.
const FRAGMENT_WORDS: usize = 4;
/// Shares of pages that never change, and of the others that have adverts.
const QUIET: f64 = 0.3;
const ADVERTS: f64 = 0.4;
/// Updates a week: the median, and the standard deviation of the logarithms.
const MEDIAN_RATE: f64 = 0.15;
const SPREAD: f64 = 1.2;
/// Adverts a week.
const ADVERT_RATE: f64 = 0.7;

/// One site, and 15 sites of which only pages that changed are kept, as in the paper. The paper's numbers of pages are 16,000 and
/// 19,000; ours are 0.4 and 0.5 for each run.
pub(super) fn collections(effort: Effort) -> [Collection; 2] {
    let pages = |share: f64| ((share * f64::from(effort.runs)) as usize).clamp(40, 16_000);
    let mut one = Maker::new(effort, 1);
    let pages_of_one: Vec<RecordedPage> = (0..pages(0.4)).map(|at| one.page(at, 0)).collect();
    let mut many = Maker::new(effort, 2);
    let mut pages_of_many = Vec::new();
    while pages_of_many.len() < pages(0.5) {
        let at = pages_of_many.len();
        let page = many.page(at, 1 + at % 15);
        if page.history.changes() > 0 {
            pages_of_many.push(page);
        }
    }
    let about = "made up: pages of 80 to 600 words, drawn by Zipf from 3000 common words and 2000 of the site. 30 % never change; of the \
                 others a twentieth to a half of the words is replaced at each update, updates come at log-normal rates (0.15 a week in the \
                 middle, σ = 1.2), whatever part they replace; 40 % of those have adverts of up to a half of the page, replaced 0.7 times \
                 a week, whose words no query has. Links to a page: Zipf";
    let named = |pages: &[RecordedPage], kind: &str| format!("{} pages of {kind}, {about}", pages.len());
    let kinds = [named(&pages_of_one, "one site"), named(&pages_of_many, "15 sites, all of which changed")];
    let [about_one, about_many] = kinds;
    let mut found = [
        Collection::new("BDS", pages_of_one, MOST_OF_ONE_SITE, about_one),
        Collection::new("MDS", pages_of_many, MOST_OF_MANY_SITES, about_many),
    ];
    for collection in &mut found {
        collection.never_asked = advert_terms();
    }
    found
}

/// A word, by the list that it is of and its rank there.
fn term(list: usize, rank: usize) -> u64 {
    xxh3_64(format!("{list} {rank}").as_bytes())
}

const ADVERT_LIST: usize = 999;
const COMMON_LIST: usize = 1000;

fn advert_terms() -> HashSet<u64> {
    (0..ADVERT_WORDS).map(|rank| term(ADVERT_LIST, rank)).collect()
}

struct Maker<R> {
    random: R,
    /// Running sums of 1, 1/2, 1/3 …
    zipf: Vec<f64>,
}

impl Maker<rand_pcg::Pcg64Mcg> {
    fn new(effort: Effort, experiment: u64) -> Self {
        let mut sum = 0.0;
        let zipf = (1..=COMMON_WORDS.max(SITE_WORDS))
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        Self { random: effort.draws(400 + experiment), zipf }
    }
}

impl<R: Rng> Maker<R> {
    /// A rank from 0 to `many` − 1, by Zipf.
    fn rank(&mut self, many: usize) -> usize {
        let sums = self.zipf.get(..many).unwrap_or(&self.zipf);
        let drawn = self.random.random::<f64>() * sums.last().copied().unwrap_or(1.0);
        sums.partition_point(|sum| *sum < drawn).min(many.saturating_sub(1))
    }

    fn word(&mut self, site: usize) -> u64 {
        if self.random.random_bool(0.5) {
            term(COMMON_LIST, self.rank(COMMON_WORDS))
        } else {
            term(site, self.rank(SITE_WORDS))
        }
    }

    fn normal(&mut self) -> f64 {
        let (a, b): (f64, f64) = (self.random.random::<f64>(), self.random.random::<f64>());
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    fn page(&mut self, at: usize, site: usize) -> RecordedPage {
        let length = (200.0 * (0.6 * self.normal()).exp()).clamp(80.0, 600.0) as usize;
        let mut words: Vec<u64> = (0..length).map(|_| self.word(site)).collect();
        let is_quiet = self.random.random_bool(QUIET);
        let moving = (length as f64 * 0.05 * 10_f64.powf(self.random.random::<f64>())) as usize;
        let rate = if is_quiet { 0.0 } else { MEDIAN_RATE * (SPREAD * self.normal()).exp() };
        let has_adverts = !is_quiet && self.random.random_bool(ADVERTS);
        let advert_length = if has_adverts {
            (length as f64 * (0.05 + 0.45 * self.random.random::<f64>())) as usize
        } else {
            0
        };
        let mut advert: Vec<u64> = (0..advert_length).map(|_| self.advert_word()).collect();
        let mut texts: Vec<(Arc<[u64]>, TextWords)> = vec![text(&words, &advert)];
        let mut from = vec![(0, 0)];
        for snapshot in 1..SNAPSHOTS {
            let mut is_new = false;
            if self.random.random_bool(-(-rate).exp_m1()) {
                // The body is at the end: the title and the base text stay.
                for place in length - moving..length {
                    let word = self.word(site);
                    if let Some(old) = words.get_mut(place) {
                        *old = word;
                    }
                }
                is_new = true;
            }
            if advert_length > 0 && self.random.random_bool(-(-ADVERT_RATE).exp_m1()) {
                advert = (0..advert_length).map(|_| self.advert_word()).collect();
                is_new = true;
            }
            if is_new {
                from.push((snapshot, texts.len() as u32));
                texts.push(text(&words, &advert));
            }
        }
        let (fragments, words) = texts.into_iter().unzip();
        RecordedPage {
            url: format!("http://site-{site}.example/page-{at}.html"),
            site: format!("site-{site}.example"),
            weight: 1.0,
            born: 0,
            history: History::Texts { from, texts: fragments },
            words,
            inlinks: 1 + (200.0 / (1.0 + self.rank(SITE_WORDS) as f64)) as u32,
            signals: Vec::new(),
        }
    }

    fn advert_word(&mut self) -> u64 {
        term(ADVERT_LIST, self.random.random_range(0..ADVERT_WORDS))
    }
}

/// The fragments and the words of a text.
fn text(words: &[u64], advert: &[u64]) -> (Arc<[u64]>, TextWords) {
    let all: Vec<u64> = words.iter().chain(advert).copied().collect();
    let hashed = |run: &[u64]| {
        let bytes: Vec<u8> = run.iter().flat_map(|word| word.to_le_bytes()).collect();
        xxh3_64(&bytes)
    };
    let mut fragments: Vec<u64> = all.windows(FRAGMENT_WORDS).map(hashed).collect();
    fragments.sort_unstable();
    fragments.dedup();
    let mut sorted = all.clone();
    sorted.sort_unstable();
    let counts = sorted.chunk_by(|a, b| a == b).filter_map(|run| Some((*run.first()?, run.len() as u32)));
    (fragments.into(), TextWords { length: all.len() as u32, counts: counts.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_words_of_their_texts_and_many_sites_have_no_quiet_page() {
        let [one, many] = collections(Effort { runs: 200, seed: 3 });
        assert_eq!((one.len(), one.sites(), many.len(), many.sites()), (80, 1, 100, 15));
        let quiet = |collection: &Collection| {
            collection.group.pages.iter().filter(|page| page.history.changes() == 0).count()
        };
        assert!(quiet(&one) > 5 && quiet(&many) == 0);
        for page in one.group.pages.iter().chain(&many.group.pages) {
            let History::Texts { from, texts } = &page.history else { panic!("texts") };
            assert_eq!((from.len(), texts.len()), (page.words.len(), page.words.len()));
            for words in &page.words {
                assert_eq!(words.counts.iter().map(|(_, count)| count).sum::<u32>(), words.length);
                assert!(words.counts.is_sorted_by(|a, b| a.0 < b.0));
            }
        }
        assert_eq!(one.group, collections(Effort { runs: 200, seed: 3 })[0].group);
    }
}
