//! The words of a dataset's texts on their way into memory: only those that are wanted.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::disk::{FRAGMENTS_FILE, Manifest};
use super::group::GroupInfo;
use super::metadata::TermNote;
use super::page_record::StateRecord;
use super::rows_by_page::RowsByPage;
use super::terms_table::{TERMS_FILE, TermsRow, open_terms, other_rows};
use super::{DatasetError, History, RecordedPage, TextWords};
use crate::quality::copies::WorkloadTerms;
use crate::quality::terms::TERM_SCHEME;

/// The words that are loaded with a dataset.
#[derive(Clone, Copy, Debug)]
pub enum WantedWords<'a> {
    /// None: they take no memory.
    None,
    /// All words: 16 bytes for each term of each text.
    All,
    /// Those that the queries of a workload ask for. The lengths are those of the whole texts.
    Of(&'a WorkloadTerms),
}

impl WantedWords<'_> {
    /// The part of these words that is wanted.
    pub(super) fn keep(self, words: TextWords) -> TextWords {
        match self {
            Self::None => TextWords::default(),
            Self::All => words,
            Self::Of(terms) => {
                let kept = words.counts.iter().filter(|(hash, _)| terms.number(*hash).is_some());
                TextWords { length: words.length, counts: kept.copied().collect() }
            }
        }
    }
}

impl RecordedPage {
    /// Takes the words of a page whose changes are bits: those of its first copy, and after each change. A page of which no text is
    /// known has none.
    pub(super) fn take_words(&mut self, states: &[StateRecord], info: &GroupInfo, wanted: WantedWords<'_>) {
        let History::Bits(bits) = &self.history else { return };
        if states.iter().all(|state| state.words.is_none()) {
            return;
        }
        let is_set = |bit: &u32| bits.get(*bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1);
        let changes = (0..bits.len() as u32 * 64).filter(is_set).map(|bit| self.born + 1 + bit);
        let words = std::iter::once(self.born).chain(changes).map(|cycle| {
            let until = states.partition_point(|state| info.cycle_of(state.cycle, state.time_ms) <= cycle);
            let state = until.checked_sub(1).and_then(|at| states.get(at));
            wanted.keep(state.and_then(|state| state.words.clone()).unwrap_or_default())
        });
        self.words = words.collect();
    }
}

/// The words of texts, read beside their fragments.
pub(super) struct WordsByText<'a> {
    folder: PathBuf,
    table: RowsByPage<TermsRow>,
    wanted: WantedWords<'a>,
    page: Option<u32>,
    /// The rows of that page that are left; `None`: it has none.
    rows: Option<VecDeque<TermsRow>>,
}

impl<'a> WordsByText<'a> {
    /// Opens the words of a dataset; `None` if they are not wanted.
    pub(super) fn open(
        folder: &Path,
        manifest: &Manifest,
        wanted: WantedWords<'a>,
    ) -> Result<Option<Self>, DatasetError> {
        if matches!(wanted, WantedWords::None) {
            return Ok(None);
        }
        let has_texts = folder.join(FRAGMENTS_FILE).exists();
        let Some(table) = open_terms(folder)?.filter(|_| has_texts) else {
            let wrong = "has no words of its pages, which queries need. Import it again, from a recording (`--format replay`) or from a \
                         store (`freshet export --format fragments`, then `freshet import --format fragments`)";
            return Err(DatasetError::of_file(folder, wrong));
        };
        let wrong = match manifest.terms {
            Some(TermNote { scheme: TERM_SCHEME }) => None,
            Some(TermNote { scheme }) => {
                Some(format!("are of scheme {scheme}, those of queries of {TERM_SCHEME}"))
            }
            None => Some("were made in a way that is not known".to_owned()),
        };
        if let Some(wrong) = wrong {
            let wrong = format!(
                "has words that can't be compared with queries: they {wrong}. Import the dataset again"
            );
            return Err(DatasetError::of_file(&folder.join(TERMS_FILE), wrong));
        }
        Ok(Some(Self { folder: folder.to_owned(), table, wanted, page: None, rows: None }))
    }

    /// The words of the next text, which is of this page and time. Texts come in the order of `fragments.parquet`.
    pub(super) fn next(&mut self, page: u32, when: (Option<u32>, i64)) -> Result<TextWords, DatasetError> {
        if self.page != Some(page) {
            self.check_all_taken()?;
            let rows = self.table.of_page(page)?;
            (self.page, self.rows) = (Some(page), (!rows.is_empty()).then(|| rows.into()));
        }
        let Some(rows) = &mut self.rows else { return Ok(TextWords::default()) };
        match rows.pop_front() {
            Some(row) if row.when() == when => Ok(self.wanted.keep(row.words.unwrap_or_default())),
            _ => Err(other_rows(&self.folder, page)),
        }
    }

