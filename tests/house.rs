//! The order of the house: checks over the source tree that no compiler makes.
//!
//! `src/lib.rs` lists the rooms from top to bottom. A room knows those above it and never those below, tests included.

#![allow(clippy::expect_used, clippy::panic, clippy::string_slice)]

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms in the order of `src/lib.rs`.
fn rooms() -> Vec<String> {
    let lib = read(&root().join("src/lib.rs"));
    lib.lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every Rust file below a folder, or the file of that name with `.rs`; in order of their paths.
fn sources(of: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if of.with_extension("rs").is_file() {
        found.push(of.with_extension("rs"));
    }
    if of.is_dir() {
        for entry in fs::read_dir(of).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                found.extend(sources(&path).into_iter().filter(|file| *file != path.with_extension("rs")));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A path as the repository has it.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The names after `crate::` in a source, also those of a list in braces, with the lines they stand on.
fn named(source: &str) -> Vec<(usize, &str)> {
    let mut names = Vec::new();
    for (at, prefix) in source.match_indices("crate::") {
        if source[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let line = 1 + source[..at].matches('\n').count();
        let rest = &source[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(items(list).into_iter().map(|item| (line, item))),
            None => names.push((line, first_word(rest))),
        }
    }
    names
}

/// The first words of the items of a list, up to the brace that closes it.
fn items(list: &str) -> Vec<&str> {
    let (mut items, mut depth, mut is_start) = (Vec::new(), 0, true);
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => is_start = true,
            _ if depth == 0 && is_start && !character.is_whitespace() => {
                items.push(first_word(&list[at..]));
                is_start = false;
            }
            _ => {}
        }
    }
    items
}

fn first_word(text: &str) -> &str {
    text.split(|character: char| !(character.is_alphanumeric() || character == '_'))
        .next()
        .unwrap_or_default()
}

#[test]
fn a_room_never_uses_one_below_it() {
    let rooms = rooms();
    assert!(rooms.len() > 15, "src/lib.rs lists the rooms as `pub mod name;`, found {rooms:?}");
    let mut wrong = Vec::new();
    for (place, room) in rooms.iter().enumerate() {
        for file in sources(&root().join("src").join(room)) {
            let source = read(&file);
            for (line, name) in named(&source) {
                if rooms.iter().skip(place + 1).any(|below| below == name) {
                    let file = shown(&file);
                    wrong.push(format!(
                        "{file}:{line}: `{room}` uses `{name}`, which is below it in src/lib.rs"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn names_are_found_in_every_spelling() {
    let names = |source: &'static str| named(source).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    assert_eq!(names("use crate::store::Store;"), ["store"]);
    assert_eq!(names("use crate::{\n    page::{Host, Url},\n    time::Age,\n};"), ["page", "time"]);
    assert_eq!(names("fn f(a: crate::time::Age) -> &'static crate::page::Host"), ["time", "page"]);
    assert!(names("use freshet_crate::store;").is_empty());
    assert_eq!(named("\n\nuse crate::store;"), [(3, "store")]);
}
