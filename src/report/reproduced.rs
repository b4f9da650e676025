//! Experiments that were run again, drawn as tables and pictures.

use crate::reproduce::{CurveKind, Experiment, Figure, FigureCurve, Numbers, Reproduced, Scale};

use super::plot::{Axis, Plot, Series};
use super::{Align, Table, rate};

/// The tables and notes of every experiment.
pub fn tables(found: &Reproduced) -> String {
    let mut text = format!("{}\n", found.paper);
    for experiment in &found.experiments {
        text.push_str(&format!("\n{}\n", experiment.title));
        for table in &experiment.tables {
            text.push('\n');
            text.push_str(&drawn(table));
        }
        text.push('\n');
        for note in &experiment.notes {
            text.push_str(&format!("  - {note}\n"));
        }
    }
    text
}

fn drawn(numbers: &Numbers) -> String {
    let aligned =
        |(at, head): (usize, &String)| (head.clone(), if at == 0 { Align::Left } else { Align::Right });
    let heads: Vec<(String, Align)> = numbers.heads.iter().enumerate().map(aligned).collect();
    let heads: Vec<(&str, Align)> = heads.iter().map(|(head, align)| (head.as_str(), *align)).collect();
    let mut table = Table::new(&heads);
    for (name, values) in &numbers.rows {
        table.row(std::iter::once(name.clone()).chain(values.iter().map(|value| cell(*value))));
    }
    table.render()
}

/// A number of a table; `-` if it is unknown. Whole numbers, which are counts, have no decimals.
pub(super) fn cell(value: f64) -> String {
    match value {
        value if !value.is_finite() => "-".to_owned(),
        value if value.fract() == 0.0 => format!("{value:.0}"),
        value => rate(value),
    }
}

/// The file name of a figure, without its ending.
pub fn figure_file(paper: &str, figure: &Figure) -> String {
    format!("{paper}-{}", figure.name)
}

/// The file name of a table, which is counted from 1 within its experiment.
pub fn table_file(paper: &str, experiment: &Experiment, at: usize) -> String {
    format!("{paper}-{}-table-{at}.csv", experiment.name)
}

/// The picture of a figure.
pub fn picture(figure: &Figure) -> Plot {
    let plot = Plot::new(figure.title.clone(), axis(&figure.across), axis(&figure.up));
    let mut references = 0;
    figure.curves.iter().fold(plot, |plot, curve| {
        references += usize::from(curve.kind == CurveKind::Reference);
        let series = series(curve);
        plot.with(if references == 2 { series.dotted() } else { series })
    })
}

fn axis(scale: &Scale) -> Axis {
    let label = scale.label.clone();
    let axis = if scale.log { Axis::log(label) } else { Axis::linear(label) };
    let axis = scale.from.map_or(axis.clone(), |from| axis.from(from));
    scale.to.map_or(axis.clone(), |to| axis.to(to))
}

fn series(curve: &FigureCurve) -> Series {
    let (name, points) = (curve.name.clone(), curve.points.iter().map(|point| (point.x, point.y)));
    let band = curve.points.iter().filter_map(|point| point.bounds.map(|(low, high)| (point.x, low, high)));
    match curve.kind {
        CurveKind::Measured => Series::line(name, points).band(band),
        CurveKind::Reference => Series::line(name, points).dashed().grey(),
        CurveKind::Histogram => Series::bars(name, points).grey(),
        CurveKind::Scatter => Series::points(name, points),
    }
}
