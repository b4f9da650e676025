//! `brdc`: the layout of BRDC'12 (Santos et al. 2013): one line per page, one character per cycle, `1` changed, `0` not; no
//! header.
//!
//! Character c, counted from 0, says whether the page changed between cycle c and cycle c + 1, so a line has one character
//! less than there are cycles. Before a page's first copy, and where there was no visit, it is `0`. `FILE.pages.tsv` has
//! site, URL and day of the first copy in the same order. The older layout of three columns, `site page bits`, is read too.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::DatasetError;
use super::fields::{check_name, parse_time, show_time};
use super::format::EachRecord;
use super::group::{DAY_MS, GroupInfo};
use super::import::ImportedFile;
use super::metadata::{FileNote, beside};
use super::page_record::{PageRecord, VisitLine};
use super::rows_to_pages::{PageNames, TakePage};
use super::text_lines::TextLines;

const PAGES_SUFFIX: &str = ".pages.tsv";

/// The part of a page that the format holds: a visit at each cycle from its first copy on; nothing without a copy.
pub(super) fn kept(page: &PageRecord, group: &GroupInfo) -> Option<PageRecord> {
    let first = page.first_copy()?;
    let born = group.cycle_of(first.cycle, first.time_ms);
    let mut bits = vec![false; group.cycles.saturating_sub(born + 1) as usize];
    for (visit, changed) in page.comparisons() {
        let bit = group.cycle_of(visit.cycle, visit.time_ms).checked_sub(born + 1);
        if let Some(bit) = bit.and_then(|bit| bits.get_mut(bit as usize)) {
            *bit |= changed;
        }
    }
    let mut kept = PageRecord::new(&page.group, &page.site, &page.url, 1.0);
    kept.visits = visits(group, born, bits.into_iter());
    Some(kept)
}

fn visits(group: &GroupInfo, born: u32, bits: impl Iterator<Item = bool>) -> Vec<VisitLine> {
    let first = VisitLine::at(group.time_of(born), None);
    let later = (born + 1..).zip(bits).map(|(cycle, bit)| VisitLine::at(group.time_of(cycle), Some(bit)));
    std::iter::once(first).chain(later).collect()
}

/// Writes all pages as a file of this format.
pub(super) fn write(path: &Path, each: EachRecord<'_>) -> Result<(), DatasetError> {
    let mut writer = BrdcWriter::create(path)?;
    each(&mut |page, group| writer.page(page, group))?;
    writer.finish()
}

struct BrdcWriter {
    path: PathBuf,
    bits: BufWriter<File>,
    pages: BufWriter<File>,
    line: Vec<u8>,
}

impl BrdcWriter {
    fn create(path: &Path) -> Result<Self, DatasetError> {
        let create = |path: &Path| File::create(path).map(BufWriter::new).map_err(DatasetError::write(path));
        let pages = create(&beside(path, PAGES_SUFFIX))?;
        Ok(Self { path: path.to_owned(), bits: create(path)?, pages, line: Vec::new() })
    }

    /// A page as [`kept`] made it.
    fn page(&mut self, page: &PageRecord, group: &GroupInfo) -> Result<(), DatasetError> {
        let Some(first) = page.visits.first() else { return Ok(()) };
        let born = group.cycle_of(first.cycle, first.time_ms) as usize;
        self.line.clear();
        self.line.resize(born, b'0');
        self.line.extend(page.comparisons().map(|(_, changed)| if changed { b'1' } else { b'0' }));
        self.line.push(b'\n');
        let day = show_time(first.time_ms);
        self.bits
            .write_all(&self.line)
            .and_then(|()| writeln!(self.pages, "{}\t{}\t{day}", page.site, page.url))
            .map_err(DatasetError::write(&self.path))
    }

    fn finish(mut self) -> Result<(), DatasetError> {
        self.bits.flush().and_then(|()| self.pages.flush()).map_err(DatasetError::write(&self.path))
    }
}

