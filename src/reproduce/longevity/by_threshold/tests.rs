use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::dataset::{Group, History, RecordedPage};
use crate::simulate::synthetic::Spec;
use crate::time::Timestamp;

/// A group of one page that has these texts, one a day.
fn group(texts: &[&[u64]]) -> Group {
    let same = |text: &&[u64]| texts.iter().position(|other| other == text).expect("itself") as u32;
    let from = (0..).zip(texts.iter().map(same)).collect();
    let cycles = texts.len() as u32;
    let texts = texts.iter().map(|text| Arc::from(text.to_vec())).collect();
    let history = History::Texts { from, texts };
    let page = RecordedPage::unnamed(history);
    let (start, step) = (Timestamp::from_seconds(0), Duration::from_secs(86_400));
    Group { name: String::new(), start, step, cycles, pages: vec![page] }
}

fn page(texts: &[&[u64]]) -> WatchedPage {
    WatchedPage::of(&group(texts), 0, 1.0, true).expect("a page")
}

fn all(threshold: f64) -> Vec<ThresholdJob> {
    Method::all(Measuring::default()).map(|method| ThresholdJob::new(method, threshold)).to_vec()
}

const NO_WARM_UP: ThresholdSettings =
    ThresholdSettings { learning: LearningPhase::AtMost { days: 1.0 }, risk: 10.0, warm_up: 0.0, every: 1 };

#[test]
fn what_was_done_since_the_last_refresh_decides() {
    // Half of the union is new from the third day on: D = 0, 0, 0, 1/2, 1/2, …
    let (old, new): (&[u64], &[u64]) = (&[1, 2, 3], &[1, 2, 4]);
    let page = page(&[old, old, old, new, new, new, new, new, new]);
    let run = |method, threshold| watch(&page, ThresholdJob::new(method, threshold), &NO_WARM_UP).steady;
    // U = 3 · ½ from day 3 on: at a threshold of 1.5 it is refreshed there, once, and never stale.
    let at = run(Method::FragmentDynamic, 1.5);
    assert_eq!((at.refreshes, at.staleness(), at.days), (1.0, 0.0, 8.0));
    // At more, never: stale by ½ on five of eight days.
    let above = run(Method::FragmentDynamic, 1.6);
    assert_eq!((above.refreshes, above.staleness()), (0.0, 0.5 * 5.0 / 8.0));
    assert_eq!(above.holistic_staleness(), 5.0 / 8.0);
    // As a whole it is worth 3 days.
    assert_eq!(run(Method::HolisticDynamic, 3.0).refreshes, 1.0);
    assert_eq!(run(Method::HolisticDynamic, 3.1).refreshes, 0.0);
    // Every two days: on 2, 4 and 6. The copy of day 2 is stale on day 3.
    let even = run(Method::Uniform, 2.0);
    assert_eq!((even.refreshes, even.staleness()), (3.0, 0.5 / 8.0));
    // A period of a day and a half is kept on average: on 2, 3, 5 and 6.
    assert_eq!(run(Method::Uniform, 1.5).refreshes, 4.0);
    // Where one can come every third day only, on 3 and 6.
    let third = ThresholdSettings { every: 3, ..NO_WARM_UP };
    assert_eq!(watch(&page, ThresholdJob::new(Method::Uniform, 1.0), &third).steady.refreshes, 2.0);
}

#[test]
fn a_clock_is_worth_nothing_by_fragments_that_last_and_a_day_each_as_a_whole() {
    // One of four fragments is new every day: D = 2/5 after any time.
    let texts: Vec<Vec<u64>> = (0..40).map(|day| vec![1, 2, 3, 100 + day]).collect();
    let texts: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
    let page = page(&texts);
    let run = |method, threshold| watch(&page, ThresholdJob::new(method, threshold), &NO_WARM_UP).steady;
    assert!(page.mean_curve().iter().skip(1).all(|mean| (mean - 0.4).abs() < 1e-6));
    // The utility is 2/5 of a day, no more however long one waits.
    for method in [Method::FragmentStatic, Method::FragmentDynamic] {
        assert_eq!((run(method, 0.41).refreshes, run(method, 0.39).cost()), (0.0, 38.0 / 39.0), "{method:?}");
    }
    assert_eq!(run(Method::HolisticDynamic, 0.9).cost(), 38.0 / 39.0);
}

