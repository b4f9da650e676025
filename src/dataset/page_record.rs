//! The form in which pages go from a source to a file: each with its visits and its texts over time.

use super::{RecordedSignal, TextWords};

/// A page and everything recorded about it.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRecord {
    /// The group it was watched with.
    pub group: String,
    /// Its site: usually the host.
    pub site: String,
    /// Its URL, or another name.
    pub url: String,
    /// Importance; an ordinary page has 1.
    pub weight: f64,
    /// The page that stands for it now, if another does. Its history up to then is its own.
    pub alias_of: Option<String>,
    /// Pages of its group that link to it; `None`: not known.
    pub inlinks: Option<u32>,
    /// Visits in the order of time; the first one with a copy has nothing to compare with.
    pub visits: Vec<VisitLine>,
    /// Texts in the order of time, each valid until the next.
    pub states: Vec<StateRecord>,
    /// Signals in the order in which they were learnt.
    pub signals: Vec<RecordedSignal>,
}

/// One visit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisitLine {
    /// The cycle of its group, from 0; `None`: the one that the time falls in.
    pub cycle: Option<u32>,
    /// UTC milliseconds since 1970.
    pub time_ms: i64,
    /// Whether it had changed since the copy before; `None`: nothing to compare.
    pub changed: Option<bool>,
    /// Divergence from the copy before, 0 to 1.
    pub divergence: Option<f64>,
    /// Outcome, as a crawl names it; `None`: a copy was fetched or confirmed.
    pub outcome: Option<String>,
    /// HTTP status.
    pub status: Option<u32>,
    /// Bytes of the answer.
    pub bytes: Option<u64>,
    /// Milliseconds that the visit took.
    pub took_ms: Option<u64>,
    /// Content type of the copy that was fetched or confirmed, as the host said it.
    pub content_type: Option<String>,
    /// The URL that it led to, if it was sent elsewhere.
    pub redirect_to: Option<String>,
    /// When the page said that it had last changed, in UTC milliseconds since 1970.
    pub last_modified_ms: Option<i64>,
    /// The cause of a failure in words, where outcome and status don't say it all.
    pub reason: Option<String>,
}

/// The text of a page from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct StateRecord {
    /// The cycle of its group; `None`: the one that the time falls in.
    pub cycle: Option<u32>,
    /// UTC milliseconds since 1970.
    pub time_ms: i64,
    /// Hash of the sequence of its words: two texts with the same fragments may differ in their order.
    pub text: u64,
    /// Hashes of its fragments, ascending; `None`: the page was removed.
    pub hashes: Option<Vec<u64>>,
    /// Its words; `None`: the page was removed, or they are not known.
    pub words: Option<TextWords>,
}

impl PageRecord {
    /// A page without visits.
    pub fn new(group: &str, site: &str, url: &str, weight: f64) -> Self {
        let (group, site, url) = (group.to_owned(), site.to_owned(), url.to_owned());
        Self {
            group,
            site,
            url,
            weight,
            alias_of: None,
            inlinks: None,
            visits: Vec::new(),
            states: Vec::new(),
            signals: Vec::new(),
        }
    }

    /// The first visit with a copy.
    pub fn first_copy(&self) -> Option<&VisitLine> {
        self.visits.iter().find(|visit| visit.brought_a_copy())
    }

    /// The visits that had a copy to compare with, and whether they found a change.
    pub fn comparisons(&self) -> impl Iterator<Item = (&VisitLine, bool)> {
        self.visits.iter().filter_map(|visit| Some((visit, visit.changed?)))
    }
}

impl VisitLine {
    /// A visit of which nothing else is known.
    pub fn at(time_ms: i64, changed: Option<bool>) -> Self {
        Self { time_ms, changed, ..Self::default() }
    }

    fn brought_a_copy(&self) -> bool {
        matches!(self.outcome.as_deref(), None | Some("fetched" | "not-modified"))
    }
}
