//! ΔQ_A of refreshes, measured as an index takes them in.
//!
//! Comes in: the words of a page's copy before and after a refresh ([`CopyWords`]). Goes out: ΔQ_A (Pandey & Olston 2005, §5.1 to 5.3), by
//! the score–rank functions of the terms that either copy has. N and df follow every copy that comes and goes. The functions don't:
//! they are made again from all copies now and then ([`GainMeasure::renew`]), when [`GainMeasure::is_worn`] says so.

use std::fmt;

use xxhash_rust::xxh3::Xxh3;

use super::attention::Attention;
use super::copies::{CopyWords, TermStatistics, WorkloadTerms};
use super::delta::{AffectedTerm, refresh_delta};
use super::repository::Searchers;
use super::score_rank::{ScoreRank, USUAL_PIECES};
use super::scoring::{CollectionCounts, Scoring};
use super::terms::TERM_SCHEME;
use super::workload::Workload;

/// Functions are made again when copies have come or gone that are this share of those they were made from. Making them takes one pass
/// over the words of all copies, so the cost of it for each copy that is indexed stays the same however large the collection is.
const WORN_SHARE: f64 = 0.5;

/// Scores that are sorted at a time when functions are made: 32 MB. Beyond it the copies are gone through again.
const MOST_SCORES: u64 = 4_000_000;

/// The name of a way to measure: a workload, a scoring and an attention. Gains with another name can't be compared with these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeasureId(pub u64);

impl MeasureId {
    /// The name of these. It also depends on how words are found.
    pub fn of(workload: &Workload, scoring: Scoring, attention: Attention) -> MeasureId {
        let mut hash = Xxh3::new();
        hash.update(&workload.id().0.to_le_bytes());
        hash.update(scoring.name().as_bytes());
        hash.update(&attention.exponent().to_le_bytes());
        hash.update(&TERM_SCHEME.to_le_bytes());
        MeasureId(hash.digest())
    }
}

impl fmt::Display for MeasureId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// Measures refreshes.
#[derive(Clone, Debug)]
pub struct GainMeasure {
    terms: WorkloadTerms,
    scoring: Scoring,
    attention: Attention,
    pieces: usize,
    statistics: TermStatistics,
    /// The part of scores that depends on the term, by the counts at the start of the batch.
    weights: Vec<f64>,
    /// The counts at the start of the batch.
    collection: CollectionCounts,
    ranks: Vec<Option<ScoreRank>>,
    /// Copies that the functions were made from.
    made_from: u64,
    /// Copies that came or went since.
    moved: u64,
}

/// The part of one term in a ΔQ_A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TermGain {
    /// The number of the term.
    pub term: u32,
    /// Its part, with its frequency.
    pub delta: f64,
}

impl GainMeasure {
    /// A measure of a collection that is empty so far, with functions of three pieces.
    pub fn new(terms: WorkloadTerms, scoring: Scoring, attention: Attention) -> Self {
        let statistics = TermStatistics::new(&terms);
        let ranks = vec![None; terms.len()];
        let (weights, collection) = (vec![0.0; terms.len()], CollectionCounts::default());
        let (pieces, made_from, moved) = (USUAL_PIECES, 0, 0);
        let mut measure = Self {
            terms,
            scoring,
            attention,
            pieces,
            statistics,
            weights,
            collection,
            ranks,
            made_from,
            moved,
        };
        measure.begin_batch();
        measure
    }

    /// Takes the counts as they are now for all that is measured until this is called again.
    pub fn begin_batch(&mut self) {
        self.collection = self.statistics.collection();
        for (term, weight) in (0..).zip(&mut self.weights) {
            *weight = self.scoring.term_weight(self.statistics.documents(term), self.collection);
        }
    }

    /// The same with functions of this many pieces.
    #[must_use]
    pub fn with_pieces(self, pieces: usize) -> Self {
        Self { pieces, ..self }
    }

    /// The terms that are measured.
    pub fn terms(&self) -> &WorkloadTerms {
        &self.terms
    }

