//! Taking in what visits brought: the log, the versions, and what is folded from them.

use rusqlite::{Connection, OptionalExtension, params, params_from_iter, types::Value};

use super::folding::{self, FOLDED, FOLDED_COLUMNS, SET_FOLDED, folded};
use super::versions::{Sketches, differ, has_text, seen_before, version_id};
use super::{Result, SqliteStore, StoreError, hosts, learning, pages, signed};
use crate::change::ChangeSettings;
use crate::change::divergence::Divergence;
use crate::change::profile::Measured;
use crate::fetch::visit::{Outcome, OutcomeClass, RedirectFault};
use crate::observation::{Life, Standing};
use crate::page::{Depth, Fingerprint, HostId, PageId};
use crate::policy::Policy;
use crate::store::fold::{Fact, Folded, Folding, Found, FromBases, Told};
use crate::store::{
    Batch, Change, Content, CycleId, Recorded, RecordedVisit, VersionId, VisitRecord, millis,
};
use crate::time::Timestamp;

pub(super) fn record(store: &mut SqliteStore, cycle: CycleId, batch: &Batch) -> Result<Recorded> {
    let mut host_ids = std::mem::take(&mut store.host_ids);
    let policy = std::sync::Arc::clone(&store.policy);
    let transaction = store.transaction()?;
    let mut recorded = Recorded::default();
    let mut counts = Counts::default();
    for page in &batch.found {
        let weight = pages::weight_of_seed(&transaction, page.seed)?;
        recorded.new.extend(pages::add(&transaction, &mut host_ids, page, 0, weight, batch.now)?);
    }
    for (page, date) in &batch.sitemap_dates {
        transaction
            .prepare_cached("UPDATE page SET sitemap_lastmod_seconds = ?2 WHERE fingerprint = ?1")?
            .execute(params![page.to_bytes(), date])?;
    }
    for visit in &batch.visits {
        let row = PageNow::load(&transaction, visit.page)?;
        let hops = if visit.redirect.is_some() { row.hops + 1 } else { 0 };
        let known = recorded.new.len();
        for page in &visit.found {
            recorded.new.extend(pages::add(&transaction, &mut host_ids, page, hops, row.weight, batch.now)?);
        }
        let new_links = (recorded.new.len() - known) as u32;
        let taken = record_visit(&transaction, cycle, visit, &row, new_links, batch.change, &*policy)?;
        counts.add(&taken);
        recorded.visits.push(taken);
    }
    for report in &batch.hosts {
        hosts::save(&transaction, report)?;
    }
    for (host, at) in &batch.sitemaps_read {
        hosts::sitemaps_read(&transaction, host, *at)?;
    }
    for (reason, count) in &batch.refusals {
        transaction
            .prepare_cached(
                "INSERT INTO refusal (reason, count) VALUES (?1, ?2)
                 ON CONFLICT (reason) DO UPDATE SET count = count + excluded.count",
            )?
            .execute(params![reason.name(), signed(*count)])?;
    }
    transaction
        .prepare_cached(
            "UPDATE cycle SET requests = requests + ?2, bytes = bytes + ?3, fetched = fetched + ?4,
                new_pages = new_pages + ?5, changed = changed + ?6, unchanged = unchanged + ?7, failed = failed + ?8,
                deferred = deferred + ?9
             WHERE id = ?1",
        )?
        .execute(params![
            cycle.0,
            signed(batch.tally.requests),
            signed(batch.tally.bytes),
            counts.fetched,
            recorded.new.len() as i64,
            counts.changed,
            counts.unchanged,
            counts.failed,
            signed(batch.tally.deferred),
        ])?;
    transaction.commit()?;
    store.host_ids = host_ids;
    Ok(recorded)
}

#[derive(Default)]
struct Counts {
    fetched: i64,
    changed: i64,
    unchanged: i64,
    failed: i64,
}

impl Counts {
    fn add(&mut self, RecordedVisit { outcome, changed, .. }: &RecordedVisit) {
        match (outcome.is_success(), *changed) {
            (true, Some(false)) => self.unchanged += 1,
            (true, Some(true)) => self.changed += 1,
            _ => {}
        }
        self.fetched += i64::from(outcome.is_success());
        self.failed += i64::from(outcome.class() == OutcomeClass::Failed);
    }
}

/// What the page's row says before the visit is taken in.
struct PageNow {
    folded: Folded,
    hops: u32,
    host: HostId,
    depth: Depth,
    /// What its seed was given: pages found on it count as much.
    weight: f64,
    last_modified: Option<String>,
    sitemap_date: Option<Timestamp>,
}

