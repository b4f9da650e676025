//! How policies did in a replay, drawn as a table, a picture or CSV.

use crate::dataset::Dataset;
use crate::dataset::csv_cell::guarded;
use crate::simulate::compare::{BOUND, CompareRow, MeanInterval};
use crate::simulate::metric::{CycleFigures, Figures};
use crate::simulate::oracle::Oracle;

use super::plot::inks::IN_A_FILE;
use super::plot::{Axis, Plot, Series};
use super::{Align, Table, number, with_interval, without_interval};

/// A line for each policy, budget and group.
pub fn csv(rows: &[CompareRow]) -> String {
    let mut text =
        "policy,budget,group,change_rate,freshness,staleness,age,weighted_freshness,weighted_staleness,ndcg,quality,requests,samples\n"
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
                figures.weighted_staleness.to_string(),
                figures.ndcg.to_string(),
                figures.quality.map(|quality| quality.to_string()).unwrap_or_default(),
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
    // A column only where queries were replayed too.
    let has_quality = rows.iter().any(|row| row.mean.figures.quality.is_some());
    let mut columns = vec![
        ("policy", Align::Left),
        ("budget", Align::Right),
        ("group", Align::Left),
        ("requests", Align::Right),
        ("ChangeRate", Align::Right),
        ("fresh", Align::Right),
        ("staleness", Align::Right),
        ("age", Align::Right),
        ("weighted fresh", Align::Right),
        ("weighted stale", Align::Right),
        ("NDCG", Align::Right),
    ];
    if has_quality {
        columns.push(("search quality", Align::Right));
    }
    let mut table = Table::new(&columns);
    let mut row = |policy: &str, budget: f64, group: &str, of: &MeanInterval| {
        let with = |figure: fn(&Figures) -> f64| {
            with_interval(figure(&of.figures), of.off.as_ref().map(figure), of.samples)
        };
        let figures = &of.figures;
        let is_bound = policy == BOUND;
        let known = |text: String| if is_bound { "-".to_owned() } else { text };
        let quality = figures.quality.map_or("-".to_owned(), |quality| {
            with_interval(quality, of.off.and_then(|off| off.quality), of.samples)
        });
        let cells = [
            policy.to_owned(),
            format!("{} %", (budget * 1e4).round() / 100.0),
            group.to_owned(),
            known(number(figures.requests)),
            known(with(|figures| figures.change_rate)),
            known(with(|figures| figures.freshness)),
            with(|figures| figures.staleness),
            known(format!("{:.2}", figures.age)),
            known(with(|figures| figures.weighted_freshness)),
            known(with(|figures| figures.weighted_staleness)),
            known(format!("{:.4}", figures.ndcg)),
        ];
        table.row(cells.into_iter().chain(has_quality.then_some(quality)));
    };
    for of in rows {
        row(&of.policy, of.budget, if of.groups.len() > 1 { "mean" } else { "" }, &of.mean);
        if groups && of.groups.len() > 1 {
            of.groups.iter().for_each(|(name, interval)| row(&of.policy, of.budget, name, interval));
        }
    }
    without_interval(table.render(), "folds or page orders")
        + "(age in cycles, or moments where there are several a cycle; staleness by fragments where they are known, else the share that is not fresh)\n"
}

/// A picture: freshness cycle by cycle, of the first group; with several budgets, staleness by cost.
pub fn plot(rows: &[CompareRow], dataset: &Dataset) -> Plot {
    let first = rows.first().map_or(0.0, |row| row.budget);
    if rows.iter().any(|row| row.budget != first) {
        return plot_of_costs(rows, dataset);
    }
    let group = rows.first().filter(|row| row.cycles.len() > 1).and_then(|row| row.cycles.keys().next());
    let group = group.map_or(String::new(), |group| format!(", {group}"));
    let budget = (first * 1e4).round() / 100.0;
    let title = format!("{}{group}: freshness at a budget of {budget} %", dataset.name);
    let own = rows.iter().filter(|row| row.policy != BOUND);
    let curves = own.filter_map(|row| {
        let cycles = row.cycles.values().next()?;
        let fresh = |cycle: &CycleFigures| cycle.fresh as f64 / cycle.pages.max(1) as f64;
        let points = cycles.iter().map(|cycle| (f64::from(cycle.cycle), fresh(cycle))).collect();
        Some(PolicyCurve::new(&row.policy, points))
    });
    let plot = Plot::new(title, Axis::linear("cycle"), Axis::share("share of fresh pages"));
    best_few(plot, curves.collect(), |worth| -worth)
}

/// Staleness by cost, a curve for each policy.
fn plot_of_costs(rows: &[CompareRow], dataset: &Dataset) -> Plot {
    let mut curves: Vec<PolicyCurve> = Vec::new();
    for row in rows {
        let point = (row.budget * 100.0, row.mean.figures.staleness);
        match curves.iter_mut().find(|curve| curve.name == row.policy) {
            Some(curve) => curve.points.push(point),
            None => curves.push(PolicyCurve::new(&row.policy, vec![point])),
        }
    }
    let title = format!("{}: staleness by refresh cost", dataset.name);
    let across = Axis::log("share of the pages visited in a cycle, %");
    best_few(Plot::new(title, across, Axis::share("staleness")), curves, |worth| worth)
}

