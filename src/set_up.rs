//! Everything that a crawl needs before its first cycle: the seeds, the store, the crawler.

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;

use freshet::crawl::Crawler;
use freshet::fetch::network::Network;
use freshet::policy::Policy;
use freshet::store::{self, Store};
use freshet::time::Timestamp;
use freshet::unique::seeds::{self, Seed};

use crate::cli::CrawlArgs;
use crate::on_change::Hook;
use crate::settings::{Settings, Usage};
use crate::terminal::Talk;

/// Said where a host was refused for its address.
pub(crate) const ADDRESS_HINT: &str =
    "hint: private and loopback addresses are not crawled; --allow-private allows them";

/// Opens the store, takes the seeds in, and gets everything ready for a cycle.
pub(crate) fn set_up(
    arguments: &CrawlArgs,
    settings: &Settings,
    talk: &Talk,
) -> anyhow::Result<(Crawler<Network>, Option<Hook>)> {
    let policy = settings.policy()?;
    let network = network(settings)?;
    let seeds = match &arguments.seeds {
        Some(path) => read_seeds(path, arguments.skip_bad_seeds, settings, talk)?,
        None if store::exists(&settings.store)? => Vec::new(),
        None => {
            let store = settings.store.display();
            return Err(Usage(format!(
                "there is no store `{store}` to go on with; start one with --seeds FILE"
            ))
            .into());
        }
    };
    let hook = Hook::of(arguments, settings)?;
    allow_many_files();
    let mut store = store::open(&settings.store)?;
    store.add_seeds(&seeds, Timestamp::now())?;
    if store.seeds()?.is_empty() {
        let store = settings.store.display();
        return Err(
            Usage(format!("the store `{store}` has no pages yet; name some with --seeds FILE")).into()
        );
    }
    warn_of_sites(settings, &mut *store, talk)?;
    if settings.contact().is_none() {
        talk.say("hint: set --contact URL, so that the owners of the sites you visit can reach you");
    }
    let mut crawler = crawler(settings, network, store, policy)?;
    let mut bar = talk.count("versions and pages read again");
    crawler.prepare(&mut |done, all| bar.show(done, all))?;
    bar.finish();
    Ok((crawler, hook))
}

/// Tells of sections of sites that match no host of the store.
pub(crate) fn warn_of_sites(settings: &Settings, store: &mut dyn Store, talk: &Talk) -> anyhow::Result<()> {
    let hosts = store.hosts()?.into_iter().map(|host| host.report.host);
    for warning in settings.unmatched_sites(&hosts.collect::<Vec<_>>()) {
        talk.warn(&warning);
    }
    Ok(())
}

/// The network, by the settings.
pub(crate) fn network(settings: &Settings) -> Result<Network, Usage> {
    Network::new(settings.network.clone()).map_err(|error| Usage(error.to_string()))
}

/// A crawler of the store's pages, by the settings.
pub(crate) fn crawler(
    settings: &Settings,
    network: Network,
    store: Box<dyn Store>,
    policy: Box<dyn Policy>,
) -> anyhow::Result<Crawler<Network>> {
    let (scope, observer) = (settings.scope.clone(), settings.observer());
    Ok(Crawler::new(network, store, policy, scope, observer, settings.crawl.clone())?)
}

/// A connection is a file: a crawl of many hosts needs more than the thousand that a shell allows by default.
fn allow_many_files() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) => tracing::info!(limit, "open files"),
        Err(error) => tracing::warn!(%error, "the limit of open files can't be raised"),
    }
}

fn read_seeds(path: &Path, skip_bad: bool, settings: &Settings, talk: &Talk) -> anyhow::Result<Vec<Seed>> {
    let (name, text) = if path == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).context("standard input can't be read")?;
        ("<stdin>".to_owned(), text)
    } else {
        let name = path.display().to_string();
        let text = std::fs::read(path)
            .map_err(|error| Usage(format!("the seeds file `{name}` can't be read: {error}")))?;
        (name, text)
    };
    let file = seeds::read(&name, &text, &settings.normaliser());
    for bad in &file.bad {
        if skip_bad {
            talk.say(&format!("warning: {bad}\nhint: {}", bad.hint));
        } else {
            eprintln!("error: {bad}\nhint: {}", bad.hint);
        }
    }
    if !file.bad.is_empty() && !skip_bad {
        let lines = if file.bad.len() == 1 { "line is" } else { "lines are" };
        return Err(Usage(format!(
            "{} {lines} wrong in `{name}`; nothing was crawled (--skip-bad-seeds leaves them out)",
            file.bad.len()
        ))
        .into());
    }
    if file.seeds.is_empty() {
        return Err(Usage(format!("`{name}` names no page; write a URL a line")).into());
    }
    Ok(file.seeds)
}
