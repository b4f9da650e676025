//! Fig. 4 and 5: the lifetimes of fragments, by the theory and on pages grouped by their dominant K; the shares of churn and scroll.

use std::collections::BTreeMap;

use super::Corpus;
use super::lives::{CLASSES, Lived, SECONDS_A_DAY, class};
use crate::numeric::gamma_function::lower;
use crate::reproduce::{CurveKind, Experiment, Figure, FigureCurve, Numbers, Point, Scale};

/// λ of both figures, in updates a day, as printed (§3.3).
const RATE: f64 = 0.25;
/// K of the scroll region of Fig. 4, as printed.
const ITEMS: u32 = 10;
/// The longest lifetime of Fig. 4, in days, and the lifetimes of its table.
const LONGEST_DAYS: u32 = 60;
const TABLE_DAYS: [f64; 6] = [1.0, 4.0, 10.0, 20.0, 40.0, 60.0];
/// The paper takes pages with λ_P = 0.25. Ours may be off by this share, as few have exactly that.
const NEAR: f64 = 0.2;
/// Groups with fewer fragments are not shown.
const FEWEST_FRAGMENTS: f64 = 50.0;
/// The paper's share of the non-static fragments that churn (§3.3.2); the others scroll.
const PAPERS_CHURN: f64 = 0.67;

/// The share of fragments that have gone by `days`: 1 − Σ_{i<K} (λt)^i e^(−λt) / i! (§3.3). With K = 1 it is churn.
fn gone(items: usize, rate: f64, days: f64) -> f64 {
    lower(items.max(1) as f64, rate * days)
}

/// Fig. 4: the theory.
pub(super) fn theory() -> Experiment {
    let kinds = [("churn", 1), ("scroll, K = 10", ITEMS as usize)];
    let mut table = Numbers::new(
        std::iter::once("gone by".to_owned()).chain(TABLE_DAYS.iter().map(|days| format!("day {days}"))),
    );
    for (name, items) in kinds {
        table.row(name, TABLE_DAYS.map(|days| gone(items, RATE, days)));
    }
    let curve = |(name, items): (&str, usize)| {
        let points = (0..=2 * LONGEST_DAYS).map(|half| 0.5 * f64::from(half));
        FigureCurve::measured(name, points.map(|days| Point::new(days, gone(items, RATE, days))).collect())
    };
    Experiment {
        name: "4-theory",
        title: "Fig. 4: lifetimes by the theory, churn and scroll at one rate".to_owned(),
        notes: vec![
            "as printed: λ = 0.25 for both, K = 10. The longest lifetime shown is assumed".to_owned(),
        ],
        tables: vec![table],
        figures: vec![Figure {
            name: "4-theory",
            title: "Fig. 4: lifetimes of fragments under two models, λ = 0.25".to_owned(),
            across: Scale::linear("lifetime, days"),
            up: Scale::linear("share of fragments gone by then").within(0.0, 1.0),
            curves: kinds.map(curve).to_vec(),
        }],
    }
}

/// The fragments of pages with the same dominant K: how many lived that many steps, and how many survived that many updates.
#[derive(Clone, Debug, Default)]
struct DominantGroup {
    pages: f64,
    rates: f64,
    by_steps: BTreeMap<u64, f64>,
    by_updates: BTreeMap<usize, f64>,
}

impl DominantGroup {
    fn add(&mut self, lived: &Lived, rate: f64, step_days: f64) {
        self.pages += 1.0;
        self.rates += rate;
        for life in lived.lives.whole() {
            let steps = (life.seconds / SECONDS_A_DAY / step_days).round() as u64;
            *self.by_steps.entry(steps).or_default() += life.life.fragments as f64;
            *self.by_updates.entry(life.updates.max(1)).or_default() += life.life.fragments as f64;
        }
    }

    fn fragments(&self) -> f64 {
        self.by_updates.values().sum()
    }

    /// The share that was seen to live for at most this many steps.
    fn seen(&self, steps: u64) -> f64 {
        self.by_steps.range(..=steps).map(|(_, fragments)| fragments).sum::<f64>() / self.fragments()
    }

    /// The same by the model, with the mix of K of these very fragments.
    fn modelled(&self, rate: f64, days: f64) -> f64 {
        let part = |(items, fragments): (&usize, &f64)| fragments * gone(*items, rate, days);
        self.by_updates.iter().map(part).sum::<f64>() / self.fragments()
    }

