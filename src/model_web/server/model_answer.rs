//! A request → the answer of a host at a moment: pages, redirects, conditional requests, robots.txt, sitemap, feed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    ALLOW, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
    LOCATION,
};
use hyper::{Method, Response, StatusCode, Uri};
use xxhash_rust::xxh3::xxh3_64;

use super::truth_json;
use crate::model_web::model::announcements;
use crate::model_web::model::clock::Clock;
use crate::model_web::model::lists::{self, ListFile};
use crate::model_web::model::site::Site;
use crate::model_web::model::turnover::{Fate, Tenant};
use crate::model_web::model::validators::{self, Modified};
use crate::time::Timestamp;

/// The answer of a host.
pub(crate) type HttpAnswer = Response<Full<Bytes>>;

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const XML: &str = "application/xml; charset=utf-8";
pub(super) const ATOM: &str = "application/atom+xml; charset=utf-8";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const JSON: &str = "application/json";

/// A host on its address, at its time.
#[derive(Debug)]
pub(crate) struct ModelDesk<'a> {
    pub site: Site<'a>,
    pub clock: Clock,
    /// `http://127.0.1.1:8000`
    pub origin: &'a str,
    pub now: Timestamp,
}

impl ModelDesk<'_> {
    /// Never fails: what can't be answered is answered with the status that says so.
    pub(crate) fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> HttpAnswer {
        if method != Method::GET && method != Method::HEAD {
            return other_method();
        }
        let day = self.clock.day_at(self.now);
        let (site, origin, date) = (&self.site, self.origin, |day: f64| self.clock.date_at(day));
        match uri.path() {
            "/robots.txt" => typed(TEXT, lists::robots_txt(origin)),
            path if is_sitemap(path) => match announcements::sitemap_file(site, path, day, origin, &date) {
                Some(file) => self.list(XML, file, headers),
                None => missing(StatusCode::NOT_FOUND),
            },
            "/feed.atom" => self.list(ATOM, announcements::feed_file(site, day, origin, &date), headers),
            path if path.starts_with(truth_json::PREFIX) => match truth_json::answer(self, uri) {
                Ok(truth) => typed(JSON, truth),
                Err(wrong) => plain(StatusCode::BAD_REQUEST, &format!("{wrong}\n")),
            },
            // Queries mean nothing here: a page with one would be a second name of the page.
            path if uri.query().is_none() => self.page(path, day, headers),
            _ => missing(StatusCode::NOT_FOUND),
        }
    }

    fn list(&self, kind: &'static str, file: ListFile, headers: &HeaderMap) -> HttpAnswer {
        list(kind, file, headers, |day| self.modified(Modified::At(day)))
    }

    fn page(&self, path: &str, day: f64, headers: &HeaderMap) -> HttpAnswer {
        match self.site.fate(path, day) {
            Fate::Lives(page) => self.living(&page, day, headers),
            Fate::Moved { tenant, .. } => {
                let to = format!("{}{}", self.origin, self.site.path(&tenant));
                let answer = status(StatusCode::MOVED_PERMANENTLY, HTML, "<p>This page has moved.</p>\n");
                with(answer, LOCATION, &to)
            }
            Fate::Died { told: true, .. } => missing(StatusCode::GONE),
            Fate::Died { told: false, .. } | Fate::Unknown => missing(StatusCode::NOT_FOUND),
        }
    }

    fn living(&self, page: &Tenant, day: f64, headers: &HeaderMap) -> HttpAnswer {
        let validators = validators::of(&self.site, page, day);
        let modified = validators.last_modified.and_then(|modified| self.modified(modified));
        let etag = validators.etag.as_deref();
        let mut answer = if is_held(headers, etag, modified) {
            status(StatusCode::NOT_MODIFIED, HTML, String::new())
        } else {
            typed(HTML, self.site.html(page, day))
        };
        if let Some(etag) = etag {
            answer = with(answer, ETAG, etag);
        }
        if let Some(modified) = modified {
            answer = with(answer, LAST_MODIFIED, &httpdate::fmt_http_date(modified));
        }
        answer
    }

    /// The date to send. A true one waits until its second is over, so that no other change can share it.
    fn modified(&self, modified: Modified) -> Option<SystemTime> {
        let current = Timestamp::from_seconds(self.now.millis().div_euclid(1000));
        let second = match modified {
            Modified::At(day) => Some(self.clock.second_at(day)).filter(|second| *second < current),
            Modified::Written(day) => Some(self.clock.second_at(day)),
            Modified::Now => Some(current),
        };
        second.map(|second| UNIX_EPOCH + Duration::from_millis(second.millis().max(0).unsigned_abs()))
    }
}

