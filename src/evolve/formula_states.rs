//! The states of pages, as far as formulas can tell them apart. Pages in the same state share a score.
//!
//! A state has the facts of a page that the terminals look at and no others, folded as the live policy folds them
//! ([`Traces::add`]). States and the steps between them are kept from one formula to the next.

use xxhash_rust::xxh3::xxh3_128;

use crate::estimate::Seen;
use crate::identity_hash::ByHash;
use crate::policy::Lesson;
use crate::policy::expression::terminal::Facts;
use crate::policy::expression::{Terminal, settled};
use crate::policy::traces::{Traces, WantedTraces};
use crate::simulate::distinct::Distinct;
use crate::time::{Age, Timestamp};
use crate::varint::{push, push_float};

/// If there are more states than this, or more steps between them, all are forgotten before the next formula: this bounds
/// the memory.
const MOST_STATES: usize = 1 << 19;
const MOST_STEPS: usize = 8 * MOST_STATES;

/// A visit of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StateVisit {
    /// Cycles since the visit before.
    pub gap: u32,
    pub changed: bool,
    /// The divergence of the page from its copy.
    pub moved: f64,
}

/// All states so far.
#[derive(Debug)]
pub(crate) struct FormulaStates {
    terminals: Vec<Terminal>,
    wanted: WantedTraces,
    cycle_days: f64,
    tells_apart: TellsApart,
    rows: Distinct<StateRow>,
    /// For each terminal: its value in each state right after the last visit.
    values: Vec<Vec<f64>>,
    /// The next state, by a hash of the state before and of the visit. With 128 bits no two hashes are the same.
    steps: ByHash<u128, u32>,
    /// Room for bytes that are hashed.
    bytes: Vec<u8>,
}

/// Which facts of visits and pages make states differ.
#[derive(Clone, Copy, Debug)]
struct TellsApart {
    gaps: bool,
    moved: bool,
    age: bool,
    weight: bool,
}

#[derive(Clone, Debug, Default)]
struct StateRow {
    visits: u32,
    changes: u32,
    /// Cycles from the first copy to the last visit. 0 unless the age matters.
    span: u32,
    weight: f64,
    traces: Traces,
}

impl FormulaStates {
    pub(super) fn new(terminals: &[Terminal], cycle_days: f64) -> Self {
        let wanted = WantedTraces::of(terminals);
        let has = |terminal| terminals.contains(&terminal);
        let age = has(Terminal::Age);
        let gaps = age || has(Terminal::Gamma) || has(Terminal::Quiet) || wanted.divergence();
        let tells_apart = TellsApart { gaps, moved: wanted.divergence(), age, weight: has(Terminal::Weight) };
        let mut states = Self {
            terminals: terminals.to_vec(),
            wanted,
            cycle_days,
            tells_apart,
            rows: Distinct::default(),
            values: vec![Vec::new(); Terminal::ALL.len()],
            steps: ByHash::default(),
            bytes: Vec::new(),
        };
        states.forget();
        states
    }

    fn forget(&mut self) {
        self.rows.clear();
        self.values.iter_mut().for_each(Vec::clear);
        self.steps.clear();
    }

    /// Called before each formula.
    pub(super) fn tidy(&mut self) {
        if self.rows.len() > MOST_STATES || self.steps.len() > MOST_STEPS {
            self.forget();
        }
    }

    /// How many states there are; their numbers are 0, 1, 2 and so on.
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// The state of a page of that weight after its first copy.
    pub(super) fn first(&mut self, weight: f64) -> u32 {
        let weight = if self.tells_apart.weight { weight } else { 1.0 };
        self.place(StateRow { weight, ..StateRow::default() })
    }

    /// The state after one more visit.
    pub(super) fn after(&mut self, state: u32, visit: StateVisit) -> u32 {
        let gap = if self.tells_apart.gaps { visit.gap } else { 0 };
        let moved = if self.tells_apart.moved { visit.moved } else { f64::from(u8::from(visit.changed)) };
        // Divergences are never negative, so the sign bit can say whether there was a change.
        let moved_bits = moved.to_bits() | u64::from(visit.changed) << 63;
        let key = xxh3_128(
            &(u128::from(moved_bits) << 64 | u128::from(gap) << 32 | u128::from(state)).to_le_bytes(),
        );
        if let Some(next) = self.steps.get(&key) {
            return *next;
        }
        let mut row = self.rows.get(state).cloned().unwrap_or_default();
        row.visits += 1;
        row.changes += u32::from(visit.changed);
        if self.tells_apart.age {
            row.span += visit.gap;
        }
        if !self.wanted.is_nothing() {
            let interval = Age::from_days(self.cycle_days * f64::from(visit.gap));
            let lesson = Lesson {
                divergence: self.tells_apart.moved.then_some(moved),
                ..Lesson::of_bit(Timestamp::from_seconds(0), interval, visit.changed)
            };
            let days = interval.days().max(Age::SHORTEST_DAYS);
            row.traces.add(self.wanted, row.visits, days, &lesson, Seen::from(visit.changed));
        }
        let next = self.place(row);
        self.steps.insert(key, next);
        next
    }

    fn place(&mut self, row: StateRow) -> u32 {
        let bytes = &mut self.bytes;
        bytes.clear();
        [row.visits, row.changes, row.span].iter().for_each(|count| push(bytes, u64::from(*count)));
        push_float(bytes, row.weight);
        if !self.wanted.is_nothing() {
            row.traces.push_bytes(bytes);
        }
        let count = self.rows.len();
        let place = self.rows.number(bytes, row);
        if self.rows.len() > count
            && let Some(row) = self.rows.get(place)
        {
            let facts = row.facts(self.cycle_days);
            for terminal in &self.terminals {
                if let Some(column) = self.values.get_mut(*terminal as usize) {
                    column.push(settled(terminal.of(&facts)));
                }
            }
        }
        place
    }

    /// The value of a terminal for a page that is in this state and was last visited `waiting` cycles ago.
    pub(super) fn value(&self, terminal: Terminal, state: u32, waiting: u32) -> f64 {
        let waits = f64::from(waiting);
        match terminal {
            Terminal::Waiting => waits,
            Terminal::Age | Terminal::Quiet => self.of_state(terminal, state) + waits,
            _ => self.of_state(terminal, state),
        }
    }

    fn of_state(&self, terminal: Terminal, state: u32) -> f64 {
        let column = self.values.get(terminal as usize);
        column.and_then(|column| column.get(state as usize)).copied().unwrap_or(0.0)
    }
}

impl StateRow {
    /// The facts right after the last visit.
    fn facts(&self, cycle_days: f64) -> Facts<'_> {
        Facts {
            visits: self.visits,
            changes: self.changes,
            waiting: 0.0,
            age: f64::from(self.span),
            depth: 0,
            weight: self.weight,
            signals: 0,
            cycle_days,
            traces: &self.traces,
        }
    }
}
