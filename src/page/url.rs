//! PageUrl: one spelling a page.
//!
//! In comes a link as somebody wrote it; out goes a [`PageUrl`]: the URL as it will be fetched, and the fingerprint of
//! its canonical key, or a [`UrlError`]. Parsing follows the WHATWG standard, as browsers do, so letter case and IDNA
//! of the name, default ports and dot segments come right by themselves. Then goes what never tells two pages apart:
//! the fragment, a trailing dot of the name, an empty query, and parameters that track a click or carry a session. The
//! rest stays as found, order and escapes included, for the server may care.
//!
//! What must stay true: the fetch form, read again, gives the same `PageUrl`; the key, read again, gives the same
//! key; and the order of parameters, fragment, case of the host and default port never show in the fingerprint.

use std::borrow::Cow;
use std::fmt;

use thiserror::Error;
use url::{ParseError, Position, Url};
use xxhash_rust::xxh3::xxh3_128;

use super::host::{self, Host};
use super::key;

/// Query and path parameters dropped unless the operator says otherwise; a trailing `*` stands for any ending, a
/// trailing `=token` for values that look like a token.
///
/// First come marks that advertisers and newsletters put on links to follow a reader, then session identifiers. Names
/// that choose content somewhere are left out however often they track: `ref`, `source`, `cid`, and `sid`, which is a
/// session on some boards and the number of the story on as many news sites. `sessionid` is the number of a talk or a
/// sitting of parliament on some sites, so there its value decides.
pub const DEFAULT_DROPPED_PARAMETERS: &[&str] = &[
    "utm_*",
    "mtm_*",
    "pk_campaign",
    "pk_kwd",
    "pk_source",
    "pk_medium",
    "pk_content",
    "_ga",
    "_gl",
    "gclid",
    "gclsrc",
    "gbraid",
    "wbraid",
    "dclid",
    "srsltid",
    "fbclid",
    "igshid",
    "igsh",
    "msclkid",
    "twclid",
    "ttclid",
    "yclid",
    "ysclid",
    "_openstat",
    "li_fat_id",
    "epik",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "_hsenc",
    "_hsmi",
    "__hstc",
    "__hssc",
    "__hsfp",
    "hsctatracking",
    "oly_anon_id",
    "oly_enc_id",
    "vero_id",
    "vero_conv",
    "wickedid",
    "rb_clickid",
    "phpsessid",
    "jsessionid",
    "aspsessionid*",
    "asp.net_sessionid",
    "sessionid=token",
    "session_id=token",
    "cfid",
    "cftoken",
    "oscsid",
    "zenid",
];

/// Bytes that a value must have at the least to look like a token: sessions have 16 and more (128 bits in hexadecimal
/// have 32), numbers of contents fewer.
const TOKEN_BYTES: usize = 16;
/// The ending of a dropped name whose value must look like a token.
const TOKEN_ONLY: &str = "=token";

/// A text this many times longer than a URL may be is refused unread: what shrinks in parsing (fragment, dropped
/// parameters, dot segments) seldom makes up more than that, and an inlined image makes up megabytes.
const READ_AT_MOST: usize = 8;

/// The xxh3-128 hash of a page's key: equal for all spellings of a page.
///
/// It is stored, so it never changes. It is not cryptographic: who sets out to can make two URLs collide, and what
/// comes of it is that one of the two is not crawled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u128);

impl Fingerprint {
    /// Big endian, so that bytes sort as numbers do.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Reads back [`Fingerprint::to_bytes`].
    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Fingerprint {
        Fingerprint(u128::from_be_bytes(bytes))
    }

    /// The high half.
    pub fn prefix(self) -> u64 {
        (self.0 >> 64) as u64
    }
}

/// One spelling a page: the URL as it will be fetched, and the fingerprint of its canonical key.
///
/// It is always `http` or `https`, with a host name that does not end in a dot, without user info and fragment.
#[derive(Clone, PartialEq, Eq)]
pub struct PageUrl {
    url: Url,
    fingerprint: Fingerprint,
}

