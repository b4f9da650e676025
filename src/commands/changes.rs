//! `freshet changes`: what changed across the collection, as a table, JSON lines or an Atom feed.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use quick_xml::escape::escape;
use serde_json::json;

use freshet::change::fragment::Fragments;
use freshet::change::lasting::lasted;
use freshet::page::{Host, PageId};
use freshet::report::diff::Diff;
use freshet::report::{Align, Table};
use freshet::store::sqlite::SqliteStore;
use freshet::store::{Change, Store, StoreError, VersionId};
use freshet::time::Timestamp;

use super::held::content;
use super::when::moment;
use crate::cli::{ChangesArgs, ChangesFormat, CrawlFlags, Global};
use crate::settings::{Settings, Usage};

/// Changes that a table shows unless told otherwise: each is a diff to make.
const TABLE_ROWS: usize = 100;
/// Lines of a change that are told.
const LINES: usize = 3;

pub fn run(global: &Global, arguments: &ChangesArgs) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let since = moment("--since", &arguments.since, now)?;
    if !(0.0..=1.0).contains(&arguments.min_divergence) {
        let wrong = arguments.min_divergence;
        return Err(Usage(format!("--min-divergence is `{wrong}`; it must be from 0 to 1")).into());
    }
    let settings = Settings::load(global, &CrawlFlags::default())?;
    let words = settings.change().fragment_words;
    let format = if global.json { ChangesFormat::Json } else { arguments.format };
    let most = arguments.limit.unwrap_or(match format {
        ChangesFormat::Table => TABLE_ROWS,
        ChangesFormat::Json | ChangesFormat::Atom => usize::MAX,
    });
    let mut store = SqliteStore::open_to_look(&settings.store)?;
    let mut found = Vec::new();
    store.each_change(since, &mut |change| {
        // What has no words is as far from what it was as can be.
        let far = change.divergence.unwrap_or(1.0) >= arguments.min_divergence;
        if far && is_of_host(&change, arguments.host.as_deref()) {
            found.push(change);
        }
        arguments.lasting || found.len() < most
    })?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut shown = Shown::start(format, &mut out, since, now)?;
    let mut many = 0;
    for change in found {
        if many == most {
            break;
        }
        if arguments.lasting && !is_lasting(&mut store, &change, words)? {
            continue;
        }
        let difference = difference(&mut store, &change)?;
        shown.add(&mut out, &change, &difference)?;
        many += 1;
    }
    shown.finish(&mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn is_of_host(change: &Change, host: Option<&str>) -> bool {
    let Some(wanted) = host else { return true };
    let of = url::Url::parse(&change.url).ok().and_then(|url| Host::of(&url));
    of.is_some_and(|host| host.name() == wanted || host.as_str() == wanted)
}

/// Was what the change brought still there at a later visit? Unknown as long as there was none: then no.
fn is_lasting(store: &mut dyn Store, change: &Change, words: usize) -> Result<bool, StoreError> {
    let visits = store.visits(PageId(change.page))?;
    let later = visits.iter().filter(|visit| visit.at > change.at).find_map(|visit| visit.version);
    let Some(later) = later else { return Ok(false) };
    let mut fragments = |version| Ok::<_, StoreError>(Fragments::of(&content(store, version)?.text, words));
    let before = fragments(VersionId(change.previous_version))?;
    let after = fragments(VersionId(change.version))?;
    Ok(lasted(&before, &after, &fragments(later)?, words))
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
                ("what came", Align::Left),
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
                change.url.clone(),
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
            Shown::Table(table) => out.write_all(table.render().as_bytes()),
            Shown::Json => Ok(()),
            Shown::Atom => out.write_all(b"</feed>\n"),
        }
    }
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
    let clean = line.chars().map(|c| if c.is_control() { ' ' } else { c });
    match line.char_indices().nth(most) {
        None => clean.collect(),
        Some(_) => clean.take(most - 1).chain(['…']).collect(),
    }
}