impl PageNow {
    fn load(connection: &Connection, page: PageId) -> Result<Self> {
        let found = connection
            .prepare_cached(&format!(
                "SELECT {FOLDED}, hops, host_id, depth, weight, last_modified, sitemap_lastmod_seconds
                 FROM page WHERE id = ?1"
            ))?
            .query_row([page.0], |row| {
                let own = |place: usize| FOLDED_COLUMNS + place;
                Ok(PageNow {
                    folded: folded(row)?,
                    hops: row.get(own(0))?,
                    host: HostId(row.get(own(1))?),
                    depth: row.get(own(2))?,
                    weight: row.get(own(3))?,
                    last_modified: row.get(own(4))?,
                    sitemap_date: row.get::<_, Option<i64>>(own(5))?.map(Timestamp::from_seconds),
                })
            })
            .optional()?;
        found.ok_or_else(|| StoreError::BadValue(format!("a visit of page {page}, which is not there")))
    }

    /// What the visit was told besides the content.
    fn told(&self, visit: &VisitRecord, changed: Option<bool>, new_links: u32) -> Told {
        // A page that has not changed is still of the date that it gave.
        let header =
            visit.last_modified.as_ref().or(self.last_modified.as_ref().filter(|_| changed == Some(false)));
        let date = header.and_then(|text| http_date(text)).or(self.sitemap_date);
        let events = match (&visit.entry_dates, self.folded.seen_at, changed) {
            (Some(dates), Some(since), Some(changed)) => {
                entries_between(dates, since, visit.observation.at, changed)
            }
            _ => None,
        };
        Told { date, events, new_links }
    }
}

/// A date as HTTP writes it.
fn http_date(text: &str) -> Option<Timestamp> {
    let since = httpdate::parse_http_date(text).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_seconds(i64::try_from(since.as_secs()).ok()?))
}

/// Entries of a feed that are younger than the last visit. `None` if some may have been pushed out, if they don't explain
/// what changed, or if some are of the future: then dates are not those of changes.
fn entries_between(dates: &[i64], since: Timestamp, until: Timestamp, changed: bool) -> Option<u32> {
    let moments = || dates.iter().map(|date| Timestamp::from_seconds(*date));
    let newer = moments().filter(|moment| *moment > since).count();
    let complete = newer < dates.len() && moments().all(|moment| moment <= until);
    (complete && (newer > 0) == changed).then(|| u32::try_from(newer).unwrap_or(u32::MAX))
}

/// What the visit brought, held against what there was.
#[derive(Default)]
struct Compared {
    found: Option<Found>,
    changed: Option<bool>,
    divergence: Option<Divergence>,
    returned_to: Option<VersionId>,
}

