//! `freshet status`: what the store knows.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;

use freshet::observation::Life;
use freshet::report::{Align, Table, bytes, number, span};
use freshet::store::{self, CycleRow, KnownHost, Sizes, Summary};
use freshet::time::Timestamp;

use crate::cli::{Global, StatusArgs};
use crate::settings::Settings;

pub fn run(global: &Global, arguments: &StatusArgs) -> anyhow::Result<ExitCode> {
    let path = Settings::store(global)?;
    let mut store = store::open_to_look(&path)?;
    let summary = store.summary()?;
    let cycles = store.cycles(arguments.cycles)?;
    let now = Timestamp::now();
    let mut hosts = store.hosts()?;
    // Those that wait first, then the largest.
    hosts.sort_by_key(|host| (!is_waiting(host, now), std::cmp::Reverse(host.pages)));
    let sizes = if arguments.sizes { Some(store.sizes()?) } else { None };
    let text = if global.json {
        as_json(&summary, &cycles, &hosts, sizes, now)?
    } else {
        as_text(&summary, &cycles, &hosts, arguments.hosts, now)
            + &sizes.map_or(String::new(), |sizes| size_table(&sizes))
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn is_waiting(host: &KnownHost, now: Timestamp) -> bool {
    host.report.wait.is_some_and(|(until, _)| until > now)
}

fn as_json(
    summary: &Summary,
    cycles: &[CycleRow],
    hosts: &[KnownHost],
    sizes: Option<Sizes>,
    now: Timestamp,
) -> anyhow::Result<String> {
    let map = |counts: &[(String, u64)]| counts.iter().cloned().collect::<std::collections::BTreeMap<_, _>>();
    let hosts: Vec<_> = hosts
        .iter()
        .map(|host| {
            let wait = host.report.wait.filter(|_| is_waiting(host, now));
            json!({
                "host": host.report.host.as_str(),
                "pages": host.pages,
                "delay_seconds": host.report.delay.as_secs_f64(),
                "failures": host.report.failures,
                "waiting_until": wait.map(|(until, _)| until),
                "waiting_for": wait.map(|(_, why)| why.name()),
                "robots_status": host.report.robots.as_ref().map(|robots| robots.status),
                "robots_read": host.report.robots.as_ref().map(|robots| robots.at),
            })
        })
        .collect();
    let mut status = json!({
        "pages": {
            "known": summary.known,
            "visited": summary.visited,
            "gone": summary.life(Life::Gone),
            "failed": summary.life(Life::Failing),
            "aliases": summary.aliases,
            "states": map(&summary.lives),
            "last_outcomes": map(&summary.last_outcomes),
        },
        "seeds": summary.seeds,
        "refused": map(&summary.refusals),
        "hosts": hosts,
        "cycles": cycles,
        "store": {
            "bytes": summary.file_bytes,
            "observations": summary.observations,
            "versions": summary.versions,
            "content_bytes": summary.content_bytes,
            "content_stored_bytes": summary.stored_bytes,
        },
    });
    if let (Some(sizes), Some(fields)) = (sizes, status.as_object_mut()) {
        fields.insert("sizes".to_owned(), json!(sizes));
    }
    Ok(serde_json::to_string_pretty(&status)? + "\n")
}

/// What scheduling keeps of a page, in bytes.
fn size_table(sizes: &Sizes) -> String {
    let mut table = Table::new(&[("kept of a page", Align::Left), ("bytes", Align::Right)]);
    let mean = |bytes: u64| format!("{:.1}", bytes as f64 / sizes.pages.max(1) as f64);
    table.row(["times", &mean(sizes.fixed_bytes)]);
    table.row(["what the policy learnt", &mean(sizes.memory_bytes)]);
    table.row(["change profiles", &mean(sizes.profile_bytes)]);
    table.row(["sketches of base versions", &mean(sizes.sketch_bytes)]);
    table.row([
        "together",
        &mean(sizes.fixed_bytes + sizes.memory_bytes + sizes.profile_bytes + sizes.sketch_bytes),
    ]);
    table.row(["the largest page", &number(sizes.largest_bytes)]);
    format!("\n{}(mean of {} pages)\n", table.render(), number(sizes.pages))
}

fn as_text(
    summary: &Summary,
    cycles: &[CycleRow],
    hosts: &[KnownHost],
    most: usize,
    now: Timestamp,
) -> String {
    let list = |counts: &[(String, u64)]| {
        counts.iter().map(|(name, count)| format!("{name} {}", number(*count))).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "pages   {} known, {} visited, {} gone, {} failed ({} other spellings)\n",
        number(summary.known),
        number(summary.visited),
        number(summary.life(Life::Gone)),
        number(summary.life(Life::Failing)),
        number(summary.aliases),
    );
    text += &format!("states  {}\n", list(&summary.lives));
    text += &format!("visits  last ended: {}\n", list(&summary.last_outcomes));
    if !summary.refusals.is_empty() {
        text += &format!("links   refused: {}\n", list(&summary.refusals));
    }
    text += &format!(
        "store   {}; {} observations, {} versions ({} of pages and texts in {})\n",
        bytes(summary.file_bytes),
        number(summary.observations),
        number(summary.versions),
        bytes(summary.content_bytes),
        bytes(summary.stored_bytes),
    );
    text += &format!("\n{}", host_table(hosts, most, now));
    if hosts.len() > most {
        text += &format!("(+{} more hosts: --hosts N)\n", number((hosts.len() - most) as u64));
    }
    if !cycles.is_empty() {
        text += &format!("\n{}", cycle_table(cycles));
    }
    text
}

fn host_table(hosts: &[KnownHost], most: usize, now: Timestamp) -> String {
    let mut table = Table::new(&[
        ("host", Align::Left),
        ("pages", Align::Right),
        ("delay", Align::Right),
        ("robots", Align::Right),
        ("failures", Align::Right),
        ("waiting", Align::Left),
    ]);
    for host in hosts.iter().take(most) {
        let waiting = match host.report.wait.filter(|_| is_waiting(host, now)) {
            Some((until, why)) => format!("{} for {}", why.name(), span(until.after(now))),
            None => "-".to_owned(),
        };
        table.row([
            host.report.host.as_str().to_owned(),
            number(host.pages),
            span(host.report.delay),
            host.report.robots.as_ref().map_or("-".to_owned(), |robots| robots.status.to_string()),
            number(u64::from(host.report.failures)),
            waiting,
        ]);
    }
    table.render()
}

fn cycle_table(cycles: &[CycleRow]) -> String {
    let mut table = Table::new(&[
        ("cycle", Align::Right),
        ("started", Align::Left),
        ("took", Align::Right),
        ("policy", Align::Left),
        ("budget", Align::Right),
        ("requests", Align::Right),
        ("fetched", Align::Right),
        ("new", Align::Right),
        ("changed", Align::Right),
        ("failed", Align::Right),
        ("put off", Align::Right),
    ]);
    for cycle in cycles {
        table.row([
            cycle.id.to_string(),
            cycle.started_at.to_string(),
            cycle.ended_at.map_or("open".to_owned(), |ended| span(ended.after(cycle.started_at))),
            cycle.policy.clone(),
            cycle.budget.map_or("-".to_owned(), number),
            number(cycle.requests),
            number(cycle.fetched),
            number(cycle.new_pages),
            number(cycle.changed),
            number(cycle.failed),
            number(cycle.deferred),
        ]);
    }
    table.render()
}
