//! Text that `aria-hidden` folds away: which of it a reader gets to see.
//!
//! `aria-hidden="true"` hides icons, dialogs and fly-out menus, and also the panels of accordions, which open at a click
//! and may be nine tenths of a page. So such an element counts if a control of the page names it (`aria-controls`). If
//! what is left out would still be more than half of the page, all of it counts. Menus and dialogs never do. Whether a
//! panel counts is known at the end of the page: a page that has such panels is walked a second time, others are not.

use std::borrow::Cow;
use std::collections::HashSet;

use super::elements::{Attribute, Element};
use super::html::{HtmlToken, Scanner};
use super::links::has_token;

/// Bytes of folded text below which it is never the larger part of a page: icons and labels have fewer.
const LARGE_BYTES: usize = 500;

/// How the folded text of a page was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FoldedText {
    /// It is left out, or there is none.
    #[default]
    LeftOut,
    /// The panels that a control of the page names are part of the text.
    Controlled,
    /// All of it is part of the text: it is the larger part of the page.
    Shown,
}

/// Which folded elements a walk shows.
#[derive(Clone, Debug, Default)]
pub(super) enum Unfolded<'a> {
    /// None.
    #[default]
    Nothing,
    /// Those with one of these ids.
    Named(HashSet<Cow<'a, str>>),
    /// All.
    Everything,
}

impl<'a> Unfolded<'a> {
    /// Those that count in a page that was read as `folded`.
    pub(super) fn of(folded: FoldedText, page: &'a str, xhtml: bool) -> Self {
        match folded {
            FoldedText::LeftOut => Self::Nothing,
            FoldedText::Shown => Self::Everything,
            FoldedText::Controlled => {
                let mut folds = Folds::default();
                let mut scanner = Scanner::new(page, xhtml);
                while let Some(token) = scanner.advance() {
                    if let HtmlToken::Start(_) = token {
                        folds.control(&scanner);
                    }
                }
                Self::Named(folds.controls)
            }
        }
    }

    /// Whether the folded element that `scanner` is at is shown.
    pub(super) fn shows(&self, element: Element, scanner: &Scanner<'_>) -> bool {
        match self {
            Self::Nothing => false,
            Self::Named(ids) => {
                scanner.value(Attribute::Id).is_some_and(|id| ids.contains(&*id))
                    && !is_fly_out(element, scanner)
            }
            Self::Everything => !is_fly_out(element, scanner),
        }
    }
}

/// The folded elements of a page being read, and the controls.
#[derive(Clone, Debug, Default)]
pub(super) struct Folds<'a> {
    /// Ids that controls name.
    controls: HashSet<Cow<'a, str>>,
    /// Elements with an id, and the bytes of their text.
    named: Vec<(Cow<'a, str>, usize)>,
    /// Bytes of those without an id.
    unnamed_bytes: usize,
    /// Whether the element being read is the last of `named`.
    in_named: bool,
    /// Whether that is a menu or a dialog.
    is_fly_out: bool,
}

impl<'a> Folds<'a> {
    /// Takes in what the start tag that `scanner` is at controls.
    #[inline]
    pub(super) fn control(&mut self, scanner: &Scanner<'a>) {
        if scanner.has_any(&[Attribute::AriaControls])
            && let Some(ids) = scanner.value(Attribute::AriaControls)
        {
            match ids {
                Cow::Borrowed(ids) => self.controls.extend(ids.split_ascii_whitespace().map(Cow::Borrowed)),
                Cow::Owned(ids) => {
                    self.controls.extend(ids.split_ascii_whitespace().map(|id| Cow::Owned(id.to_owned())));
                }
            }
        }
    }

    /// A folded element starts at the tag that `scanner` is at.
    pub(super) fn start(&mut self, element: Element, scanner: &Scanner<'a>) {
        self.is_fly_out = is_fly_out(element, scanner);
        let id = scanner.value(Attribute::Id).filter(|_| !self.is_fly_out);
        self.in_named = id.is_some();
        self.named.extend(id.map(|id| (id, 0)));
    }

