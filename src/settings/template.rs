//! The settings file that `freshet init` writes: every key with its meaning and its default, all of them commented out.
//!
//! It is made from the declarations, so it can't fall behind them. A line `#key = value` is a setting; other comments are
//! text, so that removing one `#` before any key is enough to set it.

use super::sections::{ChangeGiven, CrawlGiven, Given, LimitsGiven, SearchGiven};
use super::serve::ServeGiven;

/// Widest line of an explanation.
const WIDTH: usize = 110;

/// Values to show for settings without a default.
const EXAMPLES: &[(&str, &str)] = &[
    ("contact", "\"https://example.org/about-my-crawler\""),
    ("max_depth", "10"),
    ("budget", "1000"),
    ("discover", "0.2"),
    ("threshold", "0.01"),
    ("every", "\"1d\""),
    ("at", "\"02:00\""),
    ("queries", "\"queries.txt\""),
    ("queries_from", "\"access.log\""),
    ("token_file", "\"/etc/freshet/token\""),
];

/// Settings that are better left alone: they are named, and there is no line to set them by removing a `#`.
const NAMED_ONLY: &[(&str, &str)] = &[
    ("address_rate", "Unless it is set, it follows from `delay`: 4 / delay"),
    ("drop_parameters", "The default is a list of some 50 names, in docs/settings.md"),
];

const HEAD: &str = "\
# Settings of freshet. A line `#key = value` shows a default, or an example where there is none: remove the `#` to
# set it. Flags win over environment variables (FRESHET_DELAY=2), and both win over this file. `freshet config` prints
# what holds and where it comes from; docs/settings.md explains more.
";

const SITE: &str = "
# Settings for one site and its subdomains go into a section of its own, at the end of this file:
#
#   [site.\"example.org\"]
#   delay = 5                                    # replaces `delay` of [crawl]
#   scope = \"prefix\"                             # replaces `scope` of [crawl]
#   include = ['/news/']                         # replaces `include` of [crawl]
#   exclude = ['/archive/']                      # added to `exclude` of [crawl]
#   budget = 100                                 # most requests to one host in a cycle
#   user_agent = \"my-crawler/1.0\"                # replaces the user agent
#   headers = { Accept-Language = \"en\" }         # sent with every request; `$NAME` stands for a variable
#   changed = \"divergence > 0.02\"                # replaces `changed` of [change]
#   ignore = [\".visitors-now\"]                   # added to `ignore` of [change]
#   only = [\"main\"]                              # added to `only` of [change]
#   ignore_text = ['\\d+ visitors']               # added to `ignore_text` of [change]
";

/// The text of the file.
pub(crate) fn template() -> Result<String, toml::ser::Error> {
    let defaults = toml::Value::try_from(Given::from(Given::default().settle()))?;
    let default = |section: &str, key: &str| defaults.get(section)?.get(key);
    let store = defaults.get("store").map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{HEAD}\n# The store: one SQLite file\n#store = {store}\n");
    for (section, keys, meanings, about) in [
        (
            "crawl",
            CrawlGiven::KEYS,
            CrawlGiven::MEANINGS,
            "politeness, scope, budget, and the order of visits",
        ),
        (
            "limits",
            LimitsGiven::KEYS,
            LimitsGiven::MEANINGS,
            "how much is taken of an answer, a page, a host",
        ),
        ("change", ChangeGiven::KEYS, ChangeGiven::MEANINGS, "when a page has changed, and how far"),
        (
            "search",
            SearchGiven::KEYS,
            SearchGiven::MEANINGS,
            "what people search for, and how results are ranked",
        ),
        (
            "serve",
            ServeGiven::KEYS,
            ServeGiven::MEANINGS,
            "where the dashboard listens, and who may look at it",
        ),
    ] {
        text += &format!("\n# --- {about}\n[{section}]\n");
        for (key, meaning) in keys.iter().zip(meanings) {
            text += &setting(key, meaning, default(section, key));
        }
    }
    Ok(text + SITE)
}

