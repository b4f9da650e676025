//! `/api/v1/search`: stored pages that have all words of a query.

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::dashboard::Dashboard;
use crate::dashboard::pages::search::{HITS, MOST_HITS, NO_INDEX, answer, query};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::search::SearchResults;

use super::{ApiTrouble, Documented, documented};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchWords {
    /// The words; a page has to have all of them.
    #[param(example = "fresh pages")]
    q: String,
    /// Most results [default: 20].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// The pages that answer a query.
#[derive(Serialize, ToSchema)]
pub(crate) struct SearchAnswer {
    #[serde(flatten)]
    results: SearchResults,
    /// Visits that the index has not read yet.
    behind: u64,
}

#[utoipa::path(
    get, path = "/api/v1/search", tag = "pages", summary = "Stored pages that have all words, the best first",
    params(SearchWords),
    responses((status = 200, description = "As `freshet search --json` prints it", body = Documented<SearchAnswer>), ApiTrouble)
)]
pub(crate) async fn search(
    State(site): State<Dashboard>,
    Asked(asked): Asked<SearchWords>,
) -> Result<Response, Trouble> {
    let most = asked.limit.unwrap_or(HITS);
    if !(1..=MOST_HITS).contains(&most) {
        return Err(Trouble::BadQuery(format!("`limit` must be from 1 to {MOST_HITS}")));
    }
    let query = query(&site, &asked.q, most)?;
    let (now, asker) = (site.now(), site.clone());
    let found = site.look(move |store| answer(store, &asker, &query, now)).await?;
    let found = found.ok_or_else(|| Trouble::NotFound(NO_INDEX.to_owned()))?;
    documented(&SearchAnswer { results: found.results, behind: found.behind })
}
