//! Signals, the lists that they come from, how often they were right, and pings that wait.

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};

use super::load::{each_row, one, rows_of};
use super::{Result, SqliteStore, StoreError, count, fingerprint, moment, signed};
use crate::page::{Fingerprint, HostId, PageId};
use crate::signal::lists::ListFlaw;
use crate::signal::trust::HostTrust;
use crate::signal::{PageSignals, Signal, SignalKind};
use crate::store::{ListRow, Ping, SignalTotal, SignalledPage, StoredTargets, TrustRow};
use crate::time::Timestamp;

// --- signals -----------------------------------------------------------------------------------------------------

pub(super) fn append(connection: &Connection, signal: &Signal) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO signal (page_id, kind, dated_at, learnt_at) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            signal.page.0,
            signal.kind.name(),
            signal.date.map(Timestamp::millis),
            signal.learnt_at.millis(),
        ])?;
    Ok(())
}

const SIGNAL: &str = "SELECT signal.page_id, signal.kind, signal.dated_at, signal.learnt_at FROM";

fn signal(row: &Row<'_>) -> Result<Signal> {
    Ok(Signal {
        page: PageId(row.get(0)?),
        kind: kind(row, 1)?,
        date: moment(row.get(2)?),
        learnt_at: Timestamp::from_millis(row.get(3)?),
    })
}

fn kind(row: &Row<'_>, place: usize) -> Result<SignalKind> {
    let name = row.get_ref(place)?.as_str().map_err(rusqlite::Error::from)?;
    SignalKind::from_name(name).ok_or_else(|| StoreError::BadValue(format!("`{name}` as a kind of signal")))
}

/// All signals of these pages: page by page in order of their ids, a page's own in the order in which they were learnt.
pub(super) fn of_pages(connection: &Connection, pages: &[PageId]) -> Result<Vec<Signal>> {
    let sql = |places: &str| format!("{SIGNAL} signal WHERE page_id IN ({places}) ORDER BY page_id, id");
    rows_of(connection, pages, |page| page.0, sql, signal)
}

/// The signals that were learnt of each page after a time, those of a page in the order in which they were learnt.
pub(super) fn after(connection: &Connection, wanted: &[(PageId, Timestamp)]) -> Result<Vec<Signal>> {
    let mut statement = connection
        .prepare_cached(&format!("{SIGNAL} signal WHERE page_id = ?1 AND learnt_at > ?2 ORDER BY id"))?;
    let mut signals = Vec::new();
    for (page, after) in wanted {
        let mut rows = statement.query([page.0, after.millis()])?;
        while let Some(row) = rows.next()? {
            signals.push(signal(row)?);
        }
    }
    Ok(signals)
}

/// The counts of a page as they are stored, and whether they could be read.
pub(super) fn counts(row: &Row<'_>, place: usize) -> rusqlite::Result<(PageSignals, bool)> {
    let Some(bytes) = row.get_ref(place)?.as_blob_or_null()? else {
        return Ok((PageSignals::default(), true));
    };
    let counts = PageSignals::from_bytes(bytes);
    Ok((counts.unwrap_or_default(), counts.is_some()))
}

pub(super) fn keep_counts(connection: &Connection, page: PageId, counts: &PageSignals) -> Result<()> {
    let bytes = Some(counts.to_bytes()).filter(|bytes| !bytes.is_empty());
    connection
        .prepare_cached("UPDATE page SET signals = ?2 WHERE id = ?1")?
        .execute(params![page.0, bytes])?;
    Ok(())
}

/// The counts of all pages, added up by host and kind.
pub(super) fn totals(connection: &Connection) -> Result<Vec<SignalTotal>> {
    let mut statement = connection
        .prepare_cached("SELECT host_id, kind, signals, unused FROM signal_count ORDER BY host_id, kind")?;
    let mut rows = statement.query([])?;
    let mut totals = Vec::new();
    while let Some(row) = rows.next()? {
        totals.push(SignalTotal {
            host: HostId(row.get(0)?),
            kind: kind(row, 1)?,
            total: count(row.get(2)?),
            unused: count(row.get(3)?),
        });
    }
    Ok(totals)
}

