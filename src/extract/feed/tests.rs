use proptest::prelude::*;

use super::*;

fn dates(body: &str) -> Option<Vec<i64>> {
    entry_dates(body.as_bytes(), None)
}

const RSS: &str = "<?xml version='1.0'?><rss version='2.0'><channel><title>x</title>
    <pubDate>Sat, 03 Jan 1970 00:00:00 GMT</pubDate>
    <item><title>a</title><pubDate>Fri, 02 Jan 1970 00:00:00 GMT</pubDate></item>
    <item><title>no date</title></item>
    <item><pubDate>soon</pubDate></item>
    <item><dc:date>1970-01-01T01:00:00+01:00</dc:date><pubDate><![CDATA[
        1 Jan 70 00:01 +0000]]></pubDate></item>
    <item><dc:date>1970-01-01T00:00:07Z</dc:date><br/></item></channel></rss>";

#[test]
fn rss_has_the_date_of_publication_or_else_another() {
    assert_eq!(dates(RSS), Some(vec![86_400, 60, 7]));
    assert_eq!(entry_dates(RSS.as_bytes(), Some("text/html")), Some(vec![86_400, 60, 7]));
}

#[test]
fn atom_has_the_date_of_publication_or_else_of_the_last_change() {
    let body = "<feed xmlns='http://www.w3.org/2005/Atom'><updated>1970-01-09T00:00:00Z</updated>
        <entry><updated>1970-01-01T00:00:09Z</updated><published>1970-01-01T00:00:01Z</published></entry>
        <entry><source><updated>1970-01-01T00:00:05Z</updated></source>
            <updated>1970-01-01T01:00:02&#43;01:00</updated></entry>
        <entry><updated>1970-01-01T00:00:03Z</updated><published>?</published></entry></feed>";
    assert_eq!(dates(body), Some(vec![1, 2, 3]));
    let prefixed = body.replace('<', "<a:").replace("<a:/", "</a:");
    assert_eq!(dates(&prefixed), Some(vec![1, 2, 3]));
}

#[test]
fn older_atom_and_dublin_core_have_names_of_their_own() {
    let old = "<feed version='0.3'><modified>1970-01-09T00:00:00Z</modified>
        <entry><issued>1970-01-01T00:00:01Z</issued><modified>1970-01-01T00:00:09Z</modified></entry>
        <entry><modified>1970-01-01T00:00:02Z</modified></entry></feed>";
    assert_eq!(dates(old), Some(vec![1, 2]));
    let terms = "<rss><channel><item><dcterms:modified>1970-01-01T00:00:04Z</dcterms:modified>
        <dcterms:issued>1970-01-01T00:00:03Z</dcterms:issued></item></channel></rss>";
    assert_eq!(dates(terms), Some(vec![3]));
}

#[test]
fn rdf_is_a_feed_if_it_has_a_channel() {
    let body =
        "<rdf:RDF><channel><items><rdf:Seq><rdf:li/></rdf:Seq></items><dc:date>1971</dc:date></channel>
        <item><dc:date>1970-01-01T00:00Z</dc:date></item></rdf:RDF>";
    assert_eq!(dates(body), Some(vec![0]));
    assert_eq!(dates("<rdf:RDF><channel></channel></rdf:RDF>"), Some(vec![]));
    assert_eq!(dates("<rdf:RDF><foaf:Person><dc:date>1970</dc:date></foaf:Person></rdf:RDF>"), None);
}

