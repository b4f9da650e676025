//! When the pages of a site change: their changes by hour of the week.
//!
//! A change is found at a visit, and came at some moment since the visit before. So each change is spread evenly over that time, as far as
//! it is known: the schedule of our own visits does not show. A time of more than a week says nothing of the hour, and is left out.

use jiff::tz::TimeZone;
use serde::Serialize;

use crate::store::PageEvent;
use crate::time::Timestamp;

/// Days of a week, Monday first, and hours of a day.
pub const DAYS: usize = 7;
/// Hours of a day.
pub const HOURS: usize = 24;
const HOURS_OF_WEEK: i64 = 168;
const HOUR_MS: i64 = 3_600_000;
const WEEK_MS: i64 = HOURS_OF_WEEK * HOUR_MS;
/// 1970-01-01 was a Thursday.
const FIRST_DAY: i64 = 3;

/// The changes of a site by hour of the week.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct WeekHours {
    /// Changes by weekday, Monday first, and by hour of the day. They add up to `changes`.
    pub cells: [[f64; HOURS]; DAYS],
    /// Changes that were counted.
    #[serde(rename = "change_count")]
    pub changes: u64,
    /// Changes that were left out: the visit before was more than a week earlier, or there was none.
    pub without_hour: u64,
    /// The earliest change that was looked at.
    pub since: Option<Timestamp>,
}

impl WeekHours {
    /// The changes among these events, in the hours of a zone.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a PageEvent>, zone: &TimeZone) -> Self {
        let mut found = Self { cells: [[0.0; HOURS]; DAYS], changes: 0, without_hour: 0, since: None };
        for event in events {
            found.since = Some(found.since.map_or(event.at, |since| since.min(event.at)));
            let since =
                event.previous_at.map(|before| (before, event.at.millis().saturating_sub(before.millis())));
            match since {
                Some((before, apart)) if (0..=WEEK_MS).contains(&apart) => {
                    found.spread(before, event.at, zone)
                }
                _ => found.without_hour += 1,
            }
        }
        found
    }

    /// Adds one change, spread over the time from `before` to `at`.
    fn spread(&mut self, before: Timestamp, at: Timestamp, zone: &TimeZone) {
        self.changes += 1;
        let offset = offset_ms(at, zone);
        // At least a millisecond, so that two visits at one moment have an hour.
        let to = at.millis().saturating_add(offset);
        let from = before.millis().saturating_add(offset).min(to.saturating_sub(1));
        let all = to.saturating_sub(from) as f64;
        let mut start = from;
        while start < to {
            let hour = start.div_euclid(HOUR_MS);
            let end = hour.saturating_add(1).saturating_mul(HOUR_MS).min(to);
            let of_week = (hour + 24 * FIRST_DAY).rem_euclid(HOURS_OF_WEEK) as usize;
            let cell = self.cells.get_mut(of_week / HOURS).and_then(|day| day.get_mut(of_week % HOURS));
            if let Some(cell) = cell {
                *cell += (end - start) as f64 / all;
            }
            start = end.max(start.saturating_add(1));
        }
    }

    /// The largest cell.
    pub fn most(&self) -> f64 {
        self.cells.iter().flatten().fold(0.0, |most, cell| most.max(*cell))
    }
}

/// The difference of the zone's clock from UTC at that moment. One for the whole time since the visit before: an hour is wrong where the
/// clocks were changed within it.
fn offset_ms(at: Timestamp, zone: &TimeZone) -> i64 {
    let moment = jiff::Timestamp::from_millisecond(at.millis());
    moment.map_or(0, |moment| i64::from(zone.to_offset(moment).seconds()) * 1000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::observation::EventKind;

    fn event(previous: Option<i64>, at: i64) -> PageEvent {
        PageEvent {
            kind: EventKind::Changed,
            page_id: 1,
            url: String::new(),
            title: None,
            at: Timestamp::from_millis(at),
            previous_at: previous.map(Timestamp::from_millis),
            cycle_id: 1,
            outcome: String::new(),
            reason: None,
            status: None,
            redirect_to: None,
            changed: Some(true),
            divergence: None,
            version_id: None,
            previous_version_id: None,
            returned_to_version_id: None,
            body_bytes: 0,
            observation_id: 1,
            is_title_known: false,
        }
    }

    /// Monday 2026-11-16, 00:00 UTC.
    const MONDAY: i64 = 1_794_787_200_000;

    #[test]
    fn a_change_is_spread_over_the_hours_since_the_visit_before() {
        let half_past_eight = MONDAY + 8 * HOUR_MS + HOUR_MS / 2;
        let found =
            WeekHours::of([&event(Some(half_past_eight), half_past_eight + 2 * HOUR_MS)], &TimeZone::UTC);
        assert_eq!(found.cells[0][8..12], [0.25, 0.5, 0.25, 0.0]);
        assert_eq!((found.changes, found.without_hour, found.most()), (1, 0, 0.5));
        let tokyo = TimeZone::posix("JST-9").unwrap();
        let found = WeekHours::of([&event(Some(MONDAY + 20 * HOUR_MS), MONDAY + 21 * HOUR_MS)], &tokyo);
        assert_eq!(found.cells[1][5], 1.0, "Tuesday, 5 in the morning");
        assert_eq!(found.since, Some(Timestamp::from_millis(MONDAY + 21 * HOUR_MS)));
    }

    #[test]
    fn what_is_not_known_to_the_week_has_no_hour() {
        let found =
            WeekHours::of([&event(None, MONDAY), &event(Some(MONDAY - WEEK_MS - 1), MONDAY)], &TimeZone::UTC);
        assert_eq!((found.changes, found.without_hour, found.most()), (0, 2, 0.0));
        let found = WeekHours::of([&event(Some(MONDAY - WEEK_MS), MONDAY)], &TimeZone::UTC);
        assert!(found.cells.iter().flatten().all(|cell| (cell - 1.0 / 168.0).abs() < 1e-9));
    }

    proptest! {
        #[test]
        fn the_cells_add_up_to_the_changes(times in proptest::collection::vec((any::<i64>(), -10..700_000_000_i64), 0..20)) {
            let events: Vec<PageEvent> =
                times.iter().map(|(at, apart)| event(Some(at.saturating_sub(*apart)), *at)).collect();
            let found = WeekHours::of(&events, &TimeZone::UTC);
            let sum: f64 = found.cells.iter().flatten().sum();
            prop_assert!((sum - found.changes as f64).abs() < 1e-6, "{sum} {found:?}");
            prop_assert_eq!(found.changes + found.without_hour, events.len() as u64);
        }
    }
}
