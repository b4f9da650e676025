//! Fig. 1 to 5: pages as stripes and curves, change frequency against longevity, and how long fragments live.

use super::Corpus;
use crate::change::lifetime::{FragmentLife, Lifetimes, WholeLife};
use crate::longevity::since_refresh::SinceRefresh;
use crate::numeric::gamma_function::lower;
use crate::reproduce::{CurveKind, Experiment, Figure, FigureCurve, Numbers, Point, Scale, geometric};
use crate::time::Timestamp;

/// Pages with fewer updates are not shown.
const FEWEST_UPDATES: usize = 20;
/// Pages are not shown either if one update replaced more than this share of all fragments that came and went: that is a new
/// design of the page.
const LARGEST_GROUP: f64 = 0.2;
/// The most groups of fragments that are plotted for a page, in the order in which they came; and the smallest group that is
/// plotted, as a share of the page.
const MOST_STRIPES: usize = 90;
const LEAST_STRIPE: f64 = 0.01;
/// A curve is plotted over an eighth of the page's time, but at least over this many ages.
const FEWEST_AGES: usize = 8;
/// The most points of a curve that are plotted.
const MOST_POINTS: usize = 80;
/// The most pages that are plotted in Fig. 3.
const MOST_PAGES: usize = 700;
const SECONDS_A_DAY: f64 = 86_400.0;

/// The lives of a page's fragments.
struct Lived {
    at: usize,
    lives: Lifetimes,
    /// Fragments by the update after which they went: the very next, the one after it, a later one; and the seconds that
    /// they lived, in sum.
    by_update: [f64; 3],
    seconds: [f64; 3],
    /// The seconds that all fragments were there, in sum.
    all_seconds: f64,
    /// The largest group's share of the fragments that came and went.
    largest: f64,
    static_share: f64,
}

impl Lived {
    fn of(corpus: &Corpus<'_>, at: usize) -> Option<Self> {
        let lives = corpus.lifetimes(at)?;
        let (mut by_update, mut seconds, mut largest) = ([0.0; 3], [0.0; 3], 0.0_f64);
        for life in lives.whole() {
            let (class, fragments) = (class(life.updates), life.life.fragments as f64);
            by_update[class] += fragments;
            seconds[class] += fragments * life.seconds;
            largest = largest.max(fragments);
        }
        let day = Days::of(&lives);
        let days = |life: &FragmentLife| life.fragments as f64 * (day.end(life) - day.start(life));
        let all_seconds = SECONDS_A_DAY * lives.lives().iter().map(days).sum::<f64>();
        let (largest, static_share) = (largest / by_update.iter().sum::<f64>(), lives.static_share());
        Some(Self { at, lives, by_update, seconds, all_seconds, largest, static_share })
    }

    /// The share of the page, over time, that was seen to move in this way; what was cut off moved in no way.
    fn moving(&self, class: usize) -> f64 {
        let own = self.seconds.get(class).copied().unwrap_or(0.0);
        if self.all_seconds > 0.0 { own / self.all_seconds } else { 0.0 }
    }
}

/// When fragments came and went, in days since the first snapshot.
struct Days<'a>(&'a [Timestamp]);

impl<'a> Days<'a> {
    fn of(lives: &'a Lifetimes) -> Self {
        Self(lives.times())
    }

    fn at(&self, snapshot: usize) -> f64 {
        match (self.0.first(), self.0.get(snapshot)) {
            (Some(first), Some(at)) => at.since(*first).days(),
            _ => 0.0,
        }
    }

    fn start(&self, life: &FragmentLife) -> f64 {
        life.born.map_or(0.0, |born| self.at(born))
    }

    fn last(&self) -> f64 {
        self.at(self.0.len().saturating_sub(1))
    }

    fn end(&self, life: &FragmentLife) -> f64 {
        life.died.map_or_else(|| self.last(), |died| self.at(died))
    }
}

/// K = 1, 2, or more.
const CLASSES: [&str; 3] = ["K = 1", "K = 2", "K > 2"];

/// Kinds of stripes besides.
const CUT_OFF: usize = 3;
const ALWAYS: usize = 4;

fn class(updates: usize) -> usize {
    updates.clamp(1, 3) - 1
}

pub(super) fn run(corpus: &Corpus<'_>) -> Vec<Experiment> {
    let lived: Vec<Lived> = (0..corpus.pages.len()).filter_map(|at| Lived::of(corpus, at)).collect();
    vec![shown(corpus, &lived), frequency(corpus, &lived), lifetimes(corpus, &lived)]
}

