//! Hidden elements: tags in, whether the text that follows is shown out.
//!
//! Not shown is what stands in `template`, in an element with the attribute `hidden` or an inline `display: none` or
//! `visibility: hidden`, in a `dialog` that is not open, in most elements with `aria-hidden="true"` (see `folded`), and
//! the titles and descriptions inside `svg`. There is no tree, so
//! where a hidden element ends is found by counting. What must stay true: time is linear and memory constant, and
//! a page whose tags do not match cannot hide more than a browser would by much. A hidden element therefore ends at
//! - its own end tag, elements of the same name inside it counted;
//! - the end tag of a container (`div`, `section`, `ul`, `table` …) that was opened before it;
//! - the start tag that closes it by the standard's rules: the next `li`, `tr`, `option`, or a block after `p`;
//! - the end of the `svg` or `math` that it is or stands in;
//! - the end of `body` or `html`.
//!
//! `hidden` on `html` or `body` is passed over: scripts take it off, and a page with no text at all is of no use.

use super::elements::{Attribute, Element};
use super::folded::{Folds, Unfolded};
use super::html::{Scanner, Tag};

/// An element that is not shown, being read.
#[derive(Clone, Debug)]
struct Hidden<'a> {
    tag: Tag<'a>,
    /// How many elements of its name are open, itself included.
    depth: usize,
    /// How many of each container were opened inside it and not closed.
    containers: [u32; Element::COUNT],
    /// How many `svg` and `math` are open in it at the least.
    foreign: usize,
    /// Whether nothing but `aria-hidden` hides it.
    folded: bool,
}

/// Where in the page a reader is.
#[derive(Clone, Debug)]
pub(crate) struct Visibility<'a> {
    hidden: Option<Hidden<'a>>,
    /// How many `template` are open.
    templates: usize,
    /// How many of each container are open.
    containers: [u32; Element::COUNT],
    unfolded: Unfolded<'a>,
    folds: Folds<'a>,
}

impl Default for Visibility<'_> {
    /// At the start of a page, where all is shown.
    fn default() -> Self {
        Self::new(Unfolded::default())
    }
}

impl<'a> Visibility<'a> {
    /// At the start of a page in which these folded elements are shown.
    pub(super) fn new(unfolded: Unfolded<'a>) -> Self {
        let (containers, folds) = ([0; Element::COUNT], Folds::default());
        Self { hidden: None, templates: 0, containers, unfolded, folds }
    }

    /// The folded elements that were passed.
    pub(super) fn folds(self) -> Folds<'a> {
        self.folds
    }

    /// Takes in text that is not shown.
    #[inline]
    pub(super) fn pass_over(&mut self, raw: &str) {
        if self.templates == 0 && self.hidden.as_ref().is_some_and(|hidden| hidden.folded) {
            self.folds.text(raw);
        }
    }

    /// Whether text here is shown.
    #[inline]
    pub(crate) fn is_shown(&self) -> bool {
        self.hidden.is_none() && self.templates == 0
    }

    /// Whether the markup here is part of the page at all, shown or not; in a `template` it is not.
    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        self.templates == 0
    }

    /// Goes past the start tag that `scanner` is at.
    #[inline]
    pub(crate) fn start(&mut self, tag: Tag<'a>, scanner: &Scanner<'a>) {
        self.folds.control(scanner);
        if tag.is_empty {
            return;
        }
        if tag.element == Element::Template && !scanner.has_any(&[Attribute::ShadowRootMode]) {
            self.templates += 1;
        }
        if self.templates > 0 {
            // Tags in there match each other if they match at all: they neither open nor close anything outside.
            return;
        }
        if let Some(hidden) = &self.hidden {
            if !hidden.is_ended_by_start(tag.element) && !hidden.is_left(scanner) {
                return self.start_inside(tag);
            }
            self.hidden = None;
        }
        if tag.element.is_container() {
            count(&mut self.containers, tag.element, 1);
        }
        let folded = match hiding(tag.element, scanner) {
            Hiding::Shown => return,
            Hiding::Folded if self.unfolded.shows(tag.element, scanner) => return,
            Hiding::Folded => true,
            Hiding::Hidden => false,
        };
        if folded {
            self.folds.start(tag.element, scanner);
        }
        let (containers, foreign) = ([0; Element::COUNT], scanner.foreign_depth());
        self.hidden = Some(Hidden { tag, depth: 1, containers, foreign, folded });
    }

    /// Goes past the end tag that `scanner` is at.
    #[inline]
    pub(crate) fn end(&mut self, tag: Tag<'a>, scanner: &Scanner<'_>) {
        let element = tag.element;
        if matches!(element, Element::Body | Element::Html) {
            self.hidden = None;
            self.templates = 0;
        } else if self.templates > 0 {
            self.templates -= usize::from(element == Element::Template);
        } else if let Some(hidden) = &self.hidden {
            if hidden.is_left(scanner) {
                self.hidden = None;
            } else {
                self.end_inside(tag);
            }
        } else if element.is_container() {
            count(&mut self.containers, element, -1);
        }
    }

    fn start_inside(&mut self, tag: Tag<'a>) {
        let Some(hidden) = &mut self.hidden else { return };
        if hidden.is_called(&tag) {
            hidden.depth += 1;
        } else if tag.element.is_container() {
            count(&mut hidden.containers, tag.element, 1);
        }
    }

    fn end_inside(&mut self, tag: Tag<'a>) {
        let Some(hidden) = &mut self.hidden else { return };
        let element = tag.element;
        if hidden.is_called(&tag) {
            hidden.depth -= 1;
            if hidden.depth > 0 {
                return;
            }
        } else if !element.is_container() {
            return;
        } else if of(&hidden.containers, element) > 0 {
            count(&mut hidden.containers, element, -1);
            return;
        } else if of(&self.containers, element) == 0 {
            // It closes nothing: a slip of the pen.
            return;
        }
        self.hidden = None;
        if element.is_container() {
            count(&mut self.containers, element, -1);
        }
    }
}

