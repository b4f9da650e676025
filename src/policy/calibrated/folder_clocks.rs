//! Clocks of folders: how much faster than expected the pages of a site, and of each folder in it, moved since a moment.
//!
//! Time is cut into ticks, one a plan: what changed between two plans is found by visits of the tick that the later one begins.
//! Each visit adds, for every folder above its page, what was expected of the interval to the ticks of the interval, evenly, and
//! what it found to the ticks in which kin moved: one step of expectation and maximisation.
//!
//! What must stay true: the number of ticks and of folders is bounded. Old ticks are joined two by two, so that the window always
//! reaches back to the first visit, coarser the older; of too many folders those that tell least are given up.

use crate::identity_hash::ByHash;
use crate::page::Kin;
use crate::time::Timestamp;
use crate::varint::{push, push_float, push_signed, take, take_float, take_signed, take_small};

/// Ticks that are kept. With 32 and more no group of the recorded corpora loses anything against all ticks (docs/results.md).
pub(super) const MOST_TICKS: usize = 64;
/// Folders that are kept: 33 MB with all ticks.
pub(super) const MOST_FOLDERS: usize = 1 << 15;

/// Nodes above a page: its site and its folders, from the top down.
fn chain(kin: Kin) -> impl Iterator<Item = u32> + Clone {
    std::iter::once(kin.site).chain(kin.folders.into_iter().take_while(|folder| *folder != 0))
}

/// The clocks of all folders.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FolderClocks {
    /// The ends of the ticks, oldest first. A tick begins where the one before it ends; the first has no beginning.
    ends: Vec<Timestamp>,
    folders: ByHash<u32, Folder>,
    most_ticks: usize,
    most_folders: usize,
}

/// A site or a folder of it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Folder {
    /// The site or folder that it lies in; 0 for a site.
    within: u32,
    /// How far below its site it is.
    depth: u8,
    /// By tick: divergence that was found, and that was expected. Ticks at the end that are missing have none.
    found: Vec<f64>,
    expected: Vec<f64>,
}

impl Folder {
    fn tick(numbers: &[f64], tick: usize) -> f64 {
        numbers.get(tick).copied().unwrap_or(0.0)
    }

    fn add(numbers: &mut Vec<f64>, tick: usize, amount: f64) {
        if numbers.len() <= tick {
            numbers.resize(tick + 1, 0.0);
        }
        if let Some(number) = numbers.get_mut(tick) {
            *number += amount;
        }
    }

    /// How much is known of it.
    fn weight(&self) -> f64 {
        self.expected.iter().sum::<f64>() + self.found.iter().sum::<f64>()
    }
}

impl Default for FolderClocks {
    fn default() -> Self {
        Self::bounded(MOST_TICKS, MOST_FOLDERS)
    }
}

impl FolderClocks {
    /// Clocks with these limits on ticks and folders.
    pub(super) fn bounded(most_ticks: usize, most_folders: usize) -> Self {
        let (most_ticks, most_folders) = (most_ticks.max(4), most_folders.max(2));
        Self { ends: Vec::new(), folders: ByHash::default(), most_ticks, most_folders }
    }

    /// A plan is made at this moment: a tick ends. Visits from here on belong to it. A clock that was set back starts no tick.
    pub(super) fn tick(&mut self, at: Timestamp) {
        if self.ends.last().is_some_and(|last| *last >= at) {
            return;
        }
        self.ends.push(at);
        if self.ends.len() > self.most_ticks {
            self.join_two();
        }
    }

