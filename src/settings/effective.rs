//! What holds, and where each value comes from: a flag, the environment, a line of the file, another setting, a default.
//!
//! As TOML, a value that someone gave is a line that can be saved; defaults and derived values are comments, so that a
//! saved file freezes none of them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::file::{self, SettingsFile};
use super::sections::{ChangeGiven, CrawlGiven, Given, LimitsGiven, SearchGiven};
use super::serve::ServeGiven;
use super::{Settings, Usage};
use crate::cli::Global;

/// Where the comment of a line begins, if the line leaves room for it.
const COMMENT_COLUMN: usize = 34;
/// Longest text of a value in a comment: the whole of a longer one is in the JSON.
const LONGEST_COMMENT: usize = 60;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SettingSource {
    Flag,
    Environment,
    File,
    Derived,
    Default,
    /// There is no value, and no default.
    Unset,
}

/// Flags and environment variables that a command line gave, by the key of their setting.
pub(crate) type GivenBy = BTreeMap<String, (SettingSource, String)>;

/// A setting as it holds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EffectiveSetting {
    pub value: Option<toml::Value>,
    pub source: SettingSource,
    /// The flag, the variable, file and line, or what it follows from.
    pub from: Option<String>,
}

/// Every setting as it holds, by section and key.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EffectiveSettings {
    store: EffectiveSetting,
    crawl: Section,
    limits: Section,
    change: Section,
    search: Section,
    serve: Section,
    site: BTreeMap<String, Section>,
    /// The settings file.
    file: Option<String>,
}

/// The settings of a section, in the order of the declaration.
#[derive(Clone, Debug)]
struct Section(Vec<(String, EffectiveSetting)>);

impl Serialize for Section {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, setting)| (key, setting)))
    }
}

impl EffectiveSettings {
    /// The settings that hold with these flags; `given_by` says which of them are flags and which are variables.
    pub(crate) fn load(global: &Global, flags: &Given, given_by: &GivenBy) -> Result<Self, Usage> {
        let file = file::read(global.config.as_deref())?;
        let given = Given { store: global.store.clone(), ..flags.clone() }.without_idle_switches();
        let under = file.as_ref().map(|file| file.given.clone()).unwrap_or_default();
        let settled = Settings::of(given.clone().or(under))?;
        let tables = |given: &Given| toml::Value::try_from(given).map_err(|error| Usage(error.to_string()));
        let sources = Sources {
            values: tables(&Given::from(settled.sections))?,
            given: tables(&given)?,
            given_by,
            lines: file.as_ref().map(|file| file::lines(&file.text)).unwrap_or_default(),
            file: file.as_ref(),
        };
        let sites = sources.values.get("site").and_then(toml::Value::as_table);
        let site = |(name, keys): (&String, &toml::Value)| {
            let keys = keys.as_table().into_iter().flat_map(|table| table.keys());
            let settings = keys.map(|key| (key.clone(), sources.setting(&["site", name, key], &[])));
            (name.clone(), Section(settings.collect()))
        };
        Ok(Self {
            store: sources.setting(&["store"], &[]),
            crawl: sources.section("crawl", CrawlGiven::KEYS, CrawlGiven::DERIVED),
            limits: sources.section("limits", LimitsGiven::KEYS, LimitsGiven::DERIVED),
            change: sources.section("change", ChangeGiven::KEYS, ChangeGiven::DERIVED),
            search: sources.section("search", SearchGiven::KEYS, SearchGiven::DERIVED),
            serve: sources.section("serve", ServeGiven::KEYS, ServeGiven::DERIVED),
            site: sites.into_iter().flatten().map(site).collect(),
            file: file.as_ref().map(|file| file.path.display().to_string()),
        })
    }

