//! How well a page answers a query: one function for search, policies, metrics and experiments.
//!
//! Comes in: how often each term of the query occurs in the page, the length of the page, and counts of the collection. Goes out: a
//! score, higher first. It is 0 unless every term occurs (Pandey & Olston 2005, §3.1).

use serde::Serialize;

/// A way to score pages for a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scoring {
    /// Okapi BM25 with k1 = 1.2 and b = 0.75, as FTS5 of SQLite has it.
    #[default]
    Bm25,
    /// √tf · (1 + ln(N/(df + 1)))² / √length, the classic of Lucene: the first score of Pandey & Olston (2005, §6).
    TfIdf,
    /// The number of pages that link to the page: their second score.
    Inlinks,
}

/// Weight of repeated terms (Robertson et al. 1994); the value of FTS5.
const K1: f64 = 1.2;
/// How far the length of a page counts; the value of FTS5.
const B: f64 = 0.75;
/// The weight of a term that half of the pages or more have, for which the formula gives 0 or less; the value of FTS5.
const LEAST_IDF: f64 = 1e-6;

/// Counts of the collection that pages are scored in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CollectionCounts {
    /// Pages in it (N).
    pub documents: u64,
    /// Terms of them all, each as often as it occurs.
    pub terms: u64,
}

/// A term of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermMatch {
    /// How often it occurs in the page (tf).
    pub count: u32,
    /// Pages in which it occurs (df).
    pub documents: u64,
}

/// The part of a page that its score depends on.
#[derive(Clone, Copy, Debug)]
pub struct MatchedPage<'a> {
    /// A match for each term of the query.
    pub terms: &'a [TermMatch],
    /// Terms of the page, each as often as it occurs.
    pub length: u32,
    /// Pages that link to it.
    pub inlinks: u32,
}