#[test]
fn what_may_stand_before_the_root() {
    let before = "\u{feff} \n<?xml version='1.0'?><?xml-stylesheet href='/rss>'?><!-- <html> -->\n";
    let doctype = "<!DOCTYPE rss [<!ENTITY nbsp '&#160;'> %HTMLlat1; ] >";
    assert_eq!(dates(&format!("{before}{doctype}<rss>")), Some(vec![]));
    assert_eq!(dates(&format!("{before}<!DOCTYPE rss PUBLIC 'x'><RSS\n version='0.91'>")), Some(vec![]));
    assert_eq!(dates(&format!("<!--{}--><rss/>", " ".repeat(600))), Some(vec![]));
    let wide: Vec<u8> = format!("\u{feff}{RSS}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(entry_dates(&wide, None), dates(RSS));
}

#[test]
fn what_is_no_feed() {
    for body in [
        "",
        "<",
        "<!",
        "<!--",
        "<!-->",
        "<!DOCTYPE rss [",
        "<!DOCTYPE html><html><body><rss><item>",
        "<html><rss>",
        "rss <rss>",
        "<rss",
        "<rssx>",
        "<urlset>",
        "{\"version\": \"https://jsonfeed.org/version/1.1\"",
        "{\"version\": 1, \"docs\": \"https://jsonfeed.org/version/1.1\"}",
    ] {
        assert_eq!(dates(body), None, "{body:?}");
    }
}

#[test]
fn a_broken_feed_gives_what_stood_before_the_break() {
    let date = |second| format!("<pubDate>1 Jan 1970 00:00:0{second} UT</pubDate>");
    let item = |second| format!("<item>{}</item>", date(second));
    assert_eq!(dates(&format!("<rss>{}<item>{}", item(1), date(2))), Some(vec![1]), "cut");
    assert_eq!(dates(&format!("<rss><item>{}{}", date(1), item(2))), Some(vec![1, 2]), "not closed");
    assert_eq!(dates(&format!("<rss>{}</x>&y;&z {}", item(1), item(2))), Some(vec![1, 2]));
    assert_eq!(dates("<rss><item><pubDate>&a; 1970</pubDate></item>"), Some(vec![]));
}

#[test]
fn dates_of_both_formats() {
    assert_eq!(date("Mon, 16 Nov 2026 03:25:00 GMT"), Some(1_794_799_500));
    assert_eq!(date("Tue, 16 Nov 2026 04:25 +0100"), Some(1_794_799_500), "it was a Monday");
    assert_eq!(date("15 Nov 2026 22:25:00 EST"), Some(1_794_799_500));
    assert_eq!(date("2026-11-16T03:25:00.5Z"), Some(1_794_799_500));
    assert_eq!(date("Mon, 31 Feb 2026 03:25:00 GMT"), None);
}

proptest! {
    #[test]
    fn no_bytes_make_it_fail(
        root in prop::sample::select(vec!["", "<rss>", "<feed>", "<rdf:RDF>", "\u{feff}<!DOCTYPE a [b]><rss "]),
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<item>", "</item>", "<entry>", "</entry>", "<channel>", "<pubDate>", "</pubDate>", "<dc:date>",
            "</dc:date>", "<updated>", "</published>", "1970-01-01", "T00:00:00Z", "1 Jan 70 00:00 GMT", "Mon, ",
            "(", "&amp;", "&#43;", "&", "<![CDATA[", "]]>", "<!--", "-->", "<?", "\u{e9}", "<", ">", "'", "\0",
        ]), 0..30),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let body = [root.as_bytes(), pieces.concat().as_bytes(), &bytes].concat();
        let read = document(&body, None, 3);
        prop_assert!(read.is_none_or(|read| read.links.len() <= 3));
        let _ = document(&bytes, None, 3);
    }

    #[test]
    fn no_text_of_a_date_makes_it_fail(text in "[A-Za-z0-9 ,:+()-]{0,40}|\\PC{0,20}") {
        let _ = date(&text);
    }

    #[test]
    fn every_entry_with_a_date_is_found(seconds in prop::collection::vec(0_i64..4_000_000_000, 0..20)) {
        let body = seconds.iter().fold("<feed>".to_owned(), |body, second| {
            let at = crate::time::Timestamp::from_seconds(*second);
            body + &format!("<entry><published>{at}</published></entry>")
        });
        prop_assert_eq!(dates(&body), Some(seconds));
    }
}

fn links(document: &Document) -> Vec<(&str, Option<i64>)> {
    document.links.iter().map(|link| (link.href.as_str(), link.lastmod)).collect()
}

#[track_caller]
fn read(body: &str) -> Document {
    document(body.as_bytes(), None, 100).expect("a feed")
}

#[test]
fn rss_has_links_and_texts() {
    let feed = read(
        "<rss xmlns:atom='http://www.w3.org/2005/Atom' xmlns:media='m'><channel><title>News &amp; more</title>
        <link>https://h.example/</link><atom:link rel='self' href='/feed.xml'/><description>All of it</description>
        <lastBuildDate>Fri, 02 Jan 1970 00:00:00 GMT</lastBuildDate>
        <image><title>logo</title><url>/logo.png</url><link>https://image.example/</link></image>
        <item><title>One &lt;b&gt;</title><link>
            /one?a=1&amp;b=2 </link><guid>https://h.example/guid</guid><pubDate>Thu, 01 Jan 1970 00:00:09 GMT</pubDate>
            <description>&lt;p&gt;Summary &amp;amp; &lt;i&gt;more&lt;/i&gt;&lt;/p&gt;</description>
            <media:title>picture</media:title><media:content url='/p.jpg'/><enclosure url='/talk.mp3' length='1' type='audio/mpeg'/></item>
        <item><title>Two</title><description>short</description><content:encoded><![CDATA[<p>Long</p><p>text</p>]]></content:encoded>
            <guid isPermaLink='true'>https://h.example/two</guid></item>
        <item><guid isPermaLink='false'>https://h.example/no</guid><link>javascript:void(0)</link></item></channel></rss>",
    );
    assert_eq!(feed.title.as_deref(), Some("News & more"));
    assert_eq!(feed.text, "News & more\nAll of it\nOne <b>\nSummary & more\nTwo\nLong\ntext");
    let expected = [("https://h.example/", None), ("/one?a=1&b=2", Some(9)), ("https://h.example/two", None)];
    assert_eq!(links(&feed), expected);
}

