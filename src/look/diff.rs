//! The difference between two versions of a page: both are read by the same noise rules.

use std::collections::BTreeSet;
use std::time::Instant;

use serde::Serialize;

use crate::crawl::observe::Observer;
use crate::store::{Store, StoredContent, VersionId};
use crate::time::Timestamp;

use super::LookError;
use super::page::{Sighting, VisitedPage, content};
use super::reread::{Rereader, title};
use super::text_diff::{Hunk, TextDiff};

/// Links that are listed; more are counted.
const LINKS: usize = 50;
/// A line with more characters is hard to read in a diff of whole lines.
const LONG_LINE: usize = 300;

/// The difference between two versions of a page.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct PageDiff {
    /// The page.
    pub url: String,
    /// The title of the newer version.
    pub title: Option<String>,
    /// The older version.
    pub from: ComparedVersion,
    /// The newer version.
    pub to: ComparedVersion,
    /// Words of the newer text that were not in the older one.
    pub words_added: usize,
    /// Words of the older text that are not in the newer one.
    pub words_removed: usize,
    /// Whether the bodies differ, whatever their texts say.
    pub bytes_differ: bool,
    /// Whether the titles differ.
    pub title_differs: bool,
    /// Links that only the newer version has.
    pub links_added: usize,
    /// Links that only the older version has.
    pub links_removed: usize,
    /// The first of the links that only the newer version has.
    pub added_links: Vec<String>,
    /// The first of the links that only the older version has.
    pub removed_links: Vec<String>,
    /// The noise rules changed between the two: both texts were read again from the stored bodies, by the rules of today.
    pub read_again: bool,
    /// The lines that were replaced.
    pub hunks: Vec<Hunk>,
    /// The texts compared, for those who draw them.
    #[serde(skip)]
    pub text: TextDiff,
    /// Whether either version has a text.
    #[serde(skip)]
    pub has_text: bool,
    /// The older and the newer text.
    #[serde(skip)]
    texts: [String; 2],
}

/// One side of the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ComparedVersion {
    /// The visit that found it.
    pub found_at: Timestamp,
    /// The last visit that found the page still like that.
    pub confirmed_at: Timestamp,
    /// Its number in the store.
    pub version_id: i64,
    /// Its title.
    pub title: Option<String>,
}

impl PageDiff {
    /// Is any changed line too long to be read as a whole?
    pub fn has_long_lines(&self) -> bool {
        let lines = self.hunks.iter().flat_map(|hunk| hunk.added.iter().chain(&hunk.removed));
        lines.into_iter().any(|line| line.chars().count() > LONG_LINE)
    }

    /// The difference of the texts with a sentence a line.
    pub fn by_sentences(&self, deadline: Instant) -> TextDiff {
        let [old, new] = self.texts.each_ref().map(|text| sentences(text));
        TextDiff::of(&old, &new, deadline)
    }
}

/// Compares the versions that were stored at two moments. Without `to` that is the last one; without `from` the last
/// before it that has another text, or, where there is none, other bytes. What is not compared by the deadline
/// counts as replaced.
pub fn diff(
    store: &mut dyn Store,
    observer: &Observer,
    url: &str,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
    deadline: Instant,
) -> Result<PageDiff, LookError> {
    let page = VisitedPage::load(store, &observer.normaliser, url)?;
    let url = page.page.url.clone();
    let sightings = page.sightings();
    let mut texts = ComparedTexts { reread: Rereader::new(store, observer, &page)?, new: None };
    let Some(chosen) = choose(&mut texts, store, &sightings, from, to)? else {
        return Err(LookError::NothingStored(url));
    };
    let (before, after) = (content(store, chosen.old.version)?, content(store, chosen.new.version)?);
    let read_again = chosen.old.text_rules != chosen.new.text_rules;
    let read = |version: VersionId, content: &StoredContent| {
        if read_again { texts.reread.text(version, content) } else { content.text.clone() }
    };
    let old_and_new = [read(chosen.old.version, &before), read(chosen.new.version, &after)].map(ended);
    let text = TextDiff::of(&old_and_new[0], &old_and_new[1], deadline);
    let titled =
        |version: VersionId, content: &StoredContent| title(content, texts.reread.content_type(version));
    let (old_title, new_title) = (titled(chosen.old.version, &before), titled(chosen.new.version, &after));
    let bytes_differ = before.body != after.body;
    let (mut old_links, mut new_links) = (BTreeSet::new(), BTreeSet::new());
    if bytes_differ {
        old_links = texts.reread.links(chosen.old.version, &before);
        new_links = texts.reread.links(chosen.new.version, &after);
    }
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
        one.difference(other).cloned().collect()
    };
    let (mut added_links, mut removed_links) = (only(&new_links, &old_links), only(&old_links, &new_links));
    let (links_added, links_removed) = (added_links.len(), removed_links.len());
    added_links.truncate(LINKS);
    removed_links.truncate(LINKS);
    let side = |seen: &Sighting, found_at: Timestamp, title: &Option<String>| ComparedVersion {
        found_at,
        confirmed_at: seen.at,
        version_id: seen.version.0,
        title: title.clone(),
    };
    Ok(PageDiff {
        url,
        from: side(&chosen.old, chosen.old_found_at, &old_title),
        to: side(&chosen.new, chosen.new_found_at, &new_title),
        words_added: text.words_added(),
        words_removed: text.words_removed(),
        bytes_differ,
        title_differs: old_title != new_title,
        title: new_title,
        links_added,
        links_removed,
        added_links,
        removed_links,
        read_again,
        hunks: text.replaced(),
        text,
        has_text: old_and_new.iter().any(|text| !text.is_empty()),
        texts: old_and_new,
    })
}

