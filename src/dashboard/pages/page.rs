//! A page: how it moved, how far it moves as a copy ages, how often it changes, its versions side by side, its visits.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::dashboard::Dashboard;
use crate::dashboard::links::{self, Href};
use crate::dashboard::shown::{Foreign, MixedText, tab};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::curve::MeasuredPoint;
use crate::look::estimates::PageEstimates;
use crate::look::history::PageHistory;
use crate::look::page::find;
use crate::look::page_view::{PageView, page_view, url_of};
use crate::report::curve_plot::{curve_in_words, curve_plot};
use crate::report::rate_bar::RateScale;
use crate::report::stripe_chart::stripe_chart;
use crate::report::{Screen, counted, number, percent, rate, span};
use crate::time::Timestamp;

use super::page_versions::{PageVersions, Picked, compared};
use super::visit_rows::{StripPart, VisitTableRow, visit_lines};
use super::{PageFrame, drawn};

/// Visits that the strip shows, and those of them that stand in the table.
const STRIP: usize = 60;
const VISITS: usize = 20;
/// Points of a curve that the table lists, the latest.
const MOST_POINTS: usize = 40;

/// What can be asked of a page by its address.
#[derive(Deserialize)]
pub(crate) struct UrlQuery {
    url: String,
}

#[derive(Template)]
#[template(path = "page.html", config = "src/dashboard/askama.toml")]
struct PageOfAPage {
    frame: PageFrame,
    url: String,
    /// The address, if a browser may follow it.
    out: Option<String>,
    title: Option<String>,
    /// What is told of it in sentences.
    sentences: Vec<String>,
    facts: Vec<(&'static str, String)>,
    site: Option<(String, String)>,
    found_on: Option<String>,
    spellings: Vec<String>,
    text_href: Option<String>,
    why_href: String,
    strip: Option<StripPart>,
    stripes: Option<String>,
    behaviour: Vec<String>,
    curve: Option<CurvePart>,
    rates: Vec<RateRow>,
    rate_ends: (String, String),
    versions: Option<PageVersions>,
    visits: Vec<VisitTableRow>,
    visits_href: Option<String>,
    visit_count: String,
}

/// The divergence curve, as a picture, in words and in numbers.
struct CurvePart {
    svg: String,
    sentences: Vec<String>,
    points: Vec<[String; 3]>,
}

/// A rate, by one estimator.
struct RateRow {
    estimator: &'static str,
    bar: String,
    numbers: [String; 3],
    every: String,
}

/// A page by its address: leads to its page by number, which has a short address whatever the URL.
pub(crate) async fn by_url(
    State(site): State<Dashboard>,
    Asked(asked): Asked<UrlQuery>,
) -> Result<Response, Trouble> {
    let asker = site.clone();
    let id = site
        .look(move |store| Ok(find(store, &asker.settings().observer.normaliser, &asked.url)?.id))
        .await?;
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, links::page(id))]).into_response())
}

/// The number of a page, as it stands in an address.
pub(super) fn numbered(id: &str) -> Result<i64, Trouble> {
    id.parse().map_err(|_| Trouble::NotFound("pages have numbers; `/pages` lists them".to_owned()))
}

/// The page of a page.
pub(crate) async fn page(
    State(site): State<Dashboard>,
    Path(id): Path<String>,
    Asked(picked): Asked<Picked>,
) -> Result<Response, Trouble> {
    let id = numbered(&id)?;
    let (now, screen, asker) = (site.now(), site.screen(), site.clone());
    let (view, versions) = site
        .look(move |store| {
            let observer = &asker.settings().observer;
            let url = url_of(store, id)?;
            let words = observer.change.fragment_words;
            let view = page_view(store, &observer.normaliser, &url, words, STRIP, now)?;
            let versions = compared(store, observer, &view, picked, &asker.screen())?;
            Ok((view, versions))
        })
        .await?;
    drawn(&PageOfAPage::of(&site, view, versions, now, &screen))
}

