//! ΔQ_A of a refresh, nearly and cheaply: from the scores of one page before and after, and the score–rank functions of its terms.
//!
//! Comes in: for each term of the workload that the old or the new copy has, the page's score before and after the refresh, and the
//! term's [`ScoreRank`]. Goes out: the change in the quality of results, Σ f_q · ΔI · score (Pandey & Olston 2005, §5.1.2), without any
//! list of results. It has two parts for each term: the page itself, which is seen more or less often, and the pages that it lets up
//! or pushes down.
//!
//! It may be negative, and is never cut off at 0: that would make the mean over refreshes too high. What must stay true: a page whose
//! scores are the same before and after has ΔQ_A = 0.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::attention::Attention;
use super::score_rank::{ScoreRank, is_score};

/// Moves over at most this many ranks are added rank by rank (§5.1.2: "small").
const MOST_RANKS_ADDED: u64 = 24;

/// Ranks below this one are added one by one in longer moves, too. The closed form is exact to a part in a hundred from here on.
const FIRST_CLOSED: u64 = 8;

/// Where scores fall steeply, more ranks are added one by one, up to this one.
const LAST_ADDED: u64 = 64;

/// The part of a refresh's ΔQ_A that comes from one term, without the term's frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TermDelta {
    /// Rank before the refresh, by the score–rank function; `None`: the page was no result.
    pub rank_before: Option<u64>,
    /// Rank after the refresh; `None`: the page is no result any more.
    pub rank_after: Option<u64>,
    /// What the page itself gains: (I(r2) − I(r1)) · s2.
    pub own: f64,
    /// What the pages gain that move by one rank because of it.
    pub others: f64,
}

impl TermDelta {
    /// Both parts together.
    pub fn total(&self) -> f64 {
        self.own + self.others
    }
}

/// A term of the workload that the old or the new copy of a page has.
#[derive(Clone, Copy, Debug)]
pub struct AffectedTerm<'a> {
    /// The term's frequency in the single-term workload.
    pub frequency: f64,
    /// Its score–rank function; `None` with fewer than two results.
    pub ranks: Option<&'a ScoreRank>,
    /// Score before the refresh; 0 if the copy lacked the term or there was none.
    pub before: f64,
    /// Score after the refresh; 0 if the copy lacks the term or the page is gone.
    pub after: f64,
}

/// ΔQ_A of a refresh: the sum over its affected terms (§5.1.1). Terms whose score is the same, or that have fewer than two results,
/// add nothing.
pub fn refresh_delta<'a>(attention: Attention, terms: impl IntoIterator<Item = AffectedTerm<'a>>) -> f64 {
    let delta = |term: AffectedTerm<'a>| {
        let delta = term_delta(attention, term.ranks?, term.before, term.after)?;
        Some(term.frequency * delta.total())
    };
    // Folded from 0: an empty sum of floats would be −0.
    terms.into_iter().filter_map(delta).fold(0.0, |sum, delta| sum + delta)
}

/// The affected terms of a refresh, Q′ ∩ (old words ∪ new words), each once with its frequency, in order (§5.1.1).
pub fn affected(
    single_terms: &BTreeMap<String, f64>,
    words: impl IntoIterator<Item = impl AsRef<str>>,
) -> BTreeMap<&str, f64> {
    let known = |word| single_terms.get_key_value(AsRef::<str>::as_ref(&word));
    words.into_iter().filter_map(known).map(|(term, frequency)| (term.as_str(), *frequency)).collect()
}