/// The two versions that are compared.
struct Chosen {
    old: Sighting,
    old_found_at: Timestamp,
    new: Sighting,
    new_found_at: Timestamp,
}

fn choose(
    texts: &mut ComparedTexts<'_>,
    store: &mut dyn Store,
    sightings: &[Sighting],
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Option<Chosen>, LookError> {
    let at = |moment: Timestamp| sightings.iter().rposition(|sighting| sighting.at <= moment).unwrap_or(0);
    let new = to.map_or(sightings.len().saturating_sub(1), at);
    let Some(last) = sightings.get(new).copied() else { return Ok(None) };
    let old = match from {
        Some(from) => at(from),
        None => {
            let earlier = sightings.get(..new).unwrap_or_default();
            match other_text(texts, store, earlier, last)? {
                Some(place) => place,
                // Bytes that differ are better than nothing; else the page was always like that.
                None => earlier.iter().rposition(|seen| seen.version != last.version).unwrap_or(0),
            }
        }
    };
    let Some(first) = sightings.get(old).copied() else { return Ok(None) };
    // The visits in a row that found the same.
    let run_start = |place: usize, since: usize| {
        let seen = sightings.get(since..=place).unwrap_or_default();
        let version = sightings.get(place).map(|seen| seen.version);
        let run = seen.iter().rev().take_while(|seen| Some(seen.version) == version);
        run.last().map(|seen| seen.at)
    };
    // All visits after the older text found the newer one.
    let is_default = from.is_none() && old < new && first.version != last.version;
    let found = if is_default { sightings.get(old + 1).map(|seen| seen.at) } else { run_start(new, 0) };
    Ok(Some(Chosen {
        old: first,
        old_found_at: run_start(old, 0).unwrap_or(first.at),
        new: last,
        new_found_at: found.unwrap_or(last.at),
    }))
}

/// The place of the last sighting of another text than that of `new`.
fn other_text(
    texts: &mut ComparedTexts<'_>,
    store: &mut dyn Store,
    earlier: &[Sighting],
    new: Sighting,
) -> Result<Option<usize>, LookError> {
    let mut same = (new.version, new.text_rules);
    for (place, seen) in earlier.iter().enumerate().rev() {
        if (seen.version, seen.text_rules) != same {
            if texts.differ(store, *seen, new)? {
                return Ok(Some(place));
            }
            same = (seen.version, seen.text_rules);
        }
    }
    Ok(None)
}

/// Texts that are compared by the same rules.
struct ComparedTexts<'o> {
    reread: Rereader<'o>,
    /// The newer text, as it is stored and read again by the rules of today.
    new: Option<(VersionId, String, String)>,
}

impl ComparedTexts<'_> {
    fn differ(&mut self, store: &mut dyn Store, old: Sighting, new: Sighting) -> Result<bool, LookError> {
        if self.new.as_ref().is_none_or(|(version, ..)| *version != new.version) {
            let found = content(store, new.version)?;
            let again = self.reread.text(new.version, &found);
            self.new = Some((new.version, found.text, again));
        }
        let Some((_, stored, again)) = &self.new else { return Ok(false) };
        if old.version == new.version {
            return Ok(false);
        }
        let found = content(store, old.version)?;
        Ok(if old.text_rules == new.text_rules {
            // What has no words differs as its bytes do.
            stored.is_empty() || found.text != *stored
        } else {
            self.reread.text(old.version, &found) != *again
        })
    }
}

/// A text that ends with a newline: a page has no last line without one.
fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// A text with a line for each sentence.
fn sentences(text: &str) -> String {
    let mut lines = String::with_capacity(text.len() + text.len() / 50);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        lines.push(character);
        let is_end = matches!(character, '.' | '!' | '?') && characters.peek() == Some(&' ');
        if is_end {
            characters.next();
        }
        if is_end
            || matches!(character, '\u{3002}' | '\u{ff01}' | '\u{ff1f}') && characters.peek() != Some(&'\n')
        {
            lines.push('\n');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_a_line_of_its_own() {
        assert_eq!(
            sentences("One. Two! Three? 1.5 is a number.\nNext."),
            "One.\nTwo!\nThree?\n1.5 is a number.\nNext."
        );
        assert_eq!(sentences("\u{4e00}\u{3002}\u{4e8c}\u{3002}"), "\u{4e00}\u{3002}\n\u{4e8c}\u{3002}\n");
        assert_eq!(
            (ended(String::new()), ended("a".to_owned()), ended("a\n".to_owned())),
            (String::new(), "a\n".into(), "a\n".into())
        );
    }
}
