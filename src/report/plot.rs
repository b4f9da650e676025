//! Curves, points, steps and bars as a picture that any browser shows: SVG, written by hand.
//!
//! Comes in: a title, two axes and series of numbers. Goes out: the text of one SVG file. What must stay true: the same
//! numbers give the same text; the text is well-formed whatever they are; what can't be drawn (not a number, infinite,
//! nothing or less on a logarithmic axis) is left out. The background is white, so that it reads on dark pages too.
//!
//! ```
//! use freshet::report::plot::{Axis, Plot, Series};
//!
//! let learnt = [(1.0, 0.52), (2.0, 0.71), (4.0, 0.83)];
//! let svg = Plot::new("Freshness reached", Axis::log("days"), Axis::linear("freshness").within(0.0, 1.0))
//!     .with(Series::line("utility", learnt).band([(1.0, 0.4, 0.6), (2.0, 0.6, 0.8), (4.0, 0.8, 0.9)]))
//!     .with(Series::line("the best there is", [(1.0, 0.9), (4.0, 0.9)]).dashed())
//!     .with(Series::points("seen", [(1.5, 0.6), (3.0, 0.8)]))
//!     .svg();
//! assert!(svg.starts_with("<svg") && svg.contains("the best there is"));
//! ```
//!
//! Besides there are [`Series::steps`], each value holding until the next, and [`Series::bars`]. A legend stands to the
//! right of the frame if a series has a name. [`Series::grey`], dashed or
//! dotted, is for what is only there to compare with. Long titles are set smaller, long names cut.

use std::fmt::Write as _;

/// Colours that readers who confuse some tell apart as well (Okabe & Ito 2008), the lightest left out.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const GREY: &str = "#777777";
/// Numbers beyond are left out: differences of those within are finite.
const VAST: f64 = 1e150;

/// Room for the title, the labels of the axes and their numbers, in pixels.
const TOP: f64 = 40.0;
const BOTTOM: f64 = 54.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 20.0;
/// A line of the legend, the mark before its text, and how wide a letter of it is at most, about.
const LINE: f64 = 20.0;
const MARK: f64 = 28.0;
const LETTER: f64 = 6.8;
/// Names that are longer are cut.
const LONGEST_NAME: usize = 30;

/// A picture to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    title: String,
    across: Axis,
    up: Axis,
    series: Vec<Series>,
    width: f64,
    height: f64,
}

impl Plot {
    /// 720 pixels wide and 440 high.
    pub fn new(title: impl Into<String>, across: Axis, up: Axis) -> Self {
        Self { title: title.into(), across, up, series: Vec::new(), width: 720.0, height: 440.0 }
    }

    /// At least 200 by 150.
    pub fn sized(mut self, width: u32, height: u32) -> Self {
        (self.width, self.height) = (f64::from(width.max(200)), f64::from(height.max(150)));
        self
    }

