//! Parsing, precedence, and the messages for mistakes.

use std::path::Path;
use std::time::Duration;

use clap::Parser as _;
use freshet::change::changed_when::ChangedWhen;
use freshet::change::sketch::HashBytes;

use super::*;
use crate::cli::{Cli, Command};

fn parsed(text: &str) -> Result<Settings, Usage> {
    Settings::of(file::parse("freshet.toml", text)?)
}

/// The settings given by flags of `freshet config`.
fn flags(arguments: &[&str]) -> Given {
    let cli = Cli::try_parse_from([&["freshet", "config"], arguments].concat()).unwrap();
    match cli.command {
        Command::Config(arguments) => arguments.flags,
        _ => unreachable!(),
    }
}

/// Every setting as it holds, in the form of the file.
fn printed(settings: &Settings) -> String {
    toml::to_string(&Given::from(settings.sections.clone())).unwrap()
}

/// Both sources, merged as a command merges them.
fn merged(arguments: &[&str], text: &str) -> Settings {
    let file = file::parse("freshet.toml", text).unwrap();
    Settings::of(flags(arguments).without_idle_switches().or(file)).unwrap()
}

#[test]
fn settings_that_hold_can_be_written_and_read_again() {
    let settings = parsed("[crawl]\ndelay = 0.5\n[site.\"example.org\"]\nbudget = 7\n").unwrap();
    let text = printed(&settings);
    let again = parsed(&text).unwrap();
    assert_eq!(printed(&again), text);
    assert_eq!(again.crawl.fetch.address_rate, Some(8.0));
    assert_eq!(again.sections.site["example.org"].budget, Some(7));
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
        ("[crawl]\nthreshold = -1.0\n", "threshold is `-1.0`"),
        ("[crawl]\nevery = 'often'\n", "every is `often`"),
        ("[crawl]\nevery = '0s'\n", "every is `0s`"),
        ("[crawl]\nat = '25:00'\n", "at is `25:00`"),
        ("[crawl]\ninterval = '-1d'\n", "interval is `-1d`"),
        ("[crawl]\nrisk = 0.5\n", "risk is `0.5`"),
        ("[crawl]\ntau = 1.5\n", "tau is `1.5`"),
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
    let again = parsed(&printed(&settings)).unwrap();
    let hash_bytes = HashBytes::Eight;
    assert_eq!(again.change, ChangeSettings { sketch: None, hash_bytes, ..ChangeSettings::default() });
    let of = |url: &str| again.reading.of(&url.parse().unwrap());
    let page = b"a <i class=ad>x</i> <i id=clock>12</i> b";
    assert_eq!(of("http://sub.a.org/").rules.html(page, None), "a b");
    assert_eq!(of("http://b.org/").rules.html(page, None), "a 12 b");
    assert_eq!(of("http://c.org/").rules.hash(), of("http://b.org/").rules.hash());
    assert_eq!(of("http://a.org/").changed, ChangedWhen::Divergence(0.1));
    assert_eq!(of("http://b.org/").changed, ChangedWhen::Bytes);
}

#[test]
fn an_aim_picks_the_policy_unless_one_is_named() {
    let policy = |text| parsed(text).unwrap().sections.crawl.policy;
    assert_eq!(policy(""), "calibrated");
    assert_eq!(policy("[crawl]\nobjective = 'freshness'\n"), "calibrated-freshness");
    assert_eq!(policy("[crawl]\nobjective = 'changes'\n"), "change-probability");
    assert_eq!(policy("[crawl]\nobjective = 'changes'\npolicy = 'nutch'\n"), "nutch");
}

#[test]
fn flags_win_over_the_file() {
    let text = "store = 'a.db'\n[crawl]\ndelay = 3\nbudget = 9\nsitemaps = false\ninclude = ['a']\n";
    let settings = merged(&["--delay", "0.25", "--ignore-nofollow", "--sketch", "all"], text);
    assert_eq!(settings.store, Path::new("a.db"));
    assert_eq!(settings.crawl.fetch.politeness.delay, Duration::from_millis(250));
    assert_eq!(settings.crawl.budget, Some(9));
    assert_eq!(settings.change.sketch, None);
    assert!(!settings.crawl.sitemaps, "an absent switch says nothing");
    assert!(!settings.observer().obey_nofollow);
    assert_eq!(settings.sections.crawl.include, ["a"]);
    assert_eq!(merged(&["--include", "b", "--include", "c"], text).sections.crawl.include, ["b", "c"]);
    assert!(!merged(&["--no-sitemaps"], "").crawl.sitemaps);
    assert!(merged(&[], "").crawl.sitemaps);
}

