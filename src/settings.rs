//! Flags over environment over `freshet.toml` over defaults, merged once into typed settings.
//!
//! The file's form is also what `freshet config` prints, so that its output can be saved and edited.

mod file;
mod merge;
pub mod when;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::RegexSet;
use serde::{Deserialize, Serialize};

use freshet::change::ChangeSettings;
use freshet::change::changed_when::ChangedWhen;
use freshet::crawl::CrawlSettings;
use freshet::crawl::observe::{Observer, Reading, SiteReading};
use freshet::crawl::weights::WeightBy;
use freshet::estimate::online::{Damping, Step};
use freshet::estimate::registry::EstimatorSettings;
use freshet::evolve::champion::Champion;
use freshet::extract::text_rules::TextRules;
use freshet::fetch::limits::{AddressRange, AddressRules, Limits};
use freshet::fetch::network::{NetworkSettings, SiteHeaders};
use freshet::fetch::politeness::Politeness;
use freshet::fetch::{FetchSettings, SitePace, robots};
use freshet::page::{Normaliser, Sites};
use freshet::policy::Policy;
use freshet::policy::registry::{self, LongevitySettings, PolicySettings, RuleScale};
use freshet::schedule::calendar::parse_time_of_day;
use freshet::time::Age;
use freshet::unique::{Scope, ScopeKind, SiteRules, TrapLimits};

use crate::cli::{CrawlFlags, Global};
use file::{File, read_file};
use merge::merge;

/// The caller's mistake: exit code 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// `evolved:FILE` as the formula that is in the file; any other policy is its own name. So a store remembers the formula
/// that it ran by, whatever becomes of the file.
pub fn with_formula(policy: &str) -> Result<String, Usage> {
    let Some(path) = policy.strip_prefix(registry::EVOLVED) else { return Ok(policy.to_owned()) };
    let champion = Champion::read(Path::new(path))
        .map_err(|error| Usage(format!("policy `{policy}`: {error}; `freshet evolve` writes such files")))?;
    Ok(format!("{}{}", registry::FORMULA, champion.formula))
}

fn usage<T>(message: impl Into<String>) -> Result<T, Usage> {
    Err(Usage(message.into()))
}

const DEFAULT_STORE: &str = "freshet.db";
const SKETCH_SIZES: &str = "it must be a number from 1 up, or `all`";

/// All of it, effective.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    pub store: PathBuf,
    pub crawl: CrawlSection,
    pub limits: LimitsSection,
    pub change: ChangeSection,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub site: BTreeMap<String, SiteSection>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CrawlSection {
    pub delay: f64,
    pub concurrency: u32,
    pub per_host: u32,
    pub rate: f64,
    pub address_rate: f64,
    pub max_crawl_delay: f64,
    pub patience: f64,
    pub attempts: u32,
    pub back_off: f64,
    pub max_failures: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    pub follow_nofollow: bool,
    pub scope: ScopeKind,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    pub sitemaps: bool,
    pub allow_private: AllowPrivate,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    pub cycles: u64,
    pub objective: String,
    pub policy: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discover: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    pub weight: String,
    pub interval: String,
    pub risk: f64,
    pub learning: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    pub sa_gamma: f64,
    pub lln_alpha: String,
    pub drop_parameters: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct LimitsSection {
    pub connect_seconds: f64,
    pub idle_seconds: f64,
    pub total_seconds: f64,
    pub body_bytes: usize,
    pub sitemap_bytes: usize,
    pub redirects: u32,
    pub pages_per_host: u32,
    pub links_per_page: usize,
    pub query_variants: u32,
    pub url_length: usize,
    pub path_depth: usize,
    pub repeated_segments: usize,
    /// Known URLs kept in memory; beyond that the store is asked.
    pub known_urls: usize,
}

/// How changes are told and measured.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeSection {
    pub fragment_words: usize,
    pub sketch: SketchSize,
    pub profiles: usize,
    pub changed: String,
    pub ignore: Vec<String>,
    pub only: Vec<String>,
    pub ignore_text: Vec<String>,
}

/// A number, or `"all"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SketchSize {
    Hashes(usize),
    Word(String),
}

/// `true`, `false`, or ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AllowPrivate {
    Switch(bool),
    Ranges(Vec<String>),
}

/// What the file may say of one site: `[site."example.org"]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteSection {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeKind>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore_text: Vec<String>,
}

