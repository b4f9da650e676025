//! Promises of every format, on random pages: the same bytes again, and no panic on damaged files.

use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::disk::{DatasetReader, DatasetWriter};
use super::export::{ExportOptions, ExportTo, Source, export};
use super::group::DAY_MS;
use super::import::{ImportOptions, import};
use super::metadata::TermNote;
use super::page_record::{PageRecord, StateRecord, VisitLine};
use super::signals::SIGNALS_FILE;
use super::terms_table::TERMS_FILE;
use super::tests::{dataset, exported, group, page_formats, written};
use super::*;

fn names() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 ,\"'é-]{1,8}".prop_filter("not blank", |name| name.trim() == name)
}

fn visit() -> impl Strategy<Value = VisitLine> {
    let outcome = prop_oneof![Just(None), Just(Some("fetched".to_owned())), Just(Some("dns".to_owned()))];
    let gap = prop_oneof![0i64..3, 0i64..3 * DAY_MS];
    let changed = prop::option::of(any::<bool>());
    let divergence = prop::option::of(0.0f64..=1.0);
    let numbers = (prop::option::of(0u32..12), prop::option::of(100u32..600), prop::option::of(any::<u64>()));
    (gap, changed, divergence, outcome, numbers).prop_map(
        |(time_ms, changed, divergence, outcome, (cycle, status, bytes))| VisitLine {
            cycle,
            time_ms,
            changed,
            divergence,
            outcome: outcome.clone(),
            status,
            bytes,
            took_ms: bytes,
            content_type: outcome.clone(),
            redirect_to: status.map(|status| format!("https://a.example/{status}")),
            last_modified_ms: bytes.and_then(|bytes| i64::try_from(bytes).ok()),
            reason: outcome.clone(),
        },
    )
}

fn words() -> impl Strategy<Value = TextWords> {
    let counts = prop::collection::btree_map(any::<u64>(), 1u32..1000, 0..5);
    (counts, 0u32..9).prop_map(|(counts, more)| TextWords {
        length: counts.values().sum::<u32>() + more,
        counts: counts.into_iter().collect(),
    })
}

fn state() -> impl Strategy<Value = StateRecord> {
    let hashes = prop::option::of(prop::collection::btree_set(any::<u64>(), 0..5));
    (0i64..DAY_MS, 0u64..3, hashes, prop::option::of(words())).prop_map(|(time_ms, text, hashes, words)| {
        StateRecord {
            cycle: None,
            time_ms,
            text,
            hashes: hashes.map(|hashes| hashes.into_iter().collect()),
            words,
        }
    })
}

fn signals() -> impl Strategy<Value = Vec<RecordedSignal>> {
    let time = || (0..200 * DAY_MS).prop_map(Timestamp::from_millis);
    let signal = (prop::sample::select(SignalKind::ALL.to_vec()), prop::option::of(time()), time());
    let signal = signal.prop_map(|(kind, date, learnt_at)| RecordedSignal { kind, date, learnt_at });
    prop::collection::vec(signal, 0..4).prop_map(|mut signals| {
        signals.sort_by_key(|signal| signal.learnt_at);
        signals
    })
}

prop_compose! {
    fn page(group: &'static str)(
        site in names(),
        url in names(),
        weight in prop_oneof![Just(1.0), 0.0f64..1e9],
        mut visits in prop::collection::vec(visit(), 1..8),
        mut states in prop::collection::vec(state(), 1..4),
        alias_of in prop::option::of(names()),
        inlinks in prop::option::of(any::<u32>()),
        signals in signals(),
    ) -> PageRecord {
        // So far they are gaps.
        let mut time_ms = 100 * DAY_MS + 17;
        for visit in &mut visits {
            time_ms += visit.time_ms;
            visit.time_ms = time_ms;
        }
        for state in &mut states {
            time_ms += state.time_ms;
            state.time_ms = time_ms;
        }
        PageRecord { visits, states, alias_of, inlinks, signals, ..PageRecord::new(group, &site, &url, weight) }
    }
}

