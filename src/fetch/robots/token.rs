//! The name that robots rules are read for, host by host.
//!
//! robots.txt, `X-Robots-Tag` headers and `<meta>` tags all address a crawler by its product token. A site may be sent a
//! user agent of its own; then its token is meant in all three places. [`ProductTokens`] is the one who knows.

use super::group;
use crate::page::{Host, Sites};

/// The product token that each host is read for.
#[derive(Clone, Debug)]
pub struct ProductTokens {
    everywhere: Box<str>,
    /// `None` for a site that is sent the user agent of all.
    sites: Sites<Option<Box<str>>>,
}

impl ProductTokens {
    /// The token of the user agent that hosts are sent.
    pub fn new(user_agent: &str) -> Self {
        Self { everywhere: product_token(user_agent).into(), sites: Sites::default() }
    }

    /// A site with settings of its own, and the user agent that it is sent if that is another. False if `site` is no
    /// host name, with or without a port.
    pub fn add_site(&mut self, site: &str, user_agent: Option<&str>) -> bool {
        self.sites.add(site, user_agent.map(|agent| product_token(agent).into()))
    }

    /// The token that rules of this host are read for.
    pub fn of(&self, host: &Host) -> &str {
        let own = self.sites.of(host.name(), Some(host.port())).and_then(Option::as_deref);
        own.unwrap_or(&self.everywhere)
    }
}

/// The product token of a user agent string: `freshet` of `freshet/0.1 (+https://example.org)`.
///
/// A token is letters, `_` and `-` (RFC 9309 §2.2.1). In the customary `Mozilla/5.0 (compatible;
/// freshet/0.1)` it is the name after `compatible;`. A string with no token gives `*`, which only the groups
/// for everyone match.
pub(super) fn product_token(user_agent: &str) -> &str {
    let name = match user_agent.split_once("compatible;") {
        Some((family, name)) if leading_token(family).eq_ignore_ascii_case("mozilla") => name,
        _ => user_agent,
    };
    match leading_token(name) {
        "" => "*",
        token => token,
    }
}

fn leading_token(text: &str) -> &str {
    text.trim_start().split(|c: char| !c.is_ascii() || !group::is_token(c as u8)).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(url: &str) -> Host {
        Host::of(&url::Url::parse(url).expect("a URL")).expect("a host")
    }

    #[test]
    fn a_site_has_the_token_of_the_user_agent_it_is_sent() {
        let mut tokens = ProductTokens::new("freshet/0.1 (+https://example.org)");
        assert!(tokens.add_site("example.org", Some("archivebot/2 (+https://example.org)")));
        assert!(tokens.add_site("plain.example.org", None));
        assert!(!tokens.add_site("not a name", None));
        assert_eq!(tokens.of(&host("https://example.com/")), "freshet");
        assert_eq!(tokens.of(&host("https://www.example.org/")), "archivebot");
        assert_eq!(tokens.of(&host("https://plain.example.org/")), "freshet", "the nearest section holds");
    }
}
