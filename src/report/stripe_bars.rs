//! The lives of a page's fragments as bars over time, grouped to fit: what the chart of a terminal and that of a page draw.
//!
//! A bar is a group of fragments that came and went together, from their birth to their death, in columns of a chart. The oldest come
//! first, those that were always there last. Where there are more groups than rows, neighbours that are nearest in birth and death are
//! joined, at their mean. What must stay true: each fragment is in exactly one bar.

use std::collections::BTreeMap;

use crate::change::lifetime::FragmentLife;
use crate::time::Timestamp;

/// Bars from the first to the last snapshot of a page.
#[derive(Clone, Debug)]
pub(super) struct StripeBars {
    /// In order of their birth; those that never changed last, as one bar.
    pub bars: Vec<StripeBar>,
    /// The first snapshot.
    pub first: Timestamp,
    /// The last snapshot.
    pub last: Timestamp,
}

/// A group of fragments, in columns of the chart.
#[derive(Clone, Copy, Debug)]
pub(super) struct StripeBar {
    /// The column of their birth.
    pub start: f64,
    /// The column of their death; that behind the last if they are still there.
    pub end: f64,
    /// Fragments of the group.
    pub fragments: usize,
    /// Were they there at every snapshot?
    pub is_static: bool,
}

impl StripeBars {
    /// The bars in this number of columns and of rows at most; `None` if there is nothing to show.
    pub(super) fn of(
        lives: &[FragmentLife],
        times: &[Timestamp],
        columns: usize,
        rows: usize,
    ) -> Option<Self> {
        let (first, last) = (*times.first()?, *times.last()?);
        if lives.iter().all(|life| life.fragments == 0) {
            return None;
        }
        // The last column is the last snapshot: what is still there then reaches into it, what went with it
        // does not.
        let span = last.since(first).seconds();
        let column = |snapshot: usize| match times.get(snapshot) {
            Some(at) if span > 0.0 => at.since(first).seconds() / span * columns.saturating_sub(1) as f64,
            _ => 0.0,
        };
        let (fixed, moving): (Vec<FragmentLife>, Vec<FragmentLife>) =
            lives.iter().partition(|life| life.is_static());
        let bars = moving.iter().map(|life| StripeBar {
            start: life.born.map_or(0.0, column),
            end: life.died.map_or(columns as f64, column),
            fragments: life.fragments,
            is_static: false,
        });
        let mut bars = fit(bars, rows.max(2) - usize::from(!fixed.is_empty()));
        if !fixed.is_empty() {
            let fragments = fixed.iter().map(|life| life.fragments).sum();
            bars.push(StripeBar { start: 0.0, end: columns as f64, fragments, is_static: true });
        }
        Some(Self { bars, first, last })
    }
}

impl StripeBar {
    /// The first column and the one after the last: at least one between them.
    pub(super) fn cells(&self, columns: usize) -> (usize, usize) {
        let start = (self.start.max(0.0) as usize).min(columns.saturating_sub(1));
        (start, (self.end.max(0.0) as usize).clamp(start + 1, columns.max(start + 1)))
    }

    fn joined(&self, other: &StripeBar) -> StripeBar {
        let (mine, theirs) = (self.fragments as f64, other.fragments as f64);
        let mean = |one: f64, two: f64| (one * mine + two * theirs) / (mine + theirs).max(1.0);
        StripeBar {
            start: mean(self.start, other.start),
            end: mean(self.end, other.end),
            fragments: self.fragments + other.fragments,
            is_static: false,
        }
    }

    /// The cost of joining two: how far they are apart, for as many fragments as have to move.
    fn cost(&self, other: &StripeBar) -> f64 {
        let apart = (self.start - other.start).abs() + (self.end - other.end).abs();
        apart * self.fragments.min(other.fragments) as f64
    }
}

/// Neighbours are joined one pair after the other, in time that goes with the square of this. A history with more groups is cut into
/// wider cells first.
const MOST_TO_JOIN: usize = 1500;
/// Columns of the widest cell.
const WIDEST_CELL: f64 = 1024.0;

/// At most `rows` bars, oldest first: those of the same columns are one, then neighbours are joined, the
/// cheapest first.
fn fit(bars: impl Iterator<Item = StripeBar>, rows: usize) -> Vec<StripeBar> {
    let bars: Vec<StripeBar> = bars.collect();
    let mut cell = 1.0;
    let mut bars = loop {
        let mut by_cells: BTreeMap<(usize, usize), StripeBar> = BTreeMap::new();
        for bar in &bars {
            let cells = ((bar.start / cell) as usize, (bar.end / cell) as usize);
            by_cells.entry(cells).and_modify(|known| *known = known.joined(bar)).or_insert(*bar);
        }
        if by_cells.len() <= MOST_TO_JOIN || cell > WIDEST_CELL {
            break by_cells.into_values().collect::<Vec<StripeBar>>();
        }
        cell *= 2.0;
    };
    while bars.len() > rows.max(1) {
        let costs = bars.windows(2).map(|pair| match pair {
            [one, two] => one.cost(two),
            _ => f64::INFINITY,
        });
        let Some((place, _)) = costs.enumerate().min_by(|one, two| one.1.total_cmp(&two.1)) else { break };
        let next = bars.remove(place + 1);
        if let Some(bar) = bars.get_mut(place) {
            *bar = bar.joined(&next);
        }
    }
    bars.sort_by(|one, two| one.start.total_cmp(&two.start).then(one.end.total_cmp(&two.end)));
    bars
}
