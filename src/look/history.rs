//! The visits of a page, and how its text moved between them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::change::behaviour::{Behaviour, BehaviourShares};
use crate::change::lifetime::{FragmentLife, LifeCounts};
use crate::change::profile::Profiles;
use crate::change::snapshots::Snapshots;
use crate::fetch::reason;
use crate::page::{Normaliser, PageId};
use crate::store::{Spelling, Store, StoreError, VisitRow};
use crate::time::Timestamp;

use super::LookError;
use super::history_limits::{HistoryLimits, unread};
use super::page::{VisitedPage, content};
use super::reread::title;
use super::versions::{VersionSpan, versions};

/// All that is known of how a page moved.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct PageHistory {
    /// The page.
    pub url: String,
    /// The title of its last stored version.
    pub title: Option<String>,
    /// Where it is in its life.
    pub state: String,
    /// When it was found.
    pub found_at: Timestamp,
    /// The page it was found on; none for seeds and for pages that a sitemap named.
    pub found_on: Option<String>,
    /// Its other spellings.
    pub spellings: Vec<OtherSpelling>,
    /// Why its host waits, in words.
    pub host_reason: Option<String>,
    /// Visits there were, shown or not.
    pub visit_count: usize,
    /// Visits that found a version whose body and text are not stored: there was no room for them.
    pub without_room: usize,
    /// The latest visits, in order of time.
    pub visits: Vec<PageVisit>,
    /// Its change profiles.
    pub profiles: Vec<ShownProfile>,
    /// Words of a fragment.
    pub fragment_words: usize,
    /// Visits whose texts can be compared.
    pub snapshots: usize,
    /// The first of these.
    pub first_snapshot_at: Option<Timestamp>,
    /// The last of these.
    pub last_snapshot_at: Option<Timestamp>,
    /// How often the rules of what is noise changed, so that comparing started over.
    #[serde(rename = "rule_changes")]
    pub began_anew: usize,
    /// Snapshots whose text differs from the one before.
    pub updates: usize,
    /// Groups of fragments that came and went together.
    pub lifetimes: Vec<ShownLife>,
    /// Fragments by how much of their lives was seen.
    pub fragment_counts: LifeCounts,
    /// Mean lifetime of fragments that were seen to come and to go.
    pub longevity_seconds: Option<f64>,
    /// Updates a day.
    pub change_frequency_per_day: Option<f64>,
    /// Fragments by the number of updates until they were replaced.
    #[schema(value_type = BTreeMap<String, usize>)]
    pub survived: BTreeMap<usize, usize>,
    /// The number of updates that most fragments were replaced at.
    pub dominant_k: Option<usize>,
    /// How it behaves; `None` after one snapshot.
    pub behaviour: Option<Behaviour>,
    /// Shares of its fragments by behaviour.
    pub shares: Option<ShownShares>,
    /// Visits that found a change, shown or not.
    #[serde(skip)]
    pub change_count: usize,
    /// The first time that anything was known of it.
    #[serde(skip)]
    pub known_since: Timestamp,
    /// The lifetimes by snapshot, for those who draw them.
    #[serde(skip)]
    pub lives: Vec<FragmentLife>,
    /// The times of the snapshots.
    #[serde(skip)]
    pub times: Vec<Timestamp>,
    /// All its versions, in order of time.
    #[serde(skip)]
    pub versions: Vec<VersionSpan>,
    /// Snapshots before these whose texts were not read: there were too many.
    #[serde(skip)]
    pub unread_snapshots: usize,
}

/// Another spelling of the page.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct OtherSpelling {
    /// Its URL.
    pub url: String,
    /// It redirects to the page for good.
    pub moved: bool,
    /// When it was found to lead elsewhere, if the page was ever seen there.
    #[serde(rename = "left_at")]
    pub lived_there_until: Option<Timestamp>,
}

