//! Why a page is or is not due, as figures and in plain sentences.

use jiff::tz::TimeZone;
use serde::Serialize;

use crate::crawl::preview::{Preview, PreviewedPage};
use crate::crawl::{Crawler, clock};
use crate::fetch::visit::Waiting;
use crate::fetch::web::Web;
use crate::observation::Life;
use crate::page::PageId;
use crate::policy::Reason;
use crate::store::{KnownHost, PageRow};
use crate::time::{Age, Timestamp};

use super::figures::{counted, number, rate, span};
use super::page::find;
use super::reason::{clauses, span_of};
use super::signals::{SignalTrust, trust_by_host};
use super::{LookError, waits};

/// Where a page stands, and why.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Why {
    /// The page.
    #[serde(rename = "url")]
    pub page: String,
    /// The URL that was asked about: the page, or another spelling of it.
    #[serde(rename = "asked_url")]
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
    #[serde(rename = "is_planned")]
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
    /// How its last visit ended.
    pub outcome: Option<String>,
    /// The HTTP status of that visit, if there was an answer.
    pub status: Option<u16>,
    /// Where that answer leads.
    pub redirect_to: Option<String>,
    /// Why that visit brought nothing, in words; of a page that was never visited, why its host waits.
    pub reason: Option<String>,
    /// Why its host waits, or waited last, in words.
    pub host_reason: Option<String>,
    /// Failures in a row.
    pub failures: u32,
    /// Visits that had something to compare with.
    pub visits_compared: u32,
    /// Those of them that found a change.
    #[serde(rename = "changes_found")]
    pub changes: u32,
    /// Its importance.
    pub weight: f64,
    /// The values that its score depends on.
    pub score_facts: Reason,
    /// The words of queries that moved it most in search results when it was refreshed; none unless the policy learns from queries.
    pub search_words: Vec<String>,
    /// What signals say of it, and how far those of its host can be trusted: kinds that have told of a change of some page of the host.
    pub signals: Vec<WhySignals>,
    /// All of this in sentences.
    pub sentences: Vec<String>,
}

/// The signals of one kind.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct WhySignals {
    /// Signals for the page since the last visit that brought or confirmed its copy.
    pub since_visit: u32,
    /// Signals for the page in all.
    #[serde(rename = "signal_count")]
    pub signals: u32,
    /// How far those of the host can be trusted.
    #[serde(flatten)]
    pub trust: SignalTrust,
}

/// Why the page of that URL is or is not due; sentences have their times in `zone`. Where another page stands for it, that one is what is visited.
pub fn why<W: Web>(
    crawler: &mut Crawler<W>,
    url: &str,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Why, LookError> {
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
    let verdict = Verdict::of(&about, host.as_ref(), preview.budget, now);
    let policy = crawler.policy_name().to_owned();
    let host_reason = host.as_ref().and_then(|host| waits::of_host(&host.report));
    let told = WhySentences {
        asked: &asked.url,
        row: &page,
        about: &about,
        host_reason: host_reason.as_deref(),
        preview: &preview,
        policy: &policy,
        verdict,
        now,
        zone,
    };
    let mut sentences = told.sentences();
    let trust = trust_by_host(crawler.store()?)?.remove(&about.page.host).unwrap_or_default();
    let signals: Vec<WhySignals> = trust
        .iter()
        .map(|(kind, trust)| {
            let count = about.page.state.signals.of(*kind);
            let (since_visit, signals) = (count.since_visit, count.total);
            WhySignals { since_visit, signals, trust: SignalTrust::of(*kind, trust) }
        })
        .collect();
    sentences.extend(of_signals(&signals));
    let words = crawler.moved_words(PageId(page.id))?;
    sentences.extend(words.as_deref().map(of_words));
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
        outcome: page.outcome,
        status: page.status,
        redirect_to: page.redirect_to,
        reason: page.reason,
        host_reason,
        failures: state.failures,
        visits_compared: state.learnt.state.visits,
        changes: state.learnt.state.changes,
        weight: state.weight,
        score_facts: about.reason,
        search_words: words.unwrap_or_default(),
        signals,
        sentences,
    })
}

