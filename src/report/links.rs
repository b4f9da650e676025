//! Links of stored pages, a line each, so that they can be printed as they come.

use unicode_width::UnicodeWidthStr as _;

use crate::look::links::{LinkCounts, PageLink};

use super::diff::harmless;
use super::table::shortened;
use super::{Screen, Shorten, counted};

/// Width of the column of verdicts: the longest reason is `repeated-segments`.
const VERDICT: usize = 17;
/// Fewer columns of an address say nothing.
const LEAST_ADDRESS: usize = 16;

/// A link: what becomes of it, and where it leads; with the page it stands on if `on_page` is set.
pub fn line(link: &PageLink, on_page: bool, screen: &Screen) -> String {
    let verdict = match (link.reason, link.state.as_deref()) {
        (Some(reason), _) => reason.to_owned(),
        (None, Some(state)) => harmless(state),
        (None, None) => link.verdict.to_owned(),
    };
    let target = harmless(link.target.as_deref().unwrap_or(&link.href));
    let start = format!("{verdict:VERDICT$}  ");
    let page = if on_page { format!("  on {}", harmless(&link.url)) } else { String::new() };
    let Some(width) = screen.width else { return format!("{start}{target}{page}\n") };
    let room = width.saturating_sub(start.width());
    // The two addresses share the room.
    let target_room = if on_page { (room / 2).max(room.saturating_sub(page.width())) } else { room };
    let target = shortened(&target, target_room.max(LEAST_ADDRESS), Shorten::Middle);
    let left = room.saturating_sub(target.width());
    let page = if on_page { shortened(&page, left.max(LEAST_ADDRESS), Shorten::Middle) } else { page };
    format!("{start}{target}{page}\n")
}

/// What was looked at, in a sentence.
pub fn summary(counts: &LinkCounts) -> String {
    let mut text = format!("{} on {}", counted(counts.links, "link"), counted(counts.pages, "page"));
    if counts.dropped > 0 {
        text += &format!("; {} more beyond `links_per_page`, which were not read", counts.dropped);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_says_what_becomes_of_it() {
        let mut link = PageLink {
            url: "https://a.example/".to_owned(),
            href: "/x".to_owned(),
            target: Some("https://a.example/x".to_owned()),
            verdict: "known",
            reason: None,
            state: Some("gone".to_owned()),
        };
        let screen = Screen::plain();
        assert_eq!(line(&link, false, &screen), "gone               https://a.example/x\n");
        (link.state, link.verdict, link.reason) = (None, "refused", Some("out-of-scope"));
        let drawn = line(&link, true, &screen);
        assert_eq!(drawn, "out-of-scope       https://a.example/x  on https://a.example/\n");
        (link.target, link.href) = (None, "http://[".to_owned());
        let narrow = Screen { width: Some(60), ..Screen::plain() };
        assert_eq!(line(&link, false, &narrow), "out-of-scope       http://[\n");
    }
}
