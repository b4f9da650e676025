//! What a formula depends on: which terminals matter, and for which values it is high.

use super::runner::Runner;
use super::warmed_up::WarmedUp;
use super::{EvolveSettings, terms};
use crate::dataset::{Dataset, Group};
use crate::policy::expression::{Columns, Expression, Terminal};
use crate::policy::traces::WantedTraces;
use crate::simulate::compare::{fold, groups, spread};
use crate::simulate::truth::Truth;

/// The most pages that are replayed: no two share a state here, which is slow.
const MOST_PAGES: usize = 5000;
/// How often the values of a terminal are shuffled.
pub const SHUFFLES: u64 = 5;
/// Cells of the surface in each direction.
const CELLS: usize = 32;

/// What was found out about a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Its fitness on the pages that were replayed.
    pub worth: f64,
    /// Pages that were replayed.
    pub pages: usize,
    /// The one that matters most first.
    pub terminals: Vec<Importance>,
    /// The scores over the two terminals that matter most.
    pub surface: Surface,
}

/// How much fitness a formula loses if the values of a terminal are shuffled among the pages of each cycle (permutation
/// importance, Breiman 2001).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Importance {
    /// The terminal that was shuffled.
    pub terminal: Terminal,
    /// The mean loss of fitness.
    pub loss: f64,
    /// The half-width of its 95 % confidence interval.
    pub off: Option<f64>,
}

/// The formula over the two terminals that matter most. All other terminals have the values of the nearest page.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// The terminal of the horizontal axis.
    pub across: Terminal,
    /// The terminal of the vertical axis.
    pub up: Terminal,
    /// Width and height of a cell.
    pub cell: (f64, f64),
    /// For each cell: its middle, and its place in the order of scores, from 0 for the lowest to 1 for the highest.
    pub cells: Vec<(f64, f64, f64)>,
}

/// Replays the formula on the pages of a dataset, shuffling one terminal after the other. `None` if no page competes.
pub fn explain(dataset: &Dataset, formula: &Expression, settings: &EvolveSettings) -> Option<Explained> {
    let own = formula.terminals();
    let moves = WantedTraces::of(&own).divergence();
    let mut all = Vec::new();
    let mut pages = 0;
    for group in groups(dataset, settings.least_pages) {
        let parts = group.pages.len().div_ceil(MOST_PAGES) as u32;
        let some = fold(group.pages.len(), parts, 0).0;
        let warmed_up = WarmedUp::new(Truth::of(group, &some), terms(settings, group), moves);
        if !warmed_up.is_empty() {
            pages += some.len();
            all.push((warmed_up, Runner::new(&own, days(group))));
        }
    }
    if all.is_empty() {
        return None;
    }
    let count = all.len() as f64;
    let worth = all
        .iter_mut()
        .map(|(warmed_up, runner)| runner.run(warmed_up, formula, settings.fitness))
        .sum::<f64>()
        / count;
    let mut terminals: Vec<Importance> = own
        .iter()
        .map(|terminal| {
            let losses: Vec<f64> = (0..SHUFFLES)
                .map(|shuffle| {
                    let seed = settings.seed.wrapping_add(shuffle << 32);
                    let each = all.iter_mut().map(|(warmed_up, runner)| {
                        runner.run_shuffled(warmed_up, formula, settings.fitness, *terminal, seed)
                    });
                    worth - each.sum::<f64>() / count
                })
                .collect();
            let (loss, off) = spread(&losses);
            Importance { terminal: *terminal, loss, off }
        })
        .collect();
    terminals.sort_by(|a, b| b.loss.total_cmp(&a.loss));
    let mut seen = Columns::default();
    for (warmed_up, runner) in &mut all {
        let columns = runner.values_at_the_end(warmed_up, formula);
        for terminal in Terminal::ALL {
            seen.of_mut(terminal).extend_from_slice(columns.of(terminal));
        }
    }
    let surface = surface(formula, &terminals, &seen);
    Some(Explained { worth, pages, terminals, surface })
}

fn days(group: &Group) -> f64 {
    group.step.as_secs_f64() / 86_400.0
}

