//! The signals of a page, counted: hints from outside that it changed. the room `signal` makes and reads them.

/// Where a signal comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SignalKind {
    /// A sitemap gives the page a new `lastmod`.
    Sitemap,
    /// A feed has a new entry for the page.
    Feed,
    /// A link to the page appeared on a hub page, or moved up there.
    Hub,
    /// Somebody told us: `freshet ping`, or the API.
    Ping,
}

/// The signals of one kind for one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignalCount {
    /// Signals learnt after the last visit.
    pub since_visit: u32,
    /// All signals, those included.
    pub total: u32,
}

/// The signals of one page, counted by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageSignals {
    /// In the order of `SignalKind::ALL`.
    pub by_kind: [SignalCount; 4],
}
