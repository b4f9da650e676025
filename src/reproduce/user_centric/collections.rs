//! The two data sets: pages that are there in all of 48 snapshots (§6).
//!
//! The paper's are one site, boston.com (BDS), and 15 sites of different topics, of which only pages that changed are kept (MDS).
//! Neither is public. From a dataset of ours come in their place: the largest group of pages of one site, and the pages of all other
//! groups that changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use crate::dataset::{Dataset, Group, History, RecordedPage, TextWords};
use crate::time::Timestamp;

/// Weekly snapshots, as printed.
pub(super) const SNAPSHOTS: u32 = 48;
/// A snapshot is a week later than the one before. Groups with other steps are counted in the same way.
const STEP: Duration = Duration::from_secs(7 * 86_400);

/// Pages at 48 snapshots.
#[derive(Clone, Debug)]
pub(super) struct Collection {
    /// The paper's short name of the data set that it stands for.
    pub short: &'static str,
    /// The pages, each of which is there from the first snapshot to the last.
    pub group: Group,
    /// What it is, in a sentence.
    pub about: String,
    /// The largest B of Fig. 4, as a share of the pages: 6000 of 16,000 (BDS), 15,000 of 19,000 (MDS).
    pub most_share: f64,
    /// Terms that no query has.
    pub never_asked: std::collections::HashSet<u64>,
}

/// The largest B of Fig. 4(a, b) and 4(c, d), as shares of the pages.
pub(super) const MOST_OF_ONE_SITE: f64 = 6000.0 / 16_000.0;
pub(super) const MOST_OF_MANY_SITES: f64 = 15_000.0 / 19_000.0;

impl Collection {
    /// A collection of these pages.
    pub(super) fn new(
        short: &'static str,
        pages: Vec<RecordedPage>,
        most_share: f64,
        about: String,
    ) -> Collection {
        let group = Group {
            name: short.to_owned(),
            start: Timestamp::default(),
            step: STEP,
            cycles: SNAPSHOTS,
            pages,
        };
        Collection { short, group, about, most_share, never_asked: Default::default() }
    }

    /// Gives each page a number of links. The paper asked Google for them, so they came from all of the web. A recording knows only the
    /// links among its own pages; where most pages have none of these, they are drawn by the hash of the address.
    fn with_links(mut self) -> Collection {
        let linked = self.group.pages.iter().filter(|page| page.inlinks > 0).count();
        let are_drawn = 2 * linked < self.len();
        for page in &mut self.group.pages {
            page.inlinks = if are_drawn { drawn_links(&page.url) } else { page.inlinks.max(1) };
        }
        self.about.push_str(if are_drawn {
            ". Links to a page: drawn, because the recording has none to most pages; a page has n or more with the chance 1/n"
        } else {
            ". Links to a page: those of the recording, and at least one"
        });
        self
    }

    /// The number of pages.
    pub(super) fn len(&self) -> usize {
        self.group.pages.len()
    }

    /// The number of sites.
    #[cfg(test)]
    pub(super) fn sites(&self) -> usize {
        let sites: std::collections::HashSet<&str> =
            self.group.pages.iter().map(|page| page.site.as_str()).collect();
        sites.len()
    }
}

/// Links to a page, from 1 to 1000: n or more with the chance 1/n.
fn drawn_links(url: &str) -> u32 {
    let share = (xxh3_64(url.as_bytes()) >> 11) as f64 / (1_u64 << 53) as f64;
    (1.0 / share.max(1e-3)) as u32
}

