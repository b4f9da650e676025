//! Policies: a backtest of all of them on this store's own history, and the plan of the next cycle.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::dashboard::Dashboard;
use crate::dashboard::links::{self, Href};
use crate::dashboard::list::ListFoot;
use crate::dashboard::policies::{BacktestShown, PLANNED, backtest, next_plan};
use crate::dashboard::shown::{Foreign, Moment};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::dashboard::work::{WorkDone, Worked};
use crate::look::plan::{NextPlan, NextVisit};
use crate::report::{counted, number, percent, replays};

use super::{PageFrame, drawn};

/// Visits of a part of the plan.
const VISITS: usize = 40;

/// Where the list of planned visits goes on.
#[derive(Deserialize)]
pub(crate) struct PolicyQuery {
    after: Option<usize>,
}

#[derive(Template)]
#[template(path = "policies.html", config = "src/dashboard/askama.toml")]
struct PoliciesPage {
    frame: PageFrame,
    plan: Option<PlanPart>,
    plan_trouble: Option<String>,
    plan_work: Option<String>,
    backtest: Option<BacktestPart>,
    backtest_trouble: Option<String>,
    backtest_work: Option<String>,
}

struct PlanPart {
    sentence: String,
    at: Moment,
    visits: Vec<PlanRow>,
    foot: ListFoot,
}

struct PlanRow {
    rank: String,
    url: String,
    href: String,
    score: String,
    why: String,
}

struct BacktestPart {
    sentence: String,
    place: Option<String>,
    notes: Vec<String>,
    svg: String,
    budgets: Vec<String>,
    rows: Vec<BacktestRow>,
}

/// The staleness of a policy at each budget.
struct BacktestRow {
    policy: String,
    is_own: bool,
    staleness: Vec<String>,
    mean: f64,
}

/// The page.
pub(crate) async fn policies(
    State(site): State<Dashboard>,
    Asked(asked): Asked<PolicyQuery>,
) -> Result<Response, Trouble> {
    let (plan, replays) = tokio::join!(next_plan(&site), backtest(&site));
    let (plan, replays) = (plan?, replays?);
    let (now, screen) = (site.now(), site.screen());
    let own = plan.last.as_ref().and_then(|last| last.value.as_ref().ok()).map(|plan| plan.policy.clone());
    let (plan_part, plan_trouble) = split(plan.last.as_deref(), |value, worked| {
        PlanPart::of(value, Moment::new(worked.at, now, &screen), asked.after.unwrap_or(0))
    });
    let (backtest_part, backtest_trouble) =
        split(replays.last.as_deref(), |value, _| BacktestPart::of(value, own.as_deref()));
    drawn(&PoliciesPage {
        frame: PageFrame::new(&site, "/policies", "Policies"),
        plan: plan_part,
        plan_trouble,
        plan_work: plan.under_way.map(working),
        backtest: backtest_part,
        backtest_trouble,
        backtest_work: replays.under_way.map(working),
    })
}

/// A result as it is shown, or the sentence that says why there is none.
fn split<T, S>(
    last: Option<&Worked<T>>,
    shown: impl FnOnce(&T, &Worked<T>) -> S,
) -> (Option<S>, Option<String>) {
    match last.map(|worked| (worked, &worked.value)) {
        Some((worked, Ok(value))) => (Some(shown(value, worked)), None),
        Some((_, Err(said))) => (None, Some(said.clone())),
        None => (None, None),
    }
}

fn working(work: WorkDone) -> String {
    match work.all {
        0 => "being worked out".to_owned(),
        all => format!("being worked out: {} of {} policies", work.done, all),
    }
}

