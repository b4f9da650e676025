//! Tables: columns line up, and fit the terminal if there is one.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::diff::harmless;

/// A table with a heading; columns are as wide as they need to be. Numbers stand to the right.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<String>>,
    /// Places of columns that may be left out, the least important first.
    optional: Vec<usize>,
}

#[derive(Clone, Debug)]
struct TableColumn {
    head: String,
    align: Align,
    cut: Option<Shorten>,
}

/// The side on which the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// Where a cell is shortened that finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shorten {
    /// At its end: text.
    End,
    /// In its middle: addresses, whose ends tell most.
    Middle,
}

/// Narrower columns of text and of addresses say too little: other columns are left out first.
const LEAST_WIDTH: usize = 24;
/// The narrowest that a column gets when there is nothing left to leave out.
const NARROWEST: usize = 8;
/// Blanks between columns.
const GAP: usize = 2;

impl Table {
    /// A table with these columns and no rows yet.
    pub fn new(heads: &[(&str, Align)]) -> Self {
        let column =
            |(head, align): &(&str, Align)| TableColumn { head: head.to_string(), align: *align, cut: None };
        Self { columns: heads.iter().map(column).collect(), rows: Vec::new(), optional: Vec::new() }
    }

    /// Cells of this column may be shortened on a terminal. Numbers and times never are.
    pub fn shorten(mut self, head: &str, cut: Shorten) -> Self {
        self.columns
            .iter_mut()
            .filter(|column| column.head == head)
            .for_each(|column| column.cut = Some(cut));
        self
    }

    /// Columns that are left out where a terminal has no room for them, the least important first.
    pub fn leave_out(mut self, heads: &[&str]) -> Self {
        let place = |head: &&str| self.columns.iter().position(|column| column.head == *head);
        self.optional = heads.iter().filter_map(place).collect();
        self
    }

    /// Adds a row; cells beyond the columns are left out. A cell may come from a stranger's store: it holds nothing that a
    /// terminal obeys.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(|cell| harmless(&cell.into())).collect());
    }

    /// The whole table, a newline at the end of each line, no blanks before it.
    pub fn render(&self) -> String {
        self.fitted(None)
    }

    /// The table within the width of a terminal, if there is one. Columns that may be shortened are, the rightmost first; if
    /// that is not enough, columns are left out.
    pub fn fitted(&self, width: Option<usize>) -> String {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let Some(width) = width else { return self.draw(&shown, &self.natural_widths()) };
        let mut optional = self.optional.iter();
        loop {
            let (widths, fits) = self.squeezed(&shown, width, LEAST_WIDTH);
            if fits {
                return self.draw(&shown, &widths);
            }
            match optional.next() {
                Some(column) => shown.retain(|place| place != column),
                None => return self.draw(&shown, &self.squeezed(&shown, width, NARROWEST).0),
            }
        }
    }

    /// Widths of all columns with those that may be shortened made as narrow as they have to be, and whether that is enough.
    fn squeezed(&self, shown: &[usize], width: usize, least: usize) -> (Vec<usize>, bool) {
        let mut widths = self.natural_widths();
        let gaps = GAP * shown.len().saturating_sub(1);
        let all: usize = shown.iter().filter_map(|place| widths.get(*place)).sum();
        let mut over = (all + gaps).saturating_sub(width);
        for place in shown.iter().rev() {
            let (Some(column), Some(wide)) = (self.columns.get(*place), widths.get_mut(*place)) else {
                continue;
            };
            if column.cut.is_some() {
                let give = wide.saturating_sub(least.max(column.head.width())).min(over);
                *wide -= give;
                over -= give;
            }
        }
        (widths, over == 0)
    }

    fn natural_widths(&self) -> Vec<usize> {
        let widest = |(place, column): (usize, &TableColumn)| {
            let cells = self.rows.iter().filter_map(|row| row.get(place)).map(|cell| cell.width());
            cells.chain([column.head.width()]).max().unwrap_or(0)
        };
        self.columns.iter().enumerate().map(widest).collect()
    }

    fn draw(&self, shown: &[usize], widths: &[usize]) -> String {
        let mut text = String::new();
        let heads: Vec<String> = self.columns.iter().map(|column| column.head.clone()).collect();
        for row in std::iter::once(&heads).chain(&self.rows) {
            let mut line = String::new();
            for (at, place) in shown.iter().enumerate() {
                let (Some(cell), Some(column), Some(wide)) =
                    (row.get(*place), self.columns.get(*place), widths.get(*place))
                else {
                    continue;
                };
                let cell = column.cut.map_or_else(|| cell.clone(), |cut| shortened(cell, *wide, cut));
                let pad = " ".repeat(wide.saturating_sub(cell.width()));
                let gap = " ".repeat(if at == 0 { 0 } else { GAP });
                let _ = match column.align {
                    Align::Right => write!(line, "{gap}{pad}{cell}"),
                    Align::Left => write!(line, "{gap}{cell}{pad}"),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A text within this number of columns; an ellipsis stands where something is missing.
pub fn shortened(text: &str, width: usize, cut: Shorten) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let tail = if cut == Shorten::Middle { room / 2 } else { 0 };
    let head = taken(text.chars(), room - tail);
    let tail: String = taken(text.chars().rev(), tail).chars().rev().collect();
    format!("{head}…{tail}")
}

/// The first characters that fit into this number of columns.
fn taken(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut left = width;
    characters
        .take_while(|character| {
            let wide = character.width().unwrap_or(0);
            let fits = wide <= left;
            left = left.saturating_sub(wide);
            fits
        })
        .collect()
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

    fn wide_table() -> Table {
        let mut table = Table::new(&[
            ("state", Align::Left),
            ("visits", Align::Right),
            ("took", Align::Right),
            ("url", Align::Left),
        ])
        .shorten("url", Shorten::Middle)
        .leave_out(&["took"]);
        table.row(["alive", "1,234,567", "2 min 10 s", "https://example.org/a/long/path/to/a/page.html"]);
        table
    }

    #[test]
    fn a_table_without_a_terminal_is_whole() {
        assert_eq!(wide_table().fitted(None), wide_table().render());
        assert!(wide_table().render().contains("/a/long/path/to/a/page.html\n"));
    }

    #[test]
    fn addresses_are_shortened_first_then_columns_are_left_out() {
        let lines = |width: usize| -> Vec<String> {
            wide_table().fitted(Some(width)).lines().map(str::to_owned).collect()
        };
        assert_eq!(lines(70)[1], "alive  1,234,567  2 min 10 s  https://example.org/…path/to/a/page.html");
        assert_eq!(
            lines(50),
            ["state     visits  url", "alive  1,234,567  https://example.…/to/a/page.html"]
        );
        for width in 26..100 {
            let table = wide_table().fitted(Some(width));
            assert!(table.lines().all(|line| line.width() <= width), "{width}\n{table}");
            assert!(table.contains("1,234,567"), "numbers stay whole\n{table}");
        }
    }

    #[test]
    fn text_is_cut_at_its_end_by_columns_not_characters() {
        assert_eq!(shortened("abcdefg", 7, Shorten::End), "abcdefg");
        assert_eq!(shortened("abcdefg", 6, Shorten::End), "abcde…");
        assert_eq!(shortened("日本語のページ", 7, Shorten::End), "日本語…");
        assert_eq!(shortened("日本語のページ", 7, Shorten::Middle), "日…ジ");
        assert_eq!(shortened("abc", 0, Shorten::Middle), "…");
    }
}
