//! Tables in Parquet files: rows in, rows out, a batch at a time.
//!
//! What must stay true: the same rows give the same bytes, so everything else in the file is fixed (no time, no
//! version of the library), and batches and row groups end by the rows alone. A table is read only if its columns are
//! the expected ones; those that were added later may be missing.

mod reader;
mod writer;

use std::sync::Arc;

use arrow_schema::{DataType, Field};

pub(crate) use reader::{TableBatch, TableReader};
pub(crate) use writer::TableWriter;

/// Rows in a batch.
const BATCH_ROWS: usize = 8192;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Bool,
    U32,
    U64,
    I64,
    F64,
    Text,
    /// A list of u64.
    Hashes,
    /// A list of u32.
    Counts,
}

impl ColumnKind {
    /// Is a value a list of numbers?
    fn is_list(self) -> bool {
        matches!(self, Self::Hashes | Self::Counts)
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: ColumnKind,
    pub(crate) nullable: bool,
    /// Files of earlier versions don't have it. Such columns stand at the end; where one is missing, all its values are null.
    pub(crate) added: bool,
    /// Its meaning and unit.
    pub(crate) note: &'static str,
}

impl Column {
    pub(crate) const fn new(name: &'static str, kind: ColumnKind, note: &'static str) -> Self {
        Self { name, kind, nullable: false, added: false, note }
    }

    pub(crate) const fn or_null(name: &'static str, kind: ColumnKind, note: &'static str) -> Self {
        Self { name, kind, nullable: true, added: false, note }
    }

    /// A column with nulls that files of earlier versions don't have.
    pub(crate) const fn added(name: &'static str, kind: ColumnKind, note: &'static str) -> Self {
        Self { name, kind, nullable: true, added: true, note }
    }

    /// The type as people name it.
    pub(crate) fn type_name(&self) -> &'static str {
        match (self.kind, self.nullable) {
            (ColumnKind::Bool, false) => "bool",
            (ColumnKind::Bool, true) => "bool or null",
            (ColumnKind::U32, false) => "u32",
            (ColumnKind::U32, true) => "u32 or null",
            (ColumnKind::U64, false) => "u64",
            (ColumnKind::U64, true) => "u64 or null",
            (ColumnKind::I64, false) => "i64",
            (ColumnKind::I64, true) => "i64 or null",
            (ColumnKind::F64, false) => "f64",
            (ColumnKind::F64, true) => "f64 or null",
            (ColumnKind::Text, false) => "text",
            (ColumnKind::Text, true) => "text or null",
            (ColumnKind::Hashes, false) => "list of u64",
            (ColumnKind::Hashes, true) => "list of u64, or null",
            (ColumnKind::Counts, false) => "list of u32",
            (ColumnKind::Counts, true) => "list of u32, or null",
        }
    }

    fn data_type(&self) -> DataType {
        match self.kind {
            ColumnKind::Bool => DataType::Boolean,
            ColumnKind::U32 => DataType::UInt32,
            ColumnKind::U64 => DataType::UInt64,
            ColumnKind::I64 => DataType::Int64,
            ColumnKind::F64 => DataType::Float64,
            ColumnKind::Text => DataType::Utf8,
            ColumnKind::Hashes => DataType::List(Arc::new(element(DataType::UInt64))),
            ColumnKind::Counts => DataType::List(Arc::new(element(DataType::UInt32))),
        }
    }
}

/// The elements of a list.
fn element(of: DataType) -> Field {
    Field::new("element", of, false)
}

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    U32(u32),
    U64(u64),
    I64(i64),
    F64(f64),
    Text(&'a str),
    Hashes(&'a [u64]),
    Counts(&'a [u32]),
}

impl<'a> Value<'a> {
    pub(crate) fn or_null<T>(value: Option<T>, make: impl FnOnce(T) -> Value<'a>) -> Self {
        value.map_or(Value::Null, make)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::new("page", ColumnKind::U32, ""),
        Column::or_null("name", ColumnKind::Text, ""),
        Column::or_null("hashes", ColumnKind::Hashes, ""),
        Column::or_null("counts", ColumnKind::Counts, ""),
    ];

    #[test]
    fn rows_come_back_and_the_same_rows_are_the_same_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str| {
            let path = folder.path().join(name);
            let mut table = TableWriter::create(&path, &COLUMNS).expect("a file");
            let hashes = Value::Hashes(&[1, u64::MAX]);
            table
                .push(&[Value::U32(7), Value::Text("x"), hashes, Value::Counts(&[3, u32::MAX])])
                .expect("a row");
            table.push(&[Value::U32(8), Value::Null, Value::Null, Value::Null]).expect("a row");
            table
                .push(&[Value::U32(9), Value::Text(""), Value::Hashes(&[]), Value::Counts(&[])])
                .expect("a row");
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
        assert_eq!([0, 1, 2].map(|row| batch.counts(3, row)), [Some(vec![3, u32::MAX]), None, Some(vec![])]);
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
        assert!(
            said(&COLUMNS[..3]).contains("column 3 is missing; it must be `hashes`"),
            "{}",
            said(&COLUMNS[..3])
        );
        assert!(said(&COLUMNS[..1]).contains("a column `name` too many"));
        let other = [Column::new("page", ColumnKind::U64, ""), COLUMNS[1]];
        assert!(said(&other).contains("column 1 is `page` of type UInt32; it must be `page` of type u64"));
        let whole = std::fs::read(&path).expect("the file");
        std::fs::write(&path, &whole[..whole.len() / 2]).expect("a file");
        assert!(said(&COLUMNS[..2]).contains("is no whole Parquet file"));
    }

    #[test]
    fn others_tables_may_have_nulls_but_not_where_we_need_a_value() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.parquet");
        let loose = [Column::or_null("page", ColumnKind::U32, ""), COLUMNS[1]];
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
