//! Each page again after its estimated period: the schedule of Grimes & Ford 2008, §5.

use std::collections::BTreeMap;

use super::registry::{Made, PolicyRequest};
use super::{Fact, Learnt, Lesson, PageState, Policy, Reason, Score, Survey};
use crate::estimate::learner::Learner;
use crate::estimate::priors::{GroupBy, PriorKind, Priors};
use crate::estimate::{Estimate, Seen};
use crate::page::{Depth, HostId};
use crate::time::Timestamp;

/// A page is due when the time since its last visit reaches 1 / estimated rate, the Δ of the paper (step 4: C = Δ). The page that exceeds its period most, as a
/// ratio, comes first.
///
/// The estimator is the paper's `two-interval` unless another one is named; for a page that was visited once its prior gives the
/// period (step 1). An estimator without a prior says nothing about such a page: then it is due after the first interval that is
/// best for the collection (§4.2), once there is one.
#[derive(Debug)]
struct EstimatedPeriod {
    name: String,
    learner: Learner,
    by: GroupBy,
    /// The first interval in days, of groups and of all others.
    first_days: BTreeMap<Option<i64>, f64>,
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    let (by, first_days) = (GroupBy::default(), BTreeMap::new());
    let (name, learner) = (request.name.to_owned(), request.learner()?);
    Ok(Box::new(EstimatedPeriod { name, learner, by, first_days }))
}

impl EstimatedPeriod {
    /// As published, unless that is a rate of 0: then the page would never be visited again.
    fn estimate(&self, page: &PageState) -> Estimate {
        let published = self.learner.as_published(page.host, page.depth, &page.learnt.state);
        if published.rate.get() > 0.0 {
            return published;
        }
        self.learner.estimate(page.host, page.depth, &page.learnt.state)
    }

    /// Days from the last visit to the next.
    fn days(&self, page: &PageState) -> f64 {
        let is_new = page.learnt.state.visits == 0 && self.learner.prior_kind().is_none();
        let first = || {
            let group = self.first_days.get(&Some(self.by.key(page.host, page.depth)));
            group.or_else(|| self.first_days.get(&None)).copied()
        };
        let first = if is_new { first() } else { None };
        first.unwrap_or_else(|| 1.0 / self.estimate(page).rate.get())
    }
}

impl Policy for EstimatedPeriod {
    fn name(&self) -> &str {
        &self.name
    }

    /// Age over period: a page is due at 1.
    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(page.copy_age(now).days() / self.days(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let days = self.days(page);
        let [interval, due] = Fact::interval(days, days - page.copy_age(now).days());
        Reason::of([Fact::change_rate(self.estimate(page)), interval, due])
    }

    fn is_due(&self, page: &PageState, now: Timestamp) -> bool {
        self.score(page, now).value() >= 1.0
    }

    fn learn(&self, host: HostId, depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        self.learner.learn(host, depth, &mut learnt.state, lesson.interval, seen);
    }

    fn memory_version(&self) -> String {
        self.learner.memory_version()
    }

    fn prior_kind(&self) -> Option<PriorKind> {
        Some(self.learner.prior_kind().unwrap_or(PriorKind::FirstInterval))
    }

    fn believe(&mut self, priors: &Priors) {
        self.learner.believe(priors);
        self.by = priors.by;
        let first = priors.of(PriorKind::FirstInterval).into_iter();
        let usable = |days: &f64| days.is_finite() && *days > 0.0;
        let first = first.filter_map(|(group, numbers)| Some((group, numbers.first()?[0])));
        self.first_days = first.filter(|(_, days)| usable(days)).collect();
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.learner.count_in(survey.cycle_length);
    }
}

#[cfg(test)]
mod tests {
    use crate::estimate::priors::{GroupBy, Prior, PriorKind, Priors};
    use crate::page::{HostId, PageId};
    use crate::policy::registry::{PolicySettings, find};
    use crate::policy::{Lesson, PageState, Policy};
    use crate::time::{Age, Timestamp};

    const DAY: i64 = 86_400_000;

    fn policy(name: &str, priors: &[Prior]) -> Box<dyn Policy> {
        let mut policy = find(name, &PolicySettings::default()).expect("a policy");
        policy.believe(&Priors { by: GroupBy::Host, all: priors.to_vec(), comparisons: 0 });
        policy
    }

    fn prior(kind: PriorKind, group: Option<i64>, numbers: [f64; 2]) -> Prior {
        Prior { kind, group, numbers, pages: 100 }
    }

    /// A page of that host that was fetched at day 100, and then visited after these days.
    fn page(policy: &dyn Policy, host: i64, visits: &[(f64, bool)]) -> PageState {
        let at = Timestamp::from_millis(100 * DAY);
        let mut page = PageState::found(PageId(1), HostId(host), 0, 1.0, at);
        (page.last_visit, page.seen_at) = (Some(at), Some(at));
        for (days, changed) in visits {
            let lesson = Lesson::of_bit(at, Age::from_days(*days), *changed);
            page.learnt.take(&lesson, page.host, page.depth, policy);
        }
        page
    }

    /// The first day on which the page is due.
    fn due_after(policy: &dyn Policy, page: &PageState) -> f64 {
        let due = |hours: &i64| policy.is_due(page, Timestamp::from_millis(100 * DAY + hours * DAY / 24));
        (0..24 * 1000).find(due).expect("due at some time") as f64 / 24.0
    }

    #[test]
    fn a_page_is_due_after_its_estimated_period() {
        // The pair alone gives a period of 6 / ln 2.
        let pair = [prior(PriorKind::TwoIntervals, None, [6.0, 6.0])];
        let again = policy("estimated-period", &pair);
        let new = page(&*again, 1, &[]);
        assert!((due_after(&*again, &new) - 6.0 / std::f64::consts::LN_2).abs() < 0.05);
        // A visit after 6 days without a change: 6 days with a change, 12 without.
        let unchanged = page(&*again, 1, &[(6.0, false)]);
        assert!((due_after(&*again, &unchanged) - 6.0 / 1.5_f64.ln()).abs() < 0.05);
        let changed = page(&*again, 1, &[(6.0, true)]);
        assert!((due_after(&*again, &changed) - 6.0 / 3.0_f64.ln()).abs() < 0.05);
        assert_eq!(again.prior_kind(), Some(PriorKind::TwoIntervals));
    }

    #[test]
    fn without_a_prior_a_new_page_waits_for_the_first_interval_of_the_collection() {
        let first = [
            prior(PriorKind::FirstInterval, None, [11.0, 3.0]),
            prior(PriorKind::FirstInterval, Some(7), [2.0, 1.0]),
        ];
        let again = policy("estimated-period:mle", &first);
        assert_eq!(again.prior_kind(), Some(PriorKind::FirstInterval));
        assert_eq!(due_after(&*again, &page(&*again, 1, &[])), 11.0);
        assert_eq!(due_after(&*again, &page(&*again, 7, &[])), 2.0);
        // The paper's rule for a page that always changed: the shortest interval.
        assert_eq!(due_after(&*again, &page(&*again, 7, &[(2.0, true)])), 2.0);
        let unknown = policy("estimated-period:mle", &[]);
        assert_eq!(due_after(&*unknown, &page(&*unknown, 1, &[])), 10.0, "before there is a first interval");
    }
}
