//! Beyond Fig. 4: policies that learn from their own visits, and an oracle that knows what each refresh gains.

use super::collections::SNAPSHOTS;
use super::searched::{RefreshPlan, SearchedCollection};
use crate::policy::registry;
use crate::quality::measure::{GainMeasure, MeasureId};
use crate::quality::score_rank::USUAL_PIECES;
use crate::simulate::compare::policy_settings;
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
        start: group.start,
        ties: Ties::OlderFirst,
        measuring: Measuring::default(),
    };
    let mut plan = vec![Vec::new(); SNAPSHOTS as usize];
    let settings = registry::PolicySettings {
        // Memories don't outlive the replay, so any name of the measure will do.
        queries: Some(MeasureId(0)),
        ..policy_settings(group, &terms)
    };
    let Ok(policy) = registry::find(name, &settings) else { return plan };
    let mut chooser = ByPolicy::new(policy, searched.truth, terms);
    if name == USER_CENTRIC {
        let mut index = MeasuredIndex::of(searched);
        chooser = chooser.with_gains(Box::new(move |page, copied, week| index.take_in(page, copied, week)));
    }
    replay_telling(searched.truth, &mut Chooser::Policy(chooser), &terms, &mut |week, chosen| {
        if let Some(pages) = plan.get_mut(week as usize) {
            *pages = chosen.to_vec();
        }
    });
    plan
}

/// The search index of a crawl, which measures each copy that it takes in (§5.2).
struct MeasuredIndex<'a> {
    searched: &'a SearchedCollection<'a>,
    copies: Vec<u32>,
    measure: GainMeasure,
}

impl<'a> MeasuredIndex<'a> {
    fn of(searched: &'a SearchedCollection<'a>) -> Self {
        let copies = searched.first_copies();
        let measure = searched.measure(&copies, USUAL_PIECES);
        Self { searched, copies, measure }
    }

    /// ΔQ_A of a refresh.
    fn take_in(&mut self, page: u32, copied: u32, week: u32) -> f64 {
        let searched = self.searched;
        if self.measure.is_worn() {
            searched.renew(&mut self.measure, &self.copies);
        }
        let delta = searched.delta(&self.measure, page, copied, week);
        if let (Some(old), Some(new)) = (searched.words(page, copied), searched.words(page, week)) {
            self.measure.remove(old);
            self.measure.add(new);
        }
        if let Some(copy) = self.copies.get_mut(page as usize) {
            *copy = week;
        }
        delta
    }
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
