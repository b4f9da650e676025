//! Fig. 1 and 2: two pages as stripes, one that churns and one that scrolls, and how they move away from a copy.

use super::Corpus;
use super::lives::{CLASSES, Days, Lived, SECONDS_A_DAY, class};
use crate::change::lifetime::WholeLife;
use crate::longevity::since_refresh::SinceRefresh;
use crate::reproduce::{Experiment, Figure, FigureCurve, Numbers, Point, Scale};

/// Pages with fewer updates are not shown.
const FEWEST_UPDATES: usize = 20;
/// Pages are not shown either if one update replaced more than this share of all fragments that came and went: that is a new
/// design of the page.
const LARGEST_GROUP: f64 = 0.2;
/// The most groups of fragments that are plotted for a page, in the order in which they came; and the smallest group that is
/// plotted, as a share of the page.
const MOST_STRIPES: usize = 90;
const LEAST_STRIPE: f64 = 0.01;
/// The most points of a curve that are plotted.
const MOST_POINTS: usize = 80;

/// Kinds of stripes besides those of [`CLASSES`].
const CUT_OFF: usize = 3;
const ALWAYS: usize = 4;

/// Fig. 1 and 2: a page that mostly churns (A) and one that mostly scrolls (B).
pub(super) fn run(corpus: &Corpus<'_>, lived: &[Lived]) -> Experiment {
    let enough = || {
        let often = lived.iter().filter(|lived| lived.lives.updates() >= FEWEST_UPDATES);
        often.filter(|lived| lived.largest <= LARGEST_GROUP)
    };
    let most = |class: usize| enough().max_by(|a, b| a.moving(class).total_cmp(&b.moving(class)));
    let kinds = [("1-page-a", "A, most churn", most(0)), ("1-page-b", "B, most scroll", most(2))];
    let mut table = Numbers::new(["page", "static", "K = 1", "K = 2", "K > 2", "updates", "longevity", "U"]);
    let (mut figures, mut curves, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for (name, kind, lived) in kinds {
        let Some(lived) = lived else { continue };
        figures.push(stripes(corpus, name, kind, lived));
        let (curve, utility) = divergence(corpus, kind, lived);
        curves.extend(curve);
        let moving = (0..CLASSES.len()).map(|class| lived.moving(class));
        let longevity = lived.lives.longevity().map_or(f64::NAN, |life| life.as_secs_f64() / SECONDS_A_DAY);
        let rest = [lived.lives.updates() as f64, longevity, utility];
        table.row(kind, std::iter::once(lived.static_share).chain(moving).chain(rest));
        names.push(format!("{kind}: {}", corpus.name(lived.at)));
    }
    if !curves.is_empty() {
        figures.push(Figure {
            name: "2-divergence",
            title:
                "Fig. 2: divergence since a refresh at time 0; shaded: the utility of a refresh at the end"
                    .to_owned(),
            across: Scale::linear(&format!("{}s", corpus.unit())),
            up: Scale::linear("divergence").within(0.0, 1.0),
            curves,
        });
    }
    let pages = match names.is_empty() {
        true => format!("no page has {FEWEST_UPDATES} updates: none is shown"),
        false => names.join("; "),
    };
    Experiment {
        name: "1-pages",
        title: format!(
            "Fig. 1 and 2: a page that churns and one that scrolls; longevity in {0}s, U in divergence × {0}s",
            corpus.unit()
        ),
        notes: vec![
            corpus.about(),
            pages,
            format!(
                "as printed, on other pages. Chosen by rule, among pages with {FEWEST_UPDATES} updates of which none brought a \
                 fifth of all: A has the largest share of the page, at a time, that goes at the next update (K = 1); B the \
                 largest that outlives two (K > 2)"
            ),
            format!(
                "a stripe is a group of fragments that came and went together, as high as it has fragments; the first \
                 {MOST_STRIPES} that have a hundredth of the page"
            ),
        ],
        tables: vec![table],
        figures,
    }
}

/// A stripe for each group of fragments, from when they came to when they went.
fn stripes(corpus: &Corpus<'_>, name: &'static str, kind: &str, lived: &Lived) -> Figure {
    let day = Days::of(&lived.lives);
    let whole: Vec<WholeLife> = lived.lives.whole().collect();
    let all = lived.lives.lives();
    let fixed: f64 = all.iter().filter(|life| life.is_static()).map(|life| life.fragments as f64).sum();
    let page = if lived.static_share > 0.0 { fixed / lived.static_share } else { 0.0 };
    // Fragments that are always there come first, then the others by birth.
    let mut rows: Vec<(f64, f64, f64, usize)> = Vec::new();
    for life in all.iter().filter(|life| life.is_static()).chain(all.iter().filter(|life| !life.is_static()))
    {
        let known = whole.iter().find(|whole| whole.life == *life).map(|whole| class(whole.updates));
        let kind = known.unwrap_or(if life.is_static() { ALWAYS } else { CUT_OFF });
        let ends = (day.start(life), day.end(life));
        if life.fragments as f64 >= LEAST_STRIPE * page {
            rows.push((ends.0, ends.1, life.fragments as f64, kind));
        }
    }
    let shown = rows.get(MOST_STRIPES).map_or_else(|| day.last(), |next| next.0);
    rows.truncate(MOST_STRIPES);
    let names = CLASSES.iter().chain(&["cut off", "always there"]);
    let mut curves: Vec<FigureCurve> = names.map(|name| FigureCurve::measured(*name, Vec::new())).collect();
    let mut foot = 0.0;
    for (from, to, fragments, kind) in rows {
        let bounds = Some((foot, foot + fragments));
        let y = foot + fragments / 2.0;
        if let Some(curve) = curves.get_mut(kind) {
            // A point that is not a number separates one stripe from the next.
            curve.points.extend([Point { x: from, y, bounds }, Point { x: to, y, bounds }]);
            curve.points.push(Point { x: f64::NAN, y: f64::NAN, bounds: Some((f64::NAN, f64::NAN)) });
        }
        foot += fragments;
    }
    curves.retain(|curve| !curve.points.is_empty());
    Figure {
        name,
        title: format!("Fig. 1: when the fragments of page {kind}, came and went"),
        across: Scale::linear(&format!("{}s", corpus.unit())).within(0.0, shown),
        up: Scale::linear("fragments"),
        curves,
    }
}

/// The divergence from the first copy, and the utility of a refresh at the end of the page's time (eq. 4).
fn divergence(corpus: &Corpus<'_>, kind: &str, lived: &Lived) -> (Option<FigureCurve>, f64) {
    let Some(page) = corpus.watched(lived.at) else { return (None, f64::NAN) };
    let held = page.text(0);
    let curve: Vec<f64> =
        (0..page.moments()).map(|moment| page.divergence(held, page.text(moment))).collect();
    let last = curve.last().copied().unwrap_or(0.0);
    let mut since = SinceRefresh::default();
    for pair in curve.windows(2) {
        if let [left, right] = pair {
            since.pass(page.step_days(), page.between(*left, *right));
        }
    }
    let stride = curve.len().div_ceil(MOST_POINTS).max(1);
    let points = curve.iter().enumerate().step_by(stride);
    let points =
        points.map(|(moment, y)| Point { x: page.days(moment), y: *y, bounds: Some((*y, last.max(*y))) });
    (Some(FigureCurve::measured(kind, points.collect())), since.utility(last))
}
