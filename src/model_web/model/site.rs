//! One host of the web: its pages as HTML, when they change, and what answers a path.

use std::fmt::Write as _;
use std::ops::Range;

use memchr::memmem;
use xxhash_rust::xxh3::Xxh3;

use super::content::{Mix, PageContent};
use super::draw::{SeededDraw, sub_seed, unit};
use super::spec::{Telling, WebSpec};
use super::turnover::{Fate, HostPlaces, Tenant};
use super::words;

/// Links that a page has to others that have nothing to do with it.
const RELATED: u64 = 4;
/// Links of the navigation.
const NAVIGATION: usize = 8;
/// The oldest page is so old on day 0, in days.
const OLDEST: f64 = 400.0;
/// How often a day the clock of a page ticks: every minute.
const MINUTES_PER_DAY: f64 = 1440.0;
/// An advert stays for half an hour.
const MINUTES_PER_ADVERT: u64 = 30;

/// One host, at any moment.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    /// The spec of the web.
    pub spec: &'a WebSpec,
    /// The number of the host, from 0.
    pub host: u32,
    places: HostPlaces<'a>,
}

impl<'a> Site<'a> {
    /// Hosts are counted from 0; what one has does not depend on how many there are.
    pub fn new(spec: &'a WebSpec, host: u32) -> Self {
        Self { spec, host, places: HostPlaces::new(spec, host) }
    }

    /// The fate of a path.
    pub fn fate(&self, path: &str, day: f64) -> Fate {
        self.places.fate(path, day)
    }

    /// The path that the page has now.
    pub fn path(&self, page: &Tenant) -> String {
        self.places.path(page)
    }

    /// All pages that live at a moment: one in each place.
    pub fn living(&self, day: f64) -> impl Iterator<Item = Tenant> {
        (0..self.spec.pages).map(move |place| self.places.tenant(place, day))
    }

    /// The pages that live in these places at a moment.
    pub(crate) fn living_in(&self, places: Range<u32>, day: f64) -> impl Iterator<Item = Tenant> {
        places.map(move |place| self.places.tenant(place, day))
    }

    /// The last time that a page of these places moved or was replaced.
    pub(crate) fn last_turn(&self, places: Range<u32>, day: f64) -> Option<f64> {
        let turns = places.filter_map(|place| self.places.last_turn(place, day));
        turns.map(|turn| turn.at).max_by(f64::total_cmp)
    }

    /// The seed of the times at which the host gives all its pages a new date.
    pub(super) fn builds_seed(&self) -> u64 {
        self.places.builds_seed()
    }

    /// The page that lives in a place at a moment.
    pub(crate) fn tenant(&self, place: u32, day: f64) -> Tenant {
        self.places.tenant(place, day)
    }

    /// When a page moved, after `from` up to and including `to`, in order.
    pub fn moves(&self, page: &Tenant, from: f64, to: f64) -> Vec<f64> {
        self.places.moves(page, from, to)
    }

    /// When a page came to its present path; `None` if it was there before day 0.
    pub fn arrived(&self, page: &Tenant) -> Option<f64> {
        self.places.arrived(page)
    }

    /// How often a page changes, a day, on average.
    pub fn rate(&self, page: &Tenant) -> f64 {
        let own: f64 = self.content(page).mix.regions.iter().map(|region| region.rate).sum();
        own + self.places.below(page.place).len() as f64 * self.spec.turnover
    }

    /// The page's own text.
    pub fn content(&self, page: &Tenant) -> PageContent {
        let mix = Mix::draw(self.spec, page.seed);
        PageContent { seed: page.seed, mix, rhythm: self.spec.rhythm }
    }

    /// When a page came to be; before day 0 for one that was always there.
    pub fn born(&self, page: &Tenant) -> f64 {
        page.born.unwrap_or_else(|| -unit(sub_seed(page.seed, 4)) * OLDEST)
    }

    /// When a page last changed: its content, the list of pages that it leads to, or by coming to be.
    pub(crate) fn last_change(&self, page: &Tenant, day: f64) -> f64 {
        let below = self.places.below(page.place).filter_map(|place| self.places.last_turn(place, day));
        let listed = below.map(|turn| turn.at).max_by(f64::total_cmp);
        let changed = [self.content(page).last_change(day), listed];
        changed.into_iter().flatten().fold(self.born(page), f64::max)
    }

    /// When a page changed, after `from` and after it came to be, up to and including `to`, in order.
    pub fn changes(&self, page: &Tenant, from: f64, to: f64) -> Vec<f64> {
        let from = from.max(self.born(page));
        let mut changes = self.content(page).changes(from, to);
        for place in self.places.below(page.place) {
            changes.extend(self.places.turns(place, from, to).iter().map(|turn| turn.at));
        }
        changes.sort_unstable_by(f64::total_cmp);
        changes
    }

