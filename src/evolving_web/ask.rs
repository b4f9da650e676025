//! Asks a web that is up what it is: the URL of one host → what every host follows from.
//!
//! A version is a function of spec, host, page and time, so one answer a host is the whole truth, past and future. That
//! both sides mean the same web is checked: the pages and dates that the host tells must be the ones made here.

use std::time::Duration;

use serde::Deserialize;
use url::{Host, Url};

use super::clock::Clock;
use super::judge::Witness;
use super::server::{MOST_HOSTS, address};
use super::site::Site;
use super::spec::Spec;
use super::truth_json::PREFIX;
use crate::time::Timestamp;

/// A host on loopback answers within milliseconds; one with a million pages takes some seconds.
const TIME_LIMIT: Duration = Duration::from_secs(60);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// About 150 bytes a page.
const MOST_BYTES: usize = 256 << 20;
/// Dates may differ by the digits that JSON loses, in seconds.
const SLACK: f64 = 0.001;

/// Why the truth is not known.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(
        "`{url}` is no address of a web: {why}; write it as `freshet web` prints it, http://127.0.1.1:8000/"
    )]
    Url { url: String, why: String },
    #[error("nobody answers at `{url}`; is `freshet web` running there?")]
    Nobody { url: String, source: reqwest::Error },
    #[error("`{url}` tells no truth: {why}; is it a `freshet web`?")]
    NoTruth { url: String, why: String },
    #[error(
        "`{origin}` is a web of another version of freshet: what it tells is not what this program makes of it"
    )]
    Differs { origin: String },
    #[error("the HTTP client could not be built")]
    Client(#[source] reqwest::Error),
}

/// What a host tells of itself.
#[derive(Debug, Deserialize)]
struct Told {
    origin: String,
    host: u32,
    at: f64,
    start: f64,
    day_seconds: f64,
    spec: Spec,
    pages: Vec<ToldPage>,
}

#[derive(Debug, Deserialize)]
struct ToldPage {
    path: String,
    last_change: f64,
}

/// All hosts of the web that the URL is one of: those on its port, in the order in which they are numbered.
pub async fn web(url: &str) -> Result<Vec<Witness>, AskError> {
    let wrong = |why: &str| AskError::Url { url: url.to_owned(), why: why.to_owned() };
    let parsed = Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
    if parsed.scheme() != "http" {
        return Err(wrong("it must begin with http://"));
    }
    // A second installation is refused, which is as good: a provider is there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_LIMIT)
        .timeout(TIME_LIMIT)
        .build()
        .map_err(AskError::Client)?;
    let named = ask(&client, &parsed).await?;
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
        match ask(&client, &other).await {
            Ok(found) if found.host == host && found.spec == named.spec && found.clock == named.clock => {
                web.push(found);
            }
            Err(AskError::Differs { origin }) => return Err(AskError::Differs { origin }),
            // Hosts are numbered without gaps: there is none after the first that is not there.
            _ if host > named.host => break,
            _ => {}
        }
    }
    Ok(web)
}

async fn ask(client: &reqwest::Client, host: &Url) -> Result<Witness, AskError> {
    let mut url = host.clone();
    url.set_path(&format!("{PREFIX}site"));
    url.set_query(None);
    url.set_fragment(None);
    let no_truth = |why: String| AskError::NoTruth { url: url.to_string(), why };
    let nobody = |source| AskError::Nobody { url: url.to_string(), source };
    let mut answer = client.get(url.clone()).send().await.map_err(nobody)?;
    if answer.status() != reqwest::StatusCode::OK {
        return Err(no_truth(format!("it answers {}", answer.status())));
    }
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(nobody)? {
        if body.len() + piece.len() > MOST_BYTES {
            return Err(no_truth(format!("it says more than {MOST_BYTES} bytes")));
        }
        body.extend_from_slice(&piece);
    }
    let told: Told = serde_json::from_slice(&body).map_err(|error| no_truth(error.to_string()))?;
    believe(told).map_err(|wrong| match wrong {
        Wrong::Said(why) => no_truth(why),
        Wrong::Differs(origin) => AskError::Differs { origin },
    })
}

/// What is wrong with what a host told.
#[derive(Debug, PartialEq)]
enum Wrong {
    Said(String),
    Differs(String),
}

fn believe(told: Told) -> Result<Witness, Wrong> {
    let said = |why: String| Wrong::Said(why);
    told.spec.check().map_err(|error| said(error.to_string()))?;
    let day = Duration::try_from_secs_f64(told.day_seconds).ok().filter(|day| !day.is_zero());
    let Some(day) = day else { return Err(said(format!("its day lasts `{}` seconds", told.day_seconds))) };
    if !told.start.is_finite() || !told.at.is_finite() {
        return Err(said("it does not know the time".to_owned()));
    }
    let clock = Clock { start: Timestamp::from_millis((told.start * 1000.0).round() as i64), day };
    let (site, now) = (Site::new(&told.spec, told.host), clock.day_at_seconds(told.at));
    let same = told.pages.len() == told.spec.pages as usize
        && site.living(now).zip(&told.pages).all(|(page, told)| {
            let changed = clock.seconds_at(site.last_change(&page, now));
            site.path(&page) == told.path && (changed - told.last_change).abs() < SLACK
        });
    if !same {
        return Err(Wrong::Differs(told.origin));
    }
    Ok(Witness { origin: told.origin, host: told.host, clock, spec: told.spec })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evolving_web::answer::Desk;
    use crate::evolving_web::truth_json;
    use serde_json::{Value, json};

    fn told(change: impl FnOnce(&mut Value)) -> Result<Witness, Wrong> {
        let spec = Spec { pages: 80, turnover: 0.3, static_share: 0.123_456_789, ..Spec::default() };
        let clock =
            Clock { start: Timestamp::from_millis(1_800_000_000_123), day: Duration::from_millis(700) };
        let (site, now) = (Site::new(&spec, 2), Timestamp::from_millis(1_800_000_060_007));
        let desk = Desk { site, clock, origin: "http://127.0.1.3:1", now };
        let uri = "/.truth/site".parse().expect("a path");
        let mut told = truth_json::answer(&desk, &uri).expect("the truth");
        change(&mut told);
        let text = told.to_string();
        believe(serde_json::from_str(&text).map_err(|error| Wrong::Said(error.to_string()))?)
    }

    #[test]
    fn what_a_host_tells_makes_the_same_web_again() {
        let witness = told(|_| ()).expect("it is believed");
        assert_eq!((witness.host, witness.origin.as_str()), (2, "http://127.0.1.3:1"));
        assert_eq!(witness.clock.start, Timestamp::from_millis(1_800_000_000_123));
        assert_eq!((witness.spec.pages, witness.spec.static_share), (80, 0.123_456_789));
    }

    #[test]
    fn another_web_is_not_taken_for_this_one() {
        let differs = Wrong::Differs("http://127.0.1.3:1".to_owned());
        assert_eq!(told(|told| told["spec"]["seed"] = json!(2)).err(), Some(differs));
        assert!(told(|told| told["pages"] = json!([])).is_err());
        let wrong: [fn(&mut Value); 5] = [
            |told| told["spec"]["pages"] = json!(0),
            |told| told["spec"]["something"] = json!("new"),
            |told| told["day_seconds"] = json!(-1),
            |told| told["day_seconds"] = json!(1e300),
            |told| told["start"] = Value::Null,
        ];
        for change in wrong {
            assert!(matches!(told(change), Err(Wrong::Said(_))));
        }
    }
}
