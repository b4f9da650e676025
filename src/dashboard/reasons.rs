//! Why pages are due or not. That ranks all pages, which takes longer than a request may in a large store; so it is worked out in the
//! background, and kept for a while.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::look::page::find;
use crate::look::why::{Why, why};
use crate::time::Timestamp;

use super::Dashboard;
use super::trouble::Trouble;
use super::work::{Background, WorkDone, Worked};

/// Pages whose reasons are kept.
const MOST_PAGES: usize = 64;
/// How long a request waits before it says that the reasons are being worked out: most stores are ranked in that time.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long reasons are shown, and are good while no visit is recorded.
const RECENT: Duration = Duration::from_secs(60);
/// Reasons are good for this many times the time that they took, whatever the crawl does: else those of a large store would be worked out
/// without an end beside a running crawl.
const TIMES_TAKEN: u32 = 5;

/// The reasons of a page.
struct FoundReasons {
    why: Why,
    took: Duration,
    /// The number of the last visit before they were worked out.
    log_end: i64,
}

type OfOnePage = Background<Result<FoundReasons, Trouble>>;

/// The page, and the zone of the times in its sentences.
type AskedFor = (i64, TimeZone);

/// The reasons of the pages that were asked about last, the latest at the end.
pub(super) struct ReasonWork {
    pages: Mutex<VecDeque<(AskedFor, Arc<OfOnePage>)>>,
    /// One ranking at a time: each reads every address of the store.
    seats: Arc<Semaphore>,
}

impl Default for ReasonWork {
    fn default() -> Self {
        Self { pages: Mutex::default(), seats: Arc::new(Semaphore::new(1)) }
    }
}

impl ReasonWork {
    /// The work of a page. Another page is forgotten for it; if all of them are being worked out, there are too many.
    fn of(&self, asked: AskedFor) -> Result<Arc<OfOnePage>, Trouble> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, work)) = pages.iter().find(|(known, _)| *known == asked) {
            return Ok(Arc::clone(work));
        }
        if pages.len() >= MOST_PAGES {
            // Work that goes on holds its place, too.
            let idle = pages.iter().position(|(_, work)| Arc::strong_count(work) == 1);
            pages.remove(idle.ok_or(Trouble::Busy)?);
        }
        let work = Arc::new(OfOnePage::default());
        pages.push_back((asked, Arc::clone(&work)));
        Ok(work)
    }
}

/// Why the page of that URL is due or not, and when that was worked out; `None`: it is being worked out.
pub(crate) async fn reasons_of(
    site: &Dashboard,
    url: String,
    zone: TimeZone,
) -> Result<Option<(Why, Timestamp)>, Trouble> {
    let asker = site.clone();
    let (page, log_end) = site
        .look(move |store| {
            let page = find(store, &asker.settings().observer.normaliser, &url)?;
            Ok((page, store.log_end()?))
        })
        .await?;
    let work = site.reasons.of((page.id, zone.clone()))?;
    let (now, asker, seats) = (site.now(), site.clone(), Arc::clone(&site.reasons.seats));
    let is_good = move |worked: &Worked<Result<FoundReasons, Trouble>>| {
        let age = now.after(worked.at);
        match &worked.value {
            Ok(Ok(found)) => age < TIMES_TAKEN * found.took || age < RECENT && found.log_end == log_end,
            _ => false,
        }
    };
    let rank = move |_: &dyn Fn(WorkDone)| {
        let seat = Handle::current().block_on(seats.acquire_owned());
        let started = Instant::now();
        let found = ranked(&asker, &page.url, &zone);
        drop(seat);
        Ok(found.map(|why| FoundReasons { why, took: started.elapsed(), log_end }))
    };
    let shown = work.ask(0, site.settings().now, PATIENCE, is_good, rank).await;
    let last = shown.last.filter(|last| shown.under_way.is_none() || site.now().after(last.at) < RECENT);
    match last.as_ref().map(|last| (&last.value, last.at)) {
        None => Ok(None),
        Some((Ok(Ok(found)), at)) => Ok(Some((found.why.clone(), at))),
        Some((Ok(Err(trouble)), _)) => site.noted(Err(trouble.clone())),
        Some((Err(said), _)) => Err(Trouble::NotFound(said.clone())),
    }
}

fn ranked(site: &Dashboard, url: &str, zone: &TimeZone) -> Result<Why, Trouble> {
    let crawler = (site.settings().looking)();
    let mut crawler = crawler.map_err(|error| Trouble::failed("a look at the next cycle", &error))?;
    why(&mut crawler, url, site.now(), zone).map_err(Trouble::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_make_room_unless_all_are_being_worked_out() {
        let work = ReasonWork::default();
        let of = |page: usize| work.of((page as i64, TimeZone::UTC));
        let first = of(0).unwrap();
        assert!(Arc::ptr_eq(&first, &of(0).unwrap()));
        let others: Vec<_> = (1..MOST_PAGES).map(|page| of(page).unwrap()).collect();
        assert!(matches!(of(MOST_PAGES), Err(Trouble::Busy)));
        drop(others);
        assert!(of(MOST_PAGES).is_ok());
        assert!(Arc::ptr_eq(&first, &of(0).unwrap()), "it is still in use");
    }
}
