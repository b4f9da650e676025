//! The cycles of a day share a budget in a replay, by the threshold that a monitor keeps (`monitor --daily-budget`).

use crate::schedule::threshold::{Controller, DayCycle, KeptThreshold};
use crate::time::{Age, Timestamp};

/// The budget of a day, and what was spent of it.
#[derive(Debug)]
pub(super) struct DayBudget {
    controller: Controller,
    /// Requests of the last cycles, as many as there are in a day but one.
    sent: Vec<u64>,
    cycles: usize,
}

impl DayBudget {
    /// `None` if a day has one cycle, or less.
    pub(super) fn new(cycle: Age) -> Option<Self> {
        let cycles = (1.0 / cycle.days()).round();
        let controller = Controller { daily: 0, cycle_days: cycle.days(), kept: KeptThreshold::default() };
        (cycles >= 2.0).then(|| Self { controller, sent: Vec::new(), cycles: cycles as usize })
    }

    /// The requests that a cycle may send, if each cycle had `even` of its own.
    pub(super) fn budget(&mut self, now: Timestamp, even: usize) -> usize {
        self.controller.daily = (even * self.cycles) as u64;
        let sent = self.sent.iter().rev().take(self.cycles - 1).sum();
        self.controller.budget(sent, now) as usize
    }

    /// Is a page of this score visited?
    pub(super) fn is_due(&self, score: f64) -> bool {
        self.controller.kept.threshold.is_none_or(|threshold| score >= threshold)
    }

    /// A cycle sent this many of its requests; the last page had the score `least`.
    pub(super) fn spent(&mut self, now: Timestamp, budget: usize, sent: usize, least: Option<f64>) {
        let (budget, sent) = (budget as u64, sent as u64);
        self.controller.after(&DayCycle { began: now, budget, sent, least });
        self.sent.push(sent);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use crate::dataset::Group;
    use crate::policy::registry::{PolicySettings, find};

    use crate::simulate::metric::Figures;
    use crate::simulate::tests::{group_of, in_order, terms_of};
    use crate::simulate::{ByPolicy, Chooser, ReplayTerms, Ties, Truth, replay};
    use crate::time::Timestamp;

    const HOUR: Duration = Duration::from_secs(3600);

    /// 60 pages over 45 days, with a moment in each hour. They change between 8:00 and 18:00 only, some often, some rarely.
    fn quiet_by_night(step: Duration) -> Group {
        let mut rng = Pcg64::seed_from_u64(7);
        let mut history = |page: u32| -> String {
            let chance = f64::from(page % 6 + 1) / 40.0;
            let mut changes = |hour: u32| (8..18).contains(&(hour % 24)) && rng.random_bool(chance);
            (0..45 * 24).map(|hour| if changes(hour) { '1' } else { '0' }).collect()
        };
        let histories: Vec<String> = (0..60).map(&mut history).collect();
        Group { step, start: Timestamp::from_seconds(86_400 * 10_000), ..group_of(&histories) }
    }

    /// Staleness after twenty days, and the most requests in 24 cycles.
    fn replayed(policy: &str, group: &Group, budget: f64, by_day: bool) -> (f64, usize) {
        let truth = Truth::of(group, &in_order(group));
        let terms = ReplayTerms { by_day, ..terms_of(group, budget, 2, Ties::OlderFirst) };
        let policy = find(policy, &PolicySettings::default()).expect("a policy");
        let cycles = replay(&truth, &mut Chooser::Policy(ByPolicy::new(policy, &truth, terms)), &terms);
        let visits: Vec<usize> = cycles.iter().map(|cycle| cycle.visits).collect();
        let most = visits.windows(24).map(|day| day.iter().sum()).max().unwrap_or(0);
        let learnt: Vec<_> = cycles.into_iter().filter(|cycle| cycle.cycle >= 20 * 24).collect();
        (Figures::of(&learnt).staleness, most)
    }

    #[test]
    fn a_day_is_spent_before_the_quiet_hours_and_costs_no_more() {
        let group = quiet_by_night(HOUR);
        let (even, most) = replayed("calibrated", &group, 0.05, false);
        assert_eq!(most, 72);
        let (by_day, most) = replayed("calibrated", &group, 0.05, true);
        assert!(most <= 72, "{most}");
        assert!(by_day < 0.95 * even, "{by_day}, with even cycles {even}");
    }

    #[test]
    fn one_cycle_a_day_has_a_budget_of_its_own() {
        let group = quiet_by_night(24 * HOUR);
        for policy in ["calibrated", "age", "random"] {
            assert_eq!(replayed(policy, &group, 0.1, true), replayed(policy, &group, 0.1, false), "{policy}");
        }
    }
}
