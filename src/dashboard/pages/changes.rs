//! What happened to the pages: newest or largest first, filtered; the same as feeds.

use std::time::{Duration, Instant};

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::dashboard::Dashboard;
use crate::dashboard::links::{self, Href};
use crate::dashboard::list::{ListFoot, ROWS};
use crate::dashboard::shown::{Foreign, Moment};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::LookError;
use crate::look::changes::{Changes, ChangesWanted, FoundEvent, KeptOut, ManyNew, WantedHost};
use crate::look::hosts::must_be_known;
use crate::look::largest::largest;
use crate::look::when::{MOMENT_FORMS, moment};
use crate::observation::EventKind;
use crate::report::changes::{detail, kept_out};
use crate::report::number;
use crate::store::{EventPlace, Store};
use crate::time::Timestamp;

use super::{PageFrame, drawn};

/// New pages of a cycle that are listed; more are counted.
const MOST_NEW: usize = 20;

/// Longest time for all differences of a page; what is not compared then counts as replaced.
const DIFF_TIME: Duration = Duration::from_secs(3);

/// Since when, unless it is asked otherwise.
const SINCE: &str = "7d";

/// What can be asked of the list.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ChangesQuery {
    pub since: Option<String>,
    pub kind: Option<String>,
    pub host: Option<String>,
    pub min_divergence: Option<String>,
    pub lasting: Option<String>,
    pub order: Option<String>,
    pub limit: Option<usize>,
    pub after: Option<String>,
    pub back: Option<String>,
}

impl ChangesQuery {
    /// The same as a question to the store.
    pub(crate) fn wanted(
        &self,
        site: &Dashboard,
        now: Timestamp,
        most: usize,
    ) -> Result<ChangesWanted, Trouble> {
        let since = given(&self.since).unwrap_or(SINCE);
        let since = moment(since, now, &site.settings().zone)
            .ok_or_else(|| Trouble::BadQuery(format!("`since` is `{since}`; {MOMENT_FORMS}")))?;
        let kinds = given(&self.kind).into_iter().flat_map(|kinds| kinds.split(','));
        let kinds = kinds.map(|name| {
            EventKind::from_name(name.trim()).ok_or_else(|| {
                let all = EventKind::ALL.map(EventKind::name).join(", ");
                Trouble::BadQuery(format!("`kind` is `{name}`; there are {all}"))
            })
        });
        let host = given(&self.host).map(|host| {
            WantedHost::parse(host).ok_or_else(|| {
                Trouble::BadQuery(
                    "`host` is no host; write it like `example.org`, or `example.org:8080`".to_owned(),
                )
            })
        });
        let min_divergence = given(&self.min_divergence).map_or(Some(0.0), |text| text.parse().ok());
        let min_divergence = min_divergence
            .filter(|least| (0.0..=1.0).contains(least))
            .ok_or_else(|| Trouble::BadQuery("`min_divergence` must be a number from 0 to 1".to_owned()))?;
        Ok(ChangesWanted {
            since,
            kinds: kinds.collect::<Result<_, _>>()?,
            host: host.transpose()?,
            min_divergence,
            lasting: is_yes(&self.lasting),
            unread: false,
            most,
            most_new: None,
            fragment_words: site.settings().observer.change.fragment_words,
        })
    }

    /// Whether the largest come first.
    pub(crate) fn is_by_size(&self) -> Result<bool, Trouble> {
        match given(&self.order) {
            None | Some("newest") => Ok(false),
            Some("largest") => Ok(true),
            Some(other) => {
                Err(Trouble::BadQuery(format!("`order` is `{other}`; it can be `newest` or `largest`")))
            }
        }
    }

    /// The address of the list with these filters.
    fn href(&self, path: &str) -> Href {
        Href::to(path)
            .with_some("since", given(&self.since))
            .with_some("kind", given(&self.kind))
            .with_some("host", given(&self.host))
            .with_some("min_divergence", given(&self.min_divergence))
            .with_some("lasting", is_yes(&self.lasting).then_some("yes"))
            .with_some("order", given(&self.order))
    }
}

