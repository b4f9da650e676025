//! The smallest hashes of a set of fragments: a small set standing for them all.
