//! Every format on two pages worked by hand, and the messages for mistakes.

use super::disk::{DatasetReader, DatasetWriter};
use super::export::{ExportOptions, ExportTo, Source, export};
use super::format::{FORMATS, Format, Write};
use super::group::DAY_MS;
use super::import::{ImportOptions, import};
use super::metadata::TermNote;
use super::page_record::{PageRecord, StateRecord, VisitLine};
use super::parquet::{TableReader, TableWriter, Value};
use super::*;
use crate::quality::terms::TERM_SCHEME;
use std::collections::BTreeMap;
use std::fs;
use tempfile::TempDir;

pub(super) fn group(name: &str, cycles: u32) -> GroupInfo {
    GroupInfo { name: name.to_owned(), start_ms: 100 * DAY_MS, step_ms: DAY_MS, cycles }
}

pub(super) fn dataset(folder: &Path, groups: &[GroupInfo], pages: &[PageRecord]) {
    fs::create_dir(folder).expect("a folder");
    let mut writer = DatasetWriter::create(folder).expect("a dataset");
    writer.made_terms = Some(TermNote { scheme: TERM_SCHEME });
    pages.iter().for_each(|page| writer.page(page).expect("a page"));
    writer.finish("small", "test", groups.to_vec()).expect("a dataset");
}

/// Two pages: one is there from the first cycle on and changes twice, one from the second and stays.
pub(super) fn two_pages() -> Vec<PageRecord> {
    let day = |day: i64| (100 + day) * DAY_MS;
    let mut one = PageRecord::new("g", "a.example", "http://a.example/", 2.5);
    one.visits = vec![
        VisitLine { outcome: Some("fetched".into()), status: Some(200), ..VisitLine::at(day(0), None) },
        VisitLine {
            divergence: Some(0.25),
            bytes: Some(7),
            took_ms: Some(12),
            ..VisitLine::at(day(1) + 5, Some(true))
        },
        VisitLine { outcome: Some("dns".into()), ..VisitLine::at(day(2), None) },
        VisitLine { cycle: Some(3), ..VisitLine::at(day(3) - 1, Some(true)) },
    ];
    let state = |at, text, hashes| StateRecord { cycle: None, time_ms: at, text, hashes, words: None };
    one.states = vec![
        state(day(0), 11, Some(vec![1, 2])),
        state(day(1), 12, Some(vec![1, 2])),
        state(day(3), 11, Some(vec![1, 2])),
    ];
    let mut other = PageRecord::new("g", "b.example", "http://b.example/x", 1.0);
    other.visits = vec![VisitLine::at(day(1), None), VisitLine::at(day(3), Some(false))];
    other.states = vec![state(day(1), 13, Some(vec![5])), state(day(2), 14, None)];
    vec![one, other]
}

fn named(name: &str) -> &'static Format {
    Format::named(name).expect("a row")
}

/// The formats that are written page by page.
pub(super) fn page_formats() -> Vec<&'static Format> {
    FORMATS.iter().filter(|format| matches!(format.write, Write::Pages(_))).collect()
}

pub(super) fn written(format: &'static Format) -> (TempDir, BTreeMap<String, Vec<u8>>) {
    let folder = TempDir::new().expect("a folder");
    dataset(&folder.path().join("d"), &[group("g", 4)], &two_pages());
    let files = exported(&folder.path().join("d"), format, &folder.path().join("out")).expect("an export");
    (folder, files)
}

/// The files of an export, by what is behind the name of the main one.
pub(super) fn exported(
    from: &Path,
    format: &'static Format,
    to: &Path,
) -> Result<BTreeMap<String, Vec<u8>>, DatasetError> {
    fs::create_dir_all(to).expect("a folder");
    let mut source = Source::Dataset(Box::new(DatasetReader::open(from)?));
    let out = to.join("f");
    export(&mut source, format, ExportTo::File(&out), &ExportOptions::default(), &mut |_, _| ())?;
    let files = fs::read_dir(to).expect("a folder").map(|entry| {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name.replacen('f', "", 1), fs::read(path).expect("a file"))
    });
    Ok(files.collect())
}

