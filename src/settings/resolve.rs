//! Settled sections → the settings of each room of the library. The only place where combined settings can still be
//! wrong: patterns, selectors, site names and headers.

use std::time::Duration;

use regex::RegexSet;

use freshet::change::ChangeSettings;
use freshet::change::changed_when::ChangedWhen;
use freshet::crawl::CrawlSettings;
use freshet::crawl::observe::{Reading, SiteReading};
use freshet::crawl::text_command::TextCommands;
use freshet::extract::text_rules::TextRules;
use freshet::fetch::limits::Limits;
use freshet::fetch::network::{NetworkSettings, SiteHeaders};
use freshet::fetch::politeness::Politeness;
use freshet::fetch::robots::ProductTokens;
use freshet::fetch::{FetchSettings, SitePace};
use freshet::follow::search_index::path_beside;
use freshet::observation::room::StoreLimits;
use freshet::page::{SiteKey, Sites};
use freshet::signal::lists;
use freshet::unique::{Scope, ScopeKind, SiteRules, TrapLimits};

use super::sections::{Sections, SiteSection};
use super::values::{Amount, Contact, LongCount, Share, Threshold, TimeOfDay, address_rules};
use super::{Settings, Usage};

pub(super) fn resolve(sections: Sections) -> Result<Settings, Usage> {
    let sites = named_sites(&sections)?;
    let change = ChangeSettings {
        fragment_words: sections.change.fragment_words.get(),
        sketch: sections.change.sketch.0,
        hash_bytes: sections.change.hash_bytes.hash_bytes(),
        profiles: sections.change.profiles.get(),
    };
    Ok(Settings {
        store: sections.store.clone(),
        crawl: crawl(&sections, &sites),
        change,
        network: network(&sections, &sites)?,
        scope: scope(&sections, &sites)?,
        reading: reading(&sections, &sites)?,
        at: sections.crawl.at.as_ref().map(|at| *at.get()).map(|TimeOfDay(hour, minute)| (hour, minute)),
        catch_up: sections.crawl.catch_up,
        search: sections.crawl.search,
        sections,
    })
}

/// A section of a site, by its key.
struct NamedSite {
    key: SiteKey,
    own: SiteSection,
    /// The section as the file has it: `[site."example.org"]`.
    place: String,
}

/// The sections of sites. Each names a host, and no two the same one.
fn named_sites(sections: &Sections) -> Result<Vec<NamedSite>, Usage> {
    let mut sites: Vec<NamedSite> = Vec::new();
    for (site, own) in &sections.site {
        let place = format!("[site.\"{site}\"]");
        let key = SiteKey::parse(site).ok_or_else(|| {
            Usage(format!(
                "{place}: `{site}` is not a host name, nor `name:port`; `http://` or `*.` may stand before a name"
            ))
        })?;
        if let Some(same) = sites.iter().find(|other| other.key.is_same_site(&key)) {
            return Err(Usage(format!("{} and {place} are one site: write one section for it", same.place)));
        }
        sites.push(NamedSite { key, own: own.clone(), place });
    }
    Ok(sites)
}

fn user_agent(sections: &Sections) -> String {
    let name = concat!("freshet/", env!("CARGO_PKG_VERSION"));
    match sections.crawl.contact.as_ref().and_then(Contact::get) {
        Some(contact) => format!("{name} (+{contact})"),
        None => name.to_owned(),
    }
}

fn crawl(sections: &Sections, sites: &[NamedSite]) -> CrawlSettings {
    let (crawl, limits) = (&sections.crawl, &sections.limits);
    CrawlSettings {
        fetch: fetch(sections, sites),
        store_limits: StoreLimits {
            page_bytes: limits.page_store_bytes,
            host_bytes: limits.host_store_bytes,
        },
        budget: crawl.budget.map(LongCount::get),
        cycles: crawl.cycles.get(),
        every: crawl.every.as_ref().map(|every| every.get().0),
        discover: crawl.discover.map(Share::get),
        threshold: crawl.threshold.map(Threshold::get),
        weight: *crawl.weight.get(),
        workload: None,
        index: Some(path_beside(&sections.store)),
        redirects: limits.redirects,
        sitemaps: crawl.sitemaps,
        list_day: lists::DAY,
        max_known: limits.known_urls,
        rules: link_rules(sections),
    }
}

fn fetch(sections: &Sections, named: &[NamedSite]) -> FetchSettings {
    let crawl = &sections.crawl;
    let mut sites = Sites::default();
    let mut product_tokens = ProductTokens::new(&user_agent(sections));
    for NamedSite { key, own, .. } in named {
        sites.add(key.site(), SitePace { delay: own.delay.map(Amount::seconds), budget: own.budget });
        product_tokens.add_site(key.site(), own.user_agent.as_deref());
    }
    FetchSettings {
        politeness: Politeness {
            delay: crawl.delay.seconds(),
            per_host: crawl.per_host.get(),
            max_crawl_delay: crawl.max_crawl_delay.seconds(),
            patience: crawl.patience.seconds(),
            attempts: crawl.attempts.get(),
            back_off: crawl.back_off.seconds(),
            max_failures: crawl.max_failures.get(),
            ..Politeness::default()
        },
        concurrency: crawl.concurrency.get() as usize,
        rate: crawl.rate.limit(),
        address_rate: crawl.address_rate.limit(),
        body_bytes: sections.limits.body_bytes,
        sitemap_bytes: sections.limits.sitemap_bytes,
        robots_redirects: 5,
        robots_age: Duration::from_secs(24 * 3600),
        product_tokens,
        sites,
    }
}