#[test]
fn a_blank_contact_is_none() {
    let text = "[crawl]\ncontact = 'me@example.org'\n";
    assert_eq!(merged(&[], text).contact(), Some("me@example.org"));
    let settings = merged(&["--contact", " "], text);
    assert_eq!(settings.contact(), None);
    assert!(!printed(&settings).contains("contact"));
}

#[test]
fn values_are_printed_as_they_were_written() {
    let text = "[crawl]\nevery = '24h'\nat = '02:00'\nallow_private = ['127.0.0.1', '10.0.0.0/8']\n\
                [change]\nchanged = 'divergence>.5'\n";
    let settings = parsed(text).unwrap();
    assert_eq!((settings.crawl.every, settings.at), (Some(Duration::from_secs(86_400)), Some((2, 0))));
    let text = printed(&settings);
    for line in ["every = \"24h\"", "at = \"02:00\"", "changed = \"divergence>.5\"", "\"127.0.0.1\""] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let ranges = merged(&["--allow-private=10.0.0.0/8", "--allow-private=::1"], "");
    assert!(printed(&ranges).contains("allow_private = [\"10.0.0.0/8\", \"::1\"]"));
    let all = merged(&["--allow-private"], "[crawl]\nallow_private = ['::1']\n");
    assert!(printed(&all).contains("allow_private = true"));
    let both = Settings::of(flags(&["--allow-private=all,10.0.0.0/8"])).unwrap_err();
    assert!(both.0.contains("either `all` or a list"), "{both}");
}

#[test]
fn mistakes_in_the_file_have_a_place() {
    let said = |text| parsed(text).unwrap_err().0;
    assert_eq!(
        said("[crawl]\n\ndelay = 'soon'\n"),
        "freshet.toml: line 3, column 9: [crawl] delay is `soon`; it must be a number of seconds from 0 to 1000000000, and can't be \
         negative"
    );
    assert_eq!(
        said("[site.'a.org']\nchanged = 'often'\n"),
        "freshet.toml: line 2, column 11: [site.\"a.org\"] changed: `often` is no way to tell a change; write `bytes`, \
         `text` or `divergence > 0.02`"
    );
    let key = said("[crawl]\ndelai = 1\n");
    assert!(
        key.contains("line 2") && key.contains("there is no key `delai`; did you mean `delay`?"),
        "{key}"
    );
}

#[test]
fn the_hash_of_the_link_rules_stays_what_stores_keep() {
    let settings = parsed(
        "[crawl]\nscope = 'domain'\ninclude = ['a\"b']\nmax_depth = 3\n[site.'a.org']\nscope = 'any'\nexclude = ['x']\n\
         [site.'b.org']\nbudget = 1\n",
    )
    .unwrap();
    for settings in [settings, parsed("").unwrap()] {
        let (crawl, limits) = (&settings.sections.crawl, &settings.sections.limits);
        let sites = settings.sections.site.iter();
        let sites: Vec<_> = sites.map(|(site, own)| (site, own.scope, &own.include, &own.exclude)).collect();
        let kept = format!(
            "{:?}",
            (
                (crawl.scope, &crawl.include, &crawl.exclude, crawl.max_depth, crawl.follow_nofollow),
                (limits.pages_per_host, limits.links_per_page, limits.query_variants, limits.url_length),
                (limits.path_depth, limits.repeated_segments, &crawl.drop_parameters, sites),
            )
        );
        assert_eq!(settings.crawl.rules, xxhash_rust::xxh3::xxh3_64(kept.as_bytes()), "{kept}");
    }
}

