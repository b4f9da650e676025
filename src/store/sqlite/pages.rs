//! Seeds and pages: rows that are made once and stay.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::counting::{Counting, seeds_again};
use super::counts::{CountedPage, KeptCounts};
use super::paging::{PageScan, last_id};
use super::state::claim;
use super::{Result, SqliteStore, StoreError, fingerprint, moment, signals};
use crate::observation::Life;
use crate::page::{Host, HostId, Kin, PageId, PageUrl, SeedId};
use crate::policy::{Learnt, PageState};
use crate::store::{CycleId, KnownPage, KnownSeed, NewPageRow, PageAddress};
use crate::time::Timestamp;
use crate::unique::seeds::Seed;

pub(super) fn add_seeds(store: &mut SqliteStore, seeds: &[Seed], now: Timestamp) -> Result<()> {
    let mut host_ids = std::mem::take(&mut store.host_ids);
    let transaction = store.transaction()?;
    let counting = Counting::begin(&transaction, known_ids(&transaction, seeds)?)?;
    let mut new_pages = Vec::new();
    for seed in seeds {
        let before: Option<(i64, f64)> = transaction
            .prepare_cached("SELECT id, weight FROM seed WHERE fingerprint = ?1")?
            .query_row([seed.url.fingerprint().to_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if let Some((id, _)) = before.filter(|(_, weight)| *weight != seed.weight) {
            // Pages found from a seed have its weight.
            transaction
                .execute("UPDATE page SET weight = ?2 WHERE seed_id = ?1", params![id, seed.weight])?;
        }
        let mut upsert = transaction.prepare_cached(
            "INSERT INTO seed (fingerprint, url, weight, max_depth, scope, added_at, in_file)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (fingerprint) DO UPDATE SET
                weight = excluded.weight, max_depth = excluded.max_depth, scope = excluded.scope, adopted = 0,
                adopted_by = NULL, let_go_at = NULL, removed_at = NULL, in_file = excluded.in_file
             RETURNING id",
        )?;
        let scope = seed.scope.map(|scope| scope.to_string());
        let id: i64 = upsert.query_row(
            params![
                seed.url.fingerprint().to_bytes(),
                seed.url.as_str(),
                seed.weight,
                seed.max_depth,
                scope,
                now.millis(),
                seed.line.is_some(),
            ],
            |row| row.get(0),
        )?;
        // Found before it was named as a seed: it is one now, and no other page stands for it.
        let named = transaction
            .prepare_cached(
                "UPDATE page SET weight = ?2, depth = 0, seed_id = ?3, alias_of = NULL WHERE fingerprint = ?1",
            )?
            .execute(params![seed.url.fingerprint().to_bytes(), seed.weight, id])?;
        if named == 0 {
            let host = host_id(&transaction, &mut host_ids, &seed.url)?;
            transaction
                .prepare_cached(
                    "INSERT INTO page (id, fingerprint, url, host_id, seed_id, depth, hops, found_at, weight)
                     VALUES (1 + max(coalesce((SELECT max(id) FROM page), 0),
                                     coalesce((SELECT max(last_page) FROM forgotten), 0)),
                        ?1, ?2, ?3, ?4, 0, 0, ?5, ?6)",
                )?
                .execute(params![
                    seed.url.fingerprint().to_bytes(),
                    seed.url.as_str(),
                    host.0,
                    id,
                    now.millis(),
                    seed.weight,
                ])?;
            new_pages.push(CountedPage::new(transaction.last_insert_rowid(), host.0, id));
        }
    }
    let mut counts = KeptCounts::default();
    counting.pages(&transaction, new_pages, &mut counts)?;
    counts.add_to(&transaction)?;
    seeds_again(&transaction, &counting.seeds_changed(&transaction)?)?;
    transaction.commit()?;
    store.host_ids = host_ids;
    Ok(())
}

/// The pages of these seeds that are known.
fn known_ids(connection: &Connection, seeds: &[Seed]) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM page WHERE fingerprint = ?1")?;
    let mut ids = Vec::new();
    for seed in seeds {
        let seed = [seed.url.fingerprint().to_bytes()];
        ids.extend(statement.query_row(seed, |row| row.get::<_, i64>(0)).optional()?);
    }
    Ok(ids)
}

pub(super) fn seeds(connection: &Connection) -> Result<Vec<KnownSeed>> {
    let mut statement = connection.prepare(
        "SELECT id, url, weight, scope, max_depth, adopted, adopted_by, let_go_at, removed_at, paused_at, in_file,
                added_at
         FROM seed ORDER BY id",
    )?;
    let mut rows = statement.query([])?;
    let mut seeds = Vec::new();
    while let Some(row) = rows.next()? {
        let scope: Option<String> = row.get(3)?;
        let scope = scope.map(|name| {
            name.parse().map_err(|_| StoreError::BadValue(format!("`{name}` as the scope of a seed")))
        });
        seeds.push(KnownSeed {
            id: SeedId(row.get(0)?),
            url: row.get(1)?,
            weight: row.get(2)?,
            scope: scope.transpose()?,
            max_depth: row.get(4)?,
            adopted: row.get(5)?,
            adopted_by: row.get::<_, Option<i64>>(6)?.map(SeedId),
            let_go_at: moment(row.get(7)?),
            removed_at: moment(row.get(8)?),
            paused_at: moment(row.get(9)?),
            in_file: row.get(10)?,
            added_at: Timestamp::from_millis(row.get(11)?),
        });
    }
    Ok(seeds)
}

/// Makes a URL that a seed redirects to a seed of its own, with that seed's settings.
pub(super) fn adopt_seed(connection: &Connection, of: SeedId, url: &PageUrl, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO seed (fingerprint, url, weight, max_depth, scope, adopted, added_at, adopted_by)
             SELECT ?2, ?3, weight, max_depth, scope, 1, ?4, ?1 FROM seed WHERE id = ?1
             ON CONFLICT (fingerprint) DO UPDATE SET adopted_by = excluded.adopted_by, let_go_at = NULL
                WHERE seed.adopted = 1",
        )?
        .execute(params![of.0, url.fingerprint().to_bytes(), url.as_str(), now.millis()])?;
    Ok(())
}

