//! Single fields of text files: names, weights, times and sites, parsed and checked.

use url::{Position, Url};

use super::group::{DAY_MS, FARTHEST_MS};

/// Checks a name, which goes into tables with tabs: it is not empty and has no control characters.
pub(super) fn check_name<'a>(what: &str, name: &'a str) -> Result<&'a str, String> {
    if name.is_empty() {
        return Err(format!("the {what} is empty"));
    }
    match name.chars().find(|letter| letter.is_control()) {
        Some(letter) => Err(format!("the {what} has the control character {letter:?}")),
        None => Ok(name),
    }
}

/// Parses a weight: finite and not below 0.
pub(super) fn check_weight(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("`{text}` is no weight; it must be a number, 0 or more"))
}

/// Parses a time: `2012-11-30`, `2012-11-30T08:00:00Z` or milliseconds since 1970.
pub(super) fn parse_time(text: &str) -> Option<i64> {
    if let Ok(time_ms) = text.parse::<i64>() {
        return Some(time_ms).filter(|time_ms| time_ms.unsigned_abs() <= FARTHEST_MS.unsigned_abs());
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(time.as_millisecond());
    }
    let date: jiff::civil::Date = text.parse().ok()?;
    let midnight = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(midnight.timestamp().as_millisecond())
}

/// A time for people: the date alone at midnight.
pub(super) fn show_time(time_ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(time_ms) {
        Ok(time) if time_ms.rem_euclid(DAY_MS) == 0 => {
            time.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
        }
        Ok(time) => time.to_string(),
        Err(_) => time_ms.to_string(),
    }
}

/// The host of a URL, with the port if it is not the usual one; `None` if this is no URL.
pub(super) fn site_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let site = url.has_host().then(|| &url[Position::BeforeHost..Position::AfterPort])?;
    (!site.is_empty()).then(|| site.to_owned())
}

/// Is a page of `site` one of the site that was asked for: a host, with or without its port or its scheme?
pub(super) fn is_of_site(site: &str, wanted: &str) -> bool {
    let wanted = wanted.split_once("://").map_or(wanted, |(_, rest)| rest).trim_end_matches('/');
    let Some((start, rest)) = site.split_at_checked(wanted.len()) else { return false };
    start.eq_ignore_ascii_case(wanted) && !start.is_empty() && (rest.is_empty() || rest.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_named_by_its_host() {
        for wanted in ["example.org", "Example.org", "example.org:8080", "http://example.org:8080/"] {
            assert!(is_of_site("example.org:8080", wanted), "{wanted}");
        }
        for wanted in ["", "example", "example.org:80", "www.example.org", "example.org.uk", "ü"] {
            assert!(!is_of_site("example.org:8080", wanted), "{wanted}");
        }
    }

    #[test]
    fn times_are_read_in_three_ways() {
        assert_eq!(parse_time("1970-01-02"), Some(86_400_000));
        assert_eq!(parse_time("1970-01-02T00:00:00.5Z"), Some(86_400_500));
        assert_eq!(parse_time("-5"), Some(-5));
        assert_eq!(parse_time("soon"), None);
        assert_eq!([86_400_000, 86_400_500].map(show_time), ["1970-01-02", "1970-01-02T00:00:00.5Z"]);
        for time_ms in [-1, 0, 86_399_999, 1_700_000_000_123] {
            assert_eq!(parse_time(&show_time(time_ms)), Some(time_ms));
        }
    }
}
