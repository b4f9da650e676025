//! Every setting, declared once: its key in `freshet.toml`, flag, environment variable, type, default and help.
//!
//! `section!` of [`super::declare`] makes two structs of a declaration. In the *given* one everything may be left out: it is what
//! clap reads from flags and environment and what serde reads from the file. In the *settled* one only settings without a default
//! can be absent. A default may use the settings declared before it: `address_rate` follows `delay`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::builder::{FalseyValueParser, TypedValueParser as _};
use clap::{ArgAction, Args, ValueHint};
use serde::{Deserialize, Serialize};

use freshet::change::ChangeSettings;
use freshet::change::changed_when::ChangedWhen;
use freshet::change::sketch::HashBytes;
use freshet::crawl::weights::WeightBy;
use freshet::estimate::online::Damping;
use freshet::fetch::LEAST_RATE;
use freshet::fetch::limits::Limits;
use freshet::fetch::politeness::Politeness;
use freshet::page::DEFAULT_DROPPED_PARAMETERS;
use freshet::quality::attention::Attention;
use freshet::quality::scoring::Scoring;
use freshet::unique::{ScopeKind, TrapLimits};

use super::header_text::{self, HeaderText};
use super::serve::{ServeGiven, ServeSection};
use super::values::{
    Aim, Amount, AttentionExponent, Contact, Count, FragmentWords, Gamma, HashLength, LimitSeconds,
    LongCount, PrivateRange, Profiles, RequestRate, Risk, Share, SketchSize, Tau, Threshold, TimeOfDay,
    TimeSpan, Written, scope_parser,
};
use crate::cli::names;

/// The store, if none is named.
const DEFAULT_STORE: &str = "freshet.db";
/// Hosts on one address together get as many requests as this number of hosts would get on addresses of their own.
const HOSTS_PER_ADDRESS: f64 = 4.0;

