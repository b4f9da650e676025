//! A Parquet file → rows.

use std::cell::Cell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Once;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, ListArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Schema};

use super::{BATCH_ROWS, Column, ColumnKind};
use crate::dataset::DatasetError;

/// A table that is being read.
pub(crate) struct TableReader {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
    /// The columns that are read.
    columns: Vec<Column>,
    /// Rows of all batches before the one at hand.
    rows: u64,
}

/// Some rows of a table.
pub(crate) struct TableBatch {
    batch: RecordBatch,
    /// The number of its first row in the table, from 1.
    pub(crate) first_row: u64,
}

impl TableReader {
    /// Opens a file that must have exactly these columns, but for those that were added later. Only `wanted` are read; all, if that is empty.
    pub(crate) fn open(path: &Path, columns: &[Column], wanted: &[&str]) -> Result<Self, DatasetError> {
        let file = File::open(path).map_err(DatasetError::read(path))?;
        let unreadable = |error: String| {
            DatasetError::of_file(path, format!("is no whole Parquet file: {error}; make it again"))
        };
        let builder = guarded(|| ParquetRecordBatchReaderBuilder::try_new(file)).map_err(unreadable)?;
        check(path, builder.schema(), columns)?;
        let columns = columns.get(..builder.schema().fields().len()).unwrap_or(columns);
        let lists = columns
            .iter()
            .any(|column| column.kind.is_list() && (wanted.is_empty() || wanted.contains(&column.name)));
        let mask = if wanted.is_empty() {
            ProjectionMask::all()
        } else {
            let places = columns.iter().enumerate().filter(|(_, column)| wanted.contains(&column.name));
            ProjectionMask::roots(builder.parquet_schema(), places.map(|(at, _)| at))
        };
        let builder = builder.with_projection(mask).with_batch_size(if lists { 64 } else { BATCH_ROWS });
        let read = |column: &&Column| wanted.is_empty() || wanted.contains(&column.name);
        let columns = columns.iter().filter(read).copied().collect();
        let reader = guarded(|| builder.build()).map_err(unreadable)?;
        Ok(Self { path: path.to_owned(), reader, columns, rows: 0 })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The next rows, until there are none.
    pub(crate) fn next_batch(&mut self) -> Result<Option<TableBatch>, DatasetError> {
        let batch = guarded(|| self.reader.next().transpose()).map_err(|error| {
            let wrong = format!("is damaged after row {}: {error}; make it again", self.rows);
            DatasetError::of_file(&self.path, wrong)
        })?;
        let Some(batch) = batch else { return Ok(None) };
        let first_row = self.rows + 1;
        self.rows += batch.num_rows() as u64;
        for (column, values) in self.columns.iter().zip(batch.columns()) {
            if let Some(row) = first_null(column, values) {
                let (file, column) = (self.path.display().to_string(), column.name.to_owned());
                let wrong = "there is a null, which this column can't have".to_owned();
                return Err(DatasetError::Row { file, row: first_row + row as u64, column, wrong });
            }
        }
        Ok(Some(TableBatch { batch, first_row }))
    }
}

/// The first row without a value that it must have. Other writers allow nulls in every column, so the schema can't tell.
fn first_null(column: &Column, values: &ArrayRef) -> Option<usize> {
    if !column.nullable && values.null_count() > 0 {
        return (0..values.len()).find(|row| values.is_null(*row));
    }
    let lists: &ListArray = values.as_list_opt()?;
    let has_null = |row: &usize| lists.is_valid(*row) && lists.value(*row).null_count() > 0;
    if lists.values().null_count() > 0 { (0..lists.len()).find(has_null) } else { None }
}

fn check(path: &Path, schema: &Schema, columns: &[Column]) -> Result<(), DatasetError> {
    for (at, column) in columns.iter().enumerate() {
        let said = |found: &str| {
            let must = format!("`{}` of type {}", column.name, column.type_name());
            DatasetError::of_file(
                path,
                format!("has another schema: column {} is {found}; it must be {must}", at + 1),
            )
        };
        let Some(field) = schema.fields().get(at) else {
            if column.added {
                break;
            }
            return Err(said("missing"));
        };
        let same_type = match (field.data_type(), column.kind) {
            (DataType::List(element), ColumnKind::Hashes) => *element.data_type() == DataType::UInt64,
            (DataType::List(element), ColumnKind::Counts) => *element.data_type() == DataType::UInt32,
            (found, _) => *found == column.data_type(),
        };
        if field.name() != column.name || !same_type {
            return Err(said(&format!("`{}` of type {}", field.name(), field.data_type())));
        }
    }
    match schema.fields().get(columns.len()) {
        Some(field) => {
            let wrong = format!("has another schema: there is a column `{}` too many", field.name());
            Err(DatasetError::of_file(path, wrong))
        }
        None => Ok(()),
    }
}

/// Columns are named by their place; a row that does not exist has no value.
impl TableBatch {
    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The values of a column of this type.
    pub(crate) fn u32s(&self, column: usize) -> Option<&PrimitiveArray<UInt32Type>> {
        self.batch.columns().get(column)?.as_primitive_opt()
    }

