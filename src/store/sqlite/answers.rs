//! Heads of answers: kept with the first visit that brought a version to a page, and read back.

use std::net::IpAddr;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::load::rows_of;
use super::{Result, count};
use crate::fetch::answer_head::AnswerHead;
use crate::page::PageId;
use crate::store::{KeptAnswer, StoreError, VersionFacts, VersionId, packed_head};
use crate::time::Timestamp;

/// Keeps an answer, unless one is kept of this page and version.
pub(super) fn keep(
    connection: &Connection,
    page: PageId,
    version: VersionId,
    head: &AnswerHead,
) -> Result<()> {
    let is_kept = connection
        .prepare_cached("SELECT 1 FROM answer WHERE page_id = ?1 AND version_id = ?2")?
        .exists([page.0, version.0])?;
    if is_kept {
        return Ok(());
    }
    let block = head.to_block();
    let (model, dictionary) = model_of(connection, head, &block)?;
    let packed = packed_head::pack(&block, &dictionary)
        .map_err(|error| StoreError::BadValue(format!("headers that do not pack: {error}")))?;
    let address = head.address.map(|address| match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    });
    connection
        .prepare_cached(
            "INSERT INTO answer (page_id, version_id, at, address, content_type, model_id, head, cut)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            page.0,
            version.0,
            head.at.millis(),
            address,
            head.header("content-type"),
            model,
            packed,
            head.is_cut,
        ])?;
    Ok(())
}

/// The model of heads with these names: the one there is, or this head.
fn model_of(connection: &Connection, head: &AnswerHead, block: &[u8]) -> Result<(i64, Vec<u8>)> {
    let names = packed_head::names_hash(head).to_be_bytes();
    let known = connection
        .prepare_cached("SELECT id, head FROM answer_model WHERE names = ?1")?
        .query_row([&names], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    connection
        .prepare_cached("INSERT INTO answer_model (names, head) VALUES (?1, ?2)")?
        .execute(params![names, block])?;
    Ok((connection.last_insert_rowid(), block.to_vec()))
}

/// The answers kept of these pages, page by page in order of their ids, a page's own in order of time.
pub(super) fn answers_of(connection: &Connection, pages: &[PageId]) -> Result<Vec<KeptAnswer>> {
    let sql = |places: &str| {
        format!(
            "SELECT page_id, version_id, at, address, cut, answer.head, answer_model.head
             FROM answer JOIN answer_model ON answer_model.id = model_id
             WHERE page_id IN ({places}) ORDER BY page_id, at, version_id"
        )
    };
    rows_of(connection, pages, |page| page.0, sql, answer)
}

fn answer(row: &Row<'_>) -> Result<KeptAnswer> {
    let (packed, model): (Vec<u8>, Vec<u8>) = (row.get(5)?, row.get(6)?);
    let address = row.get::<_, Option<Vec<u8>>>(3)?.and_then(|bytes| match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    });
    let block = packed_head::unpack(&packed, &model)?;
    let head =
        AnswerHead::from_block(&block, Timestamp::from_millis(row.get(2)?), address, row.get::<_, bool>(4)?);
    Ok(KeptAnswer {
        page: PageId(row.get(0)?),
        version: VersionId(row.get(1)?),
        head: head.ok_or_else(|| StoreError::BadValue("headers that can't be read".to_owned()))?,
    })
}

/// What is known of these versions besides their contents, in order of their ids.
pub(super) fn facts(connection: &Connection, versions: &[VersionId]) -> Result<Vec<VersionFacts>> {
    let sql = |places: &str| {
        format!(
            "SELECT id, first_seen, body_bytes, text_bytes, length(content) > 0, sha256, title
             FROM version WHERE id IN ({places}) ORDER BY id"
        )
    };
    rows_of(
        connection,
        versions,
        |version| version.0,
        sql,
        |row| {
            Ok(VersionFacts {
                version: VersionId(row.get(0)?),
                first_seen: Timestamp::from_millis(row.get(1)?),
                body_bytes: count(row.get(2)?),
                text_bytes: count(row.get(3)?),
                is_stored: row.get(4)?,
                sha256: row.get(5)?,
                title: row.get(6)?,
            })
        },
    )
}
