use super::*;

fn page(body: &str) -> Document {
    html(body.as_bytes(), None, 1000)
}

fn hrefs(document: &Document) -> Vec<&str> {
    document.links.iter().map(|link| link.href.as_str()).collect()
}

#[test]
fn a_whole_page() {
    let document = page(
        "<!DOCTYPE html><html><head><meta charset=utf-8><title> A &amp; B\n</title><style>p{}</style>\
         <link rel=canonical href=/self><script>var x = '<a href=/no>';</script></head>\n<body><h1>Head</h1>\n\
         <p>One <b>tw</b>o <a href='/three'>three</a>.</p><ul><li>x<li>y</ul><table><tr><td>1<td>2</table></body></html>",
    );
    assert_eq!(document.text, "Head\nOne two three.\nx\ny\n1 2");
    assert_eq!(document.title.as_deref(), Some("A & B"));
    assert_eq!(hrefs(&document), ["/three"]);
    assert_eq!(document.hints.canonical.as_deref(), Some("/self"));
    assert_eq!((document.charset, document.links_dropped), ("UTF-8", 0));
}

#[test]
fn blocks_set_words_apart_and_inline_elements_do_not() {
    assert_eq!(page("a<div>b</div>c<br>d<hr>e").text, "a\nb\nc\nd\ne");
    assert_eq!(
        page("a<b>b</b><span>c</span><a>d</a>e<wbr>f<img alt=x>g<custom-tag>h</custom-tag>").text,
        "abcdefgh"
    );
    assert_eq!(page("<select><option>a<option>b</select>").text, "a\nb");
    assert_eq!(page("<th>a</th><td>b</td><button>c</button>d").text, "a b c d");
    assert_eq!(page("<p>a<p></p><div> <div>\n</div></div>b").text, "a\nb");
    assert_eq!(page("<pre>a\n   b</pre>").text, "a b");
}

#[test]
fn what_is_text_and_what_is_not() {
    assert_eq!(
        page(
            "a<script>x</script><style>x</style><iframe>x</iframe><noembed>x</noembed><noframes>x</noframes>b"
        )
        .text,
        "ab"
    );
    assert_eq!(
        page("<title>x</title><noscript>a</noscript><textarea>b &amp; c</textarea><xmp><d></xmp>").text,
        "a b & c\n<d>"
    );
    assert_eq!(page("<head>a</head>b<!-- x --><![CDATA[x]]><img alt=x title=x><input value=x>").text, "a\nb");
    assert_eq!(page("a\0b &lt;c&gt;&nbsp;d").text, "ab <c> d");
}

#[test]
fn the_title_is_the_first_that_says_something() {
    assert_eq!(
        page("<title> </title><body><svg><title>icon</title></svg><title>real</title><title>late</title>")
            .title
            .as_deref(),
        Some("real")
    );
    assert_eq!(page("<title>cut").title.as_deref(), Some("cut"));
    assert_eq!(page("<p>none").title, None);
    assert_eq!(page("<template><title>x</title></template>").title, None);
}

#[test]
fn xhtml_closes_empty_elements() {
    let body = b"<html xmlns='http://www.w3.org/1999/xhtml'><head><title/><script src='x'/></head><body><p hidden='hidden'/><p>a<![CDATA[<b>]]></p></body></html>";
    assert_eq!(html(body, Some("application/xhtml+xml; charset=utf-8"), 9).text, "a<b>");
}

#[test]
fn plain_text_keeps_its_lines() {
    let document = plain_text("\u{feff}a  b\r\n\r\n <p>&amp;\tc\n".as_bytes(), Some("text/plain"));
    assert_eq!(document.text, "a b\n<p>&amp; c");
    assert!(document.links.is_empty());
    assert_eq!(plain_text(b"caf\xe9", Some("text/plain; charset=latin1")).text, "café");
}

#[test]
fn the_same_bytes_give_the_same_document() {
    let body: String = (0..500).map(|n| format!("<p>{n} ż<a href='/{}'>x</a>", n % 70)).collect();
    assert_eq!(page(&body), page(&body));
}

#[test]
fn a_hundred_thousand_nested_elements() {
    let body = format!(
        "<!DOCTYPE html><title>deep</title>{}<a href=\"/ok/deep\">x</a>{}",
        "<div>".repeat(100_000),
        "</div>".repeat(100_000)
    );
    let document = page(&body);
    assert_eq!((hrefs(&document), document.text.as_str()), (vec!["/ok/deep"], "x"));
}

#[test]
fn an_attribute_of_ten_megabytes_and_an_unclosed_tag() {
    let body = format!(
        "<!DOCTYPE html><a href=\"/ok/attr\">x</a><div class=\"{}\"><a href=\"/ok/after",
        "c ".repeat(5 << 20)
    );
    assert_eq!(hrefs(&page(&body)), ["/ok/attr"]);
}

#[test]
fn two_hundred_thousand_links() {
    let body: String = (0..200_000).map(|n| format!("<a href=\"/ok/many-{n}\">x</a>\n")).collect();
    let document = html(body.as_bytes(), None, 5000);
    assert_eq!((document.links.len(), document.links_dropped), (5000, 195_000));
}