/// A visit.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct PageVisit {
    /// When the request was sent.
    pub at: Timestamp,
    /// The URL that was asked for.
    pub url: String,
    /// How it ended.
    pub outcome: String,
    /// Why it brought nothing, in words.
    pub reason: Option<String>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// Did the page change? `None`: nothing to compare with.
    #[serde(rename = "is_changed")]
    pub changed: Option<bool>,
    /// How far it was from the visit before.
    pub divergence: Option<f64>,
    /// How far it was from each base version.
    pub bases: Vec<BaseDistance>,
    /// An earlier version with the same text, if the page changed back to it.
    #[serde(rename = "returned_to_version_id")]
    pub returned_to: Option<i64>,
    /// The version that was stored after it.
    #[serde(rename = "version_id")]
    pub version: Option<i64>,
    /// Bytes of the body.
    #[serde(rename = "body_bytes")]
    pub bytes: u64,
    /// Milliseconds that it took.
    pub took_ms: u64,
    /// The validators that were sent.
    pub validator: Option<String>,
    /// Where the answer leads, whether that was followed or not.
    pub redirect_to: Option<String>,
    /// The result of the comparison.
    #[serde(skip)]
    pub found: VisitFound,
    /// The place of the URL among the other spellings, if it is one.
    #[serde(skip)]
    pub spelling: Option<usize>,
}

/// The result of a visit, compared with the visits before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitFound {
    /// Nothing to compare.
    Nothing,
    /// The first content.
    First,
    /// The same content.
    Same,
    /// Another content.
    Changed,
    /// An earlier content again.
    Returned,
    /// A content that can't be compared: the rules of what is noise changed.
    OtherRules,
}

/// How far a visit was from a base version.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct BaseDistance {
    /// When the base version was found.
    pub base_at: Timestamp,
    /// The base version.
    #[serde(rename = "base_version_id")]
    pub base_version: i64,
    /// 0 the same, 1 nothing in common.
    pub divergence: f64,
}

/// A change profile (Olston & Pandey 2008, §4.1).
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ShownProfile {
    /// When its base version was found.
    pub base_at: Timestamp,
    /// Its base version.
    #[serde(rename = "base_version_id")]
    pub base_version: i64,
    /// Divergence from it, by time.
    pub points: Vec<ShownPoint>,
}

/// A point of a change profile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ShownPoint {
    /// The visit.
    pub at: Timestamp,
    /// Seconds since the base version was found.
    pub age_seconds: f64,
    /// 0 the same, 1 nothing in common.
    pub divergence: f64,
}

/// A group of fragments that came and went together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ShownLife {
    /// The snapshot that they came with; `None`: they were there at first.
    pub born_at: Option<Timestamp>,
    /// The snapshot that they were gone at; `None`: they are still there.
    pub died_at: Option<Timestamp>,
    /// How many they are.
    pub fragments: usize,
}

/// Shares of a page's fragments by behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ShownShares {
    /// Those that stay.
    #[serde(rename = "static")]
    pub static_share: f64,
    /// Those that are replaced in place.
    pub churn: f64,
    /// Those that move on in lists.
    pub scroll: f64,
}

/// The history of a page, with its latest `most` visits. Every text that it had is read once.
pub fn history(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    url: &str,
    fragment_words: usize,
    most: usize,
) -> Result<PageHistory, LookError> {
    let limits = HistoryLimits { visits: most, snapshots: usize::MAX, bytes: u64::MAX };
    latest_history(store, normaliser, url, fragment_words, limits)
}

