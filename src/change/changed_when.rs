//! The rule for calling a page changed.
//!
//! In comes how two versions of a page differ, out goes whether the page changed. The operator says which difference
//! matters.

use std::fmt;
use std::str::FromStr;

/// When a page has changed.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum ChangedWhen {
    /// When any byte of it did.
    Bytes,
    /// When the words that a reader sees did.
    #[default]
    Text,
    /// When its text moved farther than this from what it was, in [0, 1).
    Divergence(f64),
}

/// A way to tell changes that there is not.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ChangedWhenError {
    #[error("`{0}` is no way to tell a change; write `bytes`, `text` or `divergence > 0.02`")]
    Unknown(String),
    #[error("the bound in `{0}` must be a number from 0 up to but not 1, as in `divergence > 0.02`")]
    Bound(String),
}

impl ChangedWhen {
    /// Whether the page changed. A divergence that was not measured, because a text before or after is missing, is decided
    /// by whether the text differs.
    pub fn changed(self, bytes_differ: bool, text_differs: bool, divergence: Option<f64>) -> bool {
        match self {
            Self::Bytes => bytes_differ,
            Self::Text => text_differs,
            Self::Divergence(bound) => divergence.map_or(text_differs, |divergence| divergence > bound),
        }
    }
}

impl FromStr for ChangedWhen {
    type Err = ChangedWhenError;

    /// `bytes`, `text` or `divergence > 0.02`, in any case and with white space wherever one likes.
    fn from_str(written: &str) -> Result<Self, Self::Err> {
        let word = written.trim();
        if word.eq_ignore_ascii_case("bytes") {
            return Ok(Self::Bytes);
        }
        if word.eq_ignore_ascii_case("text") {
            return Ok(Self::Text);
        }
        let unknown = || ChangedWhenError::Unknown(written.to_owned());
        let (measure, bound) = word.split_once('>').ok_or_else(unknown)?;
        if !measure.trim().eq_ignore_ascii_case("divergence") {
            return Err(unknown());
        }
        match bound.trim().parse::<f64>() {
            // A negative zero would be written with its sign.
            Ok(bound) if (0.0..1.0).contains(&bound) => Ok(Self::Divergence(bound.abs())),
            _ => Err(ChangedWhenError::Bound(written.to_owned())),
        }
    }
}

impl fmt::Display for ChangedWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes => f.write_str("bytes"),
            Self::Text => f.write_str("text"),
            Self::Divergence(bound) => write!(f, "divergence > {bound}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ways_to_write_it() {
        for (written, read) in [
            ("bytes", ChangedWhen::Bytes),
            (" Text ", ChangedWhen::Text),
            ("divergence > 0.02", ChangedWhen::Divergence(0.02)),
            ("divergence>.5", ChangedWhen::Divergence(0.5)),
            (" Divergence  >0 ", ChangedWhen::Divergence(0.0)),
            ("divergence > -0", ChangedWhen::Divergence(0.0)),
        ] {
            assert_eq!(written.parse(), Ok(read), "{written}");
        }
        assert_eq!(ChangedWhen::default().to_string(), "text");
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for written in
            ["", "html", "divergence", "divergence < 0.1", "text > 0.1", "divergence >= 0.1", "bytes text"]
        {
            let error = written.parse::<ChangedWhen>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{written}`")), "{error}");
        }
        for bound in ["", "x", "1", "-0.1", "nan", "inf", "1e9"] {
            let written = format!("divergence > {bound}");
            assert_eq!(written.parse::<ChangedWhen>(), Err(ChangedWhenError::Bound(written.clone())));
        }
    }

    #[test]
    fn each_looks_at_its_own_difference() {
        assert!(ChangedWhen::Bytes.changed(true, false, Some(0.0)));
        assert!(!ChangedWhen::Bytes.changed(false, true, Some(1.0)));
        assert!(ChangedWhen::Text.changed(true, true, Some(0.0)));
        assert!(!ChangedWhen::Text.changed(true, false, None));
        let moved = ChangedWhen::Divergence(0.02);
        assert!(moved.changed(true, true, Some(0.03)));
        assert!(!moved.changed(true, true, Some(0.02)));
        assert!(moved.changed(true, true, None) && !moved.changed(true, false, None));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(bound in 0.0..1.0_f64) {
            let rule = ChangedWhen::Divergence(bound);
            prop_assert_eq!(rule.to_string().parse(), Ok(rule));
        }

        #[test]
        fn nothing_written_makes_it_fail(written in "\\PC{0,24}") {
            let _ = written.parse::<ChangedWhen>();
        }
    }
}
