//! Values as a page shows them: moments, and text that comes from strangers. Each writes HTML that is safe as it is.

use std::fmt;
use std::time::Duration;

use askama::filters::{Html, HtmlSafe, escape};

use crate::report::diff::harmless;
use crate::report::{Screen, span};
use crate::time::Timestamp;

/// Characters of a stranger's text that a page shows; the rest is cut.
const MOST_CHARACTERS: usize = 240;
/// Characters of a sentence of ours: more than any has, with a long address in it.
const MOST_IN_A_SENTENCE: usize = 2000;
/// Characters of it in the title of a tab.
const MOST_IN_A_TAB: usize = 60;

/// A text that somebody else wrote: a title, an address, a reason. What turns the direction of writing, or is a control character,
/// shows as a sign; the text stands apart from its surroundings, whichever way it is written.
pub(crate) struct Foreign<'a>(pub &'a str);

impl HtmlSafe for Foreign<'_> {}

impl fmt::Display for Foreign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = harmless(&shortened(self.0, MOST_CHARACTERS));
        let escaped = escape(&text, Html).map_err(|_| fmt::Error)?;
        write!(f, "<bdi>{escaped}</bdi>")
    }
}

/// A sentence of ours that has words of strangers in it: as safe as theirs, but no sentence is cut in the middle.
pub(crate) struct MixedText<'a>(pub &'a str);

impl HtmlSafe for MixedText<'_> {}

impl fmt::Display for MixedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = harmless(&shortened(self.0, MOST_IN_A_SENTENCE));
        let escaped = escape(&text, Html).map_err(|_| fmt::Error)?;
        write!(f, "<bdi>{escaped}</bdi>")
    }
}

/// The start and the end of a text that is longer than this number of characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let end = most / 3;
    let all = text.chars().count();
    let start: String = text.chars().take(most - end - 1).collect();
    start + "…" + &text.chars().skip(all - end).collect::<String>()
}

/// A text of a stranger, for the title of a browser's tab: harmless, and short.
pub(crate) fn tab(text: &str) -> String {
    harmless(&shortened(text, MOST_IN_A_TAB))
}

/// A moment, as the time that has passed since then or that is left until then; the whole date is its title.
pub(crate) struct Moment {
    at: Timestamp,
    now: Timestamp,
    screen: Screen,
}

impl Moment {
    pub(crate) fn new(at: Timestamp, now: Timestamp, screen: &Screen) -> Self {
        Self { at, now, screen: screen.clone() }
    }
}

/// A span without needless detail: no seconds beside minutes, no minutes beside many hours, no hours beside many days.
fn coarse(span: Duration) -> Duration {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let seconds = span.as_secs();
    let step = match seconds {
        0..MINUTE => 1,
        MINUTE..10_800 => MINUTE,
        10_800..172_800 => HOUR,
        _ => DAY,
    };
    Duration::from_secs(seconds / step * step)
}

impl HtmlSafe for Moment {}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, now, screen } = self;
        let whole = screen.time(*at);
        let said = if at > now {
            format!("in {}", span(coarse(at.after(*now))))
        } else {
            let ago = now.after(*at);
            if ago < Duration::from_secs(1) { "now".to_owned() } else { format!("{} ago", span(coarse(ago))) }
        };
        write!(f, "<time datetime=\"{at}\" title=\"{whole}\">{said}</time>")
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    #[test]
    fn a_sentence_is_whole_and_as_harmless_as_the_words_in_it() {
        let long = format!("It was found on http://127.0.0.1/{}, and \u{202e}<b> is there.", "a".repeat(500));
        let shown = MixedText(&long).to_string();
        assert!(shown.contains(&"a".repeat(500)) && !shown.contains('…'), "{shown}");
        assert!(!shown.contains('\u{202e}') && !shown.contains("<b>"), "{shown}");
        assert!(MixedText(&"a".repeat(9000)).to_string().chars().count() < 2100);
    }

    #[test]
    fn a_stranger_writes_no_markup_and_turns_no_line() {
        assert_eq!(Foreign("<script>&'\"").to_string(), "<bdi>&#60;script&#62;&#38;&#39;&#34;</bdi>");
        assert_eq!(Foreign("a\u{202e}b\u{0}").to_string(), "<bdi>a�b␀</bdi>");
    }

    #[test]
    fn a_long_text_keeps_both_ends() {
        assert_eq!(shortened("0123456789", 10), "0123456789");
        assert_eq!(shortened("0123456789x", 10), "012345…89x");
        let long = "ü".repeat(5000);
        assert_eq!(shortened(&long, MOST_CHARACTERS).chars().count(), MOST_CHARACTERS);
    }

    #[test]
    fn a_moment_says_how_long_ago_it_was() {
        let now = Timestamp::from_seconds(1_800_000_000);
        let screen = Screen { width: None, zone: TimeZone::UTC };
        let said = |seconds: i64| {
            let at = Timestamp::from_seconds(1_800_000_000 + seconds);
            Moment::new(at, now, &screen).to_string()
        };
        assert_eq!(
            said(-7200),
            "<time datetime=\"2027-01-15T06:00:00Z\" title=\"2027-01-15 06:00:00 UTC\">2 h ago</time>"
        );
        assert!(said(90).contains(">in 1 min<"), "{}", said(90));
        assert!(said(-100_000).contains(">1 d 3 h ago<"), "{}", said(-100_000));
        assert!(said(-1_000_000).contains(">11 d ago<"), "{}", said(-1_000_000));
        assert!(said(0).contains(">now<"));
    }
}
