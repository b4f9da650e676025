//! Sketches and states of pages made again from the versions and the log, and compared with those that are kept.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::gains::PageGains;
use super::learning::{self, MemoryMaker};
use super::realias::{Involved, realias};
use super::retold::{self, Retold};
use super::sketches::{SketchesMade, kept_sketch, made_sketch, note_sketches, sketch_row, sketches_made};
use crate::change::ChangeSettings;
use crate::change::divergence::{Divergence, divergence};
use crate::change::fragment::SCHEME;
use crate::change::sketch::Sketch;
use crate::observation::rebuild::{self, Refolded};
use crate::observation::{CycleId, EventKind, Observation, VersionHashes, lessons};
use crate::page::PageId;
use crate::policy::Policy;
use crate::quality::gain::MeasuredGain;
use crate::store::{
    Commit, PageEvents, PageFacts, PageRefold, Result, Store, StoreError, VersionId, VisitRow, Wanted,
};

/// The result of a rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    /// Versions that there are.
    #[serde(rename = "version_count")]
    pub versions: u64,
    /// Pages that there are.
    #[serde(rename = "page_count")]
    pub pages: u64,
    /// Versions whose sketch was not the one that their text gives.
    pub sketches_differ: u64,
    /// Pages that were not what their log amounts to.
    pub pages_differ: u64,
    /// Pages that another one stood for than the log says, or none.
    pub aliases_differ: u64,
    /// Pages whose events were not those of their log.
    pub events_differ: u64,
    /// Pages whose signals were not counted as in the log, and hosts of which another trust was kept than the log gives.
    pub signals_differ: u64,
    /// Counts kept beside pages, visits and versions that were not those of the rows.
    pub counts_differ: u64,
    /// What the policy knew of the collection was not what the log and the plans amount to.
    pub collection_differs: bool,
}

/// Versions or pages that are committed together: a rebuild that is stopped has rebuilt whole ones.
const AT_ONCE: usize = 500;

