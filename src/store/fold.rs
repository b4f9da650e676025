//! What a page's observations amount to: folded one at a time, by the same function live and on a rebuild.

use super::{CycleId, VersionId};
use crate::change::divergence::Divergence;
use crate::change::profile::{BaseVersion, Measured, Profiles};
use crate::fetch::visit::Outcome;
use crate::observation::Standing;
use crate::page::{Depth, HostId};
use crate::policy::{Apart, Learnt, Lesson, Policy};
use crate::time::Timestamp;

/// All of a page's row that follows from its observations and the versions they left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    pub standing: Standing,
    pub last_outcome: Option<String>,
    pub visits: u64,
    pub changes: u64,
    pub last_visit_at: Option<Timestamp>,
    /// The last visit that brought or confirmed what is held.
    pub seen_at: Option<Timestamp>,
    pub last_cycle: Option<CycleId>,
    pub version: Option<VersionId>,
    /// Which rules left the text of that version.
    pub text_rules: u64,
    /// Is that version something that has words? `None`: it is from before this was noted.
    pub has_words: Option<bool>,
    pub profiles: Profiles,
    pub learnt: Learnt,
}

/// Whose observations are folded, and how.
#[derive(Clone, Copy)]
pub struct Folding<'a> {
    pub host: HostId,
    pub depth: Depth,
    /// Change profiles that are kept at the most.
    pub profiles: usize,
    /// What learns from them.
    pub policy: &'a dyn Policy,
}

/// One observation, as far as folding goes.
#[derive(Clone, Debug)]
pub struct Fact<'a> {
    pub cycle: CycleId,
    pub at: Timestamp,
    pub outcome: &'a Outcome,
    pub changed: Option<bool>,
    pub found: Option<Found>,
    pub told: Told,
    pub apart: FromBases<'a>,
    /// How far what was found is from what was held.
    pub divergence: Option<f64>,
}

/// How far what a visit found is from the base versions: as it is measured now, or as the log has it. What is learnt goes
/// by what was measured then, whatever is measured by now.
#[derive(Clone, Copy, Debug)]
pub enum FromBases<'a> {
    ToBeMeasured,
    Logged(&'a [Measured]),
}

/// What a visit was told besides the content, as far as it teaches anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// When the page says that it last changed.
    pub date: Option<Timestamp>,
    /// Entries of a feed since the visit before, if none can have been missed.
    pub events: Option<u32>,
    /// Pages that were found on it and that nobody knew.
    pub new_links: u32,
}

/// What a visit teaches: nothing unless it had something to compare with. A visit that failed in between leaves the
/// interval open, and adds nothing else.
pub fn lesson(
    seen_at: Option<Timestamp>,
    at: Timestamp,
    changed: Option<bool>,
    told: Told,
    divergence: Option<f64>,
    bases: &[Measured],
) -> Option<Lesson> {
    let (changed, Told { date, events, new_links }) = (changed?, told);
    let interval = at.since(seen_at?);
    let bases = bases.iter().map(|from| Apart::of(from, at)).collect();
    Some(Lesson { at, interval, changed, date, events, new_links, divergence, bases })
}

/// What a visit brought or confirmed.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub version: VersionId,
    pub text_rules: u64,
    /// Its text is that of the version held before.
    pub same_text: bool,
    /// It is something that has words, though it may hold none.
    pub has_words: bool,
}

impl Folded {
    /// Takes in one more observation, and says how far the page is from each base there was. `divergence_from`
    /// measures what was found from another version.
    pub fn take<E>(
        &mut self,
        fact: &Fact<'_>,
        folding: &Folding<'_>,
        divergence_from: impl FnMut(VersionId) -> Result<Divergence, E>,
    ) -> Result<Vec<Measured>, E> {
        let mut measured = Vec::new();
        if let Some(found) = fact.found {
            // Texts that other rules left can't be held against each other.
            if found.text_rules != self.text_rules || !found.has_words {
                self.profiles = Profiles::default();
            }
            if found.has_words {
                let base = BaseVersion { at: fact.at, version: found.version };
                measured = self.profiles.extend(base, found.same_text, folding.profiles, divergence_from)?;
            }
            let bases = match fact.apart {
                FromBases::ToBeMeasured => &measured,
                FromBases::Logged(logged) => logged,
            };
            let lesson = lesson(self.seen_at, fact.at, fact.changed, fact.told, fact.divergence, bases);
            if let Some(lesson) = lesson {
                self.learnt.take(&lesson, folding.host, folding.depth, folding.policy);
            }
            self.seen_at = Some(fact.at);
            self.version = Some(found.version);
            self.text_rules = found.text_rules;
            self.has_words = Some(found.has_words);
        }
        self.standing = self.standing.after(fact.outcome, fact.at);
        self.last_outcome = Some(fact.outcome.code().to_owned());
        self.last_cycle = Some(fact.cycle);
        self.changes += u64::from(fact.changed == Some(true));
        // What we did not ask for was no visit.
        if !matches!(fact.outcome, Outcome::Refused(_)) {
            self.visits += 1;
            self.last_visit_at = Some(fact.at);
        }
        Ok(measured)
    }
}
