//! Text → fragments: hashed runs of words.
