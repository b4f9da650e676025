//! docs/settings.md against the declarations: every key with its flag, its environment variable and its default, and
//! nothing else.

use clap::CommandFactory as _;

use super::sections::{Given, LimitsGiven, SiteSection};
use super::{ChangeGiven, CrawlGiven, SearchGiven, ServeGiven};
use crate::cli::Cli;

const DOCUMENT: &str = include_str!("../../docs/settings.md");

/// The rows of the table under a heading, as cells without their padding.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let lines = DOCUMENT.lines().skip_while(|line| *line != heading).skip(1);
    let table = lines.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with('|'));
    table.skip(2).map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// The flag and the environment variable of a setting.
fn flag(key: &str) -> (String, String) {
    let cli = Cli::command();
    let argument = ["config", "monitor"].iter().find_map(|command| {
        cli.find_subcommand(command)?.get_arguments().find(|argument| argument.get_id().as_str() == key)
    });
    let Some(argument) = argument else { return Default::default() };
    let variable = argument.get_env().and_then(|name| name.to_str());
    (format!("`--{}`", argument.get_long().unwrap()), format!("`{}`", variable.unwrap()))
}

#[test]
fn the_document_has_every_setting_and_nothing_else() {
    let defaults = toml::Value::try_from(Given::from(Given::default().settle())).unwrap();
    for (section, keys) in [
        ("crawl", CrawlGiven::KEYS),
        ("limits", LimitsGiven::KEYS),
        ("change", ChangeGiven::KEYS),
        ("search", SearchGiven::KEYS),
        ("serve", ServeGiven::KEYS),
    ] {
        let declared = keys.iter().map(|key| {
            let (flag, variable) = flag(key);
            let default = match defaults[section].get(key) {
                Some(toml::Value::Float(number)) => format!("`{number}`"),
                Some(default) => format!("`{default}`"),
                None => "none".to_owned(),
            };
            vec![format!("`{key}`"), flag, variable, default]
        });
        let mut declared: Vec<Vec<String>> = declared.collect();
        let written = rows(&format!("## `[{section}]`"));
        let mut written: Vec<Vec<&str>> = written.iter().map(|row| row[..4].to_vec()).collect();
        declared.sort();
        written.sort();
        assert_eq!(written, declared, "docs/settings.md, [{section}]");
    }
}

#[test]
fn the_document_has_every_setting_of_a_site() {
    let whole = "delay = 1\nscope = 'any'\ninclude = ['a']\nexclude = ['a']\nbudget = 1\nuser_agent = 'a'\n\
                 changed = 'text'\nignore = ['a']\nonly = ['a']\nignore_text = ['a']\n[headers]\na = 'b'\n";
    let section: SiteSection = toml::from_str(whole).unwrap();
    // Nothing is left out above: the pattern names every field.
    let SiteSection {
        delay: _,
        scope: _,
        include: _,
        exclude: _,
        budget: _,
        user_agent: _,
        headers: _,
        changed: _,
        ignore: _,
        only: _,
        ignore_text: _,
    } = &section;
    let toml::Value::Table(table) = toml::Value::try_from(&section).unwrap() else { unreachable!() };
    let mut declared: Vec<String> = table.keys().map(|key| format!("`{key}`")).collect();
    let written = rows("## `[site.\"example.org\"]`");
    let mut written: Vec<&str> = written.iter().map(|row| row[0]).collect();
    declared.sort();
    written.sort();
    assert_eq!(written, declared);
}

#[test]
fn help_names_the_defaults_that_hold() {
    let defaults = toml::Value::try_from(Given::from(Given::default().settle())).unwrap();
    let cli = Cli::command();
    for argument in cli.find_subcommand("config").unwrap().get_arguments() {
        let key = argument.get_id().as_str();
        let Some(default) = ["crawl", "limits", "change", "search", "serve"]
            .iter()
            .find_map(|section| defaults[section].get(key))
        else {
            continue;
        };
        let help = argument.get_help().unwrap().to_string();
        let said = match default {
            // An empty list, or a switch that is off.
            toml::Value::Array(_) | toml::Value::Boolean(_) => continue,
            _ if key == "address_rate" => "4 / delay".to_owned(),
            toml::Value::String(text) => text.clone(),
            toml::Value::Float(number) => number.to_string(),
            other => other.to_string(),
        };
        assert!(help.contains(&format!("[default: {said}]")), "{key}: {help}");
    }
}
