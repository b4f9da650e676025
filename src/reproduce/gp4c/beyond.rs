//! Beyond the paper: more terminals, other aims, and policies that need no breeding.

use super::{Bred, MOST_PAGES, PAPERS, both, bred, by_fold, replay_all, without_interval};
use crate::dataset::Dataset;
use crate::evolve::EvolveSettings;
use crate::evolve::fitness::Fitness;
use crate::policy::expression::Terminal;
use crate::reproduce::{Experiment, Numbers};
use crate::simulate::compare::spread;
use crate::simulate::metric::Figures;

/// Our policies that are compared with it: each is the best of ours for one aim.
const OURS: [&str; 4] = ["t*x", "change-probability", "utility", "longevity"];

/// More terminals, other aims, and policies that need no breeding. `papers` were bred on n, X, t.
pub(super) fn beyond(
    (name, title): (&'static str, &str),
    dataset: &Dataset,
    settings: &EvolveSettings,
    papers: Bred,
    told: &mut dyn FnMut(&str),
) -> Experiment {
    let more = more_terminals(dataset);
    let few_runs = settings.runs.min(2);
    let variants = [
        ("GP4C more terminals", more.clone(), Fitness::ChangeRate, settings.runs),
        ("GP4C n, X, t, for freshness", Terminal::PAPERS.to_vec(), Fitness::Freshness, few_runs),
        ("GP4C more terminals, for freshness", more.clone(), Fitness::Freshness, few_runs),
    ];
    let mut all = vec![(PAPERS, papers)];
    all.extend(variants.into_iter().map(|(name, terminals, fitness, runs)| {
        (name, bred(dataset, &EvolveSettings { terminals, fitness, runs, ..settings.clone() }, name, told))
    }));
    let selection = settings.selection;
    let contenders = |fold: u32| {
        let own =
            all.iter().filter_map(|(name, bred)| Some(((*name).to_owned(), bred.policy(selection, fold)?)));
        let ours = OURS.iter().map(|name| ((*name).to_owned(), (*name).to_owned()));
        ours.chain(own).collect()
    };
    let replays = replay_all(dataset, settings, &contenders, told);
    let mut table =
        Numbers::new(["policy", "ChangeRate", "±", "fresh", "± ", "NDCG", "±  ", "staleness", "±   "]);
    let mut differences = Numbers::new(["over n, X, t", "ChangeRate", "±", "fresh", "± "]);
    let of =
        |name: &str, of: fn(&Figures) -> f64| replays.get(name).map_or(Vec::new(), |own| by_fold(own, of));
    for name in OURS.into_iter().chain(all.iter().map(|(name, _)| *name)) {
        let figures: [fn(&Figures) -> f64; 4] = [
            |figures| figures.change_rate,
            |figures| figures.freshness,
            |figures| figures.ndcg,
            |figures| figures.staleness,
        ];
        table.row(name, figures.into_iter().flat_map(|figure| both(spread(&of(name, figure)))));
    }
    for (more, less) in [(1, 0), (3, 2)] {
        let (Some((more, _)), Some((less, _))) = (all.get(more), all.get(less)) else { continue };
        let over = |figure: fn(&Figures) -> f64| {
            let pairs = of(more, figure).into_iter().zip(of(less, figure));
            both(spread(&pairs.map(|(more, less)| more - less).collect::<Vec<f64>>()))
        };
        let numbers = [over(|figures| figures.change_rate), over(|figures| figures.freshness)];
        differences.row(*more, numbers.into_iter().flatten());
    }
    let names: Vec<&str> = more.iter().map(|terminal| terminal.name()).collect();
    let mut notes = vec![
        format!(
            "at most {MOST_PAGES} pages of a group; {} runs, {few_runs} for freshness; picked by {}; more terminals: {}",
            settings.runs,
            selection.name(),
            names.join(", ")
        ),
        "change-probability, utility and longevity need no breeding; each is the best of ours for changes found, for \
         freshness and for staleness"
            .to_owned(),
    ];
    notes.extend(all.iter().map(|(name, bred)| format!("{name}: {}", bred.champion)));
    notes.extend(without_interval(&[&table, &differences]));
    Experiment { name, title: title.to_owned(), notes, tables: vec![table, differences], figures: Vec::new() }
}

/// The change rate by irregular visits, and the time since a change was last seen, which n, X and t don't have. If it is known,
/// also how far pages move.
fn more_terminals(dataset: &Dataset) -> Vec<Terminal> {
    let mut all = [&Terminal::PAPERS[..], &[Terminal::Gamma, Terminal::Quiet]].concat();
    if dataset.has_texts() {
        all.extend([Terminal::Divergence, Terminal::Longevity]);
    }
    all
}