impl Settings {
    /// Merges everything there is, and checks it.
    pub fn load(global: &Global, flags: &CrawlFlags) -> Result<Settings, Usage> {
        let file = read_file(global.config.as_deref())?;
        let settings = merge(global.store.clone(), flags, file);
        settings.check()?;
        Ok(settings)
    }

    /// These flags over the defaults: no file, no environment.
    pub fn of(flags: &CrawlFlags) -> Result<Settings, Usage> {
        let settings = merge(None, flags, File::default());
        settings.check()?;
        Ok(settings)
    }

    /// Only where the store is: enough to look at it.
    pub fn store(global: &Global) -> Result<PathBuf, Usage> {
        match &global.store {
            Some(path) => Ok(path.clone()),
            None => Ok(read_file(global.config.as_deref())?.store.unwrap_or_else(|| DEFAULT_STORE.into())),
        }
    }

    fn check(&self) -> Result<(), Usage> {
        let crawl = &self.crawl;
        let spans = [
            ("delay", crawl.delay),
            ("rate", crawl.rate),
            ("address_rate", crawl.address_rate),
            ("max_crawl_delay", crawl.max_crawl_delay),
            ("patience", crawl.patience),
            ("back_off", crawl.back_off),
        ];
        for (name, value) in
            spans.into_iter().chain(self.site.values().filter_map(|site| Some(("delay", site.delay?))))
        {
            if !(0.0..=1e9).contains(&value) {
                return usage(format!("{name} is `{value}`; it must be a number from 0 to 1000000000"));
            }
        }
        for (name, value) in [
            ("connect_seconds", self.limits.connect_seconds),
            ("idle_seconds", self.limits.idle_seconds),
            ("total_seconds", self.limits.total_seconds),
        ] {
            if !(value > 0.0 && value <= 1e9) {
                return usage(format!("{name} is `{value}`; it must be more than 0 seconds"));
            }
        }
        for (name, value) in [
            ("concurrency", u64::from(crawl.concurrency)),
            ("per_host", u64::from(crawl.per_host)),
            ("attempts", u64::from(crawl.attempts)),
            ("max_failures", u64::from(crawl.max_failures)),
            ("cycles", crawl.cycles),
            ("budget", crawl.budget.unwrap_or(1)),
        ] {
            if value == 0 {
                return usage(format!("{name} is 0; it must be at least 1"));
            }
        }
        if let Some(contact) = &crawl.contact
            && (contact.chars().any(|c| c.is_control() || !c.is_ascii()) || contact.contains(['(', ')']))
        {
            return usage(format!("contact is `{contact}`; write a URL or mail address without brackets"));
        }
        for (name, value, most) in
            [("fragment_words", self.change.fragment_words, 64), ("profiles", self.change.profiles, 32)]
        {
            if !(1..=most).contains(&value) {
                return usage(format!("{name} is `{value}`; it must be a number from 1 to {most}"));
            }
        }
        if let Some(share) = crawl.discover.filter(|share| !(0.0..=1.0).contains(share)) {
            return usage(format!("discover is `{share}`; it must be a share from 0 to 1"));
        }
        if let Some(threshold) =
            crawl.threshold.filter(|threshold| !threshold.is_finite() || *threshold < 0.0)
        {
            return usage(format!("threshold is `{threshold}`; it must be a number from 0 on"));
        }
        if registry::for_aim(&crawl.objective).is_none() {
            let names = registry::AIMS.map(|(aim, _)| format!("`{aim}`")).join(", ");
            return usage(format!("objective is `{}`; there is {names}", crawl.objective));
        }
        self.policy()?;
        self.weight()?;
        self.every()?;
        self.at()?;
        self.sketch()?;
        self.addresses()?;
        self.scope()?;
        self.reading()?;
        Ok(())
    }

    /// The policy by its name, set up.
    pub fn policy(&self) -> Result<Box<dyn Policy>, Usage> {
        self.policy_with(Age::from_days(1.0))
    }

