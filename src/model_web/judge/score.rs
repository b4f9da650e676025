//! The copies of pages, compared with the truth: sights of pages at moments → figures.
//!
//! Comes in: for each page and moment, a [`Sight`]. Goes out: [`WebScores`], over everything, by site and by behaviour. No
//! I/O and no clock. Freshness and age are those of Cho & Garcia-Molina; staleness is that of Olston & Pandey 2008
//! (§2.1): the mean divergence of what is held from what is true.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::store::VersionId;

/// Moments of the past that are looked at, evenly spaced.
pub const MOMENTS: usize = 60;

/// The past of one page, as a store knows it. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct PagePast {
    /// When the store learnt of the page.
    pub found_at: f64,
    /// Its importance in the store now; 1 is an ordinary page.
    pub weight: f64,
    /// In order of time.
    pub visits: Vec<PastVisit>,
}

/// A visit of the past.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PastVisit {
    /// When the visit was made.
    pub at: f64,
    /// Its effect.
    pub what: VisitEffect,
}

/// The effect of a visit on the copy that is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VisitEffect {
    /// The page was read.
    Read(VersionId),
    /// The host said that it is the one held. It may be wrong.
    Confirmed(VersionId),
    /// The page is no more, or elsewhere.
    Lost,
}

/// A version that is held, and when it was last compared with the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldVersion {
    /// The copy.
    pub version: VersionId,
    /// When it was last read in full.
    pub read_at: f64,
}

impl PagePast {
    /// The copy that is held at a moment.
    pub fn held(&self, at: f64) -> Option<HeldVersion> {
        let mut until = self.until(at).iter().rev();
        let version = match until.clone().next()?.what {
            VisitEffect::Lost => return None,
            VisitEffect::Read(version) | VisitEffect::Confirmed(version) => version,
        };
        let read_at = until.find_map(|seen| matches!(seen.what, VisitEffect::Read(_)).then_some(seen.at))?;
        Some(HeldVersion { version, read_at })
    }

    /// Has it been held at any time up to this moment?
    pub(crate) fn was_held(&self, at: f64) -> bool {
        self.until(at).iter().any(|seen| seen.what != VisitEffect::Lost)
    }

    fn until(&self, at: f64) -> &[PastVisit] {
        self.visits.split_at(self.visits.partition_point(|seen| seen.at <= at)).0
    }
}

/// How long a copy has been out of date: the time since the first change after it was read, 0 if there is none. A
/// change at the instant of the visit is seen by it. `changes` are in order.
pub fn age(changes: &[f64], read_at: f64, at: f64) -> f64 {
    let unseen = changes.iter().find(|change| **change > read_at && **change <= at);
    unseen.map_or(0.0, |change| at - change)
}

/// The middles of `many` equal parts of a span: the mean over them stands for the mean over time.
pub fn moments(since: f64, now: f64, many: usize) -> impl Iterator<Item = f64> {
    let part = (now - since).max(0.0) / many as f64;
    (0..many).map(move |place| since + (place as f64 + 0.5) * part)
}

/// One page at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sight {
    Living {
        /// The store knows its URL.
        known: bool,
        /// From its birth to its discovery, in seconds, if it was born while the crawl went on.
        delay: Option<f64>,
        /// Its importance in the store; a page that the store does not know is an ordinary one.
        weight: f64,
        held: Option<ComparedCopy>,
    },
    /// It was held once, and is no more.
    Dead { held: bool },
}

/// A copy, compared with the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ComparedCopy {
    pub fresh: bool,
    /// From 0 to 1.
    pub divergence: f64,
    /// In seconds.
    pub age: f64,
}

/// Sights, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SightTally {
    living: u64,
    known: u64,
    held: u64,
    fresh: u64,
    divergence: f64,
    weight: f64,
    /// The sum of weight × divergence.
    stale_weight: f64,
    age: f64,
    discovered: u64,
    delay: f64,
    dead: u64,
    dead_held: u64,
}

/// The figures of one or more moments. Counts are means over the moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScoreFigures {
    /// Pages that live.
    pub living: f64,
    /// Of these, the share that is held.
    pub coverage: Option<f64>,
    /// Of these, the share whose held text is the true one.
    pub freshness: Option<f64>,
    /// Mean divergence of the held fragments from the true ones; a page that is not held counts 1.
    pub staleness: Option<f64>,
    /// The same, by the weights that pages have in the store (Olston & Pandey 2008, eq. 1, divided by the sum of the weights); a
    /// page that the store does not know has weight 1.
    pub weighted_staleness: Option<f64>,
    /// Mean time since the first change not seen, of the living pages that are held; 0 for a fresh one.
    pub age_seconds: Option<f64>,
    /// Living pages whose URL is not known.
    pub missed: f64,
    /// Mean time from birth to discovery, of the known pages born while the crawl went on.
    pub discovery_seconds: Option<f64>,
    /// Pages that were held once and are no more.
    pub dead: f64,
    /// Of these, the share that is held as alive still.
    pub dead_held: Option<f64>,
}

