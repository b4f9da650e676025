//! The words of links: what a page calls the pages that it leads to.
//!
//! They are wanted only by a crawl that values new pages by what people search for. So this is a walk of its own over the page, and
//! other crawls don't pay for it.

use std::collections::HashMap;

use super::charset;
use super::elements::{Attribute, Element};
use super::html::{HtmlToken, Scanner};
use super::links::web_address;
use super::text::Words;
use super::{MediaKind, is_xhtml, media_kind};

/// Bytes of a link's words that are kept.
const MOST_BYTES: usize = 200;

/// Links whose words are kept at most.
const MOST_LINKS: usize = 20_000;

/// The words of each link of an HTML page, by its address as written; of several links to one address, those of the first that has
/// words. Other kinds of content have none.
pub fn anchors(body: &[u8], content_type: Option<&str>) -> HashMap<String, Box<str>> {
    let mut found = HashMap::new();
    if media_kind(content_type, body) != MediaKind::Html {
        return found;
    }
    let (page, _) = charset::decode_page(body, content_type);
    let mut scanner = Scanner::new(&page, is_xhtml(content_type));
    // The link that the walk is in, and its words so far.
    let mut open: Option<(String, Words)> = None;
    while let Some(token) = scanner.advance() {
        match token {
            HtmlToken::Text(text) if text.inside.holds_text() => {
                if let Some((_, words)) = &mut open {
                    words.push(&text);
                }
            }
            HtmlToken::Start(tag) if tag.element == Element::A => {
                close(&mut open, &mut found);
                let address = scanner.value(Attribute::Href);
                let address = address.as_deref().and_then(web_address);
                open = address.map(|address| (address.into_owned(), Words::default()));
            }
            HtmlToken::End(tag) if tag.element == Element::A => close(&mut open, &mut found),
            HtmlToken::Start(_) | HtmlToken::End(_) => {
                if let Some((_, words)) = &mut open {
                    words.part_words();
                }
            }
            HtmlToken::Text(_) => {}
        }
    }
    close(&mut open, &mut found);
    found
}

fn close(open: &mut Option<(String, Words)>, found: &mut HashMap<String, Box<str>>) {
    let Some((address, words)) = open.take() else { return };
    let mut text = words.finish();
    if text.is_empty() || found.len() >= MOST_LINKS {
        return;
    }
    let end = (0..=MOST_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.truncate(end);
    found.entry(address).or_insert_with(|| text.into());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words_of(page: &str) -> HashMap<String, Box<str>> {
        anchors(page.as_bytes(), Some("text/html"))
    }

    #[test]
    fn links_have_the_words_between_their_tags() {
        let found = words_of(
            "<a href='/a'>The <b>seminar</b> on<br>law</a> text <a href=/b><img src=x></a><a href='/a'>again</a>\
             <a href='/b'>second</a><a href='mailto:x@y'>mail</a><a href=/open>not closed",
        );
        let mut found: Vec<(&str, &str)> =
            found.iter().map(|(address, words)| (address.as_str(), &**words)).collect();
        found.sort_unstable();
        assert_eq!(found, [("/a", "The seminar on law"), ("/b", "second"), ("/open", "not closed")]);
    }

    #[test]
    fn long_words_are_cut_at_a_letter_and_other_kinds_have_none() {
        let found = words_of(&format!("<a href=/a>{}</a>", "é".repeat(300)));
        assert_eq!(found["/a"].len(), 200);
        assert!(anchors(b"<a href=/a>b</a>", Some("text/plain")).is_empty());
    }

    proptest! {
        #[test]
        fn any_page_is_read(page in "(<a href=/[a-c]>|</a>|<b>|[a-zé ]{0,9}|<|>|&amp;|&#x1F600;){0,60}") {
            prop_assert!(words_of(&page).values().all(|words| !words.is_empty() && words.len() <= MOST_BYTES));
        }
    }
}
