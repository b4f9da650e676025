//! `freshet estimate`: the change rates of pages from their visits, one estimator beside the other.

use std::io::{BufWriter, Write as _};
use std::process::ExitCode;

use freshet::crawl::learning;
use freshet::dataset::csv_table::CsvTable;
use freshet::estimate::Estimator;
use freshet::estimate::learner::Learner;
use freshet::estimate::priors::{GroupBy, PriorKind};
use freshet::estimate::registry::{self, EstimatorSettings};
use freshet::look::estimates::{
    PageEstimates, VISIT_COLUMNS, estimates_of_file, estimates_of_store, first_intervals, fitted_priors,
};
use freshet::report;
use freshet::store;

use crate::cli::{EstimateArgs, Global};
use crate::settings::{Given, Settings, Usage, estimator_settings};
use crate::terminal::{Talk, json_line, print};

pub(crate) fn run(global: &Global, arguments: &EstimateArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = EstimatorSettings {
        // The visits are read at once, so they can be kept whole.
        keep: EstimatorSettings::exact().keep,
        ..estimator_settings(arguments.sa_gamma, &arguments.lln_alpha)
    };
    let estimators = chosen(&arguments.estimator, &settings)?;
    if arguments.fit_prior {
        return fit_prior(global, arguments, talk);
    }
    if arguments.first_interval {
        return first_interval(global);
    }
    let pages = match &arguments.input {
        Some(path) => estimates_of_file(&mut CsvTable::open_input(path, &VISIT_COLUMNS)?, &estimators)?,
        None => of_store(global, arguments, &estimators, &settings)?,
    };
    if !global.json {
        return print(&report::estimates::estimates(&pages));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    for page in &pages {
        out.write_all(json_line(page)?.as_bytes())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn chosen(names: &[String], settings: &EstimatorSettings) -> Result<Vec<Box<dyn Estimator>>, Usage> {
    if names.iter().any(|name| name == "all") {
        return Ok(registry::all(settings));
    }
    names.iter().map(|name| registry::find(name, settings).map_err(Usage)).collect()
}

/// Pages of the store, by its own priors.
fn of_store(
    global: &Global,
    arguments: &EstimateArgs,
    estimators: &[Box<dyn Estimator>],
    settings: &EstimatorSettings,
) -> anyhow::Result<Vec<PageEstimates>> {
    let all = Settings::load(global, &Given::default())?;
    let mut store = store::open_to_look(&all.store)?;
    let priors = store.priors()?;
    let mut learners = Vec::new();
    for estimator in estimators {
        let mut learner = Learner::new(estimator.name(), settings).map_err(Usage)?;
        learner.believe(&priors);
        learners.push((estimator.name(), learner));
    }
    let normaliser = all.normaliser();
    let page = arguments.url.as_deref().map(|url| (&normaliser, url));
    Ok(estimates_of_store(&mut *store, &learners, page)?)
}

/// The repair if there are too few visits.
const TOO_LITTLE: &str = "at least 20 pages must have been visited twice, and at least one of them must have changed; run \
                          `freshet crawl` a few more times";

/// The best time between the first and the second visit to a new page.
fn first_interval(global: &Global) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &Given::default())?;
    let mut store = store::open_to_look(&settings.store)?;
    let Some(found) = first_intervals(&mut *store)? else {
        anyhow::bail!("there is too little to try first intervals on: {TOO_LITTLE}");
    };
    print(&if global.json { json_line(&found)? } else { report::estimates::first_intervals(&found) })
}

/// Fits priors to the store's own pages, and keeps them.
fn fit_prior(global: &Global, arguments: &EstimateArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let by = arguments.group.as_deref().unwrap_or(GroupBy::default().name());
    let by: GroupBy = by.parse().map_err(Usage)?;
    let settings = Settings::load(global, &Given::default())?;
    // It must exist already: opening for writing would make a new one.
    drop(store::open_to_look(&settings.store)?);
    let mut store = store::open(&settings.store)?;
    let mut fit = learning::fit(&mut *store, by, &PriorKind::ALL)?;
    if fit.priors.is_empty() {
        anyhow::bail!("there is too little to fit priors to: {TOO_LITTLE}");
    }
    fit.priors.comparisons = store.comparisons()?;
    store.set_priors(&fit.priors)?;
    talk.say("the next crawl estimates its pages again with these priors");
    let fitted = fitted_priors(&mut *store, &fit)?;
    print(&if global.json {
        fitted.iter().map(json_line).collect::<anyhow::Result<String>>()?
    } else {
        report::estimates::priors(&fitted)
    })
}
