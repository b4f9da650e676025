//! The order of the house: checks over the source tree that no compiler makes.
//!
//! `src/lib.rs` lists the rooms from top to bottom. A room knows those above it and never those below, tests included.

#![allow(clippy::expect_used, clippy::panic, clippy::string_slice)]

use std::collections::BTreeMap;
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

/// Files that are tables: rows of facts that no one reads from top to bottom.
const TABLES: [&str; 1] = ["src/extract/soft_error/phrases.rs"];

#[test]
fn no_source_file_is_longer_than_a_reader_can_hold() {
    const MOST_LINES: usize = 500;
    let all = sources(&root().join("src")).into_iter().filter(|file| !TABLES.contains(&&*shown(file)));
    let long: Vec<String> = all
        .map(|file| (shown(&file), read(&file).lines().count()))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(file, lines)| format!("{file}: {lines} lines; cut it, or move its tests to a file beside it"))
        .collect();
    assert!(long.is_empty(), "\n{}\n", long.join("\n"));
}

/// The name of the type that a line defines at the top level of a file.
fn type_name(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    Some(first_word(kinds.iter().find_map(|kind| line.strip_prefix(kind))?))
}

#[test]
fn a_type_name_exists_once() {
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for file in sources(&root().join("src")) {
        for (number, line) in read(&file).lines().enumerate() {
            if let Some(name) = type_name(line) {
                places.entry(name.to_owned()).or_default().push(format!("{}:{}", shown(&file), number + 1));
            }
        }
    }
    assert!(places.len() > 100, "types are found: {places:?}");
    let twice: Vec<String> = places
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| format!("`{name}`: {}", places.join(", ")))
        .collect();
    assert!(twice.is_empty(), "\n{}\n", twice.join("\n"));
}

#[test]
fn the_architecture_page_has_the_rooms_in_their_order() {
    let page = read(&root().join("docs/architecture.md"));
    let listed: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(room, _)| room)
        .collect();
    let rooms = rooms();
    assert_eq!(
        listed.get(..rooms.len()),
        Some(&rooms.iter().map(String::as_str).collect::<Vec<_>>()[..]),
        "docs/architecture.md"
    );
    let lib = read(&root().join("src/lib.rs"));
    let lines: Vec<&str> = lib.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair[1].starts_with("pub mod ")) {
        assert!(pair[0].starts_with("/// "), "src/lib.rs: `{}` needs a sentence above it", pair[1]);
    }
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let named = read(&root().join("SECURITY.md"));
    let sources: String = ["src", "tests"]
        .iter()
        .flat_map(|folder| sources(&root().join(folder)))
        .map(|file| read(&file))
        .collect();
    let tests = named.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.split('|').nth(3));
    let names: Vec<&str> = tests
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|name| name.contains('_') && !name.contains([' ', '.']))
        .collect();
    assert!(names.len() > 40, "the table has moved: {names:?}");
    for name in names {
        assert!(
            sources.contains(&format!("fn {name}(")),
            "SECURITY.md names `{name}`, and there is no such test"
        );
    }
}
