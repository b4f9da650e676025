//! Fig. 10: smaller sketches and fewer profiles.

use super::by_threshold::Method;
use super::results::{Results, STEADY, WHOLE, costs, plot};
use crate::reproduce::Experiment;
use crate::simulate::Measuring;

/// Sketches of m hashes and h profiles: the paper's least and largest, and two between.
pub(super) const MEASURINGS: [Measuring; 4] = [
    Measuring { sketch: Some(8), profiles: 1 },
    Measuring { sketch: Some(64), profiles: 1 },
    Measuring { sketch: Some(64), profiles: 5 },
    WHOLE,
];

/// Fig. 10, after the warm-up.
pub(super) fn run(known: &Results, curves: &Results, bounds: &Results) -> Experiment {
    let name = |measuring: &Measuring| {
        let hashes = measuring.sketch.map_or("∞".to_owned(), |hashes| hashes.to_string());
        format!("m = {hashes}, h = {}", measuring.profiles)
    };
    let (mut figures, mut rows) = (Vec::new(), Vec::new());
    type Make = fn(Measuring) -> Method;
    let both: [(&str, &str, Make, &Results); 2] = [
        ("10-sketches-curve", "curve-fitting", Method::LongevityCurve, curves),
        ("10-sketches-bound", "bound-based", Method::LongevityBound, bounds),
    ];
    for (file, policy, make, results) in both {
        rows.extend(
            MEASURINGS.map(|measuring| (format!("{policy}, {}", name(&measuring)), make(measuring), results)),
        );
        let drawn =
            MEASURINGS.map(|measuring| results.curve(name(&measuring), make(measuring), STEADY)).to_vec();
        figures.push(plot(file, format!("Fig. 10: {policy} by size of sketch and profiles kept"), drawn));
    }
    Experiment {
        name: "10-sketches",
        title: "Fig. 10: sketches of m hashes, h profiles".to_owned(),
        notes: vec![
            "as printed, on other pages: (∞, 5) and (8, 1) are in the paper's text; (64, 1) and (64, 5) are ours. l as tuned for \
             (∞, 5). The paper says that there is little degradation"
                .to_owned(),
            "the whole text decides whether a page changed at all, not the sketch. With h = 1 a literal \"new profile at each \
             refresh\" would never have two points: a profile stays until it has had some (four for the curve; for the bound as \
             long as it is pinned)"
                .to_owned(),
        ],
        tables: vec![costs(known, &rows, "Fig. 10: refresh cost", STEADY)],
        figures,
    }
}
