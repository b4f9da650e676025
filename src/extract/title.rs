//! What a page is called: a body in, one line for people out.
//!
//! Of an HTML page that is its `<title>`, or else `og:title`, or else its first `<h1>`; of a feed the title of the feed.
//! What must stay true: one line without control characters, not longer than [`MOST_CHARACTERS`]; no bytes make it fail.

use super::elements::{Attribute, Element};
use super::html::{HtmlToken, Scanner};
use super::text::Words;
use super::visibility::Visibility;
use super::{Document, MediaKind, charset, document, is_xhtml, media_kind};

/// A title is for lists: a longer one is cut.
pub const MOST_CHARACTERS: usize = 200;

/// The title of a body; `document` is what was read from it. `None` if it has none.
pub fn title(body: &[u8], content_type: Option<&str>, document: Option<&Document>) -> Option<String> {
    let own = document.and_then(|document| document.title.as_deref()).and_then(one_line);
    own.or_else(|| match media_kind(content_type, body) {
        MediaKind::Html => heading(body, content_type),
        _ => None,
    })
}

/// The title of a body that has not been read yet.
pub fn title_of_body(body: &[u8], content_type: Option<&str>) -> Option<String> {
    title(body, content_type, document(body, content_type, 0).as_ref())
}

/// `og:title`, or else the first heading. Pages without a title are few: they are walked a second time.
fn heading(body: &[u8], content_type: Option<&str>) -> Option<String> {
    let (page, _) = charset::decode_page(body, content_type);
    let mut scanner = Scanner::new(&page, is_xhtml(content_type));
    let mut visibility = Visibility::default();
    let mut first: Option<String> = None;
    let mut open: Option<Words> = None;
    while let Some(token) = scanner.advance() {
        match token {
            HtmlToken::Text(text) => match &mut open {
                Some(words) if text.inside.holds_text() && visibility.is_shown() => words.push(&text),
                _ => {}
            },
            HtmlToken::Start(tag) => {
                visibility.start(tag, &scanner);
                match tag.element {
                    Element::Meta if visibility.is_live() => {
                        if let Some(title) = open_graph(&scanner) {
                            return Some(title);
                        }
                    }
                    Element::H1 if first.is_none() => open = Some(Words::default()),
                    element if element.breaks_line() || element.parts_words() => {
                        open.iter_mut().for_each(Words::part_words);
                    }
                    _ => {}
                }
            }
            HtmlToken::End(tag) => {
                visibility.end(tag, &scanner);
                if tag.element == Element::H1 {
                    let found = open.take().map(Words::finish);
                    first = first.or(found.as_deref().and_then(one_line));
                }
            }
        }
    }
    first.or_else(|| open.map(Words::finish).as_deref().and_then(one_line))
}

fn open_graph(scanner: &Scanner<'_>) -> Option<String> {
    let is_title = |(name, value): (&str, &str)| {
        (name.eq_ignore_ascii_case("property") || name.eq_ignore_ascii_case("name"))
            && value.trim_ascii().eq_ignore_ascii_case("og:title")
    };
    if !scanner.attributes().any(is_title) {
        return None;
    }
    scanner.value(Attribute::Content).as_deref().and_then(one_line)
}

/// White space and control characters become single blanks; a long text is cut. `None` if nothing is left.
fn one_line(text: &str) -> Option<String> {
    let is_gap = |character: char| character.is_whitespace() || character.is_control();
    let words = text.split(is_gap).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // Beyond this nothing is kept.
        if line.len() > 4 * MOST_CHARACTERS {
            break;
        }
    }
    if let Some((cut, _)) = line.char_indices().nth(MOST_CHARACTERS) {
        let keep = line.char_indices().nth(MOST_CHARACTERS - 1).map_or(cut, |(at, _)| at);
        line.truncate(keep);
        line.push('…');
    }
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn called(body: &str) -> Option<String> {
        let document = super::super::document(body.as_bytes(), None, 10);
        title(body.as_bytes(), None, document.as_ref())
    }

    #[test]
    fn a_page_is_called_by_its_title_or_else_by_its_heading() {
        let both =
            "<html><head><title> A &amp;\n B</title><meta property='og:title' content='C'></head><h1>D</h1>";
        assert_eq!(called(both).as_deref(), Some("A & B"));
        let graph =
            "<html><head><title> </title></head><h1>D</h1><meta property='og:title' content=' C &lt; D '>";
        assert_eq!(called(graph).as_deref(), Some("C < D"));
        let heading = "<html><body><h1 hidden>not this</h1><h1>The fir<b>st</b><br>one</h1><h1>Second</h1>";
        assert_eq!(called(heading).as_deref(), Some("The first one"));
        assert_eq!(called("<html><body><h1>never closed").as_deref(), Some("never closed"));
        assert_eq!(called("<html><body><p>nothing"), None);
        assert_eq!(called("only text"), None);
    }

    #[test]
    fn a_feed_is_called_by_its_own_title() {
        let rss =
            "<rss><channel><item><title>entry</title></item><title>News &amp; more</title></channel></rss>";
        assert_eq!(called(rss).as_deref(), Some("News & more"));
        let atom =
            "<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'><title type='text'> The\n feed
            </title><entry><title>entry</title></entry></feed>";
        assert_eq!(called(atom).as_deref(), Some("The feed"));
        assert_eq!(called("<feed><entry><title>entry</title></entry></feed>"), None);
    }

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(one_line("a\u{1b}[31m\tb\u{0}\u{85}c").as_deref(), Some("a [31m b c"));
        let long = one_line(&"word ".repeat(1000)).unwrap();
        assert_eq!(long.chars().count(), MOST_CHARACTERS);
        assert!(long.ends_with('…'));
        assert_eq!(one_line(&"x".repeat(MOST_CHARACTERS)).unwrap().chars().count(), MOST_CHARACTERS);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_fail(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let text = [b"<rss><channel><title>".as_slice(), &body].concat();
            for body in [&body, &text] {
                let found = title(body, None, super::super::document(body, None, 3).as_ref());
                prop_assert!(found.is_none_or(|title| title.chars().count() <= MOST_CHARACTERS));
            }
        }
    }
}
