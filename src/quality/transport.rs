//! Refreshes spread over cycles under a hard budget, as near to evenly spaced as it allows.
//!
//! Comes in: how many refreshes each page is to have over N cycles, from the frequencies that are best for it
//! (those that are best for freshness), and the visits B that a cycle has. Goes out: the pages of each cycle. This is the transportation
//! problem by which Wolf et al. 2002 schedule crawls, and which Pandey & Olston 2005 use for both schemes that they compare with
//! (§6.1.1, §6.1.2): each refresh has an ideal time, cycles have room for B, and the sum of the distances is least.
//!
//! What must stay true: no cycle has more than B refreshes, every refresh gets a cycle, and no other way to do so has a smaller sum.

use std::collections::{HashMap, VecDeque};

/// The refreshes that a page is to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefreshDemand {
    /// How many over all cycles.
    pub refreshes: u32,
    /// Where in its period the first one falls, from 0 to 1; 1/2 is as far from the start as the last is from the end. Pages with
    /// different phases compete less for the same cycles.
    pub phase: f64,
}

impl RefreshDemand {
    /// The ideal times of the refreshes, evenly spaced, in cycles from the start of the first: (j + phase)·N/x for j from 0 to x − 1.
    pub fn ideal_times(self, cycles: usize) -> impl Iterator<Item = f64> {
        let period = cycles as f64 / f64::from(self.refreshes.max(1));
        (0..self.refreshes).map(move |number| (f64::from(number) + self.phase) * period)
    }
}

/// Whole numbers of refreshes over all cycles, from rates in visits a cycle.
///
/// A page gets its rate times N, rounded down, and at most one refresh a cycle. What is left goes to the pages that rounding cost
/// most, as long as `capacity` visits in each of the cycles allow. Rates that ask for more are all scaled down. What is not a positive number
/// gets no refresh.
pub fn whole_refreshes(rates: &[f64], cycles: usize, capacity: usize) -> Vec<u32> {
    let most = (cycles as f64).min(f64::from(u32::MAX));
    let room = capacity as f64 * cycles as f64;
    let asked = |rate: f64| if rate > 0.0 { (rate * cycles as f64).min(most) } else { 0.0 };
    let all: f64 = rates.iter().map(|rate| asked(*rate)).sum();
    let scale = if all > room { room / all } else { 1.0 };
    let wanted: Vec<f64> = rates.iter().map(|rate| asked(*rate) * scale).collect();
    let mut whole: Vec<u32> = wanted.iter().map(|wanted| *wanted as u32).collect();
    let given: f64 = whole.iter().map(|count| f64::from(*count)).sum();
    // A sum of floats may fall short of a whole number by its last bits.
    let left = ((all * scale + 1e-6).floor().min(room) - given).max(0.0) as usize;
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    let lost = |at: &usize| wanted.get(*at).map_or(0.0, |wanted| wanted.fract());
    order.sort_by(|a, b| lost(b).total_cmp(&lost(a)).then(a.cmp(b)));
    for at in order.into_iter().take(left) {
        if let Some(count) = whole.get_mut(at).filter(|count| f64::from(**count) < most) {
            *count += 1;
        }
    }
    whole
}

/// The pages of each cycle, by their place in `demands`; `None` if there are more refreshes than `capacity` visits in each cycle.
///
/// The refreshes are assigned by [`assign`]. It may put two refreshes of a page into one cycle where others press for room, and the
/// second would be wasted; each such refresh is exchanged with that of another page in the nearest cycle, the one that costs
/// least. That step is not exact.
pub fn schedule(demands: &[RefreshDemand], cycles: usize, capacity: usize) -> Option<Vec<Vec<usize>>> {
    let tasks: Vec<RefreshTask> = demands
        .iter()
        .enumerate()
        .flat_map(|(page, demand)| demand.ideal_times(cycles).map(move |ideal| RefreshTask { page, ideal }))
        .collect();
    let ideals: Vec<f64> = tasks.iter().map(|task| task.ideal).collect();
    let assigned = assign(&ideals, cycles, capacity)?;
    let mut timetable = Timetable::of(cycles, capacity, tasks.into_iter().zip(assigned));
    timetable.part_repeats();
    Some(
        timetable.cycles.into_iter().map(|tasks| tasks.into_iter().map(|task| task.page).collect()).collect(),
    )
}