impl Hidden<'_> {
    fn is_called(&self, tag: &Tag<'_>) -> bool {
        self.tag.element == tag.element
            && (tag.element != Element::Other || self.tag.name.eq_ignore_ascii_case(tag.name))
    }

    /// Whether the drawing that it is or stands in has ended.
    fn is_left(&self, scanner: &Scanner<'_>) -> bool {
        scanner.foreign_depth() < self.foreign
    }

    /// Whether an element of this kind cannot stand inside the hidden one, so that its start ends it.
    fn is_ended_by_start(&self, start: Element) -> bool {
        use Element::*;
        let none_of = |lists: &[Element]| lists.iter().all(|list| of(&self.containers, *list) == 0);
        match self.tag.element {
            P => start.ends_paragraph(),
            Li => start == Li && none_of(&[Ul, Ol]),
            Dt | Dd => matches!(start, Dt | Dd) && none_of(&[Dl]),
            Option => matches!(start, Option | Optgroup),
            Optgroup => start == Optgroup,
            Td | Th => matches!(start, Td | Th | Tr | Tbody | Thead | Tfoot) && none_of(&[Table]),
            Tr => matches!(start, Tr | Tbody | Thead | Tfoot) && none_of(&[Table]),
            Tbody | Thead | Tfoot => matches!(start, Tbody | Thead | Tfoot) && none_of(&[Table]),
            _ => false,
        }
    }
}

/// Whether a tag hides what stands in it.
enum Hiding {
    Shown,
    /// By `aria-hidden` alone.
    Folded,
    Hidden,
}

/// Whether the tag that `scanner` is at hides what stands in it.
#[inline]
fn hiding(element: Element, scanner: &Scanner<'_>) -> Hiding {
    if scanner.has_any(&[Attribute::Hidden, Attribute::AriaHidden, Attribute::Style])
        && !matches!(element, Element::Html | Element::Body)
    {
        let style_hides = || scanner.value(Attribute::Style).is_some_and(|style| style_hides(&style));
        if scanner.has_any(&[Attribute::Hidden]) || style_hides() {
            return Hiding::Hidden;
        }
        let is_true = |value: &str| value.trim_ascii().eq_ignore_ascii_case("true");
        if scanner.value(Attribute::AriaHidden).is_some_and(|value| is_true(&value)) {
            return Hiding::Folded;
        }
    }
    let is_closed = element == Element::Dialog && !scanner.has_any(&[Attribute::Open]);
    let is_remark =
        scanner.in_foreign() && matches!(element, Element::Title | Element::Desc | Element::Metadata);
    if is_closed || is_remark { Hiding::Hidden } else { Hiding::Shown }
}

