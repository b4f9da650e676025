//! Which pages formulas are bred on (training), validated on and tested on.

use super::EvolveSettings;
use super::warmed_up::{WarmedUp, competes};
use crate::dataset::{Dataset, Group};
use crate::policy::traces::WantedTraces;
use crate::simulate::compare::{fold, groups};
use crate::simulate::truth::Truth;
use crate::simulate::{Measuring, ReplayTerms, Ties};

/// Checks that every fold has training pages and validation pages. If not, says which are missing.
pub fn check(dataset: &Dataset, settings: &EvolveSettings) -> Result<(), String> {
    let groups = groups(dataset, settings.least_pages);
    for number in 0..settings.folds {
        let (mut training, mut validation) = (false, false);
        for group in &groups {
            let competes = |at: &u32| {
                let page = group.pages.get(*at as usize);
                page.is_some_and(|page| competes(page.born, settings.warm_up, group.cycles))
            };
            let split = PageSplit::new(group, settings, number);
            training |= split.training.iter().any(competes);
            validation |= split.validation.iter().any(competes);
        }
        if !training || !validation {
            return Err(format!(
                "there are too few pages to learn from: in fold {} of {} none is left to {}; a page needs {} cycles, its first \
                 copy and the warm-up among them",
                number + 1,
                settings.folds,
                if training { "validate by" } else { "breed on" },
                u64::from(settings.warm_up) + 2
            ));
        }
    }
    Ok(())
}

/// The numbers of the pages of a group, by what they are used for.
struct PageSplit {
    training: Vec<u32>,
    validation: Vec<u32>,
    test: Vec<u32>,
}

impl PageSplit {
    fn new(group: &Group, settings: &EvolveSettings, number: u32) -> Self {
        let (test, others) = if settings.folds > 1 {
            fold(group.pages.len(), settings.folds, number)
        } else {
            (Vec::new(), fold(group.pages.len(), 1, 0).0)
        };
        let half = |from: usize| {
            let mut pages: Vec<u32> = others.iter().skip(from).step_by(2).copied().collect();
            pages.sort_unstable();
            pages
        };
        Self { training: half(0), validation: half(1), test }
    }
}

/// The pages that formulas are bred on, validated on and tested on; each list has an entry for each group.
pub(super) struct Parts {
    pub training: Vec<WarmedUp>,
    pub validation: Vec<WarmedUp>,
    pub test: Vec<WarmedUp>,
}

impl Parts {
    pub(super) fn new(dataset: &Dataset, settings: &EvolveSettings, number: u32) -> Self {
        let mut parts = Self { training: Vec::new(), validation: Vec::new(), test: Vec::new() };
        let moves = WantedTraces::of(&settings.terminals).divergence();
        for group in groups(dataset, settings.least_pages) {
            let PageSplit { training, validation, test } = PageSplit::new(group, settings, number);
            let terms = terms(settings, group);
            let warmed_up = |pages: &[u32]| WarmedUp::new(Truth::of(group, pages), terms, moves);
            parts.training.push(warmed_up(&training));
            parts.validation.push(warmed_up(&validation));
            parts.test.push(warmed_up(&test));
        }
        parts
    }
}

/// All pages of each group, for one replay.
pub(super) fn all_pages(dataset: &Dataset, settings: &EvolveSettings) -> Vec<WarmedUp> {
    let moves = WantedTraces::of(&settings.terminals).divergence();
    let all = |group: &Group| fold(group.pages.len(), 1, 0).0;
    let groups = groups(dataset, settings.least_pages).into_iter();
    groups.map(|group| WarmedUp::new(Truth::of(group, &all(group)), terms(settings, group), moves)).collect()
}

/// The terms of a replay of formulas.
pub fn terms(settings: &EvolveSettings, group: &Group) -> ReplayTerms {
    ReplayTerms {
        budget: settings.budget,
        warm_up: settings.warm_up,
        step: group.step,
        every: 1,
        by_day: false,
        start: group.start,
        ties: Ties::OlderFirst,
        measuring: Measuring::default(),
    }
}