    /// How searchers see the collection.
    pub fn searchers(&self) -> Searchers<'_> {
        Searchers { terms: &self.terms, scoring: self.scoring, attention: self.attention }
    }

    /// N and df.
    pub fn statistics(&self) -> &TermStatistics {
        &self.statistics
    }

    /// The score–rank function of a term; `None` with fewer than two results, or before [`GainMeasure::renew`].
    pub fn ranks(&self, term: u32) -> Option<&ScoreRank> {
        self.ranks.get(term as usize)?.as_ref()
    }

    /// A copy comes in that is not measured: at the start, or a first one.
    pub fn add(&mut self, copy: &CopyWords) {
        self.statistics.add(copy);
        self.moved += 1;
    }

    /// A copy goes out.
    pub fn remove(&mut self, copy: &CopyWords) {
        self.statistics.remove(copy);
        self.moved += 1;
    }

    /// Is it time to make the functions again?
    pub fn is_worn(&self) -> bool {
        self.moved > 0 && self.moved as f64 >= WORN_SHARE * self.made_from as f64
    }

    /// Takes over functions that were made before, in the order of the terms, and the counts they go with.
    pub fn restore(
        &mut self,
        statistics: TermStatistics,
        ranks: Vec<Option<ScoreRank>>,
        made_from: u64,
        moved: u64,
    ) {
        self.statistics = statistics;
        self.ranks = ranks;
        self.ranks.resize(self.terms.len(), None);
        (self.made_from, self.moved) = (made_from, moved);
        self.begin_batch();
    }

    /// Copies that the functions were made from, and those that came or went since.
    pub fn wear(&self) -> (u64, u64) {
        (self.made_from, self.moved)
    }

    /// Makes counts and functions again from all copies. `each_copy` goes through them and calls its argument with the words of each and
    /// the number of pages that link to it; it is called at least twice, and once more for every [`MOST_SCORES`] scores.
    pub fn renew<E>(
        &mut self,
        mut each_copy: impl FnMut(&mut dyn FnMut(&CopyWords, u32)) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut statistics = TermStatistics::new(&self.terms);
        each_copy(&mut |copy, _| statistics.add(copy))?;
        self.statistics = statistics;
        self.begin_batch();
        let statistics = &self.statistics;
        let mut first = 0;
        while first < self.terms.len() as u32 {
            let (mut next, mut scores) = (first, 0);
            while next < self.terms.len() as u32
                && (next == first || scores + statistics.documents(next) <= MOST_SCORES)
            {
                scores += statistics.documents(next);
                next += 1;
            }
            let mut by_term: Vec<Vec<f64>> =
                (first..next).map(|term| Vec::with_capacity(statistics.documents(term) as usize)).collect();
            each_copy(&mut |copy, inlinks| {
                let norm = self.scoring.page_norm(copy.length, inlinks, self.collection);
                let from = copy.counts().partition_point(|(term, _)| *term < first);
                for (term, count) in copy.counts().iter().skip(from).take_while(|(term, _)| *term < next) {
                    let weight = self.weights.get(*term as usize).copied().unwrap_or(0.0);
                    if let Some(scores) = by_term.get_mut((term - first) as usize) {
                        scores.push(self.scoring.term_score(weight, *count, norm));
                    }
                }
            })?;
            for (term, scores) in (first..next).zip(by_term) {
                if let Some(place) = self.ranks.get_mut(term as usize) {
                    *place = ScoreRank::of_unsorted(scores, self.pieces);
                }
            }
            first = next;
        }
        (self.made_from, self.moved) = (self.collection.documents, 0);
        Ok(())
    }

    /// ΔQ_A of a refresh that replaces `before` by `after`; `None` stands for no copy. The counts stay as they are.
    pub fn delta(&self, before: Option<&CopyWords>, after: Option<&CopyWords>, inlinks: u32) -> f64 {
        // Folded from 0: an empty sum of floats would be −0.
        self.parts(before, after, inlinks).fold(0.0, |sum, part| sum + part.delta)
    }

    /// ΔQ_A term by term, in the order of the terms. Terms whose score is the same are left out.
    pub fn parts<'a>(
        &'a self,
        before: Option<&'a CopyWords>,
        after: Option<&'a CopyWords>,
        inlinks: u32,
    ) -> impl Iterator<Item = TermGain> + 'a {
        let norm = move |copy: Option<&CopyWords>| {
            copy.map_or(0.0, |copy| self.scoring.page_norm(copy.length, inlinks, self.collection))
        };
        let (norm_before, norm_after) = (norm(before), norm(after));
        each_count(before, after).filter_map(move |(term, counts)| {
            if counts.0 == counts.1 && norm_before == norm_after {
                return None;
            }
            let weight = self.weights.get(term as usize).copied().unwrap_or(0.0);
            let affected = AffectedTerm {
                frequency: self.terms.frequency(term),
                ranks: self.ranks(term),
                before: self.scoring.term_score(weight, counts.0, norm_before),
                after: self.scoring.term_score(weight, counts.1, norm_after),
            };
            Some(TermGain { term, delta: refresh_delta(self.attention, [affected]) })
        })
    }
}