/// Whether an inline style hides. Of two declarations of one property the last counts.
fn style_hides(style: &str) -> bool {
    let (mut no_display, mut no_visibility) = (false, false);
    for declaration in style.split(';') {
        let Some((property, value)) = declaration.split_once(':') else { continue };
        let value = value.split('!').next().unwrap_or_default().trim_ascii();
        let property = property.trim_ascii();
        if property.eq_ignore_ascii_case("display") {
            no_display = value.eq_ignore_ascii_case("none");
        } else if property.eq_ignore_ascii_case("visibility") {
            no_visibility = value.eq_ignore_ascii_case("hidden");
        }
    }
    no_display || no_visibility
}

#[inline]
fn count(containers: &mut [u32; Element::COUNT], element: Element, by: i32) {
    if let Some(open) = containers.get_mut(element as usize) {
        *open = open.saturating_add_signed(by);
    }
}

#[inline]
fn of(containers: &[u32; Element::COUNT], element: Element) -> u32 {
    containers.get(element as usize).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::extract::html;

    fn text(page: &str) -> String {
        html(page.as_bytes(), None, 10).text
    }

    #[test]
    fn the_ways_to_hide() {
        assert_eq!(
            text("a<b hidden>x</b><i aria-hidden=true>x</i><u style='Display : NONE !important'>x</u>b"),
            "ab"
        );
        assert_eq!(text("a<b style='color:red;visibility:hidden'>x</b>b"), "ab");
        assert_eq!(text("a<template>x<template>y</template>z</template>b"), "ab");
        assert_eq!(text("a<svg><title>x</title><desc>y</desc><text>T</text></svg>b"), "aTb");
        assert_eq!(text("<template shadowrootmode=open>shown</template>"), "shown");
        assert_eq!(text("a<dialog>x<p>x</dialog>b<dialog open>c</dialog>"), "ab\nc");
    }

    #[test]
    fn what_only_looks_like_hiding() {
        assert_eq!(text("<b aria-hidden=false>a</b>"), "a");
        assert_eq!(
            text("<b style='--x-display:none'>a</b><b style='display:none;display:inline'>b</b>"),
            "ab"
        );
        assert_eq!(text("<input hidden>a<br hidden>b"), "a\nb");
        assert_eq!(text("<body style='visibility:hidden'>a"), "a");
        assert_eq!(text("<svg><path style='display:none'/><text>a</text></svg>"), "a");
    }

    #[test]
    fn a_hidden_element_ends_at_its_own_end_tag() {
        assert_eq!(text("<div hidden>x<div>x</div>x</div>a"), "a");
        assert_eq!(text("<my-box hidden>x<your-box>x</your-box><MY-BOX>x</my-box>x</My-Box>a"), "a");
        assert_eq!(text("<div hidden><p>x<br>x</div>a"), "a");
        assert_eq!(text("<div hidden></span></section>x</div>a"), "a", "end tags of nothing");
        assert_eq!(text("<template><div hidden>x</template>a"), "a");
        assert_eq!(text("<div hidden><template>x</div>x</template>x</div>a"), "a");
    }

    #[test]
    fn a_container_around_it_ends_it() {
        assert_eq!(text("<div><span hidden>x</div>a"), "a");
        assert_eq!(text("<section><div hidden>x<ul><li>x</ul>x</section>a"), "a");
        assert_eq!(text("<section><div hidden><section>x</section>x</section>a"), "a");
        assert_eq!(text("<body><span hidden>x</body>a"), "a");
    }

    #[test]
    fn what_may_not_stand_in_it_ends_it() {
        assert_eq!(text("<p hidden>x<p>a"), "a");
        assert_eq!(text("<p hidden>x<div>a</div>"), "a");
        assert_eq!(text("<ul><li hidden>x<ul><li>x</ul><li>a</ul>"), "a");
        assert_eq!(text("<table><tr hidden><td>x<tr><td>a<td hidden>x<td>b</table>"), "a b");
        assert_eq!(text("<select><option hidden>x<option>a</select>"), "a");
        assert_eq!(text("<dl><dt hidden>x<dd>a</dl>"), "a");
    }
}
