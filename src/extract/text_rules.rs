//! A site's rules on noise: a page and the rules in, its text without noise out.
//!
//! A clock, an advert, a visitors' counter: they differ at every visit and are no change. What must stay true: a rule
//! that finds nothing leaves exactly the text that [`super::html`] reads, and no page takes more than linear time.

use std::sync::Arc;

use regex::{Captures, Regex, RegexBuilder};
use scraper::Selector;
use xxhash_rust::xxh3::xxh3_64;

use super::folded::Unfolded;
use super::html::{HtmlToken, Scanner};
use super::selection::{self, Selected};
use super::text::Words;
use super::visibility::Visibility;
use super::{Document, FoldedText, MediaKind, charset, is_xhtml, media_kind, set_apart};

/// Marks of texts that were read otherwise than usual, in the hash of the rules that left them. They are stored.
const CONTROLLED_MARK: u64 = 0x636f_6e74_726f_6c6c;
const SHOWN_MARK: u64 = 0x7368_6f77_6e5f_616c;
const UNRULED_MARK: u64 = 0x756e_7275_6c65_645f;

/// The rules for the text of a site's pages.
#[derive(Clone, Debug, Default)]
pub struct TextRules {
    compiled: Arc<CompiledRules>,
}

#[derive(Debug, Default)]
struct CompiledRules {
    ignore: Vec<Selector>,
    only: Vec<Selector>,
    /// Whether a selector looks at all the siblings before an element.
    among_siblings: bool,
    ignore_text: Vec<Regex>,
    hash: u64,
}

/// A rule that can't be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum RuleError {
    /// Of `ignore` or `only`.
    #[error("`{rule}` is no CSS selector: {reason}")]
    Selector { rule: String, reason: String },
    /// Of `ignore_text`.
    #[error("`{rule}` is no regular expression: {reason}")]
    Pattern { rule: String, reason: String },
}

impl TextRules {
    /// `ignore` and `only` are CSS selectors: elements that are left out, and those outside of which all is.
    /// `ignore_text` are regular expressions on the text, in which `^` and `$` are the ends of a line.
    pub fn new(ignore: &[String], only: &[String], ignore_text: &[String]) -> Result<TextRules, RuleError> {
        let looks_at_siblings = |rule: &String| rule.contains('~') || rule.contains("-of-type");
        let compiled = CompiledRules {
            ignore: selectors(ignore)?,
            only: selectors(only)?,
            among_siblings: ignore.iter().chain(only).any(looks_at_siblings),
            ignore_text: ignore_text.iter().map(|rule| pattern(rule)).collect::<Result<_, _>>()?,
            hash: hash(&[ignore, only, ignore_text]),
        };
        Ok(Self { compiled: Arc::new(compiled) })
    }

    /// Whether all of every page counts.
    pub fn is_empty(&self) -> bool {
        self.compiled.hash == 0
    }

    /// A hash of the rules as written, the same in every version of the program; 0 for no rules.
    pub fn hash(&self) -> u64 {
        self.compiled.hash
    }

    /// A hash of how the text of `document` was read: the rules, and what was left out besides. Only texts with the same
    /// hash can be compared.
    pub(crate) fn hash_of(&self, document: &Document) -> u64 {
        let folded = match document.folded {
            FoldedText::LeftOut => 0,
            FoldedText::Controlled => CONTROLLED_MARK,
            FoldedText::Shown => SHOWN_MARK,
        };
        let unruled = if document.unruled { UNRULED_MARK } else { 0 };
        self.hash() ^ folded ^ unruled
    }

    /// Whether a text with this hash was left by these rules. A page that they could not be applied to is read again.
    pub(crate) fn have_read(&self, hash: u64) -> bool {
        [0, CONTROLLED_MARK, SHOWN_MARK].contains(&(hash ^ self.hash()))
    }

    /// Leaves of a document what the rules do; `body` and `content_type` are what it was read from.
    pub(crate) fn apply(&self, document: &mut Document, body: &[u8], content_type: Option<&str>) {
        match media_kind(content_type, body) {
            _ if self.is_empty() => {}
            MediaKind::Html => self.apply_to_page(document, body, content_type),
            _ => document.text = self.plain(std::mem::take(&mut document.text)),
        }
    }

    /// As [`apply`](Self::apply), for an HTML page. Of a page in which it would take too long to find elements, because
    /// it is nested hundreds deep, only what `ignore_text` matches is left out, and such a text is marked.
    fn apply_to_page(&self, document: &mut Document, body: &[u8], content_type: Option<&str>) {
        let (page, _) = charset::decode_page(body, content_type);
        let text = self.read(&page, is_xhtml(content_type), document.folded);
        document.unruled = text.is_none();
        document.text = self.plain(text.unwrap_or_else(|| std::mem::take(&mut document.text)));
    }

