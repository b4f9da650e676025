//! Sitemap and feed of a model host, each as precise and complete as the spec says.
//!
//! Recall is the share of what is true that is announced, precision the share of what is announced that is true. Which
//! pages and changes are left out or made up is drawn from their seeds, so it is the same whenever one asks. Lists that tell
//! changes one by one are in [`super::told_changes`].

use std::ops::Range;

use super::draw::{SeededDraw, sub_seed, unit};
use super::lists::{ListFile, ListedPage, WriteDate, atom_xml, index_xml, sitemap_xml};
use super::site::Site;
use super::spec::Telling;
use super::told_changes::ToldChanges;
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

/// Places in a file of the sitemap. A host with more has an index; the protocol would let a file have 50,000, but many sites
/// divide theirs like this, and a crawler can leave out the files that did not change.
const PLACES_OF_A_FILE: u32 = 1000;
/// Entries of a feed at the most.
const FEED_ENTRIES: usize = 100;
/// How far a feed goes back, in days.
const FEED_DAYS: f64 = 2.0;

/// The sitemap of a path: `/sitemap.xml`, which is an index if there are many pages, and then `/sitemap-1.xml` and so on.
pub(crate) fn sitemap_file(
    site: &Site<'_>,
    path: &str,
    day: f64,
    origin: &str,
    date: WriteDate<'_>,
) -> Option<ListFile> {
    let told = ToldChanges::new(site, site.spec.sitemap);
    let files = site.spec.pages.div_ceil(PLACES_OF_A_FILE);
    let places = |file: u32| {
        let from = file.saturating_mul(PLACES_OF_A_FILE);
        from..from.saturating_add(PLACES_OF_A_FILE).min(site.spec.pages)
    };
    let listed = |places: Range<u32>| {
        let entries = sitemap(site, &told, places.clone(), day);
        let newest = entries.iter().map(|entry| (entry.at + site.spec.sitemap.delay).min(day));
        let changed = newest.chain(site.last_turn(places, day)).max_by(f64::total_cmp);
        (entries, changed)
    };
    let sitemap = |(entries, changed): (Vec<Announced>, Option<f64>)| {
        let rows: Vec<ListedPage> = entries.iter().map(|entry| row(site, entry)).collect();
        ListFile { xml: sitemap_xml(&rows, origin, date), changed }
    };
    match path {
        "/sitemap.xml" if files <= 1 => Some(sitemap(listed(places(0)))),
        "/sitemap.xml" => {
            let files = (0..files).map(|file| (format!("/sitemap-{}.xml", file + 1), listed(places(file)).1));
            let files: Vec<(String, Option<f64>)> = files.collect();
            let changed = files.iter().filter_map(|(_, changed)| *changed).max_by(f64::total_cmp);
            Some(ListFile { xml: index_xml(&files, origin, date), changed })
        }
        _ => {
            let number = path.strip_prefix("/sitemap-")?.strip_suffix(".xml")?;
            let file =
                number.parse::<u32>().ok()?.checked_sub(1).filter(|file| files > 1 && *file < files)?;
            Some(sitemap(listed(places(file))))
        }
    }
}

/// An Atom feed with the newest changes.
pub(crate) fn feed_file(site: &Site<'_>, day: f64, origin: &str, date: WriteDate<'_>) -> ListFile {
    let entries = feed(site, day);
    let rows: Vec<ListedPage> = entries.iter().map(|entry| row(site, entry)).collect();
    let changed = entries.first().map(|entry| (entry.at + site.spec.feed.delay).min(day));
    ListFile { xml: atom_xml(&rows, origin, date), changed }
}

fn row(site: &Site<'_>, entry: &Announced) -> ListedPage {
    ListedPage { path: site.path(&entry.page), title: site.title(&entry.page), at: entry.at }
}

/// The pages of these places that the sitemap lists, with the last change that it tells.
fn sitemap(site: &Site<'_>, told: &ToldChanges<'_>, places: Range<u32>, day: f64) -> Vec<Announced> {
    let living = site.living_in(places, day);
    if site.spec.sitemap.telling != Telling::Pages {
        let listed = living.filter_map(|page| Some((page, told.last(&page, day)?)));
        return listed.map(|(page, time)| Announced { page, at: time.at, is_true: time.is_true }).collect();
    }
    let told = site.spec.sitemap;
    let day = day - told.delay;
    let listed = living.filter(|page| site.born(page) <= day && unit(sub_seed(page.seed, 10)) < told.recall);
    let listed = listed.map(|page| {
        let at = site.last_change(&page, day);
        // A false date is that of today.
        let midnight = day.floor();
        if unit(sub_seed(page.seed, 11)) < told.precision || at >= midnight {
            Announced { page, at, is_true: true }
        } else {
            Announced { page, at: midnight, is_true: false }
        }
    });
    listed.collect()
}