#[test]
fn charsets_that_lie_or_break() {
    let broken = html(b"<title>caf\xe9 \xff\xfe\xc3\x28 \xed\xa0\x80</title><a href='/ok/bad-utf8'>x</a><a href='/ok/\xff'>y</a>", Some("text/html; charset=utf-8"), 9);
    assert_eq!(hrefs(&broken), ["/ok/bad-utf8", "/ok/\u{fffd}"]);
    assert!(broken.title.is_some_and(|title| title.starts_with("caf\u{fffd}")));
    let lie = html(
        b"<meta charset=iso-8859-2><title>\xcf\xf0\xe8</title><a href='/ok/lie'>x</a>",
        Some("text/html; charset=utf-8"),
        9,
    );
    assert_eq!((hrefs(&lie), lie.charset), (vec!["/ok/lie"], "UTF-8"));
    let wide: Vec<u8> = "\u{feff}<title>żółw</title><a href='/ok/utf16'>x</a>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let wide = html(&wide, Some("text/html"), 9);
    assert_eq!(
        (hrefs(&wide), wide.title.as_deref(), wide.charset),
        (vec!["/ok/utf16"], Some("żółw"), "UTF-16LE")
    );
    let japanese = html(
        b"<title>\x93\xfa\x96\x7b</title><a href='/ok/nocharset'>x</a>",
        Some("text/html; charset=klingon"),
        9,
    );
    assert_eq!((hrefs(&japanese), japanese.title.as_deref()), (vec!["/ok/nocharset"], Some("日本")));
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    let every_byte: Vec<u8> = (0..=255).cycle().take(102_400).collect();
    html(&every_byte, Some("text/html"), 9);
    plain_text(&every_byte, None);
    assert_eq!(
        hrefs(&html(b"<a href='/ok/n\0ul'>x</a>\0\0<a href='/ok/nul'>y</a>", None, 9)),
        ["/ok/n\u{fffd}ul", "/ok/nul"]
    );
}

#[test]
fn links_no_crawler_should_follow() {
    let bad = [
        "javascript:location='/ok/js'",
        "mailto:a@example.invalid",
        "data:text/html,<a href=/ok/data>x</a>",
        "tel:+1",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "",
        "#",
        "about:blank",
    ];
    let good = [
        " /ok/spaces ",
        "/ok/a%20b",
        "\\ok\\backslash",
        "/ok/tab\there",
        "HTTP://h/ok/CASE",
        "/ok/q?b=2&amp;a=1",
        "/ok/frag#one",
    ];
    let body: String = bad.iter().chain(&good).map(|href| format!("<a href=\"{href}\">x</a>\n")).collect();
    let expected = [
        "/ok/spaces",
        "/ok/a%20b",
        "\\ok\\backslash",
        "/ok/tabhere",
        "HTTP://h/ok/CASE",
        "/ok/q?b=2&a=1",
        "/ok/frag#one",
    ];
    assert_eq!(hrefs(&page(&body)), expected);
    let nofollow = page("<a href=\"/ok/nofollow\" rel=\"nofollow\">x</a>");
    assert!(nofollow.links.iter().all(|link| link.nofollow));
}

#[test]
fn a_page_that_asks_not_to_be_followed() {
    let document =
        page("<meta name=\"robots\" content=\"noindex,nofollow\"><a href=\"/ok/nofollow-meta\">x</a>");
    let asked = document.hints.robots_for("freshet");
    assert!(asked.noindex && asked.nofollow);
    let tag = robots_tag(["noindex, nofollow"].into_iter(), "freshet");
    assert!(tag.noindex && tag.nofollow);
}

/// Cases of `tests/golden/reading.json`.
#[derive(serde::Deserialize)]
struct ReadingCases {
    texts: Vec<TextCase>,
    links: Vec<LinkCase>,
    urls: Vec<UrlCase>,
    feeds: Vec<FeedCase>,
}

#[derive(serde::Deserialize)]
struct TextCase {
    why: String,
    html: String,
    text: String,
}

#[derive(serde::Deserialize)]
struct LinkCase {
    why: String,
    charset: String,
    href: String,
    link: String,
}

#[derive(serde::Deserialize)]
struct UrlCase {
    why: String,
    url: String,
    fetched: String,
}

#[derive(serde::Deserialize)]
struct FeedCase {
    why: String,
    feed: String,
    dates: Vec<i64>,
}

#[test]
fn cases_from_outside_are_read_as_browsers_read_them() {
    let cases: ReadingCases =
        serde_json::from_str(include_str!("../../tests/golden/reading.json")).expect("golden cases");
    for TextCase { why, html: page, text } in cases.texts {
        assert_eq!(html(page.as_bytes(), None, 0).text, text, "{why}");
    }
    for LinkCase { why, charset, href, link } in cases.links {
        let encoding = encoding_rs::Encoding::for_label(charset.as_bytes()).expect("a charset");
        let page = format!("<meta charset={charset}><a href='{href}'>x</a>");
        let (body, ..) = encoding.encode(&page);
        assert_eq!(
            html(&body, None, 9).links.first().map(|link| link.href.as_str()),
            Some(link.as_str()),
            "{why}"
        );
    }
    let normaliser = crate::page::Normaliser::default();
    for UrlCase { why, url, fetched } in cases.urls {
        assert_eq!(normaliser.parse(&url).map(|page| page.as_str().to_owned()), Ok(fetched), "{why}");
    }
    for FeedCase { why, feed, dates } in cases.feeds {
        assert_eq!(super::feed::entry_dates(feed.as_bytes(), None), Some(dates), "{why}");
    }
}
