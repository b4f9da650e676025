//! `freshet estimate`: the change rates of pages from recorded visits, one estimator beside the other.

use std::collections::HashMap;
use std::io::{BufWriter, Write as _};
use std::process::ExitCode;

use serde::{Serialize, Serializer};

use freshet::estimate::registry::{self, EstimatorSettings};
use freshet::estimate::{Estimate, Estimator, EstimatorState, Seen};
use freshet::report::{Align, Table, number, rate};
use freshet::time::Age;

use super::rows;
use crate::cli::{EstimateArgs, Global};
use crate::settings::Usage;

/// What each estimator knows of a page, in their order.
struct Judged {
    page: String,
    states: Vec<EstimatorState>,
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    page: &'a str,
    estimates: Estimates,
}

/// By the names of the estimators, in their order.
struct Estimates(Vec<(&'static str, Estimate)>);

impl Serialize for Estimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, estimate)| (name, estimate)))
    }
}

pub fn run(global: &Global, arguments: &EstimateArgs) -> anyhow::Result<ExitCode> {
    let estimators = chosen(&arguments.estimator)?;
    let pages = judge(arguments, &estimators)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    if global.json {
        for page in &pages {
            let pairs = estimators.iter().zip(&page.states);
            let said = pairs.map(|(estimator, state)| (estimator.name(), estimator.as_published(state)));
            let estimates = Estimates(said.collect());
            serde_json::to_writer(&mut out, &Line { page: &page.page, estimates })?;
            writeln!(out)?;
        }
    } else {
        out.write_all(table(&pages, &estimators).as_bytes())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn chosen(names: &[String]) -> Result<Vec<Box<dyn Estimator>>, Usage> {
    // A history in a file can be kept whole.
    let settings = EstimatorSettings::exact();
    if names.iter().any(|name| name == "all") {
        return Ok(registry::all(&settings));
    }
    names.iter().map(|name| registry::find(name, &settings).map_err(Usage)).collect()
}

/// Pages in the order in which the file first names them.
fn judge(arguments: &EstimateArgs, estimators: &[Box<dyn Estimator>]) -> anyhow::Result<Vec<Judged>> {
    let mut pages: Vec<Judged> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    rows::read(&arguments.input, &["page", "interval", "changed"], |row| {
        let name = row.text("page")?;
        let days = row.number("interval", "is not a number of days above 0", |days| days > 0.0)?;
        let changed =
            row.number("changed", "is neither 0 nor 1", |changed| changed == 0.0 || changed == 1.0)?;
        let at = match places.get(name) {
            Some(at) => *at,
            None => {
                let states = vec![EstimatorState::default(); estimators.len()];
                pages.push(Judged { page: name.to_owned(), states });
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
    Ok(pages)
}

fn table(pages: &[Judged], estimators: &[Box<dyn Estimator>]) -> String {
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
        for (at, (estimator, state)) in estimators.iter().zip(&page.states).enumerate() {
            let once = |text: String| if at == 0 { text } else { String::new() };
            let estimate = estimator.as_published(state);
            table.row([
                once(page.page.clone()),
                once(number(u64::from(state.visits))),
                once(number(u64::from(state.changes))),
                estimator.name().to_owned(),
                rate(estimate.rate.get()),
                rate(estimate.low.get()),
                rate(estimate.high.get()),
            ]);
        }
    }
    table.render()
}
