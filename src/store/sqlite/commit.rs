//! Finished rows, written in one transaction.

use rusqlite::{Connection, params, params_from_iter, types::Value};
use url::Url;

use super::counting::Counting;
use super::state::{SET_CHANGES, SET_STATE, values};
use super::{Result, SqliteStore, answers, events, gains, hosts, notes, pages, signals, signed};
use crate::change::profile::Measured;
use crate::page::PageId;
use crate::store::rows::millis;
use crate::store::{
    Commit, CycleCounts, CycleId, JudgedVisit, LinksReread, NewVersion, PageRefold, SketchRow,
};
use crate::time::Timestamp;

pub(super) fn commit(store: &mut SqliteStore, rows: &Commit) -> Result<()> {
    let transaction = store.transaction()?;
    let counting = Counting::of_commit(&transaction, rows)?;
    for seed in &rows.let_go {
        pages::let_go(&transaction, *seed, rows.now)?;
    }
    for (of, url) in &rows.adopted_seeds {
        pages::adopt_seed(&transaction, *of, url, rows.now)?;
    }
    for (id, origin) in &rows.new_hosts {
        transaction
            .prepare_cached("INSERT INTO host (id, origin) VALUES (?1, ?2)")?
            .execute(params![id.0, origin])?;
    }
    for page in &rows.new_pages {
        pages::insert(&transaction, page, rows.now)?;
    }
    let dates =
        [("sitemap_lastmod_seconds", &rows.sitemap_dates), ("feed_lastmod_seconds", &rows.feed_dates)];
    for (column, dates) in dates {
        for (page, date) in dates {
            transaction
                .prepare_cached(&format!("UPDATE page SET {column} = ?2 WHERE id = ?1"))?
                .execute(params![page.0, date])?;
        }
    }
    for version in &rows.new_versions {
        insert_version(&transaction, version)?;
    }
    for (page, host, bytes) in &rows.stored_bytes {
        for (table, id) in [("page", page.0), ("host", host.0)] {
            let sql = format!("UPDATE {table} SET stored_bytes = stored_bytes + ?2 WHERE id = ?1");
            transaction.prepare_cached(&sql)?.execute(params![id, signed(*bytes)])?;
        }
    }
    for sketch in &rows.sketches {
        keep_sketch(&transaction, sketch)?;
    }
    for visit in &rows.visits {
        append(&transaction, visit)?;
        if let (Some(head), Some(found)) = (&visit.answer, visit.observation.found) {
            answers::keep(&transaction, visit.observation.page, found.version, head)?;
        }
        update_page(&transaction, visit)?;
        if let Some(links) = &visit.links {
            notes::keep_links(&transaction, visit.observation.page, links)?;
        }
        transaction
            .prepare_cached("DELETE FROM plan WHERE page_id = ?1")?
            .execute([visit.observation.page.0])?;
    }
    for PageRefold { page, folded, learnt } in &rows.refolded {
        transaction
            .prepare_cached(&format!("UPDATE page SET {SET_STATE} WHERE id = ?1"))?
            .execute(params_from_iter(values(*page, folded, learnt)))?;
    }
    for signal in &rows.signals {
        signals::append(&transaction, signal)?;
    }
    for (page, counts) in &rows.page_signals {
        signals::keep_counts(&transaction, *page, counts)?;
    }
    for (host, kind) in &rows.dropped_trust {
        signals::drop_trust(&transaction, *host, *kind)?;
    }
    for row in &rows.trust {
        signals::keep_trust(&transaction, row)?;
    }
    for list in &rows.lists {
        signals::keep_list(&transaction, list)?;
    }
    for ping in &rows.pings_taken {
        signals::take_ping(&transaction, ping)?;
    }
    let mut new_gains = 0;
    for gain in &rows.gains {
        new_gains += gains::keep(&transaction, gain)?;
    }
    for LinksReread { page, rules, links } in &rows.reread {
        transaction
            .prepare_cached("UPDATE page SET read_by_rules = ?2 WHERE id = ?1")?
            .execute(params![page.0, rules.cast_signed()])?;
        notes::keep_links(&transaction, *page, links)?;
    }
    for (page, depth) in &rows.depths {
        transaction
            .prepare_cached("UPDATE page SET depth = ?2 WHERE id = ?1")?
            .execute(params![page.0, depth])?;
    }
    for page in &rows.events {
        events::replace(&transaction, page)?;
    }
    for (page, root) in &rows.aliases {
        transaction
            .prepare_cached("UPDATE page SET alias_of = ?2 WHERE id = ?1")?
            .execute(params![page.0, root.map(|root| root.0)])?;
    }
    for report in &rows.hosts {
        hosts::save(&transaction, report)?;
    }
    for (host, at) in &rows.sitemaps_read {
        hosts::sitemaps_read(&transaction, host, *at)?;
    }
    for (reason, count) in &rows.refusals {
        transaction
            .prepare_cached(
                "INSERT INTO refusal (reason, count) VALUES (?1, ?2)
                 ON CONFLICT (reason) DO UPDATE SET count = count + excluded.count",
            )?
            .execute(params![reason.name(), signed(*count)])?;
    }
    if let Some((cycle, counts)) = &rows.cycle {
        add_counts(&transaction, *cycle, counts)?;
    }
    counting.finish(&transaction, rows, new_gains)?;
    transaction.commit()?;
    for (id, origin) in &rows.new_hosts {
        store.host_ids.insert(origin.clone(), *id);
    }
    store.watch_journal();
    Ok(())
}

