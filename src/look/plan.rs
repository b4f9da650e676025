//! The visits that the next cycle would make, and why. No request is sent, and nothing is written.

use serde::Serialize;

use crate::crawl::Crawler;
use crate::crawl::preview::PreviewedVisit;
use crate::fetch::web::Web;
use crate::policy::Reason;
use crate::time::Timestamp;

use super::LookError;
use super::figures::counted;
use super::reason::{labels, span_of};

/// The plan of the next cycle.
#[derive(Clone, Debug, Serialize)]
pub struct NextPlan {
    /// The policy that ranks pages.
    pub policy: String,
    /// Best first.
    pub visits: Vec<NextVisit>,
    /// Pages that may be visited now.
    pub candidates: usize,
    /// Those of them that were never visited.
    pub new: usize,
    /// An interrupted cycle is taken up.
    pub resumed: bool,
    /// Requests that the cycle may send.
    pub budget: Option<u64>,
    /// The least score of a page that is visited again.
    pub threshold: Option<f64>,
}

/// A visit that is planned.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct NextVisit {
    /// Its place in the plan, from 1.
    pub rank: usize,
    /// The page.
    #[serde(rename = "url")]
    pub page: String,
    /// Its score.
    pub score: f64,
    /// It was never visited.
    #[serde(rename = "is_new")]
    pub new: bool,
    /// Its importance.
    pub weight: f64,
    /// Days since its last visit.
    pub age_days: f64,
    /// Visits that had something to compare with.
    #[serde(rename = "visits_compared")]
    pub visits: u32,
    /// Those of them that found a change.
    #[serde(rename = "changes_found")]
    pub changes: u32,
    /// Failures in a row.
    pub failures: u32,
    /// The values that its score depends on.
    pub score_facts: Reason,
    /// The reason in a few words.
    pub why: String,
}

/// The visits that a cycle would make if it began now, in the order of scores, as far as is known before its first answer.
pub fn plan<W: Web>(crawler: &mut Crawler<W>, now: Timestamp) -> Result<NextPlan, LookError> {
    let preview = crawler.preview(now, None)?;
    let visits = preview.visits.into_iter().enumerate();
    Ok(NextPlan {
        policy: crawler.policy_name().to_owned(),
        visits: visits.map(|(place, visit)| NextVisit::of(place + 1, visit, now)).collect(),
        candidates: preview.candidates,
        new: preview.new,
        resumed: preview.resumed,
        budget: preview.budget,
        threshold: preview.threshold,
    })
}

impl NextVisit {
    fn of(rank: usize, visit: PreviewedVisit, now: Timestamp) -> Self {
        let why = in_words(&visit, now);
        let PreviewedVisit { page, score, is_new, reason } = visit;
        let state = page.state;
        Self {
            rank,
            page: page.url,
            score: score.value(),
            new: is_new,
            weight: state.weight,
            age_days: state.age(now).days(),
            visits: state.learnt.state.visits,
            changes: state.learnt.state.changes,
            failures: state.failures,
            score_facts: reason,
            why,
        }
    }
}

/// The reason of a visit in a few words.
fn in_words(visit: &PreviewedVisit, now: Timestamp) -> String {
    let state = &visit.page.state;
    let mut words = if state.last_visit.is_none() {
        format!("new, depth {}", state.depth)
    } else if !state.is_held() {
        format!("nothing stored, {}", state.life.name())
    } else {
        let seen = format!("seen {} ago", span_of(state.copy_age(now)));
        std::iter::once(seen).chain(labels(&visit.reason)).collect::<Vec<_>>().join(", ")
    };
    if state.failures > 0 {
        words += &format!("; {} in a row", counted(state.failures, "failure"));
    }
    words
}
