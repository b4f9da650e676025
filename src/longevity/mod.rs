//! Change profiles → the divergence of a page at any age, and the utility of a refresh: the maths of longevity.
//!
//! Comes in: [`samples::Sample`]s, each the divergence of a page from one of its versions after some days. Goes out: the
//! [`curve::Curve`] that fits them, which gives divergence and utility at any age and the time of the next refresh; or, with no
//! curve assumed, bounds on the utility ([`bound`]). This tells apart two pages that change equally often: a page whose changes
//! last is worth a refresh, a page whose new text is gone tomorrow is not (Olston & Pandey 2008).
//!
//! Ages are in days, rates per day, utility in divergence × days. Nothing here does I/O, reads a clock or draws a random number.
//! What must stay true: no result is not-a-number, whatever comes in; and the same samples give the same curve, to the bit.

pub mod bound;
pub mod curve;
mod curve_table;
pub mod drift;
#[cfg(test)]
mod exact_divergence;
pub mod fit;
pub mod interpolation;
mod list_turnover;
pub(crate) mod rhythm;
pub mod samples;
pub mod since_refresh;
pub mod threshold;
