//! Poisson processes that can be asked for any moment: nothing is stored, and nothing is run up from the start.
//!
//! Operational time (rate × warped time, so one event a unit) is cut into blocks that hold four events on average. A
//! block's count and times come from a generator seeded by (process, block). The counts of disjoint blocks are
//! independent Poisson draws and the times within a block are uniform given its count, which is what a Poisson process
//! is; it has neither beginning nor end, so it is stationary at every moment.

use super::draw::{SeededDraw, sub_seed};
use super::rhythm::Rhythm;

/// Expected events of a block: few enough to draw quickly, enough that an empty block is rare (e⁻⁴ = 1.8 %).
const EVENTS_PER_BLOCK: f64 = 4.0;
/// e⁻⁴, written out because `exp` may differ in its last bit between machines.
const NONE_IN_BLOCK: f64 = 0.018_315_638_888_734_18;
/// Most events that a block holds: more has a probability of 2 · 10⁻¹⁷, less than a draw can tell from none.
const MOST_IN_BLOCK: usize = 30;
/// The distance between the first ids of two blocks.
const IDS_PER_BLOCK: i64 = 32;

/// Something happens at a steady rate, at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Process {
    pub seed: u64,
    /// Events a day.
    pub rate: f64,
    pub rhythm: Rhythm,
}

/// One time it happens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PoissonEvent {
    /// Its own within its process, growing with time, never 0.
    pub id: i64,
    /// In days.
    pub at: f64,
}

impl Process {
    /// The last `count` events up to and including `day`, newest first; none if nothing ever happens.
    pub(crate) fn last(&self, count: usize, day: f64) -> Vec<PoissonEvent> {
        let mut last = Vec::with_capacity(count);
        if self.rate > 0.0 && count > 0 {
            let mut block = self.block_at(day);
            while last.len() < count {
                let events = self.block(block);
                let wanted = count - last.len();
                last.extend(events.as_slice().iter().rev().filter(|event| event.at <= day).take(wanted));
                block -= 1;
            }
        }
        last
    }

    /// The last event up to and including `day`.
    pub(crate) fn latest(&self, day: f64) -> Option<PoissonEvent> {
        if self.rate <= 0.0 {
            return None;
        }
        let mut block = self.block_at(day);
        loop {
            let events = self.block(block);
            if let Some(event) = events.as_slice().iter().rev().find(|event| event.at <= day) {
                return Some(*event);
            }
            block -= 1;
        }
    }

    /// The events after `from`, up to and including `to`, in order.
    pub(crate) fn between(&self, from: f64, to: f64) -> Vec<PoissonEvent> {
        if self.rate <= 0.0 || from >= to {
            return Vec::new();
        }
        let blocks = self.block_at(from)..=self.block_at(to);
        let inside = |event: &PoissonEvent| event.at > from && event.at <= to;
        blocks.flat_map(|block| self.block(block).as_slice().to_vec()).filter(inside).collect()
    }

    /// The events after `from`, one by one, without end: whoever asks stops. None if nothing ever happens.
    pub(crate) fn after(&self, from: f64) -> impl Iterator<Item = PoissonEvent> + use<> {
        let (process, first) = (*self, self.block_at(from));
        let blocks = if self.rate > 0.0 { first..i64::MAX } else { 0..0 };
        let events = blocks.flat_map(move |block| process.block(block).as_slice().to_vec());
        events.filter(move |event| event.at > from)
    }

    /// The event of that id, if there is one.
    pub(crate) fn event(&self, id: i64) -> Option<PoissonEvent> {
        if self.rate <= 0.0 {
            return None;
        }
        let events = self.block((id - 1).div_euclid(IDS_PER_BLOCK));
        events.as_slice().iter().find(|event| event.id == id).copied()
    }

    fn block_at(&self, day: f64) -> i64 {
        (self.rhythm.warp(day) * self.rate / EVENTS_PER_BLOCK).floor() as i64
    }

