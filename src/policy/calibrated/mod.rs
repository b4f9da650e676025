//! `calibrated`, the default: the visit that brings most of the content that will last, by a rate whose coefficients are learnt.
//!
//! Utility U(t) = (1 − (1 + st) e^(−st)) / s of a page whose fragments are replaced at rate s (Olston & Pandey 2008, §2.2, eq. 4,
//! for churn), as in `longevity`. The rate is s = s₀ exp(b·x): the mean rate, and a few numbers that tell beforehand how a page
//! will move, each with a coefficient ([`coefficients`]). The numbers are the page's own rate of late, the time since it last
//! changed, whether it is new or gone, and the rate of pages of its name; and a clock: how much faster than expected its folders
//! moved since the last visit ([`folder_clocks`]), which stretches the time t. How much each counts differs from collection to
//! collection, and is learnt after each plan by what errors cost. Signals stretch the time, too, as far as they can be trusted
//! ([`crate::signal::clock`]).
//!
//! `calibrated-freshness` is the same on change bits: a change is a change, however small.
//!
//! The memory of a page follows from its own visits ([`watched`]). The state of the collection follows from the plans and their
//! visits ([`collection`]), in the order of the log.

mod coefficients;
mod collection;
mod folder_clocks;
mod hours;
mod list_worths;
mod names;
mod watched;

use std::collections::HashMap;
use std::num::NonZeroU64;

use super::registry::{Made, PolicyRequest};
use super::unseen::{self, Unseen};
use super::utility::refresh_utility;
use super::{
    CollectedVisit, Fact, Learnt, Lesson, LooksAt, PageState, PlanMoment, Policy, Reason, Score, Survey, Unit,
};
use crate::estimate::Seen;
use crate::longevity::rhythm::HourFactors;
use crate::observation::Life;
use crate::page::{Depth, HostId};
use crate::signal::clock::{SignalReading, SignalView};
use crate::signal::{PageSignals, SignalKind};
use crate::time::{Age, Timestamp};
use coefficients::{CLOCK, FEATURES, Features, GONE, LAG, NAME, OWN, TOLD, YOUTH};
use collection::{LearntCollection, PageBefore, lag};
use folder_clocks::ClockReadings;
use list_worths::{ListWorths, NextSignal, NextSignals};
use watched::PageWatch;

/// The worth of a page that is not known yet, in pages; as in `longevity`.
const LINK_WORTH: f64 = 4.0;
/// A page that has waited this many times the mean interval gains worth without bound, so that none waits for ever.
const PATIENCE: f64 = 100.0;

/// Where signals are trusted in full, this share of the gain follows from how long a copy lasts from one signal to the next.
const MOST_SUDDEN: f64 = 0.5;
/// The part of all that ever moves in a page that one change replaces, there.
const PART_OF_A_CHANGE: f64 = 0.5;
/// Pages that are enough for the mean lag: its error is then well below a hundredth.
const SURVEYED: u64 = 20_000;

/// What a visit found, as the policy counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountedAs {
    /// How far the page moved.
    Divergence,
    /// Whether it changed.
    Changes,
}

#[derive(Debug)]
struct Calibrated {
    name: &'static str,
    counts: CountedAs,
    /// Signals count.
    hears: bool,
    unseen: Unseen,
    collection: LearntCollection,
    /// The plan under way, and what it was made by.
    plan: PlanMoment,
    clocks: ClockReadings,
    /// s₀ at the plan, per cycle.
    mean_rate: f64,
    /// Feeds of each host.
    feeds: HashMap<HostId, f64>,
    /// New pages a day that the lists of each host tell of.
    listed: HashMap<HostId, f64>,
    /// What the lists of each host are worth.
    lists: ListWorths,
    /// What the hour does to gains, where the cycles of a day share a budget.
    hour_factors: HourFactors,
    /// The kinds of signals that pages of each host have had.
    heard: HashMap<HostId, [bool; SignalKind::ALL.len()]>,
}

pub(super) fn make(_request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(Calibrated::new("calibrated", CountedAs::Divergence)))
}

pub(super) fn make_for_freshness(_request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(Calibrated::new("calibrated-freshness", CountedAs::Changes)))
}

