//! What differs between two versions of a page, in a few words.

use super::counted;
use crate::look::diff::PageDiff;

/// Do the versions differ in what people read? Of versions without words the bytes count.
pub fn differs_in_text(found: &PageDiff) -> bool {
    found.bytes_differ && !found.has_text || !found.text.is_empty()
}

/// The differences, each in some words; none if the versions are the same. Titles are as they came.
pub fn differences(found: &PageDiff) -> Vec<String> {
    let mut parts = Vec::new();
    if found.bytes_differ && !found.has_text {
        parts.push("it has no words; its bytes differ".to_owned());
    } else if !found.text.is_empty() {
        parts.push(format!("{} added, {} removed", counted(found.words_added, "word"), found.words_removed));
    } else if found.bytes_differ {
        parts.push("its bytes differ".to_owned());
    }
    if found.title_differs {
        let named =
            |title: &Option<String>| title.as_deref().map_or("none".to_owned(), |title| format!("`{title}`"));
        parts.push(format!(
            "its title changed from {} to {}",
            named(&found.from.title),
            named(&found.to.title)
        ));
    }
    if found.links_added + found.links_removed > 0 {
        parts.push(format!("{} added, {} removed", counted(found.links_added, "link"), found.links_removed));
    }
    parts
}
