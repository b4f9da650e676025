//! The gain that is expected of the next refresh of a page, from those of earlier ones.
//!
//! Comes in: ΔQ_A of a page's refreshes, each with the time since the refresh before. Goes out: δQ_A, the gain for each unit of time
//! (Pandey & Olston 2005, §6.1.3), and the priority δQ_A · (now − last refresh). A refresh that found no change counts with ΔQ_A = 0. Of
//! each page the last eight refreshes are remembered, in some 50 bytes.
//!
//! Single measurements may be negative and stay so; only the priority is cut off at 0.

use crate::time::Timestamp;
use crate::varint::{push, push_signed, take, take_byte, take_signed};

/// Refreshes that a page's memory holds at most. The paper foresees a window of recent refreshes (§6.1.3, footnote 4).
pub const WIDEST_WINDOW: usize = 8;

/// A refresh, and what it did to the quality of search results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredRefresh {
    /// ΔQ_A: 0 if the page had not changed; it may be negative.
    pub delta: f64,
    /// The time since the refresh before, in any unit that is the same for all; above 0.
    pub gap: f64,
}

/// δQ_A: the mean of ΔQ_A ÷ gap over refreshes (§6.1.3); `None` without any.
pub fn mean_of_ratios(refreshes: &[MeasuredRefresh]) -> Option<f64> {
    let sum: f64 = refreshes.iter().map(|refresh| refresh.delta / refresh.gap).sum();
    (!refreshes.is_empty()).then(|| sum / refreshes.len() as f64)
}

/// δQ_A in another way (ours): ΣΔQ_A ÷ Σ gap. With uneven gaps it varies less, because short ones don't count as much as long ones.
pub fn ratio_of_sums(refreshes: &[MeasuredRefresh]) -> Option<f64> {
    let sum = |value: fn(&MeasuredRefresh) -> f64| refreshes.iter().map(value).sum::<f64>();
    (!refreshes.is_empty()).then(|| sum(|refresh| refresh.delta) / sum(|refresh| refresh.gap))
}

/// The priority of a page: δQ_A · (now − last refresh) (§6.1.3), and 0 instead of a loss.
pub fn priority(gain_rate: f64, since_last: f64) -> f64 {
    (gain_rate * since_last).max(0.0)
}

/// ΔQ_A of one refresh, as it was measured when the index took the new copy in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredGain {
    /// The visit that brought the copy.
    pub at: Timestamp,
    /// ΔQ_A.
    pub delta: f64,
    /// It was the first copy of the page.
    pub is_first: bool,
}

/// The last refreshes of a page, the oldest first, and the gain of its first copy.
///
/// A refresh is known when its visit ends, the gain of a changed page when the index has taken the copy in. Until then the refresh
/// is there without its gain. Gains are kept in 16 bits, the upper half of a 32-bit float, rounded. That is exact to 0.4 %, much
/// less than the refreshes of a page differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GainWindow {
    /// ΔQ_A of the first copy, if it was measured.
    first: Option<f64>,
    /// The time of the last refresh.
    last_at: Timestamp,
    refreshes: Vec<WindowRefresh>,
}

/// A refresh of a [`GainWindow`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct WindowRefresh {
    /// Milliseconds since the refresh before; above 0.
    gap_ms: u64,
    /// ΔQ_A; `None` if it is not measured yet.
    delta: Option<f64>,
}

/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

impl GainWindow {
    /// Adds a refresh that was `gap_ms` milliseconds after the one before. One without a change has ΔQ_A = 0. Of more than
    /// [`WIDEST_WINDOW`] the oldest are forgotten; a refresh at the same moment as the one before has no rate and is left out.
    pub fn push(&mut self, at: Timestamp, gap_ms: u64, changed: bool) {
        self.last_at = at;
        if gap_ms > 0 {
            self.refreshes.push(WindowRefresh { gap_ms, delta: (!changed).then_some(0.0) });
            let forgotten = self.refreshes.len().saturating_sub(WIDEST_WINDOW);
            self.refreshes.drain(..forgotten);
        }
    }

    /// Takes the measured gain of a refresh. A refresh that is not in the window any more is passed over; one that is measured twice
    /// keeps the later value.
    pub fn measure(&mut self, gain: &MeasuredGain) {
        let delta = widened(shortened(gain.delta));
        if !delta.is_finite() {
            return;
        }
        if gain.is_first {
            self.first = Some(delta);
            return;
        }
        let mut at = self.last_at.millis();
        for refresh in self.refreshes.iter_mut().rev() {
            if at == gain.at.millis() {
                refresh.delta = Some(delta);
                return;
            }
            at = at.saturating_sub_unsigned(refresh.gap_ms);
        }
    }

    /// ΔQ_A of the first copy, if it was measured.
    pub fn first(&self) -> Option<f64> {
        self.first
    }

