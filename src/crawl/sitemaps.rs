//! Sitemaps: read into new pages, and into what they tell of pages that are known.
//!
//! The opening of a cycle decides of which hosts the sitemaps are read. A file that was read before is asked for with its validators, so
//! that an unchanged one costs a 304, and one whose date stands still in its index is left out. A host's sitemaps count as read when
//! every file of theirs was answered; one that was put off, or could not be had, is asked for again by the next cycle.

use std::collections::HashMap;

use url::Url;

use super::batch::ToldChange;
use super::cycle::Cycle;
use super::observe::{Observed, ReadSitemap};
use super::writer::Order;
use crate::extract::sitemap::{Sitemap, SitemapEntry};
use crate::fetch::visit::{Outcome, Request, Subject, Validators};
use crate::fetch::web::Web;
use crate::page::{Host, HostId};
use crate::signal::SignalKind;
use crate::signal::lists::{self, ListFlaw};
use crate::store::ListRow;
use crate::time::Timestamp;
use crate::unique::{Candidate, LinkSource, Refusal};

/// Files of one host that are read in one cycle.
const FILES_PER_HOST: u32 = 100;
/// Hosts other than its own, on the same domain, that one host's sitemaps may lie on. Each costs a robots.txt, and its rules
/// take memory: a site needs one or two, for its files or for its languages.
const OTHER_HOSTS: usize = 4;
/// Indexes within indexes, and redirects.
const NESTING: u8 = 3;

/// The sitemaps under way.
#[derive(Debug, Default)]
pub(super) struct Sitemaps {
    /// Files that were read before, by their addresses.
    known: HashMap<String, ListRow>,
    asked: HashMap<Url, AskedFile>,
    hosts: HashMap<Host, Files>,
}

/// A file that was asked for.
#[derive(Clone, Debug)]
struct AskedFile {
    /// The host whose pages it lists.
    of: Host,
    /// Indexes and redirects above it.
    nesting: u8,
    /// The index that names it, and the date that the index gives for it.
    named_by: Option<String>,
    listed: Option<Timestamp>,
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
    /// Indexes that were read. They are kept when all that they name was read: an index that answers 304 names nothing.
    indexes: Vec<ListRow>,
}

impl Sitemaps {
    /// Nothing is asked for yet; these files were read before.
    pub(super) fn known(lists: Vec<ListRow>) -> Self {
        let known = lists.into_iter().map(|list| (list.url.clone(), list)).collect();
        Self { known, ..Self::default() }
    }

    /// The request for a file, if it is asked for. A sitemap of another domain has no say; each file is asked for once, and there
    /// are limits. `rules`: a hash of what decides which links are taken. What was read by other rules is asked for as if it were
    /// new.
    fn ask(&mut self, file: AskedFile, url: Url, rules: u64, now: Timestamp) -> Option<Request> {
        let (of, nesting) = (&file.of, file.nesting);
        let Some(on) = Host::of(&url).filter(|on| on.domain() == of.domain()) else {
            tracing::info!(host = %of, %url, "a sitemap of another domain is left alone");
            return None;
        };
        let files = self.hosts.entry(of.clone()).or_default();
        if files.asked >= FILES_PER_HOST || nesting > NESTING || self.asked.contains_key(&url) {
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
        let known = self.known.get(url.as_str()).filter(|known| known.rules == rules);
        let known = known.filter(|known| !lists::wants_body(known.fetched_at, now));
        let validators = known.map_or_else(Validators::default, |known| Validators {
            etag: known.etag.clone(),
            last_modified: known.last_modified.clone(),
            body: None,
        });
        self.asked.insert(url.clone(), file);
        Some(Request { subject: Subject::Sitemap { nesting }, url, validators })
    }

    /// Can a file be left out that an index names with this date?
    fn is_settled(&self, url: &str, listed: Option<Timestamp>, rules: u64, now: Timestamp) -> bool {
        let known = self.known.get(url).filter(|known| known.rules == rules);
        lists::is_settled(listed, known.map(|known| (known.listed, known.read_at)), now)
    }

    /// The files that an index named when it was last read, with their dates.
    fn named_by(&self, index: &str) -> Vec<SitemapEntry> {
        let named = self.known.values().filter(|known| known.named_by.as_deref() == Some(index));
        let lastmod = |known: &ListRow| known.listed.map(|date| date.millis().div_euclid(1000));
        let mut named: Vec<SitemapEntry> =
            named.map(|known| SitemapEntry { url: known.url.clone(), lastmod: lastmod(known) }).collect();
        named.sort_by(|one, other| one.url.cmp(&other.url));
        named
    }

    /// A file of this host was answered, after those that it names were asked for. Gives the indexes of the host when all its files
    /// are read now.
    fn answered(&mut self, of: &Host, missed: bool) -> Option<Vec<ListRow>> {
        let files = self.hosts.get_mut(of)?;
        files.awaited = files.awaited.saturating_sub(1);
        files.missed |= missed;
        (files.awaited == 0 && !files.missed).then(|| std::mem::take(&mut files.indexes))
    }

    /// A file was put off.
    pub(super) fn put_off(&mut self, url: &Url) {
        if let Some(files) = self.asked.get(url).and_then(|file| self.hosts.get_mut(&file.of)) {
            files.missed = true;
        }
    }
}

impl<W: Web> Cycle<'_, W> {
    /// A host's robots.txt was read: its sitemaps are asked for, if they are read in this cycle.
    pub(super) fn ask_sitemaps(&mut self, host: &Host, named: Vec<Url>) {
        let wanted = self.hosts.named(host).is_some_and(|known| known.is_wanted && known.reads_lists);
        if !self.crawler.settings.sitemaps || !wanted {
            return;
        }
        let urls = if named.is_empty() { host.url("/sitemap.xml").into_iter().collect() } else { named };
        for url in urls {
            let file = AskedFile { of: host.clone(), nesting: 0, named_by: None, listed: None };
            self.ask_sitemap(file, url);
        }
    }

