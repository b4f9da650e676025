//! Pages that answer a query, for a terminal.

use std::fmt::Write as _;
use std::time::Duration;

use super::diff::harmless;
use super::{counted, number, percent, rate, span};
use crate::look::search::{SearchHit, SearchResults, SnippetPart};

/// Switches bold letters on, and everything off.
const BOLD: (&str, &str) = ("\x1b[1m", "\x1b[0m");

/// The pages one after the other, each with its title, address, snippet and how fresh its copy is. Words of the query are bold if
/// `has_bold`, else between stars.
pub fn search(found: &SearchResults, has_bold: bool) -> String {
    let mut text = String::new();
    for hit in &found.hits {
        text += &shown(hit, found.as_of_at.is_some(), has_bold);
        text.push('\n');
    }
    text += &summary(found);
    text.push('\n');
    text
}

fn shown(hit: &SearchHit, is_past: bool, has_bold: bool) -> String {
    let title = harmless(hit.title.as_deref().unwrap_or("(no title)"));
    let title = if has_bold { format!("{}{title}{}", BOLD.0, BOLD.1) } else { title };
    let mut text = format!("{}. {title}\n   {}\n", number(hit.rank as u64), harmless(&hit.url));
    let snippet: String = hit.snippet.iter().map(|part| marked(part, has_bold)).collect();
    if !snippet.is_empty() {
        let _ = writeln!(text, "   {snippet}");
    }
    let _ = writeln!(text, "   {}", freshness(hit, is_past));
    text
}

fn marked(part: &SnippetPart, has_bold: bool) -> String {
    let text = harmless(&part.text);
    match (part.is_marked, has_bold) {
        (false, _) => text,
        (true, true) => format!("{}{text}{}", BOLD.0, BOLD.1),
        (true, false) => format!("*{text}*"),
    }
}

/// How old the copy is, and how likely it is that the page has changed since.
fn freshness(hit: &SearchHit, is_past: bool) -> String {
    let age = hit.age_seconds.map(|seconds| {
        let age = span(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default());
        if is_past { format!("copy was {age} old") } else { format!("seen {age} ago") }
    });
    let chance = hit.change_probability.map(|chance| format!("changed since: {}", percent(chance)));
    let state = (hit.state != "alive").then(|| format!("now {}", hit.state));
    let score = format!("score {}", rate(hit.score));
    let parts = [age, chance, state, Some(score)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn summary(found: &SearchResults) -> String {
    let pages = counted(usize::try_from(found.searched).unwrap_or(usize::MAX), "page");
    let at = found.as_of_at.map_or(String::new(), |at| format!(" as they were held at {at}"));
    if found.matches == 0 {
        let missing: Vec<String> = found
            .terms
            .iter()
            .filter(|term| term.pages == 0)
            .map(|term| format!("`{}`", harmless(&term.term)))
            .collect();
        return match (missing.as_slice(), found.terms.len()) {
            ([], _) => format!("no page has all of these words; {pages} searched{at}"),
            ([one], 1) => format!("no page has the word {one}; {pages} searched{at}"),
            (missing, _) => format!("no page has {}; {pages} searched{at}", missing.join(" or ")),
        };
    }
    let shown = found.hits.len() as u64;
    let which = if shown < found.matches { format!("the best {} of ", number(shown)) } else { String::new() };
    let matches = counted(usize::try_from(found.matches).unwrap_or(usize::MAX), "page");
    let have = if found.matches == 1 { "has" } else { "have" };
    format!("{which}{matches} that {have} all words; {pages} searched{at}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::search::SearchedTerm;
    use crate::quality::scoring::Scoring;

    fn found() -> SearchResults {
        let part = |text: &str, is_marked| SnippetPart { text: text.to_owned(), is_marked };
        SearchResults {
            query: "fresh".to_owned(),
            terms: vec![SearchedTerm { term: "fresh".to_owned(), pages: 3 }],
            scoring: Scoring::Bm25,
            as_of_at: None,
            searched: 1200,
            matches: 3,
            hits: vec![SearchHit {
                rank: 1,
                score: 1.25,
                page_id: 1,
                url: "https://a.example/".to_owned(),
                title: Some("News\u{1b}[2J".to_owned()),
                state: "alive".to_owned(),
                version_id: 1,
                seen_at: None,
                age_seconds: Some(7200.0),
                change_probability: Some(0.25),
                snippet: vec![part("A ", false), part("fresh", true), part(" page", false)],
            }],
        }
    }

    #[test]
    fn words_are_marked_and_nothing_is_obeyed() {
        let text = search(&found(), false);
        assert!(
            text.starts_with("1. News␛[2J\n   https://a.example/\n   A *fresh* page\n   seen 2"),
            "{text}"
        );
        assert!(text.contains(" ago · changed since: 25") && text.contains("score 1.25"), "{text}");
        assert!(
            text.ends_with("the best 1 of 3 pages that have all words; 1,200 pages searched\n"),
            "{text}"
        );
        assert!(search(&found(), true).contains("A \u{1b}[1mfresh\u{1b}[0m page"));
    }

    #[test]
    fn nothing_found_says_which_word_is_missing() {
        let mut none = SearchResults { matches: 0, hits: Vec::new(), ..found() };
        none.terms = ["a", "b"].map(|term| SearchedTerm { term: term.to_owned(), pages: 0 }).to_vec();
        assert_eq!(search(&none, false), "no page has `a` or `b`; 1,200 pages searched\n");
        none.terms.iter_mut().for_each(|term| term.pages = 2);
        assert!(search(&none, false).starts_with("no page has all of these words"));
    }
}
