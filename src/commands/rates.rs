//! `freshet rates`: how often to visit each page, if its change rate is known and the visits a day are given.

use std::io::{BufWriter, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;

use freshet::dataset::csv_table::CsvTable;
use freshet::policy::allocation::{Watched, optimal};
use freshet::report::{Align, Table, rate, span};

use crate::cli::{Global, RatesArgs};
use crate::settings::Usage;
use crate::terminal::json_line;

/// How often to visit a page, as JSON has it.
#[derive(Serialize)]
struct PageRate<'a> {
    /// Its name in the input.
    url: &'a str,
    visits_per_day: f64,
}

const SECONDS_A_DAY: f64 = 86_400.0;

pub(crate) fn run(global: &Global, arguments: &RatesArgs) -> anyhow::Result<ExitCode> {
    let budget = arguments.budget;
    if !(budget.is_finite() && budget >= 0.0) {
        return Err(
            Usage(format!("--budget is `{budget}`; it must be a number of visits a day, 0 or more")).into()
        );
    }
    let (mut names, mut pages) = (Vec::new(), Vec::new());
    let mut table = CsvTable::open_input(&arguments.input, &["page", "rate", "weight"])?;
    while table.next_row()? {
        names.push(table.name("page")?.to_owned());
        let rule = "is not a number of changes a day, 0 or more";
        let change_rate = table.number("rate", rule, |rate| rate >= 0.0)?;
        let weight = table.number("weight", "is not a number, 0 or more", |weight| weight >= 0.0)?;
        pages.push(Watched { change_rate, weight });
    }
    let found = optimal(arguments.objective.into(), &pages, budget);
    let mut out = BufWriter::new(std::io::stdout().lock());
    if global.json {
        for (name, rate) in names.iter().zip(&found.rates) {
            out.write_all(json_line(&PageRate { url: name, visits_per_day: *rate })?.as_bytes())?;
        }
    } else {
        let mut table = Table::new(&[
            ("page", Align::Left),
            ("changes a day", Align::Right),
            ("weight", Align::Right),
            ("visits a day", Align::Right),
            ("every", Align::Right),
        ]);
        for ((name, page), visits) in names.iter().zip(&pages).zip(&found.rates) {
            table.row([
                name.clone(),
                rate(page.change_rate),
                rate(page.weight),
                rate(*visits),
                every(*visits),
            ]);
        }
        out.write_all(table.render().as_bytes())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The time from one visit to the next.
fn every(visits_a_day: f64) -> String {
    let seconds = SECONDS_A_DAY / visits_a_day;
    Duration::try_from_secs_f64(seconds).map_or_else(|_| "never".to_owned(), span)
}
