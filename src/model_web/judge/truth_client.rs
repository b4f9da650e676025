//! A client of a running model web: the URL of one host in, what every host follows from out.
//!
//! A version is a function of spec, host, page and time, so one answer a host is the whole truth, past and future. That
//! both sides mean the same web is checked: the pages and dates that the host tells must be the ones made here. A
//! recorded host is asked for the histories and texts of its pages too, one page at a time.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::{Host, Url};

use super::{TruthSource, Witness};
use crate::model_web::model::clock::Clock;
use crate::model_web::model::site::Site;
use crate::model_web::model::spec::WebSpec;
use crate::model_web::model::text_history::TextHistory;
use crate::model_web::server::truth_json::PREFIX;
use crate::model_web::server::{MOST_HOSTS, address};
use crate::time::Timestamp;

/// A host on loopback answers within milliseconds; one with a million pages takes some seconds.
const TIME_LIMIT: Duration = Duration::from_secs(60);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// About 150 bytes a page.
const MOST_BYTES: usize = 256 << 20;
/// Dates may differ by the digits that JSON loses, in seconds.
const SLACK: f64 = 0.001;

/// No web is older, in days: a day has 10 ms at least.
const MOST_DAYS: f64 = 1e14;

/// Why the truth is not known.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum TruthError {
    #[error(
        "`{url}` is no address of a web: {why}; write it as `freshet web` prints it, http://127.0.1.1:8000/"
    )]
    Url { url: String, why: String },
    #[error("nothing answers at `{url}`; is `freshet web` running there?")]
    NoAnswer { url: String, source: reqwest::Error },
    #[error("`{url}` tells no truth: {why}; is it a `freshet web`?")]
    NoTruth { url: String, why: String },
    #[error(
        "`{origin}` is a web of another version of freshet: what it tells is not what this program makes of it"
    )]
    Differs { origin: String },
    #[error("the HTTP client could not be built")]
    Client(#[source] reqwest::Error),
}

/// The answer of a host about itself: a spec if its pages are made, a group if they are recorded.
#[derive(Debug, Deserialize)]
struct ToldWeb {
    origin: String,
    host: u32,
    at: f64,
    start: f64,
    day_seconds: f64,
    spec: Option<WebSpec>,
    group: Option<String>,
    pages: Vec<ToldPage>,
    /// Recorded pages that were removed.
    #[serde(default)]
    dead: Vec<ToldPath>,
}

#[derive(Debug, Deserialize)]
struct ToldPage {
    path: String,
    last_change: f64,
}

#[derive(Debug, Deserialize)]
struct ToldPath {
    path: String,
}

#[derive(Debug, Deserialize)]
struct ToldHistory {
    turns: TextHistory,
}

#[derive(Debug, Deserialize)]
struct ToldText {
    text: String,
}

/// Puts questions to a web.
#[derive(Clone, Debug)]
pub struct TruthClient {
    client: reqwest::Client,
}

impl TruthClient {
    /// A client for loopback: no proxy, no redirects.
    pub fn new() -> Result<Self, TruthError> {
        // A second installation is refused, which is as good: a provider is there.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_LIMIT)
            .timeout(TIME_LIMIT)
            .build()
            .map_err(TruthError::Client)?;
        Ok(Self { client })
    }

    /// All hosts of the web that the URL is one of: those on its port, in the order in which they are numbered.
    pub async fn web(&self, url: &str) -> Result<Vec<Witness>, TruthError> {
        let wrong = |why: &str| TruthError::Url { url: url.to_owned(), why: why.to_owned() };
        let parsed = Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
        if parsed.scheme() != "http" {
            return Err(wrong("it must begin with http://"));
        }
        let named = self.host(&parsed).await?;
        if parsed.host() != Some(Host::Ipv4(address(named.host))) {
            return Ok(vec![named]);
        }
        let mut web = Vec::new();
        for host in 0..MOST_HOSTS {
            if host == named.host {
                web.push(named.clone());
                continue;
            }
            let mut other = parsed.clone();
            if other.set_ip_host(address(host).into()).is_err() {
                break;
            }
            match self.host(&other).await {
                Ok(found) if found.host == host && is_same_web(&found, &named) => web.push(found),
                Err(TruthError::Differs { origin }) => return Err(TruthError::Differs { origin }),
                // Hosts are numbered without gaps: the first that does not answer ends the list.
                _ if host > named.host => break,
                _ => {}
            }
        }
        Ok(web)
    }

