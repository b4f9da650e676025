//! Utility from a fitted curve: the curve-fitting policy of Olston & Pandey 2008 (§4.2), as printed.
//!
//! Every visit adds a point to each change profile of the page: how far it is from a base version that is so old. A churn
//! or scroll curve is fitted to them, and the score is w·U(t). Pages with fewer than three points go by the curve of their
//! folder, or of all pages. No page is believed to be bounded for good: the score is at least w·t/ρ, which is the risk
//! bound of §4.5, φ ≤ ρT/w, as a ranking. Where a threshold T is given, a page that was refreshed n times waits no longer
//! than l·n (the learning phase of §4.2).

use std::collections::{BTreeMap, HashMap};

use super::content::{Content, POINTS_TO_SEE_A_CURVE};
use super::newcomers::{self, Newcomers};
use super::registry::LongevitySettings;
use super::{Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey};
use crate::estimate::Seen;
use crate::longevity::curve::Curve;
use crate::longevity::fit::Fit;
use crate::longevity::samples::{Sample, combined};
use crate::page::{Depth, HostId};
use crate::time::Timestamp;

/// Ages that differ by less, as a share, are one in what all pages of a folder show together.
const SAME_AGE: f64 = 0.25;
/// Before anything is known: a tenth of a page a day.
const UNKNOWN: Curve = Curve::Churn { height: 1.0, rate: 0.1 };

#[derive(Debug)]
pub struct LongevityFit {
    settings: LongevitySettings,
    newcomers: Newcomers,
    general: Curve,
    sections: HashMap<u32, Curve>,
}

impl LongevityFit {
    pub fn new(settings: LongevitySettings) -> Self {
        Self { settings, newcomers: Newcomers::default(), general: UNKNOWN, sections: HashMap::new() }
    }

    /// What is known of how the page moves away from a copy.
    fn curve(&self, page: &PageState) -> Curve {
        match &page.learnt.content {
            Content::Fitted(fitted) if fitted.points() >= POINTS_TO_SEE_A_CURVE => fitted.curve,
            _ => self.sections.get(&page.kin.section).copied().unwrap_or(self.general),
        }
    }

    /// What a visit gains, in divergence × days.
    fn gain(&self, page: &PageState, now: Timestamp) -> f64 {
        let days = page.copy_age(now).days();
        let gain = self.curve(page).utility(days).max(days / self.settings.risk);
        let refreshes = f64::from(page.learnt.state.visits) + 1.0;
        match self.settings.threshold {
            Some(threshold) if days >= self.settings.learning_days * refreshes => {
                gain.max(threshold / page.weight.max(f64::MIN_POSITIVE))
            }
            _ => gain,
        }
    }
}

impl Policy for LongevityFit {
    fn name(&self) -> &str {
        "longevity-curve"
    }

    fn memory_kind(&self) -> String {
        self.name().to_owned()
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { divergence: true, kin: true, age: false }
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let days = learnt.state.count(lesson.interval, seen);
        let mut fitted = match std::mem::take(&mut learnt.content) {
            Content::Fitted(fitted) => fitted,
            _ => Box::default(),
        };
        fitted.add(lesson, days);
        learnt.content = Content::Fitted(fitted);
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.newcomers.look(survey);
        // In the same order in each run: sums are rounded alike.
        let mut all: BTreeMap<u32, Vec<Sample>> = BTreeMap::new();
        (survey.pages)(&mut |page, count| {
            if let Content::Fitted(fitted) = &page.learnt.content {
                let own = all.entry(page.kin.section).or_default();
                let counted = |sample: &Sample| Sample { weight: sample.weight * count as f64, ..*sample };
                own.extend(fitted.samples.iter().map(counted));
                if own.len() > MOST_SAMPLES {
                    *own = combined(std::mem::take(own), SAME_AGE);
                }
            }
        });
        let curve = |samples: Vec<Sample>| {
            let samples = combined(samples, SAME_AGE);
            let points: f64 = samples.iter().map(|sample| sample.weight).sum();
            let fit = Fit::of(&samples).filter(|_| points >= POINTS_TO_SEE_A_CURVE)?;
            // What never moved in anyone's sight may move all the same.
            Some(fit.worth()).filter(|curve| *curve != Curve::Static)
        };
        let everything: Vec<Sample> =
            all.values().flat_map(|samples| combined(samples.iter().copied(), SAME_AGE)).collect();
        self.general = curve(everything).unwrap_or(UNKNOWN);
        self.sections =
            all.into_iter().filter_map(|(section, samples)| Some((section, curve(samples)?))).collect();
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if let Some(worth) = self.newcomers.worth_again(page) {
            return Score::new(worth);
        }
        let links = newcomers::new_links(page, newcomers::LINK_CYCLES * self.settings.cycle_days, now);
        Score::new(page.weight * (self.gain(page, now) + links))
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        Score::new(self.newcomers.worth(page))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let days = page.copy_age(now).days();
        let divergence = self.curve(page).divergence(days);
        Reason { divergence: Some(divergence), gain_days: Some(self.gain(page, now)), ..Reason::default() }
    }
}

/// Samples of a folder that are gathered before those of an age are averaged.
const MOST_SAMPLES: usize = 4096;
