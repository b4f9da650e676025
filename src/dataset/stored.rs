//! A store as a source of histories: its pages one after the other, each with its visits and, if wanted, its texts.
//!
//! There are two ways to read it, with different rules for the cycle that a visit belongs to:
//! - [`Stored`] is for exports. A visit belongs to the cycle that it was made in. Visits of a cycle that has not ended are
//!   left out, so an export is of whole cycles.
//! - [`backtest`] is for replays. A change belongs to the last cycle that began before the visit that found it, ended or not:
//!   a replay asks what was known at a time.
//!
//! Pages that another one stands for keep their history under their own URL, with the name of the other. Pages never
//! visited are left out.

use std::path::Path;
use std::time::Duration;

use xxhash_rust::xxh3::Xxh3Default;

use super::fields::site_of;
use super::group::{DAY_MS, GroupInfo};
use super::page_record::{PageRecord, StateRecord, VisitLine};
use super::{Dataset, DatasetError, Group, History, RecordedPage};
use crate::change::fragment::{Fragmenter, Fragments};
use crate::page::PageId;
use crate::policy::Lesson;
use crate::store::{self, CycleId, PageFilter, Store, VersionId, VisitRow};

/// A store that is open, twice: one lists the pages while the other is asked for their visits.
pub struct Stored {
    /// The name of the store's file.
    pub name: String,
    /// Its cycles that have ended.
    pub group: GroupInfo,
    /// A cycle goes on: its visits are left out.
    pub open_cycle: bool,
    pages: Box<dyn Store>,
    visits: Box<dyn Store>,
    /// Those that have ended, in order.
    cycles: Vec<CycleId>,
    /// Words of a fragment.
    pub(super) words: usize,
}

impl Stored {
    /// Opens a store to be exported; fragments have `words` words.
    pub fn open(path: &Path, words: usize) -> Result<Self, DatasetError> {
        let (mut pages, visits) = (store::open_to_look(path)?, store::open_to_look(path)?);
        let mut rows = pages.cycles(usize::MAX)?;
        rows.reverse();
        let begun = rows.len();
        rows.retain(|cycle| cycle.ended_at.is_some());
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            let said = "has no cycle that has ended; `freshet crawl` first";
            return Err(DatasetError::of_file(path, said));
        };
        let gaps = i64::try_from(rows.len()).unwrap_or(i64::MAX) - 1;
        let span = last.started_at.millis().saturating_sub(first.started_at.millis());
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = stem.unwrap_or_else(|| "freshet".to_owned());
        let group = GroupInfo {
            name: name.clone(),
            start_ms: first.started_at.millis(),
            step_ms: if gaps > 0 { (span / gaps).max(1) } else { DAY_MS },
            cycles: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        };
        let cycles = rows.iter().map(|cycle| CycleId(cycle.id)).collect();
        Ok(Self { name, group, open_cycle: rows.len() < begun, pages, visits, cycles, words })
    }

    /// Pages that have a version: about as many as [`Stored::each`] gives.
    pub fn pages(&mut self) -> Result<u64, DatasetError> {
        Ok(self.pages.pages_held()?)
    }

    /// Calls `each` with every page that was visited, in order of their ids.
    pub fn each(
        &mut self,
        states: bool,
        each: &mut dyn FnMut(PageRecord) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        let Self { pages, visits, cycles, words, group, .. } = self;
        let mut texts = Texts { store: &mut **visits, fragmenter: Fragmenter::new(1), words: *words };
        let mut done = Ok(());
        pages.list_pages(&PageFilter { aliases: true, ..PageFilter::default() }, &mut |row| {
            if done.is_ok() && row.visits > 0 {
                done = texts
                    .page(PageId(row.id), &row.url, row.weight, cycles, &group.name, states)
                    .map(|page| PageRecord { alias_of: row.alias_of, ..page })
                    .and_then(|page| if page.visits.is_empty() { Ok(()) } else { each(page) });
            }
        })?;
        done
    }
}

/// A store's own history, to be replayed: its cycles, and the changes that its visits found. In cycles without a visit a
/// page is taken not to have changed.
pub fn backtest(path: &Path) -> Result<Dataset, DatasetError> {
    let mut store = store::open_to_look(path)?;
    let mut cycles = store.cycles(usize::MAX >> 1)?;
    cycles.reverse();
    let starts: Vec<i64> = cycles.iter().map(|cycle| cycle.started_at.millis()).collect();
    let (Some(first), Some(last)) = (cycles.first(), cycles.last()) else {
        return Err(DatasetError::of_file(path, "has no cycle yet; `freshet crawl` makes some"));
    };
    // Whole milliseconds, as times have no smaller part: every cycle is as long as the others.
    let span_ms = last.started_at.millis().saturating_sub(first.started_at.millis());
    let step_ms = span_ms / (cycles.len().saturating_sub(1)).max(1) as i64;
    let mut pages = Vec::new();
    store.each_history(1, &mut |page| {
        if let Some((born, history)) = bits(&page.lessons, &starts) {
            pages.push(RecordedPage { url: page.url, site: String::new(), weight: 1.0, born, history });
        }
    })?;
    if pages.is_empty() {
        return Err(DatasetError::of_file(path, "has no page that was visited twice; `freshet crawl` again"));
    }
    let group = Group {
        name: "store".to_owned(),
        start: first.started_at,
        step: Duration::from_millis(step_ms.max(1000).unsigned_abs()),
        cycles: cycles.len() as u32,
        pages,
    };
    Ok(Dataset { name: path.display().to_string(), groups: vec![group] })
}