/// All lines have one length, so a file holds one group; and there must be something to compare.
pub(super) fn fits(groups: &[GroupInfo]) -> Result<(), String> {
    if groups.len() > 1 {
        let names: Vec<String> = groups.iter().map(|group| format!("`{}`", group.name)).collect();
        let names = names.join(", ");
        return Err(format!(
            "`brdc` holds one group, as all lines are of one length; choose with --group: {names}"
        ));
    }
    if groups.iter().any(|group| group.cycles < 2) {
        let said = "`brdc` has a character for each cycle after the first, and there is one cycle only";
        return Err(said.to_owned());
    }
    Ok(())
}

/// The files of an export.
pub(super) fn files() -> Vec<FileNote> {
    let bits = [(
        "bits",
        "characters",
        "`1`: changed since the cycle before, `0`: not, or not known; one a cycle after the first",
    )];
    let pages = [
        ("site", "text", "site of the page"),
        ("url", "text", "URL of the page"),
        ("day", "date or time", "first copy, UTC; what stands before it in the bits is `0`"),
    ];
    vec![
        FileNote::new("", "A line a page, a character a cycle, no header.", &bits),
        FileNote::new(
            PAGES_SUFFIX,
            "A line a page, in the same order; tabs between the columns, no header.",
            &pages,
        ),
    ]
}

/// The page that a line belongs to.
struct LineOwner {
    site: String,
    url: String,
    first_ms: Option<i64>,
}

/// Reads the pages of a file.
pub(super) fn read(
    from: &ImportedFile<'_>,
    take: TakePage<'_>,
) -> Result<Option<Vec<GroupInfo>>, DatasetError> {
    let pages_path = beside(from.path, PAGES_SUFFIX);
    let mut side = if pages_path.exists() { Some(TextLines::open(&pages_path)?) } else { None };
    let start_ms = match (from.start_ms, &side) {
        (Some(start), _) => start,
        (None, Some(_)) if from.meta.is_none() => earliest(&pages_path)?,
        _ => 0,
    };
    let mut lines = TextLines::open(from.path)?;
    let (mut group, mut names) = (None, PageNames::default());
    while let Some((number, line)) = lines.next_line()? {
        let wrong = |column: usize, wrong: String| DatasetError::at(from.path, number, column, wrong);
        let BitsLine { page: named, bits, offset } = BitsLine::split(line).map_err(|said| wrong(1, said))?;
        if bits.is_empty() {
            return Err(wrong(offset + 1, "there are no bits on this line".to_owned()));
        }
        let bad = bits.bytes().position(|byte| !matches!(byte, b'0' | b'1'));
        if let Some(at) = bad {
            let found =
                bits.get(at..).and_then(|rest| rest.chars().next()).unwrap_or(char::REPLACEMENT_CHARACTER);
            return Err(wrong(offset + at + 1, format!("{found:?} is neither `0` nor `1`")));
        }
        let cycles = u32::try_from(bits.len()).ok().and_then(|bits| bits.checked_add(1));
        let cycles = cycles.ok_or_else(|| wrong(1, "this line is too long".to_owned()))?;
        let group = match &group {
            None => group.insert(group_of(from, start_ms, cycles, number)?),
            Some(group) => group,
        };
        if group.cycles != cycles {
            let (found, must) = (bits.len(), group.cycles - 1);
            let column = offset + found.min(must as usize) + 1;
            return Err(wrong(column, format!("there are {found} characters; the lines before have {must}")));
        }
        let owner = match (named, &mut side) {
            (Some((site, page)), _) => {
                let url = if page.contains("://") { page.to_owned() } else { format!("{site}/{page}") };
                LineOwner { site: site.to_owned(), url, first_ms: None }
            }
            (None, Some(side)) => owner(side, &pages_path, number)?,
            (None, None) => LineOwner {
                site: group.name.clone(),
                url: format!("{}/{number}", group.name),
                first_ms: None,
            },
        };
        if !names.add("", &owner.url) {
            let file = if named.is_some() { from.path } else { &pages_path };
            return Err(DatasetError::at(file, number, 1, format!("`{}` is there twice", owner.url)));
        }
        let born = match owner.first_ms {
            Some(first_ms) if first_ms > group.time_of(group.cycles - 1) => {
                let said =
                    format!("the day is after the last cycle, {}", show_time(group.time_of(cycles - 1)));
                return Err(DatasetError::at(&pages_path, number, 1, said));
            }
            Some(first_ms) => group.cycle_of(None, first_ms),
            None => 0,
        };
        if let Some(early) = bits.bytes().take(born as usize).position(|bit| bit == b'1') {
            let said = format!("`1` before the first copy of the page, which is at cycle {born}");
            return Err(wrong(offset + early + 1, said));
        }
        let mut page = PageRecord::new(&group.name, &owner.site, &owner.url, 1.0);
        page.visits = visits(group, born, bits.bytes().skip(born as usize).map(|bit| bit == b'1'));
        take(page)?;
    }
    if let Some(side) = &mut side
        && let Some((number, _)) = side.next_line()?
    {
        let said = format!("there is a page too many: `{}` has no such line", from.path.display());
        return Err(DatasetError::at(&pages_path, number, 1, said));
    }
    Ok(group.map(|group| vec![group]))
}

