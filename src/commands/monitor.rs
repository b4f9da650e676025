//! `freshet monitor`: cycles at fixed times until stopped, a line for each.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::time::Duration;

use anyhow::bail;
use tokio::sync::watch;

use freshet::crawl::monitor::{Monitor, MonitorEvent, MonitorSettings, RaisedBudget};
use freshet::crawl::{CrawlError, CrawlReport, Crawler};
use freshet::fetch::network::Network;
use freshet::follow::background::BackgroundIndex;
use freshet::report::crawl::{cycle_line, day_line};
use freshet::report::{counted, number, span};
use freshet::time::Timestamp;

use crate::cli::{Global, MonitorArgs};
use crate::interrupts::{STOPPING_CRAWL, listen};
use crate::on_change::{Hook, Hooked};
use crate::queries;
use crate::set_up::{finish_index, index_follower, set_up};
use crate::settings::when::zone;
use crate::settings::{Settings, Usage};
use crate::terminal::{Meter, Talk, json_line, screen};
use crate::threads;

/// Time from one cycle to the next, if none is set.
const DEFAULT_EVERY: Duration = Duration::from_secs(86_400);

pub(crate) fn run(global: &Global, arguments: &MonitorArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    if arguments.daily_budget == Some(0) {
        return Err(Usage("--daily-budget is 0; it must be at least 1".to_owned()).into());
    }
    let mut flags = arguments.crawl.flags.clone();
    flags.crawl.every = arguments.every.clone();
    flags.crawl.at = arguments.at.clone();
    flags.crawl.catch_up = Some(arguments.catch_up);
    let mut settings = Settings::load(global, &flags)?;
    settings.crawl.workload = queries::of_crawl(&settings, arguments.crawl.seeds.as_deref(), Some(talk))?;
    let every = *settings.crawl.every.get_or_insert(DEFAULT_EVERY);
    let (mut crawler, hook) = set_up(&arguments.crawl, &settings, false, talk)?;
    let monitor = MonitorSettings {
        every,
        time_of_day: settings.at,
        once: arguments.once,
        budget: settings.crawl.budget,
        threshold: settings.crawl.threshold,
        daily_budget: arguments.daily_budget,
        catch_up: settings.catch_up,
    };
    let monitor = Monitor::new(&mut crawler, monitor, &zone(), Timestamp::now())?;
    let runtime = threads::for_crawl(&settings)?;
    let follower = index_follower(&settings, talk);
    follower.iter().for_each(|follower| crawler.plan_after(follower.handle()));
    let look = || follower.iter().for_each(BackgroundIndex::look);
    let driven = runtime.block_on(watch(monitor, &mut crawler, hook, global.json, talk, &look));
    runtime.shutdown_background();
    finish_index(follower, (!arguments.once).then_some(Duration::ZERO), talk);
    let last = driven?;
    if arguments.once && last.is_some_and(|report| report.nothing_fetched()) {
        bail!(
            "nothing could be fetched; `freshet status --store {}` says why each host waits",
            settings.store.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the monitor until it is stopped; what the last cycle came to. `look` is called when a cycle has ended.
async fn watch(
    monitor: Monitor,
    crawler: &mut Crawler<Network>,
    hook: Option<Hook>,
    as_json: bool,
    talk: &Talk,
    look: &dyn Fn(),
) -> anyhow::Result<Option<CrawlReport>> {
    let (stop, stopped) = watch::channel(false);
    let hooked = hook.map(|hook| Hooked::start(hook, crawler, stopped.clone(), talk));
    tokio::spawn(listen(stop, Arc::new(AtomicU8::new(0)), talk.clone(), STOPPING_CRAWL));
    let mut meter: Option<Meter> = None;
    let mut tell = |event: MonitorEvent<'_>| {
        match event {
            MonitorEvent::Running(progress) => meter.get_or_insert_with(|| talk.meter()).show(progress),
            _ => meter.take().map_or((), Meter::finish),
        }
        if matches!(event, MonitorEvent::CycleEnded(_)) {
            look();
        }
        tell(event, as_json, talk)
    };
    let last =
        monitor.run(crawler, stopped, &mut tell).await.map_err(|error| match error.is::<CrawlError>() {
            true => error.context("the cycle failed; what was committed is safe"),
            false => error,
        })?;
    if let Some(hooked) = hooked {
        // No more changes come: the commands that run are waited for.
        crawler.stop_telling();
        hooked.finish(talk).await?;
    }
    Ok(last)
}

/// Cycles that did not run, and what the budget of this one has to do with them.
fn missed(cycles: u64, raised: Option<RaisedBudget>) -> String {
    let cycles =
        (cycles > 0).then(|| format!("{} did not run; ", counted(cycles as usize, "scheduled cycle")));
    match raised {
        Some(RaisedBudget { budget, extra, owed }) => {
            let left = if owed > 0 { "until caught up" } else { "for the last time: caught up" };
            format!(
                "{}budget raised to {} ({} + {}) {left}",
                cycles.unwrap_or_default(),
                number(budget),
                number(budget - extra),
                number(extra)
            )
        }
        None => format!("{}--catch-up lets later cycles make up for that", cycles.unwrap_or_default()),
    }
}

fn tell(event: MonitorEvent<'_>, as_json: bool, talk: &Talk) -> anyhow::Result<()> {
    match event {
        MonitorEvent::Missed { cycles, raised } => talk.say(&missed(cycles, raised)),
        MonitorEvent::AllowanceSpent { daily, until } => talk.say(&format!(
            "the 24-hour allowance of {} is spent: 0 left until {}",
            counted(daily as usize, "request"),
            until.in_zone(&zone())
        )),
        MonitorEvent::Waiting { due, left } => {
            talk.say(&format!("the next cycle begins at {}, in {}", due.in_zone(&zone()), span(left)));
        }
        MonitorEvent::Running(_) => {}
        MonitorEvent::CycleEnded(cycle) => {
            if let Some(least) = cycle.threshold {
                tracing::info!(score = least, "lowest score visited again");
            }
            talk.result(
                as_json,
                || if as_json { json_line(cycle) } else { Ok(cycle_line(cycle, &screen())) },
            )?;
        }
        MonitorEvent::DayEnded(day) => {
            talk.result(as_json, || if as_json { json_line(day) } else { Ok(day_line(day)) })?;
        }
    }
    Ok(())
}
