//! What visitors of a made web search for: words of its pages.

use super::draw::SeededDraw;
use super::words::WORDS;

/// Queries that are drawn.
const QUERIES: u64 = 60;
/// Share of the queries that have two words. Most of those that people type have one or two (Pandey & Olston 2005, §5.1.1).
const PAIR_SHARE: f64 = 0.5;

/// Queries with frequencies: the n-th is asked 1/n times as often as the first (Zipf). The same seed gives the same queries.
pub fn queries(seed: u64) -> Vec<(String, f64)> {
    let mut draw = SeededDraw::new(seed);
    let mut query = || {
        let first = draw.pick(&WORDS);
        if draw.chance(PAIR_SHARE) { format!("{first} {}", draw.pick(&WORDS)) } else { first.to_owned() }
    };
    (1..=QUERIES).map(|rank| (query(), 1.0 / rank as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_has_its_own_queries() {
        let first = queries(1);
        assert_eq!(first, queries(1));
        assert_ne!(first, queries(2));
        let words = |query: &str| query.split(' ').filter(|word| WORDS.contains(word)).count();
        let pairs = first.iter().filter(|(query, _)| words(query) == 2).count();
        assert!(first.iter().all(|(query, _)| words(query) >= 1) && (15..=45).contains(&pairs), "{pairs}");
        assert_eq!((first[0].1, first[1].1), (1.0, 0.5));
    }
}