section! {
    /// `[crawl]`: politeness, scope, budget, and the order of visits.
    CrawlGiven, CrawlSection {
        /// Shortest pause in seconds between the end of a request and the start of the next, on one host [default: 1]
        #[arg(long, value_name = "SECONDS", env = "FRESHET_DELAY", help_heading = "Politeness")]
        delay: Amount = Amount(Politeness::default().delay.as_secs_f64()),
        /// Requests in flight, over all hosts [default: 64]
        #[arg(long, value_name = "N", env = "FRESHET_CONCURRENCY", help_heading = "Politeness")]
        concurrency: Count = Count(64),
        /// Requests in flight on one host [default: 1]
        #[arg(long, value_name = "N", env = "FRESHET_PER_HOST", help_heading = "Politeness")]
        per_host: Count = Count(Politeness::default().per_host),
        /// Requests per second, over all hosts; 0: no limit [default: 0]
        #[arg(long, value_name = "N", env = "FRESHET_RATE", help_heading = "Politeness")]
        rate: RequestRate = RequestRate(0.0),
        /// Requests per second to one IP address, however many hosts it serves; 0: no limit [default: 4 / delay]
        #[arg(long, value_name = "N", env = "FRESHET_ADDRESS_RATE", help_heading = "Politeness")]
        address_rate: RequestRate = RequestRate(if delay.get() > 0.0 { (HOSTS_PER_ADDRESS / delay.get()).max(LEAST_RATE) } else { 0.0 })
            => "4 / delay",
        /// Longest Crawl-delay of a robots.txt to accept, in seconds; a host that asks for more is skipped [default: 60]
        #[arg(long, value_name = "SECONDS", env = "FRESHET_MAX_CRAWL_DELAY", help_heading = "Politeness")]
        max_crawl_delay: Amount = Amount(Politeness::default().max_crawl_delay.as_secs_f64()),
        /// Longest time in seconds that a cycle waits for a host that asks us to wait (Retry-After); a host that asks for more
        /// is left to a later cycle [default: 120]
        #[arg(long, value_name = "SECONDS", env = "FRESHET_PATIENCE", help_heading = "Politeness")]
        patience: Amount = Amount(Politeness::default().patience.as_secs_f64()),
        /// Tries of one page in one cycle
        #[arg(skip)]
        attempts: Count = Count(Politeness::default().attempts),
        /// Seconds before the second try of a page; the pause doubles with each further try, up to 60
        #[arg(skip)]
        back_off: Amount = Amount(Politeness::default().back_off.as_secs_f64()),
        /// Pages in a row that may fail because of their host before the host is left to a later cycle
        #[arg(skip)]
        max_failures: Count = Count(Politeness::default().max_failures),
        /// Where site owners can reach you: a URL or mail address, sent in the user agent
        #[arg(long, value_name = "URL", env = "FRESHET_CONTACT", help_heading = "Politeness")]
        contact: Contact,
        /// Follow links marked nofollow too
        #[arg(
            long = "ignore-nofollow",
            env = "FRESHET_IGNORE_NOFOLLOW",
            action = ArgAction::SetTrue,
            value_parser = FalseyValueParser::new(),
            help_heading = "Politeness"
        )]
        follow_nofollow: bool = false,

        /// Which links are followed from a seed [default: host]
        #[arg(long, value_parser = scope_parser(), env = "FRESHET_SCOPE", help_heading = "Scope")]
        scope: ScopeKind = ScopeKind::default(),
        /// Follow only URLs that match (repeatable)
        #[arg(long, value_name = "REGEX", env = "FRESHET_INCLUDE", value_delimiter = '\n', help_heading = "Scope")]
        include: Vec<String> = Vec::new(),
        /// Follow no URL that matches (repeatable)
        #[arg(long, value_name = "REGEX", env = "FRESHET_EXCLUDE", value_delimiter = '\n', help_heading = "Scope")]
        exclude: Vec<String> = Vec::new(),
        /// Most links to follow from a seed to a page
        #[arg(long, value_name = "N", env = "FRESHET_MAX_DEPTH", help_heading = "Scope")]
        max_depth: u32,
        /// Look for sitemaps: those named in robots.txt, or /sitemap.xml
        #[arg(
            long = "no-sitemaps",
            help = "Don't look for sitemaps",
            env = "FRESHET_NO_SITEMAPS",
            action = ArgAction::SetTrue,
            value_parser = FalseyValueParser::new().map(|off| !off),
            help_heading = "Scope"
        )]
        sitemaps: bool = true,
        /// Reach private, loopback and other special addresses: all of them, or only these ranges
        #[arg(
            long,
            value_name = "RANGE,…",
            env = "FRESHET_ALLOW_PRIVATE",
            value_delimiter = ',',
            num_args = 0..,
            require_equals = true,
            default_missing_value = "all",
            help_heading = "Scope"
        )]
        #[serde(with = "super::values::allow_private")]
        allow_private: Vec<PrivateRange> = vec![PrivateRange::Nothing],

        /// Most requests a cycle may send, of any kind [default: as many as there are pages]
        #[arg(long, value_name = "K", env = "FRESHET_BUDGET", help_heading = "Budget")]
        budget: LongCount,
        /// Cycles to run [default: 1]
        #[arg(long, value_name = "N", env = "FRESHET_CYCLES", help_heading = "Budget")]
        cycles: LongCount = LongCount(1),
        /// Aim of the visits, which picks the policy if none is named: staleness, freshness, changes [default: staleness]
        #[arg(
            long,
            value_name = "AIM",
            env = "FRESHET_OBJECTIVE",
            value_parser = names::aims(),
            hide_possible_values = true,
            help_heading = "Budget"
        )]
        objective: Written<Aim> = Written::new(Aim::default()),
        /// Policy that says which page is visited first; `--policy help` lists them. Also a formula, `expr:t * X / n`, or a
        /// file written by `freshet evolve`, `evolved:champion.toml` [default: calibrated]
        #[arg(
            long,
            value_name = "NAME",
            env = "FRESHET_POLICY",
            value_parser = names::policies(),
            hide_possible_values = true,
            help_heading = "Budget"
        )]
        policy: String = objective.get().policy.to_owned() => "by objective",
        /// Share of a cycle's visits kept for pages never visited, 0 to 1 [default: they compete with the others]
        #[arg(long, value_name = "SHARE", env = "FRESHET_DISCOVER", help_heading = "Budget")]
        discover: Share,
        /// Visit a page again once its score reaches T, however many pages that are; with --budget, the best of them. Scores
        /// of `calibrated`, `longevity` and `utility` are the divergence × days that a visit would gain [default: as many as the budget
        /// allows]
        #[arg(long, value_name = "T", env = "FRESHET_THRESHOLD", help_heading = "Budget")]
        threshold: Threshold,
        /// Source of the importance of pages: seeds, equal, inlinks, pagerank, workload (the attention of searchers, see --queries)
        /// [default: seeds]
        #[arg(
            long,
            value_name = "KIND",
            env = "FRESHET_WEIGHT",
            value_parser = names::weights(),
            hide_possible_values = true,
            help_heading = "Budget"
        )]
        weight: Written<WeightBy> = Written::new(WeightBy::default()),
        /// Time between two visits of a page under the policy `fixed`: 12h, 1d, 2w [default: 1d]
        #[arg(long, value_name = "TIME", env = "FRESHET_INTERVAL", help_heading = "Budget")]
        interval: Written<TimeSpan> = Written::new(TimeSpan::DAY),
        /// Caution of `longevity-curve` and `longevity-bound`, even if a page seems to have stopped changing: its score is at
        /// least 1/RHO of the time since its last visit, its period at most RHO times the threshold [default: 10]
        #[arg(long, value_name = "RHO", env = "FRESHET_RISK", help_heading = "Budget")]
        risk: Risk = Risk(10.0),
        /// Longest time that `longevity-curve` and `longevity-bound` wait before the second visit of a page; before the next
        /// four they wait at most twice, three times … as long [default: 1d]
        #[arg(long, value_name = "TIME", env = "FRESHET_LEARNING", help_heading = "Budget")]
        learning: Written<TimeSpan> = Written::new(TimeSpan::DAY),
        /// Share of a page's text that must change for a change to count under the policies `sbr` and `ebr`, from 0 to 1
        /// [default: 0.1]
        #[arg(long, value_name = "SHARE", env = "FRESHET_TAU", help_heading = "Budget")]
        tau: Tau = Tau(0.1),
        /// Make a search index beside the store and keep it up to date while the crawl runs; one that is there already is kept up to
        /// date in any case
        #[arg(
            long,
            env = "FRESHET_SEARCH",
            action = ArgAction::SetTrue,
            value_parser = FalseyValueParser::new(),
            help_heading = "Search"
        )]
        search: bool = false,
        // The flags `--every`, `--at` and `--catch-up` belong to the commands that keep a timetable.
        /// Time from the start of one cycle of `monitor` to the start of the next: 1h, 1d, 1w [default: 1d]
        #[arg(skip)]
        every: Written<TimeSpan>,
        /// Time of day, local, at which cycles of `monitor` start
        #[arg(skip)]
        at: Written<TimeOfDay>,
        /// Give the cycles of `monitor` a quarter more budget until cycles that did not run are made up for
        #[arg(skip)]
        catch_up: bool = false,
        /// γ of the estimator `sa`, above 0.5 and at most 1
        #[arg(skip)]
        sa_gamma: Gamma = Gamma(0.75),
        /// α of the estimator `lln`: one, log, sqrt, 3/4
        #[arg(skip)]
        lln_alpha: Written<Damping> = Written::new(Damping::default()),
        /// Query parameters that are removed from URLs because they do not tell pages apart: tracking and sessions
        #[arg(skip)]
        drop_parameters: Vec<String> = DEFAULT_DROPPED_PARAMETERS.iter().map(ToString::to_string).collect(),
    }
}

