//! For monitoring: `/healthz` says whether all is well, `/metrics` has the figures.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::look::LookError;
use crate::look::health::{Health, health};
use crate::look::status::status;
use crate::report::prometheus::metrics;
use crate::store::views::day_of;
use crate::store::{self, Brought, Store};
use crate::time::Timestamp;

use super::Dashboard;
use super::api::documented;
use super::guard::Shown;
use super::trouble::Trouble;

/// How long an error counts as the last one.
const ERROR_AGE: Duration = Duration::from_secs(3600);

/// What the server itself remembers for its watchers.
#[derive(Default)]
pub(super) struct ServerWatch {
    last_error: Mutex<Option<(Timestamp, String)>>,
    /// Visits of all days before this one.
    past: Mutex<Option<(i64, Brought)>>,
}

impl ServerWatch {
    /// Notes an error that kept a request from its answer.
    pub(super) fn note(&self, at: Timestamp, said: String) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, said));
    }

    fn last_error(&self, now: Timestamp) -> Option<String> {
        let last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(at, _)| now.after(*at) < ERROR_AGE).map(|(_, said)| said.clone())
    }

    /// All visits by what they brought. Days that are over are counted once.
    fn brought(&self, store: &mut dyn Store, now: Timestamp) -> Result<Brought, LookError> {
        let today = day_of(now);
        let sum = |rows: Vec<crate::store::DayTally>| {
            rows.iter().fold(Brought::default(), |mut sum, row| {
                sum.add(&row.brought);
                sum
            })
        };
        let known = *self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let past = match known.filter(|(day, _)| *day == today) {
            Some((_, past)) => past,
            None => {
                let past = sum(store.day_tallies(i64::MIN, today - 1)?);
                *self.past.lock().unwrap_or_else(PoisonError::into_inner) = Some((today, past));
                past
            }
        };
        let mut all = past;
        all.add(&sum(store.day_tallies(today, i64::MAX)?));
        Ok(all)
    }
}

/// `/healthz`: 200 if all is well, 503 if not. Without the token it says no more than that, where one is set.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "watch",
    summary = "Whether the crawl is well",
    responses(
        (status = 200, description = "All is well", body = Health),
        (status = 503, description = "Something is wrong, or there is no store yet; without the token, where one is set, only `is_well` is given")
    )
)]
pub(super) async fn healthz(
    State(site): State<Dashboard>,
    shown: Option<Extension<Shown>>,
) -> Result<Response, Trouble> {
    let now = site.now();
    let asker = site.clone();
    let found = site.look(move |store| {
        let settings = asker.settings();
        let (every, free) = (settings.every, store::free_bytes(&settings.store));
        health(store, every, free, asker.watch.last_error(now), now)
    });
    let found = found.await?;
    let status = if found.is_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    if site.settings().guard.token.is_some() && shown.is_none() {
        let said = format!("{{\"is_well\":{}}}", found.is_well);
        return Ok((status, [(header::CONTENT_TYPE, "application/json")], said).into_response());
    }
    Ok((status, documented(&found)?).into_response())
}

/// `/metrics`
pub(super) async fn prometheus(State(site): State<Dashboard>) -> Result<Response, Trouble> {
    let (now, asker) = (site.now(), site.clone());
    let text = site.look(move |store| {
        let started = Instant::now();
        let found = status(store, 1, false, now)?;
        let cycles = store.cycles(usize::MAX)?;
        let brought = asker.watch.brought(store, now)?;
        Ok(metrics(&found, &cycles, &brought, now, started.elapsed().as_secs_f64()))
    });
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, text.await?).into_response())
}
