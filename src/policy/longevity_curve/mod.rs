//! `longevity-curve`: the curve-fitting policy of Olston & Pandey 2008 (§4.2), as printed.
//!
//! Every visit adds a point to each of the current change profiles of the page: its divergence from a base version of some age. A
//! churn or scroll curve is fitted to the union of these points, and to no others: old points leave with their profiles. The score is
//! w·U(t). A page with fewer than three points uses the curve of the narrowest group that has one: pages of the same name, folder,
//! host or depth, or all pages. No page is believed to be bounded for good: the score is at least w·t/ρ, which is the risk bound of
//! §4.5, φ ≤ ρT/w, as a ranking. In its learning phase a page waits no longer than l·n ([`super::learning_phase`]).

mod fitted;
mod group_curves;

pub(crate) use fitted::{Fitted, POINTS_TO_SEE_A_CURVE, as_read_back, push_curve, take_curve};

use super::learning_phase;
use super::registry::{LongevitySettings, Made, PolicyRequest};
use super::unseen::{self, Unseen};
use super::{Fact, Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey};
use crate::estimate::Seen;
use crate::longevity::curve::Curve;
use crate::page::{Depth, HostId};
use crate::time::Timestamp;
use group_curves::{CurveGathering, GroupCurves};

/// The curve before anything is known: a tenth of a page a day.
const UNKNOWN: Curve = Curve::Churn { height: 1.0, rate: 0.1 };

#[derive(Debug)]
struct LongevityCurve {
    settings: LongevitySettings,
    unseen: Unseen,
    groups: GroupCurves,
    /// The score that is just enough for a visit, as far as it is known.
    marginal: Option<f64>,
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(LongevityCurve::new(request.settings.longevity)))
}

impl LongevityCurve {
    fn new(settings: LongevitySettings) -> Self {
        let (unseen, groups, marginal) = (Unseen::default(), GroupCurves::default(), settings.threshold);
        Self { settings, unseen, groups, marginal }
    }

    /// The divergence curve of the page, its own or that of a group.
    fn curve(&self, page: &PageState) -> Curve {
        match page.learnt.memory.peek(Fitted::take_curve_and_points) {
            Some((curve, points)) if points >= POINTS_TO_SEE_A_CURVE => curve,
            _ => self.groups.of(page).unwrap_or(UNKNOWN),
        }
    }

    /// The gain of a visit, in divergence × days.
    fn gain(&self, page: &PageState, now: Timestamp) -> f64 {
        let days = page.copy_age(now).days();
        let gain = self.curve(page).utility(days).max(days / self.settings.risk);
        let refreshes = learning_phase::refreshes(page.learnt.state.visits);
        match self.marginal {
            Some(marginal) if days >= learning_phase::most_days(&self.settings, refreshes) => {
                gain.max(marginal / page.weight.max(f64::MIN_POSITIVE))
            }
            _ => gain,
        }
    }

    /// The gain of a visit in new pages, in days.
    fn discovery_gain(&self, page: &PageState, now: Timestamp) -> f64 {
        unseen::discovery_gain(page, unseen::LINK_PRIOR_CYCLES * self.settings.cycle_days, now)
    }
}

