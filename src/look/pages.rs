//! The pages of a store, filtered, one after the other.

use crate::observation::Life;
use crate::store::{PageFilter, PageRow, Store, StoreError};

/// The state that the list gives another spelling of a page.
pub(crate) const ALIAS: &str = "alias";

/// Narrows a filter to the pages in that state; `Err` has the names of the states there are.
pub fn in_state(filter: PageFilter, state: &str) -> Result<PageFilter, Vec<&'static str>> {
    if state == ALIAS {
        return Ok(PageFilter { only_aliases: true, ..filter });
    }
    match Life::from_name(state) {
        Some(life) => Ok(PageFilter { life: Some(life), ..filter }),
        None => Err(Life::ALL.iter().map(|life| life.name()).chain([ALIAS]).collect()),
    }
}

/// Calls `each` for every page that passes the filter, in order of their ids, until it fails; no more than one row is
/// held at a time.
pub fn pages<E: From<StoreError>>(
    store: &mut dyn Store,
    filter: &PageFilter,
    mut each: impl FnMut(PageRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut done = Ok(());
    store.list_pages(filter, &mut |page| {
        if done.is_ok() {
            done = each(page);
        }
    })?;
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_a_life_or_an_alias() {
        let gone = in_state(PageFilter::default(), Life::Gone.name()).expect("a state");
        assert_eq!((gone.life, gone.only_aliases), (Some(Life::Gone), false));
        let alias = in_state(PageFilter::default(), ALIAS).expect("a state");
        assert_eq!((alias.life, alias.only_aliases), (None, true));
        let known = in_state(PageFilter::default(), "asleep").expect_err("no state");
        assert_eq!(known.last(), Some(&ALIAS));
    }
}
