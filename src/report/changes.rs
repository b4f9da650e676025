//! Events across the collection, drawn as a table or written as an Atom feed.

use std::fmt::Write as _;

use quick_xml::escape::escape;

use crate::look::changes::{FoundEvent, KeptOut, ManyNew};
use crate::observation::EventKind;
use crate::time::Timestamp;

use super::diff::{harmless, plain};
use super::{Align, Screen, Shorten, Table, counted, number};

/// Columns of a diff in an Atom feed.
const FEED_WIDTH: usize = 100;

/// A table of events, a row each.
pub struct ChangeTable {
    table: Table,
    screen: Screen,
}

impl ChangeTable {
    /// A table without rows, for a terminal or none.
    pub fn new(screen: Screen) -> Self {
        let table = Table::new(&[
            ("when", Align::Left),
            ("kind", Align::Left),
            ("divergence", Align::Right),
            ("words", Align::Right),
            ("page", Align::Left),
            ("title", Align::Left),
            ("new text", Align::Left),
        ])
        .shorten("page", Shorten::Middle)
        .shorten("title", Shorten::End)
        .shorten("new text", Shorten::End)
        .leave_out(&["divergence", "words", "title", "new text"]);
        Self { table, screen }
    }

    /// Adds a row.
    pub fn add(&mut self, found: &FoundEvent) {
        let event = &found.event;
        let words = match event.changed {
            Some(true) => format!("+{} −{}", found.words_added, found.words_removed),
            _ => "-".to_owned(),
        };
        self.table.row([
            self.screen.time(event.at),
            event.kind.words().to_owned(),
            event.divergence.map_or("-".to_owned(), |apart| format!("{apart:.3}")),
            words,
            event.url.clone(),
            event.title.clone().unwrap_or_else(|| "-".to_owned()),
            detail(found),
        ]);
    }

    /// Adds a row for new pages that are too many to be listed.
    pub fn add_many(&mut self, many: &ManyNew) {
        let pages =
            format!("{} new pages in cycle {}; --kind new lists them", number(many.pages), many.cycle.0);
        let kind = EventKind::New.words().to_owned();
        self.table.row([self.screen.time(many.last_at), kind, "-".to_owned(), "-".to_owned(), pages]);
    }

    /// The table, within the width of a terminal if there is one.
    pub fn render(&self) -> String {
        self.table.fitted(self.screen.width)
    }
}

/// How many changes `--lasting` kept out, and why; `None` if there were none.
pub fn kept_out(kept_out: KeptOut) -> Option<String> {
    let KeptOut { did_not_last, wait } = kept_out;
    let all = did_not_last + wait;
    let wait = match wait {
        1 => "1 waits for a later visit".to_owned(),
        many => format!("{} wait for a later visit", number(many)),
    };
    let changes = counted(usize::try_from(all).unwrap_or(usize::MAX), "change");
    (all > 0).then(|| format!("{changes} kept out: {} did not last, {wait}", number(did_not_last)))
}

/// What came with an event: new words, an address, or how the visit ended.
pub(crate) fn detail(found: &FoundEvent) -> String {
    let event = &found.event;
    let ended = || match (&event.reason, event.status) {
        (Some(reason), Some(status)) => format!("{} ({status}): {reason}", event.outcome),
        (Some(reason), None) => format!("{}: {reason}", event.outcome),
        (None, Some(status)) => format!("{} ({status})", event.outcome),
        (None, None) => event.outcome.clone(),
    };
    match event.kind {
        EventKind::New => String::new(),
        EventKind::Gone | EventKind::StartedFailing => ended(),
        EventKind::Moved => format!("→ {}", event.redirect_to.as_deref().unwrap_or("-")),
        EventKind::Changed | EventKind::Back | EventKind::Recovered => match &found.new_text {
            Some(text) => text.clone(),
            None if event.changed == Some(false) => "(as it was before)".to_owned(),
            None if event.changed == Some(true) && found.text.is_empty() => {
                "(no words; its bytes differ)".to_owned()
            }
            None => String::new(),
        },
    }
}

/// The beginning of an Atom feed of events.
pub fn feed_start(since: Timestamp, now: Timestamp) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <id>urn:freshet:changes</id>\n<title>Changes since {since}</title>\n<updated>{now}</updated>\n\
         <author><name>freshet</name></author>\n"
    )
}

/// An entry of an Atom feed, with the difference or a sentence as its content.
pub fn feed_entry(found: &FoundEvent) -> String {
    let event = &found.event;
    let url = escape(event.url.as_str());
    let title = sayable(event.title.as_deref().unwrap_or(&event.url));
    let kind = event.kind;
    let mut text = format!(
        "<entry>\n<id>urn:freshet:change:{}:{}</id>\n<title>{}</title>\n<link href=\"{url}\"/>\n\
         <category term=\"{}\" label=\"{}\"/>\n<updated>{}</updated>\n",
        event.page_id,
        event.at.millis(),
        escape(title.as_str()),
        kind.name(),
        kind.words(),
        event.at,
    );
    let said = sentence(found);
    let mut html = String::new();
    if !said.is_empty() {
        let _ = write!(html, "<p>{}</p>", escape(sayable(&said).as_str()));
    }
    if event.changed == Some(true) {
        let _ = write!(html, "<pre>{}</pre>", escape(sayable(&plain(&found.text, FEED_WIDTH, 1)).as_str()));
    }
    let _ = write!(text, "<content type=\"html\">{}</content>\n</entry>\n", escape(html.as_str()));
    text
}

/// What happened, in a sentence; empty for a change, whose difference says it.
pub(crate) fn sentence(found: &FoundEvent) -> String {
    match found.event.kind {
        EventKind::New => "The page is new.".to_owned(),
        EventKind::Changed => String::new(),
        EventKind::Gone => format!("The page is gone: {}.", detail(found)),
        EventKind::Moved => format!("The page moved: {}.", detail(found)),
        EventKind::StartedFailing => format!("The page started failing: {}.", detail(found)),
        EventKind::Back => "The page is back.".to_owned(),
        EventKind::Recovered => "The page answers again.".to_owned(),
    }
}

/// A text without what XML can't hold, escaped or not.
pub(crate) fn sayable(text: &str) -> String {
    text.split('\n').map(harmless).collect::<Vec<_>>().join("\n").replace(['\u{fffe}', '\u{ffff}'], "")
}

/// The end of an Atom feed.
pub const FEED_END: &str = "</feed>\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_out_is_counted_by_reason() {
        let said = |did_not_last, wait| kept_out(KeptOut { did_not_last, wait });
        assert_eq!(
            said(9, 3).as_deref(),
            Some("12 changes kept out: 9 did not last, 3 wait for a later visit")
        );
        assert_eq!(
            said(0, 1).as_deref(),
            Some("1 change kept out: 0 did not last, 1 waits for a later visit")
        );
        assert_eq!(said(0, 0), None);
    }
}
