//! `freshet diff`: what changed between two versions of a page.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use freshet::look::diff::{PageDiff, diff};
use freshet::report::Screen;
use freshet::report::diff::{coloured, harmless, plain, unified};
use freshet::report::diff_words::{differences, differs_in_text};
use freshet::store;
use freshet::time::Timestamp;

use crate::cli::{DiffArgs, Global};
use crate::settings::when::moment;
use crate::settings::{Given, Settings};
use crate::terminal::{Talk, columns, json, print, screen};

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
    let found = diff(&mut *store, &settings.observer(), &arguments.url, (from, to), deadline())?;
    summary(&found, &screen()).iter().for_each(|line| talk.say(line));
    print(&if global.json { json(&found)? } else { drawn(&found, arguments) })
}

fn drawn(found: &PageDiff, arguments: &DiffArgs) -> String {
    let name = |at: Timestamp| format!("{}\t{at}", found.url);
    let (from, to) = (name(found.from.confirmed_at), name(found.to.found_at));
    let patch = || unified(&found.text, &from, &to, arguments.context);
    if !std::io::stdout().is_terminal() {
        // A page of one line would be that line twice. Who asks for --unified gets lines as they are.
        if found.has_long_lines() && !arguments.unified {
            return unified(&found.by_sentences(deadline()), &from, &to, arguments.context);
        }
        patch()
    } else if arguments.unified {
        harmless_lines(&patch())
    } else if std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) {
        coloured(&found.text, columns(), arguments.context)
    } else {
        plain(&found.text, columns(), arguments.context)
    }
}

/// What changed and when, in words: a line, and another one if the texts were read again.
fn summary(found: &PageDiff, screen: &Screen) -> Vec<String> {
    let (before, after) = (screen.time(found.from.confirmed_at), screen.time(found.to.found_at));
    let parts = differences(found);
    let name = found.title.as_deref().map_or(String::new(), |title| format!("{title}: "));
    let said = match (!differs_in_text(found), parts.is_empty()) {
        (true, true) => format!("{name}no difference between {before} and {after}"),
        (true, false) => {
            format!("{name}no difference in the text between {before} and {after}, but {}", parts.join("; "))
        }
        (false, _) => format!("{name}found {after}, last seen as before {before}: {}", parts.join("; ")),
    };
    let mut lines = vec![harmless(&said)];
    if found.read_again {
        lines.push(
            "the noise rules changed in between: both versions were read again by the rules of today"
                .to_owned(),
        );
    }
    lines
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
