//! What is derived can be made again from the log and the versions.

use super::*;

/// A history with all there is in it.
fn eventful(place: &dyn Place) -> Begun {
    let mut begun = begun(place, &["/", "/b", "/c", "/picture"]);
    let ids = ["/", "/b", "/c", "/picture"].map(|path| begun.id(path));
    for day in 0..12u64 {
        let at = later(day * DAY);
        let mut batch = vec![read(ids[0], &words(day as usize * 7, 300), at)];
        batch.push(match day % 5 {
            0 => visit(ids[1], Outcome::Missing, at),
            1 => redirected(ids[1], "/c", day == 1, at),
            2 => visit(ids[1], Outcome::Refused(Refused::Robots), at),
            _ => VisitRecord { text_rules: day / 6, ..read(ids[1], &words(0, 5 + (day % 2) as usize), at) },
        });
        batch.push(match day {
            0 => read(ids[2], "", at),
            5 => visit(ids[2], Outcome::Throttled { retry_after: Some(Duration::from_secs(9)) }, at),
            6 => visit(ids[2], Outcome::Failed(Failure::Dns), at),
            8 => fetched(ids[2], b"other bytes", "", at),
            _ => visit(ids[2], Outcome::NotModified, at),
        });
        let Content::Read(bytes) = content(&[day as u8 / 2], "") else { unreachable!() };
        let bytes = Content::Read(ReadContent { sketch: None, ..bytes });
        batch.push(VisitRecord { content: Some(bytes), ..visit(ids[3], Outcome::Fetched, at) });
        begun.record(batch);
        begun.next_cycle();
    }
    begun
}

pub fn a_rebuild_gives_the_same_to_the_bit(place: &dyn Place) {
    let mut begun = eventful(place);
    let before = derived(&mut *begun.store);
    let mut told = Vec::new();
    for write in [false, true] {
        let rebuilt =
            begun.rebuild(ChangeSettings::default(), write, &mut |done, all| told.push((done, all)));
        let rebuilt = rebuilt.expect("a rebuild");
        assert_eq!((rebuilt.pages, rebuilt.pages_differ, rebuilt.sketches_differ), (4, 0, 0), "{rebuilt:?}");
        assert_eq!(derived(&mut *begun.store), before);
    }
    assert!(told.last().is_some_and(|(done, all)| done == all));
}

pub fn a_rebuild_repairs_what_is_derived(place: &dyn Place) {
    let mut begun = eventful(place);
    let before = derived(&mut *begun.store);
    let other =
        ChangeSettings { fragment_words: 1, sketch: Some(8), profiles: 2, ..ChangeSettings::default() };
    let looked = begun.rebuild(other, false, &mut |_, _| ()).expect("a look");
    assert!(looked.pages_differ > 0 && looked.sketches_differ > 0, "{looked:?}");
    assert_eq!(derived(&mut *begun.store), before, "a look changes nothing");
    begun.rebuild(other, true, &mut |_, _| ()).expect("a rebuild");
    let measured = derived(&mut *begun.store);
    assert_ne!(measured, before);
    let again = begun.rebuild(other, true, &mut |_, _| ()).expect("a rebuild");
    assert_eq!((again.pages_differ, again.sketches_differ), (0, 0));
    begun.rebuild(ChangeSettings::default(), true, &mut |_, _| ()).expect("a rebuild");
    assert_eq!(derived(&mut *begun.store), before, "the log and the versions have it all");
}

pub fn what_scheduling_keeps_is_small(place: &dyn Place) {
    let mut begun = begun(place, &["/"]);
    let root = begun.id("/");
    let change = ChangeSettings { sketch: Some(8), profiles: 1, ..ChangeSettings::default() };
    for day in 0..30 {
        let text = words(day as usize * 20, 400);
        let Content::Read(content) = content(text.as_bytes(), &text) else { unreachable!() };
        let content = Content::Read(ReadContent { sketch: Some(change::sketch(&text, change)), ..content });
        let visit = VisitRecord { content: Some(content), ..visit(root, Outcome::Fetched, later(day * DAY)) };
        begun.take(Batch { change, ..batch(vec![visit]) }).expect("it is taken");
        let sizes = begun.store.sizes().expect("sizes");
        assert_eq!(sizes.pages, 1);
        // The paper's hashes have 4 bytes, ours 8.
        assert!(sizes.largest_bytes - 8 * 4 <= 128, "{sizes:?}");
    }
}

pub fn an_empty_picture_is_no_empty_page(place: &dyn Place) {
    let mut begun = begun(place, &["/page", "/picture"]);
    let (page, picture) = (begun.id("/page"), begun.id("/picture"));
    for second in 0..3 {
        let Content::Read(empty) = content(b"", "") else { unreachable!() };
        let empty = Content::Read(ReadContent { sketch: None, ..empty });
        let empty = VisitRecord { content: Some(empty), ..visit(picture, Outcome::Fetched, later(second)) };
        begun.record(vec![empty, read(page, "", later(second))]);
    }
    begun.record(vec![
        visit(picture, Outcome::NotModified, later(4)),
        visit(page, Outcome::NotModified, later(4)),
    ]);
    let divergences = |store: &mut dyn Store, page| -> Vec<Option<f64>> {
        visits(store, page).iter().map(|visit| visit.divergence).collect()
    };
    assert_eq!(divergences(&mut *begun.store, picture), [None; 4]);
    assert_eq!(divergences(&mut *begun.store, page), [None, Some(0.0), Some(0.0), Some(0.0)]);
    let rebuilt = begun.rebuild(ChangeSettings::default(), false, &mut |_, _| ()).expect("a look");
    assert_eq!((rebuilt.pages_differ, rebuilt.sketches_differ), (0, 0));
}