section! {
    /// `[limits]`: how much is taken of an answer, a page, a host and the web.
    LimitsGiven, LimitsSection {
        /// Longest time to resolve a name and connect, in seconds
        #[arg(skip)]
        connect_seconds: LimitSeconds = LimitSeconds(Limits::default().connect.as_secs_f64()),
        /// Longest silence before the head of an answer, or within its body, in seconds
        #[arg(skip)]
        idle_seconds: LimitSeconds = LimitSeconds(Limits::default().idle.as_secs_f64()),
        /// Longest time from the request to the last byte, in seconds
        #[arg(skip)]
        total_seconds: LimitSeconds = LimitSeconds(Limits::default().total.as_secs_f64()),
        /// Most bytes of a page, decoded
        #[arg(skip)]
        body_bytes: usize = 8 << 20,
        /// Most bytes of a sitemap, decoded
        #[arg(skip)]
        sitemap_bytes: usize = 50 << 20,
        /// Most bytes of packed versions that one page may store; 0: no limit
        #[arg(skip)]
        page_store_bytes: u64 = 256 << 20,
        /// Most bytes of packed versions that the pages of one host may store; 0: no limit
        #[arg(skip)]
        host_store_bytes: u64 = 16 << 30,
        /// Redirects that are followed, one after the other
        #[arg(skip)]
        redirects: u32 = 5,
        /// Most pages to know of one host [default: 100000]
        #[arg(long = "max-pages-per-host", value_name = "N", env = "FRESHET_MAX_PAGES_PER_HOST", help_heading = "Scope")]
        pages_per_host: u32 = TrapLimits::default().pages_per_host,
        /// Most links taken from one page
        #[arg(skip)]
        links_per_page: usize = TrapLimits::default().links_per_page,
        /// Most queries to know of one path
        #[arg(skip)]
        query_variants: u32 = TrapLimits::default().query_variants,
        /// Most bytes of a URL
        #[arg(skip)]
        url_length: usize = TrapLimits::default().url_length,
        /// Most segments of a path
        #[arg(skip)]
        path_depth: usize = TrapLimits::default().path_depth,
        /// Times that one segment may occur in a path
        #[arg(skip)]
        repeated_segments: usize = TrapLimits::default().repeated_segments,
        /// Fingerprints of known URLs kept in memory; beyond that the store is asked
        #[arg(skip)]
        known_urls: usize = 16_000_000,
    }
}

