//! The expected quality of search results, drawn as tables.

use std::time::Duration;

use super::{Align, Screen, Shorten, Table, counted, number, percent, rate, span};
use crate::look::quality::QualityEstimate;

/// The estimate, the queries whose results are most likely out of date, and the pages to visit for it.
pub fn quality(estimate: &QualityEstimate, screen: &Screen) -> String {
    let mut text = match estimate.estimated_quality {
        Some(quality) => format!("Estimated quality of search results: {quality:.4} of 1\n"),
        None => "No query finds a page: there is no quality to estimate\n".to_owned(),
    };
    text += &format!(
        "{} of {} find something among {}, ranked by {}\n",
        number(estimate.answered_query_count as u64),
        if estimate.query_count == 1 {
            "1 query".to_owned()
        } else {
            format!("{} queries", number(estimate.query_count as u64))
        },
        counted(estimate.searched_pages, "page"),
        estimate.scoring.name(),
    );
    if estimate.estimated_quality.is_none() {
        return text;
    }
    text += &format!(
        "{} {} found by a query; of {} the index has measured what refreshes gain, of the others the chance of a change counts\n",
        counted(estimate.found_page_count, "page"),
        if estimate.found_page_count == 1 { "is" } else { "are" },
        number(estimate.measured_page_count as u64),
    );
    if !estimate.stale_queries.is_empty() {
        text += "\nQueries whose results are most likely out of date\n";
        text += &queries(estimate, screen);
    }
    if !estimate.best_visits.is_empty() {
        text += "\nPages where a visit would gain most\n";
        text += &pages(estimate, screen);
    }
    text
}

fn queries(estimate: &QualityEstimate, screen: &Screen) -> String {
    let heads = [
        ("asked", Align::Right),
        ("found", Align::Right),
        ("changed", Align::Right),
        ("query", Align::Left),
        ("best result", Align::Left),
    ];
    let mut table = Table::new(&heads).shorten("best result", Shorten::Middle).shorten("query", Shorten::End);
    for query in &estimate.stale_queries {
        table.row([
            rate(query.frequency),
            number(query.match_count as u64),
            percent(query.changed_share),
            query.query.clone(),
            query.best_url.clone(),
        ]);
    }
    table.fitted(screen.width)
}

fn pages(estimate: &QualityEstimate, screen: &Screen) -> String {
    let heads = [
        ("gain", Align::Right),
        ("by", Align::Left),
        ("seen", Align::Right),
        ("changed", Align::Right),
        ("words", Align::Left),
        ("page", Align::Left),
    ];
    let mut table = Table::new(&heads).shorten("page", Shorten::Middle).shorten("words", Shorten::End);
    for page in &estimate.best_visits {
        table.row([
            format!("{:.5}", page.quality_gain),
            if page.is_measured { "refreshes" } else { "chance" }.to_owned(),
            span(Duration::try_from_secs_f64(page.age_seconds.max(0.0)).unwrap_or_default()),
            percent(page.change_probability),
            page.search_words.join(", "),
            page.url.clone(),
        ]);
    }
    table.fitted(screen.width)
}
