//! Stored pages that have all words of a query, if there is an index.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::dashboard::Dashboard;
use crate::dashboard::links;
use crate::dashboard::shown::{Foreign, Moment};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::follow::search_index::{SearchIndex, path_beside};
use crate::look::LookError;
use crate::look::search::{SearchHit, SearchQuery, SearchResults, SnippetPart, search as find};
use crate::report::{number, percent};
use crate::store::Store;
use crate::time::Timestamp;

use super::changes::given;
use super::{PageFrame, drawn};

/// Results of a page.
pub(crate) const HITS: usize = 20;
/// Most results that can be asked for.
pub(crate) const MOST_HITS: usize = 200;
/// Longest query, in bytes: people type shorter ones.
const MOST_QUERY_BYTES: usize = 1024;

/// What can be asked.
#[derive(Deserialize)]
pub(crate) struct WordsQuery {
    pub q: Option<String>,
    pub limit: Option<usize>,
}

/// What was found, and how far the index is behind the store.
pub(crate) struct SearchFound {
    pub results: SearchResults,
    /// Visits that the index has not read.
    pub behind: u64,
}

/// Said where there is no index.
pub(crate) const NO_INDEX: &str = "there is no search index beside this store yet: `freshet search WORDS` makes one, and `freshet crawl --search` keeps it up to date";

/// The query of a text.
pub(crate) fn query(site: &Dashboard, text: &str, most: usize) -> Result<SearchQuery, Trouble> {
    if text.len() > MOST_QUERY_BYTES {
        return Err(Trouble::BadQuery(format!("the query is longer than {MOST_QUERY_BYTES} bytes")));
    }
    Ok(SearchQuery::new(text, site.settings().scoring, most)?)
}

/// The best pages by the index as it is; `None`: there is none. Nothing is written: the query is not kept, and the index is not
/// brought up to date.
pub(crate) fn answer(
    store: &mut dyn Store,
    site: &Dashboard,
    query: &SearchQuery,
    now: Timestamp,
) -> Result<Option<SearchFound>, LookError> {
    let path = path_beside(&site.settings().store);
    let Some(mut index) = SearchIndex::open_to_look(&path, store)? else { return Ok(None) };
    let behind = index.behind(store)?;
    Ok(Some(SearchFound { results: find(store, &index, query, now)?, behind }))
}

#[derive(Template)]
#[template(path = "search.html", config = "src/dashboard/askama.toml")]
struct SearchPage {
    frame: PageFrame,
    query: String,
    said: Option<String>,
    found: Option<String>,
    hits: Vec<HitRow>,
}

struct HitRow {
    title: String,
    url: String,
    href: String,
    score: String,
    seen: Option<Moment>,
    chance: Option<String>,
    snippet: Vec<SnippetPart>,
}

/// The page.
pub(crate) async fn search(
    State(site): State<Dashboard>,
    Asked(asked): Asked<WordsQuery>,
) -> Result<Response, Trouble> {
    let (now, screen) = (site.now(), site.screen());
    let mut page = SearchPage {
        frame: PageFrame::new(&site, "/search", "Search"),
        query: asked.q.clone().unwrap_or_default(),
        said: None,
        found: None,
        hits: Vec::new(),
    };
    let Some(text) = given(&asked.q) else { return drawn(&page) };
    let most = asked.limit.unwrap_or(HITS).clamp(1, MOST_HITS);
    let query = match query(&site, text, most) {
        Ok(query) => query,
        Err(Trouble::BadQuery(said)) => {
            page.said = Some(said);
            return drawn(&page);
        }
        Err(trouble) => return Err(trouble),
    };
    let asker = site.clone();
    match site.look(move |store| answer(store, &asker, &query, now)).await {
        Ok(Some(SearchFound { results, behind })) => {
            let behind = if behind > 0 {
                format!("; the index has not read the last {} visits", number(behind))
            } else {
                String::new()
            };
            page.found = Some(format!(
                "{} of {} pages have all words, scored by {}{behind}.",
                number(results.matches),
                number(results.searched),
                results.scoring.name()
            ));
            page.hits = results
                .hits
                .into_iter()
                .map(|hit| {
                    let seen = hit.seen_at.map(|at| Moment::new(at, now, &screen));
                    HitRow::of(hit, seen)
                })
                .collect();
        }
        Ok(None) => page.said = Some(NO_INDEX.to_owned()),
        Err(Trouble::NotFound(said)) => page.said = Some(said),
        Err(trouble) => return Err(trouble),
    }
    drawn(&page)
}

impl HitRow {
    fn of(hit: SearchHit, seen: Option<Moment>) -> Self {
        Self {
            title: hit.title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| hit.url.clone()),
            href: links::page(hit.page_id),
            score: format!("{:.3}", hit.score),
            chance: hit.change_probability.map(percent),
            url: hit.url,
            snippet: hit.snippet,
            seen,
        }
    }
}
