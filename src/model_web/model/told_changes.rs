//! Changes that a host tells one by one: some are left out, some made up, all are late ([`crate::signal::spec`]).
//!
//! Which are left out and which are made up is drawn from the seeds of pages and of the host, so it is the same whenever one
//! asks. Sitemap and feed of a host with the same settings tell the same changes.

use super::draw::{SeededDraw, sub_seed};
use super::poisson::Process;
use super::rhythm::Rhythm;
use super::site::Site;
use super::spec::{Announcing, Telling};
use super::turnover::Tenant;

/// The first stretch of the past that is searched for a change that is told, in days. Pages change 0.02 to 8 times a day.
const FIRST_STRETCH: f64 = 2.0;
/// Each further stretch is longer than the one before by this factor.
const LONGER: f64 = 4.0;

/// A time at which a page is said to have changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ToldTime {
    /// In days.
    pub at: f64,
    /// Did it change then?
    pub is_true: bool,
}

/// What a host tells of its changes.
pub(super) struct ToldChanges<'a> {
    site: &'a Site<'a>,
    told: Announcing,
    /// False signals of a page, a day.
    false_rate: f64,
}

impl<'a> ToldChanges<'a> {
    pub(super) fn new(site: &'a Site<'a>, told: Announcing) -> Self {
        // The pages of day 0 stand for those of all days, so that what was made up once stays.
        let rates: f64 = site.living(0.0).map(|page| site.rate(&page)).sum();
        let right = told.recall * rates / f64::from(site.spec.pages.max(1));
        Self { site, told, false_rate: right * (1.0 - told.precision) / told.precision }
    }

    /// The last time that is told by this day; `None` for a page that is too young. A page of which no change is told has the
    /// time of its birth.
    pub(super) fn last(&self, page: &Tenant, day: f64) -> Option<ToldTime> {
        let (now, born) = (day - self.told.delay, self.site.born(page));
        if born > now {
            return None;
        }
        let made_up = match self.told.telling {
            Telling::Always => return Some(ToldTime { at: day, is_true: false }),
            Telling::Pages => None,
            Telling::Poisson => self.scattered(page).latest(now),
            Telling::Build => self.builds().latest(now),
        };
        let made_up = made_up.map(|event| event.at).filter(|at| *at > born);
        let right = self.last_right(page, born, made_up, now);
        Some(match made_up {
            Some(at) if at > right => ToldTime { at, is_true: false },
            _ => ToldTime { at: right, is_true: true },
        })
    }

    /// The last change that is told, if it is later than `made_up`; else the birth.
    fn last_right(&self, page: &Tenant, born: f64, made_up: Option<f64>, now: f64) -> f64 {
        let earliest = made_up.unwrap_or(born);
        if self.told.recall <= 0.0 {
            return born;
        }
        let (mut to, mut stretch) = (now, FIRST_STRETCH);
        while to > earliest {
            let from = (to - stretch).max(earliest);
            let changes = self.site.changes(page, from, to);
            if let Some(at) = changes.into_iter().rev().find(|at| self.is_told(page, *at)) {
                return at;
            }
            (to, stretch) = (from, stretch * LONGER);
        }
        born
    }

    /// All times that are told of a page, after `from` up to and including `to`. They are known after the delay.
    pub(super) fn between(&self, page: &Tenant, from: f64, to: f64) -> Vec<ToldTime> {
        let made_up = match self.told.telling {
            Telling::Always | Telling::Pages => Vec::new(),
            Telling::Poisson => self.scattered(page).between(from, to),
            Telling::Build => self.builds().between(from, to),
        };
        let born = self.site.born(page);
        let made_up = made_up.into_iter().map(|event| event.at).filter(|at| *at > born);
        let changes = self.site.changes(page, from, to).into_iter().filter(|at| self.is_told(page, *at));
        let right = changes.map(|at| ToldTime { at, is_true: true });
        right.chain(made_up.map(|at| ToldTime { at, is_true: false })).collect()
    }

    fn is_told(&self, page: &Tenant, at: f64) -> bool {
        SeededDraw::new(sub_seed(sub_seed(page.seed, 12), at.to_bits())).chance(self.told.recall)
    }

    fn scattered(&self, page: &Tenant) -> Process {
        Process { seed: sub_seed(page.seed, 13), rate: self.false_rate, rhythm: Rhythm::Even }
    }

    fn builds(&self) -> Process {
        Process { seed: self.site.builds_seed(), rate: self.false_rate, rhythm: Rhythm::Even }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_web::model::spec::WebSpec;

    fn announcing(text: &str) -> Announcing {
        Announcing::of(&text.parse().expect("signals"))
    }

    fn spec() -> WebSpec {
        WebSpec { pages: 400, turnover: 0.0, ..WebSpec::default() }
    }

    #[test]
    fn as_many_changes_are_told_and_as_many_are_made_up_as_asked_for() {
        let spec = spec();
        let site = Site::new(&spec, 0);
        for (text, precision, recall) in [
            ("1,1", 1.0, 1.0),
            ("0.8,0.5", 0.8, 0.5),
            ("0.3,0.9,delay=2", 0.3, 0.9),
            ("0.5,0.5,build", 0.5, 0.5),
        ] {
            let told = ToldChanges::new(&site, announcing(text));
            let (mut right, mut all, mut changes) = (0, 0, 0);
            for page in site.living(0.0) {
                let times = told.between(&page, 0.0, 60.0);
                right += times.iter().filter(|time| time.is_true).count();
                all += times.len();
                changes += site.changes(&page, 0.0, 60.0).len();
            }
            let (found_recall, found_precision) = (right as f64 / changes as f64, right as f64 / all as f64);
            assert!((found_recall - recall).abs() < 0.02, "{text}: recall {found_recall}");
            // Builds are few: 60 days have some hundred.
            let room = if text.contains("build") { 0.08 } else { 0.03 };
            assert!((found_precision - precision).abs() < room, "{text}: precision {found_precision}");
        }
    }

    #[test]
    fn the_last_time_is_the_last_of_all_that_are_known() {
        let spec = spec();
        let site = Site::new(&spec, 0);
        for text in ["1,1", "0.5,0.3", "0.5,0.5,build,delay=0.75", "0.9,0,delay=1"] {
            let announcing = announcing(text);
            let told = ToldChanges::new(&site, announcing);
            for page in site.living(0.0).take(60) {
                let times = told.between(&page, site.born(&page), 5.5 - announcing.delay);
                let last = times.into_iter().max_by(|a, b| a.at.total_cmp(&b.at));
                let expected = last.unwrap_or(ToldTime { at: site.born(&page), is_true: true });
                assert_eq!(told.last(&page, 5.5), Some(expected), "{text}");
            }
        }
    }

    #[test]
    fn builds_stamp_all_pages_alike_and_some_lists_have_the_time_of_the_request() {
        let spec = spec();
        let site = Site::new(&spec, 0);
        let build = ToldChanges::new(&site, announcing("0.05,0.5,build"));
        let dates: Vec<f64> =
            site.living(3.0).filter_map(|page| build.last(&page, 3.0)).map(|time| time.at).collect();
        let newest = dates.iter().copied().fold(f64::MIN, f64::max);
        let common = dates.iter().filter(|date| **date == dates[0]).count();
        assert!(common > 300 && newest > 2.0, "{common} of 400");
        let always = ToldChanges::new(&site, announcing("1,1,always"));
        assert!(site.living(3.0).all(|page| always.last(&page, 3.0).is_some_and(|time| time.at == 3.0)));
    }
}
