//! When one page stands for another: permanent redirects, canonical links, circles of redirects.
//!
//! Decisions are made over a [`PageGraph`]: the pages that some visits concern and those that they lead to. Aliases point
//! to pages that are no aliases themselves, so a look at one more page is always enough.
//!
//! A page becomes an alias when its claim is confirmed, the texts agree, and the operator did not name it as a seed. It
//! stays one while its visits say so. Many pages that lead to one with another text are an outage, not a move.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Claim, Folded, Life, Standing};
use crate::change::VersionId;
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
    /// The page that its last visits named in its place.
    pub claim: Option<Claim>,
    /// What is held of it.
    pub version: Option<VersionId>,
    /// Is that something that has words?
    pub has_words: bool,
    /// The operator named it as a seed: no page stands for it.
    pub is_seed: bool,
}

impl PageNode {
    /// A page that was just found.
    pub fn found(id: PageId, fingerprint: Fingerprint) -> PageNode {
        PageNode {
            id,
            fingerprint,
            alias_of: None,
            redirects_to: None,
            life: Life::New,
            claim: None,
            version: None,
            has_words: false,
            is_seed: false,
        }
    }
}

/// Redirects that are followed to see whether they lead back: a circle that does not pass the page must not hold us up.
const LONGEST_CHAIN: usize = 64;

/// Pages with a text of their own that name one unlike page: this many are an outage or a faulty template, and a page
/// that has no text to compare is not believed beside them.
const MANY_UNLIKE: u64 = 3;

/// Cycles in a row that must have sent a page to the same other page, and no second unlike page with it, before that is
/// believed though the texts differ: a page that changes fast differs from what was held of it wherever it moves.
const PATIENCE: u32 = 4;

/// Some pages, and how they lead to each other.
#[derive(Clone, Debug, Default)]
pub struct PageGraph {
    nodes: HashMap<PageId, PageNode>,
    ids: HashMap<Fingerprint, PageId>,
    /// Aliases by the page that stands for them.
    aliases: HashMap<PageId, BTreeSet<PageId>>,
    /// Pages that name a page whose text is unlike theirs, counted by the page named.
    unlike: HashMap<PageId, u64>,
    /// Pages that got another alias since they were added.
    changed: BTreeMap<PageId, Option<PageId>>,
}

impl PageGraph {
    /// A graph without pages. `unlike`: how many pages there are, by the page that they name, whose text is unlike that
    /// page's.
    pub fn new(unlike: HashMap<PageId, u64>) -> Self {
        Self { unlike, ..Self::default() }
    }

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

    /// The page that stands for this one: another one, or itself.
    pub fn root(&self, of: PageId) -> Option<&PageNode> {
        let named = self.nodes.get(&of)?;
        self.nodes.get(&named.alias_of.unwrap_or(of))
    }

    /// Does `target` redirect back to `page`, by whatever detours?
    pub fn leads_back(&self, page: PageId, target: PageId) -> bool {
        let next = |at: &PageId| self.nodes.get(at).and_then(|node| node.redirects_to);
        std::iter::successors(Some(target), next).take(LONGEST_CHAIN).any(|at| at == page)
    }

    /// Takes in what a visit made of a page. `answers`: it brought the page, or was sent elsewhere; a visit that failed
    /// says nothing of which page stands for it.
    pub fn visited(&mut self, page: PageId, now: &Folded, redirects_to: Option<PageId>, answers: bool) {
        let Some(node) = self.nodes.get_mut(&page) else { return };
        let before = std::mem::replace(&mut node.claim, now.claim);
        (node.life, node.redirects_to) = (now.standing.life, redirects_to);
        (node.version, node.has_words) = (now.version, now.has_words.unwrap_or(true));
        for (claim, is_new) in [(before, false), (now.claim, true)] {
            let Some(claim) = claim.filter(|claim| claim.is_unlike()) else { continue };
            let many = self.unlike.entry(claim.of).or_default();
            *many = if is_new { *many + 1 } else { many.saturating_sub(1) };
        }
        let root = self.believed(page);
        if !can_stand_for_others(now.standing) && (root.is_none() || !answers) {
            self.free_aliases(page);
        }
        if answers {
            self.settle(page, root);
        }
    }