/// The same, with the lives of fragments over the latest visits that found a text: so it takes bounded time however often the page was
/// visited and however large it is.
pub fn latest_history(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    url: &str,
    fragment_words: usize,
    limits: HistoryLimits,
) -> Result<PageHistory, LookError> {
    let visited = VisitedPage::load(store, normaliser, url)?;
    let profiles = store.profiles(PageId(visited.page.id))?;
    let mut past = Snapshots::new(fragment_words);
    let sightings = visited.sightings();
    let versions = versions(&visited);
    let unread_snapshots = unread(&sightings, &versions, limits);
    for seen in sightings.iter().skip(unread_snapshots) {
        let text_of = |version| Ok::<_, StoreError>(content(store, version)?.text);
        past.see(seen.at, seen.version, seen.text_rules, text_of)?;
    }
    let title = match sightings.last() {
        Some(last) => title(&content(store, last.version)?, visited.page.content_type.as_deref()),
        None => None,
    };
    let VisitedPage { page, spellings, visits } = visited;
    let first = visits.first().map(|(_, visit)| visit.at);
    let lifetimes = past.lifetimes();
    let (times, lives) = (lifetimes.times().to_vec(), lifetimes.lives());
    let at = |snapshot: Option<usize>| snapshot.and_then(|snapshot| times.get(snapshot).copied());
    let behaviour = past.behaviour();
    Ok(PageHistory {
        visits: shown(&visits, &spellings, limits.visits),
        visit_count: visits.len(),
        without_room: visits.iter().filter(|(_, visit)| visit.version.is_some() && !visit.is_stored).count(),
        change_count: visits.iter().filter(|(_, visit)| visit.changed == Some(true)).count(),
        known_since: first.map_or(page.found_at, |first| first.min(page.found_at)),
        spellings: spellings
            .iter()
            .map(|other| OtherSpelling {
                url: other.url.clone(),
                moved: other.moved,
                lived_there_until: left(other, &visits),
            })
            .collect(),
        url: page.url,
        title,
        state: page.state,
        host_reason: page.host_reason,
        found_at: page.found_at,
        found_on: page.found_on.clone(),
        profiles: shown_profiles(&profiles),
        fragment_words,
        snapshots: times.len(),
        first_snapshot_at: times.first().copied(),
        last_snapshot_at: times.last().copied(),
        began_anew: past.times_anew(),
        updates: lifetimes.updates(),
        lifetimes: lives
            .iter()
            .map(|life| ShownLife {
                born_at: at(life.born),
                died_at: at(life.died),
                fragments: life.fragments,
            })
            .collect(),
        fragment_counts: lifetimes.counts(),
        longevity_seconds: lifetimes.longevity().map(|mean| mean.as_secs_f64()),
        change_frequency_per_day: lifetimes.change_frequency(),
        survived: lifetimes.survived(),
        dominant_k: lifetimes.dominant_k(),
        behaviour: behaviour.map(|(behaviour, _)| behaviour),
        shares: behaviour.map(|(_, BehaviourShares { static_share, churn, scroll })| ShownShares {
            static_share,
            churn,
            scroll,
        }),
        lives,
        times,
        versions,
        unread_snapshots,
    })
}

fn shown(visits: &[(String, VisitRow)], spellings: &[Spelling], most: usize) -> Vec<PageVisit> {
    let earlier = visits.len().saturating_sub(most);
    let latest = visits.iter().enumerate().skip(earlier);
    let visit = |(place, (url, visit)): (usize, &(String, VisitRow))| {
        let before = visits.get(..place).unwrap_or_default().iter().rev().map(|(_, visit)| visit);
        PageVisit {
            at: visit.at,
            url: url.clone(),
            outcome: visit.outcome.clone(),
            reason: reason::in_words(&visit.outcome, visit.status, visit.reason.as_deref()),
            status: visit.status,
            changed: visit.changed,
            divergence: visit.divergence,
            bases: visit
                .bases
                .iter()
                .map(|found| BaseDistance {
                    base_at: found.base.at,
                    base_version: found.base.version.0,
                    divergence: found.divergence.get(),
                })
                .collect(),
            returned_to: visit.returned_to.map(|version| version.0),
            version: visit.version.map(|version| version.0),
            bytes: visit.bytes,
            took_ms: visit.took.as_millis() as u64,
            validator: visit.validator.clone(),
            redirect_to: visit.redirect.clone(),
            found: found(visit, before),
            spelling: spellings.iter().position(|other| other.page == visit.page),
        }
    };
    latest.map(visit).collect()
}

fn shown_profiles(profiles: &Profiles) -> Vec<ShownProfile> {
    let profiles = profiles.iter().map(|profile| ShownProfile {
        base_at: profile.base.at,
        base_version: profile.base.version.0,
        points: profile
            .points
            .iter()
            .map(|point| ShownPoint {
                at: point.at,
                age_seconds: point.at.since(profile.base.at).seconds(),
                divergence: point.divergence.get(),
            })
            .collect(),
    });
    profiles.collect()
}

