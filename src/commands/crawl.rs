//! `freshet crawl`: seeds in, pages stored, a summary out.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use freshet::crawl::{CrawlReport, Crawler, Progress};
use freshet::fetch::network::Network;
use freshet::policy::Policy;
use freshet::report::{Align, Table, bytes, number, rate, span};
use freshet::store::{self, Store};
use freshet::time::Timestamp;
use freshet::unique::seeds::{self, Seed};

use super::on_change::{self, Hook, Ran};
use crate::cli::{CrawlArgs, Global};
use crate::settings::{Settings, Usage};
use crate::terminal::Talk;

pub fn run(global: &Global, arguments: &CrawlArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &arguments.flags)?;
    let (crawler, hook) = set_up(arguments, &settings, talk)?;
    let runtime = runtime(&settings)?;
    let driven = runtime.block_on(drive(crawler, hook, talk));
    runtime.shutdown_background();
    let (report, ran, signal) = driven?;
    print(&report, ran, global.json, &settings)?;
    finish(&report, signal, talk, &settings)
}

/// Opens the store, takes the seeds in, and gets everything ready for a cycle.
pub(super) fn set_up(
    arguments: &CrawlArgs,
    settings: &Settings,
    talk: &Talk,
) -> anyhow::Result<(Crawler<Network>, Option<Hook>)> {
    let policy = settings.policy()?;
    let network = Network::new(settings.network.clone()).map_err(|error| Usage(error.to_string()))?;
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
    let hook = hook(arguments, settings)?;
    allow_many_files();
    let mut store = store::open(&settings.store)?;
    store.add_seeds(&seeds, Timestamp::now())?;
    if store.seeds()?.is_empty() {
        let store = settings.store.display();
        return Err(
            Usage(format!("the store `{store}` has no pages yet; name some with --seeds FILE")).into()
        );
    }
    if settings.contact().is_none() {
        talk.say("hint: set --contact URL, so that the owners of the sites you visit can reach you");
    }
    let mut crawler = crawler(settings, network, store, policy)?;
    let mut bar = talk.count("pages learnt anew");
    crawler.prepare(&mut |done, all| bar.show(done, all))?;
    bar.finish();
    Ok((crawler, hook))
}

pub(super) fn runtime(settings: &Settings) -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads(settings))
        .enable_all()
        .build()
        .context("the asynchronous runtime could not be started")
}

/// A crawler of the store's pages, by the settings.
pub(super) fn crawler(
    settings: &Settings,
    network: Network,
    store: Box<dyn Store>,
    policy: Box<dyn Policy>,
) -> anyhow::Result<Crawler<Network>> {
    let (scope, observer) = (settings.scope.clone(), settings.observer());
    Ok(Crawler::new(network, store, policy, scope, observer, settings.crawl.clone())?)
}

fn hook(arguments: &CrawlArgs, settings: &Settings) -> Result<Option<Hook>, Usage> {
    let timeout =
        Duration::try_from_secs_f64(arguments.on_change_timeout).ok().filter(|time| !time.is_zero());
    let timeout = timeout.ok_or_else(|| {
        let wrong = arguments.on_change_timeout;
        Usage(format!("--on-change-timeout is `{wrong}`; it must be more than 0 seconds"))
    })?;
    let store = std::path::absolute(&settings.store).unwrap_or_else(|_| settings.store.clone());
    Ok(arguments.on_change.clone().map(|command| Hook { command, timeout, store }))
}

/// A connection is a file: a crawl of many hosts needs more than the thousand that a shell allows by default.
fn allow_many_files() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) => tracing::info!(limit, "open files"),
        Err(error) => tracing::warn!(%error, "the limit of open files can't be raised"),
    }
}

/// A polite crawl mostly waits: one thread serves it, and handing work from one to another would cost a fifth more.
/// One that does not wait, or has very many hosts, gets them all.
fn threads(settings: &Settings) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let fetch = &settings.crawl.fetch;
    if !fetch.politeness.delay.is_zero() {
        fetch.concurrency.div_ceil(REQUESTS_PER_THREAD).min(cores)
    } else {
        cores
    }
}

