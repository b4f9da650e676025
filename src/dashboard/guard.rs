//! Who may look: the name that a request asks for, where it comes from, and the token; and the headers that keep a browser from
//! doing anything for others.
//!
//! - A web page of somebody else can make its name point at this server (DNS rebinding). Then the browser sends that name as `Host`,
//!   so only our own names are answered.
//! - A web page of somebody else can send requests here, with the cookie or without. It can't read the answers; requests that change
//!   something need an `Origin` of ours, or the token in a header that no other page can set.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ring::hmac;

use super::Dashboard;
use super::links::Href;
use super::trouble::{ProblemDetails, is_for_programs};

/// Longest address that is answered: filters and the URL of a page fit in.
const MOST_ADDRESS_BYTES: usize = 16 << 10;

/// Fewest characters of a token: 16 random ones can't be tried out.
pub const LEAST_TOKEN: usize = 16;

/// Name of the cookie that stands for the token.
const COOKIE: &str = "freshet";

/// How long a browser stays logged in, in seconds: 30 days.
const COOKIE_SECONDS: u32 = 30 * 86_400;

/// Everything may come from here and from nowhere else; nothing may frame a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Who may look.
pub struct GuardSettings {
    /// Where the server listens.
    pub listen: SocketAddr,
    /// Names that browsers may use besides.
    pub hosts: Vec<String>,
    /// What opens the dashboard; `None`: it is open.
    pub token: Option<AccessToken>,
}

impl GuardSettings {
    /// Whether it is safe to listen there: only this machine reaches a loopback address, and anyone else needs the token.
    pub fn is_safe(&self) -> bool {
        self.listen.ip().is_loopback() || self.token.is_some()
    }

    /// Is that a name of ours? Addresses written as numbers can't be pointed elsewhere, so any of the machine's own will do where
    /// it listens on all of them.
    fn is_ours(&self, host: &str) -> bool {
        let name = host.trim_matches(['[', ']']).trim_end_matches('.');
        let own = self.listen.ip();
        let is_local = own.is_loopback() || own.is_unspecified();
        match name.parse::<IpAddr>() {
            Ok(address) => address == own || own.is_unspecified() || is_local && address.is_loopback(),
            Err(_) => {
                is_local && name.eq_ignore_ascii_case("localhost")
                    || self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
            }
        }
    }
}

/// The token, as a key: it is not kept as it was written.
pub struct AccessToken(hmac::Key);

/// What the cookie is a signature of.
const SESSION: &[u8] = b"freshet dashboard session";

impl AccessToken {
    /// `None` if it is shorter than [`LEAST_TOKEN`] characters.
    pub fn new(text: &str) -> Option<Self> {
        let is_long = text.chars().count() >= LEAST_TOKEN;
        is_long.then(|| Self(hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes())))
    }

    /// Whether that is the token. The time it takes says nothing about how much of it is right.
    pub(super) fn is(&self, text: &str) -> bool {
        let given = hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes());
        hmac::verify(&self.0, SESSION, hmac::sign(&given, SESSION).as_ref()).is_ok()
    }

    /// The header that gives a browser the cookie. It can't be turned back into the token, and another token ends it.
    pub(super) fn cookie(&self) -> String {
        let value: String =
            hmac::sign(&self.0, SESSION).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{COOKIE}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_SECONDS}")
    }

    /// The header that takes the cookie away.
    pub(super) fn no_cookie() -> String {
        format!("{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0")
    }

    fn is_cookie(&self, value: &str) -> bool {
        let bytes = value
            .as_bytes()
            .chunks(2)
            .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()));
        let bytes: Option<Vec<u8>> = bytes.collect();
        bytes.is_some_and(|bytes| hmac::verify(&self.0, SESSION, &bytes).is_ok())
    }

    /// How a request shows the token, if it does.
    fn shown_by(&self, headers: &HeaderMap) -> Option<Shown> {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.split_once(' '));
        if let Some((scheme, token)) = bearer
            && scheme.eq_ignore_ascii_case("bearer")
            && self.is(token.trim())
        {
            return Some(Shown::Header);
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut ours =
            cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        ours.any(|(name, value)| name == COOKIE && self.is_cookie(value)).then_some(Shown::Cookie)
    }
}

/// How a request showed the token. Handlers that need the token look for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// In a header that only programs can set.
    Header,
    /// By the cookie of a browser.
    Cookie,
}

/// Lets a request through, or says why not.
pub(super) async fn check(State(site): State<Dashboard>, mut request: Request, next: Next) -> Response {
    let guard = &site.settings().guard;
    if request.uri().to_string().len() > MOST_ADDRESS_BYTES {
        return refused(&request, StatusCode::URI_TOO_LONG, "the address is too long");
    }
    let Some(authority) = authority(request.uri(), request.headers()) else {
        return refused(&request, StatusCode::BAD_REQUEST, "the request names no host");
    };
    if !guard.is_ours(authority.host()) {
        return refused(
            &request,
            StatusCode::MISDIRECTED_REQUEST,
            "this server does not answer to that name; start it with --host NAME, or use its address",
        );
    }
    let shown = guard.token.as_ref().and_then(|token| token.shown_by(request.headers()));
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if changes && shown != Some(Shown::Header) && !is_same_origin(request.headers(), &authority) {
        return refused(
            &request,
            StatusCode::FORBIDDEN,
            "requests that change something come from a page of this server, or carry the token: `Authorization: Bearer TOKEN`",
        );
    }
    let path = request.uri().path();
    if guard.token.is_some() && shown.is_none() && !is_open(path) {
        if is_for_programs(path) {
            let said = "this needs the token of the server: `Authorization: Bearer TOKEN`";
            let mut response = refused(&request, StatusCode::UNAUTHORIZED, said);
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return response;
        }
        let back = request.uri().path_and_query().map(|back| back.as_str()).filter(|back| *back != "/");
        let login = Href::to("/login").with_some("next", back).written();
        return (StatusCode::SEE_OTHER, [(header::LOCATION, login)]).into_response();
    }
    if let Some(shown) = shown {
        request.extensions_mut().insert(shown);
    }
    next.run(request).await
}

