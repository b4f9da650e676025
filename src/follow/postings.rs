//! Questions to the search index: which pages have a term, and which pages answer a query best.

use rusqlite::Connection;

use super::search_index::SearchIndex;
use super::{FollowResult, index_file};
use crate::page::PageId;
use crate::quality::scoring::{CollectionCounts, MatchedPage, Scoring, TermMatch};
use crate::store::VersionId;
use crate::time::Timestamp;

/// A page that answers a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexHit {
    /// The page.
    pub page: PageId,
    /// The version of it that is in the index.
    pub version: VersionId,
    /// Its score, as [`Scoring`] gives it.
    pub score: f64,
}

/// The answer of the index to a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexHits {
    /// Pages in which every term occurs.
    pub matches: u64,
    /// Pages in which each term occurs, in the order of the terms.
    pub with: Vec<u64>,
    /// The best of them, the best first; equal ones in the order of their numbers.
    pub best: Vec<IndexHit>,
}

/// Documents in which a term occurs with how often, in the order of their numbers.
pub(super) type Postings = Vec<(i64, u32)>;

impl SearchIndex {
    /// Counts of the collection.
    pub fn counts(&self) -> FollowResult<CollectionCounts> {
        let connection = self.connection();
        let count = |name: &str| -> FollowResult<u64> {
            Ok(u64::try_from(index_file::number(connection, name)?.unwrap_or(0)).unwrap_or(0))
        };
        Ok(CollectionCounts { documents: count("documents")?, terms: count("length")? })
    }

    /// The best pages for these terms, at most `most`. `inlinks` is asked for the pages that link to a page.
    pub fn find(
        &self,
        terms: &[String],
        scoring: Scoring,
        inlinks: impl Fn(PageId) -> u32,
        most: usize,
    ) -> FollowResult<IndexHits> {
        // A follower may write meanwhile: counts and postings are those of one moment.
        let moment = self.connection().unchecked_transaction()?;
        let collection = self.counts()?;
        let matched = MatchedDocuments::of(&moment, terms)?;
        let mut hits = Vec::with_capacity(matched.documents.len());
        let mut terms = matched.terms();
        each_document(&moment, &matched.documents, collection.documents, |place, document| {
            let inlinks = inlinks(document.page);
            let page = MatchedPage { terms: terms.of(place), length: document.length, inlinks };
            let score = scoring.score(&page, collection);
            hits.push(IndexHit { page: document.page, version: document.version, score });
        })?;
        let matches = hits.len() as u64;
        best_first(&mut hits, most);
        Ok(IndexHits { matches, with: matched.with, best: hits })
    }