#[test]
fn atom_has_links_and_texts() {
    let feed = read(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://h.example/blog/'><title>Blog</title>
        <link href='.'/><link rel='self' href='feed.atom'/><link rel='next' href='feed?page=2'/><subtitle>Thoughts</subtitle>
        <entry><title type='html'>A &amp;amp; B</title><link rel='alternate' href='a'/><link rel='enclosure' href='a.mp3'/>
            <published>1970-01-01T00:00:01Z</published><updated>1970-01-01T00:00:05Z</updated>
            <content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>One</p><p>Two <b>three</b></p></div></content></entry>
        <entry xml:base='2026/'><title>C &lt; D</title><link href='c'></link><summary>plain</summary>
            <source><title>elsewhere</title><link href='https://other.example/'/></source></entry>
        <entry xml:base='https://o.example/x/'><link href='../e'/></entry></feed>",
    );
    assert_eq!(feed.text, "Blog\nThoughts\nA & B\nOne\nTwo three\nC < D\nplain");
    assert_eq!(feed.hints.base.as_deref(), Some("https://h.example/blog/"));
    let expected = [
        (".", None),
        ("feed?page=2", None),
        ("a", Some(5)),
        ("https://h.example/blog/2026/c", None),
        ("https://o.example/e", None),
    ];
    assert_eq!(links(&feed), expected);
}

#[test]
fn rdf_has_links_and_texts() {
    let feed = read(
        "<rdf:RDF xmlns='http://purl.org/rss/1.0/'><channel rdf:about='x'><title>Old</title><link>https://h.example/</link>
        <items><rdf:Seq><rdf:li resource='https://h.example/1'/></rdf:Seq></items></channel>
        <item rdf:about='https://h.example/1'><title>First</title><link>https://h.example/1</link><dc:date>1970-01-01</dc:date></item>
        </rdf:RDF>",
    );
    assert_eq!(feed.text, "Old\nFirst");
    assert_eq!(links(&feed), [("https://h.example/", None), ("https://h.example/1", Some(0))]);
}

#[test]
fn json_feed_has_links_and_texts() {
    let feed = read(
        r#"{"version": "https:\/\/jsonfeed.org\/version\/1.1", "title": "Notes", "home_page_url": "https://h.example/",
        "feed_url": "https://h.example/feed.json", "items": [
        {"id": "1", "url": "/1", "title": "One", "content_html": "<p>a</p><p>b</p>", "date_modified": "1970-01-01T00:00:07Z"},
        {"id": 2, "external_url": "https://o.example/2", "content_text": "two", "title": {"odd": [1]}, "date_published": "1970-01-01T00:00:03Z",
         "attachments": [{"url": "/x.mp3"}]}]}"#,
    );
    assert_eq!(feed.title.as_deref(), Some("Notes"));
    assert_eq!(feed.text, "Notes\nOne\na\nb\ntwo");
    let expected = [("https://h.example/", None), ("/1", Some(7)), ("https://o.example/2", Some(3))];
    assert_eq!(links(&feed), expected);
    assert_eq!(feed.entry_dates, Some(vec![7, 3]));
}

#[test]
fn a_hostile_feed_is_bounded() {
    let entry = "<item><link>/x</link></item>";
    let many = format!("<rss><channel>{}", entry.repeat(MOST_ENTRIES + 500));
    assert_eq!(read(&many).links.len(), 1);
    let deep = format!("<rss><channel><item><title>{}t", "<b>".repeat(200_000));
    assert_eq!(read(&deep).text, "");
    let wide = format!("<rss><channel><item {}><link>/x</link></item>", "a='b' ".repeat(200_000));
    assert_eq!(read(&wide).links.len(), 1);
    let bomb = "<!DOCTYPE rss [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><rss><channel><title>&b;</title></channel></rss>";
    assert_eq!(read(bomb).text, "&b;");
    let items = format!(
        r#"{{"version": "jsonfeed.org/version/1", "items": [{}{{}}]}}"#,
        "{},".repeat(MOST_ENTRIES + 9)
    );
    assert_eq!(read(&items).text, "");
}

#[test]
fn a_base_that_is_longer_than_any_address_is_left_out() {
    let links = |base: &str| {
        let body = format!("<feed><entry xml:base='{base}'><link href='a'/></entry></feed>");
        document(body.as_bytes(), None, 9).map(|feed| feed.links[0].href.clone())
    };
    assert_eq!(links("b/").as_deref(), Some("b/a"));
    assert_eq!(links(&format!("{}/", "b".repeat(5000))).as_deref(), Some("a"));
}
