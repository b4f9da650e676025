//! Signals over a recording: which page, raised when, known when. They are drawn, or they were recorded.
//!
//! Drawn ones are those of `reference/recrawl.py` in maths §12.6: a change is told with the probability of the recall, and
//! false signals are added until the precision is right. Draws belong to pages and hosts, not to their order: a page has the
//! same signals wherever it stands, and under every policy.

use std::collections::HashMap;
use std::str::FromStr;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::ReplayTerms;
use super::truth::Truth;
use crate::dataset::{Group, RecordedSignal};
use crate::signal::spec::{Falsehood, SignalSpec};
use crate::signal::{SignalKind, latest_moment};
use crate::time::Timestamp;

/// The signals of all pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RaisedSignals {
    /// By the moment at which they can be known first; in order of pages.
    by_moment: Vec<Vec<RaisedSignal>>,
    /// Reading the list of a host costs a request: the share of the budget for it, if the policy does not decide itself.
    /// `None`: lists are free, and read in every cycle.
    pub list_cost: Option<f64>,
}

/// A signal of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RaisedSignal {
    /// The page.
    pub page: u32,
    /// The moment at which the page changed, as the signal says. It tells nothing new after a visit at this moment or later.
    pub raised: u32,
    /// Where it comes from.
    pub kind: SignalKind,
}

/// The word in a flag for [`SignalSource::Off`].
const NONE: &str = "none";

/// Which signals a replay has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SignalSource {
    /// Those that the dataset has.
    #[default]
    Recorded,
    /// Drawn ones.
    Drawn(SignalSpec),
    /// None, even if the dataset has some.
    Off,
}

impl FromStr for SignalSource {
    type Err = String;

    /// Reads `none`, or how good drawn ones are.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == NONE {
            return Ok(Self::Off);
        }
        let spec: SignalSpec = text.parse()?;
        if spec.delay.fract() > 0.0 {
            return Err(format!("the delay is `{}`; it must be a whole number of cycles", spec.delay));
        }
        Ok(Self::Drawn(spec))
    }
}

impl RaisedSignals {
    /// Draws signals for the pages of a group in this order. `truth` is that of the same pages in the same order.
    ///
    /// With a recall of 0 there are no signals, unless they come always.
    pub fn drawn(
        spec: &SignalSpec,
        seed: u64,
        group: &Group,
        order: &[u32],
        truth: &Truth,
        terms: &ReplayTerms,
    ) -> Self {
        let draw = SignalDraw { spec, seed, truth, every: terms.every.max(1) };
        let pages: Vec<DrawnPage> =
            (0..).zip(order).map(|(page, place)| draw.changes_told(page, group, *place)).collect();
        let mut raised: Vec<RaisedSignal> = Vec::new();
        let mut raise = |page: u32, moment: u32| {
            raised.push(RaisedSignal { page, raised: moment, kind: SignalKind::Sitemap });
        };
        for page in &pages {
            page.told.iter().for_each(|moment| raise(page.number, *moment));
        }
        match spec.falsehood {
            Falsehood::Poisson => draw.scattered(&pages, &mut raise),
            Falsehood::Build => draw.by_build(&pages, &mut raise),
            Falsehood::Always => draw.always(&pages, &mut raise),
        }
        let late = (spec.delay * f64::from(draw.every)) as u32;
        Self::of(truth.cycles, raised.into_iter().map(|signal| (signal.raised.saturating_add(late), signal)))
    }

    /// Those that were recorded with the pages of a group in this order; `None` if there are none.
    pub fn recorded(group: &Group, order: &[u32], terms: &ReplayTerms) -> Option<Self> {
        let mut all = Vec::new();
        for (number, page) in (0..).zip(order.iter().filter_map(|place| group.pages.get(*place as usize))) {
            all.extend(page.signals.iter().map(|signal| {
                let (known, raised) = moments(signal, terms);
                (known, RaisedSignal { page: number, raised, kind: signal.kind })
            }));
        }
        (!all.is_empty()).then(|| Self::of(group.cycles, all))
    }

    /// Signals, each with the moment at which it can be known first. Those that come after the end are left out.
    pub fn of(moments: u32, signals: impl IntoIterator<Item = (u32, RaisedSignal)>) -> Self {
        let mut by_moment = vec![Vec::new(); moments as usize];
        for (known, signal) in signals {
            if let Some(all) = by_moment.get_mut(known as usize) {
                all.push(signal);
            }
        }
        by_moment.iter_mut().for_each(|signals| signals.sort_unstable());
        Self { by_moment, list_cost: None }
    }

