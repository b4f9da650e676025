//! A preview of the next cycle: which pages it would visit, and why. Nothing is asked for, and nothing is written.

use std::collections::HashMap;

use super::learning_together::Keep;
use super::opening::{Opening, is_wanted};
use super::planner::Eligibility;
use super::recorder::Recorder;
use super::stored_robots::StoredRobots;
use super::terms::{self, Terms, View};
use super::weights::Weights;
use super::{CrawlError, CrawlSettings, Crawler};
use super::{gains, learning, learning_together};
use crate::fetch::web::Web;
use crate::page::{HostId, PageId};
use crate::policy::{self, Reason, Score};
use crate::schedule::Discovery;
use crate::store::{CycleId, KnownPage, OpenCycle, Store};
use crate::time::Timestamp;

/// The plan of the next cycle.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The visits, best first.
    pub visits: Vec<PreviewedVisit>,
    /// Pages that may be visited now.
    pub candidates: usize,
    /// Candidates that were never visited.
    pub new: usize,
    /// The cycle was interrupted, and goes on.
    pub resumed: bool,
    /// Requests that the cycle may send; `None`: any number.
    pub budget: Option<u64>,
    /// The lowest score of a page that is visited again.
    pub threshold: Option<f64>,
    /// The page that was asked about.
    pub about: Option<PreviewedPage>,
}

/// A visit that is planned.
#[derive(Clone, Debug)]
pub struct PreviewedVisit {
    /// The page.
    pub page: KnownPage,
    /// Its score.
    pub score: Score,
    /// It was never visited.
    pub is_new: bool,
    /// How the policy comes to the score.
    pub reason: Reason,
}

/// One page, and its chances in the next cycle.
#[derive(Clone, Debug)]
pub struct PreviewedPage {
    /// The page.
    pub page: KnownPage,
    /// Its score.
    pub score: Score,
    /// How the policy comes to the score.
    pub reason: Reason,
    /// It is in the plan.
    pub is_planned: bool,
    /// It may be visited now. A page that is not due, is not wanted or is forbidden may not.
    pub is_candidate: bool,
    /// The robots.txt that was last read forbids it.
    pub is_forbidden: bool,
    /// The operator wants it.
    pub is_wanted: bool,
    /// The interrupted cycle visited it.
    pub is_done: bool,
    /// Pages that come before it.
    pub better: usize,
    /// Visits that its host has room for in the cycle; `None`: any number.
    pub host_room: Option<usize>,
}

impl<W: Web> Crawler<W> {
    /// The visits of a cycle that begins now, best first, as far as they are known before its first answer; and the chances
    /// of the page `about`.
    pub fn preview(&mut self, now: Timestamp, about: Option<PageId>) -> Result<Preview, CrawlError> {
        self.with_recorder(|crawler, recorder| preview(crawler, recorder, now, about))
    }

    /// The words of queries that moved a page most in its last refreshes; `None` if the policy does not learn from queries.
    pub fn moved_words(&mut self, page: PageId) -> Result<Option<Vec<String>>, CrawlError> {
        self.with_recorder(|crawler, recorder| {
            let Some(measure) = recorder.policy.looks_at().gains else { return Ok(None) };
            let index = crawler.settings.index.as_deref();
            Ok(Some(gains::moved_words(&mut *recorder.store, measure, index, page)?))
        })
    }

    /// The name of the policy that ranks pages.
    pub fn policy_name(&self) -> &str {
        &self.policy_name
    }
}

