//! What a fresher copy is worth to searchers (Pandey & Olston 2005): the terms of texts, and how pages are scored for a query.

pub mod scoring;
pub mod terms;
