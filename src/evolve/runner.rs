//! A formula replayed, as cheaply as can be.
//!
//! The protocol and the outcome are those of [`crate::simulate::replay`] with the formula as the policy, to the last visit;
//! a property test holds the two against each other. What makes it cheap: a cycle costs as much as there are states, not
//! pages, as pages in the same state share a score; a score is worked out once for a state and a waiting time; scores are
//! worked out in columns; the best are selected, not sorted; and what all formulas have in common (the warm-up, who changed
//! when) is prepared once.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64;

use super::course::{Changes, Course, Entry, Held, between};
use super::fitness::{Fitness, Tally};
use super::states::{States, Visit};
use crate::policy::Score;
use crate::policy::expression::{Columns, Expression, Scratch, Terminal};
use crate::schedule::rank::{Cut, Rank, RankedClass, cut, lowest};
use crate::simulate::metric::discount;
use crate::time::Timestamp;

/// Pages in one state whose last visit was in the same cycle.
#[derive(Debug, Default)]
struct Class {
    state: u32,
    last: u32,
    members: Vec<u32>,
    /// Those before were visited.
    from: usize,
    /// Are the members in order?
    is_sorted: bool,
    /// Was the last visit one of the warm-up?
    is_entry: bool,
}

impl Class {
    fn left(&self) -> &[u32] {
        self.members.get(self.from..).unwrap_or(&[])
    }

    fn size(&self) -> usize {
        self.members.len() - self.from
    }

    /// Cycles stand for times: only their order counts.
    fn rank(&self, score: f64) -> Rank {
        Rank::new(Score::new(score).value(), Timestamp::from_millis(i64::from(self.last)))
    }
}

/// Replays formulas, one after the other; what can be used again is kept.
#[derive(Debug)]
pub struct Runner {
    states: States,
    classes: Vec<Class>,
    ranked: Vec<RankedClass>,
    spare: Vec<Vec<u32>>,
    /// Where pages go that are in a state after their visit: a class, valid in the turn that is named.
    arrivals: Vec<(u64, u32)>,
    turn: u64,
    scores: Scores,
    columns: Columns,
    scratch: Scratch,
    asked: Vec<(u32, u32, u32)>,
    values: Vec<f64>,
    /// A terminal whose values change hands between the pages of each cycle, and what that is drawn from.
    shuffled: Option<(Terminal, u64)>,
    /// What terminals are of pages at the end of a replay, if that is asked for.
    seen: Option<Columns>,
    /// Symbols evaluated so far, times the places they were evaluated in.
    pub node_evaluations: u64,
}

/// Scores of a formula by state and waiting time, as far as they are worked out; only where that is not too much.
#[derive(Debug, Default)]
struct Scores {
    values: Vec<f64>,
    /// The formula that a value is of, by its number.
    of: Vec<u32>,
    formula: u32,
}

/// Scores are remembered where there are no more states times cycles.
const MOST_REMEMBERED: usize = 1 << 22;

impl Scores {
    /// Another formula comes.
    fn forget(&mut self) {
        self.formula = self.formula.wrapping_add(1);
        if self.formula == 0 {
            self.of.fill(0);
            self.formula = 1;
        }
    }

