//! ΔQ_A of refreshes, measured as the index takes new copies in (Pandey & Olston 2005, §5.2).
//!
//! Beside its postings the index keeps, for each document, the counts of the words that the workload asks for. So the words of a copy
//! that is replaced are at hand without its text, and score–rank functions are made again by one pass over a few bytes for each
//! document. Gains wait in the index's file until the crawl takes them over into the log of the store ([`super::gain_outbox`]).
//!
//! Words and functions belong to one measure: a workload with a scoring and an attention. For another one they are made again, from
//! the postings.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::FollowResult;
use super::index_file::{number, set};
use super::postings::postings;
use crate::page::PageId;
use crate::quality::copies::{CopyWords, WorkloadTerms};
use crate::quality::measure::{GainMeasure, MeasureId, TermGain};
use crate::quality::score_rank::ScoreRank;
use crate::quality::scoring::Scoring;
use crate::quality::search_workload::SearchWorkload;
use crate::quality::terms::TermCounts;
use crate::store::{Store, StoreError};
use crate::time::Timestamp;

/// Words of a gain that are kept.
const WORDS_KEPT: usize = 3;

/// Counts of words that are gathered from postings before they are written.
const MOST_GATHERED: usize = 8_000_000;

/// Counts the pages that link to each page.
pub type CountInlinks = fn(&mut dyn Store) -> Result<HashMap<PageId, u32>, StoreError>;

/// What a batch of visits says about a page: which of them brought its copy, and when it was last visited.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BatchVisits {
    /// The last visit that brought another copy, and whether that was the first copy.
    pub(super) refresh: Option<(Timestamp, bool)>,
    /// The last visit.
    pub(super) last: Timestamp,
}

/// The measure of an index.
pub(super) struct IndexMeasure {
    id: MeasureId,
    measure: GainMeasure,
    scoring: Scoring,
    /// The terms by their numbers.
    names: Vec<String>,
    count_inlinks: CountInlinks,
    inlinks: HashMap<PageId, u32>,
}

impl IndexMeasure {
    /// Takes up the measure of these searchers where the index left it, or begins it.
    pub(super) fn open(
        connection: &mut Connection,
        search: &SearchWorkload,
        count_inlinks: CountInlinks,
        store: &mut dyn Store,
    ) -> FollowResult<Self> {
        let names: Vec<String> = search.workload.single_terms().into_keys().collect();
        let terms = WorkloadTerms::of(&search.workload);
        let measure = GainMeasure::new(terms, search.scoring, search.attention);
        let (id, scoring) = (search.measure(), search.scoring);
        let mut own = Self { id, measure, scoring, names, count_inlinks, inlinks: HashMap::new() };
        own.read_inlinks(store)?;
        if number(connection, "measure")? == Some(id.0.cast_signed()) {
            own.restore(connection)?;
        } else {
            let transaction = connection.transaction()?;
            own.begin(&transaction)?;
            transaction.commit()?;
        }
        Ok(own)
    }

    fn read_inlinks(&mut self, store: &mut dyn Store) -> FollowResult<()> {
        if self.scoring == Scoring::Inlinks {
            self.inlinks = (self.count_inlinks)(store)?;
        }
        Ok(())
    }

    /// Takes over the words and functions that the index has.
    fn restore(&mut self, connection: &Connection) -> FollowResult<()> {
        let mut ranks = vec![None; self.names.len()];
        let mut statement = connection.prepare("SELECT term, function FROM score_rank")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let place = usize::try_from(row.get::<_, i64>(0)?).ok().and_then(|term| ranks.get_mut(term));
            if let (Some(place), Ok(bytes)) = (place, row.get_ref(1)?.as_blob()) {
                *place = ScoreRank::from_bytes(bytes);
            }
        }
        let count = |name: &str| -> FollowResult<u64> {
            Ok(number(connection, name)?.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
        };
        let (made_from, moved) = (count("measure_made_from")?, count("measure_moved")?);
        let mut statistics = self.measure.statistics().clone();
        self.each_copy(connection, &mut |copy, _| statistics.add(copy))?;
        self.measure.restore(statistics, ranks, made_from, moved);
        Ok(())
    }

    /// Takes the words of all documents from the postings, and makes the functions.
    fn begin(&mut self, connection: &Connection) -> FollowResult<()> {
        connection.execute_batch("DELETE FROM workload_words; DELETE FROM score_rank;")?;
        let mut statement = connection.prepare("SELECT id, length FROM document")?;
        let mut rows = statement.query([])?;
        let mut insert =
            connection.prepare("INSERT INTO workload_words (document, words) VALUES (?1, ?2)")?;
        while let Some(row) = rows.next()? {
            let words = CopyWords::new(row.get(1)?, Vec::new());
            insert.execute(params![row.get::<_, i64>(0)?, words.to_bytes()])?;
        }
        let mut gathered: Vec<(i64, u32, u32)> = Vec::new();
        for (term, name) in (0..).zip(&self.names) {
            gathered.extend(
                postings(connection, name)?.into_iter().map(|(document, count)| (document, term, count)),
            );
            if gathered.len() >= MOST_GATHERED {
                add_words(connection, &mut gathered)?;
            }
        }
        add_words(connection, &mut gathered)?;
        set(connection, "measure", self.id.0.cast_signed())?;
        self.renew(connection)
    }

