//! Pings: pages that somebody says have changed. They wait in the store until the next cycle takes them over.

use serde::Serialize;

use super::batch::{Batch, ToldChange};
use super::seeded_scope::SeededScope;
use super::{CrawlError, Crawler};
use crate::fetch::web::Web;
use crate::page::{Normaliser, PageUrl};
use crate::signal::SignalKind;
use crate::store::{Ping, Store, StoreError};
use crate::time::Timestamp;
use crate::unique::{Candidate, LinkSource, Refusal, Scope};

/// Links from a seed that a page counts as far as which somebody named and no page links to: as one of a sitemap.
const DEPTH: u32 = 1;

/// What becomes of a page that is pinged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PingVerdict {
    /// The store knows the page: the next cycle takes the ping as a signal.
    Known,
    /// A seed admits the page: the next cycle takes it in as a new one.
    New,
    /// No seed wants the page.
    Refused(Refusal),
}

/// A page that was pinged, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Pinged {
    /// Its address, in normal form.
    pub url: String,
    /// `known`, `new` or `refused`.
    pub verdict: &'static str,
    /// Why it is refused, by the names of docs/outcomes.md.
    pub reason: Option<String>,
    /// The same, for those who say it in words.
    #[serde(skip)]
    pub became: PingVerdict,
}

/// Leaves pings for these pages in a store that [`crate::store::open_to_ping`] opened, but for those that no seed wants. `scope`: the
/// operator's rules, without seeds.
pub fn leave_pings(
    store: &mut dyn Store,
    scope: &Scope,
    normaliser: &Normaliser,
    urls: &[PageUrl],
    now: Timestamp,
) -> Result<Vec<Pinged>, StoreError> {
    let SeededScope { links, .. } = SeededScope::new(scope.clone(), 0, &store.seeds()?, normaliser);
    let (mut pinged, mut pings) = (Vec::with_capacity(urls.len()), Vec::new());
    for url in urls {
        let became = match store.find_page(url.fingerprint())? {
            Some(_) => PingVerdict::Known,
            None => links.judge(url, DEPTH, None).map_or_else(PingVerdict::Refused, |_| PingVerdict::New),
        };
        let (verdict, reason) = match became {
            PingVerdict::Known => ("known", None),
            PingVerdict::New => ("new", None),
            PingVerdict::Refused(refusal) => ("refused", Some(refusal.name().to_owned())),
        };
        if reason.is_none() {
            pings.push(Ping { url: url.as_str().to_owned(), at: now });
        }
        pinged.push(Pinged { url: url.as_str().to_owned(), verdict, reason, became });
    }
    store.add_pings(&pings)?;
    Ok(pinged)
}

impl<W: Web> Crawler<W> {
    /// Takes over the pings that wait. They are taken away in the same transaction: none is lost, and none counts twice.
    pub(super) fn take_pings(&mut self) -> Result<(), CrawlError> {
        if self.only.is_some() {
            return Ok(());
        }
        self.with_recorder(|crawler, recorder| {
            let pings = recorder.store.pings()?;
            if pings.is_empty() {
                return Ok(());
            }
            let now = Timestamp::now();
            let (mut told, mut links) = (Vec::new(), Vec::new());
            for ping in &pings {
                match crawler.observer.normaliser.parse(&ping.url) {
                    Ok(url) => {
                        let page = url.fingerprint();
                        told.push(ToldChange { page, kind: SignalKind::Ping, date: ping.at, learnt_at: now });
                        links.push(Candidate { url, lastmod: None, anchor: None });
                    }
                    Err(error) => {
                        tracing::warn!(url = ping.url, %error, "a ping is left out: it can't be read")
                    }
                }
            }
            let source = LinkSource { depth: DEPTH, seed: None, page: None };
            let admitted = crawler.verifier.admit(links, &source);
            let mut found = admitted.new;
            found.extend(admitted.unsure);
            tracing::info!(pings = pings.len(), new = found.len(), "pings taken over");
            let new = recorder.take_in(Batch { found, told, pings_taken: pings, now, ..Batch::default() })?;
            crawler.pages += new.len() as u64;
            for page in new {
                if !crawler.visits.accepts(crawler.verifier.scope_mut(), &page.url, page.state.depth) {
                    crawler.unwanted.insert(page.id);
                }
            }
            Ok(())
        })
    }
}
