use std::sync::atomic::AtomicBool;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::policy::formula::Formula;
use crate::policy::traces::WantedTraces;
use crate::simulate::Measuring;
use crate::simulate::Ties;
use crate::simulate::compare::{ComparePlan, compare};
use crate::simulate::metric::Figures;
use crate::simulate::raised_signals::SignalSource;
use crate::simulate::synthetic::Spec;
use crate::simulate::truth::Truth;
use crate::simulate::{ByPolicy, Chooser, replay};

fn made_up(spec: &str) -> Dataset {
    spec.parse::<Spec>().expect("a spec").dataset()
}

/// Cycles of this length, instead of a day.
fn with_step(mut dataset: Dataset, step_ms: u64) -> Dataset {
    dataset.groups.iter_mut().for_each(|group| group.step = Duration::from_millis(step_ms));
    dataset
}

/// By the replay that all policies go through.
fn replayed(dataset: &Dataset, formula: &Expression, settings: &EvolveSettings) -> Figures {
    let group = &dataset.groups[0];
    let pages: Vec<u32> = (0..group.pages.len() as u32).collect();
    let truth = Truth::of(group, &pages);
    let terms = terms(settings, group);
    let policy = Formula::new("expr".to_owned(), formula.clone());
    Figures::of(&replay(&truth, &mut Chooser::Policy(ByPolicy::new(Box::new(policy), &truth, terms)), &terms))
}

fn quick(
    dataset: &Dataset,
    formula: &Expression,
    settings: &EvolveSettings,
    runner: &mut Runner,
    of: Fitness,
) -> f64 {
    let group = &dataset.groups[0];
    let pages: Vec<u32> = (0..group.pages.len() as u32).collect();
    let moves = WantedTraces::of(&settings.terminals).divergence();
    let pages = WarmedUp::new(Truth::of(group, &pages), terms(settings, group), moves);
    runner.run(&pages, formula, of)
}