    /// Series are drawn in the order they are given, later ones over earlier ones.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The text of an SVG file.
    pub fn svg(&self) -> String {
        let across = self.across.fitted(&self.series, Series::reach_across);
        let up = self.up.fitted(&self.series, Series::reach_up);
        let frame = Frame {
            width: (self.width - LEFT - RIGHT - self.legend_width()).max(60.0),
            height: self.height - TOP - BOTTOM,
            across,
            up,
        };
        let mut svg = String::new();
        let (width, height) = (self.width, self.height);
        let _ = writeln!(
            svg,
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222222">"##
        );
        let _ = writeln!(svg, "<title>{}</title>", escaped(&self.title));
        let _ = writeln!(svg, r##"<rect width="{width}" height="{height}" fill="#ffffff"/>"##);
        let _ = writeln!(
            svg,
            r#"<text x="{LEFT}" y="24" font-size="{:.1}" font-weight="bold">{}</text>"#,
            fitting(15.0, &self.title, self.width - LEFT - RIGHT),
            escaped(&self.title)
        );
        self.draw_axes(&frame, &mut svg);
        // A picture within the picture cuts off what is beyond the axes.
        let _ = writeln!(
            svg,
            r#"<svg x="{LEFT}" y="{TOP}" width="{:.1}" height="{:.1}" overflow="hidden">"#,
            frame.width, frame.height
        );
        for (at, series) in self.series.iter().enumerate() {
            series.draw(self.colour(at), &frame, &mut svg);
        }
        svg.push_str("</svg>\n");
        self.draw_legend(&frame, &mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    /// Each has its own, those in grey using none up.
    fn colour(&self, at: usize) -> &'static str {
        if self.series.get(at).is_some_and(|series| series.grey) {
            return GREY;
        }
        // The shades of a surface are of one colour.
        if self.series.get(at).is_some_and(|series| series.shape == SeriesShape::Cells) {
            return COLOURS.first().copied().unwrap_or(GREY);
        }
        let before = self.series.iter().take(at).filter(|series| !series.grey).count();
        COLOURS.get(before % COLOURS.len()).copied().unwrap_or(GREY)
    }

    fn legend_width(&self) -> f64 {
        let longest = self.series.iter().map(|series| cut(&series.name).chars().count()).max().unwrap_or(0);
        if longest == 0 { 0.0 } else { 14.0 + MARK + LETTER * longest as f64 }
    }

    fn draw_axes(&self, frame: &Frame, svg: &mut String) {
        let (right, bottom) = (LEFT + frame.width, TOP + frame.height);
        svg.push_str("<g stroke=\"#e2e2e2\">\n");
        for (value, _) in &frame.across.ticks {
            let x = LEFT + frame.x(*value);
            let _ = writeln!(svg, r#"<line x1="{x:.1}" y1="{TOP}" x2="{x:.1}" y2="{bottom:.1}"/>"#);
        }
        for (value, _) in &frame.up.ticks {
            let y = TOP + frame.y(*value);
            let _ = writeln!(svg, r#"<line x1="{LEFT}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}"/>"#);
        }
        svg.push_str("</g>\n");
        let _ = writeln!(
            svg,
            r##"<rect x="{LEFT}" y="{TOP}" width="{:.1}" height="{:.1}" fill="none" stroke="#888888"/>"##,
            frame.width, frame.height
        );
        for (value, label) in &frame.across.ticks {
            let x = LEFT + frame.x(*value);
            let y = bottom + 17.0;
            let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle">{label}</text>"#);
        }
        for (value, label) in &frame.up.ticks {
            let (x, y) = (LEFT - 8.0, TOP + frame.y(*value) + 4.0);
            let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="end">{label}</text>"#);
        }
        let (middle, below) = (LEFT + frame.width / 2.0, self.height - 14.0);
        let _ = writeln!(
            svg,
            r#"<text x="{middle:.1}" y="{below:.1}" font-size="{:.1}" text-anchor="middle">{}</text>"#,
            fitting(13.0, &self.across.label, frame.width),
            escaped(&self.across.label)
        );
        let middle = TOP + frame.height / 2.0;
        let _ = writeln!(
            svg,
            r#"<text x="18" y="{middle:.1}" font-size="{:.1}" text-anchor="middle" transform="rotate(-90 18 {middle:.1})">{}</text>"#,
            fitting(13.0, &self.up.label, frame.height + 40.0),
            escaped(&self.up.label)
        );
    }

    /// As many lines as there is room for.
    fn draw_legend(&self, frame: &Frame, svg: &mut String) {
        let left = LEFT + frame.width + 14.0;
        let named = self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty());
        let room = (frame.height / LINE).floor() as usize;
        for (line, (at, series)) in named.take(room).enumerate() {
            let y = TOP + 10.0 + LINE * line as f64;
            let colour = self.colour(at);
            match series.shape {
                SeriesShape::Points => {
                    let x = left + 11.0;
                    let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{colour}"/>"#);
                }
                SeriesShape::Bars | SeriesShape::Cells => {
                    let top = y - 5.0;
                    let dark = if series.shape == SeriesShape::Bars { 0.6 } else { series.cells.2 };
                    let _ = writeln!(
                        svg,
                        r#"<rect x="{left:.1}" y="{top:.1}" width="22" height="10" fill="{colour}" fill-opacity="{dark}"/>"#
                    );
                }
                SeriesShape::Line | SeriesShape::Steps => {
                    let right = left + 22.0;
                    let dashes = series.dashes();
                    let _ = writeln!(
                        svg,
                        r#"<line x1="{left:.1}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}" stroke="{colour}" stroke-width="2"{dashes}/>"#
                    );
                }
            }
            let (x, y) = (left + MARK, y + 4.0);
            let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}">{}</text>"#, escaped(&cut(&series.name)));
        }
    }
}

/// What one direction of the picture means.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    label: String,
    log: bool,
    from: Option<f64>,
    to: Option<f64>,
}

impl Axis {
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), log: false, from: None, to: None }
    }

    /// In powers of ten; what is not above 0 is left out.
    pub fn log(label: impl Into<String>) -> Self {
        Self { log: true, ..Self::linear(label) }
    }

    /// From here to there, whatever the numbers are. Bounds that can't be are passed over.
    pub fn within(self, from: f64, to: f64) -> Self {
        self.from(from).to(to)
    }

    pub fn from(mut self, from: f64) -> Self {
        self.from = self.can_show(from).then_some(from);
        self
    }

    pub fn to(mut self, to: f64) -> Self {
        self.to = self.can_show(to).then_some(to);
        self
    }

    fn can_show(&self, value: f64) -> bool {
        value.abs() <= VAST && (!self.log || value >= 1.0 / VAST)
    }

    /// As far as the numbers reach, and where its lines and numbers stand.
    fn fitted(&self, series: &[Series], reach: fn(&Series) -> Vec<f64>) -> FittedAxis {
        let shown = series.iter().flat_map(reach).filter(|value| self.can_show(*value));
        let (low, high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 1.0) };
        let scaled = |value: f64| if self.log { value.log10() } else { value };
        let pad = if self.log { 0.02 } else { 0.03 } * (scaled(high) - scaled(low));
        let from = self.from.map_or_else(|| scaled(low) - pad, scaled);
        let to = self.to.map_or_else(|| scaled(high) + pad, scaled);
        // Counts and shares begin at 0, not a little below.
        let from = if !self.log && self.from.is_none() && low >= 0.0 { from.max(0.0) } else { from };
        let (from, to) = widened(from, to);
        FittedAxis {
            log: self.log,
            from,
            to,
            ticks: if self.log { log_ticks(from, to) } else { ticks(from, to) },
        }
    }
}

