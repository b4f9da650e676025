//! Curves, points, steps and bars as a picture that any browser shows: SVG, written by hand.
//!
//! Comes in: a title, two axes and series of numbers. Goes out: the text of one SVG file. What must stay true: the same
//! numbers give the same text; the text is well-formed whatever they are; what can't be drawn (not a number, infinite,
//! nothing or less on a logarithmic axis) is left out. In a file the background is white, so that it reads on dark pages too;
//! [`Plot::svg_in_page`] takes its colours from the page around it.
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
//! Besides there are [`Series::steps`], each value holding until the next, [`Series::bars`] and [`Series::area`]. A legend stands to the
//! right of the frame if a series has a name; a long one makes the picture higher. [`Series::grey`], dashed or
//! dotted, is for what is only there to compare with. Long titles are set smaller, long names cut.
//!
//! An axis goes as far as the numbers do. If the vertical one does not start at 0, its label says so.

mod axis;
pub(super) mod inks;
mod series;
pub(super) mod svg;
#[cfg(test)]
pub(super) mod tests;

use std::fmt::Write as _;

pub use axis::Axis;
pub use series::Series;

use inks::{IN_A_FILE, IN_A_PAGE, PlotInks};
use series::{AREA, SeriesInk, SeriesShape, Stroke};
use svg::{Frame, cut, escaped, fitting, wide};