impl PageUrl {
    /// The URL as it will be fetched.
    pub fn as_url(&self) -> &Url {
        &self.url
    }

    /// The URL as it will be fetched, as text.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The same for all spellings of this page.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The host that politeness is owed to for this page. Allocates; [`PageUrl::origin`] is the same as text, for free.
    pub fn host(&self) -> Host {
        Host::of_clean(&self.url)
    }

    /// Scheme, name and port, written as [`Host`] writes them.
    pub fn origin(&self) -> &str {
        &self.url[..Position::BeforePath]
    }

    /// The name of the host, an IPv6 address without its brackets.
    pub(crate) fn host_name(&self) -> &str {
        host::without_brackets(self.url.host_str().unwrap_or_default())
    }

    /// The canonical key, the same for all spellings of this page; the fingerprint is its hash. Borrowed for most pages.
    pub fn key(&self) -> Cow<'_, str> {
        key::of(&self.url)
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl fmt::Debug for PageUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PageUrl({})", self.as_str())
    }
}

/// Why a text is not the name of a page.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UrlError {
    /// Not a URL, by the WHATWG standard.
    #[error("malformed URL: {0}")]
    Malformed(#[from] ParseError),
    /// A URL that is not fetched over HTTP; the scheme, in lower case.
    #[error("unknown scheme `{0}`")]
    Scheme(String),
    /// A user name or password in it: not ours to use, and not to be stored.
    #[error("a user name or password in the URL")]
    UserInfo,
    /// There is no host to connect to.
    #[error("no host in the URL")]
    NoHost,
    /// Longer than the operator allows, in bytes.
    #[error("`{length}` bytes long, over the limit of `{limit}`")]
    TooLong {
        /// Its length.
        length: usize,
        /// The longest allowed.
        limit: usize,
    },
}

/// Turns links into page URLs; holds what the operator can choose about it.
#[derive(Clone, Debug)]
pub struct Normaliser {
    /// By first byte, so that a parameter is compared with a few names only.
    dropped: Vec<Vec<DroppedName>>,
    drops_all: bool,
    max_length: usize,
}

/// A parameter name, or the beginning of one, in lower case.
#[derive(Clone, Debug)]
struct DroppedName {
    name: Box<[u8]>,
    is_prefix: bool,
    /// Only if the value looks like a token.
    token_only: bool,
}

impl Default for Normaliser {
    /// Drops [`DEFAULT_DROPPED_PARAMETERS`] and allows 2048 bytes.
    fn default() -> Normaliser {
        Normaliser::new(DEFAULT_DROPPED_PARAMETERS, 2048)
    }
}

impl Normaliser {
    /// `dropped_parameters` are names in any case; a trailing `*` matches any ending (`utm_*`), a lone `*` all names. A
    /// trailing `=token` asks for a value that looks like a token: 16 characters or more, a digit among them.
    /// `max_length` bounds the fetch form, in bytes.
    pub fn new<S: AsRef<str>>(dropped_parameters: &[S], max_length: usize) -> Normaliser {
        let mut normaliser = Normaliser { dropped: vec![Vec::new(); 256], drops_all: false, max_length };
        for pattern in dropped_parameters {
            let pattern = pattern.as_ref().trim().to_ascii_lowercase();
            let (pattern, token_only) = match pattern.strip_suffix(TOKEN_ONLY) {
                Some(name) => (name, true),
                None => (pattern.as_str(), false),
            };
            let (name, is_prefix) = match pattern.strip_suffix('*') {
                Some(beginning) => (beginning, true),
                None => (pattern, false),
            };
            match name.bytes().next().and_then(|first| normaliser.dropped.get_mut(usize::from(first))) {
                Some(names) => {
                    names.push(DroppedName { name: name.as_bytes().into(), is_prefix, token_only })
                }
                None => normaliser.drops_all |= is_prefix && !token_only,
            }
        }
        normaliser
    }

    /// Reads a whole URL.
    pub fn parse(&self, text: &str) -> Result<PageUrl, UrlError> {
        self.check_readable(text)?;
        self.normalise(Url::parse(text)?)
    }

