//! Counts that are kept beside the rows, while they are added up in memory.
//!
//! One code counts for a commit, for the rows of an earlier release, and for a recount: [`KeptCounts`] takes pages and visits in, each
//! once, and is then added to the tables. A batch is added up first, so it writes a few rows for each host and no row for each visit.
//! (On PostgreSQL the same sums go in with one statement for each table; a trigger for each row would fit neither COPY nor a table
//! that is spread by host.)

use std::collections::BTreeMap;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::{Result, signals, ticks};
use crate::observation::Life;
use crate::signal::{PageSignals, SignalCount, SignalKind};
use crate::store::views::day_of;
use crate::store::{BroughtKind, Tick};
use crate::time::Timestamp;

/// A table of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountTable {
    Pages,
    Lives,
    Found,
    Visits,
    Days,
    Naming,
    Signals,
    Totals,
}

impl CountTable {
    const ALL: [Self; 8] = [
        Self::Pages,
        Self::Lives,
        Self::Found,
        Self::Visits,
        Self::Days,
        Self::Naming,
        Self::Signals,
        Self::Totals,
    ];

    /// Its name, the columns of its key, and those that are added up.
    const fn columns(self) -> (&'static str, &'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Pages => (
                "page_count",
                &["host_id", "seed_id", "is_alias", "state", "outcome"],
                &["pages", "visited", "seen"],
            ),
            Self::Lives => ("cycle_life", &["cycle_id", "host_id", "state"], &["pages"]),
            Self::Found => ("cycle_found", &["cycle_id", "host_id"], &["pages"]),
            Self::Visits => {
                ("cycle_visit", &["cycle_id", "host_id", "outcome"], &["visits", "changed", "bytes"])
            }
            Self::Days => (
                "day_tally",
                &["day", "host_id"],
                &[
                    "first",
                    "changed",
                    "unchanged",
                    "not_modified",
                    "moved",
                    "gone",
                    "failed",
                    "refused",
                    "divergence",
                    "bytes",
                ],
            ),
            Self::Naming => ("naming", &["page_id", "host_id"], &["pages", "unlike"]),
            Self::Signals => ("signal_count", &["host_id", "kind"], &["signals", "unused"]),
            Self::Totals => ("total", &["name"], &["value"]),
        }
    }

    /// Adds a row of sums to what is kept.
    fn add(self) -> String {
        let (table, keys, sums) = self.columns();
        let columns: Vec<&str> = keys.iter().chain(sums).copied().collect();
        let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
        let added: Vec<String> =
            sums.iter().map(|column| format!("{column} = {column} + excluded.{column}")).collect();
        format!(
            "INSERT INTO {table} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}",
            columns.join(", "),
            places.join(", "),
            keys.join(", "),
            added.join(", ")
        )
    }

    /// Deletes a row that counts nothing any more.
    fn drop_empty(self) -> String {
        let (table, keys, sums) = self.columns();
        let key = keys.iter().zip(1..).map(|(column, place)| format!("{column} = ?{place}"));
        let terms: Vec<String> = key.chain(sums.iter().map(|column| format!("{column} = 0"))).collect();
        format!("DELETE FROM {table} WHERE {}", terms.join(" AND "))
    }

    fn read(self) -> String {
        let (table, keys, sums) = self.columns();
        let columns: Vec<&str> = keys.iter().chain(sums).copied().collect();
        format!("SELECT {} FROM {table}", columns.join(", "))
    }
}

/// The tables of counts, all of which can be made again from the rows.
pub(super) const TABLES: [&str; 10] = [
    "page_count",
    "cycle_life",
    "cycle_found",
    "cycle_visit",
    "day_tally",
    "naming",
    "signal_count",
    "total",
    "host_visit",
    "seed_visit",
];

/// A part of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeyPart {
    Number(i64),
    Word(String),
}

impl KeyPart {
    fn value(&self) -> Value {
        match self {
            Self::Number(number) => Value::Integer(*number),
            Self::Word(word) => Value::Text(word.clone()),
        }
    }
}

/// All that [`CountedPage::read`] reads.
pub(super) const COUNTED_PAGE: &str =
    "SELECT id, host_id, seed_id, alias_of IS NOT NULL, state, last_outcome,
    last_visit_at IS NOT NULL, seen_at IS NOT NULL, last_cycle_id, same_as, same_text, signals FROM page";