pub(super) fn make_without_signals(_request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(Calibrated { hears: false, ..Calibrated::new("calibrated-alone", CountedAs::Divergence) }))
}

/// The default with another number of ticks, to find out how many it takes.
#[cfg(test)]
pub(crate) fn with_ticks(ticks: usize) -> Box<dyn Policy> {
    let mut policy = Calibrated::new("calibrated", CountedAs::Divergence);
    policy.collection.clocks = folder_clocks::FolderClocks::bounded(ticks, folder_clocks::MOST_FOLDERS);
    Box::new(policy)
}

/// A page's features with what they amount to.
#[derive(Clone, Copy, Debug)]
struct Rated {
    features: Features,
    /// Pages replaced a day.
    rate: f64,
    /// The factor by which kin stretch its time.
    clock_factor: f64,
}

impl Calibrated {
    fn new(name: &'static str, counts: CountedAs) -> Self {
        let collection = LearntCollection::default();
        let plan = PlanMoment::default();
        let mean_rate = collection.mean_rate(plan.cycle_length);
        let (unseen, clocks) = (Unseen::default(), ClockReadings::default());
        let (feeds, listed, heard) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self {
            name,
            counts,
            hears: true,
            unseen,
            collection,
            plan,
            clocks,
            mean_rate,
            feeds,
            listed,
            lists: ListWorths::default(),
            hour_factors: HourFactors::default(),
            heard,
        }
    }

    fn watched(page: &PageState) -> PageBefore {
        let mut sums = PageWatch::of(&page.learnt.memory).sums();
        sums.is_gone |= matches!(page.life, Life::Gone | Life::Missing);
        let seen_at = page.seen_at.unwrap_or_else(|| page.waits_since());
        PageBefore { host: page.host, kin: page.kin, found_at: page.found_at, seen_at, sums }
    }

    /// The rate that a page had at the plan. It stays the same while the page waits, so that its score never falls.
    fn rated(&self, page: &PageState) -> Rated {
        let (before, signals) = (Self::watched(page), self.signal_view(page, self.plan.at));
        let features = self.collection.features(&before, &signals, &self.plan, self.mean_rate, &self.clocks);
        let coefficients = &self.collection.coefficients;
        let a_cycle = self.mean_rate * coefficients.relative_rate(&features).exp();
        Rated {
            features,
            rate: a_cycle / self.plan.cycle_length.days(),
            clock_factor: coefficients.clock_factor(features[CLOCK]),
        }
    }

    fn signal_view(&self, page: &PageState, now: Timestamp) -> SignalView {
        let days = page.copy_age(now).days();
        let signals = if self.hears { page.signals } else { PageSignals::NONE };
        let heard = self.heard.get(&page.host).copied().unwrap_or_default();
        let (watched_days, cycle_days) = (now.since(page.found_at).days(), self.plan.cycle_length.days());
        let changes = page.learnt.state.changes;
        SignalView { heard, signals, days, watched_days, cycle_days, changes }
    }

    /// The gain of a visit in content, in divergence × days.
    fn refresh_gain(&self, page: &PageState, rated: &Rated, signals: &SignalView) -> f64 {
        let days = signals.days;
        let time = days * rated.clock_factor;
        let steady = |factor: f64| self.collection.height() * refresh_utility(rated.rate, time * factor);
        let gain = match self.collection.signals.reading(page.host, signals) {
            None => steady(1.0),
            Some(told) => {
                let share = MOST_SUDDEN * told.trust.powi(2);
                (1.0 - share) * steady(told.time_factor)
                    + share * self.sudden_gain(page, rated.rate * time, days, &told)
            }
        };
        let mean_days = self.collection.mean_visit_days();
        let overdue = (days - PATIENCE * mean_days).max(0.0);
        gain * self.hour_factors.of(Age::from_days(days))
            + self.collection.height() * overdue * mean_days * self.mean_rate / self.plan.cycle_length.days()
    }