    /// The refreshes whose gain is known, the oldest first, with gaps in days. Where the index took in two changes at once, the gain
    /// of both is with the later one: its gap begins with the earlier one's.
    pub fn measured(&self) -> Vec<MeasuredRefresh> {
        let mut waiting_ms = 0;
        let mut measured = Vec::with_capacity(self.refreshes.len());
        for refresh in &self.refreshes {
            waiting_ms = u64::saturating_add(waiting_ms, refresh.gap_ms);
            match refresh.delta {
                // Unchanged since a refresh that was not measured: what changed came before, and is still to be measured.
                Some(0.0) if waiting_ms > refresh.gap_ms => {
                    measured.push(MeasuredRefresh { delta: 0.0, gap: refresh.gap_ms as f64 / DAY_MS });
                    waiting_ms -= refresh.gap_ms;
                }
                Some(delta) => {
                    measured.push(MeasuredRefresh { delta, gap: waiting_ms as f64 / DAY_MS });
                    waiting_ms = 0;
                }
                None => {}
            }
        }
        measured
    }

    /// Writes the window: a byte with the number of refreshes and whether the first copy was measured, a byte with a bit for each
    /// refresh that was measured, another for each with a gain other than 0, the time of the last refresh, the gaps in
    /// milliseconds, and 2 bytes for each of those gains. With daily refreshes that is 41 bytes if none changed, and 57 if all did.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let bits = |has: fn(&WindowRefresh) -> bool| {
            let bit = |(at, refresh): (u32, &WindowRefresh)| u8::from(has(refresh)) << at;
            (0..).zip(&self.refreshes).map(bit).fold(0, |all, bit| all | bit)
        };
        let count = self.refreshes.len() as u8;
        bytes.push(if self.first.is_some() { count | HAS_FIRST } else { count });
        bytes.push(bits(|refresh| refresh.delta.is_some()));
        bytes.push(bits(has_gain));
        push_signed(bytes, self.last_at.millis());
        for refresh in &self.refreshes {
            push(bytes, refresh.gap_ms);
        }
        let gains =
            self.refreshes.iter().filter(|refresh| has_gain(refresh)).filter_map(|refresh| refresh.delta);
        for number in self.first.into_iter().chain(gains) {
            bytes.extend_from_slice(&shortened(number).to_le_bytes());
        }
    }

    /// Undoes [`GainWindow::write`] at the start of `rest`, which is cut by what was read; `None` if nothing of the kind is there.
    pub fn read(rest: &mut &[u8]) -> Option<GainWindow> {
        let head = take_byte(rest)?;
        let (count, has_first) = (usize::from(head & !HAS_FIRST), head & HAS_FIRST != 0);
        let (known, gained) = (take_byte(rest)?, take_byte(rest)?);
        if count > WIDEST_WINDOW || u32::from(known) >> count != 0 || gained & !known != 0 {
            return None;
        }
        let last_at = Timestamp::from_millis(take_signed(rest)?);
        let gaps = (0..count).map(|_| take(rest).filter(|gap| *gap > 0)).collect::<Option<Vec<u64>>>()?;
        let first = if has_first { Some(take_short(rest)?) } else { None };
        let refreshes = gaps.into_iter().enumerate().map(|(at, gap_ms)| {
            let delta = match (known >> at & 1, gained >> at & 1) {
                (0, _) => None,
                (_, 0) => Some(0.0),
                _ => Some(take_short(rest).filter(|delta| *delta != 0.0)?),
            };
            Some(WindowRefresh { gap_ms, delta })
        });
        Some(GainWindow { first, last_at, refreshes: refreshes.collect::<Option<Vec<_>>>()? })
    }
}

/// Flag of the first byte of a window.
const HAS_FIRST: u8 = 0x80;

fn has_gain(refresh: &WindowRefresh) -> bool {
    refresh.delta.is_some_and(|delta| delta != 0.0)
}

fn take_short(rest: &mut &[u8]) -> Option<f64> {
    let (two, more) = rest.split_first_chunk::<2>()?;
    *rest = more;
    Some(widened(u16::from_le_bytes(*two))).filter(|number| number.is_finite())
}

/// The upper half of a 32-bit float, rounded to the nearest. Beyond the range of such a float it is infinite.
fn shortened(number: f64) -> u16 {
    let bits = (number as f32).to_bits();
    (bits.saturating_add(0x8000) >> 16) as u16
}

