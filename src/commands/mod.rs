//! One file a command: build, call, print.

pub mod changes;
pub mod completions;
pub mod config;
pub mod crawl;
pub mod demo;
pub mod diff;
pub mod held;
pub mod on_change;
pub mod pages;
pub mod score;
pub mod status;
pub mod store;
pub mod talk;
pub mod web;
pub mod when;
