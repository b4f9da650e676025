//! An axis: its label and scale in, bounds and round ticks out.

use super::series::Series;

/// Numbers beyond are left out: differences of those within are finite.
pub(super) const VAST: f64 = 1e150;

/// One direction of the picture: its label, scale and bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub(super) label: String,
    pub(super) log: bool,
    pub(super) share: bool,
    pub(super) from: Option<f64>,
    pub(super) to: Option<f64>,
}

impl Axis {
    /// In equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), log: false, share: false, from: None, to: None }
    }

    /// In equal steps, as far as the numbers reach, and never beyond 0 to 1.
    pub fn share(label: impl Into<String>) -> Self {
        Self { share: true, ..Self::linear(label) }
    }

    /// In powers of ten; what is not above 0 is left out.
    pub fn log(label: impl Into<String>) -> Self {
        Self { log: true, ..Self::linear(label) }
    }

    /// From here to there, whatever the numbers are. Bounds that can't be are passed over.
    pub fn within(self, from: f64, to: f64) -> Self {
        self.from(from).to(to)
    }

    /// The lower bound, whatever the numbers are.
    pub fn from(mut self, from: f64) -> Self {
        self.from = self.can_show(from).then_some(from);
        self
    }

    /// The upper bound, whatever the numbers are.
    pub fn to(mut self, to: f64) -> Self {
        self.to = self.can_show(to).then_some(to);
        self
    }

    pub(super) fn can_show(&self, value: f64) -> bool {
        value.abs() <= VAST && (!self.log || value >= 1.0 / VAST)
    }

    /// As far as the numbers reach, and where its lines and numbers stand. `round`: a linear axis begins and ends at a tick.
    pub(super) fn fitted(
        &self,
        series: &[Series],
        reach: fn(&Series) -> Vec<f64>,
        round: bool,
    ) -> FittedAxis {
        let shown = series.iter().flat_map(reach).filter(|value| self.can_show(*value));
        let (low, high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 1.0) };
        let scaled = |value: f64| if self.log { value.log10() } else { value };
        let pad = if self.log { 0.02 } else { 0.03 } * (scaled(high) - scaled(low));
        let from = self.from.map_or_else(|| scaled(low) - pad, scaled);
        let to = self.to.map_or_else(|| scaled(high) + pad, scaled);
        let (from, to) = widened(from, to);
        let (from, to) = if self.log { (from, to) } else { self.rounded((from, to), (low, high), round) };
        FittedAxis {
            log: self.log,
            from,
            to,
            ticks: if self.log { log_ticks(from, to) } else { ticks(from, to) },
        }
    }

    /// The bounds of a linear axis, where they are not given.
    fn rounded(&self, (from, to): (f64, f64), (low, high): (f64, f64), round: bool) -> (f64, f64) {
        let (mut lower, mut upper) = (from, to);
        // Counts and shares begin at 0 if that costs little room, and never below.
        let near = if round { NEAR_ZERO * high } else { 0.0 };
        if low >= 0.0 && low <= near {
            lower = 0.0;
        }
        if round {
            let step = tick_step(lower, upper);
            (lower, upper) = ((lower / step + 1e-6).floor() * step, (upper / step - 1e-6).ceil() * step);
        }
        if low >= 0.0 {
            lower = lower.max(0.0);
        }
        if self.share && (0.0..=1.0).contains(&low) && high <= 1.0 {
            (lower, upper) = (lower.max(0.0), upper.min(1.0));
        }
        let bounds = (self.from.map_or(lower, |_| from), self.to.map_or(upper, |_| to));
        if bounds.1 > bounds.0 && bounds.0.is_finite() && bounds.1.is_finite() { bounds } else { (from, to) }
    }
}

/// If the least value is at most this part of the greatest, the vertical axis begins at 0.
const NEAR_ZERO: f64 = 0.4;