#[test]
fn no_mistake_shows_the_value_of_a_header() {
    let site = "[site.\"example.org\"]\n";
    for (text, said) in [
        ("headers = { X-Key = \"s3cret }\n", "line 2"),
        ("headers = { X-Key = s3cret }\n", "line 2"),
        ("headers = { X-Key = 53cre7 }\n", "line 2"),
        ("headers = { X-Key = 53 }\n", "text in quotes"),
        ("headers = { X-Key = [\"s3cret\"] }\n", "text in quotes"),
        ("headers = \"s3cret\"\n", "table"),
        ("headers = [\"s3cret\"]\n", "table"),
        ("header = { X-Key = \"s3cret\" }\n", "there is no key `header`; did you mean `headers`?"),
        ("haeders = { X-Key = \"s3cret\" }\n", "did you mean `headers`?"),
        ("headers = { X-Key = \"s3cret\\u0007\" }\n", "X-Key"),
        ("headers = { \"X Key\" = \"s3cret\" }\n", "X Key"),
        ("headers = { X-Key = \"s3cret$\" }\n", "X-Key"),
        ("headers = { X-Key = \"s3cret$FRESHET_NO_SUCH_KEY\" }\n", "no variable `FRESHET_NO_SUCH_KEY`"),
        ("headers = { X-Key = \"***\" }\n", "`freshet config` does not print"),
        ("headers = { X-Key = \"s3cret\" } delay = 3\n", "line 2"),
        ("[site.\"example.org\".headers]\nX-Key = \"s3cret\n", "line 3"),
        ("headers.X-Key = \"s3cret\nheaders.Y = \"53\"\n", "line 2"),
    ] {
        let Err(Usage(error)) = parsed(&format!("{site}{text}")) else { panic!("{text} is taken") };
        assert!(error.contains(said), "{text}: {error}");
        assert!(!error.contains("s3c") && !error.contains("53") && !error.contains('\u{7}'), "{error}");
    }
}

#[test]
fn header_values_are_printed_as_stars() {
    let text = "[site.\"example.org\"]\nheaders = { X-Key = \"s3cret\" }\n";
    let settings = parsed(text).unwrap();
    for printed in [printed(&settings), format!("{settings:?}")] {
        assert!(!printed.contains("s3cret"), "{printed}");
    }
    assert!(printed(&settings).contains("X-Key = \"***\""));
}

#[test]
fn a_section_names_a_site_and_each_site_has_one_section() {
    for (text, said) in [
        ("[site.\"ftp://example.org\"]\n", "is not a host name"),
        ("[site.\"*.example.org:8080\"]\n", "is not a host name"),
        ("[site.\"example.org\"]\n[site.\"http://example.org\"]\n", "are one site"),
        ("[site.\"*.Example.org\"]\n[site.\"example.org\"]\n", "are one site"),
    ] {
        let Err(Usage(error)) = parsed(text) else { panic!("{text} is taken") };
        assert!(error.contains(said), "{text}: {error}");
    }
    let settings = parsed("[site.\"http://*.example.org\"]\ndelay = 9\n").unwrap();
    let pace = settings.crawl.fetch.sites.of("a.example.org", Some(443)).unwrap();
    assert_eq!(pace.delay, Some(Duration::from_secs(9)));
}

#[test]
fn mistakes_name_no_type_of_the_language() {
    for (text, said) in [
        ("[crawl]\ndelay = 'soon'\n", "a number of seconds"),
        ("[crawl]\ndelay = -1\n", "can't be negative"),
        ("[crawl]\nmax_depth = 'deep'\n", "max_depth is `deep`; it must be a whole number, 0 or more"),
        ("[crawl]\nmax_depth = -1\n", "max_depth is `-1`; it must be a whole number, 0 or more"),
        ("[crawl]\nmax_depth = 1.5\n", "a whole number"),
        ("[crawl]\nsitemaps = 'yes'\n", "sitemaps is `yes`; it must be true or false"),
        ("[crawl]\npolicy = 3\n", "a text in quotes"),
        ("[crawl]\ninclude = 'a'\n", "a list"),
        ("[crawl]\nscope = 'hosts'\n", "did you mean `host`?"),
        ("[crawl]\npolicy = 'longevty'\n", "did you mean `longevity`"),
        ("[crawl]\nweight = 'pagerang'\n", "did you mean `pagerank`?"),
        ("[limits]\nbody_bytes = 'many'\n", "a whole number of bytes"),
        ("[limits]\nidle_seconds = 'long'\n", "a number of seconds, more than 0"),
        ("[site.'a.org']\nbudget = 'small'\n", "a whole number"),
        ("[site.'a.org']\ndelya = 1\n", "did you mean `delay`?"),
        ("crawl = 3\n", "a section"),
        ("[crwal]\n", "did you mean `crawl`?"),
    ] {
        let error = parsed(text).err().map(|error| error.0).unwrap_or_default();
        assert!(error.contains(said), "{text}: {error}");
        for word in ["f64", "u32", "u64", "usize", "struct", "literal", "invalid type"] {
            assert!(!error.contains(word), "{text}: {error}");
        }
    }
}