fn widened(half: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(half) << 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{close, golden, number, numbers};
    use proptest::prelude::*;

    fn refresh(delta: f64, gap: f64) -> MeasuredRefresh {
        MeasuredRefresh { delta, gap }
    }

    #[test]
    fn priorities_are_the_golden_ones() {
        let golden = golden(include_str!("../../tests/golden/quality_delta.json"));
        let relative = number(&golden["tolerance"]["relative"]);
        for case in golden["priority"].as_array().expect("pages") {
            let times = numbers(&case["refresh_times"]);
            let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
            let refreshes: Vec<MeasuredRefresh> = numbers(&case["delta_QA"])
                .into_iter()
                .zip(gaps)
                .map(|(delta, gap)| refresh(delta, gap))
                .collect();
            let rate = mean_of_ratios(&refreshes).expect("refreshes");
            assert!(close(rate, number(&case["delta_rate"]), relative), "{case}");
            let sums = ratio_of_sums(&refreshes).expect("refreshes");
            assert!(close(sums, number(&case["ratio_of_sums_rate"]), relative), "{case}");
            let since_last = number(&case["now"]) - times[times.len() - 1];
            assert!(close(rate * since_last, number(&case["priority"]), relative), "{case}");
            assert!(
                close(priority(rate, since_last), number(&case["priority"]).max(0.0), relative),
                "{case}"
            );
        }
    }

    #[test]
    fn unchanged_refreshes_and_losses_count() {
        let refreshes = [refresh(1.0, 2.0), refresh(0.0, 2.0), refresh(-0.5, 1.0), refresh(0.0, 5.0)];
        assert_eq!(mean_of_ratios(&refreshes), Some(0.0));
        assert_eq!(ratio_of_sums(&refreshes), Some(0.05));
        assert_eq!((mean_of_ratios(&[]), ratio_of_sums(&[])), (None, None));
        assert_eq!((priority(-2.0, 3.0), priority(2.0, 3.0)), (0.0, 6.0));
    }

    const DAY: i64 = 86_400_000;

    fn at(day: i64) -> Timestamp {
        Timestamp::from_millis(day * DAY)
    }

    fn gain(day: i64, delta: f64) -> MeasuredGain {
        MeasuredGain { at: at(day), delta, is_first: false }
    }

    #[test]
    fn a_window_keeps_the_last_refreshes_in_few_bytes() {
        let mut window = GainWindow::default();
        for day in 1..=20 {
            window.push(at(day), DAY as u64, true);
            window.measure(&gain(day, day as f64));
        }
        let kept: Vec<f64> = window.measured().iter().map(|refresh| refresh.delta).collect();
        assert_eq!(kept, (13..=20).map(f64::from).collect::<Vec<_>>());
        let bytes = |window: &GainWindow| {
            let mut bytes = Vec::new();
            window.write(&mut bytes);
            bytes.len()
        };
        let mut unchanged = GainWindow::default();
        (20_000..20_020).for_each(|day| unchanged.push(at(day), DAY as u64, false));
        assert!(bytes(&unchanged) <= 41 && bytes(&window) <= 57, "{} {}", bytes(&unchanged), bytes(&window));
    }

    #[test]
    fn gains_come_later_than_their_refreshes_and_in_any_order() {
        let mut window = GainWindow::default();
        window.measure(&MeasuredGain { at: at(0), delta: 4.0, is_first: true });
        for (day, changed) in [(1, true), (2, false), (4, true), (5, true)] {
            let gap = if day == 4 { 2 } else { 1 };
            window.push(at(day), (gap * DAY) as u64, changed);
        }
        assert_eq!(window.measured(), [refresh(0.0, 1.0)], "only the unchanged one");
        window.measure(&gain(5, 2.0));
        // The changes of days 4 and 5 were taken in at once, after three days.
        assert_eq!(window.measured(), [refresh(0.0, 1.0), refresh(2.0, 4.0)]);
        window.measure(&gain(4, 1.0));
        window.measure(&gain(1, -1.0));
        window.measure(&gain(3, 9.0));
        let all = [refresh(-1.0, 1.0), refresh(0.0, 1.0), refresh(1.0, 2.0), refresh(2.0, 1.0)];
        assert_eq!((window.measured(), window.first()), (all.to_vec(), Some(4.0)));
    }

    #[test]
    fn what_has_no_rate_is_left_out() {
        let mut window = GainWindow::default();
        window.push(at(1), 0, true);
        window.measure(&gain(1, 1.0));
        window.push(at(2), DAY as u64, true);
        for delta in [f64::NAN, f64::INFINITY, 1e300] {
            window.measure(&gain(2, delta));
        }
        assert_eq!(window.measured(), []);
    }

    proptest! {
        #[test]
        fn a_window_survives_its_bytes(
            refreshes in prop::collection::vec((any::<bool>(), 1_u64..1 << 40, prop::option::of(-1e6..1e6_f64)), 0..12),
            first in prop::option::of(-10.0..10.0_f64),
        ) {
            let mut kept = GainWindow::default();
            let mut now = 0;
            for (changed, gap, delta) in &refreshes {
                now += *gap as i64;
                let at = Timestamp::from_millis(now);
                kept.push(at, *gap, *changed);
                if let Some(delta) = delta.filter(|_| *changed) {
                    kept.measure(&MeasuredGain { at, delta, is_first: false });
                }
            }
            if let Some(delta) = first {
                kept.measure(&MeasuredGain { at: Timestamp::from_millis(0), delta, is_first: true });
            }
            let mut bytes = Vec::new();
            kept.write(&mut bytes);
            prop_assert!(bytes.len() <= 80);
            bytes.push(7);
            let mut rest = &bytes[..];
            prop_assert_eq!(GainWindow::read(&mut rest), Some(kept));
            prop_assert_eq!(rest, [7]);
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(window) = GainWindow::read(&mut &bytes[..]) {
                prop_assert!(mean_of_ratios(&window.measured()).is_none_or(f64::is_finite));
            }
        }
    }
}
