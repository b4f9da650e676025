//! The kind of a page, read off its address.
//!
//! Pages of one site, of one folder of it, or of one name are often made by the same hands, and change alike: what is
//! known of the others is the best guess of a page that was hardly seen. Names are compared without their numbers, so
//! that `errata29.html` is of the kind of `errata30.html`.

use memchr::{memchr, memchr_iter, memchr2, memrchr};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The groups that a page belongs to by its address. They are hashes, to be small; two groups may, rarely, share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kin {
    /// Scheme, name and port; of an address without them, its first folder.
    pub site: u32,
    /// The site and the first folder.
    pub section: u32,
    /// The site and the last part of the path.
    pub name: u32,
    /// The folders that the page lies in, from the one below the site to the deepest; 0 where there is none. Each is a hash of
    /// the path down to it, without its numbers. Empty parts of a path don't count, and the last part is a page, not a folder.
    pub folders: [u32; Kin::DEPTH],
}

/// Addresses up to this length, less two bytes, are hashed without allocating memory.
const SHORT_BYTES: usize = 256;

impl Kin {
    /// The most folders that are told apart.
    pub const DEPTH: usize = 6;

    /// Of a URL, or of whatever stands for one in a dataset.
    pub fn of(url: &str) -> Self {
        // What is hashed is at most the address and two line ends.
        let mut short = [0; SHORT_BYTES];
        let mut long = Vec::new();
        let bytes = if url.len() + 2 <= SHORT_BYTES {
            &mut short[..]
        } else {
            long.resize(url.len() + 2, 0);
            &mut long[..]
        };
        let mut text = Text { bytes, len: 0 };
        let (site, path) = split(url.as_bytes());
        let first = path.iter().position(|byte| *byte != b'/').unwrap_or(path.len());
        let path = &path[first..];
        let folder = &path[..memchr(b'/', path).unwrap_or(0)];
        let name = &path[memrchr(b'/', path).map_or(0, |slash| slash + 1)..];

        text.push(site);
        text.push(b"\n");
        let (site, end) = (text.hash(0), text.len);
        text.push(folder);
        text.push(b"\n");
        let section = text.hash(0);
        text.len = end;
        text.push_without_numbers(name);
        text.push(b"\n");
        let name = text.hash(0);
        // Only the low half of a hash is kept, and the whole of it leads to the next.
        let mut folders = [0; Self::DEPTH];
        let mut above = site;
        for (kept, folder) in folders.iter_mut().zip(folders_of(path)) {
            text.len = 0;
            text.push_without_numbers(folder);
            above = text.hash(above);
            *kept = (above as u32).max(1);
        }
        Self { site: site as u32, section: section as u32, name: name as u32, folders }
    }
}

/// The site of an address, and the path below it.
fn split(url: &[u8]) -> (&[u8], &[u8]) {
    let address = &url[..memchr2(b'?', b'#', url).unwrap_or(url.len())];
    let scheme = memchr_iter(b':', address).find(|colon| address[*colon..].starts_with(b"://"));
    match scheme {
        Some(colon) => {
            let name = colon + 3;
            let end = memchr(b'/', &address[name..]).map_or(address.len(), |slash| name + slash);
            address.split_at(end)
        }
        None => match memchr(b'/', address) {
            Some(slash) => (&address[..slash], &address[slash + 1..]),
            None => (&[], address),
        },
    }
}

/// The parts of a path, from the top, but for the last.
fn folders_of(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    let end = memrchr(b'/', &path[..end]).unwrap_or(0);
    path[..end].split(|byte| *byte == b'/').filter(|part| !part.is_empty())
}