    /// The pages that got another alias, and which; in order of their ids.
    pub fn changed(self) -> impl Iterator<Item = (PageId, Option<PageId>)> {
        self.changed.into_iter()
    }

    /// The page that stands for this one, if its claim can be believed: it is confirmed, the texts agree, and the other
    /// page is there to be seen.
    fn believed(&self, page: PageId) -> Option<PageId> {
        let node = self.nodes.get(&page).filter(|node| !node.is_seed)?;
        let claim = node.claim.filter(|claim| claim.is_confirmed())?;
        let root = self.root(claim.of)?;
        // A page that is an alias stays one while its root has a bad day; the visits of the root see to that.
        let can_stand = root.life == Life::Alive || node.alias_of == Some(root.id);
        let agrees = match claim.near {
            Some(true) => true,
            // It moved and changed: no other page leads there, as all would if the site were down.
            Some(false) => claim.moved && claim.times >= PATIENCE && self.unlike_of(claim.of) <= 1,
            None => claim.moved && self.unlike_of(claim.of) < MANY_UNLIKE,
        };
        (root.id != page && can_stand && agrees).then_some(root.id)
    }

    fn unlike_of(&self, page: PageId) -> u64 {
        self.unlike.get(&page).copied().unwrap_or(0)
    }

    /// Pages that this one stood for stand for themselves again.
    fn free_aliases(&mut self, page: PageId) {
        for alias in self.aliases_of(page) {
            self.point(alias, None);
        }
    }

    /// Makes `page` and its own aliases aliases of `root`; without a root it stands for itself.
    fn settle(&mut self, page: PageId, root: Option<PageId>) {
        if root.is_some() {
            for alias in self.aliases_of(page) {
                self.point(alias, root);
            }
        }
        self.point(page, root);
    }

    fn aliases_of(&self, page: PageId) -> Vec<PageId> {
        self.aliases.get(&page).into_iter().flatten().copied().collect()
    }

