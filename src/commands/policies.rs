//! `--policy help`: a list of the policies.

use std::io::Write as _;
use std::process::ExitCode;

use freshet::estimate::registry::{self as estimators, EstimatorSettings};
use freshet::policy::registry;
use freshet::report::{Align, Table};

pub(crate) fn run() -> ExitCode {
    let mut table = Table::new(&[("policy", Align::Left), ("what it visits first", Align::Left)]);
    for row in registry::ALL {
        let name =
            if row.takes_estimator() { format!("{}[:ESTIMATOR]", row.name) } else { row.name.to_owned() };
        table.row([name, row.about.to_owned()]);
    }
    let known = estimators::all(&EstimatorSettings::default());
    let names: Vec<&str> = known.iter().map(|estimator| estimator.name()).collect();
    let text = format!(
        "{}\nThe default is `{}`. ESTIMATOR (default `{}`) is one of {}.\n\
         `expr:t * X / n` visits the page with the highest value of the formula first; `evolved:FILE` uses the formula in a\n\
         file of `freshet evolve`.\n",
        table.render(),
        registry::DEFAULT,
        estimators::DEFAULT,
        names.join(", ")
    );
    // A closed pipe is no failure: the reader has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