/// Appends the observation and folds it into the page.
fn record_visit(
    connection: &Connection,
    cycle: CycleId,
    visit: &VisitRecord,
    before: &PageNow,
    new_links: u32,
    settings: ChangeSettings,
    policy: &dyn Policy,
) -> Result<RecordedVisit> {
    let seen = &visit.observation;
    let target = visit.redirect.map(|to| target_id(connection, to)).transpose()?.flatten();
    let outcome = match target {
        Some(target) if leads_back(connection, visit.page, target)? => {
            Outcome::BadRedirect(RedirectFault::Loop)
        }
        _ => seen.outcome.clone(),
    };
    let read = visit.content.as_ref().and_then(Content::read);
    let mut sketches = Sketches::new(connection, settings, read.and_then(|read| read.sketch.as_ref()));
    let Compared { found, changed, divergence, returned_to } =
        compare(connection, visit, &before.folded, &mut sketches)?;
    let mut folded = before.folded.clone();
    let told = before.told(visit, changed, new_links);
    let fact = Fact {
        cycle,
        at: seen.at,
        outcome: &outcome,
        changed,
        found,
        told,
        apart: FromBases::ToBeMeasured,
        divergence: divergence.map(Divergence::get),
    };
    let folding = Folding { host: before.host, depth: before.depth, profiles: settings.profiles, policy };
    let bases =
        folded.take(&fact, &folding, |base| sketches.divergence(found.map(|found| found.version), base))?;
    let redirects_to = target.filter(|_| matches!(outcome, Outcome::Redirected { .. }));
    let detail = match &outcome {
        Outcome::Redirected { to, .. } => Some(to.as_str()),
        _ => None,
    };
    connection
        .prepare_cached(
            "INSERT INTO observation (page_id, cycle_id, at, outcome, status, changed, bytes, took_ms, version_id, detail,
                divergence, bases, returned_to, validator, text_rules, has_words, dated_at, events, new_links)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
        )?
        .execute(params![
            visit.page.0,
            cycle.0,
            seen.at.millis(),
            outcome.code(),
            seen.status,
            changed,
            signed(seen.bytes),
            millis(seen.took),
            found.map(|found| found.version.0),
            detail,
            divergence.map(Divergence::get),
            (!bases.is_empty()).then(|| Measured::to_bytes(&bases, seen.at)),
            returned_to.map(|version| version.0),
            visit.validator,
            found.map(|found| found.text_rules.cast_signed()),
            found.map(|found| found.has_words),
            told.date.map(Timestamp::millis),
            told.events,
            (told.new_links > 0).then_some(told.new_links),
        ])?;
    let observation = connection.last_insert_rowid();
    if let Some(links) = &visit.links {
        learning::keep_links(connection, visit.page, links)?;
    }
    update_page(connection, visit, &folded, redirects_to)?;
    connection.prepare_cached("DELETE FROM plan WHERE page_id = ?1")?.execute([visit.page.0])?;
    let alias = visit.alias.filter(|_| !matches!(outcome, Outcome::BadRedirect(_)));
    if !can_stand_for_others(folded.standing) {
        free_aliases(connection, visit.page, alias)?;
    }
    if let Some(alias) = alias {
        set_alias(connection, visit.page, alias)?;
    }
    let change = match (changed, found, before.folded.version) {
        (Some(true), Some(found), Some(previous)) => Some(Change {
            page: visit.page.0,
            url: connection
                .prepare_cached("SELECT url FROM page WHERE id = ?1")?
                .query_row([visit.page.0], |row| row.get(0))?,
            at: seen.at,
            previous_at: held_before(connection, visit.page, observation)?,
            divergence: divergence.map(Divergence::get),
            version: found.version.0,
            previous_version: previous.0,
            returned_to: returned_to.map(|version| version.0),
            bytes: seen.bytes,
        }),
        _ => None,
    };
    Ok(RecordedVisit { outcome, changed, change })
}

/// What the visit made of the page's row: what is folded, and what the page told of itself.
fn update_page(
    connection: &Connection,
    visit: &VisitRecord,
    folded: &Folded,
    redirects_to: Option<i64>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "UPDATE page SET {SET_FOLDED},
            etag = CASE WHEN ?16 THEN ?17 ELSE etag END,
            last_modified = CASE WHEN ?16 THEN ?18 ELSE last_modified END,
            noindex = CASE WHEN ?21 THEN ?19 ELSE max(noindex, ?19) END,
            redirects_to = ?20,
            content_type = CASE WHEN ?21 THEN ?22 ELSE content_type END,
            charset = CASE WHEN ?21 THEN ?23 ELSE charset END,
            read_by_rules = CASE WHEN ?21 THEN ?24 ELSE read_by_rules END
         WHERE id = ?1"
    ))?;
    let read = visit.content.as_ref().and_then(Content::read);
    let told: [Value; 9] = [
        visit.content.is_some().into(),
        visit.etag.clone().into(),
        visit.last_modified.clone().into(),
        visit.noindex.into(),
        redirects_to.into(),
        read.is_some().into(),
        read.and_then(|read| read.content_type.clone()).into(),
        read.and_then(|read| read.charset.map(str::to_owned)).into(),
        visit.rules.cast_signed().into(),
    ];
    statement.execute(params_from_iter(folding::values(visit.page, folded).into_iter().chain(told)))?;
    Ok(())
}

/// When a visit before this one brought or confirmed what the page held.
fn held_before(connection: &Connection, page: PageId, observation: i64) -> Result<Option<Timestamp>> {
    let at = connection
        .prepare_cached(
            "SELECT at FROM observation WHERE page_id = ?1 AND id < ?2 AND version_id IS NOT NULL
             ORDER BY at DESC, id DESC LIMIT 1",
        )?
        .query_row([page.0, observation], |row| row.get(0))
        .optional()?;
    Ok(at.map(Timestamp::from_millis))
}

