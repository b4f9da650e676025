//! Pandey & Olston 2005, "User-Centric Web Crawling": refreshes that do most for search results, against refreshes by staleness and by
//! embarrassment.
//!
//! An experiment under a figure number has the parameters that the paper prints; what is ours has the name "beyond". Neither their pages
//! nor their queries are published. Ours are made up ([`made_up`]) or those of datasets ([`collections`]), and the queries are drawn
//! from the pages ([`queries`]).

mod approximation;
mod collections;
mod forecast;
mod known;
mod learners;
mod made_up;
mod overhead;
mod queries;
mod results;
mod searched;

use super::{Effort, Experiment, Numbers, Reproduced};
use crate::dataset::Dataset;
use crate::simulate::truth::Truth;
use collections::Collection;
use forecast::ForecastPanel;
use known::{KnownScheme, Parameters, TAUS};
use queries::Workloads;
use results::{QualityCurve, at_level, budgets, needs, panel};
use searched::{RefreshPlan, SCORINGS, SearchedCollection, on_all_cores};

/// What a dataset must have: words, pages of one site, and others.
pub fn usable(dataset: &Dataset) -> Result<(), String> {
    collections::of_dataset(dataset).map(|_| ())
}

/// The figures of forecasts, of schemes that know all parameters, and of policies that learn. `told` is called with the step that begins.
pub fn run(effort: Effort, dataset: Option<&Dataset>, told: &mut dyn FnMut(&str)) -> Reproduced {
    let found = dataset.and_then(|dataset| collections::of_dataset(dataset).ok());
    let collections = found.unwrap_or_else(|| made_up::collections(effort));
    Reproduced {
        paper: "Pandey & Olston 2005: User-Centric Web Crawling",
        experiments: experiments(effort, &collections, told),
    }
}

fn experiments(effort: Effort, collections: &[Collection; 2], told: &mut dyn FnMut(&str)) -> Vec<Experiment> {
    let truths = collections.each_ref().map(|collection| {
        let order: Vec<u32> = (0..collection.len() as u32).collect();
        Truth::of(&collection.group, &order)
    });
    let workloads: Vec<Workloads> = (0..)
        .zip(collections)
        .map(|(at, collection)| Workloads::draw(collection, &mut effort.draws(410 + at)))
        .collect();
    let notes: Vec<String> = collections
        .iter()
        .zip(&workloads)
        .map(|(collection, workloads)| {
            format!("{}: {}. {}", collection.short, collection.about, workloads.about())
        })
        .collect();
    let mut panels = Vec::new();
    let mut letters = 'a'..='d';
    for ((collection, truth), workloads) in collections.iter().zip(&truths).zip(&workloads) {
        for scoring in SCORINGS {
            let seen = |queries: &queries::DrawnQueries| {
                SearchedCollection::new(collection, truth, &queries.queries, scoring)
            };
            panels.push(Panel {
                letter: letters.next().unwrap_or('z'),
                searched: seen(&workloads.known),
                unseen: seen(&workloads.unseen),
                workloads,
            });
        }
    }
    let mut forecasts = Vec::new();
    let mut offline = FigureParts::default();
    let mut online = FigureParts::default();
    for panel in &panels {
        told(&format!("figures 3 and 4({}): {}", panel.letter, panel.name()));
        let gains = forecast::every_update(&panel.searched);
        forecasts.push(ForecastPanel::of(panel.letter, &panel.searched, &gains));
        let exact = forecast::every_update_exactly(&panel.searched);
        let parameters = Parameters::of(&panel.searched, &gains, &exact);
        panel.figure_4(&parameters, &mut offline);
        told(&format!("policies that learn ({}): {}", panel.letter, panel.name()));
        panel.learners(&mut online);
    }
    let compared: Vec<_> = panels.iter().map(|panel| (&panel.searched, &panel.workloads.known)).collect();
    let approximation = approximation::run(&compared, told);
    vec![
        overhead::figure_2(effort, told),
        forecast::figure_3(&forecasts, forecast_notes(&notes)),
        offline.experiment(
            "4-schemes",
            "Fig. 4: quality against refreshes a week, all parameters known",
            known_notes(&notes),
        ),
        online.experiment(
            "6-learners",
            "Beyond Fig. 4: the same by policies that learn from their own visits",
            learner_notes(&notes),
        ),
        approximation,
    ]
}

