//! One spelling for rules and URLs, so that comparing octets is comparing meanings (RFC 9309 §2.2.2).
//!
//! - An escaped octet that needs no escape (`%7E`, `%62`) is written plain; all other escapes in upper case.
//! - An octet that RFC 3986 does not allow in a URL (non-ASCII, controls, blanks, `"<>\^{|}` and the
//!   back-quote) is escaped. So is `'`, since the `url` crate escapes it in queries.
//! - `*` and `$` that mean themselves are escaped: all those of a URL, and in a rule each `$` but the last
//!   octet.
//! - A `%` that begins no escape stays as it is: people write `Disallow: /*%` and mean every escape.
//!
//! The `$` that ends a rule becomes [`END`], which also ends every URL and is nowhere else. texting_robots
//! compiles a regex for each rule with a `$`: slow to build, slow to ask, and refused with the whole file
//! when too long. With the mark, "ends here" is a prefix or substring like any other, no regex is built, and
//! no length changes.

use url::{Position, Url};

use super::record::RuleVerdict;

/// Ends every URL, and each rule that ended in `$`. Any octet that spelling always escapes would do.
const END: char = '|';

/// The part of a URL that rules speak of. Fragments never reach a server, so they have no part in it.
pub(super) fn path_and_query(url: &Url) -> &str {
    &url[Position::BeforePath..Position::AfterQuery]
}

/// A URL as the patterns see it: ASCII, from its first `/` to [`END`].
pub(super) fn of_url(url: &Url) -> String {
    let octets = path_and_query(url).as_bytes();
    let mut spelled = String::with_capacity(octets.len() + 16);
    if !octets.starts_with(b"/") {
        // Only a URL that is not of the web, like `mailto:`, has such a path; `Disallow: /` forbids it all
        // the same.
        spelled.push('/');
    }
    spell(octets, &mut spelled);
    spelled.push(END);
    spelled
}

/// A rule's pattern: ASCII without blanks, starting with `/` or `*`; `None` for an empty rule, which matches
/// nothing.
///
/// By its grammar a rule without a leading `/` or `*` is none (RFC 9309 §2.2). An Allow is read so. A Disallow gets its
/// slash, for `Disallow: private` was meant to forbid something.
pub(super) fn of_rule(verdict: RuleVerdict, value: &[u8]) -> Option<String> {
    if value.is_empty() {
        return None;
    }
    let (path, ends_here) = match value.strip_suffix(b"$") {
        Some(path) => (path, true),
        None => (value, false),
    };
    let mut spelled = String::with_capacity(value.len() + 16);
    match (path, verdict) {
        ([b'/' | b'*', ..], _) => {}
        (_, RuleVerdict::Disallow) => spelled.push('/'),
        (_, RuleVerdict::Allow) => return None,
    }
    for (index, stretch) in path.split(|&octet| octet == b'*').enumerate() {
        if index > 0 {
            spelled.push('*');
        }
        spell(stretch, &mut spelled);
    }
    if ends_here {
        spelled.push(END);
    }
    Some(spelled)
}

fn spell(mut octets: &[u8], spelled: &mut String) {
    while let Some((&first, rest)) = octets.split_first() {
        if let Some((octet, rest)) = escape(octets) {
            if is_unreserved(octet) {
                spelled.push(octet as char);
            } else {
                push_escaped(octet, spelled);
            }
            octets = rest;
        } else {
            if is_unreserved(first) || b"%/?:@!&()+,;=[]".contains(&first) {
                spelled.push(first as char);
            } else {
                push_escaped(first, spelled);
            }
            octets = rest;
        }
    }
}

/// The octet that a leading `%XX` stands for, and what follows it.
fn escape(octets: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, rest @ ..] = octets else { return None };
    let digit = |octet: &u8| char::from(*octet).to_digit(16);
    let octet = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
    Some((octet, rest))
}

/// The octets that mean the same escaped or not (RFC 3986 §2.3).
fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

fn push_escaped(octet: u8, spelled: &mut String) {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0').to_ascii_uppercase();
    spelled.extend(['%', digit(octet >> 4), digit(octet & 15)]);
}
