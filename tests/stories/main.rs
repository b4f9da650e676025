//! What users get, told over real HTTP on loopback: each story runs the real binary against a scripted site, and the
//! site's log is the witness.

// A test that fails says so by panicking.
#![allow(unreachable_pub, reason = "a test binary has no callers: `pub` says what its files share")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice)]

#[path = "../support/mod.rs"]
mod support;

mod a_clock_that_was_ahead;
mod a_web_that_changes;
mod adaptive;
mod addresses;
mod again_and_again;
mod answers_not_believed;
mod asking_for_time;
mod budgets_are_caps;
mod changes_told;
mod checked_and_compared;
mod command_line;
mod datasets;
mod evolved;
mod exported;
mod first_crawl;
mod hard_pages;
mod hostile_sites;
mod how_a_page_moved;
mod json_documents;
mod look_without_touching;
mod managing_the_collection;
mod monitoring;
mod more_that_is_read;
mod one_answer_is_not_believed;
mod one_page_many_spellings;
mod other_scripts;
mod overviewed;
mod pages_got_back;
mod politeness;
mod rates_of_change;
mod reasons;
mod replayed;
mod reproduced;
mod robots_rules;
mod room_in_the_store;
mod rules_that_change;
mod scope_and_traps;
mod scored_by_the_truth;
mod searched;
mod secrets;
mod served;
mod settings_that_hold;
mod signals;
mod sites_and_log;
mod stopped_and_killed;
mod store_rebuilt;
mod strangers_text;
mod the_demo;
mod user_centric;
mod viewed_pages;
mod what_changed;
mod what_happened;
