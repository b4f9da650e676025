//! Change profiles: (time, divergence) pairs since a base version (Olston & Pandey 2008, §4.1).
//!
//! Each refresh of a page extends every profile that is kept of it by a point, and starts a new one whose base is
//! what the refresh found; the oldest is dropped, unless the policy pins it. Divergence is always measured from the base version, never from the
//! one before. What must stay true: the same visits give the same profiles, to the bit, live and on a rebuild.

use super::VersionId;
use super::divergence::Divergence;
use crate::time::Timestamp;
use crate::varint::{push, push_signed, take, take_signed};

/// A profile is not dropped before it has this many points: fewer don't show a curve. With five profiles or more that
/// is always so; with one, starting over at each refresh would never hold two points (the paper leaves it open).
const POINTS_TO_SEE_A_CURVE: usize = 4;

/// The version that divergences are measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseVersion {
    /// When the version became the base.
    pub at: Timestamp,
    /// The content itself.
    pub version: VersionId,
}

/// The finding of a later visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfilePoint {
    /// When the visit was made.
    pub at: Timestamp,
    /// From the base version; kept to 1/65535.
    pub divergence: Divergence,
}

/// How far a visit found a page to be from a base version.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The version that was compared.
    pub base: BaseVersion,
    /// How far the page is from it now.
    pub divergence: Divergence,
}

/// How a page moved away from one of its versions.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeProfile {
    /// The version that all points are measured from.
    pub base: BaseVersion,
    /// In the order of the visits.
    pub points: Vec<ProfilePoint>,
}

/// The profiles kept of a page, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profiles(Vec<ChangeProfile>);

impl Profiles {
    /// The profiles, the oldest base first.
    pub fn iter(&self) -> impl Iterator<Item = &ChangeProfile> {
        self.0.iter()
    }

    /// Base versions that are kept.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// A page that was never read has no base version.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Measures what a visit found from each base there is, oldest first, and extends every profile by that point.
    ///
    /// `same_text`: the text is the one that the visit before found, so every divergence is what it was.
    /// `divergence_from` measures from a version; it is asked only where the answer is not known already.
    pub fn extend<E>(
        &mut self,
        found: BaseVersion,
        same_text: bool,
        mut divergence_from: impl FnMut(VersionId) -> Result<Divergence, E>,
    ) -> Result<Vec<Measured>, E> {
        let mut measured = Vec::with_capacity(self.0.len());
        for profile in &self.0 {
            let divergence = if same_text {
                profile.points.last().map_or(Divergence::NONE, |point| point.divergence)
            } else if profile.base.version == found.version {
                Divergence::NONE
            } else {
                rounded(divergence_from(profile.base.version)?)
            };
            measured.push(Measured { base: profile.base, divergence });
        }
        for (profile, Measured { divergence, .. }) in self.0.iter_mut().zip(&measured) {
            profile.points.push(ProfilePoint { at: found.at, divergence: *divergence });
        }
        Ok(measured)
    }

    /// Starts a profile from what a visit found, after [`Profiles::extend`]. At most `most` profiles are kept.
    ///
    /// `pinned` are the times of bases that must stay: what was found now may be one of them. The oldest of the others is
    /// dropped. Where none of them is there, the oldest of all is dropped.
    pub fn start(&mut self, found: BaseVersion, most: usize, pinned: &[Timestamp]) {
        let is_pinned = |profile: &ChangeProfile| pinned.contains(&profile.base.at);
        if pinned.contains(&found.at) || self.0.iter().any(is_pinned) {
            self.0.push(ChangeProfile { base: found, points: Vec::new() });
            while self.0.len() > most {
                let oldest = self.0.iter().position(|profile| !is_pinned(profile)).unwrap_or(0);
                self.0.remove(oldest);
            }
            return;
        }
        while self.0.len() > most {
            self.0.remove(0);
        }
        if self.0.len() == most
            && self.0.first().is_some_and(|oldest| oldest.points.len() > POINTS_TO_SEE_A_CURVE)
        {
            self.0.remove(0);
        }
        if self.0.len() < most {
            self.0.push(ChangeProfile { base: found, points: Vec::new() });
        }
    }

