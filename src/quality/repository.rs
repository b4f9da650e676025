//! The exact quality of a repository, from the words of its copies and of the pages as they are now.
//!
//! Comes in: for each page, its copy and its state on the web as [`CopyWords`]. Goes out: Q of Pandey & Olston 2005 (eq. 5), query by
//! query through [`super::answer`]; and how much attention each page gets from searchers, Σ f·I(rank), which weighs pages for policies
//! that know no queries.
//!
//! Copies are scored with the counts of the repository, pages on the web with those of the web. So the quality is 1 whenever all
//! copies are up to date.

use super::answer::{AnswerQuality, CopyScores, RepositoryAnswer};
use super::attention::Attention;
use super::copies::{CopyWords, TermStatistics, WorkloadTerms};
use super::scoring::Scoring;

/// How searchers see a collection: what they ask, how pages are ranked, and how far down they look.
#[derive(Clone, Copy, Debug)]
pub struct Searchers<'a> {
    /// What they ask.
    pub terms: &'a WorkloadTerms,
    /// How results are ranked.
    pub scoring: Scoring,
    /// How far down they look.
    pub attention: Attention,
}

/// A page of a repository.
#[derive(Clone, Copy, Debug)]
pub struct HeldPage<'a> {
    /// The page; of two with the same score, the lower number comes first.
    pub page: u64,
    /// The copy; `None` if there is none.
    pub copy: Option<&'a CopyWords>,
    /// The page as it is on the web; `None` if it is gone.
    pub web: Option<&'a CopyWords>,
    /// Pages that link to it.
    pub inlinks: u32,
}

