//! When one page stands for another: permanent redirects, canonical links, circles of redirects.
//!
//! Decisions are made over a [`PageGraph`]: the pages that some visits concern and those that they lead to. Aliases point
//! to pages that are no aliases themselves, so a look at one more page is always enough.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Life, Standing};
use crate::page::{Fingerprint, PageId};

/// A page, as far as others lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageNode {
    /// The page.
    pub id: PageId,
    /// Of its address.
    pub fingerprint: Fingerprint,
    /// The page that stands for it, if another does.
    pub alias_of: Option<PageId>,
    /// The page it redirected to when it was last visited.
    pub redirects_to: Option<PageId>,
    /// Where it is in its life.
    pub life: Life,
}

/// Redirects that are followed to see whether they lead back: a circle that does not pass the page must not hold us up.
const LONGEST_CHAIN: usize = 64;

/// Some pages, and how they lead to each other.
#[derive(Clone, Debug, Default)]
pub struct PageGraph {
    nodes: HashMap<PageId, PageNode>,
    ids: HashMap<Fingerprint, PageId>,
    /// Aliases by the page that stands for them.
    aliases: HashMap<PageId, BTreeSet<PageId>>,
    /// Pages that got another alias since they were added.
    changed: BTreeMap<PageId, Option<PageId>>,
}

impl PageGraph {
    /// Adds a page, unless it is there.
    pub fn add(&mut self, node: PageNode) {
        if self.nodes.contains_key(&node.id) {
            return;
        }
        if let Some(root) = node.alias_of {
            self.aliases.entry(root).or_default().insert(node.id);
        }
        self.ids.insert(node.fingerprint, node.id);
        self.nodes.insert(node.id, node);
    }

    /// The page with that address, if it is there.
    pub fn id(&self, of: Fingerprint) -> Option<PageId> {
        self.ids.get(&of).copied()
    }

    /// Does `target` redirect back to `page`, by whatever detours?
    pub fn leads_back(&self, page: PageId, target: PageId) -> bool {
        let next = |at: &PageId| self.nodes.get(at).and_then(|node| node.redirects_to);
        std::iter::successors(Some(target), next).take(LONGEST_CHAIN).any(|at| at == page)
    }

    /// Takes in what a visit made of a page. `same_as` is the page that it says it is another spelling of.
    pub fn visited(
        &mut self,
        page: PageId,
        standing: Standing,
        redirects_to: Option<PageId>,
        same_as: Option<Fingerprint>,
    ) {
        if let Some(node) = self.nodes.get_mut(&page) {
            (node.life, node.redirects_to) = (standing.life, redirects_to);
        }
        if !can_stand_for_others(standing) {
            self.free_aliases(page, same_as);
        }
        if let Some(of) = same_as {
            self.set_alias(page, of);
        }
    }

    /// The pages that got another alias, and which; in order of their ids.
    pub fn changed(self) -> impl Iterator<Item = (PageId, Option<PageId>)> {
        self.changed.into_iter()
    }

    /// Pages that this one stood for stand for themselves again. Where it moved, its other spellings move with it, all
    /// but the one it moved to (`/page/` with a canonical link to `/page`, which redirects to `/page/`).
    fn free_aliases(&mut self, page: PageId, moved_to: Option<Fingerprint>) {
        let is_freed = |node: &PageNode| moved_to.is_none_or(|target| node.fingerprint == target);
        let freed: Vec<PageId> =
            self.aliases_of(page).filter(|node| is_freed(node)).map(|node| node.id).collect();
        for alias in freed {
            self.point(alias, None);
        }
    }

    /// Makes `page` another spelling of the page with that address, unless that one shows nothing or the two would stand
    /// for each other.
    fn set_alias(&mut self, page: PageId, of: Fingerprint) {
        let Some(named) = self.id(of).and_then(|id| self.nodes.get(&id)) else { return };
        let Some(root) = self.nodes.get(&named.alias_of.unwrap_or(named.id)) else { return };
        if root.id == page || !matches!(root.life, Life::New | Life::Alive) {
            return;
        }
        let root = root.id;
        let moving: Vec<PageId> = self.aliases_of(page).map(|node| node.id).chain([page]).collect();
        for alias in moving {
            self.point(alias, Some(root));
        }
    }

    fn aliases_of(&self, page: PageId) -> impl Iterator<Item = &PageNode> {
        self.aliases.get(&page).into_iter().flatten().filter_map(|alias| self.nodes.get(alias))
    }

    fn point(&mut self, alias: PageId, to: Option<PageId>) {
        let Some(node) = self.nodes.get_mut(&alias) else { return };
        if let Some(old) = node.alias_of.and_then(|root| self.aliases.get_mut(&root)) {
            old.remove(&alias);
        }
        if let Some(root) = to {
            self.aliases.entry(root).or_default().insert(alias);
        }
        node.alias_of = to;
        self.changed.insert(alias, to);
    }
}

