//! The kind of a page, read off its address.
//!
//! Pages of one site, of one folder of it, or of one name are often made by the same hands, and change alike: what is
//! known of the others is the best guess of a page that was hardly seen. Names are compared without their numbers, so
//! that `errata29.html` is of the kind of `errata30.html`.

use xxhash_rust::xxh3::Xxh3;

/// The groups that a page belongs to by its address. They are hashes, to be small; two groups may, rarely, share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kin {
    /// Scheme, name and port; of an address without them, its first folder.
    pub site: u32,
    /// The site and the first folder.
    pub section: u32,
    /// The site and the last part of the path.
    pub name: u32,
}

impl Kin {
    /// Of a URL, or of whatever stands for one in a dataset.
    pub fn of(url: &str) -> Self {
        let address = url.split(['?', '#']).next().unwrap_or_default();
        let (site, path) = match address.split_once("://") {
            Some((scheme, rest)) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let (name, path) = rest.split_at(end);
                (address.get(..scheme.len() + 3 + name.len()).unwrap_or(address), path)
            }
            None => address.split_once('/').unwrap_or(("", address)),
        };
        let path = path.trim_start_matches('/');
        let folder = path.split_once('/').map_or("", |(folder, _)| folder);
        let name = path.rsplit('/').next().unwrap_or_default();
        Self {
            site: hashed(&[site.as_bytes()]),
            section: hashed(&[site.as_bytes(), folder.as_bytes()]),
            name: hashed(&[site.as_bytes(), &without_numbers(name)]),
        }
    }
}

fn without_numbers(name: &str) -> Vec<u8> {
    let mut shape = Vec::with_capacity(name.len());
    for byte in name.bytes() {
        let byte = if byte.is_ascii_digit() { b'0' } else { byte };
        if byte != b'0' || shape.last() != Some(&b'0') {
            shape.push(byte);
        }
    }
    shape
}

fn hashed(parts: &[&[u8]]) -> u32 {
    let mut hasher = Xxh3::new();
    for part in parts {
        hasher.update(part);
        hasher.update(b"\n");
    }
    hasher.digest() as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pages_of_a_folder_are_kin_and_so_are_pages_of_a_name() {
        let of = |path: &str| Kin::of(&format!("https://example.org{path}"));
        assert_eq!(of("/de/a.html").section, of("/de/x/b.html?page=2").section);
        assert_ne!(of("/de/a.html").section, of("/fr/a.html").section);
        assert_eq!(of("/a.html").section, of("/").section, "both lie at the top");
        assert_eq!(of("/errata29.html").name, of("/old/errata3.html").name);
        assert_ne!(of("/errata29.html").name, of("/plus29.html").name);
        assert_eq!(of("/a").site, of("").site);
        let elsewhere = Kin::of("https://example.org:8443/de/a.html");
        assert!(elsewhere.site != of("/").site && elsewhere.section != of("/de/a.html").section);
    }

    #[test]
    fn an_address_without_a_host_has_a_first_folder() {
        let (terms, privacy) = (Kin::of("happn/Terms.html"), Kin::of("happn/Privacy.html"));
        assert_eq!((terms.site, terms.section), (privacy.site, privacy.section));
        assert_ne!(terms.name, privacy.name);
        assert_ne!(terms.site, Kin::of("other/Terms.html").site);
    }

    proptest! {
        #[test]
        fn queries_and_the_number_in_a_name_change_no_kin(
            folder in "[a-z]{1,8}", name in "[a-z]{1,8}", numbers in any::<(u32, u32)>(), query in "[a-z0-9=&]{0,12}",
        ) {
            let of = |rest: &str| Kin::of(&format!("https://example.org/{folder}/{name}{rest}"));
            prop_assert_eq!(of(&format!("{}.html?{query}", numbers.0)), of(&format!("{}.html#{query}", numbers.1)));
        }

        #[test]
        fn a_site_is_that_of_all_its_pages(host in "[^/?#]{0,20}", path in ".{0,40}") {
            let site = |path: &str| Kin::of(&format!("http://{host}{path}")).site;
            prop_assert_eq!(site(&format!("/{path}")), site(""));
            prop_assert_ne!(site(&format!("/{path}")), Kin::of(&format!("http://{host}x/{path}")).site);
        }

        #[test]
        fn any_text_has_kin(url in ".{0,60}") {
            Kin::of(&url);
        }
    }
}
