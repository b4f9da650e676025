//! Rows that a batch is judged by, each kind in one query for the whole batch.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Row, ToSql, params_from_iter};

use super::state::{STATE, STATE_COLUMNS, claim, state};
use super::{Result, SqliteStore, count, fingerprint, hosts, moment, signals, signed};
use crate::observation::{Life, PageNode, VersionHashes};
use crate::page::{Fingerprint, HostId, PageId, SeedId};
use crate::store::commit::MOST_COUNTED;
use crate::store::{Earlier, FreeIds, Loaded, PageFacts, SketchRow, SketchedVersion, VersionId, Wanted};
use crate::time::Timestamp;

/// Values that one query looks for. A shorter list is padded to a power of two, so that few statements are prepared.
const AT_ONCE: usize = 128;

/// Redirects and aliases that are followed from page to page.
const LONGEST_CHAIN: usize = 64;

pub(super) fn load(store: &mut SqliteStore, wanted: &Wanted) -> Result<Loaded> {
    let connection = &store.connection;
    // One transaction: all rows are of the same moment.
    let transaction = connection.unchecked_transaction()?;
    let known = known_hosts(connection, &mut store.host_ids, &wanted.origins)?;
    let loaded = Loaded {
        pages: pages(connection, &wanted.pages)?,
        nodes: nodes(connection, wanted)?,
        versions: versions(connection, wanted)?,
        hosts: known,
        seed_weights: seed_weights(connection, &wanted.seeds)?,
        sketches: sketches(connection, &wanted.sketches)?,
        earlier: earlier(connection, wanted)?,
        robots: hosts::robots_of(connection, &wanted.robots_of)?,
        unlike: unlike(connection, &wanted.named)?,
        told: signals::told(connection, &wanted.told, &wanted.told_prefixes)?,
        links: signals::links_of(connection, &wanted.links_of)?,
        signals: signals::after(connection, &wanted.signals_after)?,
        trust: signals::trust_of(connection, &wanted.trust_of)?,
        free_ids: if wanted.free_ids { free_ids(connection)? } else { FreeIds::default() },
    };
    transaction.finish()?;
    Ok(loaded)
}

/// Runs a query for all these values, some at once, and calls `each` for every row. `sql` is given one `group` of
/// placeholders a value, `(?, ?)` for one of two columns, separated by commas.
pub(super) fn each_row<V>(
    connection: &Connection,
    values: &[V],
    group: &str,
    sql: impl Fn(&str) -> String,
    columns: impl Fn(&V) -> Vec<Box<dyn ToSql>>,
    mut each: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    for some in values.chunks(AT_ONCE) {
        let padded = some.len().next_power_of_two();
        let places = vec![group; padded].join(", ");
        let mut statement = connection.prepare_cached(&sql(&places))?;
        let last = some.last().into_iter().cycle().take(padded - some.len());
        let mut rows = statement.query(params_from_iter(some.iter().chain(last).flat_map(&columns)))?;
        while let Some(row) = rows.next()? {
            each(row)?;
        }
    }
    Ok(())
}

/// Reads the rows of these ids, each id once and in order. `sql` is as for [`each_row`].
pub(super) fn rows_of<I: Copy + Ord, T>(
    connection: &Connection,
    ids: &[I],
    number: impl Fn(I) -> i64,
    sql: impl Fn(&str) -> String,
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let mut found = Vec::with_capacity(ids.len());
    let each = |row: &Row<'_>| {
        found.push(read(row)?);
        Ok(())
    };
    each_row(connection, &ids, "?", sql, |id| one(number(*id)), each)?;
    Ok(found)
}

pub(super) fn one<T: ToSql + 'static>(value: T) -> Vec<Box<dyn ToSql>> {
    vec![Box::new(value)]
}

