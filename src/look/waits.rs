//! Why a host waits, in words.

use serde::Serialize;

use crate::fetch::visit::{HostReport, Waiting};
use crate::page::HostId;
use crate::store::KnownHost;
use crate::time::Timestamp;

/// A host that is left alone for now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct WaitingHost {
    /// Its origin.
    pub host: String,
    /// Pages it has.
    #[serde(rename = "page_count")]
    pub pages: u64,
    /// Until when it is left alone.
    pub until_at: Timestamp,
    /// Why, by the name of the reason.
    pub waiting_for: &'static str,
    /// Why, in words.
    pub reason: String,
}

impl WaitingHost {
    /// `None` if the host does not wait.
    pub(super) fn of(host: &KnownHost, now: Timestamp) -> Option<Self> {
        let (until, why) = host.report.wait.filter(|(until, _)| *until > now)?;
        Some(Self {
            host: host.report.host.as_str().to_owned(),
            pages: host.pages,
            until_at: until,
            waiting_for: why.name(),
            reason: in_words(why, host.report.reason.as_deref()),
        })
    }
}

/// The hosts that wait, those with most pages first.
pub(super) fn waiting(hosts: &[KnownHost], now: Timestamp) -> Vec<(HostId, WaitingHost)> {
    let mut waiting: Vec<(HostId, WaitingHost)> =
        hosts.iter().filter_map(|host| Some((host.id, WaitingHost::of(host, now)?))).collect();
    waiting
        .sort_by(|(_, one), (_, other)| other.pages.cmp(&one.pages).then_with(|| one.host.cmp(&other.host)));
    waiting
}

/// Why a host is left alone, by the kind of its wait and the event behind it. The event is not known of waits that an earlier
/// release stored.
pub fn in_words(why: Waiting, event: Option<&str>) -> String {
    match (why, event) {
        (Waiting::RobotsUnavailable, Some(event)) => format!("{NO_ROBOTS} ({event}); {UNTIL_THEN}"),
        (Waiting::RobotsUnavailable, None) => format!("{NO_ROBOTS}; {UNTIL_THEN}"),
        (_, Some(event)) => event.to_owned(),
        (Waiting::Unreachable, None) => "no connection to the host".to_owned(),
        (Waiting::CrawlDelay, None) => {
            "robots.txt asks for a longer pause than --max-crawl-delay allows".to_owned()
        }
        (Waiting::RetryAfter, None) => "the host asks to come back later".to_owned(),
        (Waiting::BackOff | Waiting::Failing, None) => "the host failed".to_owned(),
        (Waiting::OutOfFiles, None) => "freshet had no file descriptor left".to_owned(),
        (Waiting::Budget, None) => "the budget is spent".to_owned(),
        (Waiting::CycleOver, None) => "the time of the cycle is over".to_owned(),
        (Waiting::Stopped, None) => "the crawl was stopped".to_owned(),
    }
}

const NO_ROBOTS: &str = "robots.txt could not be fetched";
const UNTIL_THEN: &str = "nothing on this host may be crawled until it can";

/// Why pages of a host are not visited, in words: its wait, over or not, or that its robots.txt could not be fetched.
pub(super) fn of_host(report: &HostReport) -> Option<String> {
    match (report.wait, &report.robots_fault) {
        (Some((_, why)), _) => Some(in_words(why, report.reason.as_deref())),
        (None, Some(fault)) => Some(in_words(Waiting::RobotsUnavailable, Some(&fault.reason))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_is_told_and_robots_txt_with_what_follows() {
        assert_eq!(in_words(Waiting::Unreachable, Some("connection refused")), "connection refused");
        assert_eq!(
            in_words(Waiting::RobotsUnavailable, Some("HTTP 500")),
            "robots.txt could not be fetched (HTTP 500); nothing on this host may be crawled until it can"
        );
        assert_eq!(in_words(Waiting::Unreachable, None), "no connection to the host");
    }
}
