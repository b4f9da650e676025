//! Cycles at fixed times until stopped.
//!
//! A cycle that is still running when the next is due ends there. A budget is a cap. Only if the operator asks for it, cycles
//! that did not run, because the machine slept or the monitor was down, leave their budget to the later ones, a quarter more
//! each, until they are made up for. A cycle of `crawl` is none of the calendar's. Under a daily budget a threshold on scores
//! is adjusted after every cycle, so that a day costs what it may.
//!
//! The caller is told of everything as it happens, and decides what is printed.

use std::time::Duration;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::{Counts, CrawlError, CrawlReport, Crawler, CycleLimits, Progress, clock};
use crate::fetch::web::Web;
use crate::schedule::calendar::{Arrears, Calendar};
use crate::schedule::threshold::Controller;
use crate::store::{CycleCommand, CycleId, CycleRow, Store};
use crate::time::Timestamp;

/// The store's note of the last [`MonitorTerms`].
const TERMS: &str = "monitor-terms";
/// The store's note of the threshold that keeps the cost of a day.
const THRESHOLD: &str = "threshold";
const DAY: Duration = Duration::from_secs(86_400);
/// One a second.
const MOST_CYCLES_A_DAY: usize = 86_400;
/// Longest sleep before the clock is read again: it may have been set, or the machine been asleep.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// When cycles run, and what they may spend.
#[derive(Clone, Copy, Debug)]
pub struct MonitorSettings {
    /// From the start of one cycle to the start of the next.
    pub every: Duration,
    /// Hour and minute at which cycles start, in the zone that [`Monitor::new`] is given.
    pub time_of_day: Option<(u8, u8)>,
    /// Run one cycle now, and no more.
    pub once: bool,
    /// Requests a cycle may send.
    pub budget: Option<u64>,
    /// Score from which pages are visited again.
    pub threshold: Option<f64>,
    /// Requests a day may cost, in place of a budget and a threshold.
    pub daily_budget: Option<u64>,
    /// Later cycles make up for those that did not run.
    pub catch_up: bool,
}

/// The terms of the last cycle, and what is owed by them. Under other terms nothing was missed and nothing is owed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct MonitorTerms {
    every_ms: u64,
    budget: Option<u64>,
    /// Requests that missed cycles did not send.
    owed: u64,
}

impl MonitorTerms {
    /// These terms, with nothing owed.
    fn of(settings: &MonitorSettings) -> Self {
        let every_ms = u64::try_from(settings.every.as_millis()).unwrap_or(u64::MAX);
        Self { every_ms, budget: settings.budget, owed: 0 }
    }

    /// What the last cycle noted, if its terms were these.
    fn load(self, store: &mut dyn Store) -> Result<Option<Self>, CrawlError> {
        let noted = store.note(TERMS)?.and_then(|text| serde_json::from_str::<Self>(&text).ok());
        Ok(noted.filter(|noted| Self { owed: 0, ..*noted } == self))
    }

    fn save(self, store: &mut dyn Store) -> Result<(), CrawlError> {
        let text = serde_json::to_string(&self).unwrap_or_default();
        Ok(store.set_note(TERMS, &text)?)
    }
}