/// Open to everyone: what the login page needs, and whether the server is well.
fn is_open(path: &str) -> bool {
    path == "/login" || path == "/healthz" || path.starts_with("/assets/")
}

/// Nothing of the dashboard is shown to someone who may not look.
fn refused(request: &Request, status: StatusCode, said: &'static str) -> Response {
    if is_for_programs(request.uri().path()) {
        let (head, ()) =
            axum::http::Response::builder().status(status).body(()).unwrap_or_default().into_parts();
        return ProblemDetails::new(status, "Refused", said).answer(head);
    }
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{said}\n")).into_response()
}

/// The host and port that a request asks for.
fn authority(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    if hosts.next().is_some() {
        return None;
    }
    let authority: Authority = host.parse().ok()?;
    // An address with a host of its own must not name another one.
    let is_same = uri.authority().is_none_or(|own| own == &authority);
    (is_same && !authority.as_str().contains('@')).then_some(authority)
}

/// Was the request made by a page of this server?
fn is_same_origin(headers: &HeaderMap, host: &Authority) -> bool {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let named = origin.and_then(|origin| origin.split_once("://")).map(|(_, named)| named);
    named.is_some_and(|named| named.eq_ignore_ascii_case(host.as_str()))
}

/// Gives every answer the headers that keep it to itself.
pub(super) async fn protect(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    const FIXED: [(HeaderName, &str); 6] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // With `no-referrer` a browser sends `Origin: null` with the forms of our own pages, and they are refused.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Pages of a private collection are kept nowhere, unless an answer says otherwise itself.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(listen: &str, hosts: &[&str], token: Option<&str>) -> GuardSettings {
        GuardSettings {
            listen: listen.parse().unwrap(),
            hosts: hosts.iter().map(ToString::to_string).collect(),
            token: token.and_then(AccessToken::new),
        }
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let local = guard("127.0.0.1:8080", &["news.example"], None);
        for ours in ["127.0.0.1", "localhost", "LOCALHOST.", "[::1]", "News.Example"] {
            assert!(local.is_ours(ours), "{ours}");
        }
        for other in ["evil.example", "127.0.0.1.evil.example", "192.0.2.7", "localhost.evil.example", ""] {
            assert!(!local.is_ours(other), "{other}");
        }
        let all = guard("0.0.0.0:8080", &[], Some("0123456789abcdef"));
        assert!(all.is_ours("192.0.2.7") && all.is_ours("localhost") && !all.is_ours("evil.example"));
        let one = guard("192.0.2.7:8080", &[], Some("0123456789abcdef"));
        assert!(one.is_ours("192.0.2.7") && !one.is_ours("localhost") && !one.is_ours("192.0.2.8"));
    }

    #[test]
    fn other_machines_need_a_token() {
        assert!(guard("127.0.0.1:80", &[], None).is_safe() && guard("[::1]:80", &[], None).is_safe());
        assert!(!guard("0.0.0.0:80", &[], None).is_safe() && !guard("192.0.2.7:80", &[], None).is_safe());
        assert!(guard("0.0.0.0:80", &[], Some("0123456789abcdef")).is_safe());
        assert!(AccessToken::new("too short").is_none());
    }

    #[test]
    fn the_token_opens_and_nothing_else_does() {
        let token = AccessToken::new("a long enough token").unwrap();
        let shown = |name: HeaderName, value: &str| {
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]);
            token.shown_by(&headers)
        };
        assert_eq!(shown(header::AUTHORIZATION, "bearer a long enough token"), Some(Shown::Header));
        assert_eq!(shown(header::AUTHORIZATION, "Bearer a long enough toke"), None);
        assert_eq!(shown(header::AUTHORIZATION, "Basic a long enough token"), None);
        let cookie = token.cookie();
        let cookie = cookie.split(';').next().unwrap();
        assert_eq!(shown(header::COOKIE, &format!("other=1; {cookie}")), Some(Shown::Cookie));
        assert_eq!(
            shown(header::COOKIE, cookie.trim_end_matches(|last: char| last.is_ascii_hexdigit())),
            None
        );
        assert_eq!(shown(header::COOKIE, "freshet="), None);
        let other = AccessToken::new("another token, as long").unwrap().cookie();
        assert_eq!(shown(header::COOKIE, other.split(';').next().unwrap()), None);
    }

    #[test]
    fn a_page_of_somebody_else_changes_nothing() {
        let host: Authority = "127.0.0.1:8080".parse().unwrap();
        let from = |origin: &str| {
            let headers = HeaderMap::from_iter([(header::ORIGIN, HeaderValue::from_str(origin).unwrap())]);
            is_same_origin(&headers, &host)
        };
        assert!(from("http://127.0.0.1:8080"));
        for other in ["http://evil.example", "http://127.0.0.1:9090", "null", "http://127.0.0.1"] {
            assert!(!from(other), "{other}");
        }
        assert!(!is_same_origin(&HeaderMap::new(), &host));
    }
}
