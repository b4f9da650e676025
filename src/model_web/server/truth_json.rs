//! The truth as JSON, under a path that no link leads to.
//!
//! Times are seconds since 1970, as the crawler's store has them, with a fraction; `at` may be any moment, the future
//! too. A `null` birth is before day 0.

use hyper::Uri;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::model_answer::ModelDesk;
use crate::change::fragment::Fragments;
use crate::model_web::model::clock::Clock;
use crate::model_web::model::spec::WebSpec;
use crate::model_web::model::truth;
use crate::model_web::model::turnover::{Fate, Tenant};

/// Where the truth is.
pub(crate) const PREFIX: &str = "/.truth/";

/// A moment is at most this many days from the start: draws for it stay exact, and lists stay finite.
const MOST_DAYS: f64 = 100_000.0;

/// Changes of a page that are told in one answer, about.
const MOST_CHANGES: u32 = 100_000;

/// `/.truth/site?at=` or `/.truth/page?path=&at=&from=`; an error says what is wrong with the question.
pub(crate) fn answer(desk: &ModelDesk<'_>, uri: &Uri) -> Result<String, String> {
    let (mut path, mut at, mut from) = (None, None, None);
    for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        match name.as_ref() {
            "path" => path = Some(value.into_owned()),
            "at" => at = Some(day(&desk.clock, &value)?),
            "from" => from = Some(day(&desk.clock, &value)?),
            other => return Err(format!("there is no parameter `{other}`; there are path, at, from")),
        }
    }
    let at = at.unwrap_or_else(|| desk.clock.day_at(desk.now));
    match (uri.path().strip_prefix(PREFIX), path) {
        (Some("site"), None) => site(desk, at).map_err(|error| error.to_string()),
        (Some("site"), Some(_)) => Err("`site` takes no path".to_owned()),
        (Some("page"), Some(path)) => Ok(page(desk, &path, at, from.unwrap_or(0.0))?.to_string()),
        (Some("page"), None) => Err("`page` needs a path: /.truth/page?path=/".to_owned()),
        _ => Err("there are /.truth/site?at= and /.truth/page?path=&at=&from=".to_owned()),
    }
}

/// A moment in seconds since 1970, as a day of the web.
pub(super) fn day(clock: &Clock, value: &str) -> Result<f64, String> {
    let seconds: f64 = value.parse().map_err(|_| format!("`{value}` is no time in seconds since 1970"))?;
    let day = clock.day_at_seconds(seconds);
    // Written so that what is no number is refused as well.
    if day.abs() <= MOST_DAYS { Ok(day) } else { Err(format!("`{value}` is more than 100000 days away")) }
}

/// A host, and what lives there.
#[derive(Serialize)]
struct SiteTruth<'a> {
    origin: &'a str,
    host: u32,
    at: f64,
    start: f64,
    day_seconds: f64,
    spec: &'a WebSpec,
    pages: Living<'a>,
}

/// The pages that live at a moment, written one by one: a million of them are never all in memory.
struct Living<'a> {
    desk: &'a ModelDesk<'a>,
    at: f64,
}

impl Serialize for Living<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { desk: ModelDesk { site, clock, .. }, at } = self;
        serializer.collect_seq(site.living(*at).map(|page| {
            json!({
                "path": site.path(&page),
                "behaviour": site.content(&page).mix.behaviour(),
                "born": page.born.map(|born| clock.seconds_at(born)),
                "last_change": clock.seconds_at(site.last_change(&page, *at)),
            })
        }))
    }
}

fn site(desk: &ModelDesk<'_>, at: f64) -> serde_json::Result<String> {
    serde_json::to_string(&SiteTruth {
        origin: desk.origin,
        host: desk.site.host,
        at: desk.clock.seconds_at(at),
        start: desk.clock.seconds_at(0.0),
        day_seconds: desk.clock.day.as_secs_f64(),
        spec: desk.site.spec,
        pages: Living { desk, at },
    })
}

