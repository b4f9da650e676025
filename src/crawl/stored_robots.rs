//! What the robots.txt files in the store say of pages. A crawl asks its fetcher; this is for those who only look.

use std::collections::HashMap;

use url::Url;

use crate::fetch::robots::Robots;
use crate::fetch::{FetchSettings, read_robots};
use crate::page::Host;
use crate::store::{Result, Store, Wanted};

/// The stored robots.txt files, each read when a page of its host is first asked about.
pub(super) struct StoredRobots<'a> {
    settings: &'a FetchSettings,
    rules: HashMap<Host, Option<Robots>>,
}

impl<'a> StoredRobots<'a> {
    pub(super) fn new(settings: &'a FetchSettings) -> Self {
        Self { settings, rules: HashMap::new() }
    }

    /// Does the robots.txt that was last read of its host forbid this page? No, if none was read.
    pub(super) fn forbid(&mut self, store: &mut dyn Store, url: &str) -> Result<bool> {
        let Ok(url) = Url::parse(url) else { return Ok(false) };
        let Some(host) = Host::of(&url) else { return Ok(false) };
        if !self.rules.contains_key(&host) {
            let loaded = store.load(&Wanted { robots_of: vec![host.clone()], ..Wanted::default() })?;
            let token = self.settings.product_token(&host);
            let read =
                |record: &crate::fetch::visit::RobotsRecord| read_robots(record.status, &record.body, token);
            let rules = loaded.robots.first().map(|(_, record)| read(record));
            self.rules.insert(host.clone(), rules);
        }
        Ok(self.rules.get(&host).and_then(Option::as_ref).is_some_and(|robots| !robots.allows(&url)))
    }
}