    /// Text inside a folded element.
    pub(super) fn text(&mut self, raw: &str) {
        if self.is_fly_out {
            return;
        }
        let bytes = raw.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
        match self.named.last_mut() {
            Some((_, sum)) if self.in_named => *sum += bytes,
            _ => self.unnamed_bytes += bytes,
        }
    }

    /// Which of them count, in a page that shows `shown_bytes` of text without them.
    pub(super) fn judge(self, shown_bytes: usize) -> (FoldedText, Unfolded<'a>) {
        let all = self.unnamed_bytes + self.named.iter().map(|(_, bytes)| bytes).sum::<usize>();
        let is_controlled = |id: &Cow<'a, str>| self.controls.contains(id);
        let controlled: usize =
            self.named.iter().filter(|(id, _)| is_controlled(id)).map(|(_, bytes)| bytes).sum();
        let left_out = all - controlled;
        if left_out >= LARGE_BYTES && left_out > shown_bytes + controlled {
            (FoldedText::Shown, Unfolded::Everything)
        } else if controlled > 0 {
            (FoldedText::Controlled, Unfolded::Named(self.controls))
        } else {
            (FoldedText::LeftOut, Unfolded::Nothing)
        }
    }
}

/// Whether a folded element is a menu or a dialog: it lies over the page, and is not part of its text.
fn is_fly_out(element: Element, scanner: &Scanner<'_>) -> bool {
    const ROLES: [&str; 7] = ["dialog", "alertdialog", "menu", "menubar", "navigation", "search", "tooltip"];
    matches!(element, Element::Nav | Element::Dialog | Element::Menu | Element::Svg)
        || scanner.value(Attribute::Role).is_some_and(|role| has_token(&role, &ROLES))
}

#[cfg(test)]
mod tests {
    use super::FoldedText;
    use crate::extract::html;

    fn read(page: &str) -> (String, FoldedText) {
        let document = html(page.as_bytes(), None, 10);
        (document.text, document.folded)
    }

    #[test]
    fn a_panel_that_a_control_opens_counts() {
        let page = "<button aria-controls='x p1'>Open</button>\
            <div id=p1 aria-hidden=true>one <i aria-hidden=true>icon</i></div><div id=p2 aria-hidden=true>two</div>";
        assert_eq!(read(page), ("Open\none".to_owned(), FoldedText::Controlled));
        let late =
            "<div id='a&amp;b' aria-hidden=true>one</div><button aria-controls='a&amp;b'>Open</button>";
        assert_eq!(read(late).0, "one\nOpen");
    }

    #[test]
    fn menus_and_dialogs_stay_hidden() {
        for panel in [
            "<nav id=p aria-hidden=true>",
            "<div role=dialog id=p aria-hidden=true>",
            "<ul role='Menu' id=p aria-hidden=true>",
        ] {
            let long = "word ".repeat(400);
            let page = format!("<a aria-controls=p>Open</a>{panel}{long}");
            assert_eq!(read(&page), ("Open".to_owned(), FoldedText::LeftOut), "{panel}");
        }
    }

    #[test]
    fn what_is_hidden_in_other_ways_too_stays_hidden() {
        let page = "<a aria-controls=p>Open</a><div id=p aria-hidden=true style='display:none'>x</div>";
        assert_eq!(read(page).0, "Open");
    }

    #[test]
    fn the_larger_part_of_a_page_counts_whoever_opens_it() {
        let panel = |words: usize| format!("<div aria-hidden=true>{}</div>", "word ".repeat(words));
        let shown = "text ".repeat(200);
        assert_eq!(read(&format!("{shown}{}", panel(150))).1, FoldedText::LeftOut);
        let (text, folded) = read(&format!("{shown}{}{}", panel(150), panel(150)));
        assert_eq!((text.split_whitespace().count(), folded), (500, FoldedText::Shown));
        assert_eq!(read(&format!("a{}", panel(50))).1, FoldedText::LeftOut, "a label is not the page");
    }
}
