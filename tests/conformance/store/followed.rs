//! A follower of the log: the search index, over any store.

use super::*;
use freshet::follow::gain_outbox;
use freshet::follow::search_index::{FORGOTTEN_NOTE, SearchIndex};
use freshet::quality::attention::Attention;
use freshet::quality::scoring::Scoring;
use freshet::quality::search_workload::SearchWorkload;
use freshet::quality::workload::Workload;

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

fn searches(queries: &[(&str, f64)]) -> SearchWorkload {
    let terms = |query: &str| query.split(' ').map(str::to_owned).collect();
    let queries = queries.iter().map(|(query, frequency)| (terms(query), *frequency));
    let workload = Workload::of(queries).expect("queries");
    SearchWorkload { workload, scoring: Scoring::TfIdf, attention: Attention::default() }
}

/// An index in a file that measures by these searches, opened as a crawl does.
fn measuring(path: &std::path::Path, begun: &mut Begun, search: &SearchWorkload) -> SearchIndex {
    let mut index = SearchIndex::open(path, &mut *begun.store).expect("an index");
    index.measure_by(search, |_| Ok(Default::default()), &mut *begun.store).expect("a measure");
    index
}

pub fn an_index_measures_what_refreshes_gain(place: &dyn Place) {
    let paths: Vec<String> = (0..40).map(|page| format!("/{page}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let mut begun = begun_with_found(place, &paths);
    let ids: Vec<PageId> = paths.iter().map(|path| begun.id(path)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let (kept, reopened) = (folder.path().join("kept.search.db"), folder.path().join("reopened.search.db"));
    let search = searches(&[("cancer", 3.0), ("law tax", 1.0)]);
    let mut index = measuring(&kept, &mut begun, &search);
    // Every second page has the words; the last one is not held yet.
    let text = |page: usize| {
        format!("{} {}", if page.is_multiple_of(2) { "cancer law" } else { "advert" }, words(page, 5 + page))
    };
    for (page, id) in ids.iter().enumerate().take(39) {
        begun.record(vec![read(*id, &text(page), NOW)]);
    }
    follow(&mut index, &mut begun);
    let waiting = |path: &std::path::Path| gain_outbox::waiting(path, search.measure()).expect("gains");
    assert_eq!(waiting(&kept), [], "the first batch has nothing to be measured by");
    drop(measuring(&reopened, &mut begun, &search));
    follow(&mut measuring(&reopened, &mut begun, &search), &mut begun);

    begun.next_cycle();
    begun.record(vec![
        // The advert becomes the best result, another advert stays one, and a result vanishes from the results.
        read(ids[1], "cancer cancer cancer", later(1)),
        read(ids[3], "another advert", later(1)),
        read(ids[4], "nothing of it", later(1)),
        visit(ids[6], Outcome::NotModified, later(1)),
        read(ids[39], "cancer at last", later(2)),
    ]);
    follow(&mut index, &mut begun);
    follow(&mut measuring(&reopened, &mut begun, &search), &mut begun);
    let gains = waiting(&kept);
    let told: Vec<(PageId, Timestamp, bool, Vec<String>)> =
        gains.iter().map(|row| (row.page, row.gain.at, row.gain.is_first, row.words.clone())).collect();
    let word = |word: &str| vec![word.to_owned()];
    assert_eq!(
        told,
        [
            (ids[1], later(1), false, word("cancer")),
            (ids[3], later(1), false, vec![]),
            (ids[4], later(1), false, vec!["cancer".to_owned(), "law".to_owned()]),
            (ids[39], later(2), true, word("cancer")),
        ]
    );
    let deltas: Vec<f64> = gains.iter().map(|row| row.gain.delta).collect();
    assert!(deltas[0] > 0.0 && deltas[1] == 0.0 && deltas[2] > 0.0 && deltas[3] > 0.0, "{deltas:?}");
    // An index that was closed in between has the same gains, but for the rounding of its functions.
    let others = waiting(&reopened);
    assert_eq!(others.len(), gains.len());
    for (one, other) in gains.iter().zip(&others) {
        assert!(
            (one.gain.delta - other.gain.delta).abs() <= 1e-4 * one.gain.delta.abs(),
            "{one:?} {other:?}"
        );
    }

    gain_outbox::taken(&kept, &gains[..2]).expect("the store has them");
    assert_eq!(waiting(&kept), gains[2..]);
    // Other searches have gains of their own; these are measured from the words that the index has.
    let tax = searches(&[("tax", 1.0), ("cancer", 1.0)]);
    let mut index = measuring(&kept, &mut begun, &tax);
    begun.next_cycle();
    begun.record(vec![read(ids[1], "no more", later(3))]);
    follow(&mut index, &mut begun);
    let of_tax = gain_outbox::waiting(&kept, tax.measure()).expect("gains");
    assert_eq!(
        of_tax.iter().map(|row| (row.page, row.words.clone())).collect::<Vec<_>>(),
        [(ids[1], word("cancer"))]
    );
    assert_eq!(waiting(&kept), gains[2..], "the others still wait");

    // A page that is gone leaves the results.
    for second in [4, 5] {
        begun.next_cycle();
        begun.record(vec![visit(ids[39], Outcome::Missing, later(second))]);
        follow(&mut index, &mut begun);
    }
    let of_tax = gain_outbox::waiting(&kept, tax.measure()).expect("gains");
    assert_eq!(of_tax.last().map(|row| (row.page, row.gain.at)), Some((ids[39], later(5))));
}
