//! Load → judge → commit: a batch of visits becomes facts in the log and states of pages.
//!
//! The rows that a batch needs are loaded in a few set queries, every visit is judged in memory by the functions of
//! [`crate::observation`], and the finished rows are committed together. Visits of one batch may concern the same page, or
//! lead to pages that were found in it: each is judged as if those before it had been recorded.

use std::collections::HashMap;
use std::convert::Infallible;

use super::accounts::VisitCounts;
use super::batch::{AddedPage, Batch, Content, Recorded, RecordedVisit, VisitRecord};
use super::past::{Past, earlier_content, wanted};
use super::signal_book::SignalBook;
use super::sketches::sketch_row;
use super::telling::{HeldBefore, told};
use super::weights::Weights;
use crate::change::ChangeSettings;
use crate::change::divergence::{Divergence, divergence};
use crate::fetch::answer_head::AnswerHead;
use crate::fetch::visit::{Outcome, RedirectFault};
use crate::observation::compare::{BroughtContent, compare};
use crate::observation::empty;
use crate::observation::room::StoreLimits;
use crate::observation::wall::SmallTexts;
use crate::observation::{
    Attempt, Comparison, EventKind, Found, Observation, PageGraph, PageNode, SameAs, Told, VersionHashes,
    told,
};
use crate::page::{HostId, Kin, PageId};
use crate::policy::{PageState, Policy};
use crate::signal::SignalKind;
use crate::store::{
    Commit, CycleCounts, CycleId, FreeIds, JudgedVisit, Loaded, NewPageRow, NewVersion, PageFacts, ReadAs,
    ReadContent, Result, Store, StoreError, VersionId,
};
use crate::time::Timestamp;
use crate::unique::NewPage;

/// Records a batch, all of it or nothing. Pages learn by this policy.
pub fn record(store: &mut dyn Store, policy: &dyn Policy, cycle: CycleId, batch: Batch) -> Result<Recorded> {
    record_among(store, policy, &Weights::default(), &mut SmallTexts::default(), cycle, batch)
}

/// Takes in pages that were found outside a cycle, and rows beside them. They count for no cycle.
pub(super) fn take_in(store: &mut dyn Store, policy: &dyn Policy, batch: Batch) -> Result<Vec<AddedPage>> {
    let mut loaded = store.load(&wanted(&batch))?;
    let book = SignalBook::load(store, &batch, &mut loaded)?;
    let (mut small_texts, weights) = (SmallTexts::default(), Weights::default());
    // No row of a cycle has this number.
    let past = (Past::default(), book);
    let judge = Judge::new((policy, &weights), &mut small_texts, CycleId(0), &batch, loaded, past);
    let (mut rows, recorded) = judge.judge(batch)?;
    rows.cycle = None;
    store.commit(&rows)?;
    Ok(recorded.new)
}

/// As [`record`], among the small texts that earlier batches met.
pub(super) fn record_among(
    store: &mut dyn Store,
    policy: &dyn Policy,
    weights: &Weights,
    small_texts: &mut SmallTexts,
    cycle: CycleId,
    batch: Batch,
) -> Result<Recorded> {
    let mut loaded = store.load(&wanted(&batch))?;
    let past = Past::load(store, &batch, &loaded)?;
    let book = SignalBook::load(store, &batch, &mut loaded)?;
    let (rows, recorded) =
        Judge::new((policy, weights), small_texts, cycle, &batch, loaded, (past, book)).judge(batch)?;
    store.commit(&rows)?;
    Ok(recorded)
}

// --- judging -----------------------------------------------------------------------------------------------------

/// Judges the visits of a batch, one after the other, and gathers the rows that come of it.
struct Judge<'a> {
    policy: &'a dyn Policy,
    /// Importance of pages in this cycle.
    weights: &'a Weights,
    small_texts: &'a mut SmallTexts,
    cycle: CycleId,
    now: Timestamp,
    change: ChangeSettings,
    store_limits: StoreLimits,
    /// Bytes that hosts have stored, with those of this batch.
    host_bytes: HashMap<HostId, u64>,
    pages: HashMap<PageId, PageFacts>,
    graph: PageGraph,
    /// Contents that are held, by their hashes.
    contents: HashMap<(u128, u128), VersionHashes>,
    hosts: HashMap<String, HostId>,
    past: Past,
    signals: SignalBook,
    /// Contents that visits of this batch found, with their times.
    seen: HashMap<PageId, Vec<(Timestamp, VersionHashes)>>,
    free: FreeIds,
    /// The first version that this batch may add.
    first_version: i64,
    rows: Commit,
    recorded: Recorded,
}

