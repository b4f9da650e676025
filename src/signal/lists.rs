//! Lists of pages with dates (sitemaps and feeds): which of their dates tell anything, and when a list is worth a request.
//!
//! Known lies are seen through before a signal is made of them, so that a list that stamps every page at every request leaves nothing in
//! the log. What is left is tested by visits ([`super::trust`]). `changefreq` and `priority` are wishes, not facts, and are not read.

use std::time::Duration;

use super::latest_moment;
use crate::time::Timestamp;

/// Why the dates of a list are not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListFlaw {
    /// Nearly all dates are the moment of the request: the list is stamped when it is asked for.
    TimeOfRequest,
    /// All dates are the same: the list is stamped when the site is built.
    AllEqual,
}

impl ListFlaw {
    const ALL: [Self; 2] = [Self::TimeOfRequest, Self::AllEqual];

    /// The name in the store and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TimeOfRequest => "time-of-request",
            Self::AllEqual => "all-equal",
        }
    }

    /// The flaw of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flaw| flaw.name() == name)
    }

    /// The flaw in words, after "its dates".
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::TimeOfRequest => "are the time of the request",
            Self::AllEqual => "are all the same",
        }
    }

    /// The flaw of a list that was read at `read_at` and gives these dates, in UTC seconds; `None` if they may be true.
    pub fn of(dates: &[i64], read_at: Timestamp) -> Option<Self> {
        if dates.len() < FEWEST_DATES {
            return None;
        }
        let mut sorted = dates.to_vec();
        sorted.sort_unstable();
        let (first, last) = (sorted.first()?, sorted.last()?);
        // A few pages with dates of their own don't make the others true.
        let left_out = sorted.len() / STRAYS;
        let (low, high) = (sorted.get(left_out)?, sorted.get(sorted.len() - 1 - left_out)?);
        let request = read_at.millis().div_euclid(1000);
        let is_near = |date: &i64| date.abs_diff(request) <= NEAR_REQUEST_SECONDS;
        if is_near(low) && is_near(high) && high.abs_diff(*low) <= STAMP_SECONDS {
            return Some(Self::TimeOfRequest);
        }
        (first == last).then_some(Self::AllEqual)
    }
}

/// Two dates may agree by chance.
const FEWEST_DATES: usize = 3;
/// One date in this many may differ at each end, and a list is still stamped.
const STRAYS: usize = 20;
/// A stamp is this near to the request: clocks differ, and a cache may have kept the list for a moment.
const NEAR_REQUEST_SECONDS: u64 = 60;
/// A program that writes the present time behind each page takes this long for a list.
const STAMP_SECONDS: u64 = 5;

/// A date that is later than this after it was read is no date of a change. The time zone may be left out, which moves a date by less than
/// a day.
const FUTURE: Duration = Duration::from_secs(86_400);

/// Unused signals of one kind that a page may have. More tell nothing that these don't, and the log stays bounded by the visits.
pub const MOST_UNUSED: u32 = 16;

/// Does this date tell of a change? `before`: the date that lists of this kind gave before. A date that was of the future says nothing.
pub fn has_moved(date: Timestamp, before: Option<Timestamp>, read_at: Timestamp) -> bool {
    let latest = read_at.plus(FUTURE);
    date <= latest && before.is_none_or(|before| date > before || before > latest)
}

// --- when to read a list ------------------------------------------------------------------------------------------

/// A host's sitemaps are read again after a day, unless their gain is known.
pub const DAY: Duration = Duration::from_secs(86_400);
/// The most readings a day: one every ten minutes.
const MOST_A_DAY: f64 = 144.0;
/// The longest time between two readings, in days, whatever they are worth: new pages are found there, and a site may mend its dates.
const MOST_DAYS: f64 = 7.0;
/// A file is sent whole after this time.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// Is it time to read the lists of a host again? `gain`: what that is expected to bring, as a score, and the lowest score that the budget
/// has room for; `None` if there is no budget or nothing is expected of the policy. `day`: how long a day of the web lasts, [`DAY`] but
/// for a web that is made up.
pub fn is_due(read_at: Option<Timestamp>, now: Timestamp, day: Duration, gain: Option<(f64, f64)>) -> bool {
    let Some(read_at) = read_at else { return true };
    let days = now.since(read_at).seconds() / day.as_secs_f64().max(1e-3);
    match gain {
        None => days >= 1.0,
        Some((gain, lowest)) => days >= MOST_DAYS || days * MOST_A_DAY >= 1.0 && gain > lowest,
    }
}

/// Must a file be sent whole now? A server or a cache that always says that nothing changed would hide every change for ever.
pub fn wants_body(fetched_at: Timestamp, now: Timestamp) -> bool {
    now.since(fetched_at).seconds() >= LONGEST.as_secs_f64()
}

