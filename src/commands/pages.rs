//! `freshet pages`: the pages of a store, filtered, as a table, JSON lines or CSV.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use freshet::observation::Life;
use freshet::report::{Align, Table, bytes, number};
use freshet::store::{self, PageFilter, PageRow};

use crate::cli::{Global, ListFormat, PagesArgs};
use crate::settings::{Settings, Usage};

/// What the list calls another spelling of a page.
const ALIAS: &str = "alias";

pub fn run(global: &Global, arguments: &PagesArgs) -> anyhow::Result<ExitCode> {
    let filter = filter(arguments)?;
    let mut store = store::open_to_look(&Settings::store(global)?)?;
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
                ("url", Align::Left),
            ]);
            store.list_pages(&filter, &mut |page| table.row(cells(&page)))?;
            out.write_all(table.render().as_bytes())?;
        }
        ListFormat::Json => {
            let mut written = Ok(());
            store.list_pages(&filter, &mut |page| {
                if written.is_ok() {
                    written = serde_json::to_writer(&mut out, &page)
                        .map_err(anyhow::Error::from)
                        .and_then(|()| Ok(out.write_all(b"\n")?));
                }
            })?;
            written?;
        }
        ListFormat::Csv => {
            let mut rows = csv::Writer::from_writer(&mut out);
            let mut written = Ok(());
            store.list_pages(&filter, &mut |page| {
                if written.is_ok() {
                    written = rows.serialize(&page);
                }
            })?;
            written?;
            rows.flush()?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn filter(arguments: &PagesArgs) -> Result<PageFilter, Usage> {
    let life = match &arguments.state {
        None => None,
        Some(name) if name == ALIAS => None,
        Some(name) => Some(Life::from_name(name).ok_or_else(|| {
            let known: Vec<_> = Life::ALL.iter().map(|life| life.name()).collect();
            Usage(format!("there is no state `{name}`; there are {}, {ALIAS}", known.join(", ")))
        })?),
    };
    Ok(PageFilter {
        page: None,
        life,
        host: arguments.host.as_ref().map(|host| host.to_lowercase()),
        url: arguments.url.clone(),
        outcome: arguments.outcome.clone(),
        max_depth: arguments.max_depth,
        aliases: arguments.aliases,
        only_aliases: arguments.state.as_deref() == Some(ALIAS),
        limit: arguments.limit,
    })
}

fn cells(page: &PageRow) -> [String; 8] {
    [
        page.state.clone(),
        page.depth.to_string(),
        number(page.visits),
        number(page.changes),
        page.bytes.map_or("-".to_owned(), bytes),
        page.last_visit_at.map_or("-".to_owned(), |at| at.to_string()),
        page.outcome.clone().unwrap_or_else(|| "-".to_owned()),
        match &page.alias_of {
            Some(target) => format!("{} → {target}", page.url),
            None => page.url.clone(),
        },
    ]
}
