//! Quality and gains on pages worked by hand, and on random ones.

use proptest::prelude::*;

use super::super::compare::{ComparePlan, CompareRow, compare};
use super::super::raised_signals::SignalSource;
use super::super::replayed_gains::ReplayedGains;
use super::super::tests::group_of;
use super::super::{Measuring, Ties};
use super::*;
use crate::dataset::{History, RecordedPage, TextWords};
use crate::quality::copies::term_hash;
use crate::quality::workload::Workload;

/// The words of a text.
fn words(text: &str) -> TextWords {
    let counted = crate::quality::terms::TermReader::default().count(&[text]);
    TextWords::of(&counted)
}

/// A page with these texts, each from its cycle on.
fn page(url: &str, texts: &[(u32, &str)], inlinks: u32) -> RecordedPage {
    let from = texts.iter().zip(0..).map(|((cycle, _), text)| (*cycle, text)).collect();
    let hashes = |text: &str| text.split(' ').map(term_hash).collect::<std::collections::BTreeSet<u64>>();
    RecordedPage {
        url: url.to_owned(),
        site: "a.example".to_owned(),
        weight: 1.0,
        born: texts.first().map_or(0, |(cycle, _)| *cycle),
        history: History::Texts {
            from,
            texts: texts.iter().map(|(_, text)| hashes(text).into_iter().collect()).collect(),
        },
        words: texts.iter().map(|(_, text)| words(text)).collect(),
        inlinks,
        signals: Vec::new(),
    }
}

fn dataset(pages: Vec<RecordedPage>, cycles: u32) -> Dataset {
    Dataset { name: "d".to_owned(), groups: vec![Group { pages, cycles, ..group_of(&[]) }] }
}

fn search(queries: &[(&str, f64)], scoring: Scoring) -> SearchWorkload {
    let terms = |query: &str| query.split(' ').map(str::to_owned).collect();
    let workload =
        Workload::of(queries.iter().map(|(query, often)| (terms(query), *often))).expect("queries");
    SearchWorkload { workload, scoring, attention: Attention::default() }
}

fn compared(dataset: &Dataset, search: &SearchWorkload, policies: &str, budget: f64) -> Vec<CompareRow> {
    let searched = SearchedDataset::of(dataset, search).expect("words");
    let plan = ComparePlan {
        policies: policies.split(',').map(str::to_owned).collect(),
        budgets: vec![budget],
        warm_up: 1,
        every: 1,
        folds: 1,
        orders: 2,
        ties: Ties::OlderFirst,
        measuring: Measuring::default(),
        threads: 1,
        least_pages: 1,
        searched: Some(Arc::new(searched)),
        signals: SignalSource::Off,
        list_cost: None,
        by_day: false,
    };
    compare(dataset, &plan, &|_, _| {}).expect("policies")
}

fn quality(row: &CompareRow) -> f64 {
    row.mean.figures.quality.expect("queries with results")
}

