//! How good the results of searches are expected to be, without the truth: what age has probably cost, and where a visit would bring
//! most of it back.
//!
//! The loss of a page is estimated from what its refreshes have gained, where the search index has measured any: δQ_A · age (Pandey &
//! Olston 2005, §6.1.3). For other pages it is the chance that the page has changed, times all that its copy is worth in the results:
//! as if a changed page answered none of its queries any more. So the estimate is cautious where nothing was measured.
//! The estimated quality is 1 − Σ losses ÷ what the copies would be worth if all were up to date.
//!
//! It is no measurement: losses of pages are added up as if they did not touch each other, time is taken to cost evenly, and pages that
//! are not known don't count. `freshet score` measures it, where the truth is known.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use super::LookError;
use super::search::{chance_of_change, inlinks};
use crate::crawl::collection_rates::chance_learner;
use crate::follow::gain_outbox;
use crate::follow::search_index::SearchIndex;
use crate::page::PageId;
use crate::policy::registry::{PolicySettings, find};
use crate::policy::{Learnt, Policy};
use crate::quality::copies::{CopyWords, WorkloadTerms};
use crate::quality::gain::{GainWindow, mean_of_ratios, priority};
use crate::quality::repository::Searchers;
use crate::quality::scoring::Scoring;
use crate::quality::search_workload::SearchWorkload;
use crate::quality::workload::Workload;
use crate::store::{GainRow, KnownPage, Store, StoreError};
use crate::time::Timestamp;

/// Words of a page that are named.
const MOST_WORDS: usize = 3;

/// Pages whose gains are read together.
const AT_ONCE: usize = 500;

/// The policy that learns from gains: what a page's refreshes amount to is decided there.
const LEARNS_FROM_GAINS: &str = "user-centric";

/// The expected quality of a store's search results.
#[derive(Clone, Debug, Serialize)]
pub struct QualityEstimate {
    /// From 0 to 1; `None` if no query finds a page.
    pub estimated_quality: Option<f64>,
    /// Queries of the workload.
    pub query_count: usize,
    /// Queries that find a page.
    pub answered_query_count: usize,
    /// Pages in the index.
    pub searched_pages: u64,
    /// Pages that a query finds.
    pub found_page_count: usize,
    /// Of these, the pages whose refreshes the index has measured.
    pub measured_page_count: usize,
    /// How results are ranked.
    pub scoring: Scoring,
    /// The power of the rank with which attention falls.
    pub attention: f64,
    /// Queries whose results are most likely out of date, those that cost most first.
    pub stale_queries: Vec<StaleQuery>,
    /// Pages where a visit would gain most.
    pub best_visits: Vec<ExpectedGain>,
}

/// A query whose results may be out of date.
#[derive(Clone, Debug, Serialize)]
pub struct StaleQuery {
    /// Its words.
    pub query: String,
    /// How often it is asked.
    pub frequency: f64,
    /// Pages that it finds.
    pub match_count: usize,
    /// The share of what its results are worth that stands on pages which have probably changed, 0 to 1.
    pub changed_share: f64,
    /// The best result.
    pub best_url: String,
}

/// A page where a visit would gain.
#[derive(Clone, Debug, Serialize)]
pub struct ExpectedGain {
    /// Its number.
    pub page_id: i64,
    /// Its address.
    pub url: String,
    /// The gain in quality that is expected of a visit now, 0 to 1.
    pub quality_gain: f64,
    /// Whether it follows from measured refreshes of the page.
    pub is_measured: bool,
    /// Time since its copy was last confirmed.
    pub age_seconds: f64,
    /// The probability that the page has changed since then.
    pub change_probability: f64,
    /// The words of queries that make it worth a visit.
    pub search_words: Vec<String>,
}

