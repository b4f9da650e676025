//! Why a page is or is not due, in sentences. That ranks all pages, which takes a second or more in a large store; so it has an address of
//! its own, and one request at a time is answered.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use tokio::sync::Semaphore;

use crate::dashboard::Dashboard;
use crate::dashboard::links;
use crate::dashboard::shown::{Foreign, tab};
use crate::dashboard::trouble::Trouble;
use crate::look::page_view::url_of;
use crate::look::why::{Why, why};

use super::page::numbered;
use super::{PageFrame, drawn};

/// Each ranking takes memory for all pages.
static TURN: Semaphore = Semaphore::const_new(1);
/// Requests that wait for their turn at most.
const MOST_WAITING: usize = 8;
static WAITING: Semaphore = Semaphore::const_new(MOST_WAITING);

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
    let found = asked(&site, url).await?;
    drawn(&WhyOfAPage {
        frame: PageFrame::new(&site, "/pages", format!("Why {}", tab(&found.page))),
        page: links::page(id),
        url: found.page,
        sentences: found.sentences,
    })
}

async fn asked(site: &Dashboard, url: String) -> Result<Why, Trouble> {
    let _waiting = WAITING.try_acquire().map_err(|_| Trouble::Busy)?;
    let turn = TURN.acquire().await.map_err(|_| Trouble::Busy)?;
    let (asker, now, zone) = (site.clone(), site.now(), site.screen().zone);
    let done = tokio::task::spawn_blocking(move || {
        // A request that was given up still ranks to its end; so it keeps its turn until then.
        let _turn = turn;
        let mut crawler =
            (asker.settings().looking)().map_err(|error| Trouble::failed("the next cycle", &error))?;
        Ok(why(&mut crawler, &url, now, &zone)?)
    });
    done.await.map_err(|error| Trouble::failed("a request", &error))?
}