impl PlanPart {
    fn of(plan: &NextPlan, at: Moment, after: usize) -> Self {
        let budget = match plan.budget {
            Some(budget) => format!("a budget of {}", counted(budget, "request")),
            None => "no budget".to_owned(),
        };
        let visits = plan.visits.get(after.min(plan.visits.len())..).unwrap_or_default();
        let visits = visits.get(..visits.len().min(VISITS)).unwrap_or_default();
        let next = after + visits.len();
        let here = Href::to("/policies");
        let to = |place: usize| match place {
            0 => here.written(),
            place => here.clone().with("after", place).written(),
        };
        Self {
            sentence: format!(
                "A cycle that began now would rank pages by {} with {budget}; {} may be visited, {} of them for the first time.",
                plan.policy,
                counted(plan.candidates, "page"),
                number(plan.new as u64),
            ),
            at,
            visits: visits.iter().map(PlanRow::of).collect(),
            foot: ListFoot {
                first: (after > 0).then(|| to(0)),
                previous: (after > 0).then(|| to(after.saturating_sub(VISITS))),
                next: (next < plan.visits.len().min(PLANNED)).then(|| to(next)),
            },
        }
    }
}

impl PlanRow {
    fn of(visit: &NextVisit) -> Self {
        Self {
            rank: number(visit.rank as u64),
            url: visit.page.clone(),
            href: links::named(&visit.page),
            score: crate::report::rate(visit.score),
            why: visit.why.clone(),
        }
    }
}

/// Where the policy in use stands among those that do not know the future, the best first.
fn place_of_own(rows: &[BacktestRow]) -> Option<String> {
    let policies: Vec<&BacktestRow> =
        rows.iter().filter(|row| !replays::knows_the_future(&row.policy)).collect();
    let place = policies.iter().position(|row| row.is_own)?;
    let (own, best) = (policies.get(place)?, policies.first()?);
    let mean = |row: &BacktestRow| row.mean / row.staleness.len().max(1) as f64;
    let better = if place == 0 {
        "No other has fresher copies".to_owned()
    } else {
        format!("{} has the freshest copies, {:.4}", best.policy, mean(best))
    };
    Some(format!(
        "{} is in use: number {} of {} by the mean staleness of its copies, {:.4}. {better}.",
        own.policy,
        place + 1,
        policies.len(),
        mean(own)
    ))
}

impl BacktestPart {
    fn of(backtest: &BacktestShown, own: Option<&str>) -> Self {
        let mut budgets: Vec<f64> = backtest.rows.iter().map(|row| row.budget).collect();
        budgets.sort_by(f64::total_cmp);
        budgets.dedup();
        let mut rows: Vec<BacktestRow> = Vec::new();
        for row in &backtest.rows {
            let staleness = row.mean.figures.staleness;
            let shown = format!("{staleness:.4}");
            match rows.iter_mut().find(|known| known.policy == row.policy) {
                Some(known) => {
                    known.staleness.push(shown);
                    known.mean += staleness;
                }
                None => rows.push(BacktestRow {
                    policy: row.policy.clone(),
                    is_own: Some(row.policy.as_str()) == own,
                    staleness: vec![shown],
                    mean: staleness,
                }),
            }
        }
        rows.sort_by(|one, other| one.mean.total_cmp(&other.mean));
        let mut notes = vec![
            "A change counts for the cycle whose visit found it, and in cycles without a visit a page is taken not to have changed. So a policy gets no credit for a visit that your crawl did not make.".to_owned(),
        ];
        if backtest.every > 1 {
            notes.push(format!(
                "One page in {} was taken, so that it does not take too long.",
                number(backtest.every)
            ));
        }
        if backtest.open_cycle {
            notes.push("A cycle has not ended; its visits are left out.".to_owned());
        }
        if !backtest.left_out.is_empty() {
            notes.push(format!("There was no time for {}.", backtest.left_out.join(", ")));
        }
        Self {
            sentence: format!(
                "{} and {} of this store, replayed with every policy at {} budgets.",
                counted(backtest.pages, "page"),
                counted(backtest.cycles, "cycle"),
                budgets.len()
            ),
            place: place_of_own(&rows),
            notes,
            svg: backtest.svg.clone(),
            budgets: budgets.into_iter().map(percent).collect(),
            rows,
        }
    }
}
