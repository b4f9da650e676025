//! Seed files: links given by a person.
//!
//! In comes a file, a URL a line; out go seeds and, for every line that is not one, where it is, what is wrong and how
//! to repair it. `#` begins a comment, at the start of a line or after a space; blank lines are skipped. After the
//! URL there may be fields, with tabs or spaces between:
//!
//! ```text
//! # news
//! https://news.example.org/  weight=2  depth=1
//! example.org/docs/  scope=prefix   # means https://
//! ```
//!
//! What must stay true: one bad line never costs another line, and a file of any bytes at all is read without a panic.

use std::borrow::Cow;
use std::collections::HashSet;

use thiserror::Error;

use super::scope::ScopeKind;
use crate::page::{Normaliser, PageUrl, UrlError, before_path, is_mail, with_scheme};

/// A page to begin from, with what its line says about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    /// The page itself.
    pub url: PageUrl,
    /// How much the operator cares for it: finite, more than 0, and 1 unless the line says otherwise.
    pub weight: f64,
    /// How many links away from it pages may lie.
    pub max_depth: Option<u32>,
    /// Which links are wanted from it.
    pub scope: Option<ScopeKind>,
    /// The line it was read from; the first is 1. `None`: no file names it, the operator asked for this page alone.
    pub line: Option<usize>,
}

/// A line that is not a seed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}: {what}")]
pub struct BadSeed {
    /// The file, as it was given.
    pub file: String,
    /// The line; the first is 1.
    pub line: usize,
    /// The fault, with the value quoted.
    pub what: String,
    /// The repair.
    pub hint: String,
}

/// All that a seed file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeedFile {
    /// In the order of the file, each page once: the first line about it counts.
    pub seeds: Vec<Seed>,
    /// Every line that could not be read.
    pub bad: Vec<BadSeed>,
}

/// Reads a seed file. `name` is what messages call it.
pub fn read(name: &str, bytes: &[u8], normaliser: &Normaliser) -> SeedFile {
    let mut file = SeedFile::default();
    let bad = |line: usize, problem: Problem| BadSeed {
        file: name.to_owned(),
        line,
        what: problem.what,
        hint: problem.hint,
    };
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        file.bad.push(bad(1, Problem::new("the file is UTF-16, not UTF-8".to_owned(), "save it as UTF-8")));
        return file;
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut seen = HashSet::new();
    for (index, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = index + 1;
        match read_line(text, line, normaliser) {
            Ok(Some(seed)) if seen.insert(seed.url.fingerprint()) => file.seeds.push(seed),
            Ok(_) => {}
            Err(problem) => file.bad.push(bad(line, problem)),
        }
    }
    file
}

/// The fault of a line whose number is not known yet.
struct Problem {
    what: String,
    hint: String,
}

impl Problem {
    fn new(what: String, hint: &str) -> Problem {
        Problem { what, hint: format!("{hint}, or put `#` before the line to skip it") }
    }
}

fn read_line(bytes: &[u8], line: usize, normaliser: &Normaliser) -> Result<Option<Seed>, Problem> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        let what = format!("{} is not UTF-8", quoted(&String::from_utf8_lossy(bytes)));
        return Err(Problem::new(what, "save the file as UTF-8"));
    };
    let mut words = without_comment(text).split_whitespace();
    let Some(address) = words.next() else { return Ok(None) };
    let mut seed = Seed {
        url: read_url(address, normaliser)?,
        weight: 1.0,
        max_depth: None,
        scope: None,
        line: Some(line),
    };
    let mut named = HashSet::new();
    for field in words {
        let Some((name, value)) = field.split_once('=') else {
            let what = format!("{} after the URL is not a field", quoted(field));
            return Err(Problem::new(what, "write `name=value`, or `%20` for a space inside the URL"));
        };
        if !named.insert(name) {
            let what = format!("field {} is given twice", quoted(name));
            return Err(Problem::new(what, "keep one of them"));
        }
        read_field(&mut seed, name, value)?;
    }
    Ok(Some(seed))
}

fn without_comment(text: &str) -> &str {
    let mut after_space = true;
    for (place, character) in text.char_indices() {
        if character == '#' && after_space {
            return text.get(..place).unwrap_or_default();
        }
        after_space = character.is_whitespace();
    }
    text
}

fn read_field(seed: &mut Seed, name: &str, value: &str) -> Result<(), Problem> {
    match name {
        "weight" => match value.parse::<f64>() {
            Ok(weight) if weight.is_finite() && weight > 0.0 => seed.weight = weight,
            _ => {
                let what = format!("weight {} is not a number above 0", quoted(value));
                return Err(Problem::new(what, "write for example `weight=2.5`"));
            }
        },
        "depth" => match value.parse() {
            Ok(depth) => seed.max_depth = Some(depth),
            Err(_) => {
                let what = format!("depth {} is not a number of links", quoted(value));
                return Err(Problem::new(what, "write for example `depth=3`"));
            }
        },
        "scope" => match value.parse() {
            Ok(scope) => seed.scope = Some(scope),
            Err(_) => {
                let what = format!("unknown scope {}", quoted(value));
                return Err(Problem::new(what, "write `scope=prefix`, `host`, `domain` or `any`"));
            }
        },
        _ => {
            let what = format!("unknown field {}", quoted(name));
            return Err(Problem::new(what, "the fields are `weight=`, `depth=` and `scope=`"));
        }
    }
    Ok(())
}

fn read_url(text: &str, normaliser: &Normaliser) -> Result<PageUrl, Problem> {
    let shown = quoted(&without_user_info(text));
    let Some(whole) = with_scheme(text) else {
        let what = format!("{shown} is neither a URL nor a host name");
        return Err(Problem::new(what, "write a whole URL, such as `https://example.org/`"));
    };
    normaliser.parse(&whole).map_err(|error| match error {
        UrlError::Scheme(scheme) => {
            Problem::new(format!("{shown} has unknown scheme {}", quoted(&scheme)), "write `https://`")
        }
        UrlError::UserInfo => {
            Problem::new(format!("{shown} carries a user name or password"), "write it without")
        }
        UrlError::NoHost => Problem::new(format!("{shown} has no host"), "write the host's name"),
        UrlError::TooLong { length, limit } => Problem::new(
            format!("{shown} is `{length}` bytes long, over the limit of `{limit}`"),
            "shorten it",
        ),
        UrlError::Malformed(reason) => Problem::new(format!("{shown} is not a URL: {reason}"), "correct it"),
    })
}

/// An address fit to be shown: messages end up in logs, and a password must not.
fn without_user_info(text: &str) -> Cow<'_, str> {
    let (scheme, rest) = match text.find("://") {
        Some(place) => text.split_at_checked(place + "://".len()).unwrap_or(("", text)),
        None => ("", text),
    };
    match before_path(rest).rfind('@').and_then(|sign| rest.get(sign..)) {
        Some(host) if !is_mail(text) => Cow::Owned(format!("{scheme}…{host}")),
        _ => Cow::Borrowed(text),
    }
}

/// A value in back-ticks, cut and cleaned so that it cannot spoil the message around it.
fn quoted(value: &str) -> String {
    const SHOWN: usize = 80;
    let mut out = String::from("`");
    for character in value.trim().chars().take(SHOWN) {
        out.push(if character.is_control() { '\u{FFFD}' } else { character });
    }
    if value.trim().chars().nth(SHOWN).is_some() {
        out.push('…');
    }
    out.push('`');
    out
}

#[cfg(test)]
mod tests;
