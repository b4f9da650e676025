//! The demo's figures, for people.

use std::io::IsTerminal as _;
use std::time::Duration;

use freshet::look::text_diff::TextDiff;
use freshet::model_web::judge::score::ScoreFigures;
use freshet::report::diff::{coloured, plain};
use freshet::report::{Align, Table, bytes, number, span};

use super::account::{Account, DemoStanding, Judged, Next, ShownChange};

/// Columns of a diff.
const WIDTH: usize = 98;
/// Lines removed that are shown of a diff, and lines added.
const MOST_LINES: usize = 3;

pub(super) fn text(account: &Account) -> String {
    let mut text = opening(account);
    let several = account.contenders.len() > 1;
    if let Some(judged) = account.contenders.first() {
        let with = if several { format!(" (policy `{}`)", judged.policy) } else { String::new() };
        text += &format!("\nCycle by cycle: what it spent and found, and how good the copy was{with}\n");
        text += &cycles(judged);
    }
    text += "fresh: pages whose copy is what the page says now; staleness: how far copies and pages are apart,\n\
             0 the same, 1 nothing in common; coverage: pages of which there is a copy\n";
    if account.left_alone.search_quality.is_some() {
        text += SEARCH_QUALITY;
    }
    text += &gain(account);
    if several {
        text += &contest(account);
    }
    if let Some(judged) = account.contenders.first() {
        text += &changes(&judged.changes);
    }
    text + &closing(account)
}

fn opening(account: &Account) -> String {
    let pages = u64::from(account.hosts * account.pages_per_host);
    let first = &account.first_crawl;
    format!(
        "The web: {} pages on {} hosts of loopback. Half of them change, some die, some are born. A day of it\n\
         lasts {}. The first crawl fetched {} pages with {} requests ({}). Then {} cycles,\n\
         one a day, could spend {} requests each: {} of the pages.\n",
        number(pages),
        account.hosts,
        seconds(account.day_seconds),
        number(first.fetched),
        number(first.requests),
        bytes(first.bytes),
        account.cycles,
        number(account.budget),
        percent(Some(account.budget as f64 / pages as f64)),
    )
}

fn cycles(judged: &Judged) -> String {
    let is_searched = judged.standing.search_quality.is_some();
    let mut columns = vec![
        ("cycle", Align::Right),
        ("requests", Align::Right),
        ("fetched", Align::Right),
        ("changed", Align::Right),
        ("new", Align::Right),
        ("fresh", Align::Right),
        ("staleness", Align::Right),
        ("coverage", Align::Right),
    ];
    columns.extend(is_searched.then_some(("search quality", Align::Right)));
    let mut table = Table::new(&columns);
    for cycle in &judged.by_cycle {
        let figures = [
            cycle.cycle.to_string(),
            number(cycle.spent.requests),
            number(cycle.spent.fetched),
            number(cycle.spent.changed),
            number(cycle.spent.new),
            percent(cycle.figures.freshness),
            share(cycle.figures.staleness),
            percent(cycle.figures.coverage),
        ];
        let found = is_searched.then(|| quality(cycle.search_quality));
        table.row(figures.into_iter().chain(found));
    }
    table.render()
}

fn gain(account: &Account) -> String {
    let Some(judged) = account.contenders.first() else { return String::new() };
    let spent = &judged.spent;
    format!(
        "\nWhat {} requests ({}) on revisits gained, on average over {:.1} days;\n\
         no revisits: the first crawl's copy, never refreshed\n{}",
        number(spent.requests),
        bytes(spent.bytes),
        account.days,
        by_behaviour(&judged.standing, &account.left_alone),
    )
}

/// The store, next to what the first crawl's copy would be worth.
fn by_behaviour(kept: &DemoStanding, left: &DemoStanding) -> String {
    let mut table = Table::new(&[
        ("pages", Align::Left),
        ("", Align::Right),
        ("fresh", Align::Right),
        ("no revisits", Align::Right),
        ("staleness", Align::Right),
        ("no revisits", Align::Right),
    ]);
    let mut row = |name: &str, kept: &ScoreFigures, left: Option<&ScoreFigures>| {
        table.row([
            name.to_owned(),
            format!("{:.0}", kept.living),
            percent(kept.freshness),
            percent(left.and_then(|left| left.freshness)),
            share(kept.staleness),
            share(left.and_then(|left| left.staleness)),
        ]);
    };
    for group in &kept.behaviours {
        let same = left.behaviours.iter().find(|other| other.name == group.name);
        row(explained(&group.name), &group.past, same.map(|group| &group.past));
    }
    row("all", &kept.all.past, Some(&left.all.past));
    row("all, at the end", &kept.all.now, Some(&left.all.now));
    table.render()
}

