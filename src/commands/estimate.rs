//! `freshet estimate`: the change rates of pages from their visits, one estimator beside the other.

use std::collections::HashMap;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde::{Serialize, Serializer};
use serde_json::json;

use freshet::crawl::learning;
use freshet::estimate::learner::Learner;
use freshet::estimate::priors::{GroupBy, PriorKind, Priors};
use freshet::estimate::registry::{self, EstimatorSettings};
use freshet::estimate::{Estimate, Estimator, EstimatorState, Seen};
use freshet::page::{HostId, PageId};
use freshet::policy::Lesson;
use freshet::policy::page_state::seen;
use freshet::report::{Align, Table, number, rate};
use freshet::store;
use freshet::time::Age;

use freshet::look::page::find;

use super::rows;
use crate::cli::{EstimateArgs, Global};
use crate::settings::{Given, Settings, Usage, estimator_settings};
use crate::terminal::Talk;

/// What each estimator says of a page, in their order.
struct Judged {
    page: String,
    visits: u32,
    changes: u32,
    estimates: Vec<(&'static str, Estimate)>,
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    page: &'a str,
    estimates: Estimates<'a>,
}

/// By the names of the estimators, in their order.
struct Estimates<'a>(&'a [(&'static str, Estimate)]);

impl Serialize for Estimates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, estimate)| (name, estimate)))
    }
}