// --- pages that something is told of -----------------------------------------------------------------------------

const TOLD: &str = "SELECT id, fingerprint, host_id, seen_at, sitemap_lastmod_seconds, feed_lastmod_seconds, signals FROM page";

fn told_page(row: &Row<'_>) -> Result<SignalledPage> {
    let day = |place: usize| -> Result<Option<Timestamp>> {
        Ok(row.get::<_, Option<i64>>(place)?.map(Timestamp::from_seconds))
    };
    Ok(SignalledPage {
        id: PageId(row.get(0)?),
        fingerprint: fingerprint(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?,
        host: HostId(row.get(2)?),
        seen_at: moment(row.get(3)?),
        sitemap_date: day(4)?,
        feed_date: day(5)?,
        signals: counts(row, 6)?.0,
    })
}

/// Pages by their addresses, and by the high halves of the fingerprints of these.
pub(super) fn told(
    connection: &Connection,
    addresses: &[Fingerprint],
    prefixes: &[u64],
) -> Result<Vec<SignalledPage>> {
    let mut pages = Vec::with_capacity(addresses.len());
    let mut take = |row: &Row<'_>| {
        pages.push(told_page(row)?);
        Ok(())
    };
    let sql = |places: &str| format!("{TOLD} WHERE fingerprint IN ({places})");
    each_row(connection, addresses, "?", sql, |page| one(page.to_bytes()), &mut take)?;
    let mut statement = connection
        .prepare_cached(&format!("{TOLD} WHERE fingerprint BETWEEN ?1 AND ?2 ORDER BY fingerprint"))?;
    for prefix in prefixes {
        let bounds = [0_u8, u8::MAX].map(|rest| {
            let mut bytes = [rest; 16];
            bytes[..8].copy_from_slice(&prefix.to_be_bytes());
            bytes
        });
        let mut rows = statement.query(bounds)?;
        while let Some(row) = rows.next()? {
            take(row)?;
        }
    }
    Ok(pages)
}

/// The links of these pages as they were last read.
pub(super) fn links_of(connection: &Connection, pages: &[PageId]) -> Result<HashMap<PageId, StoredTargets>> {
    let sql =
        |places: &str| format!("SELECT page_id, targets, in_order FROM link WHERE page_id IN ({places})");
    let read = |row: &Row<'_>| {
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        let targets = bytes.as_chunks::<8>().0.iter().map(|eight| u64::from_le_bytes(*eight)).collect();
        Ok((PageId(row.get(0)?), StoredTargets { targets, in_order: row.get(2)? }))
    };
    Ok(rows_of(connection, pages, |page| page.0, sql, read)?.into_iter().collect())
}

// --- trust -------------------------------------------------------------------------------------------------------

const TRUST: &str = "SELECT host_id, kind, since, right, wrong, missed, quiet, dated, late_ms FROM trust";

fn trust_row(row: &Row<'_>) -> Result<TrustRow> {
    let number = |place: usize| -> Result<u64> { Ok(count(row.get(place)?)) };
    Ok(TrustRow {
        host: HostId(row.get(0)?),
        kind: kind(row, 1)?,
        trust: HostTrust {
            since: Timestamp::from_millis(row.get(2)?),
            right: number(3)?,
            wrong: number(4)?,
            missed: number(5)?,
            quiet: number(6)?,
            dated: number(7)?,
            late_ms: number(8)?,
        },
    })
}

pub(super) fn trust(connection: &Connection) -> Result<Vec<TrustRow>> {
    let mut statement = connection.prepare_cached(&format!("{TRUST} ORDER BY host_id, kind"))?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(trust_row(row)?);
    }
    Ok(all)
}

pub(super) fn trust_of(connection: &Connection, hosts: &[HostId]) -> Result<Vec<TrustRow>> {
    let sql = |places: &str| format!("{TRUST} WHERE host_id IN ({places})");
    rows_of(connection, hosts, |host| host.0, sql, trust_row)
}

