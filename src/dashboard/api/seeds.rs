//! `/api/v1/seeds`: the seeds with their state.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::dashboard::Dashboard;
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::seeds::{SeedStatus, seeds as of_store};

use super::{ApiTrouble, Documented, ListPart, documented, most, part_of};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SeedListQuery {
    /// Most items of this part [default: 100].
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The `next` of the part before.
    #[param(pattern = "^[0-9]{1,9}$")]
    after: Option<String>,
}

#[utoipa::path(
    get, path = "/api/v1/seeds", tag = "store", summary = "The seeds with their state and their pages",
    params(SeedListQuery),
    responses((status = 200, description = "As `freshet seeds --json` prints it, in parts", body = Documented<ListPart<SeedStatus>>), ApiTrouble)
)]
pub(crate) async fn seeds(
    State(site): State<Dashboard>,
    Asked(asked): Asked<SeedListQuery>,
) -> Result<Response, Trouble> {
    let most = most(asked.limit)?;
    let all = site.look(of_store).await?;
    documented(&part_of(all, asked.after.as_deref(), most)?)
}