fn text(files: &BTreeMap<String, Vec<u8>>, suffix: &str) -> String {
    String::from_utf8(files[suffix].clone()).expect("text")
}

#[test]
fn brdc_is_a_line_of_bits_a_page() {
    let (_folder, files) = written(named("brdc"));
    assert_eq!(text(&files, ""), "101\n000\n");
    let pages = "a.example\thttp://a.example/\t1970-04-11\nb.example\thttp://b.example/x\t1970-04-12\n";
    assert_eq!(text(&files, ".pages.tsv"), pages);
    let readme = text(&files, ".README.md");
    for said in ["| pages | 2 |", "1 / 1 / 1.00", "| changes found | 2 |", "| g | 1970-04-11 | 86400 | 4 |"] {
        assert!(readme.contains(said), "{said}: {readme}");
    }
}

#[test]
fn lambdacrawl_is_gaps_and_bits() {
    let (_folder, files) = written(named("lambdacrawl"));
    let gaps = format!("[[{}, 1], [{}, 1]]", (DAY_MS + 5) as f64 / 864e5, (2 * DAY_MS - 6) as f64 / 864e5);
    assert_eq!(text(&files, ""), format!("0\t0\t{gaps}\n1\t1\t[[2, 0]]\n"));
    assert_eq!(text(&files, ".imp.tsv"), "0\t2.5\n1\t1\n");
    assert!(text(&files, ".urls.tsv").starts_with("http://a.example/\t0\ta.example\tg\n"));
}

#[test]
fn observations_are_rows() {
    let (_folder, files) = written(named("observations-csv"));
    let csv = text(&files, "");
    let lines: Vec<&str> = csv.lines().collect();
    let heads = "group,site,url,weight,cycle,time_ms,changed,divergence,outcome,status,bytes,took_ms,alias_of,content_type,redirect_to,last_modified_ms,reason";
    assert_eq!(lines[0], heads);
    assert_eq!(lines[2], "g,a.example,http://a.example/,2.5,,8726400005,1,0.25,,,7,12,,,,,");
    assert_eq!(lines.len(), 7);
    let (_folder, files) = written(named("observations-jsonl"));
    let first: serde_json::Value =
        serde_json::from_str(text(&files, "").lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["url"], "http://a.example/");
    assert!(first["changed"].is_null() && first["status"] == 200);
}

#[test]
fn a_table_without_a_column_that_was_added_later_is_read() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("table.parquet");
    let mut table = TableWriter::create(&path, &disk::PAGES[..7]).expect("a table");
    let text = Value::Text;
    table
        .push(&[Value::U32(0), text("g"), text("s"), text("u"), Value::F64(1.0), Value::Null, Value::Null])
        .expect("a row");
    table.finish().expect("a table");
    let mut table = TableReader::open(&path, &disk::PAGES, &[]).expect("an older table");
    let batch = table.next_batch().expect("rows").expect("a row");
    let page = disk::page_row(&batch, 0, &path, 0).expect("a page").page;
    assert_eq!((page.url.as_str(), page.alias_of), ("u", None));
}

