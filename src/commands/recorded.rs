//! What `simulate` and `evolve` work on: recorded histories, made-up ones, or the store's own.

use std::path::Path;
use std::time::Duration;

use freshet::dataset::{Dataset, Group, History, RecordedPage};
use freshet::simulate::synthetic::Spec;
use freshet::store;

use crate::cli::Global;
use crate::settings::Usage;
use crate::terminal::Talk;

/// `5%` or `0.05`
pub fn share(text: &str) -> Result<f64, Usage> {
    let parsed = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse::<f64>(),
    };
    let share = parsed.ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| Usage(format!("--budget is `{text}`; write a share of the pages: 5%, or 0.05")))
}

pub fn synthetic(spec: &str) -> Result<Spec, Usage> {
    spec.parse().map_err(|error| Usage(format!("--synthetic: {error}")))
}

/// A dataset, made-up pages, or the store's own history.
pub fn load(
    global: &Global,
    dataset: Option<&Path>,
    spec: Option<&str>,
    talk: &Talk,
) -> anyhow::Result<Dataset> {
    if let Some(spec) = spec {
        return Ok(synthetic(spec)?.dataset());
    }
    if let Some(path) = dataset {
        return Ok(Dataset::load(path)?);
    }
    let Some(path) = &global.store else {
        return Err(Usage(
            "there is nothing to replay; name a dataset, --synthetic SPEC, or the store whose own history it shall be with \
             --store PATH"
                .to_owned(),
        )
        .into());
    };
    let dataset = backtest(path)?;
    talk.say(
        "this is what your own visits saw: a change counts for the cycle whose visit found it, and in cycles without a visit \
         a page is taken not to have changed. Policies that would have looked where nobody did can't be credited for it",
    );
    Ok(dataset)
}

/// The store's own history: a cycle is one of its own.
pub fn backtest(path: &Path) -> anyhow::Result<Dataset> {
    let mut store = store::open_to_look(path)?;
    let mut cycles = store.cycles(usize::MAX >> 1)?;
    cycles.reverse();
    let starts: Vec<i64> = cycles.iter().map(|cycle| cycle.started_at.millis()).collect();
    let (Some(first), Some(last)) = (cycles.first(), cycles.last()) else {
        anyhow::bail!("`{}` has no cycle yet; `freshet crawl` makes some", path.display());
    };
    let span =
        last.started_at.since(first.started_at).seconds() / (cycles.len().saturating_sub(1)).max(1) as f64;
    let cycle_of = |millis: i64| starts.partition_point(|start| *start <= millis).saturating_sub(1) as u32;
    let mut pages = Vec::new();
    store.each_history(1, &mut |page| {
        let Some(earliest) = page.lessons.first() else { return };
        let first_seen = earliest.at.millis() - (earliest.interval.seconds() * 1000.0) as i64;
        let born = cycle_of(first_seen);
        let mut bits = vec![0_u64; cycles.len().div_ceil(64)];
        for lesson in page.lessons.iter().filter(|lesson| lesson.changed) {
            let Some(bit) = cycle_of(lesson.at.millis()).checked_sub(born + 1) else { continue };
            if let Some(word) = bits.get_mut(bit as usize / 64) {
                *word |= 1 << (bit % 64);
            }
        }
        let history = History::Bits(bits);
        pages.push(RecordedPage { url: page.url, site: String::new(), weight: 1.0, born, history });
    })?;
    if pages.is_empty() {
        anyhow::bail!("no page of `{}` was visited twice; `freshet crawl` once more", path.display());
    }
    let group = Group {
        name: "store".to_owned(),
        start: first.started_at,
        step: Duration::try_from_secs_f64(span.max(1.0)).unwrap_or(Duration::from_secs(86_400)),
        cycles: cycles.len() as u32,
        pages,
    };
    Ok(Dataset { name: path.display().to_string(), groups: vec![group] })
}