/// Room for the title, the labels of the axes and their numbers, in pixels.
const TOP: f64 = 40.0;
const BOTTOM: f64 = 54.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 20.0;
/// From the frame to the numbers of the vertical axis, and from those to the left edge: there its label stands.
const GAP: f64 = 8.0;
const LABEL: f64 = 26.0;
/// Sizes of letters: of numbers and names, of the labels of axes, of the title.
const SMALL: f64 = 12.0;
const MIDDLE: f64 = 13.0;
const LARGE: f64 = 15.0;
/// A line of the legend, and the mark before its text.
const LINE: f64 = 20.0;
const MARK: f64 = 28.0;
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
    /// 720 pixels wide and 440 high; higher if the legend needs it.
    pub fn new(title: impl Into<String>, across: Axis, up: Axis) -> Self {
        Self { title: title.into(), across, up, series: Vec::new(), width: 720.0, height: 440.0 }
    }

    /// Grey series are drawn first, and then the others, in the order they are given: later ones over earlier ones.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The text of an SVG file.
    pub fn svg(&self) -> String {
        self.drawn(&IN_A_FILE)
    }

    /// The same as a part of an HTML page: its colours are CSS variables of that page (`--plot-ink`, `--plot-1` and so on), so that
    /// it follows light and dark. Where the page does not set them it looks as in a file.
    pub fn svg_in_page(&self) -> String {
        self.drawn(&IN_A_PAGE)
    }

    fn drawn(&self, inks: &PlotInks) -> String {
        let has_cells = self.series.iter().any(|series| series.shape == SeriesShape::Cells);
        let across = self.across.fitted(&self.series, Series::reach_across, false);
        let up = self.up.fitted(&self.series, Series::reach_up, !has_cells);
        let widest = up.ticks.iter().map(|(_, label)| wide(label, SMALL)).fold(0.0, f64::max);
        let left = LEFT.max(LABEL + widest + GAP);
        let frame = Frame {
            left,
            width: (self.width - left - RIGHT - self.legend_width()).max(60.0),
            height: (self.height - TOP - BOTTOM).max(LINE * self.named().count() as f64),
            across,
            up,
        };
        let mut svg = String::new();
        let (width, height) = (self.width, TOP + frame.height + BOTTOM);
        let _ = writeln!(
            svg,
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="{SMALL}" fill="{}">"##,
            inks.ink
        );
        let _ = writeln!(svg, "<title>{}</title>", escaped(&self.title));
        let _ = writeln!(svg, r#"<rect width="{width}" height="{height}" fill="{}"/>"#, inks.ground);
        let (size, title) = fitting(LARGE, &self.title, self.width - left - RIGHT);
        let _ = writeln!(
            svg,
            r#"<text x="{left:.1}" y="24" font-size="{size:.1}" font-weight="bold">{}</text>"#,
            escaped(&title)
        );
        self.draw_grid(&frame, inks, &mut svg);
        draw_numbers(&frame, self.width, &mut svg);
        self.draw_labels(&frame, !has_cells, &mut svg);
        // A picture within the picture cuts off what is beyond the axes.
        let _ = writeln!(
            svg,
            r#"<svg x="{left:.1}" y="{TOP}" width="{:.1}" height="{:.1}" overflow="hidden">"#,
            frame.width, frame.height
        );
        for grey in [true, false] {
            for (at, series) in self.series.iter().enumerate().filter(|(_, series)| series.grey == grey) {
                series.draw(self.ink(at, inks), &frame, &mut svg);
            }
        }
        svg.push_str("</svg>\n");
        self.draw_legend(&frame, inks, &mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    /// A colour each; those in grey use none up. When all colours are used up they come again, dashed and then dotted.
    fn ink(&self, at: usize, inks: &PlotInks) -> SeriesInk {
        let Some(series) = self.series.get(at) else {
            return SeriesInk { colour: inks.grey, stroke: Stroke::Whole, width: 2.0 };
        };
        let (colour, width) = if series.thin { (inks.light, 0.8) } else { (inks.grey, 2.0) };
        let ink = SeriesInk { colour, stroke: series.stroke, width };
        if series.grey {
            return ink;
        }
        // The shades of a surface are of one colour.
        if series.shape == SeriesShape::Cells {
            return SeriesInk { colour: inks.colour(0), ..ink };
        }
        let before = self.series.iter().take(at).filter(|series| !series.grey).count();
        let colour = inks.colour(before);
        let stroke = match (before / inks.colours.len(), series.stroke) {
            (1, Stroke::Whole) => Stroke::Dashed,
            (2.., Stroke::Whole) => Stroke::Dotted,
            (_, own) => own,
        };
        SeriesInk { colour, stroke, ..ink }
    }

    fn named(&self) -> impl Iterator<Item = (usize, &Series)> {
        self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty())
    }

    fn legend_width(&self) -> f64 {
        let widths = self.named().map(|(_, series)| wide(&cut(&series.name, LONGEST_NAME), SMALL));
        widths.fold(0.0, |most, width| f64::max(most, 14.0 + MARK + width))
    }

    fn draw_grid(&self, frame: &Frame, inks: &PlotInks, svg: &mut String) {
        let left = frame.left;
        let (right, bottom) = (left + frame.width, TOP + frame.height);
        let _ = writeln!(svg, r#"<g stroke="{}">"#, inks.grid);
        for (value, _) in &frame.across.ticks {
            let x = left + frame.x(*value);
            let _ = writeln!(svg, r#"<line x1="{x:.1}" y1="{TOP}" x2="{x:.1}" y2="{bottom:.1}"/>"#);
        }
        for (value, _) in &frame.up.ticks {
            let y = TOP + frame.y(*value);
            let _ = writeln!(svg, r#"<line x1="{left:.1}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}"/>"#);
        }
        svg.push_str("</g>\n");
        let _ = writeln!(
            svg,
            r#"<rect x="{left:.1}" y="{TOP}" width="{:.1}" height="{:.1}" fill="none" stroke="{}"/>"#,
            frame.width, frame.height, inks.frame
        );
    }

    fn draw_labels(&self, frame: &Frame, tells_start: bool, svg: &mut String) {
        let (middle, below) = (frame.left + frame.width / 2.0, TOP + frame.height + BOTTOM - 14.0);
        let (size, label) = fitting(MIDDLE, &self.across.label, frame.width);
        let _ = writeln!(
            svg,
            r#"<text x="{middle:.1}" y="{below:.1}" font-size="{size:.1}" text-anchor="middle">{}</text>"#,
            escaped(&label)
        );
        let middle = TOP + frame.height / 2.0;
        let start = frame.up.without_zero().filter(|_| tells_start && !self.up.label.is_empty());
        let start = start.map_or(String::new(), |start| format!(" ({start})"));
        let (size, label) = fitting(MIDDLE, &format!("{}{start}", self.up.label), frame.height + 40.0);
        let _ = writeln!(
            svg,
            r#"<text x="18" y="{middle:.1}" font-size="{size:.1}" text-anchor="middle" transform="rotate(-90 18 {middle:.1})">{}</text>"#,
            escaped(&label)
        );
    }

    /// A line for each series with a name. The frame is high enough for all.
    fn draw_legend(&self, frame: &Frame, inks: &PlotInks, svg: &mut String) {
        let left = frame.left + frame.width + 14.0;
        for (line, (at, series)) in self.named().enumerate() {
            let y = TOP + 10.0 + LINE * line as f64;
            let SeriesInk { colour, stroke, width } = self.ink(at, inks);
            match series.shape {
                SeriesShape::Points => {
                    let x = left + 11.0;
                    let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{colour}"/>"#);
                }
                SeriesShape::Bars | SeriesShape::Cells | SeriesShape::Area => {
                    let top = y - 5.0;
                    let dark = match series.shape {
                        SeriesShape::Bars => 0.6,
                        SeriesShape::Area => AREA,
                        _ => series.cells.2,
                    };
                    let _ = writeln!(
                        svg,
                        r#"<rect x="{left:.1}" y="{top:.1}" width="22" height="10" fill="{colour}" fill-opacity="{dark}"/>"#
                    );
                }
                SeriesShape::Line | SeriesShape::Steps => {
                    let (right, dashes) = (left + 22.0, stroke.dashes());
                    let _ = writeln!(
                        svg,
                        r#"<line x1="{left:.1}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}" stroke="{colour}" stroke-width="{width}"{dashes}/>"#
                    );
                }
            }
            let (x, y, name) = (left + MARK, y + 4.0, cut(&series.name, LONGEST_NAME));
            let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}">{}</text>"#, escaped(&name));
        }
    }
}

/// The numbers at the ticks. A number that would touch the one before is left out, and none leaves the picture.
fn draw_numbers(frame: &Frame, width: f64, svg: &mut String) {
    let y = TOP + frame.height + 17.0;
    let mut free = 0.0;
    for (value, label) in &frame.across.ticks {
        let half = wide(label, SMALL) / 2.0;
        let x = (frame.left + frame.x(*value)).clamp(half, (width - half).max(half));
        if x - half >= free {
            let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle">{label}</text>"#);
            free = x + half + 4.0;
        }
    }
    let mut free = f64::INFINITY;
    for (value, label) in &frame.up.ticks {
        let (x, y) = (frame.left - GAP, TOP + frame.y(*value) + 4.0);
        if y <= free {
            let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="end">{label}</text>"#);
            free = y - SMALL;
        }
    }
}
