//! Values as people read them: tables, numbers and times for a terminal, and plots.

pub mod changes;
pub mod check;
pub mod comparison;
pub mod crawl;
pub mod diff;
pub mod estimates;
pub mod evolved;
pub mod history;
pub mod plan;
pub mod plot;
pub mod replays;
pub mod reproduced;
pub mod scores;
pub(crate) mod spark;
pub mod status;
pub(crate) mod stripes;

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use self::diff::harmless;
pub use crate::look::figures::{bytes, counted, number, percent, rate, span};
use crate::simulate::compare::is_narrow;

/// A table with a heading; columns are as wide as they need to be. Numbers stand to the right.
#[derive(Clone, Debug)]
pub struct Table {
    heads: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

/// The side on which the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

impl Table {
    /// A table with these columns and no rows yet.
    pub fn new(heads: &[(&str, Align)]) -> Self {
        Self {
            heads: heads.iter().map(|(head, align)| (head.to_string(), *align)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; cells beyond the columns are left out. A cell may come from a stranger's store: it holds nothing that a
    /// terminal obeys.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(|cell| harmless(&cell.into())).collect());
    }

    /// The whole table, a newline at the end of each line, no blanks before it.
    pub fn render(&self) -> String {
        let width = |text: &str| text.width();
        let widths: Vec<usize> = self
            .heads
            .iter()
            .enumerate()
            .map(|(at, (head, _))| {
                let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell));
                cells.chain([width(head)]).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        let heads: Vec<String> = self.heads.iter().map(|(head, _)| head.clone()).collect();
        for row in std::iter::once(&heads).chain(&self.rows) {
            let mut line = String::new();
            for (at, (cell, wide)) in row.iter().zip(&widths).enumerate() {
                let pad = " ".repeat(wide.saturating_sub(width(cell)));
                let gap = if at == 0 { "" } else { "  " };
                let _ = match self.heads.get(at).map(|(_, align)| *align) {
                    Some(Align::Right) => write!(line, "{gap}{pad}{cell}"),
                    _ => write!(line, "{gap}{cell}{pad}"),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

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

    #[test]
    fn tables_line_up() {
        let mut table = Table::new(&[("host", Align::Left), ("pages", Align::Right)]);
        table.row(["example.org", "7"]);
        table.row(["żółw", "1,024"]);
        assert_eq!(table.render(), "host         pages\nexample.org      7\nżółw         1,024\n");
    }

    #[test]
    fn a_cell_has_nothing_that_a_terminal_obeys() {
        let mut table = Table::new(&[("host", Align::Left)]);
        table.row(["a\u{1b}]0;owned\u{7}\u{9b}2J\nb"]);
        assert_eq!(table.render(), "host\na␛]0;owned␇�2J␊b\n");
    }
}
