//! The turnover of pages on a host: pages that appear, die and move.
//!
//! A host has places. At the events of a place's own slow process, its page either moves to a new path or dies and a
//! new page is born; so the number of pages stays, and every path that ever was can be told what became of it. Before
//! day 0 nothing moves: every place has its first page. Places that lead to others keep their first page for ever, so
//! that all living pages can be reached.

use super::draw::{SeededDraw, sub_seed, unit};
use super::poisson::{PoissonEvent, Process};
use super::rhythm::Rhythm;
use super::spec::WebSpec;
use super::words::WORDS;

/// Places that one place leads to.
pub(crate) const FAN_OUT: u32 = 40;
/// The purposes of a host's seeds.
const TURNOVER: u64 = 1 << 40;
const PAGE: u64 = 2 << 40;
const BUILDS: u64 = 3 << 40;

/// The places of one host.
#[derive(Clone, Debug)]
pub(crate) struct HostPlaces<'a> {
    spec: &'a WebSpec,
    seed: u64,
}

/// A page, wherever it lives: the place, and the event that brought it there first (0: it was always there).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tenant {
    /// Its place on the host, from 0.
    pub place: u32,
    /// The event that brought it there.
    pub birth: i64,
    /// In days; `None` if it was there before day 0.
    pub born: Option<f64>,
    /// Everything about the page is drawn from it.
    pub seed: u64,
    /// The event that gave it its present path: its birth, or its last move.
    pub moved_by: i64,
}

/// The fate of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// A page lives there.
    Lives(Tenant),
    /// Its page lives elsewhere now.
    Moved {
        /// The page, at its new path.
        tenant: Tenant,
        /// The day of the move.
        at: f64,
    },
    /// Its page died, and says so if `told`.
    Died {
        /// The day.
        at: f64,
        /// The host answers 410, not 404.
        told: bool,
    },
    /// No page ever lived there, as far as anyone can know at that moment.
    Unknown,
}

impl<'a> HostPlaces<'a> {
    pub(crate) fn new(spec: &'a WebSpec, host: u32) -> Self {
        Self { spec, seed: sub_seed(spec.seed, u64::from(host)) }
    }

    /// The places that a place leads to.
    pub(crate) fn below(&self, place: u32) -> std::ops::Range<u32> {
        let first = place.saturating_mul(FAN_OUT).saturating_add(1).min(self.spec.pages);
        let end = first.saturating_add(FAN_OUT).min(self.spec.pages);
        first..end
    }

    /// The page that lives in a place.
    pub(crate) fn tenant(&self, place: u32, day: f64) -> Tenant {
        let Some(process) = self.turnover(place) else { return self.first(place) };
        let Some(latest) = process.latest(day).filter(|event| event.at > 0.0) else {
            return self.first(place);
        };
        if self.spec.move_share >= 1.0 {
            return Tenant { moved_by: latest.id, ..self.first(place) };
        }
        let mut event = latest;
        while self.is_move(place, event.id) {
            match process.latest(just_before(event.at)).filter(|event| event.at > 0.0) {
                Some(earlier) => event = earlier,
                None => return Tenant { moved_by: latest.id, ..self.first(place) },
            }
        }
        let seed = self.page_seed(place, event.id);
        Tenant { place, birth: event.id, born: Some(event.at), seed, moved_by: latest.id }
    }

    /// When the page of a place moved or was replaced, after `from` up to and including `to`.
    pub(crate) fn turns(&self, place: u32, from: f64, to: f64) -> Vec<PoissonEvent> {
        self.turnover(place).map_or(Vec::new(), |process| process.between(from.max(0.0), to))
    }

    /// The last time that the page of a place moved or was replaced.
    pub(crate) fn last_turn(&self, place: u32, day: f64) -> Option<PoissonEvent> {
        self.turnover(place)?.latest(day).filter(|event| event.at > 0.0)
    }

    /// The moves of a page after `from` up to and including `day`, in order.
    pub(crate) fn moves(&self, tenant: &Tenant, from: f64, day: f64) -> Vec<f64> {
        let turns = self.turns(tenant.place, tenant.born.unwrap_or(0.0).max(from), day);
        turns.iter().take_while(|turn| self.is_move(tenant.place, turn.id)).map(|turn| turn.at).collect()
    }

