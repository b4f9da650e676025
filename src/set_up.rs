//! Everything that a crawl needs before its first cycle: the seeds, the store, the crawler.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use freshet::crawl::Crawler;
use freshet::crawl::reread::LinksReadAgain;
use freshet::crawl::weights::{WeightBy, counted_inlinks};
use freshet::fetch::network::Network;
use freshet::follow::background::BackgroundIndex;
use freshet::follow::measuring::CountInlinks;
use freshet::follow::search_index::path_beside;
use freshet::policy::Policy;
use freshet::report::counted;
use freshet::report::diff::harmless;
use freshet::store::{self, KnownSeed, Store};
use freshet::time::Timestamp;
use freshet::unique::seeds::{self, Seed};

use crate::cli::CrawlArgs;
use crate::indexed::with_index;
use crate::on_change::Hook;
use crate::settings::{Settings, Usage};
use crate::terminal::Talk;

/// Said where a host was refused for its address.
pub(crate) const ADDRESS_HINT: &str =
    "hint: private and loopback addresses are not crawled; --allow-private allows them";

/// Opens the store, takes the seeds in, and gets everything ready for a cycle. `names_pages`: there need not be a store or a
/// seed, because the operator names pages.
pub(crate) fn set_up(
    arguments: &CrawlArgs,
    settings: &Settings,
    names_pages: bool,
    talk: &Talk,
) -> anyhow::Result<(Crawler<Network>, Option<Hook>)> {
    let policy = settings.policy()?;
    let network = network(settings)?;
    let seeds = match &arguments.seeds {
        Some(path) => read_seeds(path, arguments.skip_bad_seeds, settings, talk)?,
        None if names_pages || store::exists(&settings.store)? => Vec::new(),
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
    if let Some(file) = &arguments.seeds {
        tell_differences(&file.display().to_string(), &seeds, &store.seeds()?, settings, talk);
    }
    store.add_seeds(&seeds, Timestamp::now())?;
    if store.seeds()?.is_empty() && !names_pages {
        let store = settings.store.display();
        return Err(
            Usage(format!("the store `{store}` has no pages yet; name some with --seeds FILE")).into()
        );
    }
    warn_of_sites(settings, &mut *store, talk)?;
    if settings.contact().is_none() {
        talk.say("hint: set --contact URL, so that the owners of the sites you visit can reach you");
    }
    if settings.crawl.weight == WeightBy::Workload {
        with_index(settings, &mut *store, "the weights of pages", talk, &|_, _| Ok(()))?;
    }
    let mut crawler = crawler(settings, network, store, policy)?;
    let mut bar = talk.count("versions and pages read again");
    crawler.prepare(&mut |done, all| bar.show(done, all))?;
    bar.finish();
    let mut bar = talk.count("stored pages read again");
    let read = crawler.read_again(&mut |done, all| bar.show(done, all))?;
    bar.finish();
    if read.pages > 0 {
        talk.say(&read_again(read));
    }
    Ok((crawler, hook))
}

/// Starts the follower that keeps the search index up to date, if one is wanted or there already.
pub(crate) fn index_follower(settings: &Settings, talk: &Talk) -> Option<BackgroundIndex> {
    let index = path_beside(&settings.store);
    let workload = settings.crawl.workload.clone();
    if !settings.search && !index.exists() && workload.is_none() {
        return None;
    }
    let measured = workload.map(|workload| (workload, counted_inlinks as CountInlinks));
    match BackgroundIndex::start(&settings.store, &index, measured) {
        Ok(follower) => Some(follower),
        Err(error) => {
            talk.warn(&format!("the search index is not kept up to date: {error}"));
            None
        }
    }
}

/// The part of a crawl's time that its command waits for the search index at the end, at most.
const PATIENCE_SHARE: f64 = 0.1;

/// That part of a short crawl's time.
const LEAST_PATIENCE: Duration = Duration::from_millis(200);

/// How long a crawl that took this long waits for the search index. A policy that learns from it waits until it is up to date.
pub(crate) fn index_patience(settings: &Settings, took: Duration) -> Option<Duration> {
    settings.crawl.workload.is_none().then(|| took.mul_f64(PATIENCE_SHARE).max(LEAST_PATIENCE))
}

/// Lets the follower read what is left, as long as `patience` lasts; `None`: all of it. A crawl does not fail because of its index.
pub(crate) fn finish_index(follower: Option<BackgroundIndex>, patience: Option<Duration>, talk: &Talk) {
    let Some(follower) = follower else { return };
    match follower.finish(patience) {
        Ok(step) => {
            tracing::info!(written = step.written, removed = step.removed, "search index");
            if step.is_behind && patience.is_some_and(|patience| !patience.is_zero()) {
                talk.say("the search index is not up to date yet; the next `freshet search` or crawl reads the rest");
            }
        }
        Err(error) => talk.warn(&format!(
            "the search index is not up to date: {error}; the next `freshet search` brings it up to date"
        )),
    }
}

/// Tells of sections of sites that match no host of the store.
pub(crate) fn warn_of_sites(settings: &Settings, store: &mut dyn Store, talk: &Talk) -> anyhow::Result<()> {
    let hosts = store.hosts()?.into_iter().map(|host| host.report.host);
    for warning in settings.unmatched_sites(&hosts.collect::<Vec<_>>()) {
        talk.warn(&warning);
    }
    Ok(())
}

/// Seeds of the store that a message names; more are counted.
const NAMED_SEEDS: usize = 3;

/// Tells which seeds of the store the file does not name, and which it names again.
fn tell_differences(file: &str, seeds: &[Seed], known: &[KnownSeed], settings: &Settings, talk: &Talk) {
    let named: HashSet<_> = seeds.iter().map(|seed| seed.url.fingerprint()).collect();
    let normaliser = settings.normaliser();
    let is_named =
        |seed: &&KnownSeed| normaliser.parse(&seed.url).is_ok_and(|url| named.contains(&url.fingerprint()));
    let list = |seeds: &[&KnownSeed]| {
        let shown = seeds.iter().take(NAMED_SEEDS).map(|seed| format!("`{}`", harmless(&seed.url)));
        let more = seeds.len().saturating_sub(NAMED_SEEDS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        shown.collect::<Vec<_>>().join(", ") + &more
    };
    let own = || known.iter().filter(|seed| !seed.adopted);
    let again: Vec<&KnownSeed> = own().filter(|seed| seed.removed_at.is_some()).filter(is_named).collect();
    if !again.is_empty() {
        let seeds = counted(again.len(), "removed seed");
        talk.say(&format!("{seeds} active again, because `{file}` names them: {}", list(&again)));
    }
    let is_wanted = |seed: &&KnownSeed| seed.removed_at.is_none() && seed.paused_at.is_none() && seed.in_file;
    let missing: Vec<&KnownSeed> = own().filter(is_wanted).filter(|seed| !is_named(seed)).collect();
    if !missing.is_empty() {
        let seeds = counted(missing.len(), "seed");
        talk.warn(&format!(
            "`{file}` no longer names {seeds}, still crawled: {}; `freshet seeds remove URL` ends that",
            list(&missing)
        ));
    }
}

/// What reading stored pages again came to.
fn read_again(LinksReadAgain { pages, new, left }: LinksReadAgain) -> String {
    let left = match left {
        0 => String::new(),
        _ => format!(
            "; {} without a stored body to read: downloaded at the next visit",
            counted(left as usize, "page")
        ),
    };
    format!(
        "the rules for links have changed: {} read again, {} found, nothing downloaded{left}",
        counted(pages as usize, "stored page"),
        counted(new as usize, "new page")
    )
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
