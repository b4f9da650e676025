//! The types of single settings: each parses itself from text and knows the rule it keeps.
//!
//! A value that breaks its rule is refused where it is written: on the command line by clap, in the settings file by
//! serde. The error of a parser is the rule and the repair alone; the place and the value are added by the reader that
//! knows them ([`crate::cli::parse`] and [`super::file`]).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use freshet::change::changed_when::ChangedWhen;
use freshet::change::sketch::HashBytes;
use freshet::crawl::weights::WeightBy;
use freshet::estimate::online::Damping;
use freshet::fetch::LEAST_RATE;
use freshet::fetch::limits::{AddressRange, AddressRules};
use freshet::near_names;
use freshet::policy::registry;
use freshet::quality::attention::Attention;
use freshet::quality::scoring::Scoring;
use freshet::schedule::calendar::parse_time_of_day;
use freshet::unique::ScopeKind;

use super::when;

/// Declares number types: the name, the number inside, the check, and the rule in words.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident($number:ty): $keeps:expr, $rule:literal;)*) => {$(
        $(#[$doc])*
        // Defaults are made directly; every other number passes `new`.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
        #[serde(transparent)]
        pub(crate) struct $name(pub(super) $number);

        impl $name {
            /// The number as this type, if it keeps the rule.
            pub(crate) fn new(number: $number) -> Result<Self, String> {
                let keeps: fn(&$number) -> bool = $keeps;
                if keeps(&number) { Ok(Self(number)) } else { Err($rule.to_owned()) }
            }

            /// The number.
            pub(crate) fn get(self) -> $number {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::new(text.parse().map_err(|_| $rule.to_owned())?)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let number = <$number>::deserialize(from).map_err(|_| D::Error::custom($rule))?;
                Self::new(number).map_err(D::Error::custom)
            }
        }
    )*};
}

numbers! {
    /// Requests a second; 0 means no limit.
    RequestRate(f64): |number| *number == 0.0 || (LEAST_RATE..=1e9).contains(number), "it must be 0 for no limit, or a number of requests per second from 0.000001 to 1000000000";
    /// Seconds; 0 may have a meaning of its own.
    Amount(f64): |number| (0.0..=1e9).contains(number), "it must be a number of seconds from 0 to 1000000000, and can't be negative";
    /// A time limit in seconds.
    LimitSeconds(f64): |number| *number > 0.0 && *number <= 1e9, "it must be a number of seconds, more than 0";
    /// A share of a whole.
    Share(f64): |number| (0.0..=1.0).contains(number), "it must be a share from 0 to 1, such as 0.2";
    /// The least score of a page that is visited again.
    Threshold(f64): |number| number.is_finite() && *number >= 0.0, "it must be a number, 0 or more";
    /// ρ of Olston & Pandey 2008, §4.5.
    Risk(f64): |number| (1.0..=1e6).contains(number), "it must be a number from 1 to 1000000";
    /// τ of `sbr` and `ebr` (Pandey & Olston 2005, §6.1).
    Tau(f64): |number| (0.0..=1.0).contains(number), "it must be a number from 0 to 1";
    /// γ of the estimator `sa`.
    Gamma(f64): |number| *number > 0.5 && *number <= 1.0, "it must be above 0.5 and at most 1, or it never settles";
    /// The power of the rank with which attention falls, as [`Attention::EXPONENTS`] allows it.
    AttentionExponent(f64): |number| Attention::EXPONENTS.contains(number), "it must be a number from 0 to 100";
    /// A number of requests, attempts or failures.
    Count(u32): |number| *number > 0, "it must be a whole number, 1 or more";
    /// A number of cycles or of requests in a cycle.
    LongCount(u64): |number| *number > 0, "it must be a whole number, 1 or more";
    /// Words in a fragment.
    FragmentWords(usize): |number| (1..=64).contains(number), "it must be a whole number from 1 to 64";
    /// Bytes of a fragment's hash that are kept.
    HashLength(u8): |number| matches!(number, 4 | 8), "it must be 4 or 8";
    /// Change profiles of a page.
    Profiles(usize): |number| (1..=32).contains(number), "it must be a whole number from 1 to 32";
}

impl HashLength {
    pub(crate) fn of(bytes: HashBytes) -> Self {
        Self(if bytes == HashBytes::Four { 4 } else { 8 })
    }

    pub(crate) fn hash_bytes(self) -> HashBytes {
        if self.get() == 4 { HashBytes::Four } else { HashBytes::Eight }
    }
}

