//! `freshet export`: histories of the store or of a dataset, as a file that others read, or bodies as files.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use freshet::crawl::weights::counted_inlinks;
use freshet::dataset::bodies::{BodiesCounts, BodiesOptions, export_bodies};
use freshet::dataset::counts::DatasetCounts;
use freshet::dataset::disk::DatasetReader;
use freshet::dataset::export::{ExportDone, ExportOptions, ExportTo, LeftOut, Source, export};
use freshet::dataset::format::Format;
use freshet::dataset::group::GroupInfo;
use freshet::dataset::stored::Stored;
use freshet::report::{bytes, number};
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{ExportArgs, Global};
use crate::histories::OPEN_CYCLE;
use crate::settings::when::moment;
use crate::settings::{Given, Settings, Usage};
use crate::terminal::{Talk, json_line, print};

/// The file that was written, as JSON has it.
#[derive(Serialize)]
struct Exported<'a> {
    out: &'a Path,
    format: &'a str,
    name: &'a str,
    groups: &'a [GroupInfo],
    counts: &'a DatasetCounts,
    left_out: LeftOut,
}

/// The bodies that were written, as JSON has them.
#[derive(Serialize)]
struct ExportedBodies<'a> {
    out: &'a Path,
    format: &'a str,
    #[serde(flatten)]
    counts: BodiesCounts,
}

pub(crate) fn run(global: &Global, arguments: &ExportArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let since = arguments.since.as_deref().map(|text| moment("--since", text, now)).transpose()?;
    if arguments.format.is_bodies() {
        return bodies(global, arguments, since, now, talk);
    }
    if arguments.at.is_some() || arguments.all_versions {
        let said = "--at and --all-versions choose bodies, so they go with `--format files` only";
        return Err(Usage(said.to_owned()).into());
    }
    let out = &arguments.out;
    let wrong = |said| Usage(format!("--out is `{}`; {said}", out.display()));
    let format = arguments.format.for_file(out).map_err(wrong)?;
    let mut source = match &arguments.from {
        Some(path) => Source::Dataset(Box::new(DatasetReader::open(path)?)),
        None => {
            let settings = Settings::load(global, &Given::default())?;
            let stored = Stored::open(&settings.store, settings.change.fragment_words)?;
            if stored.open_cycle {
                talk.say(OPEN_CYCLE);
            }
            // Only formats with texts have room for links.
            let stored = if format.needs_texts() {
                stored.with_inlinks(counted_inlinks(&mut *store::open_to_look(&settings.store)?)?)
            } else {
                stored
            };
            Source::Store(Box::new(stored))
        }
    };
    let options = ExportOptions {
        group: arguments.group.clone(),
        site: arguments.site.clone(),
        since,
        name: arguments.name.clone(),
    };
    let to_stdout = *out == *Path::new("-");
    let mut stdout = std::io::stdout().lock();
    let to = if to_stdout { ExportTo::Stream(&mut stdout) } else { ExportTo::File(out) };
    let mut bar = talk.count("pages");
    let done = export(&mut source, format, to, &options, &mut |done, all| bar.show(done, all))?;
    bar.finish();
    drop(stdout);
    let ExportDone { meta, left_out } = done;
    told(format, &meta.counts, left_out).iter().for_each(|line| talk.say(line));
    if to_stdout {
        return Ok(ExitCode::SUCCESS);
    }
    print(&if global.json {
        let (format, name, groups, counts) = (&meta.format, &meta.name, &meta.groups, &meta.counts);
        json_line(&Exported { out, format, name, groups, counts, left_out })?
    } else {
        said(out, &meta.counts)
    })
}

fn bodies(
    global: &Global,
    arguments: &ExportArgs,
    since: Option<Timestamp>,
    now: Timestamp,
    talk: &Talk,
) -> anyhow::Result<ExitCode> {
    let out = &arguments.out;
    if arguments.from.is_some() || arguments.group.is_some() || arguments.name.is_some() {
        return Err(Usage(
            "`files` are bodies of the store: --from, --group and --name don't go with it".into(),
        )
        .into());
    }
    if *out == *Path::new("-") {
        return Err(Usage("--out is `-`; `files` needs the name of a folder".into()).into());
    }
    let options = BodiesOptions {
        all_versions: arguments.all_versions,
        at: arguments.at.as_deref().map(|text| moment("--at", text, now)).transpose()?,
        since,
        site: arguments.site.clone(),
    };
    let settings = Settings::load(global, &Given::default())?;
    let (mut lister, mut store) =
        (store::open_to_look(&settings.store)?, store::open_to_look(&settings.store)?);
    let mut bar = talk.count("pages");
    let counts =
        export_bodies(&mut *lister, &mut *store, out, &options, &mut |done, all| bar.show(done, all))?;
    bar.finish();
    let BodiesCounts { pages, files, written, body_bytes, without_body, aliases } = counts;
    if aliases > 0 {
        talk.say(&format!(
            "{} left out, for which other pages stand; --all-versions has their bodies too",
            of(aliases, "alias", "aliases")
        ));
    }
    if without_body > 0 {
        talk.say(&format!(
            "{} without a file: there was no room for them in the store",
            of(without_body, "version", "versions")
        ));
    }
    print(&if global.json {
        json_line(&ExportedBodies { out, format: arguments.format.name, counts })?
    } else {
        let (pages, files) = (of(pages, "page", "pages"), of(files, "file", "files"));
        format!("{}: {files} of {pages}, {}, {} written\n", out.display(), bytes(body_bytes), number(written))
    })
}

/// What a format leaves out, a line each.
fn told(format: &Format, counts: &DatasetCounts, left_out: LeftOut) -> Vec<String> {
    let LeftOut { aliases, alias_visits, pages, source_visits, source_changes, signals } = left_out;
    let mut lines = Vec::new();
    if aliases > 0 {
        lines.push(format!(
            "{} with {} left out: `observations` has their history under their own URLs",
            of(aliases, "alias", "aliases"),
            of(alias_visits, "visit", "visits")
        ));
    }
    if pages > 0 {
        lines.push(format!(
            "{} left out: this format has no place for a page without a copy or a text",
            of(pages, "page", "pages")
        ));
    }
    if signals > 0 {
        lines.push(format!("{} left out: there is no room for them", of(signals, "signal", "signals")));
    }
    if (counts.visits, counts.changes) != (source_visits, source_changes) {
        lines.push(format!(
            "{} and {} in the source, {} and {} in the file: {}",
            of(source_visits, "visit", "visits"),
            of(source_changes, "change", "changes"),
            number(counts.visits),
            number(counts.changes),
            format.visits_note()
        ));
    }
    lines
}

/// `1 page`, `2 pages`
fn of(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// One line of what a file or a dataset holds.
pub(crate) fn said(out: &Path, counts: &DatasetCounts) -> String {
    let period = match &counts.period {
        Some((first, last)) => format!(", {first} to {last}"),
        None => String::new(),
    };
    format!(
        "{}: {} of {}, {}, {}{period}\n",
        out.display(),
        of(counts.pages, "page", "pages"),
        of(counts.sites, "site", "sites"),
        of(counts.visits, "visit", "visits"),
        of(counts.changes, "change", "changes"),
    )
}
