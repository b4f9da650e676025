//! Commands that look: at the store, the next plan, or one page on the web.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use freshet::observation::EventKind;

use super::{CheckFlags, LinkFlags, PlanFlags, ScoreFlags, names};
use crate::settings::{FragmentWords, ServeGiven, TimeSpan, Written};

/// Show what the store knows: pages, waiting hosts and the reason, refused links, the last cycles
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Show a row per site: pages, the last cycle, last success, bytes, budget, and why it waits
    #[arg(long, conflicts_with_all = ["cycles", "sizes"])]
    pub sites: bool,
    /// Hosts to show, 0: all of them; waiting hosts come first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub hosts: usize,
    /// Cycles to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub cycles: usize,
    /// Show the bytes that scheduling keeps per page
    #[arg(long)]
    pub sizes: bool,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  freshet report                                  the last seven days, in the terminal
  freshet report --out report.html --since 30d    a month as one file, with pictures
  freshet report --json                           the same values for programs";

/// Show a period at a glance: how fresh the copies are, what the requests brought, changes that last, hosts that wait
///
/// Freshness is expected from the change rates of all pages, as the last cycle noted them. Beside the changes of each day stand those that
/// round robin would have found with as many visits. Changes of one template are one entry. With --out all of it is written as one
/// HTML file with pictures, which needs no network and no script.
#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Write an HTML file instead of text
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Start: how long ago (30m, 12h, 7d), or a date (2026-11-16)
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub since: String,
    /// Only changes that are not marked as read
    #[arg(long)]
    pub unread: bool,
    /// Most changes to show; 0: all of them
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// Words in a fragment, for changes that last: the number that the crawl used [default: 4]
    #[arg(long, value_name = "K", env = "FRESHET_FRAGMENT_WORDS")]
    pub fragment_words: Option<FragmentWords>,
}

/// List pages, with filters, as a table, JSON lines or CSV
#[derive(Debug, Args)]
pub(crate) struct PagesArgs {
    /// Only pages in this state: new, alive, missing, gone, failing, blocked, redirected, alias
    #[arg(long, value_name = "STATE", value_parser = names::page_states(), hide_possible_values = true)]
    pub state: Option<String>,
    /// Only pages of this host (`example.org`, or `http://example.org:8080`)
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Only pages whose URL contains this
    #[arg(long, value_name = "TEXT")]
    pub url: Option<String>,
    /// Only pages whose last visit had this outcome (`fetched`, `too-large`, `no-answer`, …): docs/outcomes.md has them all
    #[arg(long, value_name = "OUTCOME", value_parser = names::outcomes(), hide_possible_values = true)]
    pub outcome: Option<String>,
    /// Only pages at most this deep
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u32>,
    /// Show aliases of pages too
    #[arg(long)]
    pub aliases: bool,
    /// Only pages that were visited or found since then: how long ago (30m, 12h, 7d), or a date (2026-11-16)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only pages that link to this page, by what was stored at their last visit
    #[arg(long, value_name = "URL")]
    pub links_to: Option<String>,
    /// Order of the list [default: as they were found]
    #[arg(long, value_enum, value_name = "BY")]
    pub sort: Option<PageSort>,
    /// Most pages to show
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Output format; --json means json
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

/// The order of a list of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageSort {
    /// By address
    Url,
    /// Most changes first
    Changes,
    /// Most visits first
    Visits,
    /// Most failures in a row first
    Failures,
    /// Latest visit first
    LastVisit,
    /// Latest found first
    Found,
    /// Largest stored body first
    Bytes,
    /// Most important first
    Weight,
    /// Those that may be visited first, first
    Due,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    Table,
    /// One object per line
    Json,
    Csv,
}

const LOG_EXAMPLES: &str = "\
Examples:
  freshet log                              every visit of the last cycle, in order of time
  freshet log --limit 20                   the latest twenty
  freshet log --host example.org --json    one line of JSON per visit of a host
  freshet log --follow                     visits as a running crawl records them";

