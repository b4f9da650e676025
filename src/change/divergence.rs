//! How far two sketches are apart.

use super::fragment::Fragments;
use super::sketch::{HashBytes, Sketch};

/// How far apart two texts are, in [0, 1]: 0 when they have the same fragments, 1 when they share none.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Divergence(f64);

impl Divergence {
    /// The same fragments.
    pub(crate) const NONE: Self = Self(0.0);
    /// No fragment in common.
    pub(crate) const WHOLE: Self = Self(1.0);

    /// `None` outside of [0, 1].
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The number, from 0 (the same) to 1 (nothing in common).
    pub fn get(self) -> f64 {
        self.0
    }

    /// 1 − shared / all; of two texts without words there is nothing to differ.
    fn of(shared: usize, all: usize) -> Self {
        if all == 0 { Self::NONE } else { Self(1.0 - shared as f64 / all as f64) }
    }
}

/// D = 1 − |A ∩ B| / |A ∪ B| (Olston & Pandey 2008, §2.1, eq. 3) of the texts that the sketches stand for.
///
/// Exact if both are whole. Else it is the unbiased estimate of §5.2: the share is taken among the m smallest hashes of
/// the union, m being the size of the smaller sketch of those that were cut, as up to there both sides are known. Its
/// standard deviation is √(J(1 − J)/m · (U − m)/(U − 1)), with J = 1 − D and U = |A ∪ B|.
///
/// If one has four bytes of each hash and the other eight, four are compared.
pub fn divergence(a: &Sketch, b: &Sketch) -> Divergence {
    if a.hash_bytes() != b.hash_bytes() {
        let [a, b] = [a, b].map(|sketch| sketch.clone().with_hashes_of(HashBytes::Four));
        return divergence(&a, &b);
    }
    let cut = [a, b].into_iter().filter(|sketch| !sketch.is_whole()).map(|sketch| sketch.hashes().len());
    let (shared, all) = overlap(a.hashes(), b.hashes(), cut.min().unwrap_or(usize::MAX));
    Divergence::of(shared, all)
}

/// The divergence of two texts by all their fragments.
pub fn exact(a: &Fragments, b: &Fragments) -> Divergence {
    of_sorted(a.as_slice(), b.as_slice())
}

/// The divergence of fragments given as ascending hashes.
pub(crate) fn of_sorted(a: &[u64], b: &[u64]) -> Divergence {
    let (shared, all) = overlap(a, b, usize::MAX);
    Divergence::of(shared, all)
}

/// The same as sketches of the `most` smallest would have it: what [`divergence`] says of [`Sketch`]es of that size.
pub(crate) fn of_smallest(a: &[u64], b: &[u64], most: usize) -> Divergence {
    let is_cut = a.len() > most || b.len() > most;
    let (shared, all) = overlap(a, b, if is_cut { most } else { usize::MAX });
    Divergence::of(shared, all)
}

