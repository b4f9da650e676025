//! Flags, file and defaults → settings: the first that says something wins.

use std::path::PathBuf;

use freshet::change::ChangeSettings;
use freshet::change::changed_when::ChangedWhen;
use freshet::crawl::weights::WeightBy;
use freshet::estimate::online::Damping;
use freshet::fetch::limits::Limits;
use freshet::fetch::politeness::Politeness;
use freshet::page::DEFAULT_DROPPED_PARAMETERS;
use freshet::policy::registry;
use freshet::unique::{ScopeKind, TrapLimits};

use super::file::File;
use super::{AllowPrivate, ChangeSection, CrawlSection, DEFAULT_STORE, LimitsSection, Settings, SketchSize};
use crate::cli::{CrawlFlags, ScopeArg};

/// Hosts on one address together get what so many hosts would get alone.
const HOSTS_PER_ADDRESS: f64 = 4.0;

pub(super) fn merge(store: Option<PathBuf>, flags: &CrawlFlags, file: File) -> Settings {
    let from = file.crawl;
    let politeness = Politeness::default();
    let delay = flags.delay.or(from.delay).unwrap_or(politeness.delay.as_secs_f64());
    let traps = TrapLimits::default();
    let limits = Limits::default();
    let own = file.limits;
    let change = file.change;
    let objective =
        flags.objective.clone().or(from.objective).unwrap_or_else(|| registry::DEFAULT_AIM.to_owned());
    let given = |flag: &Vec<String>, file: Option<Vec<String>>| {
        if flag.is_empty() { file.unwrap_or_default() } else { flag.clone() }
    };
    Settings {
        store: store.or(file.store).unwrap_or_else(|| DEFAULT_STORE.into()),
        crawl: CrawlSection {
            delay,
            concurrency: flags.concurrency.or(from.concurrency).unwrap_or(64),
            per_host: flags.per_host.or(from.per_host).unwrap_or(politeness.per_host),
            rate: flags.rate.or(from.rate).unwrap_or(0.0),
            address_rate: flags.address_rate.or(from.address_rate).unwrap_or(if delay > 0.0 {
                HOSTS_PER_ADDRESS / delay
            } else {
                0.0
            }),
            max_crawl_delay: flags
                .max_crawl_delay
                .or(from.max_crawl_delay)
                .unwrap_or(politeness.max_crawl_delay.as_secs_f64()),
            patience: flags.patience.or(from.patience).unwrap_or(politeness.patience.as_secs_f64()),
            attempts: from.attempts.unwrap_or(politeness.attempts),
            back_off: from.back_off.unwrap_or(politeness.back_off.as_secs_f64()),
            max_failures: from.max_failures.unwrap_or(politeness.max_failures),
            contact: flags.contact.clone().or(from.contact).filter(|contact| !contact.trim().is_empty()),
            follow_nofollow: flags.ignore_nofollow || from.follow_nofollow.unwrap_or(false),
            scope: flags.scope.map(scope_kind).or(from.scope).unwrap_or_default(),
            include: given(&flags.include, from.include),
            exclude: given(&flags.exclude, from.exclude),
            max_depth: flags.max_depth.or(from.max_depth),
            sitemaps: !flags.no_sitemaps && from.sitemaps.unwrap_or(true),
            allow_private: flags
                .allow_private
                .as_ref()
                .map(|given| allow_private(given))
                .or(from.allow_private)
                .unwrap_or(AllowPrivate::Switch(false)),
            budget: flags.budget.or(from.budget),
            cycles: flags.cycles.or(from.cycles).unwrap_or(1),
            policy: flags.policy.clone().or(from.policy).unwrap_or_else(|| {
                // A name that is none is told when settings are checked.
                registry::for_aim(&objective).unwrap_or(registry::DEFAULT).to_owned()
            }),
            objective,
            discover: flags.discover.or(from.discover),
            threshold: flags.threshold.or(from.threshold),
            weight: flags
                .weight
                .clone()
                .or(from.weight)
                .unwrap_or_else(|| WeightBy::default().name().to_owned()),
            risk: flags.risk.or(from.risk).unwrap_or(10.0),
            learning: flags.learning.clone().or(from.learning).unwrap_or_else(|| "1d".to_owned()),
            interval: flags.interval.clone().or(from.interval).unwrap_or_else(|| "1d".to_owned()),
            every: from.every,
            at: from.at,
            sa_gamma: from.sa_gamma.unwrap_or(0.75),
            lln_alpha: from.lln_alpha.unwrap_or_else(|| Damping::default().name().to_owned()),
            drop_parameters: from
                .drop_parameters
                .unwrap_or_else(|| DEFAULT_DROPPED_PARAMETERS.iter().map(ToString::to_string).collect()),
        },
        limits: LimitsSection {
            connect_seconds: own.connect_seconds.unwrap_or(limits.connect.as_secs_f64()),
            idle_seconds: own.idle_seconds.unwrap_or(limits.idle.as_secs_f64()),
            total_seconds: own.total_seconds.unwrap_or(limits.total.as_secs_f64()),
            body_bytes: own.body_bytes.unwrap_or(8 << 20),
            sitemap_bytes: own.sitemap_bytes.unwrap_or(50 << 20),
            redirects: own.redirects.unwrap_or(5),
            pages_per_host: flags.max_pages_per_host.or(own.pages_per_host).unwrap_or(traps.pages_per_host),
            links_per_page: own.links_per_page.unwrap_or(traps.links_per_page),
            query_variants: own.query_variants.unwrap_or(traps.query_variants),
            url_length: own.url_length.unwrap_or(traps.url_length),
            path_depth: own.path_depth.unwrap_or(traps.path_depth),
            repeated_segments: own.repeated_segments.unwrap_or(traps.repeated_segments),
            known_urls: own.known_urls.unwrap_or(16_000_000),
        },
        change: ChangeSection {
            fragment_words: flags
                .fragment_words
                .or(change.fragment_words)
                .unwrap_or(ChangeSettings::default().fragment_words),
            sketch: flags.sketch.as_deref().map(sketch_size).or(change.sketch).unwrap_or_else(|| {
                match ChangeSettings::default().sketch {
                    Some(hashes) => SketchSize::Hashes(hashes),
                    None => SketchSize::Word("all".to_owned()),
                }
            }),
            profiles: flags.profiles.or(change.profiles).unwrap_or(ChangeSettings::default().profiles),
            changed: flags
                .changed
                .clone()
                .or(change.changed)
                .unwrap_or_else(|| ChangedWhen::default().to_string()),
            ignore: change.ignore.unwrap_or_default(),
            only: change.only.unwrap_or_default(),
            ignore_text: change.ignore_text.unwrap_or_default(),
        },
        site: file.site,
    }
}

fn sketch_size(given: &str) -> SketchSize {
    let word = given.trim();
    word.parse().map_or_else(|_| SketchSize::Word(word.to_owned()), SketchSize::Hashes)
}

fn scope_kind(given: ScopeArg) -> ScopeKind {
    match given {
        ScopeArg::Prefix => ScopeKind::Prefix,
        ScopeArg::Host => ScopeKind::Host,
        ScopeArg::Domain => ScopeKind::Domain,
        ScopeArg::Any => ScopeKind::Any,
    }
}

/// A bare `--allow-private` opens everything; the environment can say `1`, `true` or `false` too.
fn allow_private(given: &[String]) -> AllowPrivate {
    match given {
        [one] if matches!(one.as_str(), "all" | "true" | "1") => AllowPrivate::Switch(true),
        [one] if matches!(one.as_str(), "false" | "0" | "") => AllowPrivate::Switch(false),
        ranges => AllowPrivate::Ranges(ranges.to_vec()),
    }
}
