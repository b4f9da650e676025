//! A formula as a policy: one that was bred (`evolved:`) or typed (`expr:`).

use super::expression::Expression;
use super::expression::terminal::{Facts, Terminal, in_cycles};
use super::traces::{Traces, WantedTraces};
use super::{Fact, Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey};
use crate::estimate::Seen;
use crate::page::{Depth, HostId};
use crate::time::{Age, Timestamp};

/// The page with the highest value comes first (Santos et al. 2013, §4). Time is counted in cycles. New pages come before all
/// others, because a formula is about what visits taught. Unlike other policies' scores its value may fall while a page waits,
/// if the formula says so.
#[derive(Debug)]
pub(crate) struct Formula {
    name: String,
    expression: Expression,
    wanted: WantedTraces,
    looks_at: LooksAt,
    cycle: Age,
}

impl Formula {
    /// A formula, under the name that it was asked for by.
    pub(crate) fn new(name: String, expression: Expression) -> Self {
        let terminals = expression.terminals();
        let wanted = WantedTraces::of(&terminals);
        let age = terminals.contains(&Terminal::Age);
        let looks_at = LooksAt { divergence: wanted.divergence(), age, ..LooksAt::default() };
        Self { name, expression, wanted, looks_at, cycle: Age::from_days(1.0) }
    }

    /// Calls `with` with the facts that terminals are read from.
    fn with_facts<T>(&self, page: &PageState, now: Timestamp, with: impl FnOnce(&Facts<'_>) -> T) -> T {
        let traces = if self.wanted.is_nothing() {
            Traces::default()
        } else {
            page.learnt.memory.read(Traces::take_bytes)
        };
        let cycle_days = self.cycle.days();
        with(&Facts {
            visits: page.learnt.state.visits,
            changes: page.learnt.state.changes,
            waiting: in_cycles(page.copy_age(now).days(), cycle_days),
            age: in_cycles(now.since(page.found_at).days(), cycle_days),
            depth: page.depth,
            weight: page.weight,
            signals: page.learnt.dates.trust.kept,
            cycle_days,
            traces: &traces,
        })
    }
}

impl Policy for Formula {
    fn name(&self) -> &str {
        &self.name
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        self.with_facts(page, now, |facts| Score::new(self.expression.value(|terminal| terminal.of(facts))))
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        self.with_facts(page, now, |facts| {
            let term = |terminal: Terminal| Fact::term(terminal.name(), terminal.of(facts));
            Reason::of(self.expression.terminals().into_iter().map(term))
        })
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let days = learnt.state.count(lesson.interval, seen);
        if self.wanted.is_nothing() {
            return;
        }
        let mut traces = learnt.memory.read(Traces::take_bytes);
        traces.add(self.wanted, learnt.state.visits, days, lesson, seen);
        learnt.memory.write(|bytes| traces.push_bytes(bytes));
    }

    fn memory_version(&self) -> String {
        if self.wanted.is_nothing() { "counts".to_owned() } else { self.wanted.memory_version() }
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.cycle = Age::from_days(survey.cycle_length.days().max(Age::SHORTEST_DAYS));
    }

