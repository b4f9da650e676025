//! A series: numbers that belong together, and the shapes that are drawn of them.

use std::fmt::Write as _;

use super::axis::VAST;
use super::svg::{Frame, path, runs};

/// Numbers that belong together, and how they are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub(super) name: String,
    pub(super) shape: SeriesShape,
    pub(super) points: Vec<(f64, f64)>,
    /// x, low and high.
    pub(super) band: Vec<(f64, f64, f64)>,
    pub(super) stroke: Stroke,
    pub(super) grey: bool,
    pub(super) thin: bool,
    /// Of cells: how wide and high they are, and how dark, 0 to 1.
    pub(super) cells: (f64, f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    Whole,
    Dashed,
    Dotted,
}

impl Stroke {
    pub(super) fn dashes(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Dashed => r#" stroke-dasharray="6 4""#,
            Self::Dotted => r#" stroke-dasharray="2 3""#,
        }
    }
}

/// How a series differs from the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SeriesInk {
    pub(super) colour: &'static str,
    pub(super) stroke: Stroke,
    /// Of its line, in pixels.
    pub(super) width: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeriesShape {
    Line,
    Points,
    Steps,
    Bars,
    Cells,
    Area,
}

/// How dark an area is.
pub(super) const AREA: f64 = 0.3;
/// How dark a band around a line is.
const BAND: f64 = 0.15;

impl Series {
    /// A line through the points, in their order; where one can't be drawn the line breaks off.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(SeriesShape::Line, name, points)
    }

    /// A dot each.
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

    /// Shaded from low to high, as (x, low, high), without a line: the surface itself is meant.
    pub fn area(name: impl Into<String>, band: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        Self::new(SeriesShape::Area, name, []).band(band)
    }

    pub(super) fn new(
        shape: SeriesShape,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        let (name, points) = (name.into(), points.into_iter().collect());
        let (band, stroke, cells) = (Vec::new(), Stroke::Whole, (1.0, 1.0, 1.0));
        Self { name, shape, points, band, stroke, grey: false, thin: false, cells }
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

    /// Drawn with dashes.
    pub fn dashed(mut self) -> Self {
        self.stroke = Stroke::Dashed;
        self
    }

    /// Drawn with dots.
    pub fn dotted(mut self) -> Self {
        self.stroke = Stroke::Dotted;
        self
    }

    /// Not in a colour of its own, and below those that have one.
    pub fn grey(mut self) -> Self {
        self.grey = true;
        self
    }

    /// A thin line, for many that need not be told apart.
    pub fn thin(mut self) -> Self {
        self.thin = true;
        self
    }

    pub(super) fn reach_across(&self) -> Vec<f64> {
        let half = match self.shape {
            SeriesShape::Bars => self.bar_width() / 2.0,
            SeriesShape::Cells => self.cells.0 / 2.0,
            _ => 0.0,
        };
        let points = self.points.iter().flat_map(|(x, _)| [x - half, x + half]);
        points.chain(self.band.iter().map(|(x, ..)| *x)).collect()
    }

    pub(super) fn reach_up(&self) -> Vec<f64> {
        let foot = (self.shape == SeriesShape::Bars).then_some(0.0);
        let half = if self.shape == SeriesShape::Cells { self.cells.1 / 2.0 } else { 0.0 };
        let points = self.points.iter().flat_map(|(_, y)| [y - half, y + half]);
        points.chain(foot).chain(self.band.iter().flat_map(|(_, low, high)| [*low, *high])).collect()
    }

    pub(super) fn bar_width(&self) -> f64 {
        let mut places: Vec<f64> = self.points.iter().map(|(x, _)| *x).filter(|x| x.abs() <= VAST).collect();
        places.sort_by(f64::total_cmp);
        let gaps = places.windows(2).filter_map(|pair| match pair {
            [a, b] if b > a => Some(b - a),
            _ => None,
        });
        let least = gaps.fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 1.0 }
    }

    pub(super) fn draw(&self, ink: SeriesInk, frame: &Frame, svg: &mut String) {
        let SeriesInk { colour, stroke, width } = ink;
        for part in
            runs(self.band.iter().map(|(x, low, high)| Some((frame.at(*x, *low)?, frame.at(*x, *high)?))))
        {
            let forth = part.iter().map(|(low, _)| *low);
            let back = part.iter().rev().map(|(_, high)| *high);
            let path = path(forth.chain(back));
            let dark = if self.shape == SeriesShape::Area { AREA } else { BAND };
            let _ = writeln!(svg, r#"<path d="{path}Z" fill="{colour}" fill-opacity="{dark}"/>"#);
        }
        match self.shape {
            SeriesShape::Area => {}
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
                let dashes = stroke.dashes();
                for part in runs(self.points.iter().map(|(x, y)| frame.at(*x, *y))) {
                    let stepped = self.shape == SeriesShape::Steps;
                    let corners = part.iter().enumerate().flat_map(|(at, (x, y))| {
                        let before = if stepped && at > 0 { part.get(at - 1) } else { None };
                        [before.map(|(_, held)| (*x, *held)), Some((*x, *y))].into_iter().flatten()
                    });
                    let path = path(corners);
                    let _ = writeln!(
                        svg,
                        r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"{dashes}/>"#
                    );
                }
            }
        }
    }
}
