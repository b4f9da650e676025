//! Two versions of a page side by side, and the forms that choose them.

use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::crawl::observe::Observer;
use crate::dashboard::links::{self, Href};
use crate::look::LookError;
use crate::look::diff::diff;
use crate::look::page_view::PageView;
use crate::look::versions::VersionSpan;
use crate::report::Screen;
use crate::report::diff_words::differences;
use crate::report::side_by_side::{SideBySide, SideLimits};
use crate::store::Store;

/// Time to compare two texts: what has not been compared after it counts as replaced.
const TIME_LIMIT: Duration = Duration::from_millis(200);
/// Versions that the lists offer, the latest. The slider reaches all.
const OFFERED: usize = 200;
/// Links that are listed.
const MOST_LINKS: usize = 10;

/// The versions that are asked for, by their numbers.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Picked {
    /// This one and the one before it.
    v: Option<usize>,
    /// The older one.
    from: Option<usize>,
    /// The newer one.
    to: Option<usize>,
}

/// The part of a page about its versions.
pub(crate) struct PageVersions {
    /// The address of the page.
    pub page: String,
    /// Versions that the page had, stored or not.
    pub count: usize,
    /// Those of them that can be shown, the latest, oldest first.
    pub offered: Vec<OfferedVersion>,
    pub from: OfferedVersion,
    pub to: OfferedVersion,
    /// Is there another version to compare with?
    pub is_pair: bool,
    /// The number of the first version and of the last one.
    pub first: usize,
    pub last: usize,
    pub previous: Option<String>,
    pub next: Option<String>,
    /// What differs, in words.
    pub differences: Vec<String>,
    /// The noise rules changed in between.
    pub read_again: bool,
    pub sides: SideBySide,
    pub added_links: Vec<String>,
    pub removed_links: Vec<String>,
}

/// A version that can be chosen.
#[derive(Clone)]
pub(crate) struct OfferedVersion {
    pub number: usize,
    /// When it was found.
    pub found: String,
    /// The last visit that found it.
    pub confirmed: String,
    /// How far it was from the one before.
    pub moved: String,
    /// Its text.
    pub text_href: String,
}

impl OfferedVersion {
    fn of(held: &VersionSpan, page: &str, screen: &Screen) -> Self {
        Self {
            number: held.number,
            found: screen.time(held.found_at),
            confirmed: screen.time(held.confirmed_at),
            moved: held.divergence.map_or(String::new(), |moved| format!(", moved {moved:.3}")),
            text_href: Href::to(format!("{page}/text")).with("v", held.number).written(),
        }
    }
}

/// The versions that are asked for, compared; without a choice the last two. `None`: no version is stored.
pub(crate) fn compared(
    store: &mut dyn Store,
    observer: &Observer,
    view: &PageView,
    picked: Picked,
    screen: &Screen,
) -> Result<Option<PageVersions>, LookError> {
    let held = &view.history.versions;
    let stored: Vec<&VersionSpan> = held.iter().filter(|held| held.is_stored).collect();
    let Some((old, new)) = choose(&stored, picked) else { return Ok(None) };
    let page = links::page(view.page_id);
    let offer = |held: &VersionSpan| OfferedVersion::of(held, &page, screen);
    let shown = |number: usize| Href::to(page.clone()).with("v", number).written() + "#versions";
    let place = stored.iter().position(|one| one.number == new.number).unwrap_or(0);
    let mut found = PageVersions {
        count: held.len(),
        offered: stored.iter().rev().take(OFFERED).rev().map(|held| offer(held)).collect(),
        from: offer(old),
        to: offer(new),
        is_pair: old.number != new.number,
        first: stored.first().map_or(1, |held| held.number),
        last: stored.last().map_or(1, |held| held.number),
        previous: place.checked_sub(1).and_then(|before| stored.get(before)).map(|held| shown(held.number)),
        next: stored.get(place + 1).map(|held| shown(held.number)),
        differences: Vec::new(),
        read_again: false,
        sides: SideBySide::default(),
        added_links: Vec::new(),
        removed_links: Vec::new(),
        page,
    };
    if !found.is_pair {
        return Ok(Some(found));
    }
    let deadline = Instant::now() + TIME_LIMIT;
    let times = (Some(old.confirmed_at), Some(new.confirmed_at));
    let compared = diff(store, observer, &view.history.url, times, deadline)?;
    found.differences = differences(&compared);
    found.read_again = compared.read_again;
    found.sides = match compared.has_long_lines() {
        true => SideBySide::of(&compared.by_sentences(deadline), SideLimits::default()),
        false => SideBySide::of(&compared.text, SideLimits::default()),
    };
    found.added_links = compared.added_links.into_iter().take(MOST_LINKS).collect();
    found.removed_links = compared.removed_links.into_iter().take(MOST_LINKS).collect();
    Ok(Some(found))
}

/// The older and the newer version, as near to the choice as there is one; the same one twice if there is but one.
fn choose<'h>(stored: &[&'h VersionSpan], picked: Picked) -> Option<(&'h VersionSpan, &'h VersionSpan)> {
    // The last one up to a number, or else the first.
    let up_to =
        |number: usize| stored.iter().rev().find(|held| held.number <= number).or(stored.first()).copied();
    let new = up_to(picked.to.or(picked.v).unwrap_or(usize::MAX))?;
    let old = match picked.from {
        Some(from) => up_to(from)?,
        None => up_to(new.number.saturating_sub(1))?,
    };
    Some(if old.number <= new.number { (old, new) } else { (new, old) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn held(number: usize) -> VersionSpan {
        VersionSpan {
            number,
            version_id: number as i64,
            found_at: Timestamp::from_seconds(1),
            confirmed_at: Timestamp::from_seconds(1),
            visits: 1,
            divergence: None,
            body_bytes: 1,
            is_stored: true,
        }
    }

    #[test]
    fn versions_are_chosen_as_near_as_there_are_some() {
        let all = [held(1), held(2), held(5)];
        let stored: Vec<&VersionSpan> = all.iter().collect();
        let chosen =
            |v, from, to| choose(&stored, Picked { v, from, to }).map(|(old, new)| (old.number, new.number));
        assert_eq!(chosen(None, None, None), Some((2, 5)), "the last two");
        assert_eq!(chosen(Some(2), None, None), Some((1, 2)));
        assert_eq!(chosen(Some(4), None, None), Some((1, 2)), "no version 4 is stored");
        assert_eq!(chosen(Some(1), None, None), Some((1, 1)), "nothing is before it");
        assert_eq!(chosen(None, Some(5), Some(1)), Some((1, 5)), "in order of time");
        assert_eq!(chosen(Some(0), None, None), Some((1, 1)));
        assert_eq!(choose(&[], Picked::default()).map(|_| ()), None);
    }
}