/// Even at ten answers a second each, a core has time to spare for so many.
const REQUESTS_PER_THREAD: usize = 128;

/// Runs the crawl, shows how it goes, and listens for signals.
async fn drive(
    mut crawler: Crawler<Network>,
    hook: Option<Hook>,
    talk: &Talk,
) -> anyhow::Result<(CrawlReport, Option<Ran>, u8)> {
    let (stop, stopped) = watch::channel(false);
    let hooked = hook.map(|hook| {
        let (tell, told) = unbounded_channel();
        crawler.tell_changes(tell);
        tokio::spawn(hook.serve(told, stopped.clone(), talk.clone()))
    });
    let (progress, mut watched) = watch::channel(Progress::default());
    let signal = Arc::new(AtomicU8::new(0));
    let stopping = "stopping: what is in flight is finished and stored; once more stops at once";
    tokio::spawn(listen(stop, Arc::clone(&signal), talk.clone(), stopping));
    let mut meter = talk.meter();
    // On a worker, beside the requests it waits for: waking another thread for each would cost a system call.
    let mut crawl = tokio::spawn(async move { crawler.run(stopped, &progress).await });
    let report = loop {
        tokio::select! {
            report = &mut crawl => break report.context("the crawl ended unexpectedly; what was committed is safe")?,
            Ok(()) = watched.changed() => meter.show(&watched.borrow_and_update().clone()),
        }
    };
    meter.finish();
    let report = report?;
    let ran = match hooked {
        Some(hooked) => Some(wait_for(hooked, talk).await?),
        None => None,
    };
    Ok((report, ran, signal.load(Ordering::SeqCst)))
}

/// The crawl is done; the commands it led to may take a little longer.
pub(super) async fn wait_for(mut hooked: JoinHandle<Ran>, talk: &Talk) -> anyhow::Result<Ran> {
    let ran = match tokio::time::timeout(PATIENCE, &mut hooked).await {
        Ok(ran) => ran,
        Err(_) => {
            talk.say(
                "the crawl is done; waiting for the commands of --on-change (Ctrl-C leaves the rest out)",
            );
            hooked.await
        }
    };
    let ran = ran.context("the commands of --on-change ended unexpectedly")?;
    if ran.failed > 0 {
        let all = number(ran.well + ran.failed);
        talk.say(&format!("warning: {} of {all} commands of --on-change failed", number(ran.failed)));
    }
    if ran.not_run > 0 {
        talk.say(&format!("--on-change was not run for {} changes more", number(ran.not_run)));
    }
    Ok(ran)
}