/// What a visit found, and how it differs from what the page held.
fn compare(
    connection: &Connection,
    visit: &VisitRecord,
    before: &Folded,
    sketches: &mut Sketches<'_>,
) -> Result<Compared> {
    let (version, text_rules) = match &visit.content {
        Some(Content::Read(content)) => {
            let version = version_id(connection, content, visit.observation.at)?;
            if let Some(sketch) = &content.sketch {
                sketches.keep(version, sketch)?;
            }
            (version, visit.text_rules)
        }
        // What is held was read by the rules that hold now, or the host would not have been asked to compare.
        Some(Content::Held) => match before.version {
            Some(version) => (version, before.text_rules),
            None => return Ok(Compared::default()),
        },
        None => match before.version.filter(|_| visit.observation.outcome == Outcome::NotModified) {
            Some(version) => (version, before.text_rules),
            None => return Ok(Compared::default()),
        },
    };
    let has_words = match (visit.content.as_ref().and_then(Content::read), before.has_words) {
        (Some(read), _) => read.sketch.is_some(),
        (None, Some(noted)) => noted,
        (None, None) => has_text(connection, version)?,
    };
    let Some(previous) = before.version.filter(|_| text_rules == before.text_rules) else {
        let found = Found { version, text_rules, same_text: false, has_words };
        return Ok(Compared { found: Some(found), ..Compared::default() });
    };
    let (bytes_differ, text_differs) = differ(connection, version, previous, has_words)?;
    let divergence = match (has_words, text_differs) {
        (false, _) => None,
        (true, false) => Some(Divergence::NONE),
        (true, true) => Some(sketches.divergence(Some(version), previous)?),
    };
    let returned_to =
        if text_differs { seen_before(connection, visit.page, version, has_words)? } else { None };
    Ok(Compared {
        found: Some(Found { version, text_rules, same_text: !text_differs, has_words }),
        changed: Some(visit.changed_when.changed(
            bytes_differ,
            text_differs,
            divergence.map(Divergence::get),
        )),
        divergence,
        returned_to,
    })
}

fn target_id(connection: &Connection, of: Fingerprint) -> Result<Option<i64>> {
    let found = connection
        .prepare_cached("SELECT id FROM page WHERE fingerprint = ?1")?
        .query_row([of.to_bytes()], |row| row.get(0))
        .optional()?;
    Ok(found)
}

/// Does the target redirect back to `page`, by whatever detours?
fn leads_back(connection: &Connection, page: PageId, target: i64) -> Result<bool> {
    let mut statement = connection.prepare_cached("SELECT redirects_to FROM page WHERE id = ?1")?;
    let mut at = target;
    // A circle that does not pass `page` must not hold us up.
    for _ in 0..64 {
        if at == page.0 {
            return Ok(true);
        }
        match statement.query_row([at], |row| row.get::<_, Option<i64>>(0)).optional()?.flatten() {
            Some(next) => at = next,
            None => return Ok(false),
        }
    }
    Ok(false)
}

/// Can a page like this show what its other spellings would? One that fails may be well again by the next visit.
fn can_stand_for_others(standing: Standing) -> bool {
    match standing.life {
        Life::New | Life::Alive | Life::Missing => true,
        Life::Failing => standing.failures < 2,
        Life::Gone | Life::Blocked | Life::Redirected => false,
    }
}

/// What this page stood for must stand for itself again. Where it moved, its other spellings move with it, all but
/// the one it moved to (`/page/` with a canonical link to `/page`, which redirects to `/page/`).
fn free_aliases(connection: &Connection, page: PageId, moved_to: Option<Fingerprint>) -> Result<()> {
    match moved_to {
        Some(target) => connection
            .prepare_cached("UPDATE page SET alias_of = NULL WHERE alias_of = ?1 AND fingerprint = ?2")?
            .execute(params![page.0, target.to_bytes()])?,
        None => connection
            .prepare_cached("UPDATE page SET alias_of = NULL WHERE alias_of = ?1")?
            .execute([page.0])?,
    };
    Ok(())
}

/// Makes `page` another spelling of the page with that fingerprint, unless that one shows nothing or the two would
/// stand for each other.
fn set_alias(connection: &Connection, page: PageId, of: Fingerprint) -> Result<()> {
    let target: Option<(i64, String)> = connection
        .prepare_cached(
            "SELECT root.id, root.state FROM page JOIN page AS root ON root.id = coalesce(page.alias_of, page.id)
             WHERE page.fingerprint = ?1",
        )?
        .query_row([of.to_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((target, state)) = target else { return Ok(()) };
    if target == page.0 || !matches!(Life::from_name(&state), Some(Life::New | Life::Alive)) {
        return Ok(());
    }
    connection
        .prepare_cached("UPDATE page SET alias_of = ?2 WHERE id = ?1 OR alias_of = ?1")?
        .execute(params![page.0, target])?;
    Ok(())
}
