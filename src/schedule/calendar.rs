//! When the cycles of a monitor begin, and how the cycles after a downtime make up for it.
//!
//! Starts stand on a grid: they are counted from a moment that is fixed once, never from the end of the cycle before, so
//! they don't drift however long cycles take. Two things must stay true: the next start is on the grid and not in the
//! past, and no cycle spends more than a quarter above its regular budget, however many cycles were missed. There is no
//! clock inside: `now` is always an argument, and so is the zone of a time of day. A grid of whole days at a time of day keeps
//! that time when the clocks of the zone change: then a day has 23 or 25 hours.

use std::time::Duration;

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The moments at which cycles begin: a grid without beginning or end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Calendar {
    every_ms: i64,
    /// One of the moments.
    anchor: Timestamp,
    /// The days of the starts, if they are at a time of day and whole days apart.
    days: Option<LocalDays>,
}

/// Days that are a fixed number apart, at a time of day in a zone.
#[derive(Clone, Debug, PartialEq)]
struct LocalDays {
    zone: TimeZone,
    /// The day of the anchor.
    first: Date,
    time: Time,
    /// From one start to the next.
    days: i64,
}

impl LocalDays {
    /// `None` if there is no such time of day.
    fn new(zone: &TimeZone, first: Date, (hour, minute): (u8, u8), days: i64) -> Option<Self> {
        let time = Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0).ok()?;
        Some(Self { zone: zone.clone(), first, time, days })
    }

    /// The day of a moment in the zone.
    fn day_of(&self, moment: Timestamp) -> Option<Date> {
        let moment = jiff::Timestamp::from_millisecond(moment.millis()).ok()?;
        Some(moment.to_zoned(self.zone.clone()).date())
    }

    /// The start of that number; a time that the zone leaves out on that day is as much later as it leaves out.
    fn start(&self, number: i128) -> Option<Timestamp> {
        let days = i64::try_from(number).ok()?.checked_mul(self.days)?;
        let day = self.first.checked_add(i32::try_from(days).ok()?.days()).ok()?;
        let at = DateTime::from_parts(day, self.time).to_zoned(self.zone.clone()).ok()?;
        Some(Timestamp::from_millis(at.timestamp().as_millisecond()))
    }

    /// The number of the latest start at or before `moment`.
    fn number_until(&self, moment: Timestamp) -> Option<i128> {
        let days = self.day_of(moment)?.since(self.first).ok()?.get_days();
        let near = i128::from(i64::from(days).div_euclid(self.days));
        // The start of that day may be later than the moment.
        (near - 1..=near + 1).rev().find(|number| self.start(*number).is_some_and(|start| start <= moment))
    }
}

impl Calendar {
    /// A start every `every` (a millisecond at the least), at `time_of_day` (hour and minute in `zone`) if one is given.
    ///
    /// `last_start` is when the last cycle began, if there was one: the grid goes on from it, so that a monitor that
    /// is restarted keeps its days. With a time of day, it goes on from the latest such time that was not after
    /// the cycle. Without a last start, the first one is the next such time of day; with neither, it is `now`.
    /// An `every` that neither divides a day nor is a number of whole days meets its time of day only now and then, and
    /// begins at it again whenever the calendar is made.
    pub(crate) fn new(
        every: Duration,
        time_of_day: Option<(u8, u8)>,
        zone: &TimeZone,
        last_start: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        let every_ms = i64::try_from(every.as_millis()).unwrap_or(i64::MAX).max(1);
        let Some((hour, minute)) = time_of_day else {
            return Self { every_ms, anchor: last_start.unwrap_or(now), days: None };
        };
        let minutes = i64::from(hour) * 60 + i64::from(minute);
        let (in_utc, epoch) = (Timestamp::from_seconds(minutes * 60), jiff::civil::date(1970, 1, 1));
        let every_day = LocalDays::new(zone, epoch, (hour, minute), 1);
        let daily = Self { every_ms: DAY_MS, anchor: in_utc, days: every_day };
        let anchor = last_start.map_or_else(|| daily.next(now), |last| daily.start(daily.number_until(last)));
        let days = daily.days.filter(|_| every_ms % DAY_MS == 0).and_then(|daily| {
            let first = daily.day_of(anchor)?;
            LocalDays::new(zone, first, (hour, minute), every_ms / DAY_MS)
        });
        Self { every_ms, anchor, days }
    }

