//! Change rates and priors, drawn as tables.

use std::time::Duration;

use crate::estimate::priors::PriorKind;
use crate::look::estimates::{FirstIntervals, FittedPrior, PageEstimates};

use super::{Align, Table, number, rate, span};

/// A row for each page and estimator.
pub fn estimates(pages: &[PageEstimates]) -> String {
    let mut table = Table::new(&[
        ("page", Align::Left),
        ("visits", Align::Right),
        ("changes", Align::Right),
        ("estimator", Align::Left),
        ("changes a day", Align::Right),
        ("from", Align::Right),
        ("to", Align::Right),
    ]);
    for page in pages {
        for (at, (name, estimate)) in page.estimates.0.iter().enumerate() {
            let once = |text: String| if at == 0 { text } else { String::new() };
            table.row([
                once(page.page.clone()),
                once(number(u64::from(page.visits))),
                once(number(u64::from(page.changes))),
                (*name).to_owned(),
                rate(estimate.rate.get()),
                rate(estimate.low.get()),
                rate(estimate.high.get()),
            ]);
        }
    }
    table.render()
}

/// A row for each prior.
pub fn priors(priors: &[FittedPrior]) -> String {
    let mut table = Table::new(&[
        ("estimator", Align::Left),
        ("group", Align::Left),
        ("pages", Align::Right),
        ("prior", Align::Left),
        ("changes a day", Align::Right),
        ("searches agree", Align::Right),
    ]);
    for prior in priors {
        let [first, second] = [prior.first, prior.second].map(rate);
        let numbers = match prior.kind {
            PriorKind::Gamma => format!("shape {first}, {second} days"),
            PriorKind::TwoIntervals => format!("changed {first} days, unchanged {second} days"),
            PriorKind::Periods => format!("half of the periods from {first} to {second} days"),
            PriorKind::FirstInterval => format!("second visit after {first} days, error {second} days"),
        };
        let searches = match (prior.searches_agree, prior.searches) {
            (Some(agree), Some(searches)) => format!("{agree} of {searches}"),
            _ => String::new(),
        };
        table.row([
            prior.estimator.to_owned(),
            prior.group.clone(),
            number(prior.pages),
            numbers,
            rate(prior.rate),
            searches,
        ]);
    }
    table.render()
}

/// The best first interval in a sentence, and a row for each interval that was tried.
pub fn first_intervals(found: &FirstIntervals) -> String {
    let in_words = |seconds: f64| span(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let mut table = Table::new(&[
        ("first interval", Align::Right),
        ("visit 1", Align::Right),
        ("visit 2", Align::Right),
        ("visit 3", Align::Right),
        ("visit 4", Align::Right),
        ("visit 5", Align::Right),
        ("mean error", Align::Right),
    ]);
    for tried in &found.tried {
        let errors = tried.median_error_seconds.iter().map(|error| in_words(*error));
        let row = std::iter::once(in_words(tried.first_interval_seconds)).chain(errors);
        table.row(row.chain([in_words(tried.mean_error_seconds)]));
    }
    format!(
        "best first interval {}: tried on the estimated periods of {} pages, half of them below {}\n\n{}",
        in_words(found.best_seconds),
        number(found.pages),
        in_words(found.median_period_seconds),
        table.render()
    )
}
