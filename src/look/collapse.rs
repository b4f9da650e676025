//! Which changes are one and the same: a template of a site changed, and every page of it shows that.
//!
//! The rule is strict, so that no page's own change is hidden behind a footer: **everything** that lasted of a change must be
//! shared with at least two other pages of the host, and they were visited within a week of one another. What a change consists of
//! is told by marks ([`marks`]): a hash of each passage that came or went, with the word before it. So a year that changes at the end
//! of a line is the same change on every page, though the line begins with the page's own title.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use similar::DiffTag;
use xxhash_rust::xxh3::Xxh3;

use super::new_text::{last_word, lasts_in};
use super::text_diff::{DiffLine, TextDiff};
use crate::time::Timestamp;

/// Pages that make a template: two may be copies of each other.
const FEWEST_PAGES: usize = 3;
/// Pages of a template that are visited further apart than this have changed twice.
const WINDOW: Duration = Duration::from_secs(7 * 86_400);
/// Passages of a change that are looked at: a page that was rewritten is no template.
const MOST_MARKS: usize = 64;

/// A change, as far as it may be that of a template.
#[derive(Clone, Debug)]
pub(super) struct Collapsible<'a> {
    /// The origin of its page.
    pub host: &'a str,
    /// The number of its page.
    pub page: i64,
    /// When it was found.
    pub at: Timestamp,
    /// What came and went.
    pub marks: &'a BTreeSet<u64>,
}

