//! What a crawl that has the page as its only seed would make of its redirects and links.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Serialize;

use freshet::page::{Fingerprint, PageUrl, SeedId};
use freshet::unique::{Refusal, Scope};

use super::super::ask_page::Asker;
use super::super::page_facts::PageFacts;
use crate::settings::{Settings, Usage};

const SEED: SeedId = SeedId(0);
/// A page far from the seed, which is looked at all the same.
const FINAL: SeedId = SeedId(1);

/// The scope of a crawl with one seed.
pub struct SeedScope {
    scope: Scope,
}

impl SeedScope {
    pub fn of(settings: &Settings, seed: &PageUrl) -> Result<SeedScope, Usage> {
        let mut scope = settings.scope()?;
        scope.add_seed(SEED, seed, None, None);
        Ok(SeedScope { scope })
    }

    /// Why the crawl would not visit its seed, if it would not.
    pub fn refuses_seed(&self, seed: &PageUrl) -> Option<Refusal> {
        self.scope.judge(seed, 0, Some(SEED)).err()
    }

    /// Why the crawl would not follow its seed to another page, if it would not. Within one domain a seed takes its
    /// scope along.
    pub fn refuses_redirect(&mut self, from: &PageUrl, to: &PageUrl) -> Option<Refusal> {
        if from.host().domain() == to.host().domain() && self.refuses_seed(to).is_some() {
            self.scope.extend_seed(SEED, to);
        }
        self.refuses_seed(to)
    }

    /// Why the crawl would take a page that is `seed`'s.
    fn why_taken(&self, page: &PageUrl, seed: SeedId) -> String {
        match self.scope.reason(page, seed) {
            Some((kind, Some(pattern))) => format!("in scope ({kind}), included by `{pattern}`"),
            Some((kind, None)) => format!("in scope ({kind})"),
            None => "in scope".to_owned(),
        }
    }

    /// From here on as if this page, too, were a seed.
    fn accept(&mut self, page: &PageUrl) {
        if self.refuses_seed(page).is_some() {
            self.scope.add_seed(FINAL, page, None, None);
        }
    }
}

/// A link, and what becomes of it.
#[derive(Debug, Serialize)]
pub struct JudgedLink {
    /// As written in the page.
    pub href: String,
    /// Where it leads, in normal form; `None` if that is nowhere.
    pub url: Option<String>,
    pub nofollow: bool,
    /// Whether robots.txt allows it, if it is of a host whose robots.txt was read.
    pub robots: Option<bool>,
    pub taken: bool,
    /// Why, or why not.
    pub why: Cow<'static, str>,
}

/// Every link of a page, a refresh first. `known`: the pages on the way to it, itself included.
pub fn judge(
    facts: &PageFacts,
    page: &PageUrl,
    known: impl Iterator<Item = Fingerprint>,
    scope: &mut SeedScope,
    asker: &Asker,
    settings: &Settings,
) -> Vec<JudgedLink> {
    scope.accept(page);
    let mut known: HashSet<Fingerprint> = known.collect();
    let normaliser = settings.normaliser();
    let obeys_nofollow = !settings.crawl.follow_nofollow;
    let base = facts.hints.base.as_deref().and_then(|base| page.as_url().join(base).ok());
    let base = base.as_ref().unwrap_or(page.as_url());
    let refresh = facts.hints.refresh.iter().map(|refresh| (refresh.url.as_str(), false));
    let links = facts.links.iter().map(|link| (link.href.as_str(), link.nofollow));
    let judged = refresh.chain(links).map(|(href, own_nofollow)| {
        let nofollow = own_nofollow || facts.hints.nofollow;
        let url = normaliser.join(base, href);
        let robots = url.as_ref().ok().and_then(|url| {
            let robots = asker.host(&url.host())?.robots.as_ref()?;
            Some(robots.allows(url.as_url()))
        });
        let judged = match &url {
            _ if nofollow && obeys_nofollow => Err(Refusal::NoFollow.name()),
            Err(error) => Err(Refusal::from(error).name()),
            Ok(url) if !known.insert(url.fingerprint()) => Err("known"),
            Ok(url) => match scope.scope.judge(url, 1, Some(SEED)) {
                Err(refusal) => Err(refusal.name()),
                Ok(_) if robots == Some(false) => Err("robots"),
                Ok(seed) => Ok(scope.why_taken(url, seed)),
            },
        };
        let taken = judged.is_ok();
        let why = judged.map_or_else(Cow::Borrowed, Cow::Owned);
        let url = url.ok().map(|url| url.to_string());
        JudgedLink { href: href.to_owned(), url, nofollow, robots, taken, why }
    });
    judged.collect()
}
