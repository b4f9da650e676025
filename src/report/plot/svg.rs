//! Parts of an SVG text: places in the frame, paths, letters.

use std::fmt::Write as _;

use super::LONGEST_NAME;
use super::axis::FittedAxis;

/// Where the numbers go, in pixels from the frame's upper left corner.
pub(super) struct Frame {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) across: FittedAxis,
    pub(super) up: FittedAxis,
}

impl Frame {
    pub(super) fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.width * self.across.place(x)?, self.height * (1.0 - self.up.place(y)?)))
    }

    /// Of a value that can be drawn.
    pub(super) fn x(&self, value: f64) -> f64 {
        self.width * self.across.place(value).unwrap_or(0.0)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.height * (1.0 - self.up.place(value).unwrap_or(0.0))
    }

    /// Where bars stand: at 0, or at the lower edge if that is not there.
    pub(super) fn foot(&self) -> f64 {
        if self.up.log { self.height } else { self.y(0.0).clamp(0.0, self.height) }
    }
}

/// The stretches between what is missing.
pub(super) fn runs<T>(places: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let mut runs = vec![Vec::new()];
    for place in places {
        match (place, runs.last_mut()) {
            (Some(place), Some(run)) => run.push(place),
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

pub(super) fn path(corners: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    let mut last = String::new();
    for (x, y) in corners {
        let corner = format!("{x:.1},{y:.1}");
        if corner != last {
            let _ = write!(path, "{}{corner}", if path.is_empty() { 'M' } else { 'L' });
            last = corner;
        }
    }
    path
}

/// The size of letters, smaller if the text would need more room; a letter is six tenths as wide as high, about.
pub(super) fn fitting(size: f64, text: &str, room: f64) -> f64 {
    let wide = 0.6 * size * text.chars().count().max(1) as f64;
    size * (room / wide).clamp(0.3, 1.0)
}

pub(super) fn cut(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

/// As text and in quotes; what XML has no place for becomes a blank.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => safe.push(' '),
            _ if letter.is_control() => safe.push(' '),
            _ => safe.push(letter),
        }
    }
    safe
}
