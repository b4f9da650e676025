//! Many pages of a host that turn into one: an outage or a faulty template, told before it costs a watch.

use std::collections::BTreeMap;

use serde::Serialize;
use url::Url;

use crate::page::Host;
use crate::store::{PageFilter, Store, StoreError};

/// Pages of one host that name one page with an unlike text in their place: this many are worth a word.
const MANY_UNLIKE: u64 = 3;
/// Pages of which nothing is stored: short links and old addresses lead to one page now and then, so it takes more.
const MANY_UNKNOWN: u64 = 10;

/// Pages of a host that say, by redirects or canonical links, that one page stands for all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ManyInOne {
    /// The host.
    pub host: String,
    /// The page that they name.
    pub target: String,
    /// Pages that name it and are not known to have its text.
    #[serde(rename = "page_count")]
    pub pages: u64,
    /// Those of them whose text is known to be another one.
    #[serde(rename = "unlike_count")]
    pub unlike: u64,
}

impl ManyInOne {
    /// A sentence for people.
    pub fn warning(&self) -> String {
        let Self { host, target, pages, unlike } = self;
        format!(
            "{pages} pages of {host} lead to {target}, {unlike} of them with another text: the site may be down, or a \
             template faulty"
        )
    }
}

/// Every such group of pages, the largest first.
pub fn many_in_one(store: &mut dyn Store) -> Result<Vec<ManyInOne>, StoreError> {
    let filter = PageFilter { aliases: true, only_naming: true, ..PageFilter::default() };
    let mut groups: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    store.list_pages(&filter, &mut |page| {
        let host = Url::parse(&page.url).ok().and_then(|url| Host::of(&url));
        if let (Some(host), Some(target), None | Some(false)) = (host, page.same_as, page.same_text) {
            let (pages, unlike) = groups.entry((host.as_str().to_owned(), target)).or_default();
            *pages += 1;
            *unlike += u64::from(page.same_text == Some(false));
        }
    })?;
    let mut many: Vec<ManyInOne> = groups
        .into_iter()
        .map(|((host, target), (pages, unlike))| ManyInOne { host, target, pages, unlike })
        .filter(|group| group.unlike >= MANY_UNLIKE || group.pages >= MANY_UNKNOWN)
        .collect();
    many.sort_by_key(|group| std::cmp::Reverse(group.pages));
    Ok(many)
}
