//! What counts as a change.
