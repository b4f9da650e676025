//! `freshet why URL`: in plain sentences, why a page is or is not due.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;
use url::Url;

use freshet::crawl::preview::{About, Foreseen};
use freshet::fetch::read_robots;
use freshet::fetch::visit::Waiting;
use freshet::observation::Life;
use freshet::page::PageId;
use freshet::report::{counted, number, percent, rate, span};
use freshet::store::{KnownHost, PageRow};
use freshet::time::{Age, Timestamp};

use super::plan::{every, facts, looking, span_of};
use crate::cli::{Global, WhyArgs};
use crate::settings::Settings;
use freshet::look::page::find;

pub fn run(global: &Global, arguments: &WhyArgs) -> anyhow::Result<ExitCode> {
    let (mut crawler, settings) = looking(global, &arguments.flags, arguments.every.as_ref())?;
    let asked = find(crawler.store()?, &settings.normaliser(), &arguments.url)?;
    // Another page may stand for it: then that one is what is visited.
    let page = match &asked.alias_of {
        Some(target) => find(crawler.store()?, &settings.normaliser(), target)?,
        None => asked.clone(),
    };
    let now = Timestamp::now();
    let foreseen = crawler.foresee(now, Some(PageId(page.id)))?;
    let Some(about) = &foreseen.about else { anyhow::bail!("`{}` is not in the store", page.url) };
    let host = crawler.store()?.hosts()?.into_iter().find(|host| host.id == about.page.host);
    let verdict = Verdict::of(about, host.as_ref(), &settings, now);
    let sentences = sentences(&asked, about, &foreseen, host.as_ref(), crawler.policy_name(), &verdict, now);
    let text = if global.json {
        let state = &about.page.state;
        let value = json!({
            "page": about.page.url,
            "asked": asked.url,
            "verdict": verdict.name(),
            "policy": crawler.policy_name(),
            "score": about.score.value(),
            "rank": about.better + 1,
            "candidates": foreseen.candidates,
            "planned": about.is_planned,
            "budget": foreseen.budget,
            "due_at": about.page.due_at,
            "state": page.state,
            "last_visit_at": page.last_visit_at,
            "seen_at": state.seen_at,
            "failures": state.failures,
            "visits_compared": state.learnt.state.visits,
            "changes": state.learnt.state.changes,
            "weight": state.weight,
            "reason": about.reason,
            "sentences": sentences,
        });
        serde_json::to_string_pretty(&value)? + "\n"
    } else {
        sentences.join("\n") + "\n"
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// What decides.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Unwanted,
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
    fn of(about: &About, host: Option<&KnownHost>, settings: &Settings, now: Timestamp) -> Self {
        let forbidden = host.is_some_and(|host| is_forbidden(&about.page.url, host, settings));
        let waits = host.and_then(|host| host.report.wait).filter(|(until, _)| *until > now);
        match waits {
            _ if !about.is_wanted => Self::Unwanted,
            _ if forbidden => Self::Robots,
            _ if about.is_done => Self::Done,
            _ if about.page.due_at > now => Self::BackOff,
            _ if about.is_planned => Self::Due,
            Some((until, why)) => Self::HostWaits(until, why),
            None if about.host_room == Some(0) => Self::HostFull,
            None if settings.crawl.budget.is_none() => Self::NotDue,
            None => Self::BelowTheCut,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Unwanted => "out-of-scope",
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

/// Does the robots.txt that is held forbid the page?
fn is_forbidden(url: &str, host: &KnownHost, settings: &Settings) -> bool {
    let (Some(record), Ok(url)) = (&host.report.robots, Url::parse(url)) else { return false };
    let fetch = &settings.crawl.fetch;
    let robots = read_robots(record.status, &record.body, fetch.product_token(&host.report.host));
    !robots.allows(&url)
}

#[allow(clippy::too_many_arguments)]
fn sentences(
    asked: &PageRow,
    about: &About,
    foreseen: &Foreseen,
    host: Option<&KnownHost>,
    policy: &str,
    verdict: &Verdict,
    now: Timestamp,
) -> Vec<String> {
    let (page, state) = (&about.page, &about.page.state);
    let mut said = Vec::new();
    if asked.url != page.url {
        said.push(format!(
            "{} is another spelling of {}, which is visited in its place.",
            asked.url, page.url
        ));
    }
    said.push(match verdict {
        Verdict::Due => format!("{} is in the plan of the next cycle.", page.url),
        Verdict::Unwanted => format!("{} is not visited: the scope, or a pattern, leaves it out.", page.url),
        Verdict::Done => {
            format!(
                "{} was visited in the cycle that is under way, and is not visited again in it.",
                page.url
            )
        }
        Verdict::Robots => format!("{} is not visited: robots.txt forbids it.", page.url),
        Verdict::BackOff => format!(
            "{} is not due before {}, in {}: {}.",
            page.url,
            page.due_at,
            span(page.due_at.after(now)),
            back_off(state.life, state.failures)
        ),
        Verdict::HostWaits(until, why) => format!(
            "{} waits for its host, which is left alone until {until} ({}), for {} more.",
            page.url,
            why.name(),
            span(until.after(now))
        ),
        Verdict::HostFull => {
            format!("{} is not in the plan: its host has no room for another visit in this cycle.", page.url)
        }
        Verdict::NotDue => format!("{} is not due yet.", page.url),
        Verdict::BelowTheCut => {
            format!("{} is not in the plan of the next cycle: others come first.", page.url)
        }
    });
    said.push(past(about, now));
    said.push(by_policy(about, policy, now));
    said.push(rank(about, foreseen));
    said.extend(host.map(|host| of_host(host, about, now)));
    said
}

fn back_off(life: Life, failures: u32) -> String {
    let times = if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
    match life {
        Life::Gone => format!("it was gone {times}, and is looked for ever more rarely"),
        Life::Blocked => format!("it was blocked {times}, and is tried ever more rarely"),
        _ => format!("it failed {times}, and each failure doubles the wait"),
    }
}

/// What was seen of it so far.
fn past(about: &About, now: Timestamp) -> String {
    let state = &about.page.state;
    let learnt = &state.learnt.state;
    let Some(last) = state.last_visit else {
        return format!(
            "It was found {} ago, {} away from a seed, and never visited.",
            span_of(now.since(state.found_at)),
            counted(state.depth as usize, "link")
        );
    };
    let ago = span_of(now.since(last));
    let seen = match state.seen_at {
        Some(seen) if seen == last => "which brought or confirmed what is held".to_owned(),
        Some(seen) => {
            format!("which failed; what is held was last confirmed {} ago", span_of(now.since(seen)))
        }
        None => format!("and nothing of it is held ({})", state.life.name()),
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
    format!("Its last visit was {ago} ago, {seen}. {changes}.")
}

/// What the policy makes of it.
fn by_policy(about: &About, policy: &str, now: Timestamp) -> String {
    let (state, reason) = (&about.page.state, &about.reason);
    if state.last_visit.is_none() {
        let of =
            format!("The policy `{policy}` gives this new page a score of {}", rate(about.score.value()));
        return of + ".";
    }
    let mut parts = Vec::new();
    if let Some(estimate) = reason.estimate {
        parts.push(format!(
            "it is taken to change {} ({} changes a day, from {} to {} 19 times out of 20)",
            every(estimate.rate.get()),
            rate(estimate.rate.get()),
            rate(estimate.low.get()),
            rate(estimate.high.get())
        ));
    }
    if let Some(chance) = reason.chance {
        parts.push(format!("it is {} sure to have changed since it was last seen", percent(chance)));
    }
    if let Some(replaced) = reason.replaced_a_day {
        let all =
            if replaced > 0.0 { span_of(Age::from_days(1.0 / replaced)) } else { "centuries".to_owned() };
        parts.push(format!("its text is taken to be replaced within {all}"));
    }
    if let Some(haste) = reason.haste {
        parts.push(format!("by what pages like it did since, its time counts {} times", rate(haste)));
    }
    if let Some(divergence) = reason.divergence {
        parts.push(format!("{} of it is expected to differ from what is held", percent(divergence)));
    }
    if let Some(gain) = reason.gain_days {
        parts.push(format!("a visit now is expected to gain {} of freshness", span_of(Age::from_days(gain))));
    }
    if let Some(visits) = reason.visits_a_day {
        parts.push(format!("its share of the budget is a visit {}", every(visits)));
    }
    if let Some(interval) = reason.interval_days {
        let due = Age::from_days(interval - state.copy_age(now).days());
        let when = if due.seconds() > 0.0 { format!("in {}", span_of(due)) } else { "by now".to_owned() };
        parts.push(format!(
            "the rule visits it every {}, so it is due {when}",
            span_of(Age::from_days(interval))
        ));
    }
    if !reason.facts.is_empty() {
        parts.push(facts(reason).collect::<Vec<_>>().join(", "));
    }
    if parts.is_empty() {
        parts.push(format!("it counts that the page was left alone for {}", span_of(state.age(now))));
    }
    let failures = match state.failures {
        0 => String::new(),
        failures => format!(", halved for each of {failures} failures in a row"),
    };
    let weight =
        if state.weight == 1.0 { String::new() } else { format!(" (weight {})", rate(state.weight)) };
    format!(
        "By the policy `{policy}`, {}. Its score is {}{weight}{failures}.",
        parts.join("; "),
        rate(about.score.value())
    )
}

/// Where it stands among the others.
fn rank(about: &About, foreseen: &Foreseen) -> String {
    let of = number(foreseen.candidates as u64);
    if !about.is_candidate {
        return format!("{of} other pages may be visited now.");
    }
    let place = number(about.better as u64 + 1);
    match (foreseen.budget, foreseen.visits.last()) {
        (Some(budget), Some(last)) => format!(
            "It is number {place} of the {of} pages that may be visited now; the plan has {} visits under a budget of {}, \
             the last with a score of {}.",
            number(foreseen.visits.len() as u64),
            number(budget),
            rate(last.score.value())
        ),
        _ => format!(
            "It is number {place} of the {of} pages that may be visited now; without a budget all of them are."
        ),
    }
}

fn of_host(host: &KnownHost, about: &About, now: Timestamp) -> String {
    let delay = span(host.report.delay);
    let room = match about.host_room {
        Some(room) => format!("; the cycle has room for {} visits to it", number(room as u64)),
        None => String::new(),
    };
    let wait = match host.report.wait.filter(|(until, _)| *until > now) {
        Some((until, why)) => format!("; it waits until {until} ({})", why.name()),
        None => String::new(),
    };
    let robots = match &host.report.robots {
        Some(record) => {
            format!("robots.txt answered {} {} ago", record.status, span_of(now.since(record.at)))
        }
        None => "robots.txt was not read yet".to_owned(),
    };
    format!("Its host {} is asked at most every {delay}{room}{wait}; {robots}.", host.report.host.as_str())
}