/// A hash of everything that decides which links are taken, except the seeds, which the store adds. A store keeps it:
/// pages are read again when it changes. So the text that is hashed never changes for the same settings.
fn link_rules(sections: &Sections) -> u64 {
    let (crawl, limits) = (&sections.crawl, &sections.limits);
    let sites = sections.site.iter().map(|(site, own)| {
        let scope = own.scope.map_or("None".to_owned(), |kind| format!("Some({})", scope_name(kind)));
        format!("({site:?}, {scope}, {:?}, {:?})", own.include, own.exclude)
    });
    let sites: Vec<String> = sites.collect();
    let deciding = format!(
        "(({}, {:?}, {:?}, {:?}, {}), ({}, {}, {}, {}), ({}, {}, {:?}, [{}]))",
        scope_name(crawl.scope),
        crawl.include,
        crawl.exclude,
        crawl.max_depth,
        crawl.follow_nofollow,
        limits.pages_per_host,
        limits.links_per_page,
        limits.query_variants,
        limits.url_length,
        limits.path_depth,
        limits.repeated_segments,
        crawl.drop_parameters,
        sites.join(", "),
    );
    xxhash_rust::xxh3::xxh3_64(deciding.as_bytes())
}

/// The kind of scope as the hash of the rules has it.
fn scope_name(kind: ScopeKind) -> &'static str {
    match kind {
        ScopeKind::Prefix => "Prefix",
        ScopeKind::Host => "Host",
        ScopeKind::Domain => "Domain",
        ScopeKind::Any => "Any",
    }
}

fn network(sections: &Sections, named: &[NamedSite]) -> Result<NetworkSettings, Usage> {
    let mut sites = Sites::default();
    for NamedSite { key, own, place } in named {
        let mut headers = Vec::new();
        for (name, text) in &own.headers {
            let value = text.filled(|variable| std::env::var(variable).ok());
            headers.push((
                name.clone(),
                value.map_err(|error| Usage(format!("{place} headers, {name:?}: {error}")))?,
            ));
        }
        let headers = SiteHeaders::new(key.clone(), own.user_agent.as_deref(), headers.into_iter());
        sites.add(key.site(), headers.map_err(|error| Usage(format!("{place}: {error}")))?);
    }
    let addresses = address_rules(&sections.crawl.allow_private);
    Ok(NetworkSettings {
        user_agent: user_agent(sections),
        limits: Limits {
            connect: sections.limits.connect_seconds.seconds(),
            idle: sections.limits.idle_seconds.seconds(),
            total: sections.limits.total_seconds.seconds(),
        },
        keep_alive: (sections.crawl.delay.seconds() * 4)
            .clamp(Duration::from_secs(5), Duration::from_secs(90)),
        addresses: addresses.map_err(|error| Usage(format!("allow_private: {error}")))?,
        sites,
    })
}

fn scope(sections: &Sections, sites: &[NamedSite]) -> Result<Scope, Usage> {
    let (crawl, limits) = (&sections.crawl, &sections.limits);
    let limits = TrapLimits {
        url_length: limits.url_length,
        path_depth: limits.path_depth,
        repeated_segments: limits.repeated_segments,
        query_variants: limits.query_variants,
        pages_per_host: limits.pages_per_host,
        links_per_page: limits.links_per_page,
    };
    let rules = site_rules("crawl", &crawl.include, &crawl.exclude, None)?;
    let mut scope = Scope::new(crawl.scope, crawl.max_depth, limits, rules);
    for NamedSite { key, own, .. } in sites {
        scope.add_site(key.site(), site_rules(key.site(), &own.include, &own.exclude, own.scope)?);
    }
    Ok(scope)
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

/// The rules for reading pages. The lists of a site are added to those for every site.
fn reading(sections: &Sections, named: &[NamedSite]) -> Result<Reading, Usage> {
    let all = &sections.change;
    let changed = *all.changed.get();
    let general =
        SiteReading { rules: text_rules("[change]", &all.ignore, &all.only, &all.ignore_text)?, changed };
    let mut sites = Sites::default();
    for NamedSite { key, own, place } in named {
        // The site's own lists alone first, so that a mistake is told where it was made.
        text_rules(place, &own.ignore, &own.only, &own.ignore_text)?;
        let with_general = |general: &[String], own: &[String]| [general, own].concat();
        let ignore = with_general(&all.ignore, &own.ignore);
        let only = with_general(&all.only, &own.only);
        let ignore_text = with_general(&all.ignore_text, &own.ignore_text);
        let rules = text_rules(place, &ignore, &only, &ignore_text)?;
        let changed: ChangedWhen = own.changed.as_ref().map_or(changed, |own| *own.get());
        sites.add(key.site(), SiteReading { rules, changed });
    }
    let commands = TextCommands::new(&all.text, all.text_seconds.seconds())
        .map_err(|(kind, said)| Usage(format!("[change] text, {kind:?}: {said}")))?;
    Ok(Reading { general, sites, commands })
}

fn text_rules(
    place: &str,
    ignore: &[String],
    only: &[String],
    ignore_text: &[String],
) -> Result<TextRules, Usage> {
    // One list at a time, to name the wrong one.
    let lists = [
        ("ignore", TextRules::new(ignore, &[], &[])),
        ("only", TextRules::new(&[], only, &[])),
        ("ignore_text", TextRules::new(&[], &[], ignore_text)),
    ];
    for (name, rules) in lists {
        rules.map_err(|error| Usage(format!("{place} {name}: {error}")))?;
    }
    TextRules::new(ignore, only, ignore_text).map_err(|error| Usage(format!("{place}: {error}")))
}
