use std::sync::Arc;
use std::time::Duration;

use super::frontier::CostFrontier;
use super::*;
use crate::dataset::RecordedPage;
use crate::reproduce::Point;
use crate::reproduce::correlation;

/// A dataset of one page with a text a day.
fn dataset(texts: Vec<Vec<u64>>) -> Dataset {
    let from = (0..).zip(0..texts.len() as u32).collect();
    let cycles = texts.len() as u32;
    let history = History::Texts { from, texts: texts.into_iter().map(Arc::from).collect() };
    let page = RecordedPage::unnamed(history);
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
    let lived = Lived::all(&corpus);
    let pages = shown_pages::run(&corpus, &lived);
    let shown = |head: &str| pages.tables[0].get("B, most scroll", head).expect("a number");
    assert_eq!((shown("static"), shown("K = 1"), shown("longevity")), (0.25, 0.0, 3.0));
    // 36 items were seen to come and to go, for three days each, of four fragments in 39 days.
    assert!((shown("K > 2") - 36.0 * 3.0 / (4.0 * 39.0)).abs() < 1e-9, "{}", shown("K > 2"));
    assert_eq!(pages.figures.len(), 3, "two pages, and their curves");
    // From the first copy three of seven fragments are left but one: D = 1 − 1/7 from the third day on.
    assert!((pages.figures[2].curves[0].points[5].y - 6.0 / 7.0).abs() < 1e-6);
    let frequency = frequency::run(&corpus, &lived);
    assert_eq!(frequency.tables[0].get("ours", "pages"), Some(1.0));
    assert_eq!(frequency.figures[0].curves[0].points[0], Point::new(1.0, 3.0), "changed at every snapshot");
    let lifetimes = beyond::lives_by_fragment(&corpus, &lived);
    assert_eq!(lifetimes.tables[0].get("by lives", "K > 2 (scroll)"), Some(1.0));
    // All live for three days where the model spreads them: half a step at three.
    let gap = lifetimes.tables[1].get("K > 2", "of the distribution").expect("a gap");
    assert!((0.4..0.7).contains(&gap), "{gap}");
    // Such a page changes every day, and Fig. 5 takes pages that change every fourth.
    let groups = lifetimes::by_dominant_k(&corpus, &lived);
    assert!(groups.tables[0].rows.is_empty() && groups.figures.is_empty());
    assert_eq!(groups.tables[1].get("ours, all pages", "scroll (K > 1)"), Some(1.0));
}

/// A page whose fragments all change every fourth day, and one whose two items move by one: K = 1 and K = 2 at λ = 0.25.
#[test]
fn pages_of_one_frequency_are_grouped_by_their_dominant_k() {
    let churn = dataset((0..60).map(|day| vec![day / 4, 1000]).collect());
    let mut both = churn.clone();
    let scroll = dataset((0..60).map(|day| vec![day / 4, day / 4 + 1, 1000]).collect());
    both.groups[0].pages.extend(scroll.groups[0].pages.clone());
    let corpus = Corpus::of(&both);
    let found = lifetimes::by_dominant_k(&corpus, &Lived::all(&corpus));
    let of = |group: &str, head: &str| found.tables[0].get(group, head).expect("a number");
    assert_eq!((of("K = 1", "pages"), of("K = 2", "pages")), (1.0, 1.0));
    assert_eq!((of("K = 1", "fragments"), of("K = 2", "fragments")), (13.0, 12.0));
    assert_eq!((of("K = 1", "K = 1"), of("K = 2", "K = 2")), (1.0, 1.0));
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

/// The claims of the paper, on few pages of its two data sets, with its parameters. Ours differ by the noise of 300 pages.
#[test]
fn the_papers_figures_come_back_on_few_pages() {
    let effort = Effort { runs: 30, seed: 3 };
    let web = PaperWeb::high_quality(effort);
    assert_eq!((web.snapshots, PaperWeb::random(effort).snapshots), (30, 50));
    let corpus = Corpus::of_web(&web);
    assert_eq!((corpus.pages.len(), corpus.step_days), (300, 2.0));
    let quiet = &mut |_: &str| {};
    // §3.4: roughly half of the pages are static.
    let still = (0..300).filter(|at| corpus.watched(*at).is_some_and(|page| !page.changes())).count();
    assert!((115..=185).contains(&still), "{still}");

    let offline = offline::run(&corpus, quiet);
    let heads = offline.tables[0].heads.clone();
    let cost = |experiment: &Experiment, table: usize, row: &str, place: usize| {
        experiment.tables[table].rows.iter().find(|(name, _)| name == row).expect("a row").1[place]
    };
    let middle = 2;
    assert_eq!(heads.len(), 7, "five places, and the holistic staleness");
    let of = |row: &str| cost(&offline, 0, row, middle);
    assert!(of("FS-S") < of("HS-S") && of("FS-D") < of("HS-D"), "{:?}", offline.tables[0]);
    assert!(of("FS-D") < of("FS-S"), "{:?}", offline.tables[0]);
    // Holistic methods gain by seeing the present only where copies are fresh: they minimise another staleness.
    assert!(cost(&offline, 0, "HS-D", 0) < cost(&offline, 0, "HS-S", 0), "{:?}", offline.tables[0]);
    // §2.3, of the methods that know mean curves: the naive utility needs more refreshes than uniform refreshing.
    let naive = |row: &str| cost(&offline, 1, row, middle);
    assert!(naive("U = D, static") > naive("Uniform"), "{:?}", offline.tables[1]);

    // Methods that learn take longer: fewer pages.
    let corpus = Corpus::of_web(&PaperWeb::high_quality(Effort { runs: 10, seed: 3 }));
    let online = online::run(&corpus, quiet);
    let learners = &online[0];
    // Fig. 9: between uniform refreshing and the method that knows.
    for method in ["curve-fitting, l tuned", "bound-based, ρ = 10"] {
        let steady = cost(learners, 1, method, middle);
        assert!(steady > cost(learners, 1, "FS-D", middle), "{:?}", learners.tables[1]);
    }
    // l is tuned: where it can be, the warm-up costs about as much as the time after it.
    let tuned = &learners.tables[2];
    let off = tuned.rows.iter().filter(|(_, row)| row[2] > 0.05 && row[2] < 0.5);
    assert!(
        off.clone().count() > 0 && off.clone().all(|(_, row)| (0.5..2.0).contains(&(row[1] / row[2]))),
        "{tuned:?}"
    );

    // Fig. 11: fewer refreshes than CGM in the middle of the field.
    let cgm = against_cgm::figure_11(&corpus, quiet);
    let share = |row: &str| cgm.tables[1].get(row, "at 50 %").expect("a share");
    assert!((share("CGM") - 1.0).abs() < 1e-9);
    assert!(share("curve-fitting, no ρ") < 1.0, "{:?}", cgm.tables[1]);
    // Fig. 12: the lowest staleness on the other data set is much higher.
    let lowest = |corpus: &Corpus<'_>| {
        let jobs = results::jobs(&[by_threshold::Method::Uniform]);
        corpus.results(jobs, &corpus.settings()).always(results::STEADY)
    };
    let [random, other] = [PaperWeb::random(effort), web].map(|web| lowest(&Corpus::of_web(&web)));
    assert!(random > 1.5 * other, "{random} {other}");
}
