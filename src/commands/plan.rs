//! `freshet plan`: what the next cycle would visit, and why.

use std::io::{BufWriter, Write as _};
use std::process::ExitCode;

use freshet::crawl::Crawler;
use freshet::crawl::weights::WeightBy;
use freshet::fetch::network::Network;
use freshet::follow::search_index::{SearchIndex, path_beside};
use freshet::look::plan::plan;
use freshet::report;
use freshet::store::{self, Store};
use freshet::time::Timestamp;

use crate::cli::{Global, PlanArgs};
use crate::queries;
use crate::set_up::{crawler, network, warn_of_sites};
use crate::settings::{Given, Settings, TimeSpan, Usage, Written};
use crate::terminal::{Talk, json_line, print, screen};

/// Visits that a table shows unless more are asked for.
const ROWS: usize = 40;

pub(crate) fn run(global: &Global, arguments: &PlanArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let mut crawler = looking(global, &arguments.flags.0, arguments.every.as_ref(), Some(talk))?;
    let plan = plan(&mut crawler, Timestamp::now())?;
    let most = match (arguments.limit, global.json) {
        (Some(0), _) | (None, true) => usize::MAX,
        (Some(limit), _) => limit,
        (None, false) => ROWS,
    };
    if !global.json {
        return print(&report::plan::plan(&plan, most, &screen()));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    for visit in plan.visits.iter().take(most) {
        out.write_all(json_line(visit)?.as_bytes())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// A crawler that only looks: nothing in the store is changed, and no request is sent. Settings that match nothing are told
/// to `talk`.
pub(crate) fn looking(
    global: &Global,
    flags: &Given,
    every: Option<&Written<TimeSpan>>,
    talk: Option<&Talk>,
) -> anyhow::Result<Crawler<Network>> {
    let mut flags = flags.clone();
    flags.crawl.every = every.cloned();
    let mut settings = Settings::load(global, &flags)?;
    settings.crawl.workload = queries::of_crawl(&settings, None, talk)?;
    let mut store = store::open_to_look(&settings.store)?;
    if let Some(talk) = talk {
        warn_of_sites(&settings, &mut *store, talk)?;
    }
    if settings.crawl.weight == WeightBy::Workload && !has_index(&settings, &mut *store)? {
        return Err(Usage(
            "the weight `workload` needs the search index beside the store; `freshet search WORDS` makes it, and \
             `freshet crawl` with this weight does"
                .to_owned(),
        )
        .into());
    }
    crawler(&settings, network(&settings)?, store, settings.policy()?)
}

/// Whether there is a search index that can be used as it is.
fn has_index(settings: &Settings, store: &mut dyn Store) -> anyhow::Result<bool> {
    Ok(SearchIndex::open_to_look(&path_beside(&settings.store), store)?.is_some())
}
