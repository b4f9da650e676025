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
    let parameters = Parameters::of(&searched, &gains);
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
fn user_centric_needs_fewer_refreshes_on_made_up_pages() {
    let effort = Effort { runs: 150, seed: 1 };
    let collections = made_up::collections(effort);
    let found = experiments(effort, &collections, &mut |_| {});
    let tables = &found[1].tables;
    // Three tables a panel: qualities, needs, needs under other queries.
    for table in [&tables[1], &tables[4], &tables[7], &tables[10]] {
        let ratio = table.rows.iter().find(|(name, _)| name.contains('÷')).expect("the claim");
        assert!(ratio.1[1] < 1.0 && ratio.1[2] < 1.0, "{table:?}");
    }
    assert_eq!(found.iter().map(|experiment| experiment.figures.len()).sum::<usize>(), 13);
}
