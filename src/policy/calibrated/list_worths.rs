//! The worth of reading lists (sitemaps, feeds) again: what a signal of each page would be worth, and how soon one comes.
//!
//! In come the scores of pages as they are and as they would be with one more signal; out comes the gain of reading a host's list,
//! on the same scale. A signal is worth what it adds to a page's score above the lowest score that the budget has room for.

use std::collections::HashMap;

use crate::page::HostId;
use crate::signal::SignalKind;
use crate::time::Age;

/// The next signal of a page, or of pages in the same state.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextSignal {
    /// The list.
    pub(super) list: (HostId, SignalKind),
    /// Its score as it is.
    pub(super) untold: f64,
    /// Its score with one more signal.
    pub(super) told: f64,
    /// Signals a day.
    pub(super) a_day: f64,
    /// The number of such pages.
    pub(super) count: f64,
}

/// The next signals of all pages.
#[derive(Debug, Default)]
pub(super) struct NextSignals {
    /// Scores to be expected in a cycle, each with its number of pages.
    pub(super) scores: Vec<(f64, f64)>,
    pub(super) signals: Vec<NextSignal>,
}

impl NextSignals {
    /// The worth of each list, where a cycle has room for `visits`.
    pub(super) fn worths(mut self, visits: f64) -> ListWorths {
        let lowest = self.lowest(visits);
        let mut lists: HashMap<(HostId, SignalKind), ListWorth> = HashMap::new();
        for page in self.signals {
            let worth = page.count * (page.told - page.untold.max(lowest)).max(0.0);
            let sums = lists.entry(page.list).or_default();
            sums.all += worth;
            sums.a_day += worth * page.a_day;
        }
        ListWorths { lists }
    }

    /// The lowest score that still gets one of the `visits`; 0 if all pages do.
    fn lowest(&mut self, visits: f64) -> f64 {
        self.scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut sum = 0.0;
        let beyond = self.scores.iter().find(|(_, count)| {
            sum += count;
            sum >= visits
        });
        beyond.map_or(0.0, |(score, _)| *score)
    }
}

/// The worth of a list: of a signal of each of its pages, and of those that come in a day.
#[derive(Clone, Copy, Debug, Default)]
struct ListWorth {
    all: f64,
    a_day: f64,
}

/// The worth of all lists.
#[derive(Debug, Default)]
pub(super) struct ListWorths {
    lists: HashMap<(HostId, SignalKind), ListWorth>,
}

impl ListWorths {
    /// The gain of reading a host's list that was read `since` ago; `None` if it never told anything. Each page counts once.
    pub(super) fn gain(&self, host: HostId, kind: SignalKind, since: Age) -> Option<f64> {
        let ListWorth { all, a_day } = self.lists.get(&(host, kind)).copied()?;
        Some(if all > 0.0 { all * -(-a_day / all * since.days()).exp_m1() } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: (HostId, SignalKind) = (HostId(1), SignalKind::Sitemap);

    fn gain(visits: f64, since: f64) -> f64 {
        let mut pages = NextSignals::default();
        for untold in [1.0, 2.0, 3.0] {
            pages.scores.push((untold, 1.0));
            pages.signals.push(NextSignal { list: LIST, untold, told: 4.0, a_day: 0.01, count: 1.0 });
        }
        pages.worths(visits).gain(LIST.0, LIST.1, Age::from_days(since)).unwrap_or(f64::NAN)
    }

    #[test]
    fn a_signal_is_worth_what_it_adds_above_the_lowest_score_that_has_room() {
        // The second best of the scores is 2: a signal adds 2, 2 and 1, and each comes once in a hundred days.
        assert!((gain(2.0, 0.1) - 0.1 * 0.05).abs() < 1e-5, "{}", gain(2.0, 0.1));
        // With room for all a signal adds 3, 2 and 1; in a thousand days all pages have one.
        assert!((gain(9.0, 1e3) - 6.0).abs() < 1e-3, "{}", gain(9.0, 1e3));
    }

    #[test]
    fn a_list_that_never_told_anything_has_no_worth_that_is_known() {
        assert_eq!(NextSignals::default().worths(1.0).gain(LIST.0, LIST.1, Age::from_days(1.0)), None);
    }
}
