//! The lives of the fragments of pages, for Fig. 1 to 5.

use super::Corpus;
use crate::change::lifetime::{FragmentLife, Lifetimes};
use crate::time::Timestamp;

pub(super) const SECONDS_A_DAY: f64 = 86_400.0;

/// The lives of a page's fragments.
pub(super) struct Lived {
    pub(super) at: usize,
    pub(super) lives: Lifetimes,
    /// Fragments by the update after which they went: the very next, the one after it, a later one; and the seconds that
    /// they lived, in sum.
    pub(super) by_update: [f64; 3],
    seconds: [f64; 3],
    /// The seconds that all fragments were there, in sum.
    all_seconds: f64,
    /// The largest group's share of the fragments that came and went.
    pub(super) largest: f64,
    pub(super) static_share: f64,
}

impl Lived {
    /// The lives of all pages that have fragments.
    pub(super) fn all(corpus: &Corpus<'_>) -> Vec<Self> {
        (0..corpus.pages.len()).filter_map(|at| Self::of(corpus, at)).collect()
    }

    fn of(corpus: &Corpus<'_>, at: usize) -> Option<Self> {
        let lives = corpus.lifetimes(at)?;
        let (mut by_update, mut seconds, mut largest) = ([0.0; 3], [0.0; 3], 0.0_f64);
        for life in lives.whole() {
            let (class, fragments) = (class(life.updates), life.life.fragments as f64);
            by_update[class] += fragments;
            seconds[class] += fragments * life.seconds;
            largest = largest.max(fragments);
        }
        let day = Days::of(&lives);
        let days = |life: &FragmentLife| life.fragments as f64 * (day.end(life) - day.start(life));
        let all_seconds = SECONDS_A_DAY * lives.lives().iter().map(days).sum::<f64>();
        let (largest, static_share) = (largest / by_update.iter().sum::<f64>(), lives.static_share());
        Some(Self { at, lives, by_update, seconds, all_seconds, largest, static_share })
    }

    /// The share of the page, over time, that was seen to move in this way; what was cut off moved in no way.
    pub(super) fn moving(&self, class: usize) -> f64 {
        let own = self.seconds.get(class).copied().unwrap_or(0.0);
        if self.all_seconds > 0.0 { own / self.all_seconds } else { 0.0 }
    }
}

/// When fragments came and went, in days since the first snapshot.
pub(super) struct Days<'a>(&'a [Timestamp]);

impl<'a> Days<'a> {
    pub(super) fn of(lives: &'a Lifetimes) -> Self {
        Self(lives.times())
    }

    fn at(&self, snapshot: usize) -> f64 {
        match (self.0.first(), self.0.get(snapshot)) {
            (Some(first), Some(at)) => at.since(*first).days(),
            _ => 0.0,
        }
    }

    pub(super) fn start(&self, life: &FragmentLife) -> f64 {
        life.born.map_or(0.0, |born| self.at(born))
    }

    pub(super) fn last(&self) -> f64 {
        self.at(self.0.len().saturating_sub(1))
    }

    pub(super) fn end(&self, life: &FragmentLife) -> f64 {
        life.died.map_or_else(|| self.last(), |died| self.at(died))
    }
}

/// K = 1, 2, or more.
pub(super) const CLASSES: [&str; 3] = ["K = 1", "K = 2", "K > 2"];

/// The place of K among [`CLASSES`].
pub(super) fn class(updates: usize) -> usize {
    updates.clamp(1, 3) - 1
}