/// The one-site and the many-site collection of a dataset, or what it lacks, in words that follow its path.
pub(super) fn of_dataset(dataset: &Dataset) -> Result<[Collection; 2], String> {
    let has_words = |page: &RecordedPage| !page.words.is_empty();
    if !dataset.groups.iter().any(|group| group.pages.iter().any(has_words)) {
        return Err("its pages have no words: import it again from a source that has texts".to_owned());
    }
    let long_enough = || dataset.groups.iter().enumerate().filter(|(_, group)| group.cycles >= SNAPSHOTS);
    let largest = long_enough().filter_map(|(at, group)| Some((at, largest_site(group)?)));
    let Some((one, (site, _))) = largest.max_by_key(|(at, (_, pages))| (*pages, std::cmp::Reverse(*at)))
    else {
        return Err(format!("no group was watched at {SNAPSHOTS} cycles or more"));
    };
    let Some(group) = dataset.groups.get(one) else { return Err("it has no groups".to_owned()) };
    let (start, pages) = best_window(group, &site);
    if pages.is_empty() {
        return Err(format!("no page of `{site}` is there at {SNAPSHOTS} cycles in a row"));
    }
    let about = format!(
        "{} pages of {site}, group {}: those that are there in each of the {SNAPSHOTS} cycles from cycle {start} on, the {SNAPSHOTS} \
         cycles with most updates to such pages",
        pages.len(),
        group.name
    );
    let one_site = Collection::new("BDS", pages, MOST_OF_ONE_SITE, about).with_links();
    let mut pages = Vec::new();
    let mut names = Vec::new();
    for (_, group) in long_enough().filter(|(at, _)| *at != one) {
        let cycles: Vec<u32> = (0..SNAPSHOTS).map(|snapshot| resampled(snapshot, group.cycles)).collect();
        let mut kept: Vec<RecordedPage> =
            group.pages.iter().filter_map(|page| at_cycles(page, &cycles)).filter(changed).collect();
        if !kept.is_empty() {
            names.push(format!("{} ({})", group.name, kept.len()));
        }
        pages.append(&mut kept);
    }
    if pages.is_empty() {
        return Err("only one group has pages with words that changed: many sites are needed, too".to_owned());
    }
    let about = format!(
        "{} pages that changed, of these groups: {}. Each group is seen at {SNAPSHOTS} of its cycles, evenly spaced from its first to its \
         last, so that a week stands for a 47th of the time that a group was watched",
        pages.len(),
        names.join(", ")
    );
    Ok([one_site, Collection::new("MDS", pages, MOST_OF_MANY_SITES, about).with_links()])
}

/// The cycle of a group with `cycles` cycles that a snapshot is taken at.
fn resampled(snapshot: u32, cycles: u32) -> u32 {
    let last = f64::from(cycles.saturating_sub(1));
    (f64::from(snapshot) * last / f64::from(SNAPSHOTS - 1)).round() as u32
}

/// The site of a group with most pages that have words, and their number.
fn largest_site(group: &Group) -> Option<(String, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for page in group.pages.iter().filter(|page| !page.words.is_empty()) {
        *counts.entry(page.site.as_str()).or_default() += 1;
    }
    let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)))?;
    Some((most.0.to_owned(), most.1))
}

/// The cycles in a row with most updates to pages of a site that are there all the time, and these pages.
fn best_window(group: &Group, site: &str) -> (u32, Vec<RecordedPage>) {
    let starts = (0..=group.cycles - SNAPSHOTS).step_by(SNAPSHOTS as usize / 4);
    let own: Vec<&RecordedPage> = group.pages.iter().filter(|page| page.site == site).collect();
    let pages = |start: u32| -> Vec<RecordedPage> {
        let cycles: Vec<u32> = (start..start + SNAPSHOTS).collect();
        own.iter().filter_map(|page| at_cycles(page, &cycles)).collect()
    };
    let updates = |start: u32| pages(start).iter().map(|page| page.history.changes()).sum::<u64>();
    let best = starts.max_by_key(|start| updates(*start)).unwrap_or(0);
    (best, pages(best))
}

fn changed(page: &RecordedPage) -> bool {
    page.history.changes() > 0
}

/// The text that a page has at a cycle; `None` before its first copy, and for a page without words then.
fn text_at(page: &RecordedPage, cycle: u32) -> Option<u32> {
    let History::Texts { from, .. } = &page.history else { return None };
    let after = from.partition_point(|(first, _)| *first <= cycle);
    let (_, text) = from.get(after.checked_sub(1)?)?;
    page.words.get(*text as usize).filter(|words| words.length > 0).map(|_| *text)
}

