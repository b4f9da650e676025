//! What pages with similar addresses tell about each other: how fast their fragments are replaced, and whether they move now.
//!
//! Comes in: for each page its memory ([`Replaced`]) and its kinds ([`Kin`]: pages of the same section, pages of the same name).
//! Goes out: the replacement rate of any page, shrunk towards the rate of its kinds; and a clock factor, which tells how much
//! faster than expected its siblings moved since a moment.
//!
//! The strength of the shrinkage is the one that would have predicted the last visits best. One of the choices is to treat all
//! pages alike, which makes utility rank pages as `age` does. The clocks of a host are used only if they would have predicted
//! the host's last visits better.

use super::replaced::{Recent, Replaced, Sums};
use crate::identity_hash::ByHash;
use crate::page::Kin;
use crate::time::{Age, Timestamp};

/// The choices for the weight of a page's kinds in its rate, in visits. The last treats practically all pages alike.
const STRENGTHS: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, ALIKE];
const ALIKE: f64 = 1e4;
/// The weight of all pages in the rate of a kind, in visits, unless all pages are treated alike.
const KIND_STRENGTH: f64 = 10.0;
/// The advantage in log-likelihood that treating all pages alike is given: round robin is hard to beat where little is known.
const ALIKE_BONUS: f64 = 1.0;
/// The clocks of a host are used if they raise the log-likelihood of its last visits by more than this.
const CLOCK_EVIDENCE: f64 = 4.0;
/// The least and the largest square of a clock factor.
const CLOCK_BOUNDS: (f64, f64) = (1.0 / 30.0, 30.0);
/// The most pages that are kept one by one, besides the sums of their kinds. Of more pages an even sample is kept, so that the
/// cost of a survey is bounded.
const MOST_ROWS: usize = 1 << 16;
/// The most visits by which the strength is chosen.
const MOST_TRIED: usize = 20_000;
/// The most visits by which clocks are judged; it is larger because each host needs its own.
const MOST_WEIGHED: usize = 40_000;
/// The least height: pages are assumed to diverge at least this far in the long run.
const LEAST_HEIGHT: f64 = 0.1;
/// The most visits in the clock of a kind.
const MOST_EVENTS: usize = 1024;

impl Sums {
    fn add(&mut self, other: Sums, count: f64) {
        self.pages += other.pages * count;
        self.days += other.days * count;
    }

    fn without(self, other: Sums) -> Self {
        Self { pages: (self.pages - other.pages).max(0.0), days: (self.days - other.days).max(0.0) }
    }

    /// The rate, shrunk towards that of `parent`, which has the weight of `days` of watching.
    fn rate(self, parent: f64, days: f64) -> f64 {
        (self.pages + parent * days) / (self.days + days)
    }
}

impl From<&Replaced> for Sums {
    fn from(replaced: &Replaced) -> Self {
        Self { pages: replaced.pages, days: replaced.days }
    }
}

/// Pages of one kind.
#[derive(Debug, Default)]
struct KinKind {
    sums: Sums,
    /// The number of pages that are kept one by one.
    rows: usize,
    /// Visits, newest first. Each has the sums, up to and including it, of what was found replaced and what was expected.
    events: Vec<Event>,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    at: Timestamp,
    found: f32,
    expected: f32,
}

impl KinKind {
    /// The sums (found, expected) of the visits after a moment.
    fn after(&self, moment: Timestamp) -> (f64, f64) {
        let later = self.events.partition_point(|event| event.at > moment);
        let event = later.checked_sub(1).and_then(|at| self.events.get(at));
        event.map_or((0.0, 0.0), |event| (f64::from(event.found), f64::from(event.expected)))
    }
}

/// A page that is kept by itself.
#[derive(Clone, Debug)]
struct KinRow {
    /// Indices into the kinds, and of the site into the evidence.
    section: u32,
    name: u32,
    site: u32,
    count: f64,
    seen_at: Timestamp,
    replaced: Replaced,
}

/// Indices of kinds by their hash.
type Places = ByHash<u32, u32>;