/// A parameter that is there and not empty: forms send empty ones too.
pub(crate) fn given(parameter: &Option<String>) -> Option<&str> {
    parameter.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

/// A box that is ticked.
pub(crate) fn is_yes(parameter: &Option<String>) -> bool {
    matches!(given(parameter), Some("yes" | "true" | "1" | "on"))
}

/// A part of the list, and where it goes on.
pub(crate) struct ChangesPart {
    pub found: Vec<FoundEvent>,
    pub many_new: Vec<ManyNew>,
    pub kept_out: KeptOut,
    pub next: Option<String>,
    pub is_cut: bool,
}

/// Reads a part of the list behind `after`.
pub(crate) fn part(
    store: &mut dyn Store,
    site: &Dashboard,
    wanted: &ChangesWanted,
    (named, by_size, after): (Option<&str>, bool, Option<&str>),
) -> Result<Result<ChangesPart, Trouble>, LookError> {
    if let (Some(host), Some(named)) = (&wanted.host, named) {
        must_be_known(store, host, named)?;
    }
    let (observer, deadline) = (&site.settings().observer, Instant::now() + DIFF_TIME);
    let bad = || {
        Trouble::BadQuery(
            "`after` is no place in the list; take the one that the page before names".to_owned(),
        )
    };
    if by_size {
        let Ok(skip) = after.map_or(Ok(0), str::parse) else { return Ok(Err(bad())) };
        let part = largest(store, observer, wanted, skip, deadline)?;
        let next = part.next.map(|next| next.to_string());
        let (found, kept_out, is_cut) = (part.found, part.kept_out, part.is_cut);
        return Ok(Ok(ChangesPart { found, many_new: Vec::new(), kept_out, next, is_cut }));
    }
    let place = match after.map(place) {
        None => None,
        Some(Some(place)) => Some(place),
        Some(None) => return Ok(Err(bad())),
    };
    let one_more = ChangesWanted { most: wanted.most.saturating_add(1), ..wanted.clone() };
    let mut changes = Changes::find(store, observer, &one_more)?;
    if let Some(place) = place {
        changes = changes.behind(place);
    }
    let mut found = Vec::new();
    while let Some(event) = changes.next(deadline)? {
        found.push(event);
    }
    let has_more = found.len() > wanted.most;
    found.truncate(wanted.most);
    let last = found.last().filter(|_| has_more).map(|last| last.event.place());
    let next = last.map(|place| format!("{}.{}", place.at.millis(), place.observation));
    let many_new = if after.is_none() { changes.many_new().to_vec() } else { Vec::new() };
    Ok(Ok(ChangesPart { found, many_new, kept_out: changes.kept_out(), next, is_cut: false }))
}

fn place(text: &str) -> Option<EventPlace> {
    let (at, observation) = text.split_once('.')?;
    Some(EventPlace { at: Timestamp::from_millis(at.parse().ok()?), observation: observation.parse().ok()? })
}

#[derive(Template)]
#[template(path = "changes.html", config = "src/dashboard/askama.toml")]
struct ChangesPage {
    frame: PageFrame,
    since: String,
    host: String,
    min_divergence: String,
    only_lasting: bool,
    by_size: bool,
    kinds: Vec<(&'static str, &'static str, bool)>,
    atom: String,
    json: String,
    rows: Vec<ChangeRow>,
    many_new: Vec<String>,
    kept_out: Option<String>,
    is_cut: bool,
    foot: ListFoot,
}

struct ChangeRow {
    at: Moment,
    kind: &'static str,
    title: String,
    url: String,
    href: String,
    divergence: Option<String>,
    words: Option<String>,
    added: Vec<String>,
    removed: Vec<String>,
    detail: String,
}

/// The page.
pub(crate) async fn changes(
    State(site): State<Dashboard>,
    Asked(asked): Asked<ChangesQuery>,
) -> Result<Response, Trouble> {
    let (now, screen) = (site.now(), site.screen());
    let by_size = asked.is_by_size()?;
    let mut wanted = asked.wanted(&site, now, ROWS as usize)?;
    // Who asks for new pages gets them all.
    wanted.most_new = wanted.kinds.is_empty().then_some(MOST_NEW);
    let kind = wanted.kinds.first().copied().filter(|_| wanted.kinds.len() == 1);
    let (asker, question) = (site.clone(), asked.clone());
    let found = site.look(move |store| {
        let (named, after) = (given(&question.host), given(&question.after));
        part(store, &asker, &wanted, (named, by_size, after))
    });
    let part = found.await??;
    let here = asked.href("/changes");
    let kinds = EventKind::ALL.map(|one| (one.name(), one.words(), Some(one) == kind));
    drawn(&ChangesPage {
        frame: PageFrame::new(&site, "/changes", "Changes"),
        since: given(&asked.since).unwrap_or(SINCE).to_owned(),
        host: asked.host.clone().unwrap_or_default(),
        min_divergence: asked.min_divergence.clone().unwrap_or_default(),
        only_lasting: is_yes(&asked.lasting),
        by_size,
        kinds: kinds.to_vec(),
        atom: asked.href("/changes.atom").written(),
        json: asked.href("/changes.json").written(),
        rows: part
            .found
            .iter()
            .map(|found| ChangeRow::of(found, Moment::new(found.event.at, now, &screen)))
            .collect(),
        many_new: part.many_new.iter().map(many_line).collect(),
        kept_out: kept_out(part.kept_out),
        is_cut: part.is_cut,
        foot: ListFoot::new(&here, given(&asked.after), given(&asked.back), part.next.as_deref()),
    })
}

fn many_line(many: &ManyNew) -> String {
    format!("{} new pages in cycle {}", number(many.pages), many.cycle.0)
}

impl ChangeRow {
    fn of(found: &FoundEvent, at: Moment) -> Self {
        let event = &found.event;
        let is_change = event.changed == Some(true);
        Self {
            at,
            kind: event.kind.words(),
            title: event
                .title
                .clone()
                .filter(|title| !title.trim().is_empty())
                .unwrap_or_else(|| event.url.clone()),
            url: event.url.clone(),
            href: links::page(event.page_id),
            divergence: event.divergence.map(|apart| format!("{apart:.3}")),
            words: is_change.then(|| format!("+{} −{}", found.words_added, found.words_removed)),
            added: found.added.clone(),
            removed: found.removed.clone(),
            detail: if is_change && !found.added.is_empty() { String::new() } else { detail(found) },
        }
    }
}
