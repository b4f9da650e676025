//! Synthetic pages whose change rates are drawn: a recording of any size, always the same for the same spec.
//!
//! Changes come at random moments; with many moments a cycle the truth is nearly continuous. If the spec names a share of
//! scrolling pages, pages have fragments: a change of a churning page replaces a part of them, a change of a scrolling page
//! pushes its oldest item out (Olston & Pandey 2008, §3.3). Pages keep their rates, unless the spec lets them rest.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

use super::synthetic_sites;
use crate::dataset::{Dataset, Group, History, RecordedPage};
use crate::time::Timestamp;

/// What synthetic pages are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    /// Number of pages.
    pub pages: usize,
    /// Days, one cycle each. The first is that of the first copies, which nothing is compared with.
    pub cycles: u32,
    /// Number of sites that the pages are on; 0: pages have no address. Pages of a site are no more alike than others.
    pub sites: usize,
    /// Moments of a cycle at which pages may change.
    pub moments: u32,
    /// The share of the changing pages that scroll; the others churn. `None`: pages have no fragments, and change as a whole.
    pub scroll: Option<f64>,
    /// The share of the pages that are not quiet which have a small part that is replaced several times a day: adverts,
    /// clocks, counters. Only if pages have fragments.
    pub adverts: f64,
    /// The size of that part, as a share of the page.
    pub advert_part: f64,
    /// The largest share of a page's text that changes; on other pages it is a half, a quarter or an eighth of that.
    pub moving: f64,
    /// The share of pages that never change at all.
    pub quiet: f64,
    /// Fragments of a page.
    pub fragments: usize,
    /// The share of the other pages whose text never changes; their adverts do.
    pub static_share: f64,
    /// The median of the change rates of all other pages, in changes a day. Rates are log-normal.
    pub median_rate: f64,
    /// The standard deviation of the rates' logarithms.
    pub spread: f64,
    /// The share of their time in which pages rest; they change more often in between. 0: they never rest.
    pub rest: f64,
    /// The mean number of days between two rests.
    pub spell: f64,
    /// All draws follow from it.
    pub seed: u64,
}

impl Default for Spec {
    fn default() -> Self {
        let (cycles, moments, scroll) = (60, 1, None);
        Self {
            pages: 1000,
            cycles,
            sites: 0,
            moments,
            scroll,
            adverts: 0.0,
            advert_part: ADVERT_PART,
            moving: 1.0,
            quiet: 0.0,
            fragments: FRAGMENTS,
            static_share: 0.5,
            median_rate: 0.1,
            spread: 1.5,
            rest: 0.0,
            spell: 30.0,
            seed: 1,
        }
    }
}

/// The most pages that fit into memory.
const MOST_PAGES: usize = 50_000_000;
const MOST_CYCLES: u32 = 100_000;
/// The most pages times moments. Each takes a bit.
const MOST_BITS: f64 = 1e11;

impl FromStr for Spec {
    type Err = String;

