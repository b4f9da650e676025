//! Verdicts on files that readers of robots.txt disagree about, as data.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct GoldenFile {
    cases: Vec<GoldenRobots>,
}

#[derive(Deserialize)]
struct GoldenRobots {
    why: String,
    robots: String,
    encoding: Option<String>,
    verdicts: BTreeMap<String, bool>,
    /// Absent: not asked. Null: none.
    #[serde(default, deserialize_with = "asked")]
    crawl_delay: Option<Option<f64>>,
    sitemaps: Option<Vec<String>>,
}

fn asked<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::<f64>::deserialize(from).map(Some)
}

fn encoded(text: &str, encoding: Option<&str>) -> Vec<u8> {
    let marked = || format!("\u{feff}{text}").encode_utf16().collect::<Vec<u16>>();
    match encoding {
        None => text.as_bytes().to_vec(),
        Some("utf-16le") => marked().into_iter().flat_map(u16::to_le_bytes).collect(),
        Some("utf-16be") => marked().into_iter().flat_map(u16::to_be_bytes).collect(),
        Some(other) => panic!("an encoding: {other}"),
    }
}

#[test]
fn files_that_readers_disagree_about_are_read_as_the_golden_cases_say() {
    let file: GoldenFile =
        serde_json::from_str(include_str!("../../../../tests/golden/robots.json")).expect("golden cases");
    let host = Host::parse("https://example.org").expect("a host");
    for case in file.cases {
        let robots = Robots::parse(&encoded(&case.robots, case.encoding.as_deref()), "freshet");
        for (path, allowed) in case.verdicts {
            let url = host.url(&path).expect("a URL");
            assert_eq!(robots.allows(&url), allowed, "{}: {path}", case.why);
        }
        if let Some(delay) = case.crawl_delay {
            assert_eq!(robots.crawl_delay().map(|delay| delay.as_secs_f64()), delay, "{}", case.why);
        }
        if let Some(sitemaps) = case.sitemaps {
            let named: Vec<String> = robots.sitemaps(&host).iter().map(Url::to_string).collect();
            assert_eq!(named, sitemaps, "{}", case.why);
        }
    }
}
