//! Rows that name their page → pages. The rows of a page stand together, in the order of time.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_128;

use super::DatasetError;
use super::fields::check_name;
use super::group::FARTHEST_MS;
use super::page_record::PageRecord;

/// Takes a page that was read.
pub(super) type TakePage<'a> = &'a mut dyn FnMut(PageRecord) -> Result<(), DatasetError>;

/// Makes an error from a column and a mistake.
pub(super) type Wrong<'a> = &'a dyn Fn(&str, String) -> DatasetError;

/// The pages met so far, in 16 bytes each.
#[derive(Debug, Default)]
pub(super) struct PageNames(HashSet<u128>);

impl PageNames {
    /// Adds a page; `false` if it was met before.
    pub(super) fn add(&mut self, group: &str, url: &str) -> bool {
        self.0.insert(xxh3_128(format!("{group}\n{url}").as_bytes()))
    }
}

/// The page that a row belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowOwner<'a> {
    pub(super) group: &'a str,
    pub(super) site: &'a str,
    pub(super) url: &'a str,
    pub(super) weight: f64,
    pub(super) alias_of: Option<&'a str>,
}

/// Puts rows together into pages.
pub(super) struct RowsToPages<'a> {
    take: TakePage<'a>,
    at_hand: Option<PageRecord>,
    names: PageNames,
}

impl<'a> RowsToPages<'a> {
    pub(super) fn new(take: TakePage<'a>) -> Self {
        Self { take, at_hand: None, names: PageNames::default() }
    }

    /// The page that a row belongs to, for the caller to add the row.
    pub(super) fn page(
        &mut self,
        of: RowOwner<'_>,
        wrong: Wrong<'_>,
    ) -> Result<&mut PageRecord, DatasetError> {
        let goes_on = self.at_hand.as_ref().is_some_and(|page| page.group == of.group && page.url == of.url);
        if !goes_on {
            for (what, name) in [("group", of.group), ("site", of.site), ("url", of.url)] {
                check_name(what, name).map_err(|said| wrong(what, said))?;
            }
            if let Some(alias_of) = of.alias_of {
                check_name("alias_of", alias_of).map_err(|said| wrong("alias_of", said))?;
            }
            if !(of.weight.is_finite() && of.weight >= 0.0) {
                return Err(wrong("weight", format!("`{}` is not a number, 0 or more", of.weight)));
            }
            if !self.names.add(of.group, of.url) {
                let said = format!("`{}` was there before; sort the rows by page, then by time", of.url);
                return Err(wrong("url", said));
            }
            self.hand_on()?;
        }
        let page = self.at_hand.get_or_insert_with(|| PageRecord {
            alias_of: of.alias_of.map(str::to_owned),
            ..PageRecord::new(of.group, of.site, of.url, of.weight)
        });
        if page.alias_of.as_deref() != of.alias_of {
            return Err(wrong("alias_of", "another page than in the rows before".to_owned()));
        }
        if page.site != of.site {
            return Err(wrong(
                "site",
                format!("`{}` is not the `{}` of the rows before", of.site, page.site),
            ));
        }
        if page.weight != of.weight {
            return Err(wrong(
                "weight",
                format!("`{}` is not the {} of the rows before", of.weight, page.weight),
            ));
        }
        Ok(page)
    }

    fn hand_on(&mut self) -> Result<(), DatasetError> {
        match self.at_hand.take() {
            Some(page) => (self.take)(page),
            None => Ok(()),
        }
    }

    pub(super) fn finish(mut self) -> Result<(), DatasetError> {
        self.hand_on()
    }
}

/// Checks that a time is one, and not before the time of the row before.
pub(super) fn check_order(before: Option<i64>, time_ms: i64, wrong: Wrong<'_>) -> Result<(), DatasetError> {
    if time_ms.unsigned_abs() > FARTHEST_MS.unsigned_abs() {
        return Err(wrong("time_ms", format!("{time_ms} is no time in milliseconds since 1970")));
    }
    match before {
        Some(before) if before > time_ms => {
            Err(wrong("time_ms", format!("{time_ms} is before the {before} of the row before; sort by time")))
        }
        _ => Ok(()),
    }
}

/// Checks that a divergence is from 0 to 1.
pub(super) fn check_divergence(divergence: Option<f64>, wrong: Wrong<'_>) -> Result<(), DatasetError> {
    match divergence {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(wrong("divergence", format!("`{value}` is not from 0 to 1")))
        }
        _ => Ok(()),
    }
}