/// News of the monitor.
#[derive(Clone, Copy, Debug)]
pub enum MonitorEvent<'a> {
    /// Scheduled cycles did not run, or a cycle makes up for some that did not.
    Missed {
        /// Cycles that did not run since the last one that did.
        cycles: u64,
        /// The budget of this cycle, if missed cycles raise it.
        raised: Option<RaisedBudget>,
    },
    /// The requests of the last 24 hours are as many as a day may cost.
    AllowanceSpent {
        /// Requests a day may cost.
        daily: u64,
        /// When there will be some to send again.
        until: Timestamp,
    },
    /// The next cycle starts at this time.
    Waiting {
        /// The start.
        due: Timestamp,
        /// The time left until then.
        left: Duration,
    },
    /// A cycle goes on.
    Running(&'a Progress),
    /// A cycle has ended.
    CycleEnded(&'a CycleSummary),
    /// A day of several cycles is over.
    DayEnded(&'a DaySummary),
}

/// A budget that missed cycles raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaisedBudget {
    /// Requests the cycle may send.
    pub budget: u64,
    /// Those of them that make up for missed cycles.
    pub extra: u64,
    /// Requests that are still owed after it.
    pub owed: u64,
}

/// The result of a cycle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CycleSummary {
    /// When it started.
    #[serde(rename = "started_at")]
    pub cycle_began: Timestamp,
    /// How long it took.
    #[serde(rename = "elapsed_seconds")]
    pub seconds: f64,
    /// Requests it could send.
    pub budget: Option<u64>,
    /// The least score of a page that was visited again.
    #[serde(rename = "lowest_score")]
    pub threshold: Option<f64>,
    /// Requests sent.
    pub requests: u64,
    /// Visits that brought the page, or the word that it is unchanged.
    #[serde(rename = "succeeded")]
    pub fetched: u64,
    /// Those that found a change.
    pub changed: u64,
    /// Those that found none.
    pub unchanged: u64,
    /// Pages found that were not known.
    #[serde(rename = "new_pages")]
    pub new: u64,
    /// Visits that failed.
    pub failed: u64,
    /// Visits left for a later cycle.
    #[serde(rename = "put_off")]
    pub deferred: u64,
    /// Pages in the store.
    #[serde(rename = "known_urls")]
    pub known: u64,
    /// It was stopped before it was done.
    pub stopped: bool,
}

/// The results of all cycles of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DaySummary {
    /// The day, UTC: `2026-11-16`.
    pub day: String,
    /// Cycles that started on it.
    #[serde(rename = "cycle_count")]
    pub cycles: u64,
    /// Requests sent.
    pub requests: u64,
    /// Visits that brought the page, or the word that it is unchanged.
    #[serde(rename = "succeeded")]
    pub fetched: u64,
    /// Those that found a change.
    pub changed: u64,
    /// Pages found that were not known.
    #[serde(rename = "new_pages")]
    pub new: u64,
    /// Visits that failed.
    pub failed: u64,
}

/// Runs cycles at fixed times.
pub struct Monitor {
    settings: MonitorSettings,
    calendar: Calendar,
    /// The start that the last cycle stood for.
    last_due: Timestamp,
    arrears: Arrears,
    controller: Option<Controller>,
    today: DaySummary,
    /// The next cycle starts at once.
    at_once: bool,
    /// The next cycle is one that was interrupted.
    resumes: bool,
    /// Cycles that did not run before the next one, and were not told yet.
    missed: u64,
    /// It was told that the allowance of the day is spent.
    is_spent: bool,
}

impl Monitor {
    /// Finds out from the store what is due. An interrupted cycle whose time is over is closed: its pages compete in the next.
    pub fn new<W: Web>(
        crawler: &mut Crawler<W>,
        settings: MonitorSettings,
        zone: &TimeZone,
        now: Timestamp,
    ) -> Result<Self, CrawlError> {
        let MonitorSettings { every, time_of_day, once, .. } = settings;
        crawler.command = CycleCommand::Monitor;
        let store = crawler.store()?;
        let open = store.interrupted_cycle()?;
        let resumes = open.as_ref().is_some_and(|cycle| now < cycle.started_at.plus(every));
        if let Some(cycle) = open.filter(|_| !resumes) {
            store.close_cycle(CycleId(cycle.id), now, None)?;
        }
        let own = |cycle: &CycleRow| matches!(cycle.command, None | Some(CycleCommand::Monitor));
        let last = store.latest_cycle(own)?;
        let terms = MonitorTerms::of(&settings).load(store)?;
        let kept = store.note(THRESHOLD)?.and_then(|kept| kept.parse().ok());
        let controller = settings.daily_budget.map(|daily| Controller {
            daily,
            cycle_days: every.as_secs_f64() / DAY.as_secs_f64(),
            threshold: kept.filter(|kept: &f64| *kept > 0.0),
        });
        // A clock that was ahead must not keep the next cycle waiting.
        let last_start = last.as_ref().map(|cycle| cycle.started_at).filter(|at| !clock::is_ahead(*at, now));
        let mut calendar = Calendar::new(every, time_of_day, zone, last_start, now);
        let is_overdue = last_start.is_none_or(|last| calendar.latest(now) > last);
        // Cycles of other terms were not scheduled, so they were not missed.
        let missed =
            if resumes || terms.is_none() { 0 } else { calendar.missed(last_start, calendar.latest(now)) };
        let owed = terms.filter(|_| settings.catch_up).map_or(0, |terms| terms.owed);
        // Overdue, one cycle is run now, unless a time of day is kept; the others follow from there.
        let at_once = once || resumes || is_overdue && time_of_day.is_none();
        if at_once && !(resumes && last_start.is_some()) && time_of_day.is_none() {
            calendar = Calendar::new(every, None, zone, Some(now), now);
        }
        let mut monitor = Self {
            settings,
            last_due: calendar.latest(now),
            calendar,
            arrears: Arrears { owed },
            controller,
            today: DaySummary::default(),
            at_once,
            resumes,
            missed: 0,
            is_spent: false,
        };
        monitor.miss(missed);
        Ok(monitor)
    }

