//! The experiments on few made-up pages: what must hold whatever was drawn.

use super::*;

fn effort() -> Effort {
    Effort { runs: 20, seed: 2 }
}

#[test]
fn schedules_keep_their_budget_and_the_oracle_is_best() {
    let [collection, _] = made_up::collections(effort());
    let order: Vec<u32> = (0..collection.len() as u32).collect();
    let truth = Truth::of(&collection.group, &order);
    let workloads = Workloads::draw(&collection, &mut effort().draws(1));
    let searched = SearchedCollection::new(
        &collection,
        &truth,
        &workloads.known.queries,
        crate::quality::scoring::Scoring::TfIdf,
    );
    let gains = forecast::every_update(&searched);
    let parameters = Parameters::of(&searched, &gains, &forecast::every_update_exactly(&searched));
    let all: RefreshPlan = (0..collections::SNAPSHOTS).map(|_| order.clone()).collect();
    assert!((searched.quality(&all) - 1.0).abs() < 1e-12, "all pages every week: nothing is out of date");
    let oracle = searched.quality(&learners::plan(&searched, learners::ORACLE, 5));
    let idle = searched.quality(&vec![Vec::new(); 48]);
    assert!(oracle > idle && oracle <= 1.0);
    for scheme in [KnownScheme::Sbr(0.1), KnownScheme::Ebr(0.3), KnownScheme::UserCentric] {
        let plan = parameters.plan(scheme, 5);
        assert!(plan.len() == 48 && plan.iter().all(|week| week.len() <= 5), "{scheme:?}");
        let quality = searched.quality(&plan);
        assert!(quality > idle && quality < oracle + 1e-3, "{scheme:?}: {quality} of {oracle}");
    }
    for name in learners::LEARNERS {
        let plan = learners::plan(&searched, name, 5);
        assert!(plan.iter().skip(1).all(|week| week.len() == 5), "{name} spends its budget: {plan:?}");
        assert!(plan[0].is_empty() && searched.quality(&plan) > idle, "{name}");
    }
}

#[test]
fn every_experiment_has_its_tables_and_figures() {
    let collections = made_up::collections(effort());
    let found = experiments(effort(), &collections, &mut |_| {});
    let names: Vec<&str> = found.iter().map(|experiment| experiment.name).collect();
    assert_eq!(names, ["2-overhead", "3-forecast", "4-schemes", "6-learners", "5-approximation"]);
    assert_eq!(found.iter().map(|experiment| experiment.figures.len()).collect::<Vec<_>>(), [1, 4, 4, 4, 1]);
    // Three tables a panel: qualities, needs, needs under other queries.
    assert_eq!(found[2].tables.len(), 12);
    let (_, without) = &found[2].tables[0].rows[0];
    assert!(without[..5].iter().all(|quality| *quality == without[0]), "without refreshes all are the same");
    for (of, numbers) in &found[4].tables[0].rows {
        assert!(numbers[2] > 0.5, "ΔQ_A follows the exact gain: {of} {numbers:?}");
    }
}

#[test]
fn claims_are_ratios_to_the_better_of_the_two() {
    let curve =
        |name: &str, points: &[(f64, f64)]| QualityCurve { name: name.to_owned(), points: points.to_vec() };
    let curves = [
        curve("SBR", &[(0.0, 0.0), (100.0, 1.0)]),
        curve("EBR", &[(0.0, 0.0), (80.0, 1.0)]),
        curve("user-centric", &[(0.0, 0.0), (40.0, 1.0)]),
    ];
    let mut table = needs("panel", &curves);
    claims(&curves, &mut table);
    let [.., (_, ratios), (_, reached)] = table.rows.as_slice() else { panic!("{table:?}") };
    assert!(ratios.iter().all(|ratio| (ratio - 0.5).abs() < 1e-9), "{ratios:?}");
    assert!((reached[0] - 0.5).abs() < 1e-9 && (reached[1] - 1.0).abs() < 1e-9, "{reached:?}");
}
