//! A threshold that keeps a daily budget: pages are visited as soon as their score reaches it, and it moves until a day of
//! visits costs as much as it may.
//!
//! With short cycles this is better than a budget for each cycle: a cycle in which many pages are due visits more of them
//! than one in which few are, and the day still costs what it should. Each hour of the day has a share of the budget, which
//! follows what was spent in it: where scores are higher at some hours, more is spent then, day after day.

use serde::{Deserialize, Serialize};

use crate::longevity::rhythm::{DayRhythm, HOURS, hour_of_day};
use crate::longevity::threshold;
use crate::time::Timestamp;

/// A cycle may cost this many times its share of the day, so that pages that become due together are visited together.
const MOST_OF_ITS_SHARE: f64 = 2.0;
/// The part of the budget that the threshold aims at.
const AIM: f64 = 0.97;
/// The first threshold follows from this number of cycles, however short they are.
const MOST_LOWEST: usize = 1000;
/// How far the share of an hour goes to what the hour cost, in a day.
const SHARE_STEP: f64 = 0.3;
/// The least share of an hour, as a part of an even one: pages that are found have a chance in every cycle.
const LEAST_SHARE: f64 = 0.1;

/// Keeps the number of requests of a day.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Controller {
    /// Requests of a day.
    pub daily: u64,
    /// Days from one cycle to the next.
    pub cycle_days: f64,
    pub kept: KeptThreshold,
}

/// What is kept from one run to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptThreshold {
    /// Pages with this score or a higher one are visited again. `None` before the cycles of a day have shown one.
    pub threshold: Option<f64>,
    /// The lowest scores that the cycles so far visited again, while there is no threshold.
    #[serde(default)]
    lowest: Vec<f64>,
    /// The share of each hour, as a part of an even one.
    shares: Vec<f64>,
}

impl KeptThreshold {
    /// Reads a note. Earlier versions noted the threshold alone. What is no threshold is forgotten.
    pub(crate) fn from_note(note: &str) -> Self {
        let alone = || note.parse().map(|threshold| Self { threshold: Some(threshold), ..Self::default() });
        let kept: Self = alone().ok().or_else(|| serde_json::from_str(note).ok()).unwrap_or_default();
        let threshold = kept.threshold.filter(|threshold| *threshold > 0.0 && threshold.is_finite());
        Self { threshold, ..kept }
    }

    /// As a note.
    pub(crate) fn note(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn shares(&self) -> DayRhythm {
        let shares = self.shares.iter().map(|share| share.clamp(0.0, 1e6)).collect::<Vec<f64>>();
        <[f64; HOURS]>::try_from(shares).map(DayRhythm::of).unwrap_or_default()
    }
}

/// A cycle under a daily budget, as it went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DayCycle {
    /// When it began.
    pub began: Timestamp,
    /// Requests that it could send.
    pub budget: u64,
    /// Requests that it sent.
    pub sent: u64,
    /// The lowest score of a page that was visited again.
    pub least: Option<f64>,
}

impl Controller {
    /// The part of each hour that lies in a cycle; one that is longer than a day has a day.
    fn parts(&self, began: Timestamp) -> [f64; HOURS] {
        let mut left = (self.cycle_days * HOURS as f64).clamp(0.0, HOURS as f64);
        let mut parts = [0.0; HOURS];
        let mut at = hour_of_day(began);
        while left > 1e-9 {
            let step = (at.floor() + 1.0 - at).min(left);
            if let Some(part) = parts.get_mut(at as usize % HOURS) {
                *part += step;
            }
            (at, left) = (at + step, left - step);
        }
        parts
    }

    /// Requests that a cycle is meant to send: a day's for each of its days, by the shares of its hours.
    fn share(&self, began: Timestamp) -> f64 {
        let (parts, shares) = (self.parts(began), self.kept.shares());
        let (mut weighted, mut all) = (0.0, 0.0);
        for (part, share) in parts.iter().zip(shares.hours()) {
            (weighted, all) = (weighted + part * share, all + part);
        }
        let factor = if all > 0.0 { weighted / all } else { 1.0 };
        (self.daily as f64 * self.cycle_days * factor).max(f64::MIN_POSITIVE)
    }

    /// The most requests that the next cycle may send, if the cycles of the last day sent `sent`. As long as there is no
    /// threshold, a cycle takes the best pages that its share has room for.
    pub(crate) fn budget(&self, sent: u64, began: Timestamp) -> u64 {
        let factor = if self.kept.threshold.is_some() { MOST_OF_ITS_SHARE } else { 1.0 };
        let even = self.daily as f64 * self.cycle_days;
        let most = (self.share(began).max(even) * factor).ceil().max(1.0) as u64;
        most.min(self.daily.saturating_sub(sent))
    }