impl SightTally {
    pub(crate) fn add(&mut self, sight: &Sight) {
        match *sight {
            Sight::Living { known, delay, weight, held } => {
                self.living += 1;
                let divergence = held.map_or(1.0, |copy| copy.divergence);
                self.divergence += divergence;
                self.weight += weight;
                self.stale_weight += weight * divergence;
                self.known += u64::from(known);
                if let Some(delay) = delay {
                    self.discovered += 1;
                    self.delay += delay;
                }
                if let Some(copy) = held {
                    self.held += 1;
                    self.fresh += u64::from(copy.fresh);
                    self.age += copy.age;
                }
            }
            Sight::Dead { held } => {
                self.dead += 1;
                self.dead_held += u64::from(held);
            }
        }
    }

    fn join(&mut self, other: &SightTally) {
        self.living += other.living;
        self.known += other.known;
        self.held += other.held;
        self.fresh += other.fresh;
        self.divergence += other.divergence;
        self.weight += other.weight;
        self.stale_weight += other.stale_weight;
        self.age += other.age;
        self.discovered += other.discovered;
        self.delay += other.delay;
        self.dead += other.dead;
        self.dead_held += other.dead_held;
    }

    /// The figures, if these are the sights of that many moments.
    pub(crate) fn figures(&self, moments: usize) -> ScoreFigures {
        let mean = |count: u64| count as f64 / moments.max(1) as f64;
        let ratio = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
        ScoreFigures {
            living: mean(self.living),
            coverage: ratio(self.held as f64, self.living),
            freshness: ratio(self.fresh as f64, self.living),
            staleness: ratio(self.divergence, self.living),
            weighted_staleness: (self.weight > 0.0).then(|| self.stale_weight / self.weight),
            age_seconds: ratio(self.age, self.held),
            missed: mean(self.living - self.known),
            discovery_seconds: ratio(self.delay, self.discovered),
            dead: mean(self.dead),
            dead_held: ratio(self.dead_held as f64, self.dead),
        }
    }
}

/// Tallies of all groups at all moments, the last of which is now.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    times: Vec<f64>,
    all: Vec<SightTally>,
    sites: BTreeMap<String, Vec<SightTally>>,
    behaviours: BTreeMap<&'static str, Vec<SightTally>>,
}

impl Board {
    pub(crate) fn new(since: f64, now: f64) -> Self {
        Self::at(moments(since, now, MOMENTS).chain([now]).collect())
    }

    /// Moments of one's own; the last of them is now.
    pub(crate) fn at(times: Vec<f64>) -> Self {
        let all = vec![SightTally::default(); times.len()];
        Self { times, all, sites: BTreeMap::new(), behaviours: BTreeMap::new() }
    }

    pub(crate) fn times(&self) -> &[f64] {
        &self.times
    }

    /// Takes in a page as it is seen at the moment of that place in [`Board::times`].
    pub(crate) fn add(&mut self, moment: usize, site: &str, behaviour: &'static str, sight: &Sight) {
        let empty = || vec![SightTally::default(); self.times.len()];
        if !self.sites.contains_key(site) {
            self.sites.insert(site.to_owned(), empty());
        }
        let of_behaviour = self.behaviours.entry(behaviour).or_insert_with(empty);
        let groups = [Some(&mut self.all), self.sites.get_mut(site), Some(of_behaviour)];
        for tally in groups.into_iter().flatten().filter_map(|group| group.get_mut(moment)) {
            tally.add(sight);
        }
    }

    pub(crate) fn scores(&self) -> WebScores {
        let point = |(at, tally): (&f64, &SightTally)| ScorePoint { at: *at, figures: tally.figures(1) };
        WebScores {
            all: group("all", &self.all),
            sites: self.sites.iter().map(|(name, tallies)| group(name, tallies)).collect(),
            behaviours: self.behaviours.iter().map(|(name, tallies)| group(name, tallies)).collect(),
            curve: self.times.iter().zip(&self.all).map(point).collect(),
        }
    }
}

fn group(name: &str, tallies: &[SightTally]) -> ScoreGroup {
    let (now, past) = match tallies.split_last() {
        Some((now, past)) => (*now, past),
        None => (SightTally::default(), tallies),
    };
    let mut sum = SightTally::default();
    past.iter().for_each(|tally| sum.join(tally));
    ScoreGroup { name: name.to_owned(), now: now.figures(1), past: sum.figures(past.len()) }
}

/// How well a store stands against the truth.
#[derive(Clone, Debug, Serialize)]
pub struct WebScores {
    /// Over all pages.
    pub all: ScoreGroup,
    /// By host.
    pub sites: Vec<ScoreGroup>,
    /// By how pages change.
    pub behaviours: Vec<ScoreGroup>,
    /// Over everything, moment by moment.
    pub curve: Vec<ScorePoint>,
}

