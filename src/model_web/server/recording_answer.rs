//! A request → the answer of a recorded host: its pages as they were, an index of them, and the truth.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::{CONTENT_TYPE, ETAG, HeaderMap, LAST_MODIFIED};
use hyper::{Method, StatusCode, Uri};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::model_answer::{self, ATOM, HTML, HttpAnswer, JSON, TEXT, XML};
use super::recording::{RecordedHost, RecordedState, Recording, RecordingError, ServedHistory};
use super::truth_json::{self, PREFIX};
use crate::change::fragment::Fragments;
use crate::model_web::model::clock::Clock;
use crate::model_web::model::lists::{self, ListFile, ListedPage};
use crate::model_web::model::text_history::{TextHash, TextHistory, Turn};
use crate::model_web::model::truth::FRAGMENT_WORDS;
use crate::time::Timestamp;

/// How much of a page is told.
#[derive(Clone, Copy, PartialEq)]
enum TruthPart {
    All,
    Text,
}

/// A recorded host on its address, at its time.
#[derive(Debug)]
pub(crate) struct RecordedDesk<'a> {
    pub recording: &'a Recording,
    pub group: &'a RecordedHost,
    /// The group's number.
    pub host: u32,
    pub clock: Clock,
    pub origin: &'a str,
    pub now: Timestamp,
}