    /// The same, where a day lasts as long as this.
    pub fn policy_with(&self, day: Age) -> Result<Box<dyn Policy>, Usage> {
        let CrawlSection { policy, interval, sa_gamma, lln_alpha, risk, learning, threshold, .. } =
            &self.crawl;
        let interval = positive_span("interval", interval)?;
        let learning = positive_span("learning", learning)?;
        if !(1.0..=1e6).contains(risk) {
            return Err(Usage(format!("risk is `{risk}`; it must be a number from 1 to 1000000")));
        }
        let longevity = LongevitySettings {
            risk: *risk,
            learning_days: learning.as_secs_f64() / 86_400.0 * day.days(),
            threshold: *threshold,
            cycle_days: self.every()?.map_or(day.days(), |every| every.as_secs_f64() / 86_400.0),
        };
        let estimator = estimator_settings(*sa_gamma, lln_alpha)?;
        let interval = Age::from_days(interval.as_secs_f64() / 86_400.0);
        let rules = RuleScale::Day(day);
        let policy = with_formula(policy)?;
        registry::find(&policy, &PolicySettings { estimator, rules, interval, longevity }).map_err(Usage)
    }

    fn weight(&self) -> Result<WeightBy, Usage> {
        let name = &self.crawl.weight;
        WeightBy::from_name(name).ok_or_else(|| {
            let names = WeightBy::ALL.map(|kind| format!("`{}`", kind.name())).join(", ");
            Usage(format!("weight is `{name}`; there is {names}"))
        })
    }

    /// From the start of one cycle to that of the next, if that is set.
    pub fn every(&self) -> Result<Option<Duration>, Usage> {
        self.crawl.every.as_deref().map(|text| positive_span("every", text)).transpose()
    }

    /// The time of day at which cycles begin, if that is set.
    pub fn at(&self) -> Result<Option<(u8, u8)>, Usage> {
        let read = |text: &String| {
            let wrong = || Usage(format!("at is `{text}`; write a time of day, UTC, like `02:00`"));
            parse_time_of_day(text).ok_or_else(wrong)
        };
        self.crawl.at.as_ref().map(read).transpose()
    }

    pub fn user_agent(&self) -> String {
        let name = concat!("freshet/", env!("CARGO_PKG_VERSION"));
        match &self.crawl.contact {
            Some(contact) => format!("{name} (+{contact})"),
            None => name.to_owned(),
        }
    }

    fn addresses(&self) -> Result<AddressRules, Usage> {
        match &self.crawl.allow_private {
            AllowPrivate::Switch(true) => Ok(AddressRules::everything()),
            AllowPrivate::Switch(false) => Ok(AddressRules::public()),
            AllowPrivate::Ranges(ranges) => {
                let ranges =
                    ranges.iter().map(|range| range.parse::<AddressRange>()).collect::<Result<_, _>>();
                ranges.map(AddressRules::and_ranges).map_err(|error| Usage(format!("allow_private: {error}")))
            }
        }
    }

    pub fn normaliser(&self) -> Normaliser {
        Normaliser::new(&self.crawl.drop_parameters, self.limits.url_length)
    }

    /// The operator's rules; the seeds come from the store.
    pub fn scope(&self) -> Result<Scope, Usage> {
        let limits = TrapLimits {
            url_length: self.limits.url_length,
            path_depth: self.limits.path_depth,
            repeated_segments: self.limits.repeated_segments,
            query_variants: self.limits.query_variants,
            pages_per_host: self.limits.pages_per_host,
            links_per_page: self.limits.links_per_page,
        };
        let rules = site_rules("crawl", &self.crawl.include, &self.crawl.exclude, None)?;
        let mut scope = Scope::new(self.crawl.scope, self.crawl.max_depth, limits, rules);
        for (site, section) in &self.site {
            let rules = site_rules(site, &section.include, &section.exclude, section.scope)?;
            if !scope.add_site(site, rules) {
                return usage(format!("[site.\"{site}\"]: `{site}` is not a host name, nor `name:port`"));
            }
        }
        Ok(scope)
    }

    pub fn network(&self) -> Result<NetworkSettings, Usage> {
        let mut sites = Sites::default();
        for (site, section) in &self.site {
            let headers =
                SiteHeaders::new(section.user_agent.as_deref(), section.headers.clone().into_iter());
            sites.add(site, headers.map_err(|error| Usage(format!("[site.\"{site}\"]: {error}")))?);
        }
        Ok(NetworkSettings {
            user_agent: self.user_agent(),
            limits: Limits {
                connect: seconds(self.limits.connect_seconds),
                idle: seconds(self.limits.idle_seconds),
                total: seconds(self.limits.total_seconds),
            },
            keep_alive: seconds(self.crawl.delay * 4.0)
                .clamp(Duration::from_secs(5), Duration::from_secs(90)),
            addresses: self.addresses()?,
            sites,
        })
    }

