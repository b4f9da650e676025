//! `freshet score`: the store, held against the truth of a web that is up.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use freshet::evolving_web::ask::{self, AskError};
use freshet::evolving_web::judge::{Pasts, Witness, judge};
use freshet::evolving_web::score::{Figures, Group, MOMENTS, Past, Scores, Seen, What};
use freshet::evolving_web::truth;
use freshet::report::{Align, Table, number, span};
use freshet::store::sqlite::SqliteStore;
use freshet::store::{PageFilter, Store, StoreError, VersionId, VisitRow};
use freshet::time::Timestamp;

use crate::cli::{Global, ScoreArgs};
use crate::settings::{Settings, Usage};

pub fn run(global: &Global, arguments: &ScoreArgs) -> anyhow::Result<ExitCode> {
    let path = Settings::store(global)?;
    let mut store = SqliteStore::open_to_look(&path)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the asynchronous runtime could not be started")?;
    let web = runtime.block_on(ask::web(&arguments.truth)).map_err(|error| match error {
        AskError::Url { .. } => Usage(error.to_string()).into(),
        failed => anyhow::Error::new(failed),
    })?;
    let now = seconds(Timestamp::now());
    let pasts = pasts(&mut store, &web)?;
    let visits = pasts.values().filter_map(|past| past.visits.first());
    let Some(since) = visits.map(|seen| seen.at).min_by(f64::total_cmp) else {
        bail!(
            "`{}` holds no page of the web at `{}`; crawl it first, or name another store with --store",
            path.display(),
            arguments.truth
        );
    };
    let mut read = |version| held_text(&mut store, version);
    let scores = judge(&web, &pasts, since, now, &mut read)?;
    let text =
        if global.json { as_json(&scores, &web, since, now)? } else { as_text(&scores, &web, since, now) };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn seconds(moment: Timestamp) -> f64 {
    moment.millis() as f64 / 1000.0
}

/// What the store remembers of the web's pages.
fn pasts(store: &mut dyn Store, web: &[Witness]) -> Result<Pasts, StoreError> {
    let prefixes: Vec<String> = web.iter().map(|witness| format!("{}/", witness.origin)).collect();
    let mut pages = HashMap::new();
    let filter = PageFilter { aliases: true, ..PageFilter::default() };
    store.list_pages(&filter, &mut |row| {
        if prefixes.iter().any(|prefix| row.url.starts_with(prefix)) {
            let past = Past { found_at: seconds(row.found_at), visits: Vec::new() };
            pages.insert(row.id, (row.url, past));
        }
    })?;
    store.each_visit(&mut |row| {
        if let (Some((_, past)), Some(what)) = (pages.get_mut(&row.page.0), what(&row)) {
            past.visits.push(Seen { at: seconds(row.at), what });
        }
    })?;
    Ok(pages.into_values().collect())
}

/// What a visit did to what is held; one that failed did nothing.
fn what(row: &VisitRow) -> Option<What> {
    match (row.outcome.as_str(), row.version) {
        ("fetched", Some(version)) => Some(What::Read(version)),
        ("not-modified", Some(version)) => Some(What::Confirmed(version)),
        ("missing" | "moved" | "redirected", _) => Some(What::Lost),
        _ => None,
    }
}

fn held_text(store: &mut dyn Store, version: VersionId) -> Result<String, StoreError> {
    let found = store.version(version)?;
    let found =
        found.ok_or_else(|| StoreError::BadValue(format!("version {}, which is not there", version.0)))?;
    Ok(truth::held_text(&found.body, found.text))
}

fn as_json(scores: &Scores, web: &[Witness], since: f64, now: f64) -> anyhow::Result<String> {
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

fn as_text(scores: &Scores, web: &[Witness], since: f64, now: f64) -> String {
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

fn table<'a>(groups: impl Iterator<Item = &'a Group>, of: impl Fn(&Group) -> &Figures) -> String {
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
    let percent = |share: Option<f64>| share.map_or_else(none, |share| format!("{:.1} %", 100.0 * share));
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