/// Fig. 1 and 2: one page of each kind.
fn shown(corpus: &Corpus<'_>, lived: &[Lived]) -> Experiment {
    let enough = || {
        let often = lived.iter().filter(|lived| lived.lives.updates() >= FEWEST_UPDATES);
        often.filter(|lived| lived.largest <= LARGEST_GROUP)
    };
    let most = |of: &dyn Fn(&Lived) -> f64| enough().max_by(|a, b| of(a).total_cmp(&of(b)));
    let kinds = [
        ("1-stripes-static", "most static", most(&|lived| lived.static_share)),
        ("1-stripes-churn", "most churn", most(&|lived| lived.moving(0))),
        ("1-stripes-scroll", "most scroll", most(&|lived| lived.moving(2))),
    ];
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
            title: "Divergence by age of the copy; shaded: the utility of a refresh".to_owned(),
            across: Scale::linear(&format!("age of the copy, {}s", corpus.unit())),
            up: Scale::linear("mean divergence").within(0.0, 1.0),
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
            "Fig. 1 and 2: a page of each kind; longevity in {0}s, U in divergence × {0}s",
            corpus.unit()
        ),
        notes: vec![
            pages,
            format!(
                "chosen by rule, among pages with {FEWEST_UPDATES} updates of which none brought a fifth of all: the largest \
                 share of fragments that are always there; the largest share of the page, at a time, that goes at the next \
                 update (K = 1); the largest that outlives two (K > 2)"
            ),
            format!(
                "a stripe is a group of fragments that came and went together, as high as it has fragments; the first \
                 {MOST_STRIPES} that have a hundredth of the page. Fig. 2 shows the mean over versions, and the utility at an eighth of the page's time"
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
        title: format!("When fragments came and went: {kind}"),
        across: Scale::linear(&format!("{}s", corpus.unit())).within(0.0, shown),
        up: Scale::linear("fragments"),
        curves,
    }
}

/// The mean divergence by age, up to an eighth of the page's time, and the utility at the end of that time.
fn divergence(corpus: &Corpus<'_>, kind: &str, lived: &Lived) -> (Option<FigureCurve>, f64) {
    let Some(page) = corpus.watched(lived.at) else { return (None, f64::NAN) };
    let mut curve = page.mean_curve();
    curve.truncate((curve.len() / 8).max(FEWEST_AGES));
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

/// Fig. 3: do pages that change often have fragments with short lives?
fn frequency(corpus: &Corpus<'_>, lived: &[Lived]) -> Experiment {
    let both = |lived: &Lived| {
        let longevity = lived.lives.longevity()?.as_secs_f64() / SECONDS_A_DAY;
        Some((lived.lives.change_frequency()?, longevity)).filter(|(often, long)| *often > 0.0 && *long > 0.0)
    };
    let pairs: Vec<(f64, f64)> = lived.iter().filter_map(both).collect();
    let logs: Vec<(f64, f64)> = pairs.iter().map(|(often, long)| (often.ln(), long.ln())).collect();
    let unit = corpus.unit();
    let mut table =
        Numbers::new(["pages with lives seen whole", "pages", "correlation", "of the logarithms"]);
    table.row("all", [pairs.len() as f64, correlation(&pairs), correlation(&logs)]);
    let stride = pairs.len().div_ceil(MOST_PAGES).max(1);
    let points = pairs.iter().step_by(stride).map(|(often, long)| Point::new(*often, *long)).collect();
    let range = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|(often, _)| *often).reduce(of);
    let (least, most) = (range(&f64::min).unwrap_or(0.1), range(&f64::max).unwrap_or(1.0));
    let line = geometric(least, most.max(least * 1.01), 12);
    let churn = line.into_iter().map(|often| Point::new(often, 1.0 / often)).collect();
    Experiment {
        name: "3-frequency",
        title: format!("Fig. 3: updates a {unit} against longevity in {unit}s"),
        notes: vec![
            "longevity is the mean life of fragments that were seen to come and to go (§3.2): a page with a clock counts \
             many short lives. Where pages churn as a whole it is one by the frequency (dashed)"
                .to_owned(),
        ],
        tables: vec![table],
        figures: vec![Figure {
            name: "3-frequency",
            title: "Change frequency against longevity of fragments".to_owned(),
            across: Scale::log(&format!("updates a {unit}")),
            up: Scale::log(&format!("longevity, {unit}s")),
            curves: vec![
                FigureCurve { name: "a page".to_owned(), kind: CurveKind::Scatter, points },
                FigureCurve { name: "all churns at once".to_owned(), kind: CurveKind::Reference, points: churn },
            ],
        }],
    }
}

/// Pearson's correlation. Not a number if one of the two does not vary.
pub(super) fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|pair| of(pair.0 - x, pair.1 - y)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

