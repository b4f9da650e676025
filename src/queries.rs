//! What people search for, from the place that the settings name: a file, a web server's log, or the log of `freshet search`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use freshet::crawl::weights::WeightBy;
use freshet::follow::query_log;
use freshet::follow::search_index::path_beside;
use freshet::policy::registry;
use freshet::quality::search_workload::SearchWorkload;
use freshet::quality::terms::distinct_terms;
use freshet::quality::workload::{Workload, WorkloadError};
use freshet::quality::{access_log, workload_file};
use freshet::report::{counted, number};

use crate::settings::{Settings, Usage};
use crate::terminal::Talk;

/// In the place of a log: the queries that `freshet search` has kept.
const KEPT_BY_SEARCH: &str = "search";

/// In the place of a file: standard input.
const STDIN: &str = "-";

/// Where queries can come from.
const SOURCES: &str = "name a file with --queries FILE (a query a line, optionally a tab and its frequency), a web server's log with \
                       --queries-from access.log --param q, or the queries that `freshet search` has kept with --queries-from search; \
                       docs/quality.md explains them";

/// The workload of a crawl from these seeds, if the settings name one. It is an error if there is none and the policy or the weights
/// need one.
pub(crate) fn of_crawl(
    settings: &Settings,
    seeds: Option<&Path>,
    talk: Option<&Talk>,
) -> Result<Option<Arc<SearchWorkload>>, Usage> {
    let searches = settings.searches();
    let is_stdin = |path: Option<&Path>| path == Some(Path::new(STDIN));
    if is_stdin(seeds)
        && [&searches.queries, &searches.queries_from].iter().any(|path| is_stdin(path.as_deref()))
    {
        return Err(Usage(
            "seeds and queries can't both come from standard input; name a file for one of them".to_owned(),
        ));
    }
    match given(settings, talk)? {
        Some(searched) => Ok(Some(Arc::new(searched))),
        None if registry::NEED_QUERIES.contains(&settings.policy_name()) => {
            Err(missing(&format!("the policy `{}`", settings.policy_name())))
        }
        None if settings.crawl.weight == WeightBy::Workload => Err(missing("the weight `workload`")),
        None => Ok(None),
    }
}

/// The workload that the settings name, if they do.
pub(crate) fn given(settings: &Settings, talk: Option<&Talk>) -> Result<Option<SearchWorkload>, Usage> {
    let searches = settings.searches();
    let is_named = searches.queries.is_some() || searches.queries_from.is_some();
    is_named.then(|| needed("", settings, talk)).transpose()
}

/// The workload that the settings name. `by`: what can't do without, for the message if they name none.
pub(crate) fn needed(by: &str, settings: &Settings, talk: Option<&Talk>) -> Result<SearchWorkload, Usage> {
    let searches = settings.searches();
    let workload = match (&searches.queries, &searches.queries_from) {
        (Some(_), Some(_)) => {
            return Err(Usage(
                "both `queries` and `queries_from` are set: a workload comes from one source, leave one of them out"
                    .to_owned(),
            ));
        }
        (Some(file), None) => of_file(file, talk)?,
        (None, Some(log)) if log == Path::new(KEPT_BY_SEARCH) => of_searches(&settings.store, talk)?,
        (None, Some(log)) => of_access_log(log, &searches.param, talk)?,
        (None, None) => return Err(missing(by)),
    };
    Ok(SearchWorkload { workload, scoring: settings.scoring(), attention: settings.attention() })
}

/// The queries of a file, a query a line.
pub(crate) fn of_file(path: &Path, talk: Option<&Talk>) -> Result<Workload, Usage> {
    let (name, file) = opened("queries file", path)?;
    let workload = workload_file::read(&name, file, &distinct_terms).map_err(usage)?;
    say(talk, || format!("{name}: {}", size(&workload)));
    Ok(workload)
}

fn of_access_log(path: &Path, parameter: &str, talk: Option<&Talk>) -> Result<Workload, Usage> {
    let (name, log) = opened("access log", path)?;
    let read = access_log::read(&name, log, parameter, &distinct_terms).map_err(usage)?;
    say(talk, || {
        format!(
            "{name}: {} in {}; {} without a query in `{parameter}` skipped",
            size(&read.workload),
            counted(read.used, "request"),
            counted(read.skipped, "line"),
        )
    });
    Ok(read.workload)
}

fn of_searches(store: &Path, talk: Option<&Talk>) -> Result<Workload, Usage> {
    let index = path_beside(store);
    let asked = query_log::asked(&index).map_err(|error| {
        Usage(format!(
            "the queries that `freshet search` has kept can't be read: {error}\nhint: `freshet store rebuild --index` makes `{}` \
             again, with the queries that can still be read",
            index.display()
        ))
    })?;
    let asked = asked.unwrap_or_default();
    let queries = asked.iter().map(|text| (distinct_terms(text), 1.0)).filter(|(terms, _)| !terms.is_empty());
    let workload = Workload::of(queries).map_err(|_| {
        Usage(format!(
            "`freshet search` has kept no queries beside `{}` yet\nhint: search first, or {SOURCES}",
            store.display()
        ))
    })?;
    say(talk, || {
        let searches = if asked.len() == 1 { "search" } else { "searches" };
        format!("{}: {} in {} {searches}", index.display(), size(&workload), number(asked.len() as u64))
    });
    Ok(workload)
}

/// A file that can be read line by line, with its name in messages.
fn opened(kind: &str, path: &Path) -> Result<(String, Box<dyn BufRead>), Usage> {
    if path == Path::new(STDIN) {
        return Ok(("<stdin>".to_owned(), Box::new(io::stdin().lock())));
    }
    let name = path.display().to_string();
    let file = File::open(path)
        .map_err(|error| Usage(format!("the {kind} `{name}` can't be read: {error}\nhint: {SOURCES}")))?;
    Ok((name, Box::new(BufReader::new(file))))
}

fn usage(error: WorkloadError) -> Usage {
    Usage(format!("{error}\nhint: {}", error.hint()))
}

fn missing(by: &str) -> Usage {
    Usage(format!("{by} has to know what people search for\nhint: {SOURCES}"))
}

/// "2 queries with 3 words"
fn size(workload: &Workload) -> String {
    let (queries, terms) = (workload.queries().len(), workload.single_terms().len());
    let queries =
        if queries == 1 { "1 query".to_owned() } else { format!("{} queries", number(queries as u64)) };
    format!("{queries} with {}", counted(terms, "word"))
}

fn say(talk: Option<&Talk>, line: impl FnOnce() -> String) {
    if let Some(talk) = talk {
        talk.say(&line());
    }
}
