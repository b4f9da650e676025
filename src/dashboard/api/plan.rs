//! `/api/v1/plan`: the visits of the next cycle; `/api/v1/backtest`: all policies on the store's own history.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::dashboard::Dashboard;
use crate::dashboard::policies;
use crate::dashboard::trouble::{Asked, Trouble};
use crate::dashboard::work::{WorkDone, WorkShown};
use crate::look::plan::NextVisit;
use crate::time::Timestamp;

use super::{ApiTrouble, Documented, ListPart, documented, most, part_of};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PlanQuery {
    /// Most visits of this part [default: 100].
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The `next` of the part before.
    #[param(pattern = "^[0-9]{1,9}$")]
    after: Option<String>,
}

/// The plan of the next cycle.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlanPartJson {
    /// The policy that ranks pages.
    policy: String,
    /// When the plan was worked out.
    worked_out_at: Timestamp,
    /// Pages that may be visited now.
    candidates: usize,
    /// Those of them that were never visited.
    new: usize,
    /// Requests that the cycle may send.
    budget: Option<u64>,
    /// An interrupted cycle is taken up.
    is_resumed: bool,
    /// The visits, best first; the list ends at the thousandth.
    #[serde(flatten)]
    part: ListPart<NextVisit>,
}

/// Work that is not done yet.
#[derive(Serialize, ToSchema)]
pub(crate) struct StillWorking {
    /// Always true: ask again in a few seconds.
    is_under_way: bool,
    /// Parts that are done.
    done: u64,
    /// All parts; 0: not known yet.
    all: u64,
}

#[utoipa::path(
    get, path = "/api/v1/plan", tag = "policies", summary = "The visits that a cycle would make if it began now",
    params(PlanQuery),
    responses(
        (status = 200, description = "The visits as `freshet plan --json` prints them, in parts", body = Documented<PlanPartJson>),
        (status = 202, description = "The plan is being worked out", body = Documented<StillWorking>),
        ApiTrouble
    )
)]
pub(crate) async fn plan(
    State(site): State<Dashboard>,
    Asked(asked): Asked<PlanQuery>,
) -> Result<Response, Trouble> {
    let most = most(asked.limit)?;
    let shown = policies::next_plan(&site).await?;
    let Some(worked) = done(&shown)? else { return still_working(shown.under_way) };
    let plan = worked.0;
    let part = part_of(plan.visits.clone(), asked.after.as_deref(), most)?;
    documented(&PlanPartJson {
        policy: plan.policy.clone(),
        worked_out_at: worked.1,
        candidates: plan.candidates,
        new: plan.new,
        budget: plan.budget,
        is_resumed: plan.resumed,
        part,
    })
}

/// How a policy did on the store's own history.
#[derive(Serialize, ToSchema)]
pub(crate) struct BacktestLine {
    /// The policy; `bound` is the least staleness that any schedule can reach.
    policy: String,
    /// The share of the pages that a cycle visits.
    budget: f64,
    /// Staleness of the copies: lower is better.
    staleness: f64,
    /// The share of the copies that are fresh; `null` for `bound`.
    freshness: Option<f64>,
    /// The share of the visits that found a change; `null` for `bound`.
    change_rate: Option<f64>,
}

/// All policies on the store's own history.
#[derive(Serialize, ToSchema)]
pub(crate) struct BacktestJson {
    /// When it was worked out.
    worked_out_at: Timestamp,
    /// Pages that were replayed.
    pages: usize,
    /// Cycles of the history.
    cycles: u32,
    /// One page in this number was taken.
    one_page_in: u64,
    /// Policies that there was no time for.
    left_out: Vec<String>,
    /// A line for each policy and budget.
    policies: Vec<BacktestLine>,
}

#[utoipa::path(
    get, path = "/api/v1/backtest", tag = "policies", summary = "Every policy replayed over the store's own history",
    responses(
        (status = 200, description = "Staleness by policy and budget", body = Documented<BacktestJson>),
        (status = 202, description = "The backtest is being worked out", body = Documented<StillWorking>),
        ApiTrouble
    )
)]
pub(crate) async fn backtest(State(site): State<Dashboard>) -> Result<Response, Trouble> {
    let shown = policies::backtest(&site).await?;
    let Some((found, worked_out_at)) = done(&shown)? else { return still_working(shown.under_way) };
    let lines = found.rows.iter().map(|row| {
        let figures = row.mean.figures;
        // The bound is one of staleness only.
        let known = |value: f64| {
            Some(value).filter(|value| value.is_finite() && row.policy != crate::simulate::compare::BOUND)
        };
        BacktestLine {
            policy: row.policy.clone(),
            budget: row.budget,
            staleness: figures.staleness,
            freshness: known(figures.freshness),
            change_rate: known(figures.change_rate),
        }
    });
    documented(&BacktestJson {
        worked_out_at,
        pages: found.pages,
        cycles: found.cycles,
        one_page_in: found.every,
        left_out: found.left_out.clone(),
        policies: lines.collect(),
    })
}

/// The last result and when it was ready; `None`: there is none yet.
fn done<T>(shown: &WorkShown<T>) -> Result<Option<(&T, Timestamp)>, Trouble> {
    match shown.last.as_deref() {
        None => Ok(None),
        Some(worked) => match &worked.value {
            Ok(value) => Ok(Some((value, worked.at))),
            Err(said) => Err(Trouble::NotFound(said.clone())),
        },
    }
}

pub(super) fn still_working(under_way: Option<WorkDone>) -> Result<Response, Trouble> {
    let WorkDone { done, all } = under_way.unwrap_or_default();
    Ok((StatusCode::ACCEPTED, documented(&StillWorking { is_under_way: true, done, all })?).into_response())
}
