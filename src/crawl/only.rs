//! A cycle of the pages that the operator names, and of no others.
//!
//! A named page is visited whatever its score and whenever it is due; robots.txt, pauses and waits of hosts hold. A page that
//! is not known is added: to the seed whose scope it lies in, else as a seed of its own that takes no links.

use std::collections::HashSet;

use super::batch::Batch;
use super::{CrawlError, Crawler};
use crate::fetch::web::Web;
use crate::page::{PageId, PageUrl};
use crate::store::CycleCommand;
use crate::time::Timestamp;
use crate::unique::seeds::Seed;
use crate::unique::{NewPage, ScopeKind};

/// Links between a seed and a page that the operator named within its scope: as if the seed linked to it.
const NAMED_DEPTH: u32 = 1;

impl<W: Web> Crawler<W> {
    /// From here on visits these pages and no others. Returns those that were not known and lie in the scope of no seed: each
    /// is a seed of its own from now on.
    pub fn visit_only(&mut self, pages: &[PageUrl], now: Timestamp) -> Result<Vec<PageUrl>, CrawlError> {
        let (mut found, mut seeds, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for url in pages {
            if self.store()?.find_page(url.fingerprint())?.is_some() {
                continue;
            }
            match self.verifier.scope_mut().judge(url, NAMED_DEPTH, None) {
                Ok(seed) => {
                    let (url, depth) = (url.clone(), NAMED_DEPTH);
                    found.push(NewPage { url, depth, seed, found_on: None, lastmod: None, anchor: None });
                }
                Err(_) => {
                    let (max_depth, scope) = (Some(0), Some(ScopeKind::Prefix));
                    seeds.push(Seed { url: url.clone(), weight: 1.0, max_depth, scope, line: None });
                    own.push(url.clone());
                }
            }
        }
        let store = self.store()?;
        store.add_seeds(&seeds, now)?;
        if !found.is_empty() {
            self.with_recorder(|_, recorder| {
                Ok(recorder.take_in(Batch { found, now, ..Batch::default() })?)
            })?;
        }
        let mut ids: HashSet<PageId> = HashSet::new();
        for url in pages {
            ids.extend(self.store()?.find_page(url.fingerprint())?.map(|row| PageId(row.id)));
        }
        (self.only, self.command, self.settings.sitemaps) = (Some(ids), CycleCommand::Only, false);
        Ok(own)
    }
}
