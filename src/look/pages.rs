//! The pages of a store, filtered, one after the other.

use crate::fetch::reason;
use crate::fetch::visit::Waiting;
use crate::observation::Life;
use crate::store::{PageFilter, PageRow, Store, StoreError};

use super::waits;

/// The state that the list gives another spelling of a page.
pub(crate) const ALIAS: &str = "alias";

/// The names of the states of a page.
pub fn states() -> impl Iterator<Item = &'static str> {
    Life::ALL.iter().map(|life| life.name()).chain([ALIAS])
}

/// Narrows a filter to the pages in that state; `None` if there is no such state.
pub fn in_state(filter: PageFilter, state: &str) -> Option<PageFilter> {
    if state == ALIAS {
        return Some(PageFilter { only_aliases: true, ..filter });
    }
    Life::from_name(state).map(|life| PageFilter { life: Some(life), ..filter })
}

/// The page with its reasons in words: why its last visit brought nothing, and why its host waits. A page that was never
/// visited waits for its host.
pub(super) fn in_words(mut page: PageRow) -> PageRow {
    let why = page.host_waits_for.as_deref().and_then(Waiting::from_name);
    page.host_reason = why.map(|why| waits::in_words(why, page.host_reason.as_deref()));
    page.reason = match &page.outcome {
        Some(outcome) => reason::in_words(outcome, page.status, page.reason.as_deref()),
        None => page.host_reason.clone(),
    };
    page
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
            done = each(in_words(page));
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
        assert!(in_state(PageFilter::default(), "asleep").is_none());
        assert!(states().all(|state| in_state(PageFilter::default(), state).is_some()));
    }
}