/// What counts of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CountedPage {
    pub(super) id: i64,
    pub(super) host: i64,
    pub(super) seed: i64,
    pub(super) is_alias: bool,
    state: String,
    outcome: Option<String>,
    pub(super) is_visited: bool,
    is_seen: bool,
    last_cycle: Option<i64>,
    same_as: Option<i64>,
    same_text: Option<bool>,
    signals: PageSignals,
}

impl CountedPage {
    /// A page that was just found.
    pub(super) fn new(id: i64, host: i64, seed: i64) -> Self {
        Self {
            id,
            host,
            seed,
            is_alias: false,
            state: Life::New.name().to_owned(),
            outcome: None,
            is_visited: false,
            is_seen: false,
            last_cycle: None,
            same_as: None,
            same_text: None,
            signals: PageSignals::NONE,
        }
    }

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            host: row.get(1)?,
            seed: row.get(2)?,
            is_alias: row.get(3)?,
            state: row.get(4)?,
            outcome: row.get(5)?,
            is_visited: row.get(6)?,
            is_seen: row.get(7)?,
            last_cycle: row.get(8)?,
            same_as: row.get(9)?,
            same_text: row.get(10)?,
            signals: signals::counts(row, 11)?.0,
        })
    }
}

/// What counts of a visit.
#[derive(Clone, Debug)]
pub(super) struct CountedVisit<'a> {
    pub(super) cycle: i64,
    pub(super) host: i64,
    pub(super) seed: i64,
    pub(super) at: Timestamp,
    pub(super) outcome: &'a str,
    pub(super) changed: Option<bool>,
    pub(super) divergence: Option<f64>,
    pub(super) bytes: i64,
    /// It brought or confirmed a version.
    pub(super) is_success: bool,
}

/// What the latest visits of a host left.
#[derive(Clone, Debug, Default, PartialEq)]
struct HostVisits {
    last_success_at: Option<i64>,
    ticks: Vec<Tick>,
}

/// Counts, added up. See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptCounts {
    sums: [BTreeMap<Vec<KeyPart>, Vec<i64>>; CountTable::ALL.len()],
    hosts: BTreeMap<i64, HostVisits>,
    seeds: BTreeMap<i64, i64>,
}

impl KeptCounts {
    fn add(&mut self, table: CountTable, key: Vec<KeyPart>, sums: &[i64], sign: i64) {
        let Some(kept) = self.sums.get_mut(table as usize) else { return };
        let kept = kept.entry(key).or_insert_with(|| vec![0; sums.len()]);
        kept.iter_mut().zip(sums).for_each(|(kept, more)| *kept += sign * more);
    }

    /// Counts a page, or takes it away again.
    pub(super) fn page(&mut self, page: &CountedPage, sign: i64) {
        use KeyPart::{Number, Word};
        let (host, state) = (Number(page.host), Word(page.state.clone()));
        let outcome = Word(page.outcome.clone().unwrap_or_default());
        let key = vec![host.clone(), Number(page.seed), Number(page.is_alias.into()), state.clone(), outcome];
        self.add(CountTable::Pages, key, &[1, page.is_visited.into(), page.is_seen.into()], sign);
        if let Some(cycle) = page.last_cycle.filter(|_| !page.is_alias) {
            self.add(CountTable::Lives, vec![Number(cycle), host.clone(), state], &[1], sign);
        }
        if let Some(named) = page.same_as.filter(|_| page.same_text != Some(true)) {
            let unlike = (page.same_text == Some(false)).into();
            self.add(CountTable::Naming, vec![Number(named), host.clone()], &[1, unlike], sign);
        }
        for kind in SignalKind::ALL {
            let SignalCount { total, since_visit } = page.signals.of(kind);
            if total > 0 {
                let key = vec![host.clone(), Word(kind.name().to_owned())];
                self.add(CountTable::Signals, key, &[total.into(), since_visit.into()], sign);
            }
        }
    }

    /// Counts a page that is no alias as found in a cycle.
    pub(super) fn found(&mut self, host: i64, cycle: Option<i64>, sign: i64) {
        if let Some(cycle) = cycle {
            self.add(CountTable::Found, vec![KeyPart::Number(cycle), KeyPart::Number(host)], &[1], sign);
        }
    }

