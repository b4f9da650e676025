//! Numerical functions that several rooms need: the incomplete gamma function and the root of a rising function.
//!
//! Numbers come in and numbers go out. Nothing here knows about pages, visits or time.

pub mod gamma_function;
pub mod root;
