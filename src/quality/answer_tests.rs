use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::estimate::tests::{close, golden, number};

/// The golden score: the share of a text's words that are terms of the query, 0 unless all terms occur.
pub(in crate::quality) fn golden_score(text: Option<&str>, terms: &[&str]) -> f64 {
    let words: Vec<&str> = text.unwrap_or_default().split(' ').collect();
    let counts: Vec<usize> =
        terms.iter().map(|term| words.iter().filter(|word| *word == term).count()).collect();
    if counts.contains(&0) { 0.0 } else { counts.iter().sum::<usize>() as f64 / words.len() as f64 }
}

/// The pages of a golden case: their names, copies and texts on the web.
pub(in crate::quality) fn golden_pages(case: &Value) -> Vec<(String, Option<&str>, Option<&str>)> {
    let (web, repository) =
        (case["web"].as_object().expect("pages"), case["repository"].as_object().expect("pages"));
    let mut names: Vec<&String> = web.keys().chain(repository.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .map(|name| {
            (
                name.clone(),
                repository.get(name).and_then(Value::as_str),
                web.get(name).and_then(Value::as_str),
            )
        })
        .collect()
}

/// The scores of all pages of a golden case for a query.
fn scores(case: &Value, terms: &[&str]) -> Vec<CopyScores> {
    let pages = golden_pages(case);
    (0..)
        .zip(&pages)
        .map(|(page, (_, repository, web))| CopyScores {
            page,
            repository: repository.map(|text| golden_score(Some(text), terms)),
            web: golden_score(*web, terms),
        })
        .collect()
}

#[test]
fn quality_and_gains_are_the_golden_ones() {
    let golden = golden(include_str!("../../tests/golden/quality_delta.json"));
    let (relative, absolute) =
        (number(&golden["tolerance"]["relative"]), number(&golden["tolerance"]["absolute"]));
    let same = |a: f64, b: f64| close(a, b, relative) || (a - b).abs() <= absolute;
    let attention = Attention::default();
    for case in golden["cases"].as_array().expect("cases") {
        let queries: Vec<(Vec<CopyScores>, f64)> = case["queries"]
            .as_array()
            .expect("queries")
            .iter()
            .map(|query| {
                let terms: Vec<&str> =
                    query["terms"].as_array().expect("terms").iter().filter_map(Value::as_str).collect();
                (scores(case, &terms), number(&query["frequency"]))
            })
            .collect();
        let mut quality = AnswerQuality::default();
        for (pages, frequency) in &queries {
            quality.add(attention, *frequency, pages);
        }
        assert!(same(quality.repository, number(&case["QA_repository"])), "{quality:?}");
        assert!(same(quality.ideal, number(&case["QA_ideal"])), "{quality:?}");
        assert!(same(quality.normalised().expect("results"), number(&case["Q_normalised"])), "{quality:?}");

        let singles: Vec<(Vec<CopyScores>, f64)> = case["single_term_workload"]
            .as_object()
            .expect("terms")
            .iter()
            .map(|(term, frequency)| (scores(case, &[term]), number(frequency)))
            .collect();
        let names = golden_pages(case);
        for page in case["pages"].as_array().expect("pages") {
            let at = names.iter().position(|(name, ..)| page["page"] == **name).expect("a page");
            let gain = |queries: &[(Vec<CopyScores>, f64)]| -> f64 {
                let gain = |(pages, frequency): &(Vec<CopyScores>, f64)| {
                    frequency * RepositoryAnswer::of(attention, pages).refresh_gain(&pages[at])
                };
                queries.iter().map(gain).sum()
            };
            assert!(same(gain(&queries), number(&page["delta_QA_exact"])), "{}", page["page"]);
            assert!(same(gain(&singles), number(&page["delta_QA_exact_single_term"])), "{}", page["page"]);
        }
    }
}

/// Table 1 of the paper: the query "cancer", and a score that is 1 for a page with the word.
#[test]
fn each_discrepancy_of_the_papers_first_table_loses_quality() {
    let page = |page, repository, web| CopyScores { page, repository, web };
    let pages =
        [page(1, Some(0.0), 1.0), page(2, Some(1.0), 0.0), page(3, None, 1.0), page(4, Some(1.0), 0.0)];
    let mut quality = AnswerQuality::default();
    quality.add(Attention::default(), 1.0, &pages);
    assert_eq!(quality.normalised(), Some(0.0));
    let answer = RepositoryAnswer::of(Attention::default(), &pages);
    // p1 becomes the first of three results; p3 the second, between p2 and p4.
    assert_eq!(answer.refresh_gain(&pages[0]), 1.0);
    assert!(close(answer.refresh_gain(&pages[2]), 2_f64.powf(-1.5), 1e-12));
    // Taking away p2 or p4 helps only once there is a page worth showing.
    assert_eq!((answer.refresh_gain(&pages[1]), answer.refresh_gain(&pages[3])), (0.0, 0.0));
}

#[test]
fn without_results_there_is_no_quality() {
    let mut quality = AnswerQuality::default();
    quality.add(Attention::default(), 3.0, &[]);
    quality.add(
        Attention::default(),
        3.0,
        &[CopyScores { page: 0, repository: Some(f64::NAN), web: f64::INFINITY }],
    );
    assert_eq!((quality.normalised(), quality.share(1.0)), (None, None));
}

fn any_score() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 2 => (1_u8..5).prop_map(f64::from), 2 => 0.01..10.0_f64]
}

