//! The search index beside the store, brought up to date for a command, wherever it can be kept.

use freshet::follow::FollowError;
use freshet::follow::search_index::{SearchIndex, path_beside};
use freshet::look::LookError;
use freshet::report::counted;
use freshet::store::Store;

use crate::settings::Settings;
use crate::terminal::Talk;

/// Lets `work` use the index, up to date. An index that turns out to be damaged is made again, and `work` is done once more; where none
/// can be written, it gets a temporary one. `purpose` is what that is made for: "this search".
pub(crate) fn with_index<T>(
    settings: &Settings,
    store: &mut dyn Store,
    purpose: &str,
    talk: &Talk,
    work: &dyn Fn(&mut SearchIndex, &mut dyn Store) -> Result<T, LookError>,
) -> anyhow::Result<T> {
    let path = path_beside(&settings.store);
    let work = |mut index: SearchIndex, store: &mut dyn Store| {
        update(&mut index, store, talk)?;
        work(&mut index, store)
    };
    let opened = SearchIndex::open(&path, store);
    match opened.map_err(Into::into).and_then(|index| work(index, store)) {
        Err(LookError::Follow(FollowError::Damaged(said))) => {
            let index = SearchIndex::replace(&path, &said)?;
            Ok(work(index, store)?)
        }
        Err(LookError::Follow(FollowError::CannotWrite { reason, .. })) => {
            let index = without_writing(settings, store, purpose, &reason, talk)?;
            Ok(work(index, store)?)
        }
        done => Ok(done?),
    }
}

/// The index that is there if it is up to date, else a temporary one.
fn without_writing(
    settings: &Settings,
    store: &mut dyn Store,
    purpose: &str,
    reason: &str,
    talk: &Talk,
) -> Result<SearchIndex, LookError> {
    if let Ok(Some(mut index)) = SearchIndex::open_to_look(&path_beside(&settings.store), store)
        && index.behind(store)? == 0
    {
        return Ok(index);
    }
    talk.say(&format!(
        "no index can be kept beside the store ({reason}): a temporary one is made for {purpose}"
    ));
    Ok(SearchIndex::temporary()?)
}

/// Visits that are read without a word.
const FEW_VISITS: u64 = 1000;

/// Brings an index up to date, and shows how far it is.
pub(crate) fn update(index: &mut SearchIndex, store: &mut dyn Store, talk: &Talk) -> Result<(), FollowError> {
    if let Some(reason) = index.remade() {
        talk.say(&format!("the search index is made again: {reason}"));
    }
    let behind = index.behind(store)?;
    if behind == 0 {
        return Ok(());
    }
    let many = usize::try_from(behind).unwrap_or(usize::MAX);
    let is_new = index.is_new()?;
    if is_new {
        talk.say(&format!("indexing {} …", counted(many, "page")));
    } else if behind > FEW_VISITS {
        talk.say(&format!("the index is behind: reading {} …", counted(many, "visit")));
    }
    let mut bar = talk.count(if is_new { "pages indexed" } else { "visits read" });
    index.follow(store, &mut |done| bar.show(done, behind.max(done)))?;
    bar.finish();
    Ok(())
}
