//! A policy's memory of one page: a few bytes that only this policy reads and writes.
//!
//! The page keeps the bytes, and so does a store. A policy says how they are laid out by [`Policy::memory_version`], and reads
//! them whenever it scores the page: so a layout with the numbers that a score needs at its start is quick
//! ([`PageMemory::peek`]). Numbers are written with [`crate::varint`].
//!
//! [`Policy::memory_version`]: super::Policy::memory_version

/// The memory of one page. Empty until the policy writes something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageMemory(Box<[u8]>);

impl PageMemory {
    /// The memory that these bytes are.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// The bytes, as a store keeps them.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Has nothing been written yet?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads the whole memory. The result is the default value if the memory is empty, or if `take` can't read it all.
    pub fn read<T: Default>(&self, take: impl FnOnce(&mut &[u8]) -> Option<T>) -> T {
        let mut rest = self.bytes();
        take(&mut rest).filter(|_| rest.is_empty()).unwrap_or_default()
    }

    /// Reads the start of the memory; `None` if the memory is empty or `take` can't read it.
    pub fn peek<T>(&self, take: impl FnOnce(&mut &[u8]) -> Option<T>) -> Option<T> {
        take(&mut self.bytes())
    }

    /// Replaces the memory by the bytes that `push` appends.
    pub fn write(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = Vec::with_capacity(64);
        push(&mut bytes);
        self.0 = bytes.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::varint::{push, take};

    fn two(rest: &mut &[u8]) -> Option<(u64, u64)> {
        Some((take(rest)?, take(rest)?))
    }

    #[test]
    fn what_was_written_is_read_whole_or_not_at_all() {
        let mut memory = PageMemory::default();
        assert!(memory.is_empty());
        assert_eq!((memory.read(two), memory.peek(take)), ((0, 0), None));
        memory.write(|bytes| [700, 3].iter().for_each(|number| push(bytes, *number)));
        assert_eq!((memory.read(two), memory.peek(take)), ((700, 3), Some(700)));
        assert_eq!(memory.read(take), 0, "bytes are left over");
        assert_eq!(PageMemory::from_bytes(memory.bytes()), memory);
    }
}
