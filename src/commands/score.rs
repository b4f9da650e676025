//! `freshet score`: the store, held against the truth of a web that is up.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use freshet::model_web::judge::score::{MOMENTS, ScoreFigures, ScoreGroup, WebScores};
use freshet::model_web::judge::stored_past;
use freshet::model_web::judge::truth_client::{TruthClient, TruthError};
use freshet::model_web::judge::{JudgedTexts, TruthSource, Witness, judge};
use freshet::report::{Align, Table, number, span};
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{Global, ScoreArgs};
use crate::settings::{Settings, Usage};

pub fn run(global: &Global, arguments: &ScoreArgs) -> anyhow::Result<ExitCode> {
    let path = Settings::store(global)?;
    let mut store = store::open_to_look(&path)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the asynchronous runtime could not be started")?;
    let asker = TruthClient::new()?;
    let web = runtime.block_on(asker.web(&arguments.truth)).map_err(|error| match error {
        TruthError::Url { .. } => Usage(error.to_string()).into(),
        failed => anyhow::Error::new(failed),
    })?;
    let now = Timestamp::now().seconds();
    let pasts = stored_past::pasts(&mut *store, &web)?;
    let visits = pasts.values().filter_map(|past| past.visits.first());
    let Some(since) = visits.map(|seen| seen.at).min_by(f64::total_cmp) else {
        bail!(
            "`{}` holds no page of the web at `{}`; crawl it first, or name another store with --store",
            path.display(),
            arguments.truth
        );
    };
    let is_recorded = web.iter().any(|witness| matches!(witness.source, TruthSource::Recording(_)));
    let mut ask = JudgedTexts {
        // A recorded page has no noise of ours to be cut out.
        held: &mut |version| {
            let read = if is_recorded { stored_past::text } else { stored_past::held_text };
            Ok::<_, anyhow::Error>(read(&mut *store, version)?)
        },
        history: &mut |witness, path| Ok(runtime.block_on(asker.history(witness, path, now))?),
        text: &mut |witness, path, at| Ok(runtime.block_on(asker.text(witness, path, at))?),
    };
    let scores = judge(&web, &pasts, since, now, &mut ask)?;
    let text =
        if global.json { as_json(&scores, &web, since, now)? } else { as_text(&scores, &web, since, now) };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(scores: &WebScores, web: &[Witness], since: f64, now: f64) -> anyhow::Result<String> {
    let score = json!({
        "since": since,
        "at": now,
        "moments": MOMENTS,
        "day_seconds": web.first().map(|witness| witness.clock.day.as_secs_f64()),
        "all": scores.all,
        "sites": scores.sites,
        "behaviours": scores.behaviours,
        "curve": scores.curve,
    });
    Ok(serde_json::to_string_pretty(&score)? + "\n")
}

fn as_text(scores: &WebScores, web: &[Witness], since: f64, now: f64) -> String {
    let day = web.first().map_or(Duration::ZERO, |witness| witness.clock.day);
    let past = Duration::try_from_secs_f64(now - since).unwrap_or_default();
    let groups = || [&scores.all].into_iter().chain(&scores.sites).chain(&scores.behaviours);
    let days = if day.is_zero() { 0.0 } else { past.as_secs_f64() / day.as_secs_f64() };
    format!(
        "Now\n{}\nOver the past {} ({days:.1} days of the web), mean of {MOMENTS} moments\n{}",
        table(groups(), |group| &group.now),
        span(past),
        table(groups(), |group| &group.past),
    )
}

fn table<'a>(
    groups: impl Iterator<Item = &'a ScoreGroup>,
    of: impl Fn(&ScoreGroup) -> &ScoreFigures,
) -> String {
    let mut table = Table::new(&[
        ("", Align::Left),
        ("living", Align::Right),
        ("held", Align::Right),
        ("fresh", Align::Right),
        ("staleness", Align::Right),
        ("age", Align::Right),
        ("missed", Align::Right),
        ("found after", Align::Right),
        ("dead", Align::Right),
        ("still held", Align::Right),
    ]);
    let none = || "-".to_owned();
    let percent = |share: Option<f64>| share.map_or_else(none, freshet::report::percent);
    let time = |seconds: Option<f64>| {
        let span_of = |seconds| Duration::try_from_secs_f64(seconds).ok().map(span);
        seconds.and_then(span_of).unwrap_or_else(none)
    };
    // Means over the past are seldom whole.
    let count = |mean: f64| {
        if mean.fract() == 0.0 { number(mean as u64) } else { format!("{mean:.1}") }
    };
    for group in groups {
        let figures = of(group);
        table.row([
            group.name.clone(),
            count(figures.living),
            percent(figures.coverage),
            percent(figures.freshness),
            figures.staleness.map_or_else(none, |staleness| format!("{staleness:.3}")),
            time(figures.age_seconds),
            count(figures.missed),
            time(figures.discovery_seconds),
            count(figures.dead),
            percent(figures.dead_held),
        ]);
    }
    table.render()
}
