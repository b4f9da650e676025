//! How a store compares with the true state of a web, drawn as tables.

use std::time::Duration;

use crate::model_web::judge::score::{MOMENTS, ScoreFigures, ScoreGroup, WebScores};
use crate::model_web::judge::search_quality::SearchQuality;

use super::{Align, Table, number, span};

/// The scores now, and on average since `since`; times in seconds since 1970. `day`: how long a day of the web lasts.
pub fn scores(scores: &WebScores, day: Duration, since: f64, now: f64) -> String {
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

/// The quality of search results, in a line.
pub fn search_quality(found: &SearchQuality) -> String {
    let queries = if found.queries == 1 { "query has" } else { "queries have" };
    format!(
        "\nSearch results now: quality {} of 1 (Pandey & Olston 2005, eq. 5); {} of {} {queries} results, ranked by {}\n",
        found.quality.map_or_else(|| "-".to_owned(), |quality| format!("{quality:.4}")),
        number(found.answered as u64),
        number(found.queries as u64),
        found.scoring.name(),
    )
}

fn table<'a>(
    groups: impl Iterator<Item = &'a ScoreGroup>,
    of: impl Fn(&ScoreGroup) -> &ScoreFigures,
) -> String {
    let mut table = Table::new(&[
        ("", Align::Left),
        ("living", Align::Right),
        ("stored", Align::Right),
        ("fresh", Align::Right),
        ("staleness", Align::Right),
        ("weighted", Align::Right),
        ("age", Align::Right),
        ("missed", Align::Right),
        ("found after", Align::Right),
        ("dead", Align::Right),
        ("still stored", Align::Right),
    ]);
    let none = || "-".to_owned();
    let digits = |staleness: Option<f64>| staleness.map_or_else(none, |staleness| format!("{staleness:.3}"));
    let percent = |share: Option<f64>| share.map_or_else(none, super::percent);
    let time = |seconds: Option<f64>| {
        let span_of = |seconds| Duration::try_from_secs_f64(seconds).ok().map(span);
        seconds.and_then(span_of).unwrap_or_else(none)
    };
    // Means over the past are rarely whole.
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
            digits(figures.staleness),
            digits(figures.weighted_staleness),
            time(figures.age_seconds),
            count(figures.missed),
            time(figures.discovery_seconds),
            count(figures.dead),
            percent(figures.dead_held),
        ]);
    }
    table.render()
}
