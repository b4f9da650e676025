//! Heads of answers, packed.
//!
//! Most answers of a server have the same headers, but for dates, lengths and tags. So the first head with a list of names is
//! a model, stored whole, and every head with these names is one zstd frame that has the model as its dictionary.

use super::{Result, StoreError, version};
use crate::fetch::answer_head::AnswerHead;

/// Longer blocks are not ours: a status line and all the headers that are kept.
const MOST_BLOCK_BYTES: usize = 2 * crate::fetch::answer_head::MOST_HEADER_BYTES;

/// A hash of the names of the headers in their order: heads with the same names share a model.
pub(super) fn names_hash(head: &AnswerHead) -> u128 {
    let names: Vec<&str> = head.headers.iter().map(|(name, _)| name.as_str()).collect();
    version::content_hash(names.join("\n").as_bytes())
}

/// Packs a block by its model.
pub(super) fn pack(block: &[u8], model: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::bulk::Compressor::with_dictionary(version::LEVEL, model)?.compress(block)
}

/// Gives the block back.
pub(super) fn unpack(packed: &[u8], model: &[u8]) -> Result<Vec<u8>> {
    zstd::bulk::Decompressor::with_dictionary(model)
        .and_then(|mut context| context.decompress(packed, MOST_BLOCK_BYTES))
        .map_err(|error| StoreError::BadValue(format!("headers that do not unpack: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_like_its_model_takes_a_few_bytes() {
        let block = |date: &str, length: u32| {
            format!(
                "HTTP/1.1 200\r\nserver: nginx/1.24.0\r\ndate: Tue, 17 Nov 2026 {date} GMT\r\n\
                 content-type: text/html; charset=utf-8\r\ncontent-length: {length}\r\n\
                 etag: \"6553{length:x}\"\r\nstrict-transport-security: max-age=31536000\r\n"
            )
        };
        let (model, other) = (block("08:00:00", 4711), block("08:12:31", 12_345));
        for block in [&model, &other] {
            let packed = pack(block.as_bytes(), model.as_bytes()).expect("it packs");
            assert!(packed.len() < 70, "{} bytes of {}", packed.len(), block.len());
            assert_eq!(unpack(&packed, model.as_bytes()).expect("it unpacks"), block.as_bytes());
        }
        assert!(unpack(b"junk", model.as_bytes()).is_err());
    }
}
