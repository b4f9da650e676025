//! `freshet forget`: pages deleted from the store for good.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use freshet::crawl::retold;
use freshet::follow::search_index::{FORGOTTEN_NOTE, SearchIndex, path_beside};
use freshet::look::seeds::named_pages;
use freshet::page::HostId;
use freshet::report::{bytes, counted};
use freshet::store::{self, Forgotten};
use freshet::time::Timestamp;

use crate::cli::{ForgetArgs, Global};
use crate::settings::{Given, Settings, Usage};
use crate::terminal::{Talk, json, print};

pub(crate) fn run(global: &Global, arguments: &ForgetArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &Given::default())?;
    // It must exist already: opening for writing would make a new one.
    drop(store::open_to_look(&settings.store)?);
    let mut store = store::open(&settings.store)?;
    let mut pages = Vec::new();
    for text in &arguments.pages {
        pages.extend(named_pages(&mut *store, &settings.normaliser(), text)?);
    }
    let place = settings.store.display();
    talk.say(&format!("this deletes {} from `{place}` for good", said(&store.would_forget(&pages)?)));
    if !arguments.yes && !is_confirmed()? {
        return Ok(ExitCode::FAILURE);
    }
    let now = Timestamp::now();
    // Should this be killed in between, the index takes the pages out when it is next used.
    store.set_note(FORGOTTEN_NOTE, &now.millis().to_string())?;
    let mut hosts: Vec<HostId> = Vec::new();
    for page in &pages {
        hosts.extend(store.known_page(*page)?.map(|page| page.host));
    }
    hosts.sort_unstable();
    hosts.dedup();
    let forgotten = store.forget(&pages, now)?;
    retold::after_forgetting(&mut *store, &hosts)?;
    let index = path_beside(&settings.store);
    if index.exists() {
        SearchIndex::open(&index, &mut *store)?.forget(&pages)?;
    }
    if global.json {
        print(&json(&forgotten)?)?;
    } else {
        print(&format!("deleted {}\n", said(&forgotten)))?;
    }
    talk.say("the space is used again by new pages; the file itself does not shrink");
    talk.say(&format!(
        "hint: a link, a sitemap or a seeds file that is read again can bring a page back; this keeps it out:\n\
         [crawl]\nexclude = [{}]",
        arguments.pages.iter().map(|text| pattern(text)).collect::<Vec<_>>().join(", ")
    ));
    Ok(ExitCode::SUCCESS)
}

/// Asks on a terminal. Elsewhere no one can answer.
fn is_confirmed() -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Usage("nothing was deleted: add --yes to delete without being asked".to_owned()).into());
    }
    eprint!("delete? [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    let is_yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !is_yes {
        eprintln!("nothing was deleted");
    }
    Ok(is_yes)
}

fn said(forgotten: &Forgotten) -> String {
    let Forgotten { pages, observations, versions, stored_bytes, hosts, seeds } = *forgotten;
    let more = [(hosts, "host"), (seeds, "seed")];
    let more = more
        .iter()
        .filter(|(many, _)| *many > 0)
        .map(|(many, of)| format!(", {}", counted(*many as usize, of)));
    format!(
        "{} with {} and {} ({}){}",
        counted(pages as usize, "page"),
        counted(observations as usize, "visit"),
        counted(versions as usize, "version"),
        bytes(stored_bytes),
        more.collect::<String>()
    )
}

/// The setting that keeps a page, or all pages of a host, out: a TOML string with a regular expression.
fn pattern(text: &str) -> String {
    let name = text.split_once("://").map_or(text, |(_, name)| name);
    let (name, end) = match name.split_once('/') {
        Some(_) => (name, "$"),
        None if name.contains(':') => (name, "/"),
        None => (name, "[:/]"),
    };
    format!("'^https?://{}{end}'", regex::escape(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_fits_the_page_or_the_host() {
        let fits = |text: &str, url: &str| {
            let pattern = pattern(text);
            regex::Regex::new(pattern.trim_matches('\'')).is_ok_and(|regex| regex.is_match(url))
        };
        assert!(fits("example.org", "https://example.org/x") && fits("example.org", "http://example.org:8/"));
        assert!(
            !fits("example.org", "https://example.org.uk/")
                && !fits("example.org", "https://www.example.org/")
        );
        assert!(fits("http://127.0.0.1:80", "http://127.0.0.1:80/"));
        assert!(fits("https://example.org/a?b=c", "https://example.org/a?b=c"));
        assert!(!fits("https://example.org/a", "https://example.org/ab"));
    }
}
