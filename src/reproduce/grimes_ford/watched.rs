//! Fig. 3: the estimated rates of many pages, each sampled at a fixed interval until it changed 25 times; and the pages.

use rand::Rng;

use super::{median, normal};
use crate::dataset::{Dataset, Group, RecordedPage};
use crate::estimate::Seen;
use crate::estimate::censored::VisitHistory;
use crate::reproduce::{
    CurveKind, Effort, ErrorSample, Experiment, Figure, FigureCurve, Numbers, Point, Scale, exponential,
};

/// True periods of drawn pages: log-normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DrawnPopulation {
    pub(super) name: &'static str,
    /// Half of the pages have a shorter period.
    pub(super) median_days: f64,
    /// The standard deviation of the logarithm.
    pub(super) sigma: f64,
}

/// Pages for which the best first interval is near 11 days, as for those of the paper (§4.2). It does not print their periods.
pub(super) const CORPUS: DrawnPopulation =
    DrawnPopulation { name: "median 18 days", median_days: 18.0, sigma: 0.95 };
/// Pages of the independent implementation that the numbers of Fig. 7 are compared with.
pub(super) const CHECKED: DrawnPopulation =
    DrawnPopulation { name: "median 200 hours", median_days: 200.0 / 24.0, sigma: 1.1 };

/// Pages are sampled until they changed this often (§4.2).
const CHANGES: u32 = 25;
/// The fixed interval. The paper does not print it.
const EVERY_DAYS: f64 = 1.0;
/// Pages for each run: the paper has 10,000, and 1000 of them for its tests.
const PAGES_A_RUN: u32 = 10;

impl DrawnPopulation {
    /// The true period of a page.
    pub(super) fn period_days(self, random: &mut impl Rng) -> f64 {
        self.median_days * (self.sigma * normal(random)).exp()
    }

    /// The estimated periods of 10,000 pages (for 1000 runs) that were sampled as in Fig. 3.
    pub(super) fn watched(self, effort: Effort, random: &mut impl Rng) -> Vec<f64> {
        let pages = effort.runs.saturating_mul(PAGES_A_RUN);
        (0..pages).map(|_| watched(self.period_days(random), random)).collect()
    }
}

/// The estimated period of a page after [`CHANGES`] changes.
fn watched(period_days: f64, random: &mut impl Rng) -> f64 {
    let mut history = VisitHistory::keeping(usize::MAX);
    for _ in 0..CHANGES {
        // Samples without a change until the next change, which the next sample finds.
        let unchanged = (exponential(1.0 / period_days, random) / EVERY_DAYS).floor() * EVERY_DAYS;
        if unchanged > 0.0 {
            history.add(unchanged, Seen::Unchanged);
        }
        history.add(EVERY_DAYS, Seen::Changed);
    }
    1.0 / history.most_likely()
}

/// The estimated periods of the pages of a dataset that changed at least [`CHANGES`] times, sampled once a cycle.
fn recorded(dataset: &Dataset) -> Vec<f64> {
    let of_group = |group: &Group| {
        let days = group.step.as_secs_f64() / 86_400.0;
        let period = move |page: &RecordedPage| {
            let changes = u32::try_from(page.history.changes()).unwrap_or(u32::MAX);
            let samples = group.cycles.saturating_sub(page.born + 1);
            if changes < CHANGES {
                return None;
            }
            let mut history = VisitHistory::keeping(usize::MAX);
            (0..changes.min(samples)).for_each(|_| history.add(days, Seen::Changed));
            if samples > changes {
                history.add(f64::from(samples - changes) * days, Seen::Unchanged);
            }
            Some(1.0 / history.most_likely())
        };
        group.pages.iter().filter_map(period).collect::<Vec<_>>()
    };
    dataset.groups.iter().flat_map(of_group).collect()
}

/// Says what is wrong with a dataset that Fig. 3 can't be made of.
pub fn usable(dataset: &Dataset) -> Result<(), String> {
    if recorded(dataset).is_empty() {
        Err(format!("no page changed {CHANGES} times or more"))
    } else {
        Ok(())
    }
}

