//! Pictures as a reader of XML sees them.

use super::axis::{log_ticks, ticks};
use super::inks::IN_A_FILE;
use super::series::Stroke;
use super::*;
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;

/// The names of the elements and all text.
pub(in crate::report) fn read(svg: &str) -> (Vec<String>, String) {
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
    assert!(
        svg.contains("stroke-dasharray") && svg.contains(IN_A_FILE.grey) && svg.contains(r#"width="720""#)
    );
    assert_eq!(svg, plot.clone().svg());
}

#[test]
fn what_is_no_number_is_left_out() {
    let points = [(0.0, 1.0), (1.0, f64::NAN), (f64::INFINITY, 2.0), (2.0, 3.0), (3.0, 4.0)];
    let svg = Plot::new("", Axis::linear(""), Axis::linear("")).with(Series::line("", points)).svg();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    assert_eq!(read(&svg).0.iter().filter(|name| *name == "path").count(), 2, "the line breaks off");
    let empty = Plot::new("nothing", Axis::log("x"), Axis::linear("y")).svg();
    assert!(read(&empty).1.contains("nothing"));
}

#[test]
fn ticks_are_round_and_few() {
    assert_eq!(labels(ticks(0.0, 1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    assert_eq!(labels(ticks(-3.0, 33.0)), ["0", "10", "20", "30"]);
    assert_eq!(labels(ticks(0.0, 0.3)).len(), 7, "a sixth of 0.3 is 0.05, whatever the rounding");
    assert_eq!(labels(ticks(0.0, 2e6)), ["0", "5e5", "1e6", "1.5e6", "2e6"]);
    assert_eq!(labels(log_ticks(-2.0, 2.0)), ["0.01", "0.1", "1", "10", "100"]);
    assert_eq!(labels(log_ticks(0.0, 2.0)), ["1", "2", "5", "10", "20", "50", "100"]);
    assert_eq!(labels(log_ticks(0.5, 0.6)), ["3.2", "3.4", "3.6", "3.8"]);
    assert!(labels(log_ticks(-100.0, 100.0)).len() <= 9);
}

#[test]
fn long_titles_are_set_smaller() {
    assert_eq!(fitting(15.0, "short", 600.0), (15.0, "short".to_owned()));
    assert_eq!(fitting(15.0, &"long".repeat(25), 450.0), (7.5, "long".repeat(25)));
    assert_eq!(fitting(15.0, &"long".repeat(50), 450.0), (7.5, "long".repeat(24) + "lon…"));
    assert_eq!(fitting(15.0, "中文中文", 45.0).1.chars().count(), 4);
    assert_eq!(cut("中文中文", 5), "中文…");
}

#[test]
fn a_step_holds_its_value_until_the_next() {
    let svg = Plot::new("", Axis::linear("").within(0.0, 1.0), Axis::linear("").within(0.0, 1.0))
        .with(Series::steps("", [(0.0, 0.0), (0.5, 1.0)]))
        .svg();
    assert!(svg.contains("M0.0,346.0L314.0,346.0L314.0,0.0"), "{svg}");
}

/// A text of the picture: the words, and the left, top, right and bottom of its box.
type TextBox = (String, [f64; 4]);

/// The boxes of all texts, and the size of the picture. A letter is taken to be six tenths as wide as high, which is more
/// than those of Helvetica are on average, and a line to be as high as its letters.
fn boxes(svg: &str) -> (Vec<TextBox>, f64, f64) {
    let mut reader = Reader::from_str(svg);
    let (mut all, mut size) = (Vec::new(), (0.0, 0.0));
    let mut open: Option<[f64; 3]> = None;
    let (mut anchor, mut turned, mut words) = (String::new(), false, String::new());
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(tag) => {
                let of = |name: &str| -> Option<String> {
                    let attribute = tag.attributes().flatten().find(|one| one.key.as_ref() == name)?;
                    Some(attribute.value.to_string())
                };
                let number = |name: &str| of(name).and_then(|text| text.parse::<f64>().ok());
                if let (Some(view), "svg") = (of("viewBox"), tag.name().as_ref()) {
                    let numbers: Vec<f64> = view.split(' ').filter_map(|part| part.parse().ok()).collect();
                    size = (numbers[2], numbers[3]);
                } else if tag.name().as_ref() == "text" {
                    open = Some([
                        number("x").expect("x"),
                        number("y").expect("y"),
                        number("font-size").unwrap_or(12.0),
                    ]);
                    (anchor, turned, words) =
                        (of("text-anchor").unwrap_or_default(), of("transform").is_some(), String::new());
                }
            }
            Event::Text(piece) => words.push_str(&piece),
            Event::GeneralRef(_) => words.push('&'),
            Event::End(_) => {
                if let Some([x, y, letters]) = open.take() {
                    let long = 0.6 * letters * words.chars().count() as f64;
                    let back = match anchor.as_str() {
                        "middle" => long / 2.0,
                        "end" => long,
                        _ => 0.0,
                    };
                    let place = if turned {
                        [x - letters, y - long / 2.0, x, y + long / 2.0]
                    } else {
                        [x - back, y - 0.8 * letters, x - back + long, y + 0.2 * letters]
                    };
                    all.push((words.clone(), place));
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    (all, size.0, size.1)
}

/// All texts are within the picture, and no two of them touch.
#[track_caller]
fn assert_readable(svg: &str) {
    let (all, width, height) = boxes(svg);
    assert!(width > 0.0 && height > 0.0);
    for (at, (words, [left, top, right, bottom])) in all.iter().enumerate() {
        let within = *left >= -0.1 && *top >= -0.1 && *right <= width + 0.1 && *bottom <= height + 0.1;
        assert!(within, "`{words}` leaves the picture: {left} {top} {right} {bottom}");
        for (others, [l, t, r, b]) in all.iter().take(at) {
            let apart = left + 0.1 >= *r || *l + 0.1 >= *right || top + 0.1 >= *b || *t + 0.1 >= *bottom;
            assert!(apart, "`{words}` and `{others}` overlap");
        }
    }
}

/// The strokes of the lines in the legend.
fn legend_strokes(svg: &str) -> Vec<&str> {
    let lines = svg.lines().filter(|line| line.starts_with("<line"));
    lines.filter_map(|line| line.split_once(" stroke=").map(|(_, stroke)| stroke)).collect()
}

#[test]
fn the_words_of_a_picture_are_within_it_and_do_not_touch() {
    for count in [1, 2, 7, 8, 24, 40] {
        for (low, high) in [
            (0.0, 1.0),
            (0.95, 1.0),
            (0.953_21, 0.953_22),
            (-3e5, 12.0),
            (1e-9, 2e-9),
            (123_456.0, 123_457.0),
        ] {
            for log in [false, true] {
                let across =
                    if log { Axis::log("of the pages visited in a cycle, %") } else { Axis::linear("cycle") };
                let series = (0..count).map(|at| {
                    let share = f64::from(at) / f64::from(count);
                    let name = format!("policy {at} with a name that is longer than all");
                    Series::line(name, [(3.0, low), (39.0, low + (high - low) * share), (40.0, high)])
                });
                let title = "a title that is long, and then goes on for a while: ".repeat(5);
                let plot =
                    Plot::new(title, across, Axis::linear("share of fresh pages, with more words to come"));
                assert_readable(&series.fold(plot, Plot::with).svg());
            }
        }
    }
}

#[test]
fn named_lines_are_told_apart_and_all_are_in_the_legend() {
    let plot = Plot::new("", Axis::linear("x"), Axis::linear("y"));
    let lines = (0..21).map(|at| Series::line(format!("line {at}"), [(0.0, f64::from(at)), (1.0, 0.0)]));
    let svg = lines.fold(plot, Plot::with).svg();
    let strokes = legend_strokes(&svg);
    assert_eq!(strokes.len(), 21);
    let distinct: std::collections::HashSet<&&str> = strokes.iter().collect();
    assert_eq!(distinct.len(), 21, "{strokes:?}");
    assert!((0..21).all(|at| read(&svg).1.contains(&format!("line {at}"))));
    assert!(svg.contains(r#"viewBox="0 0 720 514""#), "higher, so that all 21 have a line: {svg}");
}

#[test]
fn a_vertical_axis_goes_as_far_as_the_numbers_and_says_if_it_leaves_out_zero() {
    let svg = |axis: Axis, low: f64, high: f64| {
        Plot::new("", Axis::linear("x"), axis).with(Series::line("", [(0.0, low), (1.0, high)])).svg()
    };
    let share = || Axis::share("fresh");
    let text = read(&svg(share(), 0.953, 0.998)).1;
    assert!(text.contains("fresh (axis starts at 0.95)"), "{text}");
    assert!(text.contains("0.96") && text.contains("1.00") && !text.contains("1.01"), "{text}");
    let text = read(&svg(share(), 0.2, 0.9)).1;
    assert!(text.contains("fresh") && text.contains("0.0") && !text.contains("axis"), "{text}");
    let text = read(&svg(share(), 1.0, 1.0)).1;
    assert!(text.contains("1.00") && !text.contains("1.01") && !text.contains("1.02"), "{text}");
    let text = read(&svg(Axis::linear("age"), 100.0, 120.0)).1;
    assert!(text.contains("age (axis starts at 95)"), "{text}");
    let text = read(&svg(Axis::linear("loss"), -3.0, 5.0)).1;
    assert!(!text.contains("axis"), "{text}");
    let text = read(&svg(share().within(0.0, 1.0), 0.953, 0.998)).1;
    assert!(!text.contains("axis"), "{text}");
}

#[test]
fn grey_lines_lie_below_the_others() {
    let line = |at: f64| Series::line("", [(0.0, at), (1.0, at)]);
    let plot =
        Plot::new("", Axis::linear("x"), Axis::linear("y")).with(line(1.0)).with(line(2.0).grey().thin());
    let svg = plot.svg();
    let place = |colour: &str| svg.find(&format!(r#"stroke="{colour}" stroke-width"#)).expect("drawn");
    assert!(place(IN_A_FILE.light) < place(IN_A_FILE.colours[0]));
    assert!(svg.contains(r#"stroke-width="0.8""#));
}

#[test]
fn a_page_gets_the_same_picture_in_its_own_colours() {
    let plot = Plot::new("t", Axis::linear("x"), Axis::linear("y"))
        .with(Series::area("worth", [(0.0, 0.0, 1.0), (1.0, 1.0, 1.0)]))
        .with(Series::line("line", [(0.0, 0.0), (1.0, 1.0)]).grey());
    let (file, page) = (plot.svg(), plot.svg_in_page());
    assert!(!file.contains("var(") && file.contains(r#"fill-opacity="0.3""#), "{file}");
    assert!(page.contains("var(--plot-1,#0072b2)") && page.contains("var(--plot-grey,#777777)"), "{page}");
    let again = page.split("var(--plot-").map(|part| match part.split_once(",#") {
        Some((name, rest)) if name.len() < 8 => format!("#{}", rest.replacen(')', "", 1)),
        _ => part.to_owned(),
    });
    assert_eq!(again.collect::<String>(), file, "nothing but the colours differs");
}

fn any_series() -> impl Strategy<Value = Series> {
    let number = prop_oneof![any::<f64>(), -10.0..10.0_f64, Just(0.0)];
    let points = proptest::collection::vec((number.clone(), number.clone()), 0..12);
    let band = proptest::collection::vec((number.clone(), number.clone(), number), 0..5);
    (0..5_u8, any::<String>(), points, band, any::<bool>()).prop_map(|(shape, name, points, band, plain)| {
        let shape = [
            SeriesShape::Line,
            SeriesShape::Points,
            SeriesShape::Steps,
            SeriesShape::Bars,
            SeriesShape::Area,
        ][usize::from(shape)];
        Series {
            stroke: if plain { Stroke::Dotted } else { Stroke::Dashed },
            grey: plain,
            band,
            ..Series::new(shape, name, points)
        }
    })
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
