//! What the words of a link promise: the gain of a page that is a middling result for them.
//!
//! The words of a link are on the page it leads to, as a rule. How high that page will rank is not known, so it is taken to be in the
//! middle of each word's results (ours; Pandey & Olston 2005 leave new pages to future work).

use std::collections::HashMap;
use std::path::Path;

use super::FollowResult;
use super::index_file::number;
use crate::quality::copies::term_hash;
use crate::quality::delta::{AffectedTerm, refresh_delta};
use crate::quality::score_rank::ScoreRank;
use crate::quality::search_workload::SearchWorkload;
use crate::quality::terms::distinct_terms;
use crate::store;

/// The gain that each word of a workload promises.
#[derive(Clone, Debug, Default)]
pub struct WordPromises(HashMap<u64, f64>);

impl WordPromises {
    /// Reads the score–rank functions of an index. Without an index, or if it measures other queries, no word promises anything.
    pub fn read(index: &Path, search: &SearchWorkload) -> FollowResult<Self> {
        let mut promises = HashMap::new();
        let Ok(connection) = store::sqlite_reader(index) else { return Ok(Self::default()) };
        if !matches!(number(&connection, "measure"), Ok(Some(measure)) if measure == search.measure().0.cast_signed())
        {
            return Ok(Self::default());
        }
        let terms: Vec<(String, f64)> = search.workload.single_terms().into_iter().collect();
        let mut statement = connection.prepare("SELECT term, function FROM score_rank")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let term = usize::try_from(row.get::<_, i64>(0)?).ok().and_then(|place| terms.get(place));
            let ranks = row.get_ref(1)?.as_blob().ok().and_then(ScoreRank::from_bytes);
            let (Some((term, frequency)), Some(ranks)) = (term, ranks) else { continue };
            let after = ranks.score(ranks.count() as f64 / 2.0);
            let affected = AffectedTerm { frequency: *frequency, ranks: Some(&ranks), before: 0.0, after };
            promises.insert(term_hash(term), refresh_delta(search.attention, [affected]));
        }
        Ok(Self(promises))
    }

    /// Does no word promise anything?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The gain that these words promise together.
    pub fn of(&self, words: &str) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        distinct_terms(words).iter().filter_map(|term| self.0.get(&term_hash(term))).sum::<f64>().max(0.0)
    }
}
