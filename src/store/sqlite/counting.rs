//! Where counts come from: the rows that a transaction touches, before and after it; or all rows there are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};

use super::counts::{COUNTED_PAGE, CountedPage, CountedVisit, KeptCounts, TABLES, Total};
use super::{Result, SqliteStore, notes, signed};
use crate::store::{Commit, NewVersion};
use crate::time::Timestamp;

// --- a transaction that changes rows -----------------------------------------------------------------------------

/// Counts what a transaction changes: the pages it touches are read before and after. So no path that writes has to know what of a
/// page is counted.
pub(super) struct Counting {
    before: HashMap<i64, Option<CountedPage>>,
}

impl Counting {
    /// Begins with the pages that will be changed, before they are.
    pub(super) fn begin(connection: &Connection, pages: impl IntoIterator<Item = i64>) -> Result<Self> {
        let mut before = HashMap::new();
        let mut statement = select_page(connection)?;
        for id in pages {
            if let Entry::Vacant(place) = before.entry(id) {
                place.insert(page(&mut statement, id)?);
            }
        }
        Ok(Self { before })
    }

    /// The pages that a commit will change; those that it adds are counted when they are there.
    pub(super) fn of_commit(connection: &Connection, rows: &Commit) -> Result<Self> {
        let visited = rows.visits.iter().map(|visit| visit.observation.page.0);
        let refolded = rows.refolded.iter().map(|page| page.page.0);
        let aliases = rows.aliases.iter().map(|(page, _)| page.0);
        let signalled = rows.page_signals.iter().map(|(page, _)| page.0);
        Self::begin(connection, visited.chain(refolded).chain(aliases).chain(signalled))
    }

    /// Counts the pages as they are now, and the new ones. Gives those that there are, as they are now.
    pub(super) fn pages(
        &self,
        connection: &Connection,
        new: impl IntoIterator<Item = CountedPage>,
        counts: &mut KeptCounts,
    ) -> Result<HashMap<i64, CountedPage>> {
        let mut found_in = FoundIn::default();
        let mut now = HashMap::with_capacity(self.before.len());
        let mut statement = select_page(connection)?;
        for (id, before) in &self.before {
            let after = page(&mut statement, *id)?;
            // Nearly every visit leaves a page where it was.
            if *before != after {
                for (page, sign) in [(before, -1), (&after, 1)] {
                    page.iter().for_each(|page| counts.page(page, sign));
                }
                let [was, is] = [before, &after]
                    .map(|page| page.as_ref().filter(|page| !page.is_alias).map(|page| page.host));
                if was != is {
                    let cycle = found_in.cycle(connection, *id)?;
                    was.iter().for_each(|host| counts.found(*host, cycle, -1));
                    is.iter().for_each(|host| counts.found(*host, cycle, 1));
                }
            }
            now.extend(after.map(|page| (*id, page)));
        }
        for page in new {
            // One that was changed in the same transaction is counted as it is now.
            if !self.before.contains_key(&page.id) {
                counts.page(&page, 1);
                counts.found(page.host, found_in.cycle(connection, page.id)?, 1);
            }
        }
        Ok(now)
    }

    /// The seeds between which visited pages went over.
    pub(super) fn seeds_changed(&self, connection: &Connection) -> Result<Vec<i64>> {
        let mut seeds = Vec::new();
        let mut statement = select_page(connection)?;
        for before in self.before.values().flatten().filter(|page| page.is_visited) {
            let after = page(&mut statement, before.id)?.map_or(before.seed, |page| page.seed);
            if after != before.seed {
                seeds.extend([before.seed, after]);
            }
        }
        seeds.sort_unstable();
        seeds.dedup();
        Ok(seeds)
    }

    /// Counts a commit, after its rows were written; `gains` of it were not known before.
    pub(super) fn finish(&self, connection: &Connection, rows: &Commit, gains: usize) -> Result<()> {
        let mut counts = KeptCounts::default();
        let new = rows.new_pages.iter().map(|page| CountedPage::new(page.id.0, page.host.0, page.seed.0));
        let now = self.pages(connection, new, &mut counts)?;
        for visit in &rows.visits {
            let fact = &visit.observation;
            let Some(page) = now.get(&fact.page.0) else { continue };
            counts.visit(&CountedVisit {
                cycle: fact.cycle.0,
                host: page.host,
                seed: page.seed,
                at: fact.attempt.at,
                outcome: fact.attempt.outcome.code(),
                changed: fact.changed,
                divergence: fact.divergence,
                bytes: signed(fact.attempt.bytes),
                is_success: fact.found.is_some(),
            });
        }
        for NewVersion { content, .. } in &rows.new_versions {
            let bytes = signed(content.body_bytes as u64 + content.text_bytes as u64);
            counts.version(bytes, signed(content.packed.len() as u64), 1);
        }
        counts.total(Total::Gains, signed(gains as u64));
        counts.add_to(connection)
    }
}

