//! The text of a page as it was: a stored version by its number, or the one that was there at a moment.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Deserialize;

use crate::dashboard::Dashboard;
use crate::dashboard::links::{self, Href};
use crate::dashboard::shown::{Foreign, tab};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::page_view::url_of;
use crate::look::show::{ShownVersion, show};
use crate::look::versions::{VersionSpan, versions_of};
use crate::look::when::{MOMENT_FORMS, moment};
use crate::report::text_part::{PART_BYTES, TextPart};
use crate::report::{Screen, bytes, number};
use crate::time::Timestamp;

use super::page::numbered;
use super::{PageFrame, drawn};

/// What can be asked of a text.
#[derive(Deserialize)]
pub(crate) struct TextQuery {
    /// The version with this number.
    v: Option<usize>,
    /// The version that was there at this moment.
    at: Option<String>,
    /// This part of a long text.
    part: Option<usize>,
}

#[derive(Template)]
#[template(path = "page_text.html", config = "src/dashboard/askama.toml")]
struct TextOfAPage {
    frame: PageFrame,
    page: String,
    url: String,
    title: Option<String>,
    facts: Vec<(&'static str, String)>,
    /// Its number among the versions, and the number of the last one.
    number: usize,
    last: usize,
    /// The moment that was asked for, as the form has it.
    at: String,
    previous: Option<String>,
    next: Option<String>,
    lines: Vec<String>,
    part: usize,
    parts: usize,
    previous_part: Option<String>,
    next_part: Option<String>,
}

/// The text of a version.
pub(crate) async fn text(
    State(site): State<Dashboard>,
    Path(id): Path<String>,
    Asked(asked): Asked<TextQuery>,
) -> Result<Response, Trouble> {
    let id = numbered(&id)?;
    let (screen, asker) = (site.screen(), site.clone());
    let written = asked.at.clone().unwrap_or_default();
    let at = match written.trim() {
        "" => None,
        at => Some(
            moment(at, site.now(), &screen.zone)
                .ok_or_else(|| Trouble::BadQuery(format!("`{at}` is no moment; {MOMENT_FORMS}")))?,
        ),
    };
    let (shown, held, version) = site
        .look(move |store| {
            let normaliser = &asker.settings().observer.normaliser;
            let url = url_of(store, id)?;
            let held = versions_of(store, normaliser, &url)?;
            let version = chosen(&held, asked.v, at);
            let at = version.map(|held| held.confirmed_at).or(at);
            let shown = show(store, normaliser, &url, at)?;
            Ok((shown, held.len(), version))
        })
        .await?;
    let part = TextPart::of(&shown.text, asked.part.unwrap_or(1), PART_BYTES);
    let (page, number) = (links::page(id), version.map_or(held, |version| version.number));
    let text = |number: usize| Href::to(format!("{page}/text")).with("v", number);
    let of_part = |number_of_part: usize| text(number).with("part", number_of_part).written();
    let name = shown.title.clone().unwrap_or_else(|| shown.url.clone());
    drawn(&TextOfAPage {
        frame: PageFrame::new(&site, "/pages", format!("Text of {}", tab(&name))),
        facts: facts(&shown, &screen),
        at: written,
        previous: (number > 1).then(|| text(number - 1).written()),
        next: (number < held).then(|| text(number + 1).written()),
        previous_part: (part.number > 1).then(|| of_part(part.number - 1)),
        next_part: (part.number < part.parts).then(|| of_part(part.number + 1)),
        title: shown.title,
        url: shown.url,
        last: held,
        lines: part.lines,
        part: part.number,
        parts: part.parts,
        number,
        page,
    })
}

/// The version with that number, or the one that was there at that moment; the last one if neither is asked for.
fn chosen(held: &[VersionSpan], number: Option<usize>, at: Option<Timestamp>) -> Option<VersionSpan> {
    let is_meant = |one: &&VersionSpan| match (number, at) {
        (Some(number), _) => one.number <= number,
        (None, Some(at)) => one.found_at <= at,
        (None, None) => true,
    };
    held.iter().rev().find(is_meant).copied()
}

fn facts(shown: &ShownVersion, screen: &Screen) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("found", screen.time(shown.fetched_at)),
        ("last found so", screen.time(shown.confirmed_at)),
        ("size", format!("{} ({} bytes)", bytes(shown.body_bytes), number(shown.body_bytes))),
        ("type", shown.content_type.clone().unwrap_or_else(|| "not known".to_owned())),
    ];
    facts.extend(shown.status.map(|status| ("HTTP status", status.to_string())));
    facts.push(("SHA-256", shown.sha256.clone()));
    facts
}
