//! Table 1: the pages.

use std::collections::HashMap;

use super::printed;
use crate::dataset::Dataset;
use crate::reproduce::{Experiment, Numbers};

/// Counts days, pages and sites, beside the paper's.
pub(super) fn table_1(dataset: &Dataset, is_made_up: bool) -> Experiment {
    let mut sites: HashMap<&str, u32> = HashMap::new();
    let pages = || dataset.groups.iter().flat_map(|group| &group.pages);
    pages().filter(|page| !page.site.is_empty()).for_each(|page| *sites.entry(&page.site).or_default() += 1);
    let size = |size: Option<&u32>| size.map_or(printed::UNKNOWN, |size| f64::from(*size));
    let on_sites: u32 = sites.values().sum();
    // The first cycle is that of the first copy, which there is nothing to compare with.
    let days = dataset.groups.iter().map(|group| group.cycles.saturating_sub(1)).max().unwrap_or(0);
    let [least, most, mean] = printed::PAGES_A_SITE;
    let mut table = Numbers::new(["", "here", "the paper"]);
    table.row("cycles with a comparison (the paper: days)", [f64::from(days), f64::from(printed::DAYS)]);
    table.row("pages", [pages().count() as f64, f64::from(printed::PAGES)]);
    let count = if sites.is_empty() { printed::UNKNOWN } else { sites.len() as f64 };
    table.row("sites", [count, f64::from(printed::SITES)]);
    table.row("pages on a site, least", [size(sites.values().min()), least]);
    table.row("pages on a site, most", [size(sites.values().max()), most]);
    let own_mean = if sites.is_empty() { printed::UNKNOWN } else { f64::from(on_sites) / count };
    table.row("pages on a site, mean", [own_mean, mean]);
    let mut notes = vec![
        "the paper's BRDC'12 is published by its authors (footnote 2), but could not be had: none of its pages are here".to_owned(),
    ];
    if is_made_up {
        notes.push(
            "made-up pages: half of them never change, the others have log-normal rates with a median of one change in ten days and \
             σ = 1.5 (assumed). Sites have sizes of a bounded power law: the largest 40 times the mean, as in the paper, the smallest \
             1. Pages of a site are no more alike than others"
                .to_owned(),
        );
    }
    if sites.is_empty() {
        notes.push("-: the dataset names no sites".to_owned());
    }
    let title = "Table 1: the pages".to_owned();
    Experiment { name: "table-1", title, notes, tables: vec![table], figures: Vec::new() }
}