    fn first_threshold(&mut self, least: Option<f64>) -> Option<f64> {
        let lowest = &mut self.kept.lowest;
        lowest.extend(least.filter(|least| *least > 0.0 && least.is_finite()));
        if (lowest.len() as f64) * self.cycle_days < 1.0 - 1e-9 && lowest.len() < MOST_LOWEST {
            return None;
        }
        let mut sorted = std::mem::take(lowest);
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    /// Moves the threshold and the shares after a cycle.
    ///
    /// The first threshold is the median of the lowest scores that the cycles of a day visited. A single one may be far off: just after a
    /// crawl no page has waited, and scores grow as the square of the wait. Later it aims a little below the budget, so that it goes up
    /// as long as the budget is spent: of all thresholds that cost as much, the highest leaves pages to the best hours. A cycle that the
    /// allowance of the last 24 hours kept smaller than it was meant to be says nothing of either.
    pub(crate) fn after(&mut self, cycle: &DayCycle) {
        let DayCycle { began, budget, sent, least } = *cycle;
        let meant = self.share(began);
        if sent >= budget && (budget as f64) < meant {
            return;
        }
        let known = self.kept.threshold;
        self.kept.threshold = match known {
            None => self.first_threshold(least),
            Some(threshold) => Some(threshold::after(threshold, sent as f64, AIM * meant)),
        };
        self.kept.threshold = self.kept.threshold.map(|threshold| threshold.clamp(1e-12, 1e12));
        let even = self.daily as f64 * self.cycle_days;
        if known.is_some() && even > 0.0 {
            let (found, mut shares) = (sent as f64 / even, *self.kept.shares().hours());
            for (share, part) in shares.iter_mut().zip(self.parts(began)) {
                *share = (*share + SHARE_STEP * part * (found - *share)).max(LEAST_SHARE);
            }
            self.kept.shares = DayRhythm::of(shares).hours().to_vec();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn controller(daily: u64, cycle_days: f64) -> Controller {
        Controller { daily, cycle_days, kept: KeptThreshold::default() }
    }

    fn at(hour: u32) -> Timestamp {
        Timestamp::from_seconds(3600 * i64::from(hour))
    }

    /// A cycle that began in that hour and was not cut short.
    fn cycle(hour: u32, sent: u64, least: Option<f64>) -> DayCycle {
        DayCycle { began: at(hour), budget: u64::MAX, sent, least }
    }

    /// A controller whose threshold is 0.5, and its cycles an hour long.
    fn settled() -> Controller {
        let kept = KeptThreshold { threshold: Some(0.5), ..KeptThreshold::default() };
        Controller { kept, ..controller(240, 1.0 / 24.0) }
    }

    #[test]
    fn the_first_day_shows_the_threshold() {
        let mut controller = controller(240, 1.0 / 24.0);
        assert_eq!(controller.budget(0, at(0)), 10);
        controller.after(&cycle(0, 10, None));
        for hour in 1..24 {
            // Pages that have just been crawled have low scores.
            controller.after(&cycle(hour, 10, Some(if hour < 9 { 1e-9 } else { 0.5 })));
            assert_eq!((controller.kept.threshold, controller.budget(0, at(hour))), (None, 10));
            controller.kept = KeptThreshold::from_note(&controller.kept.note());
        }
        controller.after(&cycle(24, 10, Some(0.4)));
        assert_eq!((controller.kept.threshold, controller.budget(0, at(2))), (Some(0.5), 20));
        assert_eq!(controller.budget(235, at(2)), 5, "a day has its limit");
        assert_eq!(controller.budget(300, at(2)), 0);
    }

    #[test]
    fn a_cycle_that_was_cut_short_does_not_move_it() {
        let mut controller = settled();
        controller.after(&DayCycle { began: at(1), budget: 3, sent: 3, least: Some(0.9) });
        controller.after(&DayCycle { began: at(2), budget: 0, sent: 0, least: None });
        assert_eq!(controller.kept.threshold, Some(0.5));
        controller.after(&cycle(3, 2, Some(1.0)));
        assert!(controller.kept.threshold < Some(0.5), "little was due");
    }

    #[test]
    fn it_goes_up_as_long_as_the_budget_is_spent() {
        let mut controller = settled();
        controller.after(&DayCycle { began: at(1), budget: 10, sent: 10, least: Some(0.9) });
        assert!(controller.kept.threshold > Some(0.5));
    }

    #[test]
    fn notes_of_all_versions_are_read() {
        let alone = KeptThreshold::from_note("0.25");
        assert_eq!(alone.threshold, Some(0.25));
        let mut controller = Controller { kept: alone, ..controller(240, 0.25) };
        controller.after(&cycle(6, 100, Some(0.3)));
        assert!(
            controller.share(at(6)) > 1.1 * controller.share(at(12)),
            "the hour that cost more has a larger share"
        );
        assert_eq!(KeptThreshold::from_note(&controller.kept.note()), controller.kept);
        for bad in ["", "-1", "nan", "{}", "{\"threshold\":-2}", "{\"threshold\":1,\"shares\":[1,null]}"] {
            assert_eq!(KeptThreshold::from_note(bad).threshold, None, "{bad}");
        }
        let few = KeptThreshold::from_note("{\"threshold\":1,\"shares\":[5]}");
        assert_eq!((few.threshold, few.shares()), (Some(1.0), DayRhythm::default()));
    }

    /// Pages whose score grows as the square of their age, like that of a page that drifts. In some hours it counts more. Gives the
    /// requests of a day and the part of them that those hours had.
    fn settles(pages: u32, daily: u64, speed: f64, counts: impl Fn(u32) -> f64) -> (u64, f64) {
        let mut controller = controller(daily, 1.0 / 24.0);
        let mut ages = vec![0.0_f64; pages as usize];
        let mut sent_of: Vec<u64> = Vec::new();
        for hour in 0..24 * 40 {
            let rates = (0..pages).map(|page| speed * f64::from(page % 7 + 1));
            let mut due: Vec<(f64, usize)> = Vec::new();
            for (page, (age, rate)) in ages.iter_mut().zip(rates).enumerate() {
                *age += 1.0 / 24.0;
                let score = rate * *age * *age * counts(hour);
                if controller.kept.threshold.is_none_or(|threshold| score >= threshold) {
                    due.push((score, page));
                }
            }
            due.sort_by(|a, b| b.0.total_cmp(&a.0));
            let last_day: u64 = sent_of.iter().rev().take(23).sum();
            let budget = controller.budget(last_day, at(hour));
            due.truncate(budget as usize);
            due.iter().for_each(|(_, page)| ages[*page] = 0.0);
            sent_of.push(due.len() as u64);
            let (sent, least) = (due.len() as u64, due.last().map(|(score, _)| *score));
            controller.after(&DayCycle { began: at(hour), budget, sent, least });
            assert!(last_day + sent <= daily, "hour {hour}");
        }
        let last: Vec<(u32, u64)> = (0..).zip(sent_of).skip(24 * 30).collect();
        let all: u64 = last.iter().map(|(_, sent)| sent).sum();
        let good: u64 = last.iter().filter(|(hour, _)| counts(*hour) > 1.0).map(|(_, sent)| sent).sum();
        (all / 10, good as f64 / all as f64)
    }

    #[test]
    fn a_day_costs_what_it_may() {
        for (pages, daily, speed) in [(500, 240, 0.01), (500, 240, 3.0), (2000, 100, 0.2)] {
            let (sent, _) = settles(pages, daily, speed, |_| 1.0);
            assert!(sent as f64 > 0.93 * daily as f64, "{sent} of {daily}");
        }
    }

    #[test]
    fn good_hours_have_several_times_their_part_of_the_day() {
        let (sent, good) =
            settles(500, 240, 0.2, |hour| if (18..21).contains(&(hour % 24)) { 1.5 } else { 0.9 });
        assert!(sent as f64 > 0.85 * 240.0, "{sent}");
        assert!(good > 3.0 * 3.0 / 24.0, "three hours of 24 have {good}");
    }

    proptest! {
        #[test]
        fn it_stays_a_number_above_nothing(
            daily in 0u64..1_000_000, days in 0.0..10.0f64, steps in prop::collection::vec((0u64..1_000_000, any::<f64>()), 0..50)
        ) {
            let mut controller = controller(daily, days);
            for ((sent, least), hour) in steps.into_iter().zip(0..) {
                controller.after(&DayCycle { budget: sent / 2 * 3, ..cycle(hour, sent, Some(least)) });
                prop_assert!(controller.kept.threshold.is_none_or(|threshold| threshold > 0.0 && threshold.is_finite()));
                prop_assert!(controller.budget(sent, at(hour)) <= daily);
            }
        }
    }
}
