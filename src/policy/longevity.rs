//! Content that lasts: the visit that brings most of what will still be there. The default for fragment staleness.
//!
//! Utility U(t) = t·D(t) − ∫₀ᵗ D (Olston & Pandey 2008, §2.2, eq. 4) of a page whose fragments are replaced at a rate of its
//! own: D(t) = 1 − e^(−st). The rate is learnt from divergences, not from change bits, so a page whose clock changes with
//! every visit is not taken for one whose text does; and the curve goes up to 1, so a page that showed only small changes is
//! never believed to be bounded and left alone (`longevity-curve` fits that height, as the paper does).
//!
//! Three things make few visits tell much. A page's rate is drawn towards that of its kin (its folder, and pages of
//! its name); how far, is what makes the pages at hand most likely. And siblings are a clock: where those that were
//! visited since have moved more than was expected of them, so will this page have.

use std::collections::HashMap;

use super::content::{Content, Replaced};
use super::newcomers::{self, Newcomers};
use super::utility::refresh_utility;
use super::{Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey};
use crate::estimate::Seen;
use crate::estimate::gamma_function::ln_gamma;
use crate::page::{Depth, HostId, Kin};
use crate::time::Timestamp;

/// How far rates are drawn to those of kin: as far as so many visits would.
const STRENGTHS: [f64; 7] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0];
/// Pages that the strength is chosen by, at the most.
const MOST_PAGES: usize = 50_000;
/// Siblings are believed once they should have been replaced this much, in whole pages.
const CLOCK_BELIEF: f64 = 1.0;
/// … and never move a rate by more than these factors.
const CLOCK_BOUNDS: (f64, f64) = (0.1, 30.0);

/// How much was replaced in how long a time.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    pages: f64,
    days: f64,
}

impl Sums {
    fn add(&mut self, other: &Replaced, count: f64) {
        self.pages += other.pages * count;
        self.days += other.days * count;
    }

    /// The rate, drawn to that of `parent` as far as `days` of watching would.
    fn rate(self, parent: f64, days: f64) -> f64 {
        (self.pages + parent * days) / (self.days + days)
    }
}

/// Pages of one kind.
#[derive(Debug, Default)]
struct Kind {
    sums: Sums,
    /// Of last visits, the newest first: since then, how much they found replaced and how much was expected.
    since: Vec<Event>,
}

/// Of the last visits from `at` on.
#[derive(Clone, Copy, Debug)]
struct Event {
    at: Timestamp,
    found: f32,
    expected: f32,
}

impl Kind {
    /// How much faster than expected these pages moved since then.
    fn clock(&self, since: Timestamp) -> f64 {
        let later = self.since.partition_point(|event| event.at > since);
        let event = later.checked_sub(1).and_then(|at| self.since.get(at));
        let (found, expected) = event.map_or((0.0, 0.0), |event| (event.found, event.expected));
        (f64::from(found) + CLOCK_BELIEF) / (f64::from(expected) + CLOCK_BELIEF)
    }
}

/// What a page's own visits taught, and whom it is like.
struct Row {
    kin: Kin,
    replaced: Replaced,
    seen_at: Timestamp,
    count: f64,
}

#[derive(Debug)]
pub struct Longevity {
    newcomers: Newcomers,
    /// Pages replaced a day, over all.
    general: f64,
    /// Days of watching that kin count for.
    belief_days: f64,
    sections: HashMap<u32, Kind>,
    names: HashMap<u32, Kind>,
}

impl Default for Longevity {
    fn default() -> Self {
        Self {
            newcomers: Newcomers::default(),
            general: UNKNOWN_RATE,
            belief_days: UNKNOWN_DAYS,
            sections: HashMap::new(),
            names: HashMap::new(),
        }
    }
}

/// Before anything is known: a tenth of a page a day, and ten days of watching count as much.
const UNKNOWN_RATE: f64 = 0.1;
const UNKNOWN_DAYS: f64 = 10.0;

impl Longevity {
    /// What is believed of a page's rate before its own visits: the geometric mean of what its kin show.
    fn prior(&self, kin: Kin, days: f64) -> f64 {
        let of = |kinds: &HashMap<u32, Kind>, key: u32| {
            kinds.get(&key).map_or(self.general, |kind| kind.sums.rate(self.general, days))
        };
        (of(&self.sections, kin.section) * of(&self.names, kin.name)).sqrt()
    }

    /// Pages replaced a day, before siblings are looked at.
    fn rate_of(&self, kin: Kin, replaced: &Replaced, days: f64) -> f64 {
        Sums { pages: replaced.pages, days: replaced.days }.rate(self.prior(kin, days), days)
    }

    /// Pages replaced a day since the page was last seen.
    fn rate(&self, page: &PageState) -> f64 {
        let replaced = remembered(&page.learnt);
        let own = self.rate_of(page.kin, &replaced, self.belief_days);
        let Some(since) = page.seen_at else { return own };
        let clock =
            |kinds: &HashMap<u32, Kind>, key: u32| kinds.get(&key).map_or(1.0, |kind| kind.clock(since));
        let faster = clock(&self.sections, page.kin.section) * clock(&self.names, page.kin.name);
        own * faster.clamp(CLOCK_BOUNDS.0, CLOCK_BOUNDS.1)
    }