/// Bounds that are apart.
fn widened(from: f64, to: f64) -> (f64, f64) {
    let size = from.abs().max(to.abs());
    if to - from > 1e-9 * size && to - from > 1.0 / VAST {
        return (from, to);
    }
    let more = if size > 1.0 / VAST { 0.05 * size } else { 0.5 };
    (from.min(to) - more, from.max(to) + more)
}

/// An axis with bounds; those of a logarithmic one are powers of ten.
struct FittedAxis {
    log: bool,
    from: f64,
    to: f64,
    ticks: Vec<(f64, String)>,
}

impl FittedAxis {
    /// Where a value is between the bounds, 0 to 1; `None` if it can't be drawn.
    fn place(&self, value: f64) -> Option<f64> {
        let scaled = if self.log { value.log10() } else { value };
        (scaled.abs() <= VAST).then(|| ((scaled - self.from) / (self.to - self.from)).clamp(-20.0, 20.0))
    }
}

/// Round numbers at even distances of 1, 2 or 5 times a power of ten: about six.
fn ticks(from: f64, to: f64) -> Vec<(f64, String)> {
    let rough = (to - from) / 6.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let first = (from / step - 1e-6).ceil();
    let values =
        (0..12).map(|at| (first + f64::from(at)) * step).take_while(|value| *value <= to + 1e-6 * step);
    values.map(|value| (value, tick_label(value, step, decimals))).collect()
}