/// Before it is said what one waits for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The first signal is told, and lets what is in flight finish; the second stops at once.
pub(super) async fn listen(
    stop: watch::Sender<bool>,
    signal: Arc<AtomicU8>,
    talk: Talk,
    stopping: &'static str,
) {
    use tokio::signal::unix::{SignalKind, signal as signals};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signals(SignalKind::interrupt()), signals(SignalKind::terminate()))
    else {
        tracing::warn!(
            "signals can't be listened for: a crawl that is interrupted goes on with the next run all the same"
        );
        // The sender must live, or the crawl would take its end for a wish to stop.
        return std::future::pending().await;
    };
    loop {
        let code = tokio::select! {
            _ = interrupt.recv() => 130,
            _ = terminate.recv() => 143,
        };
        if signal.swap(code, Ordering::SeqCst) != 0 {
            on_change::end_all();
            std::process::exit(i32::from(code));
        }
        talk.say(stopping);
        let _ = stop.send(true);
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

fn print(report: &CrawlReport, ran: Option<Ran>, as_json: bool, settings: &Settings) -> anyhow::Result<()> {
    let counts = &report.counts;
    let seconds = report.elapsed.as_secs_f64();
    let rate = counts.requests as f64 / seconds.max(1e-9);
    let text = if as_json {
        let summary = json!({
            "store": settings.store,
            "cycles": report.cycles,
            "resumed": report.resumed,
            "stopped": report.stopped,
            "seconds": seconds,
            "requests": counts.requests,
            "requests_per_second": rate,
            "bytes": counts.bytes,
            "fetched": counts.fetched,
            "new": counts.new,
            "changed": counts.changed,
            "unchanged": counts.unchanged,
            "redirected": counts.redirected,
            "failed": counts.failed,
            "blocked": counts.blocked,
            "deferred": counts.deferred,
            "known": report.known,
            "hosts": report.hosts,
            "outcomes": counts.outcomes,
            "put_off": counts.put_off,
            "refused": counts.refused,
            "threshold": report.threshold,
            "on_change": ran,
        });
        serde_json::to_string_pretty(&summary)? + "\n"
    } else {
        summary(report, ran, rate)
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn summary(report: &CrawlReport, ran: Option<Ran>, rate: f64) -> String {
    let counts = &report.counts;
    let mut table = Table::new(&[("crawl", Align::Left), ("", Align::Right), ("", Align::Left)]);
    let mut row = |name: &str, value: u64, note: String| table.row([name.to_owned(), number(value), note]);
    let by = |counts: &BTreeMap<&str, u64>, wanted: &dyn Fn(&str) -> bool| {
        let shown = counts.iter().filter(|(name, _)| wanted(name));
        shown.map(|(name, count)| format!("{name} {}", number(*count))).collect::<Vec<_>>().join(", ")
    };
    row("requests", counts.requests, format!("{rate:.1}/s in {}", span(report.elapsed)));
    row("fetched", counts.fetched, bytes(counts.bytes));
    row("  new pages found", counts.new, String::new());
    row("  changed", counts.changed, String::new());
    row("  unchanged", counts.unchanged, String::new());
    if let Some(Ran { well, failed, not_run }) = ran {
        let failed = if failed > 0 { format!("{} failed", number(failed)) } else { String::new() };
        let not_run = if not_run > 0 { format!("{} not run", number(not_run)) } else { String::new() };
        let notes = [failed, not_run].into_iter().filter(|note| !note.is_empty());
        row("  told on change", well, notes.collect::<Vec<_>>().join(", "));
    }
    row("redirected", counts.redirected, String::new());
    const REFUSED: [&str; 2] = ["robots", "address"];
    const GOOD: [&str; 4] = ["fetched", "not-modified", "moved", "redirected"];
    row(
        "failed",
        counts.failed,
        by(&counts.outcomes, &|name| !REFUSED.contains(&name) && !GOOD.contains(&name)),
    );
    row("blocked", counts.blocked, by(&counts.outcomes, &|name| REFUSED.contains(&name)));
    row("put off", counts.deferred, by(&counts.put_off, &|_| true));
    row("links refused", counts.refused.values().sum(), by(&counts.refused, &|_| true));
    row("pages known", report.known, format!("on {} hosts", number(report.hosts as u64)));
    table.render()
}

pub(super) const ADDRESS_HINT: &str =
    "hint: private and loopback addresses are left alone; --allow-private opens them";

fn finish(report: &CrawlReport, signal: u8, talk: &Talk, settings: &Settings) -> anyhow::Result<ExitCode> {
    if report.stopped {
        talk.say(&format!(
            "stopped; everything fetched is in `{}`. Go on with: freshet crawl{}",
            settings.store.display(),
            if settings.store == Path::new("freshet.db") {
                String::new()
            } else {
                format!(" --store {}", settings.store.display())
            }
        ));
        return Ok(ExitCode::from(signal));
    }
    if report.counts.outcomes.contains_key("address") {
        talk.say(ADDRESS_HINT);
    }
    if report.nothing_fetched() {
        anyhow::bail!(
            "nothing could be fetched; `freshet status --store {}` says why each host waits",
            settings.store.display()
        );
    }
    let by_budget = report.counts.put_off.get("budget").copied().unwrap_or(0);
    if by_budget > 0 {
        let least = report.threshold.map_or(String::new(), |least| {
            format!("; what was visited again had a score of {} or more", rate(least))
        });
        talk.say(&format!("the budget is spent; {} pages wait for the next cycle{least}", number(by_budget)));
    } else if report.counts.requests == 0 {
        talk.say("nothing was due");
    }
    Ok(ExitCode::SUCCESS)
}