    pub fn observer(&self) -> Result<Observer, Usage> {
        Ok(Observer {
            normaliser: self.normaliser(),
            links_per_page: self.limits.links_per_page,
            obey_nofollow: !self.crawl.follow_nofollow,
            product_token: robots::product_token(&self.user_agent()).to_owned(),
            sitemap_bytes: self.limits.sitemap_bytes,
            reading: self.reading()?,
            change: self.change(),
        })
    }

    fn sketch(&self) -> Result<Option<usize>, Usage> {
        match &self.change.sketch {
            SketchSize::Hashes(hashes) if *hashes > 0 => Ok(Some(*hashes)),
            SketchSize::Word(word) if word == "all" => Ok(None),
            SketchSize::Hashes(hashes) => usage(format!("sketch is `{hashes}`; {SKETCH_SIZES}")),
            SketchSize::Word(word) => usage(format!("sketch is `{word}`; {SKETCH_SIZES}")),
        }
    }

    #[allow(dead_code)]
    pub fn change(&self) -> ChangeSettings {
        let ChangeSection { fragment_words, profiles, .. } = self.change;
        // Checked before.
        let sketch = self.sketch().unwrap_or(ChangeSettings::default().sketch);
        ChangeSettings { fragment_words, sketch, profiles }
    }

    /// What of the pages counts, and as what. A site's lists come after those for every site.
    pub fn reading(&self) -> Result<Reading, Usage> {
        let all = &self.change;
        let general = site_reading("[change]", &all.ignore, &all.only, &all.ignore_text, &all.changed)?;
        let mut sites = Sites::default();
        for (site, own) in &self.site {
            let place = format!("[site.\"{site}\"]");
            // Alone first, so that a mistake is told where it was made.
            let changed = own.changed.as_ref().unwrap_or(&all.changed);
            site_reading(&place, &own.ignore, &own.only, &own.ignore_text, changed)?;
            let with_general = |general: &Vec<String>, own: &Vec<String>| [&general[..], &own[..]].concat();
            let ignore = with_general(&all.ignore, &own.ignore);
            let only = with_general(&all.only, &own.only);
            let ignore_text = with_general(&all.ignore_text, &own.ignore_text);
            sites.add(site, site_reading(&place, &ignore, &only, &ignore_text, changed)?);
        }
        Ok(Reading { general, sites })
    }

    /// A hash of what decides which links are taken. The seeds have their own say, in the store.
    fn rules(&self) -> u64 {
        let (crawl, limits) = (&self.crawl, &self.limits);
        let sites: Vec<_> =
            self.site.iter().map(|(site, own)| (site, own.scope, &own.include, &own.exclude)).collect();
        let deciding = format!(
            "{:?}",
            (
                (crawl.scope, &crawl.include, &crawl.exclude, crawl.max_depth, crawl.follow_nofollow),
                (limits.pages_per_host, limits.links_per_page, limits.query_variants, limits.url_length),
                (limits.path_depth, limits.repeated_segments, &crawl.drop_parameters, sites),
            )
        );
        xxhash_rust::xxh3::xxh3_64(deciding.as_bytes())
    }

    pub fn crawl(&self) -> CrawlSettings {
        let crawl = &self.crawl;
        let mut paces = Sites::default();
        for (site, section) in &self.site {
            let (delay, user_agent) = (section.delay.map(seconds), section.user_agent.clone());
            paces.add(site, SitePace { delay, user_agent, budget: section.budget });
        }
        CrawlSettings {
            fetch: FetchSettings {
                politeness: Politeness {
                    delay: seconds(crawl.delay),
                    per_host: crawl.per_host,
                    max_crawl_delay: seconds(crawl.max_crawl_delay),
                    patience: seconds(crawl.patience),
                    attempts: crawl.attempts,
                    back_off: seconds(crawl.back_off),
                    max_failures: crawl.max_failures,
                    ..Politeness::default()
                },
                concurrency: crawl.concurrency as usize,
                rate: Some(crawl.rate).filter(|rate| *rate > 0.0),
                address_rate: Some(crawl.address_rate).filter(|rate| *rate > 0.0),
                body_bytes: self.limits.body_bytes,
                sitemap_bytes: self.limits.sitemap_bytes,
                robots_redirects: 5,
                robots_age: Duration::from_secs(24 * 3600),
                user_agent: self.user_agent(),
                sites: paces,
            },
            budget: crawl.budget,
            cycles: crawl.cycles,
            // Checked before.
            every: self.every().unwrap_or_default(),
            discover: crawl.discover,
            threshold: crawl.threshold,
            weight: self.weight().unwrap_or_default(),
            redirects: self.limits.redirects,
            sitemaps: crawl.sitemaps,
            max_known: self.limits.known_urls,
            rules: self.rules(),
        }
    }
}

