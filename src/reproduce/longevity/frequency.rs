//! Fig. 3: do pages that change often have fragments with short lives?

use super::Corpus;
use super::lives::{Lived, SECONDS_A_DAY};
use crate::reproduce::{CurveKind, Experiment, Figure, FigureCurve, Numbers, Point, Scale, correlation};

/// The paper's correlation coefficient (§3.2). It does not print the sign.
const PAPERS: f64 = 0.67;
/// The most pages that are plotted.
const MOST_PAGES: usize = 700;
/// The least frequency at which the dashed line is plotted.
const LEAST_FREQUENCY: f64 = 0.02;

/// Fig. 3: the share of snapshots that differ from the one before, against the mean life of fragments, in snapshots.
pub(super) fn run(corpus: &Corpus<'_>, lived: &[Lived]) -> Experiment {
    let both = |lived: &Lived| {
        let longevity = lived.lives.longevity()?.as_secs_f64() / SECONDS_A_DAY / corpus.step_days;
        let frequency = lived.lives.change_frequency()? * corpus.step_days;
        Some((frequency, longevity)).filter(|(often, long)| *often > 0.0 && *long > 0.0)
    };
    let pairs: Vec<(f64, f64)> = lived.iter().filter_map(both).collect();
    let logs: Vec<(f64, f64)> = pairs.iter().map(|(often, long)| (often.ln(), long.ln())).collect();
    let mut table =
        Numbers::new(["pages with lives seen whole", "pages", "correlation", "of the logarithms"]);
    table.row("ours", [pairs.len() as f64, correlation(&pairs), correlation(&logs)]);
    table.row("the paper, sign not printed", [f64::NAN, PAPERS, f64::NAN]);
    let stride = pairs.len().div_ceil(MOST_PAGES).max(1);
    let points = pairs.iter().step_by(stride).map(|(often, long)| Point::new(*often, *long)).collect();
    let highest = pairs.iter().map(|(_, long)| *long).fold(1.0, f64::max);
    let line = (1..=100).map(|percent| 0.01 * f64::from(percent)).filter(|often| *often >= LEAST_FREQUENCY);
    let churn = line.map(|often| Point::new(often, 1.0 / often)).filter(|point| point.y <= highest).collect();
    Experiment {
        name: "3-frequency",
        title: "Fig. 3: change frequency, from 0 to 1, against information longevity in snapshots".to_owned(),
        notes: vec![
            "as printed, on other pages: frequency is the share of snapshots that differ from the one before, longevity the mean \
             number of snapshots in a row that have a fragment; fragments of the first and the last snapshot are left out (§3.2)"
                .to_owned(),
            "a page with a clock counts many short lives. Where pages churn as a whole, longevity is one by the frequency (dashed)"
                .to_owned(),
        ],
        tables: vec![table],
        figures: vec![Figure {
            name: "3-frequency",
            title: "Fig. 3: change frequency against information longevity".to_owned(),
            across: Scale::linear("share of snapshots that differ from the one before").within(0.0, 1.0),
            up: Scale::linear("mean lifetime of fragments, snapshots").above(0.0),
            curves: vec![
                FigureCurve { name: "a page".to_owned(), kind: CurveKind::Scatter, points },
                FigureCurve { name: "all churns at once".to_owned(), kind: CurveKind::Reference, points: churn },
            ],
        }],
    }
}
