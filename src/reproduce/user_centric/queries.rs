//! Query workloads. The paper filters an AltaVista log of seven million queries, which is not public any more: ours are drawn.
//!
//! A query has one term (45 of 100), two (40) or three (15), all from one page at one snapshot, drawn evenly; every term of that
//! text is equally likely, but for words that more than half of the pages have. The queries of a draw differ from one another,
//! and the n-th has the frequency n^(−0.8). Then the paper's filter: queries whose TF-IDF scores add up to less than a
//! threshold over all pages are left out, and the threshold is at the knee of the distribution (§6). Every second query
//! goes to a workload that no policy sees.

use std::collections::HashSet;

use rand::{Rng, RngExt as _};

use super::collections::{Collection, SNAPSHOTS};
use crate::dataset::{History, TextWords};
use crate::quality::copies::{TermStatistics, WorkloadTerms};
use crate::quality::scoring::Scoring;

/// Chances of one and two terms; other queries have three.
const ONE_TERM: f64 = 0.45;
const TWO_TERMS: f64 = 0.4;
/// Frequencies fall with this power of the rank. The most frequent of 1000 queries is 5 % of them all then.
const ZIPF: f64 = 0.8;
/// Queries that are drawn for each page, for both workloads together; the fewest, and the most.
const QUERIES_A_PAGE: usize = 10;
const FEWEST_QUERIES: usize = 200;
const MOST_QUERIES: usize = 4000;
/// A query that was drawn before is drawn again; after this many times in a row no new one is expected.
const MOST_REPEATS: usize = 1000;

/// Queries by the hashes of their terms, with frequencies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DrawnQueries {
    /// The terms and the frequency of each query that was kept.
    pub queries: Vec<(Vec<u64>, f64)>,
    /// Queries before the filter.
    pub drawn: usize,
}

/// The workload that policies know, and another that they never see.
#[derive(Clone, Debug)]
pub(super) struct Workloads {
    pub known: DrawnQueries,
    pub unseen: DrawnQueries,
}

impl Workloads {
    /// Draws both for a collection.
    pub(super) fn draw(collection: &Collection, random: &mut impl Rng) -> Workloads {
        let many = (QUERIES_A_PAGE * collection.len()).clamp(FEWEST_QUERIES, MOST_QUERIES);
        let drawn = drawn(collection, many, random);
        let every_second = |first: usize| drawn.iter().skip(first).step_by(2).cloned().collect::<Vec<_>>();
        Workloads {
            known: filtered(collection, every_second(0)),
            unseen: filtered(collection, every_second(1)),
        }
    }

    /// In words.
    pub(super) fn about(&self) -> String {
        let terms = |queries: &DrawnQueries| {
            queries.queries.iter().flat_map(|(terms, _)| terms.iter().copied()).collect::<HashSet<u64>>()
        };
        let (known, unseen) = (terms(&self.known), terms(&self.unseen));
        format!(
            "workload, drawn: {} queries of {} are kept at the knee of their summed TF-IDF scores, with {} terms; the workload that no \
             policy sees has {} other queries of {}, with {} terms, {} of which are also in the first",
            self.known.queries.len(),
            self.known.drawn,
            known.len(),
            self.unseen.queries.len(),
            self.unseen.drawn,
            unseen.len(),
            unseen.intersection(&known).count()
        )
    }
}

/// Distinct queries, each a sorted list of terms, in the order in which they were drawn.
fn drawn(collection: &Collection, many: usize, random: &mut impl Rng) -> Vec<Vec<u64>> {
    let common = common_terms(collection);
    let mut known: HashSet<Vec<u64>> = HashSet::new();
    let mut queries = Vec::with_capacity(many);
    let mut repeats = 0;
    while queries.len() < many && repeats < MOST_REPEATS {
        repeats += 1;
        let page = collection.group.pages.get(random.random_range(0..collection.len().max(1)));
        let Some((page, History::Texts { from, .. })) = page.map(|page| (page, &page.history)) else {
            continue;
        };
        let snapshot = random.random_range(0..SNAPSHOTS);
        let after = from.partition_point(|(first, _)| *first <= snapshot);
        let text = after.checked_sub(1).and_then(|at| from.get(at)).map(|(_, text)| *text as usize);
        let Some(TextWords { counts, .. }) = text.and_then(|text| page.words.get(text)) else { continue };
        let terms = match random.random::<f64>() {
            draw if draw < ONE_TERM => 1,
            draw if draw < ONE_TERM + TWO_TERMS => 2,
            _ => 3,
        };
        if counts.len() < terms {
            continue;
        }
        let mut query: Vec<u64> = (0..terms)
            .filter_map(|_| counts.get(random.random_range(0..counts.len())).map(|(term, _)| *term))
            .filter(|term| !common.contains(term) && !collection.never_asked.contains(term))
            .collect();
        query.sort_unstable();
        query.dedup();
        if query.len() == terms && known.insert(query.clone()) {
            queries.push(query);
            repeats = 0;
        }
    }
    queries
}

