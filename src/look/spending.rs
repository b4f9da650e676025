//! What the requests of a day brought, and what round robin would have brought with as many.

use std::collections::BTreeMap;

use serde::Serialize;

use super::LookError;
use crate::crawl::collection_rates::CollectionRates;
use crate::store::views::day_of;
use crate::store::{Brought, CycleRow, DayTally, Store};
use crate::time::Timestamp;

const DAY_MS: i64 = 86_400_000;
/// Cycles that are looked through before all of them are.
const FEW_CYCLES: usize = 64;

/// The requests of a day (UTC).
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DaySpending {
    /// `2026-11-19`
    pub day: String,
    /// Requests that were sent.
    pub requests: u64,
    /// Requests that the cycles which began on this day might send; `None` if one of them had no budget, or none began.
    pub budget: Option<u64>,
    /// Visits by what they brought.
    pub brought: Brought,
    /// Requests that were no visit to a page: robots.txt, sitemaps, and visits that were tried again at once.
    pub other_requests: u64,
    /// How far pages moved, added up over the changes that were found.
    pub divergence: f64,
    /// Bytes of bodies that came.
    pub received_bytes: u64,
    /// Changes that round robin is expected to find with as many visits to known pages
    /// ([`CollectionRates::found_by_even_visits`]). `None`: no cycle has noted the change rates yet.
    pub round_robin_changed: Option<f64>,
}

impl DaySpending {
    /// Visits to pages that were known: the part of the cost that is compared with round robin.
    pub fn revisits(&self) -> u64 {
        self.brought.changed + self.brought.unchanged + self.brought.not_modified
    }
}

/// Visits for which a request was sent.
pub(super) fn sent(brought: &Brought) -> u64 {
    brought.visits() - brought.refused
}

/// `2026-11-19`
pub(super) fn day_name(day: i64) -> String {
    Timestamp::from_millis(day.saturating_mul(DAY_MS)).to_string().chars().take(10).collect()
}

/// The spending of each day from `since` to `now`, the latest first: every day since the first cycle, also one without a request.
pub fn spending(
    store: &mut dyn Store,
    rates: Option<&CollectionRates>,
    since: Timestamp,
    now: Timestamp,
) -> Result<Vec<DaySpending>, LookError> {
    let tallies = store.day_tallies(day_of(since), day_of(now))?;
    let mut cycles = store.cycles(FEW_CYCLES)?;
    let start = day_of(since) * DAY_MS;
    if cycles.len() == FEW_CYCLES && cycles.last().is_some_and(|oldest| oldest.started_at.millis() >= start) {
        cycles = store.cycles(usize::MAX)?;
    }
    Ok(by_day(&tallies, &cycles, rates, since, now))
}

/// Pure: from what is stored to days.
fn by_day(
    tallies: &[DayTally],
    cycles: &[CycleRow],
    rates: Option<&CollectionRates>,
    since: Timestamp,
    now: Timestamp,
) -> Vec<DaySpending> {
    // Nothing was visited before the first cycle: on its day, round robin has the rest of the day.
    let began = cycles.iter().map(|cycle| cycle.started_at).chain([now]).min().unwrap_or(now);
    let earliest = tallies.iter().map(|tally| tally.day).chain([day_of(began)]).min().unwrap_or(0);
    let (first, last) = (day_of(since).max(earliest), day_of(now));
    let mut days: BTreeMap<i64, DaySpending> = BTreeMap::new();
    for day in first..=last {
        days.insert(day, DaySpending::none(day));
    }
    for tally in tallies {
        if let Some(day) = days.get_mut(&tally.day) {
            day.brought.add(&tally.brought);
            day.divergence += tally.divergence;
            day.received_bytes += tally.bytes;
        }
    }
    let requests = requests_by_day(cycles, now);
    for (number, day) in &mut days {
        let visits = sent(&day.brought);
        // A cycle that ran past midnight is split by its time, and its visits may have come sooner or later.
        day.requests = requests.get(number).map_or(0, |requests| requests.round() as u64).max(visits);
        day.other_requests = day.requests - visits;
        day.budget = budget_of(cycles, *number);
        let (from, to) = (number * DAY_MS, (number + 1) * DAY_MS);
        let span = to.min(now.millis()) - from.max(began.millis());
        let passed = span.max(0) as f64 / DAY_MS as f64;
        let found = |rates: &CollectionRates| rates.found_by_even_visits(day.revisits() as f64, passed);
        day.round_robin_changed = rates.and_then(found);
    }
    days.into_values().rev().collect()
}

/// Requests by day: those of a cycle are spread evenly over its time.
fn requests_by_day(cycles: &[CycleRow], now: Timestamp) -> BTreeMap<i64, f64> {
    let mut requests: BTreeMap<i64, f64> = BTreeMap::new();
    for cycle in cycles {
        let began = cycle.started_at.millis();
        let ended = cycle.ended_at.unwrap_or(now).millis().max(began.saturating_add(1));
        // A cycle that was interrupted for long would fill a life of days.
        let days = day_of(cycle.started_at)..=day_of(Timestamp::from_millis(ended - 1));
        for day in days.take(MOST_DAYS) {
            let (from, to) = (day * DAY_MS, (day + 1) * DAY_MS);
            let share = (to.min(ended) - from.max(began)) as f64 / (ended - began) as f64;
            *requests.entry(day).or_default() += share * cycle.requests as f64;
        }
    }
    requests
}