/// The cycle of a page's first visit, and a bit for each later cycle: whether a visit found a change in it. `None` if it
/// was not visited twice. `starts`: when the cycles began, in milliseconds.
fn bits(lessons: &[Lesson], starts: &[i64]) -> Option<(u32, History)> {
    let earliest = lessons.first()?;
    let cycle_of = |millis: i64| starts.partition_point(|start| *start <= millis).saturating_sub(1) as u32;
    let born = cycle_of(earliest.at.millis() - (earliest.interval.seconds() * 1000.0) as i64);
    let mut bits = vec![0_u64; starts.len().div_ceil(64)];
    for lesson in lessons.iter().filter(|lesson| lesson.changed) {
        let Some(bit) = cycle_of(lesson.at.millis()).checked_sub(born + 1) else { continue };
        if let Some(word) = bits.get_mut(bit as usize / 64) {
            *word |= 1 << (bit % 64);
        }
    }
    Some((born, History::Bits(bits)))
}

struct Texts<'a> {
    store: &'a mut dyn Store,
    /// Of single words.
    fragmenter: Fragmenter,
    words: usize,
}

impl Texts<'_> {
    fn page(
        &mut self,
        id: PageId,
        url: &str,
        weight: f64,
        cycles: &[CycleId],
        group: &str,
        states: bool,
    ) -> Result<PageRecord, DatasetError> {
        let site = site_of(url).unwrap_or_else(|| url.to_owned());
        let mut page = PageRecord::new(group, &site, url, weight);
        let mut held: Option<VersionId> = None;
        for visit in self.store.visits(id)? {
            let Ok(cycle) = cycles.binary_search(&visit.cycle) else { continue };
            let record = record(&visit, u32::try_from(cycle).ok());
            let time_ms = record.time_ms;
            if states {
                let state = match visit.version {
                    Some(version) if held != Some(version) => {
                        held = Some(version);
                        self.text(version)?.map(|(text, hashes)| (text, Some(hashes)))
                    }
                    None if visit.outcome == "missing" && held.is_some() => {
                        held = None;
                        Some((self.hash(""), None))
                    }
                    _ => None,
                };
                if let Some((text, hashes)) = state {
                    let last = page.states.last().map(|last| (last.text, last.hashes.is_none()));
                    if last != Some((text, hashes.is_none())) {
                        page.states.push(StateRecord { cycle: record.cycle, time_ms, text, hashes });
                    }
                }
            }
            page.visits.push(record);
        }
        Ok(page)
    }

    fn text(&mut self, version: VersionId) -> Result<Option<(u64, Vec<u64>)>, DatasetError> {
        let Some(content) = self.store.version(version)? else { return Ok(None) };
        let hashes = Fragments::of(&content.text, self.words).as_slice().to_vec();
        Ok(Some((self.hash(&content.text), hashes)))
    }

    /// Of the sequence of its words.
    fn hash(&mut self, text: &str) -> u64 {
        let mut hash = Xxh3Default::new();
        self.fragmenter.each_run(text, |word| {
            hash.update(word);
            hash.update(b" ");
        });
        hash.digest()
    }
}

fn record(visit: &VisitRow, cycle: Option<u32>) -> VisitLine {
    VisitLine {
        cycle,
        time_ms: visit.at.millis(),
        changed: visit.changed,
        divergence: visit.divergence,
        outcome: Some(visit.outcome.clone()),
        status: visit.status.map(u32::from),
        bytes: Some(visit.bytes),
        took_ms: u64::try_from(visit.took.as_millis()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Age, Timestamp};

    #[test]
    fn a_change_counts_in_the_cycle_that_began_before_its_visit() {
        let day = |day: i64| day * 86_400_000;
        let lesson =
            |at: i64, changed| Lesson::of_bit(Timestamp::from_millis(at), Age::from_days(1.0), changed);
        let starts = [day(0), day(1), day(2), day(3)];
        // First visited in cycle 0; an hour into cycle 1 it had not changed, an hour into cycle 3 it had.
        let hour = 3_600_000;
        let lessons = [lesson(day(1) + hour, false), lesson(day(3) + hour, true)];
        assert_eq!(bits(&lessons, &starts), Some((0, History::Bits(vec![0b100]))));
        assert_eq!(bits(&[], &starts), None);
    }
}
