//! The list of changes as feeds, at addresses that stay: Atom and JSON Feed.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::look::changes::FoundEvent;
use crate::report::changes::{FEED_END, feed_entry, feed_start, sayable, sentence};
use crate::time::Timestamp;

use super::Dashboard;
use super::pages::changes::{ChangesQuery, given, part};
use super::trouble::{Asked, Trouble};

/// Entries of a feed, unless it is asked otherwise.
const ENTRIES: usize = 50;
/// Most entries of a feed: each is a difference to be made.
const MOST_ENTRIES: usize = 200;
/// Since when a feed goes back: readers ask again sooner.
const SINCE: &str = "30d";

/// What a feed is made of.
struct FeedPart {
    found: Vec<FoundEvent>,
    since: Timestamp,
    /// The last event, or else the beginning.
    updated: Timestamp,
}

/// Reads the feed, unless the reader has it as it is. The tag is of the log's end and the question: nothing else changes a feed but
/// the time at which old entries leave it, so it counts whole days.
async fn read(
    site: &Dashboard,
    headers: &HeaderMap,
    mut asked: ChangesQuery,
    kind: &str,
) -> Result<Result<(FeedPart, HeaderValue), Response>, Trouble> {
    let now = site.now();
    if given(&asked.since).is_none() {
        asked.since = Some(SINCE.to_owned());
    }
    let most = asked.limit.unwrap_or(ENTRIES).clamp(1, MOST_ENTRIES);
    let by_size = asked.is_by_size()?;
    let wanted = asked.wanted(site, now, most)?;
    let end = site.look(|store| Ok(store.log_end()?)).await?;
    let day = now.millis().div_euclid(86_400_000);
    let tag = format!("\"{:016x}\"", xxh3_64(format!("{kind} {end} {day} {asked:?}").as_bytes()));
    let tag = HeaderValue::from_str(&tag).map_err(|error| Trouble::failed("a tag", &error))?;
    if headers.get(header::IF_NONE_MATCH) == Some(&tag) {
        let answer =
            [(header::ETAG, tag), (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"))];
        return Ok(Err((StatusCode::NOT_MODIFIED, answer).into_response()));
    }
    let (asker, since) = (site.clone(), wanted.since);
    let found = site.look(move |store| part(store, &asker, &wanted, (given(&asked.host), by_size, None)));
    let found = found.await??.found;
    let updated = found.iter().map(|found| found.event.at).max().unwrap_or(since);
    Ok(Ok((FeedPart { found, since, updated }, tag)))
}

fn answer(kind: &'static str, tag: HeaderValue, text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (header::ETAG, tag),
    ];
    (headers, text).into_response()
}

/// `/changes.atom`
pub(super) async fn atom(
    State(site): State<Dashboard>,
    headers: HeaderMap,
    Asked(asked): Asked<ChangesQuery>,
) -> Result<Response, Trouble> {
    let (feed, tag) = match read(&site, &headers, asked, "atom").await? {
        Ok(feed) => feed,
        Err(unchanged) => return Ok(unchanged),
    };
    let mut text = feed_start(feed.since, feed.updated);
    text.extend(feed.found.iter().map(feed_entry));
    Ok(answer("application/atom+xml; charset=utf-8", tag, text + FEED_END))
}

/// A feed as JSON Feed 1.1 has it.
#[derive(Serialize)]
struct ChangeFeed {
    version: &'static str,
    title: String,
    authors: [FeedAuthor; 1],
    items: Vec<ChangeItem>,
}

#[derive(Serialize)]
struct FeedAuthor {
    name: &'static str,
}

#[derive(Serialize)]
struct ChangeItem {
    id: String,
    url: String,
    title: String,
    content_text: String,
    date_published: Timestamp,
    tags: [&'static str; 1],
    /// The event as `freshet changes --json` prints it.
    #[serde(rename = "_freshet")]
    event: FoundEvent,
}

/// `/changes.json`
pub(super) async fn json(
    State(site): State<Dashboard>,
    headers: HeaderMap,
    Asked(asked): Asked<ChangesQuery>,
) -> Result<Response, Trouble> {
    let (feed, tag) = match read(&site, &headers, asked, "json").await? {
        Ok(feed) => feed,
        Err(unchanged) => return Ok(unchanged),
    };
    let item = |found: FoundEvent| {
        let event = &found.event;
        let lines = found.added.iter().map(|line| format!("+ {line}"));
        let lines = lines.chain(found.removed.iter().map(|line| format!("- {line}")));
        let said = Some(sentence(&found)).filter(|said| !said.is_empty());
        ChangeItem {
            id: format!("urn:freshet:change:{}:{}", event.page_id, event.at.millis()),
            url: event.url.clone(),
            title: sayable(event.title.as_deref().unwrap_or(&event.url)),
            content_text: sayable(&said.into_iter().chain(lines).collect::<Vec<_>>().join("\n")),
            date_published: event.at,
            tags: [event.kind.name()],
            event: found,
        }
    };
    let feed = ChangeFeed {
        version: "https://jsonfeed.org/version/1.1",
        title: format!("Changes since {}", feed.since),
        authors: [FeedAuthor { name: "freshet" }],
        items: feed.found.into_iter().map(item).collect(),
    };
    let text = serde_json::to_string(&feed).map_err(|error| Trouble::failed("a feed", &error))?;
    Ok(answer("application/feed+json; charset=utf-8", tag, text))
}
