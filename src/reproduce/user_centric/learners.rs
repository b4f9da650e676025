//! Beyond Fig. 4: policies that learn from their own visits, and an oracle that knows what each refresh gains.

use super::collections::SNAPSHOTS;
use super::searched::{RefreshPlan, SearchedCollection};
use crate::policy::registry;
use crate::simulate::compare::policy_settings;
use crate::simulate::truth::Truth;
use crate::simulate::{ByPolicy, Chooser, Measuring, ReplayTerms, Ties, best_pages, replay_telling};

/// The policies, by their names in the registry.
pub(super) const LEARNERS: [&str; 7] = [USER_CENTRIC, "longevity", "utility", "sbr", "ebr", "age", "uniform"];
const USER_CENTRIC: &str = "user-centric";
/// The oracle's name.
pub(super) const ORACLE: &str = "knows ΔQ";

/// The refreshes of a policy or the oracle, with B a week.
pub(super) fn plan(searched: &SearchedCollection<'_>, name: &str, most: usize) -> RefreshPlan {
    if name == ORACLE { by_oracle(searched, most) } else { by_policy(searched, name, most) }
}

/// A policy of the crawl in the replay engine. It starts with copies that are up to date, and knows no visit.
fn by_policy(searched: &SearchedCollection<'_>, name: &str, most: usize) -> RefreshPlan {
    let group = &searched.collection.group;
    let terms = ReplayTerms {
        budget: most as f64 / f64::from(searched.pages().max(1)),
        warm_up: 0,
        step: group.step,
        every: 1,
        by_day: false,
        start: group.start,
        ties: Ties::OlderFirst,
        measuring: Measuring::default(),
    };
    let mut plan = vec![Vec::new(); SNAPSHOTS as usize];
    let searching;
    let truth = if name == USER_CENTRIC {
        let order: Vec<u32> = (0..searched.pages()).collect();
        let mut with_words = Truth::of(group, &order);
        with_words.searched = Some(searched.texts.clone());
        searching = with_words;
        &searching
    } else {
        searched.truth
    };
    let Ok(policy) = registry::find(name, &policy_settings(group, truth, &terms)) else { return plan };
    let chooser = ByPolicy::new(policy, truth, terms);
    replay_telling(truth, &mut Chooser::Policy(chooser), &terms, &mut |week, chosen| {
        if let Some(pages) = plan.get_mut(week as usize) {
            *pages = chosen.to_vec();
        }
    });
    plan
}

/// Refreshes the B pages whose refresh alone gains most, by the exact ΔQ at the start of each week.
fn by_oracle(searched: &SearchedCollection<'_>, most: usize) -> RefreshPlan {
    let mut copies = searched.first_copies();
    let mut plan = vec![Vec::new()];
    for week in 1..SNAPSHOTS {
        let gains = searched.searchers().refresh_gains(&searched.held(&copies, week));
        let scored =
            (0..).zip(gains.iter().zip(&copies)).map(|(page, (gain, copied))| (*gain, *copied, page));
        let chosen = best_pages(scored, most);
        for page in &chosen {
            if let Some(copy) = copies.get_mut(*page as usize) {
                *copy = week;
            }
        }
        plan.push(chosen);
    }
    plan
}
