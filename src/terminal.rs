//! The terminal: facts go to standard output, talk (the log, and how a long job is going) to standard error.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use indicatif::{MultiProgress, ProgressBar, ProgressFinish, ProgressStyle};
use serde::Serialize;
use serde_json::Value;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use freshet::crawl::Progress;
use freshet::look::JSON_VERSION;
use freshet::report::{Screen, bytes, counted, number, span};

use crate::cli::Global;
use crate::settings::when::zone;
use crate::voice::Voice;

/// Prints facts, and the command is done.
pub(crate) fn print(text: &str) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// A value as JSON for people and programs, its keys in alphabetical order.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&document(value)?)? + "\n")
}

/// A value as a line of JSON, its keys in alphabetical order.
pub(crate) fn json_line(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(document(value)?.to_string() + "\n")
}

/// Every document is an object, and has the version of its form.
fn document(value: &impl Serialize) -> anyhow::Result<Value> {
    match serde_json::to_value(value)? {
        Value::Object(mut document) => {
            document.insert("version".to_owned(), JSON_VERSION.into());
            Ok(Value::Object(document))
        }
        _ => bail!("a document that is not an object can't have a version"),
    }
}

/// Where talk goes. Log lines and the progress bar share a terminal without writing over each other.
#[derive(Clone)]
pub(crate) struct Talk {
    bars: MultiProgress,
    quiet: bool,
}

impl Talk {
    /// Starts the log as well.
    pub(crate) fn new(global: &Global) -> Self {
        let talk = Self { bars: MultiProgress::new(), quiet: global.quiet };
        let level = match (global.quiet, global.verbose) {
            (true, _) => "freshet=error",
            // A library can't know what its trouble means here; what matters is said by freshet.
            (false, 0) => "freshet=warn",
            (false, 1) => "freshet=info,warn",
            (false, _) => "freshet=debug,info",
        };
        // It names no host; the visit that failed is logged with its host and the fault of the certificate.
        let level = format!("{level},rustls_platform_verifier=off");
        let asked = EnvFilter::try_from_default_env().ok();
        let as_log = asked.is_some() || global.verbose > 0;
        let log = tracing_subscriber::fmt()
            .with_env_filter(asked.unwrap_or_else(|| EnvFilter::new(level)))
            .with_ansi(std::io::stderr().is_terminal())
            .event_format(Voice::new(as_log))
            .with_writer(Lines(talk.clone()));
        // Only one log can be installed; where there is one already, it stays.
        let _ = log.try_init();
        talk
    }

    /// A line for the person at the terminal.
    pub(crate) fn say(&self, line: &str) {
        if !self.quiet {
            self.bars.suspend(|| eprintln!("{line}"));
        }
    }

    /// A warning for the person at the terminal.
    pub(crate) fn warn(&self, line: &str) {
        self.say(&format!("warning: {line}"));
    }

    /// Prints the result of a long command; nothing if it has to be quiet, unless JSON was asked for.
    pub(crate) fn result(
        &self,
        as_json: bool,
        text: impl FnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        if as_json || !self.quiet {
            print(&text()?)?;
        }
        Ok(())
    }

    /// A bar on a terminal that counts something, nothing elsewhere.
    pub(crate) fn count(&self, of: &'static str) -> Count {
        let bar = (!self.quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = self.bars.add(ProgressBar::new(0));
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}  {eta} left") {
                bar.set_style(style.progress_chars("━╸─"));
            }
            bar.set_message(of);
            bar
        });
        Count { bar }
    }

    /// A bar on a terminal, a line every few seconds elsewhere, nothing if asked to be quiet.
    pub(crate) fn meter(&self) -> Meter {
        let bar = (!self.quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = self.bars.add(ProgressBar::new(0));
            if let Ok(style) =
                ProgressStyle::with_template(&format!("{{bar:{BAR}}} {{pos}}/{{len}} pages  {{wide_msg}}"))
            {
                bar.set_style(style.progress_chars("━╸─"));
            }
            bar
        });
        Meter { talk: self.clone(), bar, last_line: Instant::now(), last: None }
    }
}

/// Columns of the terminal; a good width to read where there is none.
pub(crate) fn columns() -> usize {
    let columns = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
    columns.clamp(40, 160)
}

/// What standard output is read with: a terminal or none, in the reader's zone.
pub(crate) fn screen() -> Screen {
    let width = terminal_size::terminal_size_of(std::io::stdout());
    Screen { width: width.map(|(width, _)| usize::from(width.0)), zone: zone() }
}

impl Talk {
    /// A bar on a terminal, a line a step elsewhere, nothing if asked to be quiet.
    pub(crate) fn steps(&self, many: u64) -> Steps {
        let bar = (!self.quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = self.bars.add(ProgressBar::new(many).with_finish(ProgressFinish::AndClear));
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {elapsed}  {wide_msg}") {
                bar.set_style(style.progress_chars("━╸─"));
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Steps { talk: self.clone(), bar, last_line: None }
    }
}

/// Shows how a job of a known number of steps is going.
pub(crate) struct Steps {
    talk: Talk,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl Steps {
    /// Shows the step that runs.
    pub(crate) fn show(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(what.to_owned());
        }
    }

    /// A step is done; `said` has its results, a line each.
    pub(crate) fn step(&self, said: &[String]) {
        match &self.bar {
            Some(bar) => {
                bar.inc(1);
                bar.set_message(said.first().cloned().unwrap_or_default());
            }
            None => said.iter().for_each(|line| self.talk.say(line)),
        }
    }