fn pages(connection: &Connection, wanted: &[PageId]) -> Result<Vec<PageFacts>> {
    let mut pages = Vec::with_capacity(wanted.len());
    let sql = |places: &str| {
        format!(
            "SELECT {STATE}, page.id, page.fingerprint, page.alias_of, page.redirects_to, page.url, page.host_id,
                    page.depth, page.hops, page.weight, page.last_modified, page.sitemap_lastmod_seconds, page.noindex,
                    version.body_hash, version.text_hash, version.text_bytes > 0, version.text_bytes, {IS_SEED},
                    page.stored_bytes, host.stored_bytes, version.title, page.feed_lastmod_seconds, page.signals
             FROM page JOIN host ON host.id = page.host_id LEFT JOIN version ON version.id = page.version_id
             WHERE page.id IN ({places})"
        )
    };
    each_row(
        connection,
        wanted,
        "?",
        sql,
        |page| one(page.0),
        |row| {
            let own = |place: usize| STATE_COLUMNS + place;
            let (folded, learnt, is_readable) = state(row)?;
            let (signals, are_readable) = signals::counts(row, own(21))?;
            let id = PageId(row.get(own(0))?);
            let held = match (folded.version, row.get(own(12))?, row.get(own(13))?) {
                (Some(version), Some(body), Some(text)) => Some(VersionHashes {
                    version,
                    body: u128::from_be_bytes(body),
                    text: u128::from_be_bytes(text),
                    has_text: row.get(own(14))?,
                }),
                _ => None,
            };
            pages.push(PageFacts {
                id,
                node: PageNode {
                    id,
                    fingerprint: fingerprint(row.get_ref(own(1))?.as_blob().map_err(rusqlite::Error::from)?)?,
                    alias_of: row.get::<_, Option<i64>>(own(2))?.map(PageId),
                    redirects_to: row.get::<_, Option<i64>>(own(3))?.map(PageId),
                    life: folded.standing.life,
                    claim: folded.claim,
                    version: folded.version,
                    has_words: folded.has_words.unwrap_or(true),
                    is_seed: row.get(own(16))?,
                },
                url: row.get(own(4))?,
                host: HostId(row.get(own(5))?),
                depth: row.get(own(6))?,
                hops: row.get(own(7))?,
                stored_bytes: count(row.get(own(17))?),
                host_stored_bytes: count(row.get(own(18))?),
                weight: row.get(own(8))?,
                last_modified: row.get(own(9))?,
                listed_date: row
                    .get::<_, Option<i64>>(own(10))?
                    .max(row.get::<_, Option<i64>>(own(20))?)
                    .map(Timestamp::from_seconds),
                noindex: row.get(own(11))?,
                signals,
                folded,
                learnt,
                held,
                held_text_bytes: row.get::<_, Option<i64>>(own(15))?.unwrap_or(0).unsigned_abs(),
                held_title: row.get(own(19))?,
                is_readable: is_readable && are_readable,
            });
            Ok(())
        },
    )?;
    Ok(pages)
}

/// Did the operator name the page as a seed?
const IS_SEED: &str =
    "EXISTS (SELECT 1 FROM seed WHERE seed.fingerprint = page.fingerprint AND seed.adopted = 0)";

/// All that [`node`] reads.
fn select_nodes() -> String {
    format!(
        "SELECT id, fingerprint, alias_of, redirects_to, state, same_as, same_times, same_moved, same_text, version_id,
                has_words, {IS_SEED}
         FROM page"
    )
}

