//! A test for drift: does a page still move as it did when its curve was fitted?
//!
//! Comes in: for each visit, the divergence that was found and the one that was predicted. Goes out: an alarm when the
//! difference has shifted up or down; then the caller forgets older visits. The test keeps two cumulative sums (CUSUM, Page
//! 1954) of differences in units of the page's own usual deviation, clipped so that no single visit decides. So a page with
//! rare, large changes raises no alarm at each change, but a page that begins to change at every visit does.
//!
//! The state is four numbers in five bytes; a visit costs a few operations. Numbers are rounded as they will be read back.

use crate::varint::{push_short_float, short_float, take_byte, take_short_float};

/// Shifts of less than twice this, in deviations, are ignored. A smaller value notices sooner that a page which changed at every
/// second visit has stopped, but raises more false alarms.
const SLACK: f64 = 0.75;
/// The sum that raises an alarm, in deviations. With normal noise a false alarm comes once in 8e5 visits (Siegmund's
/// approximation, e^(2kb)/2k² with b = h + 1.17, for both sides). Pages that change as a whole, but not at every visit, raise more:
/// at most one in 1e4 visits with these constants, in simulations of 3e5 visits each.
const ALARM: f64 = 8.0;
/// The most that one difference counts, in deviations: an alarm takes at least five visits in a row.
const MOST: f64 = 2.5;
/// The most visits over which the deviation is learnt. It is long compared with the time to an alarm, or else a shift would hide
/// itself in the deviation.
const VISITS_TO_LEARN: u8 = 64;
/// The weight of the first deviation, in visits.
const FIRST_VISITS: f64 = 2.0;
/// The first deviation of any page: typical of a fit to a handful of samples.
const FIRST_DEVIATION: f64 = 0.1;
/// The least deviation of any page: a word or two that change are not drift.
const LEAST_DEVIATION: f64 = 0.02;

/// The sums are kept in this many steps of [`ALARM`], one byte each: a step is 0.03 deviations.
const SUM_STEPS: f64 = u8::MAX as f64;

/// The state of the test for one page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// In steps.
    up: u8,
    down: u8,
    variance: f64,
    /// Up to [`VISITS_TO_LEARN`].
    visits: u8,
}

/// The direction of a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// The page diverges more than it did.
    Up,
    /// It diverges less, or no more.
    Down,
}

impl Default for Drift {
    fn default() -> Self {
        Self { up: 0, down: 0, variance: short_float(FIRST_DEVIATION * FIRST_DEVIATION), visits: 0 }
    }
}

impl Drift {
    /// Adds a visit. After an alarm both sums restart at 0; the deviation stays. A difference that is not a number is ignored.
    pub fn observe(&mut self, found: f64, predicted: f64) -> Option<Shift> {
        let difference = (found - predicted).clamp(-1.0, 1.0);
        if difference.is_nan() {
            return None;
        }
        let variance = self.variance.max(LEAST_DEVIATION * LEAST_DEVIATION);
        let deviations = (difference / variance.sqrt()).clamp(-MOST, MOST);
        self.visits = self.visits.saturating_add(1).min(VISITS_TO_LEARN);
        let learnt = (difference * difference - variance) / (f64::from(self.visits) + FIRST_VISITS);
        self.variance = short_float(variance + learnt);
        let after = |sum: u8, more: f64| (f64::from(sum) / SUM_STEPS * ALARM + more - SLACK).max(0.0);
        let (up, down) = (after(self.up, deviations), after(self.down, -deviations));
        let shift = if up >= ALARM {
            Shift::Up
        } else if down >= ALARM {
            Shift::Down
        } else {
            let steps = |sum: f64| (sum / ALARM * SUM_STEPS).round() as u8;
            (self.up, self.down) = (steps(up), steps(down));
            return None;
        };
        (self.up, self.down) = (0, 0);
        Some(shift)
    }

    /// Visits that it has seen, up to 64.
    pub(crate) fn visits(&self) -> u8 {
        self.visits
    }