impl RecordedDesk<'_> {
    /// Never fails: what can't be answered is answered with the status that says so.
    pub(crate) fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> HttpAnswer {
        if method != Method::GET && method != Method::HEAD {
            return model_answer::other_method();
        }
        let moment = self.group.moment(self.clock.day_at(self.now));
        match uri.path() {
            "/" if uri.query().is_none() => model_answer::typed(HTML, self.index(moment)),
            "/robots.txt" => model_answer::typed(TEXT, lists::robots_txt(self.origin)),
            "/sitemap.xml" => self.sitemap(moment, headers),
            "/feed.atom" => match self.group.feed(moment) {
                Some(entries) => self.feed(entries, headers),
                None => model_answer::missing(StatusCode::NOT_FOUND),
            },
            path if path.starts_with(PREFIX) => match self.truth(uri) {
                Ok(truth) => model_answer::typed(JSON, truth.to_string()),
                Err(wrong) => model_answer::plain(StatusCode::BAD_REQUEST, &format!("{wrong}\n")),
            },
            // Queries mean nothing here: a page with one would be a second name of the page.
            path => match self.group.pages.get(path).filter(|_| uri.query().is_none()) {
                Some(page) => self.page(page, moment, headers).unwrap_or_else(|error| {
                    tracing::error!(%error, path, "a recorded page can't be served");
                    model_answer::plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error}\n"))
                }),
                None => model_answer::missing(StatusCode::NOT_FOUND),
            },
        }
    }

    fn page(
        &self,
        page: &ServedHistory,
        moment: f64,
        headers: &HeaderMap,
    ) -> Result<HttpAnswer, RecordingError> {
        let (blob, since) = match page.at(moment) {
            RecordedState::NotYet => return Ok(model_answer::missing(StatusCode::NOT_FOUND)),
            RecordedState::Removed { .. } => return Ok(model_answer::missing(StatusCode::GONE)),
            RecordedState::Shows { blob, since } => (blob, since),
        };
        let etag = format!("\"{blob}\"");
        let modified = self.modified(since);
        let held = model_answer::is_held(headers, Some(&etag), modified);
        let answer = if held {
            model_answer::status(StatusCode::NOT_MODIFIED, HTML, String::new())
        } else {
            model_answer::status(StatusCode::OK, HTML, self.recording.content(blob)?)
        };
        // The bytes are as they were recorded, in whatever encoding: the type says nothing of it.
        let answer = model_answer::with(model_answer::with(answer, CONTENT_TYPE, &page.media), ETAG, &etag);
        Ok(match modified {
            Some(modified) => model_answer::with(answer, LAST_MODIFIED, &httpdate::fmt_http_date(modified)),
            None => answer,
        })
    }

    fn index(&self, moment: f64) -> String {
        let mut html = String::from(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>Pages</title>",
        );
        if self.group.told.is_some() {
            html += "<link rel=\"alternate\" type=\"application/atom+xml\" href=\"/feed.atom\">";
        }
        html += "</head><body>\n<ul>\n";
        for (path, _) in self.group.living(moment) {
            // Writing to a string does not fail.
            let _ = writeln!(html, "<li><a href=\"{}\">{}</a></li>", escape(path), escape(path));
        }
        html + "</ul>\n</body></html>\n"
    }

    fn sitemap(&self, moment: f64, headers: &HeaderMap) -> HttpAnswer {
        let (pages, changed) = self.group.sitemap(moment);
        let date = |day: f64| self.clock.date_at(day);
        let xml = lists::sitemap_xml(&escaped(pages), self.origin, &date);
        self.list(XML, ListFile { xml, changed }, headers)
    }

    fn feed(&self, entries: Vec<ListedPage>, headers: &HeaderMap) -> HttpAnswer {
        let changed = entries.first().map(|entry| entry.at);
        let date = |day: f64| self.clock.date_at(day);
        let xml = lists::atom_xml(&escaped(entries), self.origin, &date);
        self.list(ATOM, ListFile { xml, changed }, headers)
    }

    fn list(&self, kind: &'static str, file: ListFile, headers: &HeaderMap) -> HttpAnswer {
        model_answer::list(kind, file, headers, |day| self.modified(self.group.moment(day)))
    }

    /// The truth at a moment, in real seconds since 1970: `/.truth/site?at=`, and of a page `/.truth/page?path=&at=`,
    /// `/.truth/text?path=&at=` (the text alone) and `/.truth/history?path=&at=` (all its texts up to then).
    fn truth(&self, uri: &Uri) -> Result<Value, String> {
        let (mut path, mut day) = (None, self.clock.day_at(self.now));
        for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            match name.as_ref() {
                "path" => path = Some(value.into_owned()),
                "at" => day = truth_json::day(&self.clock, &value)?,
                other => return Err(format!("there is no parameter `{other}`; there are path, at")),
            }
        }
        let moment = self.group.moment(day);
        let told = match (uri.path().strip_prefix(PREFIX), path) {
            (Some("site"), None) => return Ok(self.site_truth(moment)),
            (Some("page"), Some(path)) => self.page_truth(&path, moment, TruthPart::All),
            (Some("text"), Some(path)) => self.page_truth(&path, moment, TruthPart::Text),
            (Some("history"), Some(path)) => self.history(&path, moment),
            _ => {
                return Err(
                    "there are /.truth/site?at=, and page, text and history with ?path=&at=".to_owned()
                );
            }
        };
        told.map_err(|error| error.to_string())
    }

    fn site_truth(&self, moment: f64) -> Value {
        let (mut living, mut dead) = (Vec::new(), Vec::new());
        for (path, page) in &self.group.pages {
            match page.at(moment) {
                RecordedState::NotYet => {}
                RecordedState::Shows { since, .. } => {
                    living.push(json!({ "path": path, "last_change": self.real(since) }));
                }
                RecordedState::Removed { since } => {
                    dead.push(json!({ "path": path, "died": self.real(since) }))
                }
            }
        }
        json!({
            "origin": self.origin,
            "host": self.host,
            "group": self.group.name,
            "at": self.real(moment),
            "recorded_at": moment,
            "start": self.clock.seconds_at(0.0),
            "day_seconds": self.clock.day.as_secs_f64(),
            "pages": living,
            "dead": dead,
        })
    }

    fn page_truth(&self, path: &str, moment: f64, telling: TruthPart) -> Result<Value, RecordingError> {
        let mut told = json!({ "path": path, "at": self.real(moment), "recorded_at": moment });
        let Some(page) = self.group.page(path) else {
            told["fate"] = json!("unknown");
            return Ok(told);
        };
        let mut versions = page.versions.clone();
        versions.retain(|(at, _)| *at <= moment);
        versions.dedup_by(|later, earlier| later.1 == earlier.1);
        told["changes"] = json!(versions.iter().map(|(at, _)| self.real(*at)).collect::<Vec<_>>());
        match page.at(moment) {
            RecordedState::NotYet => told["fate"] = json!("unknown"),
            RecordedState::Removed { since } => {
                told["fate"] = json!("died");
                told["died"] = json!(self.real(since));
            }
            RecordedState::Shows { blob, since } => {
                let text = page.text(&self.recording.content(blob)?);
                told["fate"] = json!("lives");
                told["version"] = json!(blob);
                told["last_change"] = json!(self.real(since));
                if telling == TruthPart::All {
                    let fragments = Fragments::of(&text, FRAGMENT_WORDS);
                    told["fragments"] =
                        json!(fragments.iter().map(|hash| format!("{hash:016x}")).collect::<Vec<_>>());
                }
                told["text"] = json!(text);
            }
        }
        Ok(told)
    }

    /// The texts of a page up to a moment, by their hashes. Takes time: each of its contents is read.
    fn history(&self, path: &str, moment: f64) -> Result<Value, RecordingError> {
        let page = self.group.page(path);
        let versions = page.map_or(&[][..], |page| page.until(moment));
        let mut texts: BTreeMap<&str, TextHash> = BTreeMap::new();
        if let Some(page) = page {
            let blobs: BTreeSet<&str> = versions.iter().filter_map(|(_, blob)| blob.as_deref()).collect();
            let blobs: Vec<&str> = blobs.into_iter().collect();
            self.recording.each_content(&blobs, &mut |place, content| {
                texts.extend(blobs.get(place).map(|blob| (*blob, TextHash::of(&page.text(content)))));
            })?;
        }
        let text = |blob: &Option<String>| blob.as_deref().and_then(|blob| texts.get(blob).copied());
        let turns = versions.iter().map(|(at, blob)| Turn { at: self.real(*at), text: text(blob) });
        Ok(json!({ "path": path, "at": self.real(moment), "turns": TextHistory::new(turns) }))
    }

    /// A moment of the recording in real time, in seconds since 1970.
    fn real(&self, moment: f64) -> f64 {
        self.clock.seconds_at(self.group.day(moment))
    }

    /// The date to send: that of the change, once its second is over, so that no other change can share it.
    fn modified(&self, since: f64) -> Option<SystemTime> {
        let second = self.clock.second_at(self.group.day(since));
        let current = Timestamp::from_seconds(self.now.millis().div_euclid(1000));
        (second < current).then(|| UNIX_EPOCH + Duration::from_millis(second.millis().max(0).unsigned_abs()))
    }
}

