//! Signals for pages whose changes are recorded: which changes are told, and which are made up. Drawn once, for all times.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::draw::{SeededDraw, sub_seed};
use super::poisson::Process;
use super::rhythm::Rhythm;
use crate::signal::spec::{Falsehood, SignalSpec};

/// The past of a page. Times are in days.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToldPagePast<'a> {
    /// Draws belong to it.
    pub name: &'a str,
    pub born: f64,
    /// Changes after that, in order.
    pub changes: Vec<f64>,
}

/// The times at which the pages of a host are said to have changed, in order: right ones and false ones. The recording runs
/// from `from` to `to`. With [`Falsehood::Always`] there are none: the time is that of the request.
pub(crate) fn told_times(
    spec: &SignalSpec,
    host: &str,
    pages: &[ToldPagePast<'_>],
    (from, to): (f64, f64),
) -> Vec<Vec<f64>> {
    if spec.falsehood == Falsehood::Always {
        return vec![Vec::new(); pages.len()];
    }
    let host_seed = xxh3_64_with_seed(host.as_bytes(), 0);
    let seed = |page: &ToldPagePast<'_>| xxh3_64_with_seed(page.name.as_bytes(), host_seed);
    let mut told: Vec<Vec<f64>> = Vec::with_capacity(pages.len());
    for page in pages {
        let mut draw = SeededDraw::new(sub_seed(seed(page), 12));
        told.push(page.changes.iter().copied().filter(|_| draw.chance(spec.recall)).collect());
    }
    let watched: f64 = pages.iter().map(|page| (to - page.born.max(from)).max(0.0)).sum();
    // Only those of the recording's own time: before it there are no false ones.
    let right = told.iter().flatten().filter(|at| **at > from && **at <= to).count();
    let rate = right as f64 * (1.0 - spec.precision) / spec.precision / watched.max(f64::MIN_POSITIVE);
    for (page, times) in pages.iter().zip(&mut told) {
        let seed = match spec.falsehood {
            Falsehood::Build => sub_seed(host_seed, 13),
            Falsehood::Poisson | Falsehood::Always => sub_seed(seed(page), 13),
        };
        let made_up = Process { seed, rate, rhythm: Rhythm::Even }.between(page.born.max(from), to);
        times.extend(made_up.iter().map(|event| event.at));
        times.sort_unstable_by(f64::total_cmp);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_changes_is_told_among_false_times() {
        let names: Vec<String> = (0..50).map(|page| format!("/{page}")).collect();
        let page = |name| ToldPagePast { name, born: -3.0, changes: (0..90).map(f64::from).collect() };
        let pages: Vec<ToldPagePast<'_>> = names.iter().map(|name| page(name)).collect();
        for (text, precision, recall) in
            [("1,1", 1.0, 1.0), ("0.8,0.5", 0.8, 0.5), ("0.25,0.9,build", 0.25, 0.9)]
        {
            let spec = text.parse().expect("signals");
            let told = told_times(&spec, "a", &pages, (0.0, 90.0));
            let all: Vec<f64> = told.iter().flatten().copied().collect();
            let right = all.iter().filter(|at| at.fract() == 0.0).count() as f64;
            assert!((right / 4500.0 - recall).abs() < 0.03, "{text}: recall {}", right / 4500.0);
            let found = right / all.len() as f64;
            assert!((found - precision).abs() < 0.05, "{text}: precision {found}");
            assert!(told.iter().all(|times| times.is_sorted()));
            assert_eq!(told, told_times(&spec, "a", &pages, (0.0, 90.0)));
        }
        let always = told_times(&"1,1,always".parse().expect("signals"), "a", &pages, (0.0, 90.0));
        assert!(always.iter().all(Vec::is_empty));
        assert_eq!(
            told_times(&"0.5,0.5".parse().expect("signals"), "a", &[], (0.0, 9.0)),
            Vec::<Vec<f64>>::new()
        );
    }
}
