//! Why a page is or is not due, in sentences. That ranks all pages, which takes a second or more in a large store; so it has an address of
//! its own.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;

use crate::dashboard::Dashboard;
use crate::dashboard::links;
use crate::dashboard::shown::{Foreign, MixedText, tab};
use crate::dashboard::trouble::Trouble;
use crate::look::page_view::url_of;
use crate::look::why::why;

use super::page::numbered;
use super::{PageFrame, drawn};

#[derive(Template)]
#[template(path = "page_why.html", config = "src/dashboard/askama.toml")]
struct WhyOfAPage {
    frame: PageFrame,
    page: String,
    url: String,
    sentences: Vec<String>,
}

/// The reasons of a page.
pub(crate) async fn reasons(
    State(site): State<Dashboard>,
    Path(id): Path<String>,
) -> Result<Response, Trouble> {
    let id = numbered(&id)?;
    let url = site.look(move |store| url_of(store, id)).await?;
    let (now, zone) = (site.now(), site.screen().zone);
    let found = site.ask_crawler(move |crawler| why(crawler, &url, now, &zone)).await?;
    drawn(&WhyOfAPage {
        frame: PageFrame::new(&site, "/pages", format!("Why {}", tab(&found.page))),
        page: links::page(id),
        url: found.page,
        sentences: found.sentences,
    })
}
