//! Two texts compared, drawn: their divergence, and the words that only one of them has.

use std::fmt::Write as _;

use crate::change::comparison::TextComparison;

use super::diff::harmless;
use super::number;

/// Two texts compared, by fragments of `words` words and sketches of `most`, with the first `shown` stretches of each.
pub fn comparison(
    found: &TextComparison,
    names: [&str; 2],
    words: usize,
    most: Option<usize>,
    shown: usize,
) -> String {
    let mut text = match most {
        None => format!("divergence {}\n", rounded(found.divergence.get())),
        Some(most) => format!(
            "divergence {}, estimated from the {} smallest fragments of each; exactly {}\n",
            rounded(found.divergence.get()),
            number(most as u64),
            rounded(found.exact.get()),
        ),
    };
    let count = |count: usize| number(count as u64);
    let unit = if words == 1 { "1 word".to_owned() } else { format!("{words} words") };
    let _ = writeln!(text, "fragments of {unit}: {} in both", count(found.shared));
    for ((name, stretches), (fragments, sign)) in
        names.iter().zip(&found.only).zip(found.fragments.into_iter().zip(['-', '+']))
    {
        let alone = fragments - found.shared.min(fragments);
        let _ = writeln!(
            text,
            "\nonly in {}: {} of {} fragments",
            harmless(name),
            count(alone),
            count(fragments)
        );
        for stretch in stretches.iter().take(shown) {
            let _ = writeln!(text, "{sign} {}", harmless(stretch));
        }
        if stretches.len() > shown {
            let _ = writeln!(text, "  and {} more (--all shows them)", count(stretches.len() - shown));
        }
    }
    text
}

/// Four decimals, without zeros at the end.
fn rounded(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergences_are_short() {
        assert_eq!([0.0, 1.0, 0.5, 2.0 / 3.0].map(rounded), ["0", "1", "0.5", "0.6667"]);
    }
}
