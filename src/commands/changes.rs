//! `freshet changes`: what changed across the collection, as a table, JSON lines or an Atom feed.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{BufWriter, IsTerminal as _, Write};
use std::net::Ipv6Addr;
use std::process::ExitCode;
use std::rc::Rc;

use quick_xml::escape::escape;
use serde_json::json;

use freshet::change::fragment::Fragments;
use freshet::change::lasting_change::lasted;
use freshet::page::{Host, PageId};
use freshet::report::diff::{Diff, harmless};
use freshet::report::{Align, Table};
use freshet::store::{self, Change, Store, StoreError, VersionId};
use freshet::time::Timestamp;

use super::held::content;
use super::talk::columns;
use super::when::moment;
use crate::cli::{ChangesArgs, ChangesFormat, CrawlFlags, Global};
use crate::settings::{Settings, Usage};

/// Changes that a table shows unless told otherwise: each is a diff to make.
const TABLE_ROWS: usize = 100;
/// Versions whose fragments are kept at hand; 8 bytes a word.
const RECENT_VERSIONS: usize = 32;
/// Lines of a change that are told.
const LINES: usize = 3;

pub fn run(global: &Global, arguments: &ChangesArgs) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let since = moment("--since", &arguments.since, now)?;
    if !(0.0..=1.0).contains(&arguments.min_divergence) {
        let wrong = arguments.min_divergence;
        return Err(Usage(format!("--min-divergence is `{wrong}`; it must be from 0 to 1")).into());
    }
    let host = arguments.host.as_deref().map(WantedHost::parse).transpose()?;
    let fragment_words = arguments.fragment_words;
    let settings = Settings::load(global, &CrawlFlags { fragment_words, ..CrawlFlags::default() })?;
    let words = settings.change().fragment_words;
    let format = if global.json { ChangesFormat::Json } else { arguments.format };
    let most = match (arguments.limit, format) {
        (Some(0), _) => usize::MAX,
        (Some(most), _) => most,
        (None, ChangesFormat::Table) => TABLE_ROWS,
        (None, ChangesFormat::Json | ChangesFormat::Atom) => usize::MAX,
    };
    let mut store = store::open_to_look(&settings.store)?;
    let mut found = Vec::new();
    store.each_change(since, &mut |change| {
        // What has no words is as far from what it was as can be.
        let far = change.divergence.unwrap_or(1.0) >= arguments.min_divergence;
        if far && host.as_ref().is_none_or(|host| host.has(&change.url)) {
            found.push(change);
        }
        arguments.lasting || found.len() < most
    })?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut shown = Shown::start(format, &mut out, since, now)?;
    let mut recent = Recent::new(words);
    let mut many = 0;
    for change in found {
        if many == most {
            break;
        }
        if arguments.lasting && !recent.is_lasting(&mut *store, &change)? {
            continue;
        }
        let difference = difference(&mut *store, &change)?;
        shown.add(&mut out, &change, &difference)?;
        many += 1;
    }
    shown.finish(&mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// A host as people name it: by its origin, by name and port, or by its name alone.
enum WantedHost {
    Origin(Host),
    Port(String, u16),
    Name(String),
}

impl WantedHost {
    fn parse(text: &str) -> Result<Self, Usage> {
        let wrong = || {
            // What is secret is not repeated.
            let shown = if text.contains('@') { "…" } else { text };
            Usage(format!(
                "--host is `{shown}`, which is no host; write it like `example.org`, `example.org:8080` or \
                 `https://example.org`"
            ))
        };
        if text.contains("://") {
            return Host::parse(text).map(WantedHost::Origin).ok_or_else(wrong);
        }
        let bare =
            text.parse::<Ipv6Addr>().map_or_else(|_| text.to_owned(), |address| format!("[{address}]"));
        let under = |scheme: &str| Host::parse(&format!("{scheme}://{bare}")).ok_or_else(wrong);
        let (http, https) = (under("http")?, under("https")?);
        let name = http.name().to_owned();
        // Without a port each scheme has its own.
        let same_port = http.port() == https.port();
        Ok(if same_port { WantedHost::Port(name, http.port()) } else { WantedHost::Name(name) })
    }

    /// Is a page of this host?
    fn has(&self, url: &str) -> bool {
        let Some(host) = url::Url::parse(url).ok().and_then(|url| Host::of(&url)) else { return false };
        match self {
            WantedHost::Origin(origin) => host == *origin,
            WantedHost::Port(name, port) => host.name() == name && host.port() == *port,
            WantedHost::Name(name) => host.name() == name,
        }
    }
}

/// The fragments of the versions asked for last: what one change of a page brought is what the next one took away.
struct Recent {
    words: usize,
    held: VecDeque<(VersionId, Rc<Fragments>)>,
}

impl Recent {
    fn new(words: usize) -> Self {
        Recent { words, held: VecDeque::new() }
    }

    /// Was what the change brought still there at a later visit? Unknown as long as there was none: then no.
    fn is_lasting(&mut self, store: &mut dyn Store, change: &Change) -> Result<bool, StoreError> {
        let Some(later) = store.found_next(PageId(change.page), change.at)? else { return Ok(false) };
        let later = self.fragments(store, later)?;
        let after = self.fragments(store, VersionId(change.version))?;
        let before = self.fragments(store, VersionId(change.previous_version))?;
        Ok(lasted(&before, &after, &later, self.words))
    }

    fn fragments(&mut self, store: &mut dyn Store, version: VersionId) -> Result<Rc<Fragments>, StoreError> {
        if let Some((_, fragments)) = self.held.iter().find(|(held, _)| *held == version) {
            return Ok(Rc::clone(fragments));
        }
        let fragments = Rc::new(Fragments::of(&content(store, version)?.text, self.words));
        if self.held.len() >= RECENT_VERSIONS {
            self.held.pop_front();
        }
        self.held.push_back((version, Rc::clone(&fragments)));
        Ok(fragments)
    }
}

fn difference(store: &mut dyn Store, change: &Change) -> Result<Diff, StoreError> {
    let old = content(store, VersionId(change.previous_version))?.text;
    let new = content(store, VersionId(change.version))?.text;
    Ok(Diff::of(&old, &new))
}

/// A list that is being written.
enum Shown {
    Table(Table),
    Json,
    Atom,
}

impl Shown {
    fn start(
        format: ChangesFormat,
        out: &mut dyn Write,
        since: Timestamp,
        now: Timestamp,
    ) -> std::io::Result<Self> {
        Ok(match format {
            ChangesFormat::Table => Shown::Table(Table::new(&[
                ("when", Align::Left),
                ("divergence", Align::Right),
                ("words", Align::Right),
                ("page", Align::Left),
                (WHAT_CAME, Align::Left),
            ])),
            ChangesFormat::Json => Shown::Json,
            ChangesFormat::Atom => {
                write!(
                    out,
                    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
                     <id>urn:freshet:changes</id>\n<title>Changes since {since}</title>\n<updated>{now}</updated>\n\
                     <author><name>freshet</name></author>\n"
                )?;
                Shown::Atom
            }
        })
    }

    fn add(&mut self, out: &mut dyn Write, change: &Change, difference: &Diff) -> anyhow::Result<()> {
        let (added, removed) = difference.lines();
        let first = |lines: &[String]| lines.iter().take(LINES).cloned().collect::<Vec<_>>();
        match self {
            Shown::Table(table) => table.row([
                change.at.to_string(),
                change.divergence.map_or("-".to_owned(), |apart| format!("{apart:.3}")),
                format!("+{} −{}", difference.words_added(), difference.words_removed()),
                harmless(&change.url),
                added.first().map_or(String::new(), |line| shortened(line, 60)),
            ]),
            Shown::Json => {
                let mut told = json!(change);
                if let Some(fields) = told.as_object_mut() {
                    fields.insert("words_added".to_owned(), json!(difference.words_added()));
                    fields.insert("words_removed".to_owned(), json!(difference.words_removed()));
                    fields.insert("added".to_owned(), json!(first(&added)));
                    fields.insert("removed".to_owned(), json!(first(&removed)));
                }
                writeln!(out, "{told}")?;
            }
            Shown::Atom => out.write_all(entry(change, difference).as_bytes())?,
        }
        Ok(())
    }

    fn finish(self, out: &mut dyn Write) -> std::io::Result<()> {
        match self {
            Shown::Table(table) => {
                let width = std::io::stdout().is_terminal().then(columns);
                out.write_all(fitted(&table.render(), width).as_bytes())
            }
            Shown::Json => Ok(()),
            Shown::Atom => out.write_all(b"</feed>\n"),
        }
    }
}

/// The heading of the last column.
const WHAT_CAME: &str = "what came";
/// Fewer characters of what came say nothing.
const FEWEST_SHOWN: usize = 20;

/// A table within the width of a terminal, if there is one: the last column is shortened, or left out. Addresses are not
/// cut, so that they can be copied.
fn fitted(table: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return table.to_owned() };
    let heads = table.lines().next().unwrap_or_default();
    let last = heads.rsplit_once(WHAT_CAME).map_or(0, |(before, _)| before.chars().count());
    let most = if last + FEWEST_SHOWN > width { last } else { width };
    let line = |line: &str| line.chars().take(most).collect::<String>().trim_end().to_owned() + "\n";
    table.lines().map(line).collect()
}

