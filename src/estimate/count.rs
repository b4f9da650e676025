//! Changes that are all counted: the entries of a feed, the history of a sitemap.

use super::Seen;

/// N / T: `events` in `days` that missed none. The most likely rate of a Poisson process, and with a prior
/// Gamma(a, b) the posterior is Gamma(a + N, b + T).
pub fn rate(events: f64, days: f64) -> f64 {
    if events > 0.0 { events / days.max(super::SHORTEST_DAYS) } else { 0.0 }
}

/// Changes that are known one by one: of an interval that is only known to have had some, none.
pub fn events(seen: Seen) -> u32 {
    match seen {
        Seen::Unchanged | Seen::Changed => 0,
        Seen::ChangedAgo(_) => 1,
        Seen::Counted(events) => events,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::gamma::Gamma;
    use crate::time::Age;

    #[test]
    fn all_changes_over_all_time() {
        assert_eq!((rate(6.0, 4.0), rate(0.0, 0.0)), (1.5, 0.0));
        assert!(rate(1.0, 0.0).is_finite());
        assert_eq!(events(Seen::Counted(7)) + events(Seen::ChangedAgo(Age::default())), 8);
        let posterior = Gamma { shape: 2.0, days: 3.0 }.after(4.0, Seen::Counted(6));
        assert_eq!((posterior.shape, posterior.days), (8.0, 7.0));
    }
}
