//! Spans and moments as people type them, on the command line and in the addresses of the dashboard.

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::time::Timestamp;

/// Units of time; `ms` comes before `s`, which is its ending.
const UNITS: [(&str, f64); 6] =
    [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0), ("w", 604_800.0)];
/// Longest span: a thousand years.
const LONGEST_SECONDS: f64 = 1000.0 * 365.25 * 86_400.0;

/// How a moment is written, for those who wrote it in another way.
pub const MOMENT_FORMS: &str = "write a date (2026-11-16), a date with a time (2026-11-16T08:00, or 2026-11-16T08:00Z for UTC), or how long ago (30m, 12h, 7d, 2w)";

/// `500ms`, `10s`, `5m`, `1h`, `1d`, `2w`; `None` if it is not of this form.
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) =
        UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)))?;
    let seconds = number.trim().parse::<f64>().ok()? * unit;
    (0.0..=LONGEST_SECONDS).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

/// A date or a date with a time, in the zone of the person unless it says otherwise, or how long ago; `None` if it is none of these.
pub fn moment(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let ago = duration(text).map(|ago| now.millis().saturating_sub(ago.as_millis() as i64));
    let exact = || text.parse::<jiff::Timestamp>().ok().map(|at| at.as_millisecond());
    let civil = || {
        let at = text.parse::<jiff::civil::DateTime>().ok()?;
        Some(at.to_zoned(zone.clone()).ok()?.timestamp().as_millisecond())
    };
    ago.or_else(exact).or_else(civil).map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_unit() {
        let read = |text| duration(text).map(|span| span.as_millis());
        assert_eq!(read("500ms"), Some(500));
        assert_eq!(read("10s"), Some(10_000));
        assert_eq!(read("1.5m"), Some(90_000));
        assert_eq!(read("2d"), Some(2 * 86_400_000));
        assert_eq!(read("1w"), Some(7 * 86_400_000));
        for wrong in ["", "10", "s", "-3s", "nans", "infs", "1e90d", "10 weeks", "ü"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn moments_are_dates_or_how_long_ago() {
        let now = Timestamp::from_seconds(1_800_000_000);
        let read_in =
            |zone: &jiff::tz::TimeZone, text: &str| moment(text, now, zone).map(|at| at.millis() / 1000);
        let read = |text: &str| read_in(&jiff::tz::TimeZone::UTC, text);
        let tokyo = jiff::tz::TimeZone::posix("JST-9").unwrap();
        assert_eq!(read_in(&tokyo, "2027-01-15T17:00"), Some(1_800_000_000), "local time");
        assert_eq!(read_in(&tokyo, "2027-01-15T08:00:00Z"), Some(1_800_000_000));
        assert_eq!(read("1h"), Some(1_800_000_000 - 3600));
        assert_eq!(read("2027-01-15"), Some(1_799_971_200));
        assert_eq!(read("2027-01-15T08:00"), Some(1_800_000_000));
        assert_eq!(read("2027-01-15T08:00:00Z"), Some(1_800_000_000));
        assert_eq!(read("2027-01-15T10:00:00+02:00"), Some(1_800_000_000));
        for wrong in ["", "yesterday", "2027-13-01", "1", "99999-01-01"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
