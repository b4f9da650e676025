//! How far a visit finds a page to have moved, measured by the functions of the live crawl.

use std::convert::Infallible;

use super::ReplayTerms;
use super::truth::Truth;
use crate::change::VersionId;
use crate::change::divergence::Divergence;
use crate::change::profile::{BaseVersion, Profiles};
use crate::policy::{Apart, Lesson};
use crate::time::Timestamp;

/// Divergences of the text that a visit found: from the copy, and from the base versions.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredVisit {
    pub divergence: f64,
    pub bases: Vec<Apart>,
    /// The text that was found has no fragments.
    pub is_empty: bool,
}

impl MeasuredVisit {
    /// Measures a page at `cycle`, whose copy was taken at `last`, from its base versions. For a first copy both are the same.
    /// [`start_profile`] has to follow.
    pub(crate) fn of(
        truth: &Truth,
        terms: &ReplayTerms,
        profiles: &mut Profiles,
        page: u32,
        last: u32,
        cycle: u32,
    ) -> Self {
        let sketch = terms.measuring.sketch;
        let (held, live) = (truth.text(page, last), truth.text(page, cycle));
        let found = found_version(truth, terms, page, cycle);
        let from = |base: VersionId| truth.measured(page, base.0 as u32, live, sketch);
        let held = (cycle > last).then(|| VersionId(i64::from(held)));
        let is_empty = truth.is_empty(page, live);
        Self { is_empty, ..Self::extended(profiles, found, held, from) }
    }

    /// Measures the version `found` against the one held, if there is one, extends the profiles and starts one.
    pub(crate) fn measured(
        profiles: &mut Profiles,
        found: BaseVersion,
        held: Option<VersionId>,
        most: usize,
        from: impl Fn(VersionId) -> Divergence,
    ) -> Self {
        let measured = Self::extended(profiles, found, held, from);
        profiles.start(found, most, &[]);
        measured
    }

    fn extended(
        profiles: &mut Profiles,
        found: BaseVersion,
        held: Option<VersionId>,
        from: impl Fn(VersionId) -> Divergence,
    ) -> Self {
        let same = held == Some(found.version);
        let Ok(measured) = profiles.extend(found, same, |base| Ok::<_, Infallible>(from(base)));
        let bases = measured.iter().map(|from| Apart::of(from, found.at)).collect();
        let divergence = held.filter(|_| !same).map_or(0.0, |held| from(held).get());
        Self { divergence, bases, is_empty: false }
    }

    /// Adds the divergences to a lesson.
    pub(crate) fn tell(&self, lesson: &mut Lesson) {
        lesson.divergence = Some(self.divergence);
        lesson.bases.clone_from(&self.bases);
        lesson.is_empty = self.is_empty;
    }
}

/// Starts a profile from what the visit of a page at `cycle` found. A base version that is pinned stays.
pub(crate) fn start_profile(
    truth: &Truth,
    terms: &ReplayTerms,
    profiles: &mut Profiles,
    (page, cycle): (u32, u32),
    pinned: Option<Timestamp>,
) {
    let found = found_version(truth, terms, page, cycle);
    profiles.start(found, terms.measuring.profiles, pinned.as_slice());
}

fn found_version(truth: &Truth, terms: &ReplayTerms, page: u32, cycle: u32) -> BaseVersion {
    BaseVersion { at: terms.at(cycle), version: VersionId(i64::from(truth.text(page, cycle))) }
}