    /// Joins the two neighbours whose joint length is the smallest part of their age.
    fn join_two(&mut self) {
        let Some(last) = self.ends.last().copied() else { return };
        let share = |at: usize| {
            let (Some(begin), Some(end)) =
                (at.checked_sub(1).and_then(|at| self.ends.get(at)), self.ends.get(at + 1))
            else {
                // The first tick has no beginning: it takes in its neighbour last of all.
                return 2.0;
            };
            let age = last.since(*begin).seconds();
            if age > 0.0 { end.since(*begin).seconds() / age } else { 2.0 }
        };
        // The newest two stay as they are: visits are being added to them.
        let first = (0..self.ends.len().saturating_sub(3)).min_by(|a, b| share(*a).total_cmp(&share(*b)));
        let Some(first) = first else { return };
        self.ends.remove(first);
        for folder in self.folders.values_mut() {
            for numbers in [&mut folder.found, &mut folder.expected] {
                if first + 1 < numbers.len() {
                    let removed = numbers.remove(first);
                    if let Some(next) = numbers.get_mut(first) {
                        *next += removed;
                    }
                }
            }
        }
    }

    /// The first tick that lies after the one in which a visit at `since` was made.
    fn after(&self, since: Timestamp) -> usize {
        self.ends.partition_point(|end| *end <= since)
    }

    /// Adds a visit in the newest tick: what it found of a page, and what was expected, since the visit before.
    pub(super) fn add(&mut self, kin: Kin, since: Timestamp, found: f64, expected: f64, jump: f64) {
        let Some(newest) = self.ends.len().checked_sub(1) else { return };
        let first = self.after(since).min(newest);
        let mut shares: Vec<(f64, f64)> = Vec::with_capacity(newest + 1 - first);
        let (mut lengths, mut weights) = (0.0, 0.0);
        for tick in first..=newest {
            let length = self.overlap(tick, since);
            let faster = chain(kin).fold(1.0, |above, node| match self.folders.get(&node) {
                Some(folder) => {
                    let (found, expected) =
                        (Folder::tick(&folder.found, tick), Folder::tick(&folder.expected, tick));
                    (found + jump) / (expected + jump / above)
                }
                None => above,
            });
            shares.push((length, faster * length));
            (lengths, weights) = (lengths + length, weights + faster * length);
        }
        if !(lengths > 0.0 && weights > 0.0 && weights.is_finite()) {
            // No time passed between two plans.
            shares = vec![(1.0, 1.0)];
            (lengths, weights) = (1.0, 1.0);
        }
        let (mut within, mut depth) = (0, 0);
        for node in chain(kin) {
            let folder =
                self.folders.entry(node).or_insert_with(|| Folder { within, depth, ..Folder::default() });
            for (tick, (length, weight)) in (newest + 1 - shares.len()..).zip(&shares) {
                Folder::add(&mut folder.found, tick, found * weight / weights);
                Folder::add(&mut folder.expected, tick, expected * length / lengths);
            }
            (within, depth) = (node, depth + 1);
        }
        if self.folders.len() > self.most_folders {
            self.give_up_some();
        }
    }

    /// The part of a tick that lies after a moment, in seconds. The first tick has no beginning.
    fn overlap(&self, tick: usize, since: Timestamp) -> f64 {
        let begin = tick.checked_sub(1).and_then(|before| self.ends.get(before));
        let begin = begin.map_or(since, |begin| (*begin).max(since));
        self.ends.get(tick).map_or(0.0, |end| end.since(begin).seconds())
    }

