//! A checked page, drawn: the way to it, its headers, its text, its links.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::look::check::{CheckedHop, CheckedPage, CheckedRobots, PageCheck};

use super::diff::harmless;
use super::{Align, Table, bytes, counted, number};

/// Lines shown of the text, unless all is wanted.
const TEXT_LINES: usize = 10;
/// Characters shown of a line of the text.
const LINE_CHARACTERS: usize = 100;

/// The checked page, with its first `links` links; `all_text` shows the whole text.
pub fn check(report: &PageCheck, links: usize, all_text: bool) -> String {
    let mut text = String::new();
    for hop in &report.hops {
        write_hop(&mut text, hop);
    }
    let sent = match report.requests {
        1 => "1 request".to_owned(),
        many => format!("{} requests", number(many)),
    };
    let _ = writeln!(text, "{sent} sent, {} received", bytes(report.bytes));
    if let Some(headers) = report.hops.last().map(|hop| &hop.headers).filter(|headers| !headers.is_empty()) {
        text.push_str("\nheaders\n");
        let rows = headers.iter().map(|(name, value)| (*name, value.clone()));
        write_rows(&mut text, rows);
    }
    if let Some(page) = &report.page {
        write_page(&mut text, page, report.outcome, all_text);
        write_links(&mut text, page, links);
    }
    text
}

/// Names and values, a line each; text from others is made harmless.
fn write_rows<'a>(text: &mut String, rows: impl Iterator<Item = (&'a str, String)>) {
    let rows: Vec<(&str, String)> = rows.collect();
    let widest = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in rows {
        let _ = writeln!(text, "  {name:widest$}  {}", harmless(&value));
    }
}

fn write_hop(text: &mut String, hop: &CheckedHop) {
    let _ = writeln!(text, "{}", harmless(&hop.url));
    let mut rows = vec![("robots", robots(&hop.robots))];
    if !hop.robots.sitemaps.is_empty() {
        rows.push(("sitemaps", hop.robots.sitemaps.join(", ")));
    }
    if let Some(refused) = hop.refused {
        rows.push(("scope", format!("a crawl would not visit it: {refused}")));
    }
    let why = hop.reason.as_deref().filter(|_| hop.status.is_none()).map(|why| format!(" ({why})"));
    let answer = match (hop.status, &hop.redirect_to) {
        (Some(status), Some(to)) => format!("{status} {} to {to}", hop.outcome),
        (Some(status), None) => format!("{status} {}", hop.outcome),
        (None, _) => format!("none: {}{}", hop.outcome, why.unwrap_or_default()),
    };
    let took = hop.milliseconds.map(|took| format!("{took} ms"));
    let size = hop.bytes.map(|size| bytes(size as u64));
    let from = hop.address.map(|address| format!("from {address}"));
    let parts = std::iter::once(answer).chain(took).chain(size).chain(from);
    rows.push(("answer", parts.collect::<Vec<_>>().join(", ")));
    write_rows(text, rows.into_iter());
}

fn robots(robots: &CheckedRobots) -> String {
    let verdict = match (robots.allowed, &robots.rule) {
        (None, _) => {
            return match &robots.reason {
                Some(reason) => format!("could not be fetched: {reason}"),
                None => "not read".to_owned(),
            };
        }
        (Some(true), Some(rule)) => format!("allowed by `{}`", rule),
        (Some(true), None) => "allowed".to_owned(),
        (Some(false), Some(rule)) => format!("forbidden by `{}`", rule),
        (Some(false), None) => "forbidden".to_owned(),
    };
    let file = match robots.status {
        Some(200..300) | None => String::new(),
        Some(status) => format!(", there is no robots.txt ({status})"),
    };
    let delay = robots.crawl_delay.map_or(String::new(), |delay| format!(", crawl-delay {delay} s"));
    let kept = robots.delay.map_or(String::new(), |delay| format!(", a pause of {delay} s is kept"));
    format!("{verdict}{file}{delay}{kept}")
}

