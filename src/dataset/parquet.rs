//! Tables in Parquet files: rows in, rows out, a batch at a time.
//!
//! What must stay true: the same rows give the same bytes, so what goes into the file besides them is fixed (no time, no
//! version of the library), and batches and row groups end by the rows alone. A table is read only if its columns are
//! the expected ones.

use std::cell::Cell;
use std::fs::File;
use std::io::BufWriter;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use ::parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::schema::types::ColumnPath;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, ListArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};

use super::DatasetError;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    U32,
    U64,
    I64,
    F64,
    Text,
    /// A list of u64.
    Hashes,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub nullable: bool,
    /// What it means, and its unit.
    pub note: &'static str,
}

impl Column {
    pub const fn new(name: &'static str, kind: Kind, note: &'static str) -> Self {
        Self { name, kind, nullable: false, note }
    }

    pub const fn or_null(name: &'static str, kind: Kind, note: &'static str) -> Self {
        Self { name, kind, nullable: true, note }
    }

    /// The type as people name it.
    pub fn type_name(&self) -> &'static str {
        match (self.kind, self.nullable) {
            (Kind::Bool, false) => "bool",
            (Kind::Bool, true) => "bool or null",
            (Kind::U32, false) => "u32",
            (Kind::U32, true) => "u32 or null",
            (Kind::U64, false) => "u64",
            (Kind::U64, true) => "u64 or null",
            (Kind::I64, false) => "i64",
            (Kind::I64, true) => "i64 or null",
            (Kind::F64, false) => "f64",
            (Kind::F64, true) => "f64 or null",
            (Kind::Text, false) => "text",
            (Kind::Text, true) => "text or null",
            (Kind::Hashes, false) => "list of u64",
            (Kind::Hashes, true) => "list of u64, or null",
        }
    }

    fn data_type(&self) -> DataType {
        match self.kind {
            Kind::Bool => DataType::Boolean,
            Kind::U32 => DataType::UInt32,
            Kind::U64 => DataType::UInt64,
            Kind::I64 => DataType::Int64,
            Kind::F64 => DataType::Float64,
            Kind::Text => DataType::Utf8,
            Kind::Hashes => DataType::List(Arc::new(element())),
        }
    }
}

fn element() -> Field {
    Field::new("element", DataType::UInt64, false)
}

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    U32(u32),
    U64(u64),
    I64(i64),
    F64(f64),
    Text(&'a str),
    Hashes(&'a [u64]),
}

impl<'a> Value<'a> {
    pub fn or_null<T>(value: Option<T>, make: impl FnOnce(T) -> Value<'a>) -> Self {
        value.map_or(Value::Null, make)
    }
}

enum Builder {
    Bool(BooleanBuilder),
    U32(UInt32Builder),
    U64(UInt64Builder),
    I64(Int64Builder),
    F64(Float64Builder),
    Text(StringBuilder),
    Hashes(ListBuilder<UInt64Builder>),
}

impl Builder {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
            Kind::U32 => Self::U32(UInt32Builder::new()),
            Kind::U64 => Self::U64(UInt64Builder::new()),
            Kind::I64 => Self::I64(Int64Builder::new()),
            Kind::F64 => Self::F64(Float64Builder::new()),
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Hashes => Self::Hashes(ListBuilder::new(UInt64Builder::new()).with_field(element())),
        }
    }

    /// A value of another kind than the column's is taken as none.
    fn push(&mut self, value: Value<'_>) {
        match (self, value) {
            (Self::Bool(all), value) => {
                all.append_option(if let Value::Bool(one) = value { Some(one) } else { None });
            }
            (Self::U32(all), value) => {
                all.append_option(if let Value::U32(one) = value { Some(one) } else { None });
            }
            (Self::U64(all), value) => {
                all.append_option(if let Value::U64(one) = value { Some(one) } else { None });
            }
            (Self::I64(all), value) => {
                all.append_option(if let Value::I64(one) = value { Some(one) } else { None });
            }
            (Self::F64(all), value) => {
                all.append_option(if let Value::F64(one) = value { Some(one) } else { None });
            }
            (Self::Text(all), value) => {
                all.append_option(if let Value::Text(one) = value { Some(one) } else { None });
            }
            (Self::Hashes(all), Value::Hashes(hashes)) => {
                all.values().append_slice(hashes);
                all.append(true);
            }
            (Self::Hashes(all), _) => all.append(false),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Bool(all) => Arc::new(all.finish()),
            Self::U32(all) => Arc::new(all.finish()),
            Self::U64(all) => Arc::new(all.finish()),
            Self::I64(all) => Arc::new(all.finish()),
            Self::F64(all) => Arc::new(all.finish()),
            Self::Text(all) => Arc::new(all.finish()),
            Self::Hashes(all) => Arc::new(all.finish()),
        }
    }
}

