//! Values as people read them: tables, numbers and times for a terminal, and plots.

pub mod brought;
pub mod budget_bar;
pub mod changes;
pub mod check;
pub mod comparison;
pub mod crawl;
pub mod curve_plot;
pub mod diff;
pub mod diff_words;
pub mod estimates;
pub mod evolved;
pub mod heartbeat;
pub mod history;
pub mod links;
pub mod log;
pub mod overview;
pub mod period_page;
pub mod plan;
pub mod plot;
pub mod prometheus;
pub mod quality;
pub mod rate_bar;
pub mod replays;
pub mod reproduced;
pub mod reproduced_page;
pub mod scores;
pub mod screen;
pub mod search;
pub mod seeds;
pub mod show;
pub mod side_by_side;
pub mod signals;
pub mod sites;
pub(crate) mod spark;
pub mod status;
mod stripe_bars;
pub mod stripe_chart;
pub(crate) mod stripes;
pub mod table;
pub mod text_part;
pub mod week_heat;

pub use self::screen::Screen;
pub use self::table::{Align, Shorten, Table};
pub use crate::look::figures::{bytes, counted, number, percent, rate, span};
use crate::simulate::compare::is_narrow;

/// The mean of several shares, with the half-width of its confidence interval: `0.6458 ±0.0120`. `±?` stands for an
/// interval that the samples are too few for; a single sample has none at all.
pub fn with_interval(mean: f64, off: Option<f64>, samples: usize) -> String {
    match off.filter(is_narrow) {
        _ if samples < 2 => format!("{mean:.4}"),
        Some(off) => format!("{mean:.4} ±{off:.4}"),
        None => format!("{mean:.4} {NO_INTERVAL}"),
    }
}

const NO_INTERVAL: &str = "±?";

/// The table, and below it what `±?` means, if it is in there.
pub fn without_interval(table: String, samples: &str) -> String {
    if table.contains(NO_INTERVAL) {
        table + &format!("({NO_INTERVAL}: too few {samples} for an interval)\n")
    } else {
        table
    }
}

/// A word as a shell takes it, in quotes if it has to be.
pub fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+:=@,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_needs_samples_enough() {
        use crate::simulate::compare::spread;
        let of = |samples: &[f64]| {
            let (mean, off) = spread(samples);
            with_interval(mean, off, samples.len())
        };
        assert_eq!(of(&[0.5]), "0.5000");
        assert_eq!(of(&[0.5, 0.8]), "0.6500 ±?");
        assert_eq!(of(&[0.1, 0.5, 0.9]), "0.5000 ±?", "4.303 · 0.4 / √3 = 0.99, the whole scale");
        assert_eq!(of(&[0.49, 0.5, 0.51]), "0.5000 ±0.0248", "4.303 · 0.01 / √3");
        assert_eq!(
            without_interval("0.6 ±?\n".into(), "folds"),
            "0.6 ±?\n(±?: too few folds for an interval)\n"
        );
        assert_eq!(without_interval("0.6 ±0.1\n".into(), "folds"), "0.6 ±0.1\n");
    }

    #[test]
    fn a_shell_reads_a_word_as_it_was() {
        assert_eq!(shell_word("evolved:a/b.toml,nad"), "evolved:a/b.toml,nad");
        assert_eq!(shell_word("my data.ds"), "'my data.ds'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