fn node(row: &Row<'_>) -> Result<PageNode> {
    Ok(PageNode {
        id: PageId(row.get(0)?),
        fingerprint: fingerprint(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?,
        alias_of: row.get::<_, Option<i64>>(2)?.map(PageId),
        redirects_to: row.get::<_, Option<i64>>(3)?.map(PageId),
        life: row.get_ref(4)?.as_str().ok().and_then(Life::from_name).unwrap_or_default(),
        claim: claim(row, 5)?,
        version: row.get::<_, Option<i64>>(9)?.map(VersionId),
        has_words: row.get::<_, Option<bool>>(10)?.unwrap_or(true),
        is_seed: row.get(11)?,
    })
}

fn nodes(connection: &Connection, wanted: &Wanted) -> Result<Vec<PageNode>> {
    let mut nodes: HashMap<PageId, PageNode> = HashMap::new();
    let columns = select_nodes();
    let by = |column: &'static str| {
        let columns = &columns;
        move |places: &str| format!("{columns} WHERE {column} IN ({places})")
    };
    let address = |page: &Fingerprint| one(page.to_bytes());
    let mut take = |row: &Row<'_>| {
        let node = node(row)?;
        nodes.insert(node.id, node);
        Ok(())
    };
    each_row(connection, &wanted.found, "?", by("fingerprint"), address, &mut take)?;
    each_row(connection, &wanted.aliases_of, "?", by("alias_of"), |page| one(page.0), &mut take)?;
    // Pages that visits lead to, and where these lead in turn.
    let mut ends: Vec<PageNode> = Vec::new();
    each_row(connection, &wanted.targets, "?", by("fingerprint"), address, |row| {
        ends.push(node(row)?);
        Ok(())
    })?;
    let claims = |places: &str| {
        format!(
            "{columns} WHERE id IN (SELECT same_as FROM page WHERE id IN ({places}) AND same_as IS NOT NULL)"
        )
    };
    each_row(
        connection,
        &wanted.pages,
        "?",
        claims,
        |page| one(page.0),
        |row| {
            ends.push(node(row)?);
            Ok(())
        },
    )?;
    let mut followed: HashSet<PageId> = HashSet::new();
    for _ in 0..LONGEST_CHAIN {
        followed.extend(ends.iter().map(|end| end.id));
        let mut next: Vec<PageId> = ends
            .iter()
            .flat_map(|end| [end.alias_of, end.redirects_to, end.claim.map(|claim| claim.of)])
            .flatten()
            .filter(|page| !followed.contains(page))
            .collect();
        next.sort_unstable();
        next.dedup();
        nodes.extend(ends.drain(..).map(|end| (end.id, end)));
        if next.is_empty() {
            break;
        }
        each_row(
            connection,
            &next,
            "?",
            by("id"),
            |page| one(page.0),
            |row| {
                ends.push(node(row)?);
                Ok(())
            },
        )?;
    }
    Ok(nodes.into_values().collect())
}

fn versions(connection: &Connection, wanted: &Wanted) -> Result<Vec<VersionHashes>> {
    let mut versions = Vec::new();
    let mut take = |row: &Row<'_>| {
        versions.push(VersionHashes {
            version: VersionId(row.get(0)?),
            body: u128::from_be_bytes(row.get(1)?),
            text: u128::from_be_bytes(row.get(2)?),
            has_text: row.get(3)?,
        });
        Ok(())
    };
    let columns = "version.id, version.body_hash, version.text_hash, version.text_bytes > 0";
    let by_id = |places: &str| format!("SELECT {columns} FROM version WHERE id IN ({places})");
    each_row(connection, &wanted.versions, "?", by_id, |version| one(version.0), &mut take)?;
    let by_content = |places: &str| {
        format!(
            "WITH wanted (body, text) AS (VALUES {places})
             SELECT {columns} FROM wanted CROSS JOIN version ON body_hash = wanted.body AND text_hash = wanted.text"
        )
    };
    let hashes = |(body, text): &(u128, u128)| -> Vec<Box<dyn ToSql>> {
        vec![Box::new(body.to_be_bytes()), Box::new(text.to_be_bytes())]
    };
    each_row(connection, &wanted.contents, "(?, ?)", by_content, hashes, &mut take)?;
    Ok(versions)
}

fn known_hosts(
    connection: &Connection,
    known: &mut HashMap<String, HostId>,
    wanted: &[String],
) -> Result<HashMap<String, HostId>> {
    let unknown: Vec<&String> = wanted.iter().filter(|origin| !known.contains_key(*origin)).collect();
    let sql = |places: &str| format!("SELECT origin, id FROM host WHERE origin IN ({places})");
    each_row(
        connection,
        &unknown,
        "?",
        sql,
        |origin| one((*origin).clone()),
        |row| {
            known.insert(row.get(0)?, HostId(row.get(1)?));
            Ok(())
        },
    )?;
    let found = |origin: &String| Some((origin.clone(), *known.get(origin)?));
    Ok(wanted.iter().filter_map(found).collect())
}

fn seed_weights(connection: &Connection, wanted: &[SeedId]) -> Result<HashMap<SeedId, f64>> {
    let mut weights = HashMap::new();
    let sql = |places: &str| format!("SELECT id, weight FROM seed WHERE id IN ({places})");
    each_row(
        connection,
        wanted,
        "?",
        sql,
        |seed| one(seed.0),
        |row| {
            weights.insert(SeedId(row.get(0)?), row.get(1)?);
            Ok(())
        },
    )?;
    Ok(weights)
}

