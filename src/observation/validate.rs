//! How far validators are trusted: when a page is asked for itself, and not whether it changed.

use super::told::http_date;
use crate::time::Timestamp;

/// Visits in a row that may be answered with 304. The next one asks for the page itself: a server or a cache that
/// always says 304 would hide every change for ever. One visit in ten costs a tenth of the bytes that validators save.
pub const MOST_CONFIRMATIONS: u32 = 9;

/// A `Last-Modified` must be this many seconds earlier than the answer. It has no fractions, so an edit in the second of the
/// visit has the same date as the one before it (RFC 9110 §8.8.2.2). One second is for that, one for a clock that was
/// read a little before the page.
const SECONDS_BEFORE: f64 = 2.0;

/// Is it time to ask for the page itself? `confirmations`: the latest visits in a row that were answered with 304.
pub fn wants_body(confirmations: u32) -> bool {
    confirmations >= MOST_CONFIRMATIONS
}

/// Can the server be asked by this `Last-Modified` whether the page changed? `date` is the `Date` of the same answer, and
/// `at` our own clock, for servers that send none.
pub fn is_safe_date(last_modified: &str, date: Option<&str>, at: Timestamp) -> bool {
    let answered = date.and_then(http_date).unwrap_or(at);
    http_date(last_modified).is_some_and(|modified| answered.since(modified).seconds() >= SECONDS_BEFORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_seconds(784_111_777);

    #[test]
    fn the_tenth_visit_in_a_row_asks_for_the_page_itself() {
        assert_eq!([0, 8, 9, 10].map(wants_body), [false, false, true, true]);
    }

    #[test]
    fn a_date_of_the_second_of_the_visit_is_not_asked_by() {
        let dated = |seconds: u32| format!("Sun, 06 Nov 1994 08:49:{seconds:02} GMT");
        let safe = |modified: u32, answered: u32| is_safe_date(&dated(modified), Some(&dated(answered)), AT);
        assert!(safe(35, 37) && safe(1, 37));
        assert!(!safe(37, 37) && !safe(36, 37), "an edit within the second would be missed");
        assert!(!safe(40, 37), "a date of the future");
    }

    #[test]
    fn without_a_date_of_the_server_our_clock_decides() {
        assert!(is_safe_date("Sun, 06 Nov 1994 08:49:35 GMT", None, AT));
        assert!(!is_safe_date("Sun, 06 Nov 1994 08:49:36 GMT", Some("soon"), AT));
        assert!(!is_safe_date("yesterday", None, AT), "it can't be compared with anything");
    }
}