impl Scoring {
    /// Every one of them.
    pub const ALL: [Self; 3] = [Self::Bm25, Self::TfIdf, Self::Inlinks];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::TfIdf => "tf-idf",
            Self::Inlinks => "inlinks",
        }
    }

    /// The scoring of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scoring| scoring.name() == name)
    }

    /// The score of a page. It is 0 if a term does not occur, or if there are no terms.
    pub fn score(self, page: &MatchedPage<'_>, collection: CollectionCounts) -> f64 {
        if page.terms.is_empty() || page.terms.iter().any(|term| term.count == 0) {
            return 0.0;
        }
        if self == Self::Inlinks {
            return f64::from(page.inlinks);
        }
        let norm = self.page_norm(page.length, page.inlinks, collection);
        let part = |term: &TermMatch| {
            self.term_score(self.term_weight(term.documents, collection), term.count, norm)
        };
        page.terms.iter().map(part).sum()
    }

    /// The part of a score that depends on the term alone.
    ///
    /// bm25: idf = ln((N − df + ½) / (df + ½)). tf-idf: idf², with idf = 1 + ln(N/(df + 1)).
    pub fn term_weight(self, documents: u64, collection: CollectionCounts) -> f64 {
        let (all, with) = (collection.documents as f64, documents as f64);
        match self {
            Self::Bm25 => ((all - with + 0.5) / (with + 0.5)).ln().max(LEAST_IDF),
            Self::TfIdf => (1.0 + (all.max(1.0) / (with + 1.0)).ln()).powi(2),
            Self::Inlinks => 1.0,
        }
    }

    /// The part of a score that depends on the page alone.
    ///
    /// bm25: k1 · (1 − b + b · length / mean length). tf-idf: 1/√length. Inlinks: their number.
    pub fn page_norm(self, length: u32, inlinks: u32, collection: CollectionCounts) -> f64 {
        match self {
            Self::Bm25 => {
                let mean_length = collection.terms as f64 / (collection.documents as f64).max(1.0);
                let relative = if mean_length > 0.0 { f64::from(length) / mean_length } else { 1.0 };
                K1 * (1.0 - B + B * relative)
            }
            Self::TfIdf => 1.0 / f64::from(length.max(1)).sqrt(),
            Self::Inlinks => f64::from(inlinks),
        }
    }

    /// The score of a page for one term, from the two parts and how often the term occurs in it; 0 if it does not.
    ///
    /// bm25: idf · tf · (k1 + 1) / (tf + norm). tf-idf: √tf · idf² · norm.
    pub fn term_score(self, term_weight: f64, count: u32, page_norm: f64) -> f64 {
        if count == 0 {
            return 0.0;
        }
        let tf = f64::from(count);
        match self {
            Self::Bm25 => term_weight * tf * (K1 + 1.0) / (tf + page_norm),
            Self::TfIdf => tf.sqrt() * term_weight * page_norm,
            Self::Inlinks => page_norm,
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::terms::TermReader;
    use super::*;

    const TEXTS: [&str; 7] = [
        "fresh pages are visited often",
        "old pages pages pages",
        "a crawler visits fresh pages and stale pages alike and writes down what it saw there on that day",
        "nothing of interest",
        "fresh",
        "pages fresh fresh fresh",
        "pages of pages of pages",
    ];

    /// A page's score for a query by its own counts.
    fn score(scoring: Scoring, text: &str, query: &[&str]) -> f64 {
        let counted = TEXTS.map(|text| TermReader::default().count(&[text]));
        let collection = CollectionCounts {
            documents: TEXTS.len() as u64,
            terms: counted.iter().map(|counts| u64::from(counts.length())).sum(),
        };
        let page = TermReader::default().count(&[text]);
        let with = |term: &str| counted.iter().filter(|counts| counts.count_of(term) > 0).count() as u64;
        let terms: Vec<TermMatch> = query
            .iter()
            .map(|term| TermMatch { count: page.count_of(term), documents: with(term) })
            .collect();
        scoring.score(&MatchedPage { terms: &terms, length: page.length(), inlinks: 3 }, collection)
    }

    #[test]
    fn bm25_is_that_of_fts5_on_the_same_counts() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE VIRTUAL TABLE page USING fts5(text)").unwrap();
        for text in TEXTS {
            connection.execute("INSERT INTO page (text) VALUES (?1)", [text]).unwrap();
        }
        let queries: [&[&str]; 6] = [
            &["fresh"],
            &["pages"],
            &["fresh", "pages"],
            &["stale"],
            &["of", "pages"],
            &["fresh", "stale", "day"],
        ];
        let mut compared = 0;
        for query in queries {
            let mut found =
                connection.prepare("SELECT text, bm25(page) FROM page WHERE page MATCH ?1").unwrap();
            let rows = found.query_map([query.join(" ")], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            for row in rows {
                let (text, theirs): (String, f64) = row.unwrap();
                let ours = score(Scoring::Bm25, &text, query);
                // Theirs is negative, so that the best comes first in ascending order.
                assert!(
                    (ours + theirs).abs() <= 1e-12 * ours.abs().max(1e-12),
                    "{query:?} {text}: {ours} {theirs}"
                );
                compared += 1;
            }
        }
        assert!(compared >= 15, "{compared}");
    }

    #[test]
    fn tf_idf_is_the_formula_worked_by_hand() {
        // `stale` occurs once in one of 7 pages, in a text of 19 words: √1 · (1 + ln(7/2))² / √19.
        let expected = (1.0 + 3.5_f64.ln()).powi(2) / 19.0_f64.sqrt();
        assert!((score(Scoring::TfIdf, TEXTS[2], &["stale"]) - expected).abs() < 1e-12);
        // `pages` occurs 3 times in a text of 5 words, and in 5 of 7 pages.
        let expected = 3.0_f64.sqrt() * (1.0 + (7.0_f64 / 6.0).ln()).powi(2) / 5.0_f64.sqrt();
        assert!((score(Scoring::TfIdf, TEXTS[6], &["pages"]) - expected).abs() < 1e-12);
    }

    #[test]
    fn a_page_without_one_of_the_terms_scores_nothing() {
        for scoring in Scoring::ALL {
            assert_eq!(score(scoring, TEXTS[0], &["fresh", "stale"]), 0.0);
            assert_eq!(score(scoring, TEXTS[0], &[]), 0.0);
            assert!(score(scoring, TEXTS[0], &["fresh", "pages"]) > 0.0);
            assert_eq!(Scoring::from_name(scoring.name()), Some(scoring));
        }
        assert_eq!(score(Scoring::Inlinks, TEXTS[0], &["fresh"]), 3.0);
        assert_eq!(Scoring::from_name("best"), None);
    }

    #[test]
    fn nothing_divides_by_zero() {
        let terms = [TermMatch { count: 1, documents: 1 }];
        for scoring in Scoring::ALL {
            let page = MatchedPage { terms: &terms, length: 0, inlinks: 0 };
            assert!(scoring.score(&page, CollectionCounts::default()).is_finite());
        }
    }
}