fn select_page(connection: &Connection) -> Result<CachedStatement<'_>> {
    Ok(connection.prepare_cached(&format!("{COUNTED_PAGE} WHERE id = ?1"))?)
}

fn page(statement: &mut CachedStatement<'_>, id: i64) -> Result<Option<CountedPage>> {
    Ok(statement.query_row([id], CountedPage::read).optional()?)
}

/// Which cycle a page counts as found in: the last one that began before it was found, `None` if there is none. Cycles with the last page
/// found before them, both rising; read when they are asked for.
#[derive(Default)]
struct FoundIn(Option<Vec<(i64, i64)>>);

impl FoundIn {
    fn cycle(&mut self, connection: &Connection, page: i64) -> Result<Option<i64>> {
        if self.0.is_none() {
            let mut statement =
                connection.prepare_cached("SELECT last_page, id FROM cycle ORDER BY id DESC")?;
            let mut rows = statement.query([])?;
            let mut cycles: Vec<(i64, i64)> = Vec::new();
            while let Some(row) = rows.next()? {
                let (last_page, id) = (row.get(0)?, row.get(1)?);
                // After a clock was set back, a cycle may begin before pages that an earlier one found.
                if cycles.last().is_none_or(|(least, _)| last_page < *least) {
                    cycles.push((last_page, id));
                }
            }
            cycles.reverse();
            self.0 = Some(cycles);
        }
        let cycles = self.0.as_deref().unwrap_or_default();
        let begun = cycles.partition_point(|(last_page, _)| *last_page < page);
        Ok(begun.checked_sub(1).and_then(|place| cycles.get(place)).map(|(_, id)| *id))
    }
}

/// Notes which pages were found before a cycle that just began. Those found since, by the clock, count as found in it.
pub(super) fn cycle_begins(connection: &Connection, cycle: i64, started_at: Timestamp) -> Result<()> {
    let last_page: i64 = connection
        .prepare_cached("SELECT id FROM page WHERE found_at < ?1 ORDER BY found_at DESC, id DESC LIMIT 1")?
        .query_row([started_at.millis()], |row| row.get(0))
        .optional()?
        .unwrap_or(0);
    let mut counts = KeptCounts::default();
    let count = |counts: &mut KeptCounts, sign: i64| -> Result<()> {
        let mut found_in = FoundIn::default();
        let mut statement =
            connection.prepare_cached("SELECT id, host_id FROM page WHERE id > ?1 AND alias_of IS NULL")?;
        let mut rows = statement.query([last_page])?;
        while let Some(row) = rows.next()? {
            counts.found(row.get(1)?, found_in.cycle(connection, row.get(0)?)?, sign);
        }
        Ok(())
    };
    connection.prepare_cached("UPDATE cycle SET last_page = ?2 WHERE id = ?1")?.execute([cycle, i64::MAX])?;
    count(&mut counts, -1)?;
    connection
        .prepare_cached("UPDATE cycle SET last_page = ?2 WHERE id = ?1")?
        .execute([cycle, last_page])?;
    count(&mut counts, 1)?;
    counts.add_to(connection)
}

/// Pages of these seeds may belong to another one now: when they were last visited is read again.
pub(super) fn seeds_again(connection: &Connection, seeds: &[i64]) -> Result<()> {
    if seeds.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = seeds.iter().map(i64::to_string).collect();
    let list = list.join(", ");
    connection.execute_batch(&format!(
        "DELETE FROM seed_visit WHERE seed_id IN ({list});
         INSERT INTO seed_visit (seed_id, last_visit_at) SELECT seed_id, max(last_visit_at) FROM page
            WHERE seed_id IN ({list}) AND last_visit_at IS NOT NULL GROUP BY seed_id;"
    ))?;
    Ok(())
}

// --- what a person had deleted -----------------------------------------------------------------------------------

