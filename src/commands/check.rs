//! `freshet check`: one page asked for now, and everything that a crawl would make of it. Nothing is stored.

mod links;
mod printed;
mod report;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::bail;

use freshet::look::page::page_url;

use super::ask_page::{self, Asker};
use super::page_facts::PageFacts;
use crate::cli::{CheckArgs, Global};
use crate::settings::{Settings, Usage};
use crate::terminal::Talk;
use links::SeedScope;
use report::Report;

pub fn run(global: &Global, arguments: &CheckArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &arguments.flags)?;
    let shown = shown_links(&arguments.links)?;
    let url = page_url(&arguments.url, &settings.normaliser())?;
    let mut scope = SeedScope::of(&settings, &url)?;
    let mut asker = Asker::new(&settings, talk)?;
    let asked = asker.ask(url.clone());
    let page = asked.answered().map(|(url, answer)| PageFacts::read(url, answer, &settings)).transpose()?;
    let report = Report::of(&asked, page, &mut scope, &asker, &settings);
    let text = if global.json {
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        printed::text(&report, shown, arguments.text)
    };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    if let Some(reason) = &report.reason {
        ask_page::hint(&asked, talk);
        bail!("`{url}` was not fetched: {reason}");
    }
    Ok(ExitCode::SUCCESS)
}

fn shown_links(text: &str) -> Result<usize, Usage> {
    match text.parse::<usize>() {
        Ok(most) => Ok(most),
        Err(_) if text == "all" => Ok(usize::MAX),
        Err(_) => Err(Usage(format!("--links is `{text}`; it must be a number, or `all`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_shown_by_number_or_all() {
        assert_eq!(shown_links("0").ok(), Some(0));
        assert_eq!(shown_links("20").ok(), Some(20));
        assert_eq!(shown_links("all").ok(), Some(usize::MAX));
        for wrong in ["", "-1", "some"] {
            assert!(shown_links(wrong).is_err(), "{wrong}");
        }
    }
}