#[test]
fn a_page_that_never_changes_is_refreshed_by_those_alone_that_don_t_know() {
    let text: &[u64] = &[1, 2, 3];
    let page = page(&[text; 60]);
    for job in all(1.0) {
        let outcome = watch(&page, job, &NO_WARM_UP).steady;
        assert_eq!((outcome.staleness(), outcome.holistic_staleness()), (0.0, 0.0));
        let knows = !matches!(
            job.method,
            Method::Cgm | Method::CgmBiasReduced | Method::LongevityCurve(_) | Method::LongevityBound(_)
        );
        assert_eq!(outcome.refreshes == 0.0, knows, "{job:?}");
        // After 1, 2, 3, … days, and at most 10: on 1, 3, 6, 10, 15, 21, 28, 36, 45 and 55. Without a learning phase
        // every ten days.
        if matches!(job.method, Method::LongevityCurve(_)) {
            let learning = LearningPhase::AtMostInWarmUp { days: 1.0 };
            let short = ThresholdSettings { learning, ..NO_WARM_UP };
            assert_eq!((outcome.refreshes, watch(&page, job, &short).steady.refreshes), (10.0, 5.0));
        }
    }
}

#[test]
fn bounds_wait_longer_while_nothing_happens_and_less_for_a_lower_threshold() {
    // D = 1 from day 20 on.
    let text = |day: u64| if day < 20 { vec![1, 2, 3] } else { vec![4, 5, 6] };
    let texts: Vec<Vec<u64>> = (0..60).map(text).collect();
    let texts: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
    let page = page(&texts);
    let job = ThresholdJob::new(Method::LongevityBound(Measuring { sketch: None, profiles: 1 }), 2.0);
    let settings = ThresholdSettings { risk: 100.0, ..NO_WARM_UP };
    let slow = watch(&page, job, &settings).steady;
    let fast = watch(&page, ThresholdJob { threshold: 0.5, ..job }, &settings).steady;
    assert!(slow.refreshes <= fast.refreshes, "{slow:?} {fast:?}");
    assert!(slow.refreshes >= 5.0 && slow.staleness() > 0.0, "{slow:?}");
}

#[test]
fn interpolation_moves_with_the_eagerness_of_the_page() {
    let texts: Vec<Vec<u64>> = (0..12).map(|day| vec![day, day + 1, day + 2, day + 3]).collect();
    let texts: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
    let group = group(&texts);
    let page = WatchedPage::of(&group, 0, 1.0, false).expect("a page");
    // D = 2/5 after a day, 2/3 after two.
    assert!((page.between(0.0, 1.0) - 0.6).abs() < 1e-6, "{}", page.between(0.0, 1.0));
    assert!(WatchedPage::of(&group, 1, 1.0, false).is_none(), "no such page");
}

#[test]
fn higher_thresholds_cost_less_and_staleness_is_a_share() {
    let spec = Spec { pages: 40, cycles: 120, scroll: Some(0.5), median_rate: 0.2, ..Spec::default() };
    let group = spec.dataset().groups.remove(0);
    let pages = |at: usize| WatchedPage::of(&group, at as u32, 1.0, true);
    let learning = LearningPhase::AtMostInWarmUp { days: 1.0 };
    let settings = ThresholdSettings { learning, risk: 10.0, warm_up: 1.0 / 3.0, every: 1 };
    let thresholds = [0.25, 1.0, 4.0, 16.0];
    let jobs: Vec<ThresholdJob> = thresholds.into_iter().flat_map(all).collect();
    let found = sweep(40, &pages, &jobs, &settings, 2);
    assert_eq!(found, sweep(40, &pages, &jobs, &settings, 1), "whatever runs at the same time");
    let found = mean(found.iter().flatten());
    let methods = jobs.len() / thresholds.len();
    for (method, job) in jobs.iter().enumerate().take(methods) {
        let outcomes: Vec<&ThresholdOutcome> = found.iter().skip(method).step_by(methods).collect();
        for pair in outcomes.windows(2) {
            let name = job.method.name();
            assert!(pair[1].steady.cost() <= pair[0].steady.cost() + 1e-9, "{name}: {pair:?}");
        }
        for spent in outcomes.iter().flat_map(|outcome| [&outcome.warm_up, &outcome.steady]) {
            assert!((0.0..=1.0).contains(&spent.staleness()));
            assert!(spent.staleness() <= spent.holistic_staleness() + 1e-9, "no page is staler in part");
        }
    }
}