/// A text to hash, in memory that is long enough for it.
struct Text<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl Text<'_> {
    fn push(&mut self, part: &[u8]) {
        let end = self.len + part.len();
        self.bytes[self.len..end].copy_from_slice(part);
        self.len = end;
    }

    /// Each number counts as 0.
    fn push_without_numbers(&mut self, part: &[u8]) {
        let Some(first) = part.iter().position(u8::is_ascii_digit) else { return self.push(part) };
        let (before, rest) = part.split_at(first);
        self.push(before);
        let mut was_digit = false;
        for byte in rest {
            let is_digit = byte.is_ascii_digit();
            self.bytes[self.len] = if is_digit { b'0' } else { *byte };
            self.len += usize::from(!(is_digit && was_digit));
            was_digit = is_digit;
        }
    }

    fn hash(&self, seed: u64) -> u64 {
        let text = &self.bytes[..self.len];
        if seed == 0 { xxh3_64(text) } else { xxh3_64_with_seed(text, seed) }
    }
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

    #[test]
    fn kin_are_as_they_always_were() {
        // Worked out by the first version, which hashed part by part.
        let kin = Kin::of("https://example.org/de/x/errata29.html?page=2");
        assert_eq!((kin.site, kin.section, kin.name), (3161897645, 3723861559, 3329283345));
    }

    #[test]
    fn a_page_lies_in_the_folders_above_it() {
        let of = |path: &str| Kin::of(&format!("https://example.org{path}")).folders;
        let depth = |path: &str| of(path).iter().filter(|folder| **folder != 0).count();
        assert_eq!([depth(""), depth("/"), depth("/a.html"), depth("/de/"), depth("//a")], [0; 5]);
        assert_eq!([depth("/de/a"), depth("/de/x/a"), depth("/1/2/3/4/5/6/7/a")], [1, 2, 6]);
        assert_eq!(of("/de/x/a")[0], of("/de/b")[0]);
        assert_eq!(of("/de/x/a")[1], of("//de//x/a/?b/c#d/e")[1], "as one spelling");
        assert_ne!(of("/de/x/a")[1], of("/fr/x/a")[1]);
        assert_eq!(of("/2024/05/a"), of("/1999/12/b"));
        assert_ne!(of("/v2/a"), of("/v/a"));
        assert_ne!(of("/de/a"), Kin::of("https://example.com/de/a").folders);
        assert_eq!(Kin::of("happn/old/Terms.html").folders[0], Kin::of("happn/old/Privacy.html").folders[0]);
        assert_eq!(Kin::of("happn/Terms.html").folders, [0; Kin::DEPTH]);
    }

    proptest! {
        #[test]
        fn folders_are_those_of_the_folder_and_one_more(
            path in prop::collection::vec("[a-z0-9]{1,90}", 0..9), name in "[a-z0-9.]{1,8}", next in "[a-z]{1,8}",
        ) {
            let of = |parts: &[String], name: &str| {
                Kin::of(&format!("https://example.org/{}{name}", parts.iter().map(|part| format!("{part}/")).collect::<String>()))
            };
            let folders = of(&path, &name).folders;
            let depth = path.len().min(Kin::DEPTH);
            prop_assert!(folders[..depth].iter().all(|folder| *folder != 0));
            prop_assert!(folders[depth..].iter().all(|folder| *folder == 0));
            prop_assert_eq!(of(&path, &next).folders, folders, "whatever the page is called");
            for above in 0..path.len() {
                let above_too = of(&path[..above], &next).folders;
                let same = above.min(Kin::DEPTH);
                prop_assert_eq!(&above_too[..same], &folders[..same]);
            }
        }

        #[test]
        fn numbers_change_no_kin_but_the_section(
            shape in "(/[a-z]{0,3}9[a-z]{0,3}){1,8}", numbers in any::<(u32, u32)>(),
        ) {
            let of = |number: u32| Kin::of(&format!("http://a.example{}", shape.replace('9', &number.to_string())));
            let (one, other) = (of(numbers.0), of(numbers.1));
            prop_assert_eq!((one.site, one.name, one.folders), (other.site, other.name, other.folders));
        }

        #[test]
        fn long_addresses_are_hashed_alike(parts in prop::collection::vec("[a-zäé0-9]{0,60}", 0..12)) {
            let url = format!("http://a.example/{}", parts.join("/"));
            let mut hasher = xxhash_rust::xxh3::Xxh3::new();
            for part in ["http://a.example\n", parts.first().filter(|_| parts.len() > 1).map_or("", String::as_str), "\n"] {
                hasher.update(part.as_bytes());
            }
            if !url.contains("example//") {
                prop_assert_eq!(Kin::of(&url).section, hasher.digest() as u32);
            }
        }

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
