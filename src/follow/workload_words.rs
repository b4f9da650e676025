//! The words of all documents of the index that a workload asks for, in one pass over the postings of its terms.

use super::FollowResult;
use super::postings::postings;
use super::search_index::SearchIndex;
use crate::page::PageId;
use crate::quality::copies::{CopyWords, WorkloadTerms, term_hash};
use crate::quality::workload::Workload;

impl SearchIndex {
    /// The copy of each page in the index as the workload sees it, in the order of the pages. `terms` are the terms of the workload,
    /// as [`WorkloadTerms::of`] numbers them. A page that has none of them has a length only.
    pub fn workload_words(
        &self,
        workload: &Workload,
        terms: &WorkloadTerms,
    ) -> FollowResult<Vec<(PageId, CopyWords)>> {
        // A follower may write meanwhile: documents and postings are those of one moment.
        let moment = self.connection().unchecked_transaction()?;
        let mut statement = moment.prepare_cached("SELECT id, page, length FROM document ORDER BY id")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, PageId(row.get(1)?), row.get(2)?)))?;
        let documents = rows.collect::<rusqlite::Result<Vec<(i64, PageId, u32)>>>()?;
        let mut counts: Vec<Vec<(u32, u32)>> = vec![Vec::new(); documents.len()];
        for term in workload.single_terms().keys() {
            let Some(number) = terms.number(term_hash(term)) else { continue };
            for (document, count) in postings(&moment, term)? {
                let place = documents.binary_search_by_key(&document, |(id, ..)| *id);
                if let Some(counts) = place.ok().and_then(|place| counts.get_mut(place)) {
                    counts.push((number, count));
                }
            }
        }
        let words = documents.iter().zip(counts);
        let mut words: Vec<(PageId, CopyWords)> =
            words.map(|((_, page, length), counts)| (*page, CopyWords::new(*length, counts))).collect();
        words.sort_unstable_by_key(|(page, _)| *page);
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::params;

    use super::*;
    use crate::quality::terms::{TermReader, distinct_terms};

    #[test]
    fn the_words_of_the_index_are_those_of_the_texts() {
        let texts = ["the law on cancer and the law", "nothing", "今天 cancer 今天", "tax law 12 times"];
        let index = SearchIndex::temporary().expect("an index");
        let mut reader = TermReader::default();
        for (number, text) in (1_i64..).zip(texts) {
            let counts = reader.count(&[text]);
            let tokens: Vec<String> = counts.iter().map(|(term, count)| format!("{term}:{count}")).collect();
            let (page, length) = (100 - number, counts.length());
            let connection = index.connection();
            connection
                .execute("INSERT INTO word (rowid, terms) VALUES (?1, ?2)", params![number, tokens.join(" ")])
                .expect("a document");
            connection
                .execute("INSERT INTO document VALUES (?1, ?2, 1, ?3, 0)", params![number, page, length])
                .expect("a row");
        }
        let queries = ["law cancer", "今天", "times", "absent"].map(|query| (distinct_terms(query), 1.0));
        let workload = Workload::of(queries).expect("a workload");
        let terms = WorkloadTerms::of(&workload);
        let words = index.workload_words(&workload, &terms).expect("words");
        let expected: Vec<(PageId, CopyWords)> = (96..)
            .zip(texts.iter().rev())
            .map(|(page, text)| (PageId(page), terms.words_of(&reader.count(&[text]))))
            .collect();
        assert_eq!(words, expected);
        assert_eq!(words[2].1.counts(), [], "a length only");
        assert_eq!(words[2].1.length, 1);
    }
}
