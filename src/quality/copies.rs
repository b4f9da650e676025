//! Pages as a workload sees them: the terms that queries ask for, numbered, and how often each is in a copy.
//!
//! Comes in: a [`Workload`] and the words of copies, as texts or as hashes of terms. Goes out: a few numbers for each copy, from which
//! scores follow without any text. Everything that needs scores of many pages works on them: the exact quality of a repository
//! ([`super::repository`]), the gain of a refresh as the index is updated ([`super::measure`]), and the index itself, which keeps them
//! in bytes.

use xxhash_rust::xxh3::xxh3_64;

use super::scoring::{CollectionCounts, MatchedPage, Scoring, TermMatch};
use super::terms::TermCounts;
use super::workload::Workload;
use crate::identity_hash::ByHash;
use crate::varint::{push, take_small};

/// What stands for a term where words are not kept: xxh3-64 of its bytes.
pub fn term_hash(term: &str) -> u64 {
    xxh3_64(term.as_bytes())
}

/// The terms and queries of a workload, by number.
#[derive(Clone, Debug)]
pub struct WorkloadTerms {
    /// Hash of each term.
    hashes: Vec<u64>,
    numbers: ByHash<u64, u32>,
    /// Frequency of each term in the single-term workload Q′ (Pandey & Olston 2005, §5.1.1).
    frequencies: Vec<f64>,
    queries: Vec<NumberedQuery>,
    /// For each term, the queries that are looked at when a copy has it. Each query is with the rarest of its terms.
    by_rarest: Vec<Vec<u32>>,
}

/// A query whose terms are numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedQuery {
    /// The numbers of its terms, each once.
    pub terms: Vec<u32>,
    /// How often it is asked.
    pub frequency: f64,
}

impl WorkloadTerms {
    /// The terms of a workload: numbered in their order, queries in the order of the workload.
    pub fn of(workload: &Workload) -> WorkloadTerms {
        let single = workload.single_terms();
        let hashes = single.keys().map(|term| term_hash(term)).collect();
        let hashed = |terms: &[String]| terms.iter().map(|term| term_hash(term)).collect();
        let queries = workload.queries().iter().map(|query| (hashed(&query.terms), query.frequency));
        Self::with(hashes, queries)
    }

    /// The same of queries whose terms are known by their hashes only, numbered in the order of the hashes.
    pub fn of_hashes(queries: &[(Vec<u64>, f64)]) -> WorkloadTerms {
        let mut hashes: Vec<u64> = queries.iter().flat_map(|(terms, _)| terms.iter().copied()).collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self::with(hashes, queries.iter().cloned())
    }

    fn with(hashes: Vec<u64>, queries: impl Iterator<Item = (Vec<u64>, f64)>) -> WorkloadTerms {
        let numbers: ByHash<u64, u32> = hashes.iter().copied().zip(0..).collect();
        let mut frequencies = vec![0.0; hashes.len()];
        let queries: Vec<NumberedQuery> = queries
            .map(|(terms, frequency)| {
                let terms: Vec<u32> = terms.iter().filter_map(|term| numbers.get(term).copied()).collect();
                for term in &terms {
                    if let Some(sum) = frequencies.get_mut(*term as usize) {
                        *sum += frequency;
                    }
                }
                NumberedQuery { terms, frequency }
            })
            .collect();
        let mut by_rarest = vec![Vec::new(); hashes.len()];
        for (number, query) in (0..).zip(&queries) {
            let frequency = |term: &&u32| frequencies.get(**term as usize).copied().unwrap_or(0.0);
            let rarest = query.terms.iter().min_by(|a, b| frequency(a).total_cmp(&frequency(b)));
            if let Some(list) = rarest.and_then(|term| by_rarest.get_mut(*term as usize)) {
                list.push(number);
            }
        }
        Self { hashes, numbers, frequencies, queries, by_rarest }
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Are there no terms?
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The number of a term, by its hash; `None` if no query asks for it.
    pub fn number(&self, hash: u64) -> Option<u32> {
        self.numbers.get(&hash).copied()
    }

    /// The frequency of a term in the single-term workload.
    pub fn frequency(&self, term: u32) -> f64 {
        self.frequencies.get(term as usize).copied().unwrap_or(0.0)
    }

    /// The queries.
    pub fn queries(&self) -> &[NumberedQuery] {
        &self.queries
    }

    /// The terms of a text that queries ask for.
    pub fn words_of(&self, counts: &TermCounts) -> CopyWords {
        let known = counts.hashes().filter_map(|(hash, count)| Some((self.number(hash)?, count)));
        CopyWords::new(counts.length(), known.collect())
    }

    /// The same of words that are known by their hashes.
    pub fn words_of_hashes(&self, counts: &[(u64, u32)], length: u32) -> CopyWords {
        let known = counts.iter().filter_map(|(hash, count)| Some((self.number(*hash)?, *count)));
        CopyWords::new(length, known.collect())
    }

    /// Calls `each` with the number of every query all of whose terms the copy has.
    pub fn each_match(&self, copy: &CopyWords, mut each: impl FnMut(u32)) {
        for (term, _) in &copy.counts {
            for number in self.by_rarest.get(*term as usize).map_or(&[][..], Vec::as_slice) {
                let query = self.queries.get(*number as usize);
                if query.is_some_and(|query| query.terms.iter().all(|term| copy.count_of(*term) > 0)) {
                    each(*number);
                }
            }
        }
    }
}

/// The terms of one copy that queries ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyWords {
    /// Terms of the copy, also those that no query asks for, each as often as it occurs.
    pub length: u32,
    /// Terms by number, ascending, with their counts, all above 0.
    counts: Box<[(u32, u32)]>,
}

