//! What the next cycle would do, without doing it: nothing is asked for, and nothing written.

use std::time::Instant;

use super::cycle::{Ready, cap};
use super::prepare::{self, Terms, View};
use super::weights::Weights;
use super::{CrawlError, CrawlSettings, Crawler};
use crate::fetch::web::Web;
use crate::page::PageId;
use crate::policy::{self, Reason, Score};
use crate::schedule::Discovery;
use crate::store::{CycleId, KnownPage, OpenCycle};
use crate::time::Timestamp;

/// The plan of the next cycle.
#[derive(Clone, Debug)]
pub struct Foreseen {
    /// Best first.
    pub visits: Vec<Foretold>,
    /// Pages that may be visited now.
    pub candidates: usize,
    /// Those of them that were never visited.
    pub new: usize,
    /// An interrupted cycle is taken up.
    pub resumed: bool,
    pub budget: Option<u64>,
    /// The least score of a page that is visited again.
    pub threshold: Option<f64>,
    /// The page that was asked about.
    pub about: Option<About>,
}

/// A visit that is planned.
#[derive(Clone, Debug)]
pub struct Foretold {
    pub page: KnownPage,
    pub score: Score,
    pub is_new: bool,
    pub reason: Reason,
}

/// Where one page stands.
#[derive(Clone, Debug)]
pub struct About {
    pub page: KnownPage,
    pub score: Score,
    pub reason: Reason,
    /// It is in the plan.
    pub is_planned: bool,
    /// It may be visited now; else it waits, is unwanted, or another stands for it.
    pub is_candidate: bool,
    pub is_wanted: bool,
    /// It was visited in the cycle that is under way.
    pub is_done: bool,
    /// Pages that come before it.
    pub better: usize,
    /// Visits that its host has room for in the cycle; `None`: any number.
    pub host_room: Option<usize>,
}

impl<W: Web> Crawler<W> {
    /// What a cycle that began now would visit, in the order of scores, as far as is known before its first answer;
    /// and where the page `about` stands.
    pub fn foresee(&mut self, now: Timestamp, about: Option<PageId>) -> Result<Foreseen, CrawlError> {
        let mut store = self.store.take().ok_or(CrawlError::WriterLost)?;
        let (priors, _) = prepare::priors(&mut *store, &*self.policy)?;
        prepare::believe(&mut self.policy, &priors);
        prepare::recall(&mut *store, &mut self.policy)?;
        let view = View {
            weights: Weights::load(&mut *store, self.settings.weight)?,
            learnt: prepare::learnt_otherwise(&mut *store, &*self.policy)?,
        };
        let length = prepare::cycle_length(&mut *store, self.settings.every, now)?;
        let last = store.cycles(1)?.into_iter().next();
        let interrupted = last.as_ref().filter(|cycle| cycle.ended_at.is_none());
        let open = OpenCycle {
            id: CycleId(match (&last, interrupted) {
                (_, Some(cycle)) => cycle.id,
                (Some(cycle), None) => cycle.id + 1,
                (None, None) => 1,
            }),
            resumed: interrupted.is_some(),
            requests: interrupted.map_or(0, |cycle| cycle.requests),
            outstanding: Vec::new(),
        };
        let CrawlSettings { budget, threshold, .. } = self.settings;
        let terms = Terms { cycle: open.id.0, now, budget, threshold, length };
        let Ready { fetcher, hosts, mut candidates, .. } = Ready::of(self, &mut *store, &open, &view, terms)?;
        let asked = about.map(|page| store.known_page(page)).transpose()?.flatten();
        let asked = asked.map(|mut page| {
            view.adjust(&mut page);
            let score = policy::score(&*self.policy, &page.state, now);
            (candidates.better_than(&page.state, score), score, page)
        });
        let (all, new) = (candidates.len(), candidates.len_of_new());
        let until = self.settings.every.map(|every| Instant::now() + every);
        let budget = fetcher.left().map_or(usize::MAX, |left| left as usize);
        let mut discovery = self.settings.discover.map(Discovery::of);
        let room = |id| hosts.get(&id).map_or(0, |host| cap(&fetcher, host, until));
        let plan = candidates.choose(budget, discovery.as_mut(), room);
        let about = asked.map(|(better, score, page)| {
            let is_wanted = self.is_wanted(&page);
            let is_done = page.last_cycle == Some(open.id);
            let waits = page.due_at > now || is_done || terms.can_wait(&*self.policy, &page.state);
            let host_room = Some(room(page.host)).filter(|room| *room < usize::MAX);
            About {
                score,
                reason: self.policy.reason(&page.state, now),
                is_planned: plan.visits.iter().any(|visit| visit.page == page.id),
                is_candidate: is_wanted && !waits,
                is_wanted,
                is_done,
                better,
                host_room,
                page,
            }
        });
        let mut visits = Vec::with_capacity(plan.visits.len());
        for visit in &plan.visits {
            if let Some(mut page) = store.known_page(visit.page)? {
                view.adjust(&mut page);
                let reason = self.policy.reason(&page.state, now);
                visits.push(Foretold { page, score: visit.score, is_new: visit.is_new, reason });
            }
        }
        self.store = Some(store);
        let (resumed, budget) = (open.resumed, self.settings.budget);
        let revisits = plan.visits.iter().filter(|visit| !visit.is_new).map(|visit| visit.score.value());
        let threshold = revisits.min_by(f64::total_cmp);
        Ok(Foreseen { visits, candidates: all, new, resumed, budget, threshold, about })
    }

    /// The name of the policy that ranks pages.
    pub fn policy_name(&self) -> &str {
        self.policy.name()
    }
}
