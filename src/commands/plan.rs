//! `freshet plan`: what the next cycle would visit, and why.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use freshet::crawl::Crawler;
use freshet::crawl::preview::{Foreseen, Foretold};
use freshet::estimate::Estimate;
use freshet::fetch::network::Network;
use freshet::policy::Reason;
use freshet::report::{Align, Table, number, percent, rate, span};
use freshet::store;
use freshet::time::{Age, Timestamp};

use super::crawl::crawler;
use crate::cli::{Global, PlanArgs};
use crate::settings::{Given, Settings, Span, Usage, Written};

/// Visits that a table shows unless more are asked for.
const ROWS: usize = 40;

pub fn run(global: &Global, arguments: &PlanArgs) -> anyhow::Result<ExitCode> {
    let (mut crawler, _) = looking(global, &arguments.flags, arguments.every.as_ref())?;
    let now = Timestamp::now();
    let foreseen = crawler.foresee(now, None)?;
    let shown = match (arguments.limit, global.json) {
        (Some(0), _) | (None, true) => usize::MAX,
        (Some(limit), _) => limit,
        (None, false) => ROWS,
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if global.json {
        for (rank, visit) in foreseen.visits.iter().take(shown).enumerate() {
            serde_json::to_writer(&mut out, &as_json(rank + 1, visit, now))?;
            writeln!(out)?;
        }
    } else {
        out.write_all(as_text(&foreseen, crawler.policy_name(), shown, now).as_bytes())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// A crawler that only looks: nothing in the store is changed, and nobody is asked.
pub(super) fn looking(
    global: &Global,
    flags: &Given,
    every: Option<&Written<Span>>,
) -> anyhow::Result<(Crawler<Network>, Settings)> {
    let mut flags = flags.clone();
    flags.crawl.every = every.cloned();
    let settings = Settings::load(global, &flags)?;
    let store = store::open_to_look(&settings.store)?;
    let network = Network::new(settings.network.clone()).map_err(|error| Usage(error.to_string()))?;
    let policy = settings.policy()?;
    Ok((crawler(&settings, network, store, policy)?, settings))
}

fn as_json(rank: usize, visit: &Foretold, now: Timestamp) -> serde_json::Value {
    let state = &visit.page.state;
    json!({
        "rank": rank,
        "page": visit.page.url,
        "score": visit.score.value(),
        "new": visit.is_new,
        "weight": state.weight,
        "age_days": state.age(now).days(),
        "visits": state.learnt.state.visits,
        "changes": state.learnt.state.changes,
        "failures": state.failures,
        "reason": visit.reason,
        "why": why(visit, now),
    })
}

fn as_text(foreseen: &Foreseen, policy: &str, shown: usize, now: Timestamp) -> String {
    let mut table = Table::new(&[
        ("rank", Align::Right),
        ("score", Align::Right),
        ("page", Align::Left),
        ("why", Align::Left),
    ]);
    for (rank, visit) in foreseen.visits.iter().take(shown).enumerate() {
        table.row([
            number(rank as u64 + 1),
            rate(visit.score.value()),
            visit.page.url.clone(),
            why(visit, now),
        ]);
    }
    let mut text = table.render();
    let rest = foreseen.visits.len().saturating_sub(shown);
    if rest > 0 {
        text += &format!("(+{} more: --limit 0)\n", number(rest as u64));
    }
    let budget = match foreseen.budget {
        Some(budget) => format!("a budget of {}", number(budget)),
        None => "no budget".to_owned(),
    };
    let resumed = if foreseen.resumed { "; an interrupted cycle is taken up" } else { "" };
    let least = match foreseen.threshold {
        Some(least) if foreseen.budget.is_some() => {
            format!("; a threshold of {} would do the same", rate(least))
        }
        _ => String::new(),
    };
    text += &format!(
        "\n{} visits by `{policy}` with {budget}, of {} pages that may be visited ({} of them new){least}{resumed}\n",
        number(foreseen.visits.len() as u64),
        number(foreseen.candidates as u64),
        number(foreseen.new as u64),
    );
    text
}

/// The reason of a visit in a few words.
fn why(visit: &Foretold, now: Timestamp) -> String {
    let state = &visit.page.state;
    let mut words = if state.last_visit.is_none() {
        format!("new, depth {}", state.depth)
    } else if !state.is_held() {
        format!("nothing held, {}", state.life.name())
    } else {
        in_words(&visit.reason, state.copy_age(now))
    };
    if state.failures > 0 {
        words += &format!("; {} failures in a row", state.failures);
    }
    words
}

/// What a score goes by, in a few words.
pub(super) fn in_words(reason: &Reason, age: Age) -> String {
    let mut parts = vec![format!("seen {} ago", span_of(age))];
    if let Some(Estimate { rate: changes, .. }) = reason.estimate {
        parts.push(format!("changes {}", every(changes.get())));
    }
    if let Some(chance) = reason.chance {
        parts.push(format!("{} sure to have changed", percent(chance)));
    }
    if let Some(replaced) = reason.replaced_a_day {
        parts.push(format!("replaced {}", every(replaced)));
    }
    if let Some(divergence) = reason.divergence {
        parts.push(format!("{} of it expected to differ", percent(divergence)));
    }
    if let Some(gain) = reason.gain_days {
        parts.push(format!("gains {}", span_of(Age::from_days(gain))));
    }
    if let Some(visits) = reason.visits_a_day {
        parts.push(format!("worth a visit {}", every(visits)));
    }
    if let Some(interval) = reason.interval_days {
        parts.push(format!("due after {}", span_of(Age::from_days(interval))));
    }
    parts.extend(facts(reason));
    if reason.drawn {
        parts.push("drawn".to_owned());
    }
    parts.join(", ")
}

/// What a formula looks at: `X = 3`
pub(super) fn facts(reason: &Reason) -> impl Iterator<Item = String> + '_ {
    reason.facts.iter().map(|(name, value)| format!("{name} = {}", rate(*value)))
}

/// `every 3 d 2 h`
pub(super) fn every(a_day: f64) -> String {
    if a_day <= 0.0 { "never".to_owned() } else { format!("every {}", span_of(Age::from_days(1.0 / a_day))) }
}

/// An age as people read it; what is longer than anyone remembers is not told to the day.
pub(super) fn span_of(age: Age) -> String {
    const CENTURY: f64 = 36_525.0;
    if age.days() > CENTURY {
        return "centuries".to_owned();
    }
    span(Duration::try_from_secs_f64(age.seconds()).unwrap_or_default())
}