/// Rows of a batch, and values in the lists of one.
const BATCH_ROWS: usize = 8192;
const BATCH_HASHES: usize = 1 << 18;
/// Rows of a row group, and its bytes: what a writer holds in memory, and a reader of lists too.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 32 << 20;
/// Successive texts of a page are in one page of the file, so that what they share is packed once.
const LIST_PAGE_BYTES: usize = 4 << 20;

/// A table that is written.
pub struct TableWriter {
    path: PathBuf,
    writer: ArrowWriter<BufWriter<File>>,
    schema: Arc<Schema>,
    builders: Vec<Builder>,
    rows: usize,
    hashes: usize,
}

impl TableWriter {
    pub fn create(path: &Path, columns: &[Column]) -> Result<Self, DatasetError> {
        let fields =
            columns.iter().map(|column| Field::new(column.name, column.data_type(), column.nullable));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let mut properties = WriterProperties::builder()
            .set_created_by("freshet".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES));
        for column in columns {
            let path = ColumnPath::from(match column.kind {
                Kind::Hashes => vec![column.name.to_owned(), "list".to_owned(), "element".to_owned()],
                _ => vec![column.name.to_owned()],
            });
            // Hashes come once or twice: a list of them all would only be in the way.
            if matches!(column.kind, Kind::Hashes | Kind::U64 | Kind::F64) {
                properties = properties.set_column_dictionary_enabled(path.clone(), false);
            }
            if column.kind == Kind::Hashes {
                properties = properties.set_column_data_page_size_limit(path, LIST_PAGE_BYTES);
            }
        }
        let file = File::create(path).map_err(DatasetError::write(path))?;
        let options =
            ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(BufWriter::new(file), Arc::clone(&schema), options)
            .map_err(|error| unwritten(path, error))?;
        let builders = columns.iter().map(|column| Builder::of(column.kind)).collect();
        Ok(Self { path: path.to_owned(), writer, schema, builders, rows: 0, hashes: 0 })
    }

    /// A value a column, in their order.
    pub fn push(&mut self, row: &[Value<'_>]) -> Result<(), DatasetError> {
        for (builder, value) in self.builders.iter_mut().zip(row) {
            if let Value::Hashes(hashes) = value {
                self.hashes += hashes.len();
            }
            builder.push(*value);
        }
        self.rows += 1;
        if self.rows >= BATCH_ROWS || self.hashes >= BATCH_HASHES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), DatasetError> {
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        (self.rows, self.hashes) = (0, 0);
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
            .map_err(ParquetError::from)
            .and_then(|batch| self.writer.write(&batch))
            .map_err(|error| unwritten(&self.path, error))
    }

    pub fn finish(mut self) -> Result<(), DatasetError> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.writer.close().map_err(|error| unwritten(&self.path, error))?;
        Ok(())
    }
}

