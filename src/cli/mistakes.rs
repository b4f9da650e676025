//! What clap finds wrong with a command line, in the words used for the settings file, and with the repair.

use std::error::Error as _;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use freshet::near_names;

use super::{Cli, groups};
use crate::settings;

/// The mistake in our words; `None` if clap says it well.
pub(super) fn in_our_words(error: &clap::Error) -> Option<String> {
    match error.kind() {
        ErrorKind::ValueValidation => wrong_value(error),
        ErrorKind::InvalidValue => wrong_name(error),
        ErrorKind::UnknownArgument => flag_of_others(error),
        _ => None,
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    }
}

/// A value that its parser refused: the setting, the value, the rule.
fn wrong_value(error: &clap::Error) -> Option<String> {
    let argument = text(error, ContextKind::InvalidArg)?;
    let name = name_of(argument);
    let rule = settings::in_words(argument, &error.source()?.to_string());
    Some(settings::said_of(&name, text(error, ContextKind::InvalidValue)?, &rule))
}

/// A value that is none of the names there are: the names that may be meant.
fn wrong_name(error: &clap::Error) -> Option<String> {
    let name = name_of(text(error, ContextKind::InvalidArg)?);
    let value = text(error, ContextKind::InvalidValue).filter(|value| !value.is_empty())?;
    let Some(ContextValue::Strings(names)) = error.get(ContextKind::ValidValue) else { return None };
    let instead = near_names::instead(value, names.iter().map(String::as_str));
    Some(settings::said_of(&name, value, &instead))
}

/// The key of a setting, or the flag, of an argument such as `--max-depth <N>`.
fn name_of(argument: &str) -> String {
    let flag = argument.split([' ', '=', '[']).next().unwrap_or_default();
    let key = flag.trim_start_matches('-').replace('-', "_");
    if settings::is_key(&key) { key } else { flag.to_owned() }
}

/// A flag that other commands have.
fn flag_of_others(error: &clap::Error) -> Option<String> {
    let flag = text(error, ContextKind::InvalidArg)?;
    let long = flag.strip_prefix("--")?.split('=').next()?;
    let cli = Cli::command();
    let has =
        |command: &clap::Command| command.get_arguments().any(|argument| argument.get_long() == Some(long));
    let others: Vec<String> = groups::names()
        .filter(|name| cli.find_subcommand(name).is_some_and(has))
        .map(|name| format!("`{name}`"))
        .collect();
    match others.as_slice() {
        [] => None,
        others => {
            let others = others.join(", ");
            Some(format!(
                "`--{long}` has no effect on this command, so it is not taken\nhint: it is a flag of {others}"
            ))
        }
    }
}
