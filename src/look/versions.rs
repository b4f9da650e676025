//! The versions of a page in order of time: what a slider moves over.

use serde::Serialize;

use crate::page::Normaliser;
use crate::store::{Store, VersionId, VisitRow};
use crate::time::Timestamp;

use super::LookError;
use super::page::VisitedPage;

/// A version of a page, for as long as visits in a row found it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VersionSpan {
    /// Its place among the versions of the page, from 1. It stays the same when later ones come.
    pub number: usize,
    /// Its number in the store. A page that changed back has the same one twice.
    pub version_id: i64,
    /// The visit that found it first.
    pub found_at: Timestamp,
    /// The last visit in a row that found it.
    pub confirmed_at: Timestamp,
    /// Visits in a row that found it.
    #[serde(rename = "visit_count")]
    pub visits: u64,
    /// How far it is from the version before; `None` where there are no words to compare.
    pub divergence: Option<f64>,
    /// Bytes of the body that came with it.
    pub body_bytes: u64,
    /// Is its content stored? There may have been no room for it.
    pub is_stored: bool,
}

/// The versions of the page of that URL, in order of time.
pub fn versions_of(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    url: &str,
) -> Result<Vec<VersionSpan>, LookError> {
    Ok(versions(&VisitedPage::load(store, normaliser, url)?))
}

/// The versions that visits found where the page lived then, in order of time.
pub(super) fn versions(page: &VisitedPage) -> Vec<VersionSpan> {
    of_visits(&page.found_where_it_lived(|_| true))
}

fn of_visits(visits: &[&VisitRow]) -> Vec<VersionSpan> {
    let mut held: Vec<VersionSpan> = Vec::new();
    for visit in visits {
        let Some(VersionId(version)) = visit.version else { continue };
        match held.last_mut().filter(|last| last.version_id == version) {
            Some(last) => {
                last.confirmed_at = visit.at;
                last.visits += 1;
            }
            None => held.push(VersionSpan {
                number: held.len() + 1,
                version_id: version,
                found_at: visit.at,
                confirmed_at: visit.at,
                visits: 1,
                divergence: visit.divergence,
                body_bytes: visit.bytes,
                is_stored: visit.is_stored,
            }),
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::history::tests::visit;

    #[test]
    fn visits_in_a_row_that_find_the_same_are_one_version() {
        let visits =
            [visit(1, Some(7)), visit(2, Some(7)), visit(3, None), visit(4, Some(8)), visit(5, Some(7))];
        let held = of_visits(&visits.iter().collect::<Vec<_>>());
        let told: Vec<_> = held
            .iter()
            .map(|one| {
                (one.number, one.version_id, one.found_at.millis() / 1000, one.confirmed_at.millis() / 1000)
            })
            .collect();
        assert_eq!(told, [(1, 7, 1, 2), (2, 8, 4, 4), (3, 7, 5, 5)]);
        assert_eq!(held.iter().map(|one| one.visits).collect::<Vec<_>>(), [2, 1, 1]);
    }
}