pub fn run(global: &Global, arguments: &EstimateArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = EstimatorSettings {
        // Visits that are at hand can be kept whole.
        keep: EstimatorSettings::exact().keep,
        ..estimator_settings(arguments.sa_gamma, &arguments.lln_alpha)
    };
    let estimators = chosen(&arguments.estimator, &settings)?;
    if arguments.fit_prior {
        return fit_prior(global, arguments, talk);
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let pages = match &arguments.input {
        Some(path) => judge(path, &estimators)?,
        None => judge_stored(global, arguments, &settings)?,
    };
    if global.json {
        for Judged { page, estimates, .. } in &pages {
            serde_json::to_writer(&mut out, &Line { page, estimates: Estimates(estimates) })?;
            writeln!(out)?;
        }
    } else {
        out.write_all(table(&pages).as_bytes())?;
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

/// Pages in the order in which the file first names them.
fn judge(path: &Path, estimators: &[Box<dyn Estimator>]) -> anyhow::Result<Vec<Judged>> {
    struct Read {
        page: String,
        states: Vec<EstimatorState>,
    }
    let mut pages: Vec<Read> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    rows::read(path, &["page", "interval", "changed"], |row| {
        let name = row.text("page")?;
        let days = row.number("interval", "is not a number of days above 0", |days| days > 0.0)?;
        let changed =
            row.number("changed", "is neither 0 nor 1", |changed| changed == 0.0 || changed == 1.0)?;
        let at = match places.get(name) {
            Some(at) => *at,
            None => {
                let states = vec![EstimatorState::default(); estimators.len()];
                pages.push(Read { page: name.to_owned(), states });
                places.insert(name.to_owned(), pages.len() - 1);
                pages.len() - 1
            }
        };
        if let Some(page) = pages.get_mut(at) {
            for (estimator, state) in estimators.iter().zip(&mut page.states) {
                estimator.observe(state, Age::from_days(days), Seen::from(changed == 1.0));
            }
        }
        Ok(())
    })?;
    let judged = pages.into_iter().map(|Read { page, states }| {
        let (visits, changes) = states.first().map_or((0, 0), |state| (state.visits, state.changes));
        let said = estimators.iter().zip(&states);
        let estimates = said.map(|(estimator, state)| (estimator.name(), estimator.as_published(state)));
        Judged { page, visits, changes, estimates: estimates.collect() }
    });
    Ok(judged.collect())
}

/// Pages of the store, by its own priors.
fn judge_stored(
    global: &Global,
    arguments: &EstimateArgs,
    settings: &EstimatorSettings,
) -> anyhow::Result<Vec<Judged>> {
    let all = Settings::load(global, &Given::default())?;
    let mut store = store::open_to_look(&all.store)?;
    let priors = store.priors()?;
    let names: Vec<&str> = chosen(&arguments.estimator, settings)?.iter().map(|one| one.name()).collect();
    let mut learners = Vec::new();
    for name in names {
        let mut learner = Learner::new(name, settings).map_err(Usage)?;
        learner.believe(&priors);
        learners.push((name, learner));
    }
    let mut judged = Vec::new();
    let mut take = |url: String, host: HostId, depth: u32, lessons: &[Lesson]| {
        let seen: Vec<(Age, Seen)> = seen(lessons).collect();
        let estimates = learners.iter().map(|(name, learner)| {
            let mut state = EstimatorState::default();
            seen.iter().for_each(|(interval, seen)| learner.learn(host, depth, &mut state, *interval, *seen));
            (*name, learner.of(host, depth).as_published(&state))
        });
        let changes = lessons.iter().filter(|lesson| lesson.changed).count();
        let (visits, changes) = (lessons.len() as u32, changes as u32);
        judged.push(Judged { page: url, visits, changes, estimates: estimates.collect() });
    };
    match &arguments.url {
        Some(url) => {
            let page = find(&mut *store, &all.normaliser(), url)?;
            let id = PageId(page.id);
            let host = store.known_page(id)?.map_or(HostId(0), |known| known.host);
            take(page.url, host, page.depth, &store.lessons(id)?);
        }
        None => store.each_history(1, &mut |page| take(page.url, page.host, page.depth, &page.lessons))?,
    }
    Ok(judged)
}

/// Fits priors to the store's own pages, and keeps them.
fn fit_prior(global: &Global, arguments: &EstimateArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let by = arguments.group.as_deref().unwrap_or(GroupBy::default().name());
    let by: GroupBy = by.parse().map_err(Usage)?;
    let settings = Settings::load(global, &Given::default())?;
    // It must be there already: a fit makes nothing out of nothing.
    drop(store::open_to_look(&settings.store)?);
    let mut store = store::open(&settings.store)?;
    let mut priors = learning::fit(&mut *store, by, &PriorKind::ALL)?;
    if priors.is_empty() {
        anyhow::bail!(
            "there is too little to fit priors to: at least 20 pages must have been visited twice, and one have changed; \
             `freshet crawl` a few times more"
        );
    }
    priors.comparisons = store.comparisons()?;
    store.set_priors(&priors)?;
    talk.say("the next crawl learns its pages anew by these");
    let hosts: HashMap<i64, String> =
        store.hosts()?.into_iter().map(|host| (host.id.0, host.report.host.as_str().to_owned())).collect();
    let text = if global.json {
        let line = |prior: &freshet::estimate::priors::Prior| {
            let value = json!({
                "estimator": prior.kind.name(),
                "group": group_name(&priors, prior.group, &hosts),
                "pages": prior.pages,
                "first": prior.numbers[0],
                "second": prior.numbers[1],
                "rate": rate_of(prior),
            });
            format!("{value}\n")
        };
        priors.all.iter().map(line).collect()
    } else {
        prior_table(&priors, &hosts)
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Changes a day of a page that was never visited twice.
fn rate_of(prior: &freshet::estimate::priors::Prior) -> f64 {
    let [first, second] = prior.numbers;
    match prior.kind {
        PriorKind::Gamma => first / second,
        PriorKind::TwoIntervals => {
            freshet::estimate::two_intervals::TwoIntervals { changed_days: first, unchanged_days: second }
                .rate()
        }
    }
}

fn group_name(priors: &Priors, group: Option<i64>, hosts: &HashMap<i64, String>) -> String {
    match (group, priors.by) {
        (None, _) => "all others".to_owned(),
        (Some(group), GroupBy::Host) => hosts.get(&group).cloned().unwrap_or_default(),
        (Some(group), by) => format!("{} {group}", by.name()),
    }
}

fn prior_table(priors: &Priors, hosts: &HashMap<i64, String>) -> String {
    let mut table = Table::new(&[
        ("estimator", Align::Left),
        ("group", Align::Left),
        ("pages", Align::Right),
        ("prior", Align::Left),
        ("changes a day", Align::Right),
    ]);
    for prior in &priors.all {
        let [first, second] = prior.numbers.map(rate);
        let numbers = match prior.kind {
            PriorKind::Gamma => format!("shape {first}, {second} days"),
            PriorKind::TwoIntervals => format!("changed {first} days, unchanged {second} days"),
        };
        table.row([
            prior.kind.name().to_owned(),
            group_name(priors, prior.group, hosts),
            number(prior.pages),
            numbers,
            rate(rate_of(prior)),
        ]);
    }
    table.render()
}

fn table(pages: &[Judged]) -> String {
    let mut table = Table::new(&[
        ("page", Align::Left),
        ("visits", Align::Right),
        ("changes", Align::Right),
        ("estimator", Align::Left),
        ("changes a day", Align::Right),
        ("from", Align::Right),
        ("to", Align::Right),
    ]);
    for page in pages {
        for (at, (name, estimate)) in page.estimates.iter().enumerate() {
            let once = |text: String| if at == 0 { text } else { String::new() };
            table.row([
                once(page.page.clone()),
                once(number(u64::from(page.visits))),
                once(number(u64::from(page.changes))),
                (*name).to_owned(),
                rate(estimate.rate.get()),
                rate(estimate.low.get()),
                rate(estimate.high.get()),
            ]);
        }
    }
    table.render()
}
