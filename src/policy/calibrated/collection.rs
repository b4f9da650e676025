//! What all pages teach about one another: the mean rate, the size of a typical change, the clocks of folders, rates by name, and
//! the coefficients by which a page's rate follows from all that.
//!
//! In come plans and the visits that each of them led to, in the order of the log. The state follows from them alone: a crawl
//! that goes on and a rebuild from the log come to the same state, bit for bit.

use super::coefficients::{Coefficients, Features, RatedVisit};
use super::folder_clocks::{ClockReadings, FolderClocks};
use super::hours::HourFindings;
use super::names::Names;
use super::watched::{LastVisit, PageWatch, WatchedSums};
use crate::longevity::rhythm::DayRhythm;
use crate::page::{HostId, Kin};
use crate::policy::{CollectedVisit, PlanMoment};
use crate::signal::clock::{SignalClock, SignalView};
use crate::time::{Age, Timestamp};
use crate::varint::{push_float, push_signed, take_float, take_signed};

/// How many typical changes' worth the mean rate counts for in a page's own.
const OWN_CHANGES: f64 = 0.3;
/// A page is young for about this many days, or cycles where those are shorter.
const YOUNG_DAYS: f64 = 365.0;
/// Prior of the mean rate: divergence, and the cycles in which it was found.
const RATE_PRIOR: (f64, f64) = (1e-4, 1e-2);
/// Prior of the size of a typical change: Σ d² and Σ d of one change.
const JUMP_PRIOR: (f64, f64) = (0.3, 1.0);
/// What is left of the evidence for the height of divergence after each visit.
const HEIGHT_KEEP: f64 = 0.999;
/// Pages are taken to reach this divergence in the long run at least, as a share of what their rates predict.
const LEAST_HEIGHT: f64 = 0.1;

/// What is known of the collection.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LearntCollection {
    /// All divergence found, in how many days under watch, by how many visits.
    found: f64,
    days: f64,
    visits: f64,
    /// Σ d² and Σ d.
    jumps: (f64, f64),
    /// Divergences from the oldest base versions that were found and that rates predicted, of late.
    oldest: (f64, f64),
    pub(super) coefficients: Coefficients,
    pub(super) clocks: FolderClocks,
    names: Names,
    pub(super) signals: SignalClock,
    hours: HourFindings,
    /// When the first plan was made, and from when on pages that are found are new.
    began: Option<Timestamp>,
}

impl Default for LearntCollection {
    fn default() -> Self {
        Self {
            found: 0.0,
            days: 0.0,
            visits: 0.0,
            jumps: (0.0, 0.0),
            oldest: (1.0, 1.0),
            coefficients: Coefficients::default(),
            clocks: FolderClocks::default(),
            names: Names::default(),
            signals: SignalClock::default(),
            hours: HourFindings::default(),
            began: None,
        }
    }
}

/// A page as its features are read off it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageBefore {
    pub(super) host: HostId,
    pub(super) kin: Kin,
    pub(super) found_at: Timestamp,
    /// The visit that brought or confirmed the copy.
    pub(super) seen_at: Timestamp,
    pub(super) sums: WatchedSums,
}

impl LearntCollection {
    /// Mean divergence per cycle of this length (s₀).
    pub(super) fn mean_rate(&self, cycle: Age) -> f64 {
        (self.found + RATE_PRIOR.0) / (self.days / cycle.days() + RATE_PRIOR.1)
    }

    /// The size of a typical change (J).
    pub(super) fn jump(&self) -> f64 {
        (self.jumps.0 + JUMP_PRIOR.0) / (self.jumps.1 + JUMP_PRIOR.1)
    }

    /// The mean of the days from one visit to the next.
    pub(super) fn mean_visit_days(&self) -> f64 {
        if self.visits > 0.0 { self.days / self.visits } else { 1.0 }
    }

    /// How much faster than on average pages move in each hour of the day.
    pub(super) fn rhythm(&self) -> DayRhythm {
        self.hours.rhythm(self.jump())
    }

