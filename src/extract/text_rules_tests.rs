use proptest::prelude::*;

use super::*;

fn list(rules: &[&str]) -> Vec<String> {
    rules.iter().map(ToString::to_string).collect()
}

fn rules(ignore: &[&str], only: &[&str], ignore_text: &[&str]) -> TextRules {
    TextRules::new(&list(ignore), &list(only), &list(ignore_text)).unwrap()
}

fn without(ignore: &str, page: &str) -> String {
    rules(&[ignore], &[], &[]).html(page.as_bytes(), None)
}

fn only(only: &str, page: &str) -> String {
    rules(&[], &[only], &[]).html(page.as_bytes(), None)
}

fn whole(page: &str) -> String {
    crate::extract::html(page.as_bytes(), None, 10).text
}

const PAGES: [&str; 12] = [
    "<!DOCTYPE html><html><head><title>T</title></head><body><h1>Head</h1><p>One <b>tw</b>o.</p></body></html>",
    "a<table><caption>c</caption><tr><th>1<td>2<tr><td>3<td>4</table>b<table>stray<tr><td>x</table>",
    "<ul><li>a<ul><li>b<li>c</ul><li>d</ul><ol><li>1</li><li>2</li></ol><dl><dt>t<dd>d<dt>u<dd>e</dl>",
    "<pre>\n a\n   b</pre>c<textarea>\n x &amp; <b> y</textarea>d<xmp><i></xmp>",
    "<p hidden>x<p>a<div style='display:none'>x<div>x</div></div>b<span aria-hidden=true>x</span>c",
    "<head><noscript><link href=x></noscript></head>a<noscript><p>b</p></noscript>c<noscript>d",
    "a<template><p>x</p></template>b<template shadowrootmode=open><p>c</p></template>",
    "a<script>'<p>x'</script><style>x</style><iframe>x</iframe>b<!-- x --><![CDATA[x]]>c",
    "<p>a<b>b<p>c</b>d<i>e<div>f</i>g</div>h</p>i</span></section>j<br/>k<hr>l</br>m",
    "<select><option>a<option>b</select><button>c</button><svg><title>x</title><text>T</text><g/></svg>d",
    "<frameset><frame src=a><noframes>x</noframes></frameset>text",
    "fran&ccedil;ais e&#x301; &lt;p&gt; \u{e000} \0 z <plaintext></p>rest <b>",
];

#[test]
fn a_rule_that_finds_nothing_changes_nothing() {
    for page in PAGES {
        assert_eq!(without("nothing-is-called-so", page), whole(page), "{page}");
        assert_eq!(only("html", &format!("<html>{page}")), whole(page), "{page}");
        assert_eq!(rules(&[], &[], &["never said"]).html(page.as_bytes(), None), whole(page), "{page}");
        assert_eq!(only("nothing-is-called-so", page), "", "{page}");
    }
}

#[test]
fn what_is_ignored_is_as_if_it_were_not_there() {
    assert_eq!(without(".ad", "a<div class=ad>x<p>x</div>b"), "a b");
    assert_eq!(without(".ad", "<p>a<p class=ad>x<p>b"), "a\nb");
    assert_eq!(without(".ad", "<section>a<div class='big ad'>x</section>b"), "a\nb");
    assert_eq!(without(".ad", "<ul><li>a<li class=ad>x<ul><li>x</ul><li>b</ul>"), "a\nb");
    assert_eq!(without(".ad", "a<br class=ad>b<hr class=ad> c"), "a b c");
    assert_eq!(without("b", "a<b> <i> x </i> </b>c"), "ac");
    assert_eq!(without("b", "<p>a<b>x<p>y</b>z"), "a\nz");
    assert_eq!(without("div > div", "<div>a<div>x</div>b<div>y</div></div>c"), "a b\nc");
    assert_eq!(without("#clock, time", "<p>a <span id=clock>12:00</span> b <time>12</time>"), "a b");
    assert_eq!(without("textarea", "a<textarea>x</textarea>b"), "ab");
    assert_eq!(without("noscript", "a<noscript><p>x</p></noscript>b"), "ab");
    assert_eq!(without("tr:first-child", "<table><tr><td>x<td>x<tr><td>a<td>b</table>"), "a b");
    assert_eq!(without("html", "a<p>b"), "");
}

#[test]
fn a_tree_knows_what_tags_alone_do_not() {
    assert_eq!(without("table", "<table>a<tr><td>x</table>b"), "ab", "text may not stand there");
    assert_eq!(without("p", "<p>x<div>a</div>"), "a", "the block ended the paragraph");
    assert_eq!(without("svg", "a<svg><g/><text>x</text></svg>b"), "ab");
}

#[test]
fn text_after_the_end_of_the_page_is_still_in_the_page() {
    let xhtml = |page: &str| rules(&["*"], &[], &[]).html(page.as_bytes(), Some("application/xhtml+xml"));
    assert_eq!(xhtml("<frameset/><html/><plaintext type=hidden><p>"), "");
    assert_eq!(without("html", "<frameset></frameset></html>text"), "");
    assert_eq!(without("b", "<p>a<b>x</b></p></html>text"), "a\ntext");
}