    /// Reads a link found under `base`: the page's own URL, or what its `<base>` says.
    pub fn join(&self, base: &Url, link: &str) -> Result<PageUrl, UrlError> {
        self.check_readable(link)?;
        self.normalise(base.join(link)?)
    }

    /// Gives a parsed URL its one spelling. For a URL with nothing to change and a canonical path, as most links are,
    /// that means a few scans and one hash over its text: nothing is allocated.
    pub(crate) fn normalise(&self, mut url: Url) -> Result<PageUrl, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(url.scheme().to_owned()));
        }
        if host::has_user_info(&url) {
            return Err(UrlError::UserInfo);
        }
        match url.host_str() {
            None | Some("") => return Err(UrlError::NoHost),
            Some(name) if name.trim_end_matches('.').is_empty() => return Err(UrlError::NoHost),
            Some(name) if name.ends_with('.') => host::drop_trailing_dots(&mut url)?,
            Some(_) => {}
        }
        if url.fragment().is_some() {
            url.set_fragment(None);
        }
        if let Some(path) = self.path_without_dropped(&url) {
            url.set_path(&path);
        }
        if let Some(query) = self.query_without_dropped(&url) {
            url.set_query(query.as_deref());
        }
        let length = url.as_str().len();
        if length > self.max_length {
            return Err(UrlError::TooLong { length, limit: self.max_length });
        }
        let fingerprint = Fingerprint(xxh3_128(key::of(&url).as_bytes()));
        Ok(PageUrl { url, fingerprint })
    }

    fn check_readable(&self, text: &str) -> Result<(), UrlError> {
        if text.len() > self.max_length.saturating_mul(READ_AT_MOST) {
            return Err(UrlError::TooLong { length: text.len(), limit: self.max_length });
        }
        Ok(())
    }

    /// The path without dropped `;name=value` in its last segment, where servers put the session of a reader who
    /// takes no cookies; `None` when nothing changes.
    fn path_without_dropped(&self, url: &Url) -> Option<String> {
        let (folder, last) = url.path().rsplit_once('/')?;
        let (file, parameters) = last.split_once(';')?;
        let dropped = |parameter: &&str| parameter.contains('=') && self.drops(parameter);
        if !parameters.split(';').any(|parameter| dropped(&parameter)) {
            return None;
        }
        let mut path = format!("{folder}/{file}");
        for kept in parameters.split(';').filter(|parameter| !dropped(parameter)) {
            path.push(';');
            path.push_str(kept);
        }
        Some(path)
    }

    /// The query without dropped parameters, `Some(None)` when none is left; `None` when nothing changes.
    fn query_without_dropped(&self, url: &Url) -> Option<Option<String>> {
        let query = url.query()?;
        if query.is_empty() {
            return Some(None);
        }
        if !query.split('&').any(|parameter| self.drops(parameter)) {
            return None;
        }
        let kept: Vec<&str> = query.split('&').filter(|parameter| !self.drops(parameter)).collect();
        let kept = kept.join("&");
        Some(if kept.is_empty() { None } else { Some(kept) })
    }

    /// Whether a parameter (`name`, or `name=value`) is dropped. The name is compared decoded, or `utm%5Fsource`
    /// would be kept here and dropped from its own key.
    fn drops(&self, parameter: &str) -> bool {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if self.drops_all {
            return true;
        }
        let first = key::decoded_lower_case(name).next();
        let Some(names) = first.and_then(|first| self.dropped.get(usize::from(first))) else { return false };
        names.iter().any(|dropped| {
            let mut decoded = key::decoded_lower_case(name);
            dropped.name.iter().all(|byte| decoded.next() == Some(*byte))
                && (dropped.is_prefix || decoded.next().is_none())
                && (!dropped.token_only || is_token(value))
        })
    }
}

/// Whether a value looks like one that a machine drew at random. Its escapes are decoded, so that a page and its key
/// are judged alike.
fn is_token(value: &str) -> bool {
    key::decoded_lower_case(value).count() >= TOKEN_BYTES
        && key::decoded_lower_case(value).any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