    /// The values of a column of this type.
    pub(crate) fn i64s(&self, column: usize) -> Option<&PrimitiveArray<Int64Type>> {
        self.batch.columns().get(column)?.as_primitive_opt()
    }

    /// The values of a column of this type.
    pub(crate) fn bools(&self, column: usize) -> Option<&BooleanArray> {
        self.batch.columns().get(column)?.as_boolean_opt()
    }

    /// One value.
    pub(crate) fn u32(&self, column: usize, row: usize) -> Option<u32> {
        let all: &PrimitiveArray<UInt32Type> = self.valid(column, row)?.as_primitive_opt()?;
        Some(all.value(row))
    }

    /// One value.
    pub(crate) fn u64(&self, column: usize, row: usize) -> Option<u64> {
        let all: &PrimitiveArray<UInt64Type> = self.valid(column, row)?.as_primitive_opt()?;
        Some(all.value(row))
    }

    /// One value.
    pub(crate) fn i64(&self, column: usize, row: usize) -> Option<i64> {
        let all: &PrimitiveArray<Int64Type> = self.valid(column, row)?.as_primitive_opt()?;
        Some(all.value(row))
    }

    /// One value.
    pub(crate) fn f64(&self, column: usize, row: usize) -> Option<f64> {
        let all: &PrimitiveArray<Float64Type> = self.valid(column, row)?.as_primitive_opt()?;
        Some(all.value(row))
    }

    /// One value.
    pub(crate) fn bool(&self, column: usize, row: usize) -> Option<bool> {
        Some(self.valid(column, row)?.as_boolean_opt()?.value(row))
    }

    /// One value.
    pub(crate) fn text(&self, column: usize, row: usize) -> Option<&str> {
        let all: &StringArray = self.valid(column, row)?.as_string_opt()?;
        Some(all.value(row))
    }

    /// One list of hashes.
    pub(crate) fn hashes(&self, column: usize, row: usize) -> Option<Vec<u64>> {
        let all: &ListArray = self.valid(column, row)?.as_list_opt()?;
        let list = all.value(row);
        Some(list.as_primitive_opt::<UInt64Type>()?.values().to_vec())
    }

    /// One list of counts.
    pub(crate) fn counts(&self, column: usize, row: usize) -> Option<Vec<u32>> {
        let all: &ListArray = self.valid(column, row)?.as_list_opt()?;
        let list = all.value(row);
        Some(list.as_primitive_opt::<UInt32Type>()?.values().to_vec())
    }

    fn valid(&self, column: usize, row: usize) -> Option<&ArrayRef> {
        self.batch.columns().get(column).filter(|array| row < array.len() && array.is_valid(row))
    }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls the library, which panics on some damaged files. Such a panic becomes an error, and nothing is printed. The
/// caller must not use the reader after it.
fn guarded<T, E: std::fmt::Display>(call: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    static QUIETED: Once = Once::new();
    QUIETED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |said| {
            if !GUARDED.get() {
                before(said);
            }
        }));
    });
    GUARDED.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(false);
    match done {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("its numbers contradict each other".to_owned()),
    }
}
