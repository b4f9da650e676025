//! `freshet web`: a web on loopback that changes, until it is told to stop.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;
use tokio::sync::watch;

use freshet::model_web::{Announcing, Clock, Recording, Rhythm, Server, ServerError, Validity, WebSpec};
use freshet::report::counted;
use freshet::signal::spec::SignalSpec;
use freshet::time::Timestamp;

use crate::cli::{Global, WebArgs};
use crate::settings::Usage;
use crate::settings::when::duration;
use crate::terminal::{self, Talk, json};
use crate::threads;

/// The web that is up, as JSON has it.
#[derive(Serialize)]
struct ServedWeb<'a> {
    seeds: &'a [String],
    #[serde(rename = "start_seconds")]
    start: f64,
    day_seconds: f64,
    spec: Option<WebSpec>,
    replay: Option<&'a Path>,
}

pub(crate) fn run(global: &Global, arguments: &WebArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    // A descriptor a host, and one a connection; where no more can be had, binding says so.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let clock = Clock { start: start(arguments.start)?, day: day(&arguments.day)? };
    let signals = arguments.signals.as_deref().map(str::parse).transpose();
    let signals: Option<SignalSpec> = signals.map_err(|error| Usage(format!("--signals: {error}")))?;
    let runtime = threads::all_cores()?;
    runtime.block_on(async {
        // Before anyone is told that the web is up: from then on, a signal ends it cleanly.
        let stop = interrupts()?;
        let bound = match &arguments.replay {
            Some(folder) => {
                let mut recording = Recording::open(folder).map_err(|error| Usage(error.to_string()))?;
                if let Some(spec) = &signals {
                    talk.say("reading all contents, to tell which change the text");
                    recording.tell(spec)?;
                }
                Server::replay(recording, arguments.port, clock).await
            }
            None => {
                Server::bind(spec(arguments, signals.as_ref()), arguments.hosts, arguments.port, clock).await
            }
        };
        let server = bound.map_err(|error| match error {
            ServerError::Bind { .. } => anyhow::Error::new(error).context(hint(arguments.port)),
            wrong => Usage(wrong.to_string()).into(),
        })?;
        print(global, arguments, signals.as_ref(), (&server, clock), talk)?;
        server.serve(stop).await;
        talk.say("stopped");
        Ok(ExitCode::SUCCESS)
    })
}

fn spec(arguments: &WebArgs, signals: Option<&SignalSpec>) -> WebSpec {
    let signals = signals.map(Announcing::of);
    WebSpec {
        seed: arguments.seed,
        pages: arguments.pages,
        static_share: arguments.static_share,
        scroll_share: arguments.scroll_share,
        turnover: arguments.turnover,
        move_share: arguments.move_share,
        gone_share: arguments.gone_share,
        median_bytes: arguments.median_bytes,
        noise: !arguments.no_noise,
        rhythm: if arguments.rhythm { Rhythm::Weekly } else { Rhythm::Even },
        etag: Validity { right: arguments.etag_right, wrong: arguments.etag_wrong },
        last_modified: Validity { right: arguments.modified_right, wrong: arguments.modified_wrong },
        sitemap: signals
            .unwrap_or(Announcing::of_pages(arguments.sitemap_precision, arguments.sitemap_recall)),
        feed: signals.unwrap_or(Announcing::of_pages(arguments.feed_precision, arguments.feed_recall)),
    }
}

fn hint(port: u16) -> String {
    format!("the web can't be put up on port {port}; another is chosen with --port, a free one with --port 0")
}

/// The seeds on standard output, so that they can be saved or piped; how to crawl them on standard error.
fn print(
    global: &Global,
    arguments: &WebArgs,
    signals: Option<&SignalSpec>,
    (server, clock): (&Server, Clock),
    talk: &Talk,
) -> anyhow::Result<()> {
    let seeds: Vec<String> = server.origins().map(|origin| format!("{origin}/")).collect();
    let text = if global.json {
        json(&ServedWeb {
            seeds: &seeds,
            start: clock.seconds_at(0.0),
            day_seconds: clock.day.as_secs_f64(),
            spec: arguments.replay.is_none().then(|| spec(arguments, signals)),
            replay: arguments.replay.as_deref(),
        })?
    } else {
        seeds.iter().map(|seed| format!("{seed}\n")).collect()
    };
    terminal::print(&text)?;
    let pages = match &arguments.replay {
        Some(folder) => format!("recorded pages of `{}`", folder.display()),
        None => counted(arguments.pages, "page"),
    };
    talk.say(&format!(
        "{} of {pages}; a day lasts {:?}, day 0 began at {}; Ctrl-C stops it",
        counted(seeds.len(), "host"),
        clock.day,
        clock.start,
    ));
    let which = if seeds.len() == 1 { "the line" } else { "the lines" };
    talk.say(&format!(
        "save {which} above as seeds.txt, then crawl: \
         freshet crawl --seeds seeds.txt --delay 0 --allow-private=127.0.0.0/16"
    ));
    if let Some(seed) = seeds.first() {
        talk.say(&format!(
            "the truth: {seed}.truth/site and {seed}.truth/page?path=/; \
             to compare a crawl with it: freshet score --truth {seed}"
        ));
    }
    Ok(())
}

/// Turns true at the first signal.
fn interrupts() -> anyhow::Result<watch::Receiver<bool>> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = "signals can't be listened for";
    let mut interrupt = signal(SignalKind::interrupt()).context(failed)?;
    let mut terminate = signal(SignalKind::terminate()).context(failed)?;
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        let _ = stop.send(true);
    });
    Ok(stopped)
}

fn start(seconds: Option<f64>) -> Result<Timestamp, Usage> {
    match seconds {
        None => Ok(Timestamp::now()),
        // Up to the year 9999, which is where dates of HTTP end.
        Some(seconds) if (0.0..253_402_300_800.0).contains(&seconds) => {
            Ok(Timestamp::from_millis((seconds * 1000.0) as i64))
        }
        Some(wrong) => Err(Usage(format!("--start is `{wrong}`; it must be seconds since 1970"))),
    }
}

const SHORTEST_DAY: Duration = Duration::from_millis(10);
const LONGEST_DAY: Duration = Duration::from_secs(1000 * 86_400);

/// `500ms`, `10s`, `5m`, `1h`, `1d`.
fn day(text: &str) -> Result<Duration, Usage> {
    match duration(text) {
        Some(day) if (SHORTEST_DAY..=LONGEST_DAY).contains(&day) => Ok(day),
        Some(_) => Err(Usage(format!("--day is `{text}`; it must be from 10ms to 1000d"))),
        None => Err(Usage(format!("--day is `{text}`; write a number and a unit: 500ms, 10s, 5m, 1h, 1d"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_its_limits() {
        let read = |text| day(text).ok().map(|day| day.as_millis());
        assert_eq!(read("10ms"), Some(10));
        assert_eq!(read("2d"), Some(2 * 86_400_000));
        for wrong in ["", "10", "0s", "9ms", "1001d", "1e9d"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_flags_default_to_the_spec_s_own_values() {
        use clap::Parser as _;
        let cli = crate::cli::Cli::try_parse_from(["freshet", "web"]).expect("no flag is needed");
        let crate::cli::Command::Web(arguments) = cli.command else { panic!("another command") };
        assert_eq!(spec(&arguments, None), WebSpec::default());
    }
}
