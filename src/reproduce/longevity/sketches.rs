//! Fig. 10: smaller sketches and fewer profiles.

use super::Corpus;
use super::by_threshold::Method;
use super::results::{MEASURINGS, Results, STEADY, plot, refreshes};
use crate::reproduce::Experiment;
use crate::simulate::Measuring;

/// Fig. 10: smaller sketches and fewer profiles.
pub(super) fn sketches(corpus: &Corpus<'_>, all: &Results<'_>) -> Experiment {
    let name = |measuring: &Measuring| {
        let hashes = measuring.sketch.map_or("∞".to_owned(), |hashes| hashes.to_string());
        format!("m = {hashes}, h = {}", measuring.profiles)
    };
    let (mut figures, mut rows) = (Vec::new(), Vec::new());
    type Make = fn(Measuring) -> Method;
    let both: [(&str, &str, Make); 2] = [
        ("10-sketches-curve", "longevity-curve", Method::LongevityCurve),
        ("10-sketches-bound", "longevity-bound", Method::LongevityBound),
    ];
    for (file, policy, make) in both {
        rows.extend(MEASURINGS.map(|measuring| (format!("{policy}, {}", name(&measuring)), make(measuring))));
        let curves =
            MEASURINGS.map(|measuring| all.curve(name(&measuring), make(measuring), STEADY)).to_vec();
        figures.push(plot(corpus, file, &format!("{policy} by size of sketch and profiles kept"), curves));
    }
    Experiment {
        name: "10-sketches",
        title: "Fig. 10: sketches of m hashes, h profiles".to_owned(),
        notes: vec![
            "whether a page changed at all is told by its whole text, not by the sketch. With h = 1 a literal \"new profile at \
             each refresh\" would never hold two points: a profile stays until it has had some (four for the curve; for \
             the bound as long as it is pinned)"
                .to_owned(),
        ],
        tables: vec![all.needed(&rows, &refreshes(corpus), STEADY)],
        figures,
    }
}
