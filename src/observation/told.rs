//! Facts that a page or its site gives about its changes besides the content: dates, and entries of a feed.

use crate::time::Timestamp;

/// The facts that came with a visit, as far as they teach anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// When the page says that it last changed.
    pub date: Option<Timestamp>,
    /// Entries of a feed since the visit before, if none can have been missed.
    pub events: Option<u32>,
    /// Pages found on it that were not known.
    pub new_links: u32,
}

/// When a page says that it last changed: by the `Last-Modified` of this answer, else by the one it gave before if it
/// has not changed since, else by its sitemap.
pub fn date(
    header: Option<&str>,
    earlier_header: Option<&str>,
    sitemap: Option<Timestamp>,
    changed: Option<bool>,
) -> Option<Timestamp> {
    let header = header.or(earlier_header.filter(|_| changed == Some(false)));
    header.and_then(http_date).or(sitemap)
}

/// A date as HTTP writes it.
pub(super) fn http_date(text: &str) -> Option<Timestamp> {
    let since = httpdate::parse_http_date(text).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_seconds(i64::try_from(since.as_secs()).ok()?))
}

/// Entries of a feed that are younger than the visit before. `dates` are those of its entries, in UTC seconds. `None` if
/// there is nothing to compare with, if some entries may have been pushed out, if they don't explain what changed, or if
/// some are of the future: then the dates are not those of changes.
pub fn events(
    dates: Option<&[i64]>,
    seen_at: Option<Timestamp>,
    at: Timestamp,
    changed: Option<bool>,
) -> Option<u32> {
    let (dates, since, changed) = (dates?, seen_at?, changed?);
    let moments = || dates.iter().map(|date| Timestamp::from_seconds(*date));
    let newer = moments().filter(|moment| *moment > since).count();
    let complete = newer < dates.len() && moments().all(|moment| moment <= at);
    (complete && (newer > 0) == changed).then(|| u32::try_from(newer).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const NEW: &str = "Mon, 07 Nov 1994 08:49:37 GMT";
    const OLD_SECONDS: i64 = 784_111_777;

    #[test]
    fn a_page_that_has_not_changed_is_still_of_the_date_it_gave() {
        let of = |seconds| Some(Timestamp::from_seconds(seconds));
        assert_eq!(date(Some(NEW), Some(OLD), None, Some(false)), of(OLD_SECONDS + 86_400));
        assert_eq!(date(None, Some(OLD), None, Some(false)), of(OLD_SECONDS));
        assert_eq!(date(None, Some(OLD), None, Some(true)), None);
        assert_eq!(date(None, Some(OLD), None, None), None);
    }

    #[test]
    fn a_sitemap_tells_where_the_page_does_not() {
        let listed = Some(Timestamp::from_seconds(5));
        assert_eq!(date(None, None, listed, None), listed);
        assert_eq!(date(Some("yesterday"), None, listed, Some(true)), listed);
        assert_eq!(date(Some(OLD), None, listed, Some(true)), Some(Timestamp::from_seconds(OLD_SECONDS)));
    }

    #[test]
    fn entries_count_if_none_can_have_been_missed() {
        let moment = |seconds| Timestamp::from_seconds(seconds);
        let between = |dates: &[i64], changed| events(Some(dates), Some(moment(100)), moment(200), changed);
        assert_eq!(between(&[190, 150, 90], Some(true)), Some(2));
        assert_eq!(between(&[90, 80], Some(false)), Some(0));
        assert_eq!(between(&[190, 150], Some(true)), None, "some may have been pushed out");
        assert_eq!(between(&[90, 80], Some(true)), None, "they don't explain the change");
        assert_eq!(between(&[190, 90], Some(false)), None, "nor that there was none");
        assert_eq!(between(&[300, 150, 90], Some(true)), None, "one is of the future");
        assert_eq!(between(&[], Some(false)), None);
        assert_eq!(between(&[150, 90], None), None);
        assert_eq!(events(Some(&[150, 90]), None, moment(200), Some(true)), None);
    }
}