    /// The text that the rules leave of an HTML page.
    pub fn html(&self, body: &[u8], content_type: Option<&str>) -> String {
        let mut document = super::html(body, content_type, 0);
        self.apply_to_page(&mut document, body, content_type);
        document.text
    }

    /// The text that the rules leave of a text: only `ignore_text` is for those. A pattern that matches nothing but the
    /// empty string changes nothing.
    pub fn plain(&self, text: String) -> String {
        let mut text = text;
        for pattern in &self.compiled.ignore_text {
            if pattern.find_iter(&text).any(|found| !found.is_empty()) {
                let mut words = Words::with_capacity(text.len());
                let blank = |found: &Captures<'_>| {
                    let is_empty = found.get(0).is_none_or(|whole| whole.is_empty());
                    if is_empty { "" } else { " " }
                };
                words.push_lines(&pattern.replace_all(&text, blank));
                text = words.finish();
            }
        }
        text
    }

    /// As [`super::html`] reads the text, but for the pieces that the selectors take away. What is ignored starts
    /// no line, as if it were not there, but a block of it parts words; what is wanted stands on lines of its own.
    /// `None` for a page that is nested too deeply.
    fn read(&self, page: &str, xhtml: bool, folded: FoldedText) -> Option<String> {
        let CompiledRules { ignore, only, among_siblings, .. } = &*self.compiled;
        let everything = Selected { ignored: false, wanted: true };
        let (marks, mut here) = if ignore.is_empty() && only.is_empty() {
            (Vec::new(), everything)
        } else if let Some(marks) = selection::marks(page, xhtml, ignore, only, *among_siblings) {
            (marks, Selected { wanted: only.is_empty(), ..everything })
        } else {
            tracing::warn!(
                "a page is nested too deeply to look for selectors in it: its text is not compared"
            );
            return None;
        };
        let mut marks = marks.into_iter();
        let mut scanner = Scanner::new(page, xhtml);
        let mut words = Words::with_capacity(page.len());
        let mut visibility = Visibility::new(Unfolded::of(folded, page, xhtml));
        // The outermost element that is being left out.
        let mut ignored = "";
        while let Some(token) = scanner.advance() {
            let mark = marks.next().flatten();
            let own = mark.map_or(here, |mark| mark.own);
            match token {
                HtmlToken::Text(text) => {
                    if text.inside.holds_text() && visibility.is_shown() && own.wanted && !own.ignored {
                        words.push(&text);
                    }
                }
                HtmlToken::Start(tag) => {
                    visibility.start(tag, &scanner);
                    if own.wanted != here.wanted {
                        words.break_line();
                    }
                    if !own.ignored {
                        set_apart(&mut words, tag.element, &visibility);
                    } else if !here.ignored {
                        ignored = tag.name;
                        // It may have ended the block before it, which need not say so itself.
                        if tag.element.breaks_line() {
                            words.part_words();
                        }
                    }
                    here = if tag.is_empty { mark.map_or(here, |mark| mark.around) } else { own };
                }
                HtmlToken::End(tag) => {
                    let ends_ignored = here.ignored && tag.name.eq_ignore_ascii_case(ignored);
                    if !own.ignored && !ends_ignored {
                        set_apart(&mut words, tag.element, &visibility);
                    }
                    if own.wanted != here.wanted {
                        words.break_line();
                    }
                    visibility.end(tag, &scanner);
                    here = own;
                }
            }
        }
        Some(words.finish())
    }
}

fn selectors(rules: &[String]) -> Result<Vec<Selector>, RuleError> {
    let selector = |rule: &String| {
        Selector::parse(rule)
            .map_err(|error| RuleError::Selector { rule: rule.clone(), reason: said(&error.to_string()) })
    };
    rules.iter().map(selector).collect()
}

fn pattern(rule: &str) -> Result<Regex, RuleError> {
    RegexBuilder::new(rule)
        .multi_line(true)
        .build()
        .map_err(|error| RuleError::Pattern { rule: rule.to_owned(), reason: said(&error.to_string()) })
}

/// Another's message in our way: one line, no full stop.
fn said(message: &str) -> String {
    let line = message.lines().map(str::trim).next_back().unwrap_or_default();
    let line = line.trim_start_matches("error: ").trim_end_matches('.');
    let mut characters = line.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => "it is not understood".to_owned(),
    }
}

fn hash(lists: &[&[String]]) -> u64 {
    if lists.iter().all(|list| list.is_empty()) {
        return 0;
    }
    // With the lengths, so that no two sets of rules are written alike.
    let mut written = Vec::new();
    for list in lists {
        written.extend_from_slice(&(list.len() as u64).to_le_bytes());
        for rule in *list {
            written.extend_from_slice(&(rule.len() as u64).to_le_bytes());
            written.extend_from_slice(rule.as_bytes());
        }
    }
    xxh3_64(&written).max(1)
}

#[cfg(test)]
#[path = "text_rules_tests.rs"]
mod tests;
