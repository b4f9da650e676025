//! What the integration tests stand on: a scripted web site on loopback, its log, and the real binary.
//!
//! Nothing here is a mock. A [`Site`] speaks HTTP/1.1 over sockets, a test scripts what its paths answer, and
//! the [`Log`] of what was asked, and when, is the witness. [`Freshet`] runs the binary in a folder of its
//! own.
//!
//! ```ignore
//! let site = Site::start();
//! site.page("/", links_page("home", &["/news"]));
//! site.page("/news", Reply::sequence(vec!["old".into(), "new".into()]).etag("\"v1\""));
//! let freshet = Freshet::new();
//! let seeds = freshet.seeds(&[site.url("/")]);
//! assert_eq!(freshet.run(&["crawl", "--seeds", &seeds]).code, Some(0));
//! site.log().assert_polite(0, 1.0);
//! ```
//!
//! What must stay true: the witness never accuses a client that waited for its answers. A request is taken to
//! begin when the site sees its first byte, never before it was sent, and to end just before its last byte
//! leaves, never after a client could have read it; and a finished exchange is in the log before its client can
//! know that it has finished. Only one that its client gave up ends when the site notices, a moment later.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part of the support")]

pub mod browser;
mod connection;
mod log;
pub mod operator;
mod pages;
mod reply;
mod run;
mod site;
#[cfg(unix)]
pub mod terminal;
pub mod tls_server;

pub use log::{Hit, Log};
pub use pages::{article, links_page};
pub use reply::{Reply, Request};
pub use run::{FAST, Freshet, Ran, Running, is_withheld};
pub use site::Site;
