//! Sites: what is different for one of them, and how a section of the settings names one.
//!
//! In come values by host name, with or without a port; out goes, for a host, the value nearest to it: that of
//! `name:port` first, then that of its name, then of the names it is a subdomain of, longest first.

use std::collections::HashMap;

use super::Host;

/// Values by host name.
#[derive(Clone, Debug)]
pub struct Sites<T> {
    by_name: HashMap<Box<str>, OfName<T>>,
}

#[derive(Clone, Debug)]
struct OfName<T> {
    any_port: Option<T>,
    ports: Vec<(u16, T)>,
}

impl<T> Default for Sites<T> {
    fn default() -> Self {
        Self { by_name: HashMap::new() }
    }
}

impl<T> Sites<T> {
    /// `false` when `site` is no host name.
    pub fn add(&mut self, site: &str, value: T) -> bool {
        let site = site.trim();
        // The scheme hides its own port, so the port is read under both: what one hides, the other shows.
        let (Some(host), Some(other)) =
            (Host::parse(&format!("http://{site}")), Host::parse(&format!("https://{site}")))
        else {
            return false;
        };
        let held =
            self.by_name.entry(host.name().into()).or_insert(OfName { any_port: None, ports: Vec::new() });
        if host.port() == other.port() {
            held.ports.retain(|(port, _)| *port != host.port());
            held.ports.push((host.port(), value));
        } else {
            held.any_port = Some(value);
        }
        true
    }

    /// The value nearest to a host. `name` is without brackets, lower case, as [`Host::name`] gives it.
    pub fn of(&self, name: &str, port: Option<u16>) -> Option<&T> {
        if self.by_name.is_empty() {
            return None;
        }
        if let Some(held) = self.by_name.get(name) {
            let on_port = held.ports.iter().find(|(held, _)| Some(*held) == port).map(|(_, value)| value);
            if let Some(value) = on_port.or(held.any_port.as_ref()) {
                return Some(value);
            }
        }
        // An address has no parents: a site `0.0.1` is not above `10.0.0.1`, but then no site can be called that.
        let mut rest = name;
        while let Some((_, parent)) = rest.split_once('.') {
            if let Some(value) = self.by_name.get(parent).and_then(|held| held.any_port.as_ref()) {
                return Some(value);
            }
            rest = parent;
        }
        None
    }
}

/// The name of a section: a host name or `name:port`. Settings hold for the name and its subdomains; secrets for less: over
/// https and to the named host alone, unless the key begins with `http://` (plain HTTP too) or `*.` (subdomains too).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteKey {
    site: Box<str>,
    name: Box<str>,
    port: Option<u16>,
    plain: bool,
    subdomains: bool,
}

impl SiteKey {
    /// `None` when the text is no host name, with or without a port, or asks for the subdomains of an address or of a port.
    pub fn parse(text: &str) -> Option<SiteKey> {
        let text = text.trim();
        let (plain, rest) = match text.split_once("://") {
            None => (false, text),
            Some(("https", rest)) => (false, rest),
            Some(("http", rest)) => (true, rest),
            Some(_) => return None,
        };
        let below = rest.strip_prefix("*.");
        let (subdomains, site) = (below.is_some(), below.unwrap_or(rest));
        let (http, https) =
            (Host::parse(&format!("http://{site}"))?, Host::parse(&format!("https://{site}"))?);
        let port = (http.port() == https.port()).then_some(http.port());
        let is_vague = subdomains && (port.is_some() || http.ip().is_some());
        if is_vague || http.name().contains('*') {
            return None;
        }
        Some(SiteKey { site: site.into(), name: http.name().into(), port, plain, subdomains })
    }

    /// The site, as [`Sites::add`] takes it.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// Do the two name one site?
    pub fn is_same_site(&self, other: &SiteKey) -> bool {
        (&self.name, self.port) == (&other.name, other.port)
    }