/// The distance of a refresh in a cycle from its ideal time: the cycle is taken at its middle.
pub fn deviation(ideal: f64, cycle: usize) -> f64 {
    (cycle as f64 + 0.5 - ideal).abs()
}

/// The cycle of each refresh, such that no cycle has more than `capacity` and the sum of [`deviation`] is least; `None` if there are
/// too many, or an ideal time is not a number.
///
/// Refreshes may be kept in the order of their ideal times: two that are exchanged come no nearer, because the distance is convex.
/// So a cycle takes a run of that order. With f(c, t) the least sum for the first t refreshes in the first c cycles, and P_c(t) the sum
/// of their distances from cycle c, f(c + 1, t) = P_c(t) + min (f(c, u) − P_c(u)) over t − B ≤ u ≤ t, and the minimum over a
/// window that slides costs O(1). For T refreshes in N cycles this takes O(T log T + N·T) time, and 4 bytes for each of at most N·T
/// states, fewer the fuller the cycles are.
pub fn assign(ideals: &[f64], cycles: usize, capacity: usize) -> Option<Vec<usize>> {
    let total = ideals.len();
    let is_too_much = total > capacity.saturating_mul(cycles) || u32::try_from(total).is_err();
    if is_too_much || !ideals.iter().all(|ideal| ideal.is_finite()) {
        return None;
    }
    let mut order: Vec<usize> = (0..total).collect();
    let ideal = |task: &usize| ideals.get(*task).copied().unwrap_or(0.0);
    order.sort_by(|a, b| ideal(a).total_cmp(&ideal(b)));
    let sorted: Vec<f64> = order.iter().map(ideal).collect();

    let mut rows = Vec::with_capacity(cycles);
    let mut before = DistanceRow { first: 0, sums: vec![0.0], from: Vec::new() };
    for cycle in 0..cycles {
        // Fewer than this leave more than the later cycles can take.
        let first = total.saturating_sub(capacity.saturating_mul(cycles - cycle - 1));
        let last = total.min(capacity.saturating_mul(cycle + 1));
        let mut row = before.next(&sorted, cycle, capacity, first..=last);
        rows.push((row.first, std::mem::take(&mut row.from)));
        before = row;
    }
    let mut assigned = vec![0; total];
    let mut end = total;
    for (cycle, (first, from)) in rows.iter().enumerate().rev() {
        let start = end.checked_sub(*first).and_then(|at| from.get(at)).map_or(end, |start| *start as usize);
        for task in order.get(start..end).unwrap_or_default() {
            if let Some(place) = assigned.get_mut(*task) {
                *place = cycle;
            }
        }
        end = start;
    }
    Some(assigned)
}

/// f(c, t) for one c and the t that can be: the least sums of distances.
struct DistanceRow {
    /// The t of the first sum.
    first: usize,
    sums: Vec<f64>,
    /// For each t, the u from which it is reached: how many refreshes lie in earlier cycles.
    from: Vec<u32>,
}

impl DistanceRow {
    /// The row after one more cycle, for the given numbers of refreshes.
    fn next(
        &self,
        sorted: &[f64],
        cycle: usize,
        capacity: usize,
        counts: std::ops::RangeInclusive<usize>,
    ) -> DistanceRow {
        let (first, last) = counts.into_inner();
        let mut row = DistanceRow { first, sums: Vec::new(), from: Vec::new() };
        // P_c(t) less P_c of the first t that matters; and the u of the window whose sums can still be the least, least first.
        let mut distances = 0.0;
        let mut window: VecDeque<(usize, f64)> = VecDeque::new();
        for count in self.first..=last {
            if count > self.first {
                distances += sorted.get(count - 1).map_or(0.0, |ideal| deviation(*ideal, cycle));
            }
            if let Some(sum) = self.sums.get(count - self.first) {
                let reduced = sum - distances;
                while window.back().is_some_and(|(_, worse)| *worse >= reduced) {
                    window.pop_back();
                }
                window.push_back((count, reduced));
            }
            while window.front().is_some_and(|(from, _)| from + capacity < count) {
                window.pop_front();
            }
            if let Some((from, reduced)) = window.front().filter(|_| count >= first) {
                row.sums.push(distances + reduced);
                row.from.push(*from as u32);
            }
        }
        row
    }
}