/// ΔQ_A of one term, by a page whose score goes from `before` to `after`; `None` if they are equal. What is not a positive number is
/// no result.
///
/// Ranks are rounded to whole ones (ours; the paper does not say). A page that is no result stands behind the last.
pub fn term_delta(attention: Attention, ranks: &ScoreRank, before: f64, after: f64) -> Option<TermDelta> {
    let [before, after] = [before, after].map(|score| Some(score).filter(|score| is_score(*score)));
    if before == after {
        return None;
    }
    let [rank_before, rank_after] = [before, after].map(|score| score.map(|score| ranks.whole_rank(score)));
    let own = (attention.of(rank_after) - attention.of(rank_before)) * after.unwrap_or(0.0);
    let behind = ranks.count() + 1;
    let (from, to) = (rank_before.unwrap_or(behind), rank_after.unwrap_or(behind));
    let others = match from.cmp(&to) {
        Ordering::Less => let_up(attention, ranks, from + 1, to.min(ranks.count())),
        Ordering::Equal => 0.0,
        Ordering::Greater => pushed_down(attention, ranks, to, (from - 1).min(ranks.count())),
    };
    Some(TermDelta { rank_before, rank_after, own, others })
}

/// What the results from rank `first` to `last` gain if each moves up by one: Σ (I(k−1) − I(k)) · F⁻¹(k) (§5.1.2).
///
/// I(k−1) − I(k) is the integral of −I′ from k − 1 to k. So a long sum is the integral of −I′(u)·F⁻¹(u + ½), piece by piece.
fn let_up(attention: Attention, ranks: &ScoreRank, first: u64, last: u64) -> f64 {
    let added = last_added(ranks, first, last);
    let score = |rank: u64| ranks.score(rank as f64);
    let sum: f64 =
        (first..=added).map(|rank| (attention.at(rank - 1) - attention.at(rank)) * score(rank)).sum();
    sum + long_sum(attention, ranks, added + 1, last, RankShift::Up)
}

/// What the results from rank `first` to `last` gain if each moves down by one, never above 0: Σ (I(k+1) − I(k)) · F⁻¹(k).
///
/// A long sum is the integral of I′(u)·F⁻¹(u − ½), piece by piece.
fn pushed_down(attention: Attention, ranks: &ScoreRank, first: u64, last: u64) -> f64 {
    let added = last_added(ranks, first, last);
    let score = |rank: u64| ranks.score(rank as f64);
    let sum: f64 =
        (first..=added).map(|rank| (attention.at(rank + 1) - attention.at(rank)) * score(rank)).sum();
    sum - long_sum(attention, ranks, added + 1, last, RankShift::Down)
}

/// The last rank that is added by itself. The closed form is good from [`FIRST_CLOSED`] on, and later where scores fall steeply.
fn last_added(ranks: &ScoreRank, first: u64, last: u64) -> u64 {
    if last < first || last - first < MOST_RANKS_ADDED {
        return last;
    }
    let steep = (4.0 * -ranks.piece(first).slope) as u64;
    last.min((FIRST_CLOSED + steep).min(LAST_ADDED)).max(first - 1)
}

/// Which way results move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RankShift {
    Up,
    Down,
}

/// Σ |I(k ∓ 1) − I(k)| · F⁻¹(k) from rank `first` to `last`, by the integral.
///
/// With I(u) = u^(−x) and F⁻¹(u) = A·u^b in a piece, and (u ± ½)^b ≈ u^b · (1 ± b/(2u)), the integral of x·u^(−x−1)·A·u^b·(1 ± b/(2u)) is
/// A·x·u^(b−x) · (1/(b − x) ± b/(2u·(b − x − 1))).
fn long_sum(attention: Attention, ranks: &ScoreRank, first: u64, last: u64, shift: RankShift) -> f64 {
    let exponent = attention.exponent();
    if last < first || exponent == 0.0 {
        return 0.0;
    }
    // The interval that belongs to rank k begins at k − 1 for results that move up, and at k for those that move down.
    let (back, sign) = if shift == RankShift::Up { (1.0, 0.5) } else { (0.0, -0.5) };
    let (mut from, mut sum) = (first, 0.0);
    while from <= last {
        let piece = ranks.piece(from);
        let (to, power) = (last.min(piece.last), piece.slope - exponent);
        let integral = |at: f64| {
            let correction = sign * piece.slope / (at * (power - 1.0));
            (piece.log_scale + power * at.ln()).exp() * (1.0 / power + correction)
        };
        sum += integral(to as f64 + 1.0 - back) - integral(from as f64 - back);
        from = to + 1;
    }
    exponent * sum
}