fn insert_version(
    connection: &Connection,
    NewVersion { id, first_seen, content }: &NewVersion,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO version (id, body_hash, text_hash, first_seen, body_bytes, text_bytes, content, sha256,
                title)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            id.0,
            content.body_hash.to_be_bytes(),
            content.text_hash.to_be_bytes(),
            first_seen.millis(),
            signed(content.body_bytes as u64),
            signed(content.text_bytes as u64),
            content.packed,
            content.sha256,
            content.title.as_deref().unwrap_or_default(),
        ])?;
    Ok(())
}

fn keep_sketch(connection: &Connection, sketch: &SketchRow) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO sketch (version_id, scheme, words, hashes) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![sketch.version.0, sketch.scheme, sketch.words, sketch.hashes])?;
    Ok(())
}

fn append(connection: &Connection, visit: &JudgedVisit) -> Result<()> {
    let fact = &visit.observation;
    let (attempt, told) = (&fact.attempt, &fact.told);
    connection
        .prepare_cached(
            "INSERT INTO observation (id, page_id, cycle_id, at, outcome, status, changed, bytes, took_ms, version_id, detail,
                divergence, bases, returned_to, validator, text_rules, has_words, dated_at, events, new_links,
                same_as, same_apart, reason, weight, signals)
             VALUES (1 + max(coalesce((SELECT max(id) FROM observation), 0),
                             coalesce((SELECT max(last_observation) FROM forgotten), 0)),
                ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)",
        )?
        .execute(params![
            fact.page.0,
            fact.cycle.0,
            attempt.at.millis(),
            attempt.outcome.code(),
            attempt.status,
            fact.changed,
            signed(attempt.bytes),
            millis(attempt.took),
            fact.found.map(|found| found.version.0),
            attempt.redirect_to.as_ref().map(Url::as_str),
            fact.divergence,
            (!fact.bases.is_empty()).then(|| Measured::to_bytes(&fact.bases, attempt.at)),
            fact.returned_to.map(|version| version.0),
            visit.validator,
            fact.found.map(|found| found.text_rules.cast_signed()),
            fact.found.map(|found| found.has_words),
            told.date.map(Timestamp::millis),
            told.events,
            (told.new_links > 0).then_some(told.new_links),
            fact.same_as.map(|said| said.page.0),
            fact.same_as.and_then(|said| said.apart),
            attempt.reason,
            (fact.weight != 1.0).then_some(fact.weight),
            fact.signals.any().then(|| fact.signals.to_bytes()),
        ])?;
    visit.event.map_or(Ok(()), |event| events::keep(connection, connection.last_insert_rowid(), event))
}

/// Writes the page's state, and what the page told of itself.
fn update_page(connection: &Connection, visit: &JudgedVisit) -> Result<()> {
    let is_changed = visit.observation.changed == Some(true);
    let set_state = if is_changed { SET_STATE } else { &SET_STATE.replacen(SET_CHANGES, "", 1) };
    let mut statement = connection.prepare_cached(&format!(
        "UPDATE page SET {set_state},
            etag = CASE WHEN ?21 THEN ?22 ELSE etag END,
            last_modified = CASE WHEN ?21 THEN ?23 ELSE last_modified END,
            noindex = ?24,
            redirects_to = ?25,
            content_type = CASE WHEN ?26 THEN ?27 ELSE content_type END,
            charset = CASE WHEN ?26 THEN ?28 ELSE charset END,
            read_by_rules = CASE WHEN ?26 THEN ?29 ELSE read_by_rules END
         WHERE id = ?1"
    ))?;
    let (etag, last_modified) = visit.validators.clone().unwrap_or_default();
    let read = visit.read_as.as_ref();
    let told: [Value; 9] = [
        visit.validators.is_some().into(),
        etag.into(),
        last_modified.into(),
        visit.noindex.into(),
        visit.redirects_to.map(|page: PageId| page.0).into(),
        read.is_some().into(),
        read.and_then(|read| read.content_type.clone()).into(),
        read.and_then(|read| read.charset.map(str::to_owned)).into(),
        read.map(|read| read.rules.cast_signed()).into(),
    ];
    let state = values(visit.observation.page, &visit.folded, &visit.learnt);
    statement.execute(params_from_iter(state.into_iter().chain(told)))?;
    Ok(())
}

fn add_counts(connection: &Connection, cycle: CycleId, counts: &CycleCounts) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE cycle SET requests = requests + ?2, bytes = bytes + ?3, fetched = fetched + ?4,
                new_pages = new_pages + ?5, changed = changed + ?6, unchanged = unchanged + ?7, failed = failed + ?8,
                deferred = deferred + ?9
             WHERE id = ?1",
        )?
        .execute(params![
            cycle.0,
            signed(counts.tally.requests),
            signed(counts.tally.bytes),
            signed(counts.fetched),
            signed(counts.new_pages),
            signed(counts.changed),
            signed(counts.unchanged),
            signed(counts.failed),
            signed(counts.tally.deferred),
        ])?;
    Ok(())
}
