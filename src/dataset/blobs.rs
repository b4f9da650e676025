//! Contents of a recording: `blobs.sqlite`, which holds each content once, zstd-compressed in packs.

use std::collections::HashSet;
use std::io::{self, BufReader, Read as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use zstd::stream::read::Decoder;

/// Why a content can't be read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The file is no database of contents.
    #[error("`{path}` has no usable contents: {source}")]
    Database {
        /// The file.
        path: String,
        /// The error of the database.
        source: rusqlite::Error,
    },
    /// A pack is damaged.
    #[error("the content `{0}` can't be unpacked: {1}")]
    Unpack(String, io::Error),
}

/// The contents of an open file.
#[derive(Debug)]
pub struct Blobs {
    connection: Mutex<Connection>,
    path: String,
}

impl Blobs {
    /// Opens the file, to read only.
    pub fn open(path: &Path) -> Result<Self, BlobError> {
        let path = path.display().to_string();
        match Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
            Ok(connection) => Ok(Self { connection: Mutex::new(connection), path }),
            Err(source) => Err(BlobError::Database { path, source }),
        }
    }

    /// The file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The names of all contents.
    pub fn names(&self) -> Result<HashSet<String>, BlobError> {
        let blobs = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let names = || -> rusqlite::Result<HashSet<String>> {
            blobs.prepare("SELECT sha FROM blob")?.query_map([], |row| row.get(0))?.collect()
        };
        names().map_err(|source| BlobError::Database { path: self.path.clone(), source })
    }

    /// A content. Its pack is unpacked up to where it is.
    pub fn content(&self, blob: &str) -> Result<Vec<u8>, BlobError> {
        let place = self.place(blob)?;
        let packed = self.pack(place.pack)?;
        Unpacked::new(&packed).read(&place).map_err(|error| BlobError::Unpack(blob.to_owned(), error))
    }

    /// Calls `each` with the index of a content in the list and its bytes, in the order of the packs: a pack is unpacked
    /// once. Memory holds one packed pack and one content.
    pub fn each(&self, blobs: &[&str], each: &mut dyn FnMut(usize, &[u8])) -> Result<(), BlobError> {
        let mut places = Vec::with_capacity(blobs.len());
        for (index, blob) in blobs.iter().enumerate() {
            places.push((self.place(blob)?, index));
        }
        places.sort_unstable();
        for of_pack in places.chunk_by(|(a, _), (b, _)| a.pack == b.pack) {
            let Some((first, _)) = of_pack.first() else { continue };
            let packed = self.pack(first.pack)?;
            let mut unpacked = Unpacked::new(&packed);
            for (place, index) in of_pack {
                let name = || blobs.get(*index).copied().unwrap_or_default().to_owned();
                let content = unpacked.read(place).map_err(|error| BlobError::Unpack(name(), error))?;
                each(*index, &content);
            }
        }
        Ok(())
    }

    fn place(&self, blob: &str) -> Result<BlobPlace, BlobError> {
        self.ask("SELECT pack, off, len FROM blob WHERE sha = ?1", blob, |row| {
            let (offset, length) = (row.get::<_, u32>(1)?.into(), row.get::<_, u32>(2)?.into());
            Ok(BlobPlace { pack: row.get(0)?, offset, length })
        })
    }

    fn pack(&self, id: i64) -> Result<Vec<u8>, BlobError> {
        self.ask("SELECT zstd FROM pack WHERE id = ?1", id, |row| row.get(0))
    }

    fn ask<T>(
        &self,
        query: &str,
        of: impl rusqlite::ToSql,
        read: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, BlobError> {
        let blobs = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let found = blobs.prepare_cached(query).and_then(|mut query| query.query_row([of], read));
        found.map_err(|source| BlobError::Database { path: self.path.clone(), source })
    }
}

/// The place of a content in its pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BlobPlace {
    pack: i64,
    offset: u64,
    length: u64,
}

/// A pack that is read from its beginning to its end.
struct Unpacked<'a> {
    packed: &'a [u8],
    reader: Option<Decoder<'a, BufReader<&'a [u8]>>>,
    position: u64,
}

impl<'a> Unpacked<'a> {
    fn new(packed: &'a [u8]) -> Self {
        Self { packed, reader: None, position: 0 }
    }

    /// The content of a place. Going back before the last place costs another unpacking from the beginning.
    fn read(&mut self, place: &BlobPlace) -> io::Result<Vec<u8>> {
        let mut reader = match self.reader.take().filter(|_| self.position <= place.offset) {
            Some(reader) => reader,
            None => {
                self.position = 0;
                Decoder::new(self.packed)?
            }
        };
        io::copy(&mut reader.by_ref().take(place.offset - self.position), &mut io::sink())?;
        let mut content = Vec::new();
        reader.by_ref().take(place.length).read_to_end(&mut content)?;
        if content.len() as u64 != place.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.position = place.offset + place.length;
        self.reader = Some(reader);
        Ok(content)
    }
}
