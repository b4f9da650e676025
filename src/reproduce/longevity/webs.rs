//! The made-up webs of the experiments: two by what the paper says of its data sets, seen in snapshots as its pages were, and a long one
//! that is seen all the time.

use std::sync::Arc;
use std::time::Duration;

use crate::dataset::{Dataset, Group, History, RecordedPage};
use crate::reproduce::Effort;
use crate::simulate::synthetic::Spec;

/// Pages were downloaded every second day (§3.1). So that is also the shortest time between two refreshes.
pub(super) const SNAPSHOT_DAYS: u32 = 2;
/// Moments of a day at which made-up pages may change.
const MOMENTS: u32 = 4;
/// Pages that are drawn together: whole histories take much more room than snapshots.
const DRAWN_TOGETHER: usize = 25;
/// Fewer pages would not have one of each kind.
const FEWEST_PAGES: usize = 12;
/// With fewer runs pages are watched for two months only, at one moment a day.
const FEW_RUNS: u32 = 100;

/// A data set of the paper, as far as it is described.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PaperWeb {
    /// Its name in the paper.
    pub name: &'static str,
    /// Snapshots of each page.
    pub snapshots: u32,
    /// What its pages are like.
    pub spec: Spec,
    /// Sizes of adverts, as shares of a page: each on as many pages.
    pub advert_parts: [f64; 4],
    /// Pages in a sentence.
    pub about: &'static str,
}

impl PaperWeb {
    /// "High-quality": 30 snapshots. Of its pages the paper says: roughly half are completely static (§3.4); almost 90 % of the content
    /// is static, and 3 % does not last two days (§5.3); of the fragments that come and go, 67 % churn and 33 % scroll (§3.3.2).
    pub(super) fn high_quality(effort: Effort) -> Self {
        let spec = Spec {
            adverts: 0.2,
            moving: 0.5,
            quiet: 0.45,
            static_share: 0.1,
            scroll: Some(0.8),
            median_rate: 0.2,
            spread: 1.2,
            ..pages(effort)
        };
        let advert_parts = [1.0 / 48.0, 1.0 / 24.0, 1.0 / 12.0, 1.0 / 3.0];
        let about = "45 % of the pages are quiet. Of the others the text of 10 % is static; elsewhere a sixteenth to a half of it \
                     scrolls (6 items, 80 % of these pages) or churns, at log-normal rates, 0.2 a day in the middle, σ = 1.2; 20 % have \
                     adverts, from a forty-eighth to a third of the page, replaced 3 times a day in the middle. So about half of the \
                     pages never change (§3.4), about 90 % of the content is static and 3 % does not last two days (§5.3), and about \
                     two thirds of the fragments that come and go churn (§3.3.2)";
        Self { name: "High-quality", snapshots: 30, spec, advert_parts, about }
    }

    /// "Random": 50 snapshots. Of its pages the paper says only that they have more dynamic content, so that the lowest staleness that
    /// can be reached is much higher (§5.3).
    pub(super) fn random(effort: Effort) -> Self {
        let web = Self::high_quality(effort);
        let spec = Spec { adverts: 0.5, quiet: 0.4, seed: effort.seed.wrapping_add(1), ..web.spec };
        let advert_parts = [1.0 / 12.0, 1.0 / 6.0, 1.0 / 3.0, 1.0 / 2.0];
        let about = "as High-quality, but 40 % of the pages are quiet, 50 % of the others have adverts, and adverts are from a \
                     twelfth to a half of the page: the paper says only that there is more dynamic content";
        Self { name: "Random", snapshots: 50, spec, advert_parts, about }
    }

    /// The snapshots of all pages.
    pub(super) fn dataset(&self) -> Dataset {
        let every = SNAPSHOT_DAYS * self.spec.moments;
        let together = self.spec.pages.clamp(1, DRAWN_TOGETHER);
        let mut pages = Vec::with_capacity(self.spec.pages);
        let mut start = None;
        for part in 0..self.spec.pages.div_ceil(together) {
            let cycles = self.snapshots * SNAPSHOT_DAYS;
            let seed = self.spec.seed.wrapping_mul(1_000_003).wrapping_add(part as u64);
            let drawn =
                Spec { pages: together.min(self.spec.pages - part * together), cycles, seed, ..self.spec };
            for group in drawn.dataset().groups {
                start = start.or(Some(group.start));
                pages.extend(group.pages.iter().map(|page| snapshots(page, every, self.snapshots)));
            }
        }
        let group = Group {
            name: self.name.to_owned(),
            start: start.unwrap_or_default(),
            step: Duration::from_secs(86_400) * SNAPSHOT_DAYS,
            cycles: self.snapshots,
            pages,
        };
        Dataset { name: self.name.to_owned(), groups: vec![group] }
    }
}

/// The number of pages that the paper has, for the default number of runs.
fn pages(effort: Effort) -> Spec {
    let pages = (10 * effort.runs as usize).max(FEWEST_PAGES);
    Spec { pages, moments: MOMENTS, fragments: 192, seed: effort.seed, ..Spec::default() }
}

/// A page at every `every`-th moment.
fn snapshots(page: &RecordedPage, every: u32, many: u32) -> RecordedPage {
    let History::Texts { from, texts } = &page.history else { return page.clone() };
    let mut seen: Vec<(u32, u32)> = Vec::new();
    let mut kept: Vec<Arc<[u64]>> = Vec::new();
    let mut last = None;
    for snapshot in 0..many {
        let at = from.partition_point(|(moment, _)| *moment <= snapshot * every).saturating_sub(1);
        let Some((_, text)) = from.get(at) else { continue };
        if last != Some(*text)
            && let Some(text) = texts.get(*text as usize)
        {
            seen.push((snapshot, kept.len() as u32));
            kept.push(text.clone());
        }
        last = Some(*text);
    }
    RecordedPage { history: History::Texts { from: seen, texts: kept }, ..page.clone() }
}

/// A longer web than the paper's, seen at every moment: two thirds of a year, four moments a day.
///
/// Two of five pages are quiet. Of the others, two of five have text that never changes, and six of ten have adverts, whatever
/// their text does: so 50 % never change. Adverts are a twelfth of a page, 3 % of all content, and are replaced about
/// three times a day. Of text that changes a twentieth to two fifths does, 7 % of all content: it churns or, on half of these
/// pages, scrolls, between once in two days and once in two months for most.
pub(super) fn long(effort: Effort) -> Spec {
    let (cycles, moments) = if effort.runs < FEW_RUNS { (60, 1) } else { (240, MOMENTS) };
    Spec {
        pages: effort.less(2).max(FEWEST_PAGES as u32) as usize,
        cycles,
        moments,
        scroll: Some(0.5),
        adverts: 0.6,
        advert_part: 1.0 / 12.0,
        moving: 0.4,
        quiet: 0.4,
        fragments: 192,
        static_share: 0.4,
        median_rate: 0.1,
        spread: 1.2,
        seed: effort.seed,
        ..Spec::default()
    }
}