#[test]
fn observations_of_earlier_releases_are_read() {
    let folder = TempDir::new().expect("a folder");
    let heads = "group,site,url,weight,cycle,time_ms,changed,divergence,outcome,status,bytes,took_ms";
    let row = "g,a.example,http://a.example/,1,0,86400000,,,fetched,200,7,12";
    let csv = folder.path().join("f.csv");
    std::fs::write(&csv, format!("{heads}\n{row}\n")).expect("a file");
    // The columns of the first release, and those of the one that added `alias_of`.
    let row = [
        Value::Text("g"),
        Value::Text("a.example"),
        Value::Text("http://a.example/"),
        Value::F64(1.0),
        Value::U32(0),
        Value::I64(DAY_MS),
        Value::Null,
        Value::Null,
        Value::Text("fetched"),
        Value::U32(200),
        Value::U64(7),
        Value::U64(12),
        Value::Null,
    ];
    for length in [12, 13] {
        let path = folder.path().join(format!("{length}.parquet"));
        let columns = super::observations::columns();
        let mut table = TableWriter::create(&path, &columns[..length]).expect("a table");
        table.push(&row[..length]).expect("a row");
        table.finish().expect("a table");
    }
    for name in ["f.csv", "12.parquet", "13.parquet"] {
        let out = folder.path().join(format!("{name}.dataset"));
        let options = ImportOptions::default();
        import(&folder.path().join(name), named("observations"), &out, &options, &mut |_, _| ()).expect(name);
        let reader = DatasetReader::open(&out).expect("a dataset");
        let mut visits = Vec::new();
        let mut take = |page: PageRecord| {
            visits.extend(page.visits);
            Ok(())
        };
        reader.each(false, &mut take).expect("pages");
        assert_eq!((visits.len(), visits[0].status, visits[0].bytes), (1, Some(200), Some(7)), "{name}");
        assert_eq!((&visits[0].content_type, &visits[0].reason), (&None, &None), "{name}");
    }
}

#[test]
fn rates_are_those_of_cho_and_garcia_molina() {
    let (_folder, files) = written(named("rates"));
    let csv = text(&files, "");
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let step = (3 * DAY_MS - 1) as f64 / (2.0 * 864e5);
    assert_eq!(rows[0][5].parse::<f64>().expect("a number"), step);
    assert_eq!(rows[0][6..8], ["2", "2"]);
    let rate: f64 = rows[0][8].parse().expect("a number");
    assert!((rate - (2.5f64 / 0.5).ln() / step).abs() < 1e-12, "{rate}");
    assert_eq!(rows[1][3..], ["1", "1970-04-12", "2", "1", "0", "0"]);
}

#[test]
fn a_dataset_is_loaded_as_bits_or_as_texts() {
    let folder = TempDir::new().expect("a folder");
    let (bits, texts) = (folder.path().join("bits"), folder.path().join("texts"));
    let mut pages = two_pages();
    dataset(&texts, &[group("g", 4), group("empty", 9)], &pages);
    pages.iter_mut().for_each(|page| page.states.clear());
    pages.push(PageRecord {
        visits: vec![VisitLine { outcome: Some("dns".into()), ..VisitLine::at(100 * DAY_MS, None) }],
        ..PageRecord::new("g", "c", "never held", 1.0)
    });
    dataset(&bits, &[group("g", 4)], &pages);

    let loaded = Dataset::load(&bits).expect("a dataset");
    assert_eq!((loaded.name.as_str(), loaded.groups.len()), ("small", 1));
    let found = &loaded.groups[0];
    assert_eq!(
        (found.cycles, found.step, found.start.millis()),
        (4, Duration::from_secs(86_400), 100 * DAY_MS)
    );
    let histories: Vec<_> = found.pages.iter().map(|page| (page.born, &page.history)).collect();
    assert_eq!(histories, [(0, &History::Bits(vec![0b101])), (1, &History::Bits(vec![0]))]);
    assert_eq!((found.pages[0].weight, found.pages[0].site.as_str()), (2.5, "a.example"));

    let loaded = Dataset::load(&texts).expect("a dataset");
    assert_eq!(loaded.groups[1].pages, []);
    let History::Texts { from, texts } = &loaded.groups[0].pages[0].history else { panic!("{loaded:?}") };
    assert_eq!(from[..], [(0, 0), (1, 1), (3, 0)], "the same fragments in another order are another text");
    assert_eq!(texts.len(), 2);
    let page = &loaded.groups[0].pages[1];
    let History::Texts { from, texts } = &page.history else { panic!("{loaded:?}") };
    assert_eq!((page.born, &from[..]), (1, &[(1, 0), (2, 1)][..]));
    assert_eq!(*texts[1], [0u64; 0], "removed");
}

