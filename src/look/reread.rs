//! Stored bodies, read again: their text by the noise rules of today, their titles and their links.

use std::collections::{BTreeSet, HashMap};

use url::Url;

use crate::crawl::observe::{FoundLink, Observer};
use crate::extract;
use crate::page::PageId;
use crate::store::{Store, StoreError, StoredContent, VersionId};

use super::page::VisitedPage;

/// Reads the stored versions of one page again.
pub(super) struct Rereader<'o> {
    observer: &'o Observer,
    url: String,
    /// As the host said it, by version.
    content_types: HashMap<VersionId, String>,
    /// For versions of which that was not kept.
    latest_type: Option<String>,
}

impl<'o> Rereader<'o> {
    pub(super) fn new(
        store: &mut dyn Store,
        observer: &'o Observer,
        page: &VisitedPage,
    ) -> Result<Self, StoreError> {
        let mut pages = vec![PageId(page.page.id)];
        pages.extend(page.spellings.iter().map(|other| other.page));
        let mut content_types = HashMap::new();
        for answer in store.answers_of(&pages)? {
            if let Some(content_type) = answer.head.header("content-type") {
                content_types.insert(answer.version, content_type);
            }
        }
        let latest_type = page.page.content_type.clone();
        Ok(Self { observer, url: page.page.url.clone(), content_types, latest_type })
    }

    /// The type of a version, as the host said it.
    pub(super) fn content_type(&self, version: VersionId) -> Option<&str> {
        self.content_types.get(&version).or(self.latest_type.as_ref()).map(String::as_str)
    }

    /// The text of a version by the rules of today.
    pub(super) fn text(&self, version: VersionId, content: &StoredContent) -> String {
        text_by_rules(self.observer, &self.url, self.content_type(version), content)
    }

    /// The addresses that a version links to, in normal form; one that has none is given as it is written.
    pub(super) fn links(&self, version: VersionId, content: &StoredContent) -> BTreeSet<String> {
        let Ok(url) = Url::parse(&self.url) else { return BTreeSet::new() };
        let content_type = self.content_type(version);
        let document = extract::document(&content.body, content_type, self.observer.links_per_page);
        let Some(document) = document else { return BTreeSet::new() };
        let address = |link: FoundLink<'_>| match link.judge() {
            Ok(target) => target.to_string(),
            Err(_) => link.href.to_owned(),
        };
        self.observer.links(&url, &document, false).map(address).collect()
    }
}

/// The text of a version, read again from its body by the rules of today. What can't be read again keeps its stored text.
pub(super) fn text_by_rules(
    observer: &Observer,
    url: &str,
    content_type: Option<&str>,
    content: &StoredContent,
) -> String {
    let Ok(url) = Url::parse(url) else { return content.text.clone() };
    let page = observer.read_again(&url, &content.body, content_type);
    page.document.map_or_else(|| content.text.clone(), |document| document.text)
}

/// The title of a version: as it was stored, or read from the body of one that an earlier release stored.
pub(super) fn title(content: &StoredContent, content_type: Option<&str>) -> Option<String> {
    let read = || extract::title_of_body(&content.body, content_type);
    content.title.clone().map_or_else(read, |title| Some(title).filter(|title| !title.is_empty()))
}
