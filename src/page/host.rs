//! Host: scheme, name and port, which have one robots.txt (RFC 9309 §2.3); and its twins, which share its pace.
//!
//! In comes a URL; out goes its scheme, name and port as one value that is cheap to clone, compare and hash. What must
//! stay true: two URLs that reach the same server by the same door have equal hosts, so user info, letter case, a
//! trailing dot of the name and a port that goes without saying never show.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use url::{ParseError, Position, Url};

/// Scheme, name and port: the unit of robots.txt. The unit of politeness is a host with its [twins](Host::twins). Prints as `https://example.org` or `http://127.0.0.1:8080`: a
/// default port is hidden, an IPv6 address is in brackets.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host {
    origin: Arc<str>,
    /// Where the name ends inside `origin`, brackets included.
    name_end: usize,
    port: u16,
    https: bool,
}

impl Host {
    /// The host a URL is fetched from; `None` when it is not `http` or `https`, or has no name.
    pub fn of(url: &Url) -> Option<Host> {
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        match url.host_str()? {
            "" => None,
            name if name.ends_with('.') => {
                let mut dotless = url.clone();
                drop_trailing_dots(&mut dotless).ok()?;
                Some(Host::of_clean(&dotless))
            }
            _ => Some(Host::of_clean(url)),
        }
    }

    /// Reads back what `Display` wrote. `None` when there is more than scheme, name and port (a lone `/` may follow).
    pub fn parse(text: &str) -> Option<Host> {
        let url = Url::parse(text).ok()?;
        let bare =
            url.path() == "/" && url.query().is_none() && url.fragment().is_none() && !has_user_info(&url);
        if bare { Host::of(&url) } else { None }
    }

    /// The host of an `http` or `https` URL whose name is there and does not end in a dot.
    pub(super) fn of_clean(url: &Url) -> Host {
        let https = url.scheme() == "https";
        let scheme = &url[..Position::AfterScheme];
        let name = &url[Position::BeforeHost..Position::AfterHost];
        let origin = if has_user_info(url) {
            Arc::from(format!("{scheme}://{}", &url[Position::BeforeHost..Position::BeforePath]))
        } else {
            Arc::from(&url[..Position::BeforePath])
        };
        let name_end = scheme.len() + "://".len() + name.len();
        Host { origin, name_end, port: url.port().unwrap_or(if https { 443 } else { 80 }), https }
    }

    /// The origin, as `Display` prints it.
    pub fn as_str(&self) -> &str {
        &self.origin
    }

    /// The name or address alone, an IPv6 address without its brackets.
    pub fn name(&self) -> &str {
        let start = if self.https { "https://".len() } else { "http://".len() };
        without_brackets(self.origin.get(start..self.name_end).unwrap_or_default())
    }

    /// The port, also when it is the scheme's own.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Is it asked over TLS?
    pub fn is_https(&self) -> bool {
        self.https
    }

    /// The address, when the host is one and not a name.
    pub fn ip(&self) -> Option<IpAddr> {
        self.name().parse().ok()
    }

    /// The registrable domain by the public suffix list (`example.co.uk` of `www.example.co.uk`); an address, a bare
    /// name (`localhost`) and a public suffix are their own.
    pub fn domain(&self) -> &str {
        registrable(self.name())
    }

    /// The other origins of the same server: the same name, and the same port by the other scheme. Ports 80 and 443 are one
    /// here, because a site that links to itself by both schemes is one site on one machine.
    pub(crate) fn twins(&self) -> impl Iterator<Item = Host> {
        let ports = if matches!(self.port, 80 | 443) { vec![80, 443] } else { vec![self.port] };
        let start = if self.https { "https://".len() } else { "http://".len() };
        let name = self.origin.get(start..self.name_end).unwrap_or_default();
        let origins = ports.into_iter().flat_map(|port| ["http", "https"].map(|scheme| (scheme, port)));
        origins
            .filter_map(move |(scheme, port)| Host::parse(&format!("{scheme}://{name}:{port}")))
            .filter(move |twin| twin != self)
    }

    /// A URL on this host. `path` may carry a query; whatever it says, the URL stays on this host.
    pub fn url(&self, path: &str) -> Option<Url> {
        // Without the slash a path of `@elsewhere.org` or `.elsewhere.org` would become part of the name.
        let slash = if path.starts_with('/') { "" } else { "/" };
        Url::parse(&format!("{}{slash}{path}", self.origin)).ok()
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.origin)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Host({})", self.origin)
    }
}