/// Show what was fetched in the last cycle, line by line
#[derive(Debug, Args)]
#[command(after_help = LOG_EXAMPLES)]
pub(crate) struct LogArgs {
    /// Show the visits of this cycle (`freshet status` lists cycles) [default: the last one]
    #[arg(long, value_name = "N")]
    pub cycle: Option<i64>,
    /// Only visits to this host (`example.org`, `example.org:8080`, or `http://example.org:8080`)
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Only visits with this outcome (`fetched`, `missing`, `no-answer`, …): docs/outcomes.md has them all
    #[arg(long, value_name = "OUTCOME", value_parser = names::outcomes(), hide_possible_values = true)]
    pub outcome: Option<String>,
    /// Show the latest N visits only
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Go on with visits as they are recorded, until stopped
    #[arg(long, conflicts_with = "cycle")]
    pub follow: bool,
}

const LINKS_EXAMPLES: &str = "\
Examples:
  freshet links https://example.org/             every link of that page, and what becomes of it
  freshet links --refused                        every link of the collection that is not followed, and why
  freshet links --reason out-of-scope --host example.org
  freshet pages --links-to https://example.org/news   the other way: pages that link there";

/// List the links of a stored page, or of all, with what becomes of each: known, new, or not followed and why
///
/// Links are read again from the stored bodies and judged by the settings of now; nothing is fetched. A link to a known page
/// shows the state of that page, so that links to pages that are gone can be found.
#[derive(Debug, Args)]
#[command(after_help = LINKS_EXAMPLES)]
pub(crate) struct LinksArgs {
    /// The page [default: all stored pages]
    pub url: Option<String>,
    /// Only links that are not followed
    #[arg(long)]
    pub refused: bool,
    /// Only links that are not followed for this reason (`out-of-scope`, `excluded`, `too-deep`, `no-follow`, …)
    #[arg(long, value_name = "REASON")]
    pub reason: Option<String>,
    /// Only links on pages of this host (`example.org`, or `http://example.org:8080`)
    #[arg(long, value_name = "HOST", conflicts_with = "url")]
    pub host: Option<String>,
    /// Most links to show
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub flags: LinkFlags,
}

const CHANGES_EXAMPLES: &str = "\
Examples:
  freshet changes --since last                    what the latest cycle brought
  freshet changes --since 7d --lasting            a week without clocks and adverts
  freshet changes --kind gone,moved               pages that went away
  freshet changes --format atom > changes.atom    a feed for a feed reader";

/// Show what happened to the pages: new, changed, gone, back, moved, started failing, recovered
///
/// A table, JSON lines or an Atom feed, the latest first. A change is one that a visit found, see `changed` in the
/// settings. Nothing is listed after one bad answer: a page is gone at its second 404, and started failing at its second
/// failure in a row. --lasting keeps changes of which something was still there at a later visit, which leaves out
/// clocks, adverts and "2 days ago".
#[derive(Debug, Args)]
#[command(after_help = CHANGES_EXAMPLES)]
pub(crate) struct ChangesArgs {
    /// Start: how long ago (30m, 12h, 7d), a date (2026-11-16), or `last`: since the latest cycle began
    #[arg(long, value_name = "TIME", default_value = "1d")]
    pub since: String,
    /// Only events of these kinds, separated by commas [default: all]
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = event_kinds())]
    pub kind: Vec<EventKind>,
    /// Leave out changes with a smaller divergence, from 0 to 1
    #[arg(long, value_name = "D", default_value_t = 0.0)]
    pub min_divergence: f64,
    /// Leave out changes of which a later visit found nothing, and those that wait for one
    #[arg(long)]
    pub lasting: bool,
    /// Only events that are not marked as read
    #[arg(long)]
    pub unread: bool,
    /// Mark the events that are shown as read
    #[arg(long)]
    pub mark_read: bool,
    /// Only pages of this host (`example.org`, `example.org:8080`, or `http://example.org:8080`)
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Most events to show; 0: all of them [default: 100 in a table, else all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Words in a fragment, for --lasting: the number that the crawl used [default: 4]
    #[arg(long, value_name = "K", env = "FRESHET_FRAGMENT_WORDS")]
    pub fragment_words: Option<FragmentWords>,
    /// Output format; --json means json
    #[arg(long, value_enum, default_value_t = ChangesFormat::Table)]
    pub format: ChangesFormat,
}

