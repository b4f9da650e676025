//! A stored version of a page, as it came: body, text, and the answer that brought it.

use serde::Serialize;

use crate::page::Normaliser;
use crate::store::version::{hex, sha256};
use crate::store::{KeptAnswer, Store, VisitRow};
use crate::time::Timestamp;

use super::page::{VisitedPage, content};
use super::{LookError, reread};

/// A version of a page.
#[derive(Clone, Debug, Serialize)]
pub struct ShownVersion {
    /// The address at which it was found. A page that moved was found at another one before.
    pub url: String,
    /// The number of the page.
    pub page_id: i64,
    /// Title of the version.
    pub title: Option<String>,
    /// State of the page now.
    pub state: String,
    /// The number of the version.
    pub version_id: i64,
    /// The visit that brought it.
    pub fetched_at: Timestamp,
    /// The last visit that found the page to be so, up to the time that was asked for.
    pub confirmed_at: Timestamp,
    /// Where the page led at its last visit, if it was sent elsewhere.
    pub redirect_to: Option<String>,
    /// HTTP status of the answer that brought it; `None`: an earlier release stored it, which did not keep answers.
    pub status: Option<u16>,
    /// `HTTP/1.1`
    pub protocol: Option<String>,
    /// The address that answered.
    pub remote_address: Option<String>,
    /// As the host said it.
    pub content_type: Option<String>,
    /// Names and values in their order; bytes that are not UTF-8 are replaced.
    pub headers: Option<Vec<ShownHeader>>,
    /// There were more headers than are kept.
    pub headers_cut: bool,
    /// Length of the body.
    pub body_bytes: u64,
    /// SHA-256 of the body.
    pub sha256: String,
    /// The text that was read from it.
    pub text: String,
    /// The body, byte for byte.
    #[serde(skip)]
    pub body: Vec<u8>,
    /// Status line and headers, byte for byte, with CR LF.
    #[serde(skip)]
    pub head: Option<Vec<u8>>,
}

/// A header of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShownHeader {
    /// In lower case.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The version that was stored at a moment; without one, the last.
pub fn show(
    store: &mut dyn Store,
    normaliser: &Normaliser,
    url: &str,
    at: Option<Timestamp>,
) -> Result<ShownVersion, LookError> {
    let page = VisitedPage::load(store, normaliser, url)?;
    let url = page.page.url.clone();
    let visits = page.found_where_it_lived(|_| true);
    let Some(first) = visits.first() else { return Err(LookError::NothingStored(url)) };
    let up_to = |visit: &&&VisitRow| at.is_none_or(|at| visit.at <= at);
    let Some(last) = visits.iter().rev().find(up_to) else {
        let (at, first) = (at.unwrap_or(first.at), first.at);
        return Err(LookError::NotYetStored { url, at, first });
    };
    let Some(version) = last.version else { return Err(LookError::NothingStored(url)) };
    // The visits in a row that found this version, back to the one that brought it.
    let run = visits.iter().rev().filter(up_to).take_while(|visit| visit.version == Some(version));
    let brought = run.last().unwrap_or(last);
    let found_at = page.visits.iter().find(|(_, visit)| visit.id == brought.id).map(|(url, _)| url.clone());
    if !last.is_stored {
        let facts = store.version_facts(&[version])?.pop();
        let body_bytes = facts.map_or(0, |facts| facts.body_bytes);
        return Err(LookError::WithoutRoom { url, at: brought.at, body_bytes });
    }
    let stored = content(store, version)?;
    let is_its = |answer: &KeptAnswer| answer.version == version;
    let head = store.answers_of(&[brought.page])?.into_iter().find(is_its).map(|answer| answer.head);
    let latest = page.visits.iter().rfind(|(_, visit)| visit.page == last.page).map(|(_, visit)| visit);
    let is_latest_version = visits.last().and_then(|visit| visit.version) == Some(version);
    let own_type = page.page.content_type.clone().filter(|_| is_latest_version);
    let content_type = head.as_ref().map_or(own_type, |head| head.header("content-type"));
    Ok(ShownVersion {
        url: found_at.unwrap_or(url),
        page_id: page.page.id,
        state: page.page.state.clone(),
        version_id: version.0,
        fetched_at: brought.at,
        confirmed_at: last.at,
        redirect_to: latest.and_then(|visit| visit.redirect.clone()),
        status: head.as_ref().map(|head| head.status),
        protocol: head.as_ref().map(|head| head.protocol.clone()),
        remote_address: head.as_ref().and_then(|head| head.address).map(|address| address.to_string()),
        title: reread::title(&stored, content_type.as_deref()),
        content_type,
        headers: head.as_ref().map(|head| {
            let shown = |(name, value): &(String, Vec<u8>)| ShownHeader {
                name: name.clone(),
                value: String::from_utf8_lossy(value).into_owned(),
            };
            head.headers.iter().map(shown).collect()
        }),
        headers_cut: head.as_ref().is_some_and(|head| head.is_cut),
        body_bytes: stored.body.len() as u64,
        sha256: hex(&sha256(&stored.body)),
        text: stored.text,
        body: stored.body,
        head: head.map(|head| head.to_block()),
    })
}
