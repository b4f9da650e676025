//! The papers by name: a row each. A paper is run by name, and `all` runs them in this order.

use super::{Effort, Reproduced, avrachenkov, gp4c, grimes_ford, longevity, user_centric};
use crate::dataset::Dataset;

/// Says why the experiments of a paper can't be made on a dataset, in words that follow its path.
pub type DatasetCheck = fn(&Dataset) -> Result<(), String>;

/// Runs a paper's experiments on the pages of a dataset, or on made-up ones, and says which step begins.
pub type PaperRun = fn(Effort, Option<&Dataset>, &mut dyn FnMut(&str)) -> Reproduced;

/// A paper whose experiments can be run again.
#[derive(Clone, Copy, Debug)]
pub struct PaperRow {
    /// The name on the command line and at the start of file names.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// For papers that also run on a dataset: what a dataset must have. `None`: made-up pages only.
    pub dataset: Option<DatasetCheck>,
    /// Are the words of a dataset's texts needed?
    pub words: bool,
    /// Runs its experiments.
    pub run: PaperRun,
}

/// Every paper; those that take longest come last.
pub const PAPERS: [PaperRow; 5] = [
    PaperRow {
        name: "avrachenkov",
        about: "Change rates estimated online, and the freshness they give (2020)",
        dataset: None,
        words: false,
        run: |effort, _, told| avrachenkov::run(effort, told),
    },
    PaperRow {
        name: "grimes-ford",
        about: "Estimates of new pages: edge cases, the first interval, and a prior of two intervals (2008)",
        dataset: Some(grimes_ford::usable),
        words: false,
        run: grimes_ford::run,
    },
    PaperRow {
        name: "longevity",
        about: "Lifetimes of fragments, and policies that use them against policies that count changes (Olston & Pandey 2008)",
        dataset: Some(watched_long_enough),
        words: false,
        run: longevity::run,
    },
    PaperRow {
        name: "user-centric",
        about: "Refreshes that do most for search results, against staleness and embarrassment (Pandey & Olston 2005)",
        dataset: Some(user_centric::usable),
        words: true,
        run: user_centric::run,
    },
    PaperRow {
        name: "gp4c",
        about: "Bred score functions against their baselines and ours (Santos et al. 2013)",
        dataset: Some(|_| Ok(())),
        words: false,
        run: gp4c::run,
    },
];

/// The paper of this name.
pub fn paper(name: &str) -> Option<PaperRow> {
    PAPERS.into_iter().find(|row| row.name == name)
}

fn watched_long_enough(dataset: &Dataset) -> Result<(), String> {
    match longevity::pages(dataset) {
        0 => Err(format!("no page was watched at {} cycles or more", longevity::FEWEST_MOMENTS)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paper_has_a_name_of_its_own() {
        for row in PAPERS {
            assert_eq!(PAPERS.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
            assert_eq!(paper(row.name).map(|found| found.about), Some(row.about));
        }
        assert!(paper("all").is_none(), "`all` stands for every paper");
    }
}