#[test]
fn only_what_is_wanted_is_left() {
    assert_eq!(only("main", "a<main>b<p>c</p></main>d<main>e</main>"), "b\nc\ne");
    assert_eq!(only(".price", "<p><b class=price>1</b>, <b class=price>2</b></p>"), "1\n2");
    assert_eq!(only("li", "<ul><li>a<li>b</ul>c"), "a\nb");
    assert_eq!(only("main, main p", "<main>a<p>b</p>c</main>d"), "a\nb\nc");
    let both = rules(&[".ad"], &["main"], &[]);
    assert_eq!(both.html(b"a<main>b<i class=ad>x</i>c</main><i class=ad>x</i>", None), "bc");
    assert_eq!(rules(&["main"], &["p"], &[]).html(b"<main>a<p>b</p></main><p>c", None), "c");
}

#[test]
fn text_is_ignored_line_by_line() {
    let ago = rules(&[], &[], &[r"\b\d+ (days|hours) ago\b", "^Page drawn .*$"]);
    let page = "<h1>News</h1><p>Posted 2 days ago by A<p>Page drawn in 4 ms<p>3 hours ago";
    assert_eq!(ago.html(page.as_bytes(), None), "News\nPosted by A");
    assert_eq!(ago.plain("a 1 days ago b\nc".to_owned()), "a b\nc");
    assert_eq!(ago.plain("as  it is".to_owned()), "as  it is");
    assert_eq!(rules(&[], &[], &["", "x*"]).plain("a  b".to_owned()), "a  b");
    assert_eq!(rules(&[], &[], &["[0-9]*"]).plain("room 12 is let".to_owned()), "room is let");
}

#[test]
fn charset_and_xhtml_are_as_ever() {
    let rules = rules(&["b"], &[], &[]);
    assert_eq!(rules.html(b"caf\xe9<b>x</b>", Some("text/html; charset=latin1")), "café");
    let page =
        b"<html><body><p hidden='hidden'/><b/><div/><script src='x'/>a<b>x</b><![CDATA[<b>]]></body></html>";
    assert_eq!(rules.html(page, Some("application/xhtml+xml; charset=utf-8")), "a<b>");
}

#[test]
fn a_page_cannot_forge_its_numbers() {
    let page = "<p freshet-piece=1 class=ad>x</p><!--1--><p freshet-piece='0' freshet-piece=9>9;8;7;</p>";
    assert_eq!(without(".ad", page), "9;8;7;");
}

#[test]
fn a_page_that_is_nested_too_deeply_keeps_its_text() {
    let ad = "<p class=ad>x</p>a 1 days ago";
    let rules = rules(&["main .ad"], &[], &["\\d+ days ago"]);
    let depth = 20_000;
    let many_open: String = (0..300).map(|number| format!("<b id=b{number}>")).collect();
    for page in [
        "<div>".repeat(depth),
        "<ul><li>".repeat(depth),
        "<svg>".to_owned() + &"<td>".repeat(depth) + "</svg>",
        "<b><object></b></object>".repeat(depth),
        many_open + &"<p>".repeat(depth),
        "<a><table>".repeat(depth),
        "<x-a>".repeat(depth),
    ] {
        let page = format!("<main>{page}{ad}");
        assert_eq!(rules.html(page.as_bytes(), None), "x\na");
        let mut document = crate::extract::html(page.as_bytes(), None, 0);
        rules.apply(&mut document, page.as_bytes(), Some("text/html"));
        assert!(!rules.have_read(rules.hash_of(&document)), "it is neither compared nor confirmed");
    }
    let bearable = format!("<main>{}{ad}", "<div>".repeat(500));
    assert_eq!(rules.html(bearable.as_bytes(), None), "a");
}

#[test]
fn looking_through_siblings_has_an_end_too() {
    let page = "<i>".to_owned() + &"</i><i>".repeat(20_000) + "a</i><u>b</u>";
    assert_eq!(without("u ~ i, i:first-of-type, u", &page), "ab", "given up");
    assert_eq!(without("i + u", &page), "a");
}