/// Changes that are one, by their places, each change in exactly one group; changes of pages alone are groups of one. Groups are in
/// the order of their first change, and so are the changes of a group.
pub(super) fn collapse(changes: &[Collapsible<'_>]) -> Vec<Vec<usize>> {
    let runs = runs(changes);
    let pages_of = |run: &BTreeSet<usize>| {
        let pages: BTreeSet<i64> =
            run.iter().filter_map(|place| changes.get(*place)).map(|change| change.page).collect();
        pages.len()
    };
    // The runs that each change is in, by mark.
    let mut wide: Vec<Vec<(usize, u64, usize)>> = vec![Vec::new(); changes.len()];
    for (number, (mark, run)) in runs.iter().enumerate() {
        let pages = pages_of(run);
        if pages < FEWEST_PAGES {
            continue;
        }
        for place in run {
            if let Some(wide) = wide.get_mut(*place) {
                wide.push((pages, *mark, number));
            }
        }
    }
    // A change belongs to the run of most pages, if all that it consists of is shared.
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut alone = Vec::new();
    for (place, (change, wide)) in changes.iter().zip(&wide).enumerate() {
        let shared: BTreeSet<u64> = wide.iter().map(|(_, mark, _)| *mark).collect();
        let widest = wide.iter().max().filter(|_| shared.len() == change.marks.len());
        match widest {
            Some((_, _, run)) => groups.entry(*run).or_default().push(place),
            None => alone.push(vec![place]),
        }
    }
    // Pages that have a change of their own as well have left the group.
    let mut all = alone;
    for group in groups.into_values() {
        if pages_of(&group.iter().copied().collect()) < FEWEST_PAGES {
            all.extend(group.into_iter().map(|place| vec![place]));
        } else {
            all.push(group);
        }
    }
    all.sort();
    all
}

/// Changes of one host that share a mark, cut where there was none for longer than the window.
fn runs(changes: &[Collapsible<'_>]) -> Vec<(u64, BTreeSet<usize>)> {
    let mut by_mark: BTreeMap<(&str, u64), Vec<(Timestamp, usize)>> = BTreeMap::new();
    for (place, change) in changes.iter().enumerate() {
        for mark in change.marks {
            by_mark.entry((change.host, *mark)).or_default().push((change.at, place));
        }
    }
    let mut runs = Vec::new();
    for ((_, mark), mut sharing) in by_mark {
        sharing.sort_unstable();
        for run in sharing.chunk_by(|one, next| next.0.after(one.0) <= WINDOW) {
            runs.push((mark, run.iter().map(|(_, place)| *place).collect()));
        }
    }
    runs
}

/// A hash of each passage that came or went, with the word before it in its line. `later`: passages that came and are not in this
/// text don't count, nor does what they came in place of. Nothing if there are too many to be a template's.
pub(super) fn marks(diff: &TextDiff, later: Option<&str>) -> BTreeSet<u64> {
    let mut marks = BTreeSet::new();
    let hunks = diff.hunks(0);
    for operation in hunks.iter().flatten().filter(|operation| operation.tag() != DiffTag::Equal) {
        let (old, new) = (diff.old_lines(operation), diff.new_lines(operation));
        if new.is_empty() {
            old.iter().for_each(|line| mark_line(b'-', line, &mut marks));
            continue;
        }
        // Line beside line, where as many came as went: then a clock does not take the news beside it along.
        let pairs: Vec<(&[DiffLine], &[DiffLine])> = if old.len() == new.len() {
            old.chunks(1).zip(new.chunks(1)).collect()
        } else {
            vec![(old, new)]
        };
        for (old, new) in pairs {
            let lasting: Vec<&DiffLine> =
                new.iter().filter(|line| later.is_none_or(|later| lasts_in(line, later))).collect();
            if !lasting.is_empty() {
                lasting.into_iter().for_each(|line| mark_line(b'+', line, &mut marks));
                old.iter().for_each(|line| mark_line(b'-', line, &mut marks));
            }
        }
        if marks.len() > MOST_MARKS {
            return BTreeSet::new();
        }
    }
    marks
}

fn mark_line(sign: u8, line: &DiffLine, marks: &mut BTreeSet<u64>) {
    for passage in &line.changed {
        marks.insert(hash(sign, &line.text, passage));
    }
}

fn hash(sign: u8, line: &str, passage: &Range<usize>) -> u64 {
    let before = line.get(..passage.start).unwrap_or_default().trim_end();
    let word = last_word(before).and_then(|length| before.get(before.len() - length..)).unwrap_or_default();
    let mut hasher = Xxh3::new();
    hasher.update(&[sign]);
    hasher.update(word.as_bytes());
    hasher.update(&[0]);
    hasher.update(line.get(passage.clone()).unwrap_or_default().trim().as_bytes());
    hasher.digest()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const DAY: i64 = 86_400;

    fn diff(old: &str, new: &str) -> TextDiff {
        TextDiff::of(old, new, Instant::now() + Duration::from_secs(5))
    }

    /// Changes of pages: host, day, what the page said before and after.
    fn groups(changes: &[(&str, i64, String, String)]) -> Vec<Vec<usize>> {
        let marks: Vec<BTreeSet<u64>> =
            changes.iter().map(|(_, _, old, new)| marks(&diff(old, new), None)).collect();
        let all: Vec<Collapsible<'_>> = changes
            .iter()
            .zip(&marks)
            .enumerate()
            .map(|(page, ((host, day, ..), marks))| Collapsible {
                host,
                page: page as i64,
                at: Timestamp::from_seconds(day * DAY),
                marks,
            })
            .collect();
        collapse(&all)
    }

    fn footer(page: &str, year: u32) -> String {
        format!("All about {page}\nWords of {page} alone\n{page} \u{a9} {year} Example Ltd")
    }

    #[test]
    fn a_footer_is_one_change_whatever_the_pages_say() {
        let change = |page: &str| ("https://a.example", 1, footer(page, 2025), footer(page, 2026));
        assert_eq!(groups(&[change("tea"), change("coffee"), change("milk")]), [vec![0, 1, 2]]);
        assert_eq!(groups(&[change("tea"), change("coffee")]), [vec![0], vec![1]], "two may be copies");
    }

    #[test]
    fn a_page_with_news_of_its_own_stands_alone() {
        let change = |page: &str| ("https://a.example", 1, footer(page, 2025), footer(page, 2026));
        let mut news = change("water");
        news.3 = news.3.replace("Words of water alone", "Water is out of stock until May");
        assert_eq!(
            groups(&[change("tea"), change("coffee"), news, change("milk")]),
            [vec![0, 1, 3], vec![2]]
        );
    }

    #[test]
    fn other_hosts_and_other_weeks_are_other_changes() {
        let change = |host, day, page: &str| (host, day, footer(page, 2025), footer(page, 2026));
        let (a, b) = ("https://a.example", "https://b.example");
        let all = [change(a, 1, "one"), change(b, 1, "two"), change(a, 2, "three"), change(b, 2, "four")];
        assert_eq!(groups(&all).len(), 4, "two of each host");
        let week = [0, 1, 2, 40, 41, 42].map(|day| change(a, day, "page"));
        assert_eq!(groups(&week), [vec![0, 1, 2], vec![3, 4, 5]]);
    }

    #[test]
    fn one_page_that_changes_again_and_again_is_no_template() {
        let marks = marks(&diff("same\nold", "same\nnew"), None);
        let change = |at| Collapsible { host: "h", page: 7, at: Timestamp::from_seconds(at), marks: &marks };
        assert_eq!(collapse(&[change(1), change(2), change(3)]).len(), 3);
    }

    #[test]
    fn what_did_not_last_does_not_count() {
        let page = |clock: &str, year: u32| format!("It is {clock}\nmiddle\n\u{a9} {year}");
        let change = diff(&page("10:01", 2025), &page("10:07", 2026));
        let lasting = marks(&change, Some(&page("10:19", 2026)));
        assert_eq!(lasting, marks(&diff(&page("x", 2025), &page("x", 2026)), None));
        assert!(marks(&change, None).len() > lasting.len());
    }

    #[test]
    fn a_rewritten_page_and_one_without_words_have_no_marks() {
        let lines = |word: &str| (0..200).map(|at| format!("{word} {at} {word}\n")).collect::<String>();
        assert!(marks(&diff(&lines("old"), &lines("new")), None).is_empty());
        assert!(marks(&diff("same", "same"), None).is_empty());
        let nothing = BTreeSet::new();
        let change = |page| Collapsible { host: "h", page, at: Timestamp::default(), marks: &nothing };
        assert_eq!(collapse(&[change(1), change(2), change(3)]).len(), 3);
    }
}