    /// Reads `pages=1000,static=0.3`. Keys that are left out have their defaults.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut spec = Self::default();
        for field in text.split(',').map(str::trim).filter(|field| !field.is_empty()) {
            let (name, value) =
                field.split_once('=').ok_or_else(|| format!("`{field}` is no `name=value`"))?;
            let wrong = |rule: &str| format!("{name} is `{value}`; it must be {rule}");
            let number = |from: f64, to: f64, rule: &str| {
                let parsed = value.parse::<f64>().ok().filter(|number| (from..=to).contains(number));
                parsed.ok_or_else(|| wrong(rule))
            };
            match name {
                "pages" => {
                    spec.pages = number(1.0, MOST_PAGES as f64, "a number from 1 to 50000000")? as usize
                }
                "cycles" => {
                    spec.cycles = number(4.0, f64::from(MOST_CYCLES), "a number from 4 to 100000")? as u32;
                }
                "sites" => {
                    spec.sites = number(0.0, MOST_PAGES as f64, "a number from 0 to 50000000")? as usize
                }
                "moments" => spec.moments = number(1.0, 1000.0, "a number from 1 to 1000")? as u32,
                "scroll" => spec.scroll = Some(number(0.0, 1.0, "a share from 0 to 1")?),
                "adverts" => spec.adverts = number(0.0, 1.0, "a share from 0 to 1")?,
                "advert-part" => spec.advert_part = number(0.0, 0.5, "a share from 0 to 0.5")?,
                "moving" => spec.moving = number(0.0, 1.0, "a share from 0 to 1")?,
                "quiet" => spec.quiet = number(0.0, 1.0, "a share from 0 to 1")?,
                "fragments" => {
                    spec.fragments = number(48.0, 100_000.0, "a number from 48 to 100000")? as usize;
                }
                "static" => spec.static_share = number(0.0, 1.0, "a share from 0 to 1")?,
                "median" => spec.median_rate = number(1e-9, 1e6, "a number of changes a day above 0")?,
                "spread" => spec.spread = number(0.0, 20.0, "a number from 0 to 20")?,
                "rest" => spec.rest = number(0.0, 0.99, "a share from 0 to 0.99")?,
                "spell" => spec.spell = number(1e-3, 1e6, "a number of days above 0")?,
                "seed" => spec.seed = value.parse().map_err(|_| wrong("a whole number"))?,
                _ => {
                    return Err(format!(
                        "there is no `{name}`; there is `pages`, `cycles`, `sites`, `moments`, `static`, `scroll`, `adverts`, `advert-part`, \
                         `moving`, `quiet`, `fragments`, `median`, `spread`, `rest`, `spell`, `seed`"
                    ));
                }
            }
        }
        let bits = spec.pages as f64 * f64::from(spec.cycles) * f64::from(spec.moments);
        if bits > MOST_BITS {
            return Err(format!(
                "{} pages of {} cycles and {} moments each don't fit into memory; take fewer",
                spec.pages, spec.cycles, spec.moments
            ));
        }
        Ok(spec)
    }
}

impl Spec {
    /// The pages, as a dataset of one group.
    pub fn dataset(&self) -> Dataset {
        let mut random = Pcg64::seed_from_u64(self.seed);
        let mut pages: Vec<RecordedPage> = (0..self.pages).map(|_| self.page(&mut random)).collect();
        self.give_addresses(&mut pages);
        let group = Group {
            name: "synthetic".to_owned(),
            start: Timestamp::from_seconds(1_351_728_000),
            step: Duration::from_secs(86_400) / self.moments,
            cycles: self.cycles.saturating_mul(self.moments),
            pages,
        };
        Dataset { name: "synthetic".to_owned(), groups: vec![group] }
    }

    /// Puts the pages on their sites, the largest site first.
    fn give_addresses(&self, pages: &mut [RecordedPage]) {
        let mut rest = pages.iter_mut();
        for (size, site) in synthetic_sites::sizes(self.pages, self.sites).into_iter().zip(1_u32..) {
            let host = format!("site-{site}.example");
            for (page, number) in rest.by_ref().take(size).zip(1_u32..) {
                page.url = format!("https://{host}/page-{number}");
                page.site.clone_from(&host);
            }
        }
    }

    fn page(&self, random: &mut Pcg64) -> RecordedPage {
        let moments = self.moments_in_all();
        let mut changes = Vec::new();
        // Nothing is drawn if no page is quiet, so that older specs give the same pages as before.
        let is_quiet = self.quiet > 0.0 && random.random::<f64>() < self.quiet;
        if !is_quiet && random.random::<f64>() >= self.static_share {
            let rate = self.median_rate * (self.spread * normal(random)).exp();
            changes = if self.rest > 0.0 { self.spells(rate, random) } else { self.changes(rate, random) };
        }
        let history = match self.scroll {
            None => bits(&changes, moments),
            Some(share) => self.texts(changes, random.random::<f64>() < share, is_quiet, random),
        };
        RecordedPage::unnamed(history)
    }

    /// The last moment.
    fn moments_in_all(&self) -> u32 {
        self.cycles.saturating_mul(self.moments).saturating_sub(1)
    }

    /// The moments of changes at this rate.
    fn changes(&self, rate: f64, random: &mut Pcg64) -> Vec<u32> {
        let chance = -(-rate / f64::from(self.moments)).exp_m1();
        (1..=self.moments_in_all()).filter(|_| random.random::<f64>() < chance).collect()
    }