/// All kinds of a collection.
#[derive(Debug)]
pub(super) struct Kinship {
    kinds: Vec<KinKind>,
    sections: Places,
    names: Places,
    sites: Places,
    /// By site: the log-likelihood that clocks add to its last visits.
    evidence: Vec<f64>,
    /// Pages replaced a day, over all pages.
    general: f64,
    /// The weight of a page's kinds in its rate, and of all pages in the rate of a kind, in days of watching.
    page_days: f64,
    kind_days: f64,
    /// The mean of the days from one visit to the next.
    mean_days: f64,
    /// The divergence of pages from their oldest versions, as a share of the divergence that their rates predict.
    height: f64,
    /// The typical size of one change: the mean divergence of last visits, weighted by itself.
    jump: f64,
}

impl Default for Kinship {
    /// Before anything is known: a tenth of a page a day, with the weight of ten days of watching.
    fn default() -> Self {
        Self {
            kinds: Vec::new(),
            sections: Places::default(),
            names: Places::default(),
            sites: Places::default(),
            evidence: Vec::new(),
            general: 0.1,
            page_days: 10.0,
            kind_days: 10.0,
            mean_days: 1.0,
            height: 1.0,
            jump: 1.0,
        }
    }
}

/// Gathers pages one by one.
#[derive(Debug, Default)]
pub(super) struct KinGathering {
    kinship: Kinship,
    rows: Vec<KinRow>,
    all: Sums,
    visits: f64,
    /// Σ d and Σ d² of last visits.
    jumps: (f64, f64),
    seen: usize,
    /// One page in this many is kept by itself.
    every: usize,
}

impl KinGathering {
    /// Adds `count` pages that are alike in all of this.
    pub(super) fn add(
        &mut self,
        kin: Kin,
        replaced: &Replaced,
        visits: u32,
        seen_at: Timestamp,
        count: usize,
    ) {
        let count = count as f64;
        let Kinship { kinds, sections, names, sites, evidence, .. } = &mut self.kinship;
        let mut place = |places: &mut Places, key: u32| {
            *places.entry(key).or_insert_with(|| {
                kinds.push(KinKind::default());
                kinds.len() as u32 - 1
            })
        };
        let (section, name) = (place(sections, kin.section), place(names, kin.name));
        let site = *sites.entry(kin.site).or_insert_with(|| {
            evidence.push(0.0);
            evidence.len() as u32 - 1
        });
        for at in [section, name] {
            if let Some(kind) = kinds.get_mut(at as usize) {
                kind.sums.add(replaced.into(), count);
            }
        }
        self.all.add(replaced.into(), count);
        self.visits += f64::from(visits) * count;
        for Recent { found, .. } in replaced.recent() {
            let found = f64::from(*found);
            self.jumps = (self.jumps.0 + found * count, self.jumps.1 + found * found * count);
        }
        if self.seen.is_multiple_of(self.every.max(1)) {
            self.rows.push(KinRow { section, name, site, count, seen_at, replaced: *replaced });
            if self.rows.len() >= MOST_ROWS {
                self.every = 2 * self.every.max(1);
                let mut at = 0_usize;
                self.rows.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
            }
        }
        self.seen += 1;
    }

    /// Computes everything from the gathered pages. Visits of the same cycle are not used to predict each other.
    pub(super) fn finish(self, cycle: Age) -> Kinship {
        let Self { mut kinship, rows, all, visits, jumps, .. } = self;
        if rows.is_empty() || all.days <= 0.0 {
            return Kinship::default();
        }
        let mean_days = all.days / visits.max(1.0);
        kinship.mean_days = mean_days;
        kinship.general = (all.pages + 1e-4) / (all.days + 1e-2 * mean_days);
        kinship.jump = ((jumps.1 + 1e-4) / (jumps.0 + 1e-3)).max(1e-4);
        kinship.choose_strength(&rows, mean_days);
        kinship.height = kinship.measured_height(&rows);
        kinship.set_clocks(&rows);
        kinship.weigh_clocks(&rows, cycle);
        kinship
    }
}

impl Kinship {
    /// Pages replaced a day, for a page whose own visits have these sums.
    pub(super) fn rate(&self, kin: Kin, own: Sums) -> f64 {
        let sums = |places: &Places, key: u32| {
            let kind = places.get(&key).and_then(|at| self.kinds.get(*at as usize));
            kind.map_or(Sums::default(), |kind| kind.sums)
        };
        let prior =
            self.prior(sums(&self.sections, kin.section), sums(&self.names, kin.name), self.kind_days);
        own.rate(prior, self.page_days)
    }