/// The range over which distributions of lifetimes are plotted, in updates, and the number of points.
const LONGEST: f64 = 12.0;
const PLACES: u32 = 48;

/// Fig. 4 and 5: how long fragments live, in mean times between updates, compared with the sum of K exponential times.
fn lifetimes(corpus: &Corpus<'_>, lived: &[Lived]) -> Experiment {
    let mut shares = Numbers::new(["non-static fragments", "K = 1 (churn)", "K = 2", "K > 2 (scroll)"]);
    let (mut by_lives, mut by_time, mut by_page, mut pages) = ([0.0; 3], [0.0; 3], [0.0; 3], 0.0);
    let places: Vec<f64> = (0..=PLACES).map(|at| LONGEST * f64::from(at) / f64::from(PLACES)).collect();
    let mut seen = [(); 3].map(|()| vec![0.0; places.len()]);
    let mut model = seen.clone();
    let mut weights = [0.0; 3];
    for lived in lived {
        let Some(rate) = lived.lives.change_frequency().filter(|rate| *rate > 0.0) else { continue };
        let all: f64 = lived.by_update.iter().sum();
        if all == 0.0 {
            continue;
        }
        pages += 1.0;
        for life in lived.lives.whole() {
            let (class, fragments) = (class(life.updates), life.life.fragments as f64);
            // Each page counts as one in each class it has fragments of.
            let weight = fragments / lived.by_update[class];
            by_lives[class] += fragments;
            by_time[class] += fragments * life.seconds;
            by_page[class] += fragments / all;
            weights[class] += weight;
            let lasted = rate * life.seconds / SECONDS_A_DAY;
            for (at, place) in places.iter().enumerate() {
                seen[class][at] += if lasted <= *place { weight } else { 0.0 };
                model[class][at] += weight * lower(life.updates.max(1) as f64, *place);
            }
        }
    }
    let share = |of: [f64; 3]| of.map(|own| own / of.iter().sum::<f64>());
    shares.row("by lives", share(by_lives));
    shares.row("by time on the page", share(by_time));
    shares.row("by lives, mean over pages", by_page.map(|sum| sum / pages));
    let mut gaps = Numbers::new(["largest gap of model and data", "of the distribution"]);
    let curve = |class: usize, sums: &[f64], name: String, kind: CurveKind| {
        let points = places.iter().zip(sums).map(|(x, sum)| Point::new(*x, sum / weights[class]));
        FigureCurve { name, kind, points: points.collect() }
    };
    let mut drawn = Vec::new();
    for (class, name) in CLASSES.iter().enumerate().filter(|(class, _)| weights[*class] > 0.0) {
        let data = curve(class, &seen[class], format!("{name}, seen"), CurveKind::Measured);
        let told = curve(class, &model[class], format!("{name}, model"), CurveKind::Reference);
        let apart = data.points.iter().zip(&told.points).map(|(a, b)| (a.y - b.y).abs());
        gaps.row(*name, [apart.fold(0.0, f64::max)]);
        drawn.push((class, [data, told]));
    }
    let figure = |name: &'static str, title: &str, wanted: &dyn Fn(usize) -> bool| Figure {
        name,
        title: title.to_owned(),
        across: Scale::linear("lifetime, in mean times between updates of the page"),
        up: Scale::linear("share of fragments gone by then").within(0.0, 1.0),
        curves: drawn
            .iter()
            .filter(|(class, _)| wanted(*class))
            .flat_map(|(_, curves)| curves.clone())
            .collect(),
    };
    let mut figures = vec![
        figure("4-lifetimes-churn", "Lives that end at the next update (K = 1)", &|class| class == 0),
        figure("5-lifetimes-scroll", "Lives that outlive updates (K = 2 and more)", &|class| class > 0),
    ];
    figures.retain(|figure| !figure.curves.is_empty());
    let mut notes = vec![
        "the model is the sum of K exponential times, the page's own rate of updates and each life's own K (§3.3); lives cut \
         off by either end are left out, so long ones are too few; and none is seen that is shorter than a step"
            .to_owned(),
        "read off lifetimes, as the paper does: slow churn beside a fast clock outlives many updates and counts as scroll. \
         `freshet history` looks at places in the text, which tells the two apart; datasets have no order of words"
            .to_owned(),
    ];
    if corpus.is_made_up() {
        notes.push(
            "here half of the pages with changing text churn, and all adverts do: what is K > 2 beyond the pages that \
             scroll is such slow churn"
                .to_owned(),
        );
    }
    Experiment {
        name: "4-lifetimes",
        title: "Fig. 4 and 5: how long fragments live; the shares of churn and scroll".to_owned(),
        notes,
        tables: vec![shares, gaps],
        figures,
    }
}