    /// As a settings file: what was given, and the rest as comments.
    pub(crate) fn toml(&self) -> String {
        let read = match &self.file {
            Some(file) => format!("Settings that hold with `{file}`"),
            None => "Settings that hold; there is no settings file".to_owned(),
        };
        let mut text = format!(
            "# {read}. Defaults and derived values are comments:\n# saved, this file keeps only what was given. `freshet \
             init` writes a file that explains every key.\n\n"
        );
        text += &line("store", &self.store);
        let sections = [
            ("crawl", &self.crawl),
            ("limits", &self.limits),
            ("change", &self.change),
            ("search", &self.search),
            ("serve", &self.serve),
        ];
        for (name, section) in sections {
            text += &format!("\n[{name}]\n{}", lines(section));
        }
        for (name, section) in &self.site {
            text += &format!("\n[site.{}]\n{}", toml::Value::String(name.clone()), lines(section));
        }
        text
    }
}

fn lines(section: &Section) -> String {
    section.0.iter().map(|(key, setting)| line(key, setting)).collect()
}

/// A setting as a line, with where it comes from.
fn line(key: &str, setting: &EffectiveSetting) -> String {
    let from = setting.from.as_deref().unwrap_or_default();
    let source = match setting.source {
        SettingSource::Flag => format!("flag {from}"),
        SettingSource::Environment | SettingSource::File => format!("from {from}"),
        SettingSource::Derived => format!("derived: {from}"),
        SettingSource::Default => "default".to_owned(),
        SettingSource::Unset => "not set".to_owned(),
    };
    let value = setting.value.as_ref().map(ToString::to_string).unwrap_or_default();
    let written = match setting.source {
        SettingSource::Flag | SettingSource::Environment | SettingSource::File => format!("{key} = {value}"),
        SettingSource::Unset => format!("# {key}"),
        _ if value.chars().count() > LONGEST_COMMENT => {
            let start: String = value.chars().take(LONGEST_COMMENT).collect();
            format!("# {key} = {start}…")
        }
        _ => format!("# {key} = {value}"),
    };
    format!("{written:COMMENT_COLUMN$}  # {source}\n")
}

/// Everything that says where a value comes from.
struct Sources<'a> {
    values: toml::Value,
    given: toml::Value,
    given_by: &'a GivenBy,
    lines: BTreeMap<Vec<String>, usize>,
    file: Option<&'a SettingsFile>,
}

impl Sources<'_> {
    fn section(&self, name: &str, keys: &[&str], derived: &[(&str, &str)]) -> Section {
        Section(keys.iter().map(|key| ((*key).to_owned(), self.setting(&[name, key], derived))).collect())
    }

    fn setting(&self, way: &[&str], derived: &[(&str, &str)]) -> EffectiveSetting {
        let value = at(&self.values, way).cloned();
        let key = way.last().copied().unwrap_or_default();
        let (source, from) = match (self.given(way, key), self.line(way), &value) {
            // A blank contact is none.
            (_, _, None) => (SettingSource::Unset, None),
            (Some((source, from)), _, _) => (source, Some(from)),
            (None, Some(place), _) => (SettingSource::File, Some(place)),
            (None, None, Some(_)) => match derived.iter().find(|(derived, _)| *derived == key) {
                Some((_, how)) => (SettingSource::Derived, Some((*how).to_owned())),
                None => (SettingSource::Default, None),
            },
        };
        EffectiveSetting { value, source, from }
    }

    /// The flag or variable. A switch that is off was not given, see [`Given::without_idle_switches`].
    fn given(&self, way: &[&str], key: &str) -> Option<(SettingSource, String)> {
        at(&self.given, way).and_then(|_| self.given_by.get(key)).cloned()
    }

    fn line(&self, way: &[&str]) -> Option<String> {
        let way: Vec<String> = way.iter().map(ToString::to_string).collect();
        Some(format!("{}:{}", self.file?.path.display(), self.lines.get(&way)?))
    }
}

fn at<'a>(value: &'a toml::Value, way: &[&str]) -> Option<&'a toml::Value> {
    way.iter().try_fold(value, |value, key| value.get(key))
}
