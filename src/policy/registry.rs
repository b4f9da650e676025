//! The name on the command line → the policy.

use super::{BreadthFirst, Policy};

/// Every policy by its name.
pub fn all() -> Vec<Box<dyn Policy>> {
    vec![Box::new(BreadthFirst)]
}

/// The policy of that name, or the names there are.
pub fn find(name: &str) -> Result<Box<dyn Policy>, String> {
    let mut known = all();
    match known.iter().position(|policy| policy.name() == name) {
        Some(at) => Ok(known.swap_remove(at)),
        None => {
            let names: Vec<_> = known.iter().map(|policy| format!("`{}`", policy.name())).collect();
            Err(format!("there is no policy `{name}`; there is {}", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unknown_ones_listed() {
        for policy in all() {
            assert_eq!(find(policy.name()).map(|found| found.name()), Ok(policy.name()));
        }
        assert!(find("psychic").err().is_some_and(|error| error.contains("`breadth-first`")));
    }
}
