//! Score–rank functions: the rank that a score has among the results of a term, and back, in 20 bytes.
//!
//! Comes in: the scores of a term's results. Goes out: an invertible function that is piecewise linear in (ln rank, ln score), with
//! pieces of equal length in ln rank, so that the best ranks are told best (Pandey & Olston 2005, §5.1.2). It stands in for the
//! list of results, which would be too dear to make at each refresh. It need not follow each refresh: it is made again now and
//! then, at the cost of sorting the term's scores, O(n log n).
//!
//! What must stay true: F and its inverse are monotone, also where scores are equal, and no rank is outside 1 to n.

/// Pieces of a function in the paper's experiments (§5.1.2).
pub const USUAL_PIECES: usize = 3;

/// The least fall of ln score from one knot to the next. Equal scores would leave the function without an inverse.
const LEAST_FALL: f64 = 1e-9;

/// The rank of a score among the results of one term, F, and the score of a rank, F⁻¹.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreRank {
    /// Results of the term: the last rank.
    count: u32,
    /// ln score at the knots, falling. Knot j of m pieces lies at ln rank = j·ln(count)/m.
    log_scores: Vec<f64>,
}

impl ScoreRank {
    /// The function of a term whose results have these scores, the highest first, with this many pieces.
    ///
    /// The score at a knot is interpolated, in ln score and ln rank, between the two whole ranks beside it. `None` if there are
    /// fewer than two results, no pieces, or a score that is not a positive number: a single result has no rank to lose.
    pub fn of(descending: &[f64], pieces: usize) -> Option<ScoreRank> {
        let count = u32::try_from(descending.len()).ok().filter(|count| *count >= 2)?;
        let are_scores = descending.iter().all(|score| is_score(*score));
        if pieces == 0 || !are_scores || !descending.is_sorted_by(|a, b| a >= b) {
            return None;
        }
        let knot = |at: usize| {
            if at == 0 || at == pieces {
                return if at == 0 { descending.first() } else { descending.last() }.map(|score| score.ln());
            }
            let log_rank = at as f64 * f64::from(count).ln() / pieces as f64;
            let rank = (log_rank.exp() as usize).clamp(1, descending.len() - 1);
            let (upper, lower) = (descending.get(rank - 1)?.ln(), descending.get(rank)?.ln());
            let (from, to) = ((rank as f64).ln(), (rank as f64 + 1.0).ln());
            Some(upper + (lower - upper) * (log_rank - from) / (to - from))
        };
        let log_scores = (0..=pieces).map(knot).collect::<Option<Vec<f64>>>()?;
        Some(ScoreRank { count, log_scores: falling(log_scores) })
    }

    /// The function of a term whose results have these scores, in any order. What is not a positive number is left out.
    pub fn of_unsorted(mut scores: Vec<f64>, pieces: usize) -> Option<ScoreRank> {
        scores.retain(|score| is_score(*score));
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        Self::of(&scores, pieces)
    }

    /// Results that the function was made from: the last rank.
    pub fn count(&self) -> u64 {
        u64::from(self.count)
    }

    /// F: the rank of a score, a number from 1 to [`ScoreRank::count`]. A score beyond either end has the rank of that end.
    pub fn rank(&self, score: f64) -> f64 {
        let log_score = score.ln();
        let below = self.log_scores.partition_point(|knot| *knot >= log_score);
        let (Some(before), Some(after)) =
            (below.checked_sub(1).and_then(|at| self.log_scores.get(at)), self.log_scores.get(below))
        else {
            // Above the first knot, below the last, or not a number, which is no result at all.
            return if below == 0 && log_score.is_finite() { 1.0 } else { f64::from(self.count) };
        };
        let share = (before - log_score) / (before - after);
        let log_rank = ((below - 1) as f64 + share) * self.piece_length();
        log_rank.exp().clamp(1.0, f64::from(self.count))
    }

    /// The whole rank next to F(score), at least 1.
    pub fn whole_rank(&self, score: f64) -> u64 {
        ((self.rank(score) + 0.5).floor() as u64).max(1)
    }

    /// F⁻¹: the score at a rank. A rank beyond either end has the score of that end.
    pub fn score(&self, rank: f64) -> f64 {
        let last = self.log_scores.len().saturating_sub(1);
        let at = (rank.clamp(1.0, f64::from(self.count)).ln() / self.piece_length()).clamp(0.0, last as f64);
        let piece = (at.floor() as usize).min(last.saturating_sub(1));
        match (self.log_scores.get(piece), self.log_scores.get(piece + 1)) {
            (Some(before), Some(after)) => (before + (after - before) * (at - piece as f64)).exp(),
            _ => 0.0,
        }
    }

