//! The events of a cycle: visits go to the writer with the pages found, redirects and canonical links lead on.

use std::collections::HashSet;

use url::Url;

use super::batch::{Content, VisitRecord};
use super::cycle::Cycle;
use super::observe::Observed;
use super::redirect;
use super::writer::Order;
use crate::fetch::FetchEvent;
use crate::fetch::reason;
use crate::fetch::visit::{Outcome, RedirectFault, Request, Subject, Waiting};
use crate::fetch::web::Web;
use crate::observation::Attempt;
use crate::page::{Depth, Fingerprint, Host, PageId, PageUrl, UrlError};
use crate::store::{PlannedVisit, Tally};
use crate::time::Timestamp;
use crate::unique::{Candidate, LinkSource, NewPage, Refusal, UniquenessVerifier};

impl<W: Web> Cycle<'_, W> {
    /// Takes what the fetcher tells.
    pub(super) async fn take(&mut self, event: FetchEvent<Observed>) {
        match event {
            FetchEvent::Visited(observed) => match observed.subject {
                Subject::Page(page) => self.visited(page, observed).await,
                Subject::Sitemap { .. } => self.sitemap(observed).await,
            },
            FetchEvent::Deferred { request, why } => self.deferred(&request, why).await,
            FetchEvent::Host(report) => self.outbox.order(Order::Host(Box::new(report))).await,
            FetchEvent::Robots { host, sitemaps } => self.ask_sitemaps(&host, sitemaps),
            FetchEvent::RobotsWanted(host) => self.outbox.order(Order::Robots(host)).await,
        }
    }

    /// A visit ended: its links are admitted, and it goes to the writer.
    async fn visited(&mut self, page: PageId, observed: Observed) {
        let Some(planned) = self.planned.remove(&page) else { return };
        let Observed {
            attempt,
            content,
            answer,
            text_rules,
            changed_when,
            validator,
            etag,
            last_modified,
            has_safe_date,
            noindex,
            links,
            entry_dates,
            refused,
            canonical,
            redirect,
            ..
        } = observed;
        for (reason, count) in refused.iter() {
            self.crawler.verifier.refuse(reason, count);
        }
        let source =
            LinkSource { depth: planned.depth.saturating_add(1), seed: Some(planned.seed), page: Some(page) };
        let targets: Vec<Fingerprint> = links.iter().map(|link| link.url.fingerprint()).collect();
        // As sitemaps do: the entries of a feed tell when their pages changed, also of pages that are known.
        let dated = links.iter().filter_map(|link| Some((link.url.fingerprint(), link.lastmod?)));
        let entries: Vec<(Fingerprint, i64)> = dated.collect();
        let mut found = self.admit(links, &source);
        let mut record = VisitRecord {
            page,
            attempt,
            content,
            answer,
            etag,
            last_modified,
            has_safe_date,
            noindex,
            validator,
            rules: self.crawler.settings.rules,
            text_rules,
            changed_when,
            found: Vec::new(),
            links: None,
            same_rules: planned.read_by == Some(self.crawler.settings.rules),
            entries,
            read_at: Timestamp::now(),
            entry_dates,
            redirect: None,
            alias: None,
        };
        if matches!(record.content, Some(Content::Read(_))) {
            record.links = Some(known_of(&self.crawler.verifier, targets));
        }
        let own = self.crawler.observer.normaliser.parse(&planned.url).ok().map(|url| url.fingerprint());
        let answers = record.content.is_some() || record.attempt.outcome == Outcome::NotModified;
        if let Some(own) = own.filter(|_| answers) {
            self.let_go(&planned, own).await;
        }
        if let Some(target) = redirect {
            self.follow(&planned, own, target, &mut record, &mut found).await;
        }
        if let Some(canonical) = canonical.filter(|canonical| Some(canonical.fingerprint()) != own) {
            // One step further, as a link is: a chain of canonical links must not lead beyond the depth that is wanted.
            let depth = planned.depth.saturating_add(1);
            record.alias = self.lead_to(&planned, canonical, depth, &mut found);
        }
        record.found = found;
        log_failure(&planned.url, &record.attempt);
        let host = planned.host;
        let spent = self.spent();
        self.outbox.order(Order::Visit(Box::new(record), spent)).await;
        self.host_freed(host);
    }

    /// Follows a redirect. Each hop is a page of its own: it must be in scope, must not be the page itself, and must not be
    /// one hop too many. A redirect that is not followed is recorded as a bad one.
    async fn follow(
        &mut self,
        planned: &PlannedVisit,
        own: Option<Fingerprint>,
        target: Result<PageUrl, UrlError>,
        record: &mut VisitRecord,
        found: &mut Vec<NewPage>,
    ) {
        let permanent = matches!(record.attempt.outcome, Outcome::Redirected { permanent: true, .. });
        if let Err(error) = &target {
            self.crawler.verifier.refuse(Refusal::from(error), 1);
        }
        let most = self.crawler.settings.redirects;
        let fault = match redirect::follow(target, |page| Some(page) == own, planned.hops, most) {
            Err(fault) => fault,
            Ok(target) => {
                if permanent {
                    self.adopt(planned, &target).await;
                }
                let fingerprint = target.fingerprint();
                let named = target.as_str().to_owned();
                if self.lead_to(planned, target, planned.depth, found).is_some() {
                    record.redirect = Some(fingerprint);
                    record.alias = permanent.then_some(fingerprint);
                    return;
                }
                if planned.depth == 0 {
                    tracing::warn!(
                        seed = planned.url,
                        target = named,
                        "a seed leads out of its scope; name the target as a seed to follow it"
                    );
                }
                RedirectFault::OutOfScope
            }
        };
        record.attempt.outcome = Outcome::BadRedirect(fault);
    }

    /// A seed that moved for good within its domain (`example.org` → `www.example.org`) takes its scope along, and the store
    /// notes it.
    async fn adopt(&mut self, planned: &PlannedVisit, target: &PageUrl) {
        if planned.depth > 0 {
            return;
        }
        let Some(from) = Url::parse(&planned.url).ok().and_then(|url| Host::of(&url)) else { return };
        if self.crawler.verifier.scope_mut().follow_seed(planned.seed, &from, target) {
            tracing::info!(
                seed = planned.url,
                target = target.as_str(),
                "a seed redirects; its scope follows"
            );
            self.crawler.visits.follow_seed(planned.seed, &from, target);
            self.crawler.scope_changed = true;
            self.outbox.order(Order::AdoptSeed(planned.seed, target.clone())).await;
        }
    }

    /// A seed that answers for itself again lets go of the host that it moved to before.
    async fn let_go(&mut self, planned: &PlannedVisit, own: Fingerprint) {
        let scope = self.crawler.verifier.scope_mut();
        if planned.depth == 0 && scope.is_page_of(planned.seed, own) && scope.let_go(planned.seed) {
            tracing::info!(
                seed = planned.url,
                "a seed answers for itself again; the host it moved to is let go"
            );
            self.crawler.visits.let_go(planned.seed);
            self.crawler.scope_changed = true;
            self.outbox.order(Order::LetGo(planned.seed)).await;
        }
    }

    /// The page that another one leads to. It is known, or is added to `found`; `None` if it is not wanted.
    fn lead_to(
        &mut self,
        planned: &PlannedVisit,
        target: PageUrl,
        depth: Depth,
        found: &mut Vec<NewPage>,
    ) -> Option<Fingerprint> {
        let fingerprint = target.fingerprint();
        if self.crawler.verifier.knows(fingerprint) {
            return Some(fingerprint);
        }
        let source = LinkSource { depth, seed: Some(planned.seed), page: Some(planned.page) };
        let new = self.admit(vec![Candidate { url: target, lastmod: None, anchor: None }], &source);
        let taken = !new.is_empty();
        found.extend(new);
        taken.then_some(fingerprint)
    }

    /// The pages among these links that are new and wanted. Where the set of known pages is full, the store sorts out later
    /// which of them are known.
    pub(super) fn admit(&mut self, links: Vec<Candidate>, source: &LinkSource) -> Vec<NewPage> {
        let admitted = self.crawler.verifier.admit(links, source);
        let mut found = admitted.new;
        found.extend(admitted.unsure);
        found
    }

    /// A request was put off to a later cycle.
    async fn deferred(&mut self, request: &Request, why: Waiting) {
        let page = match request.subject {
            Subject::Page(page) => page,
            Subject::Sitemap { .. } => return self.sitemaps.put_off(&request.url),
        };
        self.planned.remove(&page);
        self.planner.visit_put_off();
        let tally = self.crawler.accounts.put_off(why, 1);
        if tally != Tally::default() {
            self.outbox.order(Order::Counts(Vec::new(), tally)).await;
        }
    }
}

/// The known pages among these, each once, as the link graph keeps them.
pub(super) fn known_of(verifier: &UniquenessVerifier, links: Vec<Fingerprint>) -> Vec<u64> {
    let mut seen = HashSet::with_capacity(links.len());
    let known = links.into_iter().filter(|page| verifier.knows(*page)).map(Fingerprint::prefix);
    known.filter(|page| seen.insert(*page)).collect()
}

/// A visit that brought nothing is named in the log, with its host and its reason.
fn log_failure(url: &str, attempt: &Attempt) {
    let outcome = attempt.outcome.code();
    if let Some(reason) = reason::in_words(outcome, attempt.status, attempt.reason.as_deref()) {
        let host = Url::parse(url).ok().and_then(|url| Host::of(&url));
        let host = host.as_ref().map_or("", Host::as_str);
        tracing::info!(host, url, outcome, reason, "the visit brought nothing");
    }
}