    /// After the last text: are there no words left?
    pub(super) fn end(mut self) -> Result<(), DatasetError> {
        self.check_all_taken()?;
        self.table.end()
    }

    fn check_all_taken(&self) -> Result<(), DatasetError> {
        match self.page {
            Some(page) if self.rows.as_ref().is_some_and(|rows| !rows.is_empty()) => {
                Err(other_rows(&self.folder, page))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::Dataset;
    use super::super::disk::{DatasetReader, DatasetWriter};
    use super::super::page_record::PageRecord;
    use super::super::parquet::{TableWriter, Value};
    use super::super::terms_table::TERMS;
    use super::super::tests::{dataset, group, two_pages};
    use super::*;

    fn words(counts: &[(u64, u32)], more: u32) -> TextWords {
        TextWords { length: counts.iter().map(|(_, count)| count).sum::<u32>() + more, counts: counts.into() }
    }

    /// Two pages; the second is removed in the end.
    fn pages() -> Vec<PageRecord> {
        let mut pages = two_pages();
        let texts = [words(&[(3, 1), (7, 2)], 0), words(&[(3, 2)], 1), words(&[(3, 1), (7, 2)], 0)];
        for (state, words) in pages[0].states.iter_mut().zip(texts) {
            state.words = Some(words);
        }
        pages[0].inlinks = Some(4);
        pages[1].states[0].words = Some(words(&[(7, 5)], 0));
        pages
    }

    fn with_words(folder: &TempDir) -> PathBuf {
        let path = folder.path().join("d");
        dataset(&path, &[group("g", 4)], &pages());
        path
    }

    #[test]
    fn words_are_loaded_as_far_as_they_are_wanted() {
        let folder = TempDir::new().expect("a folder");
        let path = with_words(&folder);
        let plain = Dataset::load(&path).expect("a dataset");
        assert!(plain.groups[0].pages.iter().all(|page| page.words.is_empty()));
        assert_eq!(plain.groups[0].pages[0].inlinks, 4);
        let all = Dataset::load_with(&path, WantedWords::All).expect("a dataset");
        let [one, other] = &all.groups[0].pages[..] else { panic!("{all:?}") };
        assert_eq!(one.words, [words(&[(3, 1), (7, 2)], 0), words(&[(3, 2)], 1)], "a word for each text");
        assert_eq!(other.words, [words(&[(7, 5)], 0), TextWords::default()]);
        let terms = WorkloadTerms::of_hashes(&[(vec![7, 8], 1.0)]);
        let some = Dataset::load_with(&path, WantedWords::Of(&terms)).expect("a dataset");
        assert_eq!(some.groups[0].pages[0].words, [words(&[(7, 2)], 1), words(&[], 3)], "lengths stay");
        assert!(matches!(&one.history, History::Texts { texts, .. } if texts.len() == one.words.len()));
    }

    fn refused(path: &Path) -> String {
        Dataset::load(path).expect("without words it is read");
        Dataset::load_with(path, WantedWords::All).expect_err("words that are wrong").to_string()
    }

    #[test]
    fn words_that_are_missing_or_made_another_way_are_told() {
        let folder = TempDir::new().expect("a folder");
        let without = folder.path().join("without");
        dataset(&without, &[group("g", 4)], &two_pages());
        assert!(!without.join(TERMS_FILE).exists());
        let said = refused(&without);
        assert!(
            said.contains("without` has no words of its pages") && said.contains("Import it again"),
            "{said}"
        );
        let path = with_words(&folder);
        let manifest = path.join("dataset.json");
        let text = fs::read_to_string(&manifest).expect("the description");
        assert!(text.contains("\"scheme\": 1"), "{text}");
        fs::write(&manifest, text.replace("\"scheme\": 1", "\"scheme\": 9")).expect("a file");
        let said = refused(&path);
        assert!(
            said.contains("they are of scheme 9, those of queries of 1. Import the dataset again"),
            "{said}"
        );
        let mut of_file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        of_file.as_object_mut().expect("an object").remove("terms");
        fs::write(&manifest, of_file.to_string()).expect("a file");
        assert!(refused(&path).contains("in a way that is not known"));
        fs::write(&manifest, text.replace("\"form\": 3", "\"form\": 4")).expect("a file");
        let said = Dataset::load(&path).expect_err("a newer form").to_string();
        assert!(said.contains("is of form 4, this program knows 3; use a newer one"), "{said}");
    }

    #[test]
    fn an_earlier_form_is_read() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("d");
        dataset(&path, &[group("g", 4)], &two_pages());
        let manifest = path.join("dataset.json");
        let text = fs::read_to_string(&manifest).expect("the description");
        fs::write(&manifest, text.replace("\"form\": 3", "\"form\": 2")).expect("a file");
        assert_eq!(Dataset::load(&path).expect("a dataset").groups[0].pages[0].inlinks, 0);
    }

    /// The errors of both readers for a table with these rows.
    fn told(folder: &TempDir, rows: &[[Value<'_>; 6]]) -> [String; 2] {
        let path = folder.path().join("d");
        let mut table = TableWriter::create(&path.join(TERMS_FILE), &TERMS).expect("a table");
        rows.iter().for_each(|row| table.push(row).expect("a row"));
        table.finish().expect("a table");
        let each = DatasetReader::open(&path).expect("a dataset").each(true, &mut |_| Ok(()));
        [refused(&path), each.expect_err("rows that are wrong").to_string()]
    }

    #[test]
    fn rows_that_are_wrong_are_told_with_their_place() {
        let folder = TempDir::new().expect("a folder");
        with_words(&folder);
        let row = |page, time_ms, [hashes, counts, length]: [Value<'static>; 3]| {
            [Value::U32(page), Value::Null, Value::I64(time_ms), hashes, counts, length]
        };
        let first = 100 * 86_400_000;
        let cells =
            |hashes, counts, length| [Value::Hashes(hashes), Value::Counts(counts), Value::U32(length)];
        for (rows, expected) in [
            (
                vec![row(0, first, cells(&[3, 2], &[1, 1], 2))],
                "row 1, column `hashes`: the hashes are not in asc",
            ),
            (vec![row(0, first, cells(&[2], &[1, 1], 2))], "row 1, column `counts`: 2 counts for 1 terms"),
            (
                vec![row(0, first, cells(&[2], &[0], 2))],
                "row 1, column `counts`: a count is 0, or they add up",
            ),
            (vec![row(0, first, cells(&[2], &[3], 2))], "add up to more than the length, 2"),
            (
                vec![row(0, first, [Value::Null, Value::Counts(&[]), Value::Null])],
                "column `hashes`: null, and",
            ),
            (vec![row(0, first, cells(&[2], &[1], 2))], "has other rows for page 0 than `fragments.parquet`"),
            (vec![row(7, first, cells(&[2], &[1], 2))], "page 7 is not in `pages.parquet`"),
        ] {
            for said in told(&folder, &rows) {
                assert!(said.contains(expected), "{said}, not {expected}");
            }
        }
        // Rows of another time, and in another order.
        let good = |page, day: i64| row(page, first + day * 86_400_000, cells(&[2], &[1], 2));
        let mut rows = vec![good(0, 0), good(0, 1), good(0, 2), good(1, 1), good(1, 2)];
        assert!(told(&folder, &rows)[0].contains("has other rows for page 0"));
        rows[2] = good(0, 3);
        rows.truncate(4);
        assert!(told(&folder, &rows)[0].contains("has other rows for page 1"));
        rows.rotate_left(3);
        assert!(told(&folder, &rows)[1].contains("page 0 comes after page 0"), "{:?}", told(&folder, &rows));
    }

    #[test]
    fn a_dataset_is_written_with_its_words_streamed_before_its_pages() {
        let folder = TempDir::new().expect("a folder");
        let (path, pages) = (with_words(&folder), pages());
        let streamed = folder.path().join("streamed");
        fs::create_dir(&streamed).expect("a folder");
        let mut writer = DatasetWriter::create(&streamed).expect("a dataset");
        for (number, page) in (0..).zip(&pages) {
            writer.states(number, &page.states).expect("texts");
        }
        for page in pages {
            writer.page(&PageRecord { states: Vec::new(), ..page }).expect("a page");
        }
        writer.finish("small", "test", vec![group("g", 4)]).expect("a dataset");
        for file in [TERMS_FILE, "pages.parquet", "fragments.parquet"] {
            assert_eq!(
                fs::read(path.join(file)).expect("a file"),
                fs::read(streamed.join(file)).expect("a file")
            );
        }
    }
}
