//! The form in which pages go from a source to a file: each with its visits and its texts over time.

/// A page and all that is recorded of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRecord {
    pub group: String,
    pub site: String,
    pub url: String,
    /// Importance; 1 is that of an ordinary page.
    pub weight: f64,
    /// In the order of time; the first that brought a copy has nothing to compare with.
    pub visits: Vec<VisitLine>,
    /// What it said from when on, in the order of time.
    pub states: Vec<StateRecord>,
}

/// One visit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisitLine {
    /// The cycle of its group, from 0; `None`: the one that the time falls in.
    pub cycle: Option<u32>,
    /// UTC milliseconds since 1970.
    pub time_ms: i64,
    /// Since the visit before that brought a copy; `None`: nothing to compare.
    pub changed: Option<bool>,
    /// From the copy before, 0 to 1.
    pub divergence: Option<f64>,
    /// How it ended, as a crawl names it; `None`: it brought or confirmed a copy.
    pub outcome: Option<String>,
    /// Of HTTP.
    pub status: Option<u32>,
    pub bytes: Option<u64>,
    pub took_ms: Option<u64>,
}

/// What a page says from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct StateRecord {
    pub cycle: Option<u32>,
    pub time_ms: i64,
    /// Stands for the sequence of its words: two texts may have the same fragments and not be the same.
    pub text: u64,
    /// Ascending; `None`: the page was removed.
    pub hashes: Option<Vec<u64>>,
}

impl PageRecord {
    pub fn new(group: &str, site: &str, url: &str, weight: f64) -> Self {
        let (group, site, url) = (group.to_owned(), site.to_owned(), url.to_owned());
        Self { group, site, url, weight, visits: Vec::new(), states: Vec::new() }
    }

    /// The first visit that brought a copy; `None` if none did.
    pub fn first_copy(&self) -> Option<&VisitLine> {
        self.visits.iter().find(|visit| visit.brought_a_copy())
    }

    /// The visits that had something to compare with.
    pub fn comparisons(&self) -> impl Iterator<Item = (&VisitLine, bool)> {
        self.visits.iter().filter_map(|visit| Some((visit, visit.changed?)))
    }
}

impl VisitLine {
    /// One of which nothing else is known.
    pub fn at(time_ms: i64, changed: Option<bool>) -> Self {
        Self { time_ms, changed, ..Self::default() }
    }

    fn brought_a_copy(&self) -> bool {
        matches!(self.outcome.as_deref(), None | Some("fetched" | "not-modified"))
    }
}
