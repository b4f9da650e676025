//! Why a page is or is not due, as figures and in plain sentences.

use serde::Serialize;
use url::Url;

use crate::crawl::preview::{Preview, PreviewedPage};
use crate::crawl::{Crawler, clock};
use crate::fetch::visit::{RobotsRecord, Waiting};
use crate::fetch::web::Web;
use crate::fetch::{FetchSettings, read_robots};
use crate::observation::Life;
use crate::page::{Host, PageId};
use crate::policy::Reason;
use crate::store::{KnownHost, Wanted};
use crate::time::{Age, Timestamp};

use super::LookError;
use super::figures::{counted, number, rate, span};
use super::page::find;
use super::reason::{clauses, span_of};

/// Where a page stands, and why.
#[derive(Clone, Debug, Serialize)]
pub struct Why {
    /// The page.
    pub page: String,
    /// The URL that was asked about: the page, or another spelling of it.
    pub asked: String,
    /// The verdict: `due`, `not-due`, `robots` and so on.
    pub verdict: &'static str,
    /// The policy that ranks pages.
    pub policy: String,
    /// Its score.
    pub score: f64,
    /// Its place among the pages that may be visited now, from 1.
    pub rank: usize,
    /// Pages that may be visited now.
    pub candidates: usize,
    /// It is in the plan of the next cycle.
    pub planned: bool,
    /// Requests that the next cycle may send.
    pub budget: Option<u64>,
    /// Not to be visited before.
    pub due_at: Timestamp,
    /// Where it is in its life.
    pub state: String,
    /// The page it was found on; none for seeds and for pages that a sitemap named.
    pub found_on: Option<String>,
    /// Its last visit.
    pub last_visit_at: Option<Timestamp>,
    /// The last visit that brought or confirmed its copy.
    pub seen_at: Option<Timestamp>,
    /// Failures in a row.
    pub failures: u32,
    /// Visits that had something to compare with.
    pub visits_compared: u32,
    /// Those of them that found a change.
    pub changes: u32,
    /// Its importance.
    pub weight: f64,
    /// The values that its score depends on.
    pub reason: Reason,
    /// All of this in sentences.
    pub sentences: Vec<String>,
}

/// Why the page of that URL is or is not due. Where another page stands for it, that one is what is visited.
pub fn why<W: Web>(crawler: &mut Crawler<W>, url: &str, now: Timestamp) -> Result<Why, LookError> {
    let normaliser = crawler.normaliser().clone();
    let asked = find(crawler.store()?, &normaliser, url)?;
    let page = match &asked.alias_of {
        Some(target) => find(crawler.store()?, &normaliser, target)?,
        None => asked.clone(),
    };
    let mut preview = crawler.preview(now, Some(PageId(page.id)))?;
    let Some(about) = preview.about.take() else { return Err(LookError::UnknownPage(page.url)) };
    let mut host = crawler.store()?.hosts()?.into_iter().find(|host| host.id == about.page.host);
    if let Some(host) = &mut host {
        clock::correct_host(host, now);
    }
    let robots_of = host.iter().map(|host| host.report.host.clone()).collect();
    let robots = crawler.store()?.load(&Wanted { robots_of, ..Wanted::default() })?.robots.pop();
    let is_forbidden = robots.is_some_and(|(host, record)| {
        is_forbidden(&about.page.url, &host, &record, crawler.fetch_settings())
    });
    let verdict = Verdict::of(&about, host.as_ref(), preview.budget, is_forbidden, now);
    let policy = crawler.policy_name().to_owned();
    let told =
        WhySentences { asked: &asked.url, about: &about, preview: &preview, policy: &policy, verdict, now };
    let mut sentences = told.sentences();
    sentences.extend(page.found_on.as_ref().map(|on| format!("It was found on {on}.")));
    sentences.extend(host.map(|host| told.of_host(&host)));
    sentences.extend((page.bytes.is_some() && !page.is_stored).then(|| NO_ROOM.to_owned()));
    let state = about.page.state;
    Ok(Why {
        page: about.page.url,
        asked: asked.url,
        verdict: verdict.name(),
        policy,
        score: about.score.value(),
        rank: about.better + 1,
        candidates: preview.candidates,
        planned: about.is_planned,
        budget: preview.budget,
        due_at: about.page.due_at,
        state: page.state,
        found_on: page.found_on,
        last_visit_at: page.last_visit_at,
        seen_at: state.seen_at,
        failures: state.failures,
        visits_compared: state.learnt.state.visits,
        changes: state.learnt.state.changes,
        weight: state.weight,
        reason: about.reason,
        sentences,
    })
}

