//! The model of the web: a [`WebSpec`] and a moment in, pages and what is true of them out.
//!
//! Every version is a function of (seed, host, page, time). Nothing is stored, and any moment can be asked for, before
//! day 0 too. A page is a mix of static, churn and scroll regions (Olston & Pandey 2008, §3.3).

pub(crate) mod announcements;
pub mod clock;
pub mod content;
mod draw;
pub(crate) mod lists;
pub mod poisson;
pub mod queries;
pub mod rhythm;
pub mod site;
pub mod spec;
pub(crate) mod text_history;
mod told_changes;
pub(crate) mod told_past;
pub mod truth;
pub mod turnover;
pub mod validators;
mod words;

pub use clock::Clock;
pub use content::{Mix, ModelBehaviour, PageContent, Region, RegionKind};
pub use rhythm::Rhythm;
pub use site::Site;
pub use spec::{Announcing, SpecError, Telling, Validity, WebSpec};
pub use turnover::{Fate, Tenant};

#[cfg(test)]
mod reading_tests;
#[cfg(test)]
mod tests;