impl<'a> Judge<'a> {
    fn new(
        (policy, weights): (&'a dyn Policy, &'a Weights),
        small_texts: &'a mut SmallTexts,
        cycle: CycleId,
        batch: &Batch,
        loaded: Loaded,
        (mut past, mut signals): (Past, SignalBook),
    ) -> Self {
        let mut graph = PageGraph::new(std::mem::take(&mut past.unlike));
        // The visited pages first: they and no others change.
        loaded.pages.iter().for_each(|page| graph.add(page.node));
        loaded.nodes.into_iter().for_each(|node| graph.add(node));
        let mut pages: HashMap<PageId, PageFacts> =
            loaded.pages.into_iter().map(|page| (page.id, page)).collect();
        for told in batch.told.iter().filter(|told| told.kind != SignalKind::Ping) {
            if let Some(page) = graph.id(told.page).and_then(|id| pages.get_mut(&id)) {
                page.listed_date = Some(told.date);
            }
        }
        signals.tell(&batch.told);
        let rows = Commit { now: batch.now, ..Commit::default() };
        let mut judge = Self {
            policy,
            weights,
            small_texts,
            cycle,
            now: batch.now,
            change: batch.change,
            store_limits: batch.store_limits,
            host_bytes: pages.values().map(|page| (page.host, page.host_stored_bytes)).collect(),
            pages,
            graph,
            contents: loaded.versions.iter().map(|held| ((held.body, held.text), *held)).collect(),
            hosts: loaded.hosts,
            past,
            signals,
            seen: HashMap::new(),
            free: loaded.free_ids,
            first_version: loaded.free_ids.version,
            rows,
            recorded: Recorded::default(),
        };
        for page in &batch.found {
            let weight = loaded.seed_weights.get(&page.seed).copied().unwrap_or(1.0);
            judge.add_page(page, 0, weight);
        }
        judge
    }

    fn judge(mut self, batch: Batch) -> Result<(Commit, Recorded)> {
        for visit in batch.visits {
            self.visit(visit)?;
        }
        let VisitCounts { fetched, changed, unchanged, failed, .. } = VisitCounts::of(&self.recorded.visits);
        let new_pages = self.recorded.new.len() as u64;
        let counts = CycleCounts { tally: batch.tally, fetched, new_pages, changed, unchanged, failed };
        let mut rows = self.rows;
        rows.cycle = Some((self.cycle, counts));
        rows.aliases = self.graph.changed().collect();
        rows.adopted_seeds = batch.adopted_seeds;
        rows.let_go = batch.let_go;
        self.signals.finish(&mut rows);
        rows.lists = batch.lists;
        rows.pings_taken = batch.pings_taken;
        rows.hosts = batch.hosts;
        rows.sitemaps_read = batch.sitemaps_read;
        rows.refusals = batch.refusals;
        rows.reread = batch.reread;
        Ok((rows, self.recorded))
    }

    /// Takes in a page that was found, unless it is known.
    fn add_page(&mut self, page: &NewPage, hops: u32, weight: f64) {
        let fingerprint = page.url.fingerprint();
        if self.graph.id(fingerprint).is_some() {
            return;
        }
        let host = match self.hosts.get(page.url.origin()) {
            Some(host) => *host,
            None => {
                let host = HostId(self.free.host);
                self.free.host += 1;
                self.hosts.insert(page.url.origin().to_owned(), host);
                self.rows.new_hosts.push((host, page.url.origin().to_owned()));
                host
            }
        };
        let id = PageId(self.free.page);
        self.free.page += 1;
        self.graph.add(PageNode::found(id, fingerprint));
        self.rows.new_pages.push(NewPageRow {
            id,
            url: page.url.clone(),
            host,
            seed: page.seed,
            depth: page.depth,
            hops,
            found_on: page.found_on,
            weight,
            sitemap_lastmod: page.lastmod,
            anchor: page.anchor.clone(),
        });
        let state = PageState::found(id, host, page.depth, weight, self.now);
        let is_listed = page.found_on.is_none();
        let state = PageState { kin: Kin::of(page.url.as_str()), is_listed, ..state };
        self.recorded.new.push(AddedPage {
            id,
            host,
            url: page.url.clone(),
            anchor: page.anchor.clone(),
            state,
        });
    }