/// Can a page like this show what its other spellings would? One that fails may be well again by the next visit.
fn can_stand_for_others(standing: Standing) -> bool {
    match standing.life {
        Life::New | Life::Alive | Life::Missing => true,
        Life::Failing => standing.failures < 2,
        Life::Gone | Life::Blocked | Life::Redirected => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Normaliser;

    fn address(page: i64) -> Fingerprint {
        Normaliser::default().parse(&format!("https://example.org/{page}")).unwrap().fingerprint()
    }

    /// Pages by number, each with the page that stands for it.
    fn graph(pages: &[(i64, Option<i64>)]) -> PageGraph {
        let mut graph = PageGraph::default();
        for (id, alias_of) in pages {
            graph.add(PageNode {
                id: PageId(*id),
                fingerprint: address(*id),
                alias_of: alias_of.map(PageId),
                redirects_to: None,
                life: Life::Alive,
            });
        }
        graph
    }

    fn standing(life: Life, failures: u32) -> Standing {
        Standing { life, failures, ..Standing::default() }
    }

    fn visit(graph: &mut PageGraph, page: i64, life: Life, same_as: Option<i64>) {
        graph.visited(PageId(page), standing(life, 1), None, same_as.map(address));
    }

    fn changed(graph: PageGraph) -> Vec<(i64, Option<i64>)> {
        graph.changed().map(|(page, root)| (page.0, root.map(|root| root.0))).collect()
    }

    #[test]
    fn a_page_becomes_an_alias_and_takes_its_own_along() {
        let mut graph = graph(&[(1, None), (2, Some(1)), (3, None)]);
        visit(&mut graph, 1, Life::Redirected, Some(3));
        assert_eq!(changed(graph), [(1, Some(3)), (2, Some(3))]);
    }

    #[test]
    fn an_alias_points_to_a_page_that_is_none() {
        let mut graph = graph(&[(1, None), (2, None), (3, Some(2))]);
        visit(&mut graph, 1, Life::Alive, Some(3));
        assert_eq!(changed(graph), [(1, Some(2))]);
    }

    #[test]
    fn two_pages_never_stand_for_each_other() {
        let mut graph = graph(&[(1, None), (2, Some(1))]);
        visit(&mut graph, 1, Life::Alive, Some(2));
        assert_eq!(changed(graph), []);
    }

    #[test]
    fn a_page_that_shows_nothing_stands_for_none() {
        for life in [Life::Missing, Life::Gone, Life::Failing, Life::Blocked, Life::Redirected] {
            let mut graph = graph(&[(1, None), (2, None)]);
            visit(&mut graph, 2, life, None);
            visit(&mut graph, 1, Life::Alive, Some(2));
            assert_eq!(changed(graph), [], "{life:?}");
        }
        let mut alone = graph(&[(1, None)]);
        visit(&mut alone, 1, Life::Alive, Some(9));
        assert_eq!(changed(alone), [], "nor does one that is not there");
    }

    #[test]
    fn aliases_of_a_page_that_is_gone_stand_for_themselves() {
        let mut graph = graph(&[(1, None), (2, Some(1)), (3, Some(1))]);
        visit(&mut graph, 1, Life::Gone, None);
        assert_eq!(changed(graph), [(2, None), (3, None)]);
    }

    #[test]
    fn one_failure_frees_no_alias_and_a_second_does() {
        let pages = [(1, None), (2, Some(1))];
        let mut once = graph(&pages);
        once.visited(PageId(1), standing(Life::Failing, 1), None, None);
        assert_eq!(changed(once), []);
        let mut twice = graph(&pages);
        twice.visited(PageId(1), standing(Life::Failing, 2), None, None);
        assert_eq!(changed(twice), [(2, None)]);
    }

    #[test]
    fn a_page_that_moves_to_its_own_alias_changes_places_with_it() {
        let mut graph = graph(&[(1, None), (2, Some(1)), (3, Some(1))]);
        visit(&mut graph, 1, Life::Redirected, Some(2));
        assert_eq!(changed(graph), [(1, Some(2)), (2, None), (3, Some(2))]);
    }

    #[test]
    fn a_circle_of_redirects_leads_back_and_another_does_not_hold_us_up() {
        let mut graph = graph(&[(1, None), (2, None), (3, None), (4, None)]);
        let sent = |graph: &mut PageGraph, from, to| {
            graph.visited(PageId(from), standing(Life::Redirected, 0), Some(PageId(to)), None);
        };
        sent(&mut graph, 2, 3);
        assert!(!graph.leads_back(PageId(1), PageId(2)));
        sent(&mut graph, 3, 1);
        assert!(graph.leads_back(PageId(1), PageId(2)));
        assert!(graph.leads_back(PageId(1), PageId(1)), "to itself");
        sent(&mut graph, 3, 2);
        assert!(!graph.leads_back(PageId(1), PageId(2)), "a circle of others");
        assert!(!graph.leads_back(PageId(4), PageId(1)));
    }
}
