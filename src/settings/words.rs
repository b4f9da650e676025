//! The messages of libraries about a wrong value or key, in our words: "a whole number" for `usize`.

use freshet::near_names;

/// A rule that a value breaks, as clap, serde or the standard library says it. `name` is the key or the flag with its
/// placeholder, which tells the unit; a message of our own is returned as it is.
pub(crate) fn in_words(name: &str, message: &str) -> String {
    if let Some(rest) = message.strip_prefix("unknown field ") {
        return unknown("key", rest);
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        return unknown("value", rest);
    }
    if let Some((value, range)) = message.split_once(" is not in ") {
        return format!("it must be {}{}", numbers(name, true), within(range, value.starts_with('-')));
    }
    let expected = message.starts_with("invalid ").then(|| message.split_once(", expected ")).flatten();
    match expected.map_or(message, |(_, expected)| expected) {
        "invalid float literal" | "cannot parse float from empty string" | "f64" => {
            format!("it must be {}", numbers(name, false))
        }
        "invalid digit found in string"
        | "cannot parse integer from empty string"
        | "number too large to fit in target type"
        | "number too small to fit in target type"
        | "u16"
        | "u32"
        | "u64"
        | "usize" => format!("it must be {}, 0 or more", numbers(name, true)),
        "a boolean" | "provided string was not `true` or `false`" => "it must be true or false".to_owned(),
        "a string" | "path string" | "a character" => "it must be a text in quotes".to_owned(),
        "a sequence" => "it must be a list, such as `[\"a\", \"b\"]`".to_owned(),
        expected if expected.starts_with("struct ") || expected == "a map" => {
            "it must be a section or a table".to_owned()
        }
        _ => message.to_owned(),
    }
}

/// "a whole number of seconds", by the name of a setting or flag.
fn numbers(name: &str, whole: bool) -> String {
    let (whole, name) = (if whole { "a whole number" } else { "a number" }, name.to_lowercase());
    match ["seconds", "bytes"].into_iter().find(|unit| name.contains(unit)) {
        Some(unit) => format!("{whole} of {unit}"),
        None => whole.to_owned(),
    }
}

/// `1..=1000` in words. The upper end says nothing about a number below it.
fn within(range: &str, is_below: bool) -> String {
    match range.split_once("..") {
        Some((least, most)) => match most.trim_start_matches('=') {
            most if is_below || most.is_empty() => format!(", {least} or more"),
            most => format!(" from {least} to {most}"),
        },
        None => String::new(),
    }
}

/// serde's `` `delai`, expected one of `delay`, `rate` `` with the names that may be meant.
fn unknown(kind: &str, rest: &str) -> String {
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let name = quoted.next().unwrap_or_default();
    format!("there is no {kind} `{name}`; {}", near_names::instead(name, quoted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_of_the_language_is_named() {
        for (name, message, said) in [
            ("delay", "invalid float literal", "it must be a number"),
            ("--on-change-timeout <SECONDS>", "invalid float literal", "it must be a number of seconds"),
            ("max_depth", "invalid digit found in string", "it must be a whole number, 0 or more"),
            ("max_depth", "invalid type: string \"x\", expected u32", "it must be a whole number, 0 or more"),
            (
                "body_bytes",
                "invalid value: integer `-1`, expected usize",
                "it must be a whole number of bytes, 0 or more",
            ),
            ("sitemaps", "invalid type: integer `1`, expected a boolean", "it must be true or false"),
            ("policy", "invalid type: integer `1`, expected a string", "it must be a text in quotes"),
            (
                "include",
                "invalid type: string \"a\", expected a sequence",
                "it must be a list, such as `[\"a\", \"b\"]`",
            ),
            (
                "crawl",
                "invalid type: integer `3`, expected struct CrawlGiven",
                "it must be a section or a table",
            ),
            ("--runs <N>", "1 is not in 2..=1000000", "it must be a whole number from 2 to 1000000"),
            ("--port <P>", "70000 is not in 0..=65535", "it must be a whole number from 0 to 65535"),
            ("--port <P>", "-1 is not in 0..=65535", "it must be a whole number, 0 or more"),
            (
                "x",
                "unknown field `delai`, expected one of `delay`, `rate`",
                "there is no key `delai`; did you mean `delay`?",
            ),
            (
                "x",
                "unknown variant `planet`, expected `host` or `any`",
                "there is no value `planet`; there is `host`, `any`",
            ),
            ("x", "a rule of our own", "a rule of our own"),
        ] {
            assert_eq!(in_words(name, message), said);
        }
    }
}
