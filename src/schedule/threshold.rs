//! A threshold that keeps a daily budget: pages are visited as soon as their score reaches it, and it moves until a day of
//! visits costs as much as it may.
//!
//! With short cycles this is better than a budget for each cycle: a cycle in which many pages are due visits more of them
//! than one in which few are, and the day still costs what it should.

use crate::longevity::threshold;

/// A cycle may cost this many times its share of the day, so that pages that become due together are visited together.
const MOST_OF_ITS_SHARE: f64 = 2.0;

/// Keeps the number of requests of a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Controller {
    /// Requests of a day.
    pub daily: u64,
    /// Days from one cycle to the next.
    pub cycle_days: f64,
    /// Pages with this score or a higher one are visited again. `None` as long as no cycle has shown one.
    pub threshold: Option<f64>,
}

impl Controller {
    /// Requests of an average cycle.
    fn share(&self) -> f64 {
        (self.daily as f64 * self.cycle_days).max(f64::MIN_POSITIVE)
    }

    /// The most requests that the next cycle may send, if the cycles of the last day sent `sent`. As long as there is no
    /// threshold, a cycle takes the best pages that its share has room for; the score of the last one is the threshold.
    pub(crate) fn budget(&self, sent: u64) -> u64 {
        let factor = if self.threshold.is_some() { MOST_OF_ITS_SHARE } else { 1.0 };
        let most = (self.share() * factor).ceil().max(1.0) as u64;
        most.min(self.daily.saturating_sub(sent))
    }

    /// Moves the threshold after a cycle that sent `sent` requests and whose revisits had `least` as their lowest score.
    pub(crate) fn after(&mut self, sent: u64, least: Option<f64>) {
        self.threshold = match self.threshold {
            None => least.filter(|least| *least > 0.0),
            Some(threshold) => {
                Some(threshold::after(threshold, sent as f64, self.share()).clamp(1e-12, 1e12))
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_cycle_shows_the_threshold() {
        let mut controller = Controller { daily: 240, cycle_days: 1.0 / 24.0, threshold: None };
        assert_eq!(controller.budget(0), 10);
        controller.after(10, None);
        assert_eq!(controller.threshold, None, "nothing was visited again");
        controller.after(10, Some(0.5));
        assert_eq!((controller.threshold, controller.budget(0)), (Some(0.5), 20));
        assert_eq!(controller.budget(235), 5, "a day has its limit");
        assert_eq!(controller.budget(300), 0);
    }

    /// Pages whose score grows as the square of their age, like that of a page that drifts.
    fn settles(pages: u32, daily: u64, speed: f64) -> (u64, f64) {
        let mut controller = Controller { daily, cycle_days: 1.0 / 24.0, threshold: None };
        let mut ages = vec![0.0_f64; pages as usize];
        let mut sent_of = Vec::new();
        for hour in 0..24 * 40 {
            let rates = (0..pages).map(|page| speed * f64::from(page % 7 + 1));
            let mut due: Vec<(f64, usize)> = Vec::new();
            for (page, (age, rate)) in ages.iter_mut().zip(rates).enumerate() {
                *age += 1.0 / 24.0;
                let score = rate * *age * *age;
                if controller.threshold.is_none_or(|threshold| score >= threshold) {
                    due.push((score, page));
                }
            }
            due.sort_by(|a, b| b.0.total_cmp(&a.0));
            let last_day: u64 = sent_of.iter().rev().take(23).sum();
            due.truncate(controller.budget(last_day) as usize);
            due.iter().for_each(|(_, page)| ages[*page] = 0.0);
            sent_of.push(due.len() as u64);
            controller.after(due.len() as u64, due.last().map(|(score, _)| *score));
            assert!(last_day + *sent_of.last().expect("this hour") <= daily, "hour {hour}");
        }
        (sent_of.iter().rev().take(24 * 10).sum::<u64>() / 10, controller.threshold.unwrap_or(0.0))
    }

    #[test]
    fn a_day_costs_what_it_may() {
        for (pages, daily, speed) in [(500, 240, 0.01), (500, 240, 3.0), (2000, 100, 0.2)] {
            let (sent, threshold) = settles(pages, daily, speed);
            assert!(sent as f64 > 0.93 * daily as f64, "{sent} of {daily}, at {threshold}");
        }
    }

    proptest! {
        #[test]
        fn it_stays_a_number_above_nothing(
            daily in 0u64..1_000_000, days in 0.0..10.0f64, steps in prop::collection::vec((0u64..1_000_000, any::<f64>()), 0..50)
        ) {
            let mut controller = Controller { daily, cycle_days: days, threshold: None };
            for (sent, least) in steps {
                controller.after(sent, Some(least));
                prop_assert!(controller.threshold.is_none_or(|threshold| threshold > 0.0));
                prop_assert!(controller.budget(sent) <= daily);
            }
        }
    }
}
