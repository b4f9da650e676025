//! The own text of a page, and how it changes: static text, churn regions and scroll regions.
//!
//! The generative model of Olston & Pandey 2008, §3.3: a churn region is rewritten as a whole at the events of a Poisson
//! process; a scroll region shows the last K items of one, so that each event brings an item and drops the oldest. A
//! fragment of a churn region of rate r has a lifetime of 1 − e^(−rt), one of a scroll region is Erlang-K.

use serde::Serialize;

use super::draw::{SeededDraw, sub_seed};
use super::poisson::Process;
use super::rhythm::Rhythm;
use super::spec::WebSpec;
use super::words;

/// The parts of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mix {
    /// Words that never change.
    pub static_words: usize,
    /// The parts that change.
    pub regions: Vec<Region>,
}

/// A part of a page that changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Region {
    /// How it changes.
    pub kind: RegionKind,
    /// Words it shows at any moment.
    pub words: usize,
    /// Events a day.
    pub rate: f64,
}

/// How a region changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegionKind {
    /// Each event rewrites all of it.
    Churn,
    /// Each event puts an item on top, and drops the last.
    Scroll {
        /// Items that are shown.
        items: usize,
    },
}

/// How a page behaves, by the larger part of its changing words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelBehaviour {
    /// Nothing changes.
    Static,
    /// Most words that change are rewritten in place.
    Churn,
    /// Most words that change are pushed out by newer ones.
    Scroll,
}

/// Sizes at 17 evenly spaced ranks, in percent of the median: a log-normal with σ = 0.7, its tails cut.
const SIZE_PERCENT: [u64; 17] = [31, 36, 44, 53, 62, 71, 80, 90, 100, 112, 125, 141, 161, 188, 227, 300, 500];
/// Bytes of a page that are not its own prose, about.
const FRAME_BYTES: u64 = 1_100;
/// Bytes of a word of prose with its share of marks, about.
const BYTES_PER_WORD: u64 = 7;
/// The share of a changing page that changes.
const CHANGING_SHARES: [f64; 6] = [0.1, 0.2, 0.3, 0.5, 0.7, 0.9];
/// Events a day, evenly spread over orders of magnitude.
const RATES: [f64; 9] = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0];
/// Items that a scroll region shows.
const ITEMS: [usize; 7] = [3, 5, 8, 10, 15, 20, 30];
/// The share of changing pages that have regions of both kinds.
const MIXED_SHARE: f64 = 0.3;
/// An item shorter than this would be no text.
const FEWEST_ITEM_WORDS: usize = 6;

impl Mix {
    /// The mix that belongs to a page's seed.
    pub fn draw(spec: &WebSpec, seed: u64) -> Self {
        let mut draw = SeededDraw::new(sub_seed(seed, 2));
        let words = words_of(spec, &mut draw);
        if draw.chance(spec.static_share) {
            return Self { static_words: words, regions: Vec::new() };
        }
        let changing = (words as f64 * draw.pick(&CHANGING_SHARES)) as usize;
        // Either way the expected share of scrolling words is the one that is set.
        let scrolling = if draw.chance(MIXED_SHARE) {
            (changing as f64 * spec.scroll_share) as usize
        } else if draw.chance(spec.scroll_share) {
            changing
        } else {
            0
        };
        let mut regions = Vec::new();
        if changing > scrolling {
            let region =
                Region { kind: RegionKind::Churn, words: changing - scrolling, rate: draw.pick(&RATES) };
            regions.push(region);
        }
        if scrolling >= FEWEST_ITEM_WORDS {
            let items = draw.pick(&ITEMS).min(scrolling / FEWEST_ITEM_WORDS).max(1);
            let kind = RegionKind::Scroll { items };
            regions.push(Region { kind, words: scrolling / items * items, rate: draw.pick(&RATES) });
        }
        let moving: usize = regions.iter().map(|region| region.words).sum();
        Self { static_words: words - moving, regions }
    }

    /// The kind of region that has more of the words that change.
    pub fn behaviour(&self) -> ModelBehaviour {
        let words = |scroll: bool| {
            let wanted = self
                .regions
                .iter()
                .filter(|region| matches!(region.kind, RegionKind::Scroll { .. }) == scroll);
            wanted.map(|region| region.words).sum::<usize>()
        };
        match (words(false), words(true)) {
            (0, 0) => ModelBehaviour::Static,
            (churn, scroll) if churn >= scroll => ModelBehaviour::Churn,
            _ => ModelBehaviour::Scroll,
        }
    }
}

fn words_of(spec: &WebSpec, draw: &mut SeededDraw) -> usize {
    let rank = draw.below(16 * 1024);
    let (knot, part) = ((rank / 1024) as usize, rank % 1024);
    let at = |knot: usize| SIZE_PERCENT.get(knot).copied().unwrap_or(100);
    let percent_1024 = at(knot) * (1024 - part) + at(knot + 1) * part;
    let bytes = u64::from(spec.median_bytes) * percent_1024 / (100 * 1024);
    (bytes.saturating_sub(FRAME_BYTES) / BYTES_PER_WORD).max(20) as usize
}