#[test]
fn the_quality_is_that_of_the_results_in_their_order() {
    // The second page gets the word at cycle 2; the third is removed then.
    let pages = vec![
        page("http://a.example/0", &[(0, "errata")], 1),
        page("http://a.example/1", &[(0, "nothing"), (2, "errata patch")], 3),
        page("http://a.example/2", &[(0, "errata"), (2, "")], 2),
    ];
    let dataset = dataset(pages, 4);
    let search = search(&[("errata", 2.0)], Scoring::Inlinks);
    let searched = SearchedDataset::of(&dataset, &search).expect("words");
    let pages = searched.pages(&dataset.groups[0], &[2, 0, 1]);
    let second = |rank: f64| rank.powf(-1.5);
    let quality = |copies: &[(u32, u32, u32)]| pages.quality(copies.iter().copied()).expect("a result");
    // Pages are numbered as in the replay: the third comes first.
    assert_eq!(quality(&[(0, 0, 0), (1, 0, 0), (2, 0, 0)]), 1.0);
    // The repository gives the removed page, of no worth, then the first: 1 at rank 2. Best: 3 at rank 1, 1 at rank 2.
    let expected = second(2.0) / (3.0 + second(2.0));
    assert!((quality(&[(0, 0, 1), (1, 0, 0), (2, 0, 1)]) - expected).abs() < 1e-12);
    // With the new copy of the second page: 3 at rank 1, nothing at rank 2, 1 at rank 3.
    let expected = (3.0 + second(3.0)) / (3.0 + second(2.0));
    assert!((quality(&[(0, 0, 1), (1, 0, 0), (2, 1, 1)]) - expected).abs() < 1e-12);
    assert_eq!(quality(&[(0, 1, 1), (1, 0, 0), (2, 1, 1)]), 1.0);
    // A page without a copy is neither here nor there.
    assert_eq!(quality(&[(1, 0, 0)]), 1.0);
    assert_eq!(pages.quality([(0, 1, 1)].into_iter()), None, "no query has a result");
}

#[test]
fn copies_that_are_all_visited_in_every_cycle_answer_best() {
    let texts = [(0, "errata patch"), (2, "patch"), (3, "errata errata mail"), (5, "")];
    let pages = (0..6).map(|number| page(&format!("http://a.example/{number}"), &texts[number % 3..], 1));
    let dataset = dataset(pages.collect(), 8);
    for scoring in Scoring::ALL {
        let search = search(&[("errata", 1.0), ("mail errata", 3.0)], scoring);
        for row in compared(&dataset, &search, "age,user-centric,longevity", 1.0) {
            assert_eq!(quality(&row), 1.0, "{}", row.policy);
            let cycles = &row.cycles["test"];
            assert!(cycles.iter().all(|cycle| cycle.quality.is_none_or(|quality| quality == 1.0)));
        }
        let few = compared(&dataset, &search, "age", 0.2);
        assert!(quality(&few[0]) < 1.0, "{}", quality(&few[0]));
    }
}

#[test]
fn what_can_not_be_asked_is_told() {
    let search_for = |query: &str, scoring| search(&[(query, 1.0)], scoring);
    let with = dataset(vec![page("http://a.example/", &[(0, "errata")], 0)], 3);
    let mut without = with.clone();
    without.groups[0].pages[0].words.clear();
    let told = |dataset: &Dataset, search: &SearchWorkload| {
        SearchedDataset::of(dataset, search).expect_err("no quality").to_string()
    };
    let said = told(&without, &search_for("errata", Scoring::Bm25));
    assert!(said.contains("`d` has no words") && said.contains("import"), "{said}");
    let said = told(&with, &search_for("errata mail", Scoring::Bm25));
    assert!(said.contains("no query finds a page in `d`") && said.contains("one of the 1 queries"), "{said}");
    let said = told(&with, &search_for("errata", Scoring::Inlinks));
    assert!(said.contains("no links among its pages"), "{said}");
    let two = search(&[("errata", 1.0), ("mail", 1.0)], Scoring::Bm25);
    assert_eq!(SearchedDataset::of(&with, &two).expect("words").unanswered, 1);
}