/// Estimates the quality of the search results that a store gives, by an index that is up to date; gains that wait for the store are
/// at `outbox`, the path of the index. `most`: queries and pages that are listed. `each` is called with the pages done so far and all
/// of them.
pub fn quality(
    store: &mut dyn Store,
    (index, outbox): (&SearchIndex, &Path),
    searched: &SearchWorkload,
    most: usize,
    now: Timestamp,
    each: &mut dyn FnMut(u64, u64),
) -> Result<QualityEstimate, LookError> {
    let terms = WorkloadTerms::of(&searched.workload);
    let words = index.workload_words(&searched.workload, &terms)?;
    if words.is_empty() {
        return Err(LookError::NothingToSearch(String::new()));
    }
    let inlinks = inlinks(store, searched.scoring)?;
    let copies: Vec<(u64, &CopyWords, u32)> = words
        .iter()
        .map(|(page, copy)| (page.0.unsigned_abs(), copy, inlinks.get(page).copied().unwrap_or(0)))
        .collect();
    let worths = copy_worths(searched, &copies);
    let found: Vec<(usize, PageId)> = words
        .iter()
        .enumerate()
        .map(|(place, (page, _))| (place, *page))
        .filter(|(place, _)| worths.of(*place) > 0.0)
        .collect();
    let gains = measured_gains(store, outbox, searched, &found)?;
    let policy = learning(searched)?;
    let learner = chance_learner(store)?;
    let mut changed = vec![0.0; copies.len()];
    let mut urls = HashMap::new();
    let mut visits = Vec::with_capacity(found.len());
    let mut lost = 0.0;
    for (done, (place, id)) in found.iter().enumerate() {
        each(done as u64, found.len() as u64);
        let Some(page) = store.known_page(*id)? else { continue };
        let lessons = store.lessons(*id)?;
        let age = page.state.copy_age(now);
        let chance = chance_of_change(&learner, &page, &lessons, age);
        let rows = gains.get(id).map_or(&[][..], Vec::as_slice);
        let mut learnt = Learnt::default();
        lessons.iter().for_each(|lesson| learnt.take(lesson, page.host, page.state.depth, &*policy));
        let measured = measured_gain(&*policy, learnt, rows, age.days());
        // Scores of a small collection may have shrunk since: no page is worth more than all results are.
        let gain = measured.unwrap_or_else(|| chance * worths.of(*place)).min(worths.ideal);
        lost += gain;
        if let Some(changed) = changed.get_mut(*place) {
            *changed = chance;
        }
        urls.insert(*place, page.url.clone());
        let search_words = match measured {
            Some(_) => moved_words(rows),
            None => worths.words(*place),
        };
        visits.push(expected(&page, gain, measured.is_some(), age.seconds(), chance, search_words));
    }
    let measured_page_count = visits.iter().filter(|visit| visit.is_measured).count();
    visits.retain(|visit| visit.quality_gain > 0.0);
    visits.sort_by(|a, b| b.quality_gain.total_cmp(&a.quality_gain).then(a.page_id.cmp(&b.page_id)));
    visits.truncate(most);
    visits.iter_mut().for_each(|visit| visit.quality_gain /= worths.ideal);
    let results = searchers(searched, &terms).results(&copies);
    let answered_query_count = results.iter().filter(|results| !results.is_empty()).count();
    Ok(QualityEstimate {
        estimated_quality: (worths.ideal > 0.0).then(|| (1.0 - lost / worths.ideal).clamp(0.0, 1.0)),
        query_count: terms.queries().len(),
        answered_query_count,
        searched_pages: words.len() as u64,
        found_page_count: found.len(),
        measured_page_count,
        scoring: searched.scoring,
        attention: searched.attention.exponent(),
        stale_queries: stale_queries(searched, &results, &changed, &urls, most),
        best_visits: visits,
    })
}

fn searchers<'a>(searched: &SearchWorkload, terms: &'a WorkloadTerms) -> Searchers<'a> {
    Searchers { terms, scoring: searched.scoring, attention: searched.attention }
}

/// What copies are worth in the results of the single-term workload, which gains are measured by (§5.1.1): Σ f·I(rank)·score, as if
/// all copies were up to date.
struct CopyWorths {
    /// Of each copy, by term: the worth and the term.
    by_term: Vec<Vec<(f64, usize)>>,
    /// Of all copies: the quality if none has changed, before it is made 1.
    ideal: f64,
    names: Vec<String>,
}

