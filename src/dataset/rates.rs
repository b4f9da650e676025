//! `rates`: a table of change rates, in CSV: visits, changes, and the rate by Cho & Garcia-Molina.
//!
//! A rate is not a history. Read into a dataset, a page gets as many visits as the table says, at even intervals, and
//! its changes are spread evenly over them: the rates are those of the table, the times are made up.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::DatasetError;
use super::csv_cell::guarded;
use super::csv_table::CsvTable;
use super::fields::{check_name, check_weight, parse_time, show_time};
use super::format::EachRecord;
use super::group::{DAY_MS, FARTHEST_MS, GroupInfo, GroupsSeen};
use super::import::ImportedFile;
use super::metadata::FileNote;
use super::page_record::{PageRecord, VisitLine};
use super::rows_to_pages::{PageNames, TakePage};
use crate::estimate::bias_reduced;
use crate::time::Age;

const COLUMNS: [(&str, &str, &str); 9] = [
    ("group", "text", "the group it was watched with"),
    ("site", "text", "its site"),
    ("page", "text", "its URL, or whatever names it"),
    ("weight", "number", "importance; 1: an ordinary page"),
    ("first", "date or time", "first copy, UTC"),
    ("step_days", "days", "mean time from one visit to the next"),
    ("steps", "number", "visits that could compare, n"),
    ("changes", "number", "of these, those that found a change, X"),
    (
        "rate_per_day",
        "changes a day",
        "-ln((n - X + 0.5) / (n + 0.5)) / step_days (Cho & Garcia-Molina 2003)",
    ),
];

/// Most visits of a page: a senseless number must not fill the memory.
const MOST_STEPS: u64 = 10_000_000;

/// The part of a page that the format holds: the number of visits, their interval, and the number of changes; nothing
/// without a copy.
pub(super) fn kept(page: &PageRecord, _: &GroupInfo) -> Option<PageRecord> {
    let first_ms = page.first_copy()?.time_ms;
    let later: Vec<bool> = page
        .comparisons()
        .filter(|(visit, _)| visit.time_ms >= first_ms)
        .map(|(_, changed)| changed)
        .collect();
    let last_ms = page.comparisons().map(|(visit, _)| visit.time_ms).last().unwrap_or(first_ms);
    let changes = later.iter().filter(|changed| **changed).count() as u64;
    let mut kept = PageRecord::new(&page.group, &page.site, &page.url, page.weight);
    kept.visits = visits(first_ms, last_ms.saturating_sub(first_ms).max(0), later.len() as u64, changes);
    Some(kept)
}

/// `steps` visits over a span of time after the first, with the changes spread as evenly as possible.
fn visits(first_ms: i64, span_ms: i64, steps: u64, changes: u64) -> Vec<VisitLine> {
    let share = |of: u64, step: u64| u128::from(of) * u128::from(step) / u128::from(steps.max(1));
    let later = (1..=steps).map(|step| {
        let changed = share(changes, step) > share(changes, step - 1);
        let passed = share(span_ms.unsigned_abs(), step) as i64;
        VisitLine::at(first_ms.saturating_add(passed), Some(changed))
    });
    std::iter::once(VisitLine::at(first_ms, None)).chain(later).collect()
}

/// Writes all pages as a file of this format.
pub(super) fn write(path: &Path, each: EachRecord<'_>) -> Result<(), DatasetError> {
    let mut writer = RatesWriter::create(path)?;
    each(&mut |page, group| writer.page(page, group))?;
    writer.finish()
}

struct RatesWriter {
    path: PathBuf,
    rows: csv::Writer<BufWriter<File>>,
}

impl RatesWriter {
    fn create(path: &Path) -> Result<Self, DatasetError> {
        let file = File::create(path).map_err(DatasetError::write(path))?;
        let mut rows = csv::Writer::from_writer(BufWriter::new(file));
        rows.write_record(COLUMNS.map(|(name, _, _)| name)).map_err(|error| unwritten(path, error))?;
        Ok(Self { path: path.to_owned(), rows })
    }