    fn point(&mut self, alias: PageId, to: Option<PageId>) {
        let Some(node) = self.nodes.get_mut(&alias).filter(|node| node.alias_of != to) else { return };
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

    fn node(page: i64, alias_of: Option<i64>) -> PageNode {
        let url = Normaliser::default().parse(&format!("https://example.org/{page}")).unwrap();
        let (alias_of, life) = (alias_of.map(PageId), Life::Alive);
        PageNode { alias_of, life, ..PageNode::found(PageId(page), url.fingerprint()) }
    }

    /// Pages by number, each with the page that stands for it.
    fn graph(pages: &[(i64, Option<i64>)]) -> PageGraph {
        let mut graph = PageGraph::default();
        pages.iter().for_each(|(page, alias_of)| graph.add(node(*page, *alias_of)));
        graph
    }

    fn standing(life: Life, failures: u32) -> Folded {
        Folded { standing: Standing { life, failures, ..Standing::default() }, ..Folded::default() }
    }

    /// A canonical link that was there on this many visits, to a page with a near text.
    fn canonical(of: i64, times: u32) -> Option<Claim> {
        Some(Claim { of: PageId(of), times, moved: false, near: Some(true) })
    }

    fn moved(of: i64, near: Option<bool>) -> Option<Claim> {
        Some(Claim { of: PageId(of), times: 2, moved: true, near })
    }

    fn says(graph: &mut PageGraph, page: i64, life: Life, claim: Option<Claim>) {
        graph.visited(PageId(page), &Folded { claim, ..standing(life, 1) }, None, true);
    }

    fn fails(graph: &mut PageGraph, page: i64, life: Life, failures: u32) {
        graph.visited(PageId(page), &standing(life, failures), None, false);
    }

    fn changed(graph: PageGraph) -> Vec<(i64, Option<i64>)> {
        graph.changed().map(|(page, root)| (page.0, root.map(|root| root.0))).collect()
    }

    #[test]
    fn a_page_becomes_an_alias_when_a_second_visit_says_so() {
        let mut graph = graph(&[(1, None), (2, None)]);
        says(&mut graph, 1, Life::Alive, canonical(2, 1));
        assert_eq!(changed(graph.clone()), []);
        says(&mut graph, 1, Life::Alive, canonical(2, 2));
        assert_eq!(changed(graph), [(1, Some(2))]);
    }

    #[test]
    fn a_page_with_another_text_is_no_alias_whatever_it_says() {
        for claim in [moved(2, Some(false)), Some(Claim { near: Some(false), ..canonical(2, 9).unwrap() })] {
            let mut graph = graph(&[(1, None), (2, None)]);
            says(&mut graph, 1, Life::Alive, claim);
            assert_eq!(changed(graph), []);
        }
        let mut graph = graph(&[(1, None), (2, None)]);
        says(&mut graph, 1, Life::Alive, Some(Claim { near: None, ..canonical(2, 9).unwrap() }));
        assert_eq!(changed(graph), [], "a canonical page that was never compared");
    }

    #[test]
    fn a_redirect_is_believed_without_a_text_unless_many_unlike_pages_lead_there() {
        let pages: Vec<(i64, Option<i64>)> = (1..=9).map(|page| (page, None)).collect();
        let mut graph = graph(&pages);
        says(&mut graph, 2, Life::Redirected, moved(1, Some(false)));
        says(&mut graph, 3, Life::Redirected, moved(1, Some(false)));
        says(&mut graph, 4, Life::Redirected, moved(1, None));
        assert_eq!(changed(graph.clone()), [(4, Some(1))], "two are not many");
        says(&mut graph, 5, Life::Redirected, moved(1, Some(false)));
        says(&mut graph, 6, Life::Redirected, moved(1, None));
        says(&mut graph, 7, Life::Redirected, moved(1, Some(true)));
        assert_eq!(changed(graph.clone()), [(4, Some(1)), (7, Some(1))], "the last has the same text");
        says(&mut graph, 4, Life::Redirected, moved(1, None));
        assert_eq!(changed(graph.clone()), [(4, None), (7, Some(1))], "an alias is judged by the same rule");
        // The outage is over for two of them.
        says(&mut graph, 2, Life::Alive, None);
        says(&mut graph, 3, Life::Alive, None);
        says(&mut graph, 6, Life::Redirected, moved(1, None));
        assert_eq!(changed(graph), [(4, None), (6, Some(1)), (7, Some(1))]);
    }

    #[test]
    fn a_page_that_moved_and_changed_is_believed_after_a_while_if_it_is_alone() {
        let patient = |page| Some(Claim { times: PATIENCE, ..moved(page, Some(false)).unwrap() });
        let mut graph = graph(&[(1, None), (2, None), (3, None)]);
        says(&mut graph, 2, Life::Redirected, moved(1, Some(false)));
        assert_eq!(changed(graph.clone()), []);
        says(&mut graph, 2, Life::Redirected, patient(1));
        assert_eq!(changed(graph.clone()), [(2, Some(1))]);
        says(&mut graph, 3, Life::Redirected, patient(1));
        says(&mut graph, 2, Life::Redirected, patient(1));
        assert_eq!(changed(graph), [(2, None)], "two pages with other texts did not both move there");
        let mut unmoved = self::graph(&[(1, None), (2, None)]);
        says(&mut unmoved, 2, Life::Alive, Some(Claim { near: Some(false), ..canonical(1, 9).unwrap() }));
        assert_eq!(changed(unmoved), [], "a page that is there shows its own text");
    }

    #[test]
    fn an_alias_that_answers_for_itself_is_free_and_one_that_fails_is_not() {
        let mut graph = graph(&[(1, None), (2, Some(1)), (3, Some(1))]);
        fails(&mut graph, 2, Life::Gone, 5);
        assert_eq!(changed(graph.clone()), []);
        says(&mut graph, 2, Life::Alive, None);
        says(&mut graph, 3, Life::Redirected, None);
        assert_eq!(changed(graph), [(2, None), (3, None)]);
    }

    #[test]
    fn a_seed_is_no_alias() {
        let mut graph = PageGraph::default();
        graph.add(PageNode { is_seed: true, ..node(1, None) });
        graph.add(node(2, None));
        says(&mut graph, 1, Life::Redirected, moved(2, Some(true)));
        assert_eq!(changed(graph), []);
    }

    #[test]
    fn a_page_becomes_an_alias_and_takes_its_own_along() {
        let mut graph = graph(&[(1, None), (2, Some(1)), (3, None)]);
        says(&mut graph, 1, Life::Redirected, moved(3, None));
        assert_eq!(changed(graph), [(1, Some(3)), (2, Some(3))]);
    }

    #[test]
    fn an_alias_points_to_a_page_that_is_none() {
        let mut graph = graph(&[(1, None), (2, None), (3, Some(2))]);
        says(&mut graph, 1, Life::Alive, canonical(3, 2));
        assert_eq!(changed(graph), [(1, Some(2))]);
    }

    #[test]
    fn two_pages_never_stand_for_each_other() {
        let mut graph = graph(&[(1, None), (2, Some(1))]);
        says(&mut graph, 1, Life::Alive, canonical(2, 2));
        assert_eq!(changed(graph), []);
    }

    #[test]
    fn a_page_that_shows_nothing_stands_for_none() {
        for life in [Life::Missing, Life::Gone, Life::Failing, Life::Blocked, Life::Redirected] {
            let mut graph = graph(&[(1, None), (2, None)]);
            fails(&mut graph, 2, life, 1);
            says(&mut graph, 1, Life::Alive, canonical(2, 2));
            assert_eq!(changed(graph), [], "{life:?}");
        }
        let mut alone = graph(&[(1, None)]);
        says(&mut alone, 1, Life::Alive, canonical(9, 2));
        assert_eq!(changed(alone), [], "nor does one that is not there");
    }

    #[test]
    fn aliases_of_a_page_that_is_gone_stand_for_themselves() {
        let mut graph = graph(&[(1, None), (2, Some(1)), (3, Some(1))]);
        fails(&mut graph, 1, Life::Gone, 2);
        assert_eq!(changed(graph), [(2, None), (3, None)]);
    }

    #[test]
    fn one_failure_frees_no_alias_and_a_second_does() {
        let pages = [(1, None), (2, Some(1))];
        let mut once = graph(&pages);
        fails(&mut once, 1, Life::Failing, 1);
        says(&mut once, 2, Life::Alive, canonical(1, 5));
        assert_eq!(changed(once), []);
        let mut twice = graph(&pages);
        fails(&mut twice, 1, Life::Failing, 2);
        assert_eq!(changed(twice), [(2, None)]);
    }

    #[test]
    fn a_page_that_moves_to_its_own_alias_changes_places_with_it() {
        let mut graph = graph(&[(1, None), (2, Some(1)), (3, Some(1))]);
        says(&mut graph, 1, Life::Redirected, Some(Claim { times: 1, ..moved(2, None).unwrap() }));
        assert_eq!(changed(graph.clone()), [(2, None), (3, None)], "it shows nothing any more");
        says(&mut graph, 1, Life::Redirected, moved(2, None));
        says(&mut graph, 3, Life::Redirected, moved(1, None));
        assert_eq!(changed(graph), [(1, Some(2)), (2, None), (3, Some(2))]);
    }

    #[test]
    fn a_circle_of_redirects_leads_back_and_another_does_not_hold_us_up() {
        let mut graph = graph(&[(1, None), (2, None), (3, None), (4, None)]);
        let sent = |graph: &mut PageGraph, from, to| {
            graph.visited(PageId(from), &standing(Life::Redirected, 0), Some(PageId(to)), true);
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
