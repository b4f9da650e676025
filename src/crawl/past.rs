//! The rows that a batch of visits is judged by: pages, the pages that they lead to, and earlier contents.

use std::collections::{HashMap, HashSet};

use super::batch::{Batch, Content, VisitRecord};
use super::signal_book;
use super::sketches::{kept_sketch, made_sketch};
use crate::change::divergence::{Divergence, divergence};
use crate::change::sketch::Sketch;
use crate::observation::PageNode;
use crate::page::{Fingerprint, PageId};
use crate::store::{Earlier, EarlierContent, Loaded, PageFacts, Result, Store, VersionId, Wanted};

/// Pages that are followed from one that names another.
const MOST_NAMED: usize = 64;

/// The rows that can be named before anything else is known.
pub(super) fn wanted(batch: &Batch) -> Wanted {
    let mut wanted = Wanted {
        free_ids: true,
        pages: batch.visits.iter().map(|visit| visit.page).collect(),
        seeds: batch.found.iter().map(|page| page.seed).collect(),
        ..Wanted::default()
    };
    let found = || batch.found.iter().chain(batch.visits.iter().flat_map(|visit| &visit.found));
    wanted.found = found().map(|page| page.url.fingerprint()).collect();
    let mut origins: HashSet<&str> = HashSet::new();
    let new_origins = found().filter(|page| origins.insert(page.url.origin()));
    wanted.origins = new_origins.map(|page| page.url.origin().to_owned()).collect();
    for visit in &batch.visits {
        wanted.targets.extend(visit.redirect.into_iter().chain(visit.alias));
        // A page that was read and names no other stands for its aliases as before.
        let is_read = matches!(visit.content, Some(Content::Read(_))) && !visit.may_be_doubted();
        if visit.alias.is_some() || !is_read {
            wanted.aliases_of.push(visit.page);
        }
        if let Some(Content::Read(read)) = &visit.content {
            wanted.contents.push((read.body_hash, read.text_hash));
        }
    }
    signal_book::want(&mut wanted, batch);
    wanted.pages.sort_unstable();
    wanted.pages.dedup();
    wanted.seeds.sort_unstable();
    wanted.seeds.dedup();
    wanted
}

/// Earlier contents, from which changes are measured.
#[derive(Default)]
pub(super) struct Past {
    pub(super) sketches: HashMap<VersionId, Sketch>,
    pub(super) earlier: HashMap<EarlierContent, Earlier>,
    /// Pages whose text is unlike that of the page they name, counted by the page named.
    pub(super) unlike: HashMap<PageId, u64>,
}

impl Past {
    pub(super) fn load(store: &mut dyn Store, batch: &Batch, loaded: &Loaded) -> Result<Past> {
        let pages: HashMap<PageId, &PageFacts> = loaded.pages.iter().map(|page| (page.id, page)).collect();
        let reads: Vec<EarlierContent> = batch.visits.iter().filter_map(earlier_content).collect();
        // Pages whose content, and those whose text, is another one in at least one of their visits.
        let (mut other, mut moved) = (HashSet::new(), HashSet::new());
        for read in &reads {
            let Some(held) = pages.get(&read.page).and_then(|page| page.held) else { continue };
            if (held.body, held.text) != (read.body, read.text) {
                other.insert(read.page);
            }
            if held.text != read.text && read.has_words {
                moved.insert(read.page);
            }
        }
        let mut wanted = Wanted::default();
        wanted.earlier.extend(reads.iter().filter(|read| other.contains(&read.page)));
        for page in loaded.pages.iter().filter(|page| moved.contains(&page.id)) {
            let bases = page.folded.profiles.iter().map(|profile| profile.base.version);
            wanted.sketches.extend(bases.chain(page.folded.version));
        }
        for (page, named) in named_pages(batch, loaded, &pages) {
            wanted
                .sketches
                .extend(page.folded.version.into_iter().chain(named.iter().filter_map(|node| node.version)));
            wanted.named.extend(named.iter().map(|node| node.id));
        }
        wanted.named.sort_unstable();
        wanted.named.dedup();
        wanted.sketches.sort_unstable();
        wanted.sketches.dedup();
        let found = store.load(&wanted)?;
        let mut sketches: HashMap<VersionId, Sketch> = HashMap::with_capacity(found.sketches.len());
        for row in &found.sketches {
            sketches.extend(kept_sketch(row, batch.change).map(|sketch| (row.version, sketch)));
        }
        // Rare: only where fragments were made otherwise before.
        for version in wanted.sketches {
            if let std::collections::hash_map::Entry::Vacant(place) = sketches.entry(version) {
                place.insert(made_sketch(store, version, batch.change)?);
            }
        }
        let earlier = wanted.earlier.into_iter().zip(found.earlier).collect();
        Ok(Past { sketches, earlier, unlike: found.unlike })
    }

    /// Divergence of two versions that have words; `None` if neither has any text, or if one is not known.
    pub(super) fn apart(&self, one: VersionId, other: VersionId) -> Option<Divergence> {
        let (one, other) = (self.sketches.get(&one)?, self.sketches.get(&other)?);
        let is_empty = one.hashes().is_empty() && other.hashes().is_empty();
        (!is_empty).then(|| divergence(one, other))
    }
}

/// Visited pages that may say that another page stands for them, each with the page it names and those that this one
/// names in turn.
fn named_pages<'a>(
    batch: &Batch,
    loaded: &'a Loaded,
    pages: &HashMap<PageId, &'a PageFacts>,
) -> Vec<(&'a PageFacts, Vec<&'a PageNode>)> {
    let nodes: HashMap<PageId, &PageNode> = loaded.nodes.iter().map(|node| (node.id, node)).collect();
    let visited = loaded.pages.iter().map(|page| &page.node);
    let ids: HashMap<Fingerprint, PageId> =
        visited.chain(&loaded.nodes).map(|node| (node.fingerprint, node.id)).collect();
    let node = |id: PageId| pages.get(&id).map(|page| &page.node).or_else(|| nodes.get(&id).copied());
    let mut named = Vec::new();
    for visit in &batch.visits {
        let Some(page) = pages.get(&visit.page) else { continue };
        let confirmed = page.folded.claim.filter(|_| !matches!(visit.content, Some(Content::Read(_))));
        let of = visit.alias.and_then(|alias| ids.get(&alias).copied());
        let mut next: Vec<PageId> = of.into_iter().chain(confirmed.map(|claim| claim.of)).collect();
        let mut seen: Vec<&PageNode> = Vec::new();
        while let Some(id) = next.pop() {
            let Some(node) = node(id) else { continue };
            if !seen.iter().any(|known| known.id == node.id) && seen.len() < MOST_NAMED {
                seen.push(node);
                next.extend(node.alias_of.into_iter().chain(node.claim.map(|claim| claim.of)));
            }
        }
        if !seen.is_empty() {
            named.push((*page, seen));
        }
    }
    named
}

/// The content that a visit read, as it may have been seen before.
pub(super) fn earlier_content(visit: &VisitRecord) -> Option<EarlierContent> {
    let read = visit.content.as_ref()?.read()?;
    let (body, text, has_words) = (read.body_hash, read.text_hash, read.sketch.is_some());
    Some(EarlierContent { page: visit.page, body, text, has_words })
}