/// A page's own content, at any moment.
#[derive(Clone, Debug, PartialEq)]
pub struct PageContent {
    /// Everything about the text is drawn from it.
    pub seed: u64,
    /// Its parts.
    pub mix: Mix,
    /// When in a day and a week its events fall.
    pub rhythm: Rhythm,
}

impl PageContent {
    /// Writes it as HTML: half of the static text, the regions, the other half.
    pub fn write(&self, out: &mut String, day: f64) {
        let mut prose = SeededDraw::new(sub_seed(self.seed, 3));
        let first = self.mix.static_words / 2;
        words::paragraphs(out, &mut prose, first);
        for (place, region) in self.mix.regions.iter().enumerate() {
            let process = self.process(place, region);
            match region.kind {
                RegionKind::Churn => {
                    out.push_str("<section class=\"churn\">\n");
                    if let Some(event) = process.latest(day) {
                        let mut prose = SeededDraw::new(sub_seed(process.seed ^ 1, event.id as u64));
                        words::paragraphs(out, &mut prose, region.words);
                    }
                    out.push_str("</section>\n");
                }
                RegionKind::Scroll { items } => {
                    out.push_str("<ul class=\"scroll\">\n");
                    for event in process.last(items, day) {
                        let mut prose = SeededDraw::new(sub_seed(process.seed ^ 1, event.id as u64));
                        out.push_str("<li>");
                        words::sentences(out, &mut prose, region.words / items.max(1));
                        out.push_str("</li>\n");
                    }
                    out.push_str("</ul>\n");
                }
            }
        }
        words::paragraphs(out, &mut prose, self.mix.static_words - first);
    }

    /// The last event of each region: two moments with the same ones have the same content.
    pub fn state(&self, day: f64) -> impl Iterator<Item = i64> {
        self.processes().map(move |process| process.latest(day).map_or(0, |event| event.id))
    }

    /// When it last changed.
    pub(crate) fn last_change(&self, day: f64) -> Option<f64> {
        let last = self.processes().filter_map(|process| process.latest(day));
        last.map(|event| event.at).max_by(f64::total_cmp)
    }

    /// When it changed, after `from` up to and including `to`, in no order.
    pub fn changes(&self, from: f64, to: f64) -> Vec<f64> {
        self.processes().flat_map(|process| process.between(from, to)).map(|event| event.at).collect()
    }

    fn processes(&self) -> impl Iterator<Item = Process> {
        self.mix.regions.iter().enumerate().map(|(place, region)| self.process(place, region))
    }

    fn process(&self, place: usize, region: &Region) -> Process {
        Process { seed: sub_seed(self.seed, 16 + place as u64), rate: region.rate, rhythm: self.rhythm }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_pages_and_words_are_those_of_the_spec() {
        let spec = WebSpec::default();
        let pages = 20_000;
        let (mut fixed, mut churn, mut scroll) = (0, 0, 0);
        for seed in 0..pages {
            let mix = Mix::draw(&spec, sub_seed(9, seed));
            fixed += u64::from(mix.behaviour() == ModelBehaviour::Static);
            for region in &mix.regions {
                *(if region.kind == RegionKind::Churn { &mut churn } else { &mut scroll }) += region.words;
            }
        }
        let share = fixed as f64 / pages as f64;
        assert!((share - 0.5).abs() < 3.0 * (0.25 / pages as f64).sqrt(), "{share}");
        // Pages differ in size, so the error of a share of words is several times that of a share of pages.
        let scrolling = scroll as f64 / (churn + scroll) as f64;
        assert!((scrolling - 0.33).abs() < 0.02, "{scrolling}");
    }

    #[test]
    fn a_region_always_shows_as_many_words_as_it_says() {
        let spec = WebSpec { static_share: 0.0, ..WebSpec::default() };
        for seed in 0..50 {
            let mix = Mix::draw(&spec, seed);
            let words = mix.static_words + mix.regions.iter().map(|region| region.words).sum::<usize>();
            let content = PageContent { seed, mix, rhythm: Rhythm::Weekly };
            for day in [0.0, 0.3, 77.7] {
                let mut html = String::new();
                content.write(&mut html, day);
                let text = crate::extract::html(html.as_bytes(), None, 0).text;
                assert_eq!(text.split_whitespace().count(), words);
            }
        }
    }

    #[test]
    fn it_changes_when_it_says_so_and_only_then() {
        let regions = vec![
            Region { kind: RegionKind::Churn, words: 20, rate: 0.7 },
            Region { kind: RegionKind::Scroll { items: 3 }, words: 30, rate: 1.1 },
        ];
        let content = PageContent { seed: 4, mix: Mix { static_words: 50, regions }, rhythm: Rhythm::Even };
        let at = |day: f64| {
            let mut html = String::new();
            content.write(&mut html, day);
            (html, content.state(day).collect::<Vec<_>>())
        };
        let mut changes = content.changes(0.0, 20.0);
        changes.sort_by(f64::total_cmp);
        assert!(changes.len() > 15);
        let mut before = at(0.0);
        for (place, change) in changes.iter().enumerate() {
            assert_eq!(at(change.next_down()), before);
            let now = at(*change);
            assert!(now.0 != before.0 && now.1 != before.1);
            assert_eq!(content.last_change(*change), Some(*change), "{place}");
            before = now;
        }
        assert_eq!(at(20.0), before);
    }
}
