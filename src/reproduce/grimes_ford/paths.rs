//! Fig. 2: the estimates of a page with a period of a day, visit by visit, from 50 first intervals.

use rand::Rng;

use super::HOURS;
use crate::estimate::Seen;
use crate::estimate::censored::VisitHistory;
use crate::reproduce::{
    CurveKind, Effort, Experiment, Figure, FigureCurve, Numbers, Point, Scale, exponential,
};

/// As printed (§4.1): λ = 1/24 an hour, 50 first intervals from 0 to 700 hours, 50 epochs, the next interval 80 % of the estimate.
const PERIOD_HOURS: f64 = 24.0;
const PATHS: u32 = 50;
const LONGEST_FIRST_HOURS: f64 = 700.0;
const EPOCHS: u32 = 50;
const SHARE_OF_PERIOD: f64 = 0.8;

/// Epochs of the table, and the share of paths in an edge case by an independent implementation.
const CHECK: [(u32, f64); 6] = [(1, 1.0), (3, 0.98), (5, 0.92), (7, 0.8), (10, 0.6), (15, 0.08)];

/// The state of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    /// No visit found a change: the estimate is the time watched.
    NoneChanged,
    /// Every visit found a change: the estimate is the shortest interval.
    AllChanged,
    /// Neither: the likelihood has a maximum.
    No,
}

/// The estimated period in hours after each epoch, and whether it is an edge case.
fn path(first_hours: f64, random: &mut impl Rng) -> Vec<(f64, Edge)> {
    let mut history = VisitHistory::keeping(usize::MAX);
    let (mut interval, mut changes) = (first_hours, 0);
    let visit = |epoch: u32| {
        let changed = exponential(1.0 / PERIOD_HOURS, random) < interval;
        changes += u32::from(changed);
        history.add(interval / HOURS, Seen::from(changed));
        let estimated = HOURS / history.most_likely();
        interval = SHARE_OF_PERIOD * estimated;
        let edge = match changes {
            0 => Edge::NoneChanged,
            _ if changes == epoch => Edge::AllChanged,
            _ => Edge::No,
        };
        (estimated, edge)
    };
    (1..=EPOCHS).map(visit).collect()
}

/// Paths from first intervals of 14, 28, … 700 hours. An interval of 0 would find nothing, ever.
fn paths(random: &mut impl Rng) -> Vec<Vec<(f64, Edge)>> {
    let firsts = (1..=PATHS).map(|at| LONGEST_FIRST_HOURS * f64::from(at) / f64::from(PATHS));
    firsts.map(|first| path(first, random)).collect()
}

pub(super) fn run(effort: Effort) -> Experiment {
    let mut random = effort.draws(7);
    let drawn = paths(&mut random);
    let sets = effort.less(PATHS);
    let mut all = drawn.clone();
    all.extend((1..sets).flat_map(|_| paths(&mut random)));
    let share = |epoch: u32, edges: &[Edge]| {
        let at_edge = |path: &&Vec<(f64, Edge)>| {
            path.get(epoch as usize - 1).is_some_and(|(_, edge)| edges.contains(edge))
        };
        all.iter().filter(at_edge).count() as f64 / all.len() as f64
    };
    let heads = CHECK.iter().map(|(epoch, _)| format!("epoch {epoch}"));
    let mut table = Numbers::new(["share of paths".to_owned()].into_iter().chain(heads));
    for (name, edges) in [
        ("in an edge case", &[Edge::NoneChanged, Edge::AllChanged][..]),
        ("none changed", &[Edge::NoneChanged]),
        ("all changed", &[Edge::AllChanged]),
    ] {
        table.row(name, CHECK.map(|(epoch, _)| share(epoch, edges)));
    }
    table.row("check: in an edge case", CHECK.map(|(_, share)| share));
    let points = |of: Edge| {
        let of_path = |path: &Vec<(f64, Edge)>| {
            let at = (1_u32..).zip(path.clone()).filter(move |(_, (_, edge))| *edge == of);
            at.map(|(epoch, (period, _))| Point::new(f64::from(epoch), period)).collect::<Vec<_>>()
        };
        drawn.iter().flat_map(of_path).collect()
    };
    let mut curves: Vec<FigureCurve> =
        [("none changed", Edge::NoneChanged), ("all changed", Edge::AllChanged), ("no edge case", Edge::No)]
            .map(|(name, edge)| FigureCurve {
                name: name.to_owned(),
                kind: CurveKind::Scatter,
                points: points(edge),
            })
            .into();
    curves.push(FigureCurve::level("true period", 1.0, f64::from(EPOCHS), PERIOD_HOURS));
    Experiment {
        name: "2-paths",
        title: format!(
            "Fig. 2, as printed: a period of 24 hours, 50 first intervals from 0 to 700 hours, 50 epochs, next interval 0.8 of the \
             estimate; edge cases in {sets} × 50 paths"
        ),
        notes: vec![
            "the paper: \"most of the first 10-15 epochs of estimation are in one of the edge cases\"; it prints no share. The last \
             row is from an independent implementation"
                .to_owned(),
            "assumed: first intervals at even distances, 14, 28, … 700 hours".to_owned(),
        ],
        tables: vec![table],
        figures: vec![Figure {
            name: "2-paths",
            title: "50 paths of the irregular-sample MLE, edge cases marked".to_owned(),
            across: Scale::linear("epoch").within(0.0, 51.0),
            up: Scale::log("estimated period, hours"),
            curves,
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_the_first_epochs_are_edge_cases() {
        let found = run(Effort { runs: 1000, seed: 1 });
        let table = &found.tables[0];
        for (epoch, check) in CHECK {
            let share = table.get("in an edge case", &format!("epoch {epoch}")).expect("a number");
            // 1000 paths: a standard deviation of 0.016 at most. The check value has 50 paths or a few times as many.
            assert!((share - check).abs() < 0.1, "epoch {epoch}: {share}, not {check}");
        }
        let marked: usize = found.figures[0].curves.iter().take(3).map(|curve| curve.points.len()).sum();
        assert_eq!(marked, 50 * 50);
    }
}
