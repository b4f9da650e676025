//! Changes across the collection, drawn as a table or written as an Atom feed.

use std::fmt::Write as _;

use quick_xml::escape::escape;

use crate::look::changes::FoundChange;
use crate::time::Timestamp;

use super::diff::{harmless, plain};
use super::{Align, Table};

/// The heading of the last column.
const NEW_TEXT: &str = "new text";
/// Fewer characters of the new text say nothing.
const FEWEST_SHOWN: usize = 20;
/// Columns of a diff in an Atom feed.
const FEED_WIDTH: usize = 100;

/// A table of changes, a row each.
pub struct ChangeTable(Table);

impl Default for ChangeTable {
    fn default() -> Self {
        Self(Table::new(&[
            ("when", Align::Left),
            ("divergence", Align::Right),
            ("words", Align::Right),
            ("page", Align::Left),
            (NEW_TEXT, Align::Left),
        ]))
    }
}

impl ChangeTable {
    /// Adds a row.
    pub fn add(&mut self, found: &FoundChange) {
        let change = &found.change;
        self.0.row([
            change.at.to_string(),
            change.divergence.map_or("-".to_owned(), |apart| format!("{apart:.3}")),
            format!("+{} −{}", found.words_added, found.words_removed),
            harmless(&change.url),
            found.added.first().map_or(String::new(), |line| shortened(line, 60)),
        ]);
    }

    /// The table, within the width of a terminal if there is one.
    pub fn render(&self, width: Option<usize>) -> String {
        fitted(&self.0.render(), width)
    }
}

/// A table within the width of a terminal, if there is one: the last column is shortened, or left out. Addresses are not
/// cut, so that they can be copied.
fn fitted(table: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return table.to_owned() };
    let heads = table.lines().next().unwrap_or_default();
    let last = heads.rsplit_once(NEW_TEXT).map_or(0, |(before, _)| before.chars().count());
    let most = if last + FEWEST_SHOWN > width { last } else { width };
    let line = |line: &str| line.chars().take(most).collect::<String>().trim_end().to_owned() + "\n";
    table.lines().map(line).collect()
}

fn shortened(line: &str, most: usize) -> String {
    let clean = harmless(line);
    match clean.char_indices().nth(most) {
        None => clean,
        Some(_) => clean.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// The beginning of an Atom feed of changes.
pub fn feed_start(since: Timestamp, now: Timestamp) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <id>urn:freshet:changes</id>\n<title>Changes since {since}</title>\n<updated>{now}</updated>\n\
         <author><name>freshet</name></author>\n"
    )
}

/// An entry of an Atom feed, with the difference as its content.
pub fn feed_entry(found: &FoundChange) -> String {
    let change = &found.change;
    let url = escape(change.url.as_str());
    let mut text = format!(
        "<entry>\n<id>urn:freshet:change:{}:{}</id>\n<title>{url}</title>\n<link href=\"{url}\"/>\n\
         <updated>{}</updated>\n",
        change.page,
        change.at.millis(),
        change.at,
    );
    let diff = plain(&found.text, FEED_WIDTH, 1);
    // XML can't hold these, escaped or not.
    let sayable: String = diff.chars().filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')).collect();
    let html = format!("<pre>{}</pre>", escape(sayable.as_str()));
    let _ = write!(text, "<content type=\"html\">{}</content>\n</entry>\n", escape(html.as_str()));
    text
}

/// The end of an Atom feed.
pub const FEED_END: &str = "</feed>\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_obeys_the_reader_and_is_cut() {
        assert_eq!(shortened("a\u{202e}b\u{1b}c", 60), "a�b␛c");
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
    }

    #[test]
    fn a_table_fits_its_terminal_and_addresses_stay_whole() {
        let table = "when  page                   new text\n1     https://example.org/a  a sentence that goes on and on\n";
        assert_eq!(fitted(table, None), table);
        let cut = fitted(table, Some(50));
        assert_eq!(cut.lines().nth(1), Some("1     https://example.org/a  a sentence that goes"));
        assert_eq!(fitted(table, Some(40)), "when  page\n1     https://example.org/a\n");
    }
}
