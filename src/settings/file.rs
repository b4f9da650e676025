//! `freshet.toml` as it is written: what it may say, and reading it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use freshet::unique::ScopeKind;

use super::{AllowPrivate, SiteSection, SketchSize, Usage};

/// The settings file used when none is named.
const DEFAULT_FILE: &str = "freshet.toml";

/// The file: everything may be left out, nothing may be misspelt.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub store: Option<PathBuf>,
    #[serde(default)]
    pub crawl: FileCrawl,
    #[serde(default)]
    pub limits: FileLimits,
    #[serde(default)]
    pub change: FileChange,
    #[serde(default)]
    pub site: BTreeMap<String, SiteSection>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileCrawl {
    pub delay: Option<f64>,
    pub concurrency: Option<u32>,
    pub per_host: Option<u32>,
    pub rate: Option<f64>,
    pub address_rate: Option<f64>,
    pub max_crawl_delay: Option<f64>,
    pub patience: Option<f64>,
    pub attempts: Option<u32>,
    pub back_off: Option<f64>,
    pub max_failures: Option<u32>,
    pub contact: Option<String>,
    pub follow_nofollow: Option<bool>,
    pub scope: Option<ScopeKind>,
    pub include: Option<Vec<String>>,
    pub exclude: Option<Vec<String>>,
    pub max_depth: Option<u32>,
    pub sitemaps: Option<bool>,
    pub allow_private: Option<AllowPrivate>,
    pub budget: Option<u64>,
    pub cycles: Option<u64>,
    pub policy: Option<String>,
    pub objective: Option<String>,
    pub discover: Option<f64>,
    pub threshold: Option<f64>,
    pub weight: Option<String>,
    pub interval: Option<String>,
    pub risk: Option<f64>,
    pub learning: Option<String>,
    pub every: Option<String>,
    pub at: Option<String>,
    pub sa_gamma: Option<f64>,
    pub lln_alpha: Option<String>,
    pub drop_parameters: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileLimits {
    pub connect_seconds: Option<f64>,
    pub idle_seconds: Option<f64>,
    pub total_seconds: Option<f64>,
    pub body_bytes: Option<usize>,
    pub sitemap_bytes: Option<usize>,
    pub redirects: Option<u32>,
    pub pages_per_host: Option<u32>,
    pub links_per_page: Option<usize>,
    pub query_variants: Option<u32>,
    pub url_length: Option<usize>,
    pub path_depth: Option<usize>,
    pub repeated_segments: Option<usize>,
    pub known_urls: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileChange {
    pub fragment_words: Option<usize>,
    pub sketch: Option<SketchSize>,
    pub profiles: Option<usize>,
    pub changed: Option<String>,
    pub ignore: Option<Vec<String>>,
    pub only: Option<Vec<String>>,
    pub ignore_text: Option<Vec<String>>,
}

/// The file named, or the default one if it is there.
pub fn read_file(named: Option<&Path>) -> Result<File, Usage> {
    let path = match named {
        Some(path) => path,
        None if Path::new(DEFAULT_FILE).exists() => Path::new(DEFAULT_FILE),
        None => return Ok(File::default()),
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| Usage(format!("the settings file `{}` can't be read: {error}", path.display())))?;
    toml::from_str(&text)
        .map_err(|error| Usage(format!("{}: {}", path.display(), error.to_string().trim_end())))
}
