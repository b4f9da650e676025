//! `freshet show`: a stored version of a page, byte for byte.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use freshet::look::show::{ShownVersion, show};
use freshet::report;
use freshet::store;
use freshet::time::Timestamp;
use freshet::whole_file;

use crate::cli::{Global, ShowArgs};
use crate::settings::when::{moment, zone};
use crate::settings::{Given, Settings};
use crate::terminal::{Talk, json, screen};

pub(crate) fn run(global: &Global, arguments: &ShowArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let at = arguments.at.as_deref().map(|text| moment("--at", text, now)).transpose()?;
    let settings = Settings::load(global, &Given::default())?;
    let mut store = store::open_to_look(&settings.store)?;
    let shown = show(&mut *store, &settings.normaliser(), &arguments.url, at)?;
    if at.is_none() {
        said(&shown).iter().for_each(|line| talk.say(line));
    }
    let to_terminal = arguments.out.is_none() && std::io::stdout().is_terminal();
    let bytes = if global.json {
        json(&shown)?.into_bytes()
    } else if arguments.headers {
        headers(&shown, to_terminal, talk)?
    } else if arguments.text {
        if to_terminal { report::show::lines(&shown.text).into_bytes() } else { shown.text.into_bytes() }
    } else if arguments.body && to_terminal {
        let Ok(text) = String::from_utf8(shown.body) else {
            bail!(
                "the body is not text, and a terminal can't show it; write it to a file with --out, or to a pipe"
            );
        };
        report::show::lines(&text).into_bytes()
    } else if to_terminal {
        report::show::with_text(&shown, &screen()).into_bytes()
    } else {
        shown.body
    };
    match &arguments.out {
        Some(out) if out.as_os_str() != "-" => {
            whole_file::write(out, &bytes)
                .with_context(|| format!("`{}` can't be written", out.display()))?;
        }
        _ => {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(&bytes)?;
            stdout.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn headers(shown: &ShownVersion, to_terminal: bool, talk: &Talk) -> anyhow::Result<Vec<u8>> {
    let Some(head) = &shown.head else {
        bail!(
            "the headers of this version are not known: it was stored by an earlier freshet, or there was no room for them; the next \
             visit that brings the page stores them"
        );
    };
    let mut bytes = head.clone();
    if to_terminal {
        bytes = report::show::lines(&String::from_utf8_lossy(head)).into_bytes();
    }
    if shown.headers_cut {
        talk.say("there were more headers than are stored");
    }
    Ok(bytes)
}

/// What a reader has to know of the page, besides its last version.
fn said(shown: &ShownVersion) -> Vec<String> {
    let since = format!("this is its last version, of {}", shown.confirmed_at.in_zone(&zone()));
    match (shown.state.as_str(), &shown.redirect_to) {
        ("gone" | "missing", _) => vec![format!("the page is {}: {since}", shown.state)],
        (_, Some(to)) => vec![format!("the page leads to `{to}` now: {since}")],
        ("failing" | "blocked", _) => vec![format!("the page is {}: {since}", shown.state)],
        _ => Vec::new(),
    }
}