impl PageOfAPage {
    fn of(
        site: &Dashboard,
        view: PageView,
        versions: Option<PageVersions>,
        now: Timestamp,
        screen: &Screen,
    ) -> Self {
        let PageView { asked, page_id, host, history, curve, estimates } = view;
        let name = history.title.as_deref().unwrap_or(&history.url);
        let tab = tab(name);
        let curve = curve.map(|found| CurvePart {
            svg: curve_plot(&found).svg_in_page(),
            sentences: curve_in_words(&found),
            points: points(&found.points),
        });
        let (rates, rate_ends) = rates(estimates);
        let mut sentences = Vec::new();
        if asked.alias_of.is_some() {
            sentences.push(format!("{} is another spelling of this page, which stands for it.", asked.url));
        }
        sentences.extend(
            history.host_reason.as_ref().map(|why| format!("Its host waits, or waited last: {why}.")),
        );
        let latest = history.visits.len().saturating_sub(VISITS);
        let visits = visit_lines(history.visits.get(latest..).unwrap_or_default(), screen);
        Self {
            frame: PageFrame::new(site, "/pages", tab),
            out: Some(history.url.clone()).filter(|url| url.starts_with("http")),
            facts: facts(&history, now),
            site: host.map(|host| (links::site(&host), host)),
            found_on: history.found_on.clone(),
            spellings: history.spellings.iter().map(|other| other.url.clone()).collect(),
            text_href: versions.as_ref().map(|_| links::page(page_id) + "/text"),
            why_href: links::page(page_id) + "/why",
            strip: StripPart::of_page(&history.visits, screen),
            stripes: stripe_chart(&history.lives, &history.times, &screen.zone),
            behaviour: behaviour(&history),
            visits_href: (history.visit_count > VISITS)
                .then(|| Href::to(links::page(page_id) + "/visits").written()),
            visit_count: number(history.visit_count as u64),
            visits,
            url: history.url,
            title: history.title,
            sentences,
            curve,
            rates,
            rate_ends,
            versions,
        }
    }
}

fn facts(history: &PageHistory, now: Timestamp) -> Vec<(&'static str, String)> {
    let ago = |at: Timestamp| format!("{} ago", span(now.after(at)));
    let mut facts = vec![
        ("state", history.state.clone()),
        ("visits", number(history.visit_count as u64)),
        ("changes", number(history.change_count as u64)),
        ("known since", ago(history.known_since)),
    ];
    if let Some(last) = history.visits.last() {
        facts.push(("last visit", ago(last.at)));
    }
    if let Some(behaviour) = history.behaviour {
        facts.push(("behaviour", behaviour.to_string()));
    }
    facts
}

/// What the lives of its fragments say of a page.
fn behaviour(history: &PageHistory) -> Vec<String> {
    let mut told = Vec::new();
    if let (Some(behaviour), Some(shares)) = (history.behaviour, history.shares) {
        told.push(format!(
            "By its fragments it is {behaviour}: {} static, {} churn, {} scroll.",
            percent(shares.static_share),
            percent(shares.churn),
            percent(shares.scroll)
        ));
    }
    if let Some(seconds) = history.longevity_seconds {
        let mean = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default();
        told.push(format!(
            "A fragment lives {} on average: the mean of {} that were seen to come and to go.",
            span(mean),
            number(history.fragment_counts.whole as u64)
        ));
    }
    if history.unread_snapshots > 0 {
        told.push(format!(
            "These are its latest {}; {} before them were not read for this page (`freshet history` reads all).",
            counted(history.times.len(), "snapshot"),
            number(history.unread_snapshots as u64)
        ));
    }
    told
}

fn points(points: &[MeasuredPoint]) -> Vec<[String; 3]> {
    let skipped = points.len().saturating_sub(MOST_POINTS);
    let row = |point: &MeasuredPoint| {
        let age = std::time::Duration::try_from_secs_f64(point.age_days * 86_400.0).unwrap_or_default();
        [span(age), format!("{:.3}", point.divergence), format!("{:.0}", point.measurements)]
    };
    points.iter().skip(skipped).map(row).collect()
}

fn rates(found: Option<PageEstimates>) -> (Vec<RateRow>, (String, String)) {
    let Some(found) = found else { return Default::default() };
    let scale = RateScale::of(found.estimates.0.iter().map(|(_, estimate)| estimate));
    let rows = found.estimates.0.iter().map(|(estimator, estimate)| {
        let a_day = estimate.rate.get();
        let every = std::time::Duration::try_from_secs_f64(86_400.0 / a_day).ok();
        RateRow {
            estimator,
            bar: scale.bar(estimate),
            numbers: [a_day, estimate.low.get(), estimate.high.get()].map(rate),
            every: every.filter(|_| a_day > 0.0).map_or("never".to_owned(), span),
        }
    });
    let (from, to) = scale.ends();
    (rows.collect(), (rate(from), rate(to)))
}