    /// A page as [`kept`] made it.
    fn page(&mut self, page: &PageRecord, group: &GroupInfo) -> Result<(), DatasetError> {
        let (Some(first), Some(last)) = (page.visits.first(), page.visits.last()) else { return Ok(()) };
        let (steps, changes) = page
            .comparisons()
            .fold((0u64, 0u64), |(steps, changes), (_, changed)| (steps + 1, changes + u64::from(changed)));
        let step_days = match steps {
            0 => group.step_ms as f64 / DAY_MS as f64,
            _ => (last.time_ms - first.time_ms) as f64 / (steps as f64 * DAY_MS as f64),
        };
        let days = step_days.max(Age::SHORTEST_DAYS);
        let rate = if changes == 0 { 0.0 } else { bias_reduced::ratio(steps as f64, changes as f64) / days };
        let record = [
            page.group.clone(),
            page.site.clone(),
            page.url.clone(),
            page.weight.to_string(),
            show_time(first.time_ms),
            step_days.to_string(),
            steps.to_string(),
            changes.to_string(),
            rate.to_string(),
        ];
        let cells = record.iter().map(|cell| guarded(cell).into_owned());
        self.rows.write_record(cells).map_err(|error| unwritten(&self.path, error))
    }

    fn finish(mut self) -> Result<(), DatasetError> {
        self.rows.flush().map_err(DatasetError::write(&self.path))
    }
}

fn unwritten(path: &Path, error: csv::Error) -> DatasetError {
    DatasetError::of_file(path, format!("can't be written: {error}"))
}

/// The files of an export.
pub(super) fn files() -> Vec<FileNote> {
    vec![FileNote::new("", "CSV with a header, a row a page.", &COLUMNS)]
}

/// Reads the pages of a file.
pub(super) fn read(
    from: &ImportedFile<'_>,
    take: TakePage<'_>,
) -> Result<Option<Vec<GroupInfo>>, DatasetError> {
    let mut table = CsvTable::open(from.path, &["page", "step_days", "steps", "changes"])?;
    let mut names = PageNames::default();
    // The step of a group is that of its first page.
    let mut groups: Vec<(String, GroupsSeen)> = Vec::new();
    while table.next_row()? {
        let wrong = |column: &str, said: String| table.wrong(column, said);
        let name = |column: &'static str, default: &str| -> Result<String, DatasetError> {
            let text = table.text(column).unwrap_or(default);
            check_name(column, text).map(str::to_owned).map_err(|said| wrong(column, said))
        };
        let group = name("group", from.name)?;
        let url = name("page", "")?;
        let site = name("site", &group)?;
        if !names.add(&group, &url) {
            return Err(wrong("page", format!("`{url}` is there twice")));
        }
        let weight =
            table.text("weight").map_or(Ok(1.0), check_weight).map_err(|said| wrong("weight", said))?;
        let first_ms = match table.text("first") {
            Some(text) => parse_time(text)
                .ok_or_else(|| wrong("first", format!("`{text}` is no time like `2012-11-30`")))?,
            None => from.start_ms.unwrap_or(0),
        };
        let count = |column: &str, most: u64| {
            let text = table.text(column).unwrap_or_default();
            let count = text.parse().ok().filter(|count| *count <= most);
            count.ok_or_else(|| wrong(column, format!("`{text}` is not a whole number from 0 to {most}")))
        };
        let steps = count("steps", MOST_STEPS)?;
        let changes = count("changes", steps)?;
        let text = table.text("step_days").unwrap_or_default();
        let step_days = text.parse().ok().filter(|days: &f64| (0.0..1e6).contains(days));
        let step_days =
            step_days.ok_or_else(|| wrong("step_days", format!("`{text}` is not a number of days")))?;
        let span_ms = (step_days * (steps as f64 * DAY_MS as f64)).round();
        if span_ms > FARTHEST_MS as f64 {
            return Err(wrong("step_days", format!("{steps} visits, {step_days} days apart, take too long")));
        }
        let mut page = PageRecord::new(&group, &site, &url, weight);
        page.visits = visits(first_ms, span_ms as i64, steps, changes);
        let seen = match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, seen)) => seen,
            None => {
                let step_ms = from.step_ms.unwrap_or((step_days * DAY_MS as f64).round() as i64);
                groups.push((group, GroupsSeen::new(from.start_ms, Some(step_ms))));
                let Some((_, seen)) = groups.last_mut() else { continue };
                seen
            }
        };
        seen.see(&page);
        take(page)?;
    }
    Ok(Some(groups.into_iter().flat_map(|(_, seen)| seen.groups()).collect()))
}
