//! Where the demo stores what it fetches: kept when it has succeeded, removed when it has not.

use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use anyhow::Context as _;
use freshet::follow::search_index::path_beside;
use tempfile::TempDir;

use crate::settings::Usage;

pub(super) struct Place {
    /// A store for each policy.
    stores: Vec<(String, PathBuf)>,
    folder: Option<TempDir>,
    kept: bool,
}

impl Place {
    /// In a new folder of its own, or where the user wants it. With more than one policy, the store of each has its
    /// name.
    pub(super) fn make(wanted: Option<&Path>, policies: &[String]) -> anyhow::Result<Place> {
        let folder = match wanted {
            Some(_) => None,
            None => {
                let made = tempfile::Builder::new().prefix("freshet-demo-").tempdir();
                Some(made.context("no temporary folder can be made; name a new store with --store")?)
            }
        };
        let path = match (&folder, wanted) {
            (Some(folder), _) => folder.path().join("demo.db"),
            (None, wanted) => wanted.unwrap_or(Path::new("demo.db")).to_owned(),
        };
        let named = |policy: &String| match policies {
            [_] => (policy.clone(), path.clone()),
            _ => (policy.clone(), beside(&path, policy)),
        };
        let stores: Vec<_> = policies.iter().map(named).collect();
        if let Some((_, taken)) = stores.iter().find(|(_, path)| path.symlink_metadata().is_ok()) {
            return Err(Usage(format!(
                "`{}` is there already, and the demo starts a new store; name another with --store",
                taken.display()
            ))
            .into());
        }
        Ok(Place { stores, folder, kept: false })
    }

    pub(super) fn store(&self, policy: &str) -> &Path {
        self.stores.iter().find(|(name, _)| name == policy).map_or(Path::new(""), |(_, path)| path)
    }

    /// Nothing is removed any more.
    pub(super) fn keep(mut self) {
        self.kept = true;
        if let Some(folder) = self.folder.take() {
            let _ = folder.keep();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let indexes = self.stores.iter().map(|(_, path)| path_beside(path));
        for path in self.stores.iter().map(|(_, path)| path.clone()).chain(indexes) {
            for ending in ["", "-wal", "-shm", ".lock"] {
                let mut name = path.as_os_str().to_owned();
                name.push(ending);
                // A file that was not made can't be removed; the folder is removed by its own drop.
                let _ = std::fs::remove_file(name);
            }
        }
    }
}

/// `demo.db` → `demo-age.db`
fn beside(path: &Path, policy: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{}", file_name(policy)));
    if let Some(ending) = path.extension() {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

/// A formula has signs that names of files can't have: its hash tells it from others.
fn file_name(policy: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | ':' | '*');
    if policy.chars().all(is_plain) {
        return policy.to_owned();
    }
    format!("formula-{:08x}", xxh3_64(policy.as_bytes()) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(place: &Place) -> Vec<String> {
        let name = |(_, path): &(String, PathBuf)| path.file_name().unwrap().to_string_lossy().into_owned();
        place.stores.iter().map(name).collect()
    }

    #[test]
    fn what_was_there_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.db");
        std::fs::write(&path, "precious").unwrap();
        let refused = Place::make(Some(&path), &["a".to_owned()]);
        assert!(refused.is_err_and(|error| error.is::<Usage>()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn what_was_made_goes_unless_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.db");
        let policies = ["a".to_owned(), "b".to_owned()];
        let place = Place::make(Some(&path), &policies).unwrap();
        assert_eq!(names(&place), ["new-a.db", "new-b.db"]);
        std::fs::write(place.store("b"), "").unwrap();
        drop(place);
        assert!(!folder.path().join("new-b.db").exists());
        let place = Place::make(Some(&path), &policies[..1]).unwrap();
        std::fs::write(place.store("a"), "").unwrap();
        place.keep();
        assert!(path.exists());
        let place = Place::make(None, &policies[..1]).unwrap();
        let folder = place.store("a").parent().unwrap().to_owned();
        assert!(folder.exists());
        drop(place);
        assert!(!folder.exists());
    }
}
