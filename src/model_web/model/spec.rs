//! The spec of a web: its size, its shares, and its seed.

use serde::{Deserialize, Serialize};

use super::rhythm::Rhythm;
use crate::signal::spec::{Falsehood, SignalSpec};

/// All that a web follows from. Two webs of the same spec are the same at every moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSpec {
    /// Everything is drawn from it.
    pub seed: u64,
    /// Places for pages on each host; a page that dies makes room for another.
    pub pages: u32,
    /// The share of pages that never change.
    pub static_share: f64,
    /// The share of changing fragments that scroll; the others churn.
    pub scroll_share: f64,
    /// How often a page is replaced or moved, a day. Pages that lead to others stay.
    pub turnover: f64,
    /// The share of these that move (301); the others die and make room for a new page.
    pub move_share: f64,
    /// The share of dying pages that say so (410); the others are just not there (404).
    pub gone_share: f64,
    /// Bytes of a page in the middle of all; the smallest have a third of it, the largest five times as much.
    pub median_bytes: u32,
    /// A clock, an advert and a session token on each page.
    pub noise: bool,
    /// When in a day and a week changes fall.
    pub rhythm: Rhythm,
    /// How many pages have an `ETag`, and how many a wrong one.
    pub etag: Validity,
    /// How many pages have a `Last-Modified`, and how many a wrong one.
    pub last_modified: Validity,
    /// How precise and complete the sitemap is.
    pub sitemap: Announcing,
    /// How precise and complete the feed is.
    pub feed: Announcing,
}

/// How many pages have a right validator, how many a wrong one; the others have none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// The share of pages with a right one.
    pub right: f64,
    /// The share of pages with a wrong one.
    pub wrong: f64,
}

/// How well changes are announced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Announcing {
    /// The share of announcements that are true.
    pub precision: f64,
    /// The share of pages or changes that are announced.
    pub recall: f64,
    /// Days until a change is announced.
    #[serde(default)]
    pub delay: f64,
    /// What is left out, and what is made up.
    #[serde(default)]
    pub telling: Telling,
}

/// What is left out of a list of changes, and what is made up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Telling {
    /// Whole pages are left out of a sitemap, and false dates are of today.
    #[default]
    Pages,
    /// Changes are left out, and others are made up, each for itself.
    Poisson,
    /// Changes are left out, and all pages get the date of each build.
    Build,
    /// Every page has the date of the request, whatever its precision and recall.
    Always,
}

impl Announcing {
    /// Changes told one by one, as a flag describes them. Its delay is in days.
    pub fn of(spec: &SignalSpec) -> Self {
        let telling = match spec.falsehood {
            Falsehood::Poisson => Telling::Poisson,
            Falsehood::Build => Telling::Build,
            Falsehood::Always => Telling::Always,
        };
        let SignalSpec { precision, recall, delay, .. } = *spec;
        Self { precision, recall, delay, telling }
    }

    /// Announcements of whole pages, at once.
    pub fn of_pages(precision: f64, recall: f64) -> Self {
        Self { precision, recall, delay: 0.0, telling: Telling::Pages }
    }
}

impl Default for WebSpec {
    /// Half of the pages static; of the fragments that change, 67 % churn and 33 % scroll. All numbers are chosen to be
    /// plausible; none is measured here.
    fn default() -> Self {
        Self {
            seed: 1,
            pages: 200,
            static_share: 0.5,
            scroll_share: 0.33,
            turnover: 0.01,
            move_share: 0.25,
            gone_share: 0.3,
            median_bytes: 16_000,
            noise: true,
            rhythm: Rhythm::Even,
            etag: Validity { right: 0.6, wrong: 0.05 },
            last_modified: Validity { right: 0.6, wrong: 0.1 },
            sitemap: Announcing::of_pages(0.9, 0.95),
            feed: Announcing::of_pages(0.95, 0.8),
        }
    }
}

