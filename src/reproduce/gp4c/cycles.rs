//! Fig. 1: ChangeRate cycle by cycle.

use super::{BASELINES, Replays, gp, printed};
use crate::dataset::Dataset;
use crate::evolve::EvolveSettings;
use crate::evolve::population::Selection;
use crate::reproduce::{CurveKind, Figure, FigureCurve, Numbers, Point, Scale};
use crate::simulate::compare::{groups, is_narrow, spread};
use crate::simulate::metric::CycleFigures;

/// Fig. 1, and what the paper counts in it.
pub(super) struct Fig1 {
    /// For each baseline, the number of cycles in which GP4C best is above, tied and below.
    pub counts: Numbers,
    /// The cycles below, in words.
    pub days_below: String,
    /// The curves.
    pub figure: Figure,
}

/// At most this many cycles are listed one by one.
const MOST_LISTED: usize = 12;

/// Compares cycle by cycle. Only the largest group, as others have other cycles.
pub(super) fn cycle_by_cycle(dataset: &Dataset, settings: &EvolveSettings, replays: &Replays) -> Fig1 {
    let groups = groups(dataset, settings.least_pages);
    let largest =
        (0..groups.len()).max_by_key(|at| groups.get(*at).map_or(0, |group| group.pages.len())).unwrap_or(0);
    let folds = |name: &str| -> Vec<&Vec<CycleFigures>> {
        replays
            .get(name)
            .map_or(Vec::new(), |own| own.iter().filter_map(|groups| groups.get(largest)).collect())
    };
    let rates = |name: &str, cycle: usize| -> Vec<f64> {
        let share = |of: &CycleFigures| of.changed as f64 / of.visits.max(1) as f64;
        folds(name).iter().filter_map(|cycles| cycles.get(cycle).map(share)).collect()
    };
    let headline = gp(Selection::Best);
    let cycles = folds(&headline).iter().map(|cycles| cycles.len()).min().unwrap_or(0);
    let heads = [
        "GP4C best against",
        "above",
        "tied",
        "below",
        "the paper: above",
        "the paper: tied",
        "the paper: below",
    ];
    let mut counts = Numbers::new(heads);
    let mut days_below = Vec::new();
    for (name, _) in BASELINES {
        let verdicts: Vec<CycleVerdict> =
            (0..cycles).map(|cycle| verdict(&rates(&headline, cycle), &rates(name, cycle))).collect();
        let count =
            |wanted: CycleVerdict| verdicts.iter().filter(|verdict| **verdict == wanted).count() as f64;
        let own = [count(CycleVerdict::Above), count(CycleVerdict::Tied), count(CycleVerdict::Below)];
        counts.row(name, own.into_iter().chain(printed::counts(name)));
        let below: Vec<usize> = (1..)
            .zip(&verdicts)
            .filter(|(_, verdict)| **verdict == CycleVerdict::Below)
            .map(|(day, _)| day)
            .collect();
        if !below.is_empty() {
            days_below.push(format!("{name} {}", listed(&below)));
        }
    }
    let days_below = if days_below.is_empty() { "none".to_owned() } else { days_below.join("; ") };
    let curve = |name: &str| {
        let points = (0..cycles).map(|cycle| {
            let (mean, off) = spread(&rates(name, cycle));
            let bounds =
                off.filter(is_narrow).map(|off| (mean - off, mean + off)).filter(|_| name == headline);
            Point { x: cycle as f64 + 1.0, y: mean, bounds }
        });
        FigureCurve::measured(name, points.collect())
    };
    let mut curves: Vec<FigureCurve> = BASELINES.iter().map(|(name, _)| curve(name)).collect();
    // Random is the reference for the others, and there are only seven colours.
    if let Some(chance) = curves.first_mut() {
        chance.kind = CurveKind::Reference;
    }
    curves.push(curve(&headline));
    let title = match groups.get(largest) {
        Some(group) if groups.len() > 1 => format!("Fig. 1: ChangeRate cycle by cycle, {}", group.name),
        _ => "Fig. 1: ChangeRate cycle by cycle".to_owned(),
    };
    let (across, up) =
        (Scale::linear("cycle after the warm-up"), Scale::linear("ChangeRate").within(0.0, 1.0));
    Fig1 { counts, days_below, figure: Figure { name: "1-cycles", title, across, up, curves } }
}

/// How one policy did in a cycle, compared with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CycleVerdict {
    Above,
    Tied,
    Below,
}

/// Compares rates fold by fold. Without an interval they are tied.
fn verdict(own: &[f64], other: &[f64]) -> CycleVerdict {
    let over: Vec<f64> = own.iter().zip(other).map(|(own, other)| own - other).collect();
    match spread(&over) {
        (mean, Some(off)) if mean - off > 0.0 => CycleVerdict::Above,
        (mean, Some(off)) if mean + off < 0.0 => CycleVerdict::Below,
        _ => CycleVerdict::Tied,
    }
}

/// `1, 3, 7`; only the first of a long list.
fn listed(days: &[usize]) -> String {
    let first: Vec<String> = days.iter().take(MOST_LISTED).map(ToString::to_string).collect();
    let more = days.len().saturating_sub(MOST_LISTED);
    first.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_compared_fold_by_fold() {
        // Folds differ by far more than the policies do, but the second policy is lower by the same in each.
        assert_eq!(verdict(&[0.2, 0.5, 0.9], &[0.19, 0.49, 0.89]), CycleVerdict::Above);
        assert_eq!(verdict(&[0.19, 0.49, 0.89], &[0.2, 0.5, 0.9]), CycleVerdict::Below);
        assert_eq!(verdict(&[0.2, 0.5, 0.9], &[0.2, 0.5, 0.9]), CycleVerdict::Tied);
        assert_eq!(verdict(&[0.2, 0.5, 0.9], &[0.1, 0.6, 0.9]), CycleVerdict::Tied);
        assert_eq!(
            verdict(&[0.9, 0.9], &[0.1, 0.1]),
            CycleVerdict::Tied,
            "two folds are too few for an interval"
        );
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(listed(&[1, 3]), "1, 3");
        assert!(listed(&(1..=20).collect::<Vec<usize>>()).ends_with("11, 12 and 8 more"));
    }
}
