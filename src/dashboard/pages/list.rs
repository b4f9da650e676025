//! Every page in a row: filtered, sorted, a part of the list at a time.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::dashboard::Dashboard;
use crate::dashboard::links::{self, Href};
use crate::dashboard::list::{ListColumn, ListFoot, ListHead, ROWS, heads, way};
use crate::dashboard::shown::{Foreign, Moment};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::fetch::visit::Outcome;
use crate::look::LookError;
use crate::look::pages::{in_state, pages as each_page, states};
use crate::look::when::{MOMENT_FORMS, moment};
use crate::report::{bytes, number};
use crate::store::{PageCursor, PageFilter, PageOrder, PageRow, Store};
use crate::time::Timestamp;

use super::changes::{given, is_yes};
use super::{PageFrame, drawn};

/// What the table shows, and by what it can be sorted.
const COLUMNS: [ListColumn; 9] = [
    ListColumn::text("url", "page"),
    ListColumn::text("", "state"),
    ListColumn::number("visits", "visits"),
    ListColumn::number("changes", "changes"),
    ListColumn::number("failures", "failures"),
    ListColumn::time("last-visit", "last visit"),
    ListColumn::number("bytes", "size"),
    ListColumn::number("weight", "weight"),
    ListColumn { key: "due", label: "due", is_number: false, is_falling: false },
];

/// Orders by their names in addresses.
const ORDERS: [(&str, PageOrder); 10] = [
    ("", PageOrder::Number),
    ("url", PageOrder::Url),
    ("changes", PageOrder::Changes),
    ("visits", PageOrder::Visits),
    ("failures", PageOrder::Failures),
    ("last-visit", PageOrder::LastVisit),
    ("found", PageOrder::Found),
    ("bytes", PageOrder::Bytes),
    ("weight", PageOrder::Weight),
    ("due", PageOrder::Due),
];

/// What can be asked of the list.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ListQuery {
    pub state: Option<String>,
    pub host: Option<String>,
    pub url: Option<String>,
    pub outcome: Option<String>,
    pub since: Option<String>,
    pub max_depth: Option<u32>,
    pub aliases: Option<String>,
    pub sort: Option<String>,
    pub after: Option<String>,
    pub back: Option<String>,
}

impl ListQuery {
    /// The same as a filter of the store, without a limit.
    pub(crate) fn filter(&self, site: &Dashboard, now: Timestamp) -> Result<PageFilter, Trouble> {
        let sort = given(&self.sort).unwrap_or_default();
        let (name, reversed) = way(sort);
        let order = ORDERS.iter().find(|(known, _)| *known == name).map(|(_, order)| *order);
        let order = order.ok_or_else(|| {
            let all: Vec<&str> =
                ORDERS.iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect();
            Trouble::BadQuery(format!("pages can't be sorted by `{sort}`; there are {}", all.join(", ")))
        })?;
        let since = given(&self.since).map(|text| {
            moment(text, now, &site.settings().zone)
                .ok_or_else(|| Trouble::BadQuery(format!("`since` is `{text}`; {MOMENT_FORMS}")))
        });
        let outcome = given(&self.outcome);
        if let Some(outcome) = outcome
            && !Outcome::codes().any(|code| code == outcome)
        {
            return Err(Trouble::BadQuery(format!(
                "there is no outcome `{outcome}`; docs/outcomes.md has them all"
            )));
        }
        let after = given(&self.after).map(|text| {
            text.parse::<PageCursor>().map_err(|error| Trouble::BadQuery(format!("`after`: {error}")))
        });
        let filter = PageFilter {
            host: given(&self.host).map(str::to_lowercase),
            url: given(&self.url).map(str::to_owned),
            outcome: outcome.map(str::to_owned),
            max_depth: self.max_depth,
            aliases: is_yes(&self.aliases),
            since: since.transpose()?,
            after: after.transpose()?,
            order,
            reversed,
            ..PageFilter::default()
        };
        let Some(state) = given(&self.state) else { return Ok(filter) };
        in_state(filter, state).ok_or_else(|| {
            let all: Vec<&str> = states().collect();
            Trouble::BadQuery(format!("there is no state `{state}`; there are {}", all.join(", ")))
        })
    }

