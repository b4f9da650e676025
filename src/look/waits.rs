//! Why a host waits, in words.

use crate::fetch::visit::{HostReport, Waiting};

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
