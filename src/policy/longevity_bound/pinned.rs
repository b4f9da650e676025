//! The memory of `longevity-bound`: the period of a page, its change profiles, and which of them is pinned.

use crate::change::profile::{ChangeProfile, Profiles};
use crate::longevity::bound::{BoundRule, PeriodStep, Profile};
use crate::policy::{Lesson, followed_profiles};
use crate::time::Timestamp;
use crate::varint::{push_float, push_signed, take_float, take_signed};

/// The period of a page, and the change profiles that it follows from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pinned {
    /// Days from one visit to the next.
    pub period: f64,
    /// t_R of the paper, the reference time: the base of the profile that is pinned.
    pub reference: Timestamp,
    profiles: Profiles,
}

impl Pinned {
    /// A page whose first copy was taken at `reference`, and which then waited for `days`.
    pub(super) fn starting(reference: Timestamp, days: f64) -> Self {
        Self { period: days, reference, profiles: Profiles::default() }
    }

    /// Adds the measurements of a visit. If the pinned base version is not kept any more, the oldest that is takes its place. (A
    /// store keeps it, unless the rules for texts or the number of profiles were changed.)
    pub(super) fn extend(&mut self, lesson: &Lesson) {
        followed_profiles::follow(&mut self.profiles, lesson, 1);
        if !self.profiles.iter().any(|profile| self.is_pinned(profile)) {
            self.reference = self.profiles.iter().next().map_or(lesson.at, |profile| profile.base.at);
        }
    }

    /// Takes the step of the policy after a visit (Olston & Pandey 2008, §4.3), and says which it was.
    pub(super) fn step(&mut self, rule: &BoundRule, at: Timestamp) -> Option<PeriodStep> {
        let pinned = self.profiles.iter().find(|profile| self.is_pinned(profile));
        let pinned = pinned.map(followed_profiles::points)?;
        let others = self.profiles.iter().filter(|profile| !self.is_pinned(profile));
        let others: Vec<Vec<(f64, f64)>> = others.map(followed_profiles::points).collect();
        let others: Vec<Profile<'_>> = others.iter().map(Vec::as_slice).collect();
        let step = rule.step(&pinned, &others, self.period);
        self.period = step.period;
        if step.restarts {
            self.reference = at;
        }
        Some(step)
    }

    fn is_pinned(&self, profile: &ChangeProfile) -> bool {
        profile.base.at == self.reference
    }

    /// Appends the bytes of the memory; the period comes first.
    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        push_float(bytes, self.period);
        push_signed(bytes, self.reference.millis());
        bytes.extend(self.profiles.to_bytes());
    }

    /// Reads what [`Self::push_bytes`] wrote, up to the end.
    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let (period, reference) = (take_float(rest)?, take_reference(rest)?);
        let profiles = Profiles::from_bytes(std::mem::take(rest))?;
        Some(Self { period, reference, profiles })
    }
}

/// Reads the period and the reference time.
pub(super) fn take_period_and_reference(rest: &mut &[u8]) -> Option<(f64, Timestamp)> {
    Some((take_float(rest)?, take_reference(rest)?))
}

fn take_reference(rest: &mut &[u8]) -> Option<Timestamp> {
    take_signed(rest).map(Timestamp::from_millis)
}