/// The terms that either copy has, in their order, with how often they occur in each.
fn each_count<'a>(
    before: Option<&'a CopyWords>,
    after: Option<&'a CopyWords>,
) -> impl Iterator<Item = (u32, (u32, u32))> + 'a {
    let counts = |copy: Option<&'a CopyWords>| copy.map_or(&[][..], CopyWords::counts);
    let (mut olds, mut news) = (counts(before), counts(after));
    std::iter::from_fn(move || {
        let (old, new) = (olds.first().copied(), news.first().copied());
        let term = old.map_or(u32::MAX, |(term, _)| term).min(new.map_or(u32::MAX, |(term, _)| term));
        let take = |list: &mut &'a [(u32, u32)], head: Option<(u32, u32)>| match head {
            Some((own, count)) if own == term => {
                *list = list.get(1..).unwrap_or_default();
                count
            }
            _ => 0,
        };
        old.or(new)?;
        Some((term, (take(&mut olds, old), take(&mut news, new))))
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn collection(pages: u32) -> Vec<CopyWords> {
        // Term 0 is in all, term 1 in every third, term 2 in none.
        let counts = |page: u32| {
            if page.is_multiple_of(3) { vec![(0, 1 + page % 7), (1, 2)] } else { vec![(0, 1 + page % 7)] }
        };
        (0..pages).map(|page| CopyWords::new(50 + page, counts(page))).collect()
    }

    fn measure(copies: &[CopyWords]) -> GainMeasure {
        let terms = WorkloadTerms::of_hashes(&[(vec![1], 2.0), (vec![2], 1.0), (vec![3], 1.0)]);
        let mut measure = GainMeasure::new(terms, Scoring::TfIdf, Attention::default());
        let renewed: Result<(), Infallible> = measure.renew(|each| {
            copies.iter().for_each(|copy| each(copy, 1));
            Ok(())
        });
        renewed.expect("copies in memory");
        measure
    }

    #[test]
    fn functions_are_made_from_all_copies() {
        let copies = collection(300);
        let measure = measure(&copies);
        let results = |term| measure.ranks(term).map(ScoreRank::count);
        assert_eq!([results(0), results(1), results(2)], [Some(300), Some(100), None]);
        assert_eq!(measure.statistics().collection().documents, 300);
        assert!(!measure.is_worn());
    }

    #[test]
    fn an_unchanged_page_gains_nothing_and_one_that_nobody_asks_for_neither() {
        let copies = collection(300);
        let measure = measure(&copies);
        assert_eq!(measure.delta(Some(&copies[5]), Some(&copies[5]), 1), 0.0);
        let advert = CopyWords::new(400, Vec::new());
        assert_eq!(measure.delta(None, Some(&advert), 1), 0.0);
        assert!(measure.delta(None, Some(&advert), 1).is_sign_positive());
    }

    #[test]
    fn a_page_that_rises_gains_and_its_parts_add_up() {
        let copies = collection(300);
        let measure = measure(&copies);
        let better = CopyWords::new(20, vec![(0, 9), (1, 9)]);
        let parts: Vec<TermGain> = measure.parts(Some(&copies[4]), Some(&better), 1).collect();
        assert_eq!(parts.iter().map(|part| part.term).collect::<Vec<_>>(), [0, 1]);
        assert!(parts.iter().all(|part| part.delta > 0.0), "{parts:?}");
        let whole = measure.delta(Some(&copies[4]), Some(&better), 1);
        assert!((whole - parts[0].delta - parts[1].delta).abs() < 1e-12);
    }

    #[test]
    fn functions_wear_as_copies_come_and_go() {
        let copies = collection(10);
        let mut measure = measure(&copies);
        for copy in &copies[..2] {
            measure.remove(copy);
            measure.add(copy);
        }
        assert!(!measure.is_worn());
        measure.remove(&copies[3]);
        assert!(measure.is_worn());
        assert_eq!(measure.statistics().collection().documents, 9);
    }
}