impl Searchers<'_> {
    /// The exact quality of a repository of these pages.
    pub fn quality(&self, pages: &[HeldPage<'_>]) -> AnswerQuality {
        let mut quality = AnswerQuality::default();
        for (query, scores) in self.terms.queries().iter().zip(self.scores(pages)) {
            quality.add(self.attention, query.frequency, &scores);
        }
        quality
    }

    /// The exact ΔQ_A of refreshing each of these pages alone (the numerator of eq. 6), in their order.
    pub fn refresh_gains(&self, pages: &[HeldPage<'_>]) -> Vec<f64> {
        let places: std::collections::HashMap<u64, usize> =
            pages.iter().enumerate().map(|(place, page)| (page.page, place)).collect();
        let mut gains = vec![0.0; pages.len()];
        for (query, scores) in self.terms.queries().iter().zip(self.scores(pages)) {
            let answer = RepositoryAnswer::of(self.attention, &scores);
            for page in scores {
                if let Some(gain) = places.get(&page.page).and_then(|place| gains.get_mut(*place)) {
                    *gain += query.frequency * answer.refresh_gain(&page);
                }
            }
        }
        gains
    }

    /// The results of each query among these copies: their places in the list with their scores, the best first, equal ones in the order
    /// of their pages.
    pub fn results(&self, copies: &[(u64, &CopyWords, u32)]) -> Vec<Vec<(usize, f64)>> {
        let statistics = TermStatistics::of(self.terms, copies.iter().map(|(_, copy, _)| *copy));
        let mut results: Vec<Vec<(f64, u64, usize)>> = vec![Vec::new(); self.terms.queries().len()];
        for (place, (page, copy, inlinks)) in copies.iter().enumerate() {
            self.terms.each_match(copy, |number| {
                let query = self.terms.queries().get(number as usize);
                let terms = query.map_or(&[][..], |query| &query.terms);
                let score = statistics.score(self.scoring, terms, copy, *inlinks);
                if let Some(results) = results.get_mut(number as usize).filter(|_| score > 0.0) {
                    results.push((score, *page, place));
                }
            });
        }
        let ordered = |mut results: Vec<(f64, u64, usize)>| {
            results.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            results.into_iter().map(|(score, _, place)| (place, score)).collect()
        };
        results.into_iter().map(ordered).collect()
    }

    /// The attention that each of these copies gets: Σ over queries of f·I(rank), in their order.
    pub fn attention_on(&self, copies: &[(u64, &CopyWords, u32)]) -> Vec<f64> {
        let mut attention = vec![0.0; copies.len()];
        for (query, results) in self.terms.queries().iter().zip(self.results(copies)) {
            for (rank, (place, _)) in (1..).zip(results) {
                if let Some(sum) = attention.get_mut(place) {
                    *sum += query.frequency * self.attention.at(rank);
                }
            }
        }
        attention
    }

    /// For each query, the scores of the pages that are a result in the repository or on the web.
    pub fn scores(&self, pages: &[HeldPage<'_>]) -> Vec<Vec<CopyScores>> {
        let held = TermStatistics::of(self.terms, pages.iter().filter_map(|page| page.copy));
        let now = TermStatistics::of(self.terms, pages.iter().filter_map(|page| page.web));
        let mut all: Vec<Vec<CopyScores>> = vec![Vec::new(); self.terms.queries().len()];
        let mut matched: Vec<u32> = Vec::new();
        for page in pages {
            matched.clear();
            // A copy that is up to date is often the same value as the page.
            let is_same = page.copy.zip(page.web).is_some_and(|(copy, web)| std::ptr::eq(copy, web));
            for copy in page.copy.into_iter().chain(page.web.filter(|_| !is_same)) {
                self.terms.each_match(copy, |query| matched.push(query));
            }
            if !is_same {
                matched.sort_unstable();
                matched.dedup();
            }
            for number in &matched {
                let Some(query) = self.terms.queries().get(*number as usize) else { continue };
                let score = |statistics: &TermStatistics, copy: &CopyWords| {
                    statistics.score(self.scoring, &query.terms, copy, page.inlinks)
                };
                let repository = page.copy.map(|copy| score(&held, copy));
                let web = page.web.map_or(0.0, |copy| score(&now, copy));
                if let Some(scores) = all.get_mut(*number as usize) {
                    scores.push(CopyScores { page: page.page, repository, web });
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words of a page: counts of the terms 0 to 3.
    fn words() -> impl Strategy<Value = CopyWords> {
        (5_u32..60, prop::collection::vec((0_u32..4, 1_u32..5), 0..4))
            .prop_map(|(length, counts)| CopyWords::new(length, counts))
    }

    fn queries() -> WorkloadTerms {
        WorkloadTerms::of_hashes(&[
            (vec![10], 3.0),
            (vec![11], 1.0),
            (vec![12, 13], 2.0),
            (vec![10, 13], 0.5),
        ])
    }

    fn held<'a>(pages: &'a [(Option<CopyWords>, Option<CopyWords>, u32)]) -> Vec<HeldPage<'a>> {
        let page =
            |(number, (copy, web, inlinks)): (u64, &'a (Option<CopyWords>, Option<CopyWords>, u32))| {
                HeldPage { page: number, copy: copy.as_ref(), web: web.as_ref(), inlinks: *inlinks }
            };
        (0..).zip(pages).map(page).collect()
    }

    fn searchers(terms: &WorkloadTerms, scoring: Scoring) -> Searchers<'_> {
        Searchers { terms, scoring, attention: Attention::default() }
    }

    #[test]
    fn attention_is_the_sum_over_queries() {
        let terms = queries();
        let copies = [
            CopyWords::new(10, vec![(0, 1)]),
            CopyWords::new(10, vec![(0, 3), (3, 1)]),
            CopyWords::new(9, vec![]),
        ];
        let copies: Vec<(u64, &CopyWords, u32)> =
            (0..).zip(&copies).map(|(page, copy)| (page, copy, 0)).collect();
        let attention = searchers(&terms, Scoring::TfIdf).attention_on(&copies);
        let second = 2_f64.powf(-1.5);
        // Page 1 is first for `10`, and the only result of `10 13`.
        assert!(
            (attention[0] - 3.0 * second).abs() < 1e-12 && (attention[1] - 3.5).abs() < 1e-12,
            "{attention:?}"
        );
        assert_eq!(attention[2], 0.0);
    }

    proptest! {
        #[test]
        fn quality_is_at_most_1_and_1_when_all_copies_are_up_to_date(
            pages in prop::collection::vec((prop::option::of(words()), prop::option::of(words()), 0_u32..9), 0..12),
            scoring in prop::sample::select(Scoring::ALL.to_vec()),
        ) {
            let terms = queries();
            let searchers = searchers(&terms, scoring);
            if let Some(quality) = searchers.quality(&held(&pages)).normalised() {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&quality));
            }
            let fresh: Vec<_> = pages.iter().map(|(_, web, inlinks)| (web.clone(), web.clone(), *inlinks)).collect();
            if let Some(quality) = searchers.quality(&held(&fresh)).normalised() {
                prop_assert!((quality - 1.0).abs() < 1e-12);
            }
            prop_assert!(searchers.refresh_gains(&held(&fresh)).iter().all(|gain| gain.abs() < 1e-12));
        }
    }
}
