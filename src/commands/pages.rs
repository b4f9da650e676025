//! `freshet pages`: the pages of a store, filtered, as a table, JSON lines or CSV.

use std::io::{BufWriter, Cursor, Write};
use std::process::ExitCode;

use freshet::dataset::csv_cell::guarded;
use freshet::look::hosts::must_be_known;
use freshet::look::links::linking_to;
use freshet::look::pages::{in_state, pages};
use freshet::report::diff::harmless;
use freshet::report::{Align, Screen, Shorten, Table, bytes, number};
use freshet::store::{self, PageFilter, PageOrder, PageRow};
use freshet::time::Timestamp;

use crate::cli::{Global, ListFormat, PageSort, PagesArgs};
use crate::settings::when::moment;
use crate::settings::{Given, Settings, Usage};
use crate::terminal::{json_line, screen};

use super::changes::wanted_host;

pub(crate) fn run(global: &Global, arguments: &PagesArgs) -> anyhow::Result<ExitCode> {
    let mut filter = filter(arguments)?;
    let settings = Settings::load(global, &Given::default())?;
    let mut store = store::open_to_look(&settings.store)?;
    if let Some(named) = &arguments.host {
        must_be_known(&mut *store, &wanted_host(named)?, named)?;
    }
    if let Some(url) = &arguments.links_to {
        filter.among = Some(linking_to(&mut *store, &settings.normaliser(), url)?);
    }
    let screen = screen();
    let mut out = BufWriter::new(std::io::stdout().lock());
    match if global.json { ListFormat::Json } else { arguments.format } {
        ListFormat::Table => {
            let mut table = Table::new(&[
                ("state", Align::Left),
                ("depth", Align::Right),
                ("visits", Align::Right),
                ("changes", Align::Right),
                ("size", Align::Right),
                ("last visit", Align::Left),
                ("outcome", Align::Left),
                ("HTTP", Align::Right),
                ("url", Align::Left),
                ("title", Align::Left),
                ("why", Align::Left),
            ])
            .shorten("url", Shorten::Middle)
            .shorten("title", Shorten::End)
            .shorten("why", Shorten::End)
            .leave_out(&[
                "title",
                "depth",
                "size",
                "visits",
                "changes",
                "HTTP",
                "last visit",
                "outcome",
            ]);
            pages(&mut *store, &filter, |page| {
                table.row(cells(&page, &screen));
                anyhow::Ok(())
            })?;
            out.write_all(table.fitted(screen.width).as_bytes())?;
        }
        ListFormat::Json => {
            pages(&mut *store, &filter, |page| anyhow::Ok(out.write_all(json_line(&page)?.as_bytes())?))?
        }
        ListFormat::Csv => {
            let mut rows = csv::Writer::from_writer(&mut out);
            let mut has_heads = false;
            pages(&mut *store, &filter, |page| {
                for row in csv_rows(&page, !has_heads)?.records() {
                    rows.write_record(row?.iter().map(|cell| guarded(&harmless(cell)).into_owned()))?;
                }
                has_heads = true;
                anyhow::Ok(())
            })?;
            rows.flush()?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn order(sort: PageSort) -> PageOrder {
    match sort {
        PageSort::Url => PageOrder::Url,
        PageSort::Changes => PageOrder::Changes,
        PageSort::Visits => PageOrder::Visits,
        PageSort::Failures => PageOrder::Failures,
        PageSort::LastVisit => PageOrder::LastVisit,
        PageSort::Found => PageOrder::Found,
        PageSort::Bytes => PageOrder::Bytes,
        PageSort::Weight => PageOrder::Weight,
        PageSort::Due => PageOrder::Due,
    }
}

/// A page as a row of cells, after the names of the columns if they are wanted.
fn csv_rows(page: &PageRow, with_heads: bool) -> anyhow::Result<csv::Reader<Cursor<Vec<u8>>>> {
    let mut row = csv::WriterBuilder::new().has_headers(with_heads).from_writer(Vec::new());
    row.serialize(page)?;
    let text = Cursor::new(row.into_inner()?);
    Ok(csv::ReaderBuilder::new().has_headers(false).from_reader(text))
}

fn filter(arguments: &PagesArgs) -> Result<PageFilter, Usage> {
    let filter = PageFilter {
        host: arguments.host.as_ref().map(|host| host.to_lowercase()),
        url: arguments.url.clone(),
        outcome: arguments.outcome.clone(),
        max_depth: arguments.max_depth,
        aliases: arguments.aliases,
        limit: arguments.limit,
        since: arguments
            .since
            .as_deref()
            .map(|since| moment("--since", since, Timestamp::now()))
            .transpose()?,
        order: arguments.sort.map(order).unwrap_or_default(),
        ..PageFilter::default()
    };
    let Some(state) = &arguments.state else { return Ok(filter) };
    in_state(filter, state).ok_or_else(|| Usage(format!("there is no state `{state}`")))
}

fn cells(page: &PageRow, screen: &Screen) -> [String; 11] {
    let reason = page.reason.as_ref().or(page.host_reason.as_ref());
    [
        page.state.clone(),
        page.depth.to_string(),
        number(page.visits),
        number(page.changes),
        page.bytes.map_or("-".to_owned(), bytes),
        screen.time_or_dash(page.last_visit_at),
        page.outcome.clone().unwrap_or_else(|| "-".to_owned()),
        page.status.map_or("-".to_owned(), |status| status.to_string()),
        match page.alias_of.as_ref().or(page.redirect_to.as_ref()) {
            Some(target) => format!("{} → {target}", page.url),
            None => page.url.clone(),
        },
        page.title.clone().unwrap_or_else(|| "-".to_owned()),
        reason.cloned().unwrap_or_else(|| "-".to_owned()),
    ]
}
