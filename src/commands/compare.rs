//! `freshet compare`: how far two texts are apart, and the words that make the difference.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde::Serialize;

use freshet::change::comparison::TextComparison;
use freshet::crawl::observe::Observer;
use freshet::extract;
use freshet::fetch::network::Network;
use freshet::fetch::visit::{Outcome, Refused};
use freshet::look::check::ask::{AskedPage, Asker, Ended};
use freshet::look::page::page_url;
use freshet::report;

use super::check::{asker, paused};
use crate::cli::{CompareArgs, Global};
use crate::set_up::ADDRESS_HINT;
use crate::settings::{FragmentWords, Settings, Usage};
use crate::terminal::{Talk, json, print};
use crate::threads;

/// Stretches shown of each side, unless all are wanted.
const SHOWN: usize = 20;

/// Two texts compared, as JSON has them.
#[derive(Serialize)]
struct Compared<'a> {
    a: &'a str,
    b: &'a str,
    divergence: f64,
    exact_divergence: f64,
    k: usize,
    m: Option<usize>,
    fragments_a: usize,
    fragments_b: usize,
    shared: usize,
    only_a: &'a [String],
    only_b: &'a [String],
}

pub(crate) fn run(global: &Global, arguments: &CompareArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &arguments.flags.0)?;
    let words = arguments.k.map_or(settings.change.fragment_words, FragmentWords::get);
    let most = arguments.m.0;
    let CompareArgs { a, b, .. } = arguments;
    if a == "-" && b == "-" {
        return Err(Usage("standard input can be read once only; name a file for one of them".into()).into());
    }
    let mut reader = TextReader { asker: asker(&settings)?, observer: settings.observer(), talk };
    let [old, new] =
        threads::block_on(async { anyhow::Ok([reader.text(a).await?, reader.text(b).await?]) })??;
    let found = TextComparison::of(&old, &new, words, most);
    print(&if global.json {
        let ([fragments_a, fragments_b], [only_a, only_b]) = (found.fragments, &found.only);
        let (divergence, exact_divergence) = (found.divergence.get(), found.exact.get());
        let (k, m, shared) = (words, most, found.shared);
        json(&Compared {
            a,
            b,
            divergence,
            exact_divergence,
            k,
            m,
            fragments_a,
            fragments_b,
            shared,
            only_a,
            only_b,
        })?
    } else {
        let shown = if arguments.all { usize::MAX } else { SHOWN };
        report::comparison::comparison(&found, [a, b], words, most, shown)
    })
}

/// Reads the text of files and pages.
struct TextReader<'a> {
    asker: Asker<Network>,
    observer: Observer,
    talk: &'a Talk,
}

impl TextReader<'_> {
    /// The words that a reader of this file or page sees.
    async fn text(&mut self, name: &str) -> anyhow::Result<String> {
        let is_url = ["http://", "https://"]
            .iter()
            .any(|scheme| name.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
        if is_url { self.page_text(name).await } else { file_text(name) }
    }

    async fn page_text(&mut self, name: &str) -> anyhow::Result<String> {
        let url = page_url(name, &self.observer.normaliser)?;
        let asked = self.asker.ask(url, &mut paused(self.talk)).await;
        let page = asked.answered().map(|(url, answer)| self.observer.read(url.as_url(), answer));
        if let Some(reason) = asked.failure(page.as_ref().and_then(|page| page.soft_outcome()).as_ref()) {
            if is_private(&asked) {
                self.talk.say(ADDRESS_HINT);
            }
            bail!("`{name}` can't be compared: {reason}");
        }
        let document = page.and_then(|page| page.document);
        document
            .map(|document| document.text)
            .with_context(|| format!("`{name}` is no text, so it can't be compared"))
    }
}

/// Was the page refused for its private address?
fn is_private(asked: &AskedPage) -> bool {
    let refused = Outcome::Refused(Refused::Address);
    asked
        .hops
        .last()
        .is_some_and(|hop| matches!(&hop.ended, Ended::Visited(visit) if visit.outcome == refused))
}

fn file_text(name: &str) -> anyhow::Result<String> {
    let body = if name == "-" {
        let mut body = Vec::new();
        std::io::stdin().read_to_end(&mut body).context("standard input can't be read")?;
        body
    } else {
        std::fs::read(name).with_context(|| format!("`{name}` can't be read"))?
    };
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let content_type = match ending.as_deref() {
        Some("html" | "htm") => "text/html",
        Some("xhtml" | "xht") => "application/xhtml+xml",
        Some("json" | "jsonl" | "ndjson") => "application/json",
        Some("xml" | "rss" | "atom") => "application/xml",
        _ => "text/plain",
    };
    // Without a charset: what the file itself says, or what its bytes look like.
    let document = extract::document(&body, Some(content_type), 0);
    document
        .map(|document| document.text)
        .with_context(|| format!("`{name}` is no text, so it can't be compared"))
}
