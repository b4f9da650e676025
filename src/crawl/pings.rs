//! Pings: pages that somebody says have changed. They wait in the store until the next cycle takes them over.

use super::batch::{Batch, ToldChange};
use super::seeded_scope::SeededScope;
use super::{CrawlError, Crawler};
use crate::fetch::web::Web;
use crate::page::{Normaliser, PageUrl};
use crate::signal::SignalKind;
use crate::store::{Store, StoreError};
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

impl PingVerdict {
    /// What a crawl with this scope makes of a ping. `scope`: the operator's rules, without seeds.
    pub fn of(
        store: &mut dyn Store,
        scope: &Scope,
        normaliser: &Normaliser,
        url: &PageUrl,
    ) -> Result<Self, StoreError> {
        if store.find_page(url.fingerprint())?.is_some() {
            return Ok(Self::Known);
        }
        let SeededScope { links, .. } = SeededScope::new(scope.clone(), 0, &store.seeds()?, normaliser);
        Ok(links.judge(url, DEPTH, None).map_or_else(Self::Refused, |_| Self::New))
    }
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
