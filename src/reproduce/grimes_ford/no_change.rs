//! Fig. 5: the likelihood and the posterior of a page in which nothing changed, with the empirical prior at steps of an hour.

use super::HOURS;
use super::watched::CORPUS;
use crate::estimate::Seen;
use crate::estimate::censored::VisitHistory;
use crate::estimate::period_grid::PeriodGrid;
use crate::reproduce::{Effort, Experiment, Figure, FigureCurve, Numbers, Point, Scale};

/// Numbers of visits that found nothing. The paper has "a fixed number of crawl epochs", which it does not print.
const VISITS: [u32; 4] = [1, 3, 5, 10];
/// Days from one visit to the next. Not printed either.
const EVERY_DAYS: f64 = 2.0;
/// The longest period of the prior: 365 days, in hours. One page in 1400 has a longer one, and is left out.
const LONGEST_HOURS: usize = 365 * 24;
/// Points of a curve are this many hours apart: the plot is no finer.
const DRAWN_EVERY: usize = 12;
/// The plot ends here, in days.
const DRAWN_DAYS: f64 = 60.0;

/// The empirical prior at steps of an hour: the share of pages with that estimated period.
fn empirical(periods_days: &[f64]) -> Option<PeriodGrid> {
    let mut counts = vec![0.0; LONGEST_HOURS];
    for period in periods_days {
        if let Some(count) = counts.get_mut((period * HOURS).round().max(1.0) as usize - 1) {
            *count += 1.0;
        }
    }
    PeriodGrid::new((1..=LONGEST_HOURS).map(|hour| hour as f64 / HOURS).collect(), &counts)
}

/// A page that was visited that often, and never changed.
fn quiet(visits: u32) -> VisitHistory {
    let mut history = VisitHistory::keeping(2);
    (0..visits).for_each(|_| history.add(EVERY_DAYS, Seen::Unchanged));
    history
}

pub(super) fn run(effort: Effort) -> Experiment {
    let periods = CORPUS.watched(effort, &mut effort.draws(4));
    let mut table = Numbers::new([
        "visits without a change",
        "rule of §3.3, days",
        "likeliest period",
        "1 / mean rate",
        "mean period",
    ]);
    let (mut likelihoods, mut posteriors) = (Vec::new(), Vec::new());
    if let Some(prior) = empirical(&periods) {
        // Sums of half a day: single hours of 10,000 pages are noise to the eye.
        let drawn = |values: &[f64], together: fn(&[f64]) -> f64| {
            let at = values.chunks(DRAWN_EVERY).zip(0_u32..);
            let point = |(some, at): (&[f64], u32)| {
                Point::new((f64::from(at) + 0.5) * DRAWN_EVERY as f64 / HOURS, together(some))
            };
            at.map(point).take_while(|point| point.x < DRAWN_DAYS).collect::<Vec<_>>()
        };
        let sum: fn(&[f64]) -> f64 = |some| some.iter().sum();
        let mean: fn(&[f64]) -> f64 = |some| some.iter().sum::<f64>() / some.len() as f64;
        let masses: Vec<f64> = prior.points().map(|[_, mass]| mass).collect();
        posteriors.push(FigureCurve {
            kind: crate::reproduce::CurveKind::Histogram,
            ..FigureCurve::measured("prior", drawn(&masses, sum))
        });
        for visits in VISITS {
            let history = quiet(visits);
            let after = prior.posterior(&history);
            let rule = 1.0 / history.most_likely();
            let numbers = [rule, after.likeliest_period_days, 1.0 / after.mean_rate, after.mean_period_days];
            table.row(format!("{visits}"), numbers);
            let name = format!("{visits} visits");
            likelihoods.push(FigureCurve::measured(name.clone(), drawn(&prior.likelihoods(&history), mean)));
            posteriors.push(FigureCurve::measured(name, drawn(&prior.masses_after(&history), sum)));
        }
    }
    let across = || Scale::linear("period, days").within(0.0, DRAWN_DAYS);
    Experiment {
        name: "5-no-change",
        title: format!(
            "Fig. 5, as printed: a page in which nothing changed, with the empirical prior of {} pages at steps of an hour",
            periods.len()
        ),
        notes: vec![
            format!("assumed: {} visits, {EVERY_DAYS} days apart; the paper prints neither", VISITS.map(|visits| visits.to_string()).join(", ")),
            "the likelihood rises with the period and has no maximum; the posterior has one. The likeliest single hour of an empirical prior \
             is decided by the chance of the sample, the two means are not"
                .to_owned(),
            "the paper writes of an expectation, E(λ | z), and of a maximisation that it needs; one over the mean rate and the mean period are two \
             different numbers"
                .to_owned(),
        ],
        tables: vec![table],
        figures: vec![
            Figure {
                name: "5-likelihood",
                title: "Likelihood of a page in which nothing changed".to_owned(),
                across: across(),
                up: Scale::linear("likelihood, of the highest").within(0.0, 1.0),
                curves: likelihoods,
            },
            Figure {
                name: "5-posterior",
                title: "Posterior of a page in which nothing changed".to_owned(),
                across: across(),
                up: Scale::linear("share in 12 hours").above(0.0),
                curves: posteriors,
            },
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prior_gives_a_maximum_to_a_likelihood_without_one() {
        let found = run(Effort { runs: 200, seed: 1 });
        for curve in &found.figures[0].curves {
            assert!(curve.points.is_sorted_by(|a, b| a.y <= b.y), "{} rises", curve.name);
        }
        let posterior = &found.figures[1].curves[4];
        let top = posterior.points.iter().max_by(|a, b| a.y.total_cmp(&b.y)).expect("points");
        assert!(top.x > 5.0 && top.x < 55.0, "a maximum inside: {top:?}");
        let mean = |visits: &str| found.tables[0].get(visits, "1 / mean rate").expect("a number");
        // Before any visit the harmonic mean of log-normal periods is 18 e^(−σ²/2) = 11.5 days; quiet days make it longer.
        assert!(mean("1") > 11.0 && mean("3") > mean("1") && mean("10") > mean("5"), "{}", mean("1"));
        // The rule of §3.3 takes two days for the period, after one visit of two days.
        assert_eq!(found.tables[0].get("1", "rule of §3.3, days"), Some(2.0));
    }
}
