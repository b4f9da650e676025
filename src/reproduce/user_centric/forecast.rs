//! Fig. 3: is the gain of a page's refreshes in the first half of the weeks that of the second?

use super::collections::SNAPSHOTS;
use super::searched::{SearchedCollection, on_all_cores, rank_correlation};
use crate::quality::gain::{MeasuredRefresh, mean_of_ratios};
use crate::quality::score_rank::USUAL_PIECES;
use crate::reproduce::{CurveKind, Experiment, Figure, FigureCurve, Numbers, Point, Scale};

/// The measured refreshes of each page, each with its week.
pub(super) type WeeklyGains = Vec<Vec<(u32, MeasuredRefresh)>>;

/// ΔQ_A of every update, where "every update to a page triggers an immediate refresh" (§6.2). At each week the functions are made
/// from the copies of the week before, and a refresh's gap is the time since the update before, or since the start.
pub(super) fn every_update(searched: &SearchedCollection<'_>) -> WeeklyGains {
    by_week(searched, |week, changed| {
        let copies = vec![week - 1; searched.pages() as usize];
        let measure = searched.measure(&copies, USUAL_PIECES);
        changed.iter().map(|page| searched.delta(&measure, *page, week - 1, week)).collect()
    })
}

/// The same with the exact gain of each refresh, as if it were the only one of its week (eq. 6).
pub(super) fn every_update_exactly(searched: &SearchedCollection<'_>) -> WeeklyGains {
    by_week(searched, |week, changed| {
        let copies = vec![week - 1; searched.pages() as usize];
        let gains = searched.searchers().refresh_gains(&searched.held(&copies, week));
        changed.iter().map(|page| gains.get(*page as usize).copied().unwrap_or(0.0)).collect()
    })
}

/// The gains of the pages that changed in each week, by a function that has them in their order.
fn by_week(
    searched: &SearchedCollection<'_>,
    gains_of: impl Fn(u32, &[u32]) -> Vec<f64> + Sync,
) -> WeeklyGains {
    let weeks: Vec<u32> = (1..SNAPSHOTS).collect();
    let measured = on_all_cores(&weeks, |week| {
        let is_changed = |page: &u32| searched.truth.has_changed(*page, week - 1, *week);
        let changed: Vec<u32> = (0..searched.pages()).filter(is_changed).collect();
        let gains = gains_of(*week, &changed);
        changed.into_iter().zip(gains).collect::<Vec<_>>()
    });
    let mut gains: WeeklyGains = vec![Vec::new(); searched.pages() as usize];
    for (week, of_week) in weeks.iter().zip(measured) {
        for (page, delta) in of_week {
            if let Some(gains) = gains.get_mut(page as usize) {
                let last = gains.last().map_or(0, |(week, _)| *week);
                gains.push((*week, MeasuredRefresh { delta, gap: f64::from(week - last) }));
            }
        }
    }
    gains
}