    /// A number that two moments of a page share if nothing but noise differs.
    pub fn version(&self, page: &Tenant, day: f64) -> u64 {
        let mut hash = Xxh3::with_seed(page.seed);
        for event in self.content(page).state(day) {
            hash.update(&event.to_le_bytes());
        }
        for place in self.places.below(page.place) {
            let turn = self.places.last_turn(place, day).map_or(0, |turn| turn.id);
            hash.update(&turn.to_le_bytes());
        }
        hash.digest()
    }

    /// The page as it is served.
    pub fn html(&self, page: &Tenant, day: f64) -> String {
        self.render(page, day, self.spec.noise)
    }

    /// The page without what a reader ignores: what the truth is about.
    pub(crate) fn quiet_html(&self, page: &Tenant, day: f64) -> String {
        self.render(page, day, false)
    }

    /// The page's title, which never changes.
    pub fn title(&self, page: &Tenant) -> String {
        let mut title = String::new();
        words::heading(&mut title, &mut SeededDraw::new(sub_seed(page.seed, 5)), 5);
        title
    }

    fn render(&self, page: &Tenant, day: f64, noise: bool) -> String {
        let content = self.content(page);
        let words = content.mix.static_words + content.mix.regions.iter().map(|r| r.words).sum::<usize>();
        let mut out = String::with_capacity(words * 8 + 8192);
        let title = self.title(page);
        out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
        out.push_str(&title);
        out.push_str("</title>\n");
        // Hosts that tell changes one by one name their feed. On other webs pages stay as they were.
        if page.place == 0 && self.spec.feed.telling != Telling::Pages {
            out.push_str("<link rel=\"alternate\" type=\"application/atom+xml\" href=\"/feed.atom\">\n");
        }
        out.push_str("</head>\n<body>\n<header>\n<nav>\n<a href=\"/\">Home</a>\n");
        // Only pages that stay are in the navigation: it is the same on every page, for ever.
        let stays = |place: &u32| !self.places.below(*place).is_empty();
        for place in self.places.below(0).filter(stays).take(NAVIGATION) {
            self.link(&mut out, &self.places.tenant(place, 0.0));
        }
        out.push_str("</nav>\n</header>\n");
        if noise {
            noise_of(&mut out, page, day);
        }
        out.push_str("<main>\n<h1>");
        out.push_str(&title);
        out.push_str("</h1>\n");
        content.write(&mut out, day);
        self.write_lists(&mut out, page, day);
        out.push_str(
            "</main>\n<footer><p>A page of a web that changes, made of common words.</p></footer>\n",
        );
        out.push_str("</body>\n</html>\n");
        out
    }

    fn write_lists(&self, out: &mut String, page: &Tenant, day: f64) {
        let below = self.places.below(page.place);
        if !below.is_empty() {
            out.push_str("<h2>In this section</h2>\n<ul class=\"index\">\n");
            for place in below {
                out.push_str("<li>");
                self.link(out, &self.places.tenant(place, day));
                out.push_str("</li>\n");
            }
            out.push_str("</ul>\n");
        }
        out.push_str("<h2>See also</h2>\n<ul>\n");
        // As things were when the page was written: such links go stale, as they do everywhere.
        let written = page.born.unwrap_or(0.0);
        let mut draw = SeededDraw::new(sub_seed(page.seed, 6));
        for _ in 0..RELATED {
            let place = draw.below(u64::from(self.spec.pages)) as u32;
            if place != page.place {
                out.push_str("<li>");
                self.link(out, &self.places.tenant(place, written));
                out.push_str("</li>\n");
            }
        }
        out.push_str("</ul>\n");
    }

    fn link(&self, out: &mut String, to: &Tenant) {
        out.push_str("<a href=\"");
        out.push_str(&self.places.path(to));
        out.push_str("\">");
        words::heading(out, &mut SeededDraw::new(sub_seed(to.seed, 5)), 5);
        out.push_str("</a>\n");
    }
}

/// A clock, an advert and a session token, each in an element of the class `noise`.
fn noise_of(out: &mut String, page: &Tenant, day: f64) {
    let minute = (day * MINUTES_PER_DAY).floor() as i64;
    let seed = sub_seed(page.seed, 7);
    let token = sub_seed(seed, minute as u64);
    let (hours, minutes) = (minute.div_euclid(60).rem_euclid(24), minute.rem_euclid(60));
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "<p class=\"noise clock\">Now it is {hours:02}:{minutes:02}</p>\n\
         <form class=\"noise session\"><input type=\"hidden\" name=\"session\" value=\"{token:016x}\"></form>\n\
         <aside class=\"noise advert\"><p>"
    );
    let advert = sub_seed(seed, minute as u64 / MINUTES_PER_ADVERT);
    words::heading(out, &mut SeededDraw::new(advert), 12);
    out.push_str("</p></aside>\n");
}

/// A page as it was served, without its noise; `None` if it has none.
pub(crate) fn without_noise(html: &[u8]) -> Option<Vec<u8>> {
    const LAST: &[u8] = b"</aside>\n";
    let start = memmem::find(html, b"<p class=\"noise clock\">")?;
    let (before, noise) = html.split_at_checked(start)?;
    let after = noise.get(memmem::find(noise, LAST)? + LAST.len()..)?;
    Some([before, after].concat())
}
