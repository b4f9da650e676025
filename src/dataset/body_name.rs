//! File names for bodies of pages, made of their URLs.
//!
//! What must stay true, whatever the URL: a name stays below its folder; it is the same each time; it has ASCII letters and
//! signs that every file system takes, and no name that Windows reserves; parts are short; no file has the name of a folder,
//! because files have a dot in their names and folders with a dot end in `_`. Where the name had to be changed in a way that
//! another URL could share, it has the first bytes of the URL's hash.

use url::Url;

use crate::store::version::{hex, sha256};

/// The list of all files, in the folder of the export.
pub(super) const INDEX_FILE: &str = "index.jsonl";
/// Longest name of a folder or a file, in bytes. File systems take 255.
const MOST_NAME_BYTES: usize = 100;
/// Longest path below the folder of the export. Windows takes 260 in all.
const MOST_PATH_BYTES: usize = 200;
/// Longest ending of a file that is believed.
const MOST_ENDING_BYTES: usize = 5;
/// Bytes of the hash in a name.
const HASH_BYTES: usize = 4;

/// The path of a file below the folder of the export, with `/` between its parts. `stamp` tells versions of a page apart.
pub(super) fn path_of(url: &str, content_type: Option<&str>, stamp: Option<&str>) -> String {
    let Ok(parsed) = Url::parse(url) else { return format!("_/{}.bin", hash_of(url)) };
    let mut host = parsed.host_str().unwrap_or("_").to_owned();
    if let Some(port) = parsed.port() {
        host = format!("{host}_{port}");
    }
    let host = folder_name(&host, true);
    let mut parts: Vec<&str> = parsed.path().split('/').skip(1).collect();
    let last = parts.pop().unwrap_or_default();
    let file = file_name(url, last, parsed.query(), content_type, stamp);
    let mut path = host.clone();
    for part in parts {
        path = format!("{path}/{}", folder_name(part, false));
    }
    path = format!("{path}/{file}");
    if path.len() > MOST_PATH_BYTES {
        let ending = file.rsplit_once('.').map_or("bin", |(_, ending)| ending);
        path = format!("{host}/_long/{}{}.{ending}", hash_of(url), stamped(stamp));
    }
    path
}

/// The same path with the hash of its URL: for a page whose path another one has, but for its case.
pub(super) fn told_apart(path: &str, url: &str) -> String {
    match path.rsplit_once('.') {
        Some((stem, ending)) => format!("{stem}~{}.{ending}", hash_of(url)),
        None => format!("{path}~{}", hash_of(url)),
    }
}

fn stamped(stamp: Option<&str>) -> String {
    stamp.map_or_else(String::new, |stamp| format!("~{stamp}"))
}

fn hash_of(text: &str) -> String {
    hex(sha256(text.as_bytes()).get(..HASH_BYTES).unwrap_or_default())
}