/// The fact that decides about a page.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    OutOfScope,
    Done,
    Robots,
    BackOff,
    HostWaits(Timestamp, Waiting),
    HostFull,
    BelowTheCut,
    NotDue,
    Due,
}

impl Verdict {
    fn of(
        about: &PreviewedPage,
        host: Option<&KnownHost>,
        budget: Option<u64>,
        is_forbidden: bool,
        now: Timestamp,
    ) -> Self {
        let waits = host.and_then(|host| host.report.wait).filter(|(until, _)| *until > now);
        match waits {
            _ if !about.is_wanted => Self::OutOfScope,
            _ if is_forbidden => Self::Robots,
            _ if about.is_done => Self::Done,
            _ if about.page.due_at > now => Self::BackOff,
            _ if about.is_planned => Self::Due,
            Some((until, why)) => Self::HostWaits(until, why),
            None if about.host_room == Some(0) => Self::HostFull,
            None if budget.is_none() => Self::NotDue,
            None => Self::BelowTheCut,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::OutOfScope => "out-of-scope",
            Self::Done => "visited-in-this-cycle",
            Self::Robots => "robots",
            Self::BackOff => "back-off",
            Self::HostWaits(..) => "host-waits",
            Self::HostFull => "host-full",
            Self::BelowTheCut => "below-the-cut",
            Self::NotDue => "not-due",
            Self::Due => "due",
        }
    }
}

/// Does the stored robots.txt forbid the page?
fn is_forbidden(url: &str, host: &Host, record: &RobotsRecord, fetch: &FetchSettings) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let robots = read_robots(record.status, &record.body, fetch.product_token(host));
    !robots.allows(&url)
}

/// The sentence for a page whose latest version is not stored.
const NO_ROOM: &str =
    "Its latest version is not stored: it or its host has reached `page_store_bytes` or `host_store_bytes`.";

/// The facts that the sentences are about.
struct WhySentences<'a> {
    asked: &'a str,
    about: &'a PreviewedPage,
    preview: &'a Preview,
    policy: &'a str,
    verdict: Verdict,
    now: Timestamp,
}

