//! Values of `headers`: secrets, mostly. They are read from the file, filled from the environment, and never printed.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Printed in place of a value.
const HIDDEN: &str = "***";

/// The value of a header as the file has it. Prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HeaderText(String);

impl HeaderText {
    /// The value that is sent: `$NAME` and `${NAME}` are replaced by the variable of that name, `$$` by a dollar sign. An
    /// error says what is wrong without the value.
    pub(crate) fn filled(&self, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = self.0.as_str();
        while let Some((before, after)) = rest.split_once('$') {
            filled.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                filled.push('$');
                rest = after;
                continue;
            }
            let name;
            (name, rest) = variable_name(after)
                .ok_or("a `$` stands before no variable's name; write `$$` for the character")?;
            let value = variable(name).ok_or_else(|| format!("the environment has no variable `{name}`"))?;
            if value.is_empty() {
                return Err(format!("the variable `{name}` is empty"));
            }
            filled.push_str(&value);
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

/// The name that a text begins with, and the rest.
fn variable_name(text: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if let Some(braced) = text.strip_prefix('{') {
        return braced.split_once('}').filter(|(name, _)| is_name(name));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    text.split_at_checked(end).filter(|(name, _)| is_name(name))
}

impl fmt::Debug for HeaderText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(HIDDEN)
    }
}

impl Serialize for HeaderText {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(HIDDEN)
    }
}

/// Reads the table `headers`. serde's own messages would quote a value of another type.
pub(super) fn table<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, HeaderText>, D::Error> {
    let toml::Value::Table(table) = toml::Value::deserialize(from)? else {
        return Err(D::Error::custom("`headers` is a table of names and texts: `{ X-Key = \"$KEY\" }`"));
    };
    let read = |(name, value)| match value {
        toml::Value::String(text) if text == HIDDEN => Err(D::Error::custom(format!(
            "{name:?}: `{HIDDEN}` stands for a value that `freshet config` does not print; write the value, or `$NAME` for a variable"
        ))),
        toml::Value::String(text) => Ok((name, HeaderText(text))),
        _ => Err(D::Error::custom(format!("{name:?}: a header's value is a text in quotes"))),
    };
    table.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, String> {
        let variable = |name: &str| match name {
            "KEY" => Some("s3cret".to_owned()),
            "_2" => Some("$KEY".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        HeaderText(text.to_owned()).filled(variable)
    }

    #[test]
    fn variables_are_filled_in_once() {
        for (text, value) in [
            ("plain", "plain"),
            ("$KEY", "s3cret"),
            ("Bearer $KEY", "Bearer s3cret"),
            ("a${KEY}b$KEY.", "as3cretbs3cret."),
            ("$$KEY", "$KEY"),
            ("$_2", "$KEY"),
            ("", ""),
        ] {
            assert_eq!(filled(text).as_deref(), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_mistake_names_the_variable_and_not_the_value() {
        for (text, said) in [
            ("s3cret $NONE", "no variable `NONE`"),
            ("s3cret $EMPTY", "`EMPTY` is empty"),
            ("s3cret$", "`$$`"),
            ("s3cret$1", "`$$`"),
            ("${KEY", "`$$`"),
        ] {
            let error = filled(text).expect_err(text);
            assert!(error.contains(said) && !error.contains("s3cret"), "{text}: {error}");
        }
    }
}
