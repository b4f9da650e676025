//! Names of elements and attributes: bytes in a tag → the few names that mean something to us.
//!
//! A name is recognised while it is scanned, without a copy: the scanner folds its last eight bytes, lower-cased,
//! into one number, and [`Element::of`] compares that number with constants. What must stay true: a name is
//! never taken for another one, so the length, and beyond eight bytes the spelling, is compared as well.

/// The key of a name after one more byte of it, in either case.
#[inline(always)]
pub(super) const fn extend_key(key: u64, byte: u8) -> u64 {
    (key << 8) | byte.to_ascii_lowercase() as u64
}

pub(super) const fn key(name: &str) -> u64 {
    let (bytes, mut key, mut index) = (name.as_bytes(), 0, 0);
    while index < bytes.len() {
        key = extend_key(key, bytes[index]);
        index += 1;
    }
    key
}

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($variant:ident $name:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum $kind {
            /// Any name that is not in this list.
            Other,
            $(#[doc = concat!("`", $name, "`")] $variant),*
        }

        impl $kind {
            /// How many kinds there are, [`Other`](Self::Other) included.
            pub(crate) const COUNT: usize = [$($name),*].len() + 1;

            /// The kind called `name`, in upper or lower case, of which the scanner made `key`.
            #[inline]
            pub(super) fn of(key: u64, name: &[u8]) -> Self {
                #[allow(non_upper_case_globals)]
                mod keys {
                    $(pub(crate) const $variant: u64 = super::key($name);)*
                }
                let (kind, spelling) = match key {
                    $(keys::$variant => (Self::$variant, $name),)*
                    _ => return Self::Other,
                };
                let same = spelling.len() == name.len() && (name.len() <= 8 || name.eq_ignore_ascii_case(spelling.as_bytes()));
                if same { kind } else { Self::Other }
            }

            /// Its name in lower case; empty for [`Other`](Self::Other).
            pub fn name(self) -> &'static str {
                match self {
                    Self::Other => "",
                    $(Self::$variant => $name),*
                }
            }
        }
    };
}

names! {
    /// The elements that the reading of a page treats in a way of their own.
    Element {
        A "a", Address "address", Area "area", Article "article", Aside "aside", Base "base", Basefont "basefont",
        Bgsound "bgsound", Blockquote "blockquote", Body "body", Br "br", Button "button", Caption "caption",
        Center "center", Col "col", Dd "dd", Desc "desc", Details "details", Dialog "dialog", Dir "dir", Div "div",
        Dl "dl", Dt "dt", Embed "embed", Fieldset "fieldset", Figcaption "figcaption", Figure "figure",
        Footer "footer", Form "form", Frame "frame", Frameset "frameset", H1 "h1", H2 "h2", H3 "h3", H4 "h4",
        H5 "h5", H6 "h6", Head "head", Header "header", Hgroup "hgroup", Hr "hr", Html "html", Iframe "iframe",
        Img "img", Input "input", Legend "legend", Li "li", Link "link", Listing "listing", Main "main",
        Math "math", Menu "menu", Meta "meta", Metadata "metadata", Nav "nav", Noembed "noembed",
        Noframes "noframes", Ol "ol", Optgroup "optgroup", Option "option", P "p", Param "param",
        Plaintext "plaintext", Pre "pre", Script "script", Search "search", Section "section", Select "select",
        Source "source", Style "style", Summary "summary", Svg "svg", Table "table", Tbody "tbody", Td "td",
        Template "template", Textarea "textarea", Tfoot "tfoot", Th "th", Thead "thead", Title "title", Tr "tr",
        Track "track", Ul "ul", Wbr "wbr", Xmp "xmp",
    }
}

names! {
    /// The attributes that text, links and hints are read from.
    Attribute {
        AriaControls "aria-controls", AriaHidden "aria-hidden", Charset "charset", Content "content",
        Hidden "hidden", Href "href", Hreflang "hreflang", HttpEquiv "http-equiv", Id "id", Name "name",
        Open "open", Rel "rel", Role "role", ShadowRootMode "shadowrootmode", Src "src", Style "style", Type "type",
    }
}