impl Amount {
    /// The time that this number of seconds is.
    pub(crate) fn seconds(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

impl RequestRate {
    /// Requests a second; 0 means no limit.
    pub(crate) fn limit(self) -> Option<f64> {
        Some(self.get()).filter(|rate| *rate > 0.0)
    }
}

impl LimitSeconds {
    /// The time that this number of seconds is.
    pub(crate) fn seconds(self) -> Duration {
        Duration::from_secs_f64(self.get())
    }
}

/// Something that is written as text in the settings file.
pub(crate) trait FromText: Sized {
    /// Reads it; the error is the rule.
    fn from_text(text: &str) -> Result<Self, String>;
    /// Writes it so that it is read as the same.
    fn to_text(&self) -> String;
}

/// A value with the text that stands for it, so that `freshet config` prints what was written: `24h` stays `24h`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Written<T> {
    text: String,
    value: T,
}

impl<T: FromText> Written<T> {
    /// The value, with its usual text.
    pub(crate) fn new(value: T) -> Self {
        Self { text: value.to_text(), value }
    }
}

impl<T> Written<T> {
    /// The value.
    pub(crate) fn get(&self) -> &T {
        &self.value
    }
}

impl<T: FromText> FromStr for Written<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self { value: T::from_text(text)?, text: text.to_owned() })
    }
}

impl<T> Serialize for Written<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl<'de, T: FromText> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// A span of time above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeSpan(pub Duration);

impl TimeSpan {
    /// One day.
    pub(crate) const DAY: Self = Self(Duration::from_secs(86_400));

    /// The span in days.
    pub(crate) fn days(self) -> f64 {
        self.0.as_secs_f64() / 86_400.0
    }
}

impl FromText for TimeSpan {
    fn from_text(text: &str) -> Result<Self, String> {
        let span = when::duration(text).filter(|span| !span.is_zero()).map(Self);
        span.ok_or_else(|| "write a number above 0 and a unit: 30m, 12h, 1d, 2w".to_owned())
    }

    fn to_text(&self) -> String {
        match self.0.as_secs() {
            _ if self.0.subsec_nanos() > 0 => format!("{}s", self.0.as_secs_f64()),
            seconds if seconds % 86_400 == 0 => format!("{}d", seconds / 86_400),
            seconds if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
            seconds => format!("{seconds}s"),
        }
    }
}

/// Hour and minute, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeOfDay(pub u8, pub u8);

impl FromText for TimeOfDay {
    fn from_text(text: &str) -> Result<Self, String> {
        let time = parse_time_of_day(text).map(|(hour, minute)| Self(hour, minute));
        time.ok_or_else(|| "write a time of day, UTC, like `02:00`".to_owned())
    }

    fn to_text(&self) -> String {
        format!("{:02}:{:02}", self.0, self.1)
    }
}

impl FromText for WeightBy {
    fn from_text(text: &str) -> Result<Self, String> {
        Self::from_name(text).ok_or_else(|| near_names::instead(text, Self::ALL.map(Self::name)))
    }

    fn to_text(&self) -> String {
        self.name().to_owned()
    }
}

impl AttentionExponent {
    /// The attention that falls this way.
    pub(crate) fn attention(self) -> Attention {
        Attention::new(self.get()).unwrap_or_default()
    }
}

impl FromText for Scoring {
    fn from_text(text: &str) -> Result<Self, String> {
        Self::from_name(text).ok_or_else(|| near_names::instead(text, Self::ALL.map(Self::name)))
    }

    fn to_text(&self) -> String {
        self.name().to_owned()
    }
}

impl FromText for Damping {
    fn from_text(text: &str) -> Result<Self, String> {
        Self::from_name(text).ok_or_else(|| near_names::instead(text, Self::ALL.map(Self::name)))
    }

    fn to_text(&self) -> String {
        self.name().to_owned()
    }
}

impl FromText for ChangedWhen {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: freshet::change::changed_when::ChangedWhenError| error.to_string())
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}

impl FromText for AddressRange {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}

/// The aim of visits; it picks the policy if none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aim {
    name: &'static str,
    /// The policy that serves it.
    pub policy: &'static str,
}

impl Default for Aim {
    fn default() -> Self {
        Self { name: registry::DEFAULT_AIM, policy: registry::DEFAULT }
    }
}

impl FromText for Aim {
    fn from_text(text: &str) -> Result<Self, String> {
        let aim = registry::AIMS.iter().find(|(name, _)| *name == text);
        let aim = aim.map(|(name, policy)| Self { name, policy });
        aim.ok_or_else(|| near_names::instead(text, registry::AIMS.iter().map(|(name, _)| *name)))
    }

    fn to_text(&self) -> String {
        self.name.to_owned()
    }
}

/// Where site owners can reach the operator; blank means nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Contact(String);

impl Contact {
    /// The address, unless it is blank.
    pub(crate) fn get(&self) -> Option<&str> {
        Some(self.0.as_str()).filter(|text| !text.trim().is_empty())
    }
}