    fn looks_at(&self) -> LooksAt {
        self.looks_at
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::PageId;
    use crate::policy::{PageMemory, score};

    fn formula(text: &str) -> Formula {
        Formula::new(format!("expr:{text}"), text.parse().expect("a formula"))
    }

    /// A page that was found two days before its first copy, and visited daily from then on.
    fn page(policy: &Formula, visits: &[(bool, f64)]) -> PageState {
        let at = |day: usize| Timestamp::from_seconds(86_400 * (day as i64 + 2));
        let found = Timestamp::from_seconds(0);
        let mut page = PageState::found(PageId(1), HostId(1), 3, 2.5, found);
        (page.last_visit, page.seen_at) = (Some(at(visits.len())), Some(at(visits.len())));
        for (day, (changed, moved)) in visits.iter().enumerate() {
            let lesson = Lesson {
                divergence: Some(*moved),
                ..Lesson::of_bit(at(day + 1), Age::from_days(1.0), *changed)
            };
            page.learnt.take(&lesson, page.host, page.depth, policy);
        }
        page
    }

    fn of(text: &str, visits: &[(bool, f64)], days_later: i64) -> f64 {
        let policy = formula(text);
        let page = page(&policy, visits);
        let now = Timestamp::from_seconds(86_400 * (visits.len() as i64 + 2 + days_later));
        score(&policy, &page, now).value()
    }

    #[test]
    fn facts_are_those_of_the_page() {
        let visits = [(true, 0.5), (false, 0.0), (true, 0.1), (true, 0.3)];
        for (text, value) in [
            ("n", 4.0),
            ("X", 3.0),
            ("t", 2.0),
            ("nad", 0.75),
            ("sad", 1.0),
            // (1·1 + 2·0 + 3·1 + 4·1) / 10, and (1·1 + 2·0 + 4·1 + 8·1) / 15.
            ("aad", 0.8),
            ("gad", 13.0 / 15.0),
            ("cg", (4.5_f64 / 1.5).ln()),
            ("age", 8.0),
            ("quiet", 2.0),
            ("depth", 3.0),
            ("weight", 2.5),
            ("divergence", 0.9 / 4.0),
            ("signals", 0.0),
        ] {
            assert!((of(text, &visits, 2) - value).abs() < 1e-9, "{text}: {}", of(text, &visits, 2));
        }
        assert_eq!(of("quiet", &[(true, 0.5), (false, 0.0), (false, 0.0)], 2), 4.0);
        assert!(of("gamma", &visits, 2) > of("gamma", &[(false, 0.0); 4], 2));
        assert!(of("longevity", &visits, 2) < of("longevity", &[(false, 0.0); 4], 2));
        assert_eq!(of("behaviour", &[(false, 0.0); 4], 2), 0.0);
        assert!(of("behaviour", &[(true, 0.4); 4], 2) > 0.0);
    }

    #[test]
    fn whole_cycles_are_whole_numbers_whatever_their_length() {
        for step_ms in [1000, 3_723_457, 37_123, 86_400_000] {
            let cycle_days = Age::from_days(step_ms as f64 / 86_400_000.0).days();
            for cycles in 0..1000 {
                let now = Timestamp::from_millis(cycles * step_ms);
                assert_eq!(in_cycles(now.since(Timestamp::from_millis(0)).days(), cycle_days), cycles as f64);
            }
        }
        assert_eq!(in_cycles(2.5, 1.0), 2.5);
    }

    #[test]
    fn time_is_counted_in_cycles() {
        let mut policy = formula("t");
        let page = page(&policy, &[(true, 1.0)]);
        let hosts = std::collections::HashMap::new();
        policy.survey(&mut Survey {
            now: Timestamp::from_seconds(0),
            cycle: 1,
            cycle_length: Age::from_days(0.5),
            visits_a_day: None,
            shares_a_day: false,
            hosts: &hosts,
            memory: &mut None,
            pages: &mut |_| {},
        });
        let now = Timestamp::from_seconds(86_400 * 6);
        assert_eq!(policy.score(&page, now).value(), 6.0);
    }

    #[test]
    fn a_page_nobody_has_seen_comes_first_and_failures_count_below_nothing_too() {
        let policy = formula("0 - 1000000000000 * t");
        let mut seen = page(&policy, &[(true, 1.0)]);
        let now = Timestamp::from_seconds(86_400 * 9);
        let new = PageState::found(PageId(2), HostId(1), 200, 1.0, now);
        let most = formula("10 ^ 12");
        assert!(score(&most, &new, now) > score(&most, &seen, now));
        let before = score(&policy, &seen, now);
        seen.failures = 2;
        assert!(score(&policy, &seen, now) < before);
    }

    #[test]
    fn only_what_is_asked_for_is_remembered() {
        let visits = [(true, 0.5), (false, 0.0)];
        assert_eq!(page(&formula("t * X / n + cg"), &visits).learnt.memory, PageMemory::default());
        assert_eq!(formula("t * X").memory_version(), formula("X - nad").memory_version());
        assert_ne!(formula("aad").memory_version(), formula("gamma").memory_version());
    }

    proptest! {
        #[test]
        fn what_is_remembered_survives_being_stored(
            visits in prop::collection::vec((any::<bool>(), 0.0..1.0f64), 0..20)
        ) {
            let policy = formula("sad + aad + gad + gamma + quiet + divergence + longevity + behaviour");
            let page = page(&policy, &visits);
            prop_assert_eq!(Learnt::from_bytes(&page.learnt.to_bytes()), Some(page.learnt.clone()));
        }

        #[test]
        fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let policy = formula("gamma + longevity + aad + divergence + behaviour");
            let mut page = page(&policy, &[]);
            page.learnt.memory = PageMemory::from_bytes(&bytes);
            prop_assert!(score(&policy, &page, Timestamp::from_seconds(86_400 * 30)).value().is_finite());
        }
    }
}
