//! Secrets of the operator: the headers of a site go where they are meant to go, and are printed nowhere.

use crate::support::operator::crawl;
use crate::support::{FAST, Freshet, Ran, Reply, Running, Site, links_page};
use std::time::Duration;

/// Runs a command with the variable `API_KEY`.
fn run_with_key(freshet: &Freshet, arguments: &[&str], key: &str) -> Ran {
    let mut command = freshet.command();
    command.args(arguments).env("API_KEY", key);
    Running::start(command).wait(Duration::from_secs(60))
}

#[test]
fn a_key_reaches_the_named_host_and_is_printed_nowhere() {
    let site = Site::with_hosts(2);
    site.page(
        "/",
        links_page("home", &["/a", &site.url_on(0, "/from-b"), &site.url_on(1, "/from-a")]).as_str(),
    );
    for path in ["/a", "/from-a", "/from-b"] {
        site.page(path, "words");
    }
    let freshet = Freshet::new();
    let section = format!("[site.\"{}\"]\nheaders = {{ X-Key = \"Bearer $API_KEY\" }}\n", site.origin(1));
    freshet.write("freshet.toml", section);
    let seeds = freshet.seeds(&[site.url_on(0, "/"), site.url_on(1, "/")]);
    let arguments = [&["crawl", "-vv", "--no-sitemaps", "--seeds", &seeds][..], &FAST].concat();
    let ran = run_with_key(&freshet, &arguments, "s3cret");
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    for hit in site.log().hits() {
        let expected = (hit.host == 1).then_some("Bearer s3cret");
        assert_eq!(hit.header("x-key"), expected, "{} on host {}", hit.path, hit.host);
    }
    assert!(site.log().on(1).asked("/a") && site.log().on(0).asked("/a"));
    let config = run_with_key(&freshet, &["config"], "s3cret");
    assert!(config.stdout.contains("X-Key = \"***\""), "{}", config.output());
    for printed in
        [ran.output(), config.output(), run_with_key(&freshet, &["--json", "config"], "s3cret").output()]
    {
        assert!(!printed.contains("s3cret"), "{printed}");
    }
}

#[test]
fn a_key_is_not_sent_in_the_clear_unless_the_section_says_so() {
    let site = Site::start();
    site.page("/", "words");
    let (_, address) = site.origin(0).split_once("://").map(|(s, a)| (s.to_owned(), a.to_owned())).unwrap();
    let (name, _) = address.rsplit_once(':').unwrap();
    for key in [name.to_owned(), address.clone(), format!("https://{address}"), format!("http://{name}")] {
        let freshet = Freshet::new();
        freshet.write("freshet.toml", format!("[site.\"{key}\"]\nheaders = {{ X-Key = \"s3cret\" }}\n"));
        site.clear_log();
        let ran = crawl(&freshet, &[site.url("/")], &["--delay", "0"]);
        assert!(site.log().asked("/"), "{}", ran.output());
        assert!(site.log().hits().iter().all(|hit| hit.header("x-key").is_none()), "{key}");
        assert!(
            ran.stderr.contains("are not sent here") && !ran.stderr.contains("s3cret"),
            "{}",
            ran.output()
        );
    }
}

#[test]
fn a_variable_that_is_missing_is_a_mistake_told_by_name() {
    let freshet = Freshet::new();
    freshet.write("freshet.toml", "[site.\"example.org\"]\nheaders = { X-Key = \"s3cret $NO_SUCH_KEY\" }\n");
    let ran = freshet.run(&["config"]);
    assert_eq!(ran.code, Some(2), "{}", ran.output());
    for said in ["[site.\"example.org\"]", "X-Key", "`NO_SUCH_KEY`"] {
        assert!(ran.stderr.contains(said), "{said}\n{}", ran.output());
    }
    assert!(!ran.stderr.contains("s3cret"), "{}", ran.output());
}

#[cfg(unix)]
#[test]
fn a_new_store_is_for_its_owner_alone_and_one_that_exists_keeps_its_mode() {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::{Arc, Mutex};

    let site = Site::start();
    let freshet = Freshet::new();
    let store = freshet.path("freshet.db");
    let modes = Arc::new(Mutex::new(BTreeMap::new()));
    let look = {
        let (modes, store) = (Arc::clone(&modes), store.clone());
        move || {
            for suffix in ["", "-wal", "-shm"] {
                let file = format!("{}{suffix}", store.display());
                if let Ok(found) = std::fs::metadata(file) {
                    modes.lock().unwrap().insert(suffix, found.permissions().mode() & 0o777);
                }
            }
        }
    };
    // The server looks while the crawl is under way: the files beside the store go when it ends.
    site.otherwise(move |_| {
        look();
        Reply::html("words")
    });
    let ran = crawl(&freshet, &[site.url("/")], &["--delay", "0"]);
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    assert_eq!(*modes.lock().unwrap(), BTreeMap::from([("", 0o600), ("-shm", 0o600), ("-wal", 0o600)]));
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o640)).unwrap();
    crawl(&freshet, &[site.url("/")], &["--delay", "0"]);
    assert_eq!(*modes.lock().unwrap(), BTreeMap::from([("", 0o640), ("-shm", 0o640), ("-wal", 0o640)]));
}