fn tick_label(value: f64, step: f64, decimals: usize) -> String {
    let value = if value.abs() < step / 2.0 { 0.0 } else { value };
    let plain = value.abs() < 1e5 && step >= 1e-5;
    if plain || value == 0.0 { format!("{value:.decimals$}") } else { short(value) }
}

/// Powers of ten; between them also twice and five times these, if there are few.
fn log_ticks(from: f64, to: f64) -> Vec<(f64, String)> {
    let spread = to - from;
    let multiples: &[f64] = match spread {
        _ if spread < 1.2 => &[1.0, 2.0, 3.0, 5.0, 7.0],
        _ if spread < 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let stride = (spread / 8.0).ceil().max(1.0);
    let first = (from / stride).floor() * stride;
    let powers = (0..12).map(|at| first + stride * f64::from(at));
    let marks: Vec<(f64, String)> = powers
        .flat_map(|power| multiples.iter().map(move |times| times * 10_f64.powf(power)))
        .filter(|value| (from - 1e-9..=to + 1e-9).contains(&value.log10()))
        .map(|value| (value, short(value)))
        .collect();
    if marks.len() >= 2 {
        return marks;
    }
    let (low, high) = (10_f64.powf(from), 10_f64.powf(to));
    if high - low > 1e-9 * high { ticks(low, high) } else { marks }
}

/// As few figures as a round number has.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-4..1e5).contains(&value.abs()) {
        let decimals = (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
        let text = format!("{value:.decimals$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return text.to_owned();
    }
    let text = format!("{value:.3e}");
    match text.split_once('e') {
        Some((figures, power)) => {
            format!("{}e{power}", figures.trim_end_matches('0').trim_end_matches('.'))
        }
        None => text,
    }
}

/// Numbers that belong together, and how they are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    name: String,
    shape: SeriesShape,
    points: Vec<(f64, f64)>,
    /// x, low and high.
    band: Vec<(f64, f64, f64)>,
    stroke: Stroke,
    grey: bool,
    /// Of cells: how wide and high they are, and how dark, 0 to 1.
    cells: (f64, f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stroke {
    Whole,
    Dashed,
    Dotted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SeriesShape {
    Line,
    Points,
    Steps,
    Bars,
    Cells,
}

impl Series {
    /// A line through the points, in their order; where one can't be drawn the line breaks off.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(SeriesShape::Line, name, points)
    }

    pub fn points(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(SeriesShape::Points, name, points)
    }

    /// A value holds until the next.
    pub fn steps(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(SeriesShape::Steps, name, points)
    }

    /// A bar each, x being its middle, as wide as the two nearest bars are apart.
    pub fn bars(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(SeriesShape::Bars, name, points)
    }

    fn new(
        shape: SeriesShape,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        let (name, points) = (name.into(), points.into_iter().collect());
        let (band, stroke, grey, cells) = (Vec::new(), Stroke::Whole, false, (1.0, 1.0, 1.0));
        Self { name, shape, points, band, stroke, grey, cells }
    }

    /// Rectangles of that width and height around the points, as dark as is said, 0 to 1: several such series make a surface.
    pub fn cells(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
        (width, height): (f64, f64),
        dark: f64,
    ) -> Self {
        let cells = (width, height, dark.clamp(0.0, 1.0));
        Self { cells, ..Self::new(SeriesShape::Cells, name, points) }
    }

    /// Shaded from low to high, as (x, low, high): how sure the numbers are.
    pub fn band(mut self, band: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        self.band = band.into_iter().collect();
        self
    }

    pub fn dashed(mut self) -> Self {
        self.stroke = Stroke::Dashed;
        self
    }

    pub fn dotted(mut self) -> Self {
        self.stroke = Stroke::Dotted;
        self
    }

    /// Not in a colour of its own.
    pub fn grey(mut self) -> Self {
        self.grey = true;
        self
    }

    fn dashes(&self) -> &'static str {
        match self.stroke {
            Stroke::Whole => "",
            Stroke::Dashed => r#" stroke-dasharray="6 4""#,
            Stroke::Dotted => r#" stroke-dasharray="2 3""#,
        }
    }

    fn reach_across(&self) -> Vec<f64> {
        let half = match self.shape {
            SeriesShape::Bars => self.bar_width() / 2.0,
            SeriesShape::Cells => self.cells.0 / 2.0,
            _ => 0.0,
        };
        let points = self.points.iter().flat_map(|(x, _)| [x - half, x + half]);
        points.chain(self.band.iter().map(|(x, ..)| *x)).collect()
    }

    fn reach_up(&self) -> Vec<f64> {
        let foot = (self.shape == SeriesShape::Bars).then_some(0.0);
        let half = if self.shape == SeriesShape::Cells { self.cells.1 / 2.0 } else { 0.0 };
        let points = self.points.iter().flat_map(|(_, y)| [y - half, y + half]);
        points.chain(foot).chain(self.band.iter().flat_map(|(_, low, high)| [*low, *high])).collect()
    }

    fn bar_width(&self) -> f64 {
        let mut places: Vec<f64> = self.points.iter().map(|(x, _)| *x).filter(|x| x.abs() <= VAST).collect();
        places.sort_by(f64::total_cmp);
        let gaps = places.windows(2).filter_map(|pair| match pair {
            [a, b] if b > a => Some(b - a),
            _ => None,
        });
        let least = gaps.fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 1.0 }
    }

    fn draw(&self, colour: &str, frame: &Frame, svg: &mut String) {
        for part in
            runs(self.band.iter().map(|(x, low, high)| Some((frame.at(*x, *low)?, frame.at(*x, *high)?))))
        {
            let forth = part.iter().map(|(low, _)| *low);
            let back = part.iter().rev().map(|(_, high)| *high);
            let path = path(forth.chain(back));
            let _ = writeln!(svg, r#"<path d="{path}Z" fill="{colour}" fill-opacity="0.15"/>"#);
        }
        match self.shape {
            SeriesShape::Points => {
                for (x, y) in self.points.iter().filter_map(|(x, y)| frame.at(*x, *y)) {
                    let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#);
                }
            }
            SeriesShape::Bars => {
                let half = self.bar_width() / 2.0;
                for (x, y) in &self.points {
                    let ends = (frame.at(x - half, *y), frame.at(x + half, *y));
                    let (Some((left, top)), Some((right, _))) = ends else { continue };
                    let foot = frame.foot();
                    let (top, high, wide) = (top.min(foot), (top - foot).abs(), (right - left).max(0.5));
                    let _ = writeln!(
                        svg,
                        r#"<rect x="{left:.1}" y="{top:.1}" width="{wide:.1}" height="{high:.1}" fill="{colour}" fill-opacity="0.6"/>"#
                    );
                }
            }
            SeriesShape::Cells => {
                let (width, height, dark) = self.cells;
                for (x, y) in &self.points {
                    let corners = (
                        frame.at(x - width / 2.0, y + height / 2.0),
                        frame.at(x + width / 2.0, y - height / 2.0),
                    );
                    let (Some((left, top)), Some((right, bottom))) = corners else { continue };
                    let (wide, high) = (right - left, bottom - top);
                    let _ = writeln!(
                        svg,
                        r#"<rect x="{left:.1}" y="{top:.1}" width="{wide:.1}" height="{high:.1}" fill="{colour}" fill-opacity="{dark:.2}"/>"#
                    );
                }
            }
            SeriesShape::Line | SeriesShape::Steps => {
                let dashes = self.dashes();
                for part in runs(self.points.iter().map(|(x, y)| frame.at(*x, *y))) {
                    let stepped = self.shape == SeriesShape::Steps;
                    let corners = part.iter().enumerate().flat_map(|(at, (x, y))| {
                        let before = if stepped && at > 0 { part.get(at - 1) } else { None };
                        [before.map(|(_, held)| (*x, *held)), Some((*x, *y))].into_iter().flatten()
                    });
                    let path = path(corners);
                    let _ = writeln!(
                        svg,
                        r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"{dashes}/>"#
                    );
                }
            }
        }
    }
}

/// Where the numbers go, in pixels from the frame's upper left corner.
struct Frame {
    width: f64,
    height: f64,
    across: FittedAxis,
    up: FittedAxis,
}

impl Frame {
    fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.width * self.across.place(x)?, self.height * (1.0 - self.up.place(y)?)))
    }

    /// Of a value that can be drawn.
    fn x(&self, value: f64) -> f64 {
        self.width * self.across.place(value).unwrap_or(0.0)
    }

    fn y(&self, value: f64) -> f64 {
        self.height * (1.0 - self.up.place(value).unwrap_or(0.0))
    }

    /// Where bars stand: at 0, or at the lower edge if that is not there.
    fn foot(&self) -> f64 {
        if self.up.log { self.height } else { self.y(0.0).clamp(0.0, self.height) }
    }
}