fn sketches(connection: &Connection, wanted: &[VersionId]) -> Result<Vec<SketchRow>> {
    let mut sketches = Vec::new();
    let sql = |places: &str| {
        format!("SELECT version_id, scheme, words, hashes FROM sketch WHERE version_id IN ({places})")
    };
    each_row(
        connection,
        wanted,
        "?",
        sql,
        |version| one(version.0),
        |row| {
            sketches.push(SketchRow {
                version: VersionId(row.get(0)?),
                scheme: row.get(1)?,
                words: row.get(2)?,
                hashes: row.get(3)?,
            });
            Ok(())
        },
    )?;
    Ok(sketches)
}

fn earlier(connection: &Connection, wanted: &Wanted) -> Result<Vec<Earlier>> {
    let mut found = vec![Earlier::default(); wanted.earlier.len()];
    let numbered: Vec<_> = wanted.earlier.iter().enumerate().collect();
    let sql = |places: &str| {
        format!(
            "WITH wanted (place, page, body, text, words) AS (VALUES {places})
             SELECT place,
                (SELECT at FROM observation WHERE page_id = wanted.page AND version_id IS NOT NULL
                 ORDER BY at DESC, id DESC LIMIT 1),
                same.at, same.version_id
             FROM wanted LEFT JOIN observation AS same ON same.id =
                (SELECT observation.id FROM observation JOIN version ON version.id = observation.version_id
                 WHERE observation.page_id = wanted.page AND version.text_hash = wanted.text
                   AND (wanted.words OR version.body_hash = wanted.body)
                 ORDER BY observation.at DESC, observation.id DESC LIMIT 1)"
        )
    };
    each_row(
        connection,
        &numbered,
        "(?, ?, ?, ?, ?)",
        sql,
        |(place, wanted)| {
            vec![
                Box::new(signed(*place as u64)),
                Box::new(wanted.page.0),
                Box::new(wanted.body.to_be_bytes()),
                Box::new(wanted.text.to_be_bytes()),
                Box::new(wanted.has_words),
            ]
        },
        |row| {
            let place = usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX);
            if let Some(earlier) = found.get_mut(place) {
                earlier.seen_at = moment(row.get(1)?);
                earlier.same = moment(row.get(2)?).zip(row.get::<_, Option<i64>>(3)?.map(VersionId));
            }
            Ok(())
        },
    )?;
    Ok(found)
}

fn unlike(connection: &Connection, wanted: &[PageId]) -> Result<HashMap<PageId, u64>> {
    let mut counts = HashMap::new();
    let sql = |places: &str| {
        format!(
            "WITH wanted (page) AS (VALUES {places})
             SELECT page, (SELECT count(*) FROM
                (SELECT 1 FROM page WHERE same_as = wanted.page AND same_text = 0 LIMIT {MOST_COUNTED}))
             FROM wanted"
        )
    };
    each_row(
        connection,
        wanted,
        "(?)",
        sql,
        |page| one(page.0),
        |row| {
            counts.insert(PageId(row.get(0)?), count(row.get(1)?));
            Ok(())
        },
    )?;
    Ok(counts)
}

fn free_ids(connection: &Connection) -> Result<FreeIds> {
    // A number of a page or version that a person had deleted is not given again.
    let next = |table: &str, forgotten: &str| -> Result<i64> {
        let sql = format!(
            "SELECT 1 + max(coalesce((SELECT max(id) FROM {table}), 0), coalesce((SELECT max({forgotten}) FROM forgotten), 0))"
        );
        Ok(connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?)
    };
    Ok(FreeIds {
        page: next("page", "last_page")?,
        host: next("host", "0")?,
        version: next("version", "last_version")?,
    })
}

pub(super) fn sketched_versions(
    connection: &Connection,
    after: VersionId,
    most: usize,
) -> Result<Vec<SketchedVersion>> {
    let mut statement = connection.prepare_cached(
        "SELECT version.id, text_bytes > 0, sketch.scheme, sketch.words, sketch.hashes
         FROM version LEFT JOIN sketch ON sketch.version_id = version.id
         WHERE version.id > ?1 AND length(content) > 0 ORDER BY version.id LIMIT ?2",
    )?;
    let rows = statement.query_map([after.0, signed(most as u64)], |row| {
        let version = VersionId(row.get(0)?);
        let sketch = match (row.get(2)?, row.get(3)?, row.get(4)?) {
            (Some(scheme), Some(words), Some(hashes)) => Some(SketchRow { version, scheme, words, hashes }),
            _ => None,
        };
        Ok(SketchedVersion { version, has_text: row.get(1)?, sketch })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
