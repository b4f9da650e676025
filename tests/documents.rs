//! The documents as a reader follows them: every link between them leads somewhere.

#![allow(clippy::expect_used, clippy::panic)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [root().to_owned(), root().join("docs")] {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|end| end == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The lines outside code blocks.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut is_code = false;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| {
        let fence = line.trim_start().starts_with("```");
        is_code ^= fence;
        !fence && !is_code
    });
    lines.collect()
}

/// A line without `code`: what stands there is no link.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The targets of the links and pictures of a line: `](target)`.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    let parts = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    parts.map(|target| target.split(' ').next().unwrap_or("").to_owned()).collect()
}

/// The name of a heading in a link, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().to_lowercase();
    let kept = letters.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// The anchors of a document. A heading that comes again gets a number.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text).into_iter().filter(|(_, line)| line.starts_with('#'));
    let names = headings.map(|(_, line)| anchor(line.trim_start_matches('#')));
    names
        .map(|name| {
            let times = seen.entry(name.clone()).and_modify(|times| *times += 1).or_insert(0);
            if *times == 0 { name } else { format!("{name}-{times}") }
        })
        .collect()
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let (mut count, mut wrong) = (0, Vec::new());
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a document");
        for (number, line) in prose(&text) {
            for target in targets(line)
                .iter()
                .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
            {
                count += 1;
                let (file, heading) = target.split_once('#').unwrap_or((target, ""));
                let folder = path.parent().expect("a folder");
                let file = if file.is_empty() { path.clone() } else { folder.join(file) };
                let is_there = file.exists()
                    && (heading.is_empty()
                        || fs::read_to_string(&file)
                            .is_ok_and(|text| anchors(&text).iter().any(|one| one == heading)));
                if !is_there {
                    wrong.push(format!("{}:{number}: `{target}` leads nowhere", path.display()));
                }
            }
        }
    }
    assert!(count > 40, "only {count} links were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_and_headings_are_read_as_they_are_shown() {
    assert_eq!(targets("see [a](b.md#c) and ![p](d.svg), not `[x](y)`"), ["b.md#c", "d.svg"]);
    assert_eq!(
        anchors("# What it does not do\n## `[site]`\n```\n# no\n```\n## `[site]`\n"),
        ["what-it-does-not-do", "site", "site-1"]
    );
}
