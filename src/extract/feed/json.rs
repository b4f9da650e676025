//! JSON Feed (versions 1 and 1.1): text in, the feed's entries out.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Feed, FeedEntry, FeedText, MOST_ENTRIES, date};

/// Reads the text of a feed; `None` if it is not JSON, or no feed.
pub(super) fn read(text: &str) -> Option<Feed<'static>> {
    let read: JsonFeed = serde_json::from_str(text).ok()?;
    read.version.0.is_some_and(|version| version.contains("jsonfeed.org")).then(|| {
        let links = [read.home_page_url, read.next_url].into_iter().filter_map(|link| link.0).map(Cow::Owned);
        Feed {
            title: read.title.0.map(Cow::Owned),
            about: plain(read.description),
            links: links.collect(),
            base: None,
            entries: read.items.0.into_iter().map(entry).collect(),
        }
    })
}

fn entry(item: JsonItem) -> FeedEntry<'static> {
    let link = item.url.0.or(item.external_url.0);
    let content = item.content_html.0.map(|markup| FeedText::Html(Cow::Owned(markup)));
    let at = |text: JsonText| text.0.and_then(|text| date(text.trim()));
    FeedEntry {
        title: plain(item.title),
        summary: plain(item.summary),
        content: content.or_else(|| plain(item.content_text)),
        links: link.into_iter().map(Cow::Owned).collect(),
        base: None,
        published: at(item.date_published),
        updated: at(item.date_modified),
    }
}

fn plain(text: JsonText) -> Option<FeedText<'static>> {
    text.0.map(|text| FeedText::Plain(Cow::Owned(text)))
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct JsonFeed {
    version: JsonText,
    title: JsonText,
    description: JsonText,
    home_page_url: JsonText,
    next_url: JsonText,
    items: JsonItems,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct JsonItem {
    url: JsonText,
    external_url: JsonText,
    title: JsonText,
    summary: JsonText,
    content_html: JsonText,
    content_text: JsonText,
    date_published: JsonText,
    date_modified: JsonText,
}

/// A text; a value of another type counts as absent, because a feed is not lost for one of them.
#[derive(Default)]
struct JsonText(Option<String>);

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = JsonText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonText, E> {
        Ok(JsonText(Some(text.to_owned())))
    }

    fn visit_bool<E>(self, _: bool) -> Result<JsonText, E> {
        Ok(JsonText(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<JsonText, E> {
        Ok(JsonText(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<JsonText, E> {
        Ok(JsonText(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<JsonText, E> {
        Ok(JsonText(None))
    }

    fn visit_unit<E>(self) -> Result<JsonText, E> {
        Ok(JsonText(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<JsonText, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(JsonText(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<JsonText, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(JsonText(None))
    }
}

/// The first entries of a list; the others are passed over.
#[derive(Default)]
struct JsonItems(Vec<JsonItem>);

impl<'de> Deserialize<'de> for JsonItems {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(ItemsVisitor)
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = JsonItems;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<JsonItems, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < MOST_ENTRIES
            && let Some(item) = items.next_element()?
        {
            kept.push(item);
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(JsonItems(kept))
    }
}