pub(super) fn keep_trust(connection: &Connection, row: &TrustRow) -> Result<()> {
    let HostTrust { since, right, wrong, missed, quiet, dated, late_ms } = row.trust;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO trust (host_id, kind, since, right, wrong, missed, quiet, dated, late_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            row.host.0,
            row.kind.name(),
            since.millis(),
            signed(right),
            signed(wrong),
            signed(missed),
            signed(quiet),
            signed(dated),
            signed(late_ms),
        ])?;
    Ok(())
}

pub(super) fn drop_trust(connection: &Connection, host: HostId, kind: SignalKind) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM trust WHERE host_id = ?1 AND kind = ?2")?
        .execute(params![host.0, kind.name()])?;
    Ok(())
}

// --- lists -------------------------------------------------------------------------------------------------------

pub(super) fn keep_list(connection: &Connection, list: &ListRow) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO list (url, host_id, named_by, listed_seconds, read_at, fetched_at, rules, body_hash,
                etag, last_modified, is_index, entries, flaw)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            list.url,
            list.host.0,
            list.named_by,
            list.listed.map(|date| date.millis().div_euclid(1000)),
            list.read_at.millis(),
            list.fetched_at.millis(),
            list.rules.cast_signed(),
            list.body_hash.to_be_bytes(),
            list.etag,
            list.last_modified,
            list.is_index,
            signed(list.entries),
            list.flaw.map(ListFlaw::name),
        ])?;
    Ok(())
}

pub(super) fn lists_of(connection: &Connection, hosts: &[HostId]) -> Result<Vec<ListRow>> {
    let sql = |places: &str| {
        format!(
            "SELECT url, host_id, named_by, listed_seconds, read_at, fetched_at, rules, body_hash, etag, last_modified,
                    is_index, entries, flaw
             FROM list WHERE host_id IN ({places}) ORDER BY host_id, url"
        )
    };
    rows_of(
        connection,
        hosts,
        |host| host.0,
        sql,
        |row| {
            Ok(ListRow {
                url: row.get(0)?,
                host: HostId(row.get(1)?),
                named_by: row.get(2)?,
                listed: row.get::<_, Option<i64>>(3)?.map(Timestamp::from_seconds),
                read_at: Timestamp::from_millis(row.get(4)?),
                fetched_at: Timestamp::from_millis(row.get(5)?),
                rules: row.get::<_, i64>(6)?.cast_unsigned(),
                body_hash: u128::from_be_bytes(row.get(7)?),
                etag: row.get(8)?,
                last_modified: row.get(9)?,
                is_index: row.get(10)?,
                entries: count(row.get(11)?),
                flaw: row
                    .get_ref(12)?
                    .as_str_or_null()
                    .map_err(rusqlite::Error::from)?
                    .and_then(ListFlaw::from_name),
            })
        },
    )
}

// --- pings -------------------------------------------------------------------------------------------------------

pub(super) fn pings(connection: &Connection) -> Result<Vec<Ping>> {
    let mut statement = connection.prepare_cached("SELECT url, at FROM ping ORDER BY at, url")?;
    let rows = statement
        .query_map([], |row| Ok(Ping { url: row.get(0)?, at: Timestamp::from_millis(row.get(1)?) }))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn add_pings(store: &mut SqliteStore, pings: &[Ping]) -> Result<()> {
    let transaction = store.transaction()?;
    for ping in pings {
        transaction
            .prepare_cached(
                "INSERT INTO ping (url, at) VALUES (?1, ?2)
                 ON CONFLICT (url) DO UPDATE SET at = max(at, excluded.at)",
            )?
            .execute(params![ping.url, ping.at.millis()])?;
    }
    transaction.commit()?;
    Ok(())
}

/// Takes a ping away, unless the address was pinged again meanwhile.
pub(super) fn take_ping(connection: &Connection, ping: &Ping) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM ping WHERE url = ?1 AND at = ?2")?
        .execute(params![ping.url, ping.at.millis()])?;
    Ok(())
}