    /// Takes over what the visit at `at` measured from bases of these times, oldest first. Profiles of other bases are
    /// dropped. So who sees only the measurements of visits has the profiles too, without the names of versions.
    pub(crate) fn follow(&mut self, at: Timestamp, measured: &[(Timestamp, Divergence)]) {
        let mut before = std::mem::take(&mut self.0);
        for (base, divergence) in measured {
            let of_base = before.iter().position(|profile| profile.base.at == *base);
            let mut profile = match of_base {
                Some(place) => before.swap_remove(place),
                None => {
                    let base = BaseVersion { at: *base, version: VersionId(0) };
                    ChangeProfile { base, points: Vec::new() }
                }
            };
            profile.points.push(ProfilePoint { at, divergence: rounded(*divergence) });
            self.0.push(profile);
        }
    }

    /// Takes over what the visit at `at` measured from the copy, which was taken at `base`, where it was compared with no other
    /// version: a profile of one point. The newest `most` profiles are kept.
    pub(crate) fn follow_copy(
        &mut self,
        at: Timestamp,
        base: Timestamp,
        divergence: Divergence,
        most: usize,
    ) {
        let base = BaseVersion { at: base, version: VersionId(0) };
        let points = vec![ProfilePoint { at, divergence: rounded(divergence) }];
        self.0.push(ChangeProfile { base, points });
        while self.0.len() > most {
            self.0.remove(0);
        }
    }

    /// The compact form that is stored: numbers as varints, times as differences, divergences in two bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16 + 48 * self.0.len());
        let mut last = 0;
        for ChangeProfile { base, points } in &self.0 {
            push_signed(&mut bytes, base.at.millis().wrapping_sub(last));
            push_signed(&mut bytes, base.version.0);
            push(&mut bytes, points.len() as u64);
            let mut at = base.at.millis();
            for point in points {
                push_signed(&mut bytes, point.at.millis().wrapping_sub(at));
                bytes.extend_from_slice(&steps(point.divergence).to_le_bytes());
                at = point.at.millis();
            }
            last = base.at.millis();
        }
        bytes
    }

    /// Undoes [`Profiles::to_bytes`]; `None` if that is not what wrote it.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut profiles = Vec::new();
        let mut last: i64 = 0;
        while !rest.is_empty() {
            let base_at = last.wrapping_add(take_signed(&mut rest)?);
            let version = VersionId(take_signed(&mut rest)?);
            let mut points = Vec::new();
            let mut at = base_at;
            for _ in 0..take(&mut rest)? {
                at = at.wrapping_add(take_signed(&mut rest)?);
                let divergence = take_divergence(&mut rest)?;
                points.push(ProfilePoint { at: Timestamp::from_millis(at), divergence });
            }
            let base = BaseVersion { at: Timestamp::from_millis(base_at), version };
            profiles.push(ChangeProfile { base, points });
            last = base_at;
        }
        Some(Self(profiles))
    }
}

impl Measured {
    /// The compact form of what a visit at `at` measured.
    pub fn to_bytes(measured: &[Measured], at: Timestamp) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(12 * measured.len());
        for Measured { base, divergence } in measured {
            push_signed(&mut bytes, at.millis().wrapping_sub(base.at.millis()));
            push_signed(&mut bytes, base.version.0);
            bytes.extend_from_slice(&steps(*divergence).to_le_bytes());
        }
        bytes
    }

    /// Undoes [`Measured::to_bytes`]; `None` if that is not what wrote it.
    pub(crate) fn from_bytes(bytes: &[u8], at: Timestamp) -> Option<Vec<Measured>> {
        let mut rest = bytes;
        let mut measured = Vec::new();
        while !rest.is_empty() {
            let base_at = Timestamp::from_millis(at.millis().wrapping_sub(take_signed(&mut rest)?));
            let base = BaseVersion { at: base_at, version: VersionId(take_signed(&mut rest)?) };
            measured.push(Measured { base, divergence: take_divergence(&mut rest)? });
        }
        Some(measured)
    }
}

