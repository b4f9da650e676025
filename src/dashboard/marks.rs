//! The marks of changes that were read: the only thing besides pings that the dashboard writes, through a connection that it opens
//! for each form and that waits its turn beside the crawl.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Dashboard;
use super::pages::overview;
use super::trouble::Trouble;
use crate::store;

/// Longest form that is read: the visits of a change of many pages.
const MOST_FORM_BYTES: usize = 256 << 10;

/// What a form asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct MarkForm {
    visits: Vec<i64>,
    /// All changes up to this visit.
    to: Option<i64>,
    is_read: bool,
    /// Come back to the list with what was read.
    with_read: bool,
}

impl MarkForm {
    /// `visits=1,2,3` or `to=17`, and `read=yes` or `no`.
    fn parse(form: &[u8]) -> Option<Self> {
        let mut parsed = Self { is_read: true, ..Self::default() };
        for (name, value) in url::form_urlencoded::parse(form) {
            match &*name {
                "visits" => {
                    let visits = value.split(',').filter(|visit| !visit.is_empty()).map(str::parse);
                    parsed.visits = visits.collect::<Result<_, _>>().ok()?;
                }
                "to" => parsed.to = Some(value.parse().ok()?),
                "read" => parsed.is_read = value == "yes",
                "with_read" => parsed.with_read = value == "yes",
                _ => {}
            }
        }
        Some(parsed)
    }
}

/// Marks changes as read, or as not read, and leads back to the list.
pub(super) async fn mark(State(site): State<Dashboard>, form: Bytes) -> Result<Response, Trouble> {
    let form =
        Some(form).filter(|form| form.len() <= MOST_FORM_BYTES).and_then(|form| MarkForm::parse(&form));
    let form = form.ok_or_else(|| {
        Trouble::BadQuery("`visits` are numbers with commas between them, `to` is one number".to_owned())
    })?;
    let back = overview::address(form.with_read);
    let (location, now) = (site.settings().store.clone(), site.now());
    let write = move || {
        let mut store = store::open_to_ping(&location)?;
        match form.to {
            Some(to) => store.mark_read_to(to),
            None => store.mark_read(&form.visits, form.is_read, now),
        }
    };
    let done = tokio::task::spawn_blocking(write).await;
    let done = done.map_err(|error| Trouble::failed("marking changes", &error))?;
    done.map_err(|error| Trouble::failed("marking changes", &error))?;
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, back)]).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_names_visits_or_the_last_of_all() {
        let form = |text: &str| MarkForm::parse(text.as_bytes());
        let read = MarkForm { visits: vec![3, 17], is_read: true, ..MarkForm::default() };
        assert_eq!(form("visits=3%2C17&read=yes"), Some(read));
        let unread = MarkForm { visits: vec![3], with_read: true, ..MarkForm::default() };
        assert_eq!(form("visits=3&read=no&with_read=yes"), Some(unread));
        assert_eq!(form("to=9"), Some(MarkForm { to: Some(9), is_read: true, ..MarkForm::default() }));
        assert_eq!((form("visits=3,x"), form("to=")), (None, None));
    }
}
