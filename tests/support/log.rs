//! What a site was asked, and when: hits in, answers to a test's questions out.
//!
//! A [`Log`] is a snapshot: it does not move while a test looks at it. Hits are in order of their start.
//! Times are seconds since the site started. A hit still in flight ends at infinity, so it overlaps all that
//! follows.

use std::fmt::Write as _;

/// How much sooner than the delay a request may begin: clocks and schedulers of a busy machine, no more.
const SLACK_SECONDS: f64 = 0.005;

/// One request that reached the site, and how it was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// When the first byte of the request was seen, in seconds since the site started.
    pub start: f64,
    /// When the last byte of the response was handed to the socket, or the exchange was given up; infinite
    /// while it lasts.
    pub end: f64,
    /// Which host was asked, counted from 0.
    pub host: usize,
    /// Which connection carried it, counted from 1 over the whole site in order of arrival.
    pub connection: u64,
    /// The method as sent; empty when the request could not be read.
    pub method: String,
    /// The path with its query, as sent: nothing is decoded. The first line when the request could not be
    /// read.
    pub path: String,
    /// The status that went out; 0 when nothing did: reset, silent, hung up before the answer, or not yet.
    pub status: u16,
    /// The request's headers in the order and spelling they were sent.
    pub headers: Vec<(String, String)>,
}

impl Hit {
    /// The first header of that name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }
}

/// The value of the first header of that name, whatever its case.
pub(super) fn find_header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// The hits of a site at one moment, in order of their start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    hits: Vec<Hit>,
}

impl Log {
    /// A log of these hits, whatever their order.
    pub fn of(mut hits: Vec<Hit>) -> Log {
        hits.sort_by(|one, other| one.start.total_cmp(&other.start));
        Log { hits }
    }

    /// Every hit, in order of start.
    pub fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// The part of the log that concerns one host.
    pub fn on(&self, host: usize) -> Log {
        Log { hits: self.hits.iter().filter(|hit| hit.host == host).cloned().collect() }
    }

    /// The paths asked for, with their queries, in order of start.
    pub fn paths(&self) -> Vec<String> {
        self.hits.iter().map(|hit| hit.path.clone()).collect()
    }

    /// How often this exact path was asked for, with any method, on any host.
    pub fn count(&self, path: &str) -> usize {
        self.hits.iter().filter(|hit| hit.path == path).count()
    }

    /// Whether this exact path was asked for at all.
    pub fn asked(&self, path: &str) -> bool {
        self.first(path).is_some()
    }

    /// The first hit on this exact path.
    pub fn first(&self, path: &str) -> Option<&Hit> {
        self.hits.iter().find(|hit| hit.path == path)
    }

    /// How many requests there were, robots.txt included.
    pub fn total(&self) -> usize {
        self.hits.len()
    }

    /// The most requests one host had in flight at once. One that starts just as another ends is not at once.
    pub fn max_concurrent(&self, host: usize) -> usize {
        most_at_once(self.hits.iter().filter(|hit| hit.host == host))
    }

    /// The most requests all hosts together had in flight at once.
    pub fn max_concurrent_of_all(&self) -> usize {
        most_at_once(self.hits.iter())
    }

    /// For each request of a host but its first, the seconds since the host was last busy: its start less the
    /// latest end of those that started before it. Negative when they overlap.
    pub fn gaps(&self, host: usize) -> Vec<f64> {
        let mut busy_until = f64::NEG_INFINITY;
        let mut gaps = Vec::new();
        for hit in self.hits.iter().filter(|hit| hit.host == host) {
            gaps.push(hit.start - busy_until);
            busy_until = busy_until.max(hit.end);
        }
        gaps.into_iter().skip(1).collect()
    }

    /// The smallest of [`Log::gaps`]; none with fewer than two requests.
    pub fn min_gap(&self, host: usize) -> Option<f64> {
        self.gaps(host).into_iter().min_by(f64::total_cmp)
    }

    /// Panics, with all requests and their times, unless the host was asked for `/robots.txt` first, for one
    /// thing at a time, and never sooner than `delay_seconds` (less 5 ms) after the previous end. A host that
    /// was not asked at all was treated politely.
    #[track_caller]
    pub fn assert_polite(&self, host: usize, delay_seconds: f64) {
        if let Some(account) = self.impoliteness(host, delay_seconds, true) {
            panic!("{account}");
        }
    }

    /// As [`Log::assert_polite`], but any path may come first: for a log cleared since robots.txt was read.
    #[track_caller]
    pub fn assert_spaced(&self, host: usize, delay_seconds: f64) {
        if let Some(account) = self.impoliteness(host, delay_seconds, false) {
            panic!("{account}");
        }
    }

    /// What [`Log::assert_polite`] would say; none when there is nothing to say.
    pub fn impoliteness(&self, host: usize, delay_seconds: f64, robots_first: bool) -> Option<String> {
        let of_host = self.on(host);
        let first = of_host.hits.first()?;
        let mut faults = 0;
        let mut lines = String::new();
        let robots_fault = (robots_first && first.path != "/robots.txt")
            .then(|| "the first request is not for `/robots.txt`".to_string());
        let gap_faults = of_host.gaps(host).into_iter().map(|gap| gap_fault(gap, delay_seconds));
        for (hit, fault) in of_host.hits.iter().zip(std::iter::once(robots_fault).chain(gap_faults)) {
            write_line(&mut lines, hit);
            if let Some(fault) = fault {
                faults += 1;
                let _ = write!(lines, "  <-- {fault}");
            }
            lines.push('\n');
        }
        let requests = of_host.total();
        (faults > 0).then(|| {
            format!(
                "host {host} was not treated politely: {faults} of its {requests} requests at fault, with a \
                 delay of {delay_seconds:.3} s\n{lines}"
            )
        })
    }
}

fn most_at_once<'a>(by_start: impl Iterator<Item = &'a Hit>) -> usize {
    let mut most = 0;
    let mut open_ends: Vec<f64> = Vec::new();
    for hit in by_start {
        open_ends.retain(|end| *end > hit.start);
        open_ends.push(hit.end);
        most = most.max(open_ends.len());
    }
    most
}

fn gap_fault(gap: f64, delay_seconds: f64) -> Option<String> {
    if gap == f64::NEG_INFINITY {
        Some("began while an earlier one never ended".to_string())
    } else if gap < 0.0 {
        Some(format!("began {:.4} s before an earlier one ended", -gap))
    } else if gap < delay_seconds - SLACK_SECONDS {
        Some(format!("began only {gap:.4} s after the previous end"))
    } else {
        None
    }
}

fn write_line(lines: &mut String, hit: &Hit) {
    let end = if hit.end.is_finite() { format!("{:10.4} s", hit.end) } else { "  in flight ".to_string() };
    let _ = write!(
        lines,
        "  {:10.4} s to {end}  connection {:<3} {:3}  {} {}",
        hit.start, hit.connection, hit.status, hit.method, hit.path
    );
}
