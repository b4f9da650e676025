//! What refreshes gained in search results: taken over from the search index into the log, and into what the policy remembers.

use std::collections::HashMap;
use std::path::Path;

use super::CrawlSettings;
use crate::follow::promises::WordPromises;
use crate::follow::{FollowError, gain_outbox};
use crate::page::PageId;
use crate::policy::{Learnt, Policy};
use crate::quality::gain::{MeasuredGain, WIDEST_WINDOW};
use crate::quality::measure::MeasureId;
use crate::store::{Commit, GainRow, PageFacts, PageRefold, Store, StoreError, Wanted};

/// Pages whose gains are committed together.
const AT_ONCE: usize = 1000;

/// Words that are named of a page.
const MOST_WORDS: usize = 3;

/// Gains that the store has, by page.
#[derive(Debug, Default)]
pub(super) struct PageGains(HashMap<PageId, Vec<MeasuredGain>>);

impl PageGains {
    /// The gains of these pages that the policy learns from; none if it learns from no gains.
    pub(super) fn load(
        store: &mut dyn Store,
        policy: &dyn Policy,
        pages: &[PageId],
    ) -> Result<Self, StoreError> {
        let mut gains = Self::default();
        if let Some(measure) = policy.looks_at().gains {
            for row in store.gains_of(pages, measure)? {
                gains.0.entry(row.page).or_default().push(row.gain);
            }
        }
        Ok(gains)
    }

    /// The gains of a page, in order of time.
    pub(super) fn of(&self, page: PageId) -> &[MeasuredGain] {
        self.0.get(&page).map_or(&[], Vec::as_slice)
    }
}

/// Takes the gains over that the index has measured for this policy. They become facts of the store and part of what the policy
/// remembers, in one commit; then the index strikes them off. Says how many there were.
pub(super) fn take_over(
    store: &mut dyn Store,
    policy: &dyn Policy,
    index: &Path,
) -> Result<u64, FollowError> {
    let Some(measure) = policy.looks_at().gains else { return Ok(0) };
    let waiting = gain_outbox::waiting(index, measure)?;
    let by_page: Vec<&[GainRow]> = waiting.chunk_by(|one, other| one.page == other.page).collect();
    for some in by_page.chunks(AT_ONCE) {
        let pages = some.iter().filter_map(|gains| Some(gains.first()?.page)).collect();
        let facts = store.load(&Wanted { pages, ..Wanted::default() })?.pages;
        let mut facts: HashMap<PageId, PageFacts> = facts.into_iter().map(|page| (page.id, page)).collect();
        let mut rows = Commit { gains: some.concat(), ..Commit::default() };
        for gains in some {
            let page = gains.first().and_then(|gain| facts.remove(&gain.page));
            let Some(PageFacts { id, folded, mut learnt, .. }) = page else { continue };
            gains.iter().for_each(|row| policy.learn_gain(&mut learnt, &row.gain));
            rows.refolded.push(PageRefold { page: id, folded, learnt });
        }
        store.commit(&rows)?;
        gain_outbox::taken(index, &rows.gains)?;
    }
    Ok(waiting.len() as u64)
}

/// What the policy would remember of the pages whose gains wait in the index. The store stays as it is. `learnt`: what it remembers of
/// all pages, if the store has the memories of another policy.
pub(super) fn learnt_with_waiting(
    store: &mut dyn Store,
    policy: &dyn Policy,
    index: &Path,
    learnt: Option<&HashMap<PageId, Learnt>>,
) -> Result<HashMap<PageId, Learnt>, FollowError> {
    let Some(measure) = policy.looks_at().gains else { return Ok(HashMap::new()) };
    let mut all = HashMap::new();
    for gains in gain_outbox::waiting(index, measure)?.chunk_by(|one, other| one.page == other.page) {
        let Some(GainRow { page, .. }) = gains.first() else { continue };
        let known = match learnt {
            Some(learnt) => learnt.get(page).cloned(),
            None => store.known_page(*page)?.map(|page| page.state.learnt),
        };
        let mut learnt = known.unwrap_or_default();
        gains.iter().for_each(|row| policy.learn_gain(&mut learnt, &row.gain));
        all.insert(*page, learnt);
    }
    Ok(all)
}

/// The words of the workload that moved a page most in its last refreshes, the most frequent first: kept ones, and those that wait.
pub(super) fn moved_words(
    store: &mut dyn Store,
    measure: MeasureId,
    index: Option<&Path>,
    page: PageId,
) -> Result<Vec<String>, FollowError> {
    let mut rows = store.gains_of(&[page], measure)?;
    if let Some(index) = index {
        rows.extend(gain_outbox::waiting(index, measure)?.into_iter().filter(|row| row.page == page));
    }
    let mut words: Vec<(usize, &str)> = Vec::new();
    for word in rows.iter().rev().take(WIDEST_WINDOW).flat_map(|row| &row.words) {
        match words.iter_mut().find(|(_, known)| known == word) {
            Some((times, _)) => *times += 1,
            None => words.push((1, word)),
        }
    }
    // Equal ones stay in the order of the latest refresh.
    words.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
    Ok(words.into_iter().take(MOST_WORDS).map(|(_, word)| word.to_owned()).collect())
}

/// What words promise, for a policy that learns from gains.
pub(super) fn promises(policy: &dyn Policy, settings: &CrawlSettings) -> Result<WordPromises, FollowError> {
    match (policy.looks_at().gains, &settings.index, &settings.workload) {
        (Some(_), Some(index), Some(search)) if index.exists() => WordPromises::read(index, search),
        _ => Ok(WordPromises::default()),
    }
}

/// What the words of the links to new pages promise, by page.
pub(super) fn promised(
    store: &mut dyn Store,
    promises: &WordPromises,
) -> Result<HashMap<PageId, f64>, StoreError> {
    if promises.is_empty() {
        return Ok(HashMap::new());
    }
    let anchors = store.anchors()?.into_iter();
    Ok(anchors.map(|(page, words)| (page, promises.of(&words))).filter(|(_, gain)| *gain > 0.0).collect())
}
