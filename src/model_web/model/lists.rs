//! Lists of pages and when they changed, as files: sitemaps, indexes of sitemaps, Atom feeds, robots.txt.

use std::fmt::Write as _;

/// A page in a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListedPage {
    /// The path, as it stands in a link.
    pub path: String,
    pub title: String,
    /// When it is said to have changed, in days.
    pub at: f64,
}

/// A file with a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListFile {
    pub xml: String,
    /// When the list last changed, in days; `None` for an empty list.
    pub changed: Option<f64>,
}

/// Writes a day as RFC 3339.
pub(crate) type WriteDate<'a> = &'a dyn Fn(f64) -> String;

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SITEMAPS: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// A sitemap. `origin` is the host's.
pub(crate) fn sitemap_xml(pages: &[ListedPage], origin: &str, date: WriteDate<'_>) -> String {
    let mut xml = format!("{DECLARATION}<urlset xmlns=\"{SITEMAPS}\">\n");
    for ListedPage { path, at, .. } in pages {
        // Writing to a string does not fail.
        let _ = writeln!(xml, "<url><loc>{origin}{path}</loc><lastmod>{}</lastmod></url>", date(*at));
    }
    xml + "</urlset>\n"
}

/// An index of sitemaps, each with its path and when it last changed.
pub(crate) fn index_xml(files: &[(String, Option<f64>)], origin: &str, date: WriteDate<'_>) -> String {
    let mut xml = format!("{DECLARATION}<sitemapindex xmlns=\"{SITEMAPS}\">\n");
    for (path, changed) in files {
        let lastmod = changed.map_or_else(String::new, |day| format!("<lastmod>{}</lastmod>", date(day)));
        let _ = writeln!(xml, "<sitemap><loc>{origin}{path}</loc>{lastmod}</sitemap>");
    }
    xml + "</sitemapindex>\n"
}

/// An Atom feed; its entries are the newest first.
pub(crate) fn atom_xml(entries: &[ListedPage], origin: &str, date: WriteDate<'_>) -> String {
    let updated = date(entries.first().map_or(0.0, |entry| entry.at));
    let mut xml = format!(
        "{DECLARATION}<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>What changed</title>\n\
         <id>{origin}/</id>\n<updated>{updated}</updated>\n"
    );
    for ListedPage { path, title, at } in entries {
        let at = date(*at);
        let _ = writeln!(
            xml,
            "<entry><title>{title}</title><link href=\"{origin}{path}\"/><id>{origin}{path}#{at}</id>\
             <updated>{at}</updated></entry>"
        );
    }
    xml + "</feed>\n"
}

/// Everything may be crawled, and the sitemap is here.
pub(crate) fn robots_txt(origin: &str) -> String {
    format!("User-agent: *\nAllow: /\n\nSitemap: {origin}/sitemap.xml\n")
}