/// The same pages with paths and titles that can stand in XML.
fn escaped(pages: Vec<ListedPage>) -> Vec<ListedPage> {
    let escaped =
        |page: ListedPage| ListedPage { path: escape(&page.path), title: escape(&page.title), ..page };
    pages.into_iter().map(escaped).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::super::recording;
    use super::*;
    use hyper::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};

    #[test]
    fn the_past_is_answered_as_it_was() {
        let folder = recording::tests::folder();
        let recording = Recording::open(folder.path()).expect("a recording");
        // A recorded day lasts a hundred seconds.
        let clock = Clock { start: Timestamp::from_seconds(1_000_000), day: Duration::from_secs(100) };
        let ask = |seconds: i64, path: &str, headers: &[(hyper::header::HeaderName, &str)]| {
            let now = Timestamp::from_seconds(1_000_000 + seconds);
            let (group, origin) = (&recording.groups[0], "http://127.0.1.1:1");
            let desk = RecordedDesk { recording: &recording, group, host: 0, clock, origin, now };
            let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value")));
            desk.answer(&Method::GET, &path.parse().expect("a path"), &headers.collect())
        };
        let page = "/a%20b.html";
        let first = ask(150, page, &[]);
        assert_eq!(
            (first.status(), &first.headers()[ETAG]),
            (StatusCode::OK, &"\"aa\"".parse().expect("a value"))
        );
        assert_eq!(first.headers()[CONTENT_TYPE], "text/html");
        let date = first.headers()[LAST_MODIFIED].to_str().expect("a date").to_owned();
        for (seconds, code) in [(199, 304), (200, 200), (399, 200), (400, 410)] {
            assert_eq!(ask(seconds, page, &[(IF_NONE_MATCH, "\"aa\"")]).status(), code, "{seconds}");
            assert_eq!(ask(seconds, page, &[(IF_MODIFIED_SINCE, &date)]).status(), code, "{seconds}");
        }
        for (path, code) in [
            ("/", 200),
            ("/sitemap.xml", 200),
            ("/robots.txt", 200),
            ("/none", 404),
            ("/?a=1", 404),
            ("/a%20b.html?a=1", 404),
        ] {
            assert_eq!(ask(150, path, &[]).status(), code, "{path}");
        }
        for question in [
            "/.truth/site",
            "/.truth/page?path=/a%2520b.html",
            "/.truth/page?path=/a%20b.html&at=1000210",
            "/.truth/text?path=/a%20b.html",
            "/.truth/history?path=/a%20b.html",
        ] {
            assert_eq!(ask(150, question, &[]).status(), 200, "{question}");
        }
        for question in
            ["/.truth/", "/.truth/page", "/.truth/site?at=x", "/.truth/site?at=nan", "/.truth/site?when=1"]
        {
            assert_eq!(ask(150, question, &[]).status(), 400, "{question}");
        }
    }
}
