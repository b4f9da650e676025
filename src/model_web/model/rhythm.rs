//! The week's rhythm: model time ↔ operational time, in which events come at an even pace.
//!
//! With a rhythm, the first five days of each week are busy and the other two are not, and the hours from 8 to 20 are
//! busier than the night. Over a whole week as many events come as without one: a rate stays a rate.

use serde::{Deserialize, Serialize};

/// How fast events come, by the hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rhythm {
    /// The same at every hour.
    #[default]
    Even,
    /// By day and week.
    Weekly,
}

const DAYS_PER_WEEK: f64 = 7.0;
/// Where the busy hours begin and end, in days: 8 and 20 o'clock.
const MORNING: f64 = 8.0 / 24.0;
const EVENING: f64 = 20.0 / 24.0;
/// Of a day's events, this many come between morning and evening.
const BY_DAY: f64 = 0.8;
/// Events of a working day and of a day off, in days' worth: 5 × 1.2 + 2 × 0.5 = 7.
const WORKING_DAY: f64 = 1.2;
const DAY_OFF: f64 = 0.5;
const WORKING_DAYS: f64 = 5.0;

impl Rhythm {
    /// The operational time at `day`.
    pub(crate) fn warp(self, day: f64) -> f64 {
        if self == Rhythm::Even {
            return day;
        }
        let week = (day / DAYS_PER_WEEK).floor();
        let within = day - week * DAYS_PER_WEEK;
        let whole = within.floor();
        let hour = within - whole;
        let by_hour = if hour < MORNING {
            hour / MORNING * night()
        } else if hour < EVENING {
            night() + (hour - MORNING) / (EVENING - MORNING) * BY_DAY
        } else {
            night() + BY_DAY + (hour - EVENING) / (1.0 - EVENING) * (1.0 - BY_DAY - night())
        };
        week * DAYS_PER_WEEK + until(whole) + worth(whole) * by_hour
    }

    /// The day at an operational time: the inverse of [`Rhythm::warp`].
    pub(crate) fn unwarp(self, time: f64) -> f64 {
        if self == Rhythm::Even {
            return time;
        }
        let week = (time / DAYS_PER_WEEK).floor();
        let within = time - week * DAYS_PER_WEEK;
        let working = WORKING_DAYS * WORKING_DAY;
        let whole = if within < working {
            (within / WORKING_DAY).floor()
        } else {
            WORKING_DAYS + ((within - working) / DAY_OFF).floor()
        };
        let share = (within - until(whole)) / worth(whole);
        let hour = if share < night() {
            share / night() * MORNING
        } else if share < night() + BY_DAY {
            MORNING + (share - night()) / BY_DAY * (EVENING - MORNING)
        } else {
            EVENING + (share - night() - BY_DAY) / (1.0 - BY_DAY - night()) * (1.0 - EVENING)
        };
        week * DAYS_PER_WEEK + whole + hour
    }
}

/// The share of a day's events before the morning: the night's even pace, 8 of its 12 hours.
fn night() -> f64 {
    (1.0 - BY_DAY) * MORNING / (1.0 - (EVENING - MORNING))
}

fn worth(day_of_week: f64) -> f64 {
    if day_of_week < WORKING_DAYS { WORKING_DAY } else { DAY_OFF }
}

fn until(day_of_week: f64) -> f64 {
    day_of_week.min(WORKING_DAYS) * WORKING_DAY + (day_of_week - WORKING_DAYS).max(0.0) * DAY_OFF
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_is_a_week_and_the_way_back_is_the_way() {
        assert_eq!(Rhythm::Weekly.warp(14.0), 14.0);
        assert_eq!(Rhythm::Weekly.warp(-7.0), -7.0);
        let mut before = f64::MIN;
        for step in -2000..2000 {
            let day = f64::from(step) * 0.0173;
            let warped = Rhythm::Weekly.warp(day);
            assert!(warped > before, "time runs forwards at {day}");
            assert!((Rhythm::Weekly.unwarp(warped) - day).abs() < 1e-9, "{day}");
            assert_eq!(Rhythm::Even.unwarp(Rhythm::Even.warp(day)), day);
            before = warped;
        }
    }

    #[test]
    fn days_are_busier_than_nights_and_working_days_than_days_off() {
        let events = |from: f64, to: f64| Rhythm::Weekly.warp(to) - Rhythm::Weekly.warp(from);
        assert!((events(0.0, 1.0) - 1.2).abs() < 1e-12);
        assert!((events(6.0, 7.0) - 0.5).abs() < 1e-12);
        assert!((events(8.0 / 24.0, 20.0 / 24.0) - 0.96).abs() < 1e-12);
    }
}
