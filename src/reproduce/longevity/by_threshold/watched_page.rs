//! The truth of one page: its text at each moment, and the divergences between texts.

use std::cell::OnceCell;

use crate::change::VersionId;
use crate::change::divergence::Divergence;
use crate::change::profile::BaseVersion;
use crate::dataset::Group;
use crate::longevity::interpolation::{eagerness, interpolated};
use crate::longevity::since_refresh::SinceRefresh;
use crate::simulate::truth::Truth;
use crate::time::Timestamp;

/// How many versions the mean curve is measured from, spread over the page's time.
const BASES: usize = 64;

/// One page of a recording, from its first moment on.
#[derive(Debug)]
pub(crate) struct WatchedPage {
    truth: Truth,
    /// The text at each moment.
    texts: Vec<u32>,
    step_days: f64,
    eagerness: f64,
    /// The mean curve by moments since a refresh, and its utility; both made never to fall.
    rising: OnceCell<Vec<f64>>,
    utilities: OnceCell<Vec<f64>>,
}

impl WatchedPage {
    /// A page of a group, with `step_days` days between moments. `exact`: pages change at moments of the recording only; else
    /// divergence is interpolated between moments. `None` if there is no such page, or if it was watched at fewer than three
    /// moments.
    pub(crate) fn of(group: &Group, page: u32, step_days: f64, exact: bool) -> Option<Self> {
        let born = group.pages.get(page as usize)?.born;
        let truth = Truth::of(group, &[page]);
        let texts: Vec<u32> = (born..group.cycles).map(|cycle| truth.text(0, cycle)).collect();
        if texts.len() < 3 {
            return None;
        }
        let (eagerness, rising, utilities) = (0.0, OnceCell::new(), OnceCell::new());
        let mut watched = Self { truth, texts, step_days, eagerness, rising, utilities };
        if !exact {
            watched.eagerness = watched.measured_eagerness();
        }
        Some(watched)
    }

    /// E(P) over all triples of moments (appendix B); one half, as for even movement, if the page never changes.
    fn measured_eagerness(&self) -> f64 {
        let triples = self.texts.windows(3).filter_map(|texts| match texts {
            [first, second, third] if first != second || second != third => {
                Some((self.divergence(*first, *second), self.divergence(*first, *third)))
            }
            _ => None,
        });
        eagerness(triples).unwrap_or(0.5)
    }

    pub(crate) fn moments(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn step_days(&self) -> f64 {
        self.step_days
    }

    /// Days from the first moment to this one.
    pub(crate) fn days(&self, moment: usize) -> f64 {
        self.step_days * moment as f64
    }

    pub(crate) fn at(&self, moment: usize) -> Timestamp {
        Timestamp::from_millis((self.days(moment) * 86_400_000.0).round() as i64)
    }

    pub(crate) fn text(&self, moment: usize) -> u32 {
        self.texts.get(moment).copied().unwrap_or(0)
    }

    /// The version of this moment.
    pub(crate) fn version(&self, moment: usize) -> BaseVersion {
        BaseVersion { at: self.at(moment), version: VersionId(i64::from(self.text(moment))) }
    }

    pub(crate) fn divergence(&self, one: u32, other: u32) -> f64 {
        self.truth.divergence(0, one, other)
    }

    /// The same, as a crawl measures it with sketches of `sketch` hashes.
    pub(crate) fn measured(&self, one: u32, other: u32, sketch: Option<usize>) -> Divergence {
        self.truth.measured(0, one, other, sketch)
    }

    /// The mean divergence between two moments with these divergences (appendix B).
    pub(crate) fn between(&self, left: f64, right: f64) -> f64 {
        interpolated(self.eagerness, left, right)
    }

    /// Does it ever change?
    pub(crate) fn changes(&self) -> bool {
        self.texts.windows(2).any(|pair| matches!(pair, [one, next] if one != next))
    }

    /// λ_P: the moments at which it had changed ÷ the time watched, in changes a day (§3.4). `None` if it never changes.
    pub(crate) fn rate(&self) -> Option<f64> {
        let changes = self.texts.windows(2).filter(|pair| pair.first() != pair.last()).count();
        let days = self.days(self.moments().saturating_sub(1));
        (changes > 0).then(|| changes as f64 / days)
    }

    /// D*: the mean divergence of the page from its own earlier versions, by their age in moments.
    pub(crate) fn mean_curve(&self) -> Vec<f64> {
        let moments = self.moments();
        let stride = moments.div_ceil(BASES);
        let (mut sums, mut counts) = (vec![0.0; moments], vec![0.0; moments]);
        for base in (0..moments).step_by(stride) {
            let held = self.text(base);
            let (mut apart, mut last) = (0.0, held);
            let later = self.texts.iter().skip(base);
            for ((sum, count), live) in sums.iter_mut().zip(&mut counts).zip(later) {
                if *live != last {
                    (apart, last) = (self.divergence(held, *live), *live);
                }
                *sum += apart;
                *count += 1.0;
            }
        }
        sums.iter().zip(&counts).map(|(sum, count)| sum / f64::max(*count, 1.0)).collect()
    }

    /// Days at which the utility of the mean curve reaches a threshold; `None` if it never does.
    pub(crate) fn refresh_period(&self, threshold: f64) -> Option<f64> {
        self.reached(self.utilities.get_or_init(|| self.utilities()), threshold)
    }

    /// Days at which the mean curve itself reaches a threshold; `None` if it never does.
    pub(crate) fn divergence_period(&self, threshold: f64) -> Option<f64> {
        let highest = |best: &mut f64, mean: f64| {
            *best = best.max(mean);
            Some(*best)
        };
        let rising = || self.mean_curve().into_iter().scan(0.0, highest).collect();
        self.reached(self.rising.get_or_init(rising), threshold)
    }

    /// Days at which values by moment, which never fall, reach a threshold.
    fn reached(&self, values: &[f64], threshold: f64) -> Option<f64> {
        let after = values.iter().position(|value| *value >= threshold && *value > 0.0)?;
        let before = after.checked_sub(1)?;
        let (low, high) = (values.get(before)?, values.get(after)?);
        let part = if high > low { ((threshold - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
        Some(self.step_days * (before as f64 + part))
    }

    fn utilities(&self) -> Vec<f64> {
        let curve = self.mean_curve();
        let (mut since, mut best) = (SinceRefresh::default(), 0.0_f64);
        let mut utilities = vec![0.0];
        for pair in curve.windows(2) {
            let [left, right] = pair else { continue };
            since.pass(self.step_days, self.between(*left, *right));
            // A mean over few versions may fall, but the utility of waiting longer does not.
            best = best.max(since.utility(*right));
            utilities.push(best);
        }
        utilities
    }
}
