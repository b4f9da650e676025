//! Utility from a fitted curve: the curve-fitting policy of Olston & Pandey 2008 (§4.2), as printed.
//!
//! Every visit adds a point to each change profile of the page: how far it is from a base version that is so old. A churn
//! or scroll curve is fitted to them, and the score is w·U(t). Pages with fewer than three points go by the curve of the
//! narrowest group that has one: pages of their name, folder, host or depth, or all. No page is believed to be bounded for
//! good: the score is at least w·t/ρ, which is the risk bound of §4.5, φ ≤ ρT/w, as a ranking. Where a threshold T is given,
//! a page that was refreshed n times waits no longer than l·n (the learning phase of §4.2).

use super::content::{Content, POINTS_TO_SEE_A_CURVE};
use super::group_curves::{Gathering, GroupCurves};
use super::newcomers::{self, Newcomers};
use super::registry::LongevitySettings;
use super::{Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey};
use crate::estimate::Seen;
use crate::longevity::curve::Curve;
use crate::page::{Depth, HostId};
use crate::time::Timestamp;

/// Before anything is known: a tenth of a page a day.
const UNKNOWN: Curve = Curve::Churn { height: 1.0, rate: 0.1 };

#[derive(Debug)]
pub struct LongevityFit {
    settings: LongevitySettings,
    newcomers: Newcomers,
    groups: GroupCurves,
}

impl LongevityFit {
    pub fn new(settings: LongevitySettings) -> Self {
        Self { settings, newcomers: Newcomers::default(), groups: GroupCurves::default() }
    }

    /// What is known of how the page moves away from a copy.
    fn curve(&self, page: &PageState) -> Curve {
        match &page.learnt.content {
            Content::Fitted(fitted) if fitted.points() >= POINTS_TO_SEE_A_CURVE => fitted.curve,
            _ => self.groups.of(page).unwrap_or(UNKNOWN),
        }
    }

    /// What a visit gains, in divergence × days.
    fn gain(&self, page: &PageState, now: Timestamp) -> f64 {
        let days = page.copy_age(now).days();
        let gain = self.curve(page).utility(days).max(days / self.settings.risk);
        let refreshes = f64::from(page.learnt.state.visits) + 1.0;
        match self.settings.threshold {
            Some(threshold) if days >= self.settings.learning_days * refreshes => {
                gain.max(threshold / page.weight.max(f64::MIN_POSITIVE))
            }
            _ => gain,
        }
    }
}

impl Policy for LongevityFit {
    fn name(&self) -> &str {
        "longevity-curve"
    }

    fn memory_kind(&self) -> String {
        self.name().to_owned()
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, kin: true, age: false }
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let days = learnt.state.count(lesson.interval, seen);
        let mut fitted = match std::mem::take(&mut learnt.content) {
            Content::Fitted(fitted) => fitted,
            _ => Box::default(),
        };
        fitted.add(lesson, days);
        learnt.content = Content::Fitted(fitted);
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.newcomers.look(survey);
        let mut gathering = Gathering::default();
        (survey.pages)(&mut |page, count| {
            if let Content::Fitted(fitted) = &page.learnt.content {
                gathering.add(page, &fitted.samples, count);
            }
        });
        self.groups = gathering.finish();
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if let Some(worth) = self.newcomers.worth_again(page) {
            return Score::new(worth);
        }
        let links = newcomers::new_links(page, newcomers::LINK_CYCLES * self.settings.cycle_days, now);
        Score::new(page.weight * (self.gain(page, now) + links))
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.newcomers.worth(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let days = page.copy_age(now).days();
        let divergence = self.curve(page).divergence(days);
        Reason { divergence: Some(divergence), gain_days: Some(self.gain(page, now)), ..Reason::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::content::Fitted;
    use super::*;
    use crate::estimate::tests::close;
    use crate::longevity::samples::Sample;
    use crate::page::{Kin, PageId};
    use crate::time::Age;

    const DAY: i64 = 86_400;

    /// A page that was visited on day 0, and of which this was seen after so many days.
    fn page(host: i64, name: u32, seen: &[(f64, f64)]) -> PageState {
        let start = Timestamp::from_seconds(0);
        let mut page = PageState::found(PageId(1), HostId(host), 1, 1.0, start);
        page.kin = Kin { site: host as u32, section: name, name };
        (page.last_visit, page.seen_at) = (Some(start), Some(start));
        let samples = seen.iter().map(|(days, divergence)| Sample::new(*days, *divergence)).collect();
        page.learnt.content = Content::Fitted(Box::new(Fitted { samples, ..Fitted::default() }));
        page
    }

    #[test]
    fn with_fewer_than_three_points_a_page_is_taken_to_move_as_its_host_does() {
        // Half of what is left goes each day.
        let seen = [(1.0, 0.5), (2.0, 0.75), (4.0, 0.9375)];
        let pages = [page(1, 10, &seen), page(2, 20, &[(1.0, 0.0), (2.0, 0.0), (4.0, 0.0)])];
        let mut policy = LongevityFit::new(LongevitySettings::default());
        let three_days_on = Timestamp::from_seconds(3 * DAY);
        let expected = |policy: &LongevityFit, page: &PageState| {
            policy.reason(page, three_days_on).divergence.expect("a curve")
        };
        let newcomer = page(1, 11, &[(1.0, 0.0), (1.0, 0.0)]);
        assert!(close(expected(&policy, &newcomer), 1.0 - (-0.3_f64).exp(), 1e-9), "nothing is known yet");
        policy.survey(&mut Survey {
            now: Timestamp::from_seconds(0),
            cycle: 1,
            cycle_length: Age::from_days(1.0),
            visits_a_day: None,
            hosts: &HashMap::new(),
            pages: &mut |look| pages.iter().for_each(|page| look(page, 1)),
        });
        assert!(close(expected(&policy, &newcomer), 0.875, 1e-3), "{}", expected(&policy, &newcomer));
        // By its third point it goes by itself.
        let grown = page(1, 11, &[(1.0, 0.0), (2.0, 0.0), (4.0, 0.0)]);
        assert_eq!(expected(&policy, &grown), 0.0);
    }
}