/// Something in a spec is out of bounds.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} is `{value}`; it must be {rule}")]
pub struct SpecError {
    /// The setting.
    pub what: &'static str,
    /// The value that it has.
    pub value: String,
    /// The values that it may have.
    pub rule: &'static str,
}

/// The truth of a whole site is one answer: with more pages it would not fit.
const MOST_PAGES: u32 = 1_000_000;
/// With fewer right announcements, a feed would be made of a hundred false ones for each right one.
const LEAST_PRECISION: f64 = 0.01;
/// In days. The oldest page is 400 days old on day 0.
const LONGEST_DELAY: f64 = 1000.0;
const SMALLEST_MEDIAN_BYTES: u32 = 1_500;
const LARGEST_MEDIAN_BYTES: u32 = 1_000_000;

impl WebSpec {
    /// Says what is wrong with it, if anything.
    pub fn check(&self) -> Result<(), SpecError> {
        let wrong = |what, value: String, rule| Err(SpecError { what, value, rule });
        let shares = [
            ("the share of static pages", self.static_share),
            ("the share of scrolling fragments", self.scroll_share),
            ("the share of moves", self.move_share),
            ("the share of pages that answer 410", self.gone_share),
            ("the share of right ETags", self.etag.right),
            ("the share of wrong ETags", self.etag.wrong),
            ("the share of right and wrong ETags together", self.etag.right + self.etag.wrong),
            ("the share of right Last-Modified dates", self.last_modified.right),
            ("the share of wrong Last-Modified dates", self.last_modified.wrong),
            (
                "the share of right and wrong Last-Modified dates together",
                self.last_modified.right + self.last_modified.wrong,
            ),
            ("the sitemap's recall", self.sitemap.recall),
            ("the feed's recall", self.feed.recall),
        ];
        for (what, share) in shares {
            if !(0.0..=1.0).contains(&share) {
                return wrong(what, share.to_string(), "from 0 to 1");
            }
        }
        let lists = [
            ("the sitemap's precision", "the sitemap's delay", self.sitemap),
            ("the feed's precision", "the feed's delay", self.feed),
        ];
        for (of_precision, of_delay, list) in lists {
            let (least, rule) = match list.telling {
                Telling::Pages => (0.1, "from 0.1 to 1"),
                _ => (LEAST_PRECISION, "from 0.01 to 1"),
            };
            if !(least..=1.0).contains(&list.precision) {
                return wrong(of_precision, list.precision.to_string(), rule);
            }
            if !(0.0..=LONGEST_DELAY).contains(&list.delay) {
                return wrong(of_delay, list.delay.to_string(), "from 0 to 1000 days");
            }
        }
        if !(1..=MOST_PAGES).contains(&self.pages) {
            return wrong("the number of pages", self.pages.to_string(), "from 1 to 1000000");
        }
        if !(0.0..=100.0).contains(&self.turnover) {
            return wrong("the turnover", self.turnover.to_string(), "from 0 to 100 a day");
        }
        if !(SMALLEST_MEDIAN_BYTES..=LARGEST_MEDIAN_BYTES).contains(&self.median_bytes) {
            return wrong("the median size", self.median_bytes.to_string(), "from 1500 to 1000000 bytes");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_bounds_is_named() {
        assert_eq!(WebSpec::default().check(), Ok(()));
        let two = WebSpec { etag: Validity { right: 0.7, wrong: 0.4 }, ..WebSpec::default() };
        let said = two.check().map_err(|error| error.to_string());
        assert_eq!(
            said,
            Err("the share of right and wrong ETags together is `1.1`; it must be from 0 to 1".to_owned())
        );
        assert!(WebSpec { static_share: f64::NAN, ..WebSpec::default() }.check().is_err());
        assert!(WebSpec { turnover: f64::INFINITY, ..WebSpec::default() }.check().is_err());
        assert!(WebSpec { pages: 0, ..WebSpec::default() }.check().is_err());
    }
}
