//! The change profiles of a page as a policy follows them: from the divergences that visits measured (Olston & Pandey 2008, §4.1).
//!
//! `longevity-curve` and `longevity-bound` keep these in their memory of a page. They are the store's own profiles, without the names
//! of versions: a base version is known by its time.

use std::time::Duration;

use super::Lesson;
use crate::change::divergence::Divergence;
use crate::change::profile::{ChangeProfile, Profiles};
use crate::time::{Age, Timestamp};

/// Extends the profiles by what a visit measured. Profiles whose base version is not kept any more are dropped.
///
/// Without base versions the copy serves as one. That makes profiles of one point, of which the newest `most_of_copies` are kept.
pub(super) fn follow(profiles: &mut Profiles, lesson: &Lesson, most_of_copies: usize) {
    let measured: Vec<(Timestamp, Divergence)> = lesson
        .bases
        .iter()
        .filter_map(|apart| Some((before(lesson.at, apart.age), divergence(apart.divergence)?)))
        .collect();
    if measured.is_empty() {
        let moved = divergence(lesson.moved()).unwrap_or(Divergence::NONE);
        profiles.follow_copy(lesson.at, before(lesson.at, lesson.interval), moved, most_of_copies);
    } else {
        profiles.follow(lesson.at, &measured);
    }
}

/// The points of a profile: days since the base version, and the divergence from it.
pub(super) fn points(profile: &ChangeProfile) -> Vec<(f64, f64)> {
    let days = |at: Timestamp| at.since(profile.base.at).days();
    profile.points.iter().map(|point| (days(point.at), point.divergence.get())).collect()
}

/// The time that long before. Both are exact to the millisecond, so a base version has the same time at every visit.
fn before(at: Timestamp, age: Age) -> Timestamp {
    let millis = (age.seconds() * 1000.0).round();
    at.minus(Duration::from_millis(millis as u64))
}

/// `None` for what is no number.
fn divergence(value: f64) -> Option<Divergence> {
    Divergence::new(value.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Apart;

    const DAY: i64 = 86_400;

    fn lesson(day: i64, bases: &[(i64, f64)]) -> Lesson {
        let apart = |(base, divergence): &(i64, f64)| Apart {
            age: Age::from_days((day - base) as f64),
            divergence: *divergence,
        };
        let bases = bases.iter().map(apart).collect();
        let at = Timestamp::from_seconds(DAY * day);
        Lesson { bases, ..Lesson::of_bit(at, Age::from_days(1.0), true) }
    }

    fn shown(profiles: &Profiles) -> Vec<Vec<(f64, f64)>> {
        let near = |number: f64| (number * 100.0).round() / 100.0;
        let rounded = |(days, apart): (f64, f64)| (days, near(apart));
        profiles.iter().map(|profile| points(profile).into_iter().map(rounded).collect()).collect()
    }

    #[test]
    fn the_current_profiles_follow_from_the_measurements() {
        let mut profiles = Profiles::default();
        follow(&mut profiles, &lesson(11, &[(10, 0.1)]), 5);
        follow(&mut profiles, &lesson(13, &[(10, 0.2), (11, 0.15)]), 5);
        // The base of day 10 is not kept any more.
        follow(&mut profiles, &lesson(14, &[(11, 0.25), (13, 0.12)]), 5);
        assert_eq!(shown(&profiles), [vec![(2.0, 0.15), (3.0, 0.25)], vec![(1.0, 0.12)]]);
    }

    #[test]
    fn without_base_versions_the_copy_is_one() {
        let mut profiles = Profiles::default();
        for day in 1..9 {
            follow(&mut profiles, &lesson(day, &[]), 3);
        }
        assert_eq!(shown(&profiles), vec![vec![(1.0, 1.0)]; 3]);
        follow(&mut profiles, &lesson(9, &[(8, f64::NAN)]), 1);
        assert_eq!(profiles.len(), 1, "what is no number is no measurement");
    }
}