    /// The share of fragments of each class of K.
    fn shares(&self) -> [f64; 3] {
        let mut shares = [0.0; 3];
        for (updates, fragments) in &self.by_updates {
            shares[class(*updates)] += fragments / self.fragments();
        }
        shares
    }
}

/// Fig. 5 and §3.3.2: pages with one change frequency, grouped by the K of most of their fragments.
pub(super) fn by_dominant_k(corpus: &Corpus<'_>, lived: &[Lived]) -> Experiment {
    let mut groups = [(); 3].map(|()| DominantGroup::default());
    let mut all = DominantGroup::default();
    for page in lived {
        let (Some(rate), Some(dominant)) = (page.lives.change_frequency(), page.lives.dominant_k()) else {
            continue;
        };
        all.add(page, rate, corpus.step_days);
        if (rate / RATE - 1.0).abs() <= NEAR {
            groups[class(dominant)].add(page, rate, corpus.step_days);
        }
    }
    let mut table = Numbers::new([
        "pages whose dominant K is",
        "pages",
        "fragments",
        "mean λ",
        "K = 1",
        "K = 2",
        "K > 2",
        "largest gap to the model",
    ]);
    let longest = groups.iter().filter_map(|group| group.by_steps.keys().last()).copied().max().unwrap_or(0);
    let mut curves = Vec::new();
    for (name, group) in CLASSES.iter().zip(&groups).filter(|(_, group)| group.fragments() > 0.0) {
        // A life of n steps ended before step n + 1. No life is seen that is shorter than a step.
        let places = || (1..=longest).map(|steps| (steps, (steps as f64 + 0.5) * corpus.step_days));
        let rate = group.rates / group.pages;
        let seen: Vec<Point> = places().map(|(steps, days)| Point::new(days, group.seen(steps))).collect();
        let model: Vec<Point> =
            places().map(|(_, days)| Point::new(days, group.modelled(rate, days))).collect();
        let gap = seen.iter().zip(&model).map(|(seen, model)| (seen.y - model.y).abs()).fold(0.0, f64::max);
        let first = [group.pages, group.fragments(), rate];
        table.row(*name, first.into_iter().chain(group.shares()).chain([gap]));
        if group.fragments() >= FEWEST_FRAGMENTS {
            curves.push(FigureCurve::measured(format!("{name}, seen"), seen));
            let kind = CurveKind::Reference;
            curves.push(FigureCurve { name: format!("{name}, model"), kind, points: model });
        }
    }
    let mut shares = Numbers::new(["§3.3.2: non-static fragments", "churn (K = 1)", "scroll (K > 1)"]);
    let [churn, short, long] = all.shares();
    shares.row("ours, all pages", [churn, short + long]);
    shares.row("the paper", [PAPERS_CHURN, 1.0 - PAPERS_CHURN]);
    let mut figures = vec![Figure {
        name: "5-lifetimes",
        title: "Fig. 5: lifetimes on pages of one change frequency, by dominant K".to_owned(),
        across: Scale::linear(&format!("lifetime, {}s", corpus.unit())),
        up: Scale::linear("share of fragments gone by then").within(0.0, 1.0),
        curves,
    }];
    figures.retain(|figure| !figure.curves.is_empty());
    Experiment {
        name: "5-lifetimes",
        title: format!(
            "Fig. 5: lifetimes on pages with λ = 0.25 a {}, by the K of most of their fragments; churn and scroll",
            corpus.unit()
        ),
        notes: vec![
            format!(
                "as printed, on other pages: all non-static fragments of each group, and the model with the group's own mix of K. \
                 Assumed: λ counts per {}, and pages count whose λ is off by a fifth at most; the model has the group's mean λ",
                corpus.unit()
            ),
            "K is the number of updates of the page that a fragment outlives, as in the paper: slow churn beside a fast clock \
             outlives many updates, and counts as scroll. Fragments of the first and the last snapshot are left out"
                .to_owned(),
        ],
        tables: vec![table, shares],
        figures,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theory_has_the_check_values() {
        let table = &theory().tables[0];
        // Values of an independent implementation.
        let expected = [
            ("churn", [0.221, 0.632, 0.918, 0.993, 1.0, 1.0]),
            ("scroll, K = 10", [0.0, 0.0, 0.0, 0.032, 0.542, 0.930]),
        ];
        for (name, values) in expected {
            for (days, value) in TABLE_DAYS.iter().zip(values) {
                let ours = table.get(name, &format!("day {days}")).expect("a number");
                assert!((ours - value).abs() < 6e-4, "{name} {days}: {ours}");
            }
        }
    }
}
