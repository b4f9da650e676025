//! The terminal: facts go to standard output, talk (the log, and how a long job is going) to standard error.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressFinish, ProgressStyle};
use serde::Serialize;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use freshet::crawl::Progress;
use freshet::report::{Screen, bytes, number, span};

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
    Ok(serde_json::to_string_pretty(&serde_json::to_value(value)?)? + "\n")
}

/// A value as a line of JSON, its keys in alphabetical order.
pub(crate) fn json_line(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_value(value)?.to_string() + "\n")
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
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} pages  {wide_msg}") {
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
        let text = self.text(progress);
        let counts = &progress.counts;
        let done = counts.fetched + counts.redirected + counts.failed + counts.blocked;
        match &self.bar {
            Some(bar) => {
                bar.set_length(done + progress.left);
                bar.set_position(done);
                bar.set_message(text);
            }
            None if self.last_line.elapsed() >= LINE_EVERY => {
                self.last_line = Instant::now();
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

    fn text(&mut self, progress: &Progress) -> String {
        let counts = &progress.counts;
        let rate = self.rate(counts.requests);
        let left = progress.time_left.filter(|_| progress.left > 0).map_or(String::new(), |left| {
            format!(" · {} left", span(Duration::from_secs(left.as_secs().max(1))))
        });
        format!(
            "fetched {} · new {} · unchanged {} · failed {} · {rate:.0} req/s · {} · {} hosts waiting{left}",
            number(counts.fetched),
            number(counts.new),
            number(counts.unchanged),
            number(counts.failed),
            bytes(counts.bytes),
            number(progress.hosts_waiting as u64),
        )
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
