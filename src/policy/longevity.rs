//! Content that lasts: the visit that brings most of what will still be there. The default.
//!
//! Utility U(t) = t·D(t) − ∫₀ᵗ D (Olston & Pandey 2008, §2.2, eq. 4) of a page whose fragments are replaced at a rate of its
//! own: D(t) = 1 − e^(−st). The rate is learnt from divergences, not from change bits, so a page whose clock changes with
//! every visit is not taken for one whose text does; and the curve goes up to 1, so a page that showed only small changes is
//! never believed to be bounded and left alone (`longevity-curve` fits that height, as the paper does).
//!
//! What pages lose by that curve is held against what they gain by being found: so it is scaled, for all pages alike, by
//! how far they really are from versions a few visits old.
//!
//! A page's rate is drawn to that of its kin, and siblings that moved since its last visit make its time pass faster:
//! [`kinship`](super::kinship). All that is kept of a page follows from its own visits; the rest is looked over anew before
//! each cycle.

use super::content::{Content, Replaced};
use super::kinship::{Gathering, Kinship};
use super::newcomers::{self, Newcomers};
use super::utility::refresh_utility;
use super::{Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey};
use crate::estimate::Seen;
use crate::page::{Depth, HostId};
use crate::time::Timestamp;

/// What a page that is not known yet counts for, in pages: itself, and what only it leads to. On a web whose truth is known
/// all pages together were staler with 1, which left more of them unfound, and alike with 2 and 4.
const LINK_WORTH: f64 = 4.0;

#[derive(Debug, Default)]
pub struct Longevity {
    newcomers: Newcomers,
    kinship: Kinship,
}

impl Longevity {
    /// Pages replaced a day.
    fn rate(&self, page: &PageState) -> f64 {
        self.kinship.rate(page.kin, &remembered(&page.learnt))
    }

    /// By how much faster its time passes than the clock goes.
    fn haste(&self, page: &PageState) -> f64 {
        page.seen_at.map_or(1.0, |since| self.kinship.haste(page.kin, since))
    }

    /// What a visit gains, in divergence × days.
    fn gain(&self, page: &PageState, now: Timestamp) -> f64 {
        let days = page.copy_age(now).days() * self.haste(page);
        self.kinship.height() * refresh_utility(self.rate(page), days)
            + LINK_WORTH * newcomers::new_links(page, self.kinship.days_of_a_visit(), now)
    }
}

fn remembered(learnt: &Learnt) -> Replaced {
    match &learnt.content {
        Content::Replaced(replaced) => *replaced,
        _ => Replaced::default(),
    }
}

impl Policy for Longevity {
    fn name(&self) -> &str {
        "longevity"
    }

    fn memory_kind(&self) -> String {
        "longevity".to_owned()
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, kin: true, age: false }
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let days = learnt.state.count(lesson.interval, seen);
        let mut replaced = remembered(learnt);
        replaced.add(lesson.moved(), days);
        replaced.compare_with_oldest(&lesson.bases);
        learnt.content = Content::Replaced(replaced);
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.newcomers.look(survey);
        let mut gathering = Gathering::default();
        (survey.pages)(&mut |page, count| {
            if let (Content::Replaced(replaced), Some(seen_at)) = (&page.learnt.content, page.seen_at) {
                gathering.add(page.kin, replaced, page.learnt.state.visits, seen_at, count);
            }
        });
        self.kinship = gathering.finish(survey.cycle_length);
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        match self.newcomers.worth_again(page) {
            Some(worth) => Score::new(worth),
            None => Score::new(page.weight * self.gain(page, now)),
        }
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.newcomers.worth(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let (rate, haste) = (self.rate(page), self.haste(page));
        let divergence = -(-rate * haste * page.copy_age(now).days()).exp_m1() * self.kinship.height();
        Reason {
            replaced_a_day: Some(rate),
            haste: Some(haste).filter(|haste| *haste != 1.0),
            divergence: Some(divergence),
            gain_days: Some(self.gain(page, now)),
            ..Reason::default()
        }
    }
}
