//! Real time ↔ the web's own days.

use std::time::Duration;

use crate::time::Timestamp;

/// When day 0 began, and how long a day lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// When day 0 began.
    pub start: Timestamp,
    /// How long a day of the web lasts.
    pub day: Duration,
}

impl Clock {
    /// The day at a moment.
    pub(crate) fn day_at(&self, now: Timestamp) -> f64 {
        self.day_at_seconds(now.millis() as f64 / 1000.0)
    }

    /// The day at a moment in seconds since 1970.
    pub(crate) fn day_at_seconds(&self, seconds: f64) -> f64 {
        (seconds - self.start.millis() as f64 / 1000.0) / self.day.as_secs_f64()
    }

    /// A day in seconds since 1970.
    pub fn seconds_at(&self, day: f64) -> f64 {
        self.start.millis() as f64 / 1000.0 + day * self.day.as_secs_f64()
    }

    /// A day as a date of RFC 3339, to the millisecond: a day of the web may be short.
    pub(crate) fn date_at(&self, day: f64) -> String {
        let millis = (self.seconds_at(day) * 1000.0).floor().max(0.0) as i64;
        match jiff::Timestamp::from_millisecond(millis) {
            Ok(date) => date.to_string(),
            Err(_) => self.second_at(day).to_string(),
        }
    }

    /// The second in which a day falls; none is before 1970, where HTTP has no dates.
    pub(crate) fn second_at(&self, day: f64) -> Timestamp {
        Timestamp::from_seconds(self.seconds_at(day).floor().max(0.0) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let clock = Clock { start: Timestamp::from_seconds(1000), day: Duration::from_secs(10) };
        assert_eq!(clock.day_at(Timestamp::from_millis(1_025_000)), 2.5);
        assert_eq!(clock.seconds_at(2.5), 1025.0);
        assert_eq!(clock.second_at(2.59), Timestamp::from_seconds(1025));
        assert_eq!(clock.date_at(2.525), "1970-01-01T00:17:05.25Z");
        assert_eq!(clock.second_at(-1e9), Timestamp::from_seconds(0));
    }
}