/// Takes the visits and versions away that are marked as forgotten, before their rows are. Gives the hosts that had visits.
pub(super) fn forget_visits(connection: &Connection, counts: &mut KeptCounts) -> Result<Vec<i64>> {
    let mut statement = connection.prepare(&format!(
        "{COUNTED_VISIT} WHERE page_id IN (SELECT id FROM forgotten_page) ORDER BY observation.id"
    ))?;
    let mut rows = statement.query([])?;
    let mut hosts = Vec::new();
    while let Some(row) = rows.next()? {
        let outcome: String = row.get(5)?;
        let visit = counted_visit(row, &outcome)?;
        hosts.push(visit.host);
        counts.forget_visit(&visit);
    }
    let gains = "SELECT count(*) FROM gain WHERE page_id IN (SELECT id FROM forgotten_page)";
    counts.total(Total::Gains, -connection.query_row(gains, [], |row| row.get::<_, i64>(0))?);
    versions(connection, "WHERE id IN (SELECT id FROM forgotten_version)", -1, counts)?;
    hosts.sort_unstable();
    hosts.dedup();
    Ok(hosts)
}

/// Makes the latest visits of these hosts again from the log, after rows of it were deleted.
pub(super) fn hosts_again(connection: &Connection, hosts: &[i64]) -> Result<()> {
    let mut latest = KeptCounts::default();
    for host in hosts {
        let mut statement = connection.prepare_cached(&format!(
            "{COUNTED_VISIT} WHERE page_id IN (SELECT id FROM page WHERE host_id = ?1) ORDER BY observation.id"
        ))?;
        let mut rows = statement.query([host])?;
        while let Some(row) = rows.next()? {
            let outcome: String = row.get(5)?;
            latest.visit(&counted_visit(row, &outcome)?);
        }
    }
    latest.keep_hosts(connection, hosts)
}

// --- all rows there are ------------------------------------------------------------------------------------------

/// All that [`counted_visit`] reads.
const COUNTED_VISIT: &str =
    "SELECT observation.id, cycle_id, host_id, seed_id, at, outcome, changed, divergence, bytes,
        observation.version_id IS NOT NULL
     FROM observation JOIN page ON page.id = page_id";

fn counted_visit<'a>(row: &Row<'_>, outcome: &'a str) -> rusqlite::Result<CountedVisit<'a>> {
    Ok(CountedVisit {
        cycle: row.get(1)?,
        host: row.get(2)?,
        seed: row.get(3)?,
        at: Timestamp::from_millis(row.get(4)?),
        outcome,
        changed: row.get(6)?,
        divergence: row.get(7)?,
        bytes: row.get(8)?,
        is_success: row.get(9)?,
    })
}

/// The note of the migration, and of a count that is under way: how far it has come.
const KEPT_TO: &str = "counts-kept-to";
/// Rows that are counted in a transaction.
const AT_ONCE: i64 = 20_000;

/// How far a count over all rows has come: each part begins when the one before has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountedTo {
    /// Pages up to this number are counted.
    Pages(i64),
    /// And visits up to this number.
    Visits(i64),
    /// All but versions and gains, which take one query.
    Rest,
    Done,
}

impl CountedTo {
    fn text(self) -> String {
        match self {
            Self::Pages(id) => format!("pages {id}"),
            Self::Visits(id) => format!("visits {id}"),
            Self::Rest | Self::Done => "rest".to_owned(),
        }
    }

    fn from_text(text: &str) -> Option<Self> {
        match text.split_once(' ') {
            None if text == "rest" => Some(Self::Rest),
            Some(("pages", id)) => id.parse().ok().map(Self::Pages),
            Some(("visits", id)) => id.parse().ok().map(Self::Visits),
            _ => None,
        }
    }

    /// Counts the next rows.
    fn step(self, connection: &Connection, found_in: &mut FoundIn, counts: &mut KeptCounts) -> Result<Self> {
        match self {
            Self::Pages(after) => {
                let mut statement = connection
                    .prepare_cached(&format!("{COUNTED_PAGE} WHERE id > ?1 ORDER BY id LIMIT ?2"))?;
                let mut rows = statement.query([after, AT_ONCE])?;
                let mut last = None;
                while let Some(row) = rows.next()? {
                    let page = CountedPage::read(row)?;
                    counts.page(&page, 1);
                    if !page.is_alias {
                        counts.found(page.host, found_in.cycle(connection, page.id)?, 1);
                    }
                    last = Some(page.id);
                }
                Ok(last.map_or(Self::Visits(0), Self::Pages))
            }
            Self::Visits(after) => {
                let sql =
                    format!("{COUNTED_VISIT} WHERE observation.id > ?1 ORDER BY observation.id LIMIT ?2");
                let mut statement = connection.prepare_cached(&sql)?;
                let mut rows = statement.query([after, AT_ONCE])?;
                let mut last = None;
                while let Some(row) = rows.next()? {
                    let outcome: String = row.get(5)?;
                    counts.visit(&counted_visit(row, &outcome)?);
                    last = Some(row.get(0)?);
                }
                Ok(last.map_or(Self::Rest, Self::Visits))
            }
            Self::Rest | Self::Done => {
                versions(connection, "", 1, counts)?;
                let gains = connection.query_row("SELECT count(*) FROM gain", [], |row| row.get(0))?;
                counts.total(Total::Gains, gains);
                Ok(Self::Done)
            }
        }
    }
}

