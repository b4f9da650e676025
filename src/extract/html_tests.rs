use std::convert::Infallible;
use std::time::{Duration, Instant};

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use proptest::prelude::*;

use super::*;
use crate::extract::character_reference::{ReferencePlace, decode};

/// A token with nothing left to decode. Runs of text that follow one another are one text.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Plain {
    Text(String),
    Start(String, Vec<(String, String)>),
    End(String),
}

fn add_text(tokens: &mut Vec<Plain>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(Plain::Text(last)) = tokens.last_mut() {
        last.push_str(text);
    } else {
        tokens.push(Plain::Text(text.to_owned()));
    }
}

/// CR is LF before the standard's tokenizer sees it; the scanner leaves it to whoever folds white space.
fn newlines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn add_attribute(attributes: &mut Vec<(String, String)>, name: String, value: String) {
    if attributes.iter().all(|(known, _)| *known != name) {
        attributes.push((name, value));
    }
}

fn plain_name(name: &str) -> String {
    name.replace('\0', "\u{fffd}").to_ascii_lowercase()
}

fn ours(page: &str) -> Vec<Plain> {
    let mut scanner = Scanner::new(page, false);
    let mut tokens = Vec::new();
    while let Some(token) = scanner.advance() {
        match token {
            HtmlToken::Text(text) => {
                let raw = newlines(text.raw);
                let decoded = match (text.references, text.inside) {
                    // NUL is for the tree builder to drop, in markup only.
                    (true, Element::Other) => raw
                        .split('\0')
                        .map(|part| decode(part, ReferencePlace::Text))
                        .collect::<Vec<_>>()
                        .join("\0"),
                    (true, _) => decode(&raw, ReferencePlace::Text),
                    (false, _) => raw.replace('\0', "\u{fffd}"),
                };
                add_text(&mut tokens, &decoded);
            }
            HtmlToken::Start(tag) => {
                let mut attributes = Vec::new();
                for (name, value) in scanner.attributes() {
                    add_attribute(
                        &mut attributes,
                        plain_name(name),
                        character_reference::decode_attribute(&newlines(value)).into_owned(),
                    );
                }
                for (name, value) in &attributes {
                    let known = Attribute::of(name.bytes().fold(0, extend_key), name.as_bytes());
                    if known != Attribute::Other {
                        let value_at_hand = scanner.value(known).expect("it stands in the tag");
                        assert_eq!(
                            value_at_hand.replace(['\r', '\n'], ""),
                            value.replace(['\r', '\n'], ""),
                            "{name}"
                        );
                    }
                }
                tokens.push(Plain::Start(plain_name(tag.name), attributes));
            }
            HtmlToken::End(tag) => tokens.push(Plain::End(plain_name(tag.name))),
        }
    }
    tokens
}

fn theirs(page: &str) -> Vec<Plain> {
    let mut tokens = Vec::new();
    let mut name = None;
    let mut attributes: Vec<(String, String)> = Vec::new();
    let string = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name: tag } => {
                name = Some(string(tag));
                attributes.clear();
            }
            CallbackEvent::AttributeName { name } => attributes.push((string(name), String::new())),
            CallbackEvent::AttributeValue { value } => {
                if let Some((_, last)) = attributes.last_mut() {
                    *last = string(value);
                }
            }
            CallbackEvent::CloseStartTag { .. } => {
                let mut distinct = Vec::new();
                attributes.drain(..).for_each(|(name, value)| add_attribute(&mut distinct, name, value));
                tokens.push(Plain::Start(name.take().unwrap(), distinct));
            }
            CallbackEvent::EndTag { name } => tokens.push(Plain::End(string(name))),
            CallbackEvent::String { value } => add_text(&mut tokens, &string(value)),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
        None
    });
    emitter.naively_switch_states(true);
    assert!(Tokenizer::new_with_emitter(page, emitter).next().is_none(), "the callback returns no token");
    tokens
}

fn text(text: &str) -> Plain {
    Plain::Text(text.to_owned())
}

fn start(name: &str, attributes: &[(&str, &str)]) -> Plain {
    let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Plain::Start(name.to_owned(), attributes.collect())
}

fn end(name: &str) -> Plain {
    Plain::End(name.to_owned())
}