/// The figures of a policy in a picture, or those of several policies that are the same.
struct PolicyCurve {
    name: String,
    /// Does it know the future?
    is_oracle: bool,
    policies: usize,
    points: Vec<(f64, f64)>,
}

/// Is this the name of an oracle, or of the bound that no policy can beat?
pub fn knows_the_future(policy: &str) -> bool {
    policy == BOUND || Oracle::from_name(policy).is_some()
}

impl PolicyCurve {
    fn new(policy: &str, points: Vec<(f64, f64)>) -> Self {
        let is_oracle = knows_the_future(policy);
        Self { name: policy.to_owned(), is_oracle, policies: 1, points }
    }

    fn mean(&self) -> f64 {
        self.points.iter().map(|(_, value)| value).sum::<f64>() / self.points.len().max(1) as f64
    }
}

/// The most curves that have a name and a colour: as many as there are colours.
const MOST_NAMED: usize = IN_A_FILE.colours.len();

/// All curves, the best first: those with the least `cost` of their mean. Curves that are the same are drawn once. If there
/// are many, the best have names and the others are thin and grey. Oracles are dashed; among many curves only the best
/// of them has a name.
fn best_few(plot: Plot, mut curves: Vec<PolicyCurve>, cost: fn(f64) -> f64) -> Plot {
    curves.sort_by(|one, other| cost(one.mean()).total_cmp(&cost(other.mean())));
    curves.dedup_by(|later, first| {
        let is_same = later.points == first.points && later.is_oracle == first.is_oracle;
        if is_same {
            first.name = format!("{}, {}", first.name, later.name);
            first.policies += later.policies;
        }
        is_same
    });
    let many = curves.len() > MOST_NAMED;
    let mut oracles = usize::from(curves.iter().any(|curve| curve.is_oracle));
    let mut policies = MOST_NAMED - oracles;
    let (named, others): (Vec<_>, Vec<_>) = curves.into_iter().partition(|curve| {
        let left = if curve.is_oracle { &mut oracles } else { &mut policies };
        let has_name = !many || *left > 0;
        *left = left.saturating_sub(1);
        has_name
    });
    let plot = named.into_iter().fold(plot, |plot, curve| {
        let series = Series::line(curve.name, curve.points);
        plot.with(if curve.is_oracle { series.dashed() } else { series })
    });
    let count: usize = others.iter().map(|curve| curve.policies).sum();
    // A single one has room for its name.
    let mut name = match &others[..] {
        [only] => only.name.clone(),
        _ => format!("{count} others"),
    };
    others.into_iter().fold(plot, |plot, curve| {
        plot.with(Series::line(std::mem::take(&mut name), curve.points).grey().thin())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(policy: &str, at: usize) -> PolicyCurve {
        PolicyCurve::new(policy, vec![(0.0, at as f64), (1.0, at as f64)])
    }

    fn drawn(curves: Vec<PolicyCurve>) -> String {
        best_few(Plot::new("", Axis::linear("cycle"), Axis::linear("fresh")), curves, |worth| -worth).svg()
    }

    fn policies(count: usize) -> Vec<PolicyCurve> {
        (0..count).map(|at| flat(&format!("policy-{at}"), at)).collect()
    }

    #[test]
    fn of_many_policies_the_best_have_names_and_the_others_are_grey() {
        let few = drawn(policies(7));
        assert!((0..7).all(|at| few.contains(&format!(">policy-{at}<"))) && !few.contains("other"), "{few}");
        let many = drawn(policies(24));
        assert!((17..24).all(|at| many.contains(&format!(">policy-{at}<"))), "{many}");
        assert!(!many.contains(">policy-16<") && many.contains(">17 others<"), "{many}");
        let eight = drawn(policies(8));
        assert!(eight.contains(">policy-0<") && !eight.contains("other"), "{eight}");
    }

    #[test]
    fn oracles_are_dashed_and_do_not_crowd_out_policies() {
        let oracles = ["clairvoyant-now", "clairvoyant-utility", "clairvoyant-future"];
        let oracles = oracles.iter().enumerate().map(|(at, name)| flat(name, 24 + at));
        let all = drawn(policies(24).into_iter().chain(oracles).collect());
        assert!((18..24).all(|at| all.contains(&format!(">policy-{at}<"))), "{all}");
        assert!(all.contains(">clairvoyant-future<") && !all.contains(">clairvoyant-now<"), "{all}");
        assert!(all.contains(">20 others<") && all.contains("stroke-dasharray"), "{all}");
    }

    #[test]
    fn policies_that_choose_the_same_pages_share_a_line() {
        let same = drawn(vec![flat("age", 3), flat("longevity", 5), flat("every", 3)]);
        assert!(same.contains(">age, every<") && same.contains(">longevity<"), "{same}");
        assert_eq!(same.matches("<path").count(), 2, "{same}");
        let mut many = policies(12);
        many.extend([flat("a", 2), flat("b", 2)]);
        assert!(drawn(many).contains(">7 others<"));
    }
}