    /// Clock factor since a moment: the square root of how much faster than expected siblings have moved; 1 if siblings don't predict
    /// the pages of this host. (It is the root because utility grows with the square of time, and noise must not count twice.)
    pub(super) fn clock_factor(&self, kin: Kin, since: Timestamp) -> f64 {
        let evidence = self.sites.get(&kin.site).and_then(|at| self.evidence.get(*at as usize));
        if evidence.is_none_or(|evidence| *evidence <= CLOCK_EVIDENCE) {
            return 1.0;
        }
        let of = |places: &Places, key: u32| {
            let kind = places.get(&key).and_then(|at| self.kinds.get(*at as usize));
            kind.map_or((0.0, 0.0), |kind| kind.after(since))
        };
        self.faster(of(&self.sections, kin.section), of(&self.names, kin.name)).sqrt()
    }

    /// The divergence that pages reach in the long run, as a share of what their rates predict: 1 if pages are replaced entirely, less
    /// if parts of them stay.
    pub(super) fn height(&self) -> f64 {
        self.height
    }

    /// The mean of the days from one visit to the next, over all pages.
    pub(super) fn mean_visit_days(&self) -> f64 {
        self.mean_days
    }

    /// Prior of a page's rate: the geometric mean of the rates of its two kinds.
    fn prior(&self, section: Sums, name: Sums, days: f64) -> f64 {
        (section.rate(self.general, days) * name.rate(self.general, days)).sqrt()
    }

    /// How much faster than expected two kinds moved, given (found, expected) of each.
    fn faster(&self, section: (f64, f64), name: (f64, f64)) -> f64 {
        let ratio = |(found, expected): (f64, f64)| (found + self.jump) / (expected + self.jump);
        (ratio(section) * ratio(name)).clamp(CLOCK_BOUNDS.0, CLOCK_BOUNDS.1)
    }

    fn kind(&self, at: u32) -> Option<&KinKind> {
        self.kinds.get(at as usize)
    }

    fn sums(&self, at: u32) -> Sums {
        self.kind(at).map_or(Sums::default(), |kind| kind.sums)
    }

    /// Chooses the strength that predicts the last visits best, each visit from those before it.
    fn choose_strength(&mut self, rows: &[KinRow], mean_days: f64) {
        let every = (rows.len() * Replaced::RECENT).div_ceil(MOST_TRIED).max(1);
        let some = || rows.iter().step_by(every);
        let mut best = f64::NEG_INFINITY;
        for strength in STRENGTHS {
            let is_alike = strength == ALIKE;
            let page_days = strength * mean_days;
            let kind_days = if is_alike { ALIKE } else { KIND_STRENGTH } * mean_days;
            let mut likely = if is_alike { ALIKE_BONUS } else { 0.0 };
            for row in some() {
                let (section, name) = (self.sums(row.section), self.sums(row.name));
                let (mut before, mut later) = (Sums::from(&row.replaced), Sums::default());
                for visit in row.replaced.recent().iter().rev() {
                    let own = Sums { pages: f64::from(visit.found), days: visit.lived() };
                    before = before.without(own);
                    later.add(own, 1.0);
                    let prior = self.prior(section.without(later), name.without(later), kind_days);
                    let rate = before.rate(prior, page_days);
                    likely += likelihood(f64::from(visit.found), rate * f64::from(visit.days)) * row.count;
                }
            }
            // Treating all pages alike comes last and wins ties.
            if likely >= best {
                (best, self.page_days, self.kind_days) = (likely, page_days, kind_days);
            }
        }
    }

    fn rate_of(&self, row: &KinRow) -> f64 {
        let prior = self.prior(self.sums(row.section), self.sums(row.name), self.kind_days);
        Sums::from(&row.replaced).rate(prior, self.page_days)
    }

