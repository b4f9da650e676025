//! The curves of groups of pages, for pages that have no curve of their own yet.
//!
//! A page belongs to five groups, from the narrowest to the widest: pages with the same name but for numbers, pages in the same
//! folder, pages of its host, pages at its depth, and all pages. A group unites the samples of its pages; samples of about the
//! same age are averaged, and a curve is fitted to them. A page uses the curve of its narrowest group that has enough samples.

use std::collections::BTreeMap;

use super::POINTS_TO_SEE_A_CURVE;
use crate::longevity::curve::Curve;
use crate::longevity::fit::Fit;
use crate::longevity::samples::{Sample, combined};
use crate::page::{Depth, HostId};
use crate::policy::PageState;

/// Ages that differ by less than this share are averaged in a group.
const SAME_AGE: f64 = 0.25;
/// Samples of a group that are gathered before they are averaged: more than there are distinct ages from an hour to years.
const MOST_SAMPLES: usize = 128;
/// The most groups of each kind: about 25 MB of samples. Pages of later groups use wider ones.
const MOST_GROUPS: usize = 1 << 13;

/// A group of pages, ordered by kind so that groups of one kind are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CurveGroup {
    Name(u32),
    Folder(u32),
    Host(HostId),
    Depth(Depth),
    All,
}

/// The groups of a page, narrowest first.
fn groups(page: &PageState) -> [CurveGroup; 5] {
    [
        CurveGroup::Name(page.kin.name),
        CurveGroup::Folder(page.kin.section),
        CurveGroup::Host(page.host),
        CurveGroup::Depth(page.depth),
        CurveGroup::All,
    ]
}

/// Samples by group, while pages are looked over.
#[derive(Debug, Default)]
pub(super) struct CurveGathering {
    /// Sorted, so that sums are rounded the same way in each run.
    samples: BTreeMap<CurveGroup, Vec<Sample>>,
    /// The number of groups of each kind, in the order of [`groups`].
    many: [usize; 5],
}

impl CurveGathering {
    /// Adds the samples of a page, or of `count` pages in the same state.
    pub(super) fn add(&mut self, page: &PageState, samples: &[Sample], count: usize) {
        if samples.is_empty() {
            return;
        }
        let counted = |sample: &Sample| Sample { weight: sample.weight * count as f64, ..*sample };
        for (group, many) in groups(page).into_iter().zip(&mut self.many) {
            if !self.samples.contains_key(&group) {
                if *many >= MOST_GROUPS {
                    continue;
                }
                *many += 1;
            }
            let own = self.samples.entry(group).or_default();
            own.extend(samples.iter().map(counted));
            if own.len() > MOST_SAMPLES {
                *own = combined(std::mem::take(own), SAME_AGE);
            }
        }
    }

    /// Fits the curves.
    pub(super) fn finish(self) -> GroupCurves {
        let curves = self.samples.into_iter().filter_map(|(group, samples)| Some((group, fitted(samples)?)));
        GroupCurves(curves.collect())
    }
}

/// The curve of a group; `None` if it has too few samples. A group that never moved has no curve either, however often it was
/// visited: its pages may still begin to move.
fn fitted(samples: Vec<Sample>) -> Option<Curve> {
    let samples = combined(samples, SAME_AGE);
    let points: f64 = samples.iter().map(|sample| sample.weight).sum();
    let fit = Fit::of(&samples).filter(|_| points >= POINTS_TO_SEE_A_CURVE)?;
    Some(fit.worth()).filter(|curve| *curve != Curve::Static)
}

/// The curves of all groups that have one.
#[derive(Debug, Default)]
pub(super) struct GroupCurves(BTreeMap<CurveGroup, Curve>);