fn site_rules(
    place: &str,
    include: &[String],
    exclude: &[String],
    scope: Option<ScopeKind>,
) -> Result<SiteRules, Usage> {
    let set = |name: &str, patterns: &[String]| match patterns {
        [] => Ok(None),
        patterns => RegexSet::new(patterns).map(Some).map_err(|error| {
            Usage(format!("{name} of `{place}` has a pattern that is no regular expression: {error}"))
        }),
    };
    Ok(SiteRules { include: set("include", include)?, exclude: set("exclude", exclude)?, scope })
}

fn site_reading(
    place: &str,
    ignore: &[String],
    only: &[String],
    ignore_text: &[String],
    changed: &str,
) -> Result<SiteReading, Usage> {
    let changed =
        changed.parse::<ChangedWhen>().map_err(|error| Usage(format!("{place} changed: {error}")))?;
    // One list at a time, to name it.
    let lists = [
        ("ignore", TextRules::new(ignore, &[], &[])),
        ("only", TextRules::new(&[], only, &[])),
        ("ignore_text", TextRules::new(&[], &[], ignore_text)),
    ];
    for (name, rules) in lists {
        rules.map_err(|error| Usage(format!("{place} {name}: {error}")))?;
    }
    let rules = TextRules::new(ignore, only, ignore_text);
    Ok(SiteReading { rules: rules.map_err(|error| Usage(format!("{place}: {error}")))?, changed })
}

/// How estimators are set: γ of `sa`, and α of `lln` by its name.
pub fn estimator_settings(sa_gamma: f64, lln_alpha: &str) -> Result<EstimatorSettings, Usage> {
    if !(sa_gamma > 0.5 && sa_gamma <= 1.0) {
        return usage(format!(
            "sa_gamma is `{sa_gamma}`; it must be above 0.5 and at most 1, or it never settles"
        ));
    }
    let damping = Damping::from_name(lln_alpha).ok_or_else(|| {
        let names = Damping::ALL.map(|kind| format!("`{}`", kind.name())).join(", ");
        Usage(format!("lln_alpha is `{lln_alpha}`; there is {names}"))
    })?;
    let step = Step::Falling { gamma: sa_gamma, first: 0 };
    Ok(EstimatorSettings { step, damping, ..EstimatorSettings::default() })
}

/// A span as people type it, above 0.
fn positive_span(name: &str, text: &str) -> Result<Duration, Usage> {
    let span = when::duration(text).filter(|span| !span.is_zero());
    span.ok_or_else(|| {
        Usage(format!("{name} is `{text}`; write a number above 0 and a unit: 30m, 12h, 1d, 2w"))
    })
}

