//! Names that nothing listens to: misspelt variables of the environment, and sections of sites that match no host.

use freshet::near_names;
use freshet::page::{Host, Sites};

use super::{Settings, file_in_use};
use crate::cli::Global;

/// Variables with this prefix are ours.
const PREFIX: &str = "FRESHET_";

/// A warning for each variable of the environment that looks like a setting and is none. A variable that the settings file
/// puts into a header is in use.
pub(crate) fn unknown_variables(
    global: &Global,
    known: &[String],
    present: impl Iterator<Item = String>,
) -> Vec<String> {
    let ours = present.filter(|name| name.starts_with(PREFIX) && !known.contains(name));
    let mut unknown: Vec<String> = ours.collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    unknown.sort();
    let file = file_in_use(global).and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    unknown.retain(|name| !file.contains(&format!("${name}")) && !file.contains(&format!("${{{name}}}")));
    unknown.iter().map(|name| unknown_variable(name, known)).collect()
}

fn unknown_variable(name: &str, known: &[String]) -> String {
    // All names begin alike, so only the rest tells how near they are.
    let rest = |name: &'_ str| name.strip_prefix(PREFIX).unwrap_or_default().to_owned();
    let known: Vec<String> = known.iter().map(|name| rest(name)).collect();
    match near_names::near(&rest(name), known.iter().map(String::as_str)).first() {
        Some(near) => {
            format!("the environment variable `{name}` is no setting; did you mean `{PREFIX}{near}`?")
        }
        None => format!("the environment variable `{name}` is no setting; docs/settings.md lists them"),
    }
}

impl Settings {
    /// A warning for each section of a site that matches none of these hosts.
    pub(crate) fn unmatched_sites(&self, hosts: &[Host]) -> Vec<String> {
        let unmatched = self.sections.site.keys().filter(|site| {
            let Some(key) = freshet::page::SiteKey::parse(site) else { return false };
            let mut one = Sites::default();
            one.add(key.site(), ());
            !hosts.iter().any(|host| one.of(host.name(), Some(host.port())).is_some())
        });
        let warning = |site: &String| {
            let instead = match near_names::near(site, hosts.iter().map(Host::name)).first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`freshet status` lists the hosts".to_owned(),
            };
            format!("[site.\"{site}\"] matches no seed and no known host; {instead}")
        };
        unmatched.map(warning).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    #[test]
    fn a_misspelt_variable_is_named_with_the_right_one() {
        let known = ["FRESHET_DELAY".to_owned(), "FRESHET_BUDGET".to_owned()];
        assert!(unknown_variable("FRESHET_DELYA", &known).ends_with("did you mean `FRESHET_DELAY`?"));
        assert!(unknown_variable("FRESHET_KEY_OF_A_SITE", &known).ends_with("lists them"));
    }

    #[test]
    fn a_section_matches_a_host_its_subdomains_and_its_port() {
        let text =
            "[site.'gazzette.example']\n[site.'b.example']\n[site.'c.example:81']\n[site.'*.d.example']\n";
        let settings = Settings::of(file::parse("freshet.toml", text).unwrap()).unwrap();
        let hosts =
            ["https://gazette.example", "http://www.b.example", "http://c.example", "http://x.d.example"];
        let hosts: Vec<Host> = hosts.iter().filter_map(|host| Host::parse(host)).collect();
        let told = settings.unmatched_sites(&hosts);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("\"c.example:81\"") && told[0].contains("`c.example`"), "{told:?}");
        assert!(
            told[1].contains("\"gazzette.example\"") && told[1].contains("`gazette.example`"),
            "{told:?}"
        );
    }
}
