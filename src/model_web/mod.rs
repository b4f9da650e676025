//! A web on loopback whose truth is known at every moment, and a judge that scores a store by it.
//!
//! - [`model`]: a [`WebSpec`] and a moment in, what every path of every host shows at that moment out. No I/O.
//! - [`server`]: the model, or a recording of real pages, as hosts on loopback.
//! - [`judge`]: what a store holds, compared with what was true.
//!
//! What must stay true: the same spec, host, page and day give the same bytes on every machine, and the pages of one
//! host don't depend on how many hosts there are.

pub mod judge;
pub mod model;
pub mod server;

pub use model::{
    Announcing, Clock, Fate, Mix, ModelBehaviour, PageContent, Region, RegionKind, Rhythm, Site, SpecError,
    Tenant, Validity, WebSpec,
};
pub use server::recording::{Recording, RecordingError};
pub use server::{Server, ServerError};