/// Imports this text and says what was wrong with it; nothing must be left behind.
#[track_caller]
fn refused(format: &'static Format, files: &[(&str, &[u8])]) -> String {
    let folder = TempDir::new().expect("a folder");
    for (suffix, content) in files {
        fs::write(folder.path().join(format!("f{suffix}")), content).expect("a file");
    }
    let out = folder.path().join("dataset");
    let done = import(&folder.path().join("f"), format, &out, &ImportOptions::default(), &mut |_, _| ());
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, files.len(), "something was left behind");
    let said = done.expect_err("a mistake").to_string();
    said.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn bits_that_are_wrong_are_told_with_their_place() {
    let brdc = named("brdc");
    let one = |bytes: &[u8]| refused(brdc, &[("", bytes)]);
    for (bytes, said) in [
        (&b""[..], "f:1:1: the file is empty"),
        (b"010\n01\n", "f:2:3: there are 2 characters; the lines before have 3"),
        (b"010\n0100\n", "f:2:4: there are 4 characters; the lines before have 3"),
        (b"010\n0x0\n", "f:2:2: 'x' is neither `0` nor `1`"),
        (b"010\n\n", "f:2:1: there are no bits on this line"),
        (b"PK\x03\x04\xff\xfe", "f:1:5: this is not UTF-8"),
        (b"\x00\x01\n", "f:1:1: '\\0' is neither `0` nor `1`"),
        (b"s p 01\ns p 10\n", "f:2:1: `s/p` is there twice"),
        (b"s p q 01\n", "f:1:1: there must be bits alone, or the three columns"),
        (b"s p 0 1\n", "f:1:1: there must be bits alone"),
    ] {
        assert!(one(bytes).starts_with(said), "{}, not {said}", one(bytes));
    }
    let two = |pages: &[u8]| refused(brdc, &[("", b"010\n001\n"), (".pages.tsv", pages)]);
    for (pages, said) in [
        (&b"s\tu\t1970-01-01\n"[..], "f.pages.tsv:2:1: the file ends here"),
        (b"s\tu\t1970-01-01\ns\tu\t1970-01-01\n", "f.pages.tsv:2:1: `u` is there twice"),
        (b"s\tu\t1970-01-01\ns\tv\tsoon\n", "f.pages.tsv:2:5: `soon` is no day"),
        (b"s\tu\t1970-01-01\ns\tv\n", "f.pages.tsv:2:1: there are 2 columns"),
        (
            b"s\tu\t1970-01-01\ns\tv\t1971-01-01\n",
            "f.pages.tsv:2:1: the day is after the last cycle, 1970-01-04",
        ),
        (b"s\tu\t1970-01-04\ns\tv\t1970-01-01\n", "f:1:2: `1` before the first copy of the page"),
        (
            b"s\tu\t1970-01-01\ns\tv\t1970-01-01\ns\tw\t1970-01-01\n",
            "f.pages.tsv:3:1: there is a page too many",
        ),
    ] {
        assert!(two(pages).starts_with(said), "{}, not {said}", two(pages));
    }
}

#[test]
fn histories_that_are_wrong_are_told_with_their_place() {
    let format = named("lambdacrawl");
    for (history, importance, said) in [
        (&b"1\t0\n"[..], &b"1\t1\n"[..], "f:1:4: there are 2 columns"),
        (b"1\t0\t[]\n2\tx\t[]\n", b"1\t1\n2\t1\n", "f:2:3: `x` is not a number of days"),
        (b"1\t0\t[[1, 0], [2\n", b"1\t1\n", "f:1:"),
        (b"1\t0\t[[1, 2]]\n", b"1\t1\n", "f:1:5: bit 1 is `2`"),
        (b"1\t0\t[[-1, 0]]\n", b"1\t1\n", "f:1:5: gap 1 is `-1`; times must not run backwards"),
        (b"1\t0\t[]\n1\t0\t[]\n", b"1\t1\n", "f:2:1: the page `1` is there twice"),
        (b"1\t0\t[]\n2\t0\t[]\n", b"1\t1\n", "f:2:1: the page `2` is unknown"),
        (b"1\t0\t[]\n", b"1\t1\n7\t1\n", "f.imp.tsv:2:1: the page `7` is unknown"),
        (b"1\t0\t[]\n", b"1\t1\n1\t1\n", "f.imp.tsv:2:1: the page `1` is there twice"),
        (b"1\t0\t[]\n", b"1\t-4\n", "f.imp.tsv:1:3: `-4` is no weight"),
    ] {
        let found = refused(format, &[("", history), (".imp.tsv", importance)]);
        assert!(found.starts_with(said), "{found}, not {said}");
    }
}

