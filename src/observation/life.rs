//! The life of a page, by how its visits ended: alive, missing, gone, failing; and when it may be visited again.
//!
//! One bad answer is not believed: a page is gone only when a second visit says so.

use std::time::Duration;

use crate::fetch::visit::{Outcome, Refused};
use crate::time::Timestamp;

/// Where a page is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Life {
    /// Never visited.
    #[default]
    New,
    /// The last visit brought it, or the word that it is unchanged.
    Alive,
    /// 404 or 410, once: not believed yet.
    Missing,
    /// 404 or 410 again on a later visit.
    Gone,
    /// The last visit failed.
    Failing,
    /// Robots.txt or the address rules forbid it.
    Blocked,
    /// It sends elsewhere.
    Redirected,
}

impl Life {
    /// Every one of them.
    pub const ALL: [Life; 7] =
        [Life::New, Life::Alive, Life::Missing, Life::Gone, Life::Failing, Life::Blocked, Life::Redirected];

    /// The stable name that is stored and typed.
    pub fn name(self) -> &'static str {
        match self {
            Life::New => "new",
            Life::Alive => "alive",
            Life::Missing => "missing",
            Life::Gone => "gone",
            Life::Failing => "failing",
            Life::Blocked => "blocked",
            Life::Redirected => "redirected",
        }
    }

    /// The life of that name.
    pub fn from_name(name: &str) -> Option<Life> {
        Self::ALL.into_iter().find(|life| life.name() == name)
    }
}

/// A page's life, and when it may be visited again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Where it is in its life.
    pub life: Life,
    /// Visits in a row that brought nothing.
    pub failures: u32,
    /// It is not visited before this time.
    pub due_at: Timestamp,
}

/// The wait after the second failure in a row; it doubles from there. After the first there is none: the next cycle
/// tries again.
const FAILURE_WAIT: Duration = Duration::from_secs(600);
const LONGEST_FAILURE_WAIT: Duration = Duration::from_secs(7 * 86_400);
/// A robots.txt holds for a day, and hardly ever changes: a page that it forbids is thought of again after this, then
/// more rarely. It costs no request.
const BLOCKED_WAIT: Duration = Duration::from_secs(86_400);
const LONGEST_BLOCKED_WAIT: Duration = Duration::from_secs(7 * 86_400);
/// A page that is gone, or that another one stands for, is looked at once more after this, then ever more rarely.
const GONE_WAIT: Duration = Duration::from_secs(86_400);
const LONGEST_GONE_WAIT: Duration = Duration::from_secs(30 * 86_400);

impl Standing {
    /// The standing after one more visit.
    pub fn after(self, outcome: &Outcome, at: Timestamp) -> Standing {
        match outcome {
            Outcome::Fetched | Outcome::NotModified => {
                Standing { life: Life::Alive, failures: 0, due_at: at }
            }
            Outcome::Redirected { .. } => Standing { life: Life::Redirected, failures: 0, due_at: at },
            Outcome::Refused(Refused::Robots) => {
                let failures = if self.life == Life::Blocked { self.failures.saturating_add(1) } else { 1 };
                Standing { life: Life::Blocked, failures, due_at: at.plus(blocked_wait(failures)) }
            }
            Outcome::Refused(Refused::Address) => self.failed(Life::Blocked, at),
            Outcome::Missing => match self.life {
                Life::Missing | Life::Gone => {
                    let failures = self.failures + 1;
                    Standing { life: Life::Gone, failures, due_at: at.plus(rarely(failures)) }
                }
                _ => Standing { life: Life::Missing, failures: 1, due_at: at },
            },
            // One failed look does not raise the dead.
            _ if self.life == Life::Gone => Standing { due_at: at.plus(GONE_WAIT), ..self },
            _ => self.failed(Life::Failing, at),
        }
    }

    /// The longest wait that [`Standing::after`] can have set: a page that is due later than this was visited by a wrong
    /// clock.
    pub fn longest_wait(self) -> Duration {
        let from_the_second = self.failures.saturating_sub(2);
        match self.life {
            Life::New | Life::Alive | Life::Missing | Life::Redirected => Duration::ZERO,
            Life::Failing => failure_wait(self.failures),
            Life::Blocked => failure_wait(self.failures).max(blocked_wait(self.failures)),
            Life::Gone => doubled(GONE_WAIT, from_the_second, LONGEST_GONE_WAIT),
        }
    }

    fn failed(self, life: Life, at: Timestamp) -> Standing {
        let failures = self.failures + 1;
        Standing { life, failures, due_at: at.plus(failure_wait(failures)) }
    }
}

/// The wait after this number of failures in a row.
fn failure_wait(failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        _ => doubled(FAILURE_WAIT, failures - 2, LONGEST_FAILURE_WAIT),
    }
}