    /// The queries that were asked, with when, in their order.
    pub fn queries(&self) -> FollowResult<Vec<(Timestamp, String)>> {
        let mut statement = self.connection().prepare("SELECT at, text FROM query ORDER BY id")?;
        let rows = statement.query_map([], |row| Ok((Timestamp::from_millis(row.get(0)?), row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

/// Keeps the best, the best first; equal ones in the order of their pages.
pub fn best_first(hits: &mut Vec<IndexHit>, most: usize) {
    let order = |a: &IndexHit, b: &IndexHit| b.score.total_cmp(&a.score).then(a.page.cmp(&b.page));
    if hits.len() > most && most > 0 {
        hits.select_nth_unstable_by(most - 1, order);
    }
    hits.truncate(most);
    hits.sort_unstable_by(order);
}

/// The documents in which every term of a query occurs.
#[derive(Default)]
struct MatchedDocuments {
    /// Their numbers, ascending.
    documents: Vec<i64>,
    /// For each document how often each term occurs, one document after the other.
    counts: Vec<u32>,
    /// Documents in which each term occurs.
    with: Vec<u64>,
}

impl MatchedDocuments {
    fn of(connection: &Connection, terms: &[String]) -> FollowResult<Self> {
        let mut lists: Vec<Postings> = Vec::with_capacity(terms.len());
        for term in terms {
            lists.push(postings(connection, term)?);
        }
        let with = lists.iter().map(|list| list.len() as u64).collect();
        let Some((first, others)) = lists.split_first() else { return Ok(Self::default()) };
        let mut documents: Vec<i64> = first.iter().map(|(document, _)| *document).collect();
        for list in others {
            let mut list = list.iter().map(|(document, _)| *document).peekable();
            documents.retain(|document| {
                while list.next_if(|next| next < document).is_some() {}
                list.peek() == Some(document)
            });
        }
        let mut counts = vec![0; documents.len() * lists.len()];
        for (place, list) in lists.iter().enumerate() {
            let mut list = list.iter().peekable();
            for (document, counts) in documents.iter().zip(counts.chunks_mut(lists.len())) {
                while list.next_if(|(next, _)| next < document).is_some() {}
                if let (Some(count), Some((_, found))) = (counts.get_mut(place), list.peek()) {
                    *count = *found;
                }
            }
        }
        Ok(Self { documents, counts, with })
    }

    fn terms(&self) -> MatchedTerms<'_> {
        MatchedTerms { matched: self, terms: Vec::with_capacity(self.with.len()) }
    }
}

/// The terms of one matched document after the other, in the same memory.
struct MatchedTerms<'a> {
    matched: &'a MatchedDocuments,
    terms: Vec<TermMatch>,
}

impl MatchedTerms<'_> {
    /// A match for each term, of the document at this place.
    fn of(&mut self, place: usize) -> &[TermMatch] {
        let with = &self.matched.with;
        let counts = self.matched.counts.get(place * with.len()..).unwrap_or_default();
        self.terms.clear();
        let terms =
            counts.iter().zip(with).map(|(count, with)| TermMatch { count: *count, documents: *with });
        self.terms.extend(terms);
        &self.terms
    }
}

/// The documents in which a term occurs, in the order of their numbers.
pub(super) fn postings(connection: &Connection, term: &str) -> FollowResult<Postings> {
    // The tokens `term:1`, `term:2` …: `;` is the character after `:`.
    let mut statement =
        connection.prepare_cached("SELECT doc, term FROM posting WHERE term >= ?1 AND term < ?2")?;
    let mut rows = statement.query([format!("{term}:"), format!("{term};")])?;
    let mut postings = Vec::new();
    while let Some(row) = rows.next()? {
        let token = row.get_ref(1)?.as_bytes_or_null().ok().flatten().unwrap_or_default();
        let count = token.get(term.len() + 1..).and_then(|count| str::from_utf8(count).ok()?.parse().ok());
        postings.push((row.get(0)?, count.unwrap_or(1)));
    }
    postings.sort_unstable();
    Ok(postings)
}

/// A row of the table of documents.
struct DocumentRow {
    page: PageId,
    version: VersionId,
    length: u32,
}

/// Gives the rows of these documents, each with its place in the list, which is ascending.
fn each_document(
    connection: &Connection,
    documents: &[i64],
    all: u64,
    mut each: impl FnMut(usize, DocumentRow),
) -> FollowResult<()> {
    const COLUMNS: &str = "SELECT page, version, length, id FROM document";
    /// One look-up costs as much as this number of rows that are read in order.
    const ROWS_PER_LOOK_UP: u64 = 8;
    let read = |row: &rusqlite::Row<'_>| -> FollowResult<DocumentRow> {
        Ok(DocumentRow { page: PageId(row.get(0)?), version: VersionId(row.get(1)?), length: row.get(2)? })
    };
    let mut wanted = documents.iter().enumerate().peekable();
    if documents.len() as u64 * ROWS_PER_LOOK_UP <= all {
        let mut statement = connection.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
        for (place, document) in wanted {
            let mut rows = statement.query([document])?;
            if let Some(row) = rows.next()? {
                each(place, read(row)?);
            }
        }
        return Ok(());
    }
    let mut statement = connection.prepare_cached(&format!("{COLUMNS} ORDER BY id"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(3)?;
        while wanted.next_if(|(_, document)| **document < id).is_some() {}
        if let Some((place, _)) = wanted.next_if(|(_, document)| **document == id) {
            each(place, read(row)?);
        }
    }
    Ok(())
}
