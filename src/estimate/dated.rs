//! Changes with a date from the page: Last-Modified, or lastmod of a sitemap. Dates are used only while they prove right.
//!
//! A date tells more than that there was a change. If the last change was l before the visit, the likelihood is
//! rate · e^(−rate l), so the most likely rate has the closed form X / (Σ l of changed + Σ t of unchanged), which is
//! [`super::count::rate`] of other sums.

use super::Seen;
use crate::time::{Age, Timestamp};

/// The time at the end of an interval of `days` that is known to be without a change.
pub(crate) fn exposure_days(days: f64, seen: Seen) -> f64 {
    match seen {
        Seen::Changed => 0.0,
        Seen::Unchanged | Seen::Counted(_) => days,
        Seen::ChangedAgo(ago) => ago.days().clamp(super::SHORTEST_DAYS, days),
    }
}

/// The dates that the page gave at two consecutive visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// The time of the earlier visit.
    pub earlier_visit: Timestamp,
    /// The time of this visit.
    pub visit: Timestamp,
    /// The date that the page gave at the earlier visit.
    pub earlier: Option<Timestamp>,
    /// The date that the page gave at this visit.
    pub latest: Option<Timestamp>,
    /// Did the content change between the visits?
    pub changed: bool,
}

/// A date this close to the visit is the server's clock, not a date of the page; HTTP dates are whole seconds.
const CLOCK_MILLIS: i64 = 2000;

impl Claims {
    /// Did the date change if, and only if, the content did? `None` without two dates.
    pub(crate) fn agree(&self) -> Option<bool> {
        Some((self.earlier? != self.latest?) == self.changed)
    }
}

/// The time from the last change to the visit, if the date is plausible: the page changed, the date changed with it, and it lies
/// after the earlier visit, not in the future, and not at the moment of the visit.
pub(crate) fn last_change(claims: &Claims) -> Option<Age> {
    let date = claims.latest?;
    let ago = claims.visit.millis().saturating_sub(date.millis());
    let believed = claims.changed
        && claims.earlier.is_none_or(|earlier| earlier != date)
        && date > claims.earlier_visit
        && ago > CLOCK_MILLIS;
    believed.then(|| claims.visit.since(date))
}

/// How often the dates of a source (a page or a host) were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// How often they were right.
    pub kept: u32,
    /// How often they were wrong.
    pub broken: u32,
}

impl Trust {
    /// Adds the dates of one more visit.
    pub fn observe(&mut self, claims: &Claims) {
        match claims.agree() {
            Some(true) => self.kept = self.kept.saturating_add(1),
            Some(false) => self.broken = self.broken.saturating_add(1),
            None => {}
        }
    }

    /// Can dates be trusted? At least three were right, and at most one in twenty was wrong.
    pub fn holds(&self) -> bool {
        self.kept >= 3 && u64::from(self.broken) * 20 <= u64::from(self.kept) + u64::from(self.broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(earlier: i64, latest: i64, changed: bool) -> Claims {
        Claims {
            earlier_visit: Timestamp::from_seconds(1000),
            visit: Timestamp::from_seconds(2000),
            earlier: Some(Timestamp::from_seconds(earlier)),
            latest: Some(Timestamp::from_seconds(latest)),
            changed,
        }
    }

    #[test]
    fn a_date_is_believed_only_if_it_holds_up() {
        assert_eq!(last_change(&claims(500, 1400, true)).map(Age::seconds), Some(600.0));
        for (why, doubtful) in [
            ("in the future", claims(500, 2500, true)),
            ("the moment of the visit", claims(999, 1999, true)),
            ("before the earlier visit", claims(500, 900, true)),
            ("did not move", claims(1400, 1400, true)),
            ("moved alone", claims(500, 1400, false)),
            ("no date", Claims { latest: None, ..claims(500, 1400, true) }),
        ] {
            assert_eq!(last_change(&doubtful), None, "{why}");
        }
        let first_date = Claims { earlier: None, ..claims(0, 1400, true) };
        assert_eq!(last_change(&first_date).map(Age::seconds), Some(600.0));
    }

    #[test]
    fn a_source_is_trusted_after_three_dates_and_not_after_lies() {
        let mut trust = Trust::default();
        trust.observe(&claims(500, 1400, true));
        trust.observe(&claims(500, 500, false));
        assert!(!trust.holds());
        trust.observe(&claims(500, 500, false));
        assert!(trust.holds());
        trust.observe(&claims(500, 1400, false));
        assert_eq!((trust, trust.holds()), (Trust { kept: 3, broken: 1 }, false));
        assert_eq!(Claims { earlier: None, ..claims(0, 1, true) }.agree(), None);
    }
}
