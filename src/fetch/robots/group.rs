//! Records → what they say to us: the rules of our groups, their delay, and everybody's sitemaps.
//!
//! A group is a run of User-agent lines and the rules under it (RFC 9309 §2.2.1). Other records neither begin
//! nor end one (§2.2.4), so a Crawl-delay between two User-agent lines leaves them in one group: they share its rules. The
//! delay is that of the agents named above it. Sites write an agent with its delay alone, and mean no other agent by it.

use std::time::Duration;

use super::record::{Record, RuleVerdict, records};

/// A longer Crawl-delay is read as this one: 35 000 years, which no limit allows, and which a clock can still add.
const MAX_CRAWL_DELAY_SECONDS: f64 = (1_u64 << 40) as f64;

/// More than any honest site names: an index can name 50 000 others.
const MAX_SITEMAPS: usize = 100;

/// A sitemap's address that is longer is not read: pages have the same bound by default.
const MAX_SITEMAP_BYTES: usize = 2048;

/// The rules of a file for one product token.
#[derive(Debug, Default)]
pub(super) struct RobotsGroup<'a> {
    /// In the order written, as written.
    pub rules: Vec<(RuleVerdict, &'a [u8])>,
    pub crawl_delay: Option<Duration>,
    /// As written; an address may be relative.
    pub sitemaps: Vec<&'a str>,
}

/// The rules of `body` for `token`: the groups that name it, together; else those for everyone, together.
pub(super) fn read<'a>(body: &'a [u8], token: &str) -> RobotsGroup<'a> {
    let mut reader = GroupReader::default();
    for record in records(body) {
        match record {
            Record::Agent(value) => reader.agent(value, token),
            Record::Rule(verdict, value) => reader.rule(verdict, value),
            Record::CrawlDelay(value) => reader.crawl_delay(value),
            Record::Sitemap(value) => reader.sitemap(value),
        }
    }
    reader.finish()
}

/// Is this one of the octets that product tokens are made of (RFC 9309 §2.2.1)?
pub(super) fn is_token(octet: u8) -> bool {
    octet.is_ascii_alphabetic() || matches!(octet, b'_' | b'-')
}

#[derive(Default)]
struct GroupReader<'a> {
    /// The groups that name us, merged, once there is one.
    own: Option<RobotsGroup<'a>>,
    /// The groups for `*`, merged.
    everyone: RobotsGroup<'a>,
    sitemaps: Vec<&'a str>,
    /// Asked for above the first group.
    early_delay: Option<Duration>,
    place: FilePart,
    for_us: bool,
    for_everyone: bool,
}

#[derive(Default, PartialEq)]
enum FilePart {
    #[default]
    BeforeGroups,
    InAgents,
    InRules,
}

impl<'a> GroupReader<'a> {
    fn agent(&mut self, value: &[u8], token: &str) {
        if self.place != FilePart::InAgents {
            self.place = FilePart::InAgents;
            (self.for_us, self.for_everyone) = (false, false);
        }
        match value {
            [b'*'] => self.for_everyone = true,
            [b'*', blank, ..] if blank.is_ascii_whitespace() => self.for_everyone = true,
            _ if leading_token(value).eq_ignore_ascii_case(token.as_bytes()) => {
                self.for_us = true;
                // A group that names us sets those for everyone aside even if it has no rules.
                self.own.get_or_insert_default();
            }
            _ => {}
        }
    }

    fn rule(&mut self, verdict: RuleVerdict, value: &'a [u8]) {
        if self.place == FilePart::BeforeGroups {
            return;
        }
        self.place = FilePart::InRules;
        self.addressed(|group| group.rules.push((verdict, value)));
    }

    fn crawl_delay(&mut self, value: &[u8]) {
        let asked = delay(value);
        match self.place {
            FilePart::BeforeGroups => self.early_delay = self.early_delay.max(asked),
            FilePart::InAgents | FilePart::InRules => {
                self.addressed(|group| group.crawl_delay = group.crawl_delay.max(asked));
            }
        }
    }

    fn sitemap(&mut self, value: &'a [u8]) {
        if self.sitemaps.len() < MAX_SITEMAPS
            && let Ok(address) = std::str::from_utf8(value)
            && (1..=MAX_SITEMAP_BYTES).contains(&address.len())
            && !self.sitemaps.contains(&address)
        {
            self.sitemaps.push(address);
        }
    }

    /// The groups that the present lines speak to.
    fn addressed(&mut self, mut tell: impl FnMut(&mut RobotsGroup<'a>)) {
        if self.for_everyone {
            tell(&mut self.everyone);
        }
        if self.for_us
            && let Some(own) = &mut self.own
        {
            tell(own);
        }
    }

    fn finish(self) -> RobotsGroup<'a> {
        let group = self.own.unwrap_or(self.everyone);
        RobotsGroup {
            rules: group.rules,
            crawl_delay: group.crawl_delay.or(self.early_delay),
            sitemaps: self.sitemaps,
        }
    }
}

/// `bot` of `bot/2.1`: hosts write whole user agent strings where a token belongs.
fn leading_token(value: &[u8]) -> &[u8] {
    value.split(|&octet| !is_token(octet)).next().unwrap_or_default()
}

fn delay(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?;
    // `10s` and `10 seconds` say 10.
    let digits = text.trim_end_matches(|sign: char| sign.is_alphabetic() || sign == '.').trim_end();
    let seconds: f64 = text.parse().or_else(|_| digits.parse()).ok()?;
    if seconds.is_nan() {
        return None;
    }
    // Bounded first: Duration refuses what overflows it, as it refuses what is below zero.
    Duration::try_from_secs_f64(seconds.min(MAX_CRAWL_DELAY_SECONDS)).ok()
}
