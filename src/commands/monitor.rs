//! `freshet monitor`: cycles at fixed distances until stopped, a line for each.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::watch;

use freshet::crawl::{Counts, CrawlReport, Crawler, CycleLimits, Progress};
use freshet::fetch::network::Network;
use freshet::report::{number, rate, span};
use freshet::schedule::calendar::{Arrears, Calendar};
use freshet::schedule::threshold::Controller;
use freshet::store::CycleId;
use freshet::time::Timestamp;

use super::crawl::{listen, runtime, set_up, wait_for};
use super::on_change::Hook;
use crate::cli::{Global, MonitorArgs};
use crate::settings::{Settings, Usage};
use crate::terminal::Talk;

/// Time from one cycle to the next, if none is set.
const DEFAULT_EVERY: Duration = Duration::from_secs(86_400);
/// The store's note of what missed cycles did not spend.
const OWED: &str = "owed-requests";
/// … and of the threshold that keeps the cost of a day.
const THRESHOLD: &str = "threshold";
const DAY: Duration = Duration::from_secs(86_400);
/// One a second.
const MOST_CYCLES_A_DAY: usize = 86_400;
/// How long one sleeps at most before the clock is read again: it may have been set, or the machine been asleep.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

pub fn run(global: &Global, arguments: &MonitorArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let mut flags = arguments.crawl.flags.clone();
    flags.crawl.every = arguments.every.clone();
    flags.crawl.at = arguments.at.clone();
    let mut settings = Settings::load(global, &flags)?;
    let every = *settings.crawl.every.get_or_insert(DEFAULT_EVERY);
    let time_of_day = settings.at;
    let (mut crawler, hook) = set_up(&arguments.crawl, &settings, talk)?;
    let store = crawler.store()?;
    let now = Timestamp::now();
    let last = store.cycles(1)?.into_iter().next();
    let open = last.as_ref().filter(|cycle| cycle.ended_at.is_none());
    let resumes = open.is_some_and(|cycle| now < cycle.started_at.plus(every));
    if let Some(cycle) = open.filter(|_| !resumes) {
        // Its time is long over: what it did not reach competes in the next.
        store.close_cycle(CycleId(cycle.id), now, None)?;
    }
    let owed = store.note(OWED)?.and_then(|owed| owed.parse().ok()).unwrap_or(0);
    let controller = match arguments.daily_budget {
        Some(0) => return Err(Usage("--daily-budget is 0; it must be at least 1".to_owned()).into()),
        Some(daily) => Some(Controller {
            daily,
            cycle_days: every.as_secs_f64() / DAY.as_secs_f64(),
            threshold: store
                .note(THRESHOLD)?
                .and_then(|kept| kept.parse().ok())
                .filter(|kept: &f64| *kept > 0.0),
        }),
        None => None,
    };
    let last_start = last.as_ref().map(|cycle| cycle.started_at);
    let mut calendar = Calendar::new(every, time_of_day, last_start, now);
    let is_overdue = last_start.is_none_or(|last| calendar.latest(now) > last);
    let missed = if resumes { 0 } else { calendar.missed(last_start, calendar.latest(now)) };
    let mut arrears = Arrears { owed };
    arrears.miss(missed, settings.crawl.budget.unwrap_or(0));
    if missed > 0 && settings.crawl.budget.is_some() {
        let missed = number(missed);
        talk.say(&format!(
            "{missed} cycles were missed; each of the next ones makes up for a little of them"
        ));
    }
    // Overdue, one cycle is run now, unless a time of day is kept; the others follow from there.
    let at_once = arguments.once || resumes || is_overdue && time_of_day.is_none();
    if at_once && !resumes && time_of_day.is_none() {
        calendar = Calendar::new(every, None, Some(now), now);
    }
    let mut monitor = Monitor {
        calendar,
        every,
        once: arguments.once,
        last_due: calendar.latest(now),
        arrears,
        budget: settings.crawl.budget,
        threshold: settings.crawl.threshold,
        controller,
        json: global.json,
        today: Today::default(),
    };
    let runtime = runtime(&settings)?;
    let driven = runtime.block_on(monitor.watch(&mut crawler, hook, at_once, resumes, talk));
    runtime.shutdown_background();
    let last = driven?;
    if arguments.once && last.is_some_and(|report| report.nothing_fetched()) {
        anyhow::bail!(
            "nothing could be fetched; `freshet status --store {}` says why each host waits",
            settings.store.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

struct Monitor {
    calendar: Calendar,
    every: Duration,
    once: bool,
    /// The start that the last cycle stood for.
    last_due: Timestamp,
    arrears: Arrears,
    budget: Option<u64>,
    threshold: Option<f64>,
    controller: Option<Controller>,
    json: bool,
    today: Today,
}

impl Monitor {
    /// Cycles until it is told to stop; what the last one came to.
    async fn watch(
        &mut self,
        crawler: &mut Crawler<Network>,
        hook: Option<Hook>,
        mut at_once: bool,
        mut resumes: bool,
        talk: &Talk,
    ) -> anyhow::Result<Option<CrawlReport>> {
        let (stop, stopped) = watch::channel(false);
        let hooked = hook.map(|hook| {
            let (tell, told) = unbounded_channel();
            crawler.tell_changes(tell);
            tokio::spawn(hook.serve(told, stopped.clone(), talk.clone()))
        });
        let stopping = "stopping: what is in flight is finished and stored; once more stops at once";
        tokio::spawn(listen(stop, Arc::new(AtomicU8::new(0)), talk.clone(), stopping));
        let mut last = None;
        loop {
            let now = Timestamp::now();
            if at_once {
                self.last_due = self.calendar.latest(now);
            } else {
                let due = self.calendar.next(now);
                talk.say(&format!("the next cycle begins at {due}, in {}", span(due.after(now))));
                if !wait_until(due, stopped.clone()).await {
                    break;
                }
                // The machine may have slept, or a cycle taken too long.
                let missed = self.calendar.missed(Some(self.last_due), due);
                self.arrears.miss(missed, self.budget.unwrap_or(0));
                self.last_due = due;
            }
            at_once = false;
            last = Some(self.cycle(crawler, resumes, stopped.clone(), talk).await?);
            resumes = false;
            if self.once || *stopped.borrow() {
                break;
            }
        }
        if !self.once {
            self.today.close(self.json)?;
        }
        if let Some(hooked) = hooked {
            // Nothing more is told: the commands that run are waited for.
            crawler.tell_nobody();
            wait_for(hooked, talk).await?;
        }
        Ok(last)
    }

    /// Runs a cycle, and says what it came to. One that is taken up again has its own budget, of which a part is spent.
    async fn cycle(
        &mut self,
        crawler: &mut Crawler<Network>,
        resumes: bool,
        stopped: watch::Receiver<bool>,
        talk: &Talk,
    ) -> anyhow::Result<CrawlReport> {
        let regular =
            |budget: u64, arrears: &mut Arrears| if resumes { budget } else { arrears.take(budget) };
        let began = Timestamp::now();
        let (budget, threshold) = match &self.controller {
            Some(controller) => {
                (Some(controller.budget(sent_since(crawler, began, DAY)?)), controller.threshold)
            }
            None => (self.budget.map(|budget| regular(budget, &mut self.arrears)), self.threshold),
        };
        crawler.store()?.set_note(OWED, &self.arrears.owed.to_string())?;
        // The next one begins on time, so this one has until then; after a single one comes nothing.
        let next = self.calendar.next(Timestamp::from_millis(began.millis() + 1)).after(began);
        let time = if self.once { self.every } else { next.min(self.every) };
        let (progress, mut watched) = watch::channel(Progress::default());
        let mut meter = talk.meter();
        let limits = CycleLimits { budget, threshold, time: Some(time) };
        let report = {
            let mut run = std::pin::pin!(crawler.run_once(limits, stopped, &progress));
            loop {
                tokio::select! {
                    report = &mut run => break report,
                    Ok(()) = watched.changed() => meter.show(&watched.borrow_and_update().clone()),
                }
            }
        };
        meter.finish();
        let report = report.context("the cycle failed; what was committed is safe")?;
        if let Some(controller) = self.controller.as_mut().filter(|_| !report.stopped) {
            controller.after(report.counts.requests, report.threshold);
            if let Some(threshold) = controller.threshold {
                crawler.store()?.set_note(THRESHOLD, &threshold.to_string())?;
            }
        }
        self.today.add(began, &report.counts, self.json, self.every)?;
        self.say(began, budget, &report)?;
        Ok(report)
    }

    fn say(&self, began: Timestamp, budget: Option<u64>, report: &CrawlReport) -> anyhow::Result<()> {
        let counts = &report.counts;
        let line = if self.json {
            json!({
                "cycle_began": began,
                "seconds": report.elapsed.as_secs_f64(),
                "budget": budget,
                "threshold": report.threshold,
                "requests": counts.requests,
                "fetched": counts.fetched,
                "changed": counts.changed,
                "unchanged": counts.unchanged,
                "new": counts.new,
                "failed": counts.failed,
                "deferred": counts.deferred,
                "known": report.known,
                "stopped": report.stopped,
            })
            .to_string()
        } else {
            let stopped = if report.stopped { ", stopped" } else { "" };
            let least =
                report.threshold.map_or(String::new(), |least| format!(", scores from {} up", rate(least)));
            format!("{began} cycle: {} in {}{least}{stopped}", figures(counts), span(report.elapsed))
        };
        print(&line)
    }
}

fn figures(counts: &Counts) -> String {
    format!(
        "{} requests, {} fetched, {} changed, {} new, {} failed",
        number(counts.requests),
        number(counts.fetched),
        number(counts.changed),
        number(counts.new),
        number(counts.failed)
    )
}

/// Requests that cycles begun within that time before `now` sent.
fn sent_since(crawler: &mut Crawler<Network>, now: Timestamp, time: Duration) -> anyhow::Result<u64> {
    let cycles = crawler.store()?.cycles(MOST_CYCLES_A_DAY)?;
    let recent = cycles.iter().filter(|cycle| now.after(cycle.started_at) < time);
    Ok(recent.map(|cycle| cycle.requests).sum())
}

/// A line that a log file or a journal has at once.
fn print(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// Where there are several cycles a day: what they came to together, told when the day is over.
#[derive(Default)]
struct Today {
    day: Option<String>,
    cycles: u64,
    sum: Counts,
}

impl Today {
    fn add(&mut self, began: Timestamp, counts: &Counts, json: bool, every: Duration) -> anyhow::Result<()> {
        if every >= Duration::from_secs(86_400) {
            // A cycle's own line is the day's.
            return Ok(());
        }
        let day = began.to_string().chars().take(10).collect::<String>();
        if self.day.as_ref().is_some_and(|before| *before != day) {
            self.close(json)?;
        }
        self.day = Some(day);
        self.cycles += 1;
        self.sum.requests += counts.requests;
        self.sum.fetched += counts.fetched;
        self.sum.changed += counts.changed;
        self.sum.new += counts.new;
        self.sum.failed += counts.failed;
        Ok(())
    }

    fn close(&mut self, json: bool) -> anyhow::Result<()> {
        let Today { day: Some(day), cycles, sum } = std::mem::take(self) else { return Ok(()) };
        print(&if json {
            json!({
                "day": day,
                "cycles": cycles,
                "requests": sum.requests,
                "fetched": sum.fetched,
                "changed": sum.changed,
                "new": sum.new,
                "failed": sum.failed,
            })
            .to_string()
        } else {
            format!("{day} day: {} cycles, {}", number(cycles), figures(&sum))
        })
    }
}

/// Sleeps until then; says no if it was told to stop before.
async fn wait_until(due: Timestamp, mut stopped: watch::Receiver<bool>) -> bool {
    loop {
        let left = due.after(Timestamp::now());
        if left.is_zero() {
            return !*stopped.borrow();
        }
        tokio::select! {
            () = tokio::time::sleep(left.min(LONGEST_SLEEP)) => {}
            _ = stopped.wait_for(|stopped| *stopped) => return false,
        }
    }
}
