//! `/api/v1/log`: visits as they were recorded.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::dashboard::Dashboard;
use crate::dashboard::pages::changes::given;
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::LookError;
use crate::look::hosts::must_be_known;
use crate::look::log::{LogLine, LogWanted, log as of_cycle, log_after};
use crate::store::Store;

use super::sites::wanted;
use super::{ApiTrouble, Documented, ListPart, documented, most, no_place};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogQuery {
    /// Begin with the visits of this cycle, if there is no `after` [default: the last one].
    cycle: Option<i64>,
    /// Only visits to this host.
    host: Option<String>,
    /// Only visits with this outcome.
    outcome: Option<String>,
    /// Most items of this part [default: 100].
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The `next` of the part before, or the number of a visit: visits that were recorded after it.
    #[param(pattern = "^[0-9]{1,18}$")]
    after: Option<String>,
}

/// Enough was read, or reading failed.
enum LogEnd {
    Enough,
    Failed(LookError),
}

impl From<LookError> for LogEnd {
    fn from(error: LookError) -> Self {
        Self::Failed(error)
    }
}

#[utoipa::path(
    get, path = "/api/v1/log", tag = "store", summary = "Visits in the order in which they were recorded",
    params(LogQuery),
    responses((status = 200, description = "As `freshet log --json` prints it, in parts; ask with the last `observation_id` as `after` to go on with a running crawl", body = Documented<ListPart<LogLine>>), ApiTrouble)
)]
pub(crate) async fn log(
    State(site): State<Dashboard>,
    Asked(asked): Asked<LogQuery>,
) -> Result<Response, Trouble> {
    let most = usize::try_from(most(asked.limit)?).unwrap_or(usize::MAX);
    let host = given(&asked.host).map(wanted).transpose()?;
    let after = asked.after.as_deref().map(str::parse::<i64>).transpose().map_err(|_| no_place())?;
    let named = given(&asked.host).unwrap_or_default().to_owned();
    let filter = LogWanted {
        cycle: asked.cycle,
        host,
        outcome: given(&asked.outcome).map(str::to_owned),
        latest: None,
    };
    let found = site.look(move |store| {
        if let Some(host) = &filter.host {
            must_be_known(store, host, &named)?;
        }
        let after = match after {
            Some(after) => after,
            None => start(store, asked.cycle)?,
        };
        let mut lines: Vec<LogLine> = Vec::new();
        let read = log_after(store, after, &filter, |line| {
            lines.push(line);
            if lines.len() > most { Err(LogEnd::Enough) } else { Ok(()) }
        });
        match read {
            Err(LogEnd::Failed(error)) => Err(error),
            Ok(_) | Err(LogEnd::Enough) => Ok(lines),
        }
    });
    let mut items = found.await?;
    let has_more = items.len() > most;
    items.truncate(most);
    let next = items.last().filter(|_| has_more).map(|last| last.observation_id.to_string());
    documented(&ListPart { items, next })
}

/// Visits of a cycle among which the first is looked for: a batch is recorded at once, in any order.
const FIRST_VISITS: usize = 1000;

/// The number before the first visit of a cycle.
fn start(store: &mut dyn Store, cycle: Option<i64>) -> Result<i64, LookError> {
    let (mut first, mut left): (Option<i64>, usize) = (None, FIRST_VISITS);
    let read = of_cycle(store, &LogWanted { cycle, ..LogWanted::default() }, |line| {
        first = Some(first.map_or(line.observation_id, |known| known.min(line.observation_id)));
        left -= 1;
        if left == 0 { Err(LogEnd::Enough) } else { Ok(()) }
    });
    if let Err(LogEnd::Failed(error)) = read {
        return Err(error);
    }
    match first {
        Some(first) => Ok(first - 1),
        None => Ok(store.log_end()?),
    }
}