    /// The gain if the signals of a page tell how long its copy lasts: until one more change or two, which replace all that ever moves.
    /// `grown` is the divergence to be expected without signals.
    fn sudden_gain(&self, page: &PageState, grown: f64, days: f64, told: &SignalReading) -> f64 {
        let sums = PageWatch::of(&page.learnt.memory).sums();
        let a_change = (sums.found + self.collection.jump()) / (f64::from(page.learnt.state.changes) + 1.0);
        let rate = PART_OF_A_CHANGE * told.rate;
        // The share of the worth that lies in waiting, as no signal came: s t e^(−st) / (1 − e^(−st)), as in U(t).
        let events = rate * days;
        let waiting = if events > 0.0 { events / events.exp_m1() } else { 1.0 };
        let found = (grown * told.stretch).min(a_change);
        found / rate * (1.0 - (1.0 - told.came) * waiting)
    }

    /// The part of the gain that new pages make up.
    fn discovery_gain(&self, page: &PageState, now: Timestamp) -> f64 {
        LINK_WORTH * unseen::discovery_gain(page, self.collection.mean_visit_days(), now)
    }

    /// The part of the gain that a feed has for what it tells of other pages.
    fn feed_gain(&self, page: &PageState, now: Timestamp) -> f64 {
        let Some(feeds) = self.feeds.get(&page.host).filter(|_| self.hears) else { return 0.0 };
        if !PageWatch::of(&page.learnt.memory).is_feed {
            return 0.0;
        }
        self.lists.gain(page.host, SignalKind::Feed, page.copy_age(now)).unwrap_or(0.0) / feeds.max(1.0)
    }

    fn gain(&self, page: &PageState, rated: &Rated, now: Timestamp) -> f64 {
        self.refresh_gain(page, rated, &self.signal_view(page, now))
            + self.discovery_gain(page, now)
            + self.feed_gain(page, now)
    }

    /// What lists are worth, by the signals that pages have had and by what one more would do to their scores.
    fn list_worths(&self, survey: &mut Survey<'_>) -> ListWorths {
        let Some(visits) = survey.visits_a_day.filter(|_| !self.heard.is_empty()) else {
            return ListWorths::default();
        };
        let (now, cycle_days, mut told) = (survey.now, survey.cycle_length.days(), NextSignals::default());
        (survey.pages)(&mut |page, count| {
            if !page.is_held() || !matches!(page.life, Life::Alive | Life::Failing) {
                return;
            }
            let (rated, view) = (self.rated(page), self.signal_view(page, now));
            let gain = |view: &SignalView| page.weight * self.refresh_gain(page, &rated, view);
            let (count, untold) = (count as f64, gain(&view));
            let mut often: Option<NextSignal> = None;
            for kind in [SignalKind::Sitemap, SignalKind::Feed] {
                let Some(a_day) = self.collection.signals.rate(page.host, kind, &view) else { continue };
                let mut told_view = view;
                told_view.signals.learn(kind);
                let page =
                    NextSignal { untold, told: gain(&told_view), a_day, count, list: (page.host, kind) };
                told.signals.push(page);
                often = often.filter(|often| often.a_day >= a_day).or(Some(page));
            }
            let soon = often.map_or(0.0, |often| -(-often.a_day * cycle_days).exp_m1());
            told.scores.push((untold, count * (1.0 - soon)));
            told.scores.extend(often.map(|often| (often.told, count * soon)));
        });
        told.worths(visits * cycle_days)
    }

    /// Gets ready to score: reads the clocks as they stand.
    fn read(&mut self, plan: PlanMoment) {
        self.collection.plan(&plan);
        self.clocks = self.collection.clocks.read(self.collection.jump(), false);
        self.mean_rate = self.collection.mean_rate(plan.cycle_length);
        self.plan = plan;
    }
}