    /// The same for a page that rests at times: it has as many changes, in spells. Spells and rests last exponential times.
    fn spells(&self, rate: f64, random: &mut Pcg64) -> Vec<u32> {
        let awake = 1.0 - self.rest;
        let chance = |a_day: f64| -(-a_day / f64::from(self.moments)).exp_m1();
        let (change, tire) = (chance(rate / awake), chance(1.0 / self.spell));
        // In the long run it rests for its share of the moments, even if spells are short.
        let wake = (tire * awake / self.rest).min(1.0);
        let mut rests = random.random::<f64>() < self.rest;
        let mut changes = Vec::new();
        for moment in 1..=self.moments_in_all() {
            if random.random::<f64>() < if rests { wake } else { tire } {
                rests = !rests;
            }
            if !rests && random.random::<f64>() < change {
                changes.push(moment);
            }
        }
        changes
    }

    /// The page's text after each change. A churning part is replaced; a scrolling one loses its oldest item and gets a new one.
    fn texts(&self, changes: Vec<u32>, scrolls: bool, is_quiet: bool, random: &mut Pcg64) -> History {
        let share =
            self.moving * CHANGING.get(random.random_range(0..CHANGING.len())).copied().unwrap_or(1.0);
        let mut held: Vec<u64> = (0..self.fragments).map(|_| random.random()).collect();
        let has_adverts = self.adverts > 0.0 && !is_quiet && random.random::<f64>() < self.adverts;
        let adverts = if has_adverts { (self.fragments as f64 * self.advert_part) as usize } else { 0 };
        let text = self.fragments - adverts;
        let changing = (text as f64 * share) as usize;
        let at_once = if scrolls { changing / ITEMS } else { changing };
        let mut parts = vec![SyntheticPart { from: 0, to: changing, at_once, changes }];
        if has_adverts {
            let rate = ADVERT_RATE * (ADVERT_SPREAD * normal(random)).exp();
            let changes = self.changes(rate, random);
            parts.push(SyntheticPart { from: text, to: self.fragments, at_once: adverts, changes });
        }
        let sorted = |held: &[u64]| {
            let mut hashes = held.to_vec();
            hashes.sort_unstable();
            Arc::from(hashes)
        };
        let mut moments: Vec<u32> = parts.iter().flat_map(|part| part.changes.iter().copied()).collect();
        moments.sort_unstable();
        moments.dedup();
        let (mut from, mut texts) = (vec![(0, 0)], vec![sorted(&held)]);
        for moment in moments {
            for part in parts.iter().filter(|part| part.changes.binary_search(&moment).is_ok()) {
                // The oldest item is the last one.
                held.drain(part.to - part.at_once..part.to);
                held.splice(part.from..part.from, (0..part.at_once).map(|_| random.random()));
            }
            from.push((moment, texts.len() as u32));
            texts.push(sorted(&held));
        }
        History::Texts { from, texts }
    }
}

/// A part of a page that changes by itself.
struct SyntheticPart {
    from: usize,
    to: usize,
    /// Fragments that a change replaces.
    at_once: usize,
    /// Moments, in order.
    changes: Vec<u32>,
}

/// A draw from the normal distribution (Box & Muller 1958).
fn normal(random: &mut Pcg64) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

fn bits(changes: &[u32], moments: u32) -> History {
    let mut words = vec![0_u64; (moments as usize).div_ceil(64)];
    for place in changes.iter().map(|moment| moment - 1) {
        if let Some(word) = words.get_mut(place as usize / 64) {
            *word |= 1 << (place % 64);
        }
    }
    History::Bits(words)
}