pub(super) fn run(effort: Effort, dataset: Option<&Dataset>) -> Experiment {
    let drawn = CORPUS.watched(effort, &mut effort.draws(2));
    let mut table =
        Numbers::new(["estimated periods, days", "pages", "10 %", "25 %", "50 %", "75 %", "90 %"]);
    let mut add = |name: &str, periods: &[f64]| {
        let quantiles = ErrorSample(periods.to_vec()).quantiles([0.1, 0.25, 0.5, 0.75, 0.9]);
        table.row(name, [periods.len() as f64].into_iter().chain(quantiles));
    };
    add("drawn, median 18", &drawn);
    let mut figures = vec![histogram("3-rates", "Estimated rates of drawn pages", &drawn)];
    let mut notes = vec![
        "as printed: 10,000 pages, each sampled at a fixed interval until it changed 25 times, and the MLE of eq. 2; the words under the \
         figure in the draft are those of Fig. 2"
            .to_owned(),
        format!(
            "assumed: samples once a day; periods log-normal, σ = {}, with a median of {} days: then 11 days are about the best first \
             interval (Fig. 4), as for the paper's pages, which are not published",
            CORPUS.sigma, CORPUS.median_days
        ),
    ];
    if let Some(dataset) = dataset {
        let periods = recorded(dataset);
        add(&dataset.name, &periods);
        figures.push(histogram("3-rates-recorded", "Estimated rates of recorded pages", &periods));
        let pages: usize = dataset.groups.iter().map(|group| group.pages.len()).sum();
        notes.push(format!(
            "{} of the {pages} pages of the dataset changed 25 times or more; they are sampled once a cycle, to the end",
            periods.len()
        ));
    }
    Experiment {
        name: "3-rates",
        title: format!(
            "Fig. 3, as printed: the distribution of the estimated rates of {} pages",
            drawn.len()
        ),
        notes,
        tables: vec![table],
        figures,
    }
}

/// Bins of Fig. 3. The last one is at four times the median rate.
const BINS: u32 = 80;

fn histogram(name: &'static str, title: &str, periods: &[f64]) -> Figure {
    let width = 4.0 / median(periods.iter().copied()) / f64::from(BINS);
    let mut counts = vec![0_u32; BINS as usize];
    for period in periods {
        if let Some(count) = counts.get_mut((1.0 / period / width) as usize) {
            *count += 1;
        }
    }
    let bins = (0_u32..).map(|bin| (f64::from(bin) + 0.5) * width).zip(counts);
    let share = |(rate, count)| Point::new(rate, f64::from(count) / periods.len() as f64);
    let points: Vec<Point> = bins.map(share).collect();
    let (middle, top) =
        (1.0 / median(periods.iter().copied()), points.iter().map(|bin| bin.y).fold(0.0, f64::max));
    let line = vec![Point::new(middle, 0.0), Point::new(middle, top)];
    Figure {
        name,
        title: title.to_owned(),
        across: Scale::linear("estimated rate, changes a day").above(0.0),
        up: Scale::linear("share of pages").above(0.0),
        curves: vec![
            FigureCurve { name: "pages".to_owned(), kind: CurveKind::Histogram, points },
            FigureCurve { name: "median".to_owned(), kind: CurveKind::Reference, points: line },
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::censored::Naive;
    use crate::estimate::{Estimator as _, EstimatorState};
    use crate::time::Age;

    /// Fig. 1: seven updates within T = 8C. Six intervals of C have one or two, and all four of 2C have one or more.
    #[test]
    fn a_naive_rate_loses_changes_and_more_so_at_longer_intervals() {
        let updates = [0.4, 1.5, 2.3, 2.7, 4.5, 5.5, 6.2];
        let naive = |interval: f64| {
            let mut state = EstimatorState::default();
            let visits = (8.0 / interval) as u32;
            for visit in 1..=visits {
                let to = f64::from(visit) * interval;
                let changed = updates.iter().any(|at| (to - interval..to).contains(at));
                Naive.observe(&mut state, Age::from_days(interval), Seen::from(changed));
            }
            8.0 * Naive.as_published(&state).rate.get()
        };
        assert_eq!(updates.len(), 7, "complete data: 7/T");
        assert!((naive(1.0) - 6.0).abs() < 1e-9, "interval C: 6/T, not {}", naive(1.0));
        assert!((naive(2.0) - 4.0).abs() < 1e-9, "interval 2C: 4/T, not {}", naive(2.0));
    }

    #[test]
    fn pages_that_were_watched_long_enough_have_the_periods_they_were_drawn_with() {
        let effort = Effort { runs: 200, seed: 1 };
        let periods = CORPUS.watched(effort, &mut effort.draws(2));
        assert_eq!(periods.len(), 2000);
        let middle = median(periods.iter().copied());
        // The median of 2000 log-normal draws: a standard deviation of 2.7 %.
        assert!((middle / 18.0 - 1.0).abs() < 0.1, "{middle}");
        let logs: Vec<f64> = periods.iter().map(|period| (period / middle).ln()).collect();
        let spread = (logs.iter().map(|log| log * log).sum::<f64>() / 2000.0).sqrt();
        // 25 changes add a fifth: √(0.95² + 0.2²).
        assert!((spread - 0.97).abs() < 0.06, "{spread}");
    }
}
