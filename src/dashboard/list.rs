//! Tables that can be sorted, filtered and paged: the links of their heads and feet.
//!
//! Paging is by keys: a page of the table begins after the last row of the one before, so it is as fast at the end of a long
//! table as at its start. The way back is in the address: the keys of the pages before, the latest last.

use super::links::Href;

/// Rows of a page of a table.
pub(crate) const ROWS: u64 = 50;

/// Pages before that an address remembers. Beyond that, back leads to the first page.
const MOST_BACK: usize = 12;

/// Between the keys of the pages before. No key has a blank.
const BETWEEN: char = ' ';

/// A column of a table.
pub(crate) struct ListColumn {
    /// The value of `sort` that sorts by it; empty: the table can't be.
    pub key: &'static str,
    pub label: &'static str,
    pub is_number: bool,
    /// Sorted by it, the largest comes first.
    pub is_falling: bool,
}

impl ListColumn {
    /// A column of text, the least first.
    pub(crate) const fn text(key: &'static str, label: &'static str) -> Self {
        Self { key, label, is_number: false, is_falling: false }
    }

    /// A column of numbers, the largest first.
    pub(crate) const fn number(key: &'static str, label: &'static str) -> Self {
        Self { key, label, is_number: true, is_falling: true }
    }

    /// A column of times, the latest first.
    pub(crate) const fn time(key: &'static str, label: &'static str) -> Self {
        Self { key, label, is_number: false, is_falling: true }
    }
}

/// The head of a column, as the template `list.html` draws it.
pub(crate) struct ListHead {
    pub label: &'static str,
    /// Sorts by the column.
    pub href: Option<String>,
    /// How the table is sorted by it, if it is: the value of `aria-sort`.
    pub sorted: Option<&'static str>,
    pub is_number: bool,
}

/// The name of an order, and whether it is the other way round: `-changes`.
pub(crate) fn way(sort: &str) -> (&str, bool) {
    sort.strip_prefix('-').map_or((sort, false), |name| (name, true))
}

/// The heads of the columns of a table that is sorted by `sort`. `here` is its address with the filters alone.
pub(crate) fn heads(columns: &[ListColumn], here: &Href, sort: &str) -> Vec<ListHead> {
    let (name, is_reversed) = way(sort);
    let head = |column: &ListColumn| {
        let is_sorted = !column.key.is_empty() && column.key == name;
        // Once more turns the order around.
        let next = if is_sorted && !is_reversed { format!("-{}", column.key) } else { column.key.to_owned() };
        ListHead {
            label: column.label,
            href: (!column.key.is_empty()).then(|| here.clone().with("sort", next).written()),
            sorted: is_sorted.then_some(if column.is_falling != is_reversed {
                "descending"
            } else {
                "ascending"
            }),
            is_number: column.is_number,
        }
    };
    columns.iter().map(head).collect()
}

/// The foot of a table: the ways to the pages before and after.
#[derive(Default)]
pub(crate) struct ListFoot {
    pub first: Option<String>,
    pub previous: Option<String>,
    pub next: Option<String>,
}

impl ListFoot {
    /// `here` is the address of the table with filters and order; `after` and `back` are as the request had them; `last` is the key
    /// of the last row, if more rows follow.
    pub(crate) fn new(here: &Href, after: Option<&str>, back: Option<&str>, last: Option<&str>) -> Self {
        let before: Vec<&str> =
            back.into_iter().flat_map(|back| back.split(BETWEEN)).filter(|key| !key.is_empty()).collect();
        let joined = |keys: &[&str]| keys.join(&BETWEEN.to_string());
        let previous = after.map(|_| match before.split_last() {
            Some((key, earlier)) => here.clone().with("after", key).with_some("back", Some(joined(earlier))),
            None => here.clone(),
        });
        let next = last.map(|last| {
            let mut back = before.clone();
            back.extend(after);
            let back = back.get(back.len().saturating_sub(MOST_BACK)..).unwrap_or_default();
            here.clone().with("after", last).with_some("back", Some(joined(back)))
        });
        Self {
            first: after.map(|_| here.written()),
            previous: previous.map(|href| href.written()),
            next: next.map(|href| href.written()),
        }
    }

    /// Is there another page?
    pub(crate) fn is_needed(&self) -> bool {
        self.first.is_some() || self.next.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_gets_forward_and_back_again() {
        let here = Href::to("/pages").with("sort", "url");
        let first = ListFoot::new(&here, None, None, Some("k1"));
        assert_eq!((first.first, first.previous), (None, None));
        assert_eq!(first.next.as_deref(), Some("/pages?sort=url&after=k1"));
        let second = ListFoot::new(&here, Some("k1"), None, Some("k2"));
        assert_eq!(second.previous.as_deref(), Some("/pages?sort=url"));
        assert_eq!(second.next.as_deref(), Some("/pages?sort=url&after=k2&back=k1"));
        let third = ListFoot::new(&here, Some("k2"), Some("k1"), None);
        assert_eq!(third.previous.as_deref(), Some("/pages?sort=url&after=k1"));
        assert!(third.next.is_none() && third.is_needed());
        assert!(!ListFoot::new(&here, None, None, None).is_needed());
    }

    #[test]
    fn an_address_does_not_grow_without_end() {
        let back: Vec<String> = (0..100).map(|key| format!("k{key}")).collect();
        let foot = ListFoot::new(&Href::to("/pages"), Some("k"), Some(&back.join(" ")), Some("l"));
        assert!(foot.next.is_some_and(|next| next.len() < 100));
    }

    #[test]
    fn the_column_that_sorts_says_so() {
        let columns = [ListColumn::text("url", "page"), ListColumn::number("", "size")];
        let heads = heads(&columns, &Href::to("/pages").with("host", "a"), "url");
        assert_eq!(heads[0].href.as_deref(), Some("/pages?host=a&sort=-url"));
        assert_eq!((heads[0].sorted, heads[1].sorted), (Some("ascending"), None));
        assert!(heads[1].href.is_none());
    }
}