    /// The history of a page of a recorded host, up to a moment in seconds since 1970.
    pub async fn history(&self, of: &Witness, path: &str, at: f64) -> Result<TextHistory, TruthError> {
        let told: ToldHistory = self.ask(&question(of, "history", path, at)?).await?;
        Ok(told.turns)
    }

    /// The text of a page of a recorded host at a moment.
    pub async fn text(&self, of: &Witness, path: &str, at: f64) -> Result<String, TruthError> {
        let told: ToldText = self.ask(&question(of, "text", path, at)?).await?;
        Ok(told.text)
    }

    async fn host(&self, host: &Url) -> Result<Witness, TruthError> {
        let mut url = host.clone();
        url.set_path(&format!("{PREFIX}site"));
        url.set_query(None);
        url.set_fragment(None);
        believe(self.ask(&url).await?).map_err(|wrong| match wrong {
            NotBelieved::Said(why) => TruthError::NoTruth { url: url.to_string(), why },
            NotBelieved::Differs(origin) => TruthError::Differs { origin },
        })
    }

    async fn ask<T: DeserializeOwned>(&self, url: &Url) -> Result<T, TruthError> {
        let no_truth = |why: String| TruthError::NoTruth { url: url.to_string(), why };
        let no_answer = |source| TruthError::NoAnswer { url: url.to_string(), source };
        let mut answer = self.client.get(url.clone()).send().await.map_err(no_answer)?;
        if answer.status() != reqwest::StatusCode::OK {
            return Err(no_truth(format!("it answers {}", answer.status())));
        }
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(no_answer)? {
            if body.len() + piece.len() > MOST_BYTES {
                return Err(no_truth(format!("it says more than {MOST_BYTES} bytes")));
            }
            body.extend_from_slice(&piece);
        }
        serde_json::from_slice(&body).map_err(|error| no_truth(error.to_string()))
    }
}

fn question(of: &Witness, what: &str, path: &str, at: f64) -> Result<Url, TruthError> {
    let url = format!("{}{PREFIX}{what}", of.origin);
    let wrong = |error: url::ParseError| TruthError::Url { url: url.clone(), why: error.to_string() };
    let mut question = Url::parse(&url).map_err(wrong)?;
    question.query_pairs_mut().append_pair("path", path).append_pair("at", &at.to_string());
    Ok(question)
}

/// Two hosts that are up together: of one spec, or both of a recording, and by one clock.
fn is_same_web(one: &Witness, other: &Witness) -> bool {
    let same_source = match (&one.source, &other.source) {
        (TruthSource::Model(one), TruthSource::Model(other)) => one == other,
        (TruthSource::Recording(_), TruthSource::Recording(_)) => true,
        _ => false,
    };
    same_source && one.clock == other.clock
}

/// Why a host's answer is not believed.
#[derive(Debug, PartialEq)]
enum NotBelieved {
    Said(String),
    Differs(String),
}

