//! Change profiles → how far a page will have moved, and what a refresh is worth: the maths of longevity.
//!
//! Comes in: how far a page was from one of its versions after so many days, as [`samples::Sample`]s. Goes out:
//! the [`curve::Curve`] that fits them, which tells divergence and utility at any age, and when a refresh is
//! due; or, with no curve assumed, bounds on the utility ([`bound`]). Two pages that change equally often are
//! told apart here: one whose changes stay is worth a refresh, one whose new text is gone tomorrow is not
//! (Olston & Pandey 2008).
//!
//! Ages are in days, rates are per day, utility is divergence × days. Nothing here does I/O, looks at a clock
//! or draws a random number. What must stay true: whatever comes in, nothing that goes out is not-a-number,
//! and the same samples give the same curve, to the bit.

pub mod bound;
pub mod curve;
pub mod drift;
pub mod eagerness;
pub mod expected;
pub mod fit;
pub mod samples;
mod shape;
pub mod since;
mod tabulated;
pub mod threshold;