impl Policy for LongevityCurve {
    fn name(&self) -> &str {
        "longevity-curve"
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if let Some(worth) = self.unseen.worth_after_failure(page) {
            return Score::new(worth);
        }
        Score::new(page.weight * (self.gain(page, now) + self.discovery_gain(page, now)))
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.unseen.worth(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let divergence = self.curve(page).divergence(page.copy_age(now).days());
        let links = self.discovery_gain(page, now);
        let facts = [Fact::expected_divergence(divergence), Fact::gain(self.gain(page, now) + links)];
        Reason::of(facts.into_iter().chain(Fact::new_links(links)))
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let days = learnt.state.count(lesson.interval, seen);
        let mut fitted = learnt.memory.read(Fitted::take_bytes);
        fitted.add(lesson, days);
        learnt.memory.write(|bytes| fitted.push_bytes(bytes));
    }

    fn memory_version(&self) -> String {
        "longevity-curve/2".to_owned()
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.unseen.look_at_hosts(survey);
        let mut gathering = CurveGathering::default();
        (survey.pages)(&mut |page, count| {
            if let Some(fitted) = page.learnt.memory.peek(Fitted::take_bytes) {
                gathering.add(page, &fitted.samples(), count);
            }
        });
        self.groups = gathering.finish();
        self.marginal = None;
        self.marginal = learning_phase::marginal_score(self, &self.settings, survey);
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, kin: true, ..LooksAt::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::estimate::tests::close;
    use crate::page::{Kin, PageId};
    use crate::policy::Apart;
    use crate::time::Age;

    const DAY: i64 = 86_400;

    /// A page whose copy of day 0 was this far away after each number of days; it is on day 0 still.
    fn page(host: i64, name: u32, seen: &[(f64, f64)]) -> PageState {
        let start = Timestamp::from_seconds(0);
        let mut page = PageState::found(PageId(1), HostId(host), 1, 1.0, start);
        page.kin = Kin { site: host as u32, section: name, name, ..Kin::default() };
        (page.last_visit, page.seen_at) = (Some(start), Some(start));
        let policy = LongevityCurve::new(LongevitySettings::default());
        for (days, divergence) in seen {
            let age = Age::from_days(*days);
            let at = Timestamp::from_seconds((days * DAY as f64) as i64);
            let bases = vec![Apart { age, divergence: *divergence }];
            let lesson = Lesson { bases, ..Lesson::of_bit(at, age, *divergence > 0.0) };
            page.learnt.take(&lesson, page.host, page.depth, &policy);
        }
        page
    }

    fn look_over(
        policy: &mut LongevityCurve,
        pages: &[PageState],
        now: Timestamp,
        visits_a_day: Option<f64>,
    ) {
        policy.survey(&mut Survey {
            now,
            cycle: 1,
            cycle_length: Age::from_days(1.0),
            visits_a_day,
            shares_a_day: false,
            hosts: &HashMap::new(),
            memory: &mut None,
            pages: &mut |look| pages.iter().for_each(|page| look(page, 1)),
        });
    }

    #[test]
    fn a_page_in_its_learning_phase_has_a_place_in_the_budget() {
        // One page is replaced within days, one never moved; a third was visited once, and is taken to be like the second.
        let still = [(1.0, 0.0), (2.0, 0.0), (4.0, 0.0), (5.0, 0.0), (6.0, 0.0)];
        let pages = [
            page(1, 1, &[(1.0, 0.5), (2.0, 0.75), (4.0, 0.94)]),
            page(2, 2, &still),
            page(2, 2, &[(1.0, 0.0)]),
        ];
        let settings = LongevitySettings { learning_days: 3.0, ..LongevitySettings::default() };
        let mut policy = LongevityCurve::new(settings);
        let scores = |policy: &LongevityCurve, day: i64| {
            [0, 1, 2].map(|place| policy.score(&pages[place], Timestamp::from_seconds(day * DAY)).value())
        };
        look_over(&mut policy, &pages, Timestamp::from_seconds(5 * DAY), Some(1.0));
        let [moving, known, new] = scores(&policy, 5);
        assert!(moving > new && new == known, "two refreshes: it may wait six days");
        look_over(&mut policy, &pages, Timestamp::from_seconds(7 * DAY), Some(1.0));
        let [moving, known, new] = scores(&policy, 7);
        assert!(new > moving && moving > known, "{moving} {known} {new}");
        // With visits for all, or with a threshold, the budget is no measure.
        look_over(&mut policy, &pages, Timestamp::from_seconds(7 * DAY), Some(3.0));
        assert_eq!(policy.marginal, None);
        let settings = LongevitySettings { threshold: Some(9.0), ..settings };
        let mut policy = LongevityCurve::new(settings);
        assert_eq!(scores(&policy, 7)[2], 9.0);
        look_over(&mut policy, &pages, Timestamp::from_seconds(7 * DAY), Some(1.0));
        let [_, known, new] = scores(&policy, 7);
        assert!(close(known, 0.7, 1e-9), "{known}: it has six refreshes, and its learning phase is over");
        assert_eq!(new, 9.0);
    }

    #[test]
    fn with_fewer_than_three_points_a_page_is_taken_to_move_as_its_host_does() {
        // Half of what is left goes each day.
        let seen = [(1.0, 0.5), (2.0, 0.75), (4.0, 0.9375)];
        let pages = [page(1, 10, &seen), page(2, 20, &[(1.0, 0.0), (2.0, 0.0), (4.0, 0.0)])];
        let mut policy = LongevityCurve::new(LongevitySettings::default());
        let three_days_on = Timestamp::from_seconds(3 * DAY);
        let expected = |policy: &LongevityCurve, page: &PageState| {
            policy.reason(page, three_days_on).value("divergence").expect("a curve")
        };
        let newcomer = page(1, 11, &[(1.0, 0.0), (2.0, 0.0)]);
        assert!(close(expected(&policy, &newcomer), 1.0 - (-0.3_f64).exp(), 1e-9), "nothing is known yet");
        look_over(&mut policy, &pages, Timestamp::from_seconds(0), None);
        assert!(close(expected(&policy, &newcomer), 0.875, 1e-3), "{}", expected(&policy, &newcomer));
        // From its third point on, the page has a curve of its own.
        let grown = page(1, 11, &[(1.0, 0.0), (2.0, 0.0), (4.0, 0.0)]);
        assert_eq!(expected(&policy, &grown), 0.0);
    }
}