#[test]
fn gains_are_those_of_the_measure_among_the_copies_of_the_moment() {
    let texts = ["a b c", "a c", "b c d", "a a a", "x y"];
    let mut pages: Vec<RecordedPage> = texts
        .iter()
        .map(|text| page("http://a.example/", &[(0, text), (1, "x y z"), (2, "a a b")], 1))
        .collect();
    pages[4] = page("http://a.example/", &[(0, "x y"), (1, "x z")], 1);
    let dataset = dataset(pages, 3);
    let search = search(&[("a", 2.0), ("b", 1.0)], Scoring::TfIdf);
    let searched = SearchedDataset::of(&dataset, &search).expect("words");
    let pages = searched.pages(&dataset.groups[0], &[0, 1, 2, 3, 4]);
    let mut gains = ReplayedGains::new(&pages, 5);
    (0..5).for_each(|page| gains.first_copy(page, 0));
    let mut measure = pages.gain_measure();
    let renewed: Result<(), std::convert::Infallible> = measure.renew(|each| {
        (0..5).filter_map(|page| pages.words(page, 0)).for_each(|words| each(words, 1));
        Ok(())
    });
    renewed.expect("copies in memory");
    assert_eq!(gains.refresh(4, 1), 0.0, "no query asks for its words");
    let words = [pages.words(4, 0), pages.words(4, 1)].map(|words| words.expect("words"));
    measure.remove(words[0]);
    measure.add(words[1]);
    let (before, after) = (pages.words(1, 0), pages.words(1, 2));
    let expected = measure.delta(before, after, 1);
    assert!(expected != 0.0);
    assert_eq!(gains.refresh(1, 2), expected);
}

#[test]
fn user_centric_visits_the_page_that_searchers_look_for() {
    // All pages change in every cycle; only the words of the first are asked for.
    let text = |page: usize, cycle: u32| match (page, cycle % 2) {
        (0, 0) => "errata patch".to_owned(),
        (0, _) => "patch".to_owned(),
        _ => format!("banner {page} {cycle}"),
    };
    let pages = (0..12).map(|number| {
        let texts: Vec<(u32, String)> = (0..40).map(|cycle| (cycle, text(number, cycle))).collect();
        let texts: Vec<(u32, &str)> = texts.iter().map(|(cycle, text)| (*cycle, text.as_str())).collect();
        page(&format!("http://a.example/{number}/"), &texts, 1)
    });
    let others = ["errata", "errata mail", "a long text with errata in it", "mail", "errata errata"];
    let still = others.iter().map(|text| page("http://b.example/still.html", &[(0, text)], 1));
    let dataset = dataset(pages.chain(still).collect(), 40);
    let rows = compared(&dataset, &search(&[("errata", 1.0)], Scoring::Bm25), "user-centric,age", 0.1);
    let [by_gain, by_age] = &rows[..] else { panic!("two rows") };
    assert!(quality(by_gain) > quality(by_age), "{} {}", quality(by_gain), quality(by_age));
    assert!(quality(by_gain) > 0.99, "{}", quality(by_gain));
}

proptest! {
    #[test]
    fn the_quality_is_from_0_to_1(
        histories in prop::collection::vec(prop::collection::vec((1_u32..3, "[a-d ]{0,12}"), 1..6), 1..8),
        scoring in prop::sample::select(Scoring::ALL.to_vec()),
        budget in 0.01_f64..1.0,
    ) {
        let pages = histories.iter().enumerate().map(|(number, texts)| {
            let mut cycle = 0;
            let texts: Vec<(u32, &str)> = texts.iter().map(|(gap, text)| {
                cycle += gap;
                (cycle - 1, text.as_str())
            }).collect();
            page(&format!("http://a.example/{number}"), &texts, number as u32 % 3 + 1)
        });
        let dataset = dataset(pages.collect(), 12);
        let search = search(&[("a", 1.0), ("b c", 2.0), ("dd", 0.5)], scoring);
        if SearchedDataset::of(&dataset, &search).is_ok() {
            for row in compared(&dataset, &search, "age,user-centric,clairvoyant-now", budget) {
                let mut all = row.cycles.values().flatten().filter_map(|cycle| cycle.quality);
                prop_assert!(all.all(|quality| (0.0..=1.0).contains(&quality)));
                prop_assert!(row.mean.figures.quality.is_none_or(|quality| (0.0..=1.0).contains(&quality)));
            }
            for row in compared(&dataset, &search, "age", 1.0) {
                prop_assert!(row.mean.figures.quality.is_none_or(|quality| quality == 1.0));
            }
        }
    }
}