    /// The first start at or after `now`.
    pub(crate) fn next(&self, now: Timestamp) -> Timestamp {
        self.start(self.number_before(now) + 1)
    }

    /// The latest start at or before `now`: the one that a cycle which begins late stands for.
    pub(crate) fn latest(&self, now: Timestamp) -> Timestamp {
        self.start(self.number_until(now))
    }

    /// How many starts after the last cycle's have passed before `now`; none if there was no cycle. A cycle belongs
    /// to the latest start that was not after it. A start at `now` itself is due, not missed: it is the
    /// start that the caller was waiting for.
    pub(crate) fn missed(&self, last_start: Option<Timestamp>, now: Timestamp) -> u64 {
        let missed = last_start.map_or(0, |last| self.number_before(now) - self.number_until(last));
        u64::try_from(missed.max(0)).unwrap_or(u64::MAX)
    }

    /// The start that is `number` after the anchor's, stopping at the ends of time.
    fn start(&self, number: i128) -> Timestamp {
        if let Some(start) = self.days.as_ref().and_then(|days| days.start(number)) {
            return start;
        }
        let millis = i128::from(self.anchor.millis()) + number * i128::from(self.every_ms);
        let end = if millis < 0 { i64::MIN } else { i64::MAX };
        Timestamp::from_millis(i64::try_from(millis).unwrap_or(end))
    }

    /// The number of the latest start at or before `moment`.
    fn number_until(&self, moment: Timestamp) -> i128 {
        if let Some(number) = self.days.as_ref().and_then(|days| days.number_until(moment)) {
            return number;
        }
        self.since_anchor_ms(moment).div_euclid(i128::from(self.every_ms))
    }

    /// The number of the latest start before `moment`.
    fn number_before(&self, moment: Timestamp) -> i128 {
        if self.days.is_some() && moment.millis() > i64::MIN {
            return self.number_until(Timestamp::from_millis(moment.millis() - 1));
        }
        (self.since_anchor_ms(moment) - 1).div_euclid(i128::from(self.every_ms))
    }

    fn since_anchor_ms(&self, moment: Timestamp) -> i128 {
        i128::from(moment.millis()) - i128::from(self.anchor.millis())
    }
}

/// Reads `02:00` as hour and minute. `None` if it is not a time of day.
pub fn parse_time_of_day(text: &str) -> Option<(u8, u8)> {
    let two_digits = |part: &str| -> Option<u8> {
        let all = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        if all { part.parse().ok() } else { None }
    };
    let (hour, minute) = text.split_once(':')?;
    let (hour, minute) = (two_digits(hour)?, two_digits(minute)?);
    (hour < 24 && minute < 60).then_some((hour, minute))
}

/// Cycles of one downtime that are made up for. Older ones would be made up for long after the downtime is forgotten.
pub(crate) const MOST_OWED_CYCLES: u64 = 7;

/// The most that a cycle makes up for, as a part of its regular budget: hosts should hardly notice.
const REGULAR_A_PAYMENT: u64 = 4;

/// Requests that missed cycles did not send. They are not sent at once, but a few with each cycle that follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Arrears {
    pub owed: u64,
}

impl Arrears {
    /// Takes note of a downtime: the budgets of the cycles it missed are owed, of [`MOST_OWED_CYCLES`] at the most.
    pub(crate) fn miss(&mut self, missed: u64, regular: u64) {
        let owed = missed.min(MOST_OWED_CYCLES).saturating_mul(regular);
        self.owed = self.owed.saturating_add(owed);
    }

    /// The budget of the next cycle: the regular one, and up to a quarter of it (rounded up) for requests that are owed.
    /// Those are owed no longer.
    pub(crate) fn take(&mut self, regular: u64) -> u64 {
        let payment = self.owed.min(regular.div_ceil(REGULAR_A_PAYMENT)).min(u64::MAX - regular);
        self.owed -= payment;
        regular + payment
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);
    const HOUR: Duration = Duration::from_secs(3600);
    const UTC: TimeZone = TimeZone::UTC;