/// Words that more than half of the pages have at the first snapshot.
fn common_terms(collection: &Collection) -> HashSet<u64> {
    let mut counts: std::collections::HashMap<u64, usize> = std::collections::HashMap::new();
    for words in collection.group.pages.iter().filter_map(|page| page.words.first()) {
        for (term, _) in words.counts.iter() {
            *counts.entry(*term).or_default() += 1;
        }
    }
    let half = collection.len() / 2;
    counts.into_iter().filter(|(_, pages)| *pages > half).map(|(term, _)| term).collect()
}

/// Gives the queries their frequencies, and leaves out those that have little to do with the pages.
fn filtered(collection: &Collection, queries: Vec<Vec<u64>>) -> DrawnQueries {
    let drawn = queries.len();
    let with_frequency = (1..).zip(queries).map(|(rank, terms)| (terms, f64::from(rank).powf(-ZIPF)));
    let all: Vec<(Vec<u64>, f64)> = with_frequency.collect();
    let sums = summed_scores(collection, &all);
    let least = knee(&sums);
    let queries =
        all.into_iter().zip(sums).filter(|(_, sum)| *sum >= least).map(|(query, _)| query).collect();
    DrawnQueries { queries, drawn }
}

/// For each query, the sum of its TF-IDF scores over all pages at the first snapshot.
fn summed_scores(collection: &Collection, queries: &[(Vec<u64>, f64)]) -> Vec<f64> {
    let terms = WorkloadTerms::of_hashes(queries);
    let first = collection.group.pages.iter().filter_map(|page| page.words.first());
    let copies: Vec<_> = first.map(|words| terms.words_of_hashes(&words.counts, words.length)).collect();
    let statistics = TermStatistics::of(&terms, &copies);
    let mut sums = vec![0.0; queries.len()];
    for copy in &copies {
        terms.each_match(copy, |number| {
            let query = terms.queries().get(number as usize).map_or(&[][..], |query| &query.terms);
            if let Some(sum) = sums.get_mut(number as usize) {
                *sum += statistics.score(Scoring::TfIdf, query, copy, 0);
            }
        });
    }
    sums
}

/// The knee of values in falling order: the value that lies farthest below the straight line from the first to the last, with
/// both axes scaled to 1. Values that are not above 0 don't count.
pub(super) fn knee(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (Some(first), Some(last)) = (sorted.first().copied(), sorted.last().copied()) else {
        return f64::MIN_POSITIVE;
    };
    let steps = sorted.len().saturating_sub(1).max(1) as f64;
    let below = |(at, value): (usize, &f64)| {
        let line = first + (last - first) * at as f64 / steps;
        line - value
    };
    let farthest = sorted.iter().enumerate().max_by(|a, b| below(*a).total_cmp(&below(*b)));
    farthest.map_or(last, |(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::super::made_up;
    use super::*;
    use crate::reproduce::Effort;

    #[test]
    fn the_knee_is_where_a_curve_turns() {
        assert_eq!(knee(&[0.0, 100.0, 50.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0]), 10.0);
        assert_eq!(knee(&[3.0, 2.0, 1.0]), 1.0, "a straight line has none: nothing is cut");
        assert_eq!(knee(&[0.0, 0.0]), f64::MIN_POSITIVE);
    }

    #[test]
    fn both_workloads_are_relevant_disjoint_and_free_of_adverts() {
        let effort = Effort { runs: 100, seed: 5 };
        let [collection, _] = made_up::collections(effort);
        let Workloads { known, unseen } = Workloads::draw(&collection, &mut effort.draws(1));
        assert!(known.queries.len() > 20 && known.queries.len() < known.drawn, "{}", known.queries.len());
        let others: HashSet<&Vec<u64>> = unseen.queries.iter().map(|(terms, _)| terms).collect();
        assert!(known.queries.iter().all(|(terms, _)| !others.contains(terms)));
        let terms = known.queries.iter().flat_map(|(terms, _)| terms);
        assert!(terms.clone().all(|term| !collection.never_asked.contains(term)));
        assert!(known.queries.iter().all(|(terms, frequency)| !terms.is_empty() && *frequency > 0.0));
        let again = Workloads::draw(&collection, &mut effort.draws(1));
        assert_eq!(again.known, known);
    }
}
