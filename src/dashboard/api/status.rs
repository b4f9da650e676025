//! `/api/v1/status`: the store in figures.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::dashboard::Dashboard;
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::status::{StoreStatus, status as of_store};

use super::{ApiTrouble, Documented, documented};

/// Cycles, unless it is asked otherwise.
const CYCLES: usize = 5;
/// Most cycles of an answer.
const MOST_CYCLES: usize = 1000;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatusQuery {
    /// The latest cycles to give [default: 5].
    #[param(maximum = 1000)]
    cycles: Option<usize>,
}

#[utoipa::path(
    get, path = "/api/v1/status", tag = "store", summary = "The store in figures: pages, hosts, the latest cycles",
    params(StatusQuery),
    responses((status = 200, description = "As `freshet status --json` prints it", body = Documented<StoreStatus>), ApiTrouble)
)]
pub(crate) async fn status(
    State(site): State<Dashboard>,
    Asked(asked): Asked<StatusQuery>,
) -> Result<Response, Trouble> {
    let cycles = asked.cycles.unwrap_or(CYCLES);
    if cycles > MOST_CYCLES {
        return Err(Trouble::BadQuery(format!("`cycles` must be at most {MOST_CYCLES}")));
    }
    let now = site.now();
    documented(&site.look(move |store| of_store(store, cycles, false, now)).await?)
}
