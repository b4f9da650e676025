//! §5.1: how near ΔQ_A comes to the exact ΔQ, by the number of pieces, and what single-term queries leave out.
//!
//! The paper prints no figures of it: "we found our experimental results not to be very sensitive to the settings of our
//! approximation parameters". So this is ours.

use std::collections::BTreeMap;

use super::collections::SNAPSHOTS;
use super::learners;
use super::queries::DrawnQueries;
use super::searched::{SearchedCollection, on_all_cores, rank_correlation};
use crate::quality::copies::TermStatistics;
use crate::quality::score_rank::USUAL_PIECES;
use crate::reproduce::{CurveKind, Experiment, Figure, FigureCurve, Numbers, Point, Scale};

/// Pieces of the score–rank functions; the paper has three.
const PIECES: [usize; 3] = [1, 3, 6];
/// Terms with fewer results are left out of the comparison by pieces, or with fewer than an eighth of the pages if these are few.
const LEAST_RESULTS: u64 = 50;
/// Copies are those of round robin with this share of the pages a week.
const REFRESHED_SHARE: f64 = 0.1;
/// Weeks at which refreshes are measured: every third.
const EVERY: usize = 3;
/// The most refreshes that are plotted.
const MOST_POINTS: usize = 1500;

/// Exact and approximate gains of refreshes under one workload.
#[derive(Default)]
struct GainPairs {
    /// The exact gain under single-term queries of common terms, and ΔQ_A with functions of each number of pieces.
    by_pieces: Vec<Vec<(f64, f64)>>,
    /// The exact gain under the workload, and under its single terms.
    by_terms: Vec<(f64, f64)>,
    /// The exact gain under the workload, and ΔQ_A as the policy has it.
    end_to_end: Vec<(f64, f64)>,
}

/// Measures every page whose copy is out of date, at every third week.
fn measured(searched: &SearchedCollection<'_>, queries: &DrawnQueries) -> GainPairs {
    let (collection, truth) = (searched.collection, searched.truth);
    let single = single_terms(queries);
    let singles = SearchedCollection::new(collection, truth, &single, searched.scoring);
    let least = LEAST_RESULTS.min(u64::from(searched.pages()) / 8);
    let common: Vec<(Vec<u64>, f64)> = {
        let first: Vec<_> = (0..singles.pages()).filter_map(|page| singles.words(page, 0)).collect();
        let statistics = TermStatistics::of(singles.searchers().terms, first);
        let has_results = |term: &u64| {
            singles
                .searchers()
                .terms
                .number(*term)
                .is_some_and(|number| statistics.documents(number) >= least)
        };
        single.iter().filter(|(terms, _)| terms.iter().all(has_results)).cloned().collect()
    };
    let commons = SearchedCollection::new(collection, truth, &common, searched.scoring);
    let most = ((REFRESHED_SHARE * f64::from(searched.pages())).round() as usize).max(1);
    let plan = learners::plan(searched, "age", most);
    let mut copies = searched.first_copies();
    let mut weeks = Vec::new();
    for (week, refreshed) in (0..SNAPSHOTS).zip(&plan) {
        if week as usize % EVERY == EVERY - 1 {
            weeks.push((week, copies.clone()));
        }
        for page in refreshed {
            if let Some(copy) = copies.get_mut(*page as usize) {
                *copy = week;
            }
        }
    }
    let of_weeks = on_all_cores(&weeks, |(week, copies)| {
        let exact = |seen: &SearchedCollection<'_>| seen.searchers().refresh_gains(&seen.held(copies, *week));
        let approximate = |seen: &SearchedCollection<'_>, pieces: usize| {
            let measure = seen.measure(copies, pieces);
            let pages = (0..).zip(copies);
            pages.map(|(page, copied)| seen.delta(&measure, page, *copied, *week)).collect::<Vec<f64>>()
        };
        let stale: Vec<usize> = (0..)
            .zip(copies)
            .filter(|(page, copied)| truth.has_changed(*page, **copied, *week))
            .map(|(page, _)| page as usize)
            .collect();
        let pairs = |exact: &[f64], other: &[f64]| -> Vec<(f64, f64)> {
            let pair = |page: &usize| Some((*exact.get(*page)?, *other.get(*page)?));
            stale.iter().filter_map(pair).collect()
        };
        let (of_common, of_all) = (exact(&commons), exact(searched));
        GainPairs {
            by_pieces: PIECES.map(|pieces| pairs(&of_common, &approximate(&commons, pieces))).to_vec(),
            by_terms: pairs(&of_all, &exact(&singles)),
            end_to_end: pairs(&of_all, &approximate(searched, USUAL_PIECES)),
        }
    });
    let mut all = GainPairs { by_pieces: vec![Vec::new(); PIECES.len()], ..GainPairs::default() };
    for week in of_weeks {
        for (all, pairs) in all.by_pieces.iter_mut().zip(week.by_pieces) {
            all.extend(pairs);
        }
        all.by_terms.extend(week.by_terms);
        all.end_to_end.extend(week.end_to_end);
    }
    all
}

/// The single-term workload Q′ (§5.1.1).
fn single_terms(queries: &DrawnQueries) -> Vec<(Vec<u64>, f64)> {
    let mut frequencies: BTreeMap<u64, f64> = BTreeMap::new();
    for (terms, frequency) in &queries.queries {
        for term in terms {
            *frequencies.entry(*term).or_default() += frequency;
        }
    }
    frequencies.into_iter().map(|(term, frequency)| (vec![term], frequency)).collect()
}

