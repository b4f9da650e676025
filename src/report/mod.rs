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

#[cfg(test)]
mod tests {
    use super::*;

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