fn page(desk: &ModelDesk<'_>, path: &str, at: f64, from: f64) -> Result<Value, String> {
    let seconds = |day: f64| desk.clock.seconds_at(day);
    let mut truth = json!({ "path": path, "at": seconds(at) });
    let (fate, page) = match desk.site.fate(path, at) {
        Fate::Lives(page) => ("lives", Some(page)),
        Fate::Moved { tenant, at } => {
            truth["moved_at"] = json!(seconds(at));
            truth["moved_to"] = json!(desk.site.path(&tenant));
            ("moved", Some(tenant))
        }
        Fate::Died { at, told } => {
            truth["died"] = json!(seconds(at));
            truth["status"] = json!(if told { 410 } else { 404 });
            ("died", None)
        }
        Fate::Unknown => ("unknown", None),
    };
    truth["fate"] = json!(fate);
    if let Some(page) = page {
        let most = MOST_CHANGES as f64;
        if (at - from) * (desk.site.rate(&page) + desk.site.spec.turnover) > most {
            return Err(format!("that is more than {MOST_CHANGES} changes; ask for fewer days with from="));
        }
        describe(desk, &page, at, from, &mut truth);
    }
    Ok(truth)
}

fn describe(desk: &ModelDesk<'_>, page: &Tenant, at: f64, from: f64, into: &mut Value) {
    let seconds = |day: f64| desk.clock.seconds_at(day);
    let site = &desk.site;
    let content = site.content(page);
    let text = truth::text(site, page, at);
    let fragments = Fragments::of(&text, truth::FRAGMENT_WORDS);
    into["born"] = json!(page.born.map(seconds));
    into["moves"] = json!(site.moves(page, from, at).into_iter().map(seconds).collect::<Vec<_>>());
    into["behaviour"] = json!(content.mix.behaviour());
    into["mix"] = json!(content.mix);
    into["version"] = json!(format!("{:016x}", site.version(page, at)));
    into["last_change"] = json!(seconds(site.last_change(page, at)));
    into["changes"] = json!(site.changes(page, from, at).into_iter().map(seconds).collect::<Vec<_>>());
    into["text"] = json!(text);
    // As text: many readers of JSON keep only 53 bits of a number.
    into["fragments"] = json!(fragments.iter().map(|hash| format!("{hash:016x}")).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_web::model::site::Site;
    use crate::time::Timestamp;
    use std::time::Duration;

    fn ask(question: &str) -> Result<Value, String> {
        let spec = WebSpec { pages: 60, turnover: 0.2, ..WebSpec::default() };
        let clock = Clock { start: Timestamp::from_seconds(5000), day: Duration::from_secs(10) };
        let site = Site::new(&spec, 0);
        let desk =
            ModelDesk { site, clock, origin: "http://127.0.1.1:1", now: Timestamp::from_seconds(5050) };
        answer(&desk, &question.parse().expect("a path"))
            .map(|told| serde_json::from_str(&told).expect("it is JSON"))
    }

    #[test]
    fn the_truth_of_a_page_is_that_of_the_model() {
        let spec = WebSpec { pages: 60, turnover: 0.2, ..WebSpec::default() };
        let site = Site::new(&spec, 0);
        for page in site.living(3.0) {
            let path = site.path(&page);
            let told = ask(&format!("/.truth/page?path={path}&at=5030&from=5010")).expect("the truth");
            assert_eq!(told["fate"], "lives");
            assert_eq!(told["text"], truth::text(&site, &page, 3.0));
            assert_eq!(told["changes"].as_array().map(Vec::len), Some(site.changes(&page, 1.0, 3.0).len()));
            let later = ask(&format!("/.truth/page?path={path}")).expect("the truth");
            assert_eq!(later["died"].is_number(), later["fate"] == "died");
            assert_eq!(later["moved_to"].is_string(), later["fate"] == "moved");
        }
        let all = ask("/.truth/site").expect("the truth");
        assert_eq!(all["pages"].as_array().map(Vec::len), Some(60));
        assert_eq!((&all["at"], &all["start"]), (&json!(5050.0), &json!(5000.0)));
    }

    #[test]
    fn wrong_questions_are_told_so() {
        let wrong = [
            "/.truth/",
            "/.truth/page",
            "/.truth/site?path=/",
            "/.truth/site?at=x",
            "/.truth/site?at=nan",
            "/.truth/site?at=1e300",
            "/.truth/site?when=3",
            "/.truth/page?path=/&at=500000",
        ];
        for question in wrong {
            assert!(ask(question).is_err(), "{question}");
        }
        assert_eq!(ask("/.truth/page?path=/nowhere").map(|told| told["fate"].clone()), Ok(json!("unknown")));
    }
}
