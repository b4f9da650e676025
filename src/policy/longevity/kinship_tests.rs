//! Small collections whose rates and clocks can be worked out by hand.

use super::*;

const DAY: i64 = 86_400_000;

fn kin(section: u32, name: u32) -> Kin {
    Kin { site: 1, section, name, ..Kin::default() }
}

fn page(visits: &[(f64, f64)]) -> Replaced {
    let mut replaced = Replaced::default();
    visits.iter().for_each(|(found, days)| replaced.add(*found, *days));
    replaced
}

fn at(day: i64) -> Timestamp {
    Timestamp::from_millis(day * DAY)
}

fn gathered(pages: &[(Kin, Replaced, i64)]) -> Kinship {
    let mut gathering = KinGathering::default();
    for (kin, replaced, day) in pages {
        gathering.add(*kin, replaced, replaced.recent().len() as u32, at(*day), 1);
    }
    gathering.finish(Age::from_days(1.0))
}

#[test]
fn a_page_that_was_never_seen_again_is_like_its_folder() {
    let (busy, quiet) = (page(&[(0.5, 1.0); 4]), page(&[(0.0, 1.0); 4]));
    let pages: Vec<_> = (0..40)
        .map(|id| if id % 2 == 0 { (kin(1, id), busy, 10) } else { (kin(2, id), quiet, 10) })
        .collect();
    let kinship = gathered(&pages);
    let rate = |section| kinship.rate(kin(section, 1000), Sums::default());
    assert!(rate(1) > 1.5 * rate(2), "{} {}", rate(1), rate(2));
    assert!(rate(3) < rate(1) && rate(3) > rate(2), "of another folder: {}", rate(3));
    assert!(
        kinship.rate(kin(1, 0), (&busy).into()) > kinship.rate(kin(1, 0), (&quiet).into()),
        "its own visits count too"
    );
}

#[test]
fn where_nothing_tells_pages_apart_all_are_alike() {
    // Each was replaced by half once in four visits, whichever it was.
    let of = |id: u32| {
        page(&std::array::from_fn::<_, 4, _>(|at| (if at as u32 == id % 4 { 0.5 } else { 0.0 }, 1.0)))
    };
    let pages: Vec<_> = (0..40).map(|id| (kin(id % 3, id), of(id), 10)).collect();
    let kinship = gathered(&pages);
    let rates: Vec<f64> =
        pages.iter().map(|(kin, replaced, _)| kinship.rate(*kin, replaced.into())).collect();
    let (least, most) =
        rates.iter().fold((f64::MAX, 0.0_f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
    assert!(most < 1.1 * least, "{least} {most}");
}

#[test]
fn siblings_that_moved_make_time_pass_faster_where_that_was_right_before() {
    // Nothing for three days, then all move at once, on the fourth: those visited then say so of the others.
    let quiet = page(&[(0.0, 1.0), (0.0, 1.0), (0.0, 1.0)]);
    let moved = |last_days: f64| {
        let mut replaced = quiet;
        replaced.add(0.8, last_days);
        replaced
    };
    let mut pages = Vec::new();
    // Visited one a day, from day 4 on: each finds what the one before found.
    (0..30)
        .for_each(|id| pages.push((kin(1, id), moved(1.0 + f64::from(id) / 10.0), 4 + i64::from(id) / 10)));
    pages.push((kin(1, 99), quiet, 3));
    let kinship = gathered(&pages);
    assert!(kinship.evidence[0] > CLOCK_EVIDENCE, "{:?}", kinship.evidence);
    let (waiting, just_seen) =
        (kinship.clock_factor(kin(1, 99), at(3)), kinship.clock_factor(kin(1, 98), at(20)));
    assert!(waiting > 1.4, "{waiting}");
    assert!((just_seen - 1.0).abs() < 1e-9, "nothing happened since: {just_seen}");
    assert_eq!(
        kinship.clock_factor(Kin { site: 7, section: 1, name: 99, ..Kin::default() }, at(3)),
        1.0,
        "nothing is known of that host"
    );
}

#[test]
fn of_very_many_pages_some_are_looked_at() {
    let mut gathering = KinGathering::default();
    let replaced = page(&[(0.1, 1.0)]);
    for id in 0..3 * MOST_ROWS as u32 {
        gathering.add(kin(id % 100, id % 1000), &replaced, 1, at(10), 1);
    }
    assert!(gathering.rows.len() <= MOST_ROWS && gathering.rows.len() > MOST_ROWS / 4);
    let kinship = gathering.finish(Age::from_days(1.0));
    let rate = kinship.rate(kin(1, 1), (&replaced).into());
    assert!((0.05..0.2).contains(&rate), "{rate}");
}
