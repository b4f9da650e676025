//! One file a command: build, call, print.

pub mod completions;
pub mod config;
pub mod crawl;
pub mod pages;
pub mod score;
pub mod status;
pub mod talk;
pub mod web;