impl WhySentences<'_> {
    /// The verdict, the past of the page, its score, its place among others.
    fn sentences(&self) -> Vec<String> {
        let page = &self.about.page.url;
        let alias = (self.asked != page)
            .then(|| format!("{} is another spelling of {page}, which is visited in its place; it is looked at itself now and then.", self.asked));
        let rest = [self.verdict(), self.past(), self.score(), self.rank()];
        alias.into_iter().chain(rest).collect()
    }

    fn verdict(&self) -> String {
        let page = &self.about.page;
        let (url, state) = (&page.url, &page.state);
        match self.verdict {
            Verdict::Due => format!("{url} is in the plan of the next cycle."),
            Verdict::OutOfScope => {
                format!("{url} is not visited: it is out of scope, or a pattern excludes it.")
            }
            Verdict::Done => {
                format!("{url} was visited in the running cycle, and is not visited again in it.")
            }
            Verdict::Robots => format!("{url} is not visited: robots.txt forbids it."),
            Verdict::BackOff => format!(
                "{url} is not due before {}, in {}: {}.",
                page.due_at,
                span(page.due_at.after(self.now)),
                back_off(state.life, state.failures)
            ),
            Verdict::HostWaits(until, why) => format!(
                "{url} waits for its host, which is left alone until {until} ({}), for {} more.",
                why.name(),
                span(until.after(self.now))
            ),
            Verdict::HostFull => {
                format!("{url} is not in the plan: its host has no room for another visit in this cycle.")
            }
            Verdict::NotDue => format!("{url} is not due yet."),
            Verdict::BelowTheCut => {
                format!("{url} is not in the plan of the next cycle: others come first.")
            }
        }
    }

    /// The visits so far.
    fn past(&self) -> String {
        let (state, now) = (&self.about.page.state, self.now);
        let learnt = &state.learnt.state;
        let Some(last) = state.last_visit else {
            return format!(
                "It was found {} ago, {} away from a seed, and never visited.",
                span_of(now.since(state.found_at)),
                counted(state.depth as usize, "link")
            );
        };
        let seen = match state.seen_at {
            Some(seen) if seen == last => "our copy was up to date then".to_owned(),
            Some(seen) => {
                format!("that visit failed, our copy was last confirmed {} ago", span_of(now.since(seen)))
            }
            None => format!("there is no copy of it ({})", state.life.name()),
        };
        let changes = match (learnt.changes, learnt.visits) {
            (_, 0) => "There was no second visit yet to compare with".to_owned(),
            (changes, visits) => format!(
                "Of {} visits that could compare, {} found a change, over {}",
                number(u64::from(visits)),
                number(u64::from(changes)),
                span_of(Age::from_days(learnt.watched_days))
            ),
        };
        format!("Last visited {} ago; {seen}. {changes}.", span_of(now.since(last)))
    }

    /// The score, and the values that it depends on.
    fn score(&self) -> String {
        let (state, policy) = (&self.about.page.state, self.policy);
        let score = rate(self.about.score.value());
        if state.last_visit.is_none() {
            return format!("The policy `{policy}` gives this new page a score of {score}.");
        }
        let mut parts: Vec<String> = clauses(&self.about.reason).collect();
        if parts.is_empty() {
            parts.push(format!("the page was left alone for {}", span_of(state.age(self.now))));
        }
        let failures = match state.failures {
            0 => String::new(),
            failures => format!(", halved for each of {failures} failures in a row"),
        };
        let weight =
            if state.weight == 1.0 { String::new() } else { format!(" (weight {})", rate(state.weight)) };
        format!("By the policy `{policy}`, {}. Its score is {score}{weight}{failures}.", parts.join("; "))
    }

    /// Its place among the others.
    fn rank(&self) -> String {
        let of = number(self.preview.candidates as u64);
        if !self.about.is_candidate {
            return format!("{of} other pages are eligible now.");
        }
        let place = number(self.about.better as u64 + 1);
        match (self.preview.budget, self.preview.visits.last()) {
            (Some(budget), Some(last)) => format!(
                "Rank {place} of {of} eligible pages; the plan has {} visits under a budget of {}, the last with a score \
                 of {}.",
                number(self.preview.visits.len() as u64),
                number(budget),
                rate(last.score.value())
            ),
            _ => format!("Rank {place} of {of} eligible pages. No budget is set, so all will be visited."),
        }
    }

    fn of_host(&self, host: &KnownHost) -> String {
        let now = self.now;
        let delay = span(host.report.delay);
        let room = match self.about.host_room {
            Some(room) => format!("; the cycle has room for {} visits to it", number(room as u64)),
            None => String::new(),
        };
        let wait = match host.report.wait.filter(|(until, _)| *until > now) {
            Some((until, why)) => format!("; it waits until {until} ({})", why.name()),
            None => String::new(),
        };
        let robots = match &host.robots {
            Some(record) => {
                format!("robots.txt answered {} {} ago", record.status, span_of(now.since(record.at)))
            }
            None => "robots.txt was not read yet".to_owned(),
        };
        let host = host.report.host.as_str();
        format!("Its host {host} is asked at most every {delay}{room}{wait}; {robots}.")
    }
}

fn back_off(life: Life, failures: u32) -> String {
    let times = if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
    match life {
        Life::Gone => format!("it was gone {times}, and is visited less and less often"),
        Life::Blocked => format!("it was blocked {times}, and is tried less and less often"),
        _ => format!("it failed {times}, and each failure doubles the wait"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_back_off_says_how_often_it_failed() {
        assert_eq!(back_off(Life::Failing, 1), "it failed once, and each failure doubles the wait");
        assert!(back_off(Life::Gone, 3).starts_with("it was gone 3 times in a row"));
    }
}