    /// `2026-11-16T03:25:00Z`
    fn at(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn the_first_start_is_now_or_the_next_time_of_day() {
        let now = at("2026-11-16T03:25:00Z");
        assert_eq!(Calendar::new(DAY, None, &UTC, None, now).next(now), now);
        assert_eq!(Calendar::new(DAY, Some((2, 0)), &UTC, None, now).next(now), at("2026-11-17T02:00:00Z"));
        assert_eq!(Calendar::new(DAY, Some((3, 25)), &UTC, None, now).next(now), now);
        assert_eq!(
            Calendar::new(7 * DAY, Some((4, 0)), &UTC, None, now).next(now),
            at("2026-11-16T04:00:00Z")
        );
        assert_eq!(Calendar::new(HOUR, Some((2, 10)), &UTC, None, now).next(now), at("2026-11-16T04:10:00Z"));
    }

    #[test]
    fn a_monitor_started_anew_keeps_its_days_and_hours() {
        let (last, now) = (at("2026-11-16T02:00:03Z"), at("2026-11-20T12:00:00Z"));
        let weekly = Calendar::new(7 * DAY, Some((2, 0)), &UTC, Some(last), now);
        assert_eq!(weekly.next(now), at("2026-11-23T02:00:00Z"));
        let weekly = Calendar::new(7 * DAY, None, &UTC, Some(last), now);
        assert_eq!(weekly.next(now), at("2026-11-23T02:00:03Z"));
        let moved = Calendar::new(DAY, Some((1, 0)), &UTC, Some(last), now);
        assert_eq!(moved.next(now), at("2026-11-21T01:00:00Z"));
        let earlier = Calendar::new(7 * DAY, Some((22, 0)), &UTC, Some(last), now);
        assert_eq!(earlier.next(now), at("2026-11-22T22:00:00Z"));
    }

    #[test]
    fn starts_that_passed_while_nobody_was_there_are_missed() {
        let last = at("2026-11-16T02:00:03Z");
        let daily = Calendar::new(DAY, Some((2, 0)), &UTC, Some(last), last);
        let missed = |now: &str| daily.missed(Some(last), at(now));
        assert_eq!(missed("2026-11-16T02:00:03Z"), 0);
        assert_eq!(missed("2026-11-17T02:00:00Z"), 0, "due");
        assert_eq!(missed("2026-11-17T02:00:00.001Z"), 1);
        assert_eq!(missed("2026-11-20T02:00:00Z"), 3);
        assert_eq!(missed("2026-11-01T00:00:00Z"), 0, "the clock stepped back");
        assert_eq!(daily.missed(None, at("2026-11-20T02:00:00Z")), 0);
    }

    fn berlin() -> TimeZone {
        TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
    }

    #[test]
    fn a_time_of_day_stays_when_the_clocks_change() {
        // Clocks go forward on 2026-03-29 at 2:00 and back on 2026-10-25 at 3:00.
        let now = at("2026-03-27T12:00:00Z");
        let nightly = Calendar::new(DAY, Some((4, 0)), &berlin(), None, now);
        let mut starts = vec![nightly.next(now)];
        for _ in 0..3 {
            starts.push(nightly.next(starts.last().unwrap().plus(Duration::from_millis(1))));
        }
        let utc =
            ["2026-03-28T03:00:00Z", "2026-03-29T02:00:00Z", "2026-03-30T02:00:00Z", "2026-03-31T02:00:00Z"];
        assert_eq!(starts, utc.map(at), "always at 4:00");
        assert_eq!(nightly.missed(Some(starts[0]), starts[3]), 2);
        assert_eq!(nightly.missed(Some(starts[0]), starts[3].plus(Duration::from_millis(1))), 3);
        let winter = at("2026-11-01T00:00:00Z");
        assert_eq!(nightly.next(winter), at("2026-11-01T03:00:00Z"));
        let weekly = Calendar::new(7 * DAY, Some((4, 0)), &berlin(), Some(starts[0]), winter);
        assert_eq!(weekly.next(winter), at("2026-11-07T03:00:00Z"), "a Saturday, as the first was");
    }

    #[test]
    fn a_time_that_a_day_leaves_out_is_an_hour_later() {
        let now = at("2026-03-28T12:00:00Z");
        let nightly = Calendar::new(DAY, Some((2, 30)), &berlin(), None, now);
        assert_eq!(nightly.next(now), at("2026-03-29T01:30:00Z"), "3:30 in summer time");
        assert_eq!(nightly.next(at("2026-03-29T12:00:00Z")), at("2026-03-30T00:30:00Z"));
        // A time that comes twice counts once, the first time.
        let twice = at("2026-10-24T12:00:00Z");
        assert_eq!(nightly.next(twice), at("2026-10-25T00:30:00Z"));
        assert_eq!(nightly.next(at("2026-10-25T00:30:00.001Z")), at("2026-10-26T01:30:00Z"));
    }

    #[test]
    fn hourly_cycles_begin_at_the_local_minute() {
        let half = TimeZone::posix("IST-5:30").unwrap();
        let now = at("2026-11-16T03:25:00Z");
        let hourly = Calendar::new(HOUR, Some((2, 0)), &half, None, now);
        assert_eq!(hourly.next(now), at("2026-11-16T03:30:00Z"), "9:00 there");
    }

    #[test]
    fn absurd_times_are_no_error() {
        let (first, last) = (Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX));
        for every in [Duration::ZERO, DAY, Duration::MAX] {
            for (start, now) in [(first, last), (last, first), (first, first), (last, last)] {
                let calendar = Calendar::new(every, Some((255, 255)), &UTC, Some(start), now);
                assert!(calendar.next(now) >= now);
                let _ = calendar.missed(Some(start), now);
            }
        }
        let hasty = Calendar::new(Duration::ZERO, None, &UTC, None, first);
        assert_eq!(hasty.missed(Some(first), last), u64::MAX - 1);
    }

