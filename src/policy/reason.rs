//! Why a page has its score: a list of labelled values with their units.
//!
//! A policy lists the values that its score depends on. `plan` prints the labels, `why` the sentences, `--json` the keys, all
//! of them for any policy. A page's age, failures and weight are printed for every policy and are not listed here.

use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::estimate::Estimate;

/// The values that a score depends on, in the order in which they are printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reason(Vec<Fact>);

/// One of these values.
///
/// In `label` and `sentence` these places are filled in: `{}` the value with its unit, `{number}` the bare number, `{period}`
/// the time that one takes at this rate, `{low}` and `{high}` the bounds as bare numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The key in JSON, which stays the same from version to version. `None` leaves the value out of JSON.
    pub key: Option<&'static str>,
    /// A few words for the table of `plan`. Empty: `plan` leaves the value out.
    pub label: &'static str,
    /// A part of a sentence for `why`. Empty: `why` leaves the value out.
    pub sentence: &'static str,
    /// The value, in its unit.
    pub value: f64,
    /// Bounds that contain the true value 19 times out of 20, if they are known.
    pub bounds: Option<(f64, f64)>,
    /// The unit of the value.
    pub unit: Unit,
}

/// The unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Events a day; printed as a period: `every 3 d`.
    PerDay,
    /// A length of time in days.
    Days,
    /// A share or a probability, 0 to 1; printed as a percentage.
    Share,
    /// A bare number.
    Number,
    /// A term of a formula; printed as `name = value`, and gathered under `facts` in JSON.
    Term,
    /// True or false, as 1 or 0; only the label is printed.
    Flag,
}

impl Fact {
    /// A value with the same words in `plan` and `why`.
    pub fn new(key: &'static str, label: &'static str, value: f64, unit: Unit) -> Self {
        Self { key: Some(key), label, sentence: label, value, bounds: None, unit }
    }

    /// Other words for `why`.
    pub(crate) fn told_as(self, sentence: &'static str) -> Self {
        Self { sentence, ..self }
    }

    /// How often a page is taken to change.
    pub fn change_rate(estimate: Estimate) -> Self {
        Self {
            bounds: Some((estimate.low.get(), estimate.high.get())),
            ..Self::new("estimate", "changes {}", estimate.rate.get(), Unit::PerDay).told_as(
                "it is taken to change {} ({number} changes a day, from {low} to {high} 19 times out of 20)",
            )
        }
    }

    /// The probability that a page has changed since it was last seen.
    pub(crate) fn change_probability(probability: f64) -> Self {
        Self::new("chance", "{} sure to have changed", probability, Unit::Share)
            .told_as("it is {} sure to have changed since it was last seen")
    }

    /// The share of a page that is expected to differ from the copy.
    pub(crate) fn expected_divergence(divergence: f64) -> Self {
        Self::new("divergence", "{} of it expected to differ", divergence, Unit::Share)
            .told_as("about {} of it has changed since our copy")
    }

    /// The gain of a visit, in divergence × days.
    pub fn gain(days: f64) -> Self {
        let sentence = match days * SECONDS_PER_DAY {
            ..LITTLE_SECONDS => "there is little to gain from a visit now",
            _ => "a visit now is expected to gain {} of freshness",
        };
        Self::new("gain_days", "gains {}", days, Unit::Days).told_as(sentence)
    }

    /// The part of a gain that new pages make up, which the page is expected to link to; nothing if there is none.
    pub(crate) fn new_links(days: f64) -> Option<Self> {
        let fact = Self::new("new_links_gain_days", "", days, Unit::Days)
            .told_as("{} of that gain is for new pages that it is expected to link to");
        (days * SECONDS_PER_DAY >= LITTLE_SECONDS).then_some(fact)
    }

    /// The part of a gain that a feed has for the changes of other pages that it is expected to tell; nothing if there is none.
    pub(crate) fn feed(days: f64) -> Option<Self> {
        let fact = Self::new("feed_gain_days", "", days, Unit::Days)
            .told_as("{} of that gain is for changes of other pages that it is expected to tell");
        (days * SECONDS_PER_DAY >= LITTLE_SECONDS).then_some(fact)
    }

