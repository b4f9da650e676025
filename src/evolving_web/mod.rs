//! A web on loopback that changes while it is crawled, and whose truth is known.
//!
//! Comes in: a [`Spec`] and a moment, in days since the web began. Goes out: what any path of any host answers at
//! that moment, and what is true of it. Every version is a function of (seed, host, page, time): nothing is stored, any
//! moment can be asked for, before day 0 too. What must stay true: the same spec, host, page and day give the same
//! bytes on every machine, and one host's pages don't depend on how many hosts there are.
//!
//! Or else a recording is played back ([`replay`]), on the same sockets and by the same clock.
//!
//! The model is that of Olston & Pandey 2008, §3.3: a page is a mix of static, churn and scroll regions.

pub mod announce;
pub mod answer;
pub mod ask;
pub mod clock;
pub mod content;
mod draw;
pub mod history;
pub mod judge;
mod kept;
pub mod life;
pub mod process;
pub mod remember;
pub mod replay;
pub mod replay_answer;
pub mod rhythm;
pub mod score;
pub mod server;
pub mod site;
pub mod spec;
pub mod truth;
pub mod truth_json;
pub mod validators;
mod words;

pub use clock::Clock;
pub use content::{Behaviour, Content, Kind, Mix, Region};
pub use life::{Fate, Tenant};
pub use replay::{Recording, ReplayError};
pub use rhythm::Rhythm;
pub use server::{Server, ServerError};
pub use site::Site;
pub use spec::{Announcing, Spec, SpecError, Validity};

#[cfg(test)]
mod tests;