/// Makes every sketch, then every page's state and which page stands for which, again. Without `write` it only says what would differ. `progress` is
/// told how much of how much is done.
///
/// It commits some pages at a time. One that fails on the way leaves a store that can be used: the next crawl learns its
/// pages again.
pub fn rebuild(
    store: &mut dyn Store,
    policy: &dyn Policy,
    settings: ChangeSettings,
    write: bool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Rebuilt> {
    let (mut pages, mut hosts) = (Vec::new(), Vec::new());
    store.each_page(&mut |page| {
        pages.push(page.id);
        hosts.push((page.id, page.host));
    })?;
    let versions = store.summary()?.versions;
    let (mut done, all) = (0, versions + pages.len() as u64);
    let mut rebuilt = Rebuilt { versions, pages: pages.len() as u64, ..Rebuilt::default() };
    // Memories of another policy are no mistake: they are made again when this one takes over.
    let is_learnt = learning::memory(store)? == Some(MemoryMaker::By(policy.memory_version()));
    if write {
        learning::set_memory(store, &MemoryMaker::BeingLearnt)?;
    }
    let own_cycles = store.cycles(usize::MAX)?.into_iter().filter(|cycle| cycle.policy == policy.name());
    let own_cycles = own_cycles.map(|cycle| CycleId(cycle.id)).collect();
    let (remade, involved) = (HashSet::new(), Involved::default());
    let retold = Some(Retold::begin(store, &hosts)?);
    let mut work = Work { store, settings, write, remade, involved, own_cycles, retold };
    let mut after = VersionId(i64::MIN);
    loop {
        let (differ, read, last) = work.resketch(after)?;
        let Some(last) = last else { break };
        (after, done) = (last, done + read);
        rebuilt.sketches_differ += differ;
        progress(done, all);
    }
    for some in pages.chunks(AT_ONCE) {
        let differing = work.refold(some, Some(policy), is_learnt || write)?;
        rebuilt.pages_differ += differing.pages;
        rebuilt.events_differ += differing.events;
        rebuilt.signals_differ += differing.signals;
        done += some.len() as u64;
        progress(done, all);
    }
    let Work { store, involved, retold, .. } = work;
    if let Some(retold) = retold {
        let mut rows = Commit::default();
        rebuilt.signals_differ += retold.finish(store, |_| true, &mut rows)?;
        if write {
            store.commit(&rows)?;
        }
    }
    rebuilt.aliases_differ = realias(store, &involved, write)?;
    if write {
        note_sketches(store, SketchesMade::Now)?;
        learning::set_memory(store, &MemoryMaker::By(policy.memory_version()))?;
    }
    // Last: the counts follow what was made again before.
    rebuilt.counts_differ = store.recount(write)?;
    Ok(rebuilt)
}

/// Makes the sketches that an earlier scheme of fragments made again from the stored texts, and measures the profiles of
/// pages again whose sketches differ. Says how many sketches did. `progress` gets how much of how much is done.
///
/// A store that is up to date is left alone. One that is stopped on the way is finished by the next call.
pub fn renew(
    store: &mut dyn Store,
    settings: ChangeSettings,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<u64> {
    let made = sketches_made(store)?;
    if made == SketchesMade::Now {
        return Ok(0);
    }
    note_sketches(store, SketchesMade::Halfway)?;
    let all = store.summary()?.versions;
    let (remade, involved, own_cycles) = (HashSet::new(), Involved::default(), HashSet::new());
    let mut work = Work { store, settings, write: true, remade, involved, own_cycles, retold: None };
    let mut changed = HashSet::new();
    let (mut after, mut done) = (VersionId(i64::MIN), 0);
    while let Some((last, read)) = work.renew_some(after, &mut changed)? {
        (after, done) = (last, done + read);
        progress(done, all);
    }
    let changes = changed.len() as u64;
    if changes > 0 || made == SketchesMade::Halfway {
        let mut pages = Vec::new();
        work.store.each_page(&mut |page| pages.push(page.id))?;
        for some in pages.chunks(AT_ONCE) {
            work.refold(some, None, false)?;
        }
    }
    note_sketches(store, SketchesMade::Now)?;
    Ok(changes)
}

struct Work<'a> {
    store: &'a mut dyn Store,
    settings: ChangeSettings,
    write: bool,
    /// Versions whose sketch differs and was not written: it is made again whenever it is needed.
    remade: HashSet<VersionId>,
    /// Pages whose aliases are made again.
    involved: Involved,
    /// Cycles of the policy that pages are taught by: only in these it could say which base version stays.
    own_cycles: HashSet<CycleId>,
    /// How often signals were right, if that is derived again.
    retold: Option<Retold>,
}

/// What was not as the logs have it.
struct Differing {
    pages: u64,
    events: u64,
    signals: u64,
}

impl Work<'_> {
    /// Makes the sketches of the next versions: those that differ, those that were read, and the last of these.
    fn resketch(&mut self, after: VersionId) -> Result<(u64, u64, Option<VersionId>)> {
        let versions = self.store.sketched_versions(after, AT_ONCE)?;
        let mut rows = Commit::default();
        let mut differ = 0;
        // A version without text has a sketch only if it was read as one that has words.
        for row in versions.iter().filter(|row| row.sketch.is_some() || row.has_text) {
            let made = made_sketch(self.store, row.version, self.settings)?;
            if row.sketch.as_ref().and_then(|kept| kept_sketch(kept, self.settings)).as_ref() == Some(&made) {
                continue;
            }
            differ += 1;
            if self.write {
                rows.sketches.push(sketch_row(row.version, &made, self.settings));
            } else {
                self.remade.insert(row.version);
            }
        }
        if self.write {
            self.store.commit(&rows)?;
        }
        Ok((differ, versions.len() as u64, versions.last().map(|row| row.version)))
    }

    /// Makes the next sketches of earlier schemes again, and adds the versions whose sketch is another one now. The last
    /// version that was looked at, and how many were; `None` if there are no more.
    fn renew_some(
        &mut self,
        after: VersionId,
        changed: &mut HashSet<VersionId>,
    ) -> Result<Option<(VersionId, u64)>> {
        let versions = self.store.sketched_versions(after, AT_ONCE)?;
        let Some(last) = versions.last() else { return Ok(None) };
        let mut rows = Commit::default();
        for row in &versions {
            let Some(kept) = &row.sketch else { continue };
            if kept.scheme >= i64::from(SCHEME) || kept.words != self.settings.fragment_words as i64 {
                continue;
            }
            let made =
                sketch_row(row.version, &made_sketch(self.store, row.version, self.settings)?, self.settings);
            if made.hashes != kept.hashes {
                changed.insert(row.version);
            }
            rows.sketches.push(made);
        }
        self.store.commit(&rows)?;
        Ok(Some((last.version, versions.len() as u64)))
    }

    /// Folds the logs of these pages again. Without a policy the memories stay as they are.
    fn refold(
        &mut self,
        pages: &[PageId],
        policy: Option<&dyn Policy>,
        compares_memory: bool,
    ) -> Result<Differing> {
        let log_rows = self.store.log_rows(pages)?;
        let facts = |log: &Vec<VisitRow>| log.iter().map(VisitRow::observation).collect();
        let logs = log_rows.iter().map(facts).collect::<Result<Vec<Vec<Observation>>>>()?;
        let named = logs.iter().flatten().filter_map(|fact| fact.found).map(|found| found.version);
        let mut versions: Vec<VersionId> = named.collect();
        versions.sort_unstable();
        versions.dedup();
        let wanted = Wanted { pages: pages.to_vec(), versions, ..Wanted::default() };
        let loaded = self.store.load(&wanted)?;
        let hashes: HashMap<VersionId, VersionHashes> =
            loaded.versions.into_iter().map(|hashes| (hashes.version, hashes)).collect();
        let kept: HashMap<PageId, PageFacts> = loaded.pages.into_iter().map(|page| (page.id, page)).collect();
        let gains = match policy {
            Some(policy) => PageGains::load(&mut *self.store, policy, pages)?,
            None => PageGains::default(),
        };
        let signals = retold::by_page(self.store.signals_of(pages)?);
        let mut rows = Commit::default();
        let (mut differ, mut signals_differ) = (0, 0);
        for ((page, log), log_rows) in pages.iter().zip(&logs).zip(&log_rows) {
            let Some(before) = kept.get(page) else { continue };
            self.involved.look_at(*page, log);
            let (after, events) = self.page(before, log, gains.of(*page), &hashes, policy)?;
            if log_rows.iter().map(|row| row.event).ne(events.iter().copied()) {
                let made = log_rows.iter().zip(events).filter_map(|(row, kind)| Some((row.id, kind?)));
                rows.events.push(PageEvents { page: *page, events: made.collect() });
            }
            let signals = signals.get(page).map(Vec::as_slice).unwrap_or_default();
            let counts = retold::counts(signals, &after.folded);
            signals_differ += u64::from(before.signals != counts);
            if !before.is_readable || before.signals != counts {
                rows.page_signals.push((*page, counts));
            }
            if let Some(retold) = &mut self.retold {
                retold.add(before.host, log, signals);
            }
            let same_memory = !compares_memory || before.learnt == after.learnt;
            if !before.is_readable || before.folded != after.folded || !same_memory {
                differ += 1;
                rows.refolded.push(after);
            }
        }
        if self.write {
            self.store.commit(&rows)?;
        }
        Ok(Differing { pages: differ, events: rows.events.len() as u64, signals: signals_differ })
    }

    fn page(
        &mut self,
        before: &PageFacts,
        log: &[Observation],
        gains: &[MeasuredGain],
        hashes: &HashMap<VersionId, VersionHashes>,
        policy: Option<&dyn Policy>,
    ) -> Result<(PageRefold, Vec<Option<EventKind>>)> {
        let hashes = |version: VersionId| {
            let missing = || StoreError::BadValue(format!("version {}, which is not there", version.0));
            hashes.get(&version).copied().ok_or_else(missing)
        };
        let (learnt, pinned) = match policy {
            Some(policy) => {
                let learnt = learning::taught(&lessons(log), gains, before.host, before.depth, policy);
                let last = log.iter().rfind(|fact| fact.found.is_some());
                let is_own = last.is_some_and(|fact| self.own_cycles.contains(&fact.cycle));
                let pinned = policy.pinned_base(&learnt).filter(|_| is_own);
                (learnt, pinned.into_iter().collect())
            }
            None => {
                let kept: Vec<_> = before.folded.profiles.iter().map(|profile| profile.base.at).collect();
                (before.learnt.clone(), kept)
            }
        };
        let most_profiles = self.settings.profiles;
        let mut sketches: HashMap<VersionId, Sketch> = HashMap::new();
        let mut sketch = |version: VersionId| -> Result<Sketch> {
            if let Some(known) = sketches.get(&version) {
                return Ok(known.clone());
            }
            let sketch = self.sketch(version)?;
            sketches.insert(version, sketch.clone());
            Ok(sketch)
        };
        let measure = |found: VersionId, from: VersionId| -> Result<Divergence> {
            let from = sketch(from)?;
            Ok(divergence(&sketch(found)?, &from))
        };
        let Refolded { folded, events, .. } = rebuild::refold(log, most_profiles, &pinned, hashes, measure)?;
        Ok((PageRefold { page: before.id, folded, learnt }, events))
    }

    /// The sketch of a version, as it is kept after the rebuild.
    fn sketch(&mut self, version: VersionId) -> Result<Sketch> {
        if !self.remade.contains(&version) {
            let wanted = Wanted { sketches: vec![version], ..Wanted::default() };
            let kept = self.store.load(&wanted)?.sketches.pop();
            if let Some(sketch) = kept.and_then(|row| kept_sketch(&row, self.settings)) {
                return Ok(sketch);
            }
        }
        made_sketch(self.store, version, self.settings)
    }
}