    /// The fate of a path by `day`.
    pub(crate) fn fate(&self, path: &str, day: f64) -> Fate {
        let Some((place, id)) = parse(path).filter(|(place, _)| *place < self.spec.pages) else {
            return Fate::Unknown;
        };
        let since = match (id, self.turnover(place)) {
            (0, _) => 0.0,
            (id, Some(process)) if id > 0 => match process.event(id) {
                Some(event) if event.at > 0.0 && event.at <= day => event.at,
                _ => return Fate::Unknown,
            },
            _ => return Fate::Unknown,
        };
        if self.path(&self.tenant(place, since)) != path {
            return Fate::Unknown;
        }
        // Not all turns up to this day, which may be many: those up to its death, if it dies at all.
        let turns = || {
            let turns = self.turnover(place).map(|process| process.after(since));
            turns.into_iter().flatten().take_while(|turn| turn.at <= day)
        };
        let may_die = self.spec.move_share < 1.0;
        let death = if may_die { turns().find(|turn| !self.is_move(place, turn.id)) } else { None };
        if let Some(death) = death {
            let told = unit(sub_seed(self.turn_seed(place, death.id), 1)) < self.spec.gone_share;
            return Fate::Died { at: death.at, told };
        }
        let tenant = self.tenant(place, day);
        match turns().next() {
            Some(turn) => Fate::Moved { tenant, at: turn.at },
            None => Fate::Lives(tenant),
        }
    }

    /// When a page came to its present path, by birth or by a move; `None` if it was there before day 0.
    pub(crate) fn arrived(&self, tenant: &Tenant) -> Option<f64> {
        Some(self.turnover(tenant.place)?.event(tenant.moved_by)?.at)
    }

    /// Where a page lives: a section, two words of its own, its place, and what brought it there.
    pub(crate) fn path(&self, tenant: &Tenant) -> String {
        if tenant.place == 0 {
            return "/".to_owned();
        }
        let mut words = SeededDraw::new(sub_seed(tenant.seed, 1));
        let mut section = SeededDraw::new(sub_seed(self.turn_seed(tenant.place, tenant.moved_by), 2));
        let (section, first, second) = (section.pick(&WORDS[..32]), words.pick(&WORDS), words.pick(&WORDS));
        match tenant.moved_by {
            0 => format!("/{section}/{first}-{second}-{}", tenant.place),
            turn => format!("/{section}/{first}-{second}-{}_{turn}", tenant.place),
        }
    }

    fn first(&self, place: u32) -> Tenant {
        Tenant { place, birth: 0, born: None, seed: self.page_seed(place, 0), moved_by: 0 }
    }

    fn page_seed(&self, place: u32, birth: i64) -> u64 {
        sub_seed(sub_seed(self.seed, PAGE | u64::from(place)), birth as u64)
    }

    /// The seed of the host's builds.
    pub(crate) fn builds_seed(&self) -> u64 {
        sub_seed(self.seed, BUILDS)
    }

    fn turn_seed(&self, place: u32, id: i64) -> u64 {
        sub_seed(sub_seed(self.seed, TURNOVER | u64::from(place)), id as u64)
    }

    fn is_move(&self, place: u32, id: i64) -> bool {
        unit(self.turn_seed(place, id)) < self.spec.move_share
    }

    /// `None` for places that lead to others.
    fn turnover(&self, place: u32) -> Option<Process> {
        let seed = sub_seed(sub_seed(self.seed, TURNOVER | u64::from(place)), u64::MAX);
        let leads = place == 0 || !self.below(place).is_empty();
        (!leads && self.spec.turnover > 0.0).then_some(Process {
            seed,
            rate: self.spec.turnover,
            rhythm: Rhythm::Even,
        })
    }
}

/// The place and event that a path names.
fn parse(path: &str) -> Option<(u32, i64)> {
    if path == "/" {
        return Some((0, 0));
    }
    let (_, name) = path.rsplit_once('-')?;
    match name.split_once('_') {
        Some((place, turn)) => Some((place.parse().ok()?, turn.parse().ok()?)),
        None => Some((name.parse().ok()?, 0)),
    }
}

