//! How important pages are, by the links among them.
//!
//! Pages, numbered from 0, and their links come in; a weight for each page goes out, because visits to an important page are
//! worth more. Always true: weights are finite and above 0; their mean is 1, so that they don't change the budget; the
//! numbers of the pages and the order of the links don't matter; and a page that has all the links that lead to another
//! page, and more, is not below it.

/// The fewest links that are gathered before they are sorted in. In a large graph it is an eighth of the links that are
/// sorted already: gathering takes a byte for each of those, and sorting is done a number of times that grows with the
/// logarithm of the links.
const WAITING: usize = 1 << 16;
const WAITING_SHARE: usize = 8;

/// Which page links to which: 4 bytes a link, and 8 a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkGraph {
    /// Where a page's targets begin, and behind the last page where they all end.
    starts: Vec<usize>,
    /// The pages linked to, in order and each once, page after page.
    targets: Vec<u32>,
}

/// A [`LinkGraph`] being gathered, from links in any order.
#[derive(Clone, Debug)]
pub(super) struct LinkGatherer {
    graph: LinkGraph,
    waiting: Vec<(u32, u32)>,
}

impl LinkGatherer {
    pub(super) fn new(pages: usize) -> Self {
        let graph = LinkGraph { starts: vec![0; pages + 1], targets: Vec::new() };
        Self { graph, waiting: Vec::new() }
    }

    /// Takes note of a link. Duplicates, links of a page to itself, and those from or to pages beyond the number given
    /// don't count.
    pub(super) fn add(&mut self, from: u32, to: u32) {
        if from == to || from.max(to) as usize >= self.graph.pages() {
            return;
        }
        self.waiting.push((from, to));
        if self.waiting.len() >= WAITING.max(self.graph.targets.len() / WAITING_SHARE) {
            self.graph.sort_in(&mut self.waiting);
        }
    }

    pub(super) fn finish(mut self) -> LinkGraph {
        self.graph.sort_in(&mut self.waiting);
        self.graph
    }
}

impl LinkGraph {
    fn pages(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of links.
    #[cfg(test)]
    fn links(&self) -> usize {
        self.targets.len()
    }

    /// Each page's targets, page by page.
    fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|bounds| &self.targets[bounds[0]..bounds[1]])
    }

    /// Moves links into their rows, in place: a copy would double the memory.
    fn sort_in(&mut self, links: &mut Vec<(u32, u32)>) {
        links.sort_unstable();
        let mut old_end = self.targets.len();
        let mut new_end = old_end + links.len();
        self.targets.reserve_exact(links.len());
        self.targets.resize(new_end, 0);
        // From the last row to the first, each moves into room that those behind it have left.
        for page in (0..self.pages()).rev() {
            let old_start = self.starts[page];
            self.starts[page + 1] = new_end;
            while let Some((_, to)) = links.pop_if(|(from, _)| *from as usize == page) {
                new_end -= 1;
                self.targets[new_end] = to;
            }
            new_end -= old_end - old_start;
            self.targets.copy_within(old_start..old_end, new_end);
            old_end = old_start;
        }
        self.drop_duplicates();
    }

    fn drop_duplicates(&mut self) {
        let (mut start, mut kept) = (0, 0);
        for row_end in self.starts.iter_mut().skip(1) {
            let end = *row_end;
            self.targets[start..end].sort_unstable();
            let row_start = kept;
            for index in start..end {
                let target = self.targets[index];
                if kept == row_start || self.targets[kept - 1] != target {
                    self.targets[kept] = target;
                    kept += 1;
                }
            }
            (start, *row_end) = (end, kept);
        }
        self.targets.truncate(kept);
    }
}

/// The number of pages that link to each page.
pub(super) fn inlink_counts(graph: &LinkGraph) -> Vec<u32> {
    let mut counts = vec![0; graph.pages()];
    for target in &graph.targets {
        counts[*target as usize] += 1;
    }
    counts
}

/// 1 and the number of pages that link to a page, scaled so that the mean is 1.
pub(super) fn inlinks(graph: &LinkGraph) -> Vec<f64> {
    let mut weights: Vec<f64> =
        inlink_counts(graph).into_iter().map(|count| 1.0 + f64::from(count)).collect();
    scale(&mut weights);
    weights
}