#[test]
fn attributes_however_they_are_written() {
    let expected = start("a", &[("b", "1"), ("c", "2 >"), ("d", "3'"), ("e", ""), ("f", "")]);
    assert_eq!(ours("<A b=1 C='2 >' d = \"3'\"\ne f=>"), [expected]);
    assert_eq!(ours("<a b=1 b=2 B=3>"), [start("a", &[("b", "1")])]);
    assert_eq!(ours("<a/b/c=d/e>"), [start("a", &[("b", ""), ("c", "d/e")])]);
    assert_eq!(ours("<a \"b'<c=x\"y>"), [start("a", &[("\"b'<c", "x\"y")])]);
    assert_eq!(ours("<a =b==c>"), [start("a", &[("=b", "=c")])]);
    assert_eq!(ours("<a b='1'c='2'/ d>"), [start("a", &[("b", "1"), ("c", "2"), ("d", "")])]);
    assert_eq!(ours("<a\0 b\0='\0'>"), [start("a\u{fffd}", &[("b\u{fffd}", "\u{fffd}")])]);
    assert_eq!(ours("<a b='&amp;&copy=&#x80;'>"), [start("a", &[("b", "&&copy=€")])]);
}

#[test]
fn a_tag_that_the_page_ends_in_is_dropped() {
    for cut in ["<a href=\"/ok/after", "<a href=/x", "<a ", "<a", "<a href='/x'", "</a", "<a /"] {
        assert_eq!(ours(&format!("x{cut}")), [text("x")], "{cut}");
    }
    assert_eq!(ours("x<"), [text("x<")]);
    assert_eq!(ours("x</"), [text("x</")]);
}

#[test]
fn a_bracket_that_opens_nothing_is_text() {
    assert_eq!(ours("1 < 2 <3 <<b>"), [text("1 < 2 <3 <"), start("b", &[])]);
    assert_eq!(ours("a</>b"), [text("ab")]);
}

#[test]
fn comments_and_what_is_taken_for_one() {
    for comment in [
        "<!-->",
        "<!--->",
        "<!---->",
        "<!--a-->",
        "<!--a--!>",
        "<!-- <a> -- > --->",
        "<!x>",
        "<?x>",
        "</ x>",
        "<!>",
        "<!doctype html '>",
        "<![CDATA[x>",
        "<!-- <!-- -->",
        "<!--!-->",
        "<!---!-->",
    ] {
        assert_eq!(ours(&format!("a{comment}b")), [text("ab")], "{comment}");
    }
    assert_eq!(ours("a<!--b--!c>"), [text("a")], "not closed");
    assert_eq!(ours("a<!--!>b"), [text("a")], "not closed");
}

#[test]
fn raw_text_ends_at_its_own_end_tag() {
    assert_eq!(
        ours("<style><b>&amp;</styles></STYLE x>c"),
        [start("style", &[]), text("<b>&amp;</styles>"), end("style"), text("c")]
    );
    assert_eq!(ours("<title><b>&amp;</b></title>"), [start("title", &[]), text("<b>&</b>"), end("title")]);
    assert_eq!(ours("<textarea></textarea>"), [start("textarea", &[]), end("textarea")]);
    assert_eq!(ours("<xmp></xmp"), [start("xmp", &[]), text("</xmp")]);
    assert_eq!(ours("<plaintext></plaintext>&amp;"), [start("plaintext", &[]), text("</plaintext>&amp;")]);
    assert_eq!(ours("<noframes><a></noframes>"), [start("noframes", &[]), text("<a>"), end("noframes")]);
    assert_eq!(ours("<noscript><a></noscript>"), [start("noscript", &[]), start("a", &[]), end("noscript")]);
}

#[test]
fn scripts_inside_comments_inside_scripts() {
    let script = |content: &str| [start("script", &[]), text(content), end("script"), text("z")];
    for content in [
        "a<b</scriptx>",
        "<!-- </div> ",
        "<!-- <script> </script> ",
        "<!-- <script> --> ",
        "<!-- <script></script>--> ",
        "<!--><script>",
        "<!--- <script >--->",
        "<!--<script/</script/ <scripty>",
        "<!-<script>",
    ] {
        assert_eq!(ours(&format!("<script>{content}</script>z")), script(content), "{content}");
        assert_eq!(theirs(&format!("<script>{content}</script>z")), script(content), "{content}");
    }
    assert_eq!(
        ours("<script><!--<script></script>z"),
        [start("script", &[]), text("<!--<script></script>z")]
    );
}