    /// The interval at which a page is visited, and when it is due: in `due_in` days, or by now if that is not above 0.
    pub fn interval(days: f64, due_in: f64) -> [Self; 2] {
        let interval =
            Self::new("interval_days", "due after {}", days, Unit::Days).told_as("it is visited every {}");
        let sentence = if due_in > 0.0 { "it is due in {}" } else { "it is due by now" };
        let due = Self { key: None, ..Self::new("", "", due_in, Unit::Days).told_as(sentence) };
        [interval, due]
    }

    /// Chance has a part in the score.
    pub fn drawn() -> Self {
        Self::new("drawn", "drawn", 1.0, Unit::Flag).told_as("")
    }

    /// A term of a formula, by its name.
    pub(crate) fn term(name: &'static str, value: f64) -> Self {
        Self::new(name, name, value, Unit::Term)
    }
}

impl Reason {
    /// The reason that these values are.
    pub fn of(facts: impl IntoIterator<Item = Fact>) -> Self {
        Self(facts.into_iter().collect())
    }

    /// All values.
    pub fn facts(&self) -> &[Fact] {
        &self.0
    }

    /// The value of this key.
    pub fn value(&self, key: &str) -> Option<f64> {
        self.0.iter().find(|fact| fact.key == Some(key)).map(|fact| fact.value)
    }
}

const SECONDS_PER_DAY: f64 = 86_400.0;
/// A gain below this is not worth a number: it is printed as milliseconds.
const LITTLE_SECONDS: f64 = 1.0;

/// Keys that are in the JSON of every policy, `null` where the policy has no such value: programs that read them may rely on
/// it. Other keys are there if the policy lists them.
const ALWAYS: [&str; 8] = [
    "estimate",
    "chance",
    "replaced_a_day",
    "haste",
    "divergence",
    "gain_days",
    "visits_a_day",
    "interval_days",
];
const DRAWN: &str = "drawn";

impl utoipa::PartialSchema for Reason {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::ObjectBuilder;
        use utoipa::openapi::schema::AdditionalProperties;
        let values = ObjectBuilder::new().additional_properties(Some(AdditionalProperties::FreeForm(true)));
        values.description(Some("The values behind a score, by their names; each policy has its own")).into()
    }
}

impl utoipa::ToSchema for Reason {}

impl Serialize for Reason {
    /// An object with a value for each key. A value with bounds is an object of its own: `rate`, `low`, `high`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for key in ALWAYS.iter().filter(|key| self.value(key).is_none()) {
            map.serialize_entry(key, &None::<f64>)?;
        }
        let is_drawn = self.value(DRAWN).is_some_and(|value| value != 0.0);
        map.serialize_entry(DRAWN, &is_drawn)?;
        for fact in self.0.iter().filter(|fact| fact.unit != Unit::Term) {
            match (fact.key, fact.bounds) {
                (None | Some(DRAWN), _) => {}
                (Some(key), Some((low, high))) => {
                    map.serialize_entry(
                        key,
                        &serde_json::json!({ "rate": fact.value, "low": low, "high": high }),
                    )?;
                }
                (Some(key), None) if fact.unit == Unit::Flag => {
                    map.serialize_entry(key, &(fact.value != 0.0))?
                }
                (Some(key), None) => map.serialize_entry(key, &fact.value)?,
            }
        }
        let terms: std::collections::BTreeMap<_, _> = self
            .0
            .iter()
            .filter(|fact| fact.unit == Unit::Term)
            .filter_map(|fact| Some((fact.key?, fact.value)))
            .collect();
        if !terms.is_empty() {
            map.serialize_entry("facts", &terms)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_has_the_standing_keys_and_those_of_the_policy() {
        let reason = Reason::of([
            Fact::change_rate(Estimate::new(0.5, 0.25, 2.0)),
            Fact::new("surprise", "surprise {}", 3.0, Unit::Number),
            Fact::term("X", 2.0),
            Fact::drawn(),
        ]);
        let expected = json!({
            "estimate": { "rate": 0.5, "low": 0.25, "high": 2.0 },
            "chance": null, "replaced_a_day": null, "haste": null, "divergence": null, "gain_days": null,
            "visits_a_day": null, "interval_days": null, "surprise": 3.0, "facts": { "X": 2.0 }, "drawn": true,
        });
        assert_eq!(serde_json::to_value(&reason).expect("JSON"), expected);
        assert_eq!(reason.value("surprise"), Some(3.0));
    }
}