fn copy_worths(searched: &SearchWorkload, copies: &[(u64, &CopyWords, u32)]) -> CopyWorths {
    let single = searched.workload.single_terms();
    let names: Vec<String> = single.keys().cloned().collect();
    let mut by_term: Vec<Vec<(f64, usize)>> = vec![Vec::new(); copies.len()];
    let mut ideal = 0.0;
    // Every term is a query of its own. They are numbered in their order, as in the workload itself, so copies stay as they are.
    if let Ok(workload) = Workload::of(single.into_iter().map(|(term, frequency)| (vec![term], frequency))) {
        let terms = WorkloadTerms::of(&workload);
        let results = searchers(searched, &terms).results(copies);
        for (term, (query, results)) in terms.queries().iter().zip(results).enumerate() {
            for (rank, (place, score)) in (1..).zip(results) {
                let worth = query.frequency * searched.attention.at(rank) * score;
                ideal += worth;
                if let Some(worths) = by_term.get_mut(place) {
                    worths.push((worth, term));
                }
            }
        }
    }
    CopyWorths { by_term, ideal, names }
}

impl CopyWorths {
    fn of(&self, place: usize) -> f64 {
        self.by_term.get(place).into_iter().flatten().map(|(worth, _)| worth).sum()
    }

    /// The words that a copy owes most of its worth to.
    fn words(&self, place: usize) -> Vec<String> {
        let mut worths = self.by_term.get(place).cloned().unwrap_or_default();
        worths.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        worths.iter().take(MOST_WORDS).filter_map(|(_, term)| self.names.get(*term).cloned()).collect()
    }
}

/// The gains that were measured for these searchers, by page: those that the store has, and those that wait in the index.
fn measured_gains(
    store: &mut dyn Store,
    outbox: &Path,
    searched: &SearchWorkload,
    found: &[(usize, PageId)],
) -> Result<HashMap<PageId, Vec<GainRow>>, LookError> {
    let measure = searched.measure();
    let mut gains: HashMap<PageId, Vec<GainRow>> = HashMap::new();
    for some in found.chunks(AT_ONCE) {
        let pages: Vec<PageId> = some.iter().map(|(_, page)| *page).collect();
        for row in store.gains_of(&pages, measure)? {
            gains.entry(row.page).or_default().push(row);
        }
    }
    for row in gain_outbox::waiting(outbox, measure)? {
        gains.entry(row.page).or_default().push(row);
    }
    Ok(gains)
}

fn learning(searched: &SearchWorkload) -> Result<Box<dyn Policy>, LookError> {
    let settings = PolicySettings { queries: Some(searched.measure()), ..PolicySettings::default() };
    find(LEARNS_FROM_GAINS, &settings).map_err(|error| StoreError::BadValue(error).into())
}

/// What a visit is expected to gain, by the measured refreshes of a page; `None` if there are none.
fn measured_gain(policy: &dyn Policy, mut learnt: Learnt, gains: &[GainRow], days: f64) -> Option<f64> {
    gains.iter().for_each(|row| policy.learn_gain(&mut learnt, &row.gain));
    // A refresh that found a change and was not measured says nothing; without any measured one, neither do the others.
    gains.iter().find(|row| !row.gain.is_first)?;
    let window: GainWindow = learnt.memory.read(GainWindow::read);
    let measured = window.measured();
    // Gains don't grow for ever: no more is expected than a refresh has ever brought.
    let most = measured.iter().fold(0.0, |most: f64, refresh| most.max(refresh.delta));
    Some(priority(mean_of_ratios(&measured)?, days).min(most))
}

/// The words that moved a page most in its last measured refreshes.
fn moved_words(gains: &[GainRow]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in gains.iter().rev().flat_map(|row| &row.words) {
        if !words.contains(word) && words.len() < MOST_WORDS {
            words.push(word.clone());
        }
    }
    words
}