fn forecast_notes(notes: &[String]) -> Vec<String> {
    let mut all = notes.to_vec();
    all.push(
        "as printed, on other pages and queries: every update triggers a refresh, ΔQ_A by functions of three pieces, δQ_A is the mean of \
         ΔQ_A ÷ the time since the refresh before, once over weeks 1 to 24 and once over weeks 25 to 48. Pages with 0 in both are left out \
         of the plot and of the rank correlation. Dots are coloured by their distance from the diagonal. The paper prints no number; it \
         finds the values of most pages fairly consistent"
            .to_owned(),
    );
    all
}

fn known_notes(notes: &[String]) -> Vec<String> {
    let mut all = notes.to_vec();
    all.push(
        "as printed, on other pages and queries: copies are up to date at week 1, then B pages are refreshed in each of 47 weeks; quality is \
         eq. 5, exact; λ, d and δQ_A are estimated from all 48 weeks; for SBR and EBR the best τ of 0.1, 0.2 … 1.0 at each B. Assumed: the \
         quality of a week is that after its refreshes, and weeks are averaged; rates are −ln((n − X + ½)/(n + ½)); clicks of EBR are \
         Σ f·I(rank), the mean over all weeks; the largest B is the paper's share of the pages. By sums: δQ_A is ΣΔQ_A ÷ 47 weeks (ours), also with the exact gain of each update in place of ΔQ_A"
            .to_owned(),
    );
    all.push(
        "the paper prints ranges of quality: .89 to 1 (a), .66 to 1 (b), .87 to 1 (c), .67 to 1 (d), where the lowest is that of few refreshes. \
         It says that user-centric refreshing needs substantially fewer resources for the same quality on all four, and tells of a B at \
         which SBR and EBR reach about 95 % and user-centric more than 99 %"
            .to_owned(),
    );
    all.push(
        "other queries: the same refreshes, judged by the workload that no policy saw; τ is the best for the first".to_owned(),
    );
    all
}

fn learner_notes(notes: &[String]) -> Vec<String> {
    let mut all = notes.to_vec();
    all.push(
        "ours: the policies of the crawl in the replay engine. They begin with copies that are up to date and know no visit; each learns \
         from what its own visits find, user-centric from ΔQ_A as the index measures it. The oracle refreshes the B pages whose refresh \
         alone gains most, by the exact ΔQ at the start of each week; it is no bound, because it does not look ahead"
            .to_owned(),
    );
    all
}

/// A panel of the figures: a collection under one score, with the queries that policies know and others.
struct Panel<'a> {
    letter: char,
    searched: SearchedCollection<'a>,
    unseen: SearchedCollection<'a>,
    workloads: &'a Workloads,
}

const FIGURES_4: [&str; 4] = ["4a-schemes", "4b-schemes", "4c-schemes", "4d-schemes"];
const FIGURES_6: [&str; 4] = ["6a-learners", "6b-learners", "6c-learners", "6d-learners"];

/// Tables and figures of several panels.
#[derive(Default)]
struct FigureParts {
    tables: Vec<Numbers>,
    figures: Vec<super::Figure>,
}

impl FigureParts {
    fn experiment(self, name: &'static str, title: &str, notes: Vec<String>) -> Experiment {
        Experiment { name, title: title.to_owned(), notes, tables: self.tables, figures: self.figures }
    }
}

/// A refresh plan that was judged: B, what was planned, and its quality under both workloads.
struct JudgedPlan<K> {
    key: K,
    most: usize,
    plan: RefreshPlan,
    quality: f64,
}

