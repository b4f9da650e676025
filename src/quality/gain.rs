//! The gain that is expected of the next refresh of a page, from those of earlier ones.
//!
//! Comes in: ΔQ_A of a page's refreshes, each with the time since the refresh before. Goes out: δQ_A, the gain for each unit of time
//! (Pandey & Olston 2005, §6.1.3), and the priority δQ_A · (now − last refresh). A refresh that found no change counts with ΔQ_A = 0. Of
//! each page the last eight refreshes are remembered, in at most 34 bytes.
//!
//! Single measurements may be negative and stay so; only the priority is cut off at 0.

use crate::varint::take_byte;

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

/// The last refreshes of a page, the oldest first.
///
/// Each number is kept in 16 bits: the upper half of a 32-bit float, rounded. That is exact to 0.4 %, much less than the refreshes of a
/// page differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GainWindow {
    refreshes: Vec<MeasuredRefresh>,
}

impl GainWindow {
    /// Adds a refresh; of more than `window` the oldest are forgotten. `window` is from 1 to [`WIDEST_WINDOW`], and other values
    /// count as the nearest of these.
    ///
    /// A refresh without a time since the one before, or whose numbers are no numbers, is left out: it has no rate.
    pub fn push(&mut self, refresh: MeasuredRefresh, window: usize) {
        if refresh.delta.is_nan() || refresh.gap.is_nan() {
            return;
        }
        let short = MeasuredRefresh {
            delta: widened(shortened(refresh.delta)),
            gap: widened(shortened(refresh.gap)),
        };
        if !(short.delta.is_finite() && short.gap.is_finite() && short.gap > 0.0) {
            return;
        }
        self.refreshes.push(short);
        let most = window.clamp(1, WIDEST_WINDOW);
        let forgotten = self.refreshes.len().saturating_sub(most);
        self.refreshes.drain(..forgotten);
    }

    /// The refreshes, the oldest first.
    pub fn refreshes(&self) -> &[MeasuredRefresh] {
        &self.refreshes
    }

    /// Writes the window: a byte for the number of refreshes, a byte that has a bit for each with a gain other than 0, then the gaps, and
    /// those gains, in 2 bytes each. At most 34 bytes; unchanged refreshes take 2 bytes each.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let gains: Vec<f64> = self.refreshes.iter().map(|refresh| refresh.delta).collect();
        let bits = (0..).zip(&gains).map(|(at, delta): (u32, &f64)| u8::from(*delta != 0.0) << at);
        bytes.push(self.refreshes.len() as u8);
        bytes.push(bits.fold(0, |all, bit| all | bit));
        let gaps = self.refreshes.iter().map(|refresh| refresh.gap);
        for number in gaps.chain(gains.into_iter().filter(|delta| *delta != 0.0)) {
            bytes.extend_from_slice(&shortened(number).to_le_bytes());
        }
    }

    /// Undoes [`GainWindow::write`] at the start of `rest`, which is cut by what was read; `None` if nothing of the kind is there.
    pub fn read(rest: &mut &[u8]) -> Option<GainWindow> {
        let count = usize::from(take_byte(rest)?);
        let changed = take_byte(rest)?;
        if count > WIDEST_WINDOW || u32::from(changed) >> count != 0 {
            return None;
        }
        let gaps = (0..count).map(|_| take_short(rest)).collect::<Option<Vec<f64>>>()?;
        let refreshes = gaps.into_iter().enumerate().map(|(at, gap)| {
            let delta = if changed >> at & 1 == 1 { take_short(rest)? } else { 0.0 };
            Some(MeasuredRefresh { delta, gap }).filter(|refresh| refresh.gap > 0.0)
        });
        Some(GainWindow { refreshes: refreshes.collect::<Option<Vec<_>>>()? })
    }
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

    #[test]
    fn a_window_keeps_the_last_refreshes_in_few_bytes() {
        let mut window = GainWindow::default();
        for number in 1..=20 {
            window.push(refresh(f64::from(number), 0.5), WIDEST_WINDOW);
        }
        let kept: Vec<f64> = window.refreshes().iter().map(|refresh| refresh.delta).collect();
        assert_eq!(kept, (13..=20).map(f64::from).collect::<Vec<_>>());
        let mut bytes = Vec::new();
        window.write(&mut bytes);
        assert_eq!(bytes.len(), 34);
        window.push(refresh(3.0, 1.0), 2);
        assert_eq!(window.refreshes(), [refresh(20.0, 0.5), refresh(3.0, 1.0)]);
        let mut unchanged = GainWindow::default();
        for _ in 0..8 {
            unchanged.push(refresh(0.0, 7.0), 8);
        }
        bytes.clear();
        unchanged.write(&mut bytes);
        assert_eq!(bytes.len(), 18);
    }

    #[test]
    fn what_has_no_rate_is_left_out() {
        let mut window = GainWindow::default();
        for (delta, gap) in [
            (1.0, 0.0),
            (1.0, -1.0),
            (f64::NAN, 1.0),
            (1.0, f64::NAN),
            (1e300, 1.0),
            (1.0, 1e300),
            (1.0, 1e-300),
        ] {
            window.push(refresh(delta, gap), 8);
        }
        assert_eq!(window, GainWindow::default());
    }

    proptest! {
        #[test]
        fn a_window_survives_its_bytes(
            refreshes in prop::collection::vec((prop_oneof![Just(0.0), -1e6..1e6_f64], 1e-3..1e6_f64), 0..12), window in 0_usize..10
        ) {
            let mut kept = GainWindow::default();
            for (delta, gap) in &refreshes {
                kept.push(refresh(*delta, *gap), window);
            }
            let most = window.clamp(1, WIDEST_WINDOW).min(refreshes.len());
            prop_assert_eq!(kept.refreshes().len(), most);
            for (kept, given) in kept.refreshes().iter().zip(&refreshes[refreshes.len() - most..]) {
                prop_assert!(close(kept.delta, given.0, 0.004) && close(kept.gap, given.1, 0.004), "{kept:?} {given:?}");
            }
            let mut bytes = Vec::new();
            kept.write(&mut bytes);
            prop_assert!(bytes.len() <= 40);
            bytes.push(7);
            let mut rest = &bytes[..];
            prop_assert_eq!(GainWindow::read(&mut rest), Some(kept));
            prop_assert_eq!(rest, [7]);
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(window) = GainWindow::read(&mut &bytes[..]) {
                prop_assert!(mean_of_ratios(window.refreshes()).is_none_or(f64::is_finite));
            }
        }
    }
}