fn believe(told: ToldWeb) -> Result<Witness, NotBelieved> {
    let said = |why: String| NotBelieved::Said(why);
    let day = Duration::try_from_secs_f64(told.day_seconds).ok().filter(|day| !day.is_zero());
    let Some(day) = day else { return Err(said(format!("its day lasts `{}` seconds", told.day_seconds))) };
    if !told.start.is_finite() || !told.at.is_finite() {
        return Err(said("it does not know the time".to_owned()));
    }
    let clock = Clock { start: Timestamp::from_millis((told.start * 1000.0).round() as i64), day };
    // Written so that what is no number is refused as well.
    if !matches!(clock.day_at_seconds(told.at).abs(), days if days <= MOST_DAYS) {
        return Err(said(format!("it is at `{}`, which is too many of its days from its start", told.at)));
    }
    let source = match (told.spec, told.group) {
        (Some(spec), _) => {
            spec.check().map_err(|error| said(error.to_string()))?;
            if !is_made_of(&spec, told.host, &clock, told.at, &told.pages) {
                return Err(NotBelieved::Differs(told.origin));
            }
            TruthSource::Model(spec)
        }
        (None, Some(_)) => {
            let living = told.pages.into_iter().map(|page| page.path);
            TruthSource::Recording(living.chain(told.dead.into_iter().map(|page| page.path)).collect())
        }
        (None, None) => return Err(said("it has neither a spec nor a group".to_owned())),
    };
    Ok(Witness { origin: told.origin, host: told.host, clock, source })
}

/// Are these the pages that follow from a spec?
fn is_made_of(spec: &WebSpec, host: u32, clock: &Clock, at: f64, pages: &[ToldPage]) -> bool {
    let (site, now) = (Site::new(spec, host), clock.day_at_seconds(at));
    pages.len() == spec.pages as usize
        && site.living(now).zip(pages).all(|(page, told)| {
            let changed = clock.seconds_at(site.last_change(&page, now));
            site.path(&page) == told.path && (changed - told.last_change).abs() < SLACK
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_web::server::model_answer::ModelDesk;
    use crate::model_web::server::truth_json;
    use serde_json::{Value, json};

    fn told(change: impl FnOnce(&mut Value)) -> Result<Witness, NotBelieved> {
        let spec = WebSpec { pages: 80, turnover: 0.3, static_share: 0.123_456_789, ..WebSpec::default() };
        let clock =
            Clock { start: Timestamp::from_millis(1_800_000_000_123), day: Duration::from_millis(700) };
        let (site, now) = (Site::new(&spec, 2), Timestamp::from_millis(1_800_000_060_007));
        let desk = ModelDesk { site, clock, origin: "http://127.0.1.3:1", now };
        let uri = "/.truth/site".parse().expect("a path");
        let told = truth_json::answer(&desk, &uri).expect("the truth");
        let mut told: Value = serde_json::from_str(&told).expect("JSON");
        change(&mut told);
        let text = told.to_string();
        believe(serde_json::from_str(&text).map_err(|error| NotBelieved::Said(error.to_string()))?)
    }

    #[test]
    fn what_a_host_tells_makes_the_same_web_again() {
        let witness = told(|_| ()).expect("it is believed");
        assert_eq!((witness.host, witness.origin.as_str()), (2, "http://127.0.1.3:1"));
        assert_eq!(witness.clock.start, Timestamp::from_millis(1_800_000_000_123));
        let TruthSource::Model(spec) = witness.source else { panic!("it is made, not recorded") };
        assert_eq!((spec.pages, spec.static_share), (80, 0.123_456_789));
    }

    #[test]
    fn another_web_is_not_taken_for_this_one() {
        let differs = NotBelieved::Differs("http://127.0.1.3:1".to_owned());
        assert_eq!(told(|told| told["spec"]["seed"] = json!(2)).err(), Some(differs));
        assert!(told(|told| told["pages"] = json!([])).is_err());
        let wrong: [fn(&mut Value); 8] = [
            |told| told["at"] = json!(-1e300),
            |told| told["at"] = json!(1e300),
            |told| told["spec"] = Value::Null,
            |told| told["spec"]["pages"] = json!(0),
            |told| told["spec"]["something"] = json!("new"),
            |told| told["day_seconds"] = json!(-1),
            |told| told["day_seconds"] = json!(1e300),
            |told| told["start"] = Value::Null,
        ];
        for change in wrong {
            assert!(matches!(told(change), Err(NotBelieved::Said(_))));
        }
    }
}
