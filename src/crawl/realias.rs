//! Which page stands for which, made again from the log.
//!
//! The visits of all pages that ever named another, and of the pages named, are taken in the order in which they were
//! recorded, by the same rules as live. Aliases of before claims were logged have no word in the log: they stay as they
//! are until their next visit.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::observation::{Folded, Life, Observation, PageGraph, PageNode};
use crate::page::PageId;
use crate::store::{Commit, Result, Store, Wanted};

/// Pages that are read or written together.
const AT_ONCE: usize = 500;

/// The pages whose aliases are made again.
#[derive(Debug, Default)]
pub(super) struct Involved {
    /// They named another page.
    naming: BTreeSet<PageId>,
    /// Another page named them.
    named: BTreeSet<PageId>,
}

impl Involved {
    /// Takes note of a page's log.
    pub(super) fn look_at(&mut self, page: PageId, log: &[Observation]) {
        let named: Vec<PageId> = log.iter().filter_map(|fact| fact.same_as).map(|said| said.page).collect();
        if !named.is_empty() {
            self.naming.insert(page);
            self.named.extend(named);
        }
    }
}

/// Decides again which page stands for each of these; how many pages had another. Without `write` nothing is changed.
pub(super) fn realias(store: &mut dyn Store, involved: &Involved, write: bool) -> Result<u64> {
    let pages: Vec<PageId> = involved.naming.union(&involved.named).copied().collect();
    let mut graph = PageGraph::default();
    // By the place in the log.
    let mut facts: BTreeMap<i64, Observation> = BTreeMap::new();
    let mut kept: HashMap<PageId, Option<PageId>> = HashMap::new();
    for some in pages.chunks(AT_ONCE) {
        let loaded = store.load(&Wanted { pages: some.to_vec(), ..Wanted::default() })?;
        for page in loaded.pages {
            let has_a_word = involved.naming.contains(&page.id);
            if has_a_word {
                kept.insert(page.id, page.node.alias_of);
            }
            let alias_of = page.node.alias_of.filter(|_| !has_a_word);
            graph.add(PageNode { alias_of, life: Life::New, claim: None, redirects_to: None, ..page.node });
        }
        for row in store.visits_of(some)? {
            facts.insert(row.id, row.observation()?);
        }
    }
    let mut folded: HashMap<PageId, Folded> = HashMap::new();
    for fact in facts.values() {
        let page = folded.entry(fact.page).or_default();
        page.take_life(fact);
        graph.visited(fact.page, page, None, fact.answers());
    }
    let changed: HashMap<PageId, Option<PageId>> = graph.changed().collect();
    let mut rows = Commit::default();
    let differ = |(page, before): (&PageId, &Option<PageId>)| {
        let after = changed.get(page).copied().flatten();
        (after != *before).then_some((*page, after))
    };
    rows.aliases = kept.iter().filter_map(differ).collect();
    rows.aliases.sort_unstable_by_key(|(page, _)| *page);
    if write && !rows.aliases.is_empty() {
        store.commit(&rows)?;
    }
    Ok(rows.aliases.len() as u64)
}
