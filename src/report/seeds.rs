//! Seeds with their state, drawn as a table.

use crate::look::seeds::SeedStatus;

use super::{Align, Screen, Shorten, Table, number};

/// The seeds, a row each.
pub fn seeds(seeds: &[SeedStatus], screen: &Screen) -> String {
    let mut table = Table::new(&[
        ("state", Align::Left),
        ("pages", Align::Right),
        ("alive", Align::Right),
        ("new", Align::Right),
        ("failing", Align::Right),
        ("gone", Align::Right),
        ("last visit", Align::Left),
        ("weight", Align::Right),
        ("depth", Align::Right),
        ("scope", Align::Left),
        ("seed", Align::Left),
    ])
    .shorten("seed", Shorten::Middle)
    .leave_out(&["weight", "depth", "scope", "alive", "new", "last visit"]);
    for seed in seeds {
        let note = match &seed.adopted_by {
            Some(by) => format!(" (moved from {by})"),
            None if !seed.in_file => " (this page alone)".to_owned(),
            None => String::new(),
        };
        table.row([
            seed.state.name().to_owned(),
            number(seed.pages.known),
            number(seed.pages.alive),
            number(seed.pages.new),
            number(seed.pages.failing),
            number(seed.pages.gone),
            screen.time_or_dash(seed.last_visit_at),
            seed.weight.to_string(),
            seed.max_depth.map_or("-".to_owned(), |depth| depth.to_string()),
            seed.scope.map_or("-".to_owned(), |scope| scope.to_string()),
            format!("{}{note}", seed.url),
        ]);
    }
    table.fitted(screen.width)
}
