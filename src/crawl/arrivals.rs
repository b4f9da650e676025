//! What comes home in a cycle: visits judged and handed to the writer, redirects followed, sitemaps read.

use std::time::Duration;

use url::Url;

use super::cycle::Cycle;
use super::observe::Observed;
use super::writer::Order;
use crate::extract::sitemap::Sitemap;
use crate::fetch::Event;
use crate::fetch::visit::{Held, Outcome, RedirectFault, Request, Subject, Waiting};
use crate::fetch::web::Web;
use crate::page::{Fingerprint, Host, PageId, PageUrl, UrlError};
use crate::store::{PlannedVisit, Tally, VisitRecord};
use crate::time::Timestamp;
use crate::unique::{Candidate, NewPage, Refusal, Source};

/// A host's sitemaps are read again after this.
const SITEMAP_AGE: Duration = Duration::from_secs(86_400);
/// Sitemap files of one host that are read in one cycle.
const SITEMAPS_PER_HOST: u32 = 100;
/// Indexes of sitemaps within indexes.
const SITEMAP_NESTING: u8 = 2;

impl<W: Web> Cycle<'_, W> {
    pub(super) async fn take(&mut self, event: Event<Observed>) {
        match event {
            Event::Visited(observed) => match observed.subject {
                Subject::Page(page) => self.visited(page, observed).await,
                Subject::Sitemap { nesting } => self.sitemap(observed, nesting).await,
            },
            Event::Deferred { request, why } => self.deferred(&request, why).await,
            Event::Host(report) => self.order(Order::Host(Box::new(report))).await,
            Event::Robots { host, sitemaps } => self.ask_sitemaps(&host, sitemaps).await,
        }
    }

    async fn visited(&mut self, page: PageId, observed: Observed) {
        let Some(planned) = self.planned.remove(&page) else { return };
        let Observed {
            observation,
            content,
            etag,
            last_modified,
            noindex,
            links,
            refused,
            canonical,
            redirect,
            ..
        } = observed;
        for (reason, count) in refused {
            self.crawler.verifier.refuse(reason, count);
        }
        let source =
            Source { depth: planned.depth.saturating_add(1), seed: Some(planned.seed), page: Some(page) };
        let mut found = self.admit(links, &source);
        let mut record = VisitRecord {
            page,
            observation,
            content,
            etag,
            last_modified,
            noindex,
            found: Vec::new(),
            redirect: None,
            alias: None,
        };
        let own = self.crawler.observer.normaliser.parse(&planned.url).ok().map(|url| url.fingerprint());
        if let Some(target) = redirect {
            self.follow(&planned, own, target, &mut record, &mut found).await;
        }
        if let Some(canonical) = canonical.filter(|canonical| Some(canonical.fingerprint()) != own) {
            record.alias = self.lead_to(&planned, canonical, &mut found);
        }
        record.found = found;
        self.count(&record.observation.outcome);
        let host = planned.host;
        self.order(Order::Visit(Box::new(record))).await;
        self.quench(host);
    }

    /// Judges a redirect: each hop is a page of its own, in scope, not seen on the way here, and not too far along.
    async fn follow(
        &mut self,
        planned: &PlannedVisit,
        own: Option<Fingerprint>,
        target: Result<PageUrl, UrlError>,
        record: &mut VisitRecord,
        found: &mut Vec<NewPage>,
    ) {
        let permanent = matches!(record.observation.outcome, Outcome::Redirected { permanent: true, .. });
        let fault = match target {
            Err(error) => {
                self.crawler.verifier.refuse(Refusal::from(&error), 1);
                match error {
                    UrlError::Scheme(_) | UrlError::UserInfo => RedirectFault::OutOfScope,
                    _ => RedirectFault::BadLocation,
                }
            }
            Ok(target) if Some(target.fingerprint()) == own => RedirectFault::Loop,
            Ok(_) if planned.hops >= self.crawler.settings.redirects => RedirectFault::TooMany,
            Ok(target) => {
                self.adopt(planned, &target).await;
                let fingerprint = target.fingerprint();
                match self.lead_to(planned, target, found) {
                    Some(_) => {
                        record.redirect = Some(fingerprint);
                        record.alias = permanent.then_some(fingerprint);
                        return;
                    }
                    None => RedirectFault::OutOfScope,
                }
            }
        };
        record.observation.outcome = Outcome::BadRedirect(fault);
    }

    /// A seed that moved within its domain (`example.org` → `www.example.org`) takes its scope along.
    async fn adopt(&mut self, planned: &PlannedVisit, target: &PageUrl) {
        if planned.depth > 0 {
            return;
        }
        let Some(from) = Url::parse(&planned.url).ok().and_then(|url| Host::of(&url)) else { return };
        let to = target.host();
        if from.domain() != to.domain() || self.crawler.verifier.scope_mut().judge(target, 0, None).is_ok() {
            return;
        }
        tracing::info!(seed = planned.url, target = target.as_str(), "a seed redirects; its scope follows");
        self.crawler.verifier.scope_mut().extend_seed(planned.seed, target);
        self.order(Order::AdoptSeed(planned.seed, target.clone())).await;
    }

    /// The page that another one leads to: known, or taken in now; `None` if it is not wanted.
    fn lead_to(
        &mut self,
        planned: &PlannedVisit,
        target: PageUrl,
        found: &mut Vec<NewPage>,
    ) -> Option<Fingerprint> {
        let fingerprint = target.fingerprint();
        if self.crawler.verifier.knows(fingerprint) {
            return Some(fingerprint);
        }
        let source = Source { depth: planned.depth, seed: Some(planned.seed), page: Some(planned.page) };
        let new = self.admit(vec![Candidate { url: target, lastmod: None }], &source);
        let taken = !new.is_empty();
        found.extend(new);
        taken.then_some(fingerprint)
    }

    /// Those that nobody knew. Where the memory of known pages is full, the store decides as it takes them.
    fn admit(&mut self, links: Vec<Candidate>, source: &Source) -> Vec<NewPage> {
        let admitted = self.crawler.verifier.admit(links, source);
        let mut found = admitted.new;
        found.extend(admitted.unsure);
        found
    }

    async fn deferred(&mut self, request: &Request, why: Waiting) {
        if let Subject::Page(page) = request.subject {
            self.planned.remove(&page);
            self.crawler.counts.deferred += 1;
            *self.crawler.counts.put_off.entry(why.name()).or_default() += 1;
            let tally = Tally { deferred: 1, ..Tally::default() };
            self.order(Order::Counts(Vec::new(), tally)).await;
        }
    }

    /// A host's robots.txt was read: its sitemaps are asked for, once a day.
    async fn ask_sitemaps(&mut self, host: &Host, named: Vec<Url>) {
        let now = Timestamp::now();
        let Some(known) = self.ids.get(host).and_then(|id| self.hosts.get_mut(id)) else { return };
        let fresh = known.sitemaps_at.is_some_and(|at| now.since(at).seconds() < SITEMAP_AGE.as_secs_f64());
        if !self.crawler.settings.sitemaps || fresh {
            return;
        }
        known.sitemaps_at = Some(now);
        let urls = if named.is_empty() { host.url("/sitemap.xml").into_iter().collect() } else { named };
        for url in urls {
            self.ask_sitemap(host, url, 0);
        }
        self.order(Order::SitemapsRead(host.clone(), now)).await;
    }

    /// Only from the host itself or its domain: a sitemap elsewhere has no say here.
    fn ask_sitemap(&mut self, of: &Host, url: Url, nesting: u8) {
        let Some(on) = Host::of(&url).filter(|on| on.domain() == of.domain()) else { return };
        let Some(known) = self.ids.get(of).and_then(|id| self.hosts.get_mut(id)) else { return };
        if known.sitemaps >= SITEMAPS_PER_HOST || nesting > SITEMAP_NESTING {
            return;
        }
        known.sitemaps += 1;
        tracing::debug!(host = %on, %url, "sitemap");
        self.fetcher.submit(Request { subject: Subject::Sitemap { nesting }, url, held: Held::default() });
    }

    async fn sitemap(&mut self, observed: Observed, nesting: u8) {
        let Some(host) = Host::of(&observed.url) else { return };
        match (observed.sitemap, observed.observation.outcome) {
            (Some(Sitemap::Urls(entries)), _) => {
                let mut links = Vec::with_capacity(entries.len());
                for entry in entries {
                    match self.crawler.observer.normaliser.parse(&entry.url) {
                        Ok(url) => links.push(Candidate { url, lastmod: entry.lastmod }),
                        Err(error) => self.crawler.verifier.refuse(Refusal::from(&error), 1),
                    }
                }
                let found = self.admit(links, &Source { depth: 1, seed: None, page: None });
                if !found.is_empty() {
                    self.order(Order::Found(found)).await;
                }
            }
            (Some(Sitemap::Index(entries)), _) => {
                for url in entries.iter().filter_map(|entry| Url::parse(&entry.url).ok()) {
                    self.ask_sitemap(&host, url, nesting + 1);
                }
            }
            (None, Outcome::Redirected { to, .. }) => self.ask_sitemap(&host, to, nesting + 1),
            (None, _) => {}
        }
    }
}
