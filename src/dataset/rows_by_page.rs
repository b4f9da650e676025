//! A table that is sorted by page, read one page at a time.

use super::DatasetError;
use super::disk::{PAGES_FILE, wrong_row};
use super::parquet::{TableBatch, TableReader};

/// Makes a value of a row; the error has the name of the column that is wrong.
type ReadRow<T> = fn(&TableBatch, usize) -> Result<T, (&'static str, String)>;

/// Rows of a table that is sorted by its first column, the page.
pub(super) struct RowsByPage<T> {
    table: TableReader,
    read: ReadRow<T>,
    batch: Option<TableBatch>,
    row: usize,
}

impl<T> RowsByPage<T> {
    pub(super) fn new(table: TableReader, read: ReadRow<T>) -> Self {
        Self { table, read, batch: None, row: 0 }
    }

    /// The rows of a page. Pages are asked for in their order, and none with rows is left out.
    pub(super) fn of_page(&mut self, page: u32) -> Result<Vec<T>, DatasetError> {
        let mut found = Vec::new();
        while let Some((number, place)) = self.peek()? {
            if number > page {
                break;
            }
            if number < page {
                let wrong = format!("page {number} comes after page {}", page.saturating_sub(1));
                return Err(wrong_row(self.table.path(), place, "page", wrong));
            }
            if let Some(batch) = &self.batch {
                let wrong = |(column, wrong)| wrong_row(self.table.path(), place, column, wrong);
                found.push((self.read)(batch, self.row).map_err(wrong)?);
            }
            self.row += 1;
        }
        Ok(found)
    }

    /// Are there no rows left?
    pub(super) fn end(&mut self) -> Result<(), DatasetError> {
        match self.peek()? {
            Some((number, place)) => {
                let wrong = format!("page {number} is not in `{PAGES_FILE}`; import the dataset again");
                Err(wrong_row(self.table.path(), place, "page", wrong))
            }
            None => Ok(()),
        }
    }

    /// The page of the next row, and the number of that row.
    fn peek(&mut self) -> Result<Option<(u32, u64)>, DatasetError> {
        loop {
            if let Some(batch) = &self.batch
                && self.row < batch.rows()
            {
                let page = batch.u32(0, self.row).unwrap_or_default();
                return Ok(Some((page, batch.first_row + self.row as u64)));
            }
            self.batch = self.table.next_batch()?;
            self.row = 0;
            if self.batch.is_none() {
                return Ok(None);
            }
        }
    }
}