    fn block(&self, block: i64) -> Block {
        let mut draw = SeededDraw::new(sub_seed(self.seed, block as u64));
        let mut events =
            Block { events: [PoissonEvent::default(); MOST_IN_BLOCK], count: count(draw.unit()) };
        let start = block as f64;
        let slice = &mut events.events[..events.count];
        for event in slice.iter_mut() {
            let time = (start + draw.unit()) * EVENTS_PER_BLOCK / self.rate;
            event.at = self.rhythm.unwarp(time);
        }
        slice.sort_unstable_by(|a, b| a.at.total_cmp(&b.at));
        for (place, event) in slice.iter_mut().enumerate() {
            event.id = block.saturating_mul(IDS_PER_BLOCK).saturating_add(1 + place as i64);
        }
        events
    }
}

/// A block's events, without an allocation.
struct Block {
    events: [PoissonEvent; MOST_IN_BLOCK],
    count: usize,
}

impl Block {
    fn as_slice(&self) -> &[PoissonEvent] {
        &self.events[..self.count]
    }
}

/// The Poisson draw that belongs to a uniform one, by inversion.
fn count(uniform: f64) -> usize {
    let (mut count, mut probability) = (0, NONE_IN_BLOCK);
    let mut reached = probability;
    while uniform >= reached && count < MOST_IN_BLOCK {
        count += 1;
        probability *= EVENTS_PER_BLOCK / count as f64;
        reached += probability;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(seed: u64, rate: f64) -> Process {
        Process { seed, rate, rhythm: Rhythm::Even }
    }

    #[test]
    fn every_way_of_asking_gives_the_same_events() {
        for rhythm in [Rhythm::Even, Rhythm::Weekly] {
            let process = Process { seed: 5, rate: 1.7, rhythm };
            let all = process.between(-20.0, 40.0);
            assert!(all.len() > 60, "{}", all.len());
            assert!(all.windows(2).all(|pair| pair[0].at < pair[1].at && pair[0].id < pair[1].id));
            let mut parts = process.between(-20.0, 3.3);
            parts.extend(process.between(3.3, 40.0));
            assert_eq!(parts, all);
            let newest_first: Vec<PoissonEvent> = all.iter().rev().take(30).copied().collect();
            assert_eq!(process.last(30, 40.0), newest_first);
            assert_eq!(process.latest(40.0), all.last().copied());
            assert_eq!(process.after(-20.0).take(all.len()).collect::<Vec<_>>(), all);
            for event in &all {
                assert_eq!(process.event(event.id), Some(*event));
                assert_eq!(process.latest(event.at), Some(*event), "an event has happened when it happens");
            }
        }
    }

    #[test]
    fn what_never_happens_never_happens() {
        let never = process(1, 0.0);
        assert_eq!(never.last(3, 10.0), []);
        assert_eq!(never.latest(10.0), None);
        assert_eq!(never.between(-10.0, 10.0), []);
        assert_eq!(never.event(1), None);
        assert_eq!(never.after(0.0).next(), None);
        assert_eq!(process(1, 1.0).event(31), None);
    }

    #[test]
    fn counts_are_poisson_in_mean_and_variance() {
        let (runs, days, rate) = (4000, 3.0, 0.9);
        let counts: Vec<f64> =
            (0..runs).map(|seed| process(seed, rate).between(1.3, 1.3 + days).len() as f64).collect();
        let mean = counts.iter().sum::<f64>() / runs as f64;
        let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / runs as f64;
        let expected = rate * days;
        let error = (expected / runs as f64).sqrt();
        assert!((mean - expected).abs() < 3.0 * error, "{mean}");
        // The variance of a sample variance is (μ₄ − σ⁴) / n, and μ₄ = λ + 3λ² for a Poisson count.
        let spread = ((expected + 2.0 * expected * expected) / runs as f64).sqrt();
        assert!((variance - expected).abs() < 3.0 * spread, "{variance}");
    }
}