/// Notes that a seed answers for itself again: what it led to is no seed any more.
pub(super) fn let_go(connection: &Connection, of: SeedId, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE seed SET let_go_at = ?2 WHERE adopted = 1 AND adopted_by = ?1 AND let_go_at IS NULL",
        )?
        .execute(params![of.0, now.millis()])?;
    Ok(())
}

/// Adds a page that is not known.
pub(super) fn insert(connection: &Connection, page: &NewPageRow, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO page (id, fingerprint, url, host_id, seed_id, depth, hops, found_on, found_at, weight,
                               sitemap_lastmod_seconds, anchor)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            page.id.0,
            page.url.fingerprint().to_bytes(),
            page.url.as_str(),
            page.host.0,
            page.seed.0,
            page.depth,
            page.hops,
            page.found_on.map(|page| page.0),
            now.millis(),
            page.weight,
            page.sitemap_lastmod,
            page.anchor,
        ])?;
    Ok(())
}

/// The words of the links to pages that were never visited.
pub(super) fn anchors(connection: &Connection) -> Result<Vec<(PageId, String)>> {
    let mut statement = connection.prepare(
        "SELECT id, anchor FROM page WHERE anchor IS NOT NULL AND last_visit_at IS NULL ORDER BY id",
    )?;
    let rows = statement.query_map([], |row| Ok((PageId(row.get(0)?), row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn host_id(connection: &Connection, known: &mut HashMap<String, HostId>, url: &PageUrl) -> Result<HostId> {
    if let Some(id) = known.get(url.origin()) {
        return Ok(*id);
    }
    let id = ensure_host(connection, &url.host())?;
    known.insert(url.origin().to_owned(), id);
    Ok(id)
}

pub(super) fn ensure_host(connection: &Connection, host: &Host) -> Result<HostId> {
    connection
        .prepare_cached("INSERT INTO host (origin) VALUES (?1) ON CONFLICT (origin) DO NOTHING")?
        .execute([host.as_str()])?;
    let id = connection
        .prepare_cached("SELECT id FROM host WHERE origin = ?1")?
        .query_row([host.as_str()], |row| row.get(0))?;
    Ok(HostId(id))
}

/// All that [`known`] reads.
const KNOWN: &str = "SELECT id, fingerprint, url, host_id, depth, weight, found_at, last_visit_at, due_at,
    last_cycle_id, alias_of, seen_at, state, failures, learnt, same_as, same_times, same_moved, same_text, signals,
    found_on IS NULL FROM page";

/// The page of a row, but for its kin. `url`: room for its URL.
fn known(row: &Row<'_>, mut url: String) -> Result<KnownPage> {
    let (page, host) = (PageId(row.get(0)?), HostId(row.get(3)?));
    text_into(row, 2, &mut url)?;
    let learnt = row.get_ref(14)?.as_blob_or_null().map_err(rusqlite::Error::from)?;
    Ok(KnownPage {
        id: page,
        fingerprint: fingerprint(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?,
        url,
        host,
        state: PageState {
            page,
            host,
            depth: row.get(4)?,
            kin: Kin::default(),
            weight: row.get(5)?,
            found_at: Timestamp::from_millis(row.get(6)?),
            last_visit: moment(row.get(7)?),
            seen_at: moment(row.get(11)?),
            life: row.get_ref(12)?.as_str().ok().and_then(Life::from_name).unwrap_or_default(),
            failures: row.get(13)?,
            // Bytes that can't be read count as none: the log has it all.
            learnt: learnt.and_then(Learnt::from_bytes).unwrap_or_default(),
            anchor_gain: 0.0,
            signals: signals::counts(row, 19)?.0,
            is_listed: row.get(20)?,
        },
        due_at: Timestamp::from_millis(row.get(8)?),
        last_cycle: row.get::<_, Option<i64>>(9)?.map(CycleId),
        alias_of: row.get::<_, Option<i64>>(10)?.map(PageId),
        claim: claim(row, 15)?,
    })
}

fn text_into(row: &Row<'_>, column: usize, text: &mut String) -> Result<()> {
    text.clear();
    text.push_str(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?);
    Ok(())
}

pub(super) fn each(
    connection: &mut Connection,
    every: u64,
    each: &mut dyn FnMut(&mut KnownPage),
) -> Result<()> {
    let one_of = if every > 1 { format!("AND id % {every} = 0") } else { String::new() };
    let scan = PageScan {
        sql: format!("{KNOWN} WHERE id > ?1 AND id <= ?2 {one_of} ORDER BY id LIMIT ?3"),
        last: last_id(connection, "page", "id")?,
        id: |page: &KnownPage| page.id.0,
        read: |row: &Row<'_>, used: Option<KnownPage>| {
            known(row, used.map_or_else(String::new, |page| page.url))
        },
    };
    // Kin are made here, where the reader of rows does not wait for it.
    scan.each(connection, &mut |page| {
        page.state.kin = Kin::of(&page.url);
        each(page);
    })
}

pub(super) fn each_address(
    connection: &mut Connection,
    each: &mut dyn FnMut(&mut PageAddress),
) -> Result<()> {
    let scan = PageScan {
        sql: "SELECT id, fingerprint, url, depth FROM page WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3"
            .to_owned(),
        last: last_id(connection, "page", "id")?,
        id: |page: &PageAddress| page.id.0,
        read: |row: &Row<'_>, used: Option<PageAddress>| {
            let mut url = used.map_or_else(String::new, |page| page.url);
            text_into(row, 2, &mut url)?;
            let fingerprint = fingerprint(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?;
            Ok(PageAddress { id: PageId(row.get(0)?), fingerprint, url, depth: row.get(3)? })
        },
    };
    scan.each(connection, each)
}

pub(super) fn one(connection: &Connection, page: PageId) -> Result<Option<KnownPage>> {
    let mut statement = connection.prepare_cached(&format!("{KNOWN} WHERE id = ?1"))?;
    let mut rows = statement.query([page.0])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut page = known(row, String::new())?;
    page.state.kin = Kin::of(&page.url);
    Ok(Some(page))
}
