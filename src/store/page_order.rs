//! The order of a list of pages, and the place in it where a reader goes on.

use std::fmt;
use std::str::FromStr;

use super::PageRow;
use crate::page::PageId;
use crate::time::Timestamp;

/// The order of a list of pages. Pages that are equal in it are in the order of their numbers.
/// [`super::PageFilter::reversed`] turns the whole list around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageOrder {
    /// As they were found.
    #[default]
    Number,
    /// By address.
    Url,
    /// Most changes first.
    Changes,
    /// Most visits first.
    Visits,
    /// Most failures in a row first.
    Failures,
    /// Latest visit first, those without a visit last.
    LastVisit,
    /// Latest found first.
    Found,
    /// Largest stored body first, those without one last.
    Bytes,
    /// Most important first.
    Weight,
    /// Those that may be visited first, first.
    Due,
}

/// What a page is ordered by.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderValue {
    /// It has nothing of the kind: it was never visited, or has no body.
    Nothing,
    /// A count, a size, or a time in milliseconds.
    Number(i64),
    /// A weight.
    Weight(f64),
    /// An address.
    Text(String),
}

/// A place in a list of pages: behind this page. It stays right when pages come or go. As text it is a word for a URL's query.
#[derive(Clone, Debug, PartialEq)]
pub struct PageCursor {
    /// What the page was ordered by when it was listed.
    pub value: OrderValue,
    /// The page.
    pub page: PageId,
}

impl PageCursor {
    /// The place behind a row of a list in this order.
    pub fn behind(row: &PageRow, order: PageOrder) -> Self {
        let count = |count: u64| OrderValue::Number(i64::try_from(count).unwrap_or(i64::MAX));
        let time = |at: Timestamp| OrderValue::Number(at.millis());
        let value = match order {
            PageOrder::Number => OrderValue::Nothing,
            PageOrder::Url => OrderValue::Text(row.url.clone()),
            PageOrder::Changes => count(row.changes),
            PageOrder::Visits => count(row.visits),
            PageOrder::Failures => count(row.failures),
            PageOrder::LastVisit => row.last_visit_at.map_or(OrderValue::Nothing, time),
            PageOrder::Found => time(row.found_at),
            PageOrder::Bytes => row.bytes.map_or(OrderValue::Nothing, count),
            PageOrder::Weight => OrderValue::Weight(row.weight),
            PageOrder::Due => row.due_at.map_or(OrderValue::Number(0), time),
        };
        Self { value, page: PageId(row.id) }
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let page = self.page.0;
        match &self.value {
            OrderValue::Nothing => write!(out, "{page}"),
            OrderValue::Number(value) => write!(out, "{page}.n{value}"),
            // To the bit: a rounded weight would be another place.
            OrderValue::Weight(value) => write!(out, "{page}.w{:x}", value.to_bits()),
            OrderValue::Text(value) => write!(out, "{page}.t{value}"),
        }
    }
}

/// A text that is no place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no place in a list of pages; take the one that the page before names")]
pub struct NoCursor;

impl FromStr for PageCursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (page, value) = match text.split_once('.') {
            Some((page, value)) => (page, Some(value)),
            None => (text, None),
        };
        let page = PageId(page.parse().map_err(|_| NoCursor)?);
        let Some(value) = value else { return Ok(Self { value: OrderValue::Nothing, page }) };
        let value = if let Some(number) = value.strip_prefix('n') {
            OrderValue::Number(number.parse().map_err(|_| NoCursor)?)
        } else if let Some(bits) = value.strip_prefix('w') {
            let weight = f64::from_bits(u64::from_str_radix(bits, 16).map_err(|_| NoCursor)?);
            OrderValue::Weight(Some(weight).filter(|weight| !weight.is_nan()).ok_or(NoCursor)?)
        } else {
            OrderValue::Text(value.strip_prefix('t').ok_or(NoCursor)?.to_owned())
        };
        Ok(Self { value, page })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_from_its_text() {
        let values = [
            OrderValue::Nothing,
            OrderValue::Number(-7),
            OrderValue::Weight(0.1),
            OrderValue::Text("https://example.org/a.b?c=n1".to_owned()),
        ];
        for value in values {
            let place = PageCursor { value, page: PageId(12) };
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for text in ["", "x", "1.", "1.n", "1.nx", "1.wzz", "1.w7ff8000000000000", "1.q"] {
            assert_eq!(text.parse::<PageCursor>(), Err(NoCursor), "{text}");
        }
    }
}
