//! Settings as flags of commands that use a part of them: the rest are no flags there, so none is taken without effect.

use clap::{ArgMatches, Args, Command, FromArgMatches, parser::ValueSource};

use crate::settings::Given;

/// Declares the flags of a command: the settings that it uses, by their keys.
macro_rules! flags {
    ($($(#[$about:meta])* $name:ident: $keys:expr;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name(pub Given);

        impl Args for $name {
            fn augment_args(command: Command) -> Command {
                with_flags(command, $keys)
            }

            fn augment_args_for_update(command: Command) -> Command {
                with_flags(command, $keys)
            }
        }

        impl FromArgMatches for $name {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                given(matches, $keys).map(Self)
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                self.0 = given(matches, $keys)?;
                Ok(())
            }
        }
    )*};
}

flags! {
    /// What decides the plan of a cycle: order, budget, pace of the hosts, and scope.
    PlanFlags: &[
        "delay", "max_crawl_delay", "scope", "include", "exclude", "max_depth", "sitemaps", "budget",
        "objective", "policy", "discover", "threshold", "weight", "interval", "risk", "learning",
        "tau", "queries", "queries_from", "param", "score", "attention",
    ];
    /// What people search for, and how results are ranked.
    QueryFlags: &["queries", "queries_from", "param", "score", "attention"];
    /// How results are ranked, and how far down searchers look.
    RankFlags: &["score", "attention"];
    /// How results are ranked.
    ScoreFlags: &["score"];
    /// What decides how one page is fetched, read, and its links judged.
    CheckFlags: &[
        "delay", "max_crawl_delay", "patience", "contact", "follow_nofollow", "scope", "include", "exclude", "max_depth",
        "allow_private", "fragment_words",
    ];
    /// What decides which links are followed.
    LinkFlags: &["follow_nofollow", "scope", "include", "exclude", "max_depth"];
    /// What decides how pages are fetched.
    FetchFlags: &["delay", "max_crawl_delay", "patience", "contact", "allow_private"];
}

/// A command that has the flags of every setting.
fn every_flag() -> Command {
    Given::augment_args(Command::new("settings").no_binary_name(true))
}

fn with_flags(command: Command, keys: &[&str]) -> Command {
    let every = every_flag();
    let wanted = every.get_arguments().filter(|argument| keys.contains(&argument.get_id().as_str()));
    command.args(wanted)
}

/// The settings given by the flags that are there, and by the environment.
fn given(matches: &ArgMatches, keys: &[&str]) -> Result<Given, clap::Error> {
    let mut line: Vec<std::ffi::OsString> = Vec::new();
    for argument in every_flag().get_arguments() {
        let (id, Some(long)) = (argument.get_id().as_str(), argument.get_long()) else { continue };
        let is_given = keys.contains(&id) && matches.value_source(id) == Some(ValueSource::CommandLine);
        if is_given && argument.get_action().takes_values() {
            for value in matches.get_raw(id).into_iter().flatten() {
                let mut flag = std::ffi::OsString::from(format!("--{long}="));
                flag.push(value);
                line.push(flag);
            }
        } else if is_given {
            line.push(format!("--{long}").into());
        }
    }
    Given::from_arg_matches(&every_flag().try_get_matches_from(line)?)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::{Cli, Command as Called};

    #[test]
    fn every_key_of_a_list_is_a_flag() {
        let cli = Cli::command();
        for (name, many) in [("plan", 22), ("why", 22), ("check", 11), ("compare", 5)] {
            let settings = every_flag();
            let is_setting = |id: &str| settings.get_arguments().any(|setting| setting.get_id() == id);
            let command = cli.find_subcommand(name).unwrap();
            let flags = command.get_arguments().filter(|argument| is_setting(argument.get_id().as_str()));
            assert_eq!(flags.count(), many, "{name}");
        }
    }

    #[test]
    fn flags_of_a_part_are_read_like_those_of_all() {
        let line =
            ["freshet", "check", "http://a.example/", "--exclude", "x", "--exclude=-y", "--ignore-nofollow"];
        let more = ["--delay", "0.5", "--allow-private=10.0.0.0/8,::1", "--max-depth=3"];
        let line = line.into_iter().chain(more);
        let Called::Check(arguments) = Cli::try_parse_from(line).unwrap().command else { panic!("check") };
        let crawl = &arguments.flags.0.crawl;
        assert_eq!(crawl.exclude.as_deref(), Some(&["x".to_owned(), "-y".to_owned()][..]));
        assert_eq!((crawl.follow_nofollow, crawl.max_depth), (Some(true), Some(3)));
        assert_eq!(crawl.delay.map(|delay| delay.get()), Some(0.5));
        assert_eq!(crawl.allow_private.as_ref().map(Vec::len), Some(2));
        assert!(crawl.budget.is_none() && crawl.scope.is_none());
        let bare = Cli::try_parse_from(["freshet", "check", "http://a.example/", "--allow-private"]).unwrap();
        let Called::Check(arguments) = bare.command else { panic!("check") };
        assert_eq!(arguments.flags.0.crawl.allow_private.as_ref().map(Vec::len), Some(1));
        for command in ["check", "compare"] {
            let refused = Cli::try_parse_from(["freshet", command, "a", "b", "--budget", "3"]);
            assert_eq!(refused.unwrap_err().kind(), clap::error::ErrorKind::UnknownArgument);
        }
    }
}
