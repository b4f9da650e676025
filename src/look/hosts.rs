//! Hosts that people name, and whether the store has them.

use crate::near_names::near;
use crate::store::Store;

use super::LookError;
use super::changes::WantedHost;

/// Checks that the store has a host of that name; `named` is how it was written.
pub fn must_be_known(store: &mut dyn Store, wanted: &WantedHost, named: &str) -> Result<(), LookError> {
    let hosts = store.hosts()?;
    if hosts.iter().any(|host| wanted.has(host.report.host.as_str())) {
        return Ok(());
    }
    let written = |host: &crate::page::Host| match named.contains("://") {
        true => host.as_str().to_owned(),
        false => host.as_str().split_once("://").map_or(host.name(), |(_, rest)| rest).to_owned(),
    };
    let known: Vec<String> = hosts.iter().map(|host| written(&host.report.host)).collect();
    let near = near(named, known.iter().map(String::as_str));
    let near = near.into_iter().map(str::to_owned).collect();
    Err(LookError::UnknownHost { named: named.to_owned(), near })
}
