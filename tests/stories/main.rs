//! What users get, told over real HTTP on loopback: each story runs the real binary against a scripted site, and the
//! site's log is the witness.

#[path = "../support/mod.rs"]
mod support;

mod addresses;
mod asking_for_time;
mod first_crawl;
mod hard_pages;
mod operator;
mod politeness;
mod robots_rules;
