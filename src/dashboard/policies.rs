//! The next plan, and a backtest of every policy on the store's own history: both take longer than a request may.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::dataset::stored::{Backtest, backtest_of_some};
use crate::dataset::{DatasetError, WantedWords};
use crate::look::plan::{NextPlan, plan};
use crate::policy::registry;
use crate::report::replays;
use crate::simulate::compare::{self, BOUND, ComparePlan, CompareRow};
use crate::simulate::raised_signals::SignalSource;
use crate::simulate::{Measuring, Ties};

use super::Dashboard;
use super::trouble::Trouble;
use super::work::{Background, PATIENCE, WorkDone, WorkShown};

/// Visits of the plan that are kept to be shown.
pub(crate) const PLANNED: usize = 1000;
/// How long a plan is good: scores change with time, and a running crawl changes the store all the time.
const PLAN_AGE: Duration = Duration::from_secs(60);

/// Shares of the pages that a cycle visits in the backtest: a few, on a scale that doubles.
const BUDGETS: [f64; 4] = [0.025, 0.05, 0.1, 0.2];
/// Cycles after a page's first copy in which it is visited without having to compete, as `freshet simulate` has it.
const WARM_UP: u32 = 2;
/// Change profiles that a policy keeps of a page, as `freshet simulate` has it.
const PROFILES: usize = 5;
/// Pages times cycles that are replayed: some seconds for most policies. Of larger stores a part of the pages is taken.
const MOST_PAGE_CYCLES: u64 = 400_000;
/// After this time no further policy is begun.
const MOST_TIME: Duration = Duration::from_secs(240);

/// Policies on the store's own history.
pub(crate) struct BacktestShown {
    /// A row for each policy and budget.
    pub rows: Vec<CompareRow>,
    /// Staleness by cost.
    pub svg: String,
    /// Pages that were replayed.
    pub pages: usize,
    /// Cycles of the history.
    pub cycles: u32,
    /// One page in this number was taken.
    pub every: u64,
    /// A cycle goes on: its visits are left out.
    pub open_cycle: bool,
    /// Policies that there was no time for.
    pub left_out: Vec<String>,
}

/// The work of the page of policies.
#[derive(Default)]
pub(super) struct PolicyWork {
    plan: Arc<Background<NextPlan>>,
    backtest: Arc<Background<BacktestShown>>,
}

/// The plan of the next cycle, as far as it is known, with its best visits only.
pub(crate) async fn next_plan(site: &Dashboard) -> Result<WorkShown<NextPlan>, Trouble> {
    // Says so if there is no store.
    site.look(|_| Ok(())).await?;
    let (asker, now) = (site.clone(), site.settings().now);
    let at = site.now();
    let is_good = move |worked: &super::work::Worked<NextPlan>| at.after(worked.at) < PLAN_AGE;
    let work = move |_: &dyn Fn(WorkDone)| {
        let mut crawler = (asker.settings().looking)()?;
        let mut plan = plan(&mut crawler, asker.now()).map_err(|error| error.to_string())?;
        plan.visits.truncate(PLANNED);
        Ok(plan)
    };
    Ok(site.work.plan.ask(0, now, PATIENCE, is_good, work).await)
}

/// The backtest, as far as it is done. A state of the store is one of its cycles that have ended: visits of a running cycle are not
/// replayed.
pub(crate) async fn backtest(site: &Dashboard) -> Result<WorkShown<BacktestShown>, Trouble> {
    let ended = site.look(|store| {
        let cycles = store.cycles(usize::MAX)?;
        let ended = cycles.iter().find(|cycle| cycle.ended_at.is_some()).map_or(0, |cycle| cycle.id);
        Ok((ended, store.summary()?.visited, cycles.len() as u64))
    });
    let (ended, visited, cycles) = ended.await?;
    let every = visited.saturating_mul(cycles).div_ceil(MOST_PAGE_CYCLES).max(1);
    let (asker, now) = (site.clone(), site.settings().now);
    let work = move |progress: &dyn Fn(WorkDone)| replayed(&asker, every, progress);
    Ok(site.work.backtest.ask(ended as u64, now, PATIENCE, |_| true, work).await)
}

/// Replays one policy after the other, on one thread: the crawl has the others.
fn replayed(site: &Dashboard, every: u64, progress: &dyn Fn(WorkDone)) -> Result<BacktestShown, String> {
    let store = &site.settings().store;
    let Backtest { mut dataset, open_cycle } =
        backtest_of_some(store, WantedWords::None, every).map_err(|error| match error {
            // The message of a page names no place of this machine.
            DatasetError::File { wrong, .. } => format!("this store {wrong}"),
            error => {
                tracing::warn!(%error, "the backtest failed");
                "the history of this store can't be read; the log of `freshet serve` says why".to_owned()
            }
        })?;
    dataset.name = "this store".to_owned();
    let started = Instant::now();
    let own = registry::ALL.iter().map(|row| row.name).filter(|name| !registry::NEED_QUERIES.contains(name));
    let policies: Vec<&str> = own.chain([BOUND]).collect();
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for (done, policy) in policies.iter().enumerate() {
        progress(WorkDone { done: done as u64, all: policies.len() as u64 });
        if started.elapsed() > MOST_TIME || *site.settings().stopped.borrow() {
            left_out.push((*policy).to_owned());
            continue;
        }
        let plan = ComparePlan {
            policies: vec![(*policy).to_owned()],
            budgets: BUDGETS.to_vec(),
            warm_up: WARM_UP,
            every: 1,
            by_day: false,
            folds: 1,
            orders: 1,
            ties: Ties::OlderFirst,
            measuring: Measuring { sketch: None, profiles: PROFILES },
            threads: 1,
            least_pages: 1,
            searched: None,
            signals: SignalSource::default(),
            list_cost: None,
        };
        let mut of_policy = compare::compare(&dataset, &plan, &|_, _| {})?;
        // Figures cycle by cycle are not shown, and are most of the bytes.
        of_policy.iter_mut().for_each(|row| row.cycles.clear());
        rows.append(&mut of_policy);
    }
    let svg = replays::plot(&rows, &dataset).svg_in_page();
    let group = dataset.groups.first();
    Ok(BacktestShown {
        rows,
        svg,
        pages: group.map_or(0, |group| group.pages.len()),
        cycles: group.map_or(0, |group| group.cycles),
        every,
        open_cycle,
        left_out,
    })
}
