//! A query workload: what people search for, and how often.
//!
//! Comes in: queries with frequencies, from a file ([`super::workload_file`]), a web server's log ([`super::access_log`]) or a caller.
//! Goes out: the queries, each once; the frequency of each term, for the approximation (Pandey & Olston 2005, §5.1.1); and an id, by
//! which measurements under another workload can be told apart.
//!
//! What must stay true: a workload has at least one query, every query at least one term and a positive, finite frequency, and the
//! order in which queries come changes nothing, not even the last bit of a sum.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io;

use thiserror::Error;
use xxhash_rust::xxh3::Xxh3;

/// Queries and how often each is asked, in the order of their sorted terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    queries: Vec<WorkloadQuery>,
}

/// A query of a workload: all of its terms must occur in a page that answers it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadQuery {
    /// The terms, at least one, each once, in the order in which they were first asked.
    pub terms: Vec<String>,
    /// How often it is asked, in any unit that is the same for all queries: positive and finite.
    pub frequency: f64,
}

/// The name of a workload: equal for equal queries and frequencies, and the same in every release.
///
/// It covers terms and frequencies only. How pages are scored, and how attention falls with the rank, is not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkloadId(pub u64);

impl fmt::Display for WorkloadId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl Workload {
    /// A workload of these queries. Equal ones, with the same terms in any order, become one with the sum of their frequencies.
    pub fn of(queries: impl IntoIterator<Item = (Vec<String>, f64)>) -> Result<Workload, WorkloadFault> {
        let mut gathering = Gathering::default();
        for (terms, frequency) in queries {
            gathering.add(terms, frequency)?;
        }
        gathering.finish()
    }

    /// The queries, each once, in the order of their sorted terms.
    pub fn queries(&self) -> &[WorkloadQuery] {
        &self.queries
    }

    /// The single-term workload Q′: each term with the sum of the frequencies of the queries that contain it (§5.1.1).
    ///
    /// Most queries have one or two terms, so the paper breaks each query into its terms, and measures refreshes by these.
    pub fn single_terms(&self) -> BTreeMap<String, f64> {
        let mut terms: BTreeMap<String, f64> = BTreeMap::new();
        for query in &self.queries {
            for term in &query.terms {
                *terms.entry(term.clone()).or_default() += query.frequency;
            }
        }
        terms
    }

    /// The workload's id: xxh3-64 over the sorted terms and the frequency of each query, in order.
    pub fn id(&self) -> WorkloadId {
        let mut hash = Xxh3::new();
        for query in &self.queries {
            hash.update(&(query.terms.len() as u64).to_le_bytes());
            for term in key(&query.terms) {
                hash.update(&(term.len() as u64).to_le_bytes());
                hash.update(term.as_bytes());
            }
            hash.update(&query.frequency.to_bits().to_le_bytes());
        }
        WorkloadId(hash.digest())
    }
}

/// Queries on their way into a workload.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// By sorted terms.
    queries: BTreeMap<Vec<String>, Askings>,
}

/// All times that one query was asked.
#[derive(Debug)]
struct Askings {
    /// As first asked.
    terms: Vec<String>,
    /// How often each frequency came, by its bits. They are added in the order of their size, so that the order of the queries does
    /// not matter.
    frequencies: BTreeMap<u64, u64>,
}

impl Askings {
    fn frequency(&self) -> f64 {
        self.frequencies.iter().map(|(bits, times)| f64::from_bits(*bits) * *times as f64).sum()
    }
}

impl Gathering {
    /// Adds a query. A term that comes again in it counts once.
    pub(super) fn add(&mut self, mut terms: Vec<String>, frequency: f64) -> Result<(), WorkloadFault> {
        if !(frequency > 0.0 && frequency.is_finite()) {
            return Err(WorkloadFault::Frequency(frequency.to_string()));
        }
        if terms.is_empty() {
            return Err(WorkloadFault::NoTerms(String::new()));
        }
        let mut seen = HashSet::new();
        terms.retain(|term| seen.insert(term.clone()));
        let first = |terms| Askings { terms, frequencies: BTreeMap::new() };
        let askings = self.queries.entry(key(&terms)).or_insert_with(|| first(terms));
        *askings.frequencies.entry(frequency.to_bits()).or_default() += 1;
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Workload, WorkloadFault> {
        let query = |askings: Askings| WorkloadQuery { frequency: askings.frequency(), terms: askings.terms };
        let queries: Vec<WorkloadQuery> = self.queries.into_values().map(query).collect();
        if queries.is_empty() {
            return Err(WorkloadFault::Empty);
        }
        let all: f64 = queries.iter().map(|query| query.frequency).sum();
        if !all.is_finite() {
            return Err(WorkloadFault::Frequency("of all queries together".to_owned()));
        }
        Ok(Workload { queries })
    }
}

/// The terms of a query, sorted: equal for equal queries.
fn key(terms: &[String]) -> Vec<String> {
    let mut key = terms.to_vec();
    key.sort_unstable();
    key
}

/// What is wrong with a query or a workload.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WorkloadFault {
    /// There is no query.
    #[error("has no queries")]
    Empty,
    /// A query without a word: its text.
    #[error("query `{0}` has no words")]
    NoTerms(String),
    /// A frequency that is not a positive, finite number, as it was written.
    #[error("frequency `{0}` is not a number above 0")]
    Frequency(String),
    /// More than one tab in a line: what follows the second.
    #[error("`{0}` after the frequency is not expected")]
    ExtraField(String),
    /// A control character: its code.
    #[error("control character `U+{0:04X}` in a query")]
    ControlCharacter(u32),
    /// A line that is longer than this many bytes.
    #[error("the line is longer than {0} bytes")]
    TooLong(usize),
    /// Bytes that are not UTF-8.
    #[error("the line is not UTF-8")]
    NotText,
    /// No line of an access log has this query parameter.
    #[error("no line has a query in the parameter `{0}`")]
    NoParameter(String),
}