/// Probability that a reader follows a link instead of going to any page (Brin & Page 1998, §2.1.1).
const DAMPING: f64 = 0.85;
/// A round that moves the weights by less than this on average is the last.
const STEADY: f64 = 1e-9;
/// The distance to where the weights come to rest shrinks by [`DAMPING`] a round, so that after these it is below
/// 10⁻⁶ on average, whatever the links.
const MOST_ROUNDS: usize = 100;

/// PageRank: a page is as important as the pages that link to it, each of which shares its importance among the
/// pages it links to.
///
/// PR(A) = (1 − d) + d Σ PR(T)/C(T), over the pages T that link to A, C(T) being the number of their links (Brin & Page
/// 1998, "The anatomy of a large-scale hypertextual web search engine", §2.1.1). By that alone, what pages without links
/// have is lost; here they share it among all pages, so that the mean is 1.
pub(super) fn pagerank(graph: &LinkGraph) -> Vec<f64> {
    let pages = graph.pages() as f64;
    let mut ranks = vec![1.0; graph.pages()];
    let mut next = ranks.clone();
    for _ in 0..MOST_ROUNDS {
        let dangling: f64 =
            graph.rows().zip(&ranks).filter(|(row, _)| row.is_empty()).map(|(_, rank)| rank).sum();
        next.fill(1.0 - DAMPING + DAMPING * dangling / pages);
        for (row, rank) in graph.rows().zip(&ranks) {
            let share = DAMPING * rank / row.len() as f64;
            for target in row {
                next[*target as usize] += share;
            }
        }
        let moved: f64 = ranks.iter().zip(&next).map(|(before, after)| (after - before).abs()).sum();
        std::mem::swap(&mut ranks, &mut next);
        if moved < STEADY * pages {
            break;
        }
    }
    scale(&mut ranks);
    ranks
}