fn explained(behaviour: &str) -> &str {
    match behaviour {
        "static" => "static: text stays",
        "churn" => "churn: rewritten",
        "scroll" => "scroll: lists move on",
        "mixed" => "mixed: both",
        other => other,
    }
}

fn contest(account: &Account) -> String {
    let is_searched = account.left_alone.search_quality.is_some();
    let mut columns = vec![
        ("policy", Align::Left),
        ("requests", Align::Right),
        ("changes found", Align::Right),
        ("fresh", Align::Right),
        ("at the end", Align::Right),
        ("staleness", Align::Right),
        ("at the end", Align::Right),
    ];
    if is_searched {
        columns.extend([("search quality", Align::Right), ("at the end", Align::Right)]);
    }
    let mut table = Table::new(&columns);
    let mut row = |name: &str, requests: u64, changed: u64, standing: &DemoStanding| {
        let all = &standing.all;
        let figures = [
            name.to_owned(),
            number(requests),
            number(changed),
            percent(all.past.freshness),
            percent(all.now.freshness),
            share(all.past.staleness),
            share(all.now.staleness),
        ];
        let found = standing.search_quality.map(|found| [quality(found.past), quality(found.now)]);
        table.row(figures.into_iter().chain(found.into_iter().flatten()));
    };
    for judged in &account.contenders {
        row(&judged.policy, judged.spent.requests, judged.spent.changed, &judged.standing);
    }
    row("(no revisits)", 0, 0, &account.left_alone);
    format!("\nThe policies, on the same web with the same budget\n{}", table.render())
}

/// What the column is.
const SEARCH_QUALITY: &str = "search quality: how well the copies answer the queries, 1 as well as copies that are all up to date (Pandey &\n\
                              Olston 2005, eq. 5)\n";

fn quality(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.4}"))
}

fn changes(changes: &[ShownChange]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let mut text = "\nWhat changed: the largest change that a visit found, of each kind of page\n".to_owned();
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    for change in changes {
        text += &format!(
            "\n{} ({}): {} words gone, {} new\n",
            change.url,
            change.behaviour,
            number(change.words_removed as u64),
            number(change.words_added as u64)
        );
        text += &glimpse(&change.diff, colour);
    }
    text
}

/// A few of the lines removed and a few of those added.
fn glimpse(diff: &TextDiff, colour: bool) -> String {
    let plain = plain(diff, WIDTH, 0);
    let shown = if colour { coloured(diff, WIDTH, 0) } else { plain.clone() };
    let (mut text, mut hidden, mut seen) = (String::new(), 0, [0; 2]);
    for (plain, line) in plain.lines().zip(shown.lines()) {
        let Some(side) = ["-", "+"].iter().position(|sign| plain.starts_with(sign)) else { continue };
        if let Some(seen) = seen.get_mut(side).filter(|seen| **seen < MOST_LINES) {
            *seen += 1;
            text += &format!("{line}\n");
        } else {
            hidden += 1;
        }
    }
    if hidden > 0 {
        text += &format!("  (and {} lines more)\n", number(hidden));
    }
    text
}

fn closing(account: &Account) -> String {
    let stores: Vec<&str> = account.contenders.iter().map(|judged| judged.store.as_str()).collect();
    let mut text = format!(
        "\nIt took {}. What was fetched stays in {}\nuntil you remove it.\n\nTry next\n",
        seconds(account.seconds),
        stores.join(", ")
    );
    for Next { what, command } in &account.next {
        text += &format!("  # {what}\n  {}\n", folded(command));
    }
    text
}

/// A long command on two lines, as a shell takes it.
fn folded(command: &str) -> String {
    let half = command.char_indices().nth(WIDTH / 2).map_or(0, |(place, _)| place);
    let flag = command.match_indices(" --").find(|(place, _)| *place > half);
    match flag.and_then(|(place, _)| command.split_at_checked(place)) {
        Some((begin, end)) if command.chars().count() > WIDTH => format!("{begin} \\\n     {end}"),
        _ => command.to_owned(),
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

fn share(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

/// `2.5 s`, `28 s`
fn seconds(value: f64) -> String {
    if value < 10.0 {
        format!("{} s", (value * 10.0).round() / 10.0)
    } else {
        span(Duration::from_secs_f64(value))
    }
}