/// A page as it is at these cycles; `None` if it is not there at one of them.
fn at_cycles(page: &RecordedPage, cycles: &[u32]) -> Option<RecordedPage> {
    let History::Texts { texts, .. } = &page.history else { return None };
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut from: Vec<(u32, u32)> = Vec::new();
    let mut kept: Vec<Arc<[u64]>> = Vec::new();
    let mut words: Vec<TextWords> = Vec::new();
    for (snapshot, cycle) in (0..).zip(cycles) {
        let text = text_at(page, *cycle)?;
        let number = match numbers.get(&text) {
            Some(number) => *number,
            None => {
                kept.push(Arc::clone(texts.get(text as usize)?));
                words.push(page.words.get(text as usize)?.clone());
                let number = numbers.len() as u32;
                numbers.insert(text, number);
                number
            }
        };
        if from.last().is_none_or(|(_, last)| *last != number) {
            from.push((snapshot, number));
        }
    }
    Some(RecordedPage {
        url: page.url.clone(),
        site: page.site.clone(),
        weight: 1.0,
        born: 0,
        history: History::Texts { from, texts: kept },
        words,
        inlinks: page.inlinks,
        signals: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(site: &str, from: &[(u32, u32)]) -> RecordedPage {
        let texts = from.iter().map(|(_, text)| *text).max().unwrap_or(0) + 1;
        RecordedPage {
            url: format!("http://{site}/"),
            site: site.to_owned(),
            weight: 3.0,
            born: from.first().map_or(0, |(cycle, _)| *cycle),
            history: History::Texts {
                from: from.to_vec(),
                texts: (0..texts).map(|text| vec![u64::from(text)].into()).collect(),
            },
            // The text 9 is that of a page that is gone.
            words: (0..texts)
                .map(|text| TextWords {
                    length: if text == 9 { 0 } else { 1 },
                    counts: vec![(u64::from(text), 1)].into(),
                })
                .collect(),
            inlinks: 2,
            signals: Vec::new(),
        }
    }

    fn group(name: &str, cycles: u32, pages: Vec<RecordedPage>) -> Group {
        Group { name: name.to_owned(), start: Timestamp::default(), step: STEP, cycles, pages }
    }

    #[test]
    fn one_site_is_cut_to_a_window_and_the_others_are_seen_as_often() {
        let site = vec![
            page("one", &[(0, 0), (70, 1), (80, 0)]),
            page("one", &[(60, 0), (75, 1)]),
            page("one", &[(0, 0), (75, 9)]),
        ];
        let many = vec![page("a", &[(0, 0), (100, 1)]), page("b", &[(0, 0)]), page("c", &[(3, 0), (9, 1)])];
        let groups = vec![group("g", 120, site), group("h", 189, many), group("short", 9, vec![])];
        let [one, others] = of_dataset(&Dataset { name: String::new(), groups }).expect("words");
        // Two pages are there in the 48 cycles from 60 on, which have all three updates; the third is gone.
        assert_eq!((one.len(), one.sites()), (2, 1));
        assert!(one.about.contains("from cycle 60 on"), "{}", one.about);
        let History::Texts { from, texts } = &one.group.pages[0].history else { panic!("texts") };
        assert_eq!((from.as_slice(), texts.len()), (&[(0, 0), (10, 1), (20, 0)][..], 2));
        assert_eq!(one.group.pages[0].inlinks, 2);
        // `b` never changed, and `c` was not there at first. Cycle 100 of 0 to 188 is snapshot 25.
        assert_eq!((others.len(), others.group.pages[0].site.as_str()), (1, "a"));
        let History::Texts { from, .. } = &others.group.pages[0].history else { panic!("texts") };
        assert_eq!(from.as_slice(), &[(0, 0), (25, 1)]);
    }

    #[test]
    fn a_dataset_without_words_is_refused() {
        let mut bare = page("one", &[(0, 0)]);
        bare.words.clear();
        let dataset = |groups| Dataset { name: String::new(), groups };
        let refusal = |groups| of_dataset(&dataset(groups)).err().unwrap_or_default();
        assert!(refusal(vec![group("g", 60, vec![bare])]).contains("no words"));
        assert!(refusal(vec![group("g", 9, vec![page("a", &[(0, 0)])])]).contains("48 cycles"));
        assert!(refusal(vec![group("g", 60, vec![page("a", &[(0, 0)])])]).contains("only one group"));
    }
}
