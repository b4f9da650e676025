//! Lists of pages: filtered, in an order, from a place on.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::page_order::{Segment, segments};
use super::paging::{each_by_id, last_id};
use super::{Result, count, moment, signed};
use crate::observation::Life;
use crate::store::{PageFilter, PageOrder, PageRow};
use crate::time::Timestamp;

pub(super) fn pages(
    connection: &Connection,
    filter: &PageFilter,
    each: &mut dyn FnMut(PageRow),
) -> Result<()> {
    let (mut clauses, values) = conditions(filter);
    if let Some(host) = &filter.host {
        clauses += &of_host(connection, host)?;
    }
    let last = last_id(connection, "page", "id")?;
    if filter.order == PageOrder::Number && !filter.reversed {
        let after = filter.after.as_ref().map_or(i64::MIN, |place| place.page.0);
        let sql = format!("{PAGES} WHERE page.id > ?1 AND page.id <= ?2{clauses} ORDER BY page.id LIMIT ?3");
        let bounds = (after, last, filter.limit);
        return each_by_id(connection, (&sql, &values), bounds, |row| row.id, page, each);
    }
    let ids = ids_in_order(connection, filter, (&clauses, &values), last)?;
    // The rows, some at a time.
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

/// The ids of a list in its order: 8 bytes a page.
fn ids_in_order(
    connection: &Connection,
    filter: &PageFilter,
    (clauses, values): (&str, &[Value]),
    last: i64,
) -> Result<Vec<i64>> {
    let most = filter.limit.unwrap_or(u64::MAX);
    let mut ids: Vec<i64> = Vec::new();
    for Segment { which, order, value } in segments(filter.order, filter.reversed, filter.after.as_ref()) {
        let left = most.saturating_sub(ids.len() as u64);
        if left == 0 {
            break;
        }
        // What the place names stands behind what the filter names. The unary plus keeps the bound from being an index's range.
        let which = which.replace("{}", &format!("?{}", 4 + values.len()));
        let sql = format!(
            "SELECT page.id FROM page WHERE +page.id <= ?1 AND ?2 = ?2 {which}{clauses} ORDER BY {order} LIMIT ?3"
        );
        let bounds = [last, 0, signed(left)].map(Value::Integer);
        let mut statement = connection.prepare_cached(&sql)?;
        let found = statement
            .query_map(params_from_iter(bounds.iter().chain(values).chain(&value)), |row| row.get(0))?;
        for id in found {
            ids.push(id?);
        }
    }
    Ok(ids)
}

/// The share of all pages above which a host is not looked up by its index: then it is quicker to leave pages of other hosts out.
const LARGE_SHARE: u64 = 20;

/// The pages of the hosts of that name, or of the one of that origin, as SQL.
fn of_host(connection: &Connection, host: &str) -> Result<String> {
    // `example.org` finds it under both schemes and every port.
    let mut statement = connection.prepare_cached(
        "SELECT id, (SELECT coalesce(sum(pages), 0) FROM page_count WHERE host_id = host.id) FROM host
         WHERE origin = ?1 OR origin IN ('http://' || ?1, 'https://' || ?1) OR instr(origin, '://' || ?1 || ':') > 0",
    )?;
    let hosts = statement.query_map([host], |row| Ok((row.get(0)?, count(row.get(1)?))))?;
    let hosts: Vec<(i64, u64)> = hosts.collect::<rusqlite::Result<_>>()?;
    let all: i64 = connection.query_row("SELECT coalesce(max(id), 0) FROM page", [], |row| row.get(0))?;
    let of_hosts: u64 = hosts.iter().map(|(_, pages)| pages).sum();
    let no_index = if of_hosts > count(all) / LARGE_SHARE { "+" } else { "" };
    let ids: Vec<String> = hosts.iter().map(|(id, _)| id.to_string()).collect();
    Ok(match ids.as_slice() {
        // The index has the pages of one host in the order of their numbers.
        [one] => format!(" AND {no_index}page.host_id = {one}"),
        ids => format!(" AND {no_index}page.host_id IN ({})", ids.join(", ")),
    })
}

/// All that [`page`] reads; what follows says which pages.
const PAGES: &str =
    "SELECT page.id, page.url, page.state, page.last_outcome, page.depth, page.weight, page.visits, page.changes,
            page.failures, page.found_at, page.last_visit_at, page.due_at, page.body_bytes,
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

/// Numbers as a list that `json_each` reads.
fn json_list(ids: impl Iterator<Item = i64>) -> String {
    let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    format!("[{}]", ids.join(","))
}

/// A filter as SQL but for the host, and the values that it names from `?4` on.
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
    if filter.life.is_some_and(|life| !matches!(life, Life::New | Life::Alive)) {
        // The words of the index of the states that few pages are in.
        clauses += " AND page.state <> 'new' AND page.state <> 'alive'";
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
