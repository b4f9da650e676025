//! XML that is neither a page nor a feed, as text: a line for each element that has text or attributes.
//!
//! `<rate currency="EUR">1.08</rate>` is read as `rate currency=EUR: 1.08`. An element with nothing in it is its name. So a
//! value that changes changes one line. Comments, processing instructions and declarations of namespaces are not read. What
//! must stay true: time and memory are linear in the bytes; entities of a DTD are never expanded.

use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::sitemap::{lenient_reader, push_reference};
use super::text::Words;

/// The elements of a text, a line each; `None` if it is not XML, or breaks off in the middle of a tag.
pub(super) fn read(text: &str) -> Option<String> {
    let mut reader = lenient_reader(text);
    let mut gathering =
        Elements { words: Words::with_capacity(text.len()), open: None, text: String::new(), is_xml: false };
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => gathering.start(&tag),
            Event::Empty(tag) => {
                gathering.start(&tag);
                gathering.end();
            }
            Event::End(_) => gathering.end(),
            Event::Text(text) => gathering.text.push_str(&text),
            Event::CData(text) => gathering.text.push_str(&text),
            Event::GeneralRef(name) => push_reference(&mut gathering.text, &name),
            Event::Eof => break,
            _ => {}
        }
    }
    gathering.flush();
    gathering.is_xml.then(|| gathering.words.finish())
}

struct Elements {
    words: Words,
    /// The element that was opened last, if nothing was told of it yet: its name, and whether it has attributes.
    open: Option<(String, bool)>,
    text: String,
    is_xml: bool,
}

impl Elements {
    fn start(&mut self, tag: &BytesStart<'_>) {
        self.flush();
        self.tell_attributes();
        self.is_xml = true;
        let mut line = tag.local_name().into_inner().to_owned();
        let mut has_attributes = false;
        let mut attributes = tag.attributes();
        // Without the check for doubles, which is quadratic.
        for attribute in attributes.with_checks(false).flatten() {
            let name = attribute.key.into_inner();
            if name == "xmlns" || name.starts_with("xmlns:") {
                continue;
            }
            let value = unescape(&attribute.value).unwrap_or_else(|_| attribute.value.clone());
            line.extend([" ", name, "=", value.trim()]);
            has_attributes = true;
        }
        self.open = Some((line, has_attributes));
    }

    fn end(&mut self) {
        self.flush();
        if let Some((line, _)) = self.open.take() {
            self.words.push_plain(&line);
            self.words.break_line();
        }
    }

    /// An element that has others in it gets a line only if it has attributes.
    fn tell_attributes(&mut self) {
        if let Some((line, true)) = self.open.take() {
            self.words.push_plain(&line);
            self.words.break_line();
        }
    }

    /// Tells the text since the last tag.
    fn flush(&mut self) {
        if !self.text.trim().is_empty() {
            if let Some((line, _)) = self.open.take() {
                self.words.push_plain(&line);
                self.words.push_plain(":");
                self.words.part_words();
            }
            self.words.push_lines(&self.text);
        }
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_for_each_element_with_text_or_attributes() {
        let text = "<?xml version='1.0'?><!-- no --><r:rates xmlns:r='urn:x' day='2026-11-18'><r:rate currency='EUR'>1.08</r:rate>
            <rate currency='&lt;GBP'/><sold/><list><item>a &amp; b</item><item><![CDATA[c <d>]]></item></list>
            <p>one <b>two</b> three</p><open></open></r:rates>";
        let lines = "rates day=2026-11-18\nrate currency=EUR: 1.08\nrate currency=<GBP\nsold\nitem: a & b\nitem: c <d>\n\
            p: one\nb: two\nthree\nopen";
        assert_eq!(read(text).as_deref(), Some(lines));
    }

    #[test]
    fn entities_of_a_dtd_are_not_expanded() {
        let bomb = "<!DOCTYPE a [<!ENTITY b '&c;&c;'><!ENTITY c 'xxxxxxxx'>]><a>&b; &eacute;</a>";
        assert_eq!(read(bomb).as_deref(), Some("a: &b; &eacute;"));
    }

    #[test]
    fn what_is_no_xml() {
        assert_eq!(read("no tags at all"), None);
        assert_eq!(read(""), None);
        assert_eq!(read("<a>1</a><b"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail(pieces in prop::collection::vec(prop::sample::select(vec![
            "<a>", "</a>", "<b c='d'", " e=f", "/>", ">", "<", "&amp;", "&x;", "&", "<![CDATA[", "]]>", "<!--", "-->", "<?", "?>",
            "<!DOCTYPE", "[", "]", "text", "\u{e9}", "'", "\"", "=",
        ]), 0..40)) {
            let _ = read(&pieces.concat());
        }
    }
}