    /// `done` of very many steps are done: a line every few seconds where there is no terminal.
    pub(crate) fn count(&mut self, done: u64, said: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(done);
                bar.set_message(said.to_owned());
            }
            None if self.last_line.is_none_or(|last| last.elapsed() >= LINE_EVERY) => {
                self.last_line = Some(Instant::now());
                self.talk.say(said);
            }
            None => {}
        }
    }

    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Columns of the bar.
const BAR: usize = 24;

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows how much of a long job is done.
pub(crate) struct Count {
    bar: Option<ProgressBar>,
}

impl Count {
    pub(crate) fn show(&mut self, done: u64, all: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(all);
            bar.set_position(done);
        }
    }

    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows how a crawl is going.
pub(crate) struct Meter {
    talk: Talk,
    bar: Option<ProgressBar>,
    last_line: Instant,
    last: Option<(Instant, u64, f64)>,
}

impl Meter {
    pub(crate) fn show(&mut self, progress: &Progress) {
        let parts = self.parts(progress);
        let counts = &progress.counts;
        let done = counts.fetched + counts.redirected + counts.failed + counts.blocked;
        match &self.bar {
            Some(bar) => {
                let all = done + progress.left;
                let taken = BAR + format!(" {done}/{all} pages  ").len();
                bar.set_length(all);
                bar.set_position(done);
                bar.set_message(fitted(&parts, stderr_columns().saturating_sub(taken)));
            }
            None if self.last_line.elapsed() >= LINE_EVERY => {
                self.last_line = Instant::now();
                let text = fitted(&parts, usize::MAX);
                self.talk.say(&format!("{} of {} pages: {text}", number(done), number(done + progress.left)));
            }
            None => {}
        }
    }

    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    /// The parts of the line in their order, each with its importance: 0 is left out last.
    fn parts(&mut self, progress: &Progress) -> Vec<(u8, String)> {
        let counts = &progress.counts;
        let rate = self.rate(counts.requests);
        let left = progress.time_left.filter(|_| progress.left > 0);
        let left = left.map(|left| format!("{} left", span(Duration::from_secs(left.as_secs().max(1)))));
        let parts = [
            (1, format!("fetched {}", number(counts.fetched))),
            (6, format!("new {}", number(counts.new))),
            (7, format!("unchanged {}", number(counts.unchanged))),
            (2, format!("failed {}", number(counts.failed))),
            (3, format!("{rate:.0} req/s")),
            (5, bytes(counts.bytes)),
            (4, format!("{} waiting", counted(progress.hosts_waiting, "host"))),
        ];
        parts.into_iter().chain(left.map(|left| (0, left))).collect()
    }

    /// Requests a second over about the last ten seconds.
    fn rate(&mut self, requests: u64) -> f64 {
        let now = Instant::now();
        let Some((at, before, smoothed)) = self.last else {
            self.last = Some((now, requests, 0.0));
            return 0.0;
        };
        let passed = now.duration_since(at).as_secs_f64();
        if passed < 0.2 {
            return smoothed;
        }
        let current = requests.saturating_sub(before) as f64 / passed;
        let share = if smoothed == 0.0 { 1.0 } else { 1.0 - (-passed / 10.0).exp() };
        let smoothed = smoothed + share * (current - smoothed);
        self.last = Some((now, requests, smoothed));
        smoothed
    }
}

/// The most important parts that fit into this number of columns, in their order.
fn fitted(parts: &[(u8, String)], width: usize) -> String {
    const BETWEEN: &str = " · ";
    let mut by_importance: Vec<&(u8, String)> = parts.iter().collect();
    by_importance.sort_by_key(|(importance, _)| *importance);
    let mut room = width.saturating_add(BETWEEN.chars().count());
    let mut least = None;
    for (importance, part) in by_importance {
        let taken = part.chars().count() + BETWEEN.chars().count();
        if taken > room {
            break;
        }
        room -= taken;
        least = Some(*importance);
    }
    let shown = parts.iter().filter(|(importance, _)| least.is_some_and(|least| *importance <= least));
    shown.map(|(_, part)| part.as_str()).collect::<Vec<_>>().join(BETWEEN)
}

/// Columns of the terminal that talk goes to.
fn stderr_columns() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0))
}

/// Log lines that step aside for the bar.
struct Lines(Talk);

impl<'a> MakeWriter<'a> for Lines {
    type Writer = LineWriter;

    fn make_writer(&'a self) -> LineWriter {
        LineWriter(self.0.clone())
    }
}

struct LineWriter(Talk);

impl Write for LineWriter {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.0.bars.suspend(|| std::io::stderr().write_all(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_shown_however_narrow_the_terminal_is() {
        let parts: Vec<(u8, String)> =
            [(1, "fetched 1,234"), (6, "new 12"), (2, "failed 3"), (0, "2 min left")]
                .map(|(importance, part)| (importance, part.to_owned()))
                .to_vec();
        assert_eq!(fitted(&parts, usize::MAX), "fetched 1,234 · new 12 · failed 3 · 2 min left");
        assert_eq!(fitted(&parts, 37), "fetched 1,234 · failed 3 · 2 min left");
        assert_eq!(fitted(&parts, 36), "fetched 1,234 · 2 min left");
        assert_eq!(fitted(&parts, 12), "2 min left");
        assert_eq!(fitted(&parts, 3), "");
    }
}
