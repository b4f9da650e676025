//! Which pieces of a page selectors pick: a page and selectors in, a place for every tag and every run of text out.
//!
//! Selectors need a tree, and the reading of a page has none. So the tree is built of the page's outline: all its
//! tags, with a number on each, and a number in place of each run of text. Where a number is found in the tree tells
//! where the piece stands; the text itself is read from the page, as ever. What must stay true:
//! - The pieces are those of [`Scanner`], in its order, so that a second walk over the page meets the same ones.
//! - The tree is that of a browser with scripts off and no quirks (html5ever, as `scraper` has it).
//! - Time is bounded, whatever the page. A tree builder looks through all open elements again and again, and
//!   misnested ones it makes again, so that a page of 100 KB can cost seconds, and a larger one hours. How often it
//!   looks is counted, and beyond a bound the tree is given up; so it is where selectors would have as far to look.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::rc::Rc;

use html5ever::driver::{self, ParseOpts};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, QualName};
use scraper::{Html, HtmlTreeSink, Node, Selector};

use super::elements::{ContentModel, Element};
use super::html::{HtmlToken, Scanner};

/// The attribute that has a tag's number. It comes first in its tag, and of two the first counts.
const NUMBER: &str = "freshet-piece";
/// Steps that any tree may take: one is a look at an element, some 5 ns.
const FREE_STEPS: usize = 4_000_000;
/// Steps beyond that, for each piece of the page.
const STEPS_PER_PIECE: usize = 100;
/// Making an element costs as much as this many looks, and memory besides.
const STEPS_TO_MAKE: usize = 40;
/// Comparing two formatting elements, attributes and all.
const STEPS_TO_COMPARE: usize = 40;
/// Bytes of the outline between two looks at how much was spent.
const CHUNK_BYTES: usize = 4096;

type NodeId = <HtmlTreeSink as TreeSink>::Handle;

/// Where a piece stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Selected {
    /// In an element that is to be left out.
    pub ignored: bool,
    /// In an element that is wanted, or all is.
    pub wanted: bool,
}

/// The place of a piece in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Of a text, where it stands; of a start tag, its element itself; of an end tag, what comes after it.
    pub own: Selected,
    /// The place of its parent.
    pub around: Selected,
}

/// The mark of every piece of a page, by its number; `None` for those that are not in the tree: white
/// space, and what a browser passes over. With no `only`, all is wanted. `None` for a page that takes too long; a
/// selector that looks through the siblings of an element (`among_siblings`) takes longer.
pub(super) fn marks(
    page: &str,
    xhtml: bool,
    ignore: &[Selector],
    only: &[Selector],
    among_siblings: bool,
) -> Option<Vec<Option<Mark>>> {
    let Outline { markup, pieces, comparisons } = outline(page, xhtml);
    let steps = FREE_STEPS.saturating_add(pieces.saturating_mul(STEPS_PER_PIECE));
    let tree = parse(&markup, steps.checked_sub(comparisons.saturating_mul(STEPS_TO_COMPARE))?)?;
    if steps_to_match(&tree, among_siblings) > steps {
        return None;
    }
    let ignored = matches(&tree, ignore);
    let wanted = matches(&tree, only);
    let mut marks = vec![None; pieces];
    let mut set = |number: Option<usize>, mark: Mark| {
        // Elements made again have the number of the one that they continue, which comes first.
        if let Some(held @ None) = number.and_then(|number| marks.get_mut(number)) {
            *held = Some(mark);
        }
    };
    // Parents come before their children.
    let mut places = HashMap::new();
    // All of a page is in `html`, what comes after its end tag too; a browser may pass that over (after a frameset).
    let mut outermost = Selected { ignored: false, wanted: only.is_empty() };
    for node in tree.tree.root().descendants() {
        let around = node.parent().and_then(|parent| places.get(&parent.id())).copied().unwrap_or(outermost);
        let here = Mark { own: around, around };
        match node.value() {
            Node::Text(text) => text.split(';').for_each(|number| set(number.trim().parse().ok(), here)),
            Node::Comment(number) => set(number.parse().ok(), here),
            Node::Element(element) => {
                let own = Selected {
                    ignored: around.ignored || ignored.contains(&node.id()),
                    wanted: around.wanted || wanted.contains(&node.id()),
                };
                places.insert(node.id(), own);
                let is_outermost = node.parent().is_some_and(|parent| parent.value().is_document());
                if is_outermost {
                    outermost = own;
                }
                let around = if is_outermost { own } else { around };
                set(element.attr(NUMBER).and_then(|number| number.parse().ok()), Mark { own, around });
            }
            // The document itself: its children are looked up above.
            Node::Document => {}
            _ => {
                places.insert(node.id(), around);
            }
        }
    }
    Some(marks)
}

/// A page with its pieces numbered.
struct Outline {
    markup: String,
    pieces: usize,
    /// How often at the most a tree builder compares a formatting element with another that is open: it does so with
    /// every open one, and where the tree cannot count it.
    comparisons: usize,
}