section! {
    /// `[change]`: when a page has changed, and how far.
    ChangeGiven, ChangeSection {
        /// Words in a fragment, the unit in which changes are measured [default: 4]
        #[arg(long, value_name = "K", env = "FRESHET_FRAGMENT_WORDS", help_heading = "Change")]
        fragment_words: FragmentWords = FragmentWords(ChangeSettings::default().fragment_words),
        /// Fragments kept of a version, or `all` [default: 250]
        #[arg(long, value_name = "M", env = "FRESHET_SKETCH", help_heading = "Change")]
        sketch: SketchSize = SketchSize(ChangeSettings::default().sketch),
        /// Bytes kept of each fragment's hash: 4 or 8; 8 if all fragments are kept [default: 4]
        #[arg(long, value_name = "BYTES", env = "FRESHET_HASH_BYTES", help_heading = "Change")]
        hash_bytes: HashLength = HashLength::of(HashBytes::for_sketch(sketch.0)) => "by sketch",
        /// Change profiles kept of a page [default: 5]
        #[arg(long, value_name = "H", env = "FRESHET_PROFILES", help_heading = "Change")]
        profiles: Profiles = Profiles(ChangeSettings::default().profiles),
        /// When a page counts as changed: `bytes`, `text`, or `divergence > 0.02` [default: text]
        #[arg(long, value_name = "RULE", env = "FRESHET_CHANGED", help_heading = "Change")]
        changed: Written<ChangedWhen> = Written::new(ChangedWhen::default()),
        /// CSS selectors of elements that do not count, with everything in them
        #[arg(skip)]
        ignore: Vec<String> = Vec::new(),
        /// CSS selectors of the elements that count; nothing outside them does
        #[arg(skip)]
        only: Vec<String> = Vec::new(),
        /// Regular expressions for parts of the text that do not count
        #[arg(skip)]
        ignore_text: Vec<String> = Vec::new(),
        /// Longest time that a command of `text` may take
        #[arg(skip)]
        text_seconds: LimitSeconds = LimitSeconds(30.0),
        /// Commands that read types of content that freshet can't: the body is on standard input, the text comes from standard
        /// output, as in `{ "application/pdf" = "pdftotext - -" }`
        #[arg(skip)]
        text: BTreeMap<String, String> = BTreeMap::new(),
    }
}

section! {
    /// `[search]`: what people search for, and how results are ranked.
    SearchGiven, SearchSection {
        /// What people search for: a query per line, optionally a tab and its frequency; `-` reads standard input. For the policy
        /// `user-centric` and the weight `workload`
        #[arg(long, value_name = "FILE", env = "FRESHET_QUERIES", help_heading = "Search")]
        queries: PathBuf,
        /// Take the queries from a web server's access log, or with `search` from the log that `freshet search` keeps beside
        /// the store
        #[arg(long, value_name = "LOG", env = "FRESHET_QUERIES_FROM", value_hint = ValueHint::FilePath, help_heading = "Search")]
        queries_from: PathBuf,
        /// Parameter of the requests in an access log that has the query [default: q]
        #[arg(long, value_name = "NAME", env = "FRESHET_PARAM", help_heading = "Search")]
        param: String = "q".to_owned(),
        /// Score that ranks the results: bm25, tf-idf, or inlinks (the number of pages that link there) [default: bm25]
        #[arg(
            long,
            value_name = "NAME",
            env = "FRESHET_SCORE",
            value_parser = names::scorings(),
            hide_possible_values = true,
            help_heading = "Search"
        )]
        score: Written<Scoring> = Written::new(Scoring::default()),
        /// How fast the attention of searchers falls with the rank of a result: X of r^-X, 0 to 100 [default: 1.5]
        #[arg(long, value_name = "X", env = "FRESHET_ATTENTION", help_heading = "Search")]
        attention: AttentionExponent = AttentionExponent(Attention::default().exponent()),
    }
}

