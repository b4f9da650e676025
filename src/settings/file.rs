//! `freshet.toml`: found, read, and its mistakes told with their place.

use std::path::Path;

use super::Usage;
use super::sections::Given;

/// The settings file used when none is named.
const DEFAULT_FILE: &str = "freshet.toml";

/// The file that is named, else the default one if it exists.
pub(super) fn read(named: Option<&Path>) -> Result<Given, Usage> {
    let path = match named {
        Some(path) => path,
        None if Path::new(DEFAULT_FILE).exists() => Path::new(DEFAULT_FILE),
        None => return Ok(Given::default()),
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| Usage(format!("the settings file `{}` can't be read: {error}", path.display())))?;
    parse(&path.display().to_string(), &text)
}

/// Reads the text of a settings file called `name`.
pub(super) fn parse(name: &str, text: &str) -> Result<Given, Usage> {
    toml::from_str(text).map_err(|error| {
        Usage(match wrong_value(text, &error) {
            Some(said) => format!("{name}: {said}"),
            None => format!("{name}: {}", error.to_string().trim_end()),
        })
    })
}

/// The mistake in our words if it is a value: line, section, key, value and rule.
fn wrong_value(text: &str, error: &toml::de::Error) -> Option<String> {
    let span = error.span()?;
    let before = text.get(..span.start)?;
    let (line, column) = (before.matches('\n').count() + 1, before.lines().last().map_or(0, str::len) + 1);
    let (key, _) = before.rsplit('\n').next()?.split_once('=')?;
    let section = before.lines().rev().find(|line| line.trim_start().starts_with('['));
    let section = section.map_or(String::new(), |header| header.trim().replace('\'', "\"") + " ");
    let value = text.get(span)?.trim_matches(['"', '\'']);
    let said = said_of(&format!("{section}{}", key.trim()), value, error.message());
    Some(format!("line {line}, column {column}: {said}"))
}

/// A rule that a value breaks, after the setting and the value unless the rule names the value itself.
pub(crate) fn said_of(setting: &str, value: &str, rule: &str) -> String {
    if rule.contains(&format!("`{value}`")) {
        format!("{setting}: {rule}")
    } else {
        format!("{setting} is `{value}`; {rule}")
    }
}
