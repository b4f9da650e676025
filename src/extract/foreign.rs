//! Drawings and formulas inside a page (`svg`, `math`): tags in, where they end out.
//!
//! A browser leaves them at their end tag, and also at a start tag that can't stand in them, such as `div` or `p` (HTML
//! Standard, 13.2.6.5): a drawing whose end tag was forgotten does not swallow the page. In some of their elements
//! (`foreignObject`, `desc`, `title`, `mtext` …) HTML may stand, and there those tags end nothing. Without a tree only the
//! innermost of such elements is known, so that memory stays constant.

use super::elements::{Element, key};

/// The drawings and formulas that are open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ForeignElements {
    /// How many `svg` and `math` are open.
    depth: usize,
    /// How many of their elements that hold HTML are open.
    holders: usize,
    /// The depth in the innermost of those.
    holder_depth: usize,
}

impl ForeignElements {
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether a start tag of this name, which gave the scanner this key, ends the innermost drawing.
    pub(super) fn is_left_by(&self, name_key: u64, name: &str) -> bool {
        let is_called =
            |place: usize| HTML_ONLY.get(place).is_some_and(|(_, known)| known.len() == name.len());
        self.depth > self.floor()
            && HTML_ONLY.binary_search_by_key(&name_key, |(key, _)| *key).is_ok_and(is_called)
    }

    /// Goes back to where HTML stands.
    pub(super) fn leave(&mut self) {
        self.depth = self.floor();
    }

    /// Goes past a start tag that is not closed, inside a drawing or of one.
    pub(super) fn start(&mut self, element: Element, name: &str) {
        if matches!(element, Element::Svg | Element::Math) {
            self.depth += 1;
        } else if holds_html(element, name) {
            self.holders += 1;
            self.holder_depth = self.depth;
        }
    }

    /// Goes past an end tag inside a drawing.
    pub(super) fn end(&mut self, element: Element, name: &str) {
        match element {
            Element::Svg | Element::Math => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth < self.holder_depth {
                    // Those that were open in it ended with it.
                    self.holders = if self.depth == 0 { 0 } else { self.holders.saturating_sub(1) };
                    self.holder_depth = self.depth;
                }
            }
            Element::P => self.leave(),
            _ if name.eq_ignore_ascii_case("br") => self.leave(),
            _ if self.holders > 0 && holds_html(element, name) => {
                self.holders -= 1;
                // How deep the one around it stands is not known: as deep as it can be.
                self.holder_depth = self.depth;
            }
            _ => {}
        }
    }

    /// How many stay open when HTML breaks out of the innermost.
    fn floor(&self) -> usize {
        if self.holders > 0 { self.holder_depth } else { 0 }
    }
}

/// Elements of a drawing or formula in which HTML stands.
fn holds_html(element: Element, name: &str) -> bool {
    const OTHERS: [&str; 7] = ["foreignobject", "mi", "mo", "mn", "ms", "mtext", "annotation-xml"];
    matches!(element, Element::Title | Element::Desc)
        || (element == Element::Other && OTHERS.iter().any(|other| name.eq_ignore_ascii_case(other)))
}

/// Elements that can't stand in a drawing, sorted by their keys.
const HTML_ONLY: [(u64, &str); 45] = sorted([
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "i",
    "img",
    "li",
    "listing",
    "menu",
    "meta",
    "nobr",
    "ol",
    "p",
    "pre",
    "ruby",
    "s",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tt",
    "u",
    "ul",
    "var",
]);

const fn sorted<const N: usize>(names: [&'static str; N]) -> [(u64, &'static str); N] {
    let mut sorted = [(0, ""); N];
    let mut next = 0;
    while next < N {
        // Insertion: the table is made once, when the program is built.
        let entry = (key(names[next]), names[next]);
        let mut place = next;
        while place > 0 && sorted[place - 1].0 > entry.0 {
            sorted[place] = sorted[place - 1];
            place -= 1;
        }
        sorted[place] = entry;
        next += 1;
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::html;

    fn text(page: &str) -> String {
        html(page.as_bytes(), None, 10).text
    }

    #[test]
    fn a_drawing_without_an_end_does_not_swallow_the_page() {
        assert_eq!(
            text("<body><svg aria-hidden=true><path d=M0><div>all of the page</div>"),
            "all of the page"
        );
        assert_eq!(text("<svg><title>x</svg><p>found</p>"), "found");
        assert_eq!(text("<svg hidden><g><svg><text>x<b>a</b>"), "a");
        assert_eq!(text("<div hidden><svg><p>x</div>a"), "a");
        assert_eq!(text("<svg aria-hidden=true><font>x<font color=red>a"), "a");
        assert_eq!(text("<svg aria-hidden=true><path></p>a"), "a");
    }

    #[test]
    fn html_stands_where_it_may() {
        assert_eq!(text("<svg aria-hidden=true><foreignObject><div>x</div></foreignObject></svg>a"), "a");
        assert_eq!(text("<svg aria-hidden=true><foreignObject><svg><p>x</foreignObject></svg>a"), "a");
        assert_eq!(text("<svg><desc><p>x</desc><text>a</text></svg>b"), "ab");
        assert_eq!(text("<svg><title>x<p>y</title></svg>a"), "a");
    }

    #[test]
    fn names_are_found_by_their_keys() {
        assert!(HTML_ONLY.is_sorted());
        let inside = ForeignElements { depth: 1, ..ForeignElements::default() };
        assert!(HTML_ONLY.iter().all(|(name_key, name)| inside.is_left_by(*name_key, name)));
        assert!(!inside.is_left_by(key("path"), "path"));
        assert!(!inside.is_left_by(key("xxockquote"), "xxockquotes"));
    }
}
