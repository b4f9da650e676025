//! `longevity`, the default of earlier releases: the visit that brings most of the content that will last.
//!
//! Utility U(t) = t·D(t) − ∫₀ᵗ D (Olston & Pandey 2008, §2.2, eq. 4) of a page whose fragments are replaced at the page's own
//! rate s: D(t) = 1 − e^(−st). The rate is learnt from divergences, not from change bits, so a page that shows the time of day
//! does not look like one whose text changes. The curve rises to 1, so a page that showed only small changes is never believed
//! to be bounded and left alone (`longevity-curve` fits that height, as the paper does).
//!
//! Revisits compete with the discovery of new pages. Therefore their utility is scaled, by one factor for all pages, to how far
//! pages really are from versions a few visits old.
//!
//! A page's rate is drawn to the rate of pages with similar addresses; and if such pages moved since its last visit, it is
//! expected to have moved, too ([`kinship`]). The memory of a page follows from its own visits; everything else is computed
//! again before each cycle.

mod kinship;
mod replaced;

pub use replaced::{Replaced, Sums};

use super::registry::{Made, PolicyRequest};
use super::unseen::{self, Unseen};
use super::utility::refresh_utility;
use super::{Fact, Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey, Unit};
use crate::estimate::Seen;
use crate::page::{Depth, HostId};
use crate::time::Timestamp;
use kinship::{KinGathering, Kinship};

/// The worth of a page that is not known yet, in pages: itself and the pages that only it leads to. On a web whose truth is known
/// pages were staler overall with 1, which left more of them unfound, and equally stale with 2 and 4.
const LINK_WORTH: f64 = 4.0;

#[derive(Debug, Default)]
struct Longevity {
    unseen: Unseen,
    kinship: Kinship,
}

pub(super) fn make(_request: &PolicyRequest<'_>) -> Made {
    Ok(Box::new(Longevity::default()))
}

impl Longevity {
    /// Pages replaced a day.
    fn rate(&self, page: &PageState) -> f64 {
        self.kinship.rate(page.kin, page.learnt.memory.peek(Sums::take_bytes).unwrap_or_default())
    }

    /// Clock factor from siblings: 2.0 means the page is expected to have moved as much in a day as it normally does in two.
    fn clock_factor(&self, page: &PageState) -> f64 {
        page.seen_at.map_or(1.0, |since| self.kinship.clock_factor(page.kin, since))
    }

    /// The gain of a visit, in divergence × days.
    fn gain(&self, page: &PageState, now: Timestamp) -> f64 {
        let days = page.copy_age(now).days() * self.clock_factor(page);
        self.kinship.height() * refresh_utility(self.rate(page), days) + self.discovery_gain(page, now)
    }

    /// The part of it that new pages make up.
    fn discovery_gain(&self, page: &PageState, now: Timestamp) -> f64 {
        LINK_WORTH * unseen::discovery_gain(page, self.kinship.mean_visit_days(), now)
    }
}

impl Policy for Longevity {
    fn name(&self) -> &str {
        "longevity"
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        match self.unseen.worth_after_failure(page) {
            Some(worth) => Score::new(worth),
            None => Score::new(page.weight * self.gain(page, now)),
        }
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.unseen.worth(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let (rate, clock_factor) = (self.rate(page), self.clock_factor(page));
        let divergence = -(-rate * clock_factor * page.copy_age(now).days()).exp_m1() * self.kinship.height();
        let replaced = Fact::new("replaced_a_day", "replaced {}", rate, Unit::PerDay)
            .told_as("its text is replaced about every {period}");
        // `plan` has no room for it.
        let clock = Fact::new("haste", "", clock_factor, Unit::Number)
            .told_as("pages like it have moved since, so its time counts {} times");
        let clock = Some(clock).filter(|_| clock_factor != 1.0);
        let rest = [Fact::expected_divergence(divergence), Fact::gain(self.gain(page, now))];
        let links = Fact::new_links(self.discovery_gain(page, now));
        Reason::of([replaced].into_iter().chain(clock).chain(rest).chain(links))
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let days = learnt.state.count(lesson.interval, seen);
        learnt.state.shorten();
        let mut replaced = learnt.memory.read(Replaced::take_bytes);
        replaced.add(lesson.moved(), days);
        replaced.compare_with_oldest(&lesson.bases);
        learnt.memory.write(|bytes| replaced.push_bytes(bytes));
    }

    fn memory_version(&self) -> String {
        "longevity/2".to_owned()
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.unseen.look_at_hosts(survey);
        let mut gathering = KinGathering::default();
        (survey.pages)(&mut |page, count| {
            if let (Some(replaced), Some(seen_at)) =
                (page.learnt.memory.peek(Replaced::take_bytes), page.seen_at)
            {
                gathering.add(page.kin, &replaced, page.learnt.state.visits, seen_at, count);
            }
        });
        self.kinship = gathering.finish(survey.cycle_length);
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, kin: true, ..LooksAt::default() }
    }
}