    /// Appends its compact form: five bytes.
    pub fn push_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.extend([self.up, self.down, self.visits]);
        push_short_float(bytes, self.variance);
    }

    /// Undoes [`Self::push_bytes`]; `None` if that is not what wrote it.
    pub fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let (up, down, visits) = (take_byte(rest)?, take_byte(rest)?, take_byte(rest)?);
        Some(Self { up, down, variance: take_short_float(rest)?, visits })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Divergences found at each visit.
    #[derive(Clone, Copy, Debug)]
    enum Page {
        /// Near a mean, with a deviation.
        Noisy(f64, f64),
        /// This height at every n-th visit, else 0.
        Whole(f64, f64),
    }

    impl Page {
        fn mean(self) -> f64 {
            match self {
                Page::Noisy(mean, _) => mean,
                Page::Whole(height, chance) => height * chance,
            }
        }

        fn draw(self, random: &mut Pcg64Mcg) -> f64 {
            match self {
                Page::Noisy(mean, deviation) => {
                    let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
                    (mean + deviation * normal).clamp(0.0, 1.0)
                }
                Page::Whole(height, chance) => {
                    if random.random::<f64>() < chance {
                        height
                    } else {
                        0.0
                    }
                }
            }
        }
    }

    const PAGES: [Page; 9] = [
        Page::Noisy(0.0, 0.0),
        Page::Noisy(0.3, 0.05),
        Page::Noisy(0.5, 0.15),
        Page::Whole(1.0, 0.02),
        Page::Whole(0.3, 0.1),
        Page::Whole(1.0, 0.2),
        Page::Whole(0.6, 0.5),
        Page::Whole(0.6, 0.8),
        Page::Whole(0.6, 0.95),
    ];

    #[test]
    fn a_page_that_stays_as_it_is_raises_few_alarms() {
        for page in PAGES {
            let mut alarms = 0;
            for seed in 0..100 {
                let (mut drift, mut random) = (Drift::default(), Pcg64Mcg::seed_from_u64(seed));
                for _ in 0..1000 {
                    alarms += u32::from(drift.observe(page.draw(&mut random), page.mean()).is_some());
                }
            }
            // In 100 000 visits.
            assert!(alarms <= 20, "{page:?}: {alarms}");
        }
    }

    /// Visits from a shift to the alarm; the median of a hundred pages.
    fn visits_to_alarm(before: Page, after: Page) -> (usize, Option<Shift>) {
        let mut alarms: Vec<(usize, Option<Shift>)> = (0..101)
            .map(|seed| {
                let (mut drift, mut random) = (Drift::default(), Pcg64Mcg::seed_from_u64(seed));
                for _ in 0..50 {
                    drift.observe(before.draw(&mut random), before.mean());
                }
                for visit in 1..500 {
                    if let Some(shift) = drift.observe(after.draw(&mut random), before.mean()) {
                        return (visit, Some(shift));
                    }
                }
                (500, None)
            })
            .collect();
        alarms.sort_by_key(|(visits, _)| *visits);
        alarms[50]
    }

    #[test]
    fn a_page_that_starts_or_stops_is_noticed_within_a_few_visits() {
        let quiet = Page::Noisy(0.0, 0.0);
        let rows = [
            (quiet, Page::Noisy(0.3, 0.05), 5, Shift::Up),
            (quiet, Page::Whole(0.3, 0.8), 8, Shift::Up),
            (Page::Whole(0.5, 0.02), Page::Whole(0.5, 0.9), 7, Shift::Up),
            (Page::Noisy(0.3, 0.05), quiet, 6, Shift::Down),
            (Page::Whole(0.6, 0.95), quiet, 7, Shift::Down),
            (Page::Whole(0.6, 0.8), quiet, 8, Shift::Down),
            // One visit in two found nothing before.
            (Page::Whole(0.6, 0.5), quiet, 40, Shift::Down),
        ];
        for (before, after, most, expected) in rows {
            let (visits, shift) = visits_to_alarm(before, after);
            assert!(visits <= most && shift == Some(expected), "{before:?} to {after:?}: {visits} {shift:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_found_the_state_is_finite(visits in proptest::collection::vec((any::<f64>(), any::<f64>()), 0..50)) {
            let mut drift = Drift::default();
            for (found, predicted) in visits {
                drift.observe(found, predicted);
                prop_assert!(drift.variance.is_finite(), "{drift:?}");
                let mut bytes = Vec::new();
                drift.push_bytes(&mut bytes);
                prop_assert_eq!(Drift::take_bytes(&mut &bytes[..]), Some(drift));
            }
        }
    }
}
