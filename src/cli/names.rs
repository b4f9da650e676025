//! Names that flags take: shells complete them, and an error suggests the nearest.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, ValueHint};

use freshet::crawl::weights::WeightBy;
use freshet::estimate::registry::{self as estimators, EstimatorSettings};
use freshet::fetch::visit::Outcome;
use freshet::look::pages::states;
use freshet::policy::registry;
use freshet::quality::scoring::Scoring;
use freshet::reproduce::registry::PAPERS;

use super::study::ALL_PAPERS;
use crate::settings::{Aim, Written};

/// Reads the state of a page.
pub(super) fn page_states() -> PossibleValuesParser {
    PossibleValuesParser::new(states())
}

/// Reads how a visit ended.
pub(super) fn outcomes() -> PossibleValuesParser {
    PossibleValuesParser::new(Outcome::codes())
}

/// Reads a policy. Its name may have an estimator behind it, and a formula is a policy too, so any text is taken here.
pub(crate) fn policies() -> OpenNames {
    let names = registry::ALL.iter().map(|row| PossibleValue::new(row.name).help(row.about));
    let prefixes = [registry::FORMULA, registry::EVOLVED].map(PossibleValue::new);
    OpenNames(names.chain(prefixes).collect())
}

/// Reads policies to compare, or the names of several.
pub(super) fn compared_policies() -> OpenNames {
    let mut names = policies();
    names.0.extend(["all", "oracles"].map(PossibleValue::new));
    names
}

/// Reads the name of an estimator, or `all`.
pub(super) fn estimator_names() -> OpenNames {
    let known = estimators::all(&EstimatorSettings::default());
    let names = known.iter().map(|estimator| PossibleValue::new(estimator.name().to_owned()));
    OpenNames(names.chain([PossibleValue::new("all")]).collect())
}

/// Reads the aim of the visits.
pub(crate) fn aims() -> impl TypedValueParser<Value = Written<Aim>> {
    PossibleValuesParser::new(registry::AIMS.map(|(name, _)| name)).try_map(|name| name.parse())
}

/// Reads where the importance of pages comes from.
pub(crate) fn weights() -> impl TypedValueParser<Value = Written<WeightBy>> {
    PossibleValuesParser::new(WeightBy::ALL.map(WeightBy::name)).try_map(|name| name.parse())
}

/// Reads how results are ranked.
pub(crate) fn scorings() -> impl TypedValueParser<Value = Written<Scoring>> {
    PossibleValuesParser::new(Scoring::ALL.map(Scoring::name)).try_map(|name| name.parse())
}

/// Reads the name of a paper, or `all`.
pub(super) fn papers() -> PossibleValuesParser {
    let rows = PAPERS.into_iter().map(|row| PossibleValue::new(row.name).help(row.about));
    let all = PossibleValue::new(ALL_PAPERS)
        .help("Every paper on made-up pages, with a page of all plots and tables");
    PossibleValuesParser::new(rows.chain([all]).collect::<Vec<_>>())
}

/// Any text, with names that a shell can complete.
#[derive(Clone)]
pub(crate) struct OpenNames(Vec<PossibleValue>);

impl TypedValueParser for OpenNames {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().cloned()))
    }
}

/// The argument with a hint for shells, by the name of its value.
pub(super) fn with_hint(argument: Arg) -> Arg {
    let is_set = argument.get_value_hint() != ValueHint::Unknown;
    let name = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let name = name.unwrap_or_else(|| argument.get_id().as_str().to_uppercase());
    let hint = match name.as_str() {
        _ if is_set => return argument,
        "FILE" | "PATH" => ValueHint::FilePath,
        "DIR" => ValueHint::DirPath,
        "DATASET" | "SOURCE" => ValueHint::AnyPath,
        "CMD" => ValueHint::CommandString,
        "URL" => ValueHint::Url,
        "HOST" => ValueHint::Hostname,
        _ => return argument,
    };
    // A list of values is better than a hint.
    if argument.get_possible_values().is_empty() { argument.value_hint(hint) } else { argument }
}