fn expected(
    page: &KnownPage,
    quality_gain: f64,
    is_measured: bool,
    age_seconds: f64,
    change_probability: f64,
    search_words: Vec<String>,
) -> ExpectedGain {
    ExpectedGain {
        page_id: page.id.0,
        url: page.url.clone(),
        quality_gain,
        is_measured,
        age_seconds,
        change_probability,
        search_words,
    }
}

/// The queries whose results stand on pages that have probably changed: those that cost most first.
fn stale_queries(
    searched: &SearchWorkload,
    results: &[Vec<(usize, f64)>],
    changed: &[f64],
    urls: &HashMap<usize, String>,
    most: usize,
) -> Vec<StaleQuery> {
    let mut queries: Vec<(f64, StaleQuery)> = Vec::new();
    for (query, results) in searched.workload.queries().iter().zip(results) {
        let (mut all, mut lost) = (0.0, 0.0);
        for (rank, (place, score)) in (1..).zip(results) {
            let worth = searched.attention.at(rank) * score;
            all += worth;
            lost += worth * changed.get(*place).copied().unwrap_or(0.0);
        }
        let best_url = results.first().and_then(|(place, _)| urls.get(place));
        if let Some(best_url) = best_url.filter(|_| lost > 0.0) {
            let stale = StaleQuery {
                query: query.terms.join(" "),
                frequency: query.frequency,
                match_count: results.len(),
                changed_share: lost / all,
                best_url: best_url.clone(),
            };
            queries.push((query.frequency * lost, stale));
        }
    }
    queries.sort_by(|a, b| b.0.total_cmp(&a.0));
    queries.into_iter().take(most).map(|(_, query)| query).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::attention::Attention;
    use crate::quality::gain::MeasuredGain;
    use crate::quality::terms::{TermReader, distinct_terms};

    fn searched() -> SearchWorkload {
        let queries =
            [("cancer law", 2.0), ("law", 1.0)].map(|(query, often)| (distinct_terms(query), often));
        let workload = Workload::of(queries).expect("a workload");
        SearchWorkload { workload, scoring: Scoring::Inlinks, attention: Attention::default() }
    }

    #[test]
    fn worths_are_those_of_single_terms_by_hand() {
        let searched = searched();
        let terms = WorkloadTerms::of(&searched.workload);
        let words = ["law on cancer", "law", "nothing"]
            .map(|text| terms.words_of(&TermReader::default().count(&[text])));
        let copies: Vec<(u64, &CopyWords, u32)> =
            (0..).zip(&words).map(|(page, copy)| (page, copy, 2 - page as u32)).collect();
        let worths = copy_worths(&searched, &copies);
        // `cancer` is asked twice, `law` three times. Page 0 is first for both with a score of 2, page 1 second for `law` with 1.
        let second = 3.0 * 2_f64.powf(-1.5);
        assert!((worths.of(0) - 10.0).abs() < 1e-12 && (worths.of(1) - second).abs() < 1e-12);
        assert!((worths.ideal - 10.0 - second).abs() < 1e-12);
        assert_eq!((worths.of(2), worths.words(0)), (0.0, vec!["law".to_owned(), "cancer".to_owned()]));
    }

    #[test]
    fn a_page_is_measured_once_a_refresh_of_it_was() {
        let searched = searched();
        let policy = learning(&searched).expect("a policy");
        let row = |is_first| GainRow {
            page: PageId(1),
            measure: searched.measure(),
            gain: MeasuredGain { at: Timestamp::from_seconds(9), delta: 4.0, is_first },
            words: vec!["law".to_owned()],
        };
        let gain = |rows: &[GainRow]| measured_gain(&*policy, Learnt::default(), rows, 1.0);
        assert_eq!((gain(&[]), gain(&[row(true)])), (None, None));
        assert_eq!(gain(&[row(false)]), None, "no visit is known that it belongs to");
        assert_eq!(moved_words(&[row(true), row(false)]), ["law"]);
    }
}
