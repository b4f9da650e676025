//! What a recorded host tells of its changes: true dates, or signals that are drawn for its texts ([`crate::signal::spec`]).

use std::collections::{BTreeMap, BTreeSet};

use super::recording::{RecordedHost, RecordedState, Recording, RecordingError, ServedHistory};
use crate::model_web::model::lists::ListedPage;
use crate::model_web::model::text_history::TextHash;
use crate::model_web::model::told_past::{ToldPagePast, told_times};
use crate::signal::spec::{Falsehood, SignalSpec};

/// A day of a recording, in seconds.
const DAY_SECONDS: f64 = 86_400.0;
/// Entries of a feed at the most.
const FEED_ENTRIES: usize = 100;

/// The signals of a host. Times are days since its window opened.
#[derive(Debug)]
pub(super) struct ToldPast {
    spec: SignalSpec,
    /// By the path of a page.
    times: BTreeMap<String, Vec<f64>>,
}

impl Recording {
    /// Has all hosts tell changes by drawn signals. A page changes when its text does, so all contents are read once.
    pub fn tell(&mut self, spec: &SignalSpec) -> Result<(), RecordingError> {
        for at in 0..self.groups.len() {
            let Some(group) = self.groups.get(at) else { continue };
            let mut pages = Vec::with_capacity(group.pages.len());
            for (path, page) in &group.pages {
                let changes = self.text_changes(page)?;
                let day = |moment: f64| group.day(moment);
                let born = page.versions.first().map_or(0.0, |(at, _)| day(*at));
                pages.push(ToldPagePast {
                    name: path,
                    born,
                    changes: changes.into_iter().map(day).collect(),
                });
            }
            let drawn = told_times(spec, &group.name, &pages, (0.0, group.day(group.closes)));
            let times = group.pages.keys().cloned().zip(drawn).collect();
            if let Some(group) = self.groups.get_mut(at) {
                group.told = Some(ToldPast { spec: *spec, times });
            }
        }
        Ok(())
    }

    /// The moments at which the text of a page changes, in seconds since 1970; its first version is no change.
    fn text_changes(&self, page: &ServedHistory) -> Result<Vec<f64>, RecordingError> {
        let blobs: BTreeSet<&str> = page.versions.iter().filter_map(|(_, blob)| blob.as_deref()).collect();
        let blobs: Vec<&str> = blobs.into_iter().collect();
        let mut texts: BTreeMap<&str, TextHash> = BTreeMap::new();
        self.each_content(&blobs, &mut |place, content| {
            texts.extend(blobs.get(place).map(|blob| (*blob, TextHash::of(&page.text(content)))));
        })?;
        let text = |blob: &Option<String>| blob.as_deref().and_then(|blob| texts.get(blob).copied());
        let pairs = page.versions.iter().zip(page.versions.iter().skip(1));
        Ok(pairs.filter(|(one, next)| text(&one.1) != text(&next.1)).map(|(_, (at, _))| *at).collect())
    }
}

impl RecordedHost {
    /// A moment of the recording in days since the window opened.
    pub(super) fn day(&self, moment: f64) -> f64 {
        (moment - self.opens) / DAY_SECONDS
    }

    /// The moment of a day since the window opened.
    pub(super) fn moment(&self, day: f64) -> f64 {
        self.opens + day * DAY_SECONDS
    }

    /// The pages that live at a moment, and since when each has its content.
    pub(super) fn living(&self, moment: f64) -> impl Iterator<Item = (&String, f64)> {
        self.pages.iter().filter_map(move |(path, page)| match page.at(moment) {
            RecordedState::Shows { since, .. } => Some((path, since)),
            RecordedState::NotYet | RecordedState::Removed { .. } => None,
        })
    }

    /// The pages of the sitemap, and when it last changed, in days.
    pub(super) fn sitemap(&self, moment: f64) -> (Vec<ListedPage>, Option<f64>) {
        let day = self.day(moment);
        let delay = self.told.as_ref().map_or(0.0, |told| told.spec.delay);
        let listed = self.living(moment).filter_map(|(path, since)| {
            let at = match &self.told {
                None => self.day(since),
                Some(told) => told.last(self, path, day)?,
            };
            Some(ListedPage { path: path.clone(), title: path.clone(), at })
        });
        let listed: Vec<ListedPage> = listed.collect();
        let removed = self.pages.values().filter_map(|page| match page.at(moment) {
            RecordedState::Removed { since } => Some(self.day(since)),
            _ => None,
        });
        let newest = listed.iter().map(|page| (page.at + delay).min(day));
        let changed = newest.chain(removed).max_by(f64::total_cmp);
        (listed, changed)
    }

