//! `--policy help`: the policies there are.

use std::io::Write as _;
use std::process::ExitCode;

use freshet::estimate::registry::{self as estimators, EstimatorSettings};
use freshet::policy::registry;
use freshet::report::{Align, Table};

pub fn run() -> ExitCode {
    let mut table = Table::new(&[("policy", Align::Left), ("what it visits first", Align::Left)]);
    for row in registry::ALL {
        let name =
            if row.takes_estimator() { format!("{}[:ESTIMATOR]", row.name) } else { row.name.to_owned() };
        table.row([name, row.about.to_owned()]);
    }
    let known = estimators::all(&EstimatorSettings::default());
    let names: Vec<&str> = known.iter().map(|estimator| estimator.name()).collect();
    let text = format!(
        "{}\nThe default is `{}`. ESTIMATOR, `{}` unless said, is one of {}.\n\
         `expr:t * X / n` visits first where the formula is highest, `evolved:FILE` by a formula that `freshet evolve` bred.\n",
        table.render(),
        registry::DEFAULT,
        estimators::DEFAULT,
        names.join(", ")
    );
    // A reader who has seen enough is no failure.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