    /// May secrets of the section be sent to this host? Without a port in the key, only to the scheme's own.
    pub fn trusts(&self, host: &Host) -> bool {
        let is_named = host.name() == &*self.name;
        let is_below = || host.name().strip_suffix(&*self.name).is_some_and(|before| before.ends_with('.'));
        let port = self.port.unwrap_or(if host.is_https() { 443 } else { 80 });
        (is_named || self.subdomains && is_below()) && (host.is_https() || self.plain) && host.port() == port
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn sites(names: &[&str]) -> Sites<String> {
        let mut sites = Sites::default();
        for name in names {
            assert!(sites.add(name, name.to_string()), "{name}");
        }
        sites
    }

    fn found(sites: &Sites<String>, url: &str) -> Option<String> {
        let host = Host::parse(url).unwrap();
        sites.of(host.name(), Some(host.port())).cloned()
    }

    #[test]
    fn the_nearest_value_holds() {
        let sites =
            sites(&["example.org", "docs.example.org", "example.org:8080", "Bücher.example", "[::1]:81"]);
        for (url, site) in [
            ("https://example.org/", Some("example.org")),
            ("https://a.b.example.org/", Some("example.org")),
            ("https://docs.example.org/", Some("docs.example.org")),
            ("http://v1.docs.example.org:8080/", Some("docs.example.org")),
            ("http://example.org:8080/", Some("example.org:8080")),
            ("https://notexample.org/", None),
            ("https://org/", None),
            ("https://xn--bcher-kva.example/", Some("Bücher.example")),
            ("http://[::1]:81/", Some("[::1]:81")),
            ("http://[::1]/", None),
        ] {
            assert_eq!(found(&sites, url).as_deref(), site, "{url}");
        }
    }

    #[test]
    fn a_default_port_that_is_written_counts() {
        let sites = sites(&["example.org:443"]);
        assert!(found(&sites, "https://example.org/").is_some());
        assert!(found(&sites, "http://example.org:443/").is_some());
        assert!(found(&sites, "http://example.org/").is_none());
    }

    #[test]
    fn secrets_go_to_the_named_host_over_https_unless_the_key_says_more() {
        for (key, trusted, others) in [
            (
                "example.org",
                &["https://example.org"][..],
                &["http://example.org", "https://example.org:8443", "https://a.example.org"][..],
            ),
            ("https://example.org", &["https://example.org"], &["http://example.org"]),
            (
                "http://example.org",
                &["http://example.org", "https://example.org"],
                &["http://a.example.org", "http://example.org:8080", "http://example.org:443"],
            ),
            (
                "*.example.org",
                &["https://example.org", "https://a.b.example.org"],
                &["http://a.example.org", "https://notexample.org", "https://a.example.org:8443"],
            ),
            ("http://*.example.org", &["http://a.example.org", "https://example.org"], &["http://org"]),
            (
                "example.org:8443",
                &["https://example.org:8443"],
                &["https://example.org", "http://example.org:8443"],
            ),
            ("http://127.0.0.1:81", &["http://127.0.0.1:81"], &["http://127.0.0.1", "http://127.0.0.2:81"]),
            ("[::1]", &["https://[::1]"], &["http://[::1]"]),
        ] {
            let trusts = SiteKey::parse(key).unwrap();
            for host in trusted {
                assert!(trusts.trusts(&Host::parse(host).unwrap()), "{key}: {host}");
            }
            for host in others {
                assert!(!trusts.trusts(&Host::parse(host).unwrap()), "{key}: {host}");
            }
        }
    }

    #[test]
    fn a_key_names_a_site() {
        let key = |text: &str| SiteKey::parse(text).unwrap();
        assert_eq!(key("http://*.Example.org").site(), "Example.org");
        assert!(key("http://example.org").is_same_site(&key("*.Example.org")));
        assert!(!key("example.org:443").is_same_site(&key("example.org")));
        for wrong in
            ["", "*.", "ftp://example.org", "*.example.org:81", "*.10.0.0.1", "a.*.org/", "http://a/b"]
        {
            assert_eq!(SiteKey::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_no_host_is_not_added() {
        for site in
            ["", "a b", "example.org/docs", "https://example.org", "example.org:port", "u@example.org"]
        {
            assert!(!Sites::default().add(site, ()), "{site}");
        }
    }
}