    #[test]
    fn times_of_day() {
        assert_eq!(parse_time_of_day("02:00"), Some((2, 0)));
        assert_eq!(parse_time_of_day("23:59"), Some((23, 59)));
        for bad in ["", "2:00", "02", "02:0", "24:00", "12:60", "+2:00", "02:00:00", " 02:00", "é:00", "02:é"]
        {
            assert_eq!(parse_time_of_day(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_weekend_down_is_paid_off_by_quarters() {
        let mut arrears = Arrears::default();
        assert_eq!(arrears.take(10), 10);
        arrears.miss(2, 10);
        assert_eq!(arrears.owed, 20);
        let budgets: Vec<u64> = (0..8).map(|_| arrears.take(10)).collect();
        assert_eq!(budgets, [13, 13, 13, 13, 13, 13, 12, 10], "6 · 3 + 2 = 20");
        arrears.miss(365, 10);
        assert_eq!(arrears.owed, 70);
    }

    #[test]
    fn arrears_are_kept_as_a_number() {
        let arrears = Arrears { owed: 70 };
        assert_eq!(serde_json::to_string(&arrears).unwrap(), "70");
        assert_eq!(serde_json::from_str::<Arrears>("70").unwrap(), arrears);
    }

    fn times() -> impl Strategy<Value = Timestamp> {
        (-10_000_000_000_000_i64..10_000_000_000_000).prop_map(Timestamp::from_millis)
    }

    prop_compose! {
        fn calendars()(
            every_ms in prop_oneof![1_u64..5000, 1_u64..1_000_000_000, (1_u64..60).prop_map(|days| days * 86_400_000)],
            time_of_day in prop::option::of((0_u8..24, 0_u8..60)),
            last_start in prop::option::of(times()),
            now in times(),
        ) -> (Calendar, Duration, Option<(u8, u8)>) {
            let every = Duration::from_millis(every_ms);
            (Calendar::new(every, time_of_day, &UTC, last_start, now), every, time_of_day)
        }
    }

    proptest! {
        #[test]
        fn the_next_start_is_the_first_of_the_grid((calendar, every, time_of_day) in calendars(), now in times()) {
            let next = calendar.next(now);
            let every_ms = every.as_millis() as i64;
            prop_assert!(next >= now);
            prop_assert!(next.after(now) < every);
            prop_assert_eq!((next.millis() - calendar.anchor.millis()).rem_euclid(every_ms), 0);
            prop_assert_eq!(calendar.next(next), next);
            prop_assert_eq!(calendar.next(next.plus(Duration::from_millis(1))), next.plus(every));
            if let Some((hour, minute)) = time_of_day && every_ms % DAY_MS == 0 {
                let minutes = i64::from(hour) * 60 + i64::from(minute);
                prop_assert_eq!(next.millis().rem_euclid(DAY_MS), minutes * 60_000);
            }
        }

        #[test]
        fn days_have_their_time_in_any_zone(
            days in 1_i64..40, time_of_day in (0_u8..24, 0_u8..60), now in times(), later in times(),
            last in prop::option::of(times()),
        ) {
            let every = Duration::from_secs(86_400) * days as u32;
            let calendar = Calendar::new(every, Some(time_of_day), &berlin(), last, now);
            let next = calendar.next(later);
            prop_assert!(next >= later);
            prop_assert!(next.after(later) <= every + HOUR);
            prop_assert_eq!(calendar.next(next), next);
            prop_assert_eq!(calendar.latest(next), next);
            let after = calendar.next(next.plus(Duration::from_millis(1)));
            prop_assert!(after >= next.plus(every - HOUR) && after <= next.plus(every + HOUR));
            prop_assert_eq!(calendar.missed(Some(next), after), 0);
            let local = jiff::Timestamp::from_millisecond(next.millis()).unwrap().to_zoned(berlin());
            prop_assert!((local.hour(), local.minute()) == (time_of_day.0 as i8, time_of_day.1 as i8)
                || time_of_day.0 == 2, "only 2:00 to 3:00 is ever left out: {local}");
        }

        #[test]
        fn every_start_in_between_is_missed(
            (calendar, every, _) in calendars(), now in times(), cycles in 0_u32..20, late in 0.0..1.0_f64,
        ) {
            let start = calendar.next(now);
            let last = Some(start.plus(every.mul_f64(late * 0.999)));
            let later = start.plus(every * cycles);
            prop_assert_eq!(calendar.missed(last, later), u64::from(cycles).saturating_sub(1));
            prop_assert_eq!(calendar.missed(last, later.plus(Duration::from_millis(1))), u64::from(cycles));
        }

        #[test]
        fn a_restart_changes_nothing(
            days in 1_u32..30, time_of_day in (0_u8..24, 0_u8..60), now in times(), later in times(),
        ) {
            let calendar = Calendar::new(days * DAY, Some(time_of_day), &UTC, None, now);
            let last = calendar.next(now);
            let again = Calendar::new(days * DAY, Some(time_of_day), &UTC, Some(last), later);
            prop_assert_eq!(again.next(later), calendar.next(later));
        }

        #[test]
        fn a_budget_is_bounded_and_all_that_is_owed_is_paid(
            regular in 1_u64..100_000, downtimes in prop::collection::vec((0_u64..30, 0_usize..10), 0..8),
        ) {
            let mut arrears = Arrears::default();
            let (mut owed, mut paid) = (0, 0);
            let mut cycle = |arrears: &mut Arrears| {
                let budget = arrears.take(regular);
                paid += budget - regular;
                (regular..=regular + regular / 4 + 1).contains(&budget)
            };
            for (missed, cycles) in downtimes {
                arrears.miss(missed, regular);
                owed += missed.min(MOST_OWED_CYCLES) * regular;
                for _ in 0..cycles {
                    prop_assert!(cycle(&mut arrears));
                }
            }
            // A cycle that was missed is paid off by four.
            for _ in 0..8 * 7 * 4 {
                prop_assert!(cycle(&mut arrears));
            }
            prop_assert_eq!((arrears.owed, paid), (0, owed));
        }

        #[test]
        fn no_budget_overflows(owed: u64, regular: u64, missed: u64) {
            let mut arrears = Arrears { owed };
            arrears.miss(missed, regular);
            prop_assert!(arrears.take(regular) >= regular);
        }
    }
}