/// δQ_A of each page over the refreshes from one week to another, that included; 0 without any.
pub(super) fn gain_rates(gains: &WeeklyGains, from: u32, to: u32) -> Vec<f64> {
    let of_page = |refreshes: &Vec<(u32, MeasuredRefresh)>| {
        let within = refreshes.iter().filter(|(week, _)| (from..=to).contains(week));
        mean_of_ratios(&within.map(|(_, refresh)| *refresh).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    gains.iter().map(of_page).collect()
}

/// A panel: its letter, its name, and the points of its pages.
pub(super) struct ForecastPanel {
    pub letter: char,
    pub name: String,
    /// For each page, δQ_A over weeks 1 to 24 and 25 to 48.
    pub halves: Vec<(f64, f64)>,
}

impl ForecastPanel {
    pub(super) fn of(letter: char, searched: &SearchedCollection<'_>, gains: &WeeklyGains) -> ForecastPanel {
        let half = SNAPSHOTS / 2;
        let first = gain_rates(gains, 1, half - 1);
        let second = gain_rates(gains, half, SNAPSHOTS - 1);
        let name = format!("{} with {}", searched.collection.short, searched.scoring.name());
        ForecastPanel { letter, name, halves: first.into_iter().zip(second).collect() }
    }

    /// Pages with a value other than 0 in a half. A loss counts as 0: it has no place on a logarithmic scale.
    fn plotted(&self) -> Vec<(f64, f64)> {
        let halves = self.halves.iter().map(|(first, second)| (first.max(0.0), second.max(0.0)));
        halves.filter(|(first, second)| *first > 0.0 || *second > 0.0).collect()
    }
}

/// Shares of the points that have a colour of their own, nearest to the diagonal first.
const NEAREST: [(&str, f64); 3] = [("top 50 %", 0.5), ("top 80 %", 0.8), ("top 90 %", 0.9)];
const FIGURES: [&str; 4] = ["3a-forecast", "3b-forecast", "3c-forecast", "3d-forecast"];

/// Fig. 3 of four panels.
pub(super) fn figure_3(panels: &[ForecastPanel], notes: Vec<String>) -> Experiment {
    let mut table = Numbers::new([
        "panel",
        "pages",
        "both halves 0",
        "0 in one half",
        "losses",
        "rank correlation",
        "of pages above 0 in both",
        "within a factor of 3",
    ]);
    for panel in panels {
        let plotted = panel.plotted();
        let both: Vec<(f64, f64)> =
            plotted.iter().copied().filter(|(first, second)| *first > 0.0 && *second > 0.0).collect();
        let near = both.iter().filter(|(first, second)| (first / second).ln().abs() <= 3_f64.ln()).count();
        let losses = panel.halves.iter().filter(|(first, second)| *first < 0.0 || *second < 0.0).count();
        let counts =
            [panel.halves.len(), panel.halves.len() - plotted.len(), plotted.len() - both.len(), losses];
        let shares =
            [rank_correlation(&plotted), rank_correlation(&both), near as f64 / both.len().max(1) as f64];
        table.row(
            format!("({}) {}", panel.letter, panel.name),
            counts.into_iter().map(|count| count as f64).chain(shares),
        );
    }
    let figures = panels.iter().zip(FIGURES).map(|(panel, name)| plot(panel, name)).collect();
    Experiment {
        name: "3-forecast",
        title: "Fig. 3: δQ_A of a page in weeks 1 to 24 against weeks 25 to 48".to_owned(),
        notes,
        tables: vec![table],
        figures,
    }
}

fn plot(panel: &ForecastPanel, name: &'static str) -> Figure {
    let points = panel.plotted();
    let above_0 = || points.iter().flat_map(|(first, second)| [*first, *second]).filter(|value| *value > 0.0);
    let (least, most) = (above_0().fold(f64::INFINITY, f64::min), above_0().fold(0.0, f64::max));
    let (least, most) = if least.is_finite() { (least, most) } else { (1.0, 10.0) };
    // Zeros are on the edges, a little away from the least value.
    let edge = least / 3.0;
    let placed = |value: f64| if value > 0.0 { value } else { edge };
    let away = |(first, second): &(f64, f64)| (placed(*first) / placed(*second)).ln().abs();
    let mut sorted = points.clone();
    sorted.sort_by(|a, b| away(a).total_cmp(&away(b)));
    let mut curves = vec![FigureCurve {
        name: "the same in both".to_owned(),
        kind: CurveKind::Reference,
        points: vec![Point::new(edge, edge), Point::new(most * 2.0, most * 2.0)],
    }];
    let mut from = 0;
    for (name, share) in NEAREST.into_iter().chain([("the rest", 1.0)]) {
        let to = (share * sorted.len() as f64).round() as usize;
        let own = sorted.get(from..to).unwrap_or_default();
        let points = own.iter().map(|(first, second)| Point::new(placed(*first), placed(*second))).collect();
        curves.push(FigureCurve { name: name.to_owned(), kind: CurveKind::Scatter, points });
        from = to;
    }
    Figure {
        name,
        title: format!("Fig. 3({}): {}", panel.letter, panel.name),
        across: Scale::log("δQ_A during weeks 1 to 24 (0 at the edge)").within(edge, most * 2.0),
        up: Scale::log("δQ_A during weeks 25 to 48 (0 at the edge)").within(edge, most * 2.0),
        curves,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_means_over_the_refreshes_of_a_half() {
        let refresh = |delta, gap| MeasuredRefresh { delta, gap };
        let gains =
            vec![vec![(2, refresh(4.0, 2.0)), (3, refresh(4.0, 1.0)), (30, refresh(27.0, 27.0))], vec![]];
        assert_eq!(gain_rates(&gains, 1, 23), [3.0, 0.0]);
        assert_eq!(gain_rates(&gains, 24, 47), [1.0, 0.0]);
    }

    #[test]
    fn zeros_are_drawn_at_the_edges_and_both_zero_not_at_all() {
        let halves = vec![(0.0, 0.0), (9.0, 0.0), (3.0, 3.0), (3.0, 6.0), (-1.0, 4.0)];
        let panel = ForecastPanel { letter: 'a', name: "pages".to_owned(), halves };
        let figure = plot(&panel, "3a-forecast");
        let all: Vec<&Point> = figure.curves.iter().skip(1).flat_map(|curve| &curve.points).collect();
        assert_eq!(all.len(), 4);
        assert!(all.iter().any(|point| point.x == 9.0 && point.y == 1.0));
        assert!(all.iter().any(|point| point.x == 1.0 && point.y == 4.0));
        assert_eq!(figure.curves[1].points[0], Point::new(3.0, 3.0), "nearest to the diagonal");
        let experiment = figure_3(&[panel], Vec::new());
        let row = &experiment.tables[0].rows[0].1;
        assert_eq!(row[..4], [5.0, 1.0, 2.0, 1.0]);
    }
}