/// `[site."example.org"]`: settings for one site, in the file only.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SiteSection {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeKind>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "header_text::table")]
    pub headers: BTreeMap<String, HeaderText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Written<ChangedWhen>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore_text: Vec<String>,
}

/// The settings that one source gives: flags and environment, or the file.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Given {
    #[arg(skip)]
    pub store: Option<PathBuf>,
    #[command(flatten)]
    pub crawl: CrawlGiven,
    #[command(flatten)]
    pub limits: LimitsGiven,
    #[command(flatten)]
    pub change: ChangeGiven,
    #[command(flatten)]
    pub search: SearchGiven,
    // Its flags belong to `freshet serve`.
    #[arg(skip)]
    pub serve: ServeGiven,
    #[arg(skip)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub site: BTreeMap<String, SiteSection>,
}

/// Every setting as it holds.
#[derive(Clone, Debug)]
pub(crate) struct Sections {
    pub store: PathBuf,
    pub crawl: CrawlSection,
    pub limits: LimitsSection,
    pub change: ChangeSection,
    pub search: SearchSection,
    pub serve: ServeSection,
    pub site: BTreeMap<String, SiteSection>,
}

impl Given {
    /// Nothing but the words in a fragment, for commands that only measure.
    pub(crate) fn of_words(fragment_words: Option<FragmentWords>) -> Self {
        Self { change: ChangeGiven { fragment_words, ..ChangeGiven::default() }, ..Self::default() }
    }

    /// These values, and those of `under` where there is none. Sites are the file's alone.
    pub(crate) fn or(self, under: Self) -> Self {
        Self {
            store: self.store.or(under.store),
            crawl: self.crawl.or(under.crawl),
            limits: self.limits.or(under.limits),
            change: self.change.or(under.change),
            search: self.search.over(under.search),
            serve: self.serve.or(under.serve),
            site: under.site,
        }
    }

    /// The same without switches that are off: clap reads a flag that is absent as one that is off, and that must not
    /// hide what the file says.
    pub(crate) fn without_idle_switches(mut self) -> Self {
        self.crawl.follow_nofollow = self.crawl.follow_nofollow.filter(|follows| *follows);
        self.crawl.sitemaps = self.crawl.sitemaps.filter(|reads| !reads);
        self.crawl.catch_up = self.crawl.catch_up.filter(|catches_up| *catches_up);
        self.crawl.search = self.crawl.search.filter(|is_on| *is_on);
        self
    }

    /// These values, and the defaults where there is none.
    pub(crate) fn settle(self) -> Sections {
        Sections {
            store: self.store.unwrap_or_else(|| DEFAULT_STORE.into()),
            crawl: self.crawl.settle(),
            limits: self.limits.settle(),
            change: self.change.settle(),
            search: self.search.settle(),
            serve: self.serve.settle(),
            site: self.site,
        }
    }
}

impl SearchGiven {
    /// These values, and those of `under` where there is none. Queries from two sources are not mixed: a flag that names some
    /// replaces both settings of the file.
    fn over(self, mut under: Self) -> Self {
        if self.queries.is_some() || self.queries_from.is_some() {
            (under.queries, under.queries_from) = (None, None);
        }
        self.or(under)
    }
}

impl From<Sections> for Given {
    fn from(settled: Sections) -> Self {
        let mut crawl = CrawlGiven::from(settled.crawl);
        // A blank contact says that there is none.
        crawl.contact = crawl.contact.filter(|contact| contact.get().is_some());
        Self {
            store: Some(settled.store),
            crawl,
            limits: settled.limits.into(),
            change: settled.change.into(),
            search: settled.search.into(),
            serve: settled.serve.into(),
            site: settled.site,
        }
    }
}
