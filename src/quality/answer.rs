//! The exact quality of search results, and the exact gain of a refresh.
//!
//! Comes in: for each query, the scores of every page's copy in the repository and of the page as it is on the web now. Goes out: how
//! useful the results are that searchers see, Σ I(rank in the repository's answer) · score on the web (Pandey & Olston 2005, §3, eq. 1
//! to 3), the same for a repository that is up to date (eq. 4), their ratio (eq. 5), and the change by refreshing one page (eq. 6, 7).
//!
//! This needs the truth, so it is for experiments and for webs whose truth is known. Results are the pages with a positive
//! score, the highest first, equal ones by their page number. What must stay true: the ratio is from 0 to 1, and 1 if every copy is
//! up to date.

use std::cmp::Ordering;

use super::attention::Attention;
use super::score_rank::is_score;

/// The scores of one page for one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyScores {
    /// The page; of two with the same score, the lower number comes first.
    pub page: u64,
    /// Score of the copy in the repository; `None`: there is no copy. What is not a positive number is no result.
    pub repository: Option<f64>,
    /// Score of the page on the web, 0 if it is gone or lacks a term.
    pub web: f64,
}

impl CopyScores {
    fn in_repository(&self) -> Option<f64> {
        self.repository.filter(|score| is_score(*score))
    }

    fn on_web(&self) -> Option<f64> {
        Some(self.web).filter(|score| is_score(*score))
    }
}

/// The quality of a repository under a workload: sums over its queries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnswerQuality {
    /// Q_A: Σ f_q · Σ I(rank in the repository's answer) · score on the web (eq. 3).
    pub repository: f64,
    /// The same with the ranks of a repository that is up to date (eq. 4): no order of results is better (§3.1).
    pub ideal: f64,
}

impl AnswerQuality {
    /// Adds a query that is asked with this frequency.
    pub fn add(&mut self, attention: Attention, frequency: f64, pages: &[CopyScores]) {
        self.repository += frequency * answer_worth(attention, pages, CopyScores::in_repository);
        self.ideal += frequency * answer_worth(attention, pages, CopyScores::on_web);
    }

    /// Q, from 0 to 1 (eq. 5). `None` if no query has a result on the web: then there is nothing to find, and nothing to lose.
    pub fn normalised(&self) -> Option<f64> {
        self.share(self.repository).map(|quality| quality.clamp(0.0, 1.0))
    }

    /// ΔQ of a refresh whose ΔQ_A is this (eq. 6).
    pub fn share(&self, delta: f64) -> Option<f64> {
        (self.ideal > 0.0).then(|| delta / self.ideal)
    }
}

/// Σ I(rank) · score on the web, with the ranks by `score`.
fn answer_worth(
    attention: Attention,
    pages: &[CopyScores],
    score: impl Fn(&CopyScores) -> Option<f64>,
) -> f64 {
    let results = ranked(pages, score);
    (1..).zip(&results).map(|(rank, result)| attention.at(rank) * result.worth).sum()
}

/// A page at its place among the results.
#[derive(Clone, Copy, Debug)]
struct RankedCopy {
    score: f64,
    page: u64,
    /// Score on the web; 0 for a page that is no result there.
    worth: f64,
}

impl RankedCopy {
    /// The order of results: the highest score first, then the lowest page.
    fn order(&self, score: f64, page: u64) -> Ordering {
        score.total_cmp(&self.score).then(self.page.cmp(&page))
    }
}

/// The results of a query: pages with a positive score, in order.
fn ranked(pages: &[CopyScores], score: impl Fn(&CopyScores) -> Option<f64>) -> Vec<RankedCopy> {
    let result = |page: &CopyScores| {
        let worth = page.on_web().unwrap_or(0.0);
        Some(RankedCopy { score: score(page)?, page: page.page, worth })
    };
    let mut results: Vec<RankedCopy> = pages.iter().filter_map(result).collect();
    results.sort_unstable_by(|a, b| a.order(b.score, b.page));
    results
}

/// The repository's answer to one query, made ready to tell what the refresh of any one page would gain.
#[derive(Clone, Debug)]
pub struct RepositoryAnswer {
    attention: Attention,
    results: Vec<RankedCopy>,
    /// At k: what the first k results gain together if each moves up by one rank (the first one stays).
    moved_up: Vec<f64>,
    /// At k: what the first k results gain together if each moves down by one rank; never above 0.
    moved_down: Vec<f64>,
}

impl RepositoryAnswer {
    /// The answer of a repository with these copies. O(n log n) for n pages.
    pub fn of(attention: Attention, pages: &[CopyScores]) -> RepositoryAnswer {
        let results = ranked(pages, CopyScores::in_repository);
        let (mut moved_up, mut moved_down) = (vec![0.0], vec![0.0]);
        let (mut up, mut down) = (0.0, 0.0);
        for (rank, result) in (1_u64..).zip(&results) {
            let here = attention.at(rank);
            up += (attention.at(rank.saturating_sub(1)) - here) * result.worth;
            down += (attention.at(rank + 1) - here) * result.worth;
            moved_up.push(up);
            moved_down.push(down);
        }
        RepositoryAnswer { attention, results, moved_up, moved_down }
    }

    /// Rank of a page with this score in the repository; `None` if it is no result.
    fn rank(&self, score: Option<f64>, page: u64) -> Option<usize> {
        let score = score?;
        Some(1 + self.results.partition_point(|result| result.order(score, page) == Ordering::Less))
    }

    /// ΔQ_A of one query by refreshing one page, without the frequency: the numerator of eq. 6.
    ///
    /// The page's copy becomes that of the web: it is added if it was not there, and leaves the results if it has no score there. It
    /// may be negative, where other copies are out of date. O(log n). The page must be one that the answer was made of.
    pub fn refresh_gain(&self, page: &CopyScores) -> f64 {
        let before = self.rank(page.in_repository(), page.page);
        let worth = page.on_web();
        // Its own copy still stands among the results: a page that falls has one place less before it.
        let after = self.rank(worth, page.page).map(|rank| match before {
            Some(before) if before < rank => rank - 1,
            _ => rank,
        });
        let attention = |rank: Option<usize>| self.attention.of(rank.map(|rank| rank as u64));
        let own = (attention(after) - attention(before)) * worth.unwrap_or(0.0);
        let absent = self.results.len() + 1;
        let (from, to) = (before.unwrap_or(absent), after.unwrap_or(absent));
        // A page that falls lets those after it move up, as far as its new place; one that rises pushes others down.
        let others = match from.cmp(&to) {
            Ordering::Less => between(&self.moved_up, from, to),
            Ordering::Equal => 0.0,
            Ordering::Greater => between(&self.moved_down, to - 1, from - 1),
        };
        own + others
    }
}

/// The sum of the places after `from`, up to and with `to`, out of sums from the start.
fn between(sums: &[f64], from: usize, to: usize) -> f64 {
    let at = |place: usize| sums.get(place.min(sums.len().saturating_sub(1))).copied().unwrap_or(0.0);
    at(to) - at(from)
}

#[cfg(test)]
#[path = "answer_tests.rs"]
pub(in crate::quality) mod tests;