impl CopyWords {
    /// A copy of this length with these terms, in any order, each once.
    pub fn new(length: u32, mut counts: Vec<(u32, u32)>) -> CopyWords {
        counts.retain(|(_, count)| *count > 0);
        counts.sort_unstable();
        counts.dedup_by_key(|(term, _)| *term);
        CopyWords { length, counts: counts.into() }
    }

    /// Terms with their counts, in the order of their numbers.
    pub fn counts(&self) -> &[(u32, u32)] {
        &self.counts
    }

    /// How often a term occurs.
    pub fn count_of(&self, term: u32) -> u32 {
        let place = self.counts.binary_search_by_key(&term, |(term, _)| *term);
        place.ok().and_then(|place| self.counts.get(place)).map_or(0, |(_, count)| *count)
    }

    /// The bytes that an index keeps: the length, then each term as its distance from the one before, with its count.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 + 3 * self.counts.len());
        push(&mut bytes, u64::from(self.length));
        let mut before = 0;
        for (term, count) in &self.counts {
            push(&mut bytes, u64::from(term - before));
            push(&mut bytes, u64::from(*count));
            before = *term;
        }
        bytes
    }

    /// Undoes [`CopyWords::to_bytes`]; `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<CopyWords> {
        let mut rest = bytes;
        let length = take_small(&mut rest)?;
        let (mut counts, mut before) = (Vec::with_capacity(rest.len() / 2), 0_u32);
        while !rest.is_empty() {
            let (step, count) = (take_small(&mut rest)?, take_small(&mut rest)?);
            before = before.checked_add(step)?;
            if count == 0 || step == 0 && !counts.is_empty() {
                return None;
            }
            counts.push((before, count));
        }
        Some(CopyWords { length, counts: counts.into() })
    }
}

/// Counts of a collection of copies, for their scores: N, df and the mean length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermStatistics {
    collection: CollectionCounts,
    /// Copies that have each term (df).
    documents: Vec<u64>,
}

impl TermStatistics {
    /// Of no copies yet.
    pub fn new(terms: &WorkloadTerms) -> Self {
        Self { collection: CollectionCounts::default(), documents: vec![0; terms.len()] }
    }

