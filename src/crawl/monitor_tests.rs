use super::*;

fn monitor(every: Duration) -> Monitor {
    let now = Timestamp::from_seconds(1_800_000_000);
    let settings = MonitorSettings {
        every,
        time_of_day: None,
        once: false,
        budget: None,
        threshold: None,
        daily_budget: None,
        catch_up: false,
    };
    let calendar = Calendar::new(every, None, &TimeZone::UTC, None, now);
    let today = DaySummary::default();
    let arrears = Arrears { owed: 0 };
    Monitor {
        settings,
        calendar,
        last_due: now,
        arrears,
        controller: None,
        today,
        at_once: true,
        resumes: false,
        missed: 0,
        is_spent: false,
    }
}

#[test]
fn a_budget_is_raised_only_if_the_operator_asks_for_it() {
    let mut monitor = monitor(DAY);
    monitor.settings.budget = Some(60);
    monitor.miss(7);
    assert_eq!((monitor.missed, monitor.raise(60)), (7, RaisedBudget { budget: 60, extra: 0, owed: 0 }));
    monitor.settings.catch_up = true;
    monitor.miss(7);
    assert_eq!(monitor.raise(60), RaisedBudget { budget: 75, extra: 15, owed: 405 });
    monitor.resumes = true;
    assert_eq!(monitor.raise(60).extra, 0, "an interrupted cycle has its budget already");
}

#[test]
fn what_is_owed_belongs_to_its_terms() {
    let daily = MonitorSettings { budget: Some(20), ..monitor(DAY).settings };
    let noted = MonitorTerms { owed: 5, ..MonitorTerms::of(&daily) };
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = crate::store::open(&folder.path().join("store.db")).expect("a store");
    assert_eq!(MonitorTerms::of(&daily).load(&mut *store).expect("a note"), None);
    noted.save(&mut *store).expect("it is noted");
    assert_eq!(MonitorTerms::of(&daily).load(&mut *store).expect("a note"), Some(noted));
    let hourly = MonitorSettings { every: Duration::from_secs(3600), ..daily };
    let larger = MonitorSettings { budget: Some(50), ..daily };
    for other in [hourly, larger] {
        assert_eq!(MonitorTerms::of(&other).load(&mut *store).expect("a note"), None);
    }
}

#[test]
fn cycles_of_a_day_are_added_up_until_the_next_day() {
    let mut monitor = monitor(Duration::from_secs(3600));
    let counts = Counts { requests: 3, changed: 1, ..Counts::default() };
    let midnight = 1_800_057_600;
    assert_eq!(monitor.add_to_day(Timestamp::from_seconds(midnight - 7200), &counts), None);
    assert_eq!(monitor.add_to_day(Timestamp::from_seconds(midnight - 3600), &counts), None);
    let over = monitor.add_to_day(Timestamp::from_seconds(midnight), &counts).expect("a day is over");
    assert_eq!((over.cycles, over.requests, over.changed), (2, 6, 2));
    assert_eq!((monitor.today.cycles, monitor.today.requests), (1, 3));
}

#[test]
fn a_cycle_a_day_is_its_own_summary() {
    let mut monitor = monitor(DAY);
    assert_eq!(monitor.add_to_day(Timestamp::from_seconds(0), &Counts::default()), None);
    assert_eq!(monitor.today.cycles, 0);
}
