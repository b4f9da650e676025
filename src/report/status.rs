//! The store in figures, drawn as lines and tables.

use std::time::Duration;

use crate::look::status::{AdoptedSeed, HostStatus, NamedCounts, StoreStatus};
use crate::store::{CycleRow, Sizes};
use crate::time::Timestamp;

use super::diff::harmless;
use super::{Align, Screen, Shorten, Table, bytes, counted, number, span};

/// The store in figures, with the first `hosts` of its hosts.
pub fn status(status: &StoreStatus, hosts: usize, now: Timestamp, screen: &Screen) -> String {
    let pages = &status.pages;
    let mut text: String =
        status.warnings.iter().map(|warning| format!("warning {}\n", harmless(warning))).collect();
    text += &format!(
        "pages   {} known, {} visited, {} gone, {} failed ({})\n",
        number(pages.known),
        number(pages.visited),
        number(pages.gone),
        number(pages.failed),
        if pages.aliases == 1 { "1 alias".to_owned() } else { format!("{} aliases", number(pages.aliases)) },
    );
    text += &status.adopted.iter().map(|seed| adopted(seed, screen)).collect::<String>();
    text += &format!("states  {}\n", list(&pages.states));
    text += &format!("visits  last result: {}\n", list(&pages.last_outcomes));
    if !status.refused.0.is_empty() {
        text += &format!("links   not followed: {}\n", list(&status.refused));
    }
    let store = &status.store;
    text += &format!(
        "store   {}; {}, {} ({} of pages and texts in {})\n",
        bytes(store.bytes),
        counted(store.observations, "observation"),
        counted(store.versions, "version"),
        bytes(store.content_bytes),
        bytes(store.content_stored_bytes),
    );
    text += &format!("\n{}", host_table(status.hosts.iter().take(hosts), now, screen));
    if status.hosts.len() > hosts {
        text += &format!("(+{}: --hosts 0 shows all)\n", counted(status.hosts.len() - hosts, "more host"));
    }
    if !status.cycles.is_empty() {
        text += &format!("\n{}", cycle_table(&status.cycles, screen));
    }
    text + &status.sizes.as_ref().map_or(String::new(), size_table)
}

fn adopted(adopted: &AdoptedSeed, screen: &Screen) -> String {
    let seed = adopted.seed.as_deref().map_or("a seed".to_owned(), harmless);
    let url = harmless(&adopted.url);
    match adopted.let_go {
        None => format!("seeds   {seed} moved to {url}, and its scope with it\n"),
        Some(since) => {
            format!("seeds   {seed} answers for itself since {}; {url} is let go\n", screen.time(since))
        }
    }
}

fn list(counts: &NamedCounts) -> String {
    let counts = counts.0.iter().map(|(name, count)| format!("{} {}", number(*count), harmless(name)));
    counts.collect::<Vec<_>>().join(", ")
}

fn host_table<'a>(hosts: impl Iterator<Item = &'a HostStatus>, now: Timestamp, screen: &Screen) -> String {
    let mut table = Table::new(&[
        ("host", Align::Left),
        ("pages", Align::Right),
        ("delay", Align::Right),
        ("robots", Align::Right),
        ("failures", Align::Right),
        ("waiting", Align::Left),
        ("why", Align::Left),
    ])
    .shorten("host", Shorten::Middle)
    .shorten("why", Shorten::End)
    .leave_out(&["failures", "robots", "delay"]);
    for host in hosts {
        let waiting = match (host.waiting_until, host.waiting_for) {
            (Some(until), Some(why)) => format!("{why} for {}", span(until.after(now))),
            _ => "-".to_owned(),
        };
        table.row([
            host.host.clone(),
            number(host.pages),
            span(Duration::try_from_secs_f64(host.delay_seconds).unwrap_or_default()),
            host.robots_status.map_or("-".to_owned(), |status| status.to_string()),
            number(u64::from(host.failures)),
            waiting,
            host.reason.clone().unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    table.fitted(screen.width)
}

fn cycle_table(cycles: &[CycleRow], screen: &Screen) -> String {
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
        ("left for later", Align::Right),
    ])
    .shorten("policy", Shorten::End)
    .leave_out(&["policy", "budget", "took", "left for later", "new", "requests"]);
    for cycle in cycles {
        table.row([
            cycle.id.to_string(),
            screen.time(cycle.started_at),
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
    table.fitted(screen.width)
}

/// Bytes that scheduling keeps of a page.
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
    format!("\n{}(mean of {})\n", table.render(), counted(sizes.pages, "page"))
}