impl WorkloadFault {
    /// How to repair it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "write a query a line, optionally with a tab and its frequency",
            Self::NoTerms(_) => "write at least one word, or put `#` before the line to skip it",
            Self::Frequency(_) => "write a number above 0 after the tab, or leave the tab out for 1",
            Self::ExtraField(_) => {
                "write a query, a tab and its frequency; the query itself has spaces, not tabs"
            }
            Self::ControlCharacter(_) => "remove the character; a tab stands only before the frequency",
            Self::TooLong(_) => {
                "write each query on a line of its own, or put `#` before the line to skip it"
            }
            Self::NotText => "save the file as UTF-8",
            Self::NoParameter(_) => {
                "name the parameter that your search form sends, and give a log in the common or combined format"
            }
        }
    }
}

/// Why a workload could not be read.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// A line is wrong.
    #[error("{file}:{line}: {fault}")]
    Line {
        /// The file, as it was given.
        file: String,
        /// The line; the first is 1.
        line: u64,
        /// What is wrong with it.
        fault: WorkloadFault,
    },
    /// The file as a whole is wrong.
    #[error("{file}: {fault}")]
    File {
        /// The file, as it was given.
        file: String,
        /// What is wrong with it.
        fault: WorkloadFault,
    },
    /// The file could not be read.
    #[error("{file}: {source}")]
    Read {
        /// The file, as it was given.
        file: String,
        /// The operating system's reason.
        source: io::Error,
    },
}

impl WorkloadError {
    /// How to repair it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Line { fault, .. } | Self::File { fault, .. } => fault.hint(),
            Self::Read { .. } => "check that the file exists and may be read",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{golden, number};
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn workload(queries: &[(&str, f64)]) -> Result<Workload, WorkloadFault> {
        Workload::of(queries.iter().map(|(query, frequency)| (words(query), *frequency)))
    }

    #[test]
    fn the_frequency_of_a_term_is_that_of_all_queries_with_it() {
        let golden = golden(include_str!("../../tests/golden/quality_delta.json"));
        for case in golden["cases"].as_array().expect("cases") {
            let queries = case["queries"].as_array().expect("queries").iter().map(|query| {
                let terms = query["terms"].as_array().expect("terms").iter();
                (
                    terms.map(|term| term.as_str().expect("a term").to_owned()).collect(),
                    number(&query["frequency"]),
                )
            });
            let workload = Workload::of(queries).expect("a workload");
            let expected = case["single_term_workload"].as_object().expect("terms");
            let expected: BTreeMap<String, f64> =
                expected.iter().map(|(term, frequency)| (term.clone(), number(frequency))).collect();
            assert_eq!(workload.single_terms(), expected);
        }
    }

    #[test]
    fn equal_queries_are_one() {
        let workload = workload(&[("new york", 1.5), ("york new", 2.0), ("new new york", 1.0), ("new", 1.0)])
            .expect("a workload");
        let queries: Vec<(String, f64)> =
            workload.queries().iter().map(|query| (query.terms.join(" "), query.frequency)).collect();
        assert_eq!(queries, [("new".to_owned(), 1.0), ("new york".to_owned(), 4.5)]);
        assert_eq!(workload.single_terms()["new"], 5.5);
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(workload(&[]), Err(WorkloadFault::Empty));
        assert_eq!(workload(&[("", 1.0)]), Err(WorkloadFault::NoTerms(String::new())));
        for frequency in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(workload(&[("a", frequency)]), Err(WorkloadFault::Frequency(frequency.to_string())));
        }
        let too_much = workload(&[("a", f64::MAX), ("b", f64::MAX)]);
        assert!(matches!(too_much, Err(WorkloadFault::Frequency(_))), "{too_much:?}");
    }

    /// Stores hold this value.
    #[test]
    fn the_id_is_stable_and_tells_workloads_apart() {
        let id = |queries: &[(&str, f64)]| workload(queries).expect("a workload").id();
        let first = id(&[("cancer", 3.0), ("new york", 1.0)]);
        assert_eq!(first.to_string(), "46c40ec1ae0202b7");
        for other in [
            &[("cancer", 3.0)][..],
            &[("cancer", 3.5), ("new york", 1.0)],
            &[("cancer", 3.0), ("newyork", 1.0)],
            &[("cancer", 3.0), ("new", 1.0), ("york", 1.0)],
        ] {
            assert_ne!(id(other), first, "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_queries_changes_nothing(
            mut queries in prop::collection::vec(("[a-c]( [a-c]){0,2}", 0.001..10.0_f64), 1..20)
        ) {
            let of = |queries: &[(String, f64)]| {
                Workload::of(queries.iter().map(|(query, frequency)| (words(query), *frequency))).expect("a workload")
            };
            let forward = of(&queries);
            queries.reverse();
            let backward = of(&queries);
            prop_assert_eq!(forward.id(), backward.id());
            prop_assert_eq!(forward.single_terms(), backward.single_terms());
        }
    }
}