    fn ask_sitemap(&mut self, file: AskedFile, url: Url) {
        let rules = self.crawler.settings.rules;
        if let Some(request) = self.sitemaps.ask(file, url, rules, Timestamp::now()) {
            self.fetcher.submit(request);
        }
    }

    /// A sitemap was answered.
    pub(super) async fn sitemap(&mut self, mut observed: Observed) {
        let Some(file) = self.sitemaps.asked.get(&observed.url).cloned() else { return };
        let Some(host) = self.hosts.id(&file.of) else { return };
        let outcome = observed.attempt.outcome.clone();
        let missed = matches!(outcome, Outcome::Throttled { .. } | Outcome::Failed(_) | Outcome::ServerError);
        match (observed.sitemap.take(), outcome) {
            (Some(read), _) => self.read_sitemap(&file, host, &observed, read).await,
            (None, Outcome::NotModified) => self.confirm_sitemap(&file, &observed).await,
            (None, Outcome::Redirected { to, .. }) => {
                self.ask_sitemap(AskedFile { nesting: file.nesting + 1, ..file.clone() }, to);
            }
            (None, _) => {}
        }
        if let Some(indexes) = self.sitemaps.answered(&file.of, missed) {
            self.outbox.order(Order::SitemapsRead(file.of, Timestamp::now(), indexes)).await;
        }
    }

    /// Takes a file that came.
    async fn read_sitemap(&mut self, file: &AskedFile, host: HostId, observed: &Observed, read: ReadSitemap) {
        let ReadSitemap { entries, body_hash } = read;
        let rules = self.crawler.settings.rules;
        let (is_index, count) = match &entries {
            Sitemap::Urls(entries) => (false, entries.len()),
            Sitemap::Index(entries) => (true, entries.len()),
        };
        let mut row = ListRow {
            url: observed.url.as_str().to_owned(),
            host,
            named_by: file.named_by.clone(),
            listed: file.listed,
            read_at: observed.attempt.at,
            fetched_at: observed.attempt.at,
            rules,
            body_hash,
            etag: observed.etag.clone(),
            last_modified: observed.last_modified.clone().filter(|_| observed.has_safe_date),
            is_index,
            entries: count as u64,
            flaw: None,
        };
        let before = self.sitemaps.known.get(&row.url);
        let same = before.filter(|before| before.rules == rules && before.body_hash == body_hash);
        match entries {
            // The server does not say that nothing changed, but the bytes do.
            Sitemap::Urls(_) if same.is_some() => {
                row.flaw = same.and_then(|same| same.flaw);
                self.keep_list(row).await;
            }
            Sitemap::Urls(entries) => self.read_entries(entries, row).await,
            Sitemap::Index(entries) => self.read_index(file, entries, row),
        }
    }

    /// Takes the answer that a file has not changed.
    async fn confirm_sitemap(&mut self, file: &AskedFile, observed: &Observed) {
        let Some(before) = self.sitemaps.known.get(observed.url.as_str()).cloned() else { return };
        let (named_by, listed) = (file.named_by.clone(), file.listed);
        let row = ListRow { named_by, listed, read_at: observed.attempt.at, ..before };
        if row.is_index {
            let entries = self.sitemaps.named_by(&row.url);
            self.read_index(file, entries, row);
        } else {
            self.keep_list(row).await;
        }
    }

    /// Asks for the files that an index names, but for those whose date stands still.
    fn read_index(&mut self, file: &AskedFile, entries: Vec<SitemapEntry>, row: ListRow) {
        let (rules, now) = (row.rules, Timestamp::now());
        for entry in entries {
            let Ok(url) = Url::parse(&entry.url) else { continue };
            let listed = entry.lastmod.map(Timestamp::from_seconds);
            if self.sitemaps.is_settled(url.as_str(), listed, rules, now) {
                tracing::debug!(%url, "a sitemap is left out: its date stands still");
                continue;
            }
            let nesting = file.nesting + 1;
            let named_by = Some(row.url.clone());
            self.ask_sitemap(AskedFile { of: file.of.clone(), nesting, named_by, listed }, url);
        }
        if let Some(files) = self.sitemaps.hosts.get_mut(&file.of) {
            files.indexes.push(row);
        }
    }

