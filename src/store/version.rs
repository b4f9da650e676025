//! A version: a content, held once. Body and text are packed one after the other into one zstd frame: the text is
//! in the body already, so it costs a few bytes and almost no time (measured on 24 KB pages at level 1: 11.6 KB and
//! 114 µs together, 20.3 KB and 237 µs apart).

use std::cell::RefCell;

use super::{Result, StoreError};

/// The fast end of zstd: a crawl is bound by its CPU long before its disk. Higher levels save 5 % at twice the time.
pub(super) const LEVEL: i32 = 1;

/// The buffers that packing needs again and again: a context is a megabyte of tables, and buffers of a page's size cost more to
/// get from the system than to fill. One a thread, not one a page.
#[derive(Default)]
struct Packer {
    context: Option<zstd::bulk::Compressor<'static>>,
    input: Vec<u8>,
    output: Vec<u8>,
}

/// Buffers that one huge page made larger than this are given back.
const KEPT_BUFFER: usize = 1 << 20;

thread_local! {
    static PACKER: RefCell<Packer> = RefCell::default();
}

/// SHA-256 of a body (FIPS 180-4).
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().first_chunk().copied().unwrap_or_default()
}

/// A hash as people write it.
pub fn hex(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash that tells a body or a text from others: SHA-256 (FIPS 180-4), cut to 128 bits. Pages come from strangers, so
/// it must not be possible to make another content with the hash of one that is held.
pub fn content_hash(bytes: &[u8]) -> u128 {
    first_half(&sha256(bytes))
}

/// The part of a SHA-256 that contents are told apart by.
pub fn first_half(hash: &[u8; 32]) -> u128 {
    u128::from_be_bytes(hash.first_chunk().copied().unwrap_or_default())
}

/// Packs a body and its text.
pub fn pack(body: &[u8], text: &str) -> std::io::Result<Vec<u8>> {
    compress_parts([body, text.as_bytes()])
}

/// Gives back body and text.
pub(crate) fn unpack(packed: &[u8], body_bytes: usize, text_bytes: usize) -> Result<(Vec<u8>, String)> {
    let bad = |what: &str| StoreError::BadValue(format!("a stored version {what}"));
    let length = body_bytes.checked_add(text_bytes).ok_or_else(|| bad("has an impossible length"))?;
    let mut both = decompress(packed, length)?;
    if both.len() != length {
        return Err(bad("is shorter than it was"));
    }
    let text =
        String::from_utf8(both.split_off(body_bytes)).map_err(|_| bad("has text that is not UTF-8"))?;
    Ok((both, text))
}

/// One zstd frame.
pub fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    compress_parts([bytes, &[]])
}

fn compress_parts(parts: [&[u8]; 2]) -> std::io::Result<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| {
        let Packer { context, input, output } = packer;
        let context = match context {
            Some(context) => context,
            None => context.insert(zstd::bulk::Compressor::new(LEVEL)?),
        };
        input.clear();
        parts.iter().for_each(|part| input.extend_from_slice(part));
        output.clear();
        output.reserve(zstd::zstd_safe::compress_bound(input.len()));
        context.compress_to_buffer(input.as_slice(), output)?;
        let packed = output.as_slice().to_vec();
        for buffer in [input, output] {
            buffer.clear();
            buffer.shrink_to(KEPT_BUFFER);
        }
        Ok(packed)
    })
}

/// Undoes [`compress`]; `most` is the longest that it may be.
pub(crate) fn decompress(packed: &[u8], most: usize) -> Result<Vec<u8>> {
    zstd::bulk::decompress(packed, most)
        .map_err(|error| StoreError::BadValue(format!("stored content does not unpack: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_told_by_the_first_half_of_its_sha_256() {
        // FIPS 180-4, the example of one block.
        assert_eq!(content_hash(b"abc"), 0xba7816bf_8f01cfea_414140de_5dae2223);
        let whole = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&sha256(b"abc")), whole);
    }

    #[test]
    fn what_is_packed_comes_back() {
        let (body, text) = (b"<p>caf\xe9 and tea</p>".as_slice(), "café and tea");
        let packed = pack(body, text).unwrap();
        assert_eq!(unpack(&packed, body.len(), text.len()).unwrap(), (body.to_vec(), text.to_owned()));
        assert_eq!(unpack(&pack(b"", "").unwrap(), 0, 0).unwrap(), (Vec::new(), String::new()));
    }

    #[test]
    fn a_damaged_version_is_an_error() {
        let packed = pack(b"body", "text").unwrap();
        assert!(unpack(&packed, 3, 4).is_err());
        assert!(unpack(&packed, 400, 400).is_err());
        assert!(unpack(b"junk", 4, 4).is_err());
        assert!(unpack(&packed, usize::MAX, 4).is_err());
    }
}
