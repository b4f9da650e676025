//! What refreshes gained in search results.

use rusqlite::{Connection, Row, params};

use super::Result;
use super::load::rows_of;
use crate::page::PageId;
use crate::quality::gain::MeasuredGain;
use crate::quality::measure::MeasureId;
use crate::store::{GainRow, StoreError};
use crate::time::Timestamp;

/// Keeps a gain, unless it is known, and says how many were new. A page that was forgotten meanwhile has none.
pub(super) fn keep(connection: &Connection, row: &GainRow) -> Result<usize> {
    let MeasuredGain { at, delta, is_first } = row.gain;
    let new = connection
        .prepare_cached(
            "INSERT OR IGNORE INTO gain (page_id, measure, at, delta, is_first, words)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM page WHERE id = ?1)",
        )?
        .execute(params![
            row.page.0,
            row.measure.0.cast_signed(),
            at.millis(),
            delta,
            is_first,
            row.words.join(" "),
        ])?;
    Ok(new)
}

/// The gains of these pages by one measure: page by page in order of their ids, a page's own in order of time.
pub(super) fn gains_of(
    connection: &Connection,
    pages: &[PageId],
    measure: MeasureId,
) -> Result<Vec<GainRow>> {
    let sql = |places: &str| {
        format!(
            "SELECT page_id, measure, at, delta, is_first, words FROM gain
             WHERE measure = {} AND page_id IN ({places}) ORDER BY page_id, at",
            measure.0.cast_signed()
        )
    };
    rows_of(connection, pages, |page| page.0, sql, gain)
}

fn gain(row: &Row<'_>) -> Result<GainRow, StoreError> {
    let words: String = row.get(5)?;
    Ok(GainRow {
        page: PageId(row.get(0)?),
        measure: MeasureId(row.get::<_, i64>(1)?.cast_unsigned()),
        gain: MeasuredGain {
            at: Timestamp::from_millis(row.get(2)?),
            delta: row.get(3)?,
            is_first: row.get(4)?,
        },
        words: words.split_whitespace().map(str::to_owned).collect(),
    })
}
