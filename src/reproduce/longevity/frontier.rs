//! The cost of a staleness: the outcomes of a method at all thresholds, as a curve.

/// Cost and staleness at each threshold.
#[derive(Clone, Debug, Default)]
pub(super) struct CostFrontier(Vec<(f64, f64)>);

impl CostFrontier {
    pub(super) fn through(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut points: Vec<(f64, f64)> = points.into_iter().collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        Self(points)
    }

    /// The least cost of that staleness, interpolated between two thresholds. `None` if the staleness is never reached.
    pub(super) fn cost_of(&self, staleness: f64) -> Option<f64> {
        let pairs = self.0.windows(2).filter_map(|pair| match pair {
            [(cheap, high), (dear, low)] if *high >= staleness && *low <= staleness => {
                let part = if high > low { (high - staleness) / (high - low) } else { 0.0 };
                Some(cheap + part * (dear - cheap))
            }
            _ => None,
        });
        pairs.reduce(f64::min)
    }

    pub(super) fn points(&self) -> &[(f64, f64)] {
        &self.0
    }
}
