//! Numbers, sizes and times as people read them.

use std::time::Duration;

/// `1,234,567`
pub fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 visit`, `1,234 visits`
pub fn counted(value: impl TryInto<u64>, of: &str) -> String {
    let value = value.try_into().unwrap_or(u64::MAX);
    format!("{} {of}{}", number(value), if value == 1 { "" } else { "s" })
}

/// A share from 0 to 1: `61.8 %`
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// `12.3 MB`
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut size = value as f64;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{value} B") } else { format!("{size:.1} {}", UNITS.get(unit).unwrap_or(&"B")) }
}

/// Four figures of a number that may have any size: `0.02671`, `1032`, `1.404e8`
pub fn rate(value: f64) -> String {
    const FIGURES: i32 = 4;
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits_before = value.abs().log10().floor() as i32 + 1;
    if !(-3..=6).contains(&digits_before) {
        return format!("{value:.3e}");
    }
    format!("{value:.0$}", usize::try_from(FIGURES - digits_before).unwrap_or(0))
}

/// `340 ms`, `5 s`, `2 min 10 s`, `3 h 5 min`, `2 d 4 h`
pub fn span(value: Duration) -> String {
    let seconds = value.as_secs();
    match seconds {
        0 => format!("{} ms", value.as_millis()),
        1..60 => format!("{seconds} s"),
        60..3600 => two(seconds / 60, "min", seconds % 60, "s"),
        3600..86_400 => two(seconds / 3600, "h", seconds % 3600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3600, "h"),
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large} {large_unit}")
    } else {
        format!("{large} {large_unit} {small} {small_unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(
            [0.0, 0.026_715, 1.0, 1031.7, 140_368.2].map(rate),
            ["0", "0.02671", "1.000", "1032", "140368"]
        );
        assert_eq!([140_368_340.2, 2.519_58e-9].map(rate), ["1.404e8", "2.520e-9"]);
        assert_eq!([number(7), number(1_234), number(1_234_567)], ["7", "1,234", "1,234,567"]);
        assert_eq!([counted(1, "visit"), counted(1_234, "visit")], ["1 visit", "1,234 visits"]);
        assert_eq!([percent(0.0), percent(0.6181), percent(1.0)], ["0.0 %", "61.8 %", "100.0 %"]);
        assert_eq!([bytes(999), bytes(1_500), bytes(999_900)], ["999 B", "1.5 kB", "1.0 MB"]);
        let spans = [340, 5_000, 130_000, 11_100_000, 187_200_000].map(|ms| span(Duration::from_millis(ms)));
        assert_eq!(spans, ["340 ms", "5 s", "2 min 10 s", "3 h 5 min", "2 d 4 h"]);
    }
}