    fn visit(&mut self, mut visit: VisitRecord) -> Result<()> {
        let id = visit.page;
        let missing = || StoreError::BadValue(format!("a visit of page {id}, which is not there"));
        let mut page = self.pages.remove(&id).ok_or_else(missing)?;
        let doubtful = |answer| empty::is_doubtful(answer, page.held(), page.folded.last_outcome.as_deref());
        if visit.emptiness().is_some_and(doubtful) {
            visit.disbelieve(Outcome::Empty);
        }
        let shrunk = visit.shrunk(&page);
        if shrunk.is_some_and(|(small, text)| small.is_wall(self.small_texts.meet(page.host, id, text))) {
            visit.disbelieve(Outcome::Wall);
        }
        let known = self.recorded.new.len();
        let hops = if visit.redirect.is_some() { page.hops + 1 } else { 0 };
        for found in &visit.found {
            self.add_page(found, hops, page.weight);
        }
        let new_links = (self.recorded.new.len() - known) as u32;
        let target = visit.redirect.and_then(|to| self.graph.id(to));
        let outcome = match target {
            Some(target) if self.graph.leads_back(id, target) => Outcome::BadRedirect(RedirectFault::Loop),
            _ => visit.attempt.outcome.clone(),
        };
        let seen_at = self.previous_at(&visit).or(page.folded.seen_at);
        let before = HeldBefore { version: page.folded.version, seen_at };
        let last_seen_at = page.folded.seen_at;
        let (fact, brought, event) = self.judge_content(&mut page, &visit, outcome, new_links);
        self.signals.visited(&fact, last_seen_at);
        self.signals.read(&visit);
        let redirects_to = target.filter(|_| matches!(fact.attempt.outcome, Outcome::Redirected { .. }));
        self.graph.visited(id, &page.folded, redirects_to, fact.answers());
        let told = event.map(|kind| told(kind, &page, &visit, &fact, before));
        if let Some(read) = visit.content.as_ref().and_then(Content::read) {
            page.held_text_bytes = read.text_bytes as u64;
            page.held_title = Some(String::from(read.title.clone().unwrap_or_default()));
        }
        if let Some(hashes) = brought {
            page.held = Some(hashes);
            self.seen.entry(id).or_default().push((fact.attempt.at, hashes));
        }
        let (outcome, changed) = (fact.attempt.outcome.clone(), fact.changed);
        self.recorded.visits.push(RecordedVisit { outcome, changed, event: told });
        self.finish(page, visit, (fact, event), redirects_to);
        Ok(())
    }

