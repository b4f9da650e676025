//! `freshet log`: what a cycle fetched, line by line, and what a running one fetches now.

use std::io::{BufWriter, Write};
use std::process::ExitCode;
use std::time::Duration;

use freshet::look::log::{LogLine, LogWanted, log, log_after};
use freshet::report;
use freshet::store;

use crate::cli::{Global, LogArgs};
use crate::settings::Settings;
use crate::terminal::{json_line, screen};

use super::changes::wanted_host;

/// How often `--follow` looks for new visits.
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub(crate) fn run(global: &Global, arguments: &LogArgs) -> anyhow::Result<ExitCode> {
    let wanted = LogWanted {
        cycle: arguments.cycle,
        host: arguments.host.as_deref().map(wanted_host).transpose()?,
        outcome: arguments.outcome.clone(),
        latest: arguments.limit,
    };
    let mut store = store::open_to_look(&Settings::store(global)?)?;
    let screen = screen();
    let mut out = BufWriter::new(std::io::stdout().lock());
    if !global.json {
        out.write_all(report::log::head(&screen).as_bytes())?;
    }
    let text = |line: LogLine| -> anyhow::Result<String> {
        if global.json { json_line(&line) } else { Ok(report::log::line(&line, &screen)) }
    };
    let mut last = log(&mut *store, &wanted, |line| anyhow::Ok(out.write_all(text(line)?.as_bytes())?))?;
    out.flush()?;
    if !arguments.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::sleep(LOOK_EVERY);
        let show = |line| anyhow::Ok(out.write_all(text(line)?.as_bytes())?);
        last = log_after(&mut *store, last, &wanted, show)?;
        out.flush()?;
    }
}