/// The meaning of a setting, and the line that sets it.
fn setting(key: &str, meaning: &str, default: Option<&toml::Value>) -> String {
    let meaning = meaning.trim();
    // The default stands in the line itself; where there is none, the text says what happens without.
    let meaning = match meaning.rsplit_once(" [default: ") {
        Some((meaning, _)) if default.is_some() => meaning.to_owned(),
        Some((meaning, without)) => format!("{meaning}; not set: {}", without.trim_end_matches(']')),
        None => meaning.to_owned(),
    };
    if let Some((_, why)) = NAMED_ONLY.iter().find(|(name, _)| *name == key) {
        return comment(&format!("`{key}`: {meaning}. {why}")) + "\n";
    }
    let example = EXAMPLES.iter().find(|(name, _)| *name == key).map(|(_, example)| (*example).to_owned());
    let value = match default {
        // `1.0` is read as well as `1`, but the documents say `1`.
        Some(toml::Value::Float(number)) => number.to_string(),
        Some(value) => value.to_string(),
        None => example.unwrap_or_default(),
    };
    format!("{}#{key} = {value}\n\n", comment(&meaning))
}

/// A text as lines of a comment.
fn comment(text: &str) -> String {
    let mut lines = vec!["#".to_owned()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("# {word}")),
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::{Settings, file};
    use super::*;

    fn parsed(text: &str) -> toml::Value {
        let given = file::parse("freshet.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Settings::of(given.clone()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        toml::Value::try_from(Given::from(given.settle())).unwrap()
    }

    /// The settings of the template: section, key and place of its line.
    fn settings(text: &str) -> Vec<(String, String, usize)> {
        let (mut section, mut found) = (String::new(), Vec::new());
        for (place, line) in text.lines().enumerate() {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name.to_owned();
            }
            let key = line.strip_prefix('#').filter(|line| !line.starts_with([' ', '#']));
            if let Some((key, _)) = key.and_then(|line| line.split_once(" = ")) {
                found.push((section.clone(), key.to_owned(), place));
            }
        }
        found
    }

    fn without_mark(text: &str, place: Option<usize>) -> String {
        let settings = settings(text);
        let lines = text.lines().enumerate().map(|(at, line)| {
            let is_setting = settings.iter().any(|(_, _, setting)| *setting == at);
            let is_chosen = is_setting && place.is_none_or(|place| place == at);
            format!("{}\n", if is_chosen { line.trim_start_matches('#') } else { line })
        });
        lines.collect()
    }

    #[test]
    fn the_file_as_it_is_written_changes_nothing() {
        assert_eq!(parsed(&template().unwrap()), parsed(""));
    }

    #[test]
    fn any_line_can_be_uncommented_and_a_default_stays_the_default() {
        let text = template().unwrap();
        for (section, key, place) in settings(&text) {
            let uncommented = parsed(&without_mark(&text, Some(place)));
            let is_example = EXAMPLES.iter().any(|(example, _)| *example == key);
            assert_eq!(uncommented == parsed(""), !is_example, "[{section}] {key}");
        }
        parsed(&without_mark(&text, None));
    }

    #[test]
    fn every_key_is_there_once_with_its_meaning() {
        let text = template().unwrap();
        for (section, keys) in [
            ("crawl", CrawlGiven::KEYS),
            ("limits", LimitsGiven::KEYS),
            ("change", ChangeGiven::KEYS),
            ("search", SearchGiven::KEYS),
            ("serve", ServeGiven::KEYS),
        ] {
            for key in keys {
                let lines = settings(&text)
                    .iter()
                    .filter(|(at, name, _)| (at, name) == (&section.to_owned(), &(*key).to_owned()))
                    .count();
                let is_named =
                    NAMED_ONLY.iter().any(|(name, _)| name == key) && text.contains(&format!("# `{key}`: "));
                assert_eq!(lines + usize::from(is_named), 1, "[{section}] {key}\n{text}");
            }
        }
        let meanings = [
            CrawlGiven::MEANINGS,
            LimitsGiven::MEANINGS,
            ChangeGiven::MEANINGS,
            SearchGiven::MEANINGS,
            ServeGiven::MEANINGS,
        ];
        for meaning in meanings.concat() {
            assert!(!meaning.trim().is_empty(), "every setting has a doc comment, with `#[arg(skip)]` too");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 130), "{text}");
    }

    #[test]
    fn the_example_of_a_site_is_a_section_with_every_key() {
        let lines = SITE.lines().filter_map(|line| line.strip_prefix("#   "));
        let section: String = lines.map(|line| format!("{line}\n")).collect();
        let read = parsed(&section);
        let keys = read["site"]["example.org"].as_table().unwrap().len();
        assert_eq!(keys, section.lines().count() - 1, "{section}");
        // docs/settings.md has every key of a site, as another test checks.
        let document = include_str!("../../docs/settings.md");
        let table = document.lines().skip_while(|line| *line != "## `[site.\"example.org\"]`").skip(1);
        let rows = table.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| `"));
        assert_eq!(keys, rows.count());
    }
}
