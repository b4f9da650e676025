//! `freshet score`: the store compared with the true state of a web that is up.

use std::collections::HashMap;
use std::process::ExitCode;

use anyhow::bail;
use serde::Serialize;

use freshet::model_web::judge::score::{MOMENTS, WebScores};
use freshet::model_web::judge::search_quality::{SearchJudge, SearchQuality};
use freshet::model_web::judge::stored_past;
use freshet::model_web::judge::truth_client::{TruthClient, TruthError};
use freshet::model_web::judge::{JudgedTexts, TruthSource, judge};
use freshet::quality::scoring::Scoring;
use freshet::report;
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{Global, ScoreArgs};
use crate::queries;
use crate::settings::{Settings, Usage};
use crate::terminal::{Talk, json, print};
use crate::threads;

/// The scores of a store, as JSON has them.
#[derive(Serialize)]
struct StoreScores<'a> {
    /// The first visit.
    since_at: Timestamp,
    /// Now.
    at: Timestamp,
    moments: usize,
    day_seconds: Option<f64>,
    #[serde(flatten)]
    scores: &'a WebScores,
    /// The quality of search results now, if queries are given.
    search_quality: Option<&'a SearchQuality>,
}

pub(crate) fn run(global: &Global, arguments: &ScoreArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &arguments.flags.0)?;
    let searched = queries::given(&settings, Some(talk))?;
    let path = settings.store;
    let mut store = store::open_to_look(&path)?;
    let runtime = threads::this_one()?;
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
            "`{}` has no page of the web at `{}`; crawl it first, or name another store with --store",
            path.display(),
            arguments.truth
        );
    };
    let is_recorded = web.iter().any(|witness| matches!(witness.source, TruthSource::Recording(_)));
    let inlinks = match &searched {
        Some(searched) if searched.scoring == Scoring::Inlinks => stored_past::inlinks(&mut *store)?,
        _ => HashMap::new(),
    };
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
    let search_quality = match &searched {
        Some(searched) => Some(SearchJudge::new(searched, inlinks).quality_at(&web, &pasts, now, &mut ask)?),
        None => None,
    };
    let search_quality = search_quality.as_ref();
    let day = web.first().map(|witness| witness.clock.day);
    print(&if global.json {
        let day_seconds = day.map(|day| day.as_secs_f64());
        let moment = |seconds: f64| Timestamp::from_millis((seconds * 1000.0) as i64);
        let (since_at, at) = (moment(since), moment(now));
        json(&StoreScores { since_at, at, moments: MOMENTS, day_seconds, scores: &scores, search_quality })?
    } else {
        let found = search_quality.map_or_else(String::new, report::scores::search_quality);
        report::scores::scores(&scores, day.unwrap_or_default(), since, now) + &found
    })
}
