//! Replays formulas fast: the fitness of a formula on the pages of a group.
//!
//! The pages are in the classes of [`crate::simulate::classes`], as those of any replay. Three things make it faster than a
//! replay of a policy: scores are worked out in columns, once for a state and a waiting time; whole classes are visited at
//! once; and the warm-up and the steps between states, which all formulas share, are worked out once. A property test compares the figures with those of
//! [`crate::simulate::replay`] with the formula as its policy.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64;

use super::fitness::{Fitness, FitnessTally, HeldCopy};
use super::formula_states::{FormulaStates, StateVisit};
use super::warmed_up::{Entry, WarmedUp};
use crate::policy::Score;
use crate::policy::expression::{Columns, Expression, Scratch, Terminal};
use crate::simulate::Ties;
use crate::simulate::classes::{Class, Classes};
use crate::simulate::metric::discount;
use crate::simulate::truth::cycles_between;

/// Replays formulas, one after the other. It keeps states and memory from one to the next.
#[derive(Debug)]
pub struct Runner {
    states: FormulaStates,
    classes: Classes<()>,
    /// The score of each class.
    scores: Vec<f64>,
    known: KnownScores,
    columns: Columns,
    scratch: Scratch,
    asked: Vec<(u32, u32, u32)>,
    values: Vec<f64>,
    /// A terminal whose values are shuffled among the pages of each cycle, and the seed for that.
    shuffled: Option<(Terminal, u64)>,
    /// The values of terminals at the end of the replay, if they are asked for.
    seen: Option<Columns>,
    /// The sum over evaluations of symbols times states.
    pub node_evaluations: u64,
}

/// Scores of a formula by state and waiting time, as far as they are known.
#[derive(Debug, Default)]
struct KnownScores {
    values: Vec<f64>,
    /// For each value: the number of the formula that it belongs to.
    of: Vec<u32>,
    formula: u32,
}

/// Scores are kept if states times cycles are no more than this.
const MOST_REMEMBERED: usize = 1 << 22;

impl KnownScores {
    /// Begins another formula.
    fn forget(&mut self) {
        self.formula = self.formula.wrapping_add(1);
        if self.formula == 0 {
            self.of.fill(0);
            self.formula = 1;
        }
    }

    fn make_room(&mut self, places: usize) {
        if places <= MOST_REMEMBERED && self.values.len() < places {
            // With room to spare, as states come one by one.
            let room = (places + places / 2).min(MOST_REMEMBERED);
            self.values.resize(room, 0.0);
            self.of.resize(room, 0);
        }
    }

    fn get(&self, place: usize) -> Option<f64> {
        let is_own = self.of.get(place) == Some(&self.formula);
        if is_own { self.values.get(place).copied() } else { None }
    }

    fn set(&mut self, place: usize, value: f64) {
        if let (Some(known), Some(of)) = (self.values.get_mut(place), self.of.get_mut(place)) {
            (*known, *of) = (value, self.formula);
        }
    }
}

impl Runner {
    /// For formulas of these terminals, with cycles of that length.
    pub fn new(terminals: &[Terminal], cycle_days: f64) -> Self {
        Self {
            states: FormulaStates::new(terminals, cycle_days),
            classes: Classes::new(Ties::OlderFirst),
            scores: Vec::new(),
            known: KnownScores::default(),
            columns: Columns::default(),
            scratch: Scratch::default(),
            asked: Vec::new(),
            values: Vec::new(),
            shuffled: None,
            seen: None,
            node_evaluations: 0,
        }
    }

    /// The fitness of the formula if the values of a terminal are shuffled among the pages of each cycle. No two pages share a
    /// class then, so it is slow.
    pub(crate) fn run_shuffled(
        &mut self,
        pages: &WarmedUp,
        formula: &Expression,
        fitness: Fitness,
        terminal: Terminal,
        seed: u64,
    ) -> f64 {
        self.shuffled = Some((terminal, seed));
        self.classes.keep_apart(true);
        let worth = self.run(pages, formula, fitness);
        self.classes.keep_apart(false);
        self.shuffled = None;
        worth
    }

    /// The values of all terminals for each page after the last cycle.
    pub(crate) fn values_at_the_end(&mut self, pages: &WarmedUp, formula: &Expression) -> Columns {
        self.seen = Some(Columns::default());
        self.run(pages, formula, Fitness::ChangeRate);
        self.seen.take().unwrap_or_default()
    }

    /// The fitness of a formula.
    pub fn run(&mut self, pages: &WarmedUp, formula: &Expression, fitness: Fitness) -> f64 {
        self.states.tidy();
        self.known.forget();
        let terminals = formula.terminals();
        let cycles = pages.truth.cycles;
        let mut tally = FitnessTally::new(cycles);
        let mut entries = pages.entries.iter().peekable();
        let mut competing = 0;
        for now in 0..cycles {
            while let Some(entry) = entries.next_if(|entry| entry.cycle <= now) {
                competing += entry.members.len();
                self.enter(entry);
            }
            if competing == 0 {
                continue;
            }
            let visits = pages.terms.visits(competing);
            tally.pages += competing as u64;
            tally.visits += visits as u64;
            self.score(formula, &terminals, now, cycles);
            self.classes.choose(&self.scores, visits);
            if fitness == Fitness::Ndcg {
                tally.ordered(now, visits, self.gain(pages, now, visits));
            }
            for (class, count) in self.classes.chosen() {
                self.visit(pages, now, class, count, fitness, &mut tally);
            }
            self.classes.clear_empty();
        }
        while let Some(class) = self.classes.pop() {
            self.end(pages, &class, fitness, &mut tally);
            self.classes.reuse(class);
        }
        tally.fitness(fitness)
    }