    /// Counts a visit. Visits have to come in the order in which they were recorded.
    pub(super) fn visit(&mut self, visit: &CountedVisit<'_>) {
        let brought = self.visit_sums(visit, 1);
        let host = self.hosts.entry(visit.host).or_default();
        host.ticks.push(ticks::rounded(visit.at, brought, visit.divergence));
        // Cut now and then: each cut moves all of them.
        if host.ticks.len() >= 2 * crate::store::MOST_TICKS {
            host.ticks.drain(..host.ticks.len() - crate::store::MOST_TICKS);
        }
        if visit.is_success {
            host.last_success_at = host.last_success_at.max(Some(visit.at.millis()));
        }
        if brought != BroughtKind::Refused {
            let last = self.seeds.entry(visit.seed).or_insert(i64::MIN);
            *last = (*last).max(visit.at.millis());
        }
    }

    /// Takes a visit away again that a person had deleted. What the latest visits were is made again for its host.
    pub(super) fn forget_visit(&mut self, visit: &CountedVisit<'_>) {
        self.visit_sums(visit, -1);
    }

    fn visit_sums(&mut self, visit: &CountedVisit<'_>, sign: i64) -> BroughtKind {
        use KeyPart::{Number, Word};
        let changed = i64::from(visit.changed == Some(true));
        let key = vec![Number(visit.cycle), Number(visit.host), Word(visit.outcome.to_owned())];
        self.add(CountTable::Visits, key, &[1, changed, visit.bytes], sign);
        let brought = BroughtKind::of(visit.outcome, visit.changed);
        let mut sums = [0; 10];
        if let Some(count) = sums.get_mut(brought.place()) {
            *count = 1;
        }
        let moved = visit.divergence.filter(|_| changed == 1).unwrap_or(0.0);
        (sums[8], sums[9]) = ((moved * MILLION).round() as i64, visit.bytes);
        self.add(CountTable::Days, vec![Number(day_of(visit.at)), Number(visit.host)], &sums, sign);
        self.total(Total::Observations, sign);
        brought
    }

    /// Adds to one of the counts over everything.
    pub(super) fn total(&mut self, total: Total, more: i64) {
        self.add(CountTable::Totals, vec![KeyPart::Word(total.name().to_owned())], &[more], 1);
    }

    /// Counts a version, or takes it away again.
    pub(super) fn version(&mut self, content_bytes: i64, stored_bytes: i64, sign: i64) {
        self.total(Total::Versions, sign);
        self.total(Total::VersionsWithoutRoom, sign * i64::from(stored_bytes == 0));
        self.total(Total::ContentBytes, sign * content_bytes);
        self.total(Total::StoredBytes, sign * stored_bytes);
    }

    /// Adds these counts to those that are kept.
    pub(super) fn add_to(&self, connection: &Connection) -> Result<()> {
        self.add_sums_to(connection)?;
        for (host, more) in &self.hosts {
            let kept = host_visits(connection, *host)?.unwrap_or_default();
            let last_success_at = kept.last_success_at.max(more.last_success_at);
            let mut ticks = kept.ticks;
            ticks.extend(&more.ticks);
            keep_host(connection, *host, &HostVisits { last_success_at, ticks })?;
        }
        for (seed, at) in &self.seeds {
            connection
                .prepare_cached(
                    "INSERT INTO seed_visit (seed_id, last_visit_at) VALUES (?1, ?2)
                     ON CONFLICT (seed_id) DO UPDATE SET last_visit_at = max(last_visit_at, excluded.last_visit_at)",
                )?
                .execute([seed, at])?;
        }
        Ok(())
    }

    fn add_sums_to(&self, connection: &Connection) -> Result<()> {
        for (table, counts) in CountTable::ALL.into_iter().zip(&self.sums) {
            if counts.values().flatten().all(|sum| *sum == 0) {
                continue;
            }
            let mut add = connection.prepare_cached(&table.add())?;
            let mut drop_empty = connection.prepare_cached(&table.drop_empty())?;
            for (key, sums) in counts {
                if sums.iter().all(|sum| *sum == 0) {
                    continue;
                }
                let key: Vec<Value> = key.iter().map(KeyPart::value).collect();
                let sums_there = sums.iter().map(|sum| Value::Integer(*sum));
                add.execute(params_from_iter(key.iter().cloned().chain(sums_there)))?;
                if sums.iter().any(|sum| *sum < 0) {
                    drop_empty.execute(params_from_iter(key))?;
                }
            }
        }
        Ok(())
    }

