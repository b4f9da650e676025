//! `freshet.toml`: found, read, and its mistakes told with their place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::Usage;
use super::sections::Given;
use super::words::in_words;

/// The settings file used when none is named.
pub(crate) const DEFAULT_FILE: &str = "freshet.toml";

/// A settings file that was read.
pub(super) struct SettingsFile {
    pub path: PathBuf,
    pub text: String,
    pub given: Given,
}

/// The file that is named, else the default one if it exists.
pub(super) fn find(named: Option<&Path>) -> Option<&Path> {
    named.or_else(|| Some(Path::new(DEFAULT_FILE)).filter(|path| path.exists()))
}

/// Reads the file that is named, else the default one if it exists.
pub(super) fn read(named: Option<&Path>) -> Result<Option<SettingsFile>, Usage> {
    let Some(path) = find(named) else { return Ok(None) };
    let text = std::fs::read_to_string(path)
        .map_err(|error| Usage(format!("the settings file `{}` can't be read: {error}", path.display())))?;
    let given = parse(&path.display().to_string(), &text)?;
    Ok(Some(SettingsFile { path: path.to_owned(), text, given }))
}

/// The settings that the file gives.
pub(super) fn given(named: Option<&Path>) -> Result<Given, Usage> {
    Ok(read(named)?.map(|file| file.given).unwrap_or_default())
}

/// Reads the text of a settings file called `name`.
pub(super) fn parse(name: &str, text: &str) -> Result<Given, Usage> {
    toml::from_str(text).map_err(|error| Usage(format!("{name}: {}", mistake(text, &error))))
}

/// The line of every key, by the names on the way to it.
pub(super) fn lines(text: &str) -> BTreeMap<Vec<String>, usize> {
    let mut lines = BTreeMap::new();
    if let Ok(table) = DeTable::parse(text) {
        note_lines(text, table.get_ref(), &mut Vec::new(), &mut lines);
    }
    lines
}

fn note_lines(
    text: &str,
    table: &DeTable<'_>,
    way: &mut Vec<String>,
    lines: &mut BTreeMap<Vec<String>, usize>,
) {
    for (key, value) in table {
        way.push(key.get_ref().to_string());
        lines.insert(way.clone(), line_at(text, key.span().start));
        if let DeValue::Table(inner) = value.get_ref() {
            note_lines(text, inner, way, lines);
        }
        way.pop();
    }
}

/// The number of the line that has this byte, from 1.
fn line_at(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}

/// The mistake in our words: line, column and rule; section, key and value too if it is the value of a key. No line of the
/// file is shown, because it may hold a secret.
fn mistake(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim_end();
    let Some((before, value)) =
        error.span().and_then(|span| Some((text.get(..span.start)?, text.get(span)?)))
    else {
        return in_words("", message);
    };
    let line_before = before.rsplit('\n').next().unwrap_or_default();
    let place = format!("line {}, column {}", line_at(text, before.len()), line_before.chars().count() + 1);
    let section_at = before.rfind("\n[").map_or(0, |newline| newline + 1);
    let (section, is_secret) = match before.get(section_at..) {
        Some(since) if since.starts_with('[') => (since.lines().next(), since.contains("header")),
        _ => (None, before.contains("header")),
    };
    // What follows the word in its section may be a header's value.
    if is_secret {
        return format!("{place}: {} (the line is not shown: it may hold a secret)", in_words("", message));
    }
    match line_before.split_once('=') {
        Some((key, _)) => {
            let section = section.map_or(String::new(), |header| header.trim().replace('\'', "\"") + " ");
            let value = value.trim_matches(['"', '\'']);
            let rule = in_words(key.trim(), message);
            format!("{place}: {}", said_of(&format!("{section}{}", key.trim()), value, &rule))
        }
        None => format!("{place}: {}", in_words("", message)),
    }
}

/// A rule that a value breaks, after the setting and the value unless the rule names the value itself.
pub(crate) fn said_of(setting: &str, value: &str, rule: &str) -> String {
    if rule.contains(&format!("`{value}`")) {
        format!("{setting}: {rule}")
    } else {
        format!("{setting} is `{value}`; {rule}")
    }
}