/// The wait after robots.txt forbade a page this number of times in a row.
fn blocked_wait(times: u32) -> Duration {
    match times {
        0 => Duration::ZERO,
        _ => doubled(BLOCKED_WAIT, times - 1, LONGEST_BLOCKED_WAIT),
    }
}

/// When a page that another one stands for is looked at again: as rarely as one that is gone. `times`: visits in a row
/// that said so. One that was never confirmed, or long ago by another rule, is due at once.
pub fn alias_due_at(last_visit: Timestamp, times: u32) -> Timestamp {
    if times < 2 { last_visit } else { last_visit.plus(rarely(times)) }
}

/// The wait before a page is looked at again that said the same on this many visits in a row.
fn rarely(times: u32) -> Duration {
    doubled(GONE_WAIT, times.saturating_sub(2), LONGEST_GONE_WAIT)
}

fn doubled(base: Duration, times: u32, longest: Duration) -> Duration {
    base.saturating_mul(1 << times.min(20)).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::visit::Failure;

    const AT: Timestamp = Timestamp::from_seconds(1_000_000);

    fn after(outcomes: &[Outcome]) -> Standing {
        outcomes.iter().fold(Standing::default(), |standing, outcome| standing.after(outcome, AT))
    }

    fn wait(standing: Standing) -> u64 {
        standing.due_at.after(AT).as_secs()
    }

    #[test]
    fn an_alias_is_looked_at_ever_more_rarely() {
        let days: Vec<u64> =
            [0, 1, 2, 3, 4, 9].map(|times| alias_due_at(AT, times).after(AT).as_secs() / 86_400).to_vec();
        assert_eq!(days, [0, 0, 1, 2, 4, 30]);
    }

    #[test]
    fn a_page_is_gone_only_when_a_second_visit_says_so() {
        let once = after(&[Outcome::Fetched, Outcome::Missing]);
        assert_eq!((once.life, wait(once)), (Life::Missing, 0));
        let twice = once.after(&Outcome::Missing, AT);
        assert_eq!((twice.life, wait(twice)), (Life::Gone, 86_400));
        assert_eq!(wait(twice.after(&Outcome::Missing, AT)), 2 * 86_400);
        assert_eq!(twice.after(&Outcome::HttpError, AT).life, Life::Gone);
        assert_eq!(
            twice.after(&Outcome::Fetched, AT),
            Standing { life: Life::Alive, failures: 0, due_at: AT }
        );
        assert_eq!(after(&[Outcome::Missing, Outcome::Fetched, Outcome::Missing]).life, Life::Missing);
    }

    #[test]
    fn failures_wait_longer_each_time_and_success_forgets_them() {
        let failed = Outcome::Failed(Failure::NoAnswer);
        let waits: Vec<u64> = (1..=4).map(|times| wait(after(&vec![failed.clone(); times]))).collect();
        assert_eq!(waits, [0, 600, 1200, 2400]);
        assert_eq!(wait(after(&vec![failed.clone(); 60])), 7 * 86_400);
        assert_eq!(after(&[failed.clone(), failed, Outcome::NotModified]).failures, 0);
    }

    #[test]
    fn what_robots_txt_forbids_is_thought_of_ever_more_rarely() {
        let forbidden = Outcome::Refused(Refused::Robots);
        let waits: Vec<u64> = (1..=6).map(|times| wait(after(&vec![forbidden.clone(); times]))).collect();
        assert_eq!(waits, [1, 2, 4, 7, 7, 7].map(|days| days * 86_400));
        let freed = after(&[forbidden.clone(), forbidden.clone(), Outcome::Fetched, forbidden]);
        assert_eq!((freed.life, wait(freed)), (Life::Blocked, 86_400));
    }

    #[test]
    fn no_rule_sets_a_longer_wait_than_the_longest() {
        let outcomes = [
            Outcome::Fetched,
            Outcome::Missing,
            Outcome::ServerError,
            Outcome::Refused(Refused::Robots),
            Outcome::Refused(Refused::Address),
        ];
        // All sequences of five of these.
        for number in 0..outcomes.len().pow(5) {
            let mut standing = Standing::default();
            for place in 0..5 {
                standing = standing.after(&outcomes[number / outcomes.len().pow(place) % outcomes.len()], AT);
                assert!(standing.due_at.after(AT) <= standing.longest_wait(), "{standing:?}");
            }
        }
        let gone = after(&[Outcome::Missing, Outcome::Missing, Outcome::Missing]);
        assert_eq!(gone.longest_wait().as_secs(), 2 * 86_400, "exact, where one rule sets it");
        assert_eq!(after(&[Outcome::Fetched]).longest_wait(), Duration::ZERO);
    }

    #[test]
    fn names_of_lives_survive() {
        for life in Life::ALL {
            assert_eq!(Life::from_name(life.name()), Some(life));
        }
    }
}