impl GroupCurves {
    /// The curve of the narrowest group of the page that has one.
    pub(super) fn of(&self, page: &PageState) -> Option<Curve> {
        groups(page).iter().find_map(|group| self.0.get(group)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::close;
    use crate::page::{Kin, PageId};
    use crate::time::Timestamp;

    fn page(host: i64, depth: Depth, name: u32, section: u32) -> PageState {
        let mut page = PageState::found(PageId(1), HostId(host), depth, 1.0, Timestamp::from_seconds(0));
        page.kin = Kin { site: host as u32, section, name, ..Kin::default() };
        page
    }

    /// As a page shows it that is replaced at this rate a day: after 1, 2 and 4 days.
    fn churn(rate: f64) -> [Sample; 3] {
        [1.0, 2.0, 4.0].map(|days| Sample::new(days, -(-rate * days).exp_m1()))
    }

    fn rate(curves: &GroupCurves, page: &PageState) -> f64 {
        match curves.of(page) {
            Some(Curve::Churn { rate, .. }) => rate,
            other => panic!("{other:?}"),
        }
    }

    /// Two hosts, two depths: host 1 is replaced at 0.5 a day but for the pages named 7, host 2 at 0.1, one link deeper.
    fn gathered() -> GroupCurves {
        let mut gathering = CurveGathering::default();
        gathering.add(&page(1, 0, 5, 50), &churn(0.5), 1);
        gathering.add(&page(1, 0, 6, 60), &churn(0.5), 1);
        gathering.add(&page(1, 1, 7, 70), &churn(2.0)[..2], 2);
        gathering.add(&page(2, 1, 8, 80), &churn(0.1), 100_000);
        gathering.finish()
    }

    #[test]
    fn a_new_page_goes_by_the_narrowest_group_that_has_seen_enough() {
        let curves = gathered();
        // Its name, wherever it lies: two pages with two points each are enough.
        assert!(close(rate(&curves, &page(1, 0, 7, 50)), 2.0, 1e-3));
        // Its folder, if the name is unknown.
        assert!(close(rate(&curves, &page(1, 1, 99, 50)), 0.5, 1e-3));
        // Its host, if the folder is unknown: all that was seen there, so slower than the name and faster than the folder.
        let host = rate(&curves, &page(1, 9, 99, 99));
        assert!(host > 0.5 && host < 2.0, "{host}");
        // Its depth, if the host is unknown: that of the many pages of host 2, but for a few of host 1.
        assert!(close(rate(&curves, &page(3, 1, 99, 99)), 0.1, 0.01));
        // And all pages, if no page was seen at that depth.
        assert!(close(rate(&curves, &page(3, 9, 99, 99)), 0.1, 0.01));
    }

    #[test]
    fn too_few_points_and_pages_that_never_moved_leave_it_to_the_next_group() {
        let mut gathering = CurveGathering::default();
        gathering.add(&page(1, 0, 5, 50), &churn(0.5)[..2], 1);
        gathering.add(&page(2, 0, 6, 60), &[1.0, 2.0, 4.0].map(|days| Sample::new(days, 0.0)), 1);
        assert!(CurveGathering::default().finish().of(&page(1, 0, 5, 50)).is_none());
        let curves = gathering.finish();
        // Five points at their depth: two of a page that moved, three of one that did not.
        let both = curves.of(&page(9, 0, 99, 99));
        assert!(both.is_some());
        for seen in [page(1, 0, 5, 50), page(2, 0, 6, 60)] {
            assert_eq!(curves.of(&seen), both, "its own groups say too little");
        }
    }

    #[test]
    fn the_same_pages_give_the_same_curves_and_groups_are_bounded() {
        assert_eq!(gathered().0, gathered().0);
        let mut gathering = CurveGathering::default();
        for id in 0..MOST_GROUPS as u32 + 10 {
            gathering.add(&page(i64::from(id), 0, id, id), &churn(0.5), 1);
        }
        // Names, folders, hosts; one depth, and all.
        assert_eq!(gathering.samples.len(), 3 * MOST_GROUPS + 2);
        assert!(gathering.samples.values().all(|samples| samples.len() <= MOST_SAMPLES));
        assert!(close(rate(&gathering.finish(), &page(-1, 0, u32::MAX, u32::MAX)), 0.5, 1e-3));
    }
}