/// Steps in which a divergence is kept.
const STEPS: f64 = u16::MAX as f64;

fn steps(divergence: Divergence) -> u16 {
    (divergence.get() * STEPS).round() as u16
}

fn of_steps(steps: u16) -> Divergence {
    Divergence::new(f64::from(steps) / STEPS).unwrap_or(Divergence::WHOLE)
}

fn take_divergence(rest: &mut &[u8]) -> Option<Divergence> {
    let (two, more) = rest.split_first_chunk::<2>()?;
    *rest = more;
    Some(of_steps(u16::from_le_bytes(*two)))
}

/// As it will be read back: what is folded live and what is folded from the store must not differ.
fn rounded(divergence: Divergence) -> Divergence {
    of_steps(steps(divergence))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 86_400_000;

    fn found(day: i64, version: i64) -> BaseVersion {
        BaseVersion { at: Timestamp::from_millis(day * DAY), version: VersionId(version) }
    }

    /// Versions one apart are 0.1 apart.
    fn visit(profiles: &mut Profiles, day: i64, version: i64, same: bool, most: usize) -> Vec<f64> {
        let from = |base: VersionId| {
            let apart = (version - base.0).unsigned_abs() as f64 / 10.0;
            Ok::<_, Infallible>(Divergence::new(apart).unwrap_or(Divergence::WHOLE))
        };
        let Ok(measured) = profiles.extend(found(day, version), same, from);
        profiles.start(found(day, version), most, &[]);
        measured.iter().map(|found| (found.divergence.get() * 1000.0).round() / 1000.0).collect()
    }

    #[test]
    fn each_refresh_starts_a_profile_and_extends_the_others() {
        let mut profiles = Profiles::default();
        assert_eq!(visit(&mut profiles, 0, 1, false, 3), [0.0; 0]);
        assert_eq!(visit(&mut profiles, 1, 2, false, 3), [0.1]);
        assert_eq!(visit(&mut profiles, 2, 2, true, 3), [0.1, 0.0], "unchanged: as far away as it was");
        assert_eq!(visit(&mut profiles, 3, 1, false, 3), [0.0, 0.1, 0.1], "back to where it was");
        assert_eq!(profiles.len(), 3, "the oldest is kept until it shows a curve");
        assert_eq!(visit(&mut profiles, 4, 4, false, 3), [0.3, 0.2, 0.2]);
        assert_eq!(visit(&mut profiles, 5, 4, true, 3), [0.3, 0.2, 0.2]);
        let bases: Vec<i64> = profiles.iter().map(|profile| profile.base.at.millis() / DAY).collect();
        assert_eq!(bases, [1, 2, 5]);
    }

    #[test]
    fn with_five_profiles_the_oldest_falls_at_each_refresh() {
        let mut profiles = Profiles::default();
        for day in 0..20 {
            visit(&mut profiles, day, day, false, 5);
        }
        let points: Vec<usize> = profiles.iter().map(|profile| profile.points.len()).collect();
        assert_eq!(points, [4, 3, 2, 1, 0]);
    }

    #[test]
    fn a_single_profile_lives_until_it_has_four_points() {
        let mut profiles = Profiles::default();
        let mut points = Vec::new();
        for day in 0..10 {
            visit(&mut profiles, day, day, false, 1);
            assert_eq!(profiles.len(), 1);
            points.extend(profiles.iter().map(|profile| profile.points.len()));
        }
        assert_eq!(points, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn fewer_profiles_may_be_kept_than_there_are() {
        let mut profiles = Profiles::default();
        (0..5).for_each(|day| drop(visit(&mut profiles, day, day, false, 5)));
        visit(&mut profiles, 5, 5, false, 2);
        assert!(profiles.len() <= 2);
    }

    #[test]
    fn a_pinned_base_stays_and_another_one_falls() {
        let (mut profiles, mut kept) = (Profiles::default(), Vec::new());
        let at = |day: i64| found(day, day).at;
        // Pinned is the base of day 1, and from day 6 on what is found then.
        for (day, pinned) in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 6), (7, 6), (8, 6)] {
            let Ok(_) = profiles.extend(found(day, day), false, |_| Ok::<_, Infallible>(Divergence::NONE));
            profiles.start(found(day, day), 3, &[at(pinned)]);
            kept.push(profiles.iter().map(|profile| profile.base.at.millis() / DAY).collect::<Vec<_>>());
        }
        assert_eq!(
            kept[2..],
            [
                vec![0, 1, 2],
                vec![1, 2, 3],
                vec![1, 3, 4],
                vec![1, 4, 5],
                vec![4, 5, 6],
                vec![5, 6, 7],
                vec![6, 7, 8]
            ]
        );
        // With one profile the pinned one alone is kept, and what is found takes its place when it is pinned.
        profiles.start(found(9, 9), 1, &[at(6)]);
        assert_eq!(profiles.iter().map(|profile| profile.base).collect::<Vec<_>>(), [found(6, 6)]);
        profiles.start(found(10, 10), 1, &[at(10)]);
        assert_eq!(profiles.iter().map(|profile| profile.base).collect::<Vec<_>>(), [found(10, 10)]);
    }

    #[test]
    fn the_measurements_of_visits_tell_the_profiles() {
        let (mut profiles, mut told) = (Profiles::default(), Profiles::default());
        for day in 0..12 {
            let from =
                |base: VersionId| Ok::<_, Infallible>(Divergence::new(0.05 * (day - base.0) as f64).unwrap());
            let Ok(measured) = profiles.extend(found(day, day), false, from);
            let bases: Vec<_> = measured.iter().map(|from| (from.base.at, from.divergence)).collect();
            told.follow(found(day, day).at, &bases);
            for (one, other) in told.iter().zip(profiles.iter()) {
                assert_eq!((one.base.at, &one.points), (other.base.at, &other.points), "day {day}");
            }
            assert_eq!(told.len(), profiles.len(), "day {day}");
            profiles.start(found(day, day), 4, &[found(2, 2).at]);
        }
    }

    #[test]
    fn a_profile_of_a_page_visited_daily_takes_few_bytes() {
        let mut profiles = Profiles::default();
        (20_000..20_005).for_each(|day| drop(visit(&mut profiles, day, 1_000_000 + day, false, 1)));
        assert!(profiles.to_bytes().len() <= 39, "{}", profiles.to_bytes().len());
    }

    proptest! {
        #[test]
        fn what_is_stored_comes_back(
            visits in prop::collection::vec((any::<i64>(), any::<i64>(), any::<bool>(), 0.0..=1.0f64), 0..12),
            most in 1usize..6,
        ) {
            let mut profiles = Profiles::default();
            for (at, version, same, divergence) in visits {
                let base = BaseVersion { at: Timestamp::from_millis(at), version: VersionId(version) };
                let from = |_| Ok::<_, Infallible>(Divergence::new(divergence).unwrap_or(Divergence::WHOLE));
                let Ok(measured) = profiles.extend(base, same, from);
                profiles.start(base, most, &[]);
                let bytes = Measured::to_bytes(&measured, base.at);
                prop_assert_eq!(Measured::from_bytes(&bytes, base.at), Some(measured));
                prop_assert!(profiles.len() <= most);
                prop_assert_eq!(Profiles::from_bytes(&profiles.to_bytes()), Some(profiles.clone()));
            }
        }

        #[test]
        fn junk_is_no_profile_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Measured::from_bytes(&bytes, Timestamp::default());
            if let Some(profiles) = Profiles::from_bytes(&bytes) {
                prop_assert!(profiles.iter().all(|profile| profile.points.iter().all(|p| p.divergence.get() <= 1.0)));
            }
        }
    }
}
