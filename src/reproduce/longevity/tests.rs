use std::sync::Arc;
use std::time::Duration;

use super::frontier::CostFrontier;
use super::lives::correlation;
use super::*;
use crate::dataset::RecordedPage;

/// A dataset of one page with a text a day.
fn dataset(texts: Vec<Vec<u64>>) -> Dataset {
    let from = (0..).zip(0..texts.len() as u32).collect();
    let cycles = texts.len() as u32;
    let history = History::Texts { from, texts: texts.into_iter().map(Arc::from).collect() };
    let page = RecordedPage { url: String::new(), site: String::new(), weight: 1.0, born: 0, history };
    let (start, step) = (Timestamp::from_seconds(0), Duration::from_secs(86_400));
    let group = Group { name: "one".to_owned(), start, step, cycles, pages: vec![page] };
    Dataset { name: String::new(), groups: vec![group] }
}

#[test]
fn correlation_is_that_of_pearson() {
    assert!((correlation(&[(1.0, 2.0), (2.0, 4.0), (4.0, 8.0)]) - 1.0).abs() < 1e-12);
    assert!((correlation(&[(1.0, 1.0), (2.0, 0.0), (3.0, -1.0)]) + 1.0).abs() < 1e-12);
    // Sums of products 1, of squares 2 and 2.
    assert!((correlation(&[(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)]) - 0.5).abs() < 1e-12);
    assert!(correlation(&[(1.0, 1.0), (1.0, 2.0)]).is_nan());
}

#[test]
fn the_cost_of_a_staleness_lies_between_thresholds() {
    let frontier = CostFrontier::through([(1.0, 0.1), (0.5, 0.2), (0.1, 0.4), (0.0, 0.5)]);
    assert_eq!(frontier.cost_of(0.2), Some(0.5));
    assert!((frontier.cost_of(0.3).expect("a cost") - 0.3).abs() < 1e-12);
    assert_eq!((frontier.cost_of(0.05), frontier.cost_of(0.6)), (None, None));
    // Where it is reached twice the cheaper one counts.
    let bent = CostFrontier::through([(0.0, 0.5), (1.0, 0.2), (2.0, 0.3), (3.0, 0.1)]);
    assert_eq!(bent.cost_of(0.2), Some(1.0));
}

/// A list of three items that moves by one a day, above a line that stays.
#[test]
fn a_list_is_told_by_the_updates_that_its_items_outlive() {
    let data = dataset((0..40).map(|day| vec![day, day + 1, day + 2, 1000]).collect());
    let corpus = Corpus::of(&data);
    let lives = corpus.lifetimes(0).expect("fragments");
    assert_eq!((lives.updates(), lives.dominant_k(), lives.static_share()), (39, Some(3), 0.25));
    let [pages, frequency, lifetimes] = &lives::run(&corpus)[..] else { panic!("three experiments") };
    let shown = |head: &str| pages.tables[0].get("most scroll", head).expect("a number");
    assert_eq!((shown("static"), shown("K = 1"), shown("longevity")), (0.25, 0.0, 3.0));
    // 36 items were seen to come and to go, for three days each, of four fragments in 39 days.
    assert!((shown("K > 2") - 36.0 * 3.0 / (4.0 * 39.0)).abs() < 1e-9, "{}", shown("K > 2"));
    assert_eq!(pages.figures.len(), 4, "three pages, and their curves");
    assert_eq!(frequency.tables[0].get("all", "pages"), Some(1.0));
    assert_eq!(lifetimes.tables[0].get("by lives", "K > 2 (scroll)"), Some(1.0));
    // All live for three days where the model spreads them: half a step at three.
    let gap = lifetimes.tables[1].get("K > 2", "of the distribution").expect("a gap");
    assert!((0.4..0.7).contains(&gap), "{gap}");
}

#[test]
fn what_was_watched_shortly_or_has_no_fragments_is_left_out() {
    let short = dataset((0..10).map(|day| vec![day]).collect());
    let corpus = Corpus::of(&short);
    assert!(corpus.pages.is_empty() && corpus.watched(0).is_none());
    let found = run(Effort { runs: 2, seed: 1 }, Some(&short), &mut |_| {});
    assert!(found.experiments.iter().all(|experiment| !experiment.title.is_empty()));

    let mut bits = dataset((0..64).map(|day| vec![day]).collect());
    bits.groups[0].pages[0].history = History::Bits(vec![0b1010_1010]);
    let found = run(Effort { runs: 2, seed: 1 }, Some(&bits), &mut |_| {});
    assert_eq!(found.experiments[0].name, "6-offline", "no fragments, no lives");
}

/// The claims, on few pages: those that know curves need fewer refreshes than those that know rates.
#[test]
fn longevity_saves_refreshes_where_adverts_hide_slow_text() {
    let spec = Spec { pages: 24, cycles: 90, moments: 1, ..made_up(Effort { runs: 100, seed: 3 }) };
    let corpus = Corpus::new(Cow::Owned(spec.dataset()), spec.moments, true);
    let found = policies(&corpus, &mut |_| {});
    let cgm = &found.last().expect("the last one").tables[0];
    let share = |method: &str| cgm.get(&format!("all pages, {method}"), "at 50 %").expect("a share");
    assert!((share("CGM") - 1.0).abs() < 1e-9);
    assert!(share("FS-S") < share("HS-S"), "{} {}", share("FS-S"), share("HS-S"));
    assert!(share("FS-S") < share("Uniform"), "{} {}", share("FS-S"), share("Uniform"));
    let [bound, none] = ["longevity-curve", "longevity-curve, no ρ"].map(share);
    assert!(none < 1.0 && none < bound, "{none} {bound}");
}
