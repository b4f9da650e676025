//! Signals of sites, drawn as tables.

use crate::look::signals::SiteSignals;

use super::{Align, Screen, Shorten, Table, number};

/// What each site tells and how far that can be trusted, a row a kind. `lists`: also its sitemap files, a row each; those whose dates are
/// not believed are named in any case.
pub fn signals(sites: &[SiteSignals], lists: bool, screen: &Screen) -> String {
    let mut text = trust(sites, screen);
    let files: Vec<_> =
        sites.iter().flat_map(|site| &site.lists).filter(|list| lists || list.flaw.is_some()).collect();
    if !files.is_empty() {
        let mut table = Table::new(&[
            ("sitemap file", Align::Left),
            ("entries", Align::Right),
            ("asked for", Align::Left),
            ("came", Align::Left),
            ("its dates", Align::Left),
        ])
        .shorten("sitemap file", Shorten::Middle)
        .leave_out(&["came", "asked for", "entries"]);
        for list in files {
            let dates = list.flaw_in_words.map_or("-".to_owned(), |flaw| format!("{flaw}: not believed"));
            table.row([
                list.url.clone(),
                number(list.entries),
                screen.time_or_dash(Some(list.read_at)),
                screen.time_or_dash(Some(list.fetched_at)),
                dates,
            ]);
        }
        text += "\n";
        text += &table.fitted(screen.width);
    }
    text
}

fn trust(sites: &[SiteSignals], screen: &Screen) -> String {
    if sites.iter().all(|site| site.kinds.is_empty()) {
        return "no site has told of a change yet\n".to_owned();
    }
    let mut table = Table::new(&[
        ("signals of", Align::Left),
        ("kind", Align::Left),
        ("all", Align::Right),
        ("unused", Align::Right),
        ("how far they can be trusted", Align::Left),
    ])
    .shorten("signals of", Shorten::Middle)
    .leave_out(&["unused", "all"]);
    for site in sites {
        for kind in &site.kinds {
            table.row([
                site.host.clone(),
                kind.trust.kind.to_owned(),
                number(kind.signals),
                number(kind.unused),
                kind.trust.in_words(),
            ]);
        }
    }
    table.fitted(screen.width)
}
