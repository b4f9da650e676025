//! What refreshes gain in the search results of a replay: ΔQ_A, measured as the search index of a live crawl measures it.
//!
//! Copies come in as visits take them, in their order, so that a gain is measured among the copies of that moment. The score–rank
//! functions are made again when they are worn ([`GainMeasure::is_worn`]).

use std::convert::Infallible;

use super::searched::SearchedPages;
use crate::quality::measure::GainMeasure;

/// Measures the refreshes of a replay.
#[derive(Debug)]
pub(super) struct ReplayedGains {
    pages: SearchedPages,
    measure: GainMeasure,
    /// The text of each page's copy; `None`: there is none.
    copies: Vec<Option<u32>>,
}

impl ReplayedGains {
    /// Of no copies yet.
    pub(super) fn new(pages: &SearchedPages, count: usize) -> Self {
        Self { pages: pages.clone(), measure: pages.gain_measure(), copies: vec![None; count] }
    }

    /// The first copy of a page has this text. What it gains is not measured: in a replay first copies are free.
    pub(super) fn first_copy(&mut self, page: u32, text: u32) {
        self.take(page, text);
    }

    /// ΔQ_A of a refresh whose copy has this text.
    pub(super) fn refresh(&mut self, page: u32, text: u32) -> f64 {
        if self.measure.is_worn() {
            self.renew();
        }
        let before = self.copies.get(page as usize).copied().flatten();
        let before = before.and_then(|text| self.pages.words(page, text));
        let delta = self.measure.delta(before, self.pages.words(page, text), self.pages.inlinks(page));
        self.take(page, text);
        delta
    }

    fn take(&mut self, page: u32, text: u32) {
        let Some(copy) = self.copies.get_mut(page as usize) else { return };
        let before = copy.replace(text).and_then(|text| self.pages.words(page, text));
        before.into_iter().for_each(|words| self.measure.remove(words));
        self.pages.words(page, text).into_iter().for_each(|words| self.measure.add(words));
    }

    fn renew(&mut self) {
        let Self { pages, measure, copies } = self;
        let Ok(()) = measure.renew(|each| {
            for (page, text) in (0..).zip(copies.iter()) {
                if let Some(words) = text.and_then(|text| pages.words(page, text)) {
                    each(words, pages.inlinks(page));
                }
            }
            Ok::<(), Infallible>(())
        });
    }
}
