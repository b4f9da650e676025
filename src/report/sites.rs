//! Sites in figures, drawn as a table.

use crate::look::sites::{SiteStatus, SitesStatus};
use crate::observation::Life;
use crate::time::Timestamp;

use super::{Align, Screen, Shorten, Table, bytes, counted, number, span};

/// The heading of the last column.
const WAITS: &str = "waits, why";

/// The sites, a row each; at most `most` of them.
pub fn sites(status: &SitesStatus, most: usize, now: Timestamp, screen: &Screen) -> String {
    let mut text = match &status.cycle {
        None => "no cycle was run yet\n\n".to_owned(),
        Some(cycle) => {
            let took = match cycle.ended_at {
                Some(ended) => format!("took {}", span(ended.after(cycle.started_at))),
                None => "has not ended".to_owned(),
            };
            format!(
                "cycle {} began {}, {took}\nvisits, new, changed, received: in that cycle; gone, failing: in that cycle / in all\n\n",
                cycle.cycle_id,
                screen.time(cycle.started_at),
            )
        }
    };
    let has_budget = status.sites.iter().any(|site| site.budget.is_some());
    let mut heads = vec![
        ("host", Align::Left),
        ("pages", Align::Right),
        ("alive", Align::Right),
        ("visits", Align::Right),
        ("new", Align::Right),
        ("changed", Align::Right),
        ("gone", Align::Right),
        ("failing", Align::Right),
        ("received", Align::Right),
        ("stored", Align::Right),
        ("last success", Align::Left),
    ];
    if has_budget {
        heads.push(("budget", Align::Right));
    }
    let has_signals = status.sites.iter().any(|site| !site.signals.is_empty());
    if has_signals {
        heads.push(("signals right", Align::Left));
    }
    heads.push((WAITS, Align::Left));
    let mut table = Table::new(&heads)
        .shorten("host", Shorten::Middle)
        .shorten(WAITS, Shorten::End)
        .leave_out(&["stored", "visits", "received", "pages", "budget", "signals right", "last success"]);
    for site in status.sites.iter().take(most) {
        let cycle = &site.last_cycle;
        let mut cells = vec![
            named(site),
            number(site.pages),
            number(site.life(Life::Alive)),
            number(cycle.visits),
            number(cycle.new),
            number(cycle.changed),
            of_all(cycle.gone, site.life(Life::Gone)),
            of_all(cycle.failing, site.life(Life::Failing)),
            bytes(cycle.received_bytes),
            bytes(site.stored_bytes),
            screen.time_or_dash(site.last_success_at),
        ];
        if has_budget {
            cells.push(site.budget.map_or("-".to_owned(), |budget| {
                format!("{} of {}", number(site.budget_spent.unwrap_or(0)), number(budget))
            }));
        }
        if has_signals {
            let told = site.signals.iter().filter(|of| of.right + of.wrong > 0);
            let told: Vec<String> = told
                .map(|of| format!("{} {} of {}", of.kind, number(of.right), number(of.right + of.wrong)))
                .collect();
            cells.push(if told.is_empty() { "-".to_owned() } else { told.join(", ") });
        }
        let reason = site.reason.as_deref().or(site.waiting_for);
        cells.push(match (site.waiting_until_at, reason) {
            (Some(until), Some(why)) => format!("until {}: {why}", until.near(now, &screen.zone)),
            (_, Some(why)) => why.to_owned(),
            _ => "-".to_owned(),
        });
        table.row(cells);
    }
    text += &table.fitted(screen.width);
    let rest = status.sites.len().saturating_sub(most);
    if rest > 0 {
        text += &format!("(+{}: --hosts 0 shows all)\n", counted(rest, "more site"));
    }
    text
}

/// A site by its origin, with a mark if it has two.
fn named(site: &SiteStatus) -> String {
    match site.twins.len() {
        0 => site.host.clone(),
        twins => format!("{} (+{twins})", site.host),
    }
}

/// A count of the last cycle, and the one of all; a dash where both are nothing.
fn of_all(in_cycle: u64, all: u64) -> String {
    if in_cycle == 0 && all == 0 { "-".to_owned() } else { format!("{} / {}", number(in_cycle), number(all)) }
}