    fn measured_height(&self, rows: &[KinRow]) -> f64 {
        let (mut found, mut expected) = (0.0, 0.0);
        for row in rows {
            let (divergence, days) = row.replaced.oldest;
            found += f64::from(divergence) * row.count;
            expected += -(-self.rate_of(row) * f64::from(days)).exp_m1() * row.count;
        }
        if expected > 0.0 { (found / expected).clamp(LEAST_HEIGHT, 1.0) } else { 1.0 }
    }

    /// Sets the clocks of all kinds from last visits.
    fn set_clocks(&mut self, rows: &[KinRow]) {
        for row in rows {
            for at in [row.section, row.name] {
                if let Some(kind) = self.kinds.get_mut(at as usize) {
                    kind.rows += 1;
                }
            }
        }
        let mut met = vec![0_usize; self.kinds.len()];
        for row in rows {
            let rate = self.rate_of(row);
            for at in [row.section, row.name] {
                let (Some(kind), Some(met)) = (self.kinds.get_mut(at as usize), met.get_mut(at as usize))
                else {
                    continue;
                };
                let every = (kind.rows * Replaced::RECENT).div_ceil(MOST_EVENTS).max(1);
                if met.is_multiple_of(every) {
                    kind.events.extend(visits(row).map(|(at, visit)| Event {
                        at,
                        found: visit.found * row.count as f32,
                        expected: (-(-rate * f64::from(visit.days)).exp_m1() * row.count) as f32,
                    }));
                }
                *met += 1;
            }
        }
        for kind in &mut self.kinds {
            kind.events.sort_by_key(|event| std::cmp::Reverse(event.at));
            let (mut found, mut expected) = (0.0_f64, 0.0_f64);
            for event in &mut kind.events {
                found += f64::from(event.found);
                expected += f64::from(event.expected);
                (event.found, event.expected) = (found as f32, expected as f32);
            }
        }
    }

    /// Judges, host by host, whether clocks would have predicted the last visits better.
    fn weigh_clocks(&mut self, rows: &[KinRow], cycle: Age) {
        let cycle_millis = (cycle.seconds() * 1000.0) as i64;
        let mut evidence = std::mem::take(&mut self.evidence);
        // Of very many pages only the last visit of each is used.
        let of_each = (MOST_WEIGHED / rows.len().max(1)).clamp(1, Replaced::RECENT);
        let every = rows.len().div_ceil(MOST_WEIGHED).max(1);
        for row in rows.iter().step_by(every) {
            let rate = self.rate_of(row);
            for (at, visit) in visits(row).take(of_each) {
                let from = at.millis().saturating_sub(days_in_millis(visit.days));
                let until = at.millis().saturating_sub(cycle_millis / 2);
                let within = |kind: Option<&KinKind>| {
                    let of = |moment: i64| {
                        kind.map_or((0.0, 0.0), |kind| kind.after(Timestamp::from_millis(moment)))
                    };
                    let ((found, expected), (later, later_expected)) = (of(from), of(until));
                    ((found - later).max(0.0), (expected - later_expected).max(0.0))
                };
                let faster = self.faster(within(self.kind(row.section)), within(self.kind(row.name)));
                let (found, moved) = (f64::from(visit.found), rate * f64::from(visit.days));
                if let Some(evidence) = evidence.get_mut(row.site as usize) {
                    *evidence += (likelihood(found, moved * faster) - likelihood(found, moved)) * row.count;
                }
            }
        }
        self.evidence = evidence;
    }
}

/// The last visits of a page with their times, newest first.
fn visits(row: &KinRow) -> impl Iterator<Item = (Timestamp, &Recent)> {
    let mut at = row.seen_at.millis();
    row.replaced.recent().iter().rev().map(move |visit| {
        let then = Timestamp::from_millis(at);
        at = at.saturating_sub(days_in_millis(visit.days));
        (then, visit)
    })
}

fn days_in_millis(days: f32) -> i64 {
    (f64::from(days) * 86_400_000.0) as i64
}

/// The log-likelihood that the share `found` of a page is replaced, with expectation μ: ln(1 − e^(−μ)) for the part that was, and
/// −μ for the part that was not.
fn likelihood(found: f64, expected: f64) -> f64 {
    let expected = expected.max(1e-12);
    found * (-(-expected).exp_m1()).ln() - (1.0 - found) * expected
}

#[cfg(test)]
#[path = "kinship_tests.rs"]
mod tests;
