//! `freshet simulate`: policies replayed over recorded histories, side by side.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::Context as _;
use serde_json::json;

use freshet::dataset::Dataset;
use freshet::policy::registry;
use freshet::report::plot::{Axis, Plot, Series};
use freshet::report::{Align, Table, number, span};
use freshet::simulate::compare::{self, BOUND, Interval, Plan, Row};
use freshet::simulate::oracle::Oracle;
use freshet::simulate::{Measuring, Ties};

use crate::cli::{Global, SimulateArgs};
use crate::histories;
use crate::settings::{Usage, with_formula};
use crate::terminal::Talk;

pub fn run(global: &Global, arguments: &SimulateArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let mut plan = plan(arguments)?;
    if let Some(spec) = &arguments.synthetic {
        plan.every = histories::synthetic(spec)?.moments;
    }
    let started = Instant::now();
    let dataset =
        histories::load(global, arguments.dataset.as_deref(), arguments.synthetic.as_deref(), talk)?;
    let pages: usize = dataset.groups.iter().map(|group| group.pages.len()).sum();
    talk.say(&format!(
        "{}: {} pages, loaded in {}",
        dataset.name,
        number(pages as u64),
        span(started.elapsed())
    ));
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
        std::fs::write(path, plot(&rows, &dataset))
            .with_context(|| format!("`{}` can't be written", path.display()))?;
    }
    let text = if global.json {
        rows.iter().map(|row| as_json(row).to_string() + "\n").collect()
    } else if arguments.csv {
        as_csv(&rows)
    } else {
        as_text(&rows, arguments.groups)
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn plan(arguments: &SimulateArgs) -> Result<Plan, Usage> {
    let mut policies: Vec<String> = Vec::new();
    for name in arguments.policy.iter().flat_map(|list| registry::split_names(list)) {
        match name {
            "all" => policies.extend(registry::ALL.iter().map(|row| row.name.to_owned())),
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
    Ok(Plan {
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

fn as_json(row: &Row) -> serde_json::Value {
    json!({
        "policy": row.policy,
        "budget": row.budget,
        "mean": row.mean,
        "groups": row.groups,
        "cycles": row.cycles.iter().map(|(group, cycles)| (group.clone(), json!(cycles))).collect::<serde_json::Map<_, _>>(),
    })
}

fn as_csv(rows: &[Row]) -> String {
    let mut text =
        "policy,budget,group,change_rate,freshness,staleness,age,weighted_freshness,ndcg,requests,samples\n"
            .to_owned();
    for row in rows {
        let mean = std::iter::once(("mean", &row.mean));
        for (group, of) in mean.chain(row.groups.iter().map(|(name, of)| (name.as_str(), of))) {
            let figures = &of.figures;
            text += &format!(
                "{},{},{},{},{},{},{},{},{},{},{}\n",
                row.policy,
                row.budget,
                group,
                figures.change_rate,
                figures.freshness,
                figures.staleness,
                figures.age,
                figures.weighted_freshness,
                figures.ndcg,
                figures.requests,
                of.samples
            );
        }
    }
    text
}

fn as_text(rows: &[Row], groups: bool) -> String {
    let mut table = Table::new(&[
        ("policy", Align::Left),
        ("budget", Align::Right),
        ("group", Align::Left),
        ("requests", Align::Right),
        ("ChangeRate", Align::Right),
        ("fresh", Align::Right),
        ("staleness", Align::Right),
        ("age", Align::Right),
        ("weighted fresh", Align::Right),
        ("NDCG", Align::Right),
    ]);
    let mut row = |policy: &str, budget: f64, group: &str, of: &Interval| {
        let with = |value: f64, off: f64| match of.samples {
            0 | 1 => format!("{value:.4}"),
            _ => format!("{value:.4} ±{off:.4}"),
        };
        let (figures, off) = (&of.figures, &of.off);
        let is_bound = policy == BOUND;
        let known = |text: String| if is_bound { "-".to_owned() } else { text };
        table.row([
            policy.to_owned(),
            format!("{} %", (budget * 1e4).round() / 100.0),
            group.to_owned(),
            known(number(figures.requests)),
            known(with(figures.change_rate, off.change_rate)),
            known(with(figures.freshness, off.freshness)),
            with(figures.staleness, off.staleness),
            known(format!("{:.2}", figures.age)),
            known(with(figures.weighted_freshness, off.weighted_freshness)),
            known(format!("{:.4}", figures.ndcg)),
        ]);
    };
    for of in rows {
        row(&of.policy, of.budget, if of.groups.len() > 1 { "mean" } else { "" }, &of.mean);
        if groups && of.groups.len() > 1 {
            of.groups.iter().for_each(|(name, interval)| row(&of.policy, of.budget, name, interval));
        }
    }
    table.render()
        + "(age in cycles, or moments where there are several a cycle; staleness by fragments where they are known, else the share that is not fresh)\n"
}

/// Freshness cycle by cycle, of the first budget and the first group.
fn plot(rows: &[Row], dataset: &Dataset) -> String {
    let first = rows.first().map_or(0.0, |row| row.budget);
    if rows.iter().any(|row| row.budget != first) {
        return plot_of_costs(rows, dataset);
    }
    let title = format!("{}: freshness at a budget of {} %", dataset.name, (first * 1e4).round() / 100.0);
    let mut plot =
        Plot::new(title, Axis::linear("cycle"), Axis::linear("share of fresh pages").within(0.0, 1.0));
    for row in rows.iter().filter(|row| row.budget == first && row.policy != BOUND) {
        let Some(cycles) = row.cycles.values().next() else { continue };
        let points = cycles
            .iter()
            .map(|cycle| (f64::from(cycle.cycle), cycle.fresh as f64 / cycle.pages.max(1) as f64));
        plot = plot.with(Series::line(row.policy.clone(), points));
    }
    plot.svg()
}

/// What staleness costs, by each policy.
fn plot_of_costs(rows: &[Row], dataset: &Dataset) -> String {
    let across = Axis::log("of the pages visited in a cycle, %");
    let mut plot =
        Plot::new(format!("{}: staleness by refresh cost", dataset.name), across, Axis::linear("staleness"));
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.policy.as_str()) {
            names.push(&row.policy);
        }
    }
    for name in names {
        let own = rows.iter().filter(|row| row.policy == name);
        let points = own.map(|row| (row.budget * 100.0, row.mean.figures.staleness));
        plot = plot.with(Series::line(name, points));
    }
    plot.svg()
}
