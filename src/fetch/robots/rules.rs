//! The rules that speak to us → something that can be asked, in bounded time.
//!
//! Most hosts forbid us nothing or everything, and neither needs asking. For the others texting_robots tries
//! each rule on each URL. A rule without `*` costs it a comparison; each stretch of text after a `*` costs it
//! a search through the URL, so those are rationed. What goes over a bound becomes stricter, never laxer: an
//! Allow is left out, and a Disallow is replaced by one that forbids more and yields to no Allow that the
//! written one would not have yielded to.
//!
//! The memory of one file is rationed too ([`MAX_HELD_BYTES`]). A file that goes over it loses all its Allows, and its
//! Disallows are cut shorter and shorter until they fit; a shorter prefix forbids more.

use std::collections::BTreeSet;
use std::sync::Arc;

use texting_robots::Robot;

use super::pattern;
use super::record::RuleVerdict;

/// How long a pattern may be, in bytes as we spell it: longer than nearly every URL.
const MAX_PATTERN_BYTES: usize = 1024;

/// How many bytes of pattern may be searched for in a URL, all rules together: over 2 500 rules like
/// `/*?page=`, far more than a site needs, and 1 to 2.5 ms for a URL of 2 000 bytes.
const MAX_SEARCHED_BYTES: usize = 128 * 1024;

/// The cost of starting a search, in bytes searched: starting takes about 0.2 µs, each byte 7 ns.
const SEARCH_START_BYTES: usize = 32;

/// How many bytes the rules of one file may hold in memory: some 8 000 rules, more than nearly every site has.
pub(super) const MAX_HELD_BYTES: usize = 2 << 20;

/// The bytes that a rule holds beside its pattern: its place in texting_robots' list, which may have grown to twice its
/// size, and the allocations of two strings.
const RULE_BYTES: usize = 240;

/// The lengths that Disallows are cut to, one after the other, when a file holds too much.
const CUTS: [usize; 4] = [64, 16, 4, 2];

/// The answer for every URL of a host, or the matcher that gives it.
#[derive(Debug, Clone)]
pub(super) enum RobotsRules {
    AllowAll,
    DisallowAll,
    Ask { robot: Arc<Robot>, held_bytes: usize },
}

impl RobotsRules {
    /// The rules as written, in any order.
    pub(super) fn build(written: &[(RuleVerdict, &[u8])]) -> RobotsRules {
        if !written.iter().any(|(verdict, value)| *verdict == RuleVerdict::Disallow && !value.is_empty()) {
            return RobotsRules::AllowAll;
        }
        let cuts = CUTS.into_iter().map(Some);
        let Some(patterns) = std::iter::once(None).chain(cuts).find_map(|cut| patterns(written, cut)) else {
            return RobotsRules::DisallowAll;
        };
        let disallows = |pattern: &str| patterns.contains(&(RuleVerdict::Disallow, pattern.to_owned()));
        let allows_some = patterns.iter().any(|(verdict, _)| *verdict == RuleVerdict::Allow);
        if !allows_some && ["/", "*", "/*"].into_iter().any(disallows) {
            return RobotsRules::DisallowAll;
        }
        match Robot::new("*", text(&patterns).as_bytes()) {
            Ok(robot) => {
                let held_bytes = patterns.iter().map(|(_, pattern)| held_bytes(pattern)).sum();
                RobotsRules::Ask { robot: Arc::new(robot), held_bytes }
            }
            // No text of ours is known to end here. If one does, we know of rules and not what they say.
            Err(_) => RobotsRules::DisallowAll,
        }
    }

    /// The bytes that are held in memory, about.
    pub(super) fn held_bytes(&self) -> usize {
        match self {
            RobotsRules::AllowAll | RobotsRules::DisallowAll => 0,
            RobotsRules::Ask { held_bytes, .. } => *held_bytes,
        }
    }
}

/// Each pattern once a verdict, all within the bounds; `None` if they hold too much. With a `cut`, Allows are left out and
/// Disallows are cut to that length.
fn patterns(written: &[(RuleVerdict, &[u8])], cut: Option<usize>) -> Option<BTreeSet<(RuleVerdict, String)>> {
    let mut patterns = BTreeSet::new();
    let mut searched_left = MAX_SEARCHED_BYTES;
    let mut held_left = MAX_HELD_BYTES;
    for &(verdict, value) in written {
        if cut.is_some() && verdict == RuleVerdict::Allow {
            continue;
        }
        let pattern = pattern::of_rule(verdict, value).and_then(|pattern| shortened(verdict, pattern));
        let Some(mut pattern) = pattern else { continue };
        // A pattern is ASCII, so it can be cut anywhere.
        pattern.truncate(cut.unwrap_or(usize::MAX));
        let mut rule = (verdict, pattern);
        if patterns.contains(&rule) {
            continue;
        }
        match searched_left.checked_sub(searched_bytes(&rule.1)) {
            Some(left) => searched_left = left,
            None if verdict == RuleVerdict::Disallow => rule.1 = widened(&rule.1),
            None => continue,
        }
        let bytes = held_bytes(&rule.1);
        if patterns.insert(rule) {
            held_left = held_left.checked_sub(bytes)?;
        }
    }
    Some(patterns)
}

/// The bytes that a rule holds: texting_robots keeps a pattern with a star twice.
fn held_bytes(pattern: &str) -> usize {
    RULE_BYTES + 2 * pattern.len()
}

/// A Disallow cut to [`MAX_PATTERN_BYTES`]; `None` for an Allow that is longer.
fn shortened(verdict: RuleVerdict, pattern: String) -> Option<String> {
    if pattern.len() <= MAX_PATTERN_BYTES {
        return Some(pattern);
    }
    match verdict {
        RuleVerdict::Allow => None,
        // The star keeps it longer than any Allow, as it was.
        RuleVerdict::Disallow => pattern.get(..MAX_PATTERN_BYTES).map(|head| format!("{head}*")),
    }
}

/// The cost of a match: texting_robots searches the URL for each stretch of the pattern that follows a star.
fn searched_bytes(pattern: &str) -> usize {
    let stretches = pattern.split('*').skip(1).filter(|stretch| !stretch.is_empty());
    stretches.map(|stretch| SEARCH_START_BYTES + stretch.len()).sum()
}

/// Everything that begins like the pattern, with no search at all.
///
/// The length stays, because the longest match wins: a shorter one could lose to an Allow that this beats.
fn widened(pattern: &str) -> String {
    let head = pattern.split('*').next().unwrap_or_default();
    format!("{head}{}", "*".repeat(pattern.len().saturating_sub(head.len())))
}

/// The rules as a robots.txt that texting_robots reads as we do.
fn text(patterns: &BTreeSet<(RuleVerdict, String)>) -> String {
    let mut text = String::from("User-agent: *\n");
    for (verdict, pattern) in patterns {
        text.push_str(match verdict {
            RuleVerdict::Allow => "Allow: ",
            RuleVerdict::Disallow => "Disallow: ",
        });
        text.push_str(pattern);
        text.push('\n');
    }
    text
}