impl Panel<'_> {
    fn name(&self) -> String {
        format!("{} with {}", self.searched.collection.short, self.searched.scoring.name())
    }

    fn budgets(&self) -> Vec<usize> {
        budgets(self.searched.collection.len(), self.searched.collection.most_share)
    }

    /// The place of the panel among the four.
    fn place(&self) -> usize {
        (self.letter as usize).wrapping_sub('a' as usize)
    }

    /// Plans of all of these, judged by the workload that is known.
    fn judged<K: Copy + Sync + Send>(
        &self,
        keys: &[K],
        plan: impl Fn(K, usize) -> RefreshPlan + Sync,
    ) -> Vec<JudgedPlan<K>> {
        let jobs: Vec<(K, usize)> =
            self.budgets().into_iter().flat_map(|most| keys.iter().map(move |key| (*key, most))).collect();
        on_all_cores(&jobs, |(key, most)| {
            let plan = plan(*key, *most);
            let quality = self.searched.quality(&plan);
            JudgedPlan { key: *key, most: *most, plan, quality }
        })
    }

    /// The curve of the best plans at each B, and that of the same plans under the other workload.
    fn curves<K>(&self, name: &str, best: &[&JudgedPlan<K>]) -> (QualityCurve, QualityCurve)
    where
        K: Sync,
    {
        let idle: RefreshPlan = vec![Vec::new(); collections::SNAPSHOTS as usize];
        let curve = |first: f64, points: Vec<(f64, f64)>| QualityCurve {
            name: name.to_owned(),
            points: std::iter::once((0.0, first)).chain(points).collect(),
        };
        let known = best.iter().map(|judged| (judged.most as f64, judged.quality)).collect();
        let other = on_all_cores(best, |judged| (judged.most as f64, self.unseen.quality(&judged.plan)));
        (curve(self.searched.quality(&idle), known), curve(self.unseen.quality(&idle), other))
    }

    /// Fig. 4: SBR and EBR with their best τ at each B, and user-centric.
    fn figure_4(&self, parameters: &Parameters, parts: &mut FigureParts) {
        let taus = |make: fn(f64) -> KnownScheme| TAUS.map(make);
        let schemes: Vec<KnownScheme> = taus(KnownScheme::Sbr)
            .into_iter()
            .chain(taus(KnownScheme::Ebr))
            .chain([
                KnownScheme::UserCentric,
                KnownScheme::UserCentricBySums,
                KnownScheme::UserCentricExactly,
            ])
            .collect();
        let judged = self.judged(&schemes, |scheme, most| parameters.plan(scheme, most));
        type Picks = fn(&KnownScheme) -> Option<f64>;
        let named: [(&str, Picks); 5] = [
            ("SBR", |scheme| if let KnownScheme::Sbr(tau) = scheme { Some(*tau) } else { None }),
            ("EBR", |scheme| if let KnownScheme::Ebr(tau) = scheme { Some(*tau) } else { None }),
            ("user-centric", |scheme| (*scheme == KnownScheme::UserCentric).then_some(f64::NAN)),
            ("user-centric, by sums", |scheme| {
                (*scheme == KnownScheme::UserCentricBySums).then_some(f64::NAN)
            }),
            ("by sums of exact ΔQ", |scheme| {
                (*scheme == KnownScheme::UserCentricExactly).then_some(f64::NAN)
            }),
        ];
        let mut known = Vec::new();
        let mut other = Vec::new();
        let mut best_taus: Vec<Vec<f64>> = Vec::new();
        for (name, picks) in named {
            let at = |most: usize| {
                let own = judged.iter().filter(|judged| judged.most == most && picks(&judged.key).is_some());
                own.max_by(|a, b| a.quality.total_cmp(&b.quality))
            };
            let best: Vec<&JudgedPlan<KnownScheme>> = self.budgets().into_iter().filter_map(at).collect();
            best_taus.push(best.iter().filter_map(|judged| picks(&judged.key)).collect());
            let (of_known, of_other) = self.curves(name, &best);
            known.push(of_known);
            other.push(of_other);
        }
        let title = format!("Fig. 4({}): {}", self.letter, self.name());
        if let Some(name) = FIGURES_4.get(self.place()) {
            parts.figures.push(panel(
                name,
                title,
                known.get(..3).unwrap_or_default(),
                known.get(3..).unwrap_or_default(),
            ));
        }
        parts.tables.push(self.qualities_by_budget(&known, &best_taus));
        let mut table = needs(&format!("({}) {}: refreshes a week for", self.letter, self.name()), &known);
        claims(&known, &mut table);
        parts.tables.push(table);
        let mut table = needs(&format!("({}) other queries: refreshes a week for", self.letter), &other);
        claims(&other, &mut table);
        parts.tables.push(table);
    }

    /// Quality at each B, with the best τ.
    fn qualities_by_budget(&self, curves: &[QualityCurve], best_taus: &[Vec<f64>]) -> Numbers {
        let heads = curves.iter().map(|curve| curve.name.clone());
        let mut table = Numbers::new(
            [format!("({}) {}: B", self.letter, self.name())]
                .into_iter()
                .chain(heads)
                .chain(["τ of SBR".to_owned(), "τ of EBR".to_owned()]),
        );
        let counts = std::iter::once(0).chain(self.budgets());
        for (at, most) in counts.enumerate() {
            let quality =
                curves.iter().map(|curve| curve.points.get(at).map_or(f64::NAN, |(_, quality)| *quality));
            let tau = |scheme: usize| {
                let taus = best_taus.get(scheme);
                at.checked_sub(1).and_then(|at| taus?.get(at).copied()).unwrap_or(f64::NAN)
            };
            table.row(format!("{most}"), quality.chain([tau(0), tau(1)]).collect::<Vec<_>>());
        }
        table
    }

    /// Policies that learn, and the oracle.
    fn learners(&self, parts: &mut FigureParts) {
        let names: Vec<&str> = learners::LEARNERS.into_iter().chain([learners::ORACLE]).collect();
        let judged = self.judged(&names, |name, most| learners::plan(&self.searched, name, most));
        let mut known = Vec::new();
        let mut other = Vec::new();
        for name in &names {
            let own: Vec<&JudgedPlan<&str>> = judged.iter().filter(|judged| judged.key == *name).collect();
            let (of_known, of_other) = self.curves(name, &own);
            known.push(of_known);
            other.push(of_other);
        }
        let title = format!("Beyond Fig. 4({}): {}, policies that learn", self.letter, self.name());
        let (policies, oracle) = known.split_at(learners::LEARNERS.len());
        if let Some(name) = FIGURES_6.get(self.place()) {
            parts.figures.push(panel(name, title, policies, oracle));
        }
        let table =
            needs(&format!("({}) {}, learnt: refreshes a week for", self.letter, self.name()), &known);
        parts.tables.push(table);
        let table = needs(&format!("({}) learnt, other queries: refreshes a week for", self.letter), &other);
        parts.tables.push(table);
    }
}

/// Adds what user-centric needs of the better of SBR and EBR, and what it reaches where that one reaches 95 %.
fn claims(curves: &[QualityCurve], table: &mut Numbers) {
    let [sbr, ebr, user, ..] = curves else { return };
    let never = results::never(curves);
    let ratio = |level: f64| {
        let quality = at_level(never, level);
        let others = [sbr.needed(quality), ebr.needed(quality)];
        let best = others.into_iter().filter(|needed| !needed.is_nan()).fold(f64::INFINITY, f64::min);
        if best.is_finite() { user.needed(quality) / best } else { f64::NAN }
    };
    table.row("user-centric ÷ the better of SBR and EBR", results::LEVELS.map(ratio));
    let reached = |level: f64| {
        let quality = at_level(never, level);
        let best = [sbr.needed(quality), ebr.needed(quality)].into_iter().fold(f64::NAN, f64::min);
        if best.is_nan() { f64::NAN } else { user.at(best) }
    };
    table.row("quality of user-centric with the better one's B", results::LEVELS.map(reached));
}

#[cfg(test)]
mod tests;
