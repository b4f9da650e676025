//! `freshet diff`: what changed between two versions of a page.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use freshet::report::diff::{Diff, harmless};
use freshet::store::{self, Store};
use freshet::time::Timestamp;

use super::held::{History, Snapshot, content};
use super::talk::{Talk, columns};
use super::when::moment;
use crate::cli::{CrawlFlags, DiffArgs, Global};
use crate::settings::Settings;

pub fn run(global: &Global, arguments: &DiffArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let from = arguments.from.as_deref().map(|text| moment("--from", text, now)).transpose()?;
    let to = arguments.to.as_deref().map(|text| moment("--to", text, now)).transpose()?;
    let settings = Settings::load(global, &CrawlFlags::default())?;
    let mut store = store::open_to_look(&settings.store)?;
    let history = History::of(&mut *store, &settings, &arguments.url)?;
    let Some((old, new)) = choose(&mut *store, &history.snapshots(), from, to)? else {
        bail!(
            "nothing is held of `{}` yet: `freshet history {}` shows its visits",
            history.page.url,
            history.page.url
        );
    };
    let (before, after) = (content(&mut *store, old.version)?, content(&mut *store, new.version)?);
    let diff = Diff::of(&before.text, &after.text);
    let bytes_differ = before.body != after.body;
    let name = |snapshot: &Snapshot| format!("{}\t{}", history.page.url, snapshot.at);
    let text = if global.json {
        let found = json!({
            "url": history.page.url,
            "from": { "at": old.at, "version": old.version.0 },
            "to": { "at": new.at, "version": new.version.0 },
            "words_added": diff.words_added(),
            "words_removed": diff.words_removed(),
            "bytes_differ": bytes_differ,
            "hunks": diff.to_json(),
        });
        serde_json::to_string_pretty(&found)? + "\n"
    } else if !std::io::stdout().is_terminal() {
        diff.unified(&name(&old), &name(&new), arguments.context)
    } else if arguments.unified {
        harmless_lines(&diff.unified(&name(&old), &name(&new), arguments.context))
    } else {
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let width = columns();
        if colours { diff.coloured(width, arguments.context) } else { diff.plain(width, arguments.context) }
    };
    if bytes_differ && before.text.is_empty() && after.text.is_empty() {
        talk.say(&format!("{} → {}: it has no words; its bytes differ", old.at, new.at));
    } else if diff.is_empty() {
        talk.say(&format!("no difference between {} and {}", old.at, new.at));
    } else {
        talk.say(&format!(
            "{} → {}: {} words added, {} removed",
            old.at,
            new.at,
            diff.words_added(),
            diff.words_removed()
        ));
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// A text that a terminal shows and does not obey, line by line.
fn harmless_lines(text: &str) -> String {
    text.split('\n').map(harmless).collect::<Vec<_>>().join("\n")
}

/// The two snapshots to compare: those held at the moments asked for. By default the last one, and the last before it
/// that has another text; where there are no words, other bytes.
fn choose(
    store: &mut dyn Store,
    snapshots: &[Snapshot],
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> anyhow::Result<Option<(Snapshot, Snapshot)>> {
    let at = |moment: Timestamp| {
        let held = snapshots.iter().rev().find(|snapshot| snapshot.at <= moment);
        held.or(snapshots.first()).copied()
    };
    let Some(new) = to.map_or_else(|| snapshots.last().copied(), at) else { return Ok(None) };
    if let Some(from) = from {
        return Ok(at(from).map(|old| (old, new)));
    }
    let text = content(store, new.version)?.text;
    let earlier = snapshots.iter().rev().filter(|snapshot| snapshot.at < new.at);
    let (mut old, mut same) = (new, new.version);
    for snapshot in earlier {
        old = *snapshot;
        if snapshot.version != same {
            if text.is_empty() || content(store, snapshot.version)?.text != text {
                break;
            }
            same = snapshot.version;
        }
    }
    Ok(Some((old, new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_lines_and_nothing_else_is_obeyed() {
        let text = Diff::of("a\nb\u{1b}[31m\nc\n", "a\nb\u{202e}\r\nc\n").unified("old\tthen", "new\tnow", 1);
        let shown = "--- old then\n+++ new now\n@@ -1,3 +1,3 @@\n a\n-b␛[31m\n+b�␍\n c\n";
        assert_eq!(harmless_lines(&text), shown);
    }
}