/// Whether the client holds this version, by what it says (RFC 9110, §13.1: an entity tag counts before a date).
pub(super) fn is_held(headers: &HeaderMap, etag: Option<&str>, modified: Option<SystemTime>) -> bool {
    if headers.contains_key(IF_NONE_MATCH) {
        let lines = headers.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
        // Compared weakly (RFC 9110, §8.8.3.2), as it is to be for this header.
        let bare = |tag: &str| {
            let tag = tag.trim();
            tag.strip_prefix("W/").unwrap_or(tag).to_owned()
        };
        return lines
            .flat_map(|line| line.split(','))
            .any(|tag| tag.trim() == "*" || etag.is_some_and(|etag| bare(tag) == bare(etag)));
    }
    let since = headers.get(IF_MODIFIED_SINCE).and_then(|date| date.to_str().ok());
    let since = since.and_then(|date| httpdate::parse_http_date(date).ok());
    matches!((modified, since), (Some(modified), Some(since)) if modified <= since)
}

/// A list with its validators, or 304 if the client has it. `modified` makes a date of a day.
pub(super) fn list(
    kind: &'static str,
    file: ListFile,
    headers: &HeaderMap,
    modified: impl Fn(f64) -> Option<SystemTime>,
) -> HttpAnswer {
    let etag = format!("\"{:016x}\"", xxh3_64(file.xml.as_bytes()));
    let modified = file.changed.and_then(modified);
    let answer = if is_held(headers, Some(&etag), modified) {
        status(StatusCode::NOT_MODIFIED, kind, String::new())
    } else {
        typed(kind, file.xml)
    };
    let answer = with(answer, ETAG, &etag);
    match modified {
        Some(modified) => with(answer, LAST_MODIFIED, &httpdate::fmt_http_date(modified)),
        None => answer,
    }
}

/// Is it the path of a file of a sitemap?
pub(super) fn is_sitemap(path: &str) -> bool {
    path.starts_with("/sitemap") && path.ends_with(".xml")
}

/// Whether an answer takes long enough to hold up others: it is about all pages.
pub(super) fn is_long(path: &str) -> bool {
    is_sitemap(path) || path == "/feed.atom" || path.starts_with(truth_json::PREFIX)
}

