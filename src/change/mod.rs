//! Text → how far it moved from what we held (Olston & Pandey 2008).
//!
//! Comes in: the text of a page as a reader sees it, and what was kept of its earlier versions. Goes out: fragments,
//! the sketch that stands for them, divergences in [0, 1], and the change profiles they add up to. Nothing here does
//! I/O or looks at a clock. What must stay true: the same text always gives the same fragments, on every machine and in
//! every version of the program that says the same [`fragment::SCHEME`].

mod alignment;
pub mod behaviour;
pub mod changed_when;
pub mod comparison;
pub mod divergence;
pub mod fragment;
mod hash_sort;
pub(crate) mod lasting_change;
pub(crate) mod lifetime;
pub mod profile;
pub mod segment;
pub mod sketch;
pub mod snapshots;
mod surplus;

use std::cell::RefCell;

use sketch::{HashBytes, Sketch, Sketcher};

/// The name of a content that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionId(pub i64);

/// How changes are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeSettings {
    /// Words of a fragment (k of the paper, which leaves it open).
    pub fragment_words: usize,
    /// Hashes that a sketch keeps (m of the paper); `None` keeps them all.
    pub sketch: Option<usize>,
    /// How many bytes of each hash are kept.
    pub hash_bytes: HashBytes,
    /// Change profiles kept of a page (h of the paper).
    pub profiles: usize,
}

thread_local! {
    /// Making a sketch needs the same memory again and again: one a thread, not one a page.
    static SKETCHER: RefCell<Option<(ChangeSettings, Sketcher)>> = const { RefCell::new(None) };
}

/// The sketch of a text's fragments, which stands for the text.
pub fn sketch(text: &str, settings: ChangeSettings) -> Sketch {
    SKETCHER.with_borrow_mut(|held| {
        let fitting = held.take().filter(|(made_for, _)| *made_for == settings);
        let made =
            fitting.unwrap_or_else(|| (settings, Sketcher::new(settings.fragment_words, settings.sketch)));
        held.insert(made).1.sketch(text).with_hashes_of(settings.hash_bytes)
    })
}

impl Default for ChangeSettings {
    fn default() -> Self {
        // Four sketches of 250 fit a page of SQLite. Hashes of four bytes measured the same as those of eight (`docs/results.md`).
        Self {
            fragment_words: 4,
            sketch: Some(250),
            hash_bytes: HashBytes::for_sketch(Some(250)),
            profiles: 5,
        }
    }
}