/// The stretches between what is missing.
fn runs<T>(places: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let mut runs = vec![Vec::new()];
    for place in places {
        match (place, runs.last_mut()) {
            (Some(place), Some(run)) => run.push(place),
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn path(corners: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    let mut last = String::new();
    for (x, y) in corners {
        let corner = format!("{x:.1},{y:.1}");
        if corner != last {
            let _ = write!(path, "{}{corner}", if path.is_empty() { 'M' } else { 'L' });
            last = corner;
        }
    }
    path
}

/// The size of letters, smaller if the text would need more room; a letter is six tenths as wide as high, about.
fn fitting(size: f64, text: &str, room: f64) -> f64 {
    let wide = 0.6 * size * text.chars().count().max(1) as f64;
    size * (room / wide).clamp(0.3, 1.0)
}

fn cut(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

/// As text and in quotes; what XML has no place for becomes a blank.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => safe.push(' '),
            _ if letter.is_control() => safe.push(' '),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quick_xml::Reader;
    use quick_xml::events::Event;

    /// The names of the elements and all text.
    fn read(svg: &str) -> (Vec<String>, String) {
        let mut reader = Reader::from_str(svg);
        let (mut names, mut text, mut depth) = (Vec::new(), String::new(), 0);
        loop {
            match reader.read_event().expect("well-formed") {
                Event::Start(tag) => {
                    depth += 1;
                    assert!(tag.attributes().all(|attribute| attribute.is_ok()));
                    names.push(tag.name().as_ref().to_owned());
                }
                Event::Empty(tag) => {
                    assert!(tag.attributes().all(|attribute| attribute.is_ok()));
                    names.push(tag.name().as_ref().to_owned());
                }
                Event::End(_) => depth -= 1,
                Event::Text(piece) => text.push_str(&piece),
                Event::GeneralRef(piece) => text.push_str(&format!("&{};", &*piece)),
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(depth, 0);
        (names, text)
    }

    fn labels(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn a_plot_has_its_words_and_one_shape_each() {
        let plot = Plot::new("A & B", Axis::linear("days <old>"), Axis::log("error"))
            .with(Series::line("line", [(0.0, 1.0), (1.0, 10.0)]).band([(0.0, 0.5, 2.0), (1.0, 5.0, 20.0)]))
            .with(Series::steps("steps", [(0.0, 1.0), (1.0, 2.0)]).dashed())
            .with(Series::points("points", [(0.5, 3.0), (0.7, -3.0)]))
            .with(Series::bars("bars", [(0.2, 3.0)]).grey());
        let svg = plot.svg();
        let (names, text) = read(&svg);
        let many = |name: &str| names.iter().filter(|other| *other == name).count();
        for word in ["A &amp; B", "days &lt;old&gt;", "error", "line", "steps", "points", "bars"] {
            assert!(text.contains(word), "{word} in {text}");
        }
        assert_eq!(many("path"), 3, "a line, its band, and steps");
        assert_eq!(many("circle"), 2, "one point that can be drawn, one in the legend");
        assert!(svg.contains("stroke-dasharray") && svg.contains(GREY) && svg.contains(r#"width="720""#));
        assert_eq!(svg, plot.clone().svg());
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (f64::INFINITY, 2.0), (2.0, 3.0), (3.0, 4.0)];
        let svg = Plot::new("", Axis::linear(""), Axis::linear("")).with(Series::line("", points)).svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(read(&svg).0.iter().filter(|name| *name == "path").count(), 2, "the line breaks off");
        let empty = Plot::new("nothing", Axis::log("x"), Axis::linear("y")).sized(1, 1).svg();
        assert!(read(&empty).1.contains("nothing") && empty.contains(r#"width="200""#));
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(ticks(0.0, 1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(ticks(-3.0, 33.0)), ["0", "10", "20", "30"]);
        assert_eq!(labels(ticks(0.0, 2e6)), ["0", "5e5", "1e6", "1.5e6", "2e6"]);
        assert_eq!(labels(log_ticks(-2.0, 2.0)), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(log_ticks(0.0, 2.0)), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(log_ticks(0.5, 0.6)), ["3.2", "3.4", "3.6", "3.8"]);
        assert!(labels(log_ticks(-100.0, 100.0)).len() <= 9);
    }

    #[test]
    fn long_titles_are_set_smaller() {
        assert_eq!(fitting(15.0, "short", 600.0), 15.0);
        assert_eq!(fitting(15.0, &"long".repeat(25), 450.0), 7.5);
    }

    #[test]
    fn a_step_holds_its_value_until_the_next() {
        let svg = Plot::new("", Axis::linear("").within(0.0, 1.0), Axis::linear("").within(0.0, 1.0))
            .with(Series::steps("", [(0.0, 0.0), (0.5, 1.0)]))
            .svg();
        assert!(svg.contains("M0.0,346.0L314.0,346.0L314.0,0.0"), "{svg}");
    }

    fn any_series() -> impl Strategy<Value = Series> {
        let number = prop_oneof![any::<f64>(), -10.0..10.0_f64, Just(0.0)];
        let points = proptest::collection::vec((number.clone(), number.clone()), 0..12);
        let band = proptest::collection::vec((number.clone(), number.clone(), number), 0..5);
        (0..4_u8, any::<String>(), points, band, any::<bool>()).prop_map(
            |(shape, name, points, band, plain)| {
                let shape = [SeriesShape::Line, SeriesShape::Points, SeriesShape::Steps, SeriesShape::Bars]
                    [usize::from(shape)];
                Series {
                    stroke: if plain { Stroke::Dotted } else { Stroke::Dashed },
                    grey: plain,
                    band,
                    ..Series::new(shape, name, points)
                }
            },
        )
    }

    proptest! {
        #[test]
        fn whatever_the_numbers_the_picture_is_well_formed(
            series in proptest::collection::vec(any_series(), 0..4),
            title in any::<String>(),
            logs in any::<(bool, bool)>(),
            bounds in proptest::option::of((any::<f64>(), any::<f64>())),
        ) {
            let axis = |log: bool| if log { Axis::log(title.clone()) } else { Axis::linear(title.clone()) };
            let up = match bounds {
                Some((from, to)) => axis(logs.1).within(from, to),
                None => axis(logs.1),
            };
            let plot = series.into_iter().fold(Plot::new(title.clone(), axis(logs.0), up), Plot::with);
            let svg = plot.svg();
            read(&svg);
            let drawn: String = svg.lines().filter(|line| !line.contains("<text") && !line.contains("<title")).collect();
            prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{}", drawn);
        }
    }
}