fn write_page(text: &mut String, page: &CheckedPage, outcome: &str, all_text: bool) {
    text.push_str("\npage\n");
    let mut rows = vec![("type", kind(page))];
    if outcome != "fetched" {
        rows.push(("taken for", outcome.to_owned()));
    }
    rows.extend(page.title.as_ref().map(|title| ("title", title.clone())));
    rows.extend(page.canonical.as_ref().map(|url| ("canonical", url.clone())));
    let wishes = [("noindex", page.noindex), ("nofollow", page.nofollow)];
    let wishes: Vec<&str> = wishes.iter().filter(|(_, asked)| *asked).map(|(name, _)| *name).collect();
    if !wishes.is_empty() {
        rows.push(("asks for", wishes.join(", ")));
    }
    rows.extend(page.base.as_ref().map(|base| ("base", base.clone())));
    rows.extend(
        page.refresh
            .as_ref()
            .map(|refresh| ("refresh", format!("to {} after {} s", refresh.url, refresh.seconds))),
    );
    let count = |count: usize| number(count as u64);
    let ignored = match page.words_ignored {
        0 => String::new(),
        ignored => format!(", and {} that the rules ignore", count(ignored)),
    };
    rows.push(("words", format!("{}{ignored}", count(page.words))));
    rows.push((
        "fragments",
        format!(
            "{} of {} words, {} in the sketch",
            count(page.fragments),
            page.fragment_words,
            count(page.sketch)
        ),
    ));
    write_rows(text, rows.into_iter());
    write_text(text, &page.text, all_text);
}

/// The type of the content, and what becomes of it.
fn kind(page: &CheckedPage) -> String {
    let named = page.content_type.as_deref().unwrap_or("not named by the server");
    match (&page.no_text, &page.text_command, page.charset) {
        (Some(why), ..) => format!("{named} (stored without text: {why})"),
        (None, Some(command), _) => format!("{named}, text by `{command}`"),
        (None, None, None) => format!("{named} (stored; no text is extracted)"),
        (None, None, Some(charset)) if page.media == "feed" => format!("{named} (feed), {charset}"),
        (None, None, Some(charset)) if page.content_type.is_none() => {
            format!("{} ({named}), {charset}", page.media)
        }
        (None, None, Some(charset)) => format!("{named}, {charset}"),
    }
}

fn write_text(text: &mut String, page: &str, all: bool) {
    if page.is_empty() {
        return;
    }
    text.push_str("\ntext\n");
    let lines = page.lines().count();
    let shown = if all { lines } else { TEXT_LINES };
    for line in page.lines().take(shown) {
        let cut =
            line.char_indices().nth(LINE_CHARACTERS).filter(|_| !all).and_then(|(end, _)| line.get(..end));
        match cut {
            Some(cut) => drop(writeln!(text, "  {}…", harmless(cut))),
            None => drop(writeln!(text, "  {}", harmless(line))),
        }
    }
    if lines > shown {
        let _ = writeln!(text, "  and {} (--text shows all)", counted(lines - shown, "more line"));
    }
}

fn write_links(text: &mut String, page: &CheckedPage, shown: usize) {
    let count = |count: usize| number(count as u64);
    let taken = page.links.iter().filter(|link| link.taken).count();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for why in page.links.iter().filter(|link| !link.taken).map(|link| link.why.as_ref()) {
        *reasons.entry(why).or_default() += 1;
    }
    if page.links_dropped > 0 {
        *reasons.entry("links-per-page").or_default() += page.links_dropped;
    }
    let refused: Vec<String> = reasons.iter().map(|(why, many)| format!("{why} {}", count(*many))).collect();
    let refused =
        if refused.is_empty() { String::new() } else { format!(", not taken: {}", refused.join(", ")) };
    let all = page.links.len() + page.links_dropped;
    let _ = writeln!(text, "\nlinks: {}, of which a crawl takes {}{refused}", count(all), count(taken));
    if page.links.is_empty() || shown == 0 {
        return;
    }
    let mut table = Table::new(&[("  ", Align::Left), ("why", Align::Left), ("link", Align::Left)]);
    for link in page.links.iter().take(shown) {
        let mark = if link.taken { "  +" } else { "  -" };
        let url = link.url.as_ref().unwrap_or(&link.href);
        table.row([mark.to_owned(), harmless(&link.why), harmless(url)]);
    }
    text.push_str(&table.render());
    if page.links.len() > shown {
        let _ = writeln!(text, "  and {} more (--links all shows them)", count(page.links.len() - shown));
    }
}
