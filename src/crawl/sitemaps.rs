//! Sitemaps: asked for once a day and host, read into new pages and dates.
//!
//! A host's sitemaps count as read when every file of theirs was answered; one that was put off, or could not be had,
//! is asked for again by the next cycle.

use std::collections::HashMap;
use std::time::Duration;

use url::Url;

use super::cycle::Cycle;
use super::observe::Observed;
use super::writer::Order;
use crate::extract::sitemap::{Sitemap, SitemapEntry};
use crate::fetch::visit::{Outcome, Request, Subject, Validators};
use crate::fetch::web::Web;
use crate::page::Host;
use crate::time::Timestamp;
use crate::unique::{Candidate, LinkSource, Refusal};

/// A host's sitemaps are read again after this.
const MAX_AGE: Duration = Duration::from_secs(86_400);
/// Files of one host that are read in one cycle.
const FILES_PER_HOST: u32 = 100;
/// Indexes within indexes, and redirects.
const NESTING: u8 = 3;

/// The sitemaps under way.
#[derive(Default)]
pub(super) struct Sitemaps {
    /// Whose sitemap a URL is.
    of: HashMap<Url, Host>,
    hosts: HashMap<Host, Files>,
}

#[derive(Default)]
struct Files {
    asked: u32,
    awaited: u32,
    missed: bool,
}

impl<W: Web> Cycle<'_, W> {
    /// A host's robots.txt was read: its sitemaps are asked for, unless they were today.
    pub(super) async fn ask_sitemaps(&mut self, host: &Host, named: Vec<Url>) {
        let known = self.hosts.named(host);
        let fresh = |at: Timestamp| Timestamp::now().since(at).seconds() < MAX_AGE.as_secs_f64();
        let wanted = known.is_some_and(|known| known.is_wanted && !known.sitemaps_at.is_some_and(fresh));
        if !self.crawler.settings.sitemaps || !wanted {
            return;
        }
        let urls = if named.is_empty() { host.url("/sitemap.xml").into_iter().collect() } else { named };
        for url in urls {
            self.ask_sitemap(host, url, 0);
        }
    }

    /// Only from the host itself or its domain: a sitemap elsewhere has no say here.
    fn ask_sitemap(&mut self, of: &Host, url: Url, nesting: u8) {
        let ours = Host::of(&url).is_some_and(|on| on.domain() == of.domain());
        let files = self.sitemaps.hosts.entry(of.clone()).or_default();
        if !ours {
            tracing::info!(host = %of, %url, "a sitemap of another domain is left alone");
        }
        if !ours || files.asked >= FILES_PER_HOST || nesting > NESTING || self.sitemaps.of.contains_key(&url)
        {
            return;
        }
        files.asked += 1;
        files.awaited += 1;
        tracing::debug!(host = %of, %url, "sitemap");
        self.sitemaps.of.insert(url.clone(), of.clone());
        self.fetcher.submit(Request {
            subject: Subject::Sitemap { nesting },
            url,
            validators: Validators::default(),
        });
    }

    /// A sitemap was answered.
    pub(super) async fn sitemap(&mut self, observed: Observed, nesting: u8) {
        let Some(of) = self.sitemaps.of.get(&observed.url).cloned() else { return };
        let outcome = observed.observation.outcome;
        let missed = matches!(outcome, Outcome::Throttled { .. } | Outcome::Failed(_) | Outcome::ServerError);
        match (observed.sitemap, outcome) {
            (Some(Sitemap::Urls(entries)), _) => self.read_sitemap(entries).await,
            (Some(Sitemap::Index(entries)), _) => {
                for url in entries.iter().filter_map(|entry| Url::parse(&entry.url).ok()) {
                    self.ask_sitemap(&of, url, nesting + 1);
                }
            }
            (None, Outcome::Redirected { to, .. }) => self.ask_sitemap(&of, to, nesting + 1),
            (None, _) => {}
        }
        let Some(files) = self.sitemaps.hosts.get_mut(&of) else { return };
        files.awaited = files.awaited.saturating_sub(1);
        files.missed |= missed;
        if files.awaited == 0 && !files.missed {
            self.outbox.order(Order::SitemapsRead(of, Timestamp::now())).await;
        }
    }

    /// A sitemap was put off.
    pub(super) fn sitemap_missed(&mut self, url: &Url) {
        if let Some(files) = self.sitemaps.of.get(url).and_then(|of| self.sitemaps.hosts.get_mut(of)) {
            files.missed = true;
        }
    }

    async fn read_sitemap(&mut self, entries: Vec<SitemapEntry>) {
        let mut links = Vec::with_capacity(entries.len());
        let mut dates = Vec::new();
        for entry in entries {
            match self.crawler.observer.normaliser.parse(&entry.url) {
                Ok(url) => {
                    dates.extend(entry.lastmod.map(|date| (url.fingerprint(), date)));
                    links.push(Candidate { url, lastmod: entry.lastmod });
                }
                Err(error) => self.crawler.verifier.refuse(Refusal::from(&error), 1),
            }
        }
        let found = self.admit(links, &LinkSource { depth: 1, seed: None, page: None });
        if !found.is_empty() || !dates.is_empty() {
            self.outbox.order(Order::Sitemap { found, dates }).await;
        }
    }
}
