//! Events: what happened to a page, as people want to hear of it. Page state before a visit + the visit → event or none.
//!
//! This is the only place where a visit becomes an event. A crawl tells events by it, an old log gets its events by it,
//! and a rebuild compares them. One bad answer makes no event: a page is gone at the second 404, it started to
//! fail at the second failure in a row, and it moved when a second cycle found the same permanent redirect. The first
//! event of a page is always [`EventKind::New`]: a page that was never stored can't be gone, moved or failing.

use serde::{Serialize, Serializer};

use super::{Claim, Folded, Life, Observation};

/// What happened to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventKind {
    /// Its content was stored for the first time.
    New,
    /// Its content is another one than before.
    Changed,
    /// 404 or 410, for the second time in a row.
    Gone,
    /// It was gone or had moved, and answers for itself again.
    Back,
    /// It redirects for good, and a second cycle confirmed it.
    Moved,
    /// Two visits in a row failed.
    StartedFailing,
    /// It failed, and answers again.
    Recovered,
}

impl EventKind {
    /// Every one of them.
    pub const ALL: [EventKind; 7] = [
        EventKind::New,
        EventKind::Changed,
        EventKind::Gone,
        EventKind::Back,
        EventKind::Moved,
        EventKind::StartedFailing,
        EventKind::Recovered,
    ];

    /// The stable name that is stored, typed and given to programs.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::New => "new",
            EventKind::Changed => "changed",
            EventKind::Gone => "gone",
            EventKind::Back => "back",
            EventKind::Moved => "moved",
            EventKind::StartedFailing => "started-failing",
            EventKind::Recovered => "recovered",
        }
    }

    /// The kind in words.
    pub fn words(self) -> &'static str {
        match self {
            EventKind::StartedFailing => "started failing",
            other => other.name(),
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<EventKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The event that a visit makes. `before`: the page's state before the visit.
    pub fn of(before: &Folded, fact: &Observation) -> Option<EventKind> {
        if fact.found.is_some() {
            return match before.condition {
                _ if before.version.is_none() => Some(EventKind::New),
                Condition::Gone | Condition::Moved => Some(EventKind::Back),
                Condition::Failing => Some(EventKind::Recovered),
                Condition::Well => (fact.changed == Some(true)).then_some(EventKind::Changed),
            };
        }
        before.version?;
        let claim = Claim::after(before.claim, fact, before.last_cycle != Some(fact.cycle));
        let now_at = moved_to(claim);
        if now_at.is_some() && now_at != moved_to(before.claim) {
            return Some(EventKind::Moved);
        }
        let after = before.standing.after(&fact.attempt.outcome, fact.attempt.at);
        match (before.condition, after.life) {
            // The page lives elsewhere: what its old address answers is no news.
            (Condition::Moved, _) => None,
            (Condition::Well | Condition::Failing, Life::Gone) => Some(EventKind::Gone),
            // A page that robots.txt forbade before has failed once.
            (Condition::Well, Life::Failing)
                if matches!(before.standing.life, Life::Failing | Life::Missing) =>
            {
                Some(EventKind::StartedFailing)
            }
            _ => None,
        }
    }
}

impl utoipa::PartialSchema for EventKind {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::{ObjectBuilder, Type};
        let kind = ObjectBuilder::new().schema_type(Type::String);
        kind.enum_values(Some(EventKind::ALL.map(EventKind::name))).into()
    }
}

impl utoipa::ToSchema for EventKind {}

impl Serialize for EventKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What a page's events said of it last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Condition {
    /// It answers, or nothing else was told yet.
    #[default]
    Well,
    /// It started to fail.
    Failing,
    /// It is gone.
    Gone,
    /// It lives at another address.
    Moved,
}

impl Condition {
    /// The condition after an event.
    pub fn after(self, event: Option<EventKind>) -> Condition {
        match event {
            None => self,
            Some(EventKind::Gone) => Condition::Gone,
            Some(EventKind::Moved) => Condition::Moved,
            Some(EventKind::StartedFailing) => Condition::Failing,
            Some(EventKind::New | EventKind::Changed | EventKind::Back | EventKind::Recovered) => {
                Condition::Well
            }
        }
    }

