//! `freshet crawl`: seeds in, pages stored, a summary out.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::sync::watch;

use freshet::crawl::{CrawlReport, Crawler, Progress};
use freshet::fetch::network::Network;
use freshet::look::crawled::{CrawlSummary, HookCounts};
use freshet::look::page::page_url;
use freshet::page::PageUrl;
use freshet::report::diff::harmless;
use freshet::report::{self, counted};
use freshet::time::Timestamp;

use crate::cli::{CrawlNowArgs, Global};
use crate::interrupts::{STOPPING_CRAWL, listen};
use crate::on_change::{Hook, Hooked};
use crate::queries;
use crate::set_up::{ADDRESS_HINT, finish_index, index_follower, index_patience, set_up};
use crate::settings::Settings;
use crate::terminal::{Talk, json};
use crate::threads;

pub(crate) fn run(global: &Global, arguments: &CrawlNowArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::load(global, &arguments.crawl.flags)?;
    settings.crawl.workload = queries::of_crawl(&settings, arguments.crawl.seeds.as_deref(), Some(talk))?;
    let only = arguments.only.iter().map(|url| page_url(url, &settings.normaliser()));
    let only = only.collect::<Result<Vec<PageUrl>, _>>()?;
    let (mut crawler, hook) = set_up(&arguments.crawl, &settings, !only.is_empty(), talk)?;
    if !only.is_empty() {
        for url in crawler.visit_only(&only, Timestamp::now())? {
            talk.say(&format!(
                "`{}` is in the scope of no seed: it is a seed of its own from now on, without its links; \
                 `freshet seeds remove URL` ends that",
                harmless(url.as_str())
            ));
        }
    }
    let runtime = threads::for_crawl(&settings)?;
    let follower = index_follower(&settings, talk);
    follower.iter().for_each(|follower| crawler.plan_after(follower.handle()));
    let driven = runtime.block_on(drive(crawler, hook, talk));
    runtime.shutdown_background();
    let patience = match &driven {
        Ok((report, ..)) if !report.stopped => index_patience(&settings, report.elapsed),
        _ => Some(Duration::ZERO),
    };
    finish_index(follower, patience, talk);
    let (report, ran, signal) = driven?;
    let summary = CrawlSummary::of(&report, settings.store.clone(), ran);
    let text = || if global.json { json(&summary) } else { Ok(report::crawl::summary(&summary)) };
    talk.result(global.json, text)?;
    finish(&report, signal, talk, &settings.store, !only.is_empty())
}

/// Runs the crawl, shows how it goes, and listens for signals.
async fn drive(
    mut crawler: Crawler<Network>,
    hook: Option<Hook>,
    talk: &Talk,
) -> anyhow::Result<(CrawlReport, Option<HookCounts>, u8)> {
    let (stop, stopped) = watch::channel(false);
    let hooked = hook.map(|hook| Hooked::start(hook, &mut crawler, stopped.clone(), talk));
    let (progress, mut watched) = watch::channel(Progress::default());
    let signal = Arc::new(AtomicU8::new(0));
    tokio::spawn(listen(stop, Arc::clone(&signal), talk.clone(), STOPPING_CRAWL));
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
        Some(hooked) => Some(hooked.finish(talk).await?),
        None => None,
    };
    Ok((report, ran, signal.load(Ordering::SeqCst)))
}

fn finish(
    report: &CrawlReport,
    signal: u8,
    talk: &Talk,
    store: &Path,
    is_only: bool,
) -> anyhow::Result<ExitCode> {
    if report.stopped {
        talk.say(&format!(
            "stopped; everything fetched is in `{}`. Go on with: {}",
            store.display(),
            again(std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()))
        ));
        return Ok(ExitCode::from(signal));
    }
    if report.counts.outcomes.contains_key("address") {
        talk.say(ADDRESS_HINT);
    }
    if report.nothing_fetched() {
        bail!(
            "nothing could be fetched; `freshet status --store {}` says why each host waits",
            store.display()
        );
    }
    if is_only && report.counts.redirected > 0 {
        talk.say(
            "a page redirects elsewhere; `freshet history URL` shows where, and --only visits that page too",
        );
    }
    let by_budget = report.counts.put_off.get("budget").copied().unwrap_or(0);
    if by_budget > 0 {
        talk.say(&format!(
            "the budget is spent; {} {} for the next cycle",
            counted(by_budget, "page"),
            if by_budget == 1 { "waits" } else { "wait" }
        ));
        if let Some(least) = report.threshold {
            tracing::info!(score = least, "lowest score visited again");
        }
    } else if report.counts.requests == 0 {
        talk.say("nothing was due");
    }
    Ok(ExitCode::SUCCESS)
}

/// The command line that goes on where this one stopped: the same without the seeds, which are in the store.
fn again(arguments: impl Iterator<Item = String>) -> String {
    let mut line = "freshet".to_owned();
    let mut is_seeds = false;
    for argument in arguments {
        if std::mem::take(&mut is_seeds) || argument.starts_with("--seeds=") || argument == "--skip-bad-seeds"
        {
            continue;
        }
        is_seeds = argument == "--seeds";
        if !is_seeds {
            line.push(' ');
            line += &quoted(&argument);
        }
    }
    line
}

/// An argument as a shell reads it.
fn quoted(argument: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,+@%".contains(character);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_crawl_goes_on_with_the_same_flags() {
        let line = |arguments: &[&str]| again(arguments.iter().map(ToString::to_string));
        assert_eq!(
            line(&[
                "crawl",
                "--seeds",
                "my seeds.txt",
                "--allow-private",
                "--delay",
                "0.2",
                "--store",
                "x.db"
            ]),
            "freshet crawl --allow-private --delay 0.2 --store x.db"
        );
        assert_eq!(
            line(&["--store", "a b.db", "crawl", "--seeds=s.txt", "--exclude", "it's"]),
            "freshet --store 'a b.db' crawl --exclude 'it'\\''s'"
        );
        assert_eq!(line(&["crawl", "--skip-bad-seeds", "--include", ""]), "freshet crawl --include ''");
    }
}