/// What signals say of the page, and how far those of its site can be trusted. Nothing where the site never told anything.
fn of_signals(signals: &[WhySignals]) -> Vec<String> {
    if signals.is_empty() {
        return Vec::new();
    }
    let told = signals.iter().filter(|of| of.since_visit > 0);
    let told: Vec<String> =
        told.map(|of| format!("{} by {}", number(of.since_visit.into()), of.trust.kind)).collect();
    let since = match told.is_empty() {
        true => "No signal has said since the last visit that it changed.".to_owned(),
        false => format!("Signals since the last visit that it changed: {}.", told.join(", ")),
    };
    let trust: Vec<String> =
        signals.iter().map(|of| format!("{}: {}", of.trust.kind, of.trust.in_words())).collect();
    vec![since, format!("Signals of its site so far: {}.", trust.join("; "))]
}

/// Which words make a page worth its visit.
fn of_words(words: &[String]) -> String {
    let named: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match named.split_last() {
        None => "No refresh of it has moved it in the results of a query yet.".to_owned(),
        Some((one, [])) => format!("Its refreshes move it in the results for {one}."),
        Some((last, others)) => {
            format!("Its refreshes move it most in the results for {} and {last}.", others.join(", "))
        }
    }
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
    fn of(about: &PreviewedPage, host: Option<&KnownHost>, budget: Option<u64>, now: Timestamp) -> Self {
        let waits = host.and_then(|host| host.report.wait).filter(|(until, _)| *until > now);
        match waits {
            _ if !about.is_wanted => Self::OutOfScope,
            _ if about.is_forbidden => Self::Robots,
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

/// The sentence for a page whose latest version is not stored.
const NO_ROOM: &str =
    "Its latest version is not stored: it or its host has reached `page_store_bytes` or `host_store_bytes`.";

/// The facts that the sentences are about.
struct WhySentences<'a> {
    asked: &'a str,
    row: &'a PageRow,
    about: &'a PreviewedPage,
    /// Why the host waits, or waited last, in words.
    host_reason: Option<&'a str>,
    preview: &'a Preview,
    policy: &'a str,
    verdict: Verdict,
    now: Timestamp,
    /// Of the times in the sentences.
    zone: &'a TimeZone,
}

impl WhySentences<'_> {
    /// The verdict, the past of the page, its score, its place among others.
    fn sentences(&self) -> Vec<String> {
        let page = &self.about.page.url;
        let alias = (self.asked != page)
            .then(|| format!("{} is another spelling of {page}, which is visited in its place; it is looked at itself now and then.", self.asked));
        // A page that is forbidden takes no part in the ranking.
        let is_ranked = self.verdict != Verdict::Robots;
        let rest = [
            Some(self.verdict()),
            Some(self.past()),
            is_ranked.then(|| self.score()),
            is_ranked.then(|| self.rank()),
        ];
        alias.into_iter().chain(rest.into_iter().flatten()).collect()
    }

    fn verdict(&self) -> String {
        let page = &self.about.page;
        let (url, state) = (&page.url, &page.state);
        match self.verdict {
            Verdict::Due => format!("{url} is in the plan of the next cycle."),
            Verdict::OutOfScope => {
                format!(
                    "{url} is not visited: it is out of scope, a pattern excludes it, or its seed is paused or removed."
                )
            }
            Verdict::Done => {
                format!("{url} was visited in the running cycle, and is not visited again in it.")
            }
            Verdict::Robots => format!("{url} is not visited: robots.txt forbids it."),
            Verdict::BackOff => format!(
                "{url} is not due before {}, in {}: {}.",
                page.due_at.in_zone(self.zone),
                span(page.due_at.after(self.now)),
                back_off(state.life, state.failures, self.row.reason.as_deref())
            ),
            Verdict::HostWaits(until, why) => format!(
                "{url} waits for its host, which is left alone until {}, for {} more ({}{}).",
                until.in_zone(self.zone),
                span(until.after(self.now)),
                why.name(),
                after_colon(self.host_reason),
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
                "It was found {} ago, {} away from a seed, and never visited{}.",
                span_of(now.since(state.found_at)),
                counted(state.depth as usize, "link"),
                after_colon(self.row.reason.as_deref()),
            );
        };
        let seen = match state.seen_at {
            Some(seen) if seen == last => "our copy was up to date then".to_owned(),
            Some(seen) => {
                format!(
                    "that visit {}, our copy was last confirmed {} ago",
                    self.brought_nothing(),
                    span_of(now.since(seen))
                )
            }
            None => format!("that visit {}, and no copy of it is stored", self.brought_nothing()),
        };
        let changes = match (learnt.changes, learnt.visits) {
            (_, 0) => "There was no second visit yet to compare with".to_owned(),
            (changes, visits) => format!(
                "Of {} that could compare, {} found a change, over {}",
                counted(visits, "visit"),
                number(u64::from(changes)),
                span_of(Age::from_days(learnt.watched_days))
            ),
        };
        format!("Last visited {} ago; {seen}. {changes}.", span_of(now.since(last)))
    }

    /// How the last visit failed to bring the page.
    fn brought_nothing(&self) -> String {
        match (&self.row.redirect_to, &self.row.reason) {
            (Some(to), None) => format!("led to {to}"),
            (_, Some(reason)) => format!("failed ({reason})"),
            (None, None) => "failed".to_owned(),
        }
    }

    /// The score, and the values that it depends on.
    fn score(&self) -> String {
        let (state, policy) = (&self.about.page.state, self.policy);
        let score = rate(self.about.score.value());
        if state.last_visit.is_none() {
            return format!("The policy `{policy}` gives this new page a score of {score}.");
        }
        let failures = match state.failures {
            0 => String::new(),
            failures => format!(", halved for each of {} in a row", counted(failures as usize, "failure")),
        };
        let weight =
            if state.weight == 1.0 { String::new() } else { format!(" (weight {})", rate(state.weight)) };
        if !state.is_held() {
            return format!(
                "Nothing is stored of it, so nothing can be compared. The policy `{policy}` gives it a score of {score}{weight}{failures}."
            );
        }
        let mut parts: Vec<String> = clauses(&self.about.reason).collect();
        if parts.is_empty() {
            parts.push(format!("the page was left alone for {}", span_of(state.age(self.now))));
        }
        format!("Estimate by `{policy}`: {}. Its score is {score}{weight}{failures}.", parts.join("; "))
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
                "Rank {place} of {of} eligible pages; the plan has {} under a budget of {}, the last with a score \
                 of {}.",
                counted(self.preview.visits.len(), "visit"),
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
            Some(room) => format!("; the cycle has room for {} to it", counted(room, "visit")),
            None => String::new(),
        };
        let wait = match host.report.wait.filter(|(until, _)| *until > now) {
            Some((until, why)) => {
                let until = until.in_zone(self.zone);
                format!("; it waits until {until} ({}{})", why.name(), after_colon(self.host_reason))
            }
            None => String::new(),
        };
        let robots = match (&host.robots, &host.report.robots_fault) {
            (_, Some(fault)) => format!("robots.txt could not be fetched ({})", fault.reason),
            (Some(record), None) => {
                format!("robots.txt answered {} {} ago", record.status, span_of(now.since(record.at)))
            }
            (None, None) => "robots.txt was not read yet".to_owned(),
        };
        let host = host.report.host.as_str();
        format!("Its host {host} is asked at most every {delay}{room}{wait}; {robots}.")
    }
}

/// `: connection refused`, or nothing.
fn after_colon(words: Option<&str>) -> String {
    words.map_or(String::new(), |words| format!(": {words}"))
}

fn back_off(life: Life, failures: u32, reason: Option<&str>) -> String {
    let why = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    let times = if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
    match life {
        Life::Gone => format!("it was gone {times}{why}, and is visited less and less often"),
        Life::Blocked => format!("it was blocked {times}{why}, and is tried less and less often"),
        _ => format!("it failed {times}{why}, and each failure doubles the wait"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_back_off_says_how_often_it_failed() {
        assert_eq!(back_off(Life::Failing, 1, None), "it failed once, and each failure doubles the wait");
        let gone = back_off(Life::Gone, 3, Some("HTTP 404 Not Found"));
        assert!(gone.starts_with("it was gone 3 times in a row (HTTP 404 Not Found), and"), "{gone}");
    }
}
