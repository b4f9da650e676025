//! Contents that were asked for lately, up to a number of bytes; the least recently used goes first.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;

/// Bytes that an entry takes beside its content: its name twice, and its place in the tables.
const ENTRY_BYTES: usize = 256;

/// Contents by name, up to a number of bytes.
#[derive(Debug)]
pub(crate) struct ContentCache {
    most_bytes: usize,
    bytes: usize,
    asked: u64,
    contents: HashMap<Box<str>, (u64, Bytes)>,
    /// The names by when they were last asked for.
    by_time: BTreeMap<u64, Box<str>>,
}

impl ContentCache {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, bytes: 0, asked: 0, contents: HashMap::new(), by_time: BTreeMap::new() }
    }

    pub(super) fn get(&mut self, name: &str) -> Option<Bytes> {
        let (time, content) = self.contents.get_mut(name)?;
        self.asked += 1;
        let name = self.by_time.remove(time)?;
        *time = self.asked;
        self.by_time.insert(self.asked, name);
        Some(content.clone())
    }

    /// Keeps a content, at the cost of others; one that is larger than all the room is not kept.
    pub(super) fn put(&mut self, name: &str, content: Bytes) {
        let bytes = content.len() + ENTRY_BYTES;
        if bytes > self.most_bytes || self.contents.contains_key(name) {
            return;
        }
        while self.bytes + bytes > self.most_bytes {
            let Some((_, oldest)) = self.by_time.pop_first() else { break };
            if let Some((_, gone)) = self.contents.remove(&oldest) {
                self.bytes -= gone.len() + ENTRY_BYTES;
            }
        }
        self.asked += 1;
        self.bytes += bytes;
        self.contents.insert(name.into(), (self.asked, content));
        self.by_time.insert(self.asked, name.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_not_asked_for_the_longest_goes_first() {
        let mut kept = ContentCache::new(3 * (ENTRY_BYTES + 10));
        let ten = || Bytes::from_static(&[7; 10]);
        for name in ["a", "b", "c"] {
            kept.put(name, ten());
        }
        assert_eq!(kept.get("a"), Some(ten()));
        kept.put("d", ten());
        assert_eq!(kept.get("b"), None);
        assert!(["a", "c", "d"].into_iter().all(|name| kept.get(name).is_some()));
        kept.put("e", Bytes::from(vec![0; 5000]));
        assert_eq!(kept.get("e"), None, "there is no room for it");
        assert!(kept.get("a").is_some());
    }

    proptest! {
        #[test]
        fn it_never_takes_more_room_than_it_has(asked in prop::collection::vec((0u8..20, 0usize..900), 0..200)) {
            let mut kept = ContentCache::new(4000);
            for (name, bytes) in asked {
                let name = name.to_string();
                if kept.get(&name).is_none() {
                    kept.put(&name, Bytes::from(vec![0; bytes]));
                    prop_assert!(kept.get(&name).is_some());
                }
                let held: usize = kept.contents.values().map(|(_, content)| content.len() + ENTRY_BYTES).sum();
                prop_assert_eq!(held, kept.bytes);
                prop_assert!(held <= 4000);
                prop_assert_eq!(kept.by_time.len(), kept.contents.len());
            }
        }
    }
}
