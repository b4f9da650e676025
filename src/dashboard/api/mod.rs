//! The API: every view as the JSON that the terminal prints with `--json`, under `/api/v1`, described by OpenAPI.
//!
//! A single answer is an object with the version of its form. A list has `items` and `next`, the value of `after` that brings the next
//! part; `null` at the end. Errors are problem documents (RFC 9457).

mod changes;
mod cycles;
mod log;
mod overview;
mod page;
mod pages;
mod ping;
mod plan;
mod search;
mod seeds;
mod sites;
mod status;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, ToSchema};

use crate::look::JSON_VERSION;

use super::Dashboard;
use super::trouble::{ProblemDetails, Trouble};

/// Items of a list, unless it is asked otherwise.
const ITEMS: u64 = 100;
/// Most items of a part of a list.
const MOST_ITEMS: u64 = 1000;

/// Where the description is.
pub(super) const DESCRIPTION: &str = "/api/openapi.json";

/// An answer with the version of its form.
#[derive(Serialize, ToSchema)]
pub(super) struct Documented<T> {
    /// The version of the form: it goes up when a key gets another meaning or goes away.
    #[schema(example = 1)]
    version: u32,
    #[serde(flatten)]
    value: T,
}

/// A part of a list.
#[derive(Serialize, ToSchema)]
pub(super) struct ListPart<T> {
    /// In the order of the list.
    items: Vec<T>,
    /// The value of `after` that brings the next part; `null`: this is the end.
    next: Option<String>,
}

/// A value as an answer, its keys in alphabetical order.
pub(super) fn documented(value: &impl Serialize) -> Result<Response, Trouble> {
    let document = serde_json::to_value(Documented { version: JSON_VERSION, value });
    let text = document.and_then(|document| serde_json::to_string(&document));
    let text = text.map_err(|error| Trouble::failed("an answer", &error))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// The number of items that is asked for.
fn most(limit: Option<u64>) -> Result<u64, Trouble> {
    match limit {
        None => Ok(ITEMS),
        Some(limit @ 1..=MOST_ITEMS) => Ok(limit),
        Some(_) => Err(Trouble::BadQuery(format!("`limit` must be from 1 to {MOST_ITEMS}"))),
    }
}

/// A part of rows that are all there: behind the place that `after` names, which is a number of rows.
fn part_of<T>(rows: Vec<T>, after: Option<&str>, most: u64) -> Result<ListPart<T>, Trouble> {
    let start = after.map_or(Ok(0), str::parse::<usize>).map_err(|_| no_place())?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let end = start.saturating_add(most);
    let next = (end < rows.len()).then(|| end.to_string());
    Ok(ListPart { items: rows.into_iter().skip(start).take(most).collect(), next })
}

fn no_place() -> Trouble {
    Trouble::BadQuery("`after` is no place in this list; take the `next` of the part before".to_owned())
}

/// What any address of the API may answer instead.
#[derive(utoipa::IntoResponses)]
#[allow(dead_code, reason = "the description is made of it")]
enum ApiTrouble {
    /// The question makes no sense; `detail` says what to do.
    #[response(status = 400, content_type = "application/problem+json")]
    BadQuery(ProblemDetails),
    /// The token is missing.
    #[response(status = 401, content_type = "application/problem+json")]
    NoToken(ProblemDetails),
    /// There is no such thing.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDetails),
    /// The address is too long.
    #[response(status = 414, content_type = "application/problem+json")]
    TooLong(ProblemDetails),
    /// The host of the request is not this server.
    #[response(status = 421, content_type = "application/problem+json")]
    OtherHost(ProblemDetails),
    /// There is no store yet, or it is too busy to answer.
    #[response(status = 503, content_type = "application/problem+json")]
    NotNow(ProblemDetails),
}

/// How the token is shown.
struct TokenSchemes;

impl Modify for TokenSchemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
        let cookie = ApiKey::Cookie(ApiKeyValue::new("freshet"));
        components.add_security_scheme("login", SecurityScheme::ApiKey(cookie));
    }
}

/// The description of the API.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "freshet",
        description = "What a freshet store knows, as `freshet serve` tells it. Every answer is what the command of the same name prints with `--json`."
    ),
    paths(
        status::status,
        cycles::cycles,
        overview::overview,
        overview::inbox,
        sites::sites,
        sites::site,
        sites::view,
        sites::signals,
        pages::pages,
        page::page,
        page::view,
        page::history,
        page::why,
        page::diff,
        page::links,
        changes::changes,
        plan::plan,
        plan::backtest,
        search::search,
        seeds::seeds,
        log::log,
        ping::ping,
        super::watch::healthz,
    ),
    modifiers(&TokenSchemes),
    security((), ("token" = []), ("login" = []))
)]
struct Description;

/// The description as it is served, and as docs/openapi.json has it.
pub fn description() -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&Description::openapi())? + "\n")
}

async fn describe() -> Result<Response, Trouble> {
    let text = description().map_err(|error| Trouble::failed("the description", &error))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// The addresses of the API.
pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route(DESCRIPTION, get(describe))
        .route("/api/v1/status", get(status::status))
        .route("/api/v1/cycles", get(cycles::cycles))
        .route("/api/v1/overview", get(overview::overview))
        .route("/api/v1/inbox", get(overview::inbox))
        .route("/api/v1/sites", get(sites::sites))
        .route("/api/v1/sites/{host}", get(sites::site))
        .route("/api/v1/sites/{host}/view", get(sites::view))
        .route("/api/v1/signals", get(sites::signals))
        .route("/api/v1/pages", get(pages::pages))
        .route("/api/v1/page", get(page::page))
        .route("/api/v1/page/view", get(page::view))
        .route("/api/v1/history", get(page::history))
        .route("/api/v1/why", get(page::why))
        .route("/api/v1/diff", get(page::diff))
        .route("/api/v1/links", get(page::links))
        .route("/api/v1/changes", get(changes::changes))
        .route("/api/v1/plan", get(plan::plan))
        .route("/api/v1/backtest", get(plan::backtest))
        .route("/api/v1/search", get(search::search))
        .route("/api/v1/seeds", get(seeds::seeds))
        .route("/api/v1/log", get(log::log))
        .route("/api/v1/ping", post(ping::ping).layer(DefaultBodyLimit::max(ping::MOST_BYTES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_part_by_part() {
        let part = |after: Option<&str>| part_of(vec![1, 2, 3, 4, 5], after, 2).unwrap();
        assert_eq!((part(None).items, part(None).next.as_deref()), (vec![1, 2], Some("2")));
        assert_eq!((part(Some("4")).items, part(Some("4")).next), (vec![5], None));
        assert_eq!(part(Some("99")).items, Vec::<i32>::new());
        assert!(part_of(vec![1], Some("x"), 2).is_err());
        assert!(most(Some(0)).is_err() && most(Some(1001)).is_err());
        assert_eq!((most(None), most(Some(7))), (Ok(100), Ok(7)));
    }
}