    /// Keeps the half of the folders of which most is known. A folder's parents know no less.
    fn give_up_some(&mut self) {
        let mut order: Vec<(f64, u8, u32)> =
            self.folders.iter().map(|(node, folder)| (folder.weight(), folder.depth, *node)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        for (_, _, node) in order.split_off(self.most_folders / 2) {
            self.folders.remove(&node);
        }
    }

    /// ln r of every folder for every tick of a last visit: r of a site is (found + J) / (expected + J), and r of a folder
    /// (found + J) / (expected + J/r of the one above), over the ticks after that visit. The newest tick is left out unless
    /// `with_newest`: visits of one plan do not tell of one another.
    pub(super) fn read(&self, jump: f64, with_newest: bool) -> ClockReadings {
        let until = if with_newest { self.ends.len() } else { self.ends.len().saturating_sub(1) };
        let mut order: Vec<(&u32, &Folder)> = self.folders.iter().collect();
        order.sort_unstable_by_key(|(node, folder)| (folder.depth, **node));
        let mut places: ByHash<u32, u32> = ByHash::default();
        let width = until + 1;
        let mut ratios: Vec<f64> = Vec::with_capacity(order.len() * width);
        for (node, folder) in order {
            let above = places.get(&folder.within).map(|place| *place as usize * width);
            let place = places.len() as u32;
            let start = ratios.len();
            ratios.resize(start + width, 1.0);
            let (mut found, mut expected) = (0.0, 0.0);
            for tick in (0..width).rev() {
                if tick < until {
                    found += Folder::tick(&folder.found, tick);
                    expected += Folder::tick(&folder.expected, tick);
                }
                let above = above.and_then(|above| ratios.get(above + tick)).copied().unwrap_or(1.0);
                if let Some(ratio) = ratios.get_mut(start + tick) {
                    *ratio = (found + jump) / (expected + jump / above);
                }
            }
            places.insert(*node, place);
        }
        let logs = ratios.into_iter().map(f64::ln).collect();
        ClockReadings { ends: self.ends.clone(), width, places, logs }
    }

    pub(super) fn push_bytes(&self, bytes: &mut Vec<u8>) {
        push(bytes, self.ends.len() as u64);
        let mut before = 0;
        for end in &self.ends {
            push_signed(bytes, end.millis() - before);
            before = end.millis();
        }
        let mut order: Vec<(&u32, &Folder)> = self.folders.iter().collect();
        order.sort_unstable_by_key(|(node, _)| **node);
        push(bytes, order.len() as u64);
        for (node, folder) in order {
            [u64::from(*node), u64::from(folder.within), u64::from(folder.depth)]
                .into_iter()
                .for_each(|number| push(bytes, number));
            for numbers in [&folder.found, &folder.expected] {
                push(bytes, numbers.len() as u64);
                numbers.iter().for_each(|number| push_float(bytes, *number));
            }
        }
    }

    pub(super) fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let mut taken = Self::default();
        let mut before = 0_i64;
        for _ in 0..take(rest)? {
            before = before.checked_add(take_signed(rest)?)?;
            taken.ends.push(Timestamp::from_millis(before));
        }
        for _ in 0..take(rest)? {
            let (node, within) = (take_small(rest)?, take_small(rest)?);
            let depth = u8::try_from(take(rest)?).ok()?;
            let mut folder = Folder { within, depth, ..Folder::default() };
            for numbers in [&mut folder.found, &mut folder.expected] {
                for _ in 0..take(rest)? {
                    numbers.push(take_float(rest).filter(|number| number.is_finite())?);
                }
            }
            taken.folders.insert(node, folder);
        }
        Some(taken)
    }

    /// Folders that are known.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.folders.len()
    }
}

/// The clocks as they are read at one plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ClockReadings {
    ends: Vec<Timestamp>,
    /// Readings of one folder: for a last visit in each tick, and before all ticks.
    width: usize,
    places: ByHash<u32, u32>,
    /// ln r.
    logs: Vec<f64>,
}