#[test]
fn a_rule_that_is_none_is_named() {
    for rule in ["div[", "", "a >", ":nonsense", "::before", "p {", "a[b=", "@x"] {
        let error = TextRules::new(&list(&[rule]), &[], &[]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{rule}` is no CSS selector: ")), "{error}");
        assert!(!error.ends_with([' ', '.']), "{error}");
        assert!(TextRules::new(&[], &list(&["p", rule]), &[]).is_err(), "{rule}");
    }
    let error = TextRules::new(&[], &[], &list(&["(a"])).unwrap_err().to_string();
    assert_eq!(error, "`(a` is no regular expression: unclosed group");
}

#[test]
fn rules_have_a_hash() {
    let hash = |ignore: &[&str], only: &[&str], text: &[&str]| rules(ignore, only, text).hash();
    assert!(rules(&[], &[], &[]).is_empty());
    assert_eq!(hash(&[], &[], &[]), 0);
    assert_eq!(hash(&["a"], &[], &["b"]), hash(&["a"], &[], &["b"]));
    let different =
        [hash(&["a"], &[], &[]), hash(&[], &["a"], &[]), hash(&[], &[], &["a"]), hash(&["a", "b"], &[], &[])];
    let distinct: std::collections::HashSet<_> = different.iter().collect();
    assert_eq!(distinct.len(), different.len());
}

#[test]
fn rules_go_between_threads() {
    fn is_shared<T: Send + Sync + Clone + std::fmt::Debug>() {}
    is_shared::<TextRules>();
}

fn markup() -> impl Strategy<Value = String> {
    let tag = prop::sample::select(vec![
        "p",
        "div",
        "b",
        "i",
        "a",
        "table",
        "tr",
        "td",
        "caption",
        "colgroup",
        "ul",
        "li",
        "svg",
        "math",
        "mi",
        "foreignObject",
        "desc",
        "title",
        "template",
        "select",
        "option",
        "textarea",
        "noscript",
        "script",
        "style",
        "frameset",
        "body",
        "html",
        "head",
        "br",
        "hr",
        "pre",
        "button",
        "form",
        "h1",
        "h2",
        "span",
        "object",
        "plaintext",
        "xmp",
        "input",
        "annotation-xml",
        "nobr",
        "ruby",
        "rt",
        "iframe",
        "image",
    ]);
    let piece = prop_oneof![
        6 => (tag.clone(), prop::sample::select(vec!["", " class=x", " hidden", "/", " class='x'/", " type=hidden"]))
            .prop_map(|(tag, rest)| format!("<{tag}{rest}>")),
        4 => tag.prop_map(|tag| format!("</{tag}>")),
        4 => "[a-z &;<>/!\\-\"=\n0-9é\u{0}\u{301}]{0,6}",
        1 => Just("<![CDATA[x]]>".to_owned()),
        1 => Just("<!--x-->".to_owned()),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_pattern_that_matches_nothing_changes_nothing(
        text in "[a-zé \n\t]{0,40}",
        pattern in prop::sample::select(vec!["", "[0-9]*", "^", "$", "\\b", "X?", "(\\d+)?", "(|A)", "^[0-9]*$"]),
    ) {
        prop_assert_eq!(rules(&[], &[], &[pattern]).plain(text.clone()), text);
    }

    #[test]
    fn no_bytes_make_it_fail(body in prop::collection::vec(any::<u8>(), 0..200)) {
        rules(&["b", ":not(p) > *"], &["p, body"], &["a."]).html(&body, None);
    }

    #[test]
    fn no_markup_makes_it_fail_and_what_is_not_found_is_not_missed(page in markup(), xhtml in any::<bool>()) {
        let kind = if xhtml { "application/xhtml+xml; charset=utf-8" } else { "text/html; charset=utf-8" };
        let whole = crate::extract::html(page.as_bytes(), Some(kind), 10).text;
        prop_assert_eq!(rules(&["nothing-is-called-so"], &[], &[]).html(page.as_bytes(), Some(kind)), whole);
        rules(&[".x", "li ~ li"], &["td", "body"], &[]).html(page.as_bytes(), Some(kind));
        prop_assert_eq!(rules(&["*"], &[], &[]).html(page.as_bytes(), Some(kind)), "");
    }

    #[test]
    fn ignoring_takes_words_and_adds_none(page in markup()) {
        let count = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
        let left = without(".x, b", &page);
        prop_assert!(count(&left) <= count(&whole(&page)));
    }
}

#[test]
fn an_ignored_block_parts_the_words_around_it_though_nothing_ends_the_block_before() {
    let rules = TextRules::new(&[".clock".to_owned()], &[], &[]).expect("rules");
    let read = |html: &str| rules.html(html.as_bytes(), None);
    assert_eq!(read("<p>one two<p class=clock>noon</p><a>link</a>"), "one two link");
    assert_eq!(read("<p>one two</p><p class=clock>noon</p><p>three</p>"), "one two\nthree");
    assert_eq!(
        read("<p>3<span class=clock>00</span>pm</p>"),
        "3pm",
        "within a line it is as if it were not there"
    );
}

#[test]
fn folded_text_is_read_as_without_rules_and_marked() {
    let rules = rules(&[".ad"], &[], &[]);
    let page = b"<a aria-controls=p>Open</a><div id=p aria-hidden=true>one<p class=ad>x</p></div>";
    assert_eq!(rules.html(page, None), "Open\none");
    let mut document = crate::extract::html(page, None, 0);
    rules.apply(&mut document, page, Some("text/html"));
    assert_ne!(rules.hash_of(&document), rules.hash());
    assert!(rules.have_read(rules.hash_of(&document)));
}