fn any_pages() -> impl Strategy<Value = Vec<CopyScores>> {
    let page = (prop::option::weighted(0.8, any_score()), any_score());
    prop::collection::vec(page, 1..8).prop_map(|pages| {
        let scores = |(page, (repository, web))| CopyScores { page, repository, web };
        (0..).zip(pages).map(scores).collect()
    })
}

/// The pages after one of them was refreshed.
fn refreshed(pages: &[CopyScores], at: usize) -> Vec<CopyScores> {
    let mut pages = pages.to_vec();
    pages[at].repository = Some(pages[at].web);
    pages
}

fn quality(pages: &[CopyScores]) -> AnswerQuality {
    let mut quality = AnswerQuality::default();
    quality.add(Attention::default(), 2.0, pages);
    quality
}

proptest! {
    #[test]
    fn quality_is_at_most_1_and_1_when_synchronised(pages in any_pages()) {
        let stale = quality(&pages);
        prop_assert!(stale.repository <= stale.ideal * (1.0 + 1e-12), "{stale:?}");
        let fresh = (0..pages.len()).fold(pages, |pages, at| refreshed(&pages, at));
        let fresh = quality(&fresh);
        prop_assert_eq!(fresh.repository, fresh.ideal);
        prop_assert_eq!(fresh.normalised(), (fresh.ideal > 0.0).then_some(1.0));
    }

    /// Any order of any of the pages: the repository's scores are drawn, and the order follows them.
    #[test]
    fn no_permutation_beats_the_ideal(
        pages in any_pages(), order in Just((1..8_u8).collect::<Vec<_>>()).prop_shuffle(), exponent in 0.0..4.0_f64
    ) {
        let attention = Attention::new(exponent).expect("allowed");
        let shuffled: Vec<CopyScores> = pages
            .iter()
            .zip(order)
            .map(|(page, place)| CopyScores { repository: Some(f64::from(place)), ..*page })
            .collect();
        let mut quality = AnswerQuality::default();
        quality.add(attention, 1.0, &shuffled);
        prop_assert!(quality.repository <= quality.ideal * (1.0 + 1e-12), "{quality:?}");
    }

    #[test]
    fn the_gain_is_the_difference_that_the_refresh_makes(pages in any_pages(), at in any::<prop::sample::Index>()) {
        let at = at.index(pages.len());
        let gain = RepositoryAnswer::of(Attention::default(), &pages).refresh_gain(&pages[at]);
        let difference = quality(&refreshed(&pages, at)).repository - quality(&pages).repository;
        prop_assert!((2.0 * gain - difference).abs() < 1e-9, "{gain} {difference}");
    }

    #[test]
    fn an_unchanged_page_gains_nothing(pages in any_pages(), at in any::<prop::sample::Index>()) {
        let at = at.index(pages.len());
        let pages = refreshed(&pages, at);
        prop_assert_eq!(RepositoryAnswer::of(Attention::default(), &pages).refresh_gain(&pages[at]), 0.0);
    }
}
