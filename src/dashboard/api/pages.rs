//! `/api/v1/pages`: every page, filtered and sorted, a part at a time.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::dashboard::Dashboard;
use crate::dashboard::pages::list::{ListQuery, part};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::store::PageRow;

use super::{ApiTrouble, Documented, ListPart, documented, most};

/// Largest depth that can be asked for.
const DEEPEST: u32 = 1_000_000;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageListQuery {
    /// Only pages in this state.
    #[param(pattern = "^(new|alive|missing|gone|failing|blocked|redirected|alias)?$")]
    state: Option<String>,
    /// Only pages of this host: `example.org`, or `http://example.org:8080`.
    host: Option<String>,
    /// Only pages whose address contains this.
    url: Option<String>,
    /// Only pages whose last visit had this outcome.
    outcome: Option<String>,
    /// Only pages that were visited or found since then: how long ago (7d), or a date.
    since: Option<String>,
    /// Only pages at most this deep.
    #[param(maximum = 1_000_000)]
    max_depth: Option<u32>,
    /// Aliases too.
    aliases: Option<bool>,
    /// The order: url, changes, visits, failures, last-visit, found, bytes, weight or due; with `-` before it, the other way round
    /// [default: as they were found].
    #[param(pattern = "^(-?(url|changes|visits|failures|last-visit|found|bytes|weight|due))?$")]
    sort: Option<String>,
    /// Most items of this part [default: 100].
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The `next` of the part before.
    after: Option<String>,
}

#[utoipa::path(
    get, path = "/api/v1/pages", tag = "pages", summary = "Pages, filtered and sorted",
    params(PageListQuery),
    responses((status = 200, description = "As `freshet pages --json` prints it, in parts", body = Documented<ListPart<PageRow>>), ApiTrouble)
)]
pub(crate) async fn pages(
    State(site): State<Dashboard>,
    Asked(asked): Asked<PageListQuery>,
) -> Result<Response, Trouble> {
    let most = most(asked.limit)?;
    let PageListQuery { state, host, url, outcome, since, max_depth, aliases, sort, after, .. } = asked;
    if max_depth.is_some_and(|most| most > DEEPEST) {
        return Err(Trouble::BadQuery(format!("`max_depth` must be at most {DEEPEST}")));
    }
    let aliases = aliases.unwrap_or(false).then(|| "yes".to_owned());
    let asked = ListQuery {
        state,
        host,
        url,
        outcome,
        since,
        max_depth,
        aliases,
        sort,
        after,
        ..ListQuery::default()
    };
    let filter = asked.filter(&site, site.now())?;
    let (items, next) = site.look(move |store| part(store, &filter, most)).await?;
    documented(&ListPart { items, next })
}
