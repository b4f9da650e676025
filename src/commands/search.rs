//! `freshet search`: stored pages that have all words of a query.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use freshet::follow::FollowError;
use freshet::follow::search_index::{SearchIndex, path_beside};
use freshet::look::LookError;
use freshet::look::search::{SearchQuery, SearchResults, search, search_as_of};
use freshet::report;
use freshet::report::counted;
use freshet::store::{self, Store};
use freshet::time::Timestamp;

use crate::cli::{Global, SearchArgs};
use crate::settings::Settings;
use crate::settings::when::moment;
use crate::terminal::{Talk, json, print};

pub(crate) fn run(global: &Global, arguments: &SearchArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let settings = Settings::load(global, &arguments.flags.0)?;
    let query = SearchQuery::new(&arguments.words.join(" "), settings.scoring(), arguments.limit)?;
    let as_of = arguments.as_of.as_deref().map(|text| moment("--as-of", text, now)).transpose()?;
    let mut store = store::open_to_look(&settings.store)?;
    let found = match as_of {
        Some(at) => {
            let mut bar = talk.count("pages");
            let found = search_as_of(&mut *store, &query, at, &mut |done, all| bar.show(done, all))?;
            bar.finish();
            found
        }
        None => {
            let mut place = IndexPlace { settings: &settings, talk, query: &query, now };
            let asked = arguments.words.join(" ");
            let is_kept = !arguments.no_log && asked.len() <= MOST_KEPT_BYTES;
            place.search(&mut *store, Some(asked.as_str()).filter(|_| is_kept))?
        }
    };
    print(&if global.json { json(&found)? } else { report::search::search(&found, has_bold()) })
}

/// A longer query is not kept: no one typed it.
const MOST_KEPT_BYTES: usize = 4096;

/// Words are bold on a terminal, unless its user wants nothing of the kind.
fn has_bold() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A search in the index beside the store, wherever that can be kept.
struct IndexPlace<'a> {
    settings: &'a Settings,
    talk: &'a Talk,
    query: &'a SearchQuery,
    now: Timestamp,
}

impl IndexPlace<'_> {
    /// Brings the index up to date and searches it. `kept`: the query, if it is to be kept.
    fn search(&mut self, store: &mut dyn Store, kept: Option<&str>) -> anyhow::Result<SearchResults> {
        let path = path_beside(&self.settings.store);
        let opened = SearchIndex::open(&path, store);
        let found = opened.map_err(Into::into).and_then(|index| self.search_in(index, store, kept));
        match found {
            Err(LookError::Follow(FollowError::Damaged(said))) => {
                let index = SearchIndex::replace(&path, &said)?;
                Ok(self.search_in(index, store, kept)?)
            }
            Err(LookError::Follow(FollowError::CannotWrite { reason, .. })) => {
                let index = self.without_writing(store, &reason)?;
                Ok(self.search_in(index, store, None)?)
            }
            found => Ok(found?),
        }
    }

    fn search_in(
        &self,
        mut index: SearchIndex,
        store: &mut dyn Store,
        kept: Option<&str>,
    ) -> Result<SearchResults, LookError> {
        update(&mut index, store, self.talk)?;
        let found = search(store, &index, self.query, self.now)?;
        if let Some(text) = kept.filter(|_| index.is_kept()) {
            index.log_query(text, self.now)?;
        }
        Ok(found)
    }

    /// The index that is there if it is up to date, else a temporary one.
    fn without_writing(&self, store: &mut dyn Store, reason: &str) -> Result<SearchIndex, LookError> {
        if let Ok(Some(mut index)) = SearchIndex::open_to_look(&path_beside(&self.settings.store), store)
            && index.behind(store)? == 0
        {
            return Ok(index);
        }
        self.talk.say(&format!(
            "no index can be kept beside the store ({reason}): a temporary one is made for this search"
        ));
        Ok(SearchIndex::temporary()?)
    }
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