#[test]
fn in_svg_and_in_xhtml_an_empty_element_is_closed() {
    let tags = |page: &str, xhtml| {
        let mut scanner = Scanner::new(page, xhtml);
        let mut names = Vec::new();
        while let Some(token) = scanner.advance() {
            names.push(match token {
                HtmlToken::Start(tag) => tag.name,
                HtmlToken::End(_) => "/",
                HtmlToken::Text(text) => text.raw,
            });
        }
        names.join(" ")
    };
    assert_eq!(tags("<script/><b>", false), "script <b>");
    assert_eq!(tags("<script/><b>", true), "script b");
    assert_eq!(tags("<svg><style/><b></svg><style/><i>", false), "svg style b / style <i>");
    assert_eq!(tags("<svg/><style/><i>", false), "svg style <i>");
    assert_eq!(tags("<svg><![CDATA[<a>]]>x</svg><![CDATA[y>", false), "svg <a> x /");
}

#[test]
fn time_is_linear_whatever_the_page() {
    let n = 300_000;
    let bad = [
        "<",
        "</",
        "<!",
        "<!--",
        "<a ",
        "<a b='",
        "&",
        "&#",
        "<script><!--",
        "<title></titl",
        "-",
        "<!-- -",
        "<svg>",
        "<x y=\"z\" ",
        "&notanentity",
        "<b hidden>",
    ];
    for piece in bad {
        let page = piece.repeat(n);
        let begun = Instant::now();
        crate::extract::html(page.as_bytes(), None, 10);
        assert!(begun.elapsed() < Duration::from_secs(5), "{piece}");
    }
}

/// Pieces of HTML, and pieces that break it.
fn piece() -> impl Strategy<Value = String> {
    let markup = vec![
        "<",
        ">",
        "</",
        "/>",
        "<!",
        "<!--",
        "-->",
        "--!>",
        "--",
        "-",
        "!",
        "<?",
        "<![CDATA[",
        "]]>",
        "<!DOCTYPE",
        "\"",
        "'",
        "=",
        "/",
        " ",
        "\n",
        "\r",
        "\t",
        "\x0c",
        "\0",
    ];
    let names = vec![
        "a",
        "href",
        "script",
        "style",
        "title",
        "textarea",
        "plaintext",
        "xmp",
        "iframe",
        "noembed",
        "hidden",
        "B",
        "SCRIPT",
        "div",
        "rel",
        "aria-hidden",
    ];
    let tags = vec![
        "<a href=",
        "<script>",
        "</script>",
        "<style>",
        "</style>",
        "<title>",
        "</title>",
        "<textarea>",
        "</textarea>",
        "</script ",
        "<script ",
        "<p",
        "<b>",
        "</b>",
        "<a class='x' href=\"",
    ];
    let references = vec![
        "&",
        "&amp;",
        "&amp",
        "&#x80;",
        "&#",
        "&#x",
        "&notit;",
        "&not",
        "&notin;",
        "&copy=",
        "&#0;",
        "&#xd800;",
        "&#x110000;",
        "&#128",
        "&nGt;",
        "&Aacut",
        "&frac12",
        ";",
        "1",
        "x",
        "ż",
        "日",
        "&lt;",
        "&#99999999999;",
        "#",
    ];
    prop_oneof![
        4 => prop::sample::select(markup),
        2 => prop::sample::select(names),
        2 => prop::sample::select(tags),
        2 => prop::sample::select(references),
    ]
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn it_finds_what_an_independent_tokenizer_finds(pieces in prop::collection::vec(piece(), 0..24)) {
        let page = pieces.concat();
        prop_assert_eq!(ours(&page), theirs(&page), "{:?}", page);
    }
}

proptest! {
    #[test]
    fn any_reference_is_read_alike(name in "&#?[xX]?[A-Za-z0-9]{0,9};?[=a]?") {
        for page in [name.clone(), format!("<a b='{name}' c={name}>")] {
            prop_assert_eq!(ours(&page), theirs(&page));
        }
    }
}

#[test]
fn every_named_reference_is_read_alike() {
    let mut page = String::new();
    for name in html5ever::data::NAMED_ENTITIES.keys().map(|name| name.trim_end_matches(';')) {
        page += &format!("&{name};|&{name}|&{name}x|<a b='&{name};' c='&{name}' d='&{name}=' e='&{name}x'>");
    }
    assert_eq!(ours(&page), theirs(&page));
}