/// Of the `most` smallest of the union of two ascending slices: how many are in both, and how many there are.
fn overlap(a: &[u64], b: &[u64], most: usize) -> (usize, usize) {
    let (mut i, mut j, mut shared, mut all) = (0, 0, 0, 0);
    // Which side goes on can't be predicted: it is added, not branched on.
    while all < most
        && let (Some(left), Some(right)) = (a.get(i), b.get(j))
    {
        shared += usize::from(left == right);
        i += usize::from(left <= right);
        j += usize::from(right <= left);
        all += 1;
    }
    let left = (a.len() - i) + (b.len() - j);
    (shared, if all < most { all.saturating_add(left).min(most) } else { all })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::change::sketch::Sketcher;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand::seq::SliceRandom as _;
    use rand_pcg::Pcg64Mcg;
    use serde_json::Value;

    fn number(value: &Value) -> f64 {
        value.as_f64().expect("a number")
    }

    fn whole(hashes: &[u64]) -> Sketch {
        Sketch::of(&Fragments::from_hashes(hashes.to_vec()), None)
    }

    #[test]
    fn divergence_is_the_share_of_fragments_that_only_one_has() {
        let (a, b, empty) = (whole(&[1, 2, 3]), whole(&[2, 3, 4, 5]), whole(&[]));
        assert_eq!(divergence(&a, &b).get(), 1.0 - 2.0 / 5.0);
        assert_eq!(divergence(&a, &a), Divergence::NONE);
        assert_eq!(divergence(&empty, &empty), Divergence::NONE);
        assert_eq!(divergence(&empty, &a), Divergence::WHOLE);
        // Of the two smallest of the union, 1 and 2, one is in both; what is whole bounds nothing.
        assert_eq!(divergence(&a.shrunk(2), &b).get(), 0.5);
        assert_eq!(divergence(&a.shrunk(2), &b.shrunk(3)).get(), 0.5);
        assert_eq!(divergence(&a, &b.shrunk(3)).get(), 1.0 - 2.0 / 3.0);
        assert_eq!(divergence(&empty, &b.shrunk(2)), Divergence::WHOLE);
        assert!(Divergence::NONE < Divergence::WHOLE && Divergence::new(0.5).is_some());
        assert!([-0.1, 1.1, f64::NAN].into_iter().all(|value| Divergence::new(value).is_none()));
    }

    #[test]
    fn sketches_with_hashes_of_four_and_eight_bytes_can_be_compared() {
        let (a, b) = (whole(&[1 << 40, 2 << 40, 3 << 40]), whole(&[2 << 40, 3 << 40, 4 << 40, 5 << 40]));
        let short = |sketch: &Sketch| sketch.clone().with_hashes_of(HashBytes::Four);
        for (one, other) in [(a.clone(), short(&b)), (short(&a), b.clone()), (short(&a), short(&b))] {
            assert_eq!(divergence(&one, &other), divergence(&a, &b));
        }
    }

    #[test]
    fn texts_diverge_as_the_golden_values_say() {
        let golden: Value =
            serde_json::from_str(include_str!("../../tests/golden/jaccard.json")).expect("JSON");
        let tolerance = number(&golden["tolerance"]["absolute"]);
        let cases = golden["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 60);
        for case in cases {
            let words = number(&case["k"]) as usize;
            let of = |name: &str| Fragments::of(case[name].as_str().expect("a text"), words);
            let (a, b) = (of("a"), of("b"));
            assert_eq!(
                (a.len() as f64, b.len() as f64),
                (number(&case["shingles_a"]), number(&case["shingles_b"]))
            );
            let (shared, all) = overlap(a.as_slice(), b.as_slice(), usize::MAX);
            assert_eq!((shared as f64, all as f64), (number(&case["intersection"]), number(&case["union"])));
            let expected = number(&case["fragment_staleness"]);
            assert!((exact(&a, &b).get() - expected).abs() <= tolerance, "{case}");
            let mut sketcher = Sketcher::new(words, None);
            let mut of = |name: &str| sketcher.sketch(case[name].as_str().expect("a text"));
            assert_eq!(divergence(&of("a"), &of("b")), exact(&a, &b));
        }
    }

    #[test]
    fn sketches_estimate_as_the_golden_values_say() {
        let golden: Value =
            serde_json::from_str(include_str!("../../tests/golden/sketch.json")).expect("JSON");
        let tolerance = number(&golden["tolerance"]["absolute"]);
        let hashes = |value: &Value| -> Vec<u64> {
            value.as_array().expect("hashes").iter().map(|hash| hash.as_u64().expect("a hash")).collect()
        };
        let cases = golden["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 14);
        for case in cases {
            let most = number(&case["m"]) as usize;
            let (a, b) = (whole(&hashes(&case["hashes_a"])), whole(&hashes(&case["hashes_b"])));
            let (part_a, part_b) = (a.shrunk(most), b.shrunk(most));
            assert_eq!(part_a.hashes(), hashes(&case["bottom_a"]));
            assert_eq!(part_b.hashes(), hashes(&case["bottom_b"]));
            let near = |found: Divergence, name: &str| {
                assert!((1.0 - found.get() - number(&case[name])).abs() <= tolerance, "{name}: {case}");
            };
            near(divergence(&a, &b), "exact_jaccard");
            near(divergence(&part_a, &part_b), "estimate");
        }
    }

    /// The setting of the golden statistics: 4000 random orders of two sets of 300 that share 150.
    #[test]
    fn estimates_are_unbiased_and_as_sharp_as_the_formula_says() {
        let golden: Value =
            serde_json::from_str(include_str!("../../tests/golden/sketch.json")).expect("JSON");
        let tolerance = number(&golden["tolerance"]["statistics_mean_absolute"]);
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut ranks: Vec<u64> = (0..450).collect();
        let pairs: Vec<(Sketch, Sketch)> = (0..4000)
            .map(|_| {
                ranks.shuffle(&mut random);
                (whole(&ranks[..300]), whole(&ranks[150..]))
            })
            .collect();
        for most in [8, 32, 128] {
            let expected = &golden["statistics"][most.to_string()];
            let estimate =
                |(a, b): &(Sketch, Sketch)| 1.0 - divergence(&a.shrunk(most), &b.shrunk(most)).get();
            let estimates: Vec<f64> = pairs.iter().map(estimate).collect();
            let mean = estimates.iter().sum::<f64>() / 4000.0;
            let squares = estimates.iter().map(|estimate| (estimate - mean) * (estimate - mean)).sum::<f64>();
            let deviation = (squares / 3999.0).sqrt();
            assert!((mean - 1.0 / 3.0).abs() < tolerance, "m = {most}: {mean}");
            assert!((mean - number(&expected["mean"])).abs() < tolerance, "m = {most}: {mean}");
            let predicted = number(&expected["predicted_sd"]);
            assert!((deviation / predicted - 1.0).abs() < 0.05, "m = {most}: {deviation}, not {predicted}");
        }
    }

    #[test]
    fn a_larger_sketch_errs_less() {
        let mut random = Pcg64Mcg::seed_from_u64(2);
        let sizes = [4, 16, 64, 256, 1024];
        let mut errors = [0.0; 5];
        for _ in 0..200 {
            let pool: Vec<u64> = (0..2000).map(|_| random.random()).collect();
            let (end, start) = (random.random_range(1000..2000), random.random_range(0..1000));
            let (a, b) = (whole(&pool[..end]), whole(&pool[start..]));
            let truth = divergence(&a, &b).get();
            for (most, error) in sizes.iter().zip(&mut errors) {
                *error += (divergence(&a.shrunk(*most), &b.shrunk(*most)).get() - truth).abs() / 200.0;
            }
        }
        // Four times the hashes halve the error, and more as the whole set comes near.
        assert!(errors.windows(2).all(|pair| pair[1] < 0.7 * pair[0]), "{errors:?}");
    }

    proptest! {
        #[test]
        fn divergence_is_symmetric_and_exact_on_whole_sets(
            a in prop::collection::vec(0_u64..60, 0..40),
            b in prop::collection::vec(0_u64..60, 0..40),
            most_a in prop::option::of(1_usize..30),
            most_b in prop::option::of(1_usize..30),
        ) {
            let (sets, fragments) = ([&a, &b].map(|all| all.iter().copied().collect::<BTreeSet<u64>>()),
                [&a, &b].map(|all| Fragments::from_hashes(all.clone())));
            let both = sets[0].intersection(&sets[1]).count();
            let either = sets[0].union(&sets[1]).count();
            let truth = if either == 0 { 0.0 } else { 1.0 - both as f64 / either as f64 };
            prop_assert_eq!(exact(&fragments[0], &fragments[1]).get(), truth);
            prop_assert_eq!(divergence(&whole(&a), &whole(&b)).get(), truth);

            let (left, right) = (Sketch::of(&fragments[0], most_a), Sketch::of(&fragments[1], most_b));
            let estimate = divergence(&left, &right);
            prop_assert_eq!(estimate, divergence(&right, &left));
            prop_assert!((0.0..=1.0).contains(&estimate.get()));
            prop_assert_eq!(divergence(&left, &left), Divergence::NONE);
            if left.is_whole() && right.is_whole() {
                prop_assert_eq!(estimate.get(), truth);
            } else {
                // The definition: the m smallest of the union, and those of them that both sets have.
                let most = [&left, &right].into_iter().filter(|sketch| !sketch.is_whole());
                let most = most.map(|sketch| sketch.hashes().len()).min().unwrap_or(0);
                let smallest: Vec<u64> = sets[0].union(&sets[1]).copied().take(most).collect();
                let hits = smallest.iter().filter(|hash| sets[0].contains(hash) && sets[1].contains(hash)).count();
                prop_assert_eq!(estimate.get(), 1.0 - hits as f64 / smallest.len() as f64);
            }
        }
    }
}
