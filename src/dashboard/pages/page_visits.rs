//! All visits of a page, the latest first, a hundred at a time.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Deserialize;

use crate::dashboard::Dashboard;
use crate::dashboard::links::{self, Href};
use crate::dashboard::shown::{Foreign, tab};
use crate::dashboard::trouble::{Asked, Trouble};
use crate::look::history::latest_history;
use crate::look::history_limits::HistoryLimits;
use crate::look::page_view::url_of;
use crate::report::counted;

use super::page::numbered;
use super::visit_rows::{VisitTableRow, visit_lines};
use super::{PageFrame, drawn};

/// Visits on a page.
const AT_ONCE: usize = 100;
/// No text is read.
const ALL_VISITS: HistoryLimits = HistoryLimits { visits: usize::MAX, snapshots: 0, bytes: 0 };

/// What can be asked of the list.
#[derive(Deserialize)]
pub(crate) struct VisitsQuery {
    /// Visits after these, counted from the first of all: so that a link leads to the same visits when later ones come.
    up_to: Option<usize>,
}

#[derive(Template)]
#[template(path = "page_visits.html", config = "src/dashboard/askama.toml")]
struct VisitsOfAPage {
    frame: PageFrame,
    page: String,
    url: String,
    visits: Vec<VisitTableRow>,
    said: String,
    later: Option<String>,
    earlier: Option<String>,
}

/// The visits of a page.
pub(crate) async fn visits(
    State(site): State<Dashboard>,
    Path(id): Path<String>,
    Asked(asked): Asked<VisitsQuery>,
) -> Result<Response, Trouble> {
    let id = numbered(&id)?;
    let (screen, asker) = (site.screen(), site.clone());
    let history = site
        .look(move |store| {
            let observer = &asker.settings().observer;
            let url = url_of(store, id)?;
            latest_history(store, &observer.normaliser, &url, observer.change.fragment_words, ALL_VISITS)
        })
        .await?;
    let page = links::page(id);
    let up_to = asked.up_to.unwrap_or(usize::MAX).min(history.visit_count);
    let from = up_to.saturating_sub(AT_ONCE);
    let to = |up_to: usize| Href::to(format!("{page}/visits")).with("up_to", up_to).written();
    drawn(&VisitsOfAPage {
        frame: PageFrame::new(&site, "/pages", format!("Visits of {}", tab(&history.url))),
        visits: visit_lines(history.visits.get(from..up_to).unwrap_or_default(), &screen),
        said: match up_to {
            0 => "No visits.".to_owned(),
            _ => format!(
                "Visits {} to {up_to} of {}, the latest first.",
                from + 1,
                counted(history.visit_count, "visit")
            ),
        },
        later: (up_to < history.visit_count).then(|| to((up_to + AT_ONCE).min(history.visit_count))),
        earlier: (from > 0).then(|| to(from)),
        url: history.url,
        page,
    })
}