/// Bounds that are apart.
pub(super) fn widened(from: f64, to: f64) -> (f64, f64) {
    let size = from.abs().max(to.abs());
    if to - from > 1e-9 * size && to - from > 1.0 / VAST {
        return (from, to);
    }
    let more = if size > 1.0 / VAST { 0.05 * size } else { 0.5 };
    (from.min(to) - more, from.max(to) + more)
}

/// An axis with bounds; those of a logarithmic one are powers of ten.
pub(super) struct FittedAxis {
    pub(super) log: bool,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) ticks: Vec<(f64, String)>,
}

impl FittedAxis {
    /// Says so if 0 is not on a linear axis: differences look larger then than they are.
    pub(super) fn without_zero(&self) -> Option<String> {
        let written = |value: f64| {
            let tick =
                self.ticks.iter().find(|(tick, _)| (tick - value).abs() < 1e-9 * (self.to - self.from));
            tick.map_or_else(|| short(value), |(_, label)| label.clone())
        };
        match () {
            () if self.log => None,
            () if self.from > 0.0 => Some(format!("axis starts at {}", written(self.from))),
            () if self.to < 0.0 => Some(format!("axis ends at {}", written(self.to))),
            () => None,
        }
    }

    /// Where a value is between the bounds, 0 to 1; `None` if it can't be drawn.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let scaled = if self.log { value.log10() } else { value };
        (scaled.abs() <= VAST).then(|| ((scaled - self.from) / (self.to - self.from)).clamp(-20.0, 20.0))
    }
}

/// Round numbers at even distances of 1, 2 or 5 times a power of ten: about six.
pub(super) fn ticks(from: f64, to: f64) -> Vec<(f64, String)> {
    let step = tick_step(from, to);
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let first = (from / step - 1e-6).ceil();
    let values =
        (0..12).map(|at| (first + f64::from(at)) * step).take_while(|value| *value <= to + 1e-6 * step);
    values.map(|value| (value, tick_label(value, step, decimals))).collect()
}

/// From one tick to the next.
fn tick_step(from: f64, to: f64) -> f64 {
    let rough = (to - from) / 6.0;
    let power = 10_f64.powf(rough.log10().floor());
    let mut steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power);
    // A step that is rounded a little below is wide enough.
    let step = steps.find(|step| *step >= rough * (1.0 - 1e-9));
    step.unwrap_or(rough)
}

pub(super) fn tick_label(value: f64, step: f64, decimals: usize) -> String {
    let value = if value.abs() < step / 2.0 { 0.0 } else { value };
    let plain = value.abs() < 1e5 && step >= 1e-5;
    if plain || value == 0.0 { format!("{value:.decimals$}") } else { short(value) }
}

/// Powers of ten; between them also twice and five times these, if there are few.
pub(super) fn log_ticks(from: f64, to: f64) -> Vec<(f64, String)> {
    let spread = to - from;
    let multiples: &[f64] = match spread {
        _ if spread < 1.2 => &[1.0, 2.0, 3.0, 5.0, 7.0],
        _ if spread < 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let stride = (spread / 8.0).ceil().max(1.0);
    let first = (from / stride).floor() * stride;
    let powers = (0..12).map(|at| first + stride * f64::from(at));
    let marks: Vec<(f64, String)> = powers
        .flat_map(|power| multiples.iter().map(move |times| times * 10_f64.powf(power)))
        .filter(|value| (from - 1e-9..=to + 1e-9).contains(&value.log10()))
        .map(|value| (value, short(value)))
        .collect();
    if marks.len() >= 2 {
        return marks;
    }
    let (low, high) = (10_f64.powf(from), 10_f64.powf(to));
    if high - low > 1e-9 * high { ticks(low, high) } else { marks }
}

/// As few figures as a round number has.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-4..1e5).contains(&value.abs()) {
        let decimals = (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
        let text = format!("{value:.decimals$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return text.to_owned();
    }
    let text = format!("{value:.3e}");
    match text.split_once('e') {
        Some((figures, power)) => {
            format!("{}e{power}", figures.trim_end_matches('0').trim_end_matches('.'))
        }
        None => text,
    }
}