    /// What a visit gains, in divergence × days.
    fn gain(&self, page: &PageState, now: Timestamp) -> f64 {
        refresh_utility(self.rate(page), page.copy_age(now).days())
    }

    fn new_links(&self, page: &PageState, now: Timestamp) -> f64 {
        newcomers::new_links(page, self.belief_days, now)
    }

    /// How far rates are drawn to those of kin: the strength at which the pages at hand are most likely. A page's sum is
    /// taken for a count of whole pages, at a rate that is drawn from a Gamma distribution around that of its kin.
    fn choose_strength(&mut self, rows: &[Row], mean_days: f64) {
        let some = rows.iter().step_by(rows.len().div_ceil(MOST_PAGES).max(1));
        let mut best = f64::NEG_INFINITY;
        let rows: Vec<&Row> = some.collect();
        for strength in STRENGTHS {
            let days = strength * mean_days;
            let likely = rows.iter().map(|row| {
                let shape = self.prior(row.kin, days) * days;
                let Replaced { pages, days: watched, .. } = row.replaced;
                let fits = ln_gamma(shape + pages) - ln_gamma(shape) + shape * days.ln();
                (fits - (shape + pages) * (days + watched).ln()) * row.count
            });
            let likely: f64 = likely.sum();
            if likely > best {
                (best, self.belief_days) = (likely, days);
            }
        }
    }

    /// Sets the clocks by what last visits found.
    fn set_clocks(&mut self, rows: &[Row]) {
        for row in rows {
            let expected =
                -(-self.rate_of(row.kin, &row.replaced, self.belief_days) * row.replaced.last_days).exp_m1();
            let (found, expected) = ((row.replaced.last * row.count) as f32, (expected * row.count) as f32);
            let event = Event { at: row.seen_at, found, expected };
            for (kinds, key) in [(&mut self.sections, row.kin.section), (&mut self.names, row.kin.name)] {
                if let Some(kind) = kinds.get_mut(&key) {
                    kind.since.push(event);
                }
            }
        }
        for kind in self.sections.values_mut().chain(self.names.values_mut()) {
            kind.since.sort_by(|a, b| b.at.cmp(&a.at));
            let (mut found, mut expected) = (0.0, 0.0);
            for event in &mut kind.since {
                found += event.found;
                expected += event.expected;
                (event.found, event.expected) = (found, expected);
            }
        }
    }
}

fn remembered(learnt: &Learnt) -> Replaced {
    match &learnt.content {
        Content::Replaced(replaced) => *replaced,
        _ => Replaced::default(),
    }
}

impl Policy for Longevity {
    fn name(&self) -> &str {
        "longevity"
    }

    fn memory_kind(&self) -> String {
        "longevity".to_owned()
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, kin: true }
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let days = learnt.state.count(lesson.interval, seen);
        let mut replaced = remembered(learnt);
        replaced.add(lesson.moved(), days);
        learnt.content = Content::Replaced(replaced);
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.newcomers.look(survey);
        let mut rows: Vec<Row> = Vec::new();
        let (mut all, mut visits) = (Sums::default(), 0.0);
        (self.sections.clear(), self.names.clear());
        (survey.pages)(&mut |page, count| {
            if let (Content::Replaced(replaced), Some(seen_at)) = (&page.learnt.content, page.seen_at) {
                let count = count as f64;
                all.add(replaced, count);
                visits += f64::from(page.learnt.state.visits) * count;
                self.sections.entry(page.kin.section).or_default().sums.add(replaced, count);
                self.names.entry(page.kin.name).or_default().sums.add(replaced, count);
                rows.push(Row { kin: page.kin, replaced: *replaced, seen_at, count });
            }
        });
        if rows.is_empty() || all.days <= 0.0 {
            return;
        }
        let mean_days = all.days / visits.max(1.0);
        self.general = (all.pages + UNKNOWN_PAGES) / (all.days + UNKNOWN_PAGES / UNKNOWN_RATE);
        self.choose_strength(&rows, mean_days);
        self.set_clocks(&rows);
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if let Some(worth) = self.newcomers.worth_again(page) {
            return Score::new(worth);
        }
        Score::new(page.weight * (self.gain(page, now) + self.new_links(page, now)))
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.newcomers.worth(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let rate = self.rate(page);
        let divergence = -(-rate * page.copy_age(now).days()).exp_m1();
        let gain = self.gain(page, now) + self.new_links(page, now);
        Reason { divergence: Some(divergence), gain_days: Some(gain), ..Reason::default() }
    }
}

/// What is added to all pages' sums, so that a collection in which nothing moved yet has a rate all the same.
const UNKNOWN_PAGES: f64 = 1e-3;
