//! Orders of lists of pages as SQL: every order in segments, each of which an index gives from any place on.
//!
//! Behind a page of a list come those that are equal in the order and have a larger number, then those that differ. One condition for both
//! would be read from the first equal page on: with a million pages that never changed, that is the whole list.

use rusqlite::types::Value;

use crate::store::{OrderValue, PageCursor, PageOrder};

/// A part of a list that one query gives.
pub(super) struct Segment {
    /// Which pages, as SQL that follows others; `{}` stands for a value.
    pub(super) which: String,
    pub(super) order: String,
    /// The value.
    pub(super) value: Option<Value>,
}

/// How a list is ordered.
struct SortedBy {
    name: &'static str,
    /// The smallest first.
    is_rising: bool,
    /// What says that a page has the smallest value there is, and that it has another: most pages have the smallest, and no index has
    /// them.
    least: Option<(&'static str, &'static str)>,
}

fn column(order: PageOrder) -> Option<SortedBy> {
    let rising = |name| SortedBy { name, is_rising: true, least: None };
    let falling = |name| SortedBy { name, is_rising: false, least: None };
    Some(match order {
        PageOrder::Number => return None,
        PageOrder::Url => rising("page.url"),
        PageOrder::Visits => falling("page.visits"),
        PageOrder::Found => falling("page.found_at"),
        PageOrder::Weight => falling("page.weight"),
        PageOrder::Changes => {
            SortedBy { least: Some(("page.changes = 0", "page.changes > 0")), ..falling("page.changes") }
        }
        PageOrder::Failures => {
            SortedBy { least: Some(("page.failures = 0", "page.failures > 0")), ..falling("page.failures") }
        }
        PageOrder::Due => {
            SortedBy { least: Some(("page.due_at <= 0", "page.due_at > 0")), ..rising("page.due_at") }
        }
        PageOrder::LastVisit => SortedBy {
            least: Some(("page.last_visit_at IS NULL", "page.last_visit_at IS NOT NULL")),
            ..falling("page.last_visit_at")
        },
        PageOrder::Bytes => SortedBy {
            least: Some(("page.body_bytes IS NULL", "page.body_bytes IS NOT NULL")),
            ..falling("page.body_bytes")
        },
    })
}

/// The segments of a list, in their order.
pub(super) fn segments(order: PageOrder, reversed: bool, after: Option<&PageCursor>) -> Vec<Segment> {
    let (beyond, by_id) = if reversed { ("<", "page.id DESC") } else { (">", "page.id") };
    let id = after.map(|place| place.page.0);
    let behind = id.map_or_else(String::new, |id| format!(" AND page.id {beyond} {id}"));
    let segment = |which: String, order: &str, value: Option<Value>| Segment {
        which: if which.is_empty() { which } else { format!("AND {which}") },
        order: order.to_owned(),
        value,
    };
    let Some(SortedBy { name, is_rising, least }) = column(order) else {
        return vec![segment(format!("1{behind}"), by_id, None)];
    };
    let is_rising = is_rising != reversed;
    let (further, direction) = if is_rising { (">", "") } else { ("<", " DESC") };
    let by_value = format!("{name}{direction}, {by_id}");
    let others = least.map_or("", |(_, others)| others);
    let and = if others.is_empty() { "" } else { " AND " };
    let all_others = || segment(others.to_owned(), &by_value, None);
    let value = after.and_then(|place| value(&place.value));
    // Pages of the smallest value come first in a rising list and last in a falling one.
    let is_in_least = match (&value, least) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(Value::Integer(value)), Some((least, _))) => *value <= 0 && !least.ends_with("NULL"),
        _ => false,
    };
    let mut list = Vec::new();
    match (after, value) {
        (Some(_), Some(value)) if !is_in_least => {
            if let Some((least, _)) = least.filter(|_| !is_rising) {
                list.push(segment(least.to_owned(), by_id, None));
            }
            let further = format!("{name} {further} {{}}{and}{others}");
            list.insert(0, segment(further, &by_value, Some(value.clone())));
            let equal = format!("{name} = {{}}{and}{others}{behind}");
            list.insert(0, segment(equal, by_id, Some(value)));
        }
        (after, _) => {
            let is_behind_others = !is_rising;
            if let Some((least, _)) = least {
                list.push(segment(format!("{least}{behind}"), by_id, None));
            }
            match (after.is_some(), is_behind_others) {
                (false, true) => list.insert(0, all_others()),
                (_, false) => list.push(all_others()),
                // The place is behind all of them.
                (true, true) => {}
            }
        }
    }
    list
}

fn value(value: &OrderValue) -> Option<Value> {
    match value {
        OrderValue::Nothing => None,
        OrderValue::Number(number) => Some(Value::Integer(*number)),
        OrderValue::Weight(weight) => Some(Value::Real(*weight)),
        OrderValue::Text(text) => Some(Value::Text(text.clone())),
    }
}
