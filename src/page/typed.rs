//! Addresses as people type them: `example.org/news` is meant as `https://example.org/news`.

use std::borrow::Cow;

/// The address with a scheme: `https://` before a bare host name. `None` if it is neither a URL nor a host name.
pub fn with_scheme(text: &str) -> Option<Cow<'_, str>> {
    match address(text) {
        TypedAddress::Whole => Some(Cow::Borrowed(text)),
        TypedAddress::BareHost => Some(Cow::Owned(format!("https://{text}"))),
        TypedAddress::Neither => None,
    }
}

/// The part of a URL for user info, host and port.
pub(crate) fn before_path(text: &str) -> &str {
    text.split(['/', '?', '#', '\\']).next().unwrap_or_default()
}

pub(crate) fn is_mail(text: &str) -> bool {
    text.get(.."mailto:".len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case("mailto:"))
}

/// How an address is meant.
enum TypedAddress {
    /// With a scheme, or at least a word and a colon in its place.
    Whole,
    /// `example.org`, `example.org/path`, `localhost:8080`.
    BareHost,
    Neither,
}

fn address(text: &str) -> TypedAddress {
    let authority = before_path(text);
    if text.get(authority.len()..).is_some_and(|rest| rest.starts_with("//")) && authority.ends_with(':') {
        return TypedAddress::Whole;
    }
    if authority.starts_with('[') || (authority.contains('@') && !is_mail(text)) {
        return TypedAddress::BareHost;
    }
    let (name, port) = match authority.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (authority, None),
    };
    // In `mailto:someone` the word before the colon is a scheme; only digits make what follows a port.
    if port.is_some_and(|port| port.is_empty() || port.bytes().any(|byte| !byte.is_ascii_digit())) {
        return TypedAddress::Whole;
    }
    // A lone word is more likely a slip (`weight=2` on a line of its own) than a host of somebody's local network.
    let plain =
        |character: char| character.is_alphanumeric() || "-._".contains(character) || !character.is_ascii();
    let is_host = name.chars().all(plain) && (name.contains('.') || name == "localhost" || port.is_some());
    if is_host && !name.is_empty() { TypedAddress::BareHost } else { TypedAddress::Neither }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_host_is_meant_as_https() {
        for (typed, meant) in [
            ("example.org", Some("https://example.org")),
            ("example.org/x?y", Some("https://example.org/x?y")),
            ("localhost:8080/a", Some("https://localhost:8080/a")),
            ("http://example.org/", Some("http://example.org/")),
            ("mailto:someone", Some("mailto:someone")),
            ("word", None),
            ("", None),
        ] {
            assert_eq!(with_scheme(typed).as_deref(), meant, "{typed}");
        }
    }
}