/// The share of pairs that have different signs, of those that are not 0 in both.
fn sign_errors(pairs: &[(f64, f64)]) -> f64 {
    let counted = || pairs.iter().filter(|(exact, other)| *exact != 0.0 && *other != 0.0);
    let wrong = counted().filter(|(exact, other)| exact.signum() != other.signum()).count();
    wrong as f64 / counted().count() as f64
}

/// The share of the exact gains, as sums of their sizes, that the approximation gives the wrong sign.
fn misjudged(pairs: &[(f64, f64)]) -> f64 {
    let all: f64 = pairs.iter().map(|(exact, _)| exact.abs()).sum();
    let is_wrong = |(exact, other): &&(f64, f64)| exact * other < 0.0;
    // Folded from 0: an empty sum of floats would be −0.
    pairs.iter().filter(is_wrong).fold(0.0, |sum, (exact, _)| sum + exact.abs()) / all
}

/// The comparison for each of these collections and scores.
pub(super) fn run(
    panels: &[(&SearchedCollection<'_>, &DrawnQueries)],
    told: &mut dyn FnMut(&str),
) -> Experiment {
    let mut by_pieces = Numbers::new([
        "ΔQ_A against exact ΔQ, terms with 50 results or more",
        "refreshes",
        "rank correlation, 1 piece",
        "3 pieces",
        "6 pieces",
        "sign errors, 1 piece",
        "3 pieces ",
        "6 pieces ",
        "gains with a wrong sign, 3 pieces",
    ]);
    let mut by_terms = Numbers::new([
        "the whole workload, exact",
        "refreshes",
        "against its single terms, exact: rank correlation",
        "sign errors",
        "against ΔQ_A: rank correlation",
        "sign errors ",
    ]);
    let mut figures = Vec::new();
    for (searched, queries) in panels {
        let name = format!("{} with {}", searched.collection.short, searched.scoring.name());
        told(&format!("ΔQ_A against exact ΔQ: {name}"));
        let GainPairs { by_pieces: pieces, by_terms: terms, end_to_end } = measured(searched, queries);
        let count = pieces.first().map_or(0, Vec::len) as f64;
        let correlations = pieces.iter().map(|pairs| rank_correlation(pairs));
        let errors = pieces.iter().map(|pairs| sign_errors(pairs));
        let three = pieces.get(1).map_or(f64::NAN, |pairs| misjudged(pairs));
        by_pieces.row(name.clone(), [count].into_iter().chain(correlations).chain(errors).chain([three]));
        let row = [
            terms.len() as f64,
            rank_correlation(&terms),
            sign_errors(&terms),
            rank_correlation(&end_to_end),
            sign_errors(&end_to_end),
        ];
        by_terms.row(name.clone(), row);
        if figures.is_empty() {
            figures.push(plot(&name, &pieces));
        }
    }
    Experiment {
        name: "5-approximation",
        title: "Beyond §5.1: ΔQ_A, as it is measured while indexing, against the exact ΔQ".to_owned(),
        notes: vec![
            "ours; the paper says only that its results are not very sensitive to the number of pieces (§5.1.2). Copies are those of round \
             robin with a tenth of the pages a week; every page whose copy is out of date is measured, at every third week, as if it \
             alone were refreshed. Exact: all result lists are made, with the true scores of all pages (eq. 6). ΔQ_A takes the scores of \
             other pages from the copies, by functions that are made from them at that week"
                .to_owned(),
            "a sign error: one of the two is a gain and the other a loss. The last column of the first table is the share of all gains \
             and losses, by their size, that has the wrong sign"
                .to_owned(),
        ],
        tables: vec![by_pieces, by_terms],
        figures,
    }
}

fn plot(name: &str, pieces: &[Vec<(f64, f64)>]) -> Figure {
    let curve = |(number, pairs): (&usize, &Vec<(f64, f64)>)| {
        let gains: Vec<&(f64, f64)> =
            pairs.iter().filter(|(exact, other)| *exact > 0.0 && *other > 0.0).collect();
        let every = gains.len().div_ceil(MOST_POINTS).max(1);
        let points =
            gains.into_iter().step_by(every).map(|(exact, other)| Point::new(*exact, *other)).collect();
        let name = if *number == 1 { "1 piece".to_owned() } else { format!("{number} pieces") };
        FigureCurve { name, kind: CurveKind::Scatter, points }
    };
    let mut curves: Vec<FigureCurve> = PIECES.iter().zip(pieces).map(curve).collect();
    let values = || curves.iter().flat_map(|curve| &curve.points).map(|point| point.x);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    if least.is_finite() {
        let points = vec![Point::new(least, least), Point::new(most, most)];
        curves.push(FigureCurve { name: "equal".to_owned(), kind: CurveKind::Reference, points });
    }
    Figure {
        name: "5-approximation",
        title: format!("Beyond §5.1: gains of refreshes, {name}"),
        across: Scale::log("exact ΔQ_A"),
        up: Scale::log("ΔQ_A by score–rank functions"),
        curves,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_compared_where_both_have_one() {
        let pairs = [(1.0, 2.0), (-1.0, 3.0), (0.0, 5.0), (2.0, 0.0), (-2.0, -0.1)];
        assert!((sign_errors(&pairs) - 1.0 / 3.0).abs() < 1e-12);
        assert!((misjudged(&pairs) - 1.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn single_terms_have_the_frequencies_of_all_their_queries() {
        let queries = vec![(vec![1, 2], 3.0), (vec![2], 1.0)];
        let single = single_terms(&DrawnQueries { queries, drawn: 2 });
        assert_eq!(single, [(vec![1], 3.0), (vec![2], 4.0)]);
    }
}
