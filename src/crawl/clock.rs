//! A clock that was wrong once must not blind the crawl.
//!
//! A cycle that ran with the clock ahead leaves dates in the store that lie in the future once the clock is right again:
//! pages would not be due, and robots.txt would count as fresh, until those dates have come. A date that no rule
//! could have set by now is unknown. An unknown date costs at most one visit or one robots.txt: it brings the true one.

use std::time::Duration;

use crate::fetch::politeness;
use crate::observation::Standing;
use crate::store::{KnownHost, KnownPage};
use crate::time::Timestamp;

/// A date that is this far ahead still counts as now: clocks are set back by seconds all the time.
const SKEW: Duration = Duration::from_secs(600);

/// Visits at an unknown time count as made this long ago. It is the longest time between two looks at a page that is gone, so
/// that every page may be visited.
const LONG_AGO: Duration = Duration::from_secs(30 * 86_400);

/// Was the clock ahead when it gave this date?
pub fn is_ahead(at: Timestamp, now: Timestamp) -> bool {
    at.after(now) > SKEW
}

/// The warning after a cycle that began in the future.
pub fn warning(started_at: Timestamp, now: Timestamp) -> String {
    format!(
        "the last cycle began at {started_at}, and the clock says {now}: the clock is wrong now, or was then. Dates in the future are not believed"
    )
}

/// Takes the dates out of a page that a wrong clock left: it is due, and its last visit is long ago.
pub(super) fn correct_page(page: &mut KnownPage, now: Timestamp) {
    let state = &mut page.state;
    let standing = Standing { life: state.life, failures: state.failures, due_at: page.due_at };
    if page.due_at.after(now) > standing.longest_wait() {
        page.due_at = now;
    }
    let long_ago = now.minus(LONG_AGO);
    state.found_at = state.found_at.min(now);
    for visit in [&mut state.last_visit, &mut state.seen_at] {
        *visit = visit.map(|at| if is_ahead(at, now) { long_ago } else { at });
    }
}

/// Takes the dates out of a host that a wrong clock left: its robots.txt and its sitemaps are to be read again, and it does
/// not wait. Says whether there were any.
pub fn correct_host(host: &mut KnownHost, now: Timestamp) -> bool {
    let robots = host.robots.take_if(|robots| is_ahead(robots.at, now));
    let sitemaps = host.sitemaps_at.take_if(|at| is_ahead(*at, now));
    let wait = host.report.wait.take_if(|(until, why)| until.after(now) > politeness::longest_wait(*why));
    if wait.is_some() {
        host.report.reason = None;
    }
    robots.is_some() || sitemaps.is_some() || wait.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::visit::{HostReport, RobotsStatus, Waiting};
    use crate::observation::Life;
    use crate::page::{Fingerprint, Host, HostId, PageId};
    use crate::policy::{PageState, Yield};

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);
    const DAY: Duration = Duration::from_secs(86_400);

    fn page(life: Life, failures: u32, visited: Timestamp, due_at: Timestamp) -> KnownPage {
        let found = NOW.minus(100 * DAY);
        let mut state = PageState::found(PageId(1), HostId(1), 0, 1.0, found);
        (state.life, state.failures) = (life, failures);
        (state.last_visit, state.seen_at) = (Some(visited), Some(visited));
        KnownPage {
            id: PageId(1),
            fingerprint: Fingerprint::from_bytes([0; 16]),
            url: "http://a.example/".to_owned(),
            host: HostId(1),
            state,
            due_at,
            last_cycle: None,
            alias_of: None,
            claim: None,
        }
    }

    fn corrected(mut page: KnownPage) -> (Duration, f64) {
        correct_page(&mut page, NOW);
        (page.due_at.after(NOW), page.state.age(NOW).days())
    }

    #[test]
    fn a_page_of_the_future_is_due_and_old() {
        let ahead = NOW.plus(400 * DAY);
        assert_eq!(corrected(page(Life::Alive, 0, ahead, ahead)), (Duration::ZERO, 30.0));
        let gone = page(Life::Gone, 4, ahead, ahead.plus(4 * DAY));
        assert_eq!(corrected(gone), (Duration::ZERO, 30.0));
    }

    #[test]
    fn a_wait_that_a_rule_set_stays() {
        let yesterday = NOW.minus(DAY);
        assert_eq!(corrected(page(Life::Gone, 4, yesterday, NOW.plus(3 * DAY))), (3 * DAY, 1.0));
        assert_eq!(corrected(page(Life::Gone, 4, yesterday, NOW.plus(5 * DAY))), (Duration::ZERO, 1.0));
        let minutes = Duration::from_secs(1200);
        assert_eq!(corrected(page(Life::Failing, 3, yesterday, NOW.plus(minutes))), (minutes, 1.0));
    }

    #[test]
    fn a_clock_that_was_set_back_by_seconds_was_not_wrong() {
        let soon = NOW.plus(Duration::from_secs(5));
        assert_eq!(corrected(page(Life::Alive, 0, soon, soon)), (Duration::ZERO, 0.0));
    }

    #[test]
    fn a_host_of_the_future_is_asked_again() {
        let host = |at: Timestamp, wait| KnownHost {
            id: HostId(1),
            report: HostReport {
                host: Host::parse("http://a.example").unwrap(),
                delay: Duration::ZERO,
                wait: Some(wait),
                reason: None,
                failures: 0,
                rests: 0,
                robots: None,
                robots_fault: None,
            },
            robots: Some(RobotsStatus { at, status: 200 }),
            sitemaps_at: Some(at),
            pages: 1,
            forbidden: 0,
            refused: 0,
            yields: Yield::default(),
        };
        let mut ahead = host(NOW.plus(40 * DAY), (NOW.plus(31 * DAY), Waiting::RetryAfter));
        assert!(correct_host(&mut ahead, NOW));
        assert_eq!((ahead.robots, ahead.sitemaps_at, ahead.report.wait), (None, None, None));
        let mut rests = host(NOW.minus(DAY), (NOW.plus(DAY), Waiting::Failing));
        assert!(correct_host(&mut rests, NOW), "no host rests for a day");
        assert_eq!((rests.robots.is_some(), rests.report.wait), (true, None));
        let mut well = host(NOW.minus(DAY), (NOW.plus(29 * DAY), Waiting::RetryAfter));
        assert!(!correct_host(&mut well, NOW));
        assert!(well.report.wait.is_some());
    }
}
