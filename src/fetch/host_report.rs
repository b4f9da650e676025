//! The state of a host that is worth keeping between runs: its pause, its wait, its robots.txt.

use std::time::Duration;

use bytes::Bytes;

use super::visit::Waiting;
use crate::page::Host;
use crate::time::Timestamp;

/// The state of a host that outlives a run.
#[derive(Clone, Debug)]
pub struct HostReport {
    /// The host that this is about.
    pub host: Host,
    /// The pause now kept between the end of one request and the start of the next.
    pub delay: Duration,
    /// No request before this moment, and why.
    pub wait: Option<(Timestamp, Waiting)>,
    /// The event behind that wait, in words: `connection refused`.
    pub reason: Option<String>,
    /// Failures in a row.
    pub failures: u32,
    /// Times in a row that it was given up for a cycle.
    pub rests: u32,
    /// The robots.txt last read, when this report brings a new one.
    pub robots: Option<RobotsRecord>,
    /// How the last request for robots.txt failed; `None` if it was answered.
    pub robots_fault: Option<RobotsFault>,
}

/// How a request for robots.txt failed. Nothing on the host may be asked for until one succeeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsFault {
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The cause in words.
    pub reason: String,
}

impl RobotsFault {
    /// A fault without an answer.
    pub(crate) fn of(reason: impl Into<String>) -> Self {
        Self { status: None, reason: reason.into() }
    }
}

/// When robots.txt was read, and how that ended; the file itself is a [`RobotsRecord`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotsStatus {
    /// When it was read.
    pub at: Timestamp,
    /// HTTP status, or 0 when there was no answer.
    pub status: u16,
}

/// A robots.txt as it was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsRecord {
    /// When it was read.
    pub at: Timestamp,
    /// HTTP status, or 0 when there was no answer.
    pub status: u16,
    /// The file, as long as it counts.
    pub body: Bytes,
}

impl RobotsRecord {
    /// All but the file.
    #[cfg(test)]
    pub(crate) fn answered(&self) -> RobotsStatus {
        RobotsStatus { at: self.at, status: self.status }
    }
}
