//! Names that a misspelt one may mean, so that an error can ask "did you mean".

/// How alike two names must be, from 0 to 1, by Jaro and Winkler: `delya` is 0.96 from `delay`, `gone` 0.67 from `new`.
const LEAST_LIKENESS: f64 = 0.82;
/// Most names to suggest.
const MOST: usize = 3;

/// The known names that are most like this one, the nearest first; none if no name is like it.
pub fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let likeness = |other: &str| strsim::jaro_winkler(&name, &other.to_lowercase());
    let scored = known.into_iter().map(|other| (likeness(other), other));
    let mut near: Vec<(f64, &str)> = scored.filter(|(likeness, _)| *likeness >= LEAST_LIKENESS).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(MOST).map(|(_, other)| other).collect()
}

/// What to write in place of a name that is not known: `did you mean `a` or `b`?`, or all names if none is like it.
pub fn instead<'a>(name: &str, known: impl IntoIterator<Item = &'a str, IntoIter: Clone>) -> String {
    let known = known.into_iter();
    match near(name, known.clone()).as_slice() {
        [] => format!("there is {}", quoted(known, ", ")),
        near => format!("did you mean {}?", quoted(near.iter().copied(), " or ")),
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>, between: &str) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first_and_all_names_only_if_none_is_near() {
        let known = ["longevity", "longevity-curve", "age", "uniform"];
        assert_eq!(near("longevty", known), ["longevity", "longevity-curve"]);
        assert_eq!(near("UNIFROM", known), ["uniform"]);
        assert_eq!(instead("ag", known), "did you mean `age`?");
        assert_eq!(instead("psychic", ["age", "uniform"]), "there is `age`, `uniform`");
    }
}
