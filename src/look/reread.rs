//! Stored bodies, read again: their text by the noise rules of today, and their titles.

use url::Url;

use crate::crawl::observe::Observer;
use crate::extract;
use crate::store::StoredContent;

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
    let read = || {
        let document = extract::document(&content.body, content_type, 0);
        extract::title(&content.body, content_type, document.as_ref())
    };
    content.title.clone().map_or_else(read, |title| Some(title).filter(|title| !title.is_empty()))
}
