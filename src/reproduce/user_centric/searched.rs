//! A collection as searchers see it: the terms of a workload in every text, and what a schedule of refreshes does to their results.

use std::convert::Infallible;

use super::collections::{Collection, SNAPSHOTS};
use crate::quality::copies::{CopyWords, WorkloadTerms};
use crate::quality::measure::GainMeasure;
use crate::quality::repository::{HeldPage, Searchers};
use crate::quality::scoring::Scoring;
use crate::simulate::searched::SearchedPages;
use crate::simulate::truth::Truth;

/// The pages that are refreshed at each snapshot; none at the first, when all copies are up to date.
pub(super) type RefreshPlan = Vec<Vec<u32>>;

/// The two scores of the paper (§6.1.3).
pub(super) const SCORINGS: [Scoring; 2] = [Scoring::TfIdf, Scoring::Inlinks];

/// A collection, a workload and a way to score.
pub(super) struct SearchedCollection<'a> {
    pub collection: &'a Collection,
    pub truth: &'a Truth,
    pub scoring: Scoring,
    /// The words of all texts that the workload asks for.
    pub texts: SearchedPages,
}

impl<'a> SearchedCollection<'a> {
    pub(super) fn new(
        collection: &'a Collection,
        truth: &'a Truth,
        queries: &[(Vec<u64>, f64)],
        scoring: Scoring,
    ) -> Self {
        let terms = WorkloadTerms::of_hashes(queries);
        let texts = SearchedPages::of_terms(&collection.group, terms, scoring);
        Self { collection, truth, scoring, texts }
    }

    pub(super) fn pages(&self) -> u32 {
        self.collection.len() as u32
    }

    pub(super) fn searchers(&self) -> Searchers<'_> {
        self.texts.searchers()
    }

    pub(super) fn inlinks(&self, page: u32) -> u32 {
        self.texts.inlinks(page)
    }

    /// The words of a page at a snapshot.
    pub(super) fn words(&self, page: u32, snapshot: u32) -> Option<&CopyWords> {
        self.texts.words(page, self.truth.text(page, snapshot))
    }

    /// All pages at a snapshot, with copies of these snapshots.
    pub(super) fn held(&self, copies: &[u32], snapshot: u32) -> Vec<HeldPage<'_>> {
        let held = (0..).zip(copies).map(|(page, copied)| HeldPage {
            page: u64::from(page),
            copy: self.words(page, *copied),
            web: self.words(page, snapshot),
            inlinks: self.inlinks(page),
        });
        held.collect()
    }

    /// The copies of a synchronised start.
    pub(super) fn first_copies(&self) -> Vec<u32> {
        vec![0; self.pages() as usize]
    }

    /// The quality of each week but the first, after its refreshes (eq. 5).
    pub(super) fn qualities(&self, plan: &RefreshPlan) -> Vec<f64> {
        let mut copies = self.first_copies();
        let weeks = (1..SNAPSHOTS).zip(plan.iter().skip(1));
        let quality = weeks.map(|(week, refreshed)| {
            for page in refreshed {
                if let Some(copy) = copies.get_mut(*page as usize) {
                    *copy = week;
                }
            }
            self.searchers().quality(&self.held(&copies, week)).normalised().unwrap_or(1.0)
        });
        quality.collect()
    }

    /// The mean of them.
    pub(super) fn quality(&self, plan: &RefreshPlan) -> f64 {
        let weeks = self.qualities(plan);
        weeks.iter().sum::<f64>() / weeks.len().max(1) as f64
    }

    /// A measure of ΔQ_A, with functions of all copies of these snapshots.
    pub(super) fn measure(&self, copies: &[u32], pieces: usize) -> GainMeasure {
        let mut measure = self.texts.gain_measure().with_pieces(pieces);
        let Ok(()) = measure.renew(|each| {
            for (page, copied) in (0..).zip(copies) {
                if let Some(words) = self.words(page, *copied) {
                    each(words, self.inlinks(page));
                }
            }
            Ok::<(), Infallible>(())
        });
        measure
    }

    /// ΔQ_A of a refresh of a page at a week whose copy is of an earlier one.
    pub(super) fn delta(&self, measure: &GainMeasure, page: u32, copied: u32, week: u32) -> f64 {
        measure.delta(self.words(page, copied), self.words(page, week), self.inlinks(page))
    }
}

/// Results of `work` on each job, in their order, on all cores.
pub(super) fn on_all_cores<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len().max(1));
    let run = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { return done };
            done.push((at, work(job)));
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Spearman's rank correlation: that of the ranks, equal values sharing their mean rank.
pub(super) fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |value: fn(&(f64, f64)) -> f64| {
        let values: Vec<f64> = pairs.iter().map(value).collect();
        let mut order: Vec<usize> = (0..values.len()).collect();
        let at = |place: &usize| values.get(*place).copied().unwrap_or(0.0);
        order.sort_by(|a, b| at(a).total_cmp(&at(b)));
        let mut ranks = vec![0.0; values.len()];
        let mut before = 0;
        for alike in order.chunk_by(|a, b| at(a) == at(b)) {
            let mean = before as f64 + (alike.len() as f64 + 1.0) / 2.0;
            for place in alike {
                if let Some(rank) = ranks.get_mut(*place) {
                    *rank = mean;
                }
            }
            before += alike.len();
        }
        ranks
    };
    let pairs: Vec<(f64, f64)> = ranks(|pair| pair.0).into_iter().zip(ranks(|pair| pair.1)).collect();
    crate::reproduce::correlation(&pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_keep_their_order_and_ranks_share_their_mean() {
        let jobs: Vec<u64> = (0..50).collect();
        assert_eq!(on_all_cores(&jobs, |job| job * 2), jobs.iter().map(|job| job * 2).collect::<Vec<_>>());
        assert!((rank_correlation(&[(1.0, 10.0), (2.0, 100.0), (3.0, 1000.0)]) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&[(1.0, 3.0), (2.0, 2.0), (9.0, -5.0)]) + 1.0).abs() < 1e-12);
        // Ranks 1.5 1.5 3 against 1 2 3: the correlation is √3/2.
        assert!((rank_correlation(&[(1.0, 1.0), (1.0, 2.0), (2.0, 3.0)]) - 0.75_f64.sqrt()).abs() < 1e-12);
    }
}
