//! Pictures as a reader of XML sees them.

use super::axis::{log_ticks, ticks};
use super::series::Stroke;
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
    let empty = Plot::new("nothing", Axis::log("x"), Axis::linear("y")).svg();
    assert!(read(&empty).1.contains("nothing"));
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
    (0..4_u8, any::<String>(), points, band, any::<bool>()).prop_map(|(shape, name, points, band, plain)| {
        let shape = [SeriesShape::Line, SeriesShape::Points, SeriesShape::Steps, SeriesShape::Bars]
            [usize::from(shape)];
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