/// Bits, more cycles than bits of a word, and texts; pages that are born later, and of different weights.
fn histories(seed: u64) -> [Dataset; 3] {
    [("cycles=20,pages=200", 0), ("cycles=70,pages=60", 3), ("cycles=15,pages=80,scroll=0.3,adverts=0.2", 1)]
        .map(|(spec, late)| {
            let mut dataset = made_up(&format!("{spec},median=0.2,static=0.3,seed={seed}"));
            for (page, at) in dataset.groups[0].pages.iter_mut().zip(0_u32..) {
                page.weight = f64::from(1 + at % 3);
                if late > 0 && matches!(page.history, crate::dataset::History::Bits(_)) {
                    page.born = at % late;
                }
            }
            dataset
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_formula_is_worth_what_the_simulator_says(
        formula in crate::policy::expression::tests::formula(), seed in 0u64..1000, budget in 0.01..0.6f64,
        step_ms in prop_oneof![Just(86_400_000), 1000..100_000_000_u64]
    ) {
        for dataset in histories(seed).map(|dataset| with_step(dataset, step_ms)) {
            let settings = EvolveSettings { budget, terminals: Terminal::ALL.to_vec(), ..EvolveSettings::default() };
            let own = EvolveSettings { terminals: formula.terminals(), ..settings.clone() };
            let figures = replayed(&dataset, &formula, &settings);
            // With no more than the formula's own terminals, and with states that all terminals tell apart.
            for settings in [&own, &settings] {
                let mut runner = Runner::new(&settings.terminals, step_ms as f64 / 86_400_000.0);
                for (of, expected) in [
                    (Fitness::ChangeRate, figures.change_rate),
                    (Fitness::Freshness, figures.freshness),
                    (Fitness::Ndcg, figures.ndcg),
                ] {
                    let found = quick(&dataset, &formula, settings, &mut runner, of);
                    prop_assert!((found - expected).abs() < 1e-9, "{}: {:?} {} {}", formula, of, found, expected);
                }
            }
        }
    }
}

fn small() -> EvolveSettings {
    EvolveSettings {
        population: 40,
        generations: 6,
        runs: 2,
        folds: 2,
        kept: 10,
        ..EvolveSettings::default()
    }
}

fn finished(dataset: &Dataset, settings: &EvolveSettings) -> Journal {
    let mut journal = Journal::new(dataset, settings.clone());
    evolve(dataset, &mut journal, &|| false, &mut |_, _| {}).expect("not stopped");
    journal.effort = EvolveEffort::default();
    journal
}

fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(run)
}

#[test]
fn the_same_seed_gives_the_same_formulas_on_any_number_of_threads() {
    let dataset = made_up("pages=300,cycles=20");
    let runs: Vec<Journal> =
        [1, 2, 5].iter().map(|threads| on_threads(*threads, || finished(&dataset, &small()))).collect();
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
    assert_eq!(runs[0].finished.len(), 4);
    let other = finished(&dataset, &EvolveSettings { seed: 2, ..small() });
    assert_ne!(other.finished[0].candidates, runs[0].finished[0].candidates);
    assert_ne!(runs[0].finished[0].candidates, runs[0].finished[1].candidates, "runs differ");
}

#[test]
fn what_was_stopped_goes_on_as_if_it_had_not_been() {
    let dataset = made_up("pages=200,cycles=15");
    let whole = finished(&dataset, &small());
    for generations in [1, 4, 7, 20] {
        let mut journal = Journal::new(&dataset, small());
        let stop = AtomicBool::new(false);
        let mut heard = 0;
        let result = evolve(&dataset, &mut journal, &|| stop.load(Ordering::Relaxed), &mut |_, _| {
            heard += 1;
            stop.store(heard == generations, Ordering::Relaxed);
        });
        assert_eq!(result, Err(Stopped));
        assert!(judge(&dataset, &journal).is_some(), "there is something to show");
        let text = serde_json::to_string(&journal).expect("a journal");
        let mut journal: Journal = serde_json::from_str(&text).expect("the same");
        assert_eq!(journal.fits(&dataset, &small()), Ok(()));
        evolve(&dataset, &mut journal, &|| false, &mut |_, _| {}).expect("not stopped");
        journal.effort = EvolveEffort::default();
        assert_eq!(journal, whole, "stopped after {generations}");
    }
}

#[test]
fn generations_get_no_worse_and_the_champion_beats_chance() {
    let dataset = made_up("pages=600,cycles=30");
    let settings = EvolveSettings { population: 60, generations: 12, ..small() };
    let journal = finished(&dataset, &settings);
    for run in &journal.finished {
        assert_eq!(run.history.len(), 12);
        assert!(run.history.windows(2).all(|two| two[0].best <= two[1].best));
        assert_eq!(run.candidates.len(), 10);
    }
    let verdict = judge(&dataset, &journal).expect("a champion");
    assert_eq!(verdict.picks.len(), 2 * Selection::ALL.len());
    let age = replayed(&dataset, &"t".parse().expect("a formula"), &settings).change_rate;
    assert!(verdict.on_all > age, "{} {age}", verdict.on_all);
    assert!(verdict.formula.symbols().len() <= verdict.equivalent.symbols().len());
    let (mean, off) = verdict.test(Selection::Avg).expect("tested");
    assert!(mean > age && off.is_none(), "two folds are too few for an interval");
}

/// The figures that `freshet simulate` prints for the champion.
fn simulated(dataset: &Dataset, formula: &Expression, settings: &EvolveSettings) -> Figures {
    let plan = ComparePlan {
        policies: vec![format!("expr:{formula}")],
        budgets: vec![settings.budget],
        warm_up: settings.warm_up,
        every: 1,
        folds: 1,
        orders: 1,
        ties: Ties::OlderFirst,
        measuring: Measuring::default(),
        threads: 1,
        least_pages: settings.least_pages,
        searched: None,
        signals: SignalSource::Off,
        list_cost: None,
        by_day: false,
    };
    compare(dataset, &plan, &|_, _| {}).expect("a policy")[0].mean.figures
}

#[test]
fn the_champions_figure_on_all_pages_is_that_of_the_simulator() {
    for seed in 1..=4 {
        let mut dataset = with_step(made_up(&format!("pages=150,cycles=18,seed={seed}")), 3_723_457);
        // A second group, and one in which no page competes.
        for (name, spec) in [("b", "pages=60,cycles=12"), ("c", "pages=40,cycles=4")] {
            let mut group = made_up(&format!("{spec},seed={seed}")).groups.remove(0);
            group.name = name.to_owned();
            dataset.groups.push(group);
        }
        for fitness in Fitness::ALL {
            let settings = EvolveSettings { seed, fitness, budget: 0.07, warm_up: 3, ..small() };
            let journal = finished(&dataset, &settings);
            let verdict = judge(&dataset, &journal).expect("a champion");
            let figures = simulated(&dataset, &verdict.formula, &settings);
            let expected = match fitness {
                Fitness::ChangeRate => figures.change_rate,
                Fitness::Ndcg => figures.ndcg,
                Fitness::Freshness => figures.freshness,
            };
            assert!((verdict.on_all - expected).abs() < 1e-12, "{fitness:?}: {} {expected}", verdict.on_all);
        }
    }
}

#[test]
fn a_journal_of_other_pages_or_settings_is_told_apart() {
    let (one, other) = (made_up("pages=100,cycles=10"), made_up("pages=100,cycles=10,seed=2"));
    let mut turned = one.clone();
    turned.groups[0].pages.reverse();
    let journal = Journal::new(&one, small());
    for other in [other, turned] {
        assert!(journal.fits(&other, &small()).is_err_and(|said| said.contains("other pages")));
    }
    let more = EvolveSettings { population: 41, ..small() };
    assert!(journal.fits(&one, &more).is_err_and(|said| said.ends_with("other settings: `--population 40`")));
    let old = EvolveSettings { breeding: BreedingRule::TopParents, least_pages: 9, ..small() };
    let said = Journal::new(&one, old).fits(&one, &small()).expect_err("other settings");
    assert!(said.ends_with("`--breeding top-parents`, `--least-pages 9`"), "{said}");
}

#[test]
fn a_journal_that_names_no_breeding_goes_on_by_tournament() {
    let dataset = made_up("pages=200,cycles=15");
    let by_tournament = EvolveSettings { breeding: BreedingRule::Tournament, ..small() };
    let whole = finished(&dataset, &by_tournament);
    let stop = AtomicBool::new(false);
    let mut journal = Journal::new(&dataset, by_tournament.clone());
    let result = evolve(&dataset, &mut journal, &|| stop.load(Ordering::Relaxed), &mut |_, progress| {
        stop.store(progress.generation == 2, Ordering::Relaxed);
    });
    assert_eq!(result, Err(Stopped));
    let mut older = serde_json::to_value(&journal).expect("a journal");
    assert_eq!(older["settings"]["breeding"], "tournament", "journals name it");
    older["settings"].as_object_mut().expect("settings").remove("breeding");
    let mut journal: Journal = serde_json::from_value(older).expect("a journal");
    assert_eq!(journal.fits(&dataset, &by_tournament), Ok(()));
    assert!(journal.fits(&dataset, &small()).is_err_and(|said| said.contains("`--breeding tournament`")));
    evolve(&dataset, &mut journal, &|| false, &mut |_, _| {}).expect("not stopped");
    journal.effort = EvolveEffort::default();
    assert_eq!(journal, whole);
}

#[test]
fn each_rule_of_breeding_gives_other_formulas() {
    let dataset = made_up("pages=200,cycles=15");
    let all = BreedingRule::ALL.map(|breeding| finished(&dataset, &EvolveSettings { breeding, ..small() }));
    for (at, one) in all.iter().enumerate() {
        assert!(
            all.iter().skip(at + 1).all(|other| one.finished[0].candidates != other.finished[0].candidates)
        );
        assert!(one.finished.iter().all(|run| run.history.windows(2).all(|two| two[0].best <= two[1].best)));
    }
}

#[test]
fn a_run_that_is_stopped_again_while_it_is_validated_is_not_bred_again() {
    let dataset = made_up("pages=200,cycles=15");
    let whole = finished(&dataset, &small());
    let mut journal = Journal::new(&dataset, small());
    let stop = AtomicBool::new(false);
    let is_last = |progress: &EvolveProgress<'_>| progress.generation + 1 == small().generations;
    let result = evolve(&dataset, &mut journal, &|| stop.load(Ordering::Relaxed), &mut |_, progress| {
        stop.store(is_last(progress), Ordering::Relaxed);
    });
    assert_eq!(result, Err(Stopped));
    assert_eq!(evolve(&dataset, &mut journal, &|| true, &mut |_, _| {}), Err(Stopped));
    let history = journal.current.as_ref().map(|current| current.history.len());
    assert_eq!(history, Some(small().generations as usize));
    evolve(&dataset, &mut journal, &|| false, &mut |_, _| {}).expect("not stopped");
    journal.effort = EvolveEffort::default();
    assert_eq!(journal, whole);
}

#[test]
fn a_damaged_journal_is_not_gone_on_with() {
    let dataset = made_up("pages=100,cycles=10");
    let whole = finished(&dataset, &small());
    let mut stopped = Journal::new(&dataset, small());
    let heard = AtomicBool::new(false);
    let result = evolve(&dataset, &mut stopped, &|| heard.load(Ordering::Relaxed), &mut |_, _| {
        heard.store(true, Ordering::Relaxed);
    });
    assert_eq!(result, Err(Stopped));
    assert_eq!((whole.fits(&dataset, &small()), stopped.fits(&dataset, &small())), (Ok(()), Ok(())));
    type Damage = fn(&mut Journal);
    let damages: [(&Journal, Damage, &str); 7] = [
        (&whole, |journal| journal.finished[0].candidates[0].formula = "wibble".to_owned(), "wibble"),
        (&whole, |journal| journal.finished[0].candidates.clear(), "came to nothing"),
        (&whole, |journal| journal.finished[1] = journal.finished[0].clone(), "no place"),
        (&whole, |journal| journal.finished[0].fold = 99, "no place"),
        (&whole, |journal| journal.effort.seconds = -1e9, "seconds"),
        (&stopped, |journal| journal.current.as_mut().expect("one").population.truncate(3), "3 formulas"),
        (&stopped, |journal| journal.current.as_mut().expect("one").history.clear(), "0 generations"),
    ];
    for (journal, damage, said) in damages {
        let mut journal = journal.clone();
        damage(&mut journal);
        let fits = journal.fits(&dataset, &small());
        assert!(fits.as_ref().is_err_and(|error| error.contains(said)), "{said}: {fits:?}");
    }
}

#[test]
fn folds_without_pages_count_for_nothing() {
    let few = made_up("pages=6,cycles=20,static=0,median=1");
    let settings = EvolveSettings { folds: 9, runs: 1, generations: 2, ..small() };
    assert_eq!(check(&few, &settings), Ok(()));
    let verdict = judge(&few, &finished(&few, &settings)).expect("a verdict");
    let tested = verdict.picks.iter().filter(|pick| pick.test.is_some()).count();
    assert_eq!(tested, 6 * Selection::ALL.len(), "six of nine folds have a page");
    let said = |dataset: &Dataset, settings: &EvolveSettings| check(dataset, settings).expect_err("too few");
    assert!(said(&made_up("pages=1"), &settings).contains("none is left to breed on"));
    assert!(
        said(&made_up("pages=2"), &EvolveSettings { folds: 2, ..small() })
            .contains("none is left to validate by")
    );
    assert!(said(&few, &EvolveSettings { warm_up: 19, ..small() }).contains("a page needs 21 cycles"));
    // Groups that are left out are not asked for.
    let mut mixed = made_up("pages=40,cycles=20");
    mixed.groups.push(made_up("pages=2,cycles=4").groups.remove(0));
    assert_eq!(check(&mixed, &EvolveSettings { warm_up: 5, ..small() }), Ok(()));
}
