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

mod axis;
mod series;
mod svg;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

pub use axis::Axis;
pub use series::Series;

use series::SeriesShape;
use svg::{Frame, cut, escaped, fitting};

/// Colours that readers who confuse some tell apart as well (Okabe & Ito 2008), the lightest left out.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const GREY: &str = "#777777";

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