#[cfg(test)]
mod tests {
    use super::super::answer::tests::{golden_pages, golden_score};
    use super::super::score_rank::USUAL_PIECES;
    use super::super::workload::Workload;
    use super::*;
    use crate::estimate::tests::{close, golden, number};
    use proptest::prelude::*;

    #[test]
    fn deltas_are_the_golden_ones() {
        let golden = golden(include_str!("../../tests/golden/quality_delta.json"));
        let (relative, absolute) =
            (number(&golden["tolerance"]["relative"]), number(&golden["tolerance"]["absolute"]));
        let same = |a: f64, b: f64| close(a, b, relative) || (a - b).abs() <= absolute;
        let attention = Attention::default();
        let mut checked = 0;
        for case in golden["cases"].as_array().expect("cases") {
            let pages = golden_pages(case);
            let queries = case["queries"].as_array().expect("queries").iter().map(|query| {
                let terms = query["terms"].as_array().expect("terms").iter();
                let terms = terms.map(|term| term.as_str().expect("a term").to_owned()).collect();
                (terms, number(&query["frequency"]))
            });
            let single_terms = Workload::of(queries).expect("a workload").single_terms();
            let functions: BTreeMap<&str, ScoreRank> = single_terms
                .keys()
                .filter_map(|term| {
                    let scores = pages.iter().map(|(_, copy, _)| golden_score(*copy, &[term])).collect();
                    Some((term.as_str(), ScoreRank::of_unsorted(scores, USUAL_PIECES)?))
                })
                .collect();
            for expected in case["pages"].as_array().expect("pages") {
                let (_, before, after) =
                    pages.iter().find(|(name, ..)| expected["page"] == **name).expect("a page");
                let words = [before, after].into_iter().flatten().flat_map(|text| text.split(' '));
                let terms: Vec<(&str, AffectedTerm<'_>)> = affected(&single_terms, words)
                    .into_iter()
                    .map(|(term, frequency)| {
                        let [before, after] = [before, after].map(|text| golden_score(*text, &[term]));
                        (term, AffectedTerm { frequency, ranks: functions.get(term), before, after })
                    })
                    .collect();
                let mut components = expected["components"].as_array().expect("components").iter();
                for (name, term) in &terms {
                    let Some(ranks) = term.ranks else { continue };
                    let Some(found) = term_delta(attention, ranks, term.before, term.after) else { continue };
                    let component = components.next().expect("a component");
                    assert_eq!(component["term"], *name);
                    assert_eq!(
                        (found.rank_before, found.rank_after),
                        (component["r1"].as_u64(), component["r2"].as_u64())
                    );
                    assert!(same(found.own, number(&component["own"])), "{found:?} {component}");
                    assert!(same(found.others, number(&component["others"])), "{found:?} {component}");
                    checked += 1;
                }
                assert!(components.next().is_none(), "{expected}");
                let found = refresh_delta(attention, terms.into_iter().map(|(_, term)| term));
                assert!(same(found, number(&expected["delta_QA_approx"])), "{found} {expected}");
            }
        }
        assert!(checked > 50, "{checked}");
    }

    fn results(count: u32, power: f64) -> ScoreRank {
        let scores: Vec<f64> = (1..=count).map(|rank| f64::from(rank).powf(-power)).collect();
        ScoreRank::of(&scores, USUAL_PIECES).expect("results")
    }

    /// Results 8, 4, 2 and 1: by hand.
    #[test]
    fn a_page_that_comes_pushes_others_down_and_one_that_goes_lets_them_up() {
        let attention = Attention::default();
        let ranks = ScoreRank::of(&[8.0, 4.0, 2.0, 1.0], 3).expect("results");
        let at = |rank: u64| ranks.score(rank as f64);
        let comes = term_delta(attention, &ranks, 0.0, 20.0).expect("a change");
        assert_eq!((comes.rank_before, comes.rank_after, comes.own), (None, Some(1), 20.0));
        let shifted: f64 = (1..=4).map(|rank| (attention.at(rank + 1) - attention.at(rank)) * at(rank)).sum();
        assert!(close(comes.others, shifted, 1e-12) && comes.others < 0.0);
        let goes = term_delta(attention, &ranks, 20.0, 0.0).expect("a change");
        assert_eq!((goes.rank_before, goes.rank_after, goes.own), (Some(1), None, 0.0));
        let shifted: f64 = (2..=4).map(|rank| (attention.at(rank - 1) - attention.at(rank)) * at(rank)).sum();
        assert!(close(goes.others, shifted, 1e-12) && goes.others > 0.0);
        assert_eq!(term_delta(attention, &ranks, 3.0, 3.0), None);
        assert_eq!(term_delta(attention, &ranks, 0.0, f64::NAN), None, "neither is a result");
    }

    #[test]
    fn long_moves_are_near_their_exact_sums() {
        let attention = Attention::default();
        for (count, power) in [(1000, 0.2), (1000, 1.0), (100_000, 0.5), (100_000, 1.0)] {
            let ranks = results(count, power);
            let score = |rank: u64| ranks.score(rank as f64);
            let count = u64::from(count);
            for (first, last) in [(2, 100), (2, count / 2), (11, count / 2), (101, count), (4, count)] {
                let up: f64 = (first..=last)
                    .map(|rank| (attention.at(rank - 1) - attention.at(rank)) * score(rank))
                    .sum();
                let down: f64 = (first..=last)
                    .map(|rank| (attention.at(rank + 1) - attention.at(rank)) * score(rank))
                    .sum();
                let (nearly_up, nearly_down) =
                    (let_up(attention, &ranks, first, last), pushed_down(attention, &ranks, first, last));
                let worst = if first > 100 { 0.04 } else { 0.003 };
                assert!(close(nearly_up, up, worst), "{count} {power} {first}: {nearly_up} {up}");
                assert!(close(nearly_down, down, worst), "{count} {power} {first}: {nearly_down} {down}");
            }
        }
    }

    #[test]
    fn terms_that_no_query_has_are_not_affected() {
        let single_terms = BTreeMap::from([("cancer".to_owned(), 3.0), ("law".to_owned(), 1.0)]);
        let found = affected(&single_terms, ["an", "advert", "law", "law"]);
        assert_eq!(found, BTreeMap::from([("law", 1.0)]));
        assert!(refresh_delta(Attention::default(), []).is_sign_positive());
        let single = AffectedTerm { frequency: 3.0, ranks: None, before: 0.0, after: 1.0 };
        assert_eq!(refresh_delta(Attention::default(), [single]), 0.0, "fewer than two results");
    }

    proptest! {
        #[test]
        fn every_move_has_a_finite_delta(
            count in 2_u32..3000, power in 0.0..2.0_f64, pieces in prop_oneof![Just(1_usize), Just(3), Just(6)],
            before in prop_oneof![Just(0.0), 1e-6..3.0_f64], after in prop_oneof![Just(0.0), 1e-6..3.0_f64],
        ) {
            let scores: Vec<f64> = (1..=count).map(|rank| f64::from(rank).powf(-power)).collect();
            let ranks = ScoreRank::of(&scores, pieces).expect("results");
            let Some(delta) = term_delta(Attention::default(), &ranks, before, after) else {
                return Ok(());
            };
            prop_assert!(delta.total().is_finite());
            // A page that falls loses, and those it lets up gain; one that rises the other way round.
            let falls = before > after;
            prop_assert!(if falls { delta.own <= 0.0 && delta.others >= 0.0 } else { delta.own >= 0.0 && delta.others <= 0.0 }, "{delta:?}");
        }
    }
}