/// How what stands between a start tag and its end tag is to be tokenised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContentModel {
    /// Tags, text and comments: all elements but those below.
    Markup,
    /// Text with character references, up to the end tag.
    Escapable,
    /// Text as it stands, up to the end tag.
    Raw,
    /// As [`Raw`](Self::Raw), but an end tag inside `<!--` may not count.
    Script,
    /// Text as it stands, up to the end of the page.
    Plain,
}

impl Element {
    /// How its content is tokenised, in HTML (the WHATWG tree builder's choice of tokenizer state).
    ///
    /// `noscript` is [`ContentModel::Markup`], as for a browser with scripts off, because scripts are not run.
    #[inline]
    pub fn content(self) -> ContentModel {
        match self {
            Self::Title | Self::Textarea => ContentModel::Escapable,
            Self::Style | Self::Xmp | Self::Iframe | Self::Noembed | Self::Noframes => ContentModel::Raw,
            Self::Script => ContentModel::Script,
            Self::Plaintext => ContentModel::Plain,
            _ => ContentModel::Markup,
        }
    }

    /// Whether the text that stands in it is part of the page's; plain markup is [`Other`](Self::Other).
    #[inline]
    pub(super) fn holds_text(self) -> bool {
        matches!(self, Self::Other | Self::Textarea | Self::Xmp | Self::Plaintext)
    }

    /// Whether it has neither content nor end tag.
    #[inline]
    pub(crate) fn is_void(self) -> bool {
        use Element::*;
        matches!(
            self,
            Area | Base
                | Basefont
                | Bgsound
                | Br
                | Col
                | Embed
                | Frame
                | Hr
                | Img
                | Input
                | Link
                | Meta
                | Param
                | Source
                | Track
                | Wbr
        )
    }

    /// Whether a browser starts a new line before and after it.
    #[inline]
    pub(crate) fn breaks_line(self) -> bool {
        use Element::*;
        self.ends_paragraph()
            || matches!(self, Body | Br | Caption | Frameset | Head | Html | Legend | Optgroup | Option)
            || matches!(self, Tbody | Tfoot | Thead | Tr | Title)
    }

    /// Whether words on its two sides stand apart, though on one line.
    #[inline]
    pub(crate) fn parts_words(self) -> bool {
        matches!(self, Self::Td | Self::Th | Self::Button | Self::Select | Self::Textarea)
    }

    /// Whether its start tag closes an open `p` (HTML Standard, 13.2.6.4.7).
    #[inline]
    pub(crate) fn ends_paragraph(self) -> bool {
        use Element::*;
        self.is_container()
            || matches!(
                self,
                Address | Dd | Dialog | Dir | Dt | Figcaption | Form | H1 | H2 | H3 | H4 | H5 | H6
            )
            || matches!(
                self,
                Hgroup | Hr | Li | Listing | Menu | P | Plaintext | Pre | Search | Summary | Xmp
            )
    }

    /// Whether its end tag is hardly ever forgotten and closes whatever is still open inside.
    #[inline]
    pub(crate) fn is_container(self) -> bool {
        use Element::*;
        matches!(
            self,
            Article | Aside | Blockquote | Center | Details | Div | Dl | Fieldset | Figure | Footer
        ) || matches!(self, Header | Main | Nav | Ol | Section | Table | Ul)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(name: &str) -> Element {
        Element::of(key(name), name.as_bytes())
    }

    #[test]
    fn a_name_is_known_in_any_case() {
        assert_eq!(element("a"), Element::A);
        assert_eq!(element("TextArea"), Element::Textarea);
        assert_eq!(element("BLOCKQUOTE"), Element::Blockquote);
        assert_eq!(Attribute::of(key("Aria-Hidden"), b"Aria-Hidden"), Attribute::AriaHidden);
    }

    #[test]
    fn a_name_is_never_taken_for_another() {
        assert_eq!(element("xxockquote"), Element::Other, "the last eight bytes are those of blockquote");
        assert_eq!(element("\0a"), Element::Other, "the key of `a`, but two bytes long");
        assert_eq!(element("h\u{11}"), Element::Other);
        assert_eq!(element("anchor"), Element::Other);
        assert_eq!(element(""), Element::Other);
    }

    #[test]
    fn every_name_is_found_by_its_own_spelling() {
        for name in ["a", "h6", "template", "plaintext", "figcaption", "xmp", "noframes"] {
            assert_eq!(element(name).name(), name);
        }
    }
}