    /// Holds a visit against what the page held: the fact it leaves, folded into the page and taught to the policy. Says
    /// which content the page holds now, if the visit brought or confirmed any, and the event that it makes.
    fn judge_content(
        &mut self,
        page: &mut PageFacts,
        visit: &VisitRecord,
        outcome: Outcome,
        new_links: u32,
    ) -> (Observation, Option<VersionHashes>, Option<EventKind>) {
        let at = visit.attempt.at;
        let brought = match &visit.content {
            Some(Content::Read(read)) => BroughtContent::Content {
                hashes: self.version_of(read),
                text_rules: visit.text_rules,
                has_words: read.sketch.is_some(),
            },
            Some(Content::Held) => BroughtContent::Confirmation,
            None if visit.attempt.outcome == Outcome::NotModified => BroughtContent::Confirmation,
            None => BroughtContent::Nothing,
        };
        let held = page.held();
        let sketch = visit.content.as_ref().and_then(Content::read).and_then(|read| read.sketch.as_ref());
        let sketches = &self.past.sketches;
        let measure = |from: VersionId| -> std::result::Result<Divergence, Infallible> {
            let apart = sketch.zip(sketches.get(&from)).map(|(found, from)| divergence(found, from));
            Ok(apart.unwrap_or(Divergence::NONE))
        };
        let Ok(comparison) = compare(brought, held, visit.changed_when, measure);
        let found = match brought {
            BroughtContent::Content { hashes, .. } => Some(hashes),
            BroughtContent::Confirmation => page.held,
            BroughtContent::Nothing => None,
        };
        let same_as = self.same_as(page, visit, &outcome, comparison.found);
        let mut fact = Observation {
            page: page.id,
            cycle: self.cycle,
            attempt: Attempt { outcome, ..visit.attempt.clone() },
            found: comparison.found,
            changed: comparison.changed,
            divergence: comparison.divergence.map(Divergence::get),
            bases: Vec::new(),
            returned_to: self.returned_to(visit, &comparison),
            told: Told {
                date: told::date(
                    visit.last_modified.as_deref(),
                    page.last_modified.as_deref(),
                    page.listed_date,
                    comparison.changed,
                ),
                events: told::events(
                    visit.entry_dates.as_deref(),
                    page.folded.seen_at,
                    at,
                    comparison.changed,
                ),
                new_links,
            },
            same_as,
            weight: self.weights.of(page.id, page.weight),
            signals: self.signals.of(page.id),
        };
        let seen_at = page.folded.seen_at;
        let event = EventKind::of(&page.folded, &fact);
        let Ok(bases) = page.folded.measure(&fact, comparison.same_text, measure);
        fact.bases = bases;
        if let Some(lesson) = fact.lesson(seen_at) {
            page.learnt.take(&lesson, page.host, page.depth, self.policy);
        }
        // The policy has learnt from the visit: it knows which base version it wants to keep.
        let pinned = self.policy.pinned_base(&page.learnt);
        page.folded.take(&fact, self.change.profiles, pinned.as_slice());
        (fact, found, event)
    }

    /// The page that a visit says stands for this one, and how far their texts are apart. `found`: what the visit brought
    /// or confirmed; a page that redirects has what was held of it compared.
    fn same_as(
        &self,
        page: &PageFacts,
        visit: &VisitRecord,
        outcome: &Outcome,
        found: Option<Found>,
    ) -> Option<SameAs> {
        let named = match (outcome, found, &visit.content) {
            // The bytes are those that are held: they name the page that they named before.
            (_, Some(_), Some(Content::Held) | None) => {
                page.folded.claim.filter(|claim| !claim.moved).map(|claim| claim.of)
            }
            (Outcome::Redirected { permanent: true, .. }, ..) | (_, Some(_), _) => {
                visit.alias.and_then(|alias| self.graph.id(alias))
            }
            _ => None,
        };
        let named = named.filter(|named| *named != page.id)?;
        let own = match found {
            Some(found) => Some((found.version, found.has_words)),
            None => page.folded.version.map(|held| (held, page.folded.has_words.unwrap_or(true))),
        };
        let other = self.graph.root(named).filter(|root| root.id != page.id);
        let other = other.and_then(|root| Some((root.version?, root.has_words)));
        let apart = match (own, other) {
            (Some((own, _)), Some((other, _))) if own == other => Some(Divergence::NONE),
            (Some((own, true)), Some((other, true))) => self.past.apart(own, other),
            // Bytes without words are the same or can't be compared.
            _ => None,
        };
        Some(SameAs { page: named, apart: apart.map(Divergence::get) })
    }

    /// The version that has this content: the one held, or a new one. Its sketch is kept in place of any made in another
    /// way.
    fn version_of(&mut self, read: &ReadContent) -> VersionHashes {
        let content = (read.body_hash, read.text_hash);
        let free = &mut self.free.version;
        let held = self.contents.entry(content).or_insert_with(|| {
            let version = VersionId(*free);
            *free += 1;
            let (body, text) = content;
            VersionHashes { version, body, text, has_text: read.text_bytes > 0 }
        });
        if let Some(sketch) = &read.sketch {
            self.past.sketches.insert(held.version, sketch.clone());
        }
        *held
    }

