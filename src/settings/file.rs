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
    toml::from_str(text).map_err(|error| Usage(format!("{name}: {}", mistake(text, &error))))
}

/// The mistake in our words: line, column and rule; section, key and value too if it is the value of a key. No line of the
/// file is shown, because it may hold a secret.
fn mistake(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim_end();
    let Some((before, value)) =
        error.span().and_then(|span| Some((text.get(..span.start)?, text.get(span)?)))
    else {
        return message.to_owned();
    };
    let line_before = before.rsplit('\n').next().unwrap_or_default();
    let place =
        format!("line {}, column {}", before.matches('\n').count() + 1, line_before.chars().count() + 1);
    let section_at = before.rfind("\n[").map_or(0, |newline| newline + 1);
    let (section, is_secret) = match before.get(section_at..) {
        Some(since) if since.starts_with('[') => (since.lines().next(), since.contains("header")),
        _ => (None, before.contains("header")),
    };
    // What follows the word in its section may be a header's value.
    if is_secret {
        return format!("{place}: {message} (the line is not shown: it may hold a secret)");
    }
    match line_before.split_once('=') {
        Some((key, _)) => {
            let section = section.map_or(String::new(), |header| header.trim().replace('\'', "\"") + " ");
            let value = value.trim_matches(['"', '\'']);
            format!("{place}: {}", said_of(&format!("{section}{}", key.trim()), value, message))
        }
        None => format!("{place}: {message}"),
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