fn unwritten(path: &Path, error: ParquetError) -> DatasetError {
    DatasetError::of_file(path, format!("can't be written: {error}"))
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls the library, which panics over some damaged files where it could say what is wrong; here that is an error, and
/// nothing is printed. Whatever was being read is not used any more after it.
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

/// A table that is read.
pub struct TableReader {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
    /// The columns that are read.
    columns: Vec<Column>,
    /// Rows of all batches before the one at hand.
    rows: u64,
}

/// Some rows of a table.
pub struct Batch {
    batch: RecordBatch,
    /// The number of its first row in the table, from 1.
    pub first_row: u64,
}

impl TableReader {
    /// Opens a file that must have exactly these columns; of these, `wanted` are read (all, if there are none).
    pub fn open(path: &Path, columns: &[Column], wanted: &[&str]) -> Result<Self, DatasetError> {
        let file = File::open(path).map_err(DatasetError::read(path))?;
        let unreadable = |error: String| {
            DatasetError::of_file(path, format!("is no whole Parquet file: {error}; make it again"))
        };
        let builder = guarded(|| ParquetRecordBatchReaderBuilder::try_new(file)).map_err(unreadable)?;
        check(path, builder.schema(), columns)?;
        let lists = columns.iter().any(|column| {
            column.kind == Kind::Hashes && (wanted.is_empty() || wanted.contains(&column.name))
        });
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn next_batch(&mut self) -> Result<Option<Batch>, DatasetError> {
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
        Ok(Some(Batch { batch, first_row }))
    }
}

/// The first row that must have a value and has none. Other writers let every column have nulls, so the schema can't tell.
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
        let Some(field) = schema.fields().get(at) else { return Err(said("missing")) };
        let same_type = match (field.data_type(), column.kind) {
            (DataType::List(element), Kind::Hashes) => *element.data_type() == DataType::UInt64,
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

/// The columns of a batch by their place; rows that are not there are `None`.
impl Batch {
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    pub fn u32s(&self, column: usize) -> Option<&PrimitiveArray<UInt32Type>> {
        self.batch.columns().get(column)?.as_primitive_opt()
    }

    pub fn i64s(&self, column: usize) -> Option<&PrimitiveArray<Int64Type>> {
        self.batch.columns().get(column)?.as_primitive_opt()
    }

    pub fn bools(&self, column: usize) -> Option<&BooleanArray> {
        self.batch.columns().get(column)?.as_boolean_opt()
    }

    pub fn u32(&self, column: usize, row: usize) -> Option<u32> {
        let all: &PrimitiveArray<UInt32Type> = self.valid(column, row)?.as_primitive_opt()?;
        Some(all.value(row))
    }

    pub fn u64(&self, column: usize, row: usize) -> Option<u64> {
        let all: &PrimitiveArray<UInt64Type> = self.valid(column, row)?.as_primitive_opt()?;
        Some(all.value(row))
    }

    pub fn i64(&self, column: usize, row: usize) -> Option<i64> {
        let all: &PrimitiveArray<Int64Type> = self.valid(column, row)?.as_primitive_opt()?;
        Some(all.value(row))
    }

    pub fn f64(&self, column: usize, row: usize) -> Option<f64> {
        let all: &PrimitiveArray<Float64Type> = self.valid(column, row)?.as_primitive_opt()?;
        Some(all.value(row))
    }

    pub fn bool(&self, column: usize, row: usize) -> Option<bool> {
        Some(self.valid(column, row)?.as_boolean_opt()?.value(row))
    }

    pub fn text(&self, column: usize, row: usize) -> Option<&str> {
        let all: &StringArray = self.valid(column, row)?.as_string_opt()?;
        Some(all.value(row))
    }

    pub fn hashes(&self, column: usize, row: usize) -> Option<Vec<u64>> {
        let all: &ListArray = self.valid(column, row)?.as_list_opt()?;
        let list = all.value(row);
        Some(list.as_primitive_opt::<UInt64Type>()?.values().to_vec())
    }

    fn valid(&self, column: usize, row: usize) -> Option<&ArrayRef> {
        self.batch.columns().get(column).filter(|array| row < array.len() && array.is_valid(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] = [
        Column::new("page", Kind::U32, ""),
        Column::or_null("name", Kind::Text, ""),
        Column::or_null("hashes", Kind::Hashes, ""),
    ];

    #[test]
    fn rows_come_back_and_the_same_rows_are_the_same_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str| {
            let path = folder.path().join(name);
            let mut table = TableWriter::create(&path, &COLUMNS).expect("a file");
            table.push(&[Value::U32(7), Value::Text("x"), Value::Hashes(&[1, u64::MAX])]).expect("a row");
            table.push(&[Value::U32(8), Value::Null, Value::Null]).expect("a row");
            table.push(&[Value::U32(9), Value::Text(""), Value::Hashes(&[])]).expect("a row");
            table.finish().expect("a file");
            path
        };
        let (one, other) = (write("a"), write("b"));
        let read = |path: &Path| std::fs::read(path).expect("the file");
        assert_eq!(read(&one), read(&other));
        let mut table = TableReader::open(&one, &COLUMNS, &[]).expect("the table");
        let batch = table.next_batch().expect("rows").expect("rows");
        assert_eq!((batch.rows(), batch.first_row), (3, 1));
        assert_eq!([0, 1, 2].map(|row| batch.u32(0, row)), [Some(7), Some(8), Some(9)]);
        assert_eq!([0, 1, 2].map(|row| batch.text(1, row)), [Some("x"), None, Some("")]);
        assert_eq!([0, 1, 2].map(|row| batch.hashes(2, row)), [Some(vec![1, u64::MAX]), None, Some(vec![])]);
        assert!(table.next_batch().expect("the end").is_none());
    }

    #[test]
    fn other_tables_and_other_files_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.parquet");
        TableWriter::create(&path, &COLUMNS[..2]).expect("a file").finish().expect("a file");
        let said = |columns: &[Column]| match TableReader::open(&path, columns, &[]) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        assert!(said(&COLUMNS).contains("column 3 is missing; it must be `hashes`"), "{}", said(&COLUMNS));
        assert!(said(&COLUMNS[..1]).contains("a column `name` too many"));
        let other = [Column::new("page", Kind::U64, ""), COLUMNS[1]];
        assert!(said(&other).contains("column 1 is `page` of type UInt32; it must be `page` of type u64"));
        let whole = std::fs::read(&path).expect("the file");
        std::fs::write(&path, &whole[..whole.len() / 2]).expect("a file");
        assert!(said(&COLUMNS[..2]).contains("is no whole Parquet file"));
    }

    #[test]
    fn others_tables_may_have_nulls_but_not_where_we_need_a_value() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.parquet");
        let loose = [Column::or_null("page", Kind::U32, ""), COLUMNS[1]];
        let mut table = TableWriter::create(&path, &loose).expect("a file");
        for page in [Value::U32(1), Value::Null] {
            table.push(&[page, Value::Null]).expect("a row");
        }
        table.finish().expect("a file");
        let mut table = TableReader::open(&path, &COLUMNS[..2], &[]).expect("the columns are right");
        let said = table.next_batch().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(
            said.ends_with("t.parquet: row 2, column `page`: there is a null, which this column can't have"),
            "{said}"
        );
    }
}