fn versions(connection: &Connection, which: &str, sign: i64, counts: &mut KeptCounts) -> Result<()> {
    let sql = format!(
        "SELECT count(*), coalesce(sum(length(content) = 0), 0), coalesce(sum(body_bytes + text_bytes), 0),
                coalesce(sum(length(content)), 0) FROM version {which}"
    );
    let totals = [Total::Versions, Total::VersionsWithoutRoom, Total::ContentBytes, Total::StoredBytes];
    connection.query_row(&sql, [], |row| {
        for (place, total) in totals.into_iter().enumerate() {
            counts.total(total, sign * row.get::<_, i64>(place)?);
        }
        Ok(())
    })?;
    Ok(())
}

fn progress(connection: &Connection) -> Result<Option<CountedTo>> {
    Ok(notes::note(connection, KEPT_TO)?
        .map(|text| CountedTo::from_text(&text).unwrap_or(CountedTo::Pages(0))))
}

/// Counts the rows that an earlier release wrote, in short transactions. Does nothing if that has been done; goes on where a kill
/// stopped it.
pub(super) fn catch_up(store: &mut SqliteStore) -> Result<()> {
    let Some(mut done) = progress(&store.connection)? else { return Ok(()) };
    let last: i64 =
        store.connection.query_row("SELECT coalesce(max(id), 0) FROM page", [], |row| row.get(0))?;
    if last > AT_ONCE {
        tracing::warn!("pages and visits of the store are counted once; from now on the counts are kept");
    }
    let mut found_in = FoundIn::default();
    while done != CountedTo::Done {
        let transaction = store.transaction()?;
        if done == CountedTo::Pages(0) {
            // A note that can't be read begins from nothing, too.
            for table in TABLES {
                transaction.execute(&format!("DELETE FROM {table}"), [])?;
            }
        }
        let mut counts = KeptCounts::default();
        done = done.step(&transaction, &mut found_in, &mut counts)?;
        counts.add_to(&transaction)?;
        match done {
            CountedTo::Done => {
                transaction.execute("DELETE FROM note WHERE name = ?1", [KEPT_TO])?;
            }
            done => notes::set_note(&transaction, KEPT_TO, &done.text())?,
        }
        transaction.commit()?;
    }
    Ok(())
}

/// All rows, counted.
fn count_all(connection: &Connection) -> Result<KeptCounts> {
    let (mut counts, mut found_in) = (KeptCounts::default(), FoundIn::default());
    let mut done = CountedTo::Pages(0);
    while done != CountedTo::Done {
        done = done.step(connection, &mut found_in, &mut counts)?;
    }
    Ok(counts)
}

/// Counts all rows again, and says how many of the counts that are kept were others. With `write` they are put right, in one
/// transaction.
pub(super) fn recount(store: &mut SqliteStore, write: bool) -> Result<u64> {
    let fresh = count_all(&store.connection)?;
    let differences = KeptCounts::kept(&store.connection)?.differences(fresh.clone());
    if write && differences > 0 {
        let transaction = store.transaction()?;
        for table in TABLES {
            transaction.execute(&format!("DELETE FROM {table}"), [])?;
        }
        fresh.add_to(&transaction)?;
        transaction.commit()?;
    }
    Ok(differences)
}

/// Gives a connection that only looks counts of its own, where those of the file are not complete: an upgrade was interrupted, and this
/// user may not finish it. They are in tables of the same names that last as long as the connection.
pub(super) fn stand_in(connection: &Connection) -> Result<()> {
    if progress(connection)?.is_none() {
        return Ok(());
    }
    let counts = count_all(connection)?;
    for table in TABLES {
        let sql: String = connection.query_row(
            "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?1",
            params![table],
            |row| row.get(0),
        )?;
        connection.execute_batch(&sql.replacen("CREATE TABLE", "CREATE TEMP TABLE", 1))?;
    }
    counts.add_to(connection)
}