    /// An earlier version of the page with the text that it changed back to.
    fn returned_to(&self, visit: &VisitRecord, comparison: &Comparison) -> Option<VersionId> {
        let content = earlier_content(visit).filter(|_| comparison.text_differs())?;
        let stored = self.past.earlier.get(&content).and_then(|earlier| earlier.same);
        let is_same = |seen: &VersionHashes| {
            seen.text == content.text && (content.has_words || seen.body == content.body)
        };
        let in_batch = self.seen_in_batch(visit.page).filter(|(_, seen)| is_same(seen));
        // Of two at the same time, the one recorded last.
        let all = stored.into_iter().chain(in_batch.map(|(at, seen)| (*at, seen.version)));
        all.max_by_key(|(at, _)| *at).map(|(_, version)| version)
    }

    /// When a visit before this one last brought or confirmed what the page held.
    fn previous_at(&self, visit: &VisitRecord) -> Option<Timestamp> {
        let content = earlier_content(visit)?;
        let stored = self.past.earlier.get(&content).and_then(|earlier| earlier.seen_at);
        stored.into_iter().chain(self.seen_in_batch(visit.page).map(|(at, _)| *at)).max()
    }

    fn seen_in_batch(&self, page: PageId) -> impl Iterator<Item = &(Timestamp, VersionHashes)> {
        self.seen.get(&page).into_iter().flatten()
    }

    /// The content as it is stored: without its bytes if the page or its host has no room for them.
    fn with_room(&mut self, page: &mut PageFacts, mut content: ReadContent) -> ReadContent {
        let of_host = self.host_bytes.entry(page.host).or_default();
        let bytes = content.packed.len() as u64;
        if self.store_limits.have_room(page.stored_bytes, *of_host, bytes) {
            page.stored_bytes += bytes;
            *of_host += bytes;
            self.rows.stored_bytes.push((page.id, page.host, bytes));
        } else {
            content.packed = Vec::new();
        }
        content
    }

    /// Where a page or its host has no room for contents, there is none for headers.
    fn has_room_for(&self, page: &PageFacts, head: &AnswerHead) -> bool {
        let of_host = self.host_bytes.get(&page.host).copied().unwrap_or_default();
        let bytes: usize = head.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        self.store_limits.have_room(page.stored_bytes, of_host, bytes as u64)
    }

    /// Makes the rows of a visit that was judged, and keeps the page for the next visit of it.
    fn finish(
        &mut self,
        mut page: PageFacts,
        visit: VisitRecord,
        (fact, event): (Observation, Option<EventKind>),
        redirects_to: Option<PageId>,
    ) {
        let VisitRecord {
            content,
            answer,
            etag,
            last_modified,
            has_safe_date,
            noindex,
            validator,
            rules,
            links,
            ..
        } = visit;
        // A date that is not safe told when the page changed; the server is not asked by it.
        let last_modified = last_modified.filter(|_| has_safe_date);
        let mut read_as = None;
        if content.is_some() {
            page.last_modified.clone_from(&last_modified);
        }
        let validators = content.is_some().then_some((etag, last_modified));
        page.noindex = match &content {
            Some(Content::Read(_)) => noindex,
            _ => page.noindex || noindex,
        };
        if let (Some(Content::Read(content)), Some(found)) = (content, fact.found) {
            let (content_type, charset) = (content.content_type.clone(), content.charset);
            read_as = Some(ReadAs { content_type, charset, rules });
            if let Some(sketch) = &content.sketch {
                self.rows.sketches.push(sketch_row(found.version, sketch, self.change));
            }
            let is_new = found.version.0 == self.first_version + self.rows.new_versions.len() as i64;
            if is_new {
                let (id, first_seen) = (found.version, fact.attempt.at);
                let content = self.with_room(&mut page, content);
                self.rows.new_versions.push(NewVersion { id, first_seen, content });
            }
        }
        let (folded, learnt) = (page.folded.clone(), page.learnt.clone());
        let noindex = page.noindex;
        self.rows.visits.push(JudgedVisit {
            observation: fact,
            event,
            validator,
            answer: answer.filter(|head| self.has_room_for(&page, head)),
            folded,
            learnt,
            validators,
            noindex,
            redirects_to,
            read_as,
            links,
        });
        self.pages.insert(page.id, page);
    }
}