impl ClockReadings {
    /// ln of how much faster than expected the nearest known folder of a page moved since a moment; 0 if none is known.
    pub(super) fn of(&self, kin: Kin, since: Timestamp) -> f64 {
        let nearest = kin
            .folders
            .iter()
            .rev()
            .filter(|folder| **folder != 0)
            .chain(std::iter::once(&kin.site))
            .find_map(|node| self.places.get(node));
        let tick = self.ends.partition_point(|end| *end <= since).min(self.width.saturating_sub(1));
        let log = nearest.and_then(|place| self.logs.get(*place as usize * self.width + tick));
        log.copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(tick: i64) -> Timestamp {
        Timestamp::from_seconds(tick * 86_400)
    }

    fn kin(path: &str) -> Kin {
        Kin::of(&format!("https://example.org/{path}"))
    }

    #[test]
    fn pages_beside_one_that_moved_are_expected_to_have_moved() {
        let mut clocks = FolderClocks::default();
        (0..=4).for_each(|tick| clocks.tick(at(tick)));
        clocks.add(kin("a/x.html"), at(2), 0.5, 0.1, 0.3);
        clocks.add(kin("b/y.html"), at(2), 0.0, 0.1, 0.3);
        clocks.tick(at(5));
        let readings = clocks.read(0.3, false);
        let (beside, elsewhere) = (readings.of(kin("a/z.html"), at(1)), readings.of(kin("b/z.html"), at(1)));
        assert!(beside > elsewhere && beside > 0.2, "{beside} {elsewhere}");
        assert_eq!(readings.of(kin("a/z.html"), at(4)), 0.0, "it was visited since");
        // r of the site is (0.5 + 0.3) / (0.2 + 0.3), and below that (0.5 + 0.3) / (0.1 + 0.3/1.6).
        assert!((beside - (0.8_f64 / (0.1 + 0.3 / 1.6)).ln()).abs() < 1e-12);
        // A folder without visits moves like its site.
        assert_eq!(readings.of(kin("c/d/e.html"), at(1)), (0.8_f64 / 0.5).ln());
    }

    #[test]
    fn visits_of_one_plan_do_not_tell_of_one_another() {
        let mut clocks = FolderClocks::default();
        (0..=2).for_each(|tick| clocks.tick(at(tick)));
        clocks.add(kin("a/x.html"), at(1), 0.5, 0.1, 0.3);
        assert_eq!(clocks.read(0.3, false).of(kin("a/z.html"), at(0)), 0.0);
        assert!(clocks.read(0.3, true).of(kin("a/z.html"), at(0)) > 0.0);
    }

    #[test]
    fn a_finding_goes_to_the_ticks_in_which_kin_moved() {
        let mut clocks = FolderClocks::default();
        (0..=3).for_each(|tick| clocks.tick(at(tick)));
        // This page moved in the third tick for sure.
        clocks.add(kin("a/x.html"), at(2), 1.0, 0.1, 0.3);
        clocks.add(kin("a/y.html"), at(0), 0.4, 0.3, 0.3);
        let folder = &clocks.folders[&kin("a/x.html").site];
        assert!(folder.found[3] > 1.2 && folder.found[1] < 0.1, "{folder:?}");
        assert!((folder.found.iter().sum::<f64>() - 1.4).abs() < 1e-12);
        assert!((folder.expected[1] - 0.1).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn ticks_and_folders_are_bounded_and_nothing_is_lost(
            visits in prop::collection::vec((0..9_u32, 0..5_u32, 0..60_i64, 0.0..1.0_f64, 0..4_i64), 0..200)
        ) {
            let mut clocks = FolderClocks::bounded(8, 12);
            let (mut now, mut all, mut site_found) = (0, 0.0, 0.0);
            for (folder, deeper, back, found, step) in visits {
                now += step;
                clocks.tick(at(now));
                let kin = kin(&format!("{}/{}/x.html", "f".repeat(folder as usize + 1), "g".repeat(deeper as usize + 1)));
                clocks.add(kin, at((now - back).max(0)), found, 0.2, 0.3);
                all += found;
                site_found = clocks.folders[&kin.site].found.iter().sum::<f64>();
            }
            prop_assert!(clocks.ends.len() <= 8 && clocks.len() <= 12);
            prop_assert!((site_found - all).abs() < 1e-9, "the site is never given up: {site_found} {all}");
            let mut bytes = Vec::new();
            clocks.push_bytes(&mut bytes);
            let taken = FolderClocks::take_bytes(&mut &bytes[..]).unwrap();
            prop_assert_eq!((&taken.ends, &taken.folders), (&clocks.ends, &clocks.folders));
        }
    }
}
