//! Files that appear whole or not at all.
//!
//! What is written goes into a file beside its place, and is moved there when it is complete. A link stays a link: its target
//! is written. A pipe or a device is written to, and never replaced. A file that is there keeps its mode and its owner. A
//! missing folder is made, but not the folders above it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Links from one place to the next that are followed: as many as Linux does.
const MOST_LINKS: usize = 40;

/// The place of a file that is to be written.
#[derive(Debug)]
pub struct OutPlace {
    target: PathBuf,
    /// The file that is there.
    there: Option<Metadata>,
    is_stream: bool,
}

impl OutPlace {
    /// The place that a path names, where its links lead. Makes the folder of the file if only that is missing.
    pub fn of(path: &Path) -> io::Result<Self> {
        if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder; name a file in it"));
        }
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder; name a file in it"))
            }
            Ok(found) if !found.is_file() || is_open_file(path) => {
                Ok(Self { target: path.to_owned(), there: Some(found), is_stream: true })
            }
            Ok(found) => Ok(Self { target: fs::canonicalize(path)?, there: Some(found), is_stream: false }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let target = end_of_links(path)?;
                make_folder(folder_of(&target))?;
                Ok(Self { target, there: None, is_stream: false })
            }
            Err(error) => Err(error),
        }
    }

    /// Is it a pipe or a device? Then nothing can stand beside it.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// A new folder for files that are not complete yet: beside the place, from where they can be moved.
    pub fn staging(&self) -> io::Result<TempDir> {
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(".freshet-");
        if self.is_stream { builder.tempdir() } else { builder.tempdir_in(folder_of(&self.target)) }
    }

    /// Moves a file that is complete to its place, or writes it into the pipe or device.
    pub fn put(&self, whole: &Path) -> io::Result<()> {
        if self.is_stream {
            let mut stream = OpenOptions::new().write(true).open(&self.target)?;
            io::copy(&mut File::open(whole)?, &mut stream)?;
            return stream.flush();
        }
        if let Some(there) = &self.there {
            keep_owner_and_mode(whole, there)?;
        }
        match fs::rename(whole, &self.target) {
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                let staging = self.staging()?;
                let beside = staging.path().join("whole");
                fs::copy(whole, &beside)?;
                if let Some(there) = &self.there {
                    keep_owner_and_mode(&beside, there)?;
                }
                fs::rename(beside, &self.target)
            }
            moved => moved,
        }
    }
}

/// Writes a file, whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let place = OutPlace::of(path)?;
    let staging = place.staging()?;
    let whole = staging.path().join("whole");
    fs::write(&whole, bytes)?;
    place.put(&whole)
}

/// Makes a folder, unless it is there. The folder that it is in must be there.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let missing = folder_of(folder).display().to_string();
            Err(io::Error::new(ErrorKind::NotFound, format!("there is no folder `{missing}`; make it first")))
        }
        made => made,
    }
}

/// Does the path name a file that a process has open? Its links lead to names that only look like files.
fn is_open_file(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|names| path.starts_with(names))
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where the links of a path lead that ends nowhere yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

#[cfg(unix)]
fn keep_owner_and_mode(file: &Path, there: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let own = fs::metadata(file)?;
    if (own.uid(), own.gid()) != (there.uid(), there.gid()) {
        // Only root can give a file away; for others it stays their own.
        let _ = chown(file, Some(there.uid()), Some(there.gid()));
    }
    fs::set_permissions(file, there.permissions())
}

#[cfg(not(unix))]
fn keep_owner_and_mode(file: &Path, there: &Metadata) -> io::Result<()> {
    fs::set_permissions(file, there.permissions())
}

/// Makes a database file that only its owner may read, because pages may have been fetched with a key. SQLite gives the files beside
/// it the same mode. A file that exists keeps its own; a failure is left to SQLite to tell.
pub(crate) fn create_private(path: &Path) {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_with_its_mode_and_nothing_is_left_beside_it() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("file");
        write(&path, b"one").expect("it is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
        write(&path, b"two").expect("it is written again");
        assert_eq!(fs::read(&path).expect("a file"), b"two");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn links_are_written_through() {
        let folder = TempDir::new().expect("a folder");
        let other = TempDir::new().expect("another folder");
        let (target, there, nowhere) =
            (other.path().join("target"), folder.path().join("there"), folder.path().join("nowhere"));
        fs::write(&target, "old").expect("a file");
        symlink(&target, &there).expect("a link");
        symlink("later", &nowhere).expect("a link that leads nowhere yet");
        for link in [&there, &nowhere] {
            write(link, b"new").expect("it is written");
            assert!(fs::symlink_metadata(link).expect("a link").is_symlink());
            assert_eq!(fs::read(link).expect("a file"), b"new");
        }
        assert_eq!(names(folder.path()), ["later", "nowhere", "there"]);
        symlink("circle", folder.path().join("circle")).expect("a circle");
        assert!(write(&folder.path().join("circle"), b"x").is_err());
    }

    #[test]
    fn a_device_is_written_to_and_stays_a_device() {
        write(Path::new("/dev/null"), b"gone").expect("it is written");
        assert!(fs::metadata("/dev/null").expect("a device").file_type().is_char_device());
        assert!(OutPlace::of(Path::new("/dev/null")).expect("a place").is_stream());
        let error = write(Path::new("/dev/full"), b"never").expect_err("it is full");
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert!(fs::metadata("/dev/full").expect("a device").file_type().is_char_device());
    }

    #[test]
    fn a_longer_file_in_memory_is_replaced_as_a_whole() {
        // A folder of files on Linux, though it is below `/dev`.
        let Ok(folder) = TempDir::new_in("/dev/shm") else { return };
        let path = folder.path().join("file");
        for text in ["a long text", "short"] {
            write(&path, text.as_bytes()).expect("it is written");
            assert_eq!(fs::read_to_string(&path).expect("a file"), text);
        }
    }

    #[test]
    fn one_folder_is_made_and_no_more() {
        let folder = TempDir::new().expect("a folder");
        write(&folder.path().join("new/file"), b"x").expect("it is written");
        let error = write(&folder.path().join("a/b/file"), b"x").expect_err("too deep");
        assert!(error.to_string().contains("there is no folder `"), "{error}");
        assert!(!folder.path().join("a").exists());
        for wrong in [folder.path().to_owned(), folder.path().join("new/")] {
            assert_eq!(OutPlace::of(&wrong).expect_err("a folder").kind(), ErrorKind::IsADirectory);
        }
    }
}