    /// The stable name that is stored.
    pub fn name(self) -> &'static str {
        match self {
            Condition::Well => "well",
            Condition::Failing => "failing",
            Condition::Gone => "gone",
            Condition::Moved => "moved",
        }
    }

    /// The condition of that name.
    pub fn from_name(name: &str) -> Option<Condition> {
        let all = [Condition::Well, Condition::Failing, Condition::Gone, Condition::Moved];
        all.into_iter().find(|condition| condition.name() == name)
    }
}

/// The page that a confirmed permanent redirect leads to.
fn moved_to(claim: Option<Claim>) -> Option<crate::page::PageId> {
    claim.filter(|claim| claim.moved && claim.is_confirmed()).map(|claim| claim.of)
}

/// The events of a page's log, one place a visit, and the condition that they leave it in. `log` holds all of its
/// observations in the order in which they were recorded.
pub fn events<'a>(log: impl IntoIterator<Item = &'a Observation>) -> (Vec<Option<EventKind>>, Condition) {
    let mut page = Folded::default();
    let events = log.into_iter().map(|fact| page.take_life(fact)).collect();
    (events, page.condition)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{CycleId, Found, SameAs, observation};
    use super::*;
    use crate::change::VersionId;
    use crate::fetch::visit::{Failure, Outcome, Refused};
    use crate::page::PageId;
    use crate::time::Timestamp;

    const AT: Timestamp = Timestamp::from_seconds(1_000_000);

    /// A visit that found this version.
    fn found(version: i64, changed: Option<bool>) -> Observation {
        let found = Found { version: VersionId(version), text_rules: 0, has_words: true };
        Observation { found: Some(found), changed, ..observation(AT, Outcome::Fetched) }
    }

    fn first() -> Observation {
        found(1, None)
    }

    fn same() -> Observation {
        found(1, Some(false))
    }

    fn other() -> Observation {
        found(2, Some(true))
    }

    fn ended(outcome: Outcome) -> Observation {
        observation(AT, outcome)
    }

    fn redirects(to: i64, permanent: bool) -> Observation {
        let target = url::Url::parse("https://example.org/").unwrap();
        let same_as = permanent.then_some(SameAs { page: PageId(to), apart: None });
        Observation { same_as, ..ended(Outcome::Redirected { to: target, permanent }) }
    }

    /// The events of visits, each of a cycle of its own.
    fn told(log: impl IntoIterator<Item = Observation>) -> Vec<&'static str> {
        let log: Vec<Observation> =
            (1..).zip(log).map(|(cycle, fact)| Observation { cycle: CycleId(cycle), ..fact }).collect();
        events(&log).0.into_iter().map(|event| event.map_or("-", EventKind::name)).collect()
    }

    #[test]
    fn the_first_content_is_new_and_another_one_a_change() {
        assert_eq!(told([first(), same(), other(), found(2, Some(false))]), ["new", "-", "changed", "-"]);
        let read_by_other_rules = found(2, None);
        assert_eq!(told([first(), read_by_other_rules]), ["new", "-"], "nothing was compared");
    }

    #[test]
    fn a_page_is_gone_at_the_second_404_and_back_when_it_answers() {
        let missing = || ended(Outcome::Missing);
        assert_eq!(told([first(), missing(), same()]), ["new", "-", "-"], "one 404 is not believed");
        assert_eq!(
            told([first(), missing(), missing(), missing(), other(), missing()]),
            ["new", "-", "gone", "-", "back", "-"]
        );
        let failed = ended(Outcome::ServerError);
        assert_eq!(
            told([first(), missing(), missing(), redirects(2, false), failed, missing(), missing(), same()]),
            ["new", "-", "gone", "-", "-", "-", "-", "back"],
            "gone is one event"
        );
    }

    #[test]
    fn two_failures_in_a_row_are_told_and_so_is_their_end() {
        let failed = || ended(Outcome::ServerError);
        let silent = || ended(Outcome::Failed(Failure::NoAnswer));
        assert_eq!(told([first(), failed(), same(), failed(), same()]), ["new", "-", "-", "-", "-"]);
        assert_eq!(
            told([first(), failed(), silent(), failed(), other()]),
            ["new", "-", "started-failing", "-", "recovered"]
        );
        assert_eq!(
            told([first(), ended(Outcome::Missing), failed(), same()]),
            ["new", "-", "started-failing", "recovered"],
            "a 404 is a failure too"
        );
        assert_eq!(
            told([first(), failed(), failed(), ended(Outcome::Missing), ended(Outcome::Missing), same()]),
            ["new", "-", "started-failing", "-", "gone", "back"]
        );
        let forbidden = || ended(Outcome::Refused(Refused::Robots));
        assert_eq!(
            told([first(), forbidden(), forbidden(), failed(), failed()]),
            ["new", "-", "-", "-", "started-failing"],
            "what robots.txt forbids did not fail"
        );
    }

    #[test]
    fn a_page_moved_when_a_second_cycle_says_so() {
        assert_eq!(
            told([first(), redirects(2, true), redirects(2, true), redirects(2, true), same()]),
            ["new", "-", "moved", "-", "back"]
        );
        assert_eq!(told([first(), redirects(2, false), redirects(2, false)]), ["new", "-", "-"]);
        assert_eq!(
            told([first(), redirects(2, true), redirects(2, true), redirects(3, true), redirects(3, true)]),
            ["new", "-", "moved", "-", "moved"],
            "to another place"
        );
        let missing = || ended(Outcome::Missing);
        assert_eq!(
            told([first(), redirects(2, true), redirects(2, true), missing(), missing(), other()]),
            ["new", "-", "moved", "-", "-", "back"],
            "the page lives elsewhere"
        );
        let one_cycle = [first(), redirects(2, true), redirects(2, true)];
        assert_eq!(events(&one_cycle).0, [Some(EventKind::New), None, None], "all in one cycle");
    }

    #[test]
    fn a_page_that_was_never_stored_has_no_events() {
        let missing = || ended(Outcome::Missing);
        let failed = || ended(Outcome::ServerError);
        assert_eq!(told([missing(), missing(), first()]), ["-", "-", "new"]);
        assert_eq!(told([failed(), failed(), failed()]), ["-", "-", "-"]);
        assert_eq!(told([redirects(2, true), redirects(2, true)]), ["-", "-"]);
    }

    #[test]
    fn names_survive() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_name(kind.name()), Some(kind));
            let condition = Condition::default().after(Some(kind));
            assert_eq!(Condition::from_name(condition.name()), Some(condition));
        }
    }

    fn any_visit() -> impl Strategy<Value = Observation> {
        prop_oneof![
            4 => (1i64..4, prop_oneof![Just(None), Just(Some(false)), Just(Some(true))])
                .prop_map(|(version, changed)| found(version, changed)),
            2 => Just(ended(Outcome::Missing)),
            2 => Just(ended(Outcome::ServerError)),
            1 => Just(ended(Outcome::Refused(Refused::Robots))),
            2 => (2i64..4, any::<bool>()).prop_map(|(to, permanent)| redirects(to, permanent)),
        ]
    }

    proptest! {
        /// Events that are told one by one, as visits come in, are those of the whole log; and they make sense together.
        #[test]
        fn events_told_live_are_those_of_the_log(
            visits in prop::collection::vec((any_visit(), any::<bool>()), 0..40),
        ) {
            let mut cycle = 1;
            let log: Vec<Observation> = visits.into_iter().map(|(fact, is_next)| {
                cycle += i64::from(is_next);
                Observation { cycle: CycleId(cycle), ..fact }
            }).collect();
            let mut live = Folded::default();
            let mut told = Vec::new();
            for fact in &log {
                told.push(EventKind::of(&live, fact));
                let measured = live.measure(fact, false, |_| {
                    Ok::<_, std::convert::Infallible>(crate::change::divergence::Divergence::NONE)
                });
                prop_assert!(measured.is_ok());
                live.take(fact, 3, &[]);
            }
            prop_assert_eq!(events(&log), (told.clone(), live.condition));
            let told: Vec<EventKind> = told.into_iter().flatten().collect();
            prop_assert!(told.first().is_none_or(|first| *first == EventKind::New));
            prop_assert!(told.iter().skip(1).all(|event| *event != EventKind::New));
            let mut condition = Condition::Well;
            for event in told {
                match event {
                    EventKind::Back => prop_assert!(matches!(condition, Condition::Gone | Condition::Moved)),
                    EventKind::Recovered => prop_assert_eq!(condition, Condition::Failing),
                    EventKind::StartedFailing | EventKind::Changed => prop_assert_eq!(condition, Condition::Well),
                    EventKind::Gone => prop_assert!(matches!(condition, Condition::Well | Condition::Failing)),
                    EventKind::New | EventKind::Moved => {}
                }
                condition = condition.after(Some(event));
            }
        }
    }
}