fn surface(formula: &Expression, terminals: &[Importance], seen: &Columns) -> Surface {
    let mut by_matter = terminals.iter().map(|importance| importance.terminal);
    let first = by_matter.next().unwrap_or(Terminal::Waiting);
    let second = by_matter.next();
    let second =
        second.unwrap_or(if first == Terminal::Waiting { Terminal::Changes } else { Terminal::Waiting });
    // Time goes from left to right.
    let (across, up) = if second == Terminal::Waiting { (second, first) } else { (first, second) };
    let (horizontal, vertical) = (Span::of(seen.of(across)), Span::of(seen.of(up)));
    let mut cells: Vec<(f64, f64, f64)> = Vec::new();
    for row in 0..CELLS {
        for column in 0..CELLS {
            let (x, y) = (horizontal.middle(column), vertical.middle(row));
            let distance = |(a, b): (&f64, &f64)| ((a - x) / horizontal.cell).hypot((b - y) / vertical.cell);
            let pages = seen.of(across).iter().zip(seen.of(up)).map(distance).enumerate();
            let nearest = pages.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(page, _)| page);
            let value = formula.value(|terminal| match terminal {
                terminal if terminal == across => x,
                terminal if terminal == up => y,
                other => seen.of(other).get(nearest).copied().unwrap_or(0.0),
            });
            cells.push((x, y, value));
        }
    }
    Surface { across, up, cell: (horizontal.cell, vertical.cell), cells: by_rank(cells) }
}

/// The range that most values are in.
struct Span {
    from: f64,
    cell: f64,
}

impl Span {
    fn of(values: &[f64]) -> Self {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values.get((values.len().saturating_sub(1) as f64 * share) as usize).copied();
        let (low, high) = (at(0.01).unwrap_or(0.0), at(0.99).unwrap_or(0.0));
        let width = if high > low { high - low } else { 1.0 };
        Self { from: low, cell: width / CELLS as f64 }
    }

    fn middle(&self, cell: usize) -> f64 {
        self.from + self.cell * (cell as f64 + 0.5)
    }
}

/// Replaces values by their places in the order, as values may be of any size. Equal ones share their middle place.
fn by_rank(mut cells: Vec<(f64, f64, f64)>) -> Vec<(f64, f64, f64)> {
    let mut values: Vec<f64> = cells.iter().map(|cell| cell.2).collect();
    values.sort_by(f64::total_cmp);
    let most = values.len().saturating_sub(1).max(1) as f64;
    for (_, _, value) in &mut cells {
        let below = values.partition_point(|other| *other < *value);
        let up_to = values.partition_point(|other| *other <= *value);
        *value = (below + up_to - 1) as f64 / 2.0 / most;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::synthetic::Spec;

    #[test]
    fn what_a_formula_goes_by_matters_and_the_rest_does_not() {
        let dataset = "pages=400,cycles=30".parse::<Spec>().expect("a spec").dataset();
        let formula = "t * X + n * 0.000001".parse().expect("a formula");
        let explained = explain(&dataset, &formula, &EvolveSettings::default()).expect("pages");
        let of =
            |terminal| explained.terminals.iter().find(|one| one.terminal == terminal).expect("there").loss;
        assert!(of(Terminal::Changes) > 0.1, "{explained:?}");
        assert!(of(Terminal::Changes) > of(Terminal::Visits) + 0.05);
        assert_eq!(explained.terminals.first().map(|first| first.terminal), Some(Terminal::Changes));
        assert_eq!((explained.surface.across, explained.surface.up), (Terminal::Waiting, Terminal::Changes));
        let cells = &explained.surface.cells;
        assert_eq!(cells.len(), CELLS * CELLS);
        assert!(
            cells.first().is_some_and(|cell| cell.2 < 0.1) && cells.last().is_some_and(|cell| cell.2 > 0.99)
        );
    }

    #[test]
    fn a_formula_without_terminals_is_flat() {
        let dataset = "pages=50,cycles=10".parse::<Spec>().expect("a spec").dataset();
        let flat = "1".parse().expect("a formula");
        let explained = explain(&dataset, &flat, &EvolveSettings::default()).expect("pages");
        assert!(explained.terminals.is_empty());
        assert!(explained.surface.cells.iter().all(|cell| (cell.2 - 0.5).abs() < 1e-9));
        assert_eq!(
            explain(&dataset, &flat, &EvolveSettings { warm_up: 9, ..EvolveSettings::default() }),
            None
        );
    }
}
