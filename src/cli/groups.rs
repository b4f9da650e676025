//! `freshet --help`: commands grouped by what people want to do, as git does.

use clap::Command;

/// The groups, and their commands in the order of the help. A test checks that every command is in one of them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Gather pages", &["crawl", "monitor"]),
    (
        "Look at the collection",
        &[
            "status", "report", "serve", "pages", "search", "changes", "log", "show", "diff", "history",
            "links", "signals", "plan", "why", "check",
        ],
    ),
    (
        "Study changes and policies",
        &["compare", "estimate", "quality", "rates", "simulate", "evolve", "reproduce", "export", "import"],
    ),
    ("Manage the collection", &["seeds", "ping", "forget", "store"]),
    ("Play", &["demo", "web", "score"]),
    ("Set up", &["init", "config", "completions", "man", "help"]),
];

/// Width of the column of names.
const NAME_WIDTH: usize = 13;
/// Narrowest column of descriptions.
const LEAST_WIDTH: usize = 30;

/// The commands, in the order of the help.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.into_iter().flat_map(|(_, names)| names.iter().copied())
}

/// The command with its subcommands in groups, for a terminal with this number of columns.
pub(super) fn grouped(command: Command, columns: usize) -> Command {
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\
         Options:\n{{options}}{{after-help}}",
        listed(&command, columns)
    );
    command.help_template(template)
}

fn listed(command: &Command, columns: usize) -> String {
    let width = columns.saturating_sub(NAME_WIDTH + 2).max(LEAST_WIDTH);
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text += &format!("{heading}:\n");
        for name in names {
            let about = match command.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None => "Print this message or the help of a command".to_owned(),
            };
            let mut lines = wrapped(&about, width).into_iter();
            text += &format!("  {name:NAME_WIDTH$}{}\n", lines.next().unwrap_or_default());
            for line in lines {
                text += &format!("  {:NAME_WIDTH$}{line}\n", "");
            }
        }
        text.push('\n');
    }
    text
}

/// Lines of whole words, none longer than `width` unless a word is.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let cli = Cli::command();
        let mut commands: Vec<&str> = cli.get_subcommands().map(Command::get_name).collect();
        commands.push("help");
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        commands.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, commands);
    }

    #[test]
    fn lines_are_wrapped_at_words() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 4), ["incomprehensible"]);
        assert_eq!(wrapped("", 4), [""; 0]);
    }

    #[test]
    fn help_has_the_groups_and_the_flags() {
        let help = grouped(Cli::command(), 60).render_long_help().to_string();
        for said in
            ["Gather pages:\n  crawl        Crawl the seeds", "Options:\n", "--store <PATH>", "Examples:"]
        {
            assert!(help.contains(said), "{said}\n{help}");
        }
        let widest =
            help.lines().skip_while(|line| *line != "Gather pages:").take_while(|line| *line != "Options:");
        assert!(widest.clone().all(|line| line.chars().count() <= 60), "{help}");
    }
}
