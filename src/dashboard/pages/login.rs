//! The form that takes the token and gives a browser its cookie.

use std::time::Duration;

use askama::Template;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::dashboard::Dashboard;
use crate::dashboard::guard::AccessToken;
use crate::dashboard::trouble::{Asked, Trouble};

use super::{PageFrame, drawn};

/// Pause after a wrong token: guessing takes for ever.
const WRONG_PAUSE: Duration = Duration::from_millis(400);

/// The address of the form, where one can't log out.
const HERE: &str = "/login";

/// Longest form that is read: a token and an address.
const MOST_FORM_BYTES: usize = 32 << 10;

#[derive(Deserialize)]
pub(crate) struct LoginQuery {
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "login.html", config = "src/dashboard/askama.toml")]
struct LoginPage {
    frame: PageFrame,
    next: String,
    is_wrong: bool,
}

/// The form.
pub(crate) async fn form(
    State(site): State<Dashboard>,
    Asked(asked): Asked<LoginQuery>,
) -> Result<Response, Trouble> {
    let page = LoginPage {
        frame: PageFrame::new(&site, HERE, "Log in"),
        next: here(asked.next.as_deref()),
        is_wrong: false,
    };
    drawn(&page)
}

/// Takes the token.
pub(crate) async fn enter(State(site): State<Dashboard>, form: Bytes) -> Result<Response, Trouble> {
    if form.len() > MOST_FORM_BYTES {
        return Err(Trouble::BadQuery("the form is too long".to_owned()));
    }
    let field = |name: &str| {
        let mut fields = url::form_urlencoded::parse(&form);
        fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    let next = here(field("next").as_deref());
    let Some(token) = &site.settings().guard.token else {
        return Ok((StatusCode::SEE_OTHER, [(header::LOCATION, next)]).into_response());
    };
    if token.is(field("token").unwrap_or_default().trim()) {
        let headers = [(header::LOCATION, next), (header::SET_COOKIE, token.cookie())];
        return Ok((StatusCode::SEE_OTHER, headers).into_response());
    }
    tokio::time::sleep(WRONG_PAUSE).await;
    let page = LoginPage { frame: PageFrame::new(&site, HERE, "Log in"), next, is_wrong: true };
    Ok((StatusCode::FORBIDDEN, drawn(&page)?).into_response())
}

/// Forgets the browser.
pub(crate) async fn leave() -> Response {
    let headers = [(header::LOCATION, "/login".to_owned()), (header::SET_COOKIE, AccessToken::no_cookie())];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// Where to go on after the login: an address of this server, or the first page.
fn here(next: Option<&str>) -> String {
    let is_ours = |next: &&str| {
        next.starts_with('/')
            && !next.starts_with("//")
            && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    next.filter(is_ours).unwrap_or("/").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_nowhere_else() {
        assert_eq!(here(Some("/pages?sort=url")), "/pages?sort=url");
        for elsewhere in ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nb", ""] {
            assert_eq!(here(Some(elsewhere)), "/", "{elsewhere}");
        }
    }
}
