//! Cycles at fixed times until stopped.
//!
//! A cycle that is still running when the next is due ends there. Cycles that did not run, because the machine slept or the
//! monitor was down, leave their budget to the later ones, a quarter more each, until they are made up for. Under a daily
//! budget a threshold on scores is adjusted after every cycle, so that a day costs what it may.
//!
//! The caller is told of everything as it happens, and decides what is printed.

use std::time::Duration;

use serde::Serialize;
use tokio::sync::watch;

use super::{Counts, CrawlError, CrawlReport, Crawler, CycleLimits, Progress, clock};
use crate::fetch::web::Web;
use crate::schedule::calendar::{Arrears, Calendar};
use crate::schedule::threshold::Controller;
use crate::store::{CycleId, CycleRow};
use crate::time::Timestamp;

/// The store's note of the requests that missed cycles did not send.
const OWED: &str = "owed-requests";
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
    /// Hour and minute, UTC, at which cycles start.
    pub time_of_day: Option<(u8, u8)>,
    /// Run one cycle now, and no more.
    pub once: bool,
    /// Requests a cycle may send.
    pub budget: Option<u64>,
    /// Score from which pages are visited again.
    pub threshold: Option<f64>,
    /// Requests a day may cost, in place of a budget and a threshold.
    pub daily_budget: Option<u64>,
}

/// News of the monitor.
#[derive(Clone, Copy, Debug)]
pub enum MonitorEvent<'a> {
    /// Scheduled cycles did not run. `budget` is that of the next cycle, and `extra` the part of it that makes up for them.
    Missed {
        /// Cycles that did not run.
        cycles: u64,
        /// Requests the next cycle may send.
        budget: u64,
        /// Those of them that make up for missed cycles.
        extra: u64,
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

/// The result of a cycle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CycleSummary {
    /// When it started.
    pub cycle_began: Timestamp,
    /// How long it took.
    pub seconds: f64,
    /// Requests it could send.
    pub budget: Option<u64>,
    /// The least score of a page that was visited again.
    pub threshold: Option<f64>,
    /// Requests sent.
    pub requests: u64,
    /// Visits that brought the page, or the word that it is unchanged.
    pub fetched: u64,
    /// Those that found a change.
    pub changed: u64,
    /// Those that found none.
    pub unchanged: u64,
    /// Pages found that were not known.
    pub new: u64,
    /// Visits that failed.
    pub failed: u64,
    /// Visits left for a later cycle.
    pub deferred: u64,
    /// Pages in the store.
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
    pub cycles: u64,
    /// Requests sent.
    pub requests: u64,
    /// Visits that brought the page, or the word that it is unchanged.
    pub fetched: u64,
    /// Those that found a change.
    pub changed: u64,
    /// Pages found that were not known.
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
    missed: u64,
}

impl Monitor {
    /// Finds out from the store what is due. An interrupted cycle whose time is over is closed: its pages compete in the next.
    pub fn new<W: Web>(
        crawler: &mut Crawler<W>,
        settings: MonitorSettings,
        now: Timestamp,
    ) -> Result<Self, CrawlError> {
        let MonitorSettings { every, time_of_day, once, .. } = settings;
        let store = crawler.store()?;
        let last = store.cycles(1)?.into_iter().next();
        let open = last.as_ref().filter(|cycle| cycle.ended_at.is_none());
        let resumes = open.is_some_and(|cycle| now < cycle.started_at.plus(every));
        if let Some(cycle) = open.filter(|_| !resumes) {
            store.close_cycle(CycleId(cycle.id), now, None)?;
        }
        let owed = store.note(OWED)?.and_then(|owed| owed.parse().ok()).unwrap_or(0);
        let kept = store.note(THRESHOLD)?.and_then(|kept| kept.parse().ok());
        let controller = settings.daily_budget.map(|daily| Controller {
            daily,
            cycle_days: every.as_secs_f64() / DAY.as_secs_f64(),
            threshold: kept.filter(|kept: &f64| *kept > 0.0),
        });
        // A clock that was ahead must not keep the next cycle waiting.
        let last_start = last.as_ref().map(|cycle| cycle.started_at).filter(|at| !clock::is_ahead(*at, now));
        let mut calendar = Calendar::new(every, time_of_day, last_start, now);
        let is_overdue = last_start.is_none_or(|last| calendar.latest(now) > last);
        let missed = if resumes { 0 } else { calendar.missed(last_start, calendar.latest(now)) };
        let mut arrears = Arrears { owed };
        arrears.miss(missed, settings.budget.unwrap_or(0));
        // Overdue, one cycle is run now, unless a time of day is kept; the others follow from there.
        let at_once = once || resumes || is_overdue && time_of_day.is_none();
        if at_once && !resumes && time_of_day.is_none() {
            calendar = Calendar::new(every, None, Some(now), now);
        }
        let (last_due, today) = (calendar.latest(now), DaySummary::default());
        Ok(Self { settings, calendar, last_due, arrears, controller, today, at_once, resumes, missed })
    }