/// Days that a cycle is spread over at most.
const MOST_DAYS: usize = 400;

fn budget_of(cycles: &[CycleRow], day: i64) -> Option<u64> {
    let mut budgets = cycles.iter().filter(|cycle| day_of(cycle.started_at) == day).map(|cycle| cycle.budget);
    let first = budgets.next()??;
    budgets.try_fold(first, |sum, budget| Some(sum + budget?))
}

impl DaySpending {
    fn none(day: i64) -> Self {
        Self {
            day: day_name(day),
            requests: 0,
            budget: None,
            brought: Brought::default(),
            other_requests: 0,
            divergence: 0.0,
            received_bytes: 0,
            round_robin_changed: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::gamma::Gamma;
    use crate::page::HostId;
    use crate::time::Age;

    /// Midnight at the start of 2026-11-19.
    const MIDNIGHT: i64 = 20_776 * DAY_MS;

    fn at(hours: f64) -> Timestamp {
        Timestamp::from_millis(MIDNIGHT + (hours * 3_600_000.0) as i64)
    }

    fn cycle(began: f64, ended: Option<f64>, requests: u64, budget: Option<u64>) -> CycleRow {
        CycleRow {
            id: 1,
            started_at: at(began),
            ended_at: ended.map(at),
            command: None,
            policy: String::new(),
            budget,
            requests,
            bytes: 0,
            fetched: 0,
            new_pages: 0,
            changed: 0,
            unchanged: 0,
            failed: 0,
            deferred: 0,
            threshold: None,
        }
    }

    fn tally(day: i64, host: i64, changed: u64, not_modified: u64) -> DayTally {
        let brought = Brought { changed, not_modified, refused: 5, ..Brought::default() };
        DayTally { day, host: HostId(host), brought, divergence: 0.25, bytes: 10 }
    }

    #[test]
    fn a_day_adds_up_its_hosts_and_leaves_the_rest_to_robots_and_sitemaps() {
        let today = day_of(at(0.0));
        assert_eq!(day_name(today), "2026-11-19");
        let tallies = [tally(today, 1, 2, 10), tally(today, 2, 1, 7), tally(today - 1, 1, 0, 4)];
        let cycles = [cycle(6.0, Some(7.0), 23, Some(30)), cycle(3.0, Some(4.0), 2, Some(30))];
        let days = by_day(&tallies, &cycles, None, at(-30.0), at(12.0));
        assert_eq!(days.iter().map(|day| &*day.day).collect::<Vec<_>>(), ["2026-11-19", "2026-11-18"]);
        let day = &days[0];
        assert_eq!((day.requests, day.other_requests, day.budget), (25, 5, Some(60)));
        assert_eq!((day.brought.changed, day.brought.not_modified, day.brought.refused), (3, 17, 10));
        assert_eq!((day.divergence, day.received_bytes, day.round_robin_changed), (0.5, 20, None));
        // No cycle of that day is known: its requests are its visits.
        assert_eq!((days[1].requests, days[1].other_requests, days[1].budget), (4, 0, None));
        assert_eq!(
            by_day(&[], &[], None, at(-30.0), at(12.0)),
            [DaySpending::none(today)],
            "only today without a cycle"
        );
    }

    #[test]
    fn a_cycle_past_midnight_is_split_and_one_without_a_budget_leaves_the_day_without() {
        let requests = requests_by_day(&[cycle(-1.0, Some(3.0), 400, None)], at(5.0));
        let today = day_of(at(0.0));
        assert_eq!((requests[&(today - 1)], requests[&today]), (100.0, 300.0));
        let open = requests_by_day(&[cycle(1.0, None, 70, None)], at(5.0));
        assert_eq!(open[&today], 70.0);
        assert_eq!(budget_of(&[cycle(1.0, None, 0, Some(5)), cycle(2.0, None, 0, None)], today), None);
        assert_eq!(budget_of(&[cycle(-1.0, None, 0, Some(5))], today), None);
    }

    #[test]
    fn round_robin_has_the_same_visits_and_the_same_time() {
        let sure = |rate: f64| Gamma { shape: 1e6, days: 1e6 / rate };
        let mut rates = CollectionRates::none(at(12.0));
        // A page that changes twice a day, and three that change once in a hundred days.
        rates.add(sure(2.0), Age::default());
        (0..3).for_each(|_| rates.add(sure(0.01), Age::default()));
        // Yesterday 8 visits found 2 changes. Evenly: each page every half day.
        let yesterday = day_of(at(0.0)) - 1;
        let days = by_day(
            &[tally(yesterday, 1, 2, 6)],
            &[cycle(-30.0, Some(-24.0), 1, None), cycle(-20.0, Some(-10.0), 8, None)],
            Some(&rates),
            at(-20.0),
            at(12.0),
        );
        let expected = 8.0 / 4.0 * ((1.0 - (-1.0_f64).exp()) + 3.0 * (1.0 - (-0.005_f64).exp()));
        let found = days[1].round_robin_changed.expect("rates");
        assert!((found - expected).abs() < 0.01, "{found} {expected}");
        assert_eq!(days[0].round_robin_changed, Some(0.0), "nothing was spent today");
    }
}
