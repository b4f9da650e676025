//! The state of a page after one more fact: the only place where facts become state.

use super::{Claim, Condition, CycleId, EventKind, Observation, Standing};
use crate::change::VersionId;
use crate::change::divergence::Divergence;
use crate::change::profile::{BaseVersion, Measured, Profiles};
use crate::fetch::visit::Outcome;
use crate::time::Timestamp;

/// All of a page's state that follows from its observations and the versions they left; a policy's memory follows from
/// the lessons and is kept beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    /// Its life, and when it may be visited again.
    pub standing: Standing,
    /// How the last visit ended, as [`Outcome::code`] says it.
    pub last_outcome: Option<String>,
    /// Visits that were made.
    pub visits: u64,
    /// Visits that found a change.
    pub changes: u64,
    /// The last visit, however it ended.
    pub last_visit_at: Option<Timestamp>,
    /// The last visit that brought or confirmed the stored version.
    pub seen_at: Option<Timestamp>,
    /// The cycle it was last visited in.
    pub last_cycle: Option<CycleId>,
    /// The stored version.
    pub version: Option<VersionId>,
    /// Which rules left the text of that version.
    pub text_rules: u64,
    /// Is that version something that has words? `None`: it is from before this was noted.
    pub has_words: Option<bool>,
    /// How the page moved away from its last versions.
    pub profiles: Profiles,
    /// The page that its last visits named in its place.
    pub claim: Option<Claim>,
    /// What its events said of it last.
    pub condition: Condition,
}

impl Folded {
    /// Says how far what an observation found is from each base version there is, oldest first. The profiles have these
    /// points from here on; [`Folded::take`] has to follow.
    ///
    /// `same_text`: the text found is the text that was stored. `divergence_from` measures what was found from another version.
    pub fn measure<E>(
        &mut self,
        fact: &Observation,
        same_text: bool,
        divergence_from: impl FnMut(VersionId) -> Result<Divergence, E>,
    ) -> Result<Vec<Measured>, E> {
        let Some(found) = fact.found else { return Ok(Vec::new()) };
        // Texts that different rules left can't be compared.
        if found.text_rules != self.text_rules || !found.has_words {
            self.profiles = Profiles::default();
        }
        if !found.has_words {
            return Ok(Vec::new());
        }
        let base = BaseVersion { at: fact.attempt.at, version: found.version };
        self.profiles.extend(base, same_text, divergence_from)
    }

    /// Takes in one more observation, after [`Folded::measure`].
    ///
    /// `most_profiles` change profiles are kept at the most. `pinned` are the times of base versions that must stay among them
    /// ([`Profiles::start`]).
    pub fn take(&mut self, fact: &Observation, most_profiles: usize, pinned: &[Timestamp]) {
        let at = fact.attempt.at;
        if let Some(found) = fact.found {
            if found.has_words {
                self.profiles.start(BaseVersion { at, version: found.version }, most_profiles, pinned);
            }
            self.seen_at = Some(at);
            self.text_rules = found.text_rules;
            self.has_words = Some(found.has_words);
        }
        self.take_life(fact);
    }

    /// The part of [`Folded::take`] that needs no content: how visits ended, which version they left and which page they
    /// named. Says which event this makes.
    pub fn take_life(&mut self, fact: &Observation) -> Option<EventKind> {
        let (outcome, at) = (&fact.attempt.outcome, fact.attempt.at);
        let event = EventKind::of(self, fact);
        self.condition = self.condition.after(event);
        self.version = fact.found.map(|found| found.version).or(self.version);
        self.claim = Claim::after(self.claim, fact, self.last_cycle != Some(fact.cycle));
        self.standing = self.standing.after(outcome, at);
        self.last_outcome = Some(outcome.code().to_owned());
        self.last_cycle = Some(fact.cycle);
        self.changes += u64::from(fact.changed == Some(true));
        // A page that we did not ask for was not visited.
        if !matches!(outcome, Outcome::Refused(_)) {
            self.visits += 1;
            self.last_visit_at = Some(at);
        }
        event
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use super::super::{Found, Life, observation};
    use super::*;
    use crate::fetch::visit::Refused;

    fn at(day: u64) -> Timestamp {
        Timestamp::from_seconds(1_000_000).plus(Duration::from_secs(86_400 * day))
    }

    /// Measures and takes in, with five profiles.
    fn take(page: &mut Folded, fact: &Observation) -> Vec<Measured> {
        let Ok(measured) = page.measure(fact, false, half);
        page.take(fact, 5, &[]);
        measured
    }

    fn half(_: VersionId) -> Result<Divergence, Infallible> {
        Ok(Divergence::new(0.5).unwrap())
    }

    fn fetched(day: u64, version: i64, changed: Option<bool>) -> Observation {
        let found = Found { version: VersionId(version), text_rules: 0, has_words: true };
        Observation { found: Some(found), changed, ..observation(at(day), Outcome::Fetched) }
    }

    #[test]
    fn visits_changes_and_what_is_held_are_counted() {
        let mut page = Folded::default();
        assert_eq!(take(&mut page, &fetched(0, 1, None)), []);
        let measured = take(&mut page, &fetched(1, 2, Some(true)));
        assert_eq!(measured.len(), 1);
        assert_eq!((measured[0].base.at, measured[0].base.version), (at(0), VersionId(1)));
        assert_eq!((page.visits, page.changes, page.version), (2, 1, Some(VersionId(2))));
        assert_eq!((page.seen_at, page.standing.life, page.profiles.len()), (Some(at(1)), Life::Alive, 2));
    }

    #[test]
    fn an_error_leaves_what_is_held() {
        let mut page = Folded::default();
        take(&mut page, &fetched(0, 1, None));
        take(&mut page, &observation(at(1), Outcome::ServerError));
        assert_eq!(
            (page.version, page.seen_at, page.last_visit_at),
            (Some(VersionId(1)), Some(at(0)), Some(at(1)))
        );
        assert_eq!((page.visits, page.last_outcome.as_deref()), (2, Some("server-error")));
    }

    #[test]
    fn what_we_did_not_ask_for_was_no_visit() {
        let mut page = Folded::default();
        take(&mut page, &observation(at(0), Outcome::Refused(Refused::Robots)));
        assert_eq!((page.visits, page.last_visit_at, page.standing.life), (0, None, Life::Blocked));
        assert_eq!(page.last_cycle, Some(CycleId(1)));
    }

    #[test]
    fn other_rules_begin_new_profiles() {
        let mut page = Folded::default();
        take(&mut page, &fetched(0, 1, None));
        let mut other = fetched(1, 2, None);
        other.found = other.found.map(|found| Found { text_rules: 9, ..found });
        assert_eq!(take(&mut page, &other), []);
        assert_eq!((page.profiles.len(), page.text_rules), (1, 9));
    }
}