    /// Runs cycles until `stopped` turns true; the report of the last one. An error of `tell` ends it too.
    pub async fn run<W: Web, E: From<CrawlError>>(
        mut self,
        crawler: &mut Crawler<W>,
        stopped: watch::Receiver<bool>,
        tell: &mut impl FnMut(MonitorEvent<'_>) -> Result<(), E>,
    ) -> Result<Option<CrawlReport>, E> {
        if let (1.., Some(regular)) = (self.missed, self.settings.budget) {
            let budget = Arrears { ..self.arrears }.take(regular);
            tell(MonitorEvent::Missed {
                cycles: self.missed,
                budget,
                extra: budget.saturating_sub(regular),
            })?;
        }
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
                let missed = self.calendar.missed(Some(self.last_due), due);
                self.arrears.miss(missed, self.settings.budget.unwrap_or(0));
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
        let limits = self.limits(crawler, began)?;
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

    /// The limits of the cycle that starts now. A cycle that is resumed keeps its own budget, of which a part is spent.
    fn limits<W: Web>(
        &mut self,
        crawler: &mut Crawler<W>,
        began: Timestamp,
    ) -> Result<CycleLimits, CrawlError> {
        let store = crawler.store()?;
        let (budget, threshold) = match &self.controller {
            Some(controller) => {
                let sent = sent_since(&store.cycles(MOST_CYCLES_A_DAY)?, began, DAY);
                (Some(controller.budget(sent)), controller.threshold)
            }
            None => {
                let budget = self.settings.budget;
                let whole = |budget| if self.resumes { budget } else { self.arrears.take(budget) };
                (budget.map(whole), self.settings.threshold)
            }
        };
        store.set_note(OWED, &self.arrears.owed.to_string())?;
        // The next cycle starts on time, so this one has until then; nothing follows a single one.
        let MonitorSettings { every, once, .. } = self.settings;
        let next = self.calendar.next(Timestamp::from_millis(began.millis() + 1)).after(began);
        let time = if once { every } else { next.min(every) };
        Ok(CycleLimits { budget, threshold, time: Some(time) })
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

/// Requests that cycles begun within that time before `now` sent.
fn sent_since(cycles: &[CycleRow], now: Timestamp, time: Duration) -> u64 {
    let counts =
        |cycle: &&CycleRow| !clock::is_ahead(cycle.started_at, now) && now.after(cycle.started_at) < time;
    cycles.iter().filter(counts).map(|cycle| cycle.requests).sum()
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
mod tests {
    use super::*;

    fn monitor(every: Duration) -> Monitor {
        let now = Timestamp::from_seconds(1_800_000_000);
        let settings = MonitorSettings {
            every,
            time_of_day: None,
            once: false,
            budget: None,
            threshold: None,
            daily_budget: None,
        };
        let calendar = Calendar::new(every, None, None, now);
        let today = DaySummary::default();
        let arrears = Arrears { owed: 0 };
        Monitor {
            settings,
            calendar,
            last_due: now,
            arrears,
            controller: None,
            today,
            at_once: true,
            resumes: false,
            missed: 0,
        }
    }

    #[test]
    fn cycles_of_a_day_are_added_up_until_the_next_day() {
        let mut monitor = monitor(Duration::from_secs(3600));
        let counts = Counts { requests: 3, changed: 1, ..Counts::default() };
        let midnight = 1_800_057_600;
        assert_eq!(monitor.add_to_day(Timestamp::from_seconds(midnight - 7200), &counts), None);
        assert_eq!(monitor.add_to_day(Timestamp::from_seconds(midnight - 3600), &counts), None);
        let over = monitor.add_to_day(Timestamp::from_seconds(midnight), &counts).expect("a day is over");
        assert_eq!((over.cycles, over.requests, over.changed), (2, 6, 2));
        assert_eq!((monitor.today.cycles, monitor.today.requests), (1, 3));
    }

    #[test]
    fn a_cycle_a_day_is_its_own_summary() {
        let mut monitor = monitor(DAY);
        assert_eq!(monitor.add_to_day(Timestamp::from_seconds(0), &Counts::default()), None);
        assert_eq!(monitor.today.cycles, 0);
    }
}
