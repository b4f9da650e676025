//! Which changes lasted, as the next visit that found the page shows it.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::change::fragment::Fragments;
use crate::change::lasting_change::{form_lasted, lasted};
use crate::crawl::observe::Observer;
use crate::page::PageId;
use crate::store::{PageEvent, Store, StoreError, VersionId, VisitRow};

use super::reread::text_by_rules;

/// Texts that are kept in memory: the text that one change of a page brought is the text that the next took away.
const RECENT_TEXTS: usize = 32;

/// Whether a change outlived a later visit.
#[derive(Clone, Debug)]
pub(super) enum Lasting {
    /// The later visit found what the change brought: all of it, or this text, which holds a part of it.
    Lasts(Option<Rc<SeenText>>),
    /// The later visit found something else.
    DidNotLast,
    /// There was no later visit yet.
    Waits,
}

/// A text, and its fragments.
#[derive(Debug)]
pub(super) struct SeenText {
    pub text: String,
    fragments: Fragments,
}

/// Judges changes, and remembers the texts read last.
pub(super) struct LastingJudge<'o> {
    observer: &'o Observer,
    /// Words of a fragment.
    words: usize,
    /// By version, and whether it was read by the rules of today.
    recent: VecDeque<((VersionId, bool), Rc<SeenText>)>,
}

impl<'o> LastingJudge<'o> {
    pub(super) fn new(observer: &'o Observer, words: usize) -> Self {
        Self { observer, words, recent: VecDeque::new() }
    }

    /// Was what a change brought still there when the page was found next?
    pub(super) fn judge(&mut self, store: &mut dyn Store, event: &PageEvent) -> Result<Lasting, StoreError> {
        Ok(self.judge_with_weight(store, event)?.0)
    }

    /// The same, and the weight that the page had at the visit.
    pub(super) fn judge_with_weight(
        &mut self,
        store: &mut dyn Store,
        event: &PageEvent,
    ) -> Result<(Lasting, f64), StoreError> {
        let visits = store.visits(PageId(event.page_id))?;
        let own = visits.iter().find(|visit| visit.id == event.observation_id);
        let weight = own.map_or(1.0, |own| own.weight);
        Ok((self.judge_among(store, event, &visits)?, weight))
    }

    fn judge_among(
        &mut self,
        store: &mut dyn Store,
        event: &PageEvent,
        visits: &[VisitRow],
    ) -> Result<Lasting, StoreError> {
        let later = visits.iter().filter(|visit| visit.at > event.at).find(|visit| visit.version.is_some());
        let Some(later) = later else { return Ok(Lasting::Waits) };
        let own = visits.iter().find(|visit| visit.id == event.observation_id);
        let (Some(own), Some(before)) = (own, event.previous_version_id.map(VersionId)) else {
            return Ok(Lasting::DidNotLast);
        };
        if later.version == own.version {
            return Ok(Lasting::Lasts(None));
        }
        if !own.has_words || !later.has_words {
            return Ok(Lasting::DidNotLast);
        }
        // A change is found between texts of the same rules; later the rules may be others.
        let reread = later.text_rules != own.text_rules;
        let versions = [Some(before), own.version, later.version];
        let mut texts = Vec::with_capacity(versions.len());
        for version in versions.into_iter().flatten() {
            texts.extend(self.text(store, event, version, reread)?);
        }
        let [before, after, later] = texts.as_slice() else { return Ok(Lasting::DidNotLast) };
        let found_again = lasted(&before.fragments, &after.fragments, &later.fragments, self.words);
        Ok(if after.text == later.text {
            Lasting::Lasts(None)
        } else if found_again || form_lasted(&before.text, &after.text, &later.text) {
            Lasting::Lasts(Some(Rc::clone(later)))
        } else {
            Lasting::DidNotLast
        })
    }

    /// The text of a version, as it was stored or read again by the rules of today; `None` if it is not stored.
    fn text(
        &mut self,
        store: &mut dyn Store,
        event: &PageEvent,
        version: VersionId,
        reread: bool,
    ) -> Result<Option<Rc<SeenText>>, StoreError> {
        let key = (version, reread);
        if let Some((_, seen)) = self.recent.iter().find(|(kept, _)| *kept == key) {
            return Ok(Some(Rc::clone(seen)));
        }
        let Some(content) = store.version(version)? else { return Ok(None) };
        let text =
            if reread { text_by_rules(self.observer, &event.url, None, &content) } else { content.text };
        let seen = Rc::new(SeenText { fragments: Fragments::of(&text, self.words), text });
        if self.recent.len() >= RECENT_TEXTS {
            self.recent.pop_front();
        }
        self.recent.push_back((key, Rc::clone(&seen)));
        Ok(Some(seen))
    }
}