fn entry(change: &Change, difference: &Diff) -> String {
    let url = escape(change.url.as_str());
    let mut text = format!(
        "<entry>\n<id>urn:freshet:change:{}:{}</id>\n<title>{url}</title>\n<link href=\"{url}\"/>\n\
         <updated>{}</updated>\n",
        change.page,
        change.at.millis(),
        change.at,
    );
    let diff = difference.plain(100, 1);
    // XML has no way to say these at all.
    let sayable: String = diff.chars().filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')).collect();
    let html = format!("<pre>{}</pre>", escape(sayable.as_str()));
    let _ = write!(text, "<content type=\"html\">{}</content>\n</entry>\n", escape(html.as_str()));
    text
}

fn shortened(line: &str, most: usize) -> String {
    let clean = harmless(line);
    match clean.char_indices().nth(most) {
        None => clean,
        Some(_) => clean.chars().take(most - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_in_any_way_and_any_case() {
        let pages = [
            "https://example.org/a",
            "http://example.org:8080/a",
            "http://[::1]:8080/",
            "https://m\u{fc}nchen.de/",
        ];
        let has = |wanted: &str| -> Vec<usize> {
            let host = WantedHost::parse(wanted).unwrap_or_else(|error| panic!("{wanted}: {error}"));
            (0..pages.len()).filter(|place| host.has(pages[*place])).collect()
        };
        assert_eq!(has("example.org"), [0, 1]);
        assert_eq!(has("EXAMPLE.org."), [0, 1]);
        assert_eq!(has("Example.org:8080"), [1]);
        assert_eq!(has("example.org:443"), [0]);
        assert_eq!(has("example.org:80"), [0; 0]);
        assert_eq!(has("HTTPS://Example.ORG"), [0]);
        assert_eq!(has("https://example.org:443/"), [0]);
        assert_eq!(has("http://example.org"), [0; 0]);
        assert_eq!([has("::1"), has("[::1]"), has("[::1]:8080")], [[2], [2], [2]]);
        assert_eq!(has("M\u{dc}NCHEN.de"), [3]);
        assert_eq!(has("ample.org"), [0; 0]);
        for wrong in ["", "example.org/a", "ftp://example.org", "two words", "example.org:port"] {
            assert!(
                WantedHost::parse(wrong).is_err_and(|error| error.to_string().contains(wrong)),
                "{wrong}"
            );
        }
        let secret = WantedHost::parse("http://me:secret@example.org").err().expect("no host");
        assert!(!secret.to_string().contains("secret"), "{secret}");
    }

    #[test]
    fn a_line_obeys_the_reader_and_is_cut() {
        assert_eq!(shortened("a\u{202e}b\u{1b}c", 60), "a�b␛c");
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
    }

    #[test]
    fn a_table_fits_its_terminal_and_addresses_stay_whole() {
        let table = "when  page                   what came\n1     https://example.org/a  a sentence that goes on and on\n";
        assert_eq!(fitted(table, None), table);
        let cut = fitted(table, Some(50));
        assert_eq!(cut.lines().nth(1), Some("1     https://example.org/a  a sentence that goes"));
        assert_eq!(fitted(table, Some(40)), "when  page\n1     https://example.org/a\n");
    }
}
