//! Many pages of a host that turn into one: an outage or a faulty template, told before it costs a watch.

use serde::Serialize;

use crate::store::{NamedInstead, Store, StoreError};

/// Pages of one host that name one page with an unlike text in their place: this many are worth a word.
const MANY_UNLIKE: u64 = 3;
/// Pages of which nothing is stored: short links and old addresses lead to one page now and then, so it takes more.
const MANY_UNKNOWN: u64 = 10;

/// Pages of a host that say, by redirects or canonical links, that one page stands for all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
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
    let named = store.named_instead(MANY_UNKNOWN, MANY_UNLIKE)?.into_iter();
    let mut many: Vec<ManyInOne> = named
        .map(|NamedInstead { host, target, pages, unlike }| ManyInOne { host, target, pages, unlike })
        .collect();
    many.sort_by_key(|group| std::cmp::Reverse(group.pages));
    Ok(many)
}