/// Kinds of events by their names.
pub(super) fn event_kinds() -> impl TypedValueParser<Value = EventKind> {
    let names = PossibleValuesParser::new(EventKind::ALL.map(EventKind::name));
    names.try_map(|name| EventKind::from_name(&name).ok_or("no kind of event"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChangesFormat {
    Table,
    /// One object per line
    Json,
    /// A feed for a feed reader
    Atom,
}

const SEARCH_EXAMPLES: &str = "\
Examples:
  freshet search fresh pages                       pages that have both words, the best first
  freshet search \"fresh pages\" --limit 3 --json    the best three, for programs
  freshet search fresh --score inlinks             those that most pages link to come first
  freshet search fresh --as-of 2026-11-16          in the copies that were held on that day";

/// Search the stored pages: those that have all words, the best first, and how fresh each copy is
///
/// Words are runs of letters and digits, in upper or lower case; accents count. Chinese, Japanese and other scripts without blanks
/// are searched by pairs of characters. The words are looked up in an index beside the store (`freshet.search.db`), which is made
/// at the first search and brought up to date by each. It can be deleted at any time.
#[derive(Debug, Args)]
#[command(after_help = SEARCH_EXAMPLES)]
pub(crate) struct SearchArgs {
    /// The words; a page has to have all of them
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
    /// Pages to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
    /// Search the copies that were held at this time: a date (2026-11-16), a date with a time, or how long ago (12h, 7d). Every
    /// stored version of that time is read, which takes longer
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<String>,
    /// Don't keep the query in the log of queries
    #[arg(long)]
    pub no_log: bool,
    #[command(flatten)]
    pub flags: ScoreFlags,
}

const SERVE_EXAMPLES: &str = "\
Examples:
  freshet serve                                          then open http://127.0.0.1:8080/
  freshet serve --store news.db --listen 127.0.0.1:9000
  freshet serve --listen 0.0.0.0:8080 --token-file token.txt --host crawl.example.org
  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:8080/api/v1/status";

/// Show the store in a browser: a dashboard that stays up to date while a crawl runs, with an API and metrics
///
/// It reads the store beside a running crawl and never slows it. It listens on 127.0.0.1 unless told otherwise, and on any other
/// address only with a token. The API is described at /api/openapi.json, metrics for Prometheus are at /metrics, and /healthz says
/// whether all is well. The first Ctrl-C or SIGTERM lets open requests finish.
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub given: ServeGiven,
    /// Token that opens the dashboard and the API, 16 characters or more. Others on this machine can see it in the list of
    /// processes: a file or the variable is better
    #[arg(long, value_name = "TOKEN", env = "FRESHET_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
}

/// Show what changed between two versions of a page
///
/// By default these are the latest version and the last one before it with another text. Coloured on a terminal, a
/// unified diff elsewhere, or JSON.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The page
    pub url: String,
    /// Compare from the version of this time: a date (2026-11-16), a date with a time, or how long ago (12h, 7d)
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Compare to the version of this time [default: the latest]
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Lines to show around a change
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub context: usize,
    /// Print a unified diff on a terminal too, with lines as they are, however long
    #[arg(long)]
    pub unified: bool,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  freshet show https://example.org/news                  what is stored of it, as text
  freshet show example.org/news --at 2026-11-16          as it was stored on that day
  freshet show example.org/paper.pdf --out paper.pdf     the body, byte for byte
  freshet show example.org/news > news.html              the same, through a pipe
  freshet show example.org/news --headers                the status line and headers that it came with";

/// Print a stored page: the text on a terminal, the body byte for byte in a pipe or a file
///
/// By default this is the last version; --at shows the one that was current at a time. A page that is gone shows its last
/// version. Headers are those of the answer that first brought the version.
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct ShowArgs {
    /// The page
    pub url: String,
    /// Show the version of this time: a date (2026-11-16), a date with a time, or how long ago (12h, 7d)
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Print the text that was read from it
    #[arg(long, group = "part")]
    pub text: bool,
    /// Print the body, on a terminal too
    #[arg(long, group = "part")]
    pub body: bool,
    /// Print the status line and the headers
    #[arg(long, group = "part")]
    pub headers: bool,
    /// Write to this file; a link, a pipe or a device is written through
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub out: Option<std::path::PathBuf>,
}

/// Show how a page moved: its visits, its change profiles, and how long its fragments live
///
/// A fragment is a run of a few words. Static fragments stay, churn is replaced in its place, scroll is pushed away by
/// newer text above it. K is the update at which fragments are replaced, counted from the one that brought them. A page
/// that moved to another address has the history of both.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// The page
    pub url: String,
    /// Latest visits to show; 0: all of them [default: 20 in a table, else all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
    /// Words in a fragment: the number that the crawl used [default: 4]
    #[arg(long, value_name = "K", env = "FRESHET_FRAGMENT_WORDS")]
    pub fragment_words: Option<FragmentWords>,
}

const SIGNALS_EXAMPLES: &str = "\
Examples:
  freshet signals                    every site that has told of a change, and how often it was right
  freshet signals example.org        one site, with its sitemap files
  freshet signals --json             a line of JSON per site";

/// Show what sites tell of their changes, and how far that can be trusted
///
/// Signals are hints from outside a page that it changed: a date in a sitemap that moved (sitemap), an entry of a feed (feed), a link that
/// appeared or moved up on another page (hub), or `freshet ping` (ping). Visits show how often they were right ("right 83 of 100
/// times"), how many changes they told of ("tells 60 % of changes"), and how long after the date we learnt of it ("late by 2 h"). Sitemaps
/// whose dates are all the same, or are the time of the request, are not believed.
#[derive(Debug, Args)]
#[command(after_help = SIGNALS_EXAMPLES)]
pub(crate) struct SignalsArgs {
    /// Only this site (`example.org`, `example.org:8080`, or `http://example.org:8080`), with its sitemap files
    #[arg(value_name = "SITE")]
    pub site: Option<String>,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  freshet plan                                   all pages that are due, best first
  freshet plan --budget 1000                     the best thousand that the hosts' delays allow in a cycle
  freshet plan --budget 1000 --policy nutch      what another policy would do, from the same visits
  freshet plan --budget 1000 --json              one line per visit";

/// Print the plan of the next cycle, each page with its score and the reason; nothing is fetched
#[derive(Debug, Args)]
#[command(after_help = PLAN_EXAMPLES)]
pub(crate) struct PlanArgs {
    /// Time from the start of one cycle to the start of the next, which bounds the requests to a host [default: no bound]
    #[arg(long, value_name = "TIME", env = "FRESHET_EVERY")]
    pub every: Option<Written<TimeSpan>>,
    /// Visits to show; 0: all of them [default: 40 in a table, else all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub flags: PlanFlags,
}

/// Say why a page is due or not: policy, estimate, expected gain, waits, and its rank among the pages of the next cycle
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The page
    pub url: String,
    /// Time from the start of one cycle to the start of the next, which bounds the requests to a host [default: no bound]
    #[arg(long, value_name = "TIME", env = "FRESHET_EVERY")]
    pub every: Option<Written<TimeSpan>>,
    #[command(flatten)]
    pub flags: PlanFlags,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  freshet check https://example.org/                       robots.txt, answer, text and links
  freshet check https://example.org/ --links all           every link, and why it is followed or not
  freshet check https://example.org/ --text                all text that the `ignore` rules leave
  freshet check https://example.org/ --exclude /archive/   the links that a pattern would keep out
  freshet check https://example.org/ --json                the same for programs";

/// Fetch one page now and show everything that a crawl would make of it; nothing is stored
///
/// Shows what robots.txt says about it and which rule decides, each redirect, the answer and its headers, the text that
/// is left by the `ignore` rules of freshet.toml, and every link with the reason why a crawl with this page as its seed
/// would follow it or not. Requests are as polite as in a crawl, each URL once. Exits with 1 if the page can't be had.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// The page: https://example.org/
    pub url: String,
    /// Links to show, or `all`; --json always has all
    #[arg(long, value_name = "N", default_value = "20")]
    pub links: String,
    /// Show the whole text, not only its first lines
    #[arg(long)]
    pub text: bool,
    #[command(flatten)]
    pub flags: CheckFlags,
}
