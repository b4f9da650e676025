//! The state of a page from its whole log, by the same fold as live.

use super::compare::{VersionHashes, both_have_words, text_differs};
use super::{EventKind, Folded, Lesson, Observation};
use crate::change::VersionId;
use crate::change::divergence::Divergence;
use crate::time::Timestamp;

/// All that a page's log adds up to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refolded {
    /// The state of the page.
    pub folded: Folded,
    /// The lessons of its visits, in their order.
    pub lessons: Vec<Lesson>,
    /// The event that each visit made, in their order.
    pub events: Vec<Option<EventKind>>,
}

/// Folds a page's log again.
///
/// `log` holds all of its observations in the order in which they were recorded. `hashes` gives those of a version that
/// the log names; `divergence` measures the first version from the second. What was learnt uses the divergences that
/// were measured then and are in the log, whatever is measured now.
///
/// The log tells which base versions were kept after a visit: those that the next one was measured from. `pinned` are those
/// that must stay after the last visit; the log does not tell them yet.
pub fn refold<E>(
    log: &[Observation],
    most_profiles: usize,
    pinned: &[Timestamp],
    hashes: impl Fn(VersionId) -> Result<VersionHashes, E>,
    mut divergence: impl FnMut(VersionId, VersionId) -> Result<Divergence, E>,
) -> Result<Refolded, E> {
    let Refolded { mut folded, mut lessons, mut events } = Refolded::default();
    for (place, fact) in log.iter().enumerate() {
        let held =
            folded.version.filter(|_| fact.found.is_some_and(|found| found.text_rules == folded.text_rules));
        let same_text = match (fact.found, held) {
            (Some(found), Some(held)) => {
                let have_words = both_have_words(found.has_words, folded.has_words);
                !text_differs(&hashes(found.version)?, &hashes(held)?, have_words)
            }
            _ => false,
        };
        lessons.extend(fact.lesson(folded.seen_at));
        events.push(EventKind::of(&folded, fact));
        let found = fact.found.map(|found| found.version);
        folded.measure(fact, same_text, |base| match found {
            Some(found) => divergence(found, base),
            None => Ok(Divergence::NONE),
        })?;
        let later = log.get(place + 1..).filter(|_| found.is_some()).unwrap_or_default();
        let kept = later.iter().find(|fact| fact.found.is_some());
        let kept = kept.map(|next| next.bases.iter().map(|from| from.base.at).collect::<Vec<_>>());
        folded.take(fact, most_profiles, kept.as_deref().unwrap_or(pinned));
    }
    Ok(Refolded { folded, lessons, events })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use super::super::{Found, observation};
    use super::*;
    use crate::fetch::visit::Outcome;

    fn at(day: u64) -> Timestamp {
        Timestamp::from_seconds(1_000_000).plus(Duration::from_secs(86_400 * day))
    }

    /// Even versions share a text.
    fn hashes(version: VersionId) -> Result<VersionHashes, Infallible> {
        let body = version.0.unsigned_abs().into();
        Ok(VersionHashes { version, body, text: body % 2, has_text: true })
    }

    #[test]
    fn a_log_folds_to_what_it_was_live() {
        folds_as_live(&[]);
        // A policy wants the base of the third visit until the last.
        folds_as_live(&[at(2)]);
    }

    fn folds_as_live(pinned: &[Timestamp]) {
        let measure = |_: VersionId, _: VersionId| Ok(Divergence::new(0.25).unwrap());
        let (mut live, mut log) = (Folded::default(), Vec::new());
        for (day, version) in [2, 4, 5, 5, 6, 8, 8, 10].into_iter().enumerate() {
            let found = Found { version: VersionId(version), text_rules: 0, has_words: true };
            let changed = live.version.map(|held| held.0 % 2 != version % 2);
            let mut fact =
                Observation { found: Some(found), changed, ..observation(at(day as u64), Outcome::Fetched) };
            let same = changed == Some(false);
            fact.bases = live.measure(&fact, same, |base| measure(VersionId(version), base)).unwrap();
            live.take(&fact, 3, pinned);
            log.push(fact);
            log.push(observation(at(day as u64), Outcome::ServerError));
            live.take(&log[log.len() - 1], 3, pinned);
        }
        let Refolded { folded, lessons, events } = refold(&log, 3, pinned, hashes, measure).unwrap();
        assert_eq!(folded, live);
        let is_kept = |at: &Timestamp| folded.profiles.iter().any(|profile| profile.base.at == *at);
        assert!(pinned.iter().all(is_kept), "{:?}", folded.profiles);
        assert_eq!(lessons, super::super::lessons(&log));
        assert_eq!(events, super::super::event::events(&log).0);
        assert_eq!(lessons.iter().filter(|lesson| lesson.changed).count(), 2);
    }
}