/// The changes that the feed tells of, newest first.
fn feed(site: &Site<'_>, day: f64) -> Vec<Announced> {
    let told = site.spec.feed;
    let now = day - told.delay;
    let changes = ToldChanges::new(site, told);
    let mut entries = Vec::new();
    for page in site.living(day) {
        match told.telling {
            Telling::Pages => add_changes(&mut entries, site, page, now),
            Telling::Always => entries.push(Announced { page, at: day, is_true: false }),
            Telling::Poisson | Telling::Build => {
                let times = changes.between(&page, now - FEED_DAYS, now).into_iter();
                entries.extend(times.map(|time| Announced { page, at: time.at, is_true: time.is_true }));
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

/// The changes of a page, and false entries, which name some page at the moment of another's change.
fn add_changes(entries: &mut Vec<Announced>, site: &Site<'_>, page: Tenant, now: f64) {
    let told = site.spec.feed;
    // False entries for each true one, on average.
    let false_ones = (1.0 - told.precision) / told.precision;
    for at in site.changes(&page, now - FEED_DAYS, now) {
        let mut draw = SeededDraw::new(sub_seed(sub_seed(page.seed, 12), at.to_bits()));
        if draw.chance(told.recall) {
            entries.push(Announced { page, at, is_true: true });
            let more = u32::from(draw.chance(false_ones.fract()));
            for _ in 0..false_ones as u32 + more {
                let place = draw.below(u64::from(site.spec.pages)) as u32;
                entries.push(Announced { page: site.tenant(place, now), at, is_true: false });
            }
        }
    }
}

fn keep_newest(entries: &mut Vec<Announced>) {
    entries.sort_by(|a, b| b.at.total_cmp(&a.at).then(a.page.place.cmp(&b.page.place)));
    entries.truncate(FEED_ENTRIES);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::sitemap::{Sitemap, read};
    use crate::model_web::model::spec::{Announcing, WebSpec};

    fn listed(site: &Site<'_>, day: f64) -> Vec<Announced> {
        sitemap(site, &ToldChanges::new(site, site.spec.sitemap), 0..site.spec.pages, day)
    }

    fn spec(precision: f64, recall: f64) -> WebSpec {
        let told = Announcing::of_pages(precision, recall);
        WebSpec { pages: 2000, sitemap: told, feed: told, ..WebSpec::default() }
    }

    fn share(entries: &[Announced]) -> f64 {
        entries.iter().filter(|entry| entry.is_true).count() as f64 / entries.len() as f64
    }

    #[test]
    fn a_perfect_sitemap_tells_all_and_the_truth() {
        let spec = spec(1.0, 1.0);
        let site = Site::new(&spec, 0);
        let told = listed(&site, 5.5);
        assert_eq!(told.len(), 2000);
        assert!(told.iter().all(|entry| entry.at == site.last_change(&entry.page, 5.5)));
        assert!(feed(&site, 5.5).iter().all(|entry| entry.is_true));
    }

    #[test]
    fn an_imperfect_one_is_as_imperfect_as_asked_for() {
        let spec = spec(0.6, 0.7);
        let site = Site::new(&spec, 0);
        let told = listed(&site, 5.0001);
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
        let xml = |path: &str| sitemap_file(&site, path, 1.0, origin, &date).map(|file| file.xml);
        let map = read(xml("/sitemap.xml").expect("a sitemap").as_bytes(), 50_000, 1 << 20);
        assert!(matches!(map, Ok(Sitemap::Urls(pages)) if pages.len() == 300));
        assert_eq!(xml("/sitemap-1.xml"), None, "one file is enough");
        let feed_text = feed_file(&site, 1.0, origin, &date).xml;
        assert_eq!(feed_text.matches("<entry>").count(), feed(&site, 1.0).len());
        assert!(feed_text.contains("<link href=\"http://127.0.1.1:8000/"));
    }

    #[test]
    fn a_large_host_has_an_index_that_says_which_of_its_files_changed() {
        let spec = WebSpec { pages: 2500, turnover: 0.0, static_share: 0.999, ..spec(1.0, 1.0) };
        let site = Site::new(&spec, 0);
        let date = |day: f64| format!("2026-11-{:02}T00:00:00Z", 10 + day.max(0.0) as u32);
        let file = |path: &str, day: f64| sitemap_file(&site, path, day, "http://a.example", &date);
        let index = file("/sitemap.xml", 5.0).expect("an index");
        let Ok(Sitemap::Index(files)) = read(index.xml.as_bytes(), 50_000, 1 << 20) else {
            panic!("{}", index.xml)
        };
        let names: Vec<&str> = files.iter().map(|file| file.url.as_str()).collect();
        assert_eq!(names, [1, 2, 3].map(|number| format!("http://a.example/sitemap-{number}.xml")));
        let mut pages = 0;
        for (number, entry) in (1..).zip(&files) {
            let (now, before) =
                (file(&format!("/sitemap-{number}.xml"), 5.0), file(&format!("/sitemap-{number}.xml"), 4.0));
            let (now, before) = (now.expect("a sitemap"), before.expect("a sitemap"));
            assert_eq!(
                now.xml == before.xml,
                now.changed == before.changed,
                "an unchanged file has its old date"
            );
            pages += now.xml.matches("<url>").count();
            let told = date(now.changed.expect("pages")).parse::<jiff::Timestamp>().expect("a date");
            assert_eq!(entry.lastmod, Some(told.as_second()));
        }
        assert_eq!(pages, 2500);
        assert!(
            ["/sitemap-0.xml", "/sitemap-4.xml", "/sitemap-x.xml", "/sitemap-.xml"]
                .iter()
                .all(|path| file(path, 5.0).is_none())
        );
    }

    #[test]
    fn a_late_list_is_the_list_of_an_earlier_moment() {
        let told = Announcing { delay: 1.5, ..Announcing::of(&"0.7,0.6".parse().expect("signals")) };
        let late = WebSpec { sitemap: told, feed: told, turnover: 0.0, ..spec(1.0, 1.0) };
        let told = Announcing { delay: 0.0, ..told };
        let at_once = WebSpec { sitemap: told, feed: told, ..late.clone() };
        let (late, at_once) = (Site::new(&late, 0), Site::new(&at_once, 0));
        assert_eq!(listed(&late, 5.0), listed(&at_once, 3.5));
        assert_eq!(feed(&late, 5.0), feed(&at_once, 3.5));
        assert!(!feed(&late, 5.0).is_empty());
    }
}