/// Behind every end tag stands its number as a comment: no comment ever changes the tree around it.
fn outline(page: &str, xhtml: bool) -> Outline {
    let mut scanner = Scanner::new(page, xhtml);
    let mut outline = String::with_capacity(page.len() / 2);
    outline.push_str("<!DOCTYPE html>");
    let mut number = 0;
    let mut open = OpenTags::default();
    // Writing to a string does not fail.
    while let Some(token) = scanner.advance() {
        let _ = match token {
            HtmlToken::Text(text) if is_blank(text.raw) => outline.write_char(' '),
            HtmlToken::Text(text) => match text.inside.content() {
                ContentModel::Markup | ContentModel::Plain => write!(outline, "{number};"),
                _ if matches!(text.inside, Element::Textarea | Element::Xmp) => write!(outline, "{number};"),
                // No reader sees it.
                _ => Ok(()),
            },
            HtmlToken::Start(tag) => {
                if !tag.is_empty {
                    open.start(tag.name);
                }
                let rest = scanner.rest_of_tag();
                let name = tag.name;
                // Where the scanner takes `<name/>` for closed, a browser may not.
                match rest.strip_suffix("/>") {
                    Some(rest) if tag.is_empty && !tag.element.is_void() => {
                        write!(outline, "<{name} {NUMBER}=\"{number}\"{rest}></{name}>")
                    }
                    _ => write!(outline, "<{name} {NUMBER}=\"{number}\"{rest}"),
                }
            }
            HtmlToken::End(tag) => {
                open.end(tag.name);
                write!(outline, "</{}><!--{number}-->", tag.name)
            }
        };
        number += 1;
    }
    Outline { markup: outline, pieces: number, comparisons: open.comparisons }
}

/// The tags that are open, or more: only the end tag of the last one closes anything, so that a page with tags that
/// don't match is never taken for simpler than it is.
#[derive(Default)]
struct OpenTags<'a> {
    names: Vec<&'a str>,
    formatting: usize,
    comparisons: usize,
}

impl<'a> OpenTags<'a> {
    fn start(&mut self, name: &'a str) {
        self.names.push(name);
        if is_formatting(name) {
            self.comparisons = self.comparisons.saturating_add(self.formatting);
            self.formatting += 1;
        }
    }

    fn end(&mut self, name: &str) {
        if self.names.pop_if(|last| last.eq_ignore_ascii_case(name)).is_some() && is_formatting(name) {
            self.formatting -= 1;
        }
    }
}

/// Whether a browser opens the element again after a block has closed it (HTML Standard, 13.2.4.3).
fn is_formatting(name: &str) -> bool {
    const NAMES: [&str; 14] =
        ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
    NAMES.iter().any(|formatting| name.eq_ignore_ascii_case(formatting))
}

/// Whether a browser takes it for nothing but white space.
pub(super) fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}

/// Upper bound of the elements that one selector may look at: for each element those around it or inside it, and
/// perhaps those before it.
fn steps_to_match(tree: &Html, among_siblings: bool) -> usize {
    // Of each node, how deep it is and how many children were met.
    let mut seen: HashMap<NodeId, (usize, usize)> = HashMap::new();
    let mut steps = 0_usize;
    for node in tree.tree.root().descendants().filter(|node| !node.value().is_text()) {
        let parent = node.parent().and_then(|parent| seen.get_mut(&parent.id()));
        let (depth, before) = parent.map_or((0, 0), |(depth, children)| {
            *children += 1;
            (*depth + 1, *children)
        });
        steps = steps.saturating_add(depth).saturating_add(if among_siblings { before } else { 0 });
        seen.insert(node.id(), (depth, 0));
    }
    steps
}

fn matches(tree: &Html, selectors: &[Selector]) -> HashSet<NodeId> {
    selectors.iter().flat_map(|selector| tree.select(selector)).map(|element| element.id()).collect()
}

fn parse(outline: &str, steps: usize) -> Option<Html> {
    let left = Rc::new(Cell::new(steps));
    let sink = CountingSink { tree: HtmlTreeSink::new(Html::new_document()), left: Rc::clone(&left) };
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let mut parser = driver::parse_document(sink, ParseOpts { tree_builder, ..ParseOpts::default() });
    let mut rest = outline;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.floor_char_boundary(CHUNK_BYTES.min(rest.len())));
        parser.process(StrTendril::from_slice(chunk));
        if left.get() == 0 {
            return None;
        }
        rest = after;
    }
    Some(parser.finish())
}

/// A tree that counts how often it is looked at.
struct CountingSink {
    tree: HtmlTreeSink,
    left: Rc<Cell<usize>>,
}

impl CountingSink {
    fn spend(&self, steps: usize) {
        self.left.set(self.left.get().saturating_sub(steps));
    }
}

impl TreeSink for CountingSink {
    type Handle = NodeId;
    type Output = Html;
    type ElemName<'a> = <HtmlTreeSink as TreeSink>::ElemName<'a>;

    fn finish(self) -> Html {
        self.tree.finish()
    }

    /// Parse errors are not kept: a page may have millions.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        self.tree.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Self::ElemName<'a> {
        self.spend(1);
        self.tree.elem_name(target)
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        self.spend(1);
        self.tree.same_node(one, other)
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        self.spend(STEPS_TO_MAKE);
        self.tree.create_element(name, attributes, flags)
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.tree.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        self.tree.create_pi(target, data)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.tree.append(parent, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        self.tree.append_based_on_parent_node(element, previous, child);
    }

    fn append_before_sibling(&self, sibling: &NodeId, node: NodeOrText<NodeId>) {
        self.tree.append_before_sibling(sibling, node);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        self.tree.append_doctype_to_document(name, public, system);
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        self.tree.get_template_contents(target)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.tree.set_quirks_mode(mode);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        self.tree.add_attrs_if_missing(target, attributes);
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.tree.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &NodeId, parent: &NodeId) {
        let children = self.tree.0.borrow().tree.get(*node).map_or(0, |node| node.children().count());
        self.spend(children);
        self.tree.reparent_children(node, parent);
    }
}
