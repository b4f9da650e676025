//! How far two sketches are apart.