    /// The divergence that pages reach in the long run, as a share of what their rates predict.
    pub(super) fn height(&self) -> f64 {
        (self.oldest.0 / self.oldest.1).clamp(LEAST_HEIGHT, 1.0)
    }

    /// The features of a page at a plan, from visits before it and what signals told.
    pub(super) fn features(
        &self,
        page: &PageBefore,
        signals: &SignalView,
        plan: &PlanMoment,
        mean_rate: f64,
        clocks: &ClockReadings,
    ) -> Features {
        let (cycle, jump) = (plan.cycle_length.days(), self.jump());
        let WatchedSums { found, days, found_of_late, days_of_late, is_gone, .. } = page.sums;
        let own_weight = OWN_CHANGES * jump;
        let own =
            ((found_of_late + own_weight) / (days_of_late / cycle + own_weight / mean_rate) / mean_rate).ln();
        let (others_found, others_days) = self.names.without(page.kin.name, found, days);
        let name = ((others_found + jump) / (others_days / cycle + jump / mean_rate) / mean_rate).ln();
        [
            own,
            lag(page, plan.at, plan.cycle_length) - plan.mean_lag,
            clocks.of(page.kin, page.seen_at),
            self.youth(page.found_at, plan),
            f64::from(u8::from(is_gone)),
            name,
            self.signals.log_relative_rate(page.host, signals),
        ]
    }

    /// ln(1 + a year / age) of a page that appeared while the collection was watched; 0 for those that were there.
    fn youth(&self, found_at: Timestamp, plan: &PlanMoment) -> f64 {
        let is_new = self.began.is_some_and(|began| found_at > began);
        let days = plan.at.since(found_at).days();
        let young_days = YOUNG_DAYS * plan.cycle_length.days().min(1.0);
        if is_new && days > 0.0 { (young_days / days).ln_1p() } else { 0.0 }
    }

    /// Pages found later than this are new.
    pub(super) fn begin(&mut self, at: Timestamp) {
        self.began.get_or_insert(at);
    }

    /// A plan is made: its visits will be told apart from those before.
    pub(super) fn plan(&mut self, plan: &PlanMoment) {
        self.begin(plan.at);
        self.clocks.tick(plan.at);
    }

