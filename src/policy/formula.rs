//! A formula as a policy: one that was bred (`evolved:`) or typed (`expr:`).

use super::content::Content;
use super::expression::terminal::Facts;
use super::expression::{Expression, Terminal};
use super::traces::{Traces, Wanted};
use super::{Learnt, Lesson, LooksAt, PageState, Policy, Score, Survey};
use crate::estimate::Seen;
use crate::page::{Depth, HostId};
use crate::time::{Age, Timestamp};

/// The highest value is visited first (Santos et al. 2013, §4). Time is counted in cycles. Pages that nobody has seen come
/// before all others: a formula is of what visits taught. Unlike other policies' scores its values may fall while a page
/// waits, if that is what it says.
#[derive(Debug)]
pub struct Formula {
    name: String,
    expression: Expression,
    wanted: Wanted,
    cycle: Age,
}

impl Formula {
    /// Under the name it was asked for by.
    pub fn new(name: String, expression: Expression) -> Self {
        let wanted = Wanted::of(&expression.terminals());
        Self { name, expression, wanted, cycle: Age::from_days(1.0) }
    }

    /// A terminal's value.
    fn fact(&self, terminal: Terminal, page: &PageState, now: Timestamp) -> f64 {
        let nothing = Traces::default();
        let cycle_days = self.cycle.days();
        terminal.of(&Facts {
            visits: page.learnt.state.visits,
            changes: page.learnt.state.changes,
            waiting: page.copy_age(now).days() / cycle_days,
            age: now.since(page.found_at).days() / cycle_days,
            depth: u32::from(page.depth),
            weight: page.weight,
            signals: page.learnt.dates.trust.kept,
            cycle_days,
            traces: match &page.learnt.content {
                Content::Traced(traces) => traces,
                _ => &nothing,
            },
        })
    }
}

impl Policy for Formula {
    fn name(&self) -> &str {
        &self.name
    }

    fn memory_kind(&self) -> String {
        if self.wanted.is_nothing() { "counts".to_owned() } else { self.wanted.name() }
    }

    fn looks_at(&self) -> LooksAt {
        let age = self.expression.terminals().contains(&Terminal::Age);
        LooksAt { divergence: self.wanted.divergence(), kin: false, age }
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        let days = learnt.state.count(lesson.interval, seen);
        if self.wanted.is_nothing() {
            return;
        }
        let mut traces = match std::mem::take(&mut learnt.content) {
            Content::Traced(traces) => traces,
            _ => Box::default(),
        };
        traces.add(self.wanted, learnt.state.visits, days, lesson, seen);
        learnt.content = Content::Traced(traces);
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.cycle = Age::from_days(survey.cycle_length.days().max(Age::SHORTEST_DAYS));
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        Score::new(self.expression.value(|terminal| self.fact(terminal, page, now)))
    }
}
