//! Points in time and spans of it, in UTC; people read them in a zone that is an argument.
//!
//! There is no clock inside the library's thinking half: `now` is always an argument, so that the live crawl and a
//! replay can call the same code. Only the edges (`main`, the fetcher, the crawl loop) call [`Timestamp::now`].

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;

/// A moment, in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// How long ago something was, in seconds; never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Age(f64);

const SECONDS_A_DAY: f64 = 86_400.0;
const DAY_MS: u64 = 86_400_000;

impl Timestamp {
    /// The system's clock. A clock before 1970 reads as 1970.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// Milliseconds since 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Seconds since 1970.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// The time passed since `earlier`; zero when the clock stepped backwards.
    pub fn since(self, earlier: Timestamp) -> Age {
        Age((self.0.saturating_sub(earlier.0)).max(0) as f64 / 1000.0)
    }

    /// How long until `self`, seen from `now`; zero when it has passed.
    pub fn after(self, now: Timestamp) -> Duration {
        Duration::from_millis(self.0.saturating_sub(now.0).max(0) as u64)
    }

    /// As people read it in their zone: `2026-11-16 04:45:14 CET`.
    pub fn in_zone(self, zone: &TimeZone) -> String {
        self.formatted(zone, "%Y-%m-%d %H:%M:%S %Z")
    }

    /// The time of day in a zone, `04:45`, where `now` is less than a day away; else the date too.
    pub fn near(self, now: Timestamp, zone: &TimeZone) -> String {
        let is_near = self.0.abs_diff(now.0) < DAY_MS;
        self.formatted(zone, if is_near { "%H:%M" } else { "%Y-%m-%d %H:%M" })
    }

    fn formatted(self, zone: &TimeZone, format: &str) -> String {
        match jiff::Timestamp::from_second(self.0.div_euclid(1000)) {
            Ok(time) => time.to_zoned(zone.clone()).strftime(format).to_string(),
            Err(_) => self.to_string(),
        }
    }

    /// This moment and `span` more, stopping at the end of time.
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// This moment and `span` less, stopping at the beginning of time.
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Age {
    /// Two visits can't be nearer, as far as rates go: a change seen in no time at all would make a rate infinite.
    pub(crate) const SHORTEST_DAYS: f64 = 1e-12;

    /// A negative number and not-a-number become zero.
    pub fn from_days(days: f64) -> Self {
        Self(if days > 0.0 { days * SECONDS_A_DAY } else { 0.0 })
    }

    /// The age that [`Age::seconds`] gave. A negative number and not-a-number become zero.
    pub fn from_seconds(seconds: f64) -> Self {
        Self(if seconds > 0.0 { seconds } else { 0.0 })
    }

    /// In seconds.
    pub const fn seconds(self) -> f64 {
        self.0
    }

    /// In days of 86 400 seconds.
    pub fn days(self) -> f64 {
        self.0 / SECONDS_A_DAY
    }
}

impl fmt::Display for Timestamp {
    /// `2026-11-16T03:25:14Z`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.0.div_euclid(1000)) {
            Ok(time) => write!(f, "{time}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl utoipa::PartialSchema for Timestamp {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
        let time = ObjectBuilder::new().schema_type(Type::String);
        time.format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))).into()
    }
}

impl utoipa::ToSchema for Timestamp {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_steps_back_makes_no_negative_age() {
        let (early, late) = (Timestamp::from_seconds(10), Timestamp::from_seconds(25));
        assert_eq!(late.since(early).seconds(), 15.0);
        assert_eq!(early.since(late).seconds(), 0.0);
        assert_eq!(late.after(early), Duration::from_secs(15));
        assert_eq!(early.after(late), Duration::ZERO);
    }

    #[test]
    fn people_read_times_in_their_zone() {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let winter = Timestamp::from_seconds(1_794_800_714);
        assert_eq!(winter.in_zone(&berlin), "2026-11-16 04:45:14 CET");
        assert_eq!(winter.in_zone(&TimeZone::UTC), "2026-11-16 03:45:14 UTC");
        let summer = winter.minus(Duration::from_secs(120 * 86_400));
        assert_eq!(summer.in_zone(&berlin), "2026-07-19 05:45:14 CEST");
        assert_eq!(winter.near(winter.plus(Duration::from_secs(3600)), &berlin), "04:45");
        assert_eq!(winter.near(summer, &berlin), "2026-11-16 04:45");
        assert_eq!(Timestamp::from_millis(i64::MAX).in_zone(&berlin), "9223372036854775807 ms");
    }

    #[test]
    fn times_are_written_as_utc() {
        assert_eq!(Timestamp::from_seconds(1_794_800_714).to_string(), "2026-11-16T03:45:14Z");
        assert_eq!(Timestamp::from_millis(i64::MAX).plus(Duration::from_secs(1)).millis(), i64::MAX);
    }
}
