//! `freshet simulate`: policies replayed over recorded histories, side by side.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::Context as _;
use serde::Serialize;

use freshet::policy::registry::{self, PolicyRow};
use freshet::report::{counted, replays, span};
use freshet::simulate::compare::{self, BOUND, ComparePlan, CompareRow};
use freshet::simulate::metric::CycleFigures;
use freshet::simulate::oracle::Oracle;
use freshet::simulate::{Measuring, Ties};
use freshet::whole_file;

use crate::cli::{Global, SimulateArgs};
use crate::histories;
use crate::settings::{Usage, with_formula};
use crate::terminal::{Talk, json_line, print};

/// A row with its cycles, as JSON has it.
#[derive(Serialize)]
struct WithCycles<'a> {
    #[serde(flatten)]
    row: &'a CompareRow,
    cycles: &'a BTreeMap<String, Vec<CycleFigures>>,
}

impl<'a> WithCycles<'a> {
    fn of(row: &'a CompareRow) -> Self {
        Self { row, cycles: &row.cycles }
    }
}

pub(crate) fn run(global: &Global, arguments: &SimulateArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let mut plan = plan(arguments)?;
    if let Some(spec) = &arguments.synthetic {
        plan.every = histories::synthetic(spec)?.moments;
    }
    let started = Instant::now();
    let dataset =
        histories::load(global, arguments.dataset.as_deref(), arguments.synthetic.as_deref(), talk)?;
    let pages: usize = dataset.groups.iter().map(|group| group.pages.len()).sum();
    talk.say(&format!("{}: {}, loaded in {}", dataset.name, counted(pages, "page"), span(started.elapsed())));
    let bar = Mutex::new(talk.count("replays"));
    let started = Instant::now();
    let rows = compare::compare(&dataset, &plan, &|done, all| {
        if let Ok(mut bar) = bar.lock() {
            bar.show(done as u64, all as u64);
        }
    });
    if let Ok(bar) = bar.into_inner() {
        bar.finish();
    }
    let rows = rows.map_err(Usage)?;
    talk.say(&format!("replayed in {:.2} s", started.elapsed().as_secs_f64()));
    if let Some(path) = &arguments.plot {
        whole_file::write(path, replays::plot(&rows, &dataset).as_bytes())
            .with_context(|| format!("`{}` can't be written", path.display()))?;
    }
    print(&if global.json {
        rows.iter().map(|row| json_line(&WithCycles::of(row))).collect::<anyhow::Result<String>>()?
    } else if arguments.csv {
        replays::csv(&rows)
    } else {
        replays::table(&rows, arguments.groups)
    })
}

fn plan(arguments: &SimulateArgs) -> Result<ComparePlan, Usage> {
    let mut policies: Vec<String> = Vec::new();
    for name in arguments.policy.iter().flat_map(|list| registry::split_names(list)) {
        match name {
            "all" => {
                let can_be_made = |row: &&PolicyRow| !registry::NEED_QUERIES.contains(&row.name);
                policies.extend(registry::ALL.iter().filter(can_be_made).map(|row| row.name.to_owned()));
            }
            "oracles" => {
                policies.extend(Oracle::ALL.map(|oracle| oracle.name().to_owned()));
                policies.push(BOUND.to_owned());
            }
            name => policies.push(with_formula(name)?),
        }
    }
    for name in &policies {
        compare::check(name).map_err(Usage)?;
    }
    let budgets = arguments.budget.iter().map(|text| histories::share(text)).collect::<Result<_, _>>()?;
    Ok(ComparePlan {
        policies,
        budgets,
        warm_up: arguments.warm_up,
        every: 1,
        folds: arguments.folds,
        orders: arguments.seeds,
        ties: Ties::OlderFirst,
        measuring: Measuring {
            sketch: arguments.sketch.map(|most| most as usize),
            profiles: arguments.profiles as usize,
        },
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        least_pages: arguments.least_pages,
    })
}
