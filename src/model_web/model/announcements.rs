//! Sitemap, feed and robots.txt of a model host, each as precise and complete as the spec says.
//!
//! Recall is the share of what is true that is announced, precision the share of what is announced that is true. Which
//! pages and changes are left out or made up is drawn from their seeds, so it is the same whenever one asks.

use std::fmt::Write as _;

use super::draw::{SeededDraw, sub_seed, unit};
use super::site::Site;
use super::turnover::Tenant;

/// A page and when it is said to have changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Announced {
    pub page: Tenant,
    /// In days.
    pub at: f64,
    /// Whether that is so.
    pub is_true: bool,
}

/// URLs of a sitemap at the most, by its protocol.
const SITEMAP_ENTRIES: usize = 50_000;
/// Entries of a feed at the most.
const FEED_ENTRIES: usize = 100;
/// How far a feed goes back, in days.
const FEED_DAYS: f64 = 2.0;

/// The pages that the sitemap lists, with the last change that it tells. A false one is told to have changed today.
pub(crate) fn sitemap(site: &Site<'_>, day: f64) -> Vec<Announced> {
    let told = site.spec.sitemap;
    let listed = site.living(day).filter(|page| unit(sub_seed(page.seed, 10)) < told.recall);
    let listed = listed.map(|page| {
        let at = site.last_change(&page, day);
        let midnight = day.floor();
        if unit(sub_seed(page.seed, 11)) < told.precision || at >= midnight {
            Announced { page, at, is_true: true }
        } else {
            Announced { page, at: midnight, is_true: false }
        }
    });
    listed.take(SITEMAP_ENTRIES).collect()
}

/// The changes that the feed tells of, newest first. A false entry names some page at the moment of another's change.
pub(crate) fn feed(site: &Site<'_>, day: f64) -> Vec<Announced> {
    let told = site.spec.feed;
    // False entries for each true one, on average.
    let false_ones = (1.0 - told.precision) / told.precision;
    let mut entries = Vec::new();
    for page in site.living(day) {
        for at in site.changes(&page, day - FEED_DAYS, day) {
            let mut draw = SeededDraw::new(sub_seed(sub_seed(page.seed, 12), at.to_bits()));
            if draw.chance(told.recall) {
                entries.push(Announced { page, at, is_true: true });
                let more = u32::from(draw.chance(false_ones.fract()));
                for _ in 0..false_ones as u32 + more {
                    let place = draw.below(u64::from(site.spec.pages)) as u32;
                    entries.push(Announced { page: site.tenant(place, day), at, is_true: false });
                }
            }
        }
        // However many pages there are, at most one feed's worth is kept.
        if entries.len() > 50 * FEED_ENTRIES {
            keep_newest(&mut entries);
        }
    }
    keep_newest(&mut entries);
    entries
}

fn keep_newest(entries: &mut Vec<Announced>) {
    entries.sort_by(|a, b| b.at.total_cmp(&a.at).then(a.page.place.cmp(&b.page.place)));
    entries.truncate(FEED_ENTRIES);
}

/// A sitemap as XML. `origin` is the host's, `date` writes a day as RFC 3339.
pub(crate) fn sitemap_xml(site: &Site<'_>, day: f64, origin: &str, date: &dyn Fn(f64) -> String) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for Announced { page, at, .. } in sitemap(site, day) {
        let path = site.path(&page);
        // Writing to a string does not fail.
        let _ = writeln!(xml, "<url><loc>{origin}{path}</loc><lastmod>{}</lastmod></url>", date(at));
    }
    xml + "</urlset>\n"
}

/// An Atom feed as XML.
pub(crate) fn feed_xml(site: &Site<'_>, day: f64, origin: &str, date: &dyn Fn(f64) -> String) -> String {
    let entries = feed(site, day);
    let updated = date(entries.first().map_or(0.0, |entry| entry.at));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <title>What changed</title>\n<id>{origin}/</id>\n<updated>{updated}</updated>\n"
    );
    for Announced { page, at, .. } in entries {
        let (title, path, at) = (site.title(&page), site.path(&page), date(at));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::sitemap::{Sitemap, read};
    use crate::model_web::model::spec::{Announcing, WebSpec};

    fn spec(precision: f64, recall: f64) -> WebSpec {
        let told = Announcing { precision, recall };
        WebSpec { pages: 2000, sitemap: told, feed: told, ..WebSpec::default() }
    }

    fn share(entries: &[Announced]) -> f64 {
        entries.iter().filter(|entry| entry.is_true).count() as f64 / entries.len() as f64
    }

    #[test]
    fn a_perfect_sitemap_tells_all_and_the_truth() {
        let spec = spec(1.0, 1.0);
        let site = Site::new(&spec, 0);
        let told = sitemap(&site, 5.5);
        assert_eq!(told.len(), 2000);
        assert!(told.iter().all(|entry| entry.at == site.last_change(&entry.page, 5.5)));
        assert!(feed(&site, 5.5).iter().all(|entry| entry.is_true));
    }

    #[test]
    fn an_imperfect_one_is_as_imperfect_as_asked_for() {
        let spec = spec(0.6, 0.7);
        let site = Site::new(&spec, 0);
        let told = sitemap(&site, 5.0001);
        let recall = told.len() as f64 / 2000.0;
        assert!((recall - 0.7).abs() < 0.04, "{recall}");
        assert!((share(&told) - 0.6).abs() < 0.05, "{}", share(&told));
        let many: Vec<Announced> = (0..12).flat_map(|host| feed(&Site::new(&spec, host), 5.0)).collect();
        assert!((share(&many) - 0.6).abs() < 0.06, "{}", share(&many));
    }

    #[test]
    fn they_are_written_as_their_readers_expect() {
        let spec = WebSpec { pages: 300, ..spec(1.0, 1.0) };
        let site = Site::new(&spec, 0);
        let date = |_: f64| "2026-11-16T00:00:00Z".to_owned();
        let origin = "http://127.0.1.1:8000";
        let map = read(sitemap_xml(&site, 1.0, origin, &date).as_bytes(), 50_000, 1 << 20);
        assert!(matches!(map, Ok(Sitemap::Urls(pages)) if pages.len() == 300));
        let feed_text = feed_xml(&site, 1.0, origin, &date);
        assert_eq!(feed_text.matches("<entry>").count(), feed(&site, 1.0).len());
        assert!(feed_text.contains("<link href=\"http://127.0.1.1:8000/"));
    }
}
