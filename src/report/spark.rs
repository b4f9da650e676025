//! A few values from 0 to 1 as a row of bars, a column each.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const DIGITS: [char; 10] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

/// The row. Only 0 has the lowest bar, and only 1 and what is close below it the highest. In ASCII bars are the digits
/// from 0 to 9. What is no number shows as a blank.
pub(crate) fn spark(values: impl IntoIterator<Item = f64>, ascii: bool) -> String {
    let bars = if ascii { &DIGITS[..] } else { &BARS[..] };
    let highest = (bars.len() - 1) as f64;
    let bar = |value: f64| match value.is_nan() {
        true => ' ',
        false => bars.get((value.clamp(0.0, 1.0) * highest).ceil() as usize).copied().unwrap_or(' '),
    };
    values.into_iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_with_the_values() {
        assert_eq!(spark([0.0, 0.001, 0.5, 0.85, 1.0], false), "▁▂▅▇█");
        assert_eq!(spark([0.0, 0.001, 0.5, 0.85, 1.0], true), "01589");
        assert_eq!(spark([-1.0, 7.0, f64::NAN, f64::INFINITY], true), "09 9");
        assert_eq!(spark([], false), "");
    }
}
