//! `/api/v1/changes`: what happened to the pages.

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::dashboard::Dashboard;
use crate::dashboard::pages::changes::{ChangesQuery, given, part};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::changes::FoundEvent;

use super::{ApiTrouble, Documented, ListPart, documented, most};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangeListQuery {
    /// Found since then: how long ago (30m, 12h, 7d), or a date [default: 7d].
    since: Option<String>,
    /// Only events of these kinds, separated by commas: new, changed, gone, back, moved, started-failing, recovered.
    #[param(
        pattern = "^((new|changed|gone|back|moved|started-failing|recovered)(,(new|changed|gone|back|moved|started-failing|recovered))*)?$"
    )]
    kind: Option<String>,
    /// Only pages of this host.
    host: Option<String>,
    /// Leave out changes with a smaller divergence.
    #[param(minimum = 0, maximum = 1)]
    min_divergence: Option<f64>,
    /// Leave out changes of which a later visit found nothing, and those that wait for one.
    lasting: Option<bool>,
    /// `newest` first, or `largest` [default: newest].
    #[param(pattern = "^(newest|largest)?$")]
    order: Option<String>,
    /// Most items of this part [default: 100].
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The `next` of the part before.
    after: Option<String>,
}

/// A part of the list of changes.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChangeListPart {
    #[serde(flatten)]
    part: ListPart<FoundEvent>,
    /// Changes that `lasting` kept out of this part because the next visit did not find what they brought.
    did_not_last: u64,
    /// Changes that it kept out because there was no later visit yet.
    waiting: u64,
}

#[utoipa::path(
    get, path = "/api/v1/changes", tag = "changes", summary = "What happened to the pages: new, changed, gone, back, moved, started failing, recovered",
    params(ChangeListQuery),
    responses((status = 200, description = "As `freshet changes --json` prints it, in parts", body = Documented<ChangeListPart>), ApiTrouble)
)]
pub(crate) async fn changes(
    State(site): State<Dashboard>,
    Asked(asked): Asked<ChangeListQuery>,
) -> Result<Response, Trouble> {
    let most = usize::try_from(most(asked.limit)?).unwrap_or(usize::MAX);
    let ChangeListQuery { since, kind, host, min_divergence, lasting, order, after, .. } = asked;
    let min_divergence = min_divergence.map(|least| least.to_string());
    let lasting = lasting.unwrap_or(false).then(|| "yes".to_owned());
    let asked =
        ChangesQuery { since, kind, host, min_divergence, lasting, order, after, ..ChangesQuery::default() };
    let by_size = asked.is_by_size()?;
    let wanted = asked.wanted(&site, site.now(), most)?;
    let asker = site.clone();
    let found = site
        .look(move |store| part(store, &asker, &wanted, (given(&asked.host), by_size, given(&asked.after))));
    let found = found.await??;
    documented(&ChangeListPart {
        part: ListPart { items: found.found, next: found.next },
        did_not_last: found.kept_out.did_not_last,
        waiting: found.kept_out.wait,
    })
}
