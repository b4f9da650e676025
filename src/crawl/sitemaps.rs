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
/// Hosts other than its own, on the same domain, that one host's sitemaps may lie on. Each costs a robots.txt, and its rules
/// take memory: a site needs one or two, for its files or for its languages.
const OTHER_HOSTS: usize = 4;
/// Indexes within indexes, and redirects.
const NESTING: u8 = 3;

/// Sitemaps that were read at that time need not be read again.
pub(super) fn are_fresh(read_at: Option<Timestamp>, now: Timestamp) -> bool {
    read_at.is_some_and(|at| now.since(at).seconds() < MAX_AGE.as_secs_f64())
}

/// The sitemaps under way.
#[derive(Debug, Default)]
pub(super) struct Sitemaps {
    /// Whose sitemap a URL is.
    of: HashMap<Url, Host>,
    hosts: HashMap<Host, Files>,
}

/// The sitemap files of a host.
#[derive(Debug, Default)]
struct Files {
    asked: u32,
    /// The other hosts that they lie on.
    elsewhere: Vec<Host>,
    /// Files that were asked for and not answered.
    awaited: u32,
    /// A file was put off or brought no answer.
    missed: bool,
}

impl Sitemaps {
    /// The request for a sitemap of host `of`, if it is asked for. A sitemap of another domain has no say; each file is asked
    /// for once, and there are limits.
    fn ask(&mut self, of: &Host, url: Url, nesting: u8) -> Option<Request> {
        let Some(on) = Host::of(&url).filter(|on| on.domain() == of.domain()) else {
            tracing::info!(host = %of, %url, "a sitemap of another domain is left alone");
            return None;
        };
        let files = self.hosts.entry(of.clone()).or_default();
        if files.asked >= FILES_PER_HOST || nesting > NESTING || self.of.contains_key(&url) {
            return None;
        }
        if on != *of && !files.elsewhere.contains(&on) {
            if files.elsewhere.len() >= OTHER_HOSTS {
                tracing::info!(host = %of, %url, "a sitemap is left alone: too many other hosts have some");
                return None;
            }
            files.elsewhere.push(on);
        }
        files.asked += 1;
        files.awaited += 1;
        tracing::debug!(host = %of, %url, "sitemap");
        self.of.insert(url.clone(), of.clone());
        Some(Request { subject: Subject::Sitemap { nesting }, url, validators: Validators::default() })
    }

    /// A file of this host was answered, after those that it names were asked for. Says whether all files of the host are
    /// read now.
    fn answered(&mut self, of: &Host, missed: bool) -> bool {
        let Some(files) = self.hosts.get_mut(of) else { return false };
        files.awaited = files.awaited.saturating_sub(1);
        files.missed |= missed;
        files.awaited == 0 && !files.missed
    }

    /// A file was put off.
    pub(super) fn put_off(&mut self, url: &Url) {
        if let Some(files) = self.of.get(url).and_then(|of| self.hosts.get_mut(of)) {
            files.missed = true;
        }
    }
}

impl<W: Web> Cycle<'_, W> {
    /// A host's robots.txt was read: its sitemaps are asked for, unless they were read today.
    pub(super) fn ask_sitemaps(&mut self, host: &Host, named: Vec<Url>) {
        let known = self.hosts.named(host);
        let wanted =
            known.is_some_and(|known| known.is_wanted && !are_fresh(known.sitemaps_at, Timestamp::now()));
        if !self.crawler.settings.sitemaps || !wanted {
            return;
        }
        let urls = if named.is_empty() { host.url("/sitemap.xml").into_iter().collect() } else { named };
        for url in urls {
            self.ask_sitemap(host, url, 0);
        }
    }

    fn ask_sitemap(&mut self, of: &Host, url: Url, nesting: u8) {
        if let Some(request) = self.sitemaps.ask(of, url, nesting) {
            self.fetcher.submit(request);
        }
    }

    /// A sitemap was answered.
    pub(super) async fn sitemap(&mut self, observed: Observed, nesting: u8) {
        let Some(of) = self.sitemaps.of.get(&observed.url).cloned() else { return };
        let outcome = observed.attempt.outcome;
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
        if self.sitemaps.answered(&of, missed) {
            self.outbox.order(Order::SitemapsRead(of, Timestamp::now())).await;
        }
    }

    async fn read_sitemap(&mut self, entries: Vec<SitemapEntry>) {
        let mut links = Vec::with_capacity(entries.len());
        let mut dates = Vec::new();
        for entry in entries {
            match self.crawler.observer.normaliser.parse(&entry.url) {
                Ok(url) => {
                    dates.extend(entry.lastmod.map(|date| (url.fingerprint(), date)));
                    links.push(Candidate { url, lastmod: entry.lastmod, anchor: None });
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

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    fn host() -> Host {
        Host::of(&url("https://a.example/")).expect("a host")
    }

    #[test]
    fn a_host_is_read_when_every_file_was_answered() {
        let mut sitemaps = Sitemaps::default();
        assert!(sitemaps.ask(&host(), url("https://a.example/index.xml"), 0).is_some());
        // The index names two files, one of them on another host of the domain.
        assert!(sitemaps.ask(&host(), url("https://a.example/1.xml"), 1).is_some());
        assert!(sitemaps.ask(&host(), url("https://files.a.example/2.xml"), 1).is_some());
        assert!(!sitemaps.answered(&host(), false));
        assert!(!sitemaps.answered(&host(), false));
        assert!(sitemaps.answered(&host(), false));
    }

    #[test]
    fn a_file_that_could_not_be_had_leaves_the_host_unread() {
        let mut sitemaps = Sitemaps::default();
        for file in ["https://a.example/1.xml", "https://a.example/2.xml"] {
            assert!(sitemaps.ask(&host(), url(file), 0).is_some());
        }
        sitemaps.put_off(&url("https://a.example/1.xml"));
        assert!(!sitemaps.answered(&host(), false));
        assert!(!sitemaps.answered(&host(), false));
    }

    #[test]
    fn files_of_other_domains_known_files_and_endless_indexes_are_not_asked_for() {
        let mut sitemaps = Sitemaps::default();
        assert!(sitemaps.ask(&host(), url("https://b.example/1.xml"), 0).is_none());
        assert!(sitemaps.ask(&host(), url("https://a.example/1.xml"), NESTING).is_some());
        assert!(sitemaps.ask(&host(), url("https://a.example/1.xml"), 0).is_none());
        assert!(sitemaps.ask(&host(), url("https://a.example/2.xml"), NESTING + 1).is_none());
        let asked = (0..200).filter(|file| {
            sitemaps.ask(&host(), url(&format!("https://a.example/more/{file}.xml")), 1).is_some()
        });
        assert_eq!(asked.count(), FILES_PER_HOST as usize - 1);
    }

    #[test]
    fn files_lie_on_a_few_other_hosts_at_the_most() {
        let mut sitemaps = Sitemaps::default();
        let asked = |sitemaps: &mut Sitemaps, file: String| sitemaps.ask(&host(), url(&file), 0).is_some();
        let ports = (1..=100).filter(|port| asked(&mut sitemaps, format!("https://a.example:{port}/s.xml")));
        assert_eq!(ports.count(), OTHER_HOSTS);
        assert!(asked(&mut sitemaps, "https://a.example:1/more.xml".to_owned()), "a host that was taken");
        assert!(asked(&mut sitemaps, "https://a.example/own.xml".to_owned()));
    }
}
