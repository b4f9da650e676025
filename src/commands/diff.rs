//! `freshet diff`: what changed between two versions of a page.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use freshet::look::diff::{PageDiff, diff};
use freshet::report::diff::{coloured, harmless, plain, unified};
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{DiffArgs, Global};
use crate::settings::when::moment;
use crate::settings::{Given, Settings};
use crate::terminal::{Talk, columns, json, print};

/// Time to compare two texts: what has not been compared after it counts as replaced.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// When the comparison that begins now must be done.
pub(crate) fn deadline() -> Instant {
    Instant::now() + TIME_LIMIT
}

pub(crate) fn run(global: &Global, arguments: &DiffArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    let from = arguments.from.as_deref().map(|text| moment("--from", text, now)).transpose()?;
    let to = arguments.to.as_deref().map(|text| moment("--to", text, now)).transpose()?;
    let settings = Settings::load(global, &Given::default())?;
    let mut store = store::open_to_look(&settings.store)?;
    let found = diff(&mut *store, &settings.normaliser(), &arguments.url, (from, to), deadline())?;
    talk.say(&summary(&found));
    print(&if global.json { json(&found)? } else { drawn(&found, arguments) })
}

fn drawn(found: &PageDiff, arguments: &DiffArgs) -> String {
    let name = |at: Timestamp| format!("{}\t{at}", found.url);
    let patch = || unified(&found.text, &name(found.from.at), &name(found.to.at), arguments.context);
    if !std::io::stdout().is_terminal() {
        patch()
    } else if arguments.unified {
        harmless_lines(&patch())
    } else if std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) {
        coloured(&found.text, columns(), arguments.context)
    } else {
        plain(&found.text, columns(), arguments.context)
    }
}

fn summary(found: &PageDiff) -> String {
    let (from, to) = (found.from.at, found.to.at);
    if found.bytes_differ && !found.has_text {
        format!("{from} → {to}: it has no words; its bytes differ")
    } else if found.text.is_empty() {
        format!("no difference between {from} and {to}")
    } else {
        format!("{from} → {to}: {} words added, {} removed", found.words_added, found.words_removed)
    }
}

/// A text that a terminal shows and does not obey, line by line.
fn harmless_lines(text: &str) -> String {
    text.split('\n').map(harmless).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use freshet::look::text_diff::TextDiff;

    #[test]
    fn lines_stay_lines_and_nothing_else_is_obeyed() {
        let diff = TextDiff::of("a\nb\u{1b}[31m\nc\n", "a\nb\u{202e}\r\nc\n", deadline());
        let text = unified(&diff, "old\tthen", "new\tnow", 1);
        let shown = "--- old then\n+++ new now\n@@ -1,3 +1,3 @@\n a\n-b␛[31m\n+b�␍\n c\n";
        assert_eq!(harmless_lines(&text), shown);
    }
}