    /// Takes in the visits that a plan led to, in the order in which they were made. `clocks` are as the plan read them.
    pub(super) fn learn(&mut self, plan: &PlanMoment, clocks: &ClockReadings, visits: &[CollectedVisit<'_>]) {
        let (cycle, mean_rate, jump) =
            (plan.cycle_length.days(), self.mean_rate(plan.cycle_length), self.jump());
        let (mut outcomes, mut signalled) = (Vec::with_capacity(visits.len()), Vec::new());
        let read: Vec<(&CollectedVisit<'_>, PageBefore, LastVisit)> =
            visits.iter().filter_map(|visit| Some((visit, before(visit)?, last(visit)?))).collect();
        for (visit, page, last) in &read {
            let watched_days = visit.at.since(visit.found_at).days();
            let (signals, days) = (last.signals, last.days);
            let changes = visit.learnt.state.changes.saturating_sub(u32::from(last.changed));
            let view = SignalView {
                signals,
                days,
                watched_days,
                cycle_days: cycle,
                changes,
                ..SignalView::default()
            };
            let features = self.features(page, &view, plan, mean_rate, clocks);
            let (found, expected) = (last.found / jump, last.days / cycle * mean_rate / jump);
            self.measure_height(last, mean_rate / cycle * self.coefficients.relative_rate(&features).exp());
            if !visit.was_planned {
                continue;
            }
            let eta = self.coefficients.prediction(&features);
            let offset = self.signals.log_stretch(visit.host, &view);
            signalled.push((visit.host, view, found, expected, eta));
            outcomes.push(RatedVisit { features, found, expected, offset });
        }
        if !outcomes.is_empty() {
            self.coefficients.learn(&outcomes);
        }
        self.signals.learn(&signalled);
        for (visit, page, last) in &read {
            let expected =
                (page.sums.found + jump) / (page.sums.days / cycle + jump / mean_rate) * (last.days / cycle);
            self.clocks.add(visit.kin, page.seen_at, last.found, expected, jump);
            if page.sums.days > 0.0 {
                self.hours.add(page.seen_at, visit.at, last.found, expected);
            }
        }
        for (visit, page, last) in &read {
            self.jumps.0 += last.found * last.found;
            self.jumps.1 += last.found;
            self.found += last.found;
            self.days += last.days;
            self.visits += 1.0;
            self.names.add(visit.kin.name, last.found, last.days, page.sums.days == 0.0);
        }
    }

    /// Compares how far a page is from its oldest base version with what its rate predicts.
    fn measure_height(&mut self, last: &LastVisit, rate_a_day: f64) {
        let (found, days) = last.oldest;
        if days > 0.0 {
            let predicted = -(-rate_a_day * days).exp_m1();
            self.oldest = (HEIGHT_KEEP * self.oldest.0 + found, HEIGHT_KEEP * self.oldest.1 + predicted);
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let numbers =
            [self.found, self.days, self.visits, self.jumps.0, self.jumps.1, self.oldest.0, self.oldest.1];
        numbers.iter().for_each(|number| push_float(&mut bytes, *number));
        push_signed(&mut bytes, self.began.map_or(i64::MIN, Timestamp::millis));
        self.coefficients.push_bytes(&mut bytes);
        self.clocks.push_bytes(&mut bytes);
        self.names.push_bytes(&mut bytes);
        self.signals.push_bytes(&mut bytes);
        self.hours.push_bytes(&mut bytes);
        bytes
    }

    /// Reads what [`Self::to_bytes`] wrote; `None` if it is something else.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut numbers = [0.0; 7];
        for number in &mut numbers {
            *number = take_float(&mut rest).filter(|number| number.is_finite())?;
        }
        let [found, days, visits, squares, sum, oldest_found, oldest_predicted] = numbers;
        let began = take_signed(&mut rest)?;
        let taken = Self {
            found,
            days,
            visits,
            jumps: (squares, sum),
            oldest: (oldest_found, oldest_predicted),
            began: (began != i64::MIN).then(|| Timestamp::from_millis(began)),
            coefficients: Coefficients::take_bytes(&mut rest)?,
            clocks: FolderClocks::take_bytes(&mut rest)?,
            names: Names::take_bytes(&mut rest)?,
            signals: SignalClock::take_bytes(&mut rest)?,
            hours: HourFindings::take_bytes(&mut rest)?,
        };
        rest.is_empty().then_some(taken)
    }
}

/// ln(1 + cycles since a page was last seen to change), or since it was found.
pub(super) fn lag(page: &PageBefore, now: Timestamp, cycle: Age) -> f64 {
    let days = match page.sums.quiet_days {
        Some(quiet) => quiet + now.since(page.seen_at).days(),
        None => now.since(page.found_at).days(),
    };
    (days / cycle.days()).ln_1p()
}

/// The page of a visit as it was when the visit was planned.
pub(super) fn before(visit: &CollectedVisit<'_>) -> Option<PageBefore> {
    let watched = PageWatch::of(&visit.learnt.memory);
    let days = watched.last?.days;
    let seen_at =
        Timestamp::from_millis(visit.at.millis().saturating_sub((days * MILLIS_PER_DAY).round() as i64));
    Some(PageBefore {
        host: visit.host,
        kin: visit.kin,
        found_at: visit.found_at,
        seen_at,
        sums: watched.before,
    })
}

fn last(visit: &CollectedVisit<'_>) -> Option<LastVisit> {
    PageWatch::of(&visit.learnt.memory).last
}

const MILLIS_PER_DAY: f64 = 86_400_000.0;