    /// Calls `each` with the words of every document, and the pages that link to its page.
    fn each_copy(&self, connection: &Connection, each: &mut dyn FnMut(&CopyWords, u32)) -> FollowResult<()> {
        let sql = if self.scoring == Scoring::Inlinks {
            "SELECT words, page FROM workload_words JOIN document ON document.id = workload_words.document"
        } else {
            "SELECT words, 0 FROM workload_words"
        };
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let Some(copy) = row.get_ref(0)?.as_blob().ok().and_then(CopyWords::from_bytes) {
                each(&copy, self.inlinks_of(PageId(row.get(1)?)));
            }
        }
        Ok(())
    }

    fn inlinks_of(&self, page: PageId) -> u32 {
        self.inlinks.get(&page).copied().unwrap_or(0)
    }

    /// Makes the functions again from the words of all documents, and keeps them.
    fn renew(&mut self, connection: &Connection) -> FollowResult<()> {
        // The measure is taken out, because going through the documents needs the rest.
        let mut measure = self.measure.clone();
        measure.renew(|each| self.each_copy(connection, each))?;
        self.measure = measure;
        connection.execute("DELETE FROM score_rank", [])?;
        let mut insert =
            connection.prepare_cached("INSERT INTO score_rank (term, function) VALUES (?1, ?2)")?;
        for term in 0..self.names.len() as u32 {
            if let Some(ranks) = self.measure.ranks(term) {
                insert.execute(params![term, ranks.to_bytes()])?;
            }
        }
        self.keep_wear(connection)
    }

    fn keep_wear(&self, connection: &Connection) -> FollowResult<()> {
        let (made_from, moved) = self.measure.wear();
        for (name, count) in [("measure_made_from", made_from), ("measure_moved", moved)] {
            set(connection, name, i64::try_from(count).unwrap_or(i64::MAX))?;
        }
        Ok(())
    }

    /// The end of a batch: functions that are worn are made again.
    pub(super) fn end_batch(&mut self, connection: &Connection, store: &mut dyn Store) -> FollowResult<()> {
        if self.measure.is_worn() {
            self.read_inlinks(store)?;
            return self.renew(connection);
        }
        self.measure.begin_batch();
        self.keep_wear(connection)
    }

    /// The words of a text that the workload asks for.
    pub(super) fn words_of(&self, counts: &TermCounts) -> CopyWords {
        self.measure.terms().words_of(counts)
    }

    /// A page's copy is replaced: the gain is kept, if the batch has the visit that brought it, and the counts follow. `None` stands
    /// for no copy.
    pub(super) fn replaced(
        &mut self,
        connection: &Connection,
        page: PageId,
        before: Option<&CopyWords>,
        after: Option<&CopyWords>,
        visits: Option<&BatchVisits>,
    ) -> FollowResult<()> {
        let refresh = visits.and_then(|visits| match (before, after, visits.refresh) {
            (None, Some(_), Some((at, true))) => Some((at, true)),
            (Some(_), Some(_), Some((at, false))) => Some((at, false)),
            (Some(_), None, _) => Some((visits.last, false)),
            _ => None,
        });
        // Before the first functions were made there is nothing to measure by.
        if let Some((at, is_first)) = refresh.filter(|_| self.measure.wear().0 > 0) {
            self.keep_gain(connection, page, (before, after), at, is_first)?;
        }
        before.into_iter().for_each(|copy| self.measure.remove(copy));
        after.into_iter().for_each(|copy| self.measure.add(copy));
        Ok(())
    }

    fn keep_gain(
        &self,
        connection: &Connection,
        page: PageId,
        (before, after): (Option<&CopyWords>, Option<&CopyWords>),
        at: Timestamp,
        is_first: bool,
    ) -> FollowResult<()> {
        let mut parts: Vec<TermGain> = self.measure.parts(before, after, self.inlinks_of(page)).collect();
        let delta = parts.iter().fold(0.0, |sum, part| sum + part.delta);
        parts.retain(|part| part.delta != 0.0);
        let size = |part: &TermGain| part.delta.abs();
        if parts.len() > WORDS_KEPT {
            parts.select_nth_unstable_by(WORDS_KEPT - 1, |a, b| size(b).total_cmp(&size(a)));
            parts.truncate(WORDS_KEPT);
        }
        parts.sort_unstable_by(|a, b| size(b).total_cmp(&size(a)).then(a.term.cmp(&b.term)));
        let words: Vec<&str> =
            parts.iter().filter_map(|part| Some(self.names.get(part.term as usize)?.as_str())).collect();
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO gain (page, measure, at, delta, is_first, words) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![page.0, self.id.0.cast_signed(), at.millis(), delta, is_first, words.join(" ")])?;
        Ok(())
    }
}

/// Adds words to those of their documents, and empties the list. The terms come after those that a document has.
fn add_words(connection: &Connection, gathered: &mut Vec<(i64, u32, u32)>) -> FollowResult<()> {
    gathered.sort_unstable();
    let mut read = connection.prepare_cached("SELECT words FROM workload_words WHERE document = ?1")?;
    let mut write = connection.prepare_cached("UPDATE workload_words SET words = ?2 WHERE document = ?1")?;
    for some in gathered.chunk_by(|one, other| one.0 == other.0) {
        let Some((document, _, _)) = some.first() else { continue };
        let bytes: Vec<u8> = read.query_row([document], |row| row.get(0))?;
        let Some(known) = CopyWords::from_bytes(&bytes) else { continue };
        let added = some.iter().map(|(_, term, count)| (*term, *count));
        let words = CopyWords::new(known.length, known.counts().iter().copied().chain(added).collect());
        write.execute(params![document, words.to_bytes()])?;
    }
    gathered.clear();
    Ok(())
}