/// Fragments of a page by default.
const FRAGMENTS: usize = 48;
/// The part of a page that changes, as shares of the largest.
const CHANGING: [f64; 4] = [0.125, 0.25, 0.5, 1.0];
/// Items of a page that scrolls.
const ITEMS: usize = 6;
/// Adverts are the last sixteenth of a page by default. They are replaced at log-normal rates with this median, in changes a
/// day, and this spread.
const ADVERT_PART: f64 = 1.0 / 16.0;
const ADVERT_RATE: f64 = 3.0;
const ADVERT_SPREAD: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_and_its_mistakes_are_named() {
        let spec: Spec = "pages=7, static=0.25,seed=9".parse().expect("a spec");
        assert_eq!(spec, Spec { pages: 7, static_share: 0.25, seed: 9, ..Spec::default() });
        for (text, said) in [
            ("pages", "`pages` is no `name=value`"),
            ("pages=0", "pages is `0`; it must be a number from 1"),
            ("static=2", "static is `2`"),
            ("colour=red", "there is no `colour`"),
            ("seed=x", "seed is `x`"),
        ] {
            let error = text.parse::<Spec>().expect_err("a mistake");
            assert!(error.contains(said), "{error}");
        }
        let continuous: Spec =
            "pages=50,cycles=9,moments=24,scroll=0.5,static=0,median=2".parse().expect("a spec");
        let group = continuous.dataset().groups.remove(0);
        assert_eq!((group.cycles, group.step), (9 * 24, Duration::from_secs(3600)));
        for page in &group.pages {
            let History::Texts { from, texts } = &page.history else { panic!("no fragments") };
            assert_eq!(from.len(), texts.len());
            assert!(texts.iter().all(|text| text.len() == FRAGMENTS && text.is_sorted()));
        }
        let changes = |page: &RecordedPage| match &page.history {
            History::Bits(bits) => bits.iter().map(|word| word.count_ones()).sum::<u32>(),
            History::Texts { .. } => 0,
        };
        let quiet =
            Spec { quiet: 1.0, adverts: 1.0, scroll: Some(0.5), static_share: 0.0, ..Spec::default() };
        let still =
            |page: &RecordedPage| matches!(&page.history, History::Texts { texts, .. } if texts.len() == 1);
        assert!(
            quiet.dataset().groups[0].pages.iter().all(still),
            "no text of theirs changes, and no advert"
        );
        let all = Spec { pages: 400, ..Spec::default() }.dataset();
        assert_eq!(all, Spec { pages: 400, ..Spec::default() }.dataset(), "the same for the same spec");
        let quiet = all.groups[0].pages.iter().filter(|page| changes(page) == 0).count();
        assert!((180..260).contains(&quiet), "{quiet}");
    }

    #[test]
    fn pages_are_on_sites_and_change_as_without() {
        let spec: Spec = "pages=500,cycles=20,sites=20".parse().expect("a spec");
        assert_eq!(spec.sites, 20);
        let (with, without) = (spec.dataset(), Spec { sites: 0, ..spec }.dataset());
        let mut sites = std::collections::BTreeMap::new();
        for (with, without) in with.groups[0].pages.iter().zip(&without.groups[0].pages) {
            assert_eq!(with.history, without.history);
            assert!(without.url.is_empty() && without.site.is_empty());
            assert!(with.url.starts_with(&format!("https://{}/", with.site)), "{}", with.url);
            *sites.entry(&with.site).or_insert(0) += 1;
        }
        assert_eq!((sites.len(), sites.values().sum::<i32>()), (20, 500));
        let urls: std::collections::HashSet<&String> =
            with.groups[0].pages.iter().map(|page| &page.url).collect();
        assert_eq!(urls.len(), 500, "no address twice");
    }

    #[test]
    fn pages_that_rest_change_in_spells() {
        let steady =
            Spec { static_share: 0.0, median_rate: 0.2, spread: 0.0, cycles: 400, ..Spec::default() };
        let restless = Spec { rest: 0.75, spell: 10.0, ..steady };
        // Changes on two days in a row, against what chance would give; changes in all.
        let in_a_row = |spec: Spec| {
            let (mut pairs, mut all) = (0.0, 0.0);
            for page in &spec.dataset().groups[0].pages {
                let History::Bits(bits) = &page.history else { panic!("fragments") };
                let changed: Vec<bool> = (0..399).map(|day| bits[day / 64] >> (day % 64) & 1 == 1).collect();
                pairs += changed.windows(2).filter(|days| days[0] && days[1]).count() as f64;
                all += changed.iter().filter(|changed| **changed).count() as f64;
            }
            let days = 399.0 * spec.pages as f64;
            (pairs / all / (all / days), all / days)
        };
        let ((alone, rate), (in_spells, rate_in_spells)) = (in_a_row(steady), in_a_row(restless));
        assert!((0.95..1.05).contains(&alone), "{alone}");
        assert!((3.4..3.8).contains(&in_spells), "{in_spells}");
        // Two changes of a day are one, the more so the closer they lie: 0.25 · (1 − e^−0.8) is less than 1 − e^−0.2.
        assert!(
            (rate - 0.181).abs() < 0.005 && (rate_in_spells - 0.138).abs() < 0.01,
            "{rate} {rate_in_spells}"
        );
    }
}