fn pages() -> impl Strategy<Value = Vec<PageRecord>> {
    let of = |group| prop::collection::vec(page(group), 1..5);
    (of("g"), of("h, too")).prop_map(|(mut one, mut other)| {
        // Formats that leave aliases out have something to write.
        [&mut one, &mut other].into_iter().for_each(|pages| pages[0].alias_of = None);
        one.extend(other);
        // No two pages have one name.
        one.iter_mut().enumerate().for_each(|(at, page)| page.url += &at.to_string());
        one
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damaged_files_are_read_or_refused_and_nothing_else(
        format in prop::sample::select(page_formats()),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (folder, files) = written(format);
        let mut bytes = files[""].clone();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let (path, out) = (folder.path().join("damaged"), folder.path().join("dataset"));
        fs::write(&path, &bytes).expect("a file");
        let before = fs::read_dir(folder.path()).expect("a folder").count();
        let done = import(&path, format, &out, &ImportOptions::default(), &mut |_, _| ());
        match done {
            Ok(_) => { Dataset::load(&out).expect("what was read is a dataset"); }
            Err(_) => prop_assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), before),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_exported_imported_and_exported_again_is_the_same(pages in pages()) {
        let folder = TempDir::new().expect("a folder");
        let first = folder.path().join("first");
        dataset(&first, &[group("g", 12), group("h, too", 9)], &pages);
        for format in page_formats() {
            let place = |name: &str| folder.path().join(format!("{}-{name}", format.name));
            let options = match format.name {
                "brdc" => ExportOptions { group: Some("h, too".to_owned()), ..ExportOptions::default() },
                _ => ExportOptions::default(),
            };
            let (one, other) = (place("one"), place("other"));
            fs::create_dir_all(&one).expect("a folder");
            let mut source = Source::Dataset(Box::new(DatasetReader::open(&first).expect("a dataset")));
            match export(&mut source, format, ExportTo::File(&one.join("f")), &options, &mut |_, _| ()) {
                // No page of it was ever fetched.
                Err(DatasetError::Cannot(said)) => {
                    prop_assert!(said.contains("none was ever fetched"), "{}", said);
                    continue;
                }
                done => done.expect("an export"),
            };
            let dataset = place("dataset");
            import(&one.join("f"), format, &dataset, &ImportOptions::default(), &mut |_, _| ())
                .expect("an import");
            let again = exported(&dataset, format, &other).expect("an export");
            for entry in fs::read_dir(&one).expect("a folder") {
                let path = entry.expect("a file").path();
                let name = path.file_name().expect("a name").to_string_lossy().replacen('f', "", 1);
                let (was, is) = (fs::read(&path).expect("a file"), &again[&name]);
                prop_assert!(was == *is, "{} {}:\n{}\n{}", format.name, name,
                    String::from_utf8_lossy(&was), String::from_utf8_lossy(is));
            }
            Dataset::load(&dataset).expect("a dataset");
        }
    }

    #[test]
    fn a_dataset_that_is_read_and_written_again_is_the_same(pages in pages(), known in any::<bool>()) {
        let folder = TempDir::new().expect("a folder");
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        let groups = [group("g", 12), group("h, too", 9)];
        let terms = known.then_some(TermNote { scheme: 1 });
        let write = |to: &Path, pages: &[PageRecord]| {
            fs::create_dir_all(to).expect("a folder");
            let mut writer = DatasetWriter::create(to).expect("a dataset");
            writer.made_terms = terms;
            pages.iter().for_each(|page| writer.page(page).expect("a page"));
            writer.finish("small", "test", groups.to_vec()).expect("a dataset")
        };
        let manifest = write(&first, &pages);
        let mut read = Vec::new();
        let mut take = |page| {
            read.push(page);
            Ok(())
        };
        DatasetReader::open(&first).expect("a dataset").each(true, &mut take).expect("pages");
        prop_assert_eq!(&read, &pages);
        write(&second, &read);
        for entry in fs::read_dir(&first).expect("a folder") {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("a name");
            prop_assert!(fs::read(&path).ok() == fs::read(second.join(name)).ok(), "{}", path.display());
        }
        // Words are loaded beside the texts, if it is known how they were made.
        let has_words = pages.iter().any(|page| page.states.iter().any(|state| state.words.is_some()));
        prop_assert_eq!(manifest.terms.is_some(), known && has_words);
        match Dataset::load_with(&first, WantedWords::All) {
            Ok(loaded) => {
                prop_assert!(manifest.terms.is_some());
                for page in loaded.groups.iter().flat_map(|group| &group.pages) {
                    let History::Texts { texts, .. } = &page.history else { continue };
                    prop_assert_eq!(page.words.len(), texts.len());
                }
            }
            Err(_) => prop_assert!(manifest.terms.is_none()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn a_damaged_table_of_words_or_signals_is_read_or_refused(
        pages in pages(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let folder = TempDir::new().expect("a folder");
        let at = folder.path().join("d");
        dataset(&at, &[group("g", 12), group("h, too", 9)], &pages);
        for path in [at.join(TERMS_FILE), at.join(SIGNALS_FILE)] {
            let Ok(mut bytes) = fs::read(&path) else { continue };
            for (at, byte) in &damage {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            fs::write(&path, bytes).expect("a file");
            let _ = Dataset::load_with(&at, WantedWords::All);
            let _ = DatasetReader::open(&at).expect("a dataset").each(true, &mut |_| Ok(()));
        }
    }
}
