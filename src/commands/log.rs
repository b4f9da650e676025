//! `freshet log`: what a cycle fetched, line by line, and what a running one fetches now.

use std::io::{BufWriter, Write};
use std::process::ExitCode;
use std::time::Duration;

use freshet::look::hosts::must_be_known;
use freshet::look::log::{LogLine, LogWanted, log, log_after};
use freshet::report;
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{Global, LogArgs};
use crate::settings::Settings;
use crate::terminal::{Talk, json_line, screen};

use super::changes::wanted_host;

/// How often `--follow` looks for new visits.
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub(crate) fn run(global: &Global, arguments: &LogArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let wanted = LogWanted {
        cycle: arguments.cycle,
        host: arguments.host.as_deref().map(wanted_host).transpose()?,
        outcome: arguments.outcome.clone(),
        latest: arguments.limit,
    };
    let mut store = store::open_to_look(&Settings::store(global)?)?;
    if let (Some(host), Some(named)) = (&wanted.host, &arguments.host) {
        must_be_known(&mut *store, host, named)?;
    }
    let screen = screen();
    let lines = report::log::LogLines::new(&screen, Timestamp::now());
    let mut out = BufWriter::new(std::io::stdout().lock());
    if !global.json {
        out.write_all(lines.head().as_bytes())?;
    }
    let text = |line: LogLine| -> anyhow::Result<String> {
        if global.json { json_line(&line) } else { Ok(lines.line(&line)) }
    };
    let mut shown = 0_usize;
    let mut last = log(&mut *store, &wanted, |line| {
        shown += 1;
        anyhow::Ok(out.write_all(text(line)?.as_bytes())?)
    })?;
    out.flush()?;
    if shown == 0 && !arguments.follow {
        talk.say("no visit of that cycle is in the log; --cycle N shows those of another");
    }
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
