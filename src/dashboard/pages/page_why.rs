//! Why a page is or is not due, in sentences. That ranks all pages, which takes seconds in a large store; so it has an address of its own,
//! and says that it is being worked out until then.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;

use crate::dashboard::Dashboard;
use crate::dashboard::links;
use crate::dashboard::reasons::reasons_of;
use crate::dashboard::shown::{Foreign, MixedText, Moment, tab};
use crate::dashboard::trouble::Trouble;
use crate::look::page_view::url_of;

use super::page::numbered;
use super::{PageFrame, drawn};

#[derive(Template)]
#[template(path = "page_why.html", config = "src/dashboard/askama.toml")]
struct WhyOfAPage {
    frame: PageFrame,
    page: String,
    url: String,
    /// When it was worked out; `None`: it is being worked out.
    at: Option<Moment>,
    sentences: Vec<String>,
}

/// The reasons of a page.
pub(crate) async fn reasons(
    State(site): State<Dashboard>,
    Path(id): Path<String>,
) -> Result<Response, Trouble> {
    let id = numbered(&id)?;
    let url = site.look(move |store| url_of(store, id)).await?;
    let found = reasons_of(&site, url.clone(), site.screen().zone).await?;
    let (now, screen) = (site.now(), site.screen());
    let at = found.as_ref().map(|(_, at)| Moment::new(*at, now, &screen));
    let (url, sentences) = found.map_or((url, Vec::new()), |(why, _)| (why.page, why.sentences));
    drawn(&WhyOfAPage {
        frame: PageFrame::new(&site, "/pages", format!("Why {}", tab(&url))),
        page: links::page(id),
        url,
        at,
        sentences,
    })
}
