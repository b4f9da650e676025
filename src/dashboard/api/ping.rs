//! `POST /api/v1/ping`: somebody says that pages have changed. The next cycle takes it as a signal, as one of `freshet ping`.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::crawl::pings::{Pinged, leave_pings};
use crate::dashboard::Dashboard;
use crate::dashboard::guard::Shown;
use crate::dashboard::trouble::{ProblemDetails, Trouble};
use crate::look::page::page_url;
use crate::store;

use super::{ApiTrouble, Documented, documented};

/// Longest list that is read.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// Most addresses of a list, as IndexNow has it.
const MOST_URLS: usize = 10_000;

/// One page, or a list as IndexNow sends it.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[allow(
    dead_code,
    reason = "the key and the host of IndexNow are read and not needed: the token says who it is"
)]
pub(crate) enum PingBody {
    /// One page.
    One(PingOne),
    /// Pages as IndexNow sends them.
    Many(PingMany),
}

/// One page that has changed.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PingOne {
    /// Its address.
    #[schema(example = "https://example.org/news")]
    url: String,
}

/// Pages of a host that have changed, as IndexNow sends them (indexnow.org).
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "see PingBody")]
pub(crate) struct PingMany {
    /// The host of the pages.
    #[schema(example = "example.org")]
    host: Option<String>,
    /// The key of IndexNow. It is not looked at: the token says who it is.
    key: Option<String>,
    /// The addresses.
    #[schema(max_items = 10_000)]
    url_list: Vec<String>,
}

/// What becomes of the pages.
#[derive(Serialize, ToSchema)]
pub(crate) struct PingAnswer {
    /// In the order of the request.
    pages: Vec<Pinged>,
    /// Pages that are noted: those that are known or new.
    noted: usize,
}

#[utoipa::path(
    post, path = "/api/v1/ping", tag = "changes", summary = "Tell the next cycle that pages have changed",
    description = "Needs the token of the server. A page that the store does not know is taken in if the scope of a seed admits it.",
    request_body = PingBody,
    responses(
        (status = 200, description = "What becomes of each page", body = Documented<PingAnswer>),
        (status = 403, description = "The server was started without a token, so it takes no pings", body = ProblemDetails, content_type = "application/problem+json"),
        (status = 413, description = "The list is too long"),
        ApiTrouble
    ),
    security(("token" = []), ("login" = []))
)]
pub(crate) async fn ping(
    State(site): State<Dashboard>,
    shown: Option<Extension<Shown>>,
    body: Bytes,
) -> Result<Response, Trouble> {
    if shown.is_none() {
        let said = "pings need a token: start the server with --token-file FILE, and send `Authorization: Bearer TOKEN`";
        return Err(Trouble::Denied(said.to_owned()));
    }
    let body: PingBody = serde_json::from_slice(&body).map_err(|_| {
        Trouble::BadQuery(
            "the body must be JSON: {\"url\": \"https://example.org/\"}, or {\"host\": …, \"key\": …, \"urlList\": […]} as IndexNow has it"
                .to_owned(),
        )
    })?;
    let texts = match body {
        PingBody::One(one) => vec![one.url],
        PingBody::Many(many) => many.url_list,
    };
    if texts.is_empty() || texts.len() > MOST_URLS {
        return Err(Trouble::BadQuery(format!("a list has from 1 to {MOST_URLS} addresses")));
    }
    // A list with an address that can't be read is refused as a whole, as the command does.
    let normaliser = &site.settings().observer.normaliser;
    let urls = texts.iter().map(|text| page_url(text, normaliser)).collect::<Result<Vec<_>, _>>()?;
    let (now, asker) = (site.now(), site.clone());
    // A connection of its own, which is closed again: those that read can't write.
    let noted = site.look(move |_| {
        let settings = asker.settings();
        let mut store = store::open_to_ping(&settings.store)?;
        Ok(leave_pings(&mut *store, &settings.scope, &settings.observer.normaliser, &urls, now)?)
    });
    let pages = noted.await?;
    let noted = pages.iter().filter(|page| page.reason.is_none()).count();
    documented(&PingAnswer { pages, noted })
}