    /// The counts that are kept.
    pub(super) fn kept(connection: &Connection) -> Result<Self> {
        let mut kept = Self::default();
        for table in CountTable::ALL {
            let (_, keys, sums) = table.columns();
            let mut statement = connection.prepare(&table.read())?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let key = (0..keys.len()).map(|place| match row.get(place)? {
                    Value::Text(word) => Ok(KeyPart::Word(word)),
                    Value::Integer(number) => Ok(KeyPart::Number(number)),
                    _ => Ok(KeyPart::Number(0)),
                });
                let key = key.collect::<rusqlite::Result<_>>()?;
                let sums = (0..sums.len()).map(|place| row.get(keys.len() + place));
                kept.add(table, key, &sums.collect::<rusqlite::Result<Vec<i64>>>()?, 1);
            }
        }
        let mut statement = connection.prepare("SELECT host_id FROM host_visit")?;
        let hosts = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
        for host in hosts {
            kept.hosts.extend(host_visits(connection, host)?.map(|visits| (host, visits)));
        }
        let mut statement = connection.prepare("SELECT seed_id, last_visit_at FROM seed_visit")?;
        let seeds = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        kept.seeds = seeds.collect::<rusqlite::Result<_>>()?;
        Ok(kept)
    }

    /// The number of counts that are not as in `fresh`.
    pub(super) fn differences(&mut self, mut fresh: Self) -> u64 {
        self.tidy();
        fresh.tidy();
        let sums = self.sums.iter().zip(&fresh.sums).map(|(kept, fresh)| differing(kept, fresh)).sum::<u64>();
        sums + differing(&self.hosts, &fresh.hosts) + differing(&self.seeds, &fresh.seeds)
    }

    /// Keeps no sums of nothing, and no more ticks than are stored.
    fn tidy(&mut self) {
        for counts in &mut self.sums {
            counts.retain(|_, sums| sums.iter().any(|sum| *sum != 0));
        }
        for host in self.hosts.values_mut() {
            host.ticks = ticks::from_bytes(&ticks::to_bytes(&host.ticks));
        }
    }

    /// Forgets what the latest visits were, but for these hosts, and all sums: what is left replaces what is kept of the hosts.
    pub(super) fn keep_hosts(&self, connection: &Connection, hosts: &[i64]) -> Result<()> {
        for host in hosts {
            match self.hosts.get(host) {
                Some(visits) => keep_host(connection, *host, visits)?,
                None => {
                    connection
                        .prepare_cached("DELETE FROM host_visit WHERE host_id = ?1")?
                        .execute([host])?;
                }
            }
        }
        Ok(())
    }
}

/// The divergence of a day is kept in these parts.
pub(super) const MILLION: f64 = 1e6;

/// A count over everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Total {
    Observations,
    Gains,
    Versions,
    VersionsWithoutRoom,
    ContentBytes,
    StoredBytes,
}

impl Total {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Observations => "observations",
            Self::Gains => "gains",
            Self::Versions => "versions",
            Self::VersionsWithoutRoom => "versions-without-room",
            Self::ContentBytes => "content-bytes",
            Self::StoredBytes => "stored-bytes",
        }
    }
}

fn differing<K: Ord, V: PartialEq>(kept: &BTreeMap<K, V>, fresh: &BTreeMap<K, V>) -> u64 {
    let not_as_kept = fresh.iter().filter(|(key, value)| kept.get(key) != Some(value)).count();
    let too_many = kept.keys().filter(|key| !fresh.contains_key(key)).count();
    (not_as_kept + too_many) as u64
}

fn host_visits(connection: &Connection, host: i64) -> Result<Option<HostVisits>> {
    let mut statement =
        connection.prepare_cached("SELECT last_success_at, ticks FROM host_visit WHERE host_id = ?1")?;
    let read = |row: &Row<'_>| {
        let ticks = ticks::from_bytes(row.get_ref(1)?.as_blob().unwrap_or_default());
        Ok(HostVisits { last_success_at: row.get(0)?, ticks })
    };
    Ok(statement.query_row([host], read).optional()?)
}

fn keep_host(connection: &Connection, host: i64, visits: &HostVisits) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO host_visit (host_id, last_success_at, ticks) VALUES (?1, ?2, ?3)",
        )?
        .execute(params![host, visits.last_success_at, ticks::to_bytes(&visits.ticks)])?;
    Ok(())
}