    /// Scheduled cycles did not run.
    fn miss(&mut self, cycles: u64) {
        self.missed += cycles;
        if self.settings.catch_up {
            self.arrears.miss(cycles, self.settings.budget.unwrap_or(0));
        }
    }

    /// Runs cycles until `stopped` turns true; the report of the last one. An error of `tell` ends it too.
    pub async fn run<W: Web, E: From<CrawlError>>(
        mut self,
        crawler: &mut Crawler<W>,
        stopped: watch::Receiver<bool>,
        tell: &mut impl FnMut(MonitorEvent<'_>) -> Result<(), E>,
    ) -> Result<Option<CrawlReport>, E> {
        let mut last = None;
        loop {
            let now = Timestamp::now();
            if self.at_once {
                self.last_due = self.calendar.latest(now);
            } else {
                let due = self.calendar.next(now);
                tell(MonitorEvent::Waiting { due, left: due.after(now) })?;
                if !wait_until(due, stopped.clone()).await {
                    break;
                }
                // The machine may have slept, or a cycle taken too long.
                self.miss(self.calendar.missed(Some(self.last_due), due));
                self.last_due = due;
            }
            self.at_once = false;
            last = Some(self.cycle(crawler, stopped.clone(), tell).await?);
            self.resumes = false;
            if self.settings.once || *stopped.borrow() {
                break;
            }
        }
        if !self.settings.once && self.today.cycles > 0 {
            tell(MonitorEvent::DayEnded(&self.today))?;
        }
        Ok(last)
    }

    /// Runs a cycle, and tells its summary.
    async fn cycle<W: Web, E: From<CrawlError>>(
        &mut self,
        crawler: &mut Crawler<W>,
        stopped: watch::Receiver<bool>,
        tell: &mut impl FnMut(MonitorEvent<'_>) -> Result<(), E>,
    ) -> Result<CrawlReport, E> {
        let began = Timestamp::now();
        let limits = self.limits(crawler, began, tell)?;
        let (progress, mut watched) = watch::channel(Progress::default());
        let report = {
            let mut run = std::pin::pin!(crawler.run_once(limits, stopped, &progress));
            loop {
                tokio::select! {
                    report = &mut run => break report?,
                    Ok(()) = watched.changed() => {
                        let seen = watched.borrow_and_update().clone();
                        tell(MonitorEvent::Running(&seen))?;
                    }
                }
            }
        };
        self.learn(crawler, &report)?;
        if let Some(over) = self.add_to_day(began, &report.counts) {
            tell(MonitorEvent::DayEnded(&over))?;
        }
        tell(MonitorEvent::CycleEnded(&CycleSummary::of(began, limits.budget, &report)))?;
        Ok(report)
    }

    /// The limits of the cycle that starts now, told where they are not the usual ones. A cycle that is resumed keeps its own
    /// budget, of which a part is spent.
    fn limits<W: Web, E: From<CrawlError>>(
        &mut self,
        crawler: &mut Crawler<W>,
        began: Timestamp,
        tell: &mut impl FnMut(MonitorEvent<'_>) -> Result<(), E>,
    ) -> Result<CycleLimits, E> {
        let store = crawler.store()?;
        let (budget, threshold) = match &self.controller {
            Some(controller) => {
                let cycles = store.cycles(MOST_CYCLES_A_DAY).map_err(CrawlError::from)?;
                let sent = SentRequests::of(&cycles, began, DAY);
                let budget = controller.budget(sent.requests);
                let was_spent = std::mem::replace(&mut self.is_spent, budget == 0);
                if let (0, false, Some(until)) = (budget, was_spent, sent.until) {
                    tell(MonitorEvent::AllowanceSpent { daily: controller.daily, until })?;
                }
                (Some(budget), controller.threshold)
            }
            None => {
                let raised = self.settings.budget.map(|regular| self.raise(regular));
                let (cycles, extra) = (std::mem::take(&mut self.missed), raised.map(|raised| raised.extra));
                if cycles > 0 || extra > Some(0) {
                    tell(MonitorEvent::Missed { cycles, raised: raised.filter(|raised| raised.extra > 0) })?;
                }
                (raised.map(|raised| raised.budget), self.settings.threshold)
            }
        };
        MonitorTerms { owed: self.arrears.owed, ..MonitorTerms::of(&self.settings) }.save(store)?;
        // The next cycle starts on time, so this one has until then; nothing follows a single one.
        let MonitorSettings { every, once, .. } = self.settings;
        let next = self.calendar.next(Timestamp::from_millis(began.millis() + 1)).after(began);
        let time = if once { every } else { next.min(every) };
        Ok(CycleLimits { budget, threshold, time: Some(time) })
    }

    /// The budget of the next cycle, with what it makes up for.
    fn raise(&mut self, regular: u64) -> RaisedBudget {
        let budget = if self.resumes { regular } else { self.arrears.take(regular) };
        RaisedBudget { budget, extra: budget - regular, owed: self.arrears.owed }
    }

    /// Adjusts the threshold to what the cycle cost.
    fn learn<W: Web>(&mut self, crawler: &mut Crawler<W>, report: &CrawlReport) -> Result<(), CrawlError> {
        let Some(controller) = self.controller.as_mut().filter(|_| !report.stopped) else { return Ok(()) };
        controller.after(report.counts.requests, report.threshold);
        if let Some(threshold) = controller.threshold {
            crawler.store()?.set_note(THRESHOLD, &threshold.to_string())?;
        }
        Ok(())
    }

    /// Where there are several cycles a day: adds one to its day. Gives the day before, if that is over now.
    fn add_to_day(&mut self, began: Timestamp, counts: &Counts) -> Option<DaySummary> {
        if self.settings.every >= DAY {
            return None;
        }
        let day = began.to_string().chars().take(10).collect::<String>();
        let is_new = self.today.day != day;
        let before =
            is_new.then(|| std::mem::replace(&mut self.today, DaySummary { day, ..DaySummary::default() }));
        let today = &mut self.today;
        today.cycles += 1;
        today.requests += counts.requests;
        today.fetched += counts.fetched;
        today.changed += counts.changed;
        today.new += counts.new;
        today.failed += counts.failed;
        before.filter(|before| before.cycles > 0)
    }
}

impl CycleSummary {
    fn of(began: Timestamp, budget: Option<u64>, report: &CrawlReport) -> Self {
        let counts = &report.counts;
        Self {
            cycle_began: began,
            seconds: report.elapsed.as_secs_f64(),
            budget,
            threshold: report.threshold,
            requests: counts.requests,
            fetched: counts.fetched,
            changed: counts.changed,
            unchanged: counts.unchanged,
            new: counts.new,
            failed: counts.failed,
            deferred: counts.deferred,
            known: report.known,
            stopped: report.stopped,
        }
    }
}

/// Requests of the cycles that began within a time before now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SentRequests {
    requests: u64,
    /// When the first of these cycles is over that time ago, and its requests don't count any more.
    until: Option<Timestamp>,
}

impl SentRequests {
    fn of(cycles: &[CycleRow], now: Timestamp, time: Duration) -> Self {
        let counts = |cycle: &&CycleRow| {
            !clock::is_ahead(cycle.started_at, now)
                && now.after(cycle.started_at) < time
                && cycle.requests > 0
        };
        let counted = || cycles.iter().filter(counts);
        Self {
            requests: counted().map(|cycle| cycle.requests).sum(),
            until: counted().map(|cycle| cycle.started_at.plus(time)).min(),
        }
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

#[cfg(test)]
#[path = "monitor_tests.rs"]
mod tests;