    fn enter(&mut self, entry: &Entry) {
        let mut state = self.states.first(entry.weight);
        for visit in &entry.visits {
            state = self.states.after(state, *visit);
        }
        self.classes.enter(state, entry.last, &entry.members, || ());
    }

    /// Works out the score of every class.
    fn score(&mut self, formula: &Expression, terminals: &[Terminal], now: u32, cycles: u32) {
        self.scores.clear();
        self.asked.clear();
        let remembers = self.shuffled.is_none();
        self.known.make_room(self.states.count() * cycles as usize);
        for (class, place) in self.classes.iter().zip(0_u32..) {
            let waiting = now - class.last;
            let at = class.state as usize * cycles as usize + waiting as usize;
            let known = self.known.get(at).filter(|_| remembers);
            if known.is_none() {
                self.asked.push((place, class.state, waiting));
            }
            self.scores.push(known.unwrap_or(0.0));
        }
        self.columns.clear();
        for terminal in terminals {
            let states = &self.states;
            let column =
                self.asked.iter().map(|(_, state, waiting)| states.value(*terminal, *state, *waiting));
            self.columns.of_mut(*terminal).extend(column);
        }
        if let Some((terminal, seed)) = self.shuffled {
            let mut random = Pcg64::seed_from_u64(seed.wrapping_add(u64::from(now)));
            self.columns.of_mut(terminal).shuffle(&mut random);
        }
        self.values.clear();
        self.values.resize(self.asked.len(), 0.0);
        formula.values(&self.columns, &mut self.scratch, &mut self.values);
        self.node_evaluations += (formula.symbols().len() * self.asked.len()) as u64;
        for ((place, state, waiting), value) in self.asked.iter().zip(&self.values) {
            let value = Score::new(*value).value();
            if let Some(score) = self.scores.get_mut(*place as usize) {
                *score = value;
            }
            if remembers {
                self.known.set(*state as usize * cycles as usize + *waiting as usize, value);
            }
        }
    }

    /// The discounted gain of the visits of a cycle.
    fn gain(&mut self, pages: &WarmedUp, now: u32, visits: usize) -> f64 {
        let in_order = self.classes.in_order(visits).into_iter().enumerate();
        let changed = in_order.filter(|(_, (page, last))| pages.truth.has_changed(*page, *last, now));
        changed.fold(0.0, |gain, (rank, _)| gain + discount(rank))
    }

    /// Visits the first pages of a class.
    fn visit(
        &mut self,
        pages: &WarmedUp,
        now: u32,
        class: u32,
        count: usize,
        fitness: Fitness,
        tally: &mut FitnessTally,
    ) {
        let states = &mut self.states;
        let Some((state, last, is_entry)) =
            self.classes.get(class).map(|class| (class.state, class.last, class.is_entry))
        else {
            return;
        };
        self.classes.leave(class, count, |classes, visited| {
            if fitness != Fitness::ChangeRate {
                for page in visited {
                    let held = HeldCopy { page: *page, last, until: now };
                    tally.end(&pages.truth, held, is_entry, fitness, false);
                }
            }
            match pages.truth.words().filter(|_| !pages.moves) {
                Some(words) => {
                    let (gap, mask) = (now - last, cycles_between(last, now));
                    let [same, changed] = [false, true].map(|changed| {
                        states.after(state, StateVisit { gap, changed, moved: f64::from(u8::from(changed)) })
                    });
                    let joining = [same, changed].map(|state| classes.joining(state, now, || ()));
                    let has_changed =
                        |page: u32| words.get(page as usize).is_some_and(|word| word & mask != 0);
                    tally.changed += classes.join_either(visited, joining, has_changed) as u64;
                }
                None => {
                    for page in visited {
                        let visit = pages.visit(*page, last, now);
                        tally.changed += u64::from(visit.changed);
                        let next = states.after(state, visit);
                        let class = classes.joining(next, now, || ());
                        classes.join(class, *page);
                    }
                }
            }
        });
    }

    /// Counts the copies that are held at the end.
    fn end(&mut self, pages: &WarmedUp, class: &Class<()>, fitness: Fitness, tally: &mut FitnessTally) {
        let cycles = pages.truth.cycles;
        if let Some(seen) = &mut self.seen {
            for terminal in Terminal::ALL {
                let value = self.states.value(terminal, class.state, cycles - class.last);
                seen.of_mut(terminal).extend(class.pages().iter().map(|_| value));
            }
        }
        if fitness != Fitness::ChangeRate {
            for page in class.pages() {
                let held = HeldCopy { page: *page, last: class.last, until: cycles.saturating_sub(1) };
                tally.end(&pages.truth, held, class.is_entry, fitness, true);
            }
        }
    }
}