    /// The piece that a rank lies in.
    pub fn piece(&self, rank: u64) -> RankPiece {
        let (length, last) = (self.piece_length(), self.log_scores.len().saturating_sub(2));
        let log_rank = (rank.clamp(1, self.count().max(1)) as f64).ln();
        let place = if length > 0.0 { ((log_rank / length) as usize).min(last) } else { 0 };
        let knot = |at: usize| self.log_scores.get(at).copied().unwrap_or(0.0);
        let slope = if length > 0.0 { (knot(place + 1) - knot(place)) / length } else { 0.0 };
        let end = if place == last { self.count() } else { ((place + 1) as f64 * length).exp() as u64 };
        RankPiece { slope, log_scale: knot(place) - slope * place as f64 * length, last: end.max(rank) }
    }

    /// The length of a piece in ln rank.
    fn piece_length(&self) -> f64 {
        f64::from(self.count).ln() / self.log_scores.len().saturating_sub(1).max(1) as f64
    }

    /// The function as it is stored: the count in 4 bytes, then ln score of each knot as a 32-bit float; all little endian. Three
    /// pieces take 20 bytes, as in the paper (§5.1.2).
    pub fn to_bytes(&self) -> Vec<u8> {
        let knots = self.log_scores.iter().flat_map(|log_score| (*log_score as f32).to_le_bytes());
        self.count.to_le_bytes().into_iter().chain(knots).collect()
    }

    /// Undoes [`ScoreRank::to_bytes`], but for the rounding to 32 bits; `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<ScoreRank> {
        let (count, knots) = bytes.split_first_chunk::<4>()?;
        let (knots, rest) = knots.as_chunks::<4>();
        let count = u32::from_le_bytes(*count);
        let log_scores: Vec<f64> = knots.iter().map(|knot| f64::from(f32::from_le_bytes(*knot))).collect();
        let is_whole = rest.is_empty() && count >= 2 && log_scores.len() >= 2;
        let is_falling =
            log_scores.is_sorted_by(|a, b| a >= b) && log_scores.iter().all(|knot| knot.is_finite());
        (is_whole && is_falling).then(|| ScoreRank { count, log_scores: falling(log_scores) })
    }
}

/// A piece of a [`ScoreRank`]: there, the score of a rank is e^log_scale · rank^slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankPiece {
    /// The power of the rank with which scores fall; below 0.
    pub slope: f64,
    /// The logarithm of the score that rank 1 would have.
    pub log_scale: f64,
    /// The last whole rank of the piece.
    pub last: u64,
}

/// Can a page with this score be among the results?
pub(super) fn is_score(score: f64) -> bool {
    score > 0.0 && score.is_finite()
}

