use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

const LIMIT: usize = 1 << 20;

fn urls(body: &[u8]) -> Vec<(String, Option<i64>)> {
    match read(body, 100, LIMIT) {
        Ok(Sitemap::Urls(entries)) => entries.into_iter().map(|entry| (entry.url, entry.lastmod)).collect(),
        other => panic!("{other:?}"),
    }
}

fn names(body: &[u8]) -> Vec<String> {
    urls(body).into_iter().map(|(url, _)| url).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const PLAIN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
  <url><loc> http://h/a?x=1&amp;y=2 </loc><lastmod>1970-01-02</lastmod><priority>0.5</priority></url>
  <url><lastmod>soon</lastmod><loc><![CDATA[http://h/b?x&y]]></loc></url>
  <url><loc>http://h/&#99;&#x64;</loc></url>
</urlset>";

#[test]
fn an_xml_sitemap() {
    let expected = [("http://h/a?x=1&y=2", Some(86_400)), ("http://h/b?x&y", None), ("http://h/cd", None)];
    assert_eq!(urls(PLAIN.as_bytes()), expected.map(|(url, date)| (url.to_owned(), date)));
}

#[test]
fn gzip_by_its_first_bytes_and_within_the_limit() {
    assert_eq!(urls(&gzip(PLAIN.as_bytes())), urls(PLAIN.as_bytes()));
    let packed = gzip(PLAIN.as_bytes());
    let cut = &packed[..packed.len() - 40];
    assert!(read(cut, 100, LIMIT).is_ok(), "cut gzip gives what came before");
    assert!(matches!(read(b"\x1f\x8bnot gzip", 100, LIMIT), Err(SitemapError::Gzip(_))));
    let bomb = gzip(&[PLAIN.as_bytes().split_at(300).0, &vec![b' '; 50 << 20]].concat());
    assert!(bomb.len() < 100_000);
    assert_eq!(names(&bomb), ["http://h/a?x=1&y=2", "http://h/b?x&y"]);
}

#[test]
fn an_index() {
    let body = "<sitemapindex><sitemap><loc>http://h/1.xml.gz</loc><lastmod>1970</lastmod></sitemap><url><loc>x</loc></url></sitemapindex>";
    let expected = SitemapEntry { url: "http://h/1.xml.gz".into(), lastmod: Some(0) };
    assert_eq!(read(body.as_bytes(), 9, LIMIT).unwrap(), Sitemap::Index(vec![expected]));
}

#[test]
fn prefixes_and_extensions() {
    let body = "<s:urlset xmlns:s='x' xmlns:image='y'><s:url><image:image><image:loc>http://h/i.png</image:loc></image:image>\
                <s:loc>http://h/a</s:loc><xhtml:link rel='alternate' href='/x'/><video:video><lastmod>1970</lastmod></video:video></s:url></s:urlset>";
    assert_eq!(urls(body.as_bytes()), [("http://h/a".to_owned(), None)]);
}

#[test]
fn a_file_that_is_cut_or_broken_gives_what_stood_before() {
    assert_eq!(
        names(b"<urlset><url><loc>http://h/a</loc></url><url><loc>http://h/b</loc><lastm"),
        ["http://h/a", "http://h/b"]
    );
    assert_eq!(names(b"<urlset><url><loc>http://h/a</loc></url><url><loc>http://h/cu"), ["http://h/a"]);
    assert_eq!(
        names(b"<urlset><url><loc>http://h/a</loc><url><loc>http://h/b?x=1&y=2</loc></url></x></urlset>"),
        ["http://h/a", "http://h/b?x=1&y=2"]
    );
    assert!(names(b"<urlset>").is_empty());
    assert!(names(b"<urlset/>").is_empty());
}

#[test]
fn a_list_of_lines() {
    let body = "\u{feff}http://h/a\r\n\n  HTTPS://h/b \nftp://h/c\nnonsense\n";
    assert_eq!(names(body.as_bytes()), ["http://h/a", "HTTPS://h/b"]);
    assert!(matches!(read(b"User-agent: *\n", 9, LIMIT), Err(SitemapError::NoSitemap)));
}

#[test]
fn what_is_no_sitemap() {
    let page = read(b"<!DOCTYPE html><html><body>Not found", 9, LIMIT).unwrap_err();
    assert_eq!(page.to_string(), "root element is `html`, not `urlset` or `sitemapindex`");
    assert!(matches!(read(b"", 9, LIMIT), Err(SitemapError::NoSitemap)));
    assert!(matches!(read(b"<!-- -->", 9, LIMIT), Err(SitemapError::NoSitemap)));
    assert!(names(b"<urlset><url><loc>javascript:x</loc></url><url><loc> </loc></url></urlset>").is_empty());
}

#[test]
fn entries_beyond_the_limit_are_dropped() {
    assert_eq!(
        read(PLAIN.as_bytes(), 1, LIMIT).unwrap(),
        Sitemap::Urls(vec![SitemapEntry { url: "http://h/a?x=1&y=2".into(), lastmod: Some(86_400) }])
    );
    assert_eq!(read(PLAIN.as_bytes(), 0, LIMIT).unwrap(), Sitemap::Urls(vec![]));
    assert_eq!(
        read(b"http://h/a\nhttp://h/b", 1, LIMIT)
            .map(|map| matches!(map, Sitemap::Urls(urls) if urls.len() == 1))
            .ok(),
        Some(true)
    );
}

#[test]
fn entities_of_a_dtd_are_not_expanded() {
    let mut body = "<!DOCTYPE urlset [<!ENTITY a0 \"ha\">".to_owned();
    for level in 1..30 {
        body += &format!("<!ENTITY a{level} \"&a{0};&a{0};\">", level - 1);
    }
    body += "<!ENTITY file SYSTEM \"file:///etc/passwd\">]><urlset><url><loc>http://h/&a29;&file;</loc></url></urlset>";
    assert_eq!(names(body.as_bytes()), ["http://h/&a29;&file;"]);
}

#[test]
fn another_charset() {
    let body =
        b"<?xml version='1.0' encoding='ISO-8859-2'?><urlset><url><loc>http://h/\xb1</loc></url></urlset>";
    assert_eq!(names(body), ["http://h/ą"]);
    let wide: Vec<u8> = "\u{feff}http://h/ż\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(names(&wide), ["http://h/ż"]);
}

#[test]
fn dates() {
    assert_eq!(date("1970"), Some(0));
    assert_eq!(date("1970-02"), Some(31 * 86_400));
    assert_eq!(date("2000-03-01"), Some(951_868_800));
    assert_eq!(date("2026-11-16T03:25:00Z"), Some(1_794_799_500));
    assert_eq!(date("2026-11-16T04:25:00.75+01:00"), Some(1_794_799_500));
    assert_eq!(date("2026-11-15T22:25-0500"), Some(1_794_799_500));
    assert_eq!(date("2026-11-16 03:25:00"), Some(1_794_799_500));
    assert_eq!(date("1969-12-31T23:59:59Z"), Some(-1));
    assert_eq!(date("2024-02-29"), Some(1_709_164_800));
    for bad in [
        "",
        "70",
        "2023-02-29",
        "2026-13-01",
        "2026-00-01",
        "2026-01-32",
        "2026-1-1",
        "2026-01-01T",
        "2026-01-01T25:00Z",
        "2026-01-01T10:00+9",
        "2026-01-01-01",
        "Mon, 16 Nov 2026",
        "２０２６",
        "2026-01-01T1é:00",
    ] {
        assert_eq!(date(bad), None, "{bad:?}");
    }
}

proptest! {
    #[test]
    fn days_follow_one_another(year in 1_i64..9999, month in 1_i64..=12) {
        let after = if month == 12 { days_since_1970(year + 1, 1, 1) } else { days_since_1970(year, month + 1, 1) };
        prop_assert_eq!(days_since_1970(year, month, days_of_month(year, month)) + 1, after);
    }

    #[test]
    fn no_bytes_make_it_fail(pieces in prop::collection::vec(prop::sample::select(vec!["<urlset>", "<url>", "</url>", "<loc>", "</loc>", "http://h/", "&amp;", "&", "<![CDATA[", "]]>", "<!--", "-->", "<!DOCTYPE", "[", "<lastmod>", "2026-01-01T", "\u{e9}", "<", ">", "'", "\0", " "]), 0..30)) {
        let body = pieces.concat();
        if let Ok(Sitemap::Urls(entries)) = read(body.as_bytes(), 3, LIMIT) {
            prop_assert!(entries.len() <= 3);
        }
    }
}
