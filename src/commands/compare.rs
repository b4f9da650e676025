//! `freshet compare`: how far two texts are apart, and the words that make the difference.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use freshet::change::comparison::Comparison;
use freshet::change::fragment::MOST_WORDS;
use freshet::extract::{self, MediaKind};
use freshet::report::diff::harmless;
use freshet::report::number;

use freshet::look::page::page_url;

use super::ask_page::{self, Asker};
use super::page_facts::PageFacts;
use crate::cli::{CompareArgs, Global};
use crate::settings::{Settings, Usage};
use crate::terminal::Talk;

/// Stretches shown of each side, unless all are wanted.
const SHOWN: usize = 20;

pub fn run(global: &Global, arguments: &CompareArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(global, &arguments.flags)?;
    let words = match arguments.k.unwrap_or(settings.change.fragment_words) {
        words if (1..=MOST_WORDS).contains(&words) => words,
        wrong => {
            return Err(Usage(format!("--k is `{wrong}`; it must be a number from 1 to {MOST_WORDS}")).into());
        }
    };
    let most = sketch_size(&arguments.m)?;
    if arguments.a == "-" && arguments.b == "-" {
        return Err(Usage("standard input can be read once only; name a file for one of them".into()).into());
    }
    let mut asker = Asker::new(&settings, talk)?;
    let mut read = |name: &str| text(name, &mut asker, &settings, talk);
    let (a, b) = (read(&arguments.a)?, read(&arguments.b)?);
    let found = Comparison::of(&a, &b, words, most);
    let printed = if global.json {
        let [only_a, only_b] = &found.only;
        let object = json!({
            "a": arguments.a,
            "b": arguments.b,
            "divergence": found.divergence.get(),
            "exact_divergence": found.exact.get(),
            "k": words,
            "m": most,
            "fragments_a": found.fragments[0],
            "fragments_b": found.fragments[1],
            "shared": found.shared,
            "only_a": only_a,
            "only_b": only_b,
        });
        serde_json::to_string_pretty(&object)? + "\n"
    } else {
        let shown = if arguments.all { usize::MAX } else { SHOWN };
        summary(&found, [&arguments.a, &arguments.b], words, most, shown)
    };
    std::io::stdout().write_all(printed.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn sketch_size(text: &str) -> Result<Option<usize>, Usage> {
    match text.parse::<usize>() {
        Ok(size) if size > 0 => Ok(Some(size)),
        Err(_) if text == "all" => Ok(None),
        _ => Err(Usage(format!("--m is `{text}`; it must be a number from 1 up, or `all`"))),
    }
}

/// The words that a reader of this file or page sees.
fn text(name: &str, asker: &mut Asker, settings: &Settings, talk: &Talk) -> anyhow::Result<String> {
    let is_url = ["http://", "https://"]
        .iter()
        .any(|scheme| name.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    if is_url { page_text(name, asker, settings, talk) } else { file_text(name) }
}

fn page_text(name: &str, asker: &mut Asker, settings: &Settings, talk: &Talk) -> anyhow::Result<String> {
    let asked = asker.ask(page_url(name, &settings.normaliser())?);
    let facts = asked.answered().map(|(url, answer)| PageFacts::read(url, answer, settings)).transpose()?;
    let soft_error = facts.as_ref().and_then(|facts| facts.soft_error);
    if let Some(reason) = asked.failure(soft_error) {
        ask_page::hint(&asked, talk);
        bail!("`{name}` can't be compared: {reason}");
    }
    let facts = facts.filter(|facts| facts.is_read());
    facts.map(|facts| facts.text).with_context(|| format!("`{name}` is no text, so it can't be compared"))
}

fn file_text(name: &str) -> anyhow::Result<String> {
    let body = if name == "-" {
        let mut body = Vec::new();
        std::io::stdin().read_to_end(&mut body).context("standard input can't be read")?;
        body
    } else {
        std::fs::read(name).with_context(|| format!("`{name}` can't be read"))?
    };
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let content_type = match ending.as_deref() {
        Some("html" | "htm") => "text/html",
        Some("xhtml" | "xht") => "application/xhtml+xml",
        _ => "text/plain",
    };
    // Without a charset: what the file itself says, or what its bytes look like.
    match extract::media_kind(Some(content_type), &body) {
        MediaKind::Html => Ok(extract::html(&body, Some(content_type), 0).text),
        MediaKind::Text => Ok(extract::plain_text(&body, Some(content_type)).text),
        MediaKind::Sitemap | MediaKind::Other => bail!("`{name}` is no text, so it can't be compared"),
    }
}

fn summary(found: &Comparison, names: [&str; 2], words: usize, most: Option<usize>, shown: usize) -> String {
    let mut text = match most {
        None => format!("divergence {}\n", rounded(found.divergence.get())),
        Some(most) => format!(
            "divergence {}, estimated from the {} smallest fragments of each; exactly {}\n",
            rounded(found.divergence.get()),
            number(most as u64),
            rounded(found.exact.get()),
        ),
    };
    let count = |count: usize| number(count as u64);
    let unit = if words == 1 { "1 word".to_owned() } else { format!("{words} words") };
    let _ = writeln!(text, "fragments of {unit}: {} in both", count(found.shared));
    for ((name, stretches), (fragments, sign)) in
        names.iter().zip(&found.only).zip(found.fragments.into_iter().zip(['-', '+']))
    {
        let alone = fragments - found.shared.min(fragments);
        let _ = writeln!(
            text,
            "\nonly in {}: {} of {} fragments",
            harmless(name),
            count(alone),
            count(fragments)
        );
        for stretch in stretches.iter().take(shown) {
            let _ = writeln!(text, "{sign} {}", harmless(stretch));
        }
        if stretches.len() > shown {
            let _ = writeln!(text, "  and {} more (--all shows them)", count(stretches.len() - shown));
        }
    }
    text
}

/// Four figures behind the point, without those that say nothing.
fn rounded(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sketch_sizes_are_numbers_or_all() {
        assert_eq!(sketch_size("all").ok(), Some(None));
        assert_eq!(sketch_size("8").ok(), Some(Some(8)));
        for wrong in ["0", "x", "", "-1", "1.5", "All"] {
            assert!(sketch_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn divergences_are_short() {
        assert_eq!([0.0, 1.0, 0.5, 2.0 / 3.0].map(rounded), ["0", "1", "0.5", "0.6667"]);
    }
}
