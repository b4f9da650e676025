//! freshet keeps a collection of web pages fresh with as few requests as possible, and records how they change.
//!
//! Data goes round one way, and each step is a room:
//!
//! ```text
//! seeds ─► schedule ─► fetch ─► extract ─┬─► unique ─► new pages ─────────────┐
//!             ▲                          └─► change ─► observation ─► estimate ─► policy ─┤
//!             └───────────── store (pages, observations, versions) ◄──────────┘
//! ```
//!
//! A room knows those above it in this list, never those below. From [`change`] to [`schedule`] nothing does I/O or
//! looks at a clock: `now` is an argument, so that the live crawl and a replay share every decision. Traits stand at
//! the seams and nowhere else: [`fetch::web::Web`], [`estimate::Estimator`], [`policy::Policy`], [`store::Store`].
//!
//! Start at [`crawl`]: `crawl/cycle.rs` is one turn of the loop, start to end.

/// `Timestamp` and `Age` in UTC seconds; no clock inside, `now` is an argument.
pub mod time;

/// Numbers as they are stored in bytes: small ones take fewer.
pub mod varint;

/// Files that appear whole or not at all; links, pipes and devices are written through.
pub mod whole_file;

/// Maps whose keys are hashes already.
pub mod identity_hash;

/// Numerical functions that several rooms need: the gamma function and its relatives, roots of functions.
pub mod numeric;

/// Names that a misspelt one may mean: "did you mean".
pub mod near_names;

/// What a page is called: `PageUrl` (one spelling), its key, `Host` and its twins (the unit of politeness), kin.
pub mod page;

/// Requests → visits: robots.txt, politeness, limits.
pub mod fetch;

/// A body → a document: text, links, hints; sitemaps and feeds.
pub mod extract;

/// Links → pages not known yet: scope, seeds, the known set.
pub mod unique;

/// Text → how far it moved: fragments, sketch, divergence, profile, lifetimes, behaviour.
pub mod change;

/// A visit compared with what was known → the fact it leaves, and the state that a page's facts add up to.
pub mod observation;

/// Observations → change rate: one file an estimator, priors, the learner.
pub mod estimate;

/// Hints that something changed (sitemap dates, feeds, hub links, pings), and how far each host's can be trusted.
pub mod signal;

/// Divergence curves, utility, bounds (Olston & Pandey 2008).
pub mod longevity;

/// What a fresher copy is worth to searchers: terms and scores, query workloads, attention by rank, quality, ΔQ (Pandey & Olston 2005).
pub mod quality;

/// Page state + now → score: one file a policy, a registry, formulas.
pub mod policy;

/// Scores → plan: the one order of pages, budgets, caps, thresholds.
pub mod schedule;

/// Values in, values out: the trait `Store`, and SQLite behind it.
pub mod store;

/// Change histories as files: one file a format.
pub mod dataset;

/// Readers of the log with a cursor of their own: the search index.
pub mod follow;

/// The live loop: cycles of plan, fetch, observe, write.
pub mod crawl;

/// Policies over recorded histories: the replay engine, metrics, oracles.
pub mod simulate;

/// Genetic programming of score formulas; its fitness is a replay.
pub mod evolve;

/// Views of a store, as values that serialise: status, pages, changes, history, diff, plan, why, check.
pub mod look;

/// A web on loopback whose truth is known: the model, the server, and the judge that scores a store by it.
pub mod model_web;

/// The papers' experiments, a file an experiment.
pub mod reproduce;

/// How values are drawn: tables, diffs, plots, stripes.
pub mod report;

/// Pages, an API and metrics over the views, served by HTTP.
pub mod dashboard;