    /// The address of the list with these filters.
    fn href(&self) -> Href {
        Href::to("/pages")
            .with_some("state", given(&self.state))
            .with_some("host", given(&self.host))
            .with_some("url", given(&self.url))
            .with_some("outcome", given(&self.outcome))
            .with_some("since", given(&self.since))
            .with_some("max_depth", self.max_depth)
            .with_some("aliases", is_yes(&self.aliases).then_some("yes"))
    }
}

/// A part of the list, and where it goes on.
pub(crate) fn part(
    store: &mut dyn Store,
    filter: &PageFilter,
    most: u64,
) -> Result<(Vec<PageRow>, Option<String>), LookError> {
    let filter = PageFilter { limit: Some(most.saturating_add(1)), ..filter.clone() };
    let mut rows = Vec::new();
    each_page(store, &filter, |row| {
        rows.push(row);
        Ok::<(), LookError>(())
    })?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let has_more = rows.len() > most;
    rows.truncate(most);
    let next = rows.last().filter(|_| has_more).map(|row| PageCursor::behind(row, filter.order).to_string());
    Ok((rows, next))
}

#[derive(Template)]
#[template(path = "pages.html", config = "src/dashboard/askama.toml")]
struct ListPage {
    frame: PageFrame,
    asked: ListQuery,
    states: Vec<(&'static str, bool)>,
    with_aliases: bool,
    heads: Vec<ListHead>,
    rows: Vec<PageLine>,
    foot: ListFoot,
}

struct PageLine {
    url: String,
    title: Option<String>,
    href: String,
    state: String,
    visits: String,
    changes: String,
    failures: u64,
    last_visit: Option<Moment>,
    size: String,
    weight: String,
    due: Option<Moment>,
    reason: Option<String>,
}

/// The page.
pub(crate) async fn pages(
    State(site): State<Dashboard>,
    Asked(asked): Asked<ListQuery>,
) -> Result<Response, Trouble> {
    let (now, screen) = (site.now(), site.screen());
    let filter = asked.filter(&site, now)?;
    let (rows, next) = site.look(move |store| part(store, &filter, ROWS)).await?;
    let moment = |at| Moment::new(at, now, &screen);
    let filters = asked.href();
    let sort = given(&asked.sort).unwrap_or_default().to_owned();
    let here = filters.clone().with_some("sort", Some(&sort));
    let state = given(&asked.state);
    drawn(&ListPage {
        frame: PageFrame::new(&site, "/pages", "Pages"),
        states: states().map(|name| (name, Some(name) == state)).collect(),
        with_aliases: is_yes(&asked.aliases),
        heads: heads(&COLUMNS, &filters, &sort),
        rows: rows.into_iter().map(|row| PageLine::of(row, now, &moment)).collect(),
        foot: ListFoot::new(&here, given(&asked.after), given(&asked.back), next.as_deref()),
        asked,
    })
}

impl PageLine {
    fn of(row: PageRow, now: Timestamp, moment: &dyn Fn(Timestamp) -> Moment) -> Self {
        Self {
            href: links::page(row.id),
            title: row.title.filter(|title| !title.trim().is_empty()),
            visits: number(row.visits),
            changes: number(row.changes),
            failures: row.failures,
            last_visit: row.last_visit_at.map(moment),
            size: row.bytes.map_or("–".to_owned(), bytes),
            weight: format!("{:.3}", row.weight),
            due: row.due_at.map(|at| at.max(now)).map(moment),
            reason: row.reason.or(row.host_reason),
            url: row.url,
            state: row.state,
        }
    }
}
