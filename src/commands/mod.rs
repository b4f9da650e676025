//! One file a command: build, call, print.

pub mod ask_page;
pub mod changes;
pub mod check;
pub mod compare;
pub mod completions;
pub mod config;
pub mod crawl;
pub mod demo;
pub mod diff;
pub mod estimate;
pub mod held;
pub mod history;
pub mod on_change;
pub mod page_facts;
pub mod pages;
pub mod rates;
pub mod rows;
pub mod score;
pub mod status;
pub mod store;
pub mod talk;
pub mod web;
pub mod when;
