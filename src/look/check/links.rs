//! The links of a checked page, judged as a crawl would that has the page as its only seed.

use std::borrow::Cow;

use serde::Serialize;

use crate::crawl::observe::{Observer, ReadPage};
use crate::fetch::web::Web;
use crate::page::{PageId, PageUrl, SeedId};
use crate::unique::{
    Admission, Candidate, LinkSource, Refusal, Scope, UniquenessVerifier, host_hash, query_path_hash,
};

use super::ask::{Asker, Hop};

const SEED: SeedId = SeedId(0);
/// A page out of the seed's scope, which is judged as if it were a seed too.
const FINAL: SeedId = SeedId(1);
/// More links than a page may have.
const MOST_KNOWN: usize = 1 << 24;

/// A link, and what becomes of it.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedLink {
    /// As written in the page.
    pub href: String,
    /// Where it leads, in normal form; `None` if that is nowhere.
    pub url: Option<String>,
    /// The link or its page asks not to be followed.
    pub nofollow: bool,
    /// Whether robots.txt allows it, if it is of a host whose robots.txt was read.
    #[serde(rename = "robots_allowed")]
    pub robots: Option<bool>,
    /// Whether a crawl takes it.
    pub taken: bool,
    /// Why, or why not.
    pub why: Cow<'static, str>,
}

/// A crawl with one seed that is never run.
pub(super) struct DryCrawl {
    verifier: UniquenessVerifier,
}

impl DryCrawl {
    /// `scope` has the operator's rules and no seed yet.
    pub(super) fn new(mut scope: Scope, seed: &PageUrl) -> Self {
        scope.add_seed(SEED, seed, None, None);
        Self { verifier: UniquenessVerifier::new(scope, MOST_KNOWN) }
    }

    /// Why the crawl would not come to a URL on the way, if it would not. `from`: the URL that redirects to it for
    /// good; within one domain a seed takes its scope along.
    pub(super) fn refuses(&mut self, from: Option<&PageUrl>, to: &PageUrl) -> Option<Refusal> {
        let scope = self.verifier.scope_mut();
        if let Some(from) = from {
            scope.follow_seed(SEED, &from.host(), to);
        }
        scope.judge(to, 0, Some(SEED)).err()
    }

    /// Judges every link of the page that the hops led to, a refresh first.
    pub(super) fn judge<W: Web>(
        &mut self,
        page: &ReadPage,
        hops: &[Hop],
        asker: &Asker<W>,
        observer: &Observer,
    ) -> Vec<JudgedLink> {
        let (Some(document), Some(here)) = (&page.document, hops.last()) else { return Vec::new() };
        if self.refuses(None, &here.url).is_some() {
            self.verifier.scope_mut().add_seed(FINAL, &here.url, None, None);
        }
        for Hop { url, .. } in hops {
            self.verifier.remember(url.fingerprint(), host_hash(url), query_path_hash(url));
        }
        let links = observer.links(here.url.as_url(), document, page.nofollow());
        let judged = links.map(|link| {
            let url = link.target().ok();
            let robots = url.as_ref().and_then(|url| {
                let robots = asker.host(&url.host())?.robots.as_ref()?;
                Some(robots.allows(url.as_url()))
            });
            let judged = match link.judge() {
                Ok(target) => self.admit(target, robots),
                Err(refusal) => Err(refusal.name()),
            };
            JudgedLink {
                href: link.href.to_owned(),
                url: url.map(|url| url.to_string()),
                nofollow: link.nofollow,
                robots,
                taken: judged.is_ok(),
                why: judged.map_or_else(Cow::Borrowed, Cow::Owned),
            }
        });
        judged.collect()
    }

    /// Why the crawl would take a page, or why not.
    fn admit(&mut self, target: PageUrl, robots: Option<bool>) -> Result<String, &'static str> {
        let source = LinkSource { depth: 1, seed: Some(SEED), page: Some(PageId(0)) };
        let new =
            match self.verifier.admit_one(Candidate { url: target, lastmod: None, anchor: None }, &source) {
                Admission::Known => return Err("known"),
                Admission::Refused(refusal) => return Err(refusal.name()),
                Admission::New(new) | Admission::Unsure(new) => new,
            };
        if robots == Some(false) {
            return Err("robots");
        }
        Ok(match self.verifier.scope_mut().reason(&new.url, new.seed) {
            Some((kind, Some(pattern))) => format!("in scope ({kind}), included by `{pattern}`"),
            Some((kind, None)) => format!("in scope ({kind})"),
            None => "in scope".to_owned(),
        })
    }
}
