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
use crate::observation::Life;
use crate::page::{Depth, HostId};
use crate::signal::clock::SignalView;
use crate::signal::{PageSignals, SignalKind};
use crate::time::{Age, Timestamp};
use coefficients::{CLOCK, FEATURES, Features, GONE, LAG, NAME, OWN, YOUTH};
use collection::{LearntCollection, PageBefore, lag};
use folder_clocks::ClockReadings;
use watched::PageWatch;

/// The worth of a page that is not known yet, in pages; as in `longevity`.
const LINK_WORTH: f64 = 4.0;
/// A page that has waited this many times the mean interval gains worth without bound, so that none waits for ever.
const PATIENCE: f64 = 100.0;

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
    /// Pages of each host that have a copy.
    held: HashMap<HostId, f64>,
    /// Visits of a cycle for which no page waits that was told of: more signals than this are of no use.
    room: f64,
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
        let (held, heard) = (HashMap::new(), HashMap::new());
        Self {
            name,
            counts,
            hears: true,
            unseen,
            collection,
            plan,
            clocks,
            mean_rate,
            held,
            room: f64::INFINITY,
            heard,
        }
    }

    fn watched(page: &PageState) -> PageBefore {
        let mut sums = PageWatch::of(&page.learnt.memory).sums();
        sums.is_gone |= matches!(page.life, Life::Gone | Life::Missing);
        let seen_at = page.seen_at.unwrap_or_else(|| page.waits_since());
        PageBefore { kin: page.kin, found_at: page.found_at, seen_at, sums }
    }

    /// The rate that a page had at the plan. It stays the same while the page waits, so that its score never falls.
    fn rated(&self, page: &PageState) -> Rated {
        let features =
            self.collection.features(&Self::watched(page), &self.plan, self.mean_rate, &self.clocks);
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
        SignalView { heard, signals, days, watched_days: now.since(page.found_at).days() }
    }

    /// The gain of a visit in content, in divergence × days.
    fn refresh_gain(&self, page: &PageState, rated: &Rated, now: Timestamp) -> f64 {
        let days = page.copy_age(now).days();
        let told = self.collection.signals.factor(page.host, &self.signal_view(page, now));
        let gain = refresh_utility(rated.rate, days * rated.clock_factor) * told;
        let mean_days = self.collection.mean_visit_days();
        let overdue = (days - PATIENCE * mean_days).max(0.0);
        gain + overdue * mean_days * self.mean_rate / self.plan.cycle_length.days()
    }

    /// The part of the gain that new pages make up.
    fn discovery_gain(&self, page: &PageState, now: Timestamp) -> f64 {
        LINK_WORTH * unseen::discovery_gain(page, self.collection.mean_visit_days(), now)
    }

    fn gain(&self, page: &PageState, rated: &Rated, now: Timestamp) -> f64 {
        self.collection.height() * self.refresh_gain(page, rated, now) + self.discovery_gain(page, now)
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
        let factor = self.collection.signals.factor(page.host, &self.signal_view(page, now));
        let signals = told("signal_factor", factor, told_signals(factor));
        let rest = [Fact::expected_divergence(divergence), Fact::gain(self.gain(page, &rated, now))];
        let links = Fact::new_links(self.discovery_gain(page, now));
        Reason::of(
            std::iter::once(replaced).chain(factors).chain(clock).chain(signals).chain(rest).chain(links),
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
        format!("{}/1", self.name)
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.unseen.look_at_hosts(survey);
        let (mut sum, mut pages) = (0.0, 0.0);
        let (now, cycle) = (survey.now, survey.cycle_length);
        self.held.clear();
        self.heard.clear();
        let (hears, mut told_of) = (self.hears, 0.0);
        (survey.pages)(&mut |page, count| {
            if page.is_held() {
                *self.held.entry(page.host).or_default() += count as f64;
                if hears && page.signals.any() {
                    let heard = self.heard.entry(page.host).or_default();
                    let counts = page.signals.by_kind.iter();
                    heard.iter_mut().zip(counts).for_each(|(heard, count)| *heard |= count.total > 0);
                    let is_told = page.signals.by_kind.iter().any(|count| count.since_visit > 0);
                    told_of += if is_told { count as f64 } else { 0.0 };
                }
                sum += lag(&Self::watched(page), now, cycle) * count as f64;
                pages += count as f64;
            }
        });
        let mean_lag = if pages > 0.0 { sum / pages } else { 0.0 };
        let visits = survey.visits_a_day.map_or(f64::INFINITY, |visits| visits * cycle.days());
        self.room = (visits - told_of).max(0.0);
        self.read(PlanMoment { at: now, cycle_length: cycle, mean_lag });
    }

    fn list_gain(&self, host: HostId, since: Age) -> Option<Score> {
        let told = self.collection.signals.expected(host, since.days())?;
        let pages = self.held.get(&host).copied().unwrap_or(0.0);
        // A page is told of in the middle of its interval, on average; the list takes the place of a usual visit.
        let (rate, days) =
            (self.mean_rate / self.plan.cycle_length.days(), self.collection.mean_visit_days());
        let told_page = refresh_utility(rate, days / 2.0) * told.factor(days / 2.0);
        let better = (told_page - refresh_utility(rate, days)).max(0.0);
        let useful = (told.signals_a_page.min(1.0) * pages).min(self.room);
        Some(Score::new(self.collection.height() * useful * better))
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

/// Keys in JSON of the factors that features put on a rate, in the order of [`Features`].
const FACTOR_KEYS: [&str; FEATURES] =
    ["own_factor", "lag_factor", "haste", "youth_factor", "gone_factor", "name_factor"];

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
        0.0.. => "a signal says that it changed: a visit is worth {} times as much",
        _ => "no signal says that it changed: a visit is worth {} times as much",
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