pub(super) fn other_method() -> HttpAnswer {
    with(plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n"), ALLOW, "GET, HEAD")
}

pub(super) fn typed(kind: &'static str, body: String) -> HttpAnswer {
    status(StatusCode::OK, kind, body)
}

pub(super) fn plain(code: StatusCode, body: &str) -> HttpAnswer {
    status(code, TEXT, body.to_owned())
}

pub(super) fn missing(code: StatusCode) -> HttpAnswer {
    status(code, HTML, "<p>There is no such page.</p>\n".to_owned())
}

pub(super) fn status(code: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> HttpAnswer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = code;
    with(answer, CONTENT_TYPE, kind)
}

/// A value that HTTP does not allow in a header is left out; all our own are allowed.
pub(super) fn with(mut answer: HttpAnswer, name: HeaderName, value: &str) -> HttpAnswer {
    if let Ok(value) = value.try_into() {
        answer.headers_mut().insert(name, value);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_web::model::spec::{Announcing, Validity, WebSpec};

    const ORIGIN: &str = "http://127.0.1.1:8000";

    fn ask(spec: &WebSpec, seconds: f64, path: &str, headers: &[(HeaderName, &str)]) -> HttpAnswer {
        let clock = Clock { start: Timestamp::from_seconds(1_000_000), day: Duration::from_secs(10) };
        let now = Timestamp::from_millis(1_000_000_000 + (seconds * 1000.0) as i64);
        let desk = ModelDesk { site: Site::new(spec, 0), clock, origin: ORIGIN, now };
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value")));
        desk.answer(&Method::GET, &path.parse().expect("a path"), &headers.collect())
    }

    fn right() -> WebSpec {
        let right = Validity { right: 1.0, wrong: 0.0 };
        WebSpec {
            pages: 120,
            etag: right,
            last_modified: right,
            turnover: 0.1,
            noise: false,
            ..WebSpec::default()
        }
    }

    fn header(answer: &HttpAnswer, name: HeaderName) -> String {
        answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    }

    #[test]
    fn right_validators_tell_a_change_from_none() {
        let spec = right();
        let site = Site::new(&spec, 0);
        let (mut same, mut changed) = (0, 0);
        for page in site.living(2.0).filter(|page| page.place == site.tenant(page.place, 3.0).place) {
            let path = site.path(&page);
            let first = ask(&spec, 20.0, &path, &[]);
            assert_eq!(first.status(), StatusCode::OK);
            let (etag, date) = (header(&first, ETAG), header(&first, LAST_MODIFIED));
            if !matches!(site.fate(&path, 3.0), Fate::Lives(_)) {
                continue;
            }
            let is_same = site.changes(&page, 2.0, 3.0).is_empty();
            let code = if is_same { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
            assert_eq!(ask(&spec, 30.0, &path, &[(IF_NONE_MATCH, &etag)]).status(), code);
            if !date.is_empty() {
                assert_eq!(ask(&spec, 30.0, &path, &[(IF_MODIFIED_SINCE, &date)]).status(), code);
            }
            assert_eq!(ask(&spec, 30.0, &path, &[(IF_NONE_MATCH, "\"x\"")]).status(), StatusCode::OK);
            *(if is_same { &mut same } else { &mut changed }) += 1;
        }
        assert!(same > 20 && changed > 10, "{same} {changed}");
    }

    #[test]
    fn paths_answer_with_what_became_of_them() {
        let spec = right();
        let site = Site::new(&spec, 0);
        let mut codes = std::collections::BTreeMap::<u16, u32>::new();
        for page in site.living(0.0) {
            let answer = ask(&spec, 200.0, &site.path(&page), &[]);
            *codes.entry(answer.status().as_u16()).or_default() += 1;
            if answer.status() == StatusCode::MOVED_PERMANENTLY {
                let to = header(&answer, LOCATION);
                let path = to.strip_prefix(ORIGIN).expect("on the same host");
                assert_eq!(ask(&spec, 200.0, path, &[]).status(), StatusCode::OK);
            }
        }
        assert_eq!(codes.keys().copied().collect::<Vec<_>>(), [200, 301, 404, 410], "{codes:?}");
        for path in ["/nothing", "/?page=2", "/%2e%2e/", "/.truth/nothing"] {
            assert!(ask(&spec, 1.0, path, &[]).status().is_client_error(), "{path}");
        }
        for path in ["/robots.txt", "/sitemap.xml", "/feed.atom", "/"] {
            assert_eq!(ask(&spec, 1.0, path, &[]).status(), StatusCode::OK, "{path}");
        }
    }

    #[test]
    fn a_version_is_held_if_any_of_the_tags_is_its_own() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let late = httpdate::fmt_http_date(now + Duration::from_secs(9));
        let held = |lines: &[(HeaderName, &str)], etag: Option<&str>| {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(name, value.parse().expect("a value"));
            }
            is_held(&headers, etag, Some(now))
        };
        let tag = Some("W/\"a\"");
        assert!(held(&[(IF_NONE_MATCH, "\"x\", \"a\"")], tag));
        assert!(held(&[(IF_NONE_MATCH, "W/\"a\"")], Some("\"a\"")));
        assert!(held(&[(IF_NONE_MATCH, "\"x\""), (IF_NONE_MATCH, "\"a\"")], tag), "a list on two lines");
        assert!(held(&[(IF_NONE_MATCH, "*")], None));
        assert!(
            !held(&[(IF_NONE_MATCH, "\"x\""), (IF_MODIFIED_SINCE, &late)], tag),
            "a tag counts before a date"
        );
        assert!(!held(&[(IF_NONE_MATCH, "\"a\""), (IF_MODIFIED_SINCE, &late)], None));
        assert!(held(&[(IF_MODIFIED_SINCE, &late)], tag));
        assert!(!held(&[(IF_MODIFIED_SINCE, "yesterday")], tag));
    }

    #[test]
    fn a_list_that_did_not_change_costs_a_304() {
        // Of ten pages one changes, and only now and then.
        let sitemap = Announcing::of_pages(1.0, 1.0);
        let spec = WebSpec { pages: 12, static_share: 0.9, turnover: 0.0, sitemap, ..right() };
        let site = Site::new(&spec, 0);
        let (mut same, mut other) = (0, 0);
        for tenth in 10..60 {
            let (then, now) = (f64::from(tenth), f64::from(tenth + 1));
            for path in ["/sitemap.xml", "/feed.atom"] {
                let first = ask(&spec, then, path, &[]);
                let (etag, date) = (header(&first, ETAG), header(&first, LAST_MODIFIED));
                let changed =
                    site.living(0.0).any(|page| !site.changes(&page, then / 10.0, now / 10.0).is_empty());
                let again = ask(&spec, now, path, &[(IF_NONE_MATCH, &etag)]).status();
                if path == "/sitemap.xml" && !changed {
                    assert_eq!(again, StatusCode::NOT_MODIFIED);
                    if !date.is_empty() {
                        let by_date = ask(&spec, now, path, &[(IF_MODIFIED_SINCE, &date)]).status();
                        assert_eq!(by_date, StatusCode::NOT_MODIFIED);
                    }
                }
                *(if again == StatusCode::OK { &mut other } else { &mut same }) += 1;
            }
        }
        assert!(same > 20 && other > 0, "{same} {other}");
        let always = Announcing::of(&"1,1,always".parse().expect("signals"));
        let spec = WebSpec { sitemap: always, ..spec };
        let etag = header(&ask(&spec, 10.0, "/sitemap.xml", &[]), ETAG);
        assert_eq!(ask(&spec, 11.0, "/sitemap.xml", &[(IF_NONE_MATCH, &etag)]).status(), StatusCode::OK);
    }

    #[test]
    fn other_methods_are_refused() {
        let spec = WebSpec::default();
        let clock = Clock { start: Timestamp::from_seconds(0), day: Duration::from_secs(1) };
        let desk =
            ModelDesk { site: Site::new(&spec, 0), clock, origin: ORIGIN, now: Timestamp::from_seconds(1) };
        let answer = desk.answer(&Method::POST, &Uri::from_static("/"), &HeaderMap::new());
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(header(&answer, ALLOW), "GET, HEAD");
    }
}
