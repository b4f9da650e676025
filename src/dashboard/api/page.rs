//! One page: its row, the whole of it, history, difference, links, and why it is due.

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::dashboard::Dashboard;
use crate::dashboard::pages::changes::given;
use crate::dashboard::reasons::reasons_of;
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::LookError;
use crate::look::diff::{PageDiff, diff as of_versions};
use crate::look::history::{PageHistory, history as of_page};
use crate::look::links::{LinksWanted, PageLink, links_of};
use crate::look::page::find;
use crate::look::page_view::{PageView, page_view};
use crate::look::when::{MOMENT_FORMS, moment};
use crate::look::why::Why;
use crate::store::PageRow;
use crate::time::Timestamp;

use super::plan::{StillWorking, still_working};
use super::{ApiTrouble, Documented, ListPart, documented, most, part_of};

/// Longest time for a difference; what is not compared then counts as replaced.
const DIFF_TIME: Duration = Duration::from_secs(5);

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OnePageQuery {
    /// The address of the page.
    #[param(example = "https://example.org/")]
    url: String,
}

#[utoipa::path(
    get, path = "/api/v1/page", tag = "pages", summary = "One page by its address",
    params(OnePageQuery),
    responses((status = 200, description = "Its row in `freshet pages --json`", body = Documented<PageRow>), ApiTrouble)
)]
pub(crate) async fn page(
    State(site): State<Dashboard>,
    Asked(asked): Asked<OnePageQuery>,
) -> Result<Response, Trouble> {
    let asker = site.clone();
    let found = site.look(move |store| find(store, &asker.settings().observer.normaliser, &asked.url));
    documented(&found.await?)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryQuery {
    /// The address of the page.
    #[param(example = "https://example.org/")]
    url: String,
    /// The latest visits to give [default: 1000].
    #[param(minimum = 1, maximum = 100_000)]
    limit: Option<usize>,
}

#[utoipa::path(
    get, path = "/api/v1/page/view", tag = "pages",
    summary = "A page in a whole: its row, how it moved, the curve of its divergence, how often it changes",
    params(HistoryQuery),
    responses((status = 200, description = "What the page of the page shows", body = Documented<PageView>), ApiTrouble)
)]
pub(crate) async fn view(
    State(site): State<Dashboard>,
    Asked(asked): Asked<HistoryQuery>,
) -> Result<Response, Trouble> {
    let most = visits_of(asked.limit)?;
    let (now, asker) = (site.now(), site.clone());
    let found = site.look(move |store| {
        let observer = &asker.settings().observer;
        let words = observer.change.fragment_words;
        page_view(store, &observer.normaliser, &asked.url, words, most, now)
    });
    documented(&found.await?)
}

/// Visits of a history, unless it is asked otherwise.
const VISITS: usize = 1000;
/// Most visits of a history.
const MOST_VISITS: usize = 100_000;

fn visits_of(limit: Option<usize>) -> Result<usize, Trouble> {
    let visits = limit.unwrap_or(VISITS);
    if !(1..=MOST_VISITS).contains(&visits) {
        return Err(Trouble::BadQuery(format!("`limit` must be from 1 to {MOST_VISITS}")));
    }
    Ok(visits)
}

#[utoipa::path(
    get, path = "/api/v1/history", tag = "pages", summary = "How a page moved: visits, change profiles, lifetimes of its fragments",
    params(HistoryQuery),
    responses((status = 200, description = "As `freshet history --json` prints it", body = Documented<PageHistory>), ApiTrouble)
)]
pub(crate) async fn history(
    State(site): State<Dashboard>,
    Asked(asked): Asked<HistoryQuery>,
) -> Result<Response, Trouble> {
    let visits = visits_of(asked.limit)?;
    let asker = site.clone();
    let found = site.look(move |store| {
        let observer = &asker.settings().observer;
        of_page(store, &observer.normaliser, &asked.url, observer.change.fragment_words, visits)
    });
    documented(&found.await?)
}

#[utoipa::path(
    get, path = "/api/v1/why", tag = "pages", summary = "Why a page is due or not",
    params(OnePageQuery),
    responses(
        (status = 200, description = "As `freshet why --json` prints it", body = Documented<Why>),
        (status = 202, description = "All pages are being ranked", body = Documented<StillWorking>),
        ApiTrouble
    )
)]
pub(crate) async fn why(
    State(site): State<Dashboard>,
    Asked(asked): Asked<OnePageQuery>,
) -> Result<Response, Trouble> {
    match reasons_of(&site, asked.url, jiff::tz::TimeZone::UTC).await? {
        Some((why, _)) => documented(&why),
        None => still_working(None),
    }
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DiffQuery {
    /// The address of the page.
    #[param(example = "https://example.org/")]
    url: String,
    /// Compare from the version of this time: how long ago (7d), or a date [default: the last with another text].
    from: Option<String>,
    /// Compare to the version of this time [default: the latest].
    to: Option<String>,
}

#[utoipa::path(
    get, path = "/api/v1/diff", tag = "pages", summary = "What changed between two versions of a page",
    params(DiffQuery),
    responses((status = 200, description = "As `freshet diff --json` prints it", body = Documented<PageDiff>), ApiTrouble)
)]
pub(crate) async fn diff(
    State(site): State<Dashboard>,
    Asked(asked): Asked<DiffQuery>,
) -> Result<Response, Trouble> {
    let now = site.now();
    let at = |name: &str, text: &Option<String>| -> Result<Option<Timestamp>, Trouble> {
        let read = |text| {
            moment(text, now, &site.settings().zone)
                .ok_or_else(|| Trouble::BadQuery(format!("`{name}` is `{text}`; {MOMENT_FORMS}")))
        };
        given(text).map(read).transpose()
    };
    let times = (at("from", &asked.from)?, at("to", &asked.to)?);
    let asker = site.clone();
    let found = site.look(move |store| {
        of_versions(store, &asker.settings().observer, &asked.url, times, Instant::now() + DIFF_TIME)
    });
    documented(&found.await?)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LinksQuery {
    /// The address of the page that they stand on.
    #[param(example = "https://example.org/")]
    url: String,
    /// Only links that are not followed.
    refused: Option<bool>,
    /// Most items of this part [default: 100].
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The `next` of the part before.
    #[param(pattern = "^[0-9]{1,9}$")]
    after: Option<String>,
}

#[utoipa::path(
    get, path = "/api/v1/links", tag = "pages", summary = "The links of a page, with what becomes of each",
    params(LinksQuery),
    responses((status = 200, description = "As `freshet links --json` prints it, in parts", body = Documented<ListPart<PageLink>>), ApiTrouble)
)]
pub(crate) async fn links(
    State(site): State<Dashboard>,
    Asked(asked): Asked<LinksQuery>,
) -> Result<Response, Trouble> {
    let most = most(asked.limit)?;
    let wanted = LinksWanted { refused: asked.refused.unwrap_or(false), reason: None };
    let after = asked.after;
    let found = site.ask_crawler(move |crawler| {
        let mut links = Vec::new();
        links_of(crawler, &asked.url, &wanted, |link| {
            links.push(link);
            Ok::<(), LookError>(())
        })?;
        Ok(links)
    });
    documented(&part_of(found.await?, after.as_deref(), most)?)
}