/// The figures of one group of pages.
#[derive(Clone, Debug, Serialize)]
pub struct ScoreGroup {
    /// The host, or the behaviour.
    pub name: String,
    /// At the last moment.
    pub now: ScoreFigures,
    /// Over all moments.
    pub past: ScoreFigures,
}

/// The figures of one moment.
#[derive(Clone, Debug, Serialize)]
pub struct ScorePoint {
    /// The moment.
    pub at: f64,
    /// Over all pages.
    #[serde(flatten)]
    pub figures: ScoreFigures,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const ONE: VersionId = VersionId(1);
    const TWO: VersionId = VersionId(2);

    #[test]
    fn what_is_held_follows_from_the_visits() {
        let seen = |at, what| PastVisit { at, what };
        let visits = vec![
            seen(1.0, VisitEffect::Read(ONE)),
            seen(2.0, VisitEffect::Confirmed(ONE)),
            seen(3.0, VisitEffect::Lost),
            seen(4.0, VisitEffect::Read(TWO)),
        ];
        let past = PagePast { found_at: 0.0, weight: 1.0, visits };
        assert_eq!(past.held(0.9), None);
        assert_eq!(past.held(1.0), Some(HeldVersion { version: ONE, read_at: 1.0 }));
        assert_eq!(past.held(2.5), Some(HeldVersion { version: ONE, read_at: 1.0 }), "a word is no look");
        assert_eq!(past.held(3.5), None);
        assert_eq!(past.held(9.0), Some(HeldVersion { version: TWO, read_at: 4.0 }));
        assert_eq!((past.was_held(0.9), past.was_held(3.5)), (false, true));
    }

    #[test]
    fn figures_of_a_few_pages_by_hand() {
        let living = |known, held| Sight::Living { known, delay: None, weight: 1.0, held };
        let copy = |fresh, divergence, age| Some(ComparedCopy { fresh, divergence, age });
        let mut board = Board::new(0.0, 60.0);
        let now = MOMENTS;
        board.add(now, "a", "static", &living(true, copy(true, 0.0, 0.0)));
        let weighty = Sight::Living { known: true, delay: None, weight: 6.0, held: copy(false, 0.5, 30.0) };
        board.add(now, "a", "churn", &weighty);
        board.add(now, "b", "churn", &living(true, None));
        board.add(now, "b", "scroll", &living(false, None));
        board.add(now, "b", "churn", &Sight::Dead { held: true });
        board.add(now, "b", "churn", &Sight::Dead { held: false });
        let scores = board.scores();
        let expected = ScoreFigures {
            living: 4.0,
            coverage: Some(0.5),
            freshness: Some(0.25),
            staleness: Some((0.5 + 1.0 + 1.0) / 4.0),
            weighted_staleness: Some((6.0 * 0.5 + 1.0 + 1.0) / 9.0),
            age_seconds: Some(15.0),
            missed: 1.0,
            discovery_seconds: None,
            dead: 2.0,
            dead_held: Some(0.5),
        };
        assert_eq!(scores.all.now, expected);
        assert_eq!(scores.all.past, ScoreFigures::default(), "nothing was seen then");
        assert_eq!(scores.sites.iter().map(|site| site.now.living).collect::<Vec<_>>(), [2.0, 2.0]);
        let names: Vec<&str> = scores.behaviours.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["churn", "scroll", "static"]);
        assert_eq!((scores.curve.len(), scores.curve[0].at), (MOMENTS + 1, 0.5));
    }

    #[test]
    fn freshness_and_age_over_time_are_those_of_the_definitions() {
        let golden = include_str!("../../../tests/golden/freshness_metrics.json");
        let golden: Value = serde_json::from_str(golden).expect("JSON");
        let list = |value: &Value| -> Vec<f64> {
            value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
        };
        let cases = golden["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 10);
        for case in cases {
            let (changes, crawls) = (list(&case["changes"]), list(&case["crawls"]));
            let horizon = case["horizon"].as_f64().expect("a number");
            let visits =
                [0.0].iter().chain(&crawls).map(|at| PastVisit { at: *at, what: VisitEffect::Read(ONE) });
            let past = PagePast { found_at: 0.0, weight: 1.0, visits: visits.collect() };
            // Each event moves the mean by one part at the most.
            let many = 100_000;
            let mut tally = SightTally::default();
            for at in moments(0.0, horizon, many) {
                let age = age(&changes, past.held(at).expect("it is held").read_at, at);
                let copy = ComparedCopy { fresh: age == 0.0, divergence: f64::from(age > 0.0), age };
                tally.add(&Sight::Living { known: true, delay: None, weight: 1.0, held: Some(copy) });
            }
            let figures = tally.figures(many);
            let near = |ours: Option<f64>, name: &str| {
                let (ours, theirs) = (ours.expect("a figure"), case[name].as_f64().expect("a number"));
                assert!((ours - theirs).abs() < 1e-3 * (1.0 + theirs), "{name}: {ours} {theirs}");
            };
            near(figures.freshness, "freshness");
            near(figures.staleness, "staleness");
            near(figures.age_seconds, "mean_age");
        }
    }
}
