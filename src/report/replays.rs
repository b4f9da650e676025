//! How policies did in a replay, drawn as a table, a picture or CSV.

use crate::dataset::Dataset;
use crate::dataset::csv_cell::guarded;
use crate::simulate::compare::{BOUND, CompareRow, MeanInterval};

use super::plot::{Axis, Plot, Series};
use super::{Align, Table, number};

/// A line for each policy, budget and group.
pub fn csv(rows: &[CompareRow]) -> String {
    let mut text =
        "policy,budget,group,change_rate,freshness,staleness,age,weighted_freshness,ndcg,requests,samples\n"
            .to_owned();
    for row in rows {
        let mean = std::iter::once(("mean", &row.mean));
        for (group, of) in mean.chain(row.groups.iter().map(|(name, of)| (name.as_str(), of))) {
            let figures = &of.figures;
            let figures = [
                figures.change_rate.to_string(),
                figures.freshness.to_string(),
                figures.staleness.to_string(),
                figures.age.to_string(),
                figures.weighted_freshness.to_string(),
                figures.ndcg.to_string(),
                figures.requests.to_string(),
            ];
            text += &format!(
                "{},{},{},{},{}\n",
                csv_text(&row.policy),
                row.budget,
                csv_text(group),
                figures.join(","),
                of.samples
            );
        }
    }
    text
}

/// A name as a cell of CSV.
fn csv_text(name: &str) -> String {
    let cell = guarded(name);
    let is_plain = !cell.contains([',', '"', '\n', '\r']);
    if is_plain { cell.into_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}

/// A row for each policy and budget; `groups` adds one for each group.
pub fn table(rows: &[CompareRow], groups: bool) -> String {
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
    let mut row = |policy: &str, budget: f64, group: &str, of: &MeanInterval| {
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

/// A picture: freshness cycle by cycle, of the first group; with several budgets, staleness by cost.
pub fn plot(rows: &[CompareRow], dataset: &Dataset) -> String {
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

/// Staleness by cost, a curve for each policy.
fn plot_of_costs(rows: &[CompareRow], dataset: &Dataset) -> String {
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
