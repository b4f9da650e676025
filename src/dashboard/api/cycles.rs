//! `/api/v1/cycles`: the cycles, one after another.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::dashboard::Dashboard;
use crate::dashboard::trouble::{Asked, Trouble};
use crate::store::{CycleId, CycleRow};

use super::{ApiTrouble, Documented, ListPart, documented, most, no_place};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CycleListQuery {
    /// Most items of this part [default: 100].
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The `next` of the part before, or the number of a cycle: the cycles before it.
    #[param(pattern = "^[0-9]{1,18}$")]
    after: Option<String>,
}

#[utoipa::path(
    get, path = "/api/v1/cycles", tag = "store", summary = "The cycles, newest first",
    params(CycleListQuery),
    responses((status = 200, description = "The cycles of `freshet status --json`, in parts", body = Documented<ListPart<CycleRow>>), ApiTrouble)
)]
pub(crate) async fn cycles(
    State(site): State<Dashboard>,
    Asked(asked): Asked<CycleListQuery>,
) -> Result<Response, Trouble> {
    let most = usize::try_from(most(asked.limit)?).unwrap_or(usize::MAX);
    let before = asked.after.as_deref().map_or(Ok(i64::MAX), str::parse).map_err(|_| no_place())?;
    let mut items = site.look(move |store| Ok(store.cycles_before(CycleId(before), most + 1)?)).await?;
    let has_more = items.len() > most;
    items.truncate(most);
    let next = items.last().filter(|_| has_more).map(|last| last.id.to_string());
    documented(&ListPart { items, next })
}