    async fn keep_list(&mut self, row: ListRow) {
        let (found, told) = (Vec::new(), Vec::new());
        self.outbox.order(Order::Sitemap { found, told, file: Some(Box::new(row)) }).await;
    }

    async fn read_entries(&mut self, entries: Vec<SitemapEntry>, mut row: ListRow) {
        let dates: Vec<i64> = entries.iter().filter_map(|entry| entry.lastmod).collect();
        row.flaw = ListFlaw::of(&dates, row.read_at);
        if let Some(flaw) = row.flaw {
            tracing::info!(url = row.url, "the dates of a sitemap {}, and are not believed", flaw.in_words());
        }
        let learnt_at = Timestamp::now();
        let mut links = Vec::with_capacity(entries.len());
        let mut told = Vec::new();
        for entry in entries {
            match self.crawler.observer.normaliser.parse(&entry.url) {
                Ok(url) => {
                    // What is stamped tells nothing, and leaves nothing in the log.
                    told.extend(entry.lastmod.filter(|_| row.flaw.is_none()).map(|date| ToldChange {
                        page: url.fingerprint(),
                        kind: SignalKind::Sitemap,
                        date: Timestamp::from_seconds(date),
                        learnt_at,
                    }));
                    links.push(Candidate { url, lastmod: entry.lastmod, anchor: None });
                }
                Err(error) => self.crawler.verifier.refuse(Refusal::from(&error), 1),
            }
        }
        let found = self.admit(links, &LinkSource { depth: 1, seed: None, page: None });
        self.outbox.order(Order::Sitemap { found, told, file: Some(Box::new(row)) }).await;
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

    /// Asks for a file of the host.
    fn ask(sitemaps: &mut Sitemaps, file: &str, nesting: u8) -> Option<Request> {
        let file_of = AskedFile { of: host(), nesting, named_by: None, listed: None };
        sitemaps.ask(file_of, url(file), 1, Timestamp::from_seconds(9))
    }

    #[test]
    fn a_host_is_read_when_every_file_was_answered() {
        let mut sitemaps = Sitemaps::default();
        assert!(ask(&mut sitemaps, "https://a.example/index.xml", 0).is_some());
        // The index names two files, one of them on another host of the domain.
        assert!(ask(&mut sitemaps, "https://a.example/1.xml", 1).is_some());
        assert!(ask(&mut sitemaps, "https://files.a.example/2.xml", 1).is_some());
        assert!(sitemaps.answered(&host(), false).is_none());
        assert!(sitemaps.answered(&host(), false).is_none());
        assert!(sitemaps.answered(&host(), false).is_some());
    }

    #[test]
    fn a_file_that_could_not_be_had_leaves_the_host_unread() {
        let mut sitemaps = Sitemaps::default();
        for file in ["https://a.example/1.xml", "https://a.example/2.xml"] {
            assert!(ask(&mut sitemaps, file, 0).is_some());
        }
        sitemaps.put_off(&url("https://a.example/1.xml"));
        assert!(sitemaps.answered(&host(), false).is_none());
        assert!(sitemaps.answered(&host(), false).is_none());
    }

    #[test]
    fn files_of_other_domains_known_files_and_endless_indexes_are_not_asked_for() {
        let mut sitemaps = Sitemaps::default();
        assert!(ask(&mut sitemaps, "https://b.example/1.xml", 0).is_none());
        assert!(ask(&mut sitemaps, "https://a.example/1.xml", NESTING).is_some());
        assert!(ask(&mut sitemaps, "https://a.example/1.xml", 0).is_none());
        assert!(ask(&mut sitemaps, "https://a.example/2.xml", NESTING + 1).is_none());
        let asked = (0..200)
            .filter(|file| ask(&mut sitemaps, &format!("https://a.example/more/{file}.xml"), 1).is_some());
        assert_eq!(asked.count(), FILES_PER_HOST as usize - 1);
    }

    #[test]
    fn files_lie_on_a_few_other_hosts_at_the_most() {
        let mut sitemaps = Sitemaps::default();
        let asked = |sitemaps: &mut Sitemaps, file: String| ask(sitemaps, &file, 0).is_some();
        let ports = (1..=100).filter(|port| asked(&mut sitemaps, format!("https://a.example:{port}/s.xml")));
        assert_eq!(ports.count(), OTHER_HOSTS);
        assert!(asked(&mut sitemaps, "https://a.example:1/more.xml".to_owned()), "a host that was taken");
        assert!(asked(&mut sitemaps, "https://a.example/own.xml".to_owned()));
    }
}
