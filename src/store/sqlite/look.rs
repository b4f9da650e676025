//! Counts and lists for the views.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::paging::{each_by_id, last_id};
use super::{Result, count, moment, signed};
use crate::store::{PageFilter, PageOrder, PageRow, Summary};
use crate::time::Timestamp;

pub(super) fn summary(connection: &Connection, path: &Path) -> Result<Summary> {
    let one = |sql: &str| -> Result<u64> {
        Ok(connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(count)?)
    };
    let groups = |sql: &str| -> Result<Vec<(String, u64)>> {
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, count(row.get(1)?))))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    let sizes = |column: &str| one(&format!("SELECT coalesce(sum({column}), 0) FROM version"));
    let journal = super::journal(path);
    Ok(Summary {
        known: one("SELECT count(*) FROM page WHERE alias_of IS NULL")?,
        visited: one("SELECT count(*) FROM page WHERE alias_of IS NULL AND last_visit_at IS NOT NULL")?,
        aliases: one("SELECT count(*) FROM page WHERE alias_of IS NOT NULL")?,
        lives: groups(
            "SELECT state, count(*) FROM page WHERE alias_of IS NULL GROUP BY state ORDER BY count(*) DESC, state",
        )?,
        last_outcomes: groups(
            "SELECT last_outcome, count(*) FROM page WHERE alias_of IS NULL AND last_outcome IS NOT NULL
             GROUP BY last_outcome ORDER BY count(*) DESC, last_outcome",
        )?,
        hosts: one("SELECT count(*) FROM host")?,
        observations: one("SELECT count(*) FROM observation")?,
        gains: one("SELECT count(*) FROM gain")?,
        versions: one("SELECT count(*) FROM version")?,
        versions_without_room: one("SELECT count(*) FROM version WHERE length(content) = 0")?,
        content_bytes: sizes("body_bytes + text_bytes")?,
        stored_bytes: sizes("length(content)")?,
        file_bytes: std::fs::metadata(path).map_or(0, |found| found.len()) + journal.bytes,
        journal,
        seeds: one("SELECT count(*) FROM seed")?,
        refusals: groups("SELECT reason, count FROM refusal ORDER BY count DESC, reason")?,
    })
}

pub(super) fn pages(
    connection: &Connection,
    filter: &PageFilter,
    each: &mut dyn FnMut(PageRow),
) -> Result<()> {
    let (clauses, values) = conditions(filter);
    let last = last_id(connection, "page", "id")?;
    let Some(order) = order(filter.order) else {
        let sql = format!("{PAGES} WHERE page.id > ?1 AND page.id <= ?2{clauses} ORDER BY page.id LIMIT ?3");
        return each_by_id(connection, (&sql, &values), (last, filter.limit), |row| row.id, page, each);
    };
    // The ids in their order first: 8 bytes a page. Then the rows, some at a time.
    let sql = format!(
        "SELECT page.id FROM page JOIN host ON host.id = page.host_id
              LEFT JOIN version ON version.id = page.version_id
         WHERE page.id > ?1 AND page.id <= ?2{clauses} ORDER BY {order}, page.id LIMIT ?3"
    );
    let bounds = [i64::MIN, last, filter.limit.map_or(i64::MAX, signed)].map(Value::Integer);
    let ids: Vec<i64> = connection
        .prepare(&sql)?
        .query_map(params_from_iter(bounds.iter().chain(&values)), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let sql = format!("{PAGES} WHERE page.id IN (SELECT value FROM json_each(?1))");
    for some in ids.chunks(SORTED_AT_ONCE) {
        let mut found: HashMap<i64, PageRow> = HashMap::new();
        {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([json_list(some.iter().copied())])?;
            while let Some(row) = rows.next()? {
                let row = page(row)?;
                found.insert(row.id, row);
            }
        }
        some.iter().filter_map(|id| found.remove(id)).for_each(&mut *each);
    }
    Ok(())
}

/// Pages read at once in an order of their own.
const SORTED_AT_ONCE: usize = 1000;

/// All that [`page`] reads; what follows says which pages.
const PAGES: &str =
    "SELECT page.id, page.url, page.state, page.last_outcome, page.depth, page.weight, page.visits, page.changes,
            page.failures, page.found_at, page.last_visit_at, page.due_at, version.body_bytes,
            page.content_type,
            max(coalesce(page.sitemap_lastmod_seconds, page.feed_lastmod_seconds),
                coalesce(page.feed_lastmod_seconds, page.sitemap_lastmod_seconds)), page.noindex, target.url, length(version.content) > 0,
            named.url, page.same_text, last.status, last.detail, last.reason, host.waiting_for, host.wait_reason,
            source.url AS found_on, version.title
     FROM page JOIN host ON host.id = page.host_id
          LEFT JOIN observation AS last ON last.id =
            (SELECT id FROM observation WHERE page_id = page.id ORDER BY at DESC, id DESC LIMIT 1)
          LEFT JOIN version ON version.id = page.version_id
          LEFT JOIN page AS target ON target.id = page.alias_of
          LEFT JOIN page AS named ON named.id = page.same_as
          LEFT JOIN page AS source ON source.id = page.found_on";

/// An order as SQL; `None`: that of the numbers.
fn order(order: PageOrder) -> Option<&'static str> {
    Some(match order {
        PageOrder::Number => return None,
        PageOrder::Url => "page.url",
        PageOrder::Changes => "page.changes DESC",
        PageOrder::Visits => "page.visits DESC",
        PageOrder::Failures => "page.failures DESC",
        PageOrder::LastVisit => "page.last_visit_at DESC NULLS LAST",
        PageOrder::Found => "page.found_at DESC",
        PageOrder::Bytes => "version.body_bytes DESC NULLS LAST",
        PageOrder::Weight => "page.weight DESC",
        PageOrder::Due => "page.due_at",
    })
}