#[test]
fn rows_that_are_wrong_are_told_with_their_place() {
    let said = |bytes: &[u8]| refused(named("observations"), &[("", bytes)]);
    for (bytes, expected) in [
        (&b""[..], "f:1:1: the file is empty"),
        (b"url,time_ms\n", "f:1:2: there is no column `changed`"),
        (b"url,time_ms,changed\n", "f:2:1: the file has a header and no rows"),
        (b"url,time_ms,changed\nu,5,\nu,4,1\n", "f:3:2: 4 is before the 5"),
        (b"url,time_ms,changed\nu,5,\nv,5,\nu,6,1\n", "f:4:1: `u` was there before"),
        (b"url,time_ms,changed\nu,5,maybe\n", "f:2:3: `maybe` is neither 0 nor 1"),
        (b"url,time_ms,changed\nu,5\n", "f:2:3: there are 2 fields"),
        (b"url,time_ms,changed\n\xff,5,1\n", "f:2:1: this is not UTF-8"),
        (b"url,time_ms,changed,divergence\nu,5,1,2\n", "f:2:4: `2` is not from 0 to 1"),
        (b"url,time_ms,changed,weight\nu,5,1,NaN\n", "f:2:4: `NaN` is no weight"),
        (b"{\"url\":\"u\",\"time_ms\":1,\"changed\":null}\n{\"url\":\"u\",\n", "f:2:"),
        (b"{\"url\":\"u\",\"time_ms\":1,\"changed\":null}\n{\"time_ms\":1}\n", "f:2:13: missing field `url`"),
        (b"PAR1 and no more", "`f` is no whole Parquet file"),
    ] {
        assert!(said(bytes).starts_with(expected), "{}, not {expected}", said(bytes));
    }
    let rates = |bytes: &[u8]| refused(named("rates"), &[("", bytes)]);
    assert!(
        rates(b"page,step_days,steps,changes\np,1,3,4\n").starts_with("f:2:4: `4` is not a whole number")
    );
    assert!(
        rates(b"page,step_days,steps,changes\np,1,3,1\np,1,3,1\n").starts_with("f:3:1: `p` is there twice")
    );
}

#[test]
fn parquet_of_another_schema_or_order_is_told() {
    let (_folder, visits) = written(named("observations-parquet"));
    let fragments = named("fragments");
    let said = refused(fragments, &[("", &visits[""])]);
    assert!(said.starts_with("`f` has another schema: column 7 is `changed`"), "{said}");
    let cut = &visits[""][..visits[""].len() - 9];
    let said = refused(named("observations-parquet"), &[("", cut)]);
    assert!(said.contains("is no whole Parquet file"), "{said}");
}

#[test]
fn a_file_that_was_cut_off_at_a_line_is_told_by_its_metadata() {
    let (_folder, files) = written(named("observations-csv"));
    let csv = text(&files, "");
    let cut: String = csv.lines().take(5).map(|line| format!("{line}\n")).collect();
    let said = refused(named("observations"), &[("", cut.as_bytes()), (".meta.json", &files[".meta.json"])]);
    assert!(said.contains("has 1 pages, and by `f.meta.json` it should have 2"), "{said}");
    let said =
        refused(named("observations"), &[("", csv.as_bytes()), (".meta.json", b"{\n  \"format\": 3}")]);
    assert!(said.starts_with("f.meta.json:2:13: invalid type"), "{said}");
}