/// The same numbers, each at least [`LEAST_FALL`] below the one before.
fn falling(mut log_scores: Vec<f64>) -> Vec<f64> {
    let mut before = f64::INFINITY;
    for log_score in &mut log_scores {
        *log_score = log_score.min(before - LEAST_FALL);
        before = *log_score;
    }
    log_scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{close, golden, number, numbers};
    use proptest::prelude::*;

    #[test]
    fn functions_are_the_golden_ones() {
        let golden = golden(include_str!("../../tests/golden/quality_delta.json"));
        let relative = number(&golden["tolerance"]["relative"]);
        let mut functions = 0;
        for case in golden["cases"].as_array().expect("cases") {
            for (term, expected) in case["score_rank"].as_object().expect("functions") {
                let scores = numbers(&expected["scores_desc"]);
                let function = ScoreRank::of(&scores, USUAL_PIECES).expect("two results");
                for (found, expected) in function.log_scores.iter().zip(numbers(&expected["log_score"])) {
                    assert!(close(*found, expected, relative), "{term}: {found} {expected}");
                }
                for point in expected["F"].as_array().expect("points") {
                    let (score, rank) = (number(&point["score"]), number(&point["rank"]));
                    assert!(close(function.rank(score), rank, relative), "{term}: {point}");
                }
                for point in expected["F_inverse"].as_array().expect("points") {
                    let (score, rank) = (number(&point["score"]), number(&point["rank"]));
                    assert!(close(function.score(rank), score, relative), "{term}: {point}");
                }
                functions += 1;
            }
        }
        assert_eq!(functions, 20);
    }

    #[test]
    fn three_pieces_take_twenty_bytes() {
        let scores: Vec<f64> = (1..=1000).map(|rank| 30.0 / f64::from(rank).sqrt()).collect();
        for (pieces, bytes) in [(1, 12), (3, 20), (6, 32)] {
            let function = ScoreRank::of(&scores, pieces).expect("results");
            assert_eq!(function.to_bytes().len(), bytes);
            let read = ScoreRank::from_bytes(&function.to_bytes()).expect("its bytes");
            for rank in [1.0, 17.0, 400.0, 1000.0] {
                assert!(close(read.score(rank), function.score(rank), 1e-6));
                assert!(close(read.rank(function.score(rank)), rank, 1e-5), "{rank}");
            }
        }
    }

    #[test]
    fn other_bytes_are_no_function() {
        let bytes = ScoreRank::of(&[2.0, 1.0], 3).expect("results").to_bytes();
        assert!(ScoreRank::from_bytes(&bytes).is_some());
        for length in [0, 3, 4, 8, 19] {
            assert_eq!(ScoreRank::from_bytes(&bytes[..length]), None, "{length}");
        }
        let rising = [&2_u32.to_le_bytes()[..], &1_f32.to_le_bytes(), &2_f32.to_le_bytes()].concat();
        let one = [&1_u32.to_le_bytes()[..], &2_f32.to_le_bytes(), &1_f32.to_le_bytes()].concat();
        let no_number = [&2_u32.to_le_bytes()[..], &f32::NAN.to_le_bytes(), &1_f32.to_le_bytes()].concat();
        for bytes in [rising, one, no_number] {
            assert_eq!(ScoreRank::from_bytes(&bytes), None);
        }
    }

    #[test]
    fn too_few_results_or_no_scores_make_no_function() {
        for scores in [&[][..], &[1.0], &[1.0, 0.0], &[1.0, f64::NAN], &[1.0, 2.0], &[f64::INFINITY, 1.0]] {
            assert_eq!(ScoreRank::of(scores, 3), None, "{scores:?}");
        }
        assert_eq!(ScoreRank::of(&[2.0, 1.0], 0), None);
        let some = ScoreRank::of_unsorted(vec![1.0, f64::NAN, 0.0, 3.0, -1.0], 3).expect("two results");
        assert_eq!(some, ScoreRank::of(&[3.0, 1.0], 3).expect("two results"));
    }

    #[test]
    fn scores_beyond_the_ends_have_the_ranks_of_the_ends() {
        let function = ScoreRank::of(&[4.0, 2.0, 1.0], 3).expect("results");
        assert_eq!((function.rank(100.0), function.rank(0.001)), (1.0, 3.0));
        for no_score in [0.0, -1.0, f64::NAN] {
            assert_eq!(function.rank(no_score), 3.0, "{no_score}");
        }
        assert!(close(function.score(0.0), 4.0, 1e-12) && close(function.score(9.0), 1.0, 1e-12));
        assert_eq!((function.whole_rank(100.0), function.whole_rank(0.001)), (1, 3));
    }

    #[test]
    fn pieces_end_at_their_knots_and_give_the_scores() {
        let function = ScoreRank::of_unsorted((1..=1001).map(f64::from).collect(), 3).expect("results");
        let last = |rank| function.piece(rank).last;
        assert_eq!(
            [1, 9, 10, 11, 99, 100, 101, 1000, 1001].map(last),
            [10, 10, 10, 100, 100, 100, 1001, 1001, 1001]
        );
        for rank in [1, 7, 10, 11, 60, 500, 1001] {
            let piece = function.piece(rank);
            let score = (piece.log_scale + piece.slope * (rank as f64).ln()).exp();
            assert!(close(score, function.score(rank as f64), 1e-9), "{rank}: {piece:?}");
        }
    }

    proptest! {
        #[test]
        fn a_function_is_monotone_and_has_an_inverse(
            scores in prop::collection::vec(prop_oneof![Just(1.0), 0.001..1000.0_f64], 2..60),
            pieces in prop_oneof![Just(1_usize), Just(3), Just(6)],
        ) {
            let count = scores.len();
            let function = ScoreRank::of_unsorted(scores, pieces).expect("results");
            let of: Vec<f64> = (1..=count).map(|rank| function.score(rank as f64)).collect();
            prop_assert!(of.is_sorted_by(|a, b| a > b), "{of:?}");
            for (rank, score) in (1_u32..).zip(&of) {
                prop_assert!((function.rank(*score) - f64::from(rank)).abs() < 1e-3);
                prop_assert_eq!(function.whole_rank(*score), u64::from(rank));
            }
            let read = ScoreRank::from_bytes(&function.to_bytes()).expect("its bytes");
            prop_assert!((1..=count).map(|rank| read.score(rank as f64)).is_sorted_by(|a, b| a > b));
        }
    }
}
