//! A follower of the log: the search index, over any store.

use super::*;
use freshet::follow::search_index::{FORGOTTEN_NOTE, SearchIndex};
use freshet::quality::scoring::Scoring;

/// The pages that have these words, in order of their numbers.
#[track_caller]
fn having(index: &SearchIndex, terms: &[&str]) -> Vec<PageId> {
    let terms: Vec<String> = terms.iter().map(ToString::to_string).collect();
    let found = index.find(&terms, Scoring::Bm25, |_| 0, 1000).expect("a search");
    assert_eq!(found.matches as usize, found.best.len());
    if terms.len() == 1 {
        assert_eq!(found.with, [found.matches], "pages that left the index are not counted");
    }
    let mut pages: Vec<PageId> = found.best.iter().map(|hit| hit.page).collect();
    pages.sort();
    pages
}

#[track_caller]
fn follow(index: &mut SearchIndex, begun: &mut Begun) {
    index.follow(&mut *begun.store, &mut |_| ()).expect("the log is followed");
    assert_eq!(index.behind(&mut *begun.store).expect("a count"), 0);
}

pub fn an_index_has_the_words_of_the_present_pages(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/a", "/b", "/print"]);
    let [a, b, print] = ["/a", "/b", "/print"].map(|path| begun.id(path));
    let mut index = SearchIndex::temporary().expect("an index");
    follow(&mut index, &mut begun);
    assert_eq!(index.counts().expect("counts").documents, 0);
    // Titles are `about TEXT`.
    begun.record(vec![
        read(a, "old words", NOW),
        read(b, "other words", NOW),
        visit(print, Outcome::Missing, NOW),
    ]);
    follow(&mut index, &mut begun);
    assert_eq!(having(&index, &["words"]), [a, b]);
    assert_eq!(having(&index, &["old", "words", "about"]), [a]);
    assert_eq!(having(&index, &["old", "other"]), []);
    assert_eq!(index.counts().expect("counts").terms, 10);

    begun.next_cycle();
    begun.record(vec![read(a, "new words", later(1)), visit(b, Outcome::NotModified, later(1))]);
    begun.record(vec![read(a, "newest words", later(2))]);
    follow(&mut index, &mut begun);
    assert_eq!((having(&index, &["old"]), having(&index, &["new"])), (vec![], vec![]));
    assert_eq!((having(&index, &["newest"]), having(&index, &["words"])), (vec![a], vec![a, b]));

    // One failure is nothing, and one 404 is not believed; two are.
    for (outcome, found) in
        [(Outcome::ServerError, vec![b]), (Outcome::Missing, vec![b]), (Outcome::Missing, vec![])]
    {
        begun.next_cycle();
        begun.record(vec![visit(b, outcome, later(3))]);
        follow(&mut index, &mut begun);
        assert_eq!(having(&index, &["other"]), found);
    }
    begun.next_cycle();
    begun.record(vec![read(b, "back again", later(4))]);
    follow(&mut index, &mut begun);
    assert_eq!(having(&index, &["again"]), [b]);

    // An alias leaves the index, and comes back when the page that stands for it is gone.
    let text = words(0, 100);
    begun.record_twice(|| {
        let alias = Some(url("/a").fingerprint());
        vec![read(a, &text, later(5)), VisitRecord { alias, ..read(print, &text, later(5)) }]
    });
    follow(&mut index, &mut begun);
    assert_eq!(row(&mut *begun.store, "/print").alias_of.as_deref(), Some("https://example.org/a"));
    assert_eq!(having(&index, &["word7"]), [a]);
    for _ in 0..2 {
        begun.next_cycle();
        begun.record(vec![visit(a, Outcome::Missing, later(6))]);
    }
    assert_eq!(row(&mut *begun.store, "/print").alias_of, None);
    follow(&mut index, &mut begun);
    assert_eq!(having(&index, &["word7"]), [print]);
}

pub fn an_index_forgets_what_the_store_forgot(place: &dyn Place) {
    let mut begun = begun_with_found(place, &["/a", "/b"]);
    let [a, b] = ["/a", "/b"].map(|path| begun.id(path));
    begun.record(vec![read(a, "shared own", NOW), read(b, "shared", NOW)]);
    let mut index = SearchIndex::temporary().expect("an index");
    follow(&mut index, &mut begun);
    assert_eq!(having(&index, &["shared"]), [a, b]);
    begun.store.set_note(FORGOTTEN_NOTE, "1").expect("a note");
    begun.store.forget(&[a], later(1)).expect("it is forgotten");
    assert!(index.behind(&mut *begun.store).expect("a count") > 0);
    follow(&mut index, &mut begun);
    assert_eq!((having(&index, &["shared"]), having(&index, &["own"])), (vec![b], vec![]));
    assert_eq!(index.counts().expect("counts").documents, 1);
    index.forget(&[b]).expect("it is taken out");
    assert_eq!((having(&index, &["shared"]), index.counts().expect("counts").terms), (vec![], 0));
}

pub fn an_index_that_is_read_in_steps_is_the_same_as_one_made_at_once(place: &dyn Place) {
    let paths: Vec<String> = (0..1200).map(|page| format!("/{page}")).collect();
    let mut begun = begun_with_found(place, &paths.iter().map(String::as_str).collect::<Vec<_>>());
    let ids: Vec<PageId> = pages(&mut *begun.store).iter().map(|page| page.id).collect();
    let text =
        |page: PageId, round: usize| format!("common own{} round{round} {}", page.0, "often ".repeat(round));
    let mut stepped = SearchIndex::temporary().expect("an index");
    for round in 1..4 {
        for some in ids.chunks(400) {
            begun.record(
                some.iter().map(|page| read(*page, &text(*page, round), later(round as u64))).collect(),
            );
            // One batch, while more is recorded.
            stepped.step(&mut *begun.store).expect("a step");
        }
        begun.next_cycle();
    }
    follow(&mut stepped, &mut begun);
    let mut whole = SearchIndex::temporary().expect("an index");
    follow(&mut whole, &mut begun);
    assert_eq!(stepped.counts().expect("counts"), whole.counts().expect("counts"));
    for terms in
        [&["common"][..], &["often", "round3"], &["own17"], &["round2"], &["common", "often", "own800"]]
    {
        let terms: Vec<String> = terms.iter().map(ToString::to_string).collect();
        let find = |index: &SearchIndex| index.find(&terms, Scoring::TfIdf, |_| 0, 50).expect("a search");
        assert_eq!(find(&stepped), find(&whole), "{terms:?}");
        assert_eq!(find(&whole).matches > 0, terms[0] != "round2");
    }
    let step = whole.step(&mut *begun.store).expect("a step");
    assert_eq!((step.written, step.read, step.is_behind), (0, 0, false));
}
