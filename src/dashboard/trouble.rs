//! Requests that got no page: what to say, with which status, as a page or as JSON.

use std::time::Duration;

use askama::Template;
use axum::extract::{FromRequestParts, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::look::LookError;
use crate::store::StoreError;

use super::Dashboard;
use super::pages::PageFrame;

/// How long a request may take. A stream of events begins at once and goes on.
const MOST_TIME: Duration = Duration::from_secs(30);

/// Why a request got no page. The sentences are for the person who asked, without places of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// There is no such thing; the sentence says what there is.
    NotFound(String),
    /// The question makes no sense; the sentence says what to do.
    BadQuery(String),
    /// It is not allowed; the sentence says what would be.
    Denied(String),
    /// The address does not take such requests.
    BadMethod,
    /// There is no store yet.
    NoStore,
    /// Too many people look at the moment.
    Busy,
    /// It took too long.
    TooSlow,
    /// Something is wrong here; the log of the server says what.
    Failed,
}

impl Trouble {
    /// Something went wrong that is not the asker's business: it is logged.
    pub(crate) fn failed(what: &str, error: &dyn std::fmt::Display) -> Self {
        tracing::warn!(%error, "{what} failed");
        Self::Failed
    }

    /// The status of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::BadQuery(_) => StatusCode::BAD_REQUEST,
            Self::Denied(_) => StatusCode::FORBIDDEN,
            Self::BadMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::NoStore | Self::Busy | Self::TooSlow => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// In a few words.
    fn title(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "Not found",
            Self::BadQuery(_) => "This can't be asked",
            Self::Denied(_) => "Not allowed",
            Self::BadMethod => "Not this way",
            Self::NoStore => "There is no store yet",
            Self::Busy => "Busy",
            Self::TooSlow => "Too slow",
            Self::Failed => "Something went wrong",
        }
    }

    /// What happened, and what to do.
    fn sentence(&self) -> String {
        match self {
            Self::NotFound(said) | Self::BadQuery(said) | Self::Denied(said) => said.clone(),
            Self::BadMethod => "this address can only be read; pings go to /api/v1/ping with POST".to_owned(),
            Self::NoStore => {
                "nothing was crawled yet: `freshet crawl --seeds FILE` makes the store, and this page shows it then".to_owned()
            }
            Self::Busy => "too many requests read the store at the moment; try again in a few seconds".to_owned(),
            Self::TooSlow => "the store was too slow to answer this; ask for less, or try again".to_owned(),
            Self::Failed => "the request could not be answered; the log of `freshet serve` says why".to_owned(),
        }
    }
}

impl From<LookError> for Trouble {
    fn from(error: LookError) -> Self {
        match error {
            LookError::Store(StoreError::Missing(_)) => Self::NoStore,
            LookError::Store(error) => Self::failed("reading the store", &error),
            LookError::Crawl(error) => Self::failed("the next cycle", &error),
            LookError::Follow(error) => Self::failed("the search index", &error),
            error if error.is_misuse() => Self::BadQuery(error.to_string()),
            error => Self::NotFound(error.to_string()),
        }
    }
}

impl IntoResponse for Trouble {
    /// The status alone; [`dress`] makes the page, because it knows what was asked for.
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        if matches!(self, Self::Busy | Self::TooSlow) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// An error as JSON has it (RFC 9457).
#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct ProblemDetails {
    /// In a few words.
    title: &'static str,
    /// The status of the answer.
    status: u16,
    /// What happened, and what to do.
    detail: String,
}

impl ProblemDetails {
    /// As an answer, with the headers of `head`.
    pub(super) fn answer(self, mut head: axum::http::response::Parts) -> Response {
        let body = serde_json::to_string(&self).unwrap_or_default();
        head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        Response::from_parts(head, body.into())
    }

    pub(super) fn new(status: StatusCode, title: &'static str, detail: impl Into<String>) -> Self {
        Self { title, status: status.as_u16(), detail: detail.into() }
    }
}

#[derive(Template)]
#[template(path = "trouble.html", config = "src/dashboard/askama.toml")]
struct TroublePage {
    frame: PageFrame,
    sentence: String,
    is_waiting: bool,
}

/// Gives a request its time, and an error its page: JSON for programs, HTML for people.
pub(super) async fn dress(State(site): State<Dashboard>, request: Request, next: Next) -> Response {
    let is_program = is_for_programs(request.uri().path());
    let answered = tokio::time::timeout(MOST_TIME, next.run(request)).await;
    let response = answered.unwrap_or_else(|_| Trouble::TooSlow.into_response());
    let Some(trouble) = response.extensions().get::<Trouble>().cloned() else { return response };
    let (mut head, _) = response.into_parts();
    if is_program {
        return ProblemDetails::new(head.status, trouble.title(), trouble.sentence()).answer(head);
    }
    let frame = PageFrame::new(&site, "", trouble.title());
    let page = TroublePage { frame, sentence: trouble.sentence(), is_waiting: trouble == Trouble::NoStore };
    let body = page.render().unwrap_or_else(|_| trouble.title().to_owned());
    head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    Response::from_parts(head, body.into())
}

/// Are the answers of this address read by programs?
pub(super) fn is_for_programs(path: &str) -> bool {
    path.starts_with("/api/")
        || matches!(path, "/events" | "/metrics" | "/healthz" | "/changes.atom" | "/changes.json")
}

/// No route leads there.
pub(super) async fn no_such_page() -> Trouble {
    Trouble::NotFound("there is no such page; the links above lead to all there are".to_owned())
}

/// A route leads there, but not with this method.
pub(super) async fn no_such_method() -> Trouble {
    Trouble::BadMethod
}

/// The query of a request, read into `T`; an error says which part is wrong.
pub(crate) struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Trouble;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Trouble> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(wrong) => {
                let cause =
                    std::error::Error::source(&wrong).map_or_else(|| wrong.to_string(), ToString::to_string);
                Err(Trouble::BadQuery(format!("the query of the address can't be read: {cause}")))
            }
        }
    }
}
