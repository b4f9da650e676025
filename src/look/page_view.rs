//! One page in a whole: how it moved, the curve of its divergence, how often it changes.

use serde::Serialize;

use crate::estimate::registry::EstimatorSettings;
use crate::page::{Host, Normaliser, PageId};
use crate::store::{PageRow, Store};
use crate::time::Timestamp;

use super::LookError;
use super::curve::{PageCurve, page_curve};
use super::estimates::{PageEstimates, estimates_of_page};
use super::history::{PageHistory, latest_history};
use super::history_limits::HistoryLimits;
use super::page::find;

/// Snapshots whose texts are compared, the latest, and bytes of their bodies: reading one of 50 kB takes about a millisecond.
const MOST_SNAPSHOTS: usize = 100;
const MOST_BYTES: u64 = 8_000_000;

/// A page.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct PageView {
    /// The row of the page that was asked for. Another page may stand for it; the rest is about that one.
    pub asked: PageRow,
    /// The number of the page that the rest is about.
    pub page_id: i64,
    /// Its host.
    pub host: Option<String>,
    /// Its visits, and how its text moved between them.
    pub history: PageHistory,
    /// How far it moves from a copy as the copy ages; `None` while nothing was compared.
    pub curve: Option<PageCurve>,
    /// How often it changes, by every estimator; `None` before the second visit.
    pub estimates: Option<PageEstimates>,
}

/// The address of the page with this number.
pub fn url_of(store: &mut dyn Store, page: i64) -> Result<String, LookError> {
    let known = store.known_page(PageId(page))?;
    known.map(|known| known.url).ok_or_else(|| LookError::UnknownPage(format!("page {page}")))
}

/// The page of that URL, with its latest `most` visits.
pub fn page_view(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    url: &str,
    fragment_words: usize,
    most: usize,
    now: Timestamp,
) -> Result<PageView, LookError> {
    let asked = find(store, normaliser, url)?;
    let limits = HistoryLimits { visits: most, snapshots: MOST_SNAPSHOTS, bytes: MOST_BYTES };
    let history = latest_history(store, normaliser, &asked.url, fragment_words, limits)?;
    let page_id = match asked.alias_of {
        Some(_) => find(store, normaliser, &history.url)?.id,
        None => asked.id,
    };
    let estimates = estimates_of_page(store, normaliser, &history.url, &EstimatorSettings::default())?;
    Ok(PageView {
        page_id,
        host: url::Url::parse(&history.url).ok().and_then(|url| Host::of(&url)).map(|host| host.to_string()),
        curve: page_curve(&history, now),
        estimates: estimates.filter(|found| found.visits > 0),
        asked,
        history,
    })
}