    /// The same where lists cost requests.
    #[must_use]
    pub fn with_list_cost(self, list_cost: Option<f64>) -> Self {
        Self { list_cost, ..self }
    }

    /// The signals that can be known from this moment on, and could not before.
    pub fn known_from(&self, moment: u32) -> &[RaisedSignal] {
        self.by_moment.get(moment as usize).map_or(&[], Vec::as_slice)
    }

    /// All signals, by the moment at which they can be known first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &RaisedSignal)> {
        (0..)
            .zip(&self.by_moment)
            .flat_map(|(moment, signals)| signals.iter().map(move |signal| (moment, signal)))
    }
}

/// The moment from which a signal is known, and the one at which its page changed: the first that begins at its date or later.
///
/// A visit counts for the cycle that its time falls in, at the start of that cycle; so does a signal, unless it tells of a
/// change after that start. A date later than the time at which it was learnt is not believed.
fn moments(signal: &RecordedSignal, terms: &ReplayTerms) -> (u32, u32) {
    let step = i64::try_from(terms.step.as_millis()).unwrap_or(i64::MAX).max(1);
    let passed = |at: Timestamp| at.millis().saturating_sub(terms.start.millis()).max(0);
    let date = signal.date.map_or(signal.learnt_at, |date| latest_moment(date, signal.learnt_at));
    let date = date.min(signal.learnt_at);
    let (learnt, date) = (passed(signal.learnt_at), passed(date));
    let raised = date / step + i64::from(date % step > 0);
    let moment = |moment: i64| u32::try_from(moment).unwrap_or(u32::MAX);
    (moment(raised.max(learnt / step)), moment(raised))
}

/// A page whose signals are drawn.
struct DrawnPage {
    number: u32,
    born: u32,
    site: u32,
    /// The seed of its draws.
    seed: u64,
    /// The changes that signals tell.
    told: Vec<u32>,
}

/// What all draws need.
struct SignalDraw<'a> {
    spec: &'a SignalSpec,
    seed: u64,
    truth: &'a Truth,
    /// Moments of a cycle.
    every: u32,
}

/// What draws are for: each has random numbers of its own.
const TOLD: u64 = 1;
const SCATTERED: u64 = 2;
const BUILDS: u64 = 3;

impl SignalDraw<'_> {
    fn changes_told(&self, number: u32, group: &Group, place: u32) -> DrawnPage {
        let url = group.pages.get(place as usize).map_or("", |page| page.url.as_str());
        let born = self.truth.born.get(number as usize).copied().unwrap_or(0);
        let site = self.truth.kin.get(number as usize).map_or(0, |kin| kin.site);
        // Made-up pages may have no URL; then the place in the group is the name.
        let seed = match url {
            "" => xxh3_64_with_seed(&place.to_le_bytes(), self.seed),
            url => xxh3_64_with_seed(url.as_bytes(), self.seed),
        };
        let mut told = Vec::new();
        if self.spec.falsehood != Falsehood::Always {
            let mut random = stream(seed, TOLD);
            let changes = self.truth.steps(number).iter().skip(1).map(|step| step.cycle);
            told.extend(changes.filter(|_| random.random::<f64>() < self.spec.recall));
        }
        DrawnPage { number, born, site, seed, told }
    }

    /// The chance of a false signal of a page at a moment, that gives these pages the precision.
    fn chance<'p>(&self, pages: impl Iterator<Item = &'p DrawnPage>) -> f64 {
        let (right, moments) = pages.fold((0, 0), |(right, moments), page| {
            (right + page.told.len(), moments + u64::from(self.truth.cycles.saturating_sub(page.born)))
        });
        let odds = (1.0 - self.spec.precision) / self.spec.precision;
        right as f64 * odds / (moments.max(1)) as f64
    }

    /// False signals of each page for itself.
    fn scattered(&self, pages: &[DrawnPage], raise: &mut impl FnMut(u32, u32)) {
        let chance = self.chance(pages.iter());
        for page in pages {
            let mut random = stream(page.seed, SCATTERED);
            let drawn = (page.born..self.truth.cycles).filter(|_| random.random::<f64>() < chance);
            drawn.for_each(|moment| raise(page.number, moment));
        }
    }

    /// False signals of all pages of a host at once.
    fn by_build(&self, pages: &[DrawnPage], raise: &mut impl FnMut(u32, u32)) {
        let mut sites: HashMap<u32, Vec<&DrawnPage>> = HashMap::new();
        for page in pages {
            sites.entry(page.site).or_default().push(page);
        }
        for (site, pages) in sites {
            let chance = self.chance(pages.iter().copied());
            let mut random = stream(xxh3_64_with_seed(&site.to_le_bytes(), self.seed), BUILDS);
            for moment in (0..self.truth.cycles).filter(|_| random.random::<f64>() < chance) {
                let alive = pages.iter().filter(|page| page.born <= moment);
                alive.for_each(|page| raise(page.number, moment));
            }
        }
    }

    /// A signal of every page in every cycle.
    fn always(&self, pages: &[DrawnPage], raise: &mut impl FnMut(u32, u32)) {
        for page in pages {
            let cycles =
                (page.born.next_multiple_of(self.every)..self.truth.cycles).step_by(self.every as usize);
            cycles.for_each(|moment| raise(page.number, moment));
        }
    }
}

