//! How much of a page's history is read, so that a page of the dashboard takes bounded time.

use std::collections::BTreeMap;

use super::page::Sighting;
use super::versions::VersionSpan;

/// How much of a history is read, the latest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Visits that are given.
    pub visits: usize,
    /// Visits whose texts are compared.
    pub snapshots: usize,
    /// Bytes of the bodies of these.
    pub bytes: u64,
}

/// Sightings that are not read: those before the latest that the limits allow.
pub(super) fn unread(sightings: &[Sighting], versions: &[VersionSpan], limits: HistoryLimits) -> usize {
    let sizes: BTreeMap<i64, u64> = versions.iter().map(|held| (held.version_id, held.body_bytes)).collect();
    let (mut bytes, mut after) = (0_u64, None);
    let is_read = |seen: &&Sighting| {
        if after != Some(seen.version) {
            bytes = bytes.saturating_add(sizes.get(&seen.version.0).copied().unwrap_or(0));
        }
        // The last one is read however large it is.
        let is_last = after.is_none();
        after = Some(seen.version);
        is_last || bytes <= limits.bytes
    };
    let read = sightings.iter().rev().take(limits.snapshots).take_while(is_read).count();
    sightings.len() - read
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::VersionId;
    use crate::time::Timestamp;

    #[test]
    fn the_latest_snapshots_are_read_as_far_as_they_may() {
        let seen = |at, version| Sighting {
            at: Timestamp::from_seconds(at),
            version: VersionId(version),
            text_rules: 0,
        };
        let sightings = [seen(1, 1), seen(2, 2), seen(3, 2), seen(4, 3)];
        let held = |version_id, body_bytes| VersionSpan {
            number: version_id as usize,
            version_id,
            found_at: Timestamp::from_seconds(version_id),
            confirmed_at: Timestamp::from_seconds(version_id),
            visits: 1,
            divergence: None,
            body_bytes,
            is_stored: true,
        };
        let versions = [held(1, 10), held(2, 10), held(3, 10)];
        let unread =
            |snapshots, bytes| unread(&sightings, &versions, HistoryLimits { visits: 1, snapshots, bytes });
        assert_eq!((unread(usize::MAX, u64::MAX), unread(3, u64::MAX), unread(0, 99)), (0, 1, 4));
        assert_eq!(
            (unread(9, 20), unread(9, 19), unread(9, 0)),
            (1, 3, 3),
            "a version that stays counts once"
        );
    }
}