/// A file for the last part of a path and a query.
fn file_name(
    url: &str,
    last: &str,
    query: Option<&str>,
    content_type: Option<&str>,
    stamp: Option<&str>,
) -> String {
    let is_ending = |ending: &str| {
        (1..=MOST_ENDING_BYTES).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let (stem, ending) =
        match last.rsplit_once('.').filter(|(stem, ending)| !stem.is_empty() && is_ending(ending)) {
            Some((stem, ending)) => (stem, ending),
            None if last.is_empty() => ("index", ending_of(content_type)),
            None => (last, ending_of(content_type)),
        };
    let asked = query.map_or_else(String::new, |query| format!("~{query}"));
    let (mut name, mut is_own) = safe(&format!("{stem}{asked}"));
    let most = MOST_NAME_BYTES - MOST_ENDING_BYTES - 1 - stamped(stamp).len();
    if name.len() > most - 2 * HASH_BYTES - 1 {
        name.truncate(most - 2 * HASH_BYTES - 1);
        is_own = false;
    }
    let hash = if is_own { String::new() } else { format!("~{}", hash_of(url)) };
    format!("{name}{hash}{}.{ending}", stamped(stamp))
}

/// A folder for a part of a path. Two parts may share a folder only if they are the same.
fn folder_name(part: &str, is_host: bool) -> String {
    let (mut name, mut is_own) = safe(part);
    if name.len() > MOST_NAME_BYTES - 2 * HASH_BYTES - 2 {
        name.truncate(MOST_NAME_BYTES - 2 * HASH_BYTES - 2);
        is_own = false;
    }
    if !is_own {
        name = format!("{name}~{}", hash_of(part));
    }
    // In a folder with pages a file could have this name. A host is in a folder with the index alone.
    if name.contains('.') && !is_host || name == INDEX_FILE {
        name.push('_');
    }
    name
}

/// A name that every file system takes, and whether it is still what it was.
fn safe(part: &str) -> (String, bool) {
    let keeps = |letter: char| letter.is_ascii_alphanumeric() || "-_.~=,+@&%!()".contains(letter);
    let mut name: String = part.chars().map(|letter| if keeps(letter) { letter } else { '_' }).collect();
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    if name.ends_with('.') {
        name.pop();
        name.push('_');
    }
    let stem = name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let device = |prefix: &str| {
        stem.strip_prefix(prefix)
            .is_some_and(|number| number.len() == 1 && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let is_reserved = ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str()) || device("COM") || device("LPT");
    if is_reserved || name.is_empty() {
        name.insert(0, '_');
    }
    let is_own = name == part;
    (name, is_own)
}

/// The ending of a file whose URL has none.
fn ending_of(content_type: Option<&str>) -> &'static str {
    let named = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    match named.to_ascii_lowercase().as_str() {
        "" | "text/html" => "html",
        "application/xhtml+xml" => "xhtml",
        "text/plain" => "txt",
        "text/css" => "css",
        "text/csv" => "csv",
        "text/markdown" => "md",
        "application/json" | "application/ld+json" | "application/feed+json" => "json",
        "application/atom+xml" | "application/rss+xml" | "application/xml" | "text/xml" => "xml",
        "application/pdf" => "pdf",
        "text/javascript" | "application/javascript" => "js",
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "application/zip" => "zip",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(url: &str) -> String {
        path_of(url, Some("text/html; charset=utf-8"), None)
    }

    #[test]
    fn plain_urls_have_plain_names() {
        assert_eq!(named("https://example.org/"), "example.org/index.html");
        assert_eq!(named("https://example.org/news/"), "example.org/news/index.html");
        assert_eq!(named("https://example.org/news/one"), "example.org/news/one.html");
        assert_eq!(named("http://127.0.0.1:8080/a.pdf"), "127.0.0.1_8080/a.pdf");
        assert_eq!(named("https://example.org/list.php?id=3&p=2"), "example.org/list~id=3&p=2.php");
        assert_eq!(named("https://example.org/v1.2/x"), "example.org/v1.2_/x.html");
        assert_eq!(
            path_of("https://example.org/feed", Some("application/atom+xml"), None),
            "example.org/feed.xml"
        );
        assert_eq!(path_of("https://example.org/data", Some("x/y"), None), "example.org/data.bin");
        let stamped = path_of("https://example.org/a.pdf", None, Some("20261118T041047Z"));
        assert_eq!(stamped, "example.org/a~20261118T041047Z.pdf");
    }

    #[test]
    fn hard_urls_have_names_that_every_file_system_takes() {
        for (url, start) in [
            ("https://example.org/..%2f..%2fetc%2fpasswd", "example.org/_.%2f..%2fetc%2fpasswd~"),
            ("https://example.org/a:b*c", "example.org/a_b_c~"),
            ("https://example.org/con.txt", "example.org/_con~"),
            ("https://example.org/LPT1", "example.org/_LPT1~"),
            ("https://example.org/.git/config", "example.org/_git~"),
            ("https://example.org/a//b", "example.org/a/_~"),
            ("https://example.org/x?q=a/../../b", "example.org/x~q=a_.._.._b~"),
            ("https://[::1]:8080/", "_"),
        ] {
            let path = named(url);
            assert!(path.starts_with(start), "{url} is {path}");
        }
        assert_ne!(named("https://example.org/x?q=a/b"), named("https://example.org/x?q=a_b"));
        assert_ne!(named("https://example.org/a:/x"), named("https://example.org/a*/x"));
        let long = format!("https://example.org/{}", "deep/".repeat(100));
        assert!(named(&long).starts_with("example.org/_long/") && named(&long).ends_with(".html"));
        assert_ne!(named(&long), named(&format!("{long}x/")));
        assert_eq!(named("no URL").rsplit_once('.').map(|(_, ending)| ending), Some("bin"));
        assert_eq!(
            told_apart("a/B.html", "https://a.example/B"),
            format!("a/B~{}.html", hash_of("https://a.example/B"))
        );
    }

    proptest! {
        #[test]
        fn no_url_leads_out_of_the_folder(path in "[ -~]{0,300}", query in prop::option::of("[ -~]{0,200}")) {
            let query = query.map_or_else(String::new, |query| format!("?{query}"));
            let name = named(&format!("https://example.org/{path}{query}"));
            prop_assert!(name.len() <= MOST_PATH_BYTES + 1, "{}", name);
            let parts: Vec<&str> = name.split('/').collect();
            for (at, part) in parts.iter().enumerate() {
                prop_assert!(!part.is_empty() && part.len() <= MOST_NAME_BYTES + 1, "{}", name);
                prop_assert!(!part.starts_with('.') && !part.ends_with(['.', ' ']), "{}", name);
                let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~=,+@&%!()".contains(&byte);
                prop_assert!(part.bytes().all(is_safe), "{}", name);
                // No file has the name of a folder.
                let is_file = at + 1 == parts.len();
                if at > 0 {
                    prop_assert_eq!(is_file, part.contains('.') && !part.ends_with('_'), "{}", name);
                }
            }
        }
    }
}