fn stream(seed: u64, part: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(xxh3_64_with_seed(&part.to_le_bytes(), seed))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Ties;
    use super::super::synthetic::Spec;
    use super::super::tests::{in_order, terms_of};
    use super::*;

    fn group(spec: &str) -> Group {
        let mut group = spec.parse::<Spec>().expect("a spec").dataset().groups.remove(0);
        for (at, page) in group.pages.iter_mut().enumerate() {
            page.url = format!("http://{}.example/{at}", at % 7);
        }
        group
    }

    fn drawn(spec: &str, seed: u64, group: &Group, order: &[u32]) -> RaisedSignals {
        let terms = terms_of(group, 0.1, 2, Ties::OlderFirst);
        let spec = spec.parse().expect("signals");
        RaisedSignals::drawn(&spec, seed, group, order, &Truth::of(group, order), &terms)
    }

    /// Signals that tell a change of their moment, all signals, and all changes.
    fn counted(signals: &RaisedSignals, truth: &Truth) -> (f64, f64, f64) {
        let changes: u32 = (0..truth.pages() as u32).map(|page| truth.steps(page).len() as u32 - 1).sum();
        let is_right = |signal: &RaisedSignal| {
            truth.steps(signal.page).iter().skip(1).any(|step| step.cycle == signal.raised)
        };
        let right: Vec<&RaisedSignal> =
            signals.iter().map(|(_, signal)| signal).filter(|signal| is_right(signal)).collect();
        (right.len() as f64, signals.iter().count() as f64, f64::from(changes))
    }

    #[test]
    fn precision_and_recall_are_those_that_were_asked_for() {
        let group = group("pages=700,cycles=200,static=0.2,median=0.05,spread=0.7,seed=3");
        let truth = Truth::of(&group, &in_order(&group));
        for (text, precision, recall) in [
            ("1,1", 1.0, 1.0),
            ("0.8,0.5", 0.8, 0.5),
            ("0.2,0.9", 0.2, 0.9),
            ("0.5,0.5,build", 0.5, 0.5),
            ("0.05,0.1,delay=3", 0.05, 0.1),
        ] {
            let (right, all, changes) = counted(&drawn(text, 1, &group, &in_order(&group)), &truth);
            // A false signal that hits a change by chance looks right here: a page changes in about 5 of 100 moments.
            let by_chance = all * (1.0 - precision) * changes / (700.0 * 200.0);
            let told = right - by_chance;
            // About four standard deviations; builds come all pages at once, so their number varies more.
            let spread = if text.ends_with("build") { 0.1 } else { 4.0 / (changes * recall).sqrt() };
            assert!((told / changes / recall - 1.0).abs() < spread, "{text}: recall {}", told / changes);
            assert!((told / all / precision - 1.0).abs() < 2.0 * spread, "{text}: precision {}", told / all);
        }
    }

    #[test]
    fn the_order_of_pages_makes_no_difference() {
        let group = group("pages=60,cycles=40,static=0.2");
        let order: Vec<u32> = (0..60).map(|at| at * 7 % 60).collect();
        for text in ["0.5,0.8", "0.3,0.8,build", "1,1,always", "0.5,0.5,delay=2"] {
            let by_place = |order: &[u32]| {
                let signals = drawn(text, 5, &group, order);
                let placed = signals.iter().map(|(known, signal)| {
                    (known, RaisedSignal { page: order[signal.page as usize], ..*signal })
                });
                let mut placed: Vec<_> = placed.collect();
                placed.sort_unstable();
                placed
            };
            assert_eq!(by_place(&in_order(&group)), by_place(&order), "{text}");
            assert!(!by_place(&order).is_empty());
        }
        let one = drawn("0.5,0.8", 5, &group, &order);
        assert_ne!(one, drawn("0.5,0.8", 6, &group, &order), "another seed is another draw");
    }

    #[test]
    fn builds_stamp_all_pages_of_a_host_and_always_all_pages() {
        let group = group("pages=70,cycles=30,static=0");
        let builds = drawn("0.2,0.5,build", 1, &group, &in_order(&group));
        let full = (0..30).filter(|moment| {
            (0..7).any(|host| {
                let of_host = builds.known_from(*moment).iter().filter(|signal| signal.page % 7 == host);
                let mut pages: Vec<u32> = of_host.map(|signal| signal.page).collect();
                pages.dedup();
                pages.len() == 10
            })
        });
        assert!(full.count() > 3);
        let always = drawn("1,1,always,delay=1", 1, &group, &in_order(&group));
        assert!(always.known_from(0).is_empty());
        assert!((1..30).all(|moment| always.known_from(moment).len() == 70));
        assert!(always.iter().all(|(known, signal)| signal.raised + 1 == known));
    }

    proptest! {
        #[test]
        fn any_quality_can_be_drawn(
            precision in 1e-6..=1.0, recall in 0.0..=1.0, delay in 0_u32..2_000_000,
            kind in prop::sample::select(Falsehood::ALL.to_vec()), seed in any::<u64>(),
        ) {
            let spec = SignalSpec { precision, recall, delay: f64::from(delay), falsehood: kind };
            let group = group("pages=12,cycles=10,static=0.3");
            let (order, terms) = (in_order(&group), terms_of(&group, 0.1, 2, Ties::OlderFirst));
            let truth = Truth::of(&group, &order);
            let signals = RaisedSignals::drawn(&spec, seed, &group, &order, &truth, &terms);
            for (known, signal) in signals.iter() {
                prop_assert_eq!(known, signal.raised + delay);
                prop_assert!(truth.born[signal.page as usize] <= signal.raised);
            }
        }
    }

    #[test]
    fn recorded_signals_count_from_the_cycle_in_which_they_were_learnt() {
        let mut group = group("pages=2,cycles=9");
        let terms = terms_of(&group, 0.1, 2, Ties::OlderFirst);
        let day = |day: f64| {
            let passed = day * terms.step.as_millis() as f64;
            Timestamp::from_millis(terms.start.millis() + passed as i64)
        };
        let signal = |date: Option<f64>, learnt: f64| RecordedSignal {
            kind: SignalKind::Feed,
            date: date.map(day),
            learnt_at: day(learnt),
        };
        assert_eq!(RaisedSignals::recorded(&group, &[0, 1], &terms), None);
        group.pages[1].signals = vec![
            signal(Some(1.5), 2.2),
            signal(Some(2.5), 2.6),
            signal(None, 3.0),
            signal(Some(99.0), 4.5),
            signal(Some(-3.0), 6.5),
            signal(None, 8.5),
        ];
        let raised = RaisedSignals::recorded(&group, &[1, 0], &terms).expect("signals");
        let found: Vec<_> =
            raised.iter().map(|(known, signal)| (known, signal.page, signal.raised)).collect();
        // A date of the future is not believed; what comes after the last cycle is left out.
        assert_eq!(found, [(2, 0, 2), (3, 0, 3), (3, 0, 3), (5, 0, 5), (6, 0, 0)]);
    }

    #[test]
    fn a_delay_is_a_whole_number_of_cycles() {
        assert_eq!("none".parse(), Ok(SignalSource::Off));
        let said = "1,1,delay=0.5".parse::<SignalSource>().expect_err("half a cycle");
        assert_eq!(said, "the delay is `0.5`; it must be a whole number of cycles");
        assert!(matches!("1,1,delay=2".parse(), Ok(SignalSource::Drawn(_))));
    }
}