/// Can a file be left out that an index names with the date `listed`? `known`: that date and the time when the file was last read.
///
/// It can if the date is the one that it had then, and the file was read after everything that date can stand for.
pub fn is_settled(
    listed: Option<Timestamp>,
    known: Option<(Option<Timestamp>, Timestamp)>,
    now: Timestamp,
) -> bool {
    let (Some(listed), Some((Some(before), read_at))) = (listed, known) else { return false };
    let is_recent = now.since(read_at).seconds() < LONGEST.as_secs_f64();
    is_recent && before == listed && latest_moment(listed, now) < read_at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(NOW + seconds)
    }

    fn flaw(dates: &[i64]) -> Option<ListFlaw> {
        ListFlaw::of(&dates.iter().map(|date| NOW + date).collect::<Vec<_>>(), at(0))
    }

    #[test]
    fn a_list_that_is_stamped_is_seen_through() {
        assert_eq!(flaw(&[0, 0, 0]), Some(ListFlaw::TimeOfRequest));
        assert_eq!(flaw(&[-31, -30, -30, -29]), Some(ListFlaw::TimeOfRequest));
        assert_eq!(flaw(&[-5000, -5000, -5000]), Some(ListFlaw::AllEqual));
        let mut some = vec![-2; 60];
        some.extend([-90_000, -800]);
        assert_eq!(flaw(&some), Some(ListFlaw::TimeOfRequest), "a few pages have dates of their own");
    }

    #[test]
    fn honest_lists_are_believed() {
        assert_eq!(flaw(&[-5000, -5000]), None, "two may agree by chance");
        assert_eq!(flaw(&[-50, -30, -10, -5]), None, "a busy site: all of the last minute, none at once");
        assert_eq!(
            flaw(&[-90_000, -90_000, -90_000, -40]),
            None,
            "one page changed after the site was built"
        );
        assert_eq!(flaw(&[]), None);
    }

    #[test]
    fn flaws_have_names() {
        for flaw in ListFlaw::ALL {
            assert_eq!(ListFlaw::from_name(flaw.name()), Some(flaw));
        }
        assert_eq!(ListFlaw::from_name("priority"), None);
    }

    #[test]
    fn a_date_tells_something_when_it_moves_later() {
        assert!(has_moved(at(-5), None, at(0)) && has_moved(at(-5), Some(at(-6)), at(0)));
        assert!(!has_moved(at(-5), Some(at(-5)), at(0)) && !has_moved(at(-5), Some(at(-4)), at(0)));
        let future = at(1_000_000);
        assert!(!has_moved(future, None, at(0)), "of the future");
        assert!(has_moved(at(-5), Some(future), at(0)), "the site mended its dates");
    }

    #[test]
    fn lists_are_read_once_a_day_where_nothing_is_known_of_their_gain() {
        assert!(is_due(None, at(0), DAY, None) && is_due(None, at(0), DAY, Some((0.0, 9.0))));
        assert!(!is_due(Some(at(-86_399)), at(0), DAY, None) && is_due(Some(at(-86_400)), at(0), DAY, None));
    }

    #[test]
    fn a_gain_decides_between_ten_minutes_and_a_week() {
        let due = |ago: i64, gain: f64| is_due(Some(at(-ago)), at(0), DAY, Some((gain, 1.0)));
        assert!(!due(599, 2.0) && due(600, 2.0) && !due(600, 1.0));
        assert!(!due(7 * 86_400 - 1, 0.5) && due(7 * 86_400, 0.5));
        assert!(!wants_body(at(-86_400), at(0)) && wants_body(at(-7 * 86_400), at(0)));
    }

    #[test]
    fn a_file_whose_date_stands_still_is_left_out() {
        let settled = |listed, before, read| is_settled(listed, Some((before, at(read))), at(0));
        let (old, new) = (Some(at(-9000)), Some(at(-100)));
        assert!(settled(old, old, -50));
        assert!(!settled(new, old, -50), "it moved");
        assert!(!settled(old, None, -50) && !settled(None, None, -50), "it has no date");
        assert!(!settled(old, old, -9000), "it was read in that very moment");
        assert!(!settled(old, old, -7 * 86_400), "once a week it is read in any case");
        assert!(!is_settled(old, None, at(0)), "it was never read");
        let day = Some(Timestamp::from_seconds(NOW.div_euclid(86_400) * 86_400));
        assert!(
            !is_settled(day, Some((day, at(-1))), at(0)),
            "the day is not over: it may have changed since"
        );
    }

    proptest! {
        #[test]
        fn no_dates_make_it_fail(dates in prop::collection::vec(any::<i64>(), 0..9)) {
            let _ = ListFlaw::of(&dates, at(0));
        }
    }
}