/// When a spelling was found to lead elsewhere, if the page was ever seen there.
fn left(spelling: &Spelling, visits: &[(String, VisitRow)]) -> Option<Timestamp> {
    let there = || visits.iter().map(|(_, visit)| visit).filter(|visit| visit.page == spelling.page);
    let last = there().rfind(|visit| visit.version.is_some())?;
    there().find(|visit| visit.at > last.at && visit.redirect.is_some()).map(|visit| visit.at)
}

/// The result of a visit. `before` are the earlier visits, the latest first.
fn found<'a>(visit: &VisitRow, before: impl Iterator<Item = &'a VisitRow>) -> VisitFound {
    match (visit.changed, visit.version) {
        (Some(true), _) if visit.returned_to.is_some() => VisitFound::Returned,
        (Some(true), _) => VisitFound::Changed,
        (Some(false), _) => VisitFound::Same,
        (None, None) => VisitFound::Nothing,
        (None, Some(_)) => {
            let mut stored = before.filter(|earlier| earlier.page == visit.page && earlier.version.is_some());
            match stored.next() {
                None => VisitFound::First,
                Some(earlier) if earlier.text_rules != visit.text_rules => VisitFound::OtherRules,
                Some(_) => VisitFound::Nothing,
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::observation::Told;
    use crate::signal::PageSignals;
    use crate::store::{CycleId, VersionId};

    const NEVER: VisitRow = VisitRow {
        id: 0,
        page: PageId(1),
        cycle: CycleId(1),
        at: Timestamp::from_millis(0),
        outcome: String::new(),
        reason: None,
        status: None,
        changed: None,
        divergence: None,
        bases: Vec::new(),
        bytes: 0,
        took: Duration::ZERO,
        validator: None,
        version: None,
        text_rules: 0,
        has_words: true,
        is_stored: true,
        returned_to: None,
        redirect: None,
        told: Told { date: None, events: None, new_links: 0 },
        same_as: None,
        weight: 1.0,
        signals: PageSignals::NONE,
        event: None,
    };

    pub(in crate::look) fn visit(at: i64, version: Option<i64>) -> VisitRow {
        VisitRow { at: Timestamp::from_seconds(at), version: version.map(VersionId), ..NEVER }
    }

    #[test]
    fn a_page_left_where_it_was_last_seen() {
        let spelling = Spelling { page: PageId(1), url: String::new(), moved: true };
        let away = |at| VisitRow { redirect: Some("http://example.org/".to_owned()), ..visit(at, None) };
        let left = |visits: &[VisitRow]| {
            let visits: Vec<_> = visits.iter().map(|visit| (String::new(), visit.clone())).collect();
            left(&spelling, &visits).map(|at| at.millis() / 1000)
        };
        assert_eq!(left(&[visit(1, Some(1)), visit(2, None), away(3), away(4)]), Some(3));
        assert_eq!(left(&[away(1), visit(2, Some(1)), away(3)]), Some(3), "it had come back");
        assert_eq!(left(&[away(1), away(2)]), None, "it was never seen there");
        assert_eq!(left(&[away(1), visit(2, Some(1))]), None, "it is there");
        let elsewhere = VisitRow { page: PageId(2), ..away(5) };
        assert_eq!(left(&[visit(1, Some(1)), elsewhere]), None);
    }

    #[test]
    fn contents_that_can_t_be_compared_are_the_first_or_by_other_rules() {
        let rules = |text_rules| VisitRow { text_rules, ..visit(1, Some(1)) };
        assert_eq!(found(&rules(0), [].iter()), VisitFound::First);
        assert_eq!(found(&rules(0), [visit(0, None)].iter()), VisitFound::First);
        assert_eq!(found(&rules(1), [visit(1, None), rules(0), rules(1)].iter()), VisitFound::OtherRules);
        assert_eq!(found(&rules(1), [rules(1)].iter()), VisitFound::Nothing);
        assert_eq!(found(&rules(1), [VisitRow { page: PageId(2), ..rules(2) }].iter()), VisitFound::First);
        let back = VisitRow { changed: Some(true), returned_to: Some(VersionId(1)), ..rules(0) };
        assert_eq!(found(&back, [].iter()), VisitFound::Returned);
    }
}