impl FromStr for Contact {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // It stands in brackets in the user agent.
        if text.chars().any(|letter| letter.is_control() || !letter.is_ascii() || "()".contains(letter)) {
            return Err("write a URL or mail address without brackets".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Contact {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Hashes in a sketch: a number, or `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SketchSize(pub Option<usize>);

impl FromStr for SketchSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "all" => Ok(Self(None)),
            number => match number.parse() {
                Ok(hashes) if hashes > 0 => Ok(Self(Some(hashes))),
                _ => Err("it must be a number from 1 up, or `all`".to_owned()),
            },
        }
    }
}

impl fmt::Display for SketchSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(hashes) => hashes.fmt(f),
            None => f.write_str("all"),
        }
    }
}

impl Serialize for SketchSize {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(hashes) => hashes.serialize(to),
            None => to.serialize_str("all"),
        }
    }
}

impl<'de> Deserialize<'de> for SketchSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum SketchForm {
            Number(i64),
            Word(String),
        }
        let text = match SketchForm::deserialize(from) {
            Ok(SketchForm::Number(number)) => number.to_string(),
            Ok(SketchForm::Word(word)) if word == "all" => word,
            _ => String::new(),
        };
        text.parse().map_err(D::Error::custom)
    }
}

/// Special addresses that may be reached: one part of `--allow-private=RANGE,…`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PrivateRange {
    /// Every address.
    Everything,
    /// None.
    Nothing,
    /// The addresses of a range.
    Range(Written<AddressRange>),
}

impl FromStr for PrivateRange {
    type Err = String;

    /// A bare `--allow-private` is `all`; the environment can say `1`, `true`, `false` or nothing as well.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" | "true" | "1" => Ok(Self::Everything),
            "false" | "0" | "" => Ok(Self::Nothing),
            range => range.parse().map(Self::Range),
        }
    }
}

/// `allow_private` in the file: `true`, `false` or a list of ranges.
pub(super) mod allow_private {
    use super::*;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum AllowPrivateForm {
        Switch(bool),
        Ranges(Vec<String>),
    }

    /// Writes the switch, or the ranges as they were given.
    pub(crate) fn serialize<S: Serializer>(
        ranges: &Option<Vec<PrivateRange>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match ranges.as_deref() {
            Some([PrivateRange::Everything]) => to.serialize_bool(true),
            None | Some([] | [PrivateRange::Nothing]) => to.serialize_bool(false),
            Some(ranges) => to.collect_seq(ranges.iter().map(|range| match range {
                PrivateRange::Everything => "all",
                PrivateRange::Nothing => "",
                PrivateRange::Range(range) => &range.text,
            })),
        }
    }

    /// Reads either form.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Vec<PrivateRange>>, D::Error> {
        let form = AllowPrivateForm::deserialize(from).map_err(|_| {
            D::Error::custom("write `true`, `false` or a list of ranges such as `10.0.0.0/8`")
        })?;
        let ranges = match form {
            AllowPrivateForm::Switch(true) => vec![PrivateRange::Everything],
            AllowPrivateForm::Switch(false) => vec![PrivateRange::Nothing],
            AllowPrivateForm::Ranges(texts) => {
                let ranges = texts.iter().map(|text| text.parse().map(PrivateRange::Range));
                ranges.collect::<Result<_, _>>().map_err(D::Error::custom)?
            }
        };
        Ok(Some(ranges))
    }
}

/// The addresses that may be reached. `all` and `false` can't stand beside others.
pub(super) fn address_rules(ranges: &[PrivateRange]) -> Result<AddressRules, String> {
    match ranges {
        [] | [PrivateRange::Nothing] => Ok(AddressRules::public()),
        [PrivateRange::Everything] => Ok(AddressRules::everything()),
        ranges => {
            let ranges = ranges.iter().map(|range| match range {
                PrivateRange::Range(range) => Ok(range.value),
                _ => Err("write either `all` or a list of ranges such as `10.0.0.0/8`".to_owned()),
            });
            ranges.collect::<Result<_, _>>().map(AddressRules::and_ranges)
        }
    }
}

/// Reads `--scope`, and lists its values in the help.
pub(super) fn scope_parser() -> impl TypedValueParser<Value = ScopeKind> {
    let kind = |name, about| PossibleValue::new(name).help(about);
    PossibleValuesParser::new([
        kind("prefix", "The seed's folder on its host"),
        kind("host", "The seed's host"),
        kind("domain", "The seed's registrable domain, by the public suffix list"),
        kind("any", "Every host"),
    ])
    .try_map(|name| name.parse::<ScopeKind>())
}
