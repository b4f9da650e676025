//! `/api/v1/overview` and `/api/v1/inbox`: what the first screen shows.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::dashboard::Dashboard;
use crate::dashboard::pages::overview::{glance, lasting};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::inbox::Inbox;
use crate::look::overview::Overview;

use super::{ApiTrouble, Documented, documented};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct InboxQuery {
    /// `yes`: changes that were read, too.
    read: Option<String>,
}

#[utoipa::path(
    get, path = "/api/v1/overview", tag = "store",
    summary = "Is it well, and what did the requests bring? Expected freshness, alarms, the last days, visits by site, hosts that wait",
    responses((status = 200, description = "As `overview` of `freshet report --json`", body = Documented<Overview>), ApiTrouble)
)]
pub(crate) async fn overview(State(site): State<Dashboard>) -> Result<Response, Trouble> {
    let (now, asker) = (site.now(), site.clone());
    documented(&site.look(move |store| glance(store, &asker, now)).await?)
}

#[utoipa::path(
    get, path = "/api/v1/inbox", tag = "changes",
    summary = "Changes that last and are not read, the one that matters most first; those of one template as one",
    params(InboxQuery),
    responses((status = 200, description = "As `inbox` of `freshet report --json`", body = Documented<Inbox>), ApiTrouble)
)]
pub(crate) async fn inbox(
    State(site): State<Dashboard>,
    Asked(asked): Asked<InboxQuery>,
) -> Result<Response, Trouble> {
    let (now, asker, with_read) = (site.now(), site.clone(), asked.read.is_some());
    documented(&site.look(move |store| lasting(store, &asker, with_read, now)).await?)
}