    /// The entries of the feed, newest first; `None` if the host has none.
    pub(super) fn feed(&self, moment: f64) -> Option<Vec<ListedPage>> {
        let (told, day) = (self.told.as_ref()?, self.day(moment));
        let mut entries: Vec<ListedPage> = Vec::new();
        for (path, _) in self.living(moment) {
            let known = told.known(path, day).iter().rev().take(FEED_ENTRIES);
            let now = (told.spec.falsehood == Falsehood::Always).then_some(&day);
            let listed = |at: &f64| ListedPage { path: path.clone(), title: path.clone(), at: *at };
            entries.extend(known.chain(now).map(listed));
        }
        entries.sort_by(|a, b| b.at.total_cmp(&a.at).then_with(|| a.path.cmp(&b.path)));
        entries.truncate(FEED_ENTRIES);
        Some(entries)
    }
}

impl ToldPast {
    /// The times of a page that are known by a day.
    fn known(&self, path: &str, day: f64) -> &[f64] {
        let times = self.times.get(path).map_or(&[][..], Vec::as_slice);
        times.split_at(times.partition_point(|at| at + self.spec.delay <= day)).0
    }

    /// The last time that is told of a page by a day: that of its birth if no change is told yet; `None` if it is too young.
    fn last(&self, host: &RecordedHost, path: &str, day: f64) -> Option<f64> {
        if self.spec.falsehood == Falsehood::Always {
            return Some(day);
        }
        let born = host.pages.get(path)?.versions.first().map(|(at, _)| host.day(*at))?;
        // A host whose window opens has listed its pages for long.
        let is_listed = born <= 0.0 || born + self.spec.delay <= day;
        is_listed.then(|| self.known(path, day).last().copied().unwrap_or(born))
    }
}

#[cfg(test)]
mod tests {
    use super::super::recording;
    use super::*;

    fn told(spec: &str) -> Recording {
        let folder = recording::tests::folder();
        let mut recording = Recording::open(folder.path()).expect("a recording");
        recording.tell(&spec.parse().expect("signals")).expect("texts");
        recording
    }

    #[test]
    fn changes_of_the_text_are_told_late_or_never_as_asked_for() {
        let at = |spec: &str, day: f64| {
            let recording = told(spec);
            let group = &recording.groups[0];
            let (pages, changed) = group.sitemap(group.moment(day));
            (pages.first().map(|page| page.at), changed)
        };
        // The page is two days older than the window, has another text from day 2 on, and is removed on day 4.
        assert_eq!(at("1,1", 1.5), (Some(-2.0), Some(-2.0)));
        assert_eq!(at("1,1", 2.5), (Some(2.0), Some(2.0)));
        assert_eq!(at("1,1", 5.0), (None, Some(4.0)));
        assert_eq!(at("1,1,delay=1", 2.5), (Some(-2.0), Some(-1.0)));
        assert_eq!(at("1,1,delay=1", 3.5), (Some(2.0), Some(3.0)));
        assert_eq!(at("1,0", 3.5).0, Some(-2.0));
        assert_eq!(at("1,1,always", 3.5).0, Some(3.5));
    }

    #[test]
    fn the_feed_has_the_same_changes_and_a_host_without_signals_has_none() {
        let recording = told("1,1");
        let group = &recording.groups[0];
        let days: Vec<f64> =
            group.feed(group.moment(3.0)).expect("a feed").iter().map(|entry| entry.at).collect();
        assert_eq!(days, [2.0]);
        assert_eq!(group.feed(group.moment(1.0)), Some(Vec::new()));
        let folder = recording::tests::folder();
        let plain = Recording::open(folder.path()).expect("a recording");
        assert_eq!(plain.groups[0].feed(0.0), None);
    }
}
