//! `freshet ping`: pages that somebody says have changed, left for the next cycle.

use std::process::ExitCode;

use freshet::crawl::pings::{PingVerdict, leave_pings};
use freshet::look::page::page_url;
use freshet::report::diff::harmless;
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{Global, PingArgs};
use crate::settings::{Given, Settings};
use crate::terminal::{Talk, json_line, print};

pub(crate) fn run(global: &Global, arguments: &PingArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &Given::default())?;
    let normaliser = settings.normaliser();
    // All of them are read before one is kept.
    let urls = arguments.urls.iter().map(|text| page_url(text, &normaliser));
    let urls = urls.collect::<Result<Vec<_>, _>>()?;
    let mut store = store::open_to_ping(&settings.store)?;
    let pinged = leave_pings(&mut *store, &settings.scope, &normaliser, &urls, Timestamp::now())?;
    for page in &pinged {
        let said = harmless(&page.url);
        match page.became {
            PingVerdict::Known => talk.say(&format!("`{said}` is noted; the next cycle takes it as changed")),
            PingVerdict::New => talk.say(&format!("`{said}` is not known yet; the next cycle takes it in")),
            PingVerdict::Refused(refusal) => eprintln!(
                "error: `{said}` is not noted: the store does not know it, and no seed wants it ({refusal})"
            ),
        }
    }
    if global.json {
        let lines: Vec<String> = pinged.iter().map(json_line).collect::<anyhow::Result<_>>()?;
        print(&lines.concat())?;
    }
    let is_refused = pinged.iter().any(|page| page.reason.is_some());
    if is_refused {
        talk.say("hint: a page outside the scope needs a seed of its own: `freshet crawl --seeds FILE`");
    }
    Ok(if is_refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
