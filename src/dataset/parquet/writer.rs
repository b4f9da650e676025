//! Rows → a Parquet file.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::schema::types::ColumnPath;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use super::{BATCH_ROWS, Column, ColumnKind, Value, element};
use crate::dataset::DatasetError;

/// Hashes in the lists of a batch.
const BATCH_HASHES: usize = 1 << 18;
/// Rows and bytes of a row group. A writer holds one in memory, and a reader of lists too.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 32 << 20;
/// Bytes of a page of the file: successive texts of a web page are in one, so that their common hashes are packed once.
const LIST_PAGE_BYTES: usize = 4 << 20;

/// A table that is being written.
pub(crate) struct TableWriter {
    path: PathBuf,
    writer: ArrowWriter<BufWriter<File>>,
    schema: Arc<Schema>,
    builders: Vec<ColumnBuilder>,
    rows: usize,
    hashes: usize,
}

impl TableWriter {
    /// Begins a file with these columns.
    pub(crate) fn create(path: &Path, columns: &[Column]) -> Result<Self, DatasetError> {
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
            let path = ColumnPath::from(if column.kind.is_list() {
                vec![column.name.to_owned(), "list".to_owned(), "element".to_owned()]
            } else {
                vec![column.name.to_owned()]
            });
            // Hashes come once or twice: a dictionary of them would only cost space.
            if matches!(column.kind, ColumnKind::Hashes | ColumnKind::U64 | ColumnKind::F64) {
                properties = properties.set_column_dictionary_enabled(path.clone(), false);
            }
            if column.kind == ColumnKind::Hashes {
                properties = properties.set_column_data_page_size_limit(path, LIST_PAGE_BYTES);
            }
        }
        let file = File::create(path).map_err(DatasetError::write(path))?;
        let options =
            ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(BufWriter::new(file), Arc::clone(&schema), options)
            .map_err(|error| unwritten(path, error))?;
        let builders = columns.iter().map(|column| ColumnBuilder::of(column.kind)).collect();
        Ok(Self { path: path.to_owned(), writer, schema, builders, rows: 0, hashes: 0 })
    }

    /// Adds a row: one value per column, in their order.
    pub(crate) fn push(&mut self, row: &[Value<'_>]) -> Result<(), DatasetError> {
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
        let arrays = self.builders.iter_mut().map(ColumnBuilder::finish).collect();
        (self.rows, self.hashes) = (0, 0);
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
            .map_err(ParquetError::from)
            .and_then(|batch| self.writer.write(&batch))
            .map_err(|error| unwritten(&self.path, error))
    }

    /// Writes the last rows and the end of the file.
    pub(crate) fn finish(mut self) -> Result<(), DatasetError> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.writer.close().map_err(|error| unwritten(&self.path, error))?;
        Ok(())
    }
}

/// The values of one column that wait for their batch.
enum ColumnBuilder {
    Bool(BooleanBuilder),
    U32(UInt32Builder),
    U64(UInt64Builder),
    I64(Int64Builder),
    F64(Float64Builder),
    Text(StringBuilder),
    Hashes(ListBuilder<UInt64Builder>),
    Counts(ListBuilder<UInt32Builder>),
}

impl ColumnBuilder {
    fn of(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Bool => Self::Bool(BooleanBuilder::new()),
            ColumnKind::U32 => Self::U32(UInt32Builder::new()),
            ColumnKind::U64 => Self::U64(UInt64Builder::new()),
            ColumnKind::I64 => Self::I64(Int64Builder::new()),
            ColumnKind::F64 => Self::F64(Float64Builder::new()),
            ColumnKind::Text => Self::Text(StringBuilder::new()),
            ColumnKind::Hashes => {
                Self::Hashes(ListBuilder::new(UInt64Builder::new()).with_field(element(DataType::UInt64)))
            }
            ColumnKind::Counts => {
                Self::Counts(ListBuilder::new(UInt32Builder::new()).with_field(element(DataType::UInt32)))
            }
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
            (Self::Counts(all), Value::Counts(counts)) => {
                all.values().append_slice(counts);
                all.append(true);
            }
            (Self::Counts(all), _) => all.append(false),
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
            Self::Counts(all) => Arc::new(all.finish()),
        }
    }
}

fn unwritten(path: &Path, error: ParquetError) -> DatasetError {
    DatasetError::of_file(path, format!("can't be written: {error}"))
}