/// Numbers as a list that `json_each` reads.
fn json_list(ids: impl Iterator<Item = i64>) -> String {
    let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    format!("[{}]", ids.join(","))
}

/// A filter as SQL, and the values that it names from `?4` on.
fn conditions(filter: &PageFilter) -> (String, Vec<Value>) {
    let mut clauses = String::new();
    let mut values: Vec<Value> = Vec::new();
    let mut condition = |sql: &str, value: Value| {
        values.push(value);
        clauses += " AND ";
        clauses += &sql.replace("{}", &format!("?{}", 3 + values.len()));
    };
    if let Some(page) = filter.page {
        condition("page.fingerprint = {}", Value::from(page.to_bytes().to_vec()));
    }
    if let Some(life) = filter.life {
        condition("page.state = {}", Value::from(life.name().to_owned()));
    }
    if let Some(host) = &filter.host {
        // `example.org` finds it under both schemes and every port.
        let origins = "(host.origin = {} OR host.origin IN ('http://' || {}, 'https://' || {})
                        OR instr(host.origin, '://' || {} || ':') > 0)";
        condition(origins, Value::from(host.clone()));
    }
    if let Some(url) = &filter.url {
        condition("instr(page.url, {}) > 0", Value::from(url.clone()));
    }
    if let Some(outcome) = &filter.outcome {
        condition("page.last_outcome = {}", Value::from(outcome.clone()));
    }
    if let Some(depth) = filter.max_depth {
        condition("page.depth <= {}", Value::from(i64::from(depth)));
    }
    if let Some(root) = filter.alias_of {
        condition("page.alias_of = {}", Value::from(root.0));
    }
    if let Some(since) = filter.since {
        condition("(page.last_visit_at >= {} OR page.found_at >= {})", Value::from(since.millis()));
    }
    if let Some(among) = &filter.among {
        let ids = json_list(among.iter().map(|page| page.0));
        condition("page.id IN (SELECT value FROM json_each({}))", Value::from(ids));
    }
    if filter.only_naming {
        clauses += " AND page.same_as IS NOT NULL";
    }
    if filter.only_aliases {
        clauses += " AND page.alias_of IS NOT NULL";
    } else if !filter.aliases {
        clauses += " AND page.alias_of IS NULL";
    }
    (clauses, values)
}

fn page(row: &Row<'_>) -> Result<PageRow> {
    let alias_of: Option<String> = row.get(16)?;
    let state: String = row.get(2)?;
    Ok(PageRow {
        id: row.get(0)?,
        url: row.get(1)?,
        state: if alias_of.is_some() { "alias".to_owned() } else { state },
        outcome: row.get(3)?,
        status: row.get(20)?,
        redirect_to: row.get(21)?,
        reason: row.get(22)?,
        host_waits_for: row.get(23)?,
        host_reason: row.get(24)?,
        depth: row.get(4)?,
        weight: row.get(5)?,
        visits: count(row.get(6)?),
        changes: count(row.get(7)?),
        failures: count(row.get(8)?),
        found_at: Timestamp::from_millis(row.get(9)?),
        found_on: row.get("found_on")?,
        last_visit_at: moment(row.get(10)?),
        due_at: moment(row.get::<_, Option<i64>>(11)?.filter(|due| *due > 0)),
        bytes: row.get::<_, Option<i64>>(12)?.map(count),
        is_stored: row.get::<_, Option<bool>>(17)?.unwrap_or(false),
        content_type: row.get(13)?,
        title: row.get::<_, Option<String>>(26)?.filter(|title| !title.is_empty()),
        sitemap_lastmod: row.get::<_, Option<i64>>(14)?.map(Timestamp::from_seconds),
        noindex: row.get(15)?,
        alias_of,
        same_as: row.get(18)?,
        same_text: row.get(19)?,
    })
}
