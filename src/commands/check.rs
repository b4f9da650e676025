//! `freshet check`: one page asked for now, and everything that a crawl would make of it. Nothing is stored.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;

use freshet::fetch::network::Network;
use freshet::look::check::ask::Asker;
use freshet::look::check::check;
use freshet::look::page::page_url;
use freshet::page::Host;
use freshet::report::{self, span};
use freshet::time::Timestamp;

use crate::cli::{CheckArgs, Global};
use crate::set_up::{ADDRESS_HINT, network};
use crate::settings::{Settings, Usage};
use crate::terminal::{Talk, json, print};
use crate::threads;

/// A longer pause is announced.
const LONG_PAUSE: Duration = Duration::from_secs(3);
/// The outcome of a host whose address is private.
const PRIVATE_ADDRESS: &str = "address";

pub(crate) fn run(global: &Global, arguments: &CheckArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &arguments.flags.0)?;
    let shown = shown_links(&arguments.links)?;
    let url = page_url(&arguments.url, &settings.normaliser())?;
    let (scope, observer) = (settings.scope.clone(), settings.observer());
    let mut asker = asker(&settings)?;
    let (asked, now) = (url.clone(), Timestamp::now());
    let found = threads::block_on(check(&mut asker, &observer, scope, asked, now, &mut paused(talk)))?;
    print(&if global.json { json(&found)? } else { report::check::check(&found, shown, arguments.text) })?;
    if let Some(reason) = &found.reason {
        if found.outcome == PRIVATE_ADDRESS {
            talk.say(ADDRESS_HINT);
        }
        bail!("`{url}` was not fetched: {reason}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks for single pages as a crawl does.
pub(crate) fn asker(settings: &Settings) -> anyhow::Result<Asker<Network>> {
    let crawl = settings.crawl.clone();
    Ok(Asker::new(network(settings)?, crawl.fetch, crawl.redirects, settings.normaliser()))
}

/// Says what a person waits for, if it takes long.
pub(crate) fn paused(talk: &Talk) -> impl FnMut(&Host, Duration) {
    move |host, pause| {
        if pause >= LONG_PAUSE {
            talk.say(&format!("waiting {} between requests to `{host}`", span(pause)));
        }
    }
}

fn shown_links(text: &str) -> Result<usize, Usage> {
    match text.parse::<usize>() {
        Ok(most) => Ok(most),
        Err(_) if text == "all" => Ok(usize::MAX),
        Err(_) => Err(Usage(format!("--links is `{text}`; it must be a number, or `all`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_shown_by_number_or_all() {
        assert_eq!(shown_links("0").ok(), Some(0));
        assert_eq!(shown_links("20").ok(), Some(20));
        assert_eq!(shown_links("all").ok(), Some(usize::MAX));
        for wrong in ["", "-1", "some"] {
            assert!(shown_links(wrong).is_err(), "{wrong}");
        }
    }
}
