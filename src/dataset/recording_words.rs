//! The words and links of a recorded content, read as a crawl reads them.
//!
//! Fragments of recordings are made by a rule of their own ([`super::recording_text`]), so that figures can be compared with other
//! programs. Words are for queries, so they are those that a search index of the page would have: terms of the title and of the text
//! that a reader sees.

use std::collections::{HashMap, HashSet};

use super::TextWords;
use crate::extract::{self, Document};
use crate::page::Normaliser;
use crate::quality::terms::TermReader;

/// Links of a page that are kept, as many as a crawl keeps.
const MOST_LINKS: usize = 10_000;

/// Reads one content after the other.
#[derive(Default)]
pub(super) struct RecordedWordReader {
    terms: TermReader,
    normaliser: Normaliser,
}

impl RecordedWordReader {
    /// The words of a content. One that a crawl does not read has none.
    pub(super) fn words(&mut self, content: &[u8], media: Option<&str>) -> TextWords {
        let document = extract::document(content, media, 0);
        let title = extract::title(content, media, document.as_ref()).unwrap_or_default();
        let text = document.as_ref().map_or("", |document| document.text.as_str());
        TextWords::of(&self.terms.count(&[&title, text]))
    }

    /// What stands for a URL; `None` if it names no page of the web.
    pub(super) fn page(&self, url: &str) -> Option<u128> {
        Some(self.normaliser.parse(url).ok()?.fingerprint().0)
    }

    /// The pages that a content links to, each once; none if the page has no URL, as links can't be followed without.
    pub(super) fn links(&self, content: &[u8], media: Option<&str>, url: Option<&str>) -> Vec<u128> {
        let page = url.and_then(|url| self.normaliser.parse(url).ok());
        let document: Option<Document> = extract::document(content, media, MOST_LINKS);
        let (Some(page), Some(document)) = (page, document) else { return Vec::new() };
        let base = document.base(page.as_url());
        let targets = document.links.iter().filter_map(|link| self.normaliser.join(&base, &link.href).ok());
        let mut targets: Vec<u128> = targets.map(|target| target.fingerprint().0).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.retain(|target| *target != page.fingerprint().0);
        targets
    }
}

/// A page as its links see it.
pub(super) struct LinkedPage<'a> {
    /// Its group: links from one to another don't count.
    pub(super) group: usize,
    /// What stands for its URL.
    pub(super) page: Option<u128>,
    /// The pages that it links to.
    pub(super) targets: &'a [u128],
}

/// The pages that link to each page, in their order; `None` for one without a URL. Pages that are the same but for the spelling of their
/// URL link to each other's targets once.
pub(super) fn inlinks(pages: &[LinkedPage<'_>]) -> Vec<Option<u32>> {
    let known: HashSet<(usize, u128)> =
        pages.iter().filter_map(|page| Some((page.group, page.page?))).collect();
    let mut counts: HashMap<(usize, u128), u32> = HashMap::new();
    let mut counted: HashSet<(usize, u128)> = HashSet::new();
    for page in pages {
        let Some(name) = page.page else { continue };
        if !counted.insert((page.group, name)) {
            continue;
        }
        for target in page.targets.iter().filter(|target| known.contains(&(page.group, **target))) {
            *counts.entry((page.group, *target)).or_default() += 1;
        }
    }
    let count = |page: &LinkedPage<'_>| Some(counts.get(&(page.group, page.page?)).copied().unwrap_or(0));
    pages.iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::copies::term_hash;

    #[test]
    fn words_are_those_of_title_and_text() {
        let content = b"<title>Errata</title><p>Errata for <b>Patch</b> 1<script>errata</script>";
        let words = RecordedWordReader::default().words(content, Some("text/html"));
        let count =
            |term| words.counts.iter().find(|(hash, _)| *hash == term_hash(term)).map(|(_, count)| *count);
        assert_eq!(words.length, 5);
        assert_eq!([count("errata"), count("patch"), count("title")], [Some(2), Some(1), None]);
        assert!(words.counts.is_sorted());
        let image = RecordedWordReader::default().words(b"\x89PNG\r\n", Some("image/png"));
        assert_eq!(image, TextWords::default());
    }

    #[test]
    fn links_are_counted_among_pages_of_a_group_that_have_urls() {
        let reader = RecordedWordReader::default();
        let links = |url: &str, content: &str| reader.links(content.as_bytes(), Some("text/html"), Some(url));
        let home = "https://a.example/";
        let from_home =
            links(home, "<a href=x>1</a><a href=/x#top>2</a><a href=/>me</a><a href=//b.example/y>3</a>");
        let from_x = links("https://a.example/x", "<base href=//b.example/><a href=y>1</a>");
        assert!(reader.links(b"<a href=x>1</a>", None, None).is_empty());
        let page = |group, url: &str| (group, reader.page(url));
        let pages = [
            (page(0, home), &from_home),
            (page(0, "https://a.example/x"), &from_x),
            (page(0, "https://b.example/y"), &Vec::new()),
            (page(1, "https://b.example/y"), &Vec::new()),
            (page(0, "docs/y.html"), &from_home),
        ];
        let pages = pages.map(|((group, page), targets)| LinkedPage { group, page, targets });
        assert_eq!(inlinks(&pages), [Some(0), Some(1), Some(2), Some(0), None]);
    }
}
