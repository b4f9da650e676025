//! `freshet ping`: pages that somebody says have changed, left for the next cycle.

use std::process::ExitCode;

use serde::Serialize;

use freshet::crawl::pings::PingVerdict;
use freshet::look::page::page_url;
use freshet::report::diff::harmless;
use freshet::store::{self, Ping};
use freshet::time::Timestamp;

use crate::cli::{Global, PingArgs};
use crate::settings::{Given, Settings};
use crate::terminal::{Talk, json_line, print};

/// What becomes of one page.
#[derive(Debug, Serialize)]
struct Pinged {
    url: String,
    verdict: &'static str,
    reason: Option<String>,
}

pub(crate) fn run(global: &Global, arguments: &PingArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &Given::default())?;
    let normaliser = settings.normaliser();
    // All of them are read before one is kept.
    let urls = arguments.urls.iter().map(|text| page_url(text, &normaliser));
    let urls = urls.collect::<Result<Vec<_>, _>>()?;
    let mut store = store::open_to_ping(&settings.store)?;
    let at = Timestamp::now();
    let (mut pings, mut pinged) = (Vec::new(), Vec::new());
    for url in urls {
        let verdict = PingVerdict::of(&mut *store, &settings.scope, &normaliser, &url)?;
        let (name, reason) = match verdict {
            PingVerdict::Known => ("known", None),
            PingVerdict::New => ("new", None),
            PingVerdict::Refused(refusal) => ("refused", Some(refusal.name().to_owned())),
        };
        pinged.push(Pinged { url: url.as_str().to_owned(), verdict: name, reason });
        let said = harmless(url.as_str());
        match verdict {
            PingVerdict::Known => talk.say(&format!("`{said}` is noted; the next cycle takes it as changed")),
            PingVerdict::New => talk.say(&format!("`{said}` is not known yet; the next cycle takes it in")),
            PingVerdict::Refused(refusal) => {
                eprintln!(
                    "error: `{said}` is not noted: the store does not know it, and no seed wants it ({refusal})"
                );
                continue;
            }
        }
        pings.push(Ping { url: url.as_str().to_owned(), at });
    }
    store.add_pings(&pings)?;
    if global.json {
        let lines: Vec<String> = pinged.iter().map(json_line).collect::<anyhow::Result<_>>()?;
        print(&lines.concat())?;
    }
    let is_refused = pings.len() < pinged.len();
    if is_refused {
        talk.say("hint: a page outside the scope needs a seed of its own: `freshet crawl --seeds FILE`");
    }
    Ok(if is_refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
