//! Properties of every file, and a comparison with a second reading of the RFC that shares no code with this one.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

/// A group as data: the agents it names, and its rules (allow?, pattern).
type WrittenGroup = (Vec<&'static str>, Vec<(bool, String)>);

/// Pieces that rules and paths are made of: few, so that they often meet, and each spelled in more than one
/// way.
const PIECES: [&str; 20] = [
    "/", "a", "b", "ab", "*", "**", "$", "%24", "%2a", "~", "%7E", "%7e", "%61", "{", "%7B", "é", "%c3%A9",
    "%", "?", "'",
];

/// How lines begin.
const NAMES: [&str; 8] =
    ["User-agent: ", "user-agent:freshet", "Allow:", "Disallow: ", "Crawl-delay:", "Sitemap:https:", "#", ""];

fn pattern() -> impl Strategy<Value = String> {
    prop::collection::vec(select(&PIECES[..]), 0..7).prop_map(|pieces| pieces.concat()).prop_flat_map(|tail| {
        prop_oneof![8 => Just(format!("/{tail}")), 1 => Just(tail.clone()), 1 => Just(format!("{tail}$"))]
    })
}

fn any_url() -> impl Strategy<Value = Url> {
    prop::collection::vec(select(&PIECES[..]), 0..8).prop_map(|pieces| url(&format!("/{}", pieces.concat())))
}

fn groups(how_many: std::ops::Range<usize>) -> impl Strategy<Value = Vec<WrittenGroup>> {
    let agents = select(&["freshet", "freshet", "FRESHET/2.1", "*", "*", "other", "freshetbot"][..]);
    let rules = prop::collection::vec((any::<bool>(), pattern()), 1..6);
    prop::collection::vec((prop::collection::vec(agents, 1..3), rules), how_many)
}

fn written(groups: &[WrittenGroup]) -> String {
    let mut text = String::new();
    for (agents, rules) in groups {
        agents.iter().for_each(|agent| text += &format!("User-agent: {agent}\n"));
        for (allow, pattern) in rules {
            text += &format!("{}: {pattern}\n", if *allow { "Allow" } else { "Disallow" });
        }
    }
    text
}

fn allows(body: &str, url: &Url) -> bool {
    Robots::parse(body.as_bytes(), "freshet").allows(url)
}

/// The second reading: groups as data, patterns as signs, and a table of which prefix of a pattern matches
/// which prefix of a path.
mod reference {
    use super::WrittenGroup;

    #[derive(Clone, Copy, PartialEq)]
    enum Sign {
        Octet(u8),
        Star,
        End,
    }

    pub(super) fn allows(groups: &[WrittenGroup], path: &str) -> bool {
        let ours = |agent: &&str| matches!(*agent, "freshet" | "FRESHET/2.1");
        let named = groups.iter().any(|(agents, _)| agents.iter().any(ours));
        let path = signs(path, false);
        groups
            .iter()
            .filter(|(agents, _)| agents.iter().any(|agent| if named { ours(agent) } else { *agent == "*" }))
            .flat_map(|(_, rules)| rules)
            // Without its slash an Allow is no rule, and a Disallow was meant to have one.
            .filter(|(allow, pattern)| !pattern.is_empty() && (!allow || pattern.starts_with(['/', '*'])))
            .map(|(allow, pattern)| {
                let slash = if pattern.starts_with(['/', '*']) { "" } else { "/" };
                (signs(&format!("{slash}{pattern}"), true), *allow)
            })
            .filter(|(pattern, _)| matches(pattern, &path))
            .map(|(pattern, allow)| (pattern.len(), allow))
            .max()
            .is_none_or(|(_, allow)| allow)
    }

    fn signs(text: &str, is_rule: bool) -> Vec<Sign> {
        let octets = text.as_bytes();
        let mut signs = Vec::new();
        let mut at = 0;
        while at < octets.len() {
            let escaped = text.get(at..at + 3).filter(|escape| escape.starts_with('%'));
            let code = escaped.and_then(|escape| u8::from_str_radix(escape.get(1..)?, 16).ok());
            match octets[at] {
                b'*' if is_rule => signs.push(Sign::Star),
                b'$' if is_rule && at + 1 == octets.len() => signs.push(Sign::End),
                octet => {
                    let plain = match code {
                        Some(code) => code.is_ascii_alphanumeric() || code == b'~',
                        None => octet.is_ascii() && !b"*$'{".contains(&octet),
                    };
                    let octet = code.unwrap_or(octet);
                    let spelled = if plain { char::from(octet).to_string() } else { format!("%{octet:02X}") };
                    signs.extend(spelled.bytes().map(Sign::Octet));
                }
            }
            at += if code.is_some() { 3 } else { 1 };
        }
        signs
    }

    fn matches(pattern: &[Sign], path: &[Sign]) -> bool {
        // reached[n]: the signs of the pattern so far match the first n of the path.
        let mut reached = vec![false; path.len() + 1];
        reached[0] = true;
        for sign in pattern {
            let before = reached.clone();
            for n in 0..reached.len() {
                reached[n] = match sign {
                    Sign::Star => before[..=n].contains(&true),
                    Sign::End => before[n] && n == path.len(),
                    Sign::Octet(_) => n > 0 && before[n - 1] && path[n - 1] == *sign,
                };
            }
        }
        reached.contains(&true)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), url in any_url()) {
        let robots = Robots::parse(&bytes, "freshet");
        robots.allows(&url);
        prop_assert!(robots.allows(&super::url("/robots.txt")));
    }

    #[test]
    fn no_lines_panic(
        lines in prop::collection::vec(
            (
                select(&NAMES[..]),
                prop::collection::vec(any::<u8>(), 0..12),
                select(&["\n", "\r", "\r\n", "\0", " *\n", "$\n", "*"][..]),
            ),
            0..12,
        ),
        token in ".{0,6}",
        url in any_url(),
    ) {
        let line = |(name, value, end): &(&str, Vec<u8>, &str)| {
            [name.as_bytes(), value, end.as_bytes()].concat()
        };
        let body: Vec<u8> = lines.iter().flat_map(line).collect();
        let robots = Robots::parse(&body, &token);
        robots.allows(&url);
        prop_assert!(robots.crawl_delay().is_none_or(|delay| delay <= Duration::from_secs(3600)));
        prop_assert!(robots.sitemaps(&host()).len() <= 100);
        prop_assert!(!token_of(&token).is_empty());
    }

    #[test]
    fn the_room_agrees_with_the_reference(groups in groups(0..4), url in any_url()) {
        let expected = reference::allows(&groups, pattern::path_and_query(&url));
        prop_assert_eq!(allows(&written(&groups), &url), expected, "{}\n{}", written(&groups), url);
    }

    #[test]
    fn an_allow_more_never_forbids(
        groups in groups(1..4),
        allowed in pattern(),
        at in any::<Index>(),
        url in any_url(),
    ) {
        let mut more = groups.clone();
        let group = at.index(groups.len());
        more[group].1.push((true, allowed));
        prop_assert!(!allows(&written(&groups), &url) || allows(&written(&more), &url));
        // One that matches everything and is longer than all the others allows.
        more[group] = (vec!["freshet"], vec![(true, "*".repeat(500))]);
        prop_assert!(allows(&written(&more), &url));
    }

    #[test]
    fn groups_for_others_change_nothing(
        groups in groups(0..4),
        rules in prop::collection::vec((any::<bool>(), pattern()), 1..6),
        at in any::<Index>(),
        url in any_url(),
    ) {
        let mut ours = groups;
        ours.push((vec!["freshet"], vec![(false, "/a".to_owned()), (true, "/ab".to_owned())]));
        let mut more = ours.clone();
        more.insert(at.index(ours.len() + 1), (vec!["other", "*"], rules));
        prop_assert_eq!(allows(&written(&more), &url), allows(&written(&ours), &url));
    }

    #[test]
    fn fragments_change_nothing(groups in groups(0..4), url in any_url(), fragment in "[a/*$?%#]{0,5}") {
        let mut with_fragment = url.clone();
        with_fragment.set_fragment(Some(&fragment));
        prop_assert_eq!(allows(&written(&groups), &with_fragment), allows(&written(&groups), &url));
    }

    #[test]
    fn line_ends_and_order_change_nothing(groups in groups(0..4), url in any_url()) {
        let text = written(&groups);
        let verdict = allows(&text, &url);
        prop_assert_eq!(allows(&text.replace('\n', "\r\n"), &url), verdict);
        prop_assert_eq!(allows(&text.replace('\n', " # why\r"), &url), verdict);
        let backwards: Vec<_> = groups.into_iter().rev().collect();
        prop_assert_eq!(allows(&written(&backwards), &url), verdict);
    }
}
