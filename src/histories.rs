//! The histories that `simulate` and `evolve` replay: recorded ones, made-up ones, or the store's own.

use std::path::Path;

use freshet::dataset::stored::{Backtest, backtest};
use freshet::dataset::{Dataset, WantedWords};
use freshet::simulate::synthetic::Spec;

use crate::cli::Global;
use crate::settings::Usage;
use crate::terminal::Talk;

/// The share of the pages that `--budget` gives: `5%` or `0.05`
pub(crate) fn share(text: &str) -> Result<f64, Usage> {
    share_of("--budget", text, "the pages")
}

/// The share that a flag gives, of something.
pub(crate) fn share_of(flag: &str, text: &str, of: &str) -> Result<f64, Usage> {
    let parsed = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse::<f64>(),
    };
    let share = parsed.ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| Usage(format!("{flag} is `{text}`; write a share of {of}: 5%, or 0.05")))
}

pub(crate) fn synthetic(spec: &str) -> Result<Spec, Usage> {
    spec.parse().map_err(|error| Usage(format!("--synthetic: {error}")))
}

/// Said where a cycle has not ended.
pub(crate) const OPEN_CYCLE: &str =
    "a cycle has not ended: its visits are left out; `freshet crawl` goes on with it";

/// A dataset, made-up pages, or the store's own history; with the words that are wanted.
pub(crate) fn load(
    global: &Global,
    dataset: Option<&Path>,
    spec: Option<&str>,
    wanted: WantedWords<'_>,
    talk: &Talk,
) -> anyhow::Result<Dataset> {
    if let Some(spec) = spec {
        if !matches!(wanted, WantedWords::None) {
            return Err(Usage(
                "made-up pages have no words, so queries can't be replayed over them".to_owned(),
            )
            .into());
        }
        return Ok(synthetic(spec)?.dataset());
    }
    if let Some(path) = dataset {
        return Ok(Dataset::load_with(path, wanted)?);
    }
    let Some(path) = &global.store else {
        return Err(Usage(
            "there is nothing to replay; name a dataset, made-up pages with --synthetic SPEC, or a store with --store PATH"
                .to_owned(),
        )
        .into());
    };
    let Backtest { dataset, open_cycle } = backtest(path, wanted)?;
    if open_cycle {
        talk.say(OPEN_CYCLE);
    }
    talk.say(
        "this replays what your own visits saw: a change counts for the cycle whose visit found it, and in cycles without a \
         visit a page is taken not to have changed. A policy gets no credit for a visit that your crawl did not make",
    );
    Ok(dataset)
}
