//! Change rates and priors, drawn as tables.

use crate::estimate::priors::PriorKind;
use crate::look::estimates::{FittedPrior, PageEstimates};

use super::{Align, Table, number, rate};

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
    ]);
    for prior in priors {
        let [first, second] = [prior.first, prior.second].map(rate);
        let numbers = match prior.kind {
            PriorKind::Gamma => format!("shape {first}, {second} days"),
            PriorKind::TwoIntervals => format!("changed {first} days, unchanged {second} days"),
        };
        table.row([
            prior.estimator.to_owned(),
            prior.group.clone(),
            number(prior.pages),
            numbers,
            rate(prior.rate),
        ]);
    }
    table.render()
}