    fn make_room(&mut self, places: usize) {
        if places <= MOST_REMEMBERED && self.values.len() < places {
            // More than is asked for, as states come one by one.
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
    pub fn new(terminals: &[Terminal], cycle_days: f64) -> Self {
        Self {
            states: States::new(terminals, cycle_days),
            classes: Vec::new(),
            ranked: Vec::new(),
            spare: Vec::new(),
            arrivals: Vec::new(),
            turn: 0,
            scores: Scores::default(),
            columns: Columns::default(),
            scratch: Scratch::default(),
            asked: Vec::new(),
            values: Vec::new(),
            shuffled: None,
            seen: None,
            node_evaluations: 0,
        }
    }

    /// How good it would be if it were told the values of a terminal of other pages: those of each cycle's pages change
    /// hands at random. No two pages share a state for that, so it is slow.
    pub fn run_shuffled(
        &mut self,
        course: &Course,
        formula: &Expression,
        fitness: Fitness,
        terminal: Terminal,
        seed: u64,
    ) -> f64 {
        self.shuffled = Some((terminal, seed));
        let worth = self.run(course, formula, fitness);
        self.shuffled = None;
        worth
    }

    /// What the terminals are of each page after the last cycle.
    pub fn values_at_the_end(&mut self, course: &Course, formula: &Expression) -> Columns {
        self.seen = Some(Columns::default());
        self.run(course, formula, Fitness::ChangeRate);
        self.seen.take().unwrap_or_default()
    }

    /// How good the formula is, over all cycles.
    pub fn run(&mut self, course: &Course, formula: &Expression, fitness: Fitness) -> f64 {
        self.states.tidy();
        self.scores.forget();
        let terminals = formula.terminals();
        let mut tally = Tally::new(course.cycles);
        let mut entries = course.entries.iter().peekable();
        let mut competing = 0;
        for now in 0..course.cycles {
            while let Some(entry) = entries.next_if(|entry| entry.cycle <= now) {
                competing += entry.members.len();
                self.enter(entry);
            }
            if competing == 0 {
                continue;
            }
            let visits = course.terms.visits(competing);
            tally.pages += competing as u64;
            tally.visits += visits as u64;
            self.rank(formula, &terminals, now, course.cycles);
            self.visit_best(course, now, visits, fitness, &mut tally);
        }
        let last = course.cycles.saturating_sub(1);
        while let Some(class) = self.classes.pop() {
            if let Some(seen) = &mut self.seen {
                for terminal in Terminal::ALL {
                    let value = self.states.value(terminal, class.state, course.cycles - class.last);
                    seen.of_mut(terminal).extend(class.left().iter().map(|_| value));
                }
            }
            if fitness != Fitness::ChangeRate {
                for page in class.left() {
                    let held = Held { page: *page, last: class.last, until: last };
                    tally.end(course, held, class.is_entry, fitness, true);
                }
            }
            self.spare.push(class.members);
        }
        tally.fitness(fitness)
    }

    fn enter(&mut self, entry: &Entry) {
        let mut state = self.states.first(entry.weight);
        for visit in &entry.visits {
            state = self.states.after(state, *visit);
        }
        let together = if self.shuffled.is_some() { 1 } else { entry.members.len().max(1) };
        for pages in entry.members.chunks(together) {
            let mut members = self.spare.pop().unwrap_or_default();
            members.clear();
            members.extend_from_slice(pages);
            let (last, from, is_sorted, is_entry) = (entry.last, 0, true, true);
            self.classes.push(Class { state, last, members, from, is_sorted, is_entry });
        }
    }

    /// Works out the score of every class.
    fn rank(&mut self, formula: &Expression, terminals: &[Terminal], now: u32, cycles: u32) {
        self.ranked.clear();
        self.asked.clear();
        let remembers = self.shuffled.is_none();
        self.scores.make_room(self.states.count() * cycles as usize);
        for (class, place) in self.classes.iter().zip(0_u32..) {
            let waiting = now - class.last;
            let at = class.state as usize * cycles as usize + waiting as usize;
            let known = self.scores.get(at).filter(|_| remembers);
            if known.is_none() {
                self.asked.push((place, class.state, waiting));
            }
            self.ranked.push(RankedClass {
                rank: class.rank(known.unwrap_or(0.0)),
                size: class.size() as u32,
                class: place,
            });
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
            if let (Some(ranked), Some(class)) =
                (self.ranked.get_mut(*place as usize), self.classes.get(*place as usize))
            {
                ranked.rank = class.rank(*value);
            }
            let at = *state as usize * cycles as usize + *waiting as usize;
            if remembers {
                self.scores.set(at, *value);
            }
        }
    }

    fn visit_best(&mut self, course: &Course, now: u32, visits: usize, fitness: Fitness, tally: &mut Tally) {
        self.turn += 1;
        let Cut { whole, tied, room } = cut(&mut self.ranked, visits);
        if fitness == Fitness::Ndcg {
            let best = self.ranked.get_mut(..tied).unwrap_or_default();
            best.sort_unstable_by_key(|ranked| std::cmp::Reverse(ranked.rank));
            // Sorting keeps those that are wholly taken in front of those that are not.
            tally.ordered(now, visits, self.gain(course, now, tied, visits));
        }
        let taken: Vec<u32> = self.ranked.iter().take(whole).map(|ranked| ranked.class).collect();
        let shared: Vec<u32> =
            self.ranked.get(whole..tied).unwrap_or(&[]).iter().map(|ranked| ranked.class).collect();
        let ends = self.ends(&shared, room);
        for class in taken {
            let size = self.classes.get(class as usize).map_or(0, Class::size);
            self.visit_class(course, now, class, size, fitness, tally);
        }
        for (class, count) in shared.into_iter().zip(ends) {
            self.visit_class(course, now, class, count, fitness, tally);
        }
        self.clear_empty();
    }

    /// How well the visits of a cycle were ordered.
    fn gain(&self, course: &Course, now: u32, tied: usize, visits: usize) -> f64 {
        let (mut gain, mut rank, mut at) = (0.0, 0, 0);
        let best = self.ranked.get(..tied).unwrap_or(&[]);
        while let Some(first) = best.get(at) {
            let same = best.iter().skip(at).take_while(|ranked| ranked.rank == first.rank).count();
            let classes = best.iter().skip(at).take(same);
            let classes = classes.filter_map(|ranked| self.classes.get(ranked.class as usize));
            let mut pages: Vec<(u32, u32)> =
                classes.flat_map(|class| class.left().iter().map(|page| (*page, class.last))).collect();
            pages.sort_unstable();
            for (page, last) in pages.into_iter().take(visits - rank) {
                if course.visit(page, last, now).changed {
                    gain += discount(rank);
                }
                rank += 1;
            }
            at += same;
        }
        gain
    }

    /// Of classes that tie, how many each gives if those with the lowest numbers come first and there is room for so many.
    fn ends(&mut self, tied: &[u32], room: usize) -> Vec<usize> {
        if let [class] = tied
            && self.classes.get(*class as usize).is_some_and(|class| class.size() == room)
        {
            return vec![room];
        }
        for class in tied {
            if let Some(class) = self.classes.get_mut(*class as usize).filter(|class| !class.is_sorted) {
                class.members.get_mut(class.from..).unwrap_or_default().sort_unstable();
                class.is_sorted = true;
            }
        }
        let lists: Vec<&[u32]> =
            tied.iter().map(|class| self.classes.get(*class as usize).map_or(&[][..], Class::left)).collect();
        lowest(&lists, room)
    }

    /// Visits the first pages of a class.
    fn visit_class(
        &mut self,
        course: &Course,
        now: u32,
        class: u32,
        count: usize,
        fitness: Fitness,
        tally: &mut Tally,
    ) {
        let Some(from) = self.classes.get_mut(class as usize) else { return };
        let (state, last, start, is_entry) = (from.state, from.last, from.from, from.is_entry);
        let members = std::mem::take(&mut from.members);
        let visited = members.get(start..start + count).unwrap_or(&[]);
        if fitness != Fitness::ChangeRate {
            for page in visited {
                tally.end(course, Held { page: *page, last, until: now }, is_entry, fitness, false);
            }
        }
        match &course.changes {
            Changes::Words(words) => {
                let (gap, mask) = (now - last, between(last, now));
                let after = |states: &mut States, changed: bool| {
                    states.after(state, Visit { gap, changed, moved: f64::from(u8::from(changed)) })
                };
                let (quiet, moved) = (after(&mut self.states, false), after(&mut self.states, true));
                let (quiet, moved) = (self.arrival(quiet, now), self.arrival(moved, now));
                let mut take = |at: u32| {
                    let class = self.classes.get_mut(at as usize);
                    class.map(|class| std::mem::take(&mut class.members)).unwrap_or_default()
                };
                let (mut still, mut new) = (take(quiet), take(moved));
                let before = new.len();
                for page in visited {
                    let changed = words.get(*page as usize).is_some_and(|word| word & mask != 0);
                    if changed { new.push(*page) } else { still.push(*page) }
                }
                tally.changed += (new.len() - before) as u64;
                for (at, pages) in [(quiet, still), (moved, new)] {
                    if let Some(class) = self.classes.get_mut(at as usize) {
                        class.members = pages;
                    }
                }
            }
            Changes::Texts(_) => {
                for page in visited {
                    let visit = course.visit(*page, last, now);
                    tally.changed += u64::from(visit.changed);
                    let next = self.states.after(state, visit);
                    let at = self.arrival(next, now);
                    if let Some(class) = self.classes.get_mut(at as usize) {
                        class.members.push(*page);
                    }
                }
            }
        }
        if let Some(from) = self.classes.get_mut(class as usize) {
            from.members = members;
            from.from += count;
        }
    }

    /// The class of pages that come into this state in this cycle.
    fn arrival(&mut self, state: u32, now: u32) -> u32 {
        let place = state as usize;
        if self.arrivals.len() <= place {
            self.arrivals.resize(self.states.count().max(place + 1), (0, 0));
        }
        let next = self.classes.len() as u32;
        let Some(arrival) = self.arrivals.get_mut(place) else { return next };
        if arrival.0 == self.turn && self.shuffled.is_none() {
            return arrival.1;
        }
        *arrival = (self.turn, next);
        let mut members = self.spare.pop().unwrap_or_default();
        members.clear();
        self.classes.push(Class { state, last: now, members, from: 0, is_sorted: false, is_entry: false });
        next
    }

    fn clear_empty(&mut self) {
        let mut at = 0;
        while let Some(class) = self.classes.get(at) {
            if class.size() == 0 {
                self.spare.push(self.classes.swap_remove(at).members);
            } else {
                at += 1;
            }
        }
    }
}