/// One refresh of a page.
#[derive(Clone, Copy, Debug)]
struct RefreshTask {
    page: usize,
    ideal: f64,
}

/// Refreshes in their cycles.
struct Timetable {
    capacity: usize,
    cycles: Vec<Vec<RefreshTask>>,
    /// How often a page is in a cycle, by (page, cycle).
    times: HashMap<(usize, usize), usize>,
}

impl Timetable {
    fn of(cycles: usize, capacity: usize, tasks: impl Iterator<Item = (RefreshTask, usize)>) -> Timetable {
        let mut timetable = Timetable { capacity, cycles: vec![Vec::new(); cycles], times: HashMap::new() };
        for (task, cycle) in tasks {
            timetable.put(task, cycle);
        }
        timetable
    }

    fn put(&mut self, task: RefreshTask, cycle: usize) {
        if let Some(tasks) = self.cycles.get_mut(cycle) {
            tasks.push(task);
            *self.times.entry((task.page, cycle)).or_default() += 1;
        }
    }

    fn take(&mut self, cycle: usize, place: usize) -> Option<RefreshTask> {
        let tasks = self.cycles.get_mut(cycle).filter(|tasks| place < tasks.len())?;
        let task = tasks.swap_remove(place);
        *self.times.entry((task.page, cycle)).or_default() -= 1;
        Some(task)
    }

    fn times(&self, page: usize, cycle: usize) -> usize {
        self.times.get(&(page, cycle)).copied().unwrap_or(0)
    }

    /// Moves refreshes of pages that come twice in a cycle. Each exchange leaves one repetition fewer, so it ends.
    fn part_repeats(&mut self) {
        let mut is_better = true;
        while is_better {
            is_better = false;
            for cycle in 0..self.cycles.len() {
                let mut place = 0;
                while let Some(task) = self.cycles.get(cycle).and_then(|tasks| tasks.get(place)).copied() {
                    if self.times(task.page, cycle) > 1 && self.part(cycle, place, task) {
                        is_better = true;
                    } else {
                        place += 1;
                    }
                }
            }
        }
    }

    /// Moves one refresh to the nearest cycle where it can be; `false` if there is none.
    fn part(&mut self, cycle: usize, place: usize, task: RefreshTask) -> bool {
        for distance in 1..self.cycles.len() {
            let near = [cycle.checked_sub(distance), cycle.checked_add(distance)].into_iter().flatten();
            let ways =
                near.filter(|to| *to < self.cycles.len()).filter_map(|to| self.best_way(cycle, task, to));
            let Some((_, to, exchanged)) = ways.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
            let other = exchanged.and_then(|place| self.take(to, place));
            if let Some(task) = self.take(cycle, place) {
                self.put(task, to);
            }
            if let Some(other) = other {
                self.put(other, cycle);
            }
            return true;
        }
        false
    }

    /// The cheapest way to bring a refresh into another cycle: what it costs, the cycle, and the refresh to exchange it with.
    fn best_way(&self, cycle: usize, task: RefreshTask, to: usize) -> Option<(f64, usize, Option<usize>)> {
        if self.times(task.page, to) > 0 {
            return None;
        }
        let moved = |task: &RefreshTask, from: usize, to: usize| {
            deviation(task.ideal, to) - deviation(task.ideal, from)
        };
        let tasks = self.cycles.get(to)?;
        let free = (tasks.len() < self.capacity).then(|| (moved(&task, cycle, to), to, None));
        let exchanges = tasks
            .iter()
            .enumerate()
            .filter(|(_, other)| self.times(other.page, cycle) == 0)
            .map(|(place, other)| (moved(&task, cycle, to) + moved(other, to, cycle), to, Some(place)));
        exchanges.chain(free).min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

#[cfg(test)]
#[path = "transport_tests.rs"]
mod tests;
