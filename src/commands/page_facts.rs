//! What a page that was just fetched says, read as a crawl reads it.

use freshet::change::fragment::Fragments;
use freshet::change::sketch::Sketch;
use freshet::crawl::observe::header_values;
use freshet::extract::soft_error::{SoftError, soft_error};
use freshet::extract::{self, Document, Hints, Link, MediaKind, robots_tag};
use freshet::fetch::visit::Answer;
use freshet::page::PageUrl;

use crate::settings::{Settings, Usage};

/// A page, read.
pub struct PageFacts {
    pub kind: MediaKind,
    /// `None` for what is not read.
    pub charset: Option<&'static str>,
    pub title: Option<String>,
    /// Those of the headers as well.
    pub hints: Hints,
    /// What the noise rules leave.
    pub text: String,
    pub words: usize,
    /// Words that the noise rules took away.
    pub words_ignored: usize,
    /// Distinct fragments of the text.
    pub fragments: usize,
    /// How many of them the sketch keeps.
    pub sketch: usize,
    pub soft_error: Option<SoftError>,
    pub links: Vec<Link>,
    pub links_dropped: usize,
}

impl PageFacts {
    /// Reads what was answered for `url`.
    pub fn read(url: &PageUrl, answer: &Answer, settings: &Settings) -> Result<PageFacts, Usage> {
        let observer = settings.observer()?;
        let content_type = answer.header("content-type");
        let document = extract::document(&answer.body, content_type, observer.links_per_page);
        let charset = document.as_ref().map(|document| document.charset);
        let mut document = document.unwrap_or_else(nothing);
        let kind = extract::media_kind(content_type, &answer.body);
        let soft_error = soft_error(kind, document.title.as_deref(), &document.text);
        let all_words = count_words(&document.text);
        observer.reading.of(url.as_url()).rules.apply(&mut document, &answer.body, content_type);
        let tag = robots_tag(header_values(&answer.headers, "x-robots-tag"), &observer.product_token);
        document.hints.noindex |= tag.noindex;
        document.hints.nofollow |= tag.nofollow;
        let fragments = Fragments::of(&document.text, observer.change.fragment_words);
        let words = count_words(&document.text);
        Ok(PageFacts {
            kind,
            charset,
            title: document.title,
            hints: document.hints,
            words,
            words_ignored: all_words.saturating_sub(words),
            fragments: fragments.len(),
            sketch: Sketch::of(&fragments, observer.change.sketch).hashes().len(),
            text: document.text,
            soft_error,
            links: document.links,
            links_dropped: document.links_dropped,
        })
    }

    /// Whether it is of a kind that is read at all.
    pub fn is_read(&self) -> bool {
        self.charset.is_some()
    }
}

fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn nothing() -> Document {
    Document {
        text: String::new(),
        title: None,
        links: Vec::new(),
        hints: Hints::default(),
        charset: "",
        links_dropped: 0,
    }
}
