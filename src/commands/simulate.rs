//! `freshet simulate`: policies replayed over recorded histories, side by side.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::Context as _;
use serde::Serialize;

use freshet::dataset::WantedWords;
use freshet::policy::registry::{self, PolicyRow, PolicySettings};
use freshet::quality::copies::WorkloadTerms;
use freshet::quality::measure::MeasureId;
use freshet::quality::search_workload::SearchWorkload;
use freshet::report::{counted, replays, span};
use freshet::simulate::compare::{self, BOUND, ComparePlan, CompareRow};
use freshet::simulate::metric::CycleFigures;
use freshet::simulate::oracle::Oracle;
use freshet::simulate::raised_signals::SignalSource;
use freshet::simulate::searched::SearchedDataset;
use freshet::simulate::{Measuring, Ties};
use freshet::whole_file;

use crate::cli::{Global, SimulateArgs};
use crate::histories;
use crate::queries;
use crate::settings::{Settings, Usage, with_formula};
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
    let search = search(global, arguments, talk)?;
    let mut plan = plan(arguments, search.as_ref().map(SearchWorkload::measure))?;
    if let Some(spec) = &arguments.synthetic {
        plan.every = histories::synthetic(spec)?.moments;
    }
    if matches!(plan.signals, SignalSource::Drawn(_)) && !look_at_signals(&plan.policies) {
        talk.say("none of these policies looks at signals: --signals makes no difference");
    }
    let started = Instant::now();
    let terms = search.as_ref().map(|search| WorkloadTerms::of(&search.workload));
    let wanted = terms.as_ref().map_or(WantedWords::None, WantedWords::Of);
    let (path, spec) = (arguments.dataset.as_deref(), arguments.synthetic.as_deref());
    let dataset = histories::load(global, path, spec, wanted, talk)?;
    let pages: usize = dataset.groups.iter().map(|group| group.pages.len()).sum();
    talk.say(&format!("{}: {}, loaded in {}", dataset.name, counted(pages, "page"), span(started.elapsed())));
    if let Some(search) = &search {
        let searched = SearchedDataset::of(&dataset, search)?;
        if searched.unanswered > 0 {
            let (none, all) = (searched.unanswered, search.workload.queries().len());
            talk.say(&format!("{none} of {all} queries find no page: no text has all their words"));
        }
        plan.searched = Some(Arc::new(searched));
    }
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
        whole_file::write(path, replays::plot(&rows, &dataset).svg().as_bytes())
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

/// What people search for, if a flag or a policy asks for it. Settings of a file alone don't: a dataset may have no words.
fn search(global: &Global, arguments: &SimulateArgs, talk: &Talk) -> anyhow::Result<Option<SearchWorkload>> {
    let given = &arguments.flags.0.search;
    let names = arguments.policy.iter().flat_map(|list| registry::split_names(list));
    let policy =
        names.filter_map(|name| name.split(':').next()).find(|name| registry::NEED_QUERIES.contains(name));
    if given.queries.is_none() && given.queries_from.is_none() && policy.is_none() {
        return Ok(None);
    }
    let by = format!("the policy `{}`", policy.unwrap_or_default());
    let settings = Settings::load(global, &arguments.flags.0)?;
    Ok(Some(queries::needed(&by, &settings, Some(talk))?))
}

fn plan(arguments: &SimulateArgs, queries: Option<MeasureId>) -> Result<ComparePlan, Usage> {
    let mut policies: Vec<String> = Vec::new();
    for name in arguments.policy.iter().flat_map(|list| registry::split_names(list)) {
        match name {
            "all" => {
                let can_be_made =
                    |row: &&PolicyRow| queries.is_some() || !registry::NEED_QUERIES.contains(&row.name);
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
        compare::check(name, queries).map_err(Usage)?;
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
        searched: None,
        signals: signals(arguments.signals.as_deref())?,
        by_day: arguments.by_day,
        list_cost: arguments
            .list_cost
            .as_deref()
            .map(|text| histories::share_of("--list-cost", text, "the budget"))
            .transpose()?,
    })
}

fn signals(text: Option<&str>) -> Result<SignalSource, Usage> {
    let parsed = text.map(str::parse).transpose();
    parsed.map(Option::unwrap_or_default).map_err(|error: String| Usage(format!("--signals: {error}")))
}

/// Does any of these policies look at signals?
fn look_at_signals(policies: &[String]) -> bool {
    let settings = PolicySettings::default();
    policies.iter().any(|name| registry::find(name, &settings).is_ok_and(|policy| policy.looks_at().signals))
}
