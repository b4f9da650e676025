//! Cells of CSV that a spreadsheet does not run.
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@` or a control character for a formula, and much of what we
//! write was said by strangers. Such a cell gets an apostrophe in front, which spreadsheets take for "this is text"; so does
//! one that has the apostrophes already, so that reading can take exactly one away. A number stays as it is.

use std::borrow::Cow;

/// The cell as it is written.
pub fn guarded(cell: &str) -> Cow<'_, str> {
    let is_number = || cell.parse().is_ok_and(f64::is_finite);
    if would_run(cell) && !is_number() { Cow::Owned(format!("'{cell}")) } else { Cow::Borrowed(cell) }
}

/// The cell as it was before it was written.
pub(super) fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| would_run(rest)).unwrap_or(cell)
}

/// Does a formula begin here, perhaps after apostrophes?
fn would_run(cell: &str) -> bool {
    let first = cell.trim_start_matches('\'').chars().next();
    first.is_some_and(|first| matches!(first, '=' | '+' | '-' | '@') || first.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn formulas_get_an_apostrophe_and_numbers_do_not() {
        for (cell, written) in [
            ("=1+1", "'=1+1"),
            ("+x", "'+x"),
            ("-x", "'-x"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("'=1", "''=1"),
            ("-inf", "'-inf"),
            ("-1.5e3", "-1.5e3"),
            ("+7", "+7"),
            ("https://example.org/=", "https://example.org/="),
            ("it's", "it's"),
            ("'", "'"),
            ("", ""),
        ] {
            assert_eq!(guarded(cell), written, "{cell}");
        }
    }

    proptest! {
        #[test]
        fn a_cell_is_read_as_it_was(cell in "['=+@\\-\t0-9a]{0,6}") {
            let written = guarded(&cell);
            prop_assert_eq!(unguarded(&written), &cell);
        }
    }
}