fn just_before(day: f64) -> f64 {
    day.next_down()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy() -> WebSpec {
        WebSpec { pages: 300, turnover: 0.5, move_share: 0.5, gone_share: 0.5, ..WebSpec::default() }
    }

    #[test]
    fn every_path_that_was_is_told_what_became_of_it() {
        let spec = busy();
        let places = HostPlaces::new(&spec, 0);
        let (mut lives, mut moved, mut told, mut untold) = (0, 0, 0, 0);
        for place in 0..spec.pages {
            let then = places.tenant(place, 3.0);
            let path = places.path(&then);
            assert_eq!(places.fate(&path, 3.0), Fate::Lives(then));
            let now = places.tenant(place, 6.0);
            match places.fate(&path, 6.0) {
                Fate::Lives(tenant) => {
                    assert_eq!((tenant, now), (then, then));
                    lives += 1;
                }
                Fate::Moved { tenant, at } => {
                    assert_eq!(tenant, now);
                    assert_eq!((tenant.seed, tenant.born), (then.seed, then.born), "the same page");
                    assert_ne!(places.path(&tenant), path);
                    assert!(at > 3.0 && at <= 6.0);
                    assert!(places.moves(&now, 0.0, 6.0).contains(&at));
                    assert_eq!(places.arrived(&now), places.moves(&now, 0.0, 6.0).last().copied());
                    moved += 1;
                }
                Fate::Died { at, told: said } => {
                    assert!(at > 3.0 && at <= 6.0);
                    assert_ne!(now.seed, then.seed);
                    *(if said { &mut told } else { &mut untold }) += 1;
                }
                Fate::Unknown => panic!("`{path}` was there"),
            }
            let later = places.path(&now);
            if now.moved_by != then.moved_by {
                assert_eq!(places.fate(&later, 3.0), Fate::Unknown, "not known before it is there");
            }
        }
        assert!(lives > 40 && moved > 20 && told > 20 && untold > 20, "{lives} {moved} {told} {untold}");
    }

    #[test]
    fn paths_that_never_were_are_unknown() {
        let spec = busy();
        let places = HostPlaces::new(&spec, 0);
        let known = places.path(&places.tenant(7, 0.0));
        for path in
            ["", "/x", "/a/b-c-7", "/a/b-c-99999", "/a/b-c-7_x", "/a/b-c-7_-3", "/a/b-c-99999999999999"]
        {
            assert!(path == known || places.fate(path, 1.0) == Fate::Unknown, "{path}");
        }
        assert_eq!(places.fate(&format!("{known}_1"), 1e-9), Fate::Unknown);
    }

    #[test]
    fn a_web_that_is_very_old_is_told_as_fast_as_a_young_one() {
        for move_share in [0.0, 0.9, 1.0] {
            let spec = WebSpec { pages: 60, turnover: 100.0, move_share, ..WebSpec::default() };
            let places = HostPlaces::new(&spec, 0);
            let old = 2e11;
            for place in [0, 30, 59] {
                let first = places.path(&places.tenant(place, 0.0));
                let now = places.tenant(place, old);
                assert_eq!(places.fate(&places.path(&now), old), Fate::Lives(now));
                match places.fate(&first, old) {
                    Fate::Lives(page) => assert_eq!((place, page), (0, now)),
                    Fate::Moved { tenant, .. } => assert_eq!((move_share, tenant), (1.0, now)),
                    fate => assert!(matches!(fate, Fate::Died { at, .. } if at < 10.0 && move_share < 1.0)),
                }
                assert_eq!(places.arrived(&now).is_some(), place > 0);
            }
        }
    }

    #[test]
    fn places_that_lead_on_stay() {
        let spec = busy();
        let places = HostPlaces::new(&spec, 3);
        assert_eq!(places.below(0), 1..41);
        assert_eq!(places.below(7), 281..300);
        assert!(places.below(8).is_empty());
        for place in 0..8 {
            assert_eq!(places.tenant(place, 500.0).moved_by, 0);
        }
    }
}