/// Makes the mean 1, of weights above 0.
fn scale(weights: &mut [f64]) {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    for weight in weights {
        *weight /= mean;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn graph(pages: usize, links: &[(u32, u32)]) -> LinkGraph {
        let mut gatherer = LinkGatherer::new(pages);
        for (from, to) in links {
            gatherer.add(*from, *to);
        }
        gatherer.finish()
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        let close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-7);
        assert!(close, "{found:?} is not {expected:?}");
    }

    /// A links to B and C, B to C, C to A.
    const THREE: [(u32, u32); 4] = [(0, 1), (0, 2), (1, 2), (2, 0)];

    #[test]
    fn three_pages_by_hand() {
        let three = graph(3, &THREE);
        // 2, 2 and 3, of which the mean is 7/3.
        assert_close(&inlinks(&three), &[6.0 / 7.0, 6.0 / 7.0, 9.0 / 7.0]);
        // A = 0.15 + 0.85 C, B = 0.15 + 0.425 A, C = 0.15 + 0.425 A + 0.85 B, so that
        // C = 0.2775 + 0.78625 A and A (1 − 0.6683125) = 0.385875.
        let a = 0.385875 / 0.3316875;
        assert_close(&pagerank(&three), &[a, 0.15 + 0.425 * a, 0.2775 + 0.78625 * a]);
    }

    #[test]
    fn a_page_without_links_shares_its_rank_among_all() {
        // A links to B: A = 0.15 + 0.425 B, and A + B = 2.
        let a = 1.0 / 1.425;
        assert_close(&pagerank(&graph(2, &[(0, 1)])), &[a, 2.0 - a]);
        assert_close(&pagerank(&graph(4, &[])), &[1.0; 4]);
        assert_close(&inlinks(&graph(4, &[])), &[1.0; 4]);
    }

    #[test]
    fn a_hub_that_takes_turns_with_its_pages_comes_to_rest() {
        // The slowest there is: all rank goes back and forth. H = 0.15 + 0.85 · 9 P, and H + 9 P = 10.
        let links: Vec<(u32, u32)> = (1..10).flat_map(|page| [(0, page), (page, 0)]).collect();
        let hub = (0.15 + 0.85 * 10.0) / 1.85;
        let ranks = pagerank(&graph(10, &links));
        assert!((ranks[0] - hub).abs() < 1e-6 && (ranks[9] - (10.0 - hub) / 9.0).abs() < 1e-6, "{ranks:?}");
    }

    #[test]
    fn links_that_do_not_count() {
        let noise = [(0, 1), (1, 1), (2, 2), (0, 3), (9, 0), (u32::MAX, u32::MAX), (1, 2)];
        let noisy = graph(3, &[&THREE[..], &noise].concat());
        assert_eq!(noisy, graph(3, &THREE));
        assert_eq!((noisy.pages(), noisy.links()), (3, 4));
        assert!(pagerank(&graph(0, &[(0, 1)])).is_empty());
        assert!(inlinks(&graph(0, &[])).is_empty());
        assert_close(&pagerank(&graph(1, &[(0, 0)])), &[1.0]);
    }

    #[test]
    fn links_sorted_in_many_times_are_those_sorted_in_once() {
        let pages = 2000_u32;
        let mut links: Vec<(u32, u32)> = (0..300_000_u32)
            .map(|i| (i.wrapping_mul(7919) % pages, i.wrapping_mul(104_729) / 7 % pages))
            .collect();
        let found = graph(pages as usize, &links);
        links.retain(|(from, to)| from != to);
        let expected: BTreeSet<(u32, u32)> = links.into_iter().collect();
        let rows = found.rows().zip(0..).flat_map(|(row, from)| row.iter().map(move |to| (from, *to)));
        assert!(rows.eq(expected));
        assert!(found.links() > WAITING, "{}", found.links());
    }

    const PAGES: u32 = 12;

    fn many_links() -> impl Strategy<Value = Vec<(u32, u32)>> {
        prop::collection::vec((0..PAGES, 0..PAGES), 0..60)
    }

    proptest! {
        #[test]
        fn weights_are_above_0_and_their_mean_is_1(links in many_links(), pages in 1_usize..20) {
            let graph = graph(pages, &links);
            for weights in [inlinks(&graph), pagerank(&graph)] {
                prop_assert!(weights.iter().all(|weight| weight.is_finite() && *weight > 0.0));
                prop_assert!((weights.iter().sum::<f64>() / pages as f64 - 1.0).abs() < 1e-12);
            }
        }

        #[test]
        fn how_pages_are_numbered_does_not_matter(
            links in many_links(), names in Just((0..PAGES).collect::<Vec<u32>>()).prop_shuffle(),
        ) {
            let renamed: Vec<(u32, u32)> =
                links.iter().rev().map(|(from, to)| (names[*from as usize], names[*to as usize])).collect();
            let (graph, renamed) = (graph(PAGES as usize, &links), graph(PAGES as usize, &renamed));
            for (weights, others) in
                [(inlinks(&graph), inlinks(&renamed)), (pagerank(&graph), pagerank(&renamed))]
            {
                let others: Vec<f64> = names.iter().map(|name| others[*name as usize]).collect();
                assert_close(&weights, &others);
            }
        }

        #[test]
        fn a_page_with_all_the_links_of_another_and_more_is_not_below_it(links in many_links()) {
            // Every page that links to page 0 links to page 1.
            let mut links = links;
            links.retain(|link| *link != (1, 0));
            let more: Vec<(u32, u32)> =
                links.iter().filter(|(_, to)| *to == 0).map(|(from, _)| (*from, 1)).collect();
            links.extend(more);
            let graph = graph(PAGES as usize, &links);
            for weights in [inlinks(&graph), pagerank(&graph)] {
                prop_assert!(weights[1] >= weights[0] * (1.0 - 1e-12), "{weights:?}");
            }
        }

        #[test]
        fn ranks_satisfy_the_formula(links in many_links()) {
            let graph = graph(PAGES as usize, &links);
            let ranks = pagerank(&graph);
            let mut expected = vec![0.15; ranks.len()];
            for (row, rank) in graph.rows().zip(&ranks) {
                for (page, weight) in expected.iter_mut().enumerate() {
                    let share = if row.is_empty() { 1.0 / f64::from(PAGES) } else { 1.0 / row.len() as f64 };
                    let linked = row.is_empty() || row.contains(&(page as u32));
                    *weight += if linked { 0.85 * rank * share } else { 0.0 };
                }
            }
            let off: f64 = ranks.iter().zip(&expected).map(|(rank, expected)| (rank - expected).abs()).sum();
            prop_assert!(off / f64::from(PAGES) < 1e-6, "{ranks:?} is not {expected:?}");
        }
    }
}