    /// Of these copies.
    pub fn of<'a>(terms: &WorkloadTerms, copies: impl IntoIterator<Item = &'a CopyWords>) -> Self {
        let mut statistics = Self::new(terms);
        copies.into_iter().for_each(|copy| statistics.add(copy));
        statistics
    }

    /// Counts of the collection.
    pub fn collection(&self) -> CollectionCounts {
        self.collection
    }

    /// Copies that have a term.
    pub fn documents(&self, term: u32) -> u64 {
        self.documents.get(term as usize).copied().unwrap_or(0)
    }

    /// A copy comes in.
    pub fn add(&mut self, copy: &CopyWords) {
        self.collection.documents += 1;
        self.collection.terms += u64::from(copy.length);
        for (term, _) in &copy.counts {
            if let Some(documents) = self.documents.get_mut(*term as usize) {
                *documents += 1;
            }
        }
    }

    /// A copy goes out that was there.
    pub fn remove(&mut self, copy: &CopyWords) {
        self.collection.documents = self.collection.documents.saturating_sub(1);
        self.collection.terms = self.collection.terms.saturating_sub(u64::from(copy.length));
        for (term, _) in &copy.counts {
            if let Some(documents) = self.documents.get_mut(*term as usize) {
                *documents = documents.saturating_sub(1);
            }
        }
    }

    /// The score of a copy for a query of these terms; 0 unless it has them all.
    pub fn score(&self, scoring: Scoring, terms: &[u32], copy: &CopyWords, inlinks: u32) -> f64 {
        let matched =
            |term: &u32| TermMatch { count: copy.count_of(*term), documents: self.documents(*term) };
        // Most queries have one or two terms.
        let (few, many);
        let matches: &[TermMatch] = match terms {
            [one] => {
                few = [matched(one)];
                &few
            }
            terms => {
                many = terms.iter().map(matched).collect::<Vec<_>>();
                &many
            }
        };
        scoring.score(&MatchedPage { terms: matches, length: copy.length, inlinks }, self.collection)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::terms::TermReader;
    use super::*;

    fn workload(queries: &[(&str, f64)]) -> Workload {
        let terms = |query: &str| query.split(' ').map(str::to_owned).collect();
        Workload::of(queries.iter().map(|(query, frequency)| (terms(query), *frequency))).expect("queries")
    }

    #[test]
    fn only_words_that_queries_ask_for_are_kept() {
        let terms = WorkloadTerms::of(&workload(&[("cancer", 3.0), ("cancer law", 1.0), ("tax", 2.0)]));
        assert_eq!((terms.len(), terms.queries().len()), (3, 3));
        let number = |term| terms.number(term_hash(term)).expect("a term of the workload");
        assert_eq!(
            [number("cancer"), number("law"), number("tax")].map(|term| terms.frequency(term)),
            [4.0, 1.0, 2.0]
        );
        let counts = TermReader::default().count(&["The law on cancer", "of the law"]);
        let copy = terms.words_of(&counts);
        assert_eq!((copy.length, copy.counts().len()), (7, 2));
        assert_eq!(
            [number("law"), number("cancer"), number("tax")].map(|term| copy.count_of(term)),
            [2, 1, 0]
        );
        let mut matches = Vec::new();
        terms.each_match(&copy, |query| matches.push(terms.queries()[query as usize].frequency));
        matches.sort_by(f64::total_cmp);
        assert_eq!(matches, [1.0, 3.0]);
        let hashes: Vec<(u64, u32)> = counts.iter().map(|(term, count)| (term_hash(term), count)).collect();
        assert_eq!(terms.words_of_hashes(&hashes, 7), copy);
    }

    #[test]
    fn copies_that_come_and_go_leave_the_counts_of_the_others() {
        let terms = WorkloadTerms::of(&workload(&[("a", 1.0), ("b", 1.0)]));
        let (one, two) = (CopyWords::new(4, vec![(0, 2)]), CopyWords::new(6, vec![(0, 1), (1, 3)]));
        let mut statistics = TermStatistics::of(&terms, [&one, &two]);
        assert_eq!((statistics.documents(0), statistics.documents(1)), (2, 1));
        assert_eq!(statistics.collection(), CollectionCounts { documents: 2, terms: 10 });
        statistics.remove(&one);
        assert_eq!(statistics, TermStatistics::of(&terms, [&two]));
        assert_eq!(statistics.score(Scoring::Inlinks, &[0, 1], &two, 7), 7.0);
        assert_eq!(statistics.score(Scoring::Bm25, &[0, 1], &one, 7), 0.0, "a term is missing");
    }

    proptest! {
        #[test]
        fn a_copy_survives_its_bytes(length in any::<u32>(), counts in prop::collection::vec((0_u32..5000, 1_u32..300), 0..40)) {
            let copy = CopyWords::new(length, counts);
            prop_assert_eq!(CopyWords::from_bytes(&copy.to_bytes()), Some(copy));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(copy) = CopyWords::from_bytes(&bytes) {
                prop_assert!(copy.counts().is_sorted_by(|a, b| a.0 < b.0));
            }
        }
    }
}