/// The registrable domain of a host name as URLs spell it: lower case, no trailing dot, no brackets.
pub(crate) fn registrable(name: &str) -> &str {
    if name.parse::<IpAddr>().is_ok() {
        return name;
    }
    psl::domain_str(name).unwrap_or(name)
}

/// Whether a URL carries a user name or a password.
pub(crate) fn has_user_info(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The host part of a URL as a name: an IPv6 address comes out of its brackets.
pub(super) fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(host)
}

/// Drops the dots at the end of the host name: `example.org.` and `example.org` are one host.
///
/// The rest is parsed again, because `127.1..` is a name and `127.1` is an address.
pub(super) fn drop_trailing_dots(url: &mut Url) -> Result<(), ParseError> {
    let name = url.host_str().unwrap_or_default().trim_end_matches('.').to_owned();
    if name.is_empty() { Err(ParseError::EmptyHost) } else { url.set_host(Some(&name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Host {
        Host::of(&Url::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn a_host_prints_without_what_goes_without_saying() {
        assert_eq!(host("HTTPS://user:word@Example.ORG.:443/a?b#c").to_string(), "https://example.org");
        assert_eq!(host("http://127.0.0.1:8080/").to_string(), "http://127.0.0.1:8080");
        assert_eq!(host("http://127.1../").to_string(), "http://127.0.0.1");
        assert_eq!(host("https://[::1]:8443/x").to_string(), "https://[::1]:8443");
        assert_eq!(host("http://bücher.example/").to_string(), "http://xn--bcher-kva.example");
    }

    #[test]
    fn a_host_knows_its_parts() {
        let example = host("https://www.example.co.uk/");
        assert_eq!((example.name(), example.port(), example.https), ("www.example.co.uk", 443, true));
        assert_eq!((example.domain(), example.ip()), ("example.co.uk", None));
        let address = host("http://[2001:db8::1]:81/");
        assert_eq!((address.name(), address.port(), address.https), ("2001:db8::1", 81, false));
        assert_eq!((address.domain(), address.ip()), ("2001:db8::1", "2001:db8::1".parse().ok()));
        assert_eq!(host("http://user@10.0.0.7/").domain(), "10.0.0.7");
        assert_eq!(host("http://localhost:3000/").domain(), "localhost");
        assert_eq!(host("https://github.io/").domain(), "github.io");
        assert_eq!(host("https://someone.github.io/").domain(), "someone.github.io");
    }

    #[test]
    fn both_schemes_of_a_name_are_twins() {
        for (url, others) in [
            (
                "https://example.org/",
                &["http://example.org", "https://example.org:80", "http://example.org:443"][..],
            ),
            (
                "http://example.org:443/",
                &["http://example.org", "https://example.org:80", "https://example.org"],
            ),
            ("http://127.0.0.1:8080/", &["https://127.0.0.1:8080"]),
            ("https://[::1]:8443/", &["http://[::1]:8443"]),
        ] {
            let twins: Vec<String> = host(url).twins().map(|twin| twin.to_string()).collect();
            assert_eq!(twins, others, "{url}");
        }
    }

    #[test]
    fn only_the_web_has_hosts() {
        for text in ["mailto:a@example.org", "ftp://example.org/", "data:,x", "http://./", "file:///etc"] {
            assert_eq!(Url::parse(text).ok().as_ref().and_then(Host::of), None, "{text}");
        }
    }

    #[test]
    fn a_host_reads_back_what_it_printed_and_nothing_more() {
        for text in ["https://example.org", "http://127.0.0.1:8080", "https://[::1]", "http://localhost:1"] {
            assert_eq!(Host::parse(text).unwrap().as_str(), text);
        }
        for text in
            ["example.org", "https://example.org/a", "https://u@example.org", "https://example.org/?q", ""]
        {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_path_never_leaves_its_host() {
        let example = host("https://example.org/");
        assert_eq!(example.url("/robots.txt").unwrap().as_str(), "https://example.org/robots.txt");
        for path in
            ["@evil.org/", ".evil.org", "//evil.org/", ":81/", "\\\\evil.org", "\t//evil.org", "", "?q", "#f"]
        {
            assert_eq!(Host::of(&example.url(path).unwrap()).unwrap(), example, "{path}");
        }
    }
}
