//! The pages, a file each: a handler, and the struct of its template.

pub(super) mod changes;
pub(super) mod list;
pub(super) mod login;
pub(super) mod overview;
pub(super) mod page;
pub(super) mod page_text;
mod page_versions;
pub(super) mod page_visits;
pub(super) mod page_why;
pub(super) mod policies;
pub(super) mod search;
pub(super) mod site;
pub(super) mod sites;
mod visit_rows;

use askama::Template;
use axum::response::{Html, IntoResponse, Response};

use super::trouble::Trouble;
use super::{Dashboard, assets};

/// What the frame around every page needs: `templates/base.html`.
pub(crate) struct PageFrame {
    /// The title of the page.
    pub title: String,
    /// The entry of the navigation that the page belongs to, by its address; empty: none.
    pub here: &'static str,
    /// The name of the store's file.
    pub store: String,
    /// A token is needed here, so one can log out.
    pub has_token: bool,
    /// The version of style and scripts.
    pub assets: &'static str,
}

/// The navigation: address and name.
pub(crate) const NAVIGATION: [(&str, &str); 6] = [
    ("/", "Overview"),
    ("/changes", "Changes"),
    ("/sites", "Sites"),
    ("/pages", "Pages"),
    ("/policies", "Policies"),
    ("/search", "Search"),
];

impl PageFrame {
    /// The frame of a page that belongs to this entry of the navigation.
    pub(crate) fn new(site: &Dashboard, here: &'static str, title: impl Into<String>) -> Self {
        let settings = site.settings();
        let store = settings.store.file_name().map(|name| name.to_string_lossy().into_owned());
        Self {
            title: title.into(),
            here,
            store: store.unwrap_or_default(),
            has_token: settings.guard.token.is_some(),
            assets: assets::version(),
        }
    }

    /// The entries of the navigation.
    pub(crate) fn navigation(&self) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
        NAVIGATION.iter()
    }
}

/// A page as an answer.
pub(crate) fn drawn(page: &impl Template) -> Result<Response, Trouble> {
    let text = page.render().map_err(|error| Trouble::failed("drawing a page", &error))?;
    Ok(Html(text).into_response())
}
