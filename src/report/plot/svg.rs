//! Parts of an SVG text: places in the frame, paths, letters.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::axis::FittedAxis;

/// Where the numbers go, in pixels from the frame's upper left corner.
pub(super) struct Frame {
    /// From the left edge of the picture to the frame.
    pub(super) left: f64,
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

/// How wide a text is, in pixels: a letter is six tenths as wide as high, about, and one of East Asia twice that.
pub(in crate::report) fn wide(text: &str, size: f64) -> f64 {
    0.6 * size * text.width() as f64
}

/// The size of letters and the text: smaller if it needs more room, and cut if it would be too small to read.
pub(super) fn fitting(size: f64, text: &str, room: f64) -> (f64, String) {
    let smaller = size * (room / wide(text, size).max(1.0)).clamp(0.5, 1.0);
    (smaller, cut(text, (room / wide("n", smaller)).floor().max(1.0) as usize))
}

/// The beginning of a text, if it is wider than `most` letters.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut room = most.saturating_sub(1);
    let fits = |letter: &char| {
        let own = letter.width().unwrap_or(0);
        let fits = own <= room;
        room = room.saturating_sub(own);
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// As text and in quotes; what XML has no place for becomes a blank.
pub(in crate::report) fn escaped(text: &str) -> String {
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
