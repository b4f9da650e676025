//! The store and the policy together: what a cycle hands to its writer and gets back.

use super::batch::{AddedPage, Batch, FoundPage, Recorded, RecordedVisit};
use super::record::{self, record_among};
use super::weights::Weights;
use crate::follow::promises::WordPromises;
use crate::observation::wall::SmallTexts;
use crate::policy::{self, PageState, Policy};
use crate::store::{CycleId, Result, Store};
use crate::time::Timestamp;

/// The store, and the policy that learns from visits. A cycle hands both to its writer and gets them back.
pub(super) struct Recorder {
    pub(super) store: Box<dyn Store>,
    pub(super) policy: Box<dyn Policy>,
    /// Importance of pages.
    pub(super) weights: Weights,
    /// What the words of links to new pages promise.
    pub(super) promises: WordPromises,
    /// Texts that pages shrank to lately.
    pub(super) small_texts: SmallTexts,
}

impl Recorder {
    /// Records a batch, all of it or nothing. New pages get their score.
    pub(super) fn record(
        &mut self,
        cycle: CycleId,
        batch: Batch,
    ) -> Result<(Vec<RecordedVisit>, Vec<FoundPage>)> {
        let Self { store, policy, weights, small_texts, .. } = self;
        let Recorded { new, visits } =
            record_among(&mut **store, &**policy, weights, small_texts, cycle, batch)?;
        let now = Timestamp::now();
        let scored = |AddedPage { id, host, url, anchor, state }: AddedPage| {
            let anchor_gain = anchor.map_or(0.0, |words| self.promises.of(&words));
            let state = PageState { weight: self.weights.of(id, state.weight), anchor_gain, ..state };
            let score = policy::score(&*self.policy, &state, now);
            FoundPage { host, url, state, score }
        };
        Ok((visits, new.into_iter().map(scored).collect()))
    }

    /// Takes in pages that were found outside a cycle.
    pub(super) fn take_in(&mut self, batch: Batch) -> Result<Vec<AddedPage>> {
        record::take_in(&mut *self.store, &*self.policy, batch)
    }
}