#[test]
fn the_older_layout_and_bare_bits_are_read() {
    let folder = TempDir::new().expect("a folder");
    for (name, content) in [("old", "s1 p1 0110\ns2\tp1\t0000\n"), ("bare", "0110\r\n0000")] {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("a file");
        let out = folder.path().join(format!("{name}.dataset"));
        let options = ImportOptions { start_ms: Some(5), step_ms: Some(10), ..ImportOptions::default() };
        import(&path, named("brdc"), &out, &options, &mut |_, _| ()).expect("a dataset");
        let loaded = Dataset::load(&out).expect("a dataset");
        let group = &loaded.groups[0];
        assert_eq!((group.name.as_str(), group.cycles, group.start.millis()), (name, 5, 5));
        assert_eq!(group.pages[0].history, History::Bits(vec![0b0110]));
        let files =
            exported(&out, named("brdc"), &folder.path().join(format!("{name}.again"))).expect("files");
        assert_eq!(text(&files, ""), "0110\n0000\n");
    }
}

#[test]
fn the_folder_of_polite_crawling_is_read_as_it_was_published() {
    let folder = TempDir::new().expect("a folder");
    let source = folder.path().join("PoliteCrawling");
    fs::create_dir(&source).expect("a folder");
    let write = |name: &str, text: &str| fs::write(source.join(name), text).expect("a file");
    write(
        "urlid_offset_history.txt",
        "5\t5.5143055555555556\t[[1.10396990740741, 0], [1.47311342592593, 1]]\n",
    );
    write("urlid_imp.txt", "6\t2\n5\t0.75\n");
    write("url_urlid_hostid.txt", "http://a.example/p\t5\t77\n");
    let out = folder.path().join("dataset");
    let format = named("lambdacrawl");
    import(&source, format, &out, &ImportOptions::default(), &mut |_, _| ()).expect("a dataset");
    let loaded = Dataset::load(&out).expect("a dataset");
    let page = &loaded.groups[0].pages[0];
    assert_eq!((page.url.as_str(), page.site.as_str(), page.weight), ("http://a.example/p", "77", 0.75));
    assert_eq!((loaded.groups[0].cycles, page.born), (9, 5));
    assert_eq!(page.history, History::Bits(vec![0b100]), "5.5, 6.6 and 8.1 days after the start");
}

#[test]
fn a_dataset_that_is_there_is_left_alone() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("bits");
    fs::write(&path, "01\n").expect("a file");
    let done = import(&path, named("brdc"), folder.path(), &ImportOptions::default(), &mut |_, _| ());
    assert!(matches!(done, Err(DatasetError::Exists(_))));
}

#[test]
fn rates_make_visits_at_the_distances_that_they_say() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("rates.csv");
    let table =
        "group,site,page,step_days,steps,changes,rate_per_day,inlinks\nw,s,p,7,10,2,0.03,\nd,s,p,1,3,3,1,5\n";
    fs::write(&path, table).expect("a file");
    let out = folder.path().join("dataset");
    import(&path, named("rates"), &out, &ImportOptions::default(), &mut |_, _| ()).expect("a dataset");
    let loaded = Dataset::load(&out).expect("a dataset");
    let [weekly, daily] = &loaded.groups[..] else { panic!("{loaded:?}") };
    assert_eq!((weekly.step, weekly.cycles), (Duration::from_secs(7 * 86_400), 11));
    assert_eq!((daily.step, daily.cycles), (Duration::from_secs(86_400), 4));
    assert_eq!(weekly.pages[0].history, History::Bits(vec![0b10_0001_0000]), "evenly spread");
    assert_eq!(daily.pages[0].history, History::Bits(vec![0b111]));
}

#[test]
fn times_that_make_no_sense_fill_neither_memory_nor_disk() {
    let said = |bytes: &[u8]| refused(named("observations"), &[("", bytes)]);
    let far = said(b"url,time_ms,changed\nu,0,\nu,9223372036854775807,1\n");
    assert!(far.starts_with("f:3:2: `9223372036854775807` is no time"), "{far}");
    let long = said(b"url,time_ms,changed\nu,0,\nu,4000000000000000,1\n");
    assert!(long.contains("group `f` has more than 10 million cycles: give a longer --step"), "{long}");
}

// --- what is written, read and written again is the same -------------------------------------------------------