fn group_of(
    from: &ImportedFile<'_>,
    start_ms: i64,
    cycles: u32,
    line: u64,
) -> Result<GroupInfo, DatasetError> {
    match from.meta.as_ref().and_then(|meta| meta.groups.first()) {
        Some(group) if group.cycles == cycles => Ok(group.clone()),
        Some(group) => {
            let said =
                format!("there are {} characters; by the metadata it is {}", cycles - 1, group.cycles - 1);
            Err(DatasetError::at(from.path, line, cycles as usize, said))
        }
        None => {
            let step_ms = from.step_ms.unwrap_or(DAY_MS);
            Ok(GroupInfo { name: from.name.to_owned(), start_ms, step_ms, cycles })
        }
    }
}

/// A line of the main file.
struct BitsLine<'a> {
    /// Site and page, if the line has three columns.
    page: Option<(&'a str, &'a str)>,
    bits: &'a str,
    /// Characters before the bits.
    offset: usize,
}

impl<'a> BitsLine<'a> {
    fn split(line: &'a str) -> Result<Self, String> {
        let line = line.trim_end_matches([' ', '\t']);
        if !line.contains([' ', '\t']) {
            return Ok(Self { page: None, bits: line, offset: 0 });
        }
        let mut fields = line.split([' ', '\t']).filter(|field| !field.is_empty());
        match (fields.next(), fields.next(), fields.next(), fields.next()) {
            (Some(site), Some(page), Some(bits), None) => {
                check_name("site", site)?;
                check_name("page", page)?;
                let offset = line.chars().count() - bits.chars().count();
                Ok(Self { page: Some((site, page)), bits, offset })
            }
            _ => Err("there must be bits alone, or the three columns `site page bits`".to_owned()),
        }
    }
}

fn owner(side: &mut TextLines, path: &Path, number: u64) -> Result<LineOwner, DatasetError> {
    match side.next_line()? {
        Some((number, line)) => owner_of(line, path, number),
        None => {
            let said = "the file ends here; there must be a line for each line of bits";
            Err(DatasetError::at(path, number, 1, said))
        }
    }
}

fn owner_of(line: &str, path: &Path, number: u64) -> Result<LineOwner, DatasetError> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [site, url, day] = fields[..] else {
        let said =
            format!("there are {} columns; there must be site, URL and day, with tabs between", fields.len());
        return Err(DatasetError::at(path, number, 1, said));
    };
    let wrong = |column: usize, said: String| DatasetError::at(path, number, column, said);
    let at_url = site.chars().count() + 2;
    let at_day = at_url + url.chars().count() + 1;
    check_name("site", site).map_err(|said| wrong(1, said))?;
    check_name("URL", url).map_err(|said| wrong(at_url, said))?;
    let first_ms = parse_time(day);
    let first_ms =
        first_ms.ok_or_else(|| wrong(at_day, format!("`{day}` is no day; it must be like `2012-11-30`")))?;
    Ok(LineOwner { site: site.to_owned(), url: url.to_owned(), first_ms: Some(first_ms) })
}

/// The earliest day in the file.
fn earliest(path: &Path) -> Result<i64, DatasetError> {
    let mut side = TextLines::open(path)?;
    let mut first: Option<i64> = None;
    while let Some((number, line)) = side.next_line()? {
        let time = owner_of(line, path, number)?.first_ms;
        first = first.map_or(time, |first| Some(time.map_or(first, |time| first.min(time))));
    }
    Ok(first.unwrap_or(0))
}