fn preview<W: Web>(
    crawler: &mut Crawler<W>,
    recorder: &mut Recorder,
    now: Timestamp,
    about: Option<PageId>,
) -> Result<Preview, CrawlError> {
    let Recorder { store, policy, .. } = &mut *recorder;
    let store = &mut **store;
    let (priors, _) = learning::priors(store, &**policy)?;
    learning::prepare(store, &mut **policy, &priors)?;
    let learnt = learning::learnt_otherwise(store, &**policy)?;
    learning_together::catch_up(store, &mut **policy, Keep::No)?;
    let waiting = match &crawler.settings.index {
        Some(index) => gains::learnt_with_waiting(store, &**policy, index, learnt.as_ref())?,
        None => HashMap::new(),
    };
    let promises = gains::promises(&**policy, &crawler.settings)?;
    let promised = gains::promised(store, &promises)?;
    let view = View { weights: Weights::load(store, &crawler.settings)?, learnt, waiting, promised };
    let CrawlSettings { budget, threshold, every, .. } = crawler.settings;
    let length = terms::cycle_length(store, every, now)?;
    let open = next_cycle(store)?;
    let terms = Terms { cycle: open.id.0, now, budget, threshold, shares_a_day: false, length };
    let Opening { fetcher, hosts, mut candidates, .. } = Opening::of(crawler, recorder, &open, &view, terms)?;
    let (store, policy) = (&mut *recorder.store, &*recorder.policy);
    let asked = about.map(|page| store.known_page(page)).transpose()?.flatten();
    let asked = asked.map(|mut page| {
        view.adjust(&mut page, now);
        let score = policy::score(policy, &page.state, now);
        (candidates.better_than(&page.state, score), score, page)
    });
    let (all, new) = (candidates.len(), candidates.len_of_new());
    let left = fetcher.left().map_or(usize::MAX, |left| left as usize);
    let mut discovery = crawler.settings.discover.map(Discovery::of);
    let cap = |host: HostId| hosts.load(host, &fetcher).map_or(0, |load| load.cap(every));
    let mut robots = StoredRobots::new(&crawler.settings.fetch);
    let (mut visits, mut forbidden, mut forbidden_new) = (Vec::new(), 0, 0);
    let mut taken: HashMap<HostId, usize> = HashMap::new();
    // A page that robots.txt forbids costs no request: the next best page gets its place.
    loop {
        let room = |host: HostId| cap(host).saturating_sub(taken.get(&host).copied().unwrap_or(0));
        let plan = candidates.choose(left.saturating_sub(visits.len()), discovery.as_mut(), room);
        if plan.visits.is_empty() {
            break;
        }
        for visit in plan.visits {
            let Some(mut page) = store.known_page(visit.page)? else { continue };
            if robots.forbid(store, &page.url)? {
                (forbidden, forbidden_new) = (forbidden + 1, forbidden_new + usize::from(visit.is_new));
                continue;
            }
            *taken.entry(visit.host).or_default() += 1;
            view.adjust(&mut page, now);
            let reason = policy.reason(&page.state, now);
            visits.push(PreviewedVisit { page, score: visit.score, is_new: visit.is_new, reason });
        }
    }
    let is_forbidden = match &asked {
        Some((_, _, page)) => robots.forbid(store, &page.url)?,
        None => false,
    };
    let about = asked.map(|(better, score, page)| {
        let is_wanted = is_wanted(&page, &crawler.unwanted);
        let eligibility = Eligibility::of(&page, open.id, &terms, policy, is_wanted, false);
        PreviewedPage {
            score,
            reason: policy.reason(&page.state, now),
            is_planned: visits.iter().any(|visit| visit.page.id == page.id),
            is_candidate: eligibility == Eligibility::Candidate && !is_forbidden,
            is_forbidden,
            is_wanted,
            is_done: eligibility == Eligibility::Visited,
            better,
            host_room: Some(cap(page.host)).filter(|room| *room < usize::MAX),
            page,
        }
    });
    let revisits = visits.iter().filter(|visit| !visit.is_new).map(|visit| visit.score.value());
    let threshold = revisits.min_by(f64::total_cmp);
    let (candidates, new) = (all - forbidden, new - forbidden_new);
    Ok(Preview { visits, candidates, new, resumed: open.resumed, budget, threshold, about })
}

/// The cycle that a crawl would open now. Plans of an interrupted run are left out: its pages compete again.
fn next_cycle(store: &mut dyn Store) -> Result<OpenCycle, CrawlError> {
    let last = store.cycles(1)?.into_iter().next();
    let interrupted = store.interrupted_cycle()?;
    let id = match (&last, &interrupted) {
        (_, Some(cycle)) => cycle.id,
        (Some(cycle), None) => cycle.id + 1,
        (None, None) => 1,
    };
    Ok(OpenCycle {
        id: CycleId(id),
        resumed: interrupted.is_some(),
        requests: interrupted.map_or(0, |cycle| cycle.requests),
        outstanding: Vec::new(),
    })
}