impl Policy for Calibrated {
    fn name(&self) -> &str {
        self.name
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        match self.unseen.worth_after_failure(page) {
            Some(worth) => Score::new(worth),
            None => Score::new(page.weight * self.gain(page, &self.rated(page), now)),
        }
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.unseen.worth(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let rated = self.rated(page);
        let days = page.copy_age(now).days();
        let divergence = -(-rated.rate * rated.clock_factor * days).exp_m1() * self.collection.height();
        let replaced = Fact::new("replaced_a_day", "replaced {}", rated.rate, Unit::PerDay)
            .told_as("its text is replaced about every {period}");
        let values = self.collection.coefficients.of_features();
        let factors = (0..FEATURES).filter(|place| *place != CLOCK).filter_map(|place| {
            let of = |numbers: &Features| numbers.get(place).copied().unwrap_or(0.0);
            let log = of(&values) * of(&rated.features);
            told(FACTOR_KEYS.get(place)?, log.exp(), told_factor(place, log))
        });
        let clock = told("haste", rated.clock_factor, told_clock(rated.clock_factor));
        let reading = self.collection.signals.reading(page.host, &self.signal_view(page, now));
        let factor = reading.map_or(1.0, |told| told.time_factor);
        let signals = told("signal_factor", factor, told_signals(factor));
        let rest = [Fact::expected_divergence(divergence), Fact::gain(self.gain(page, &rated, now))];
        let others = Fact::new_links(self.discovery_gain(page, now)).into_iter();
        let others = others.chain(Fact::feed(self.feed_gain(page, now)));
        Reason::of(
            std::iter::once(replaced).chain(factors).chain(clock).chain(signals).chain(rest).chain(others),
        )
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        learnt.state.count(lesson.interval, seen);
        learnt.state.shorten();
        let found = match self.counts {
            CountedAs::Divergence => lesson.moved(),
            CountedAs::Changes => f64::from(u8::from(lesson.changed)),
        };
        let mut watched = PageWatch::of(&learnt.memory);
        watched.add(lesson, found, self.hears);
        learnt.memory.write(|bytes| watched.push_bytes(bytes));
    }

    fn memory_version(&self) -> String {
        format!("{}/2", self.name)
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.unseen.look_at_hosts(survey);
        let (mut sum, mut pages) = (0.0, 0.0);
        let (now, cycle) = (survey.now, survey.cycle_length);
        self.feeds.clear();
        self.heard.clear();
        let hears = self.hears;
        let mut listed: HashMap<HostId, Vec<(Timestamp, f64)>> = HashMap::new();
        (survey.pages)(&mut |page, count| {
            if page.is_listed {
                listed.entry(page.host).or_default().push((page.found_at, count as f64));
            }
            if page.is_held() {
                if PageWatch::of(&page.learnt.memory).is_feed {
                    *self.feeds.entry(page.host).or_default() += count as f64;
                }
                if hears && page.signals.any() {
                    let heard = self.heard.entry(page.host).or_default();
                    let counts = page.signals.by_kind.iter();
                    heard.iter_mut().zip(counts).for_each(|(heard, count)| *heard |= count.total > 0);
                }
                sum += lag(&Self::watched(page), now, cycle) * count as f64;
                pages += count as f64;
            }
        });
        let a_day = |(host, found): (HostId, Vec<_>)| Some((host, listed_a_day(&found, now, cycle)?));
        self.listed = listed.into_iter().filter_map(a_day).collect();
        let mean_lag = if pages > 0.0 { sum / pages } else { 0.0 };
        self.read(PlanMoment { at: now, cycle_length: cycle, mean_lag });
        self.hour_factors = if survey.shares_a_day {
            HourFactors::at(&self.collection.rhythm(), now, cycle)
        } else {
            HourFactors::default()
        };
        self.lists = self.list_worths(survey);
    }

    fn list_gain(&self, host: HostId, since: Age) -> Option<Score> {
        let told = self.lists.gain(host, SignalKind::Sitemap, since);
        let found =
            self.listed.get(&host).map(|a_day| LINK_WORTH * unseen::discovery_utility(*a_day, since.days()));
        (told.is_some() || found.is_some()).then(|| Score::new(told.unwrap_or(0.0) + found.unwrap_or(0.0)))
    }

    fn survey_sample(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(SURVEYED)
    }

    fn learns_from_all(&self) -> bool {
        true
    }

    fn planned(&self) -> Option<PlanMoment> {
        Some(self.plan)
    }

    fn learn_from_all(&mut self, plan: &PlanMoment, visits: &[CollectedVisit<'_>]) {
        if *plan != self.plan {
            self.read(*plan);
        }
        self.collection.learn(plan, &self.clocks, visits);
    }

    fn collection_bytes(&self) -> Vec<u8> {
        self.collection.to_bytes()
    }

    fn recall_collection(&mut self, bytes: &[u8]) -> bool {
        let recalled = if bytes.is_empty() {
            Some(LearntCollection::default())
        } else {
            LearntCollection::from_bytes(bytes)
        };
        let Some(collection) = recalled else { return false };
        self.collection = collection;
        // The next plan reads the clocks again.
        self.plan = PlanMoment::default();
        true
    }

    fn mean_lag(&self, plan: &PlanMoment, visits: &[CollectedVisit<'_>]) -> f64 {
        let lags =
            visits.iter().filter_map(collection::before).map(|page| lag(&page, plan.at, plan.cycle_length));
        let (sum, count) = lags.fold((0.0, 0.0), |(sum, count), lag| (sum + lag, count + 1.0));
        if count > 0.0 { sum / count } else { 0.0 }
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, kin: true, age: true, signals: self.hears, ..LooksAt::default() }
    }
}

/// New pages a day that the lists of a host told of since they were first read: the first reading, which may take a cycle, tells of all
/// pages that were there before. `None` if there were none.
fn listed_a_day(found: &[(Timestamp, f64)], now: Timestamp, cycle: Age) -> Option<f64> {
    let first = found.iter().map(|(at, _)| *at).min()?;
    let is_new = |at: Timestamp| at.since(first).days() > cycle.days();
    let new: f64 = found.iter().filter(|(at, _)| is_new(*at)).map(|(_, count)| count).sum();
    (new > 0.0).then(|| new / now.since(first).days().max(cycle.days()))
}

/// Keys in JSON of the factors that features put on a rate, in the order of [`Features`].
const FACTOR_KEYS: [&str; FEATURES] =
    ["own_factor", "lag_factor", "haste", "youth_factor", "gone_factor", "name_factor", "told_factor"];

/// ln of a factor that is not worth a word.
const LITTLE: f64 = 0.1;

/// A factor as a fact, if there is anything to say of it. `plan` has no room for it.
fn told(key: &'static str, factor: f64, sentence: &'static str) -> Option<Fact> {
    (!sentence.is_empty()).then(|| Fact::new(key, "", factor, Unit::Number).told_as(sentence))
}

/// A feature in words, by what it does to the rate.
fn told_factor(place: usize, log: f64) -> &'static str {
    match (place, log) {
        (_, log) if log.abs() < LITTLE => "",
        (OWN, 0.0..) => "it moved more than most at its own last visits ({} times the rate)",
        (OWN, _) => "it moved less than most at its own last visits ({} times the rate)",
        (LAG, 0.0..) => "it changed recently ({} times)",
        (LAG, _) => "it has not changed for long ({} times)",
        (YOUTH, 0.0..) => "it is new ({} times)",
        (YOUTH, _) => "it is new, and new pages are quiet here ({} times)",
        (GONE, _) => "it was removed ({} times)",
        (NAME, 0.0..) => "pages of its name move more than most ({} times)",
        (NAME, _) => "pages of its name move less than most ({} times)",
        (TOLD, 0.0..) => "signals tell of it oftener than of most ({} times)",
        (TOLD, _) => "signals tell of it more seldom than of most ({} times)",
        _ => "",
    }
}

fn told_clock(factor: f64) -> &'static str {
    match factor.ln() {
        log if log.abs() < LITTLE => "",
        0.0.. => "its folder has moved since, so its time counts {} times",
        _ => "its folder has been quiet since, so its time counts {} times",
    }
}

fn told_signals(factor: f64) -> &'static str {
    match factor.ln() {
        log if log.abs() < LITTLE => "",
        0.0.. => "a signal says that it changed, so its time counts {} times",
        _ => "no signal says that it changed, so its time counts {} times",
    }
}

/// The length of a cycle before the first plan.
impl Default for PlanMoment {
    fn default() -> Self {
        Self { at: Timestamp::default(), cycle_length: Age::from_days(1.0), mean_lag: 0.0 }
    }
}

#[cfg(test)]
mod tests;
