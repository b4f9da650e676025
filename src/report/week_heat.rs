//! The changes of a site by hour and weekday, as a heat map of 168 cells for a page of HTML.

use std::fmt::Write as _;

use super::plot::inks::IN_A_PAGE;
use super::plot::svg::escaped;
use super::rate;
use crate::look::week_hours::{HOURS, WeekHours};

/// Names of the days, in the order of the rows.
pub const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Size of a cell, and room for the names of days and hours, in pixels.
const WIDE: f64 = 26.0;
const HIGH: f64 = 22.0;
const LEFT: f64 = 40.0;
const BOTTOM: f64 = 22.0;
const RIGHT: f64 = 4.0;
const GAP: f64 = 2.0;
const LETTERS: f64 = 12.0;
/// The darkest cell, and the least dark of those that are not empty.
const DARKEST: f64 = 0.95;
const FAINTEST: f64 = 0.2;

/// The heat map, in the colours of the page around it; `None` if no change has an hour.
pub fn week_heat(hours: &WeekHours) -> Option<String> {
    let most = hours.most();
    if !(most > 0.0 && most.is_finite()) {
        return None;
    }
    let (width, height) = (LEFT + WIDE * HOURS as f64 + RIGHT, HIGH * WEEKDAYS.len() as f64 + BOTTOM);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="{LETTERS}" fill="{}">"#,
        IN_A_PAGE.ink
    );
    let _ = writeln!(svg, "<title>Changes by weekday and hour</title>");
    for (row, (name, cells)) in WEEKDAYS.iter().zip(&hours.cells).enumerate() {
        let y = HIGH * row as f64;
        let _ = writeln!(svg, r#"<text x="0" y="{:.1}">{name}</text>"#, y + 0.7 * HIGH);
        for (hour, changes) in cells.iter().enumerate() {
            let x = LEFT + WIDE * hour as f64;
            let (wide, high) = (WIDE - GAP, HIGH - GAP);
            let (colour, dark) = match changes / most {
                share if share > 0.0 => {
                    (IN_A_PAGE.colour(0), FAINTEST + (DARKEST - FAINTEST) * share.min(1.0))
                }
                _ => (IN_A_PAGE.grid, 0.5),
            };
            let told = format!("{name} {hour:02}:00 to {:02}:00, {} changes", hour + 1, written(*changes));
            let _ = writeln!(
                svg,
                r#"<rect x="{x:.1}" y="{y:.1}" width="{wide}" height="{high}" rx="2" fill="{colour}" fill-opacity="{dark:.2}"><title>{}</title></rect>"#,
                escaped(&told)
            );
        }
    }
    let y = HIGH * WEEKDAYS.len() as f64 + LETTERS + 3.0;
    for hour in (0..HOURS).step_by(3) {
        let x = LEFT + WIDE * (hour as f64 + 0.5) - GAP / 2.0;
        let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle">{hour:02}</text>"#);
    }
    svg.push_str("</svg>\n");
    Some(svg)
}

/// A number of changes, which were spread over hours.
pub fn written(changes: f64) -> String {
    match changes {
        whole if (whole - whole.round()).abs() < 1e-9 => format!("{:.0}", whole.abs()),
        small if small < 0.001 => "under 0.001".to_owned(),
        other => rate(other),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::plot::tests::read;

    fn hours(cells: [[f64; 24]; 7]) -> WeekHours {
        WeekHours { cells, changes: 1, without_hour: 0, since: None }
    }

    #[test]
    fn a_week_has_168_cells_and_the_fullest_is_the_darkest() {
        let mut cells = [[0.0; 24]; 7];
        cells[0][9] = 3.0;
        cells[6][23] = 0.25;
        let svg = week_heat(&hours(cells)).expect("changes");
        let (names, text) = read(&svg);
        assert_eq!(names.iter().filter(|name| *name == "rect").count(), 168);
        assert!(
            text.contains("Mon 09:00 to 10:00, 3 changes")
                && text.contains("Sun 23:00 to 24:00, 0.2500 changes")
        );
        assert_eq!(svg.matches("fill-opacity=\"0.95\"").count(), 1);
        assert_eq!(week_heat(&hours([[0.0; 24]; 7])), None);
    }

    proptest! {
        #[test]
        fn any_numbers_make_a_finite_picture(cell in any::<f64>(), other in any::<f64>()) {
            let mut cells = [[cell; 24]; 7];
            cells[3][3] = other;
            if let Some(svg) = week_heat(&hours(cells)) {
                read(&svg);
                let drawn: String = svg.lines().map(|line| line.split("<title>").next().unwrap_or_default()).collect();
                prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{}", drawn);
            }
        }
    }
}