/// Checked before: finite, not negative, not absurd.
fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn parsed(text: &str) -> Result<Settings, Usage> {
        let file: File = toml::from_str(text).map_err(|error| Usage(error.to_string()))?;
        let settings = merge(None, &CrawlFlags::default(), file);
        settings.check()?;
        Ok(settings)
    }

    #[test]
    fn what_config_prints_can_be_read_again() {
        let settings = parsed("[crawl]\ndelay = 0.5\n[site.\"example.org\"]\nbudget = 7\n").unwrap();
        let printed = toml::to_string(&settings).unwrap();
        let again = parsed(&printed).unwrap();
        assert_eq!(toml::to_string(&again).unwrap(), printed);
        assert_eq!(again.crawl.address_rate, 8.0);
        assert_eq!(again.site["example.org"].budget, Some(7));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, said) in [
            ("[crawl]\ndelai = 1\n", "delai"),
            ("[crawl]\ndelay = -1\n", "delay"),
            ("[crawl]\ndelay = nan\n", "delay"),
            ("[crawl]\nconcurrency = 0\n", "concurrency"),
            ("[crawl]\ninclude = ['(']\n", "include"),
            ("[crawl]\nallow_private = ['10.0.0.0/99']\n", "prefix"),
            ("[crawl]\nscope = 'planet'\n", "planet"),
            ("[crawl]\npolicy = 'psychic'\n", "there is no policy `psychic`"),
            ("[crawl]\npolicy = 'utility:psychic'\n", "there is no estimator `psychic`"),
            ("[crawl]\npolicy = 'age:mle'\n", "takes no estimator"),
            ("[crawl]\nweight = 'gold'\n", "weight is `gold`"),
            ("[crawl]\nobjective = 'joy'\n", "objective is `joy`"),
            ("[crawl]\ndiscover = 1.5\n", "discover is `1.5`"),
            ("[crawl]\nthreshold = -1.0\n", "threshold is `-1`"),
            ("[crawl]\nevery = 'often'\n", "every is `often`"),
            ("[crawl]\nevery = '0s'\n", "every is `0s`"),
            ("[crawl]\nat = '25:00'\n", "at is `25:00`"),
            ("[crawl]\ninterval = '-1d'\n", "interval is `-1d`"),
            ("[crawl]\nrisk = 0.5\n", "risk is `0.5`"),
            ("[crawl]\nlearning = '0s'\n", "learning is `0s`"),
            ("[crawl]\nsa_gamma = 0.5\n", "sa_gamma is `0.5`"),
            ("[crawl]\nlln_alpha = 'two'\n", "lln_alpha is `two`"),
            ("[site.'not a host']\ndelay = 1\n", "not a host"),
            ("[limits]\nidle_seconds = 0\n", "idle_seconds"),
            ("[change]\nfragment_words = 65\n", "from 1 to 64"),
            ("[change]\nprofiles = 0\n", "profiles is `0`"),
            ("[change]\nsketch = 0\n", "sketch is `0`"),
            ("[change]\nsketch = 'some'\n", "sketch is `some`"),
            ("[change]\nchanged = 'often'\n", "[change] changed: `often`"),
            ("[change]\nonly = ['div[']\n", "[change] only: `div[` is no CSS selector"),
            ("[site.'a.org']\nchanged = 'divergence > 1'\n", "[site.\"a.org\"] changed: "),
            ("[site.'a.org']\nignore = ['p', 'a >']\n", "[site.\"a.org\"] ignore: `a >`"),
            ("[site.'a.org']\nignore_text = ['(']\n", "[site.\"a.org\"] ignore_text: `(` is no regular"),
        ] {
            let error = parsed(text).err().map(|error| error.0).unwrap_or_default();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn a_site_has_the_general_rules_and_its_own() {
        let settings = parsed(
            "[change]\nsketch = 'all'\nignore = ['.ad']\nchanged = 'bytes'\n\
             [site.'a.org']\nignore = ['#clock']\nchanged = 'divergence>0.1'\n[site.'b.org']\nbudget = 1\n",
        )
        .unwrap();
        let again = parsed(&toml::to_string(&settings).unwrap()).unwrap();
        assert_eq!(again.change(), ChangeSettings { sketch: None, ..ChangeSettings::default() });
        let reading = again.reading().unwrap();
        let of = |url: &str| reading.of(&url.parse().unwrap());
        let page = b"a <i class=ad>x</i> <i id=clock>12</i> b";
        assert_eq!(of("http://sub.a.org/").rules.html(page, None), "a b");
        assert_eq!(of("http://b.org/").rules.html(page, None), "a 12 b");
        assert_eq!(of("http://c.org/").rules.hash(), of("http://b.org/").rules.hash());
        assert_eq!(of("http://a.org/").changed, ChangedWhen::Divergence(0.1));
        assert_eq!(of("http://b.org/").changed, ChangedWhen::Bytes);
    }

    #[test]
    fn an_aim_picks_the_policy_unless_one_is_named() {
        let policy = |text| parsed(text).unwrap().crawl.policy;
        assert_eq!(policy(""), "longevity");
        assert_eq!(policy("[crawl]\nobjective = 'freshness'\n"), "utility");
        assert_eq!(policy("[crawl]\nobjective = 'changes'\n"), "change-probability");
        assert_eq!(policy("[crawl]\nobjective = 'changes'\npolicy = 'nutch'\n"), "nutch");
    }

    #[test]
    fn flags_win_over_the_file() {
        let file: File = toml::from_str("store = 'a.db'\n[crawl]\ndelay = 3\nbudget = 9\n").unwrap();
        let flags = CrawlFlags { delay: Some(0.25), ..CrawlFlags::default() };
        let settings = merge(Some("b.db".into()), &flags, file);
        assert_eq!(settings.store, Path::new("b.db"));
        assert_eq!(settings.crawl.delay, 0.25);
        assert_eq!(settings.crawl.budget, Some(9));
    }
}
