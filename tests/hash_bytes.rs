//! What hashes of four bytes cost: divergences of successive texts of recorded pages, by hashes of four and of eight bytes.
//!
//! It needs a dataset with fragments, which is not in the repository:
//! `FRESHET_DATASET=corpus.ds cargo test --test hash_bytes -- --ignored --nocapture`

use std::path::Path;

use freshet::change::divergence::divergence;
use freshet::change::fragment::Fragments;
use freshet::change::sketch::{HashBytes, Sketch};
use freshet::dataset::{Dataset, History};

#[test]
#[ignore = "needs a dataset with fragments in FRESHET_DATASET"]
fn hashes_of_four_bytes_measure_the_same() {
    let path = std::env::var("FRESHET_DATASET").expect("FRESHET_DATASET");
    let dataset = Dataset::load(Path::new(&path)).expect("a dataset");
    println!(
        "m, pairs, pairs that differ, mean difference, largest difference, standard deviation from the exact divergence (4, 8 bytes)"
    );
    for most in [None, Some(250), Some(64), Some(8)] {
        let (mut pairs, mut differ, mut sum, mut largest) = (0_u64, 0_u64, 0.0, 0.0_f64);
        let mut squares = [0.0; 2];
        for page in dataset.groups.iter().flat_map(|group| &group.pages) {
            let History::Texts { texts, .. } = &page.history else { continue };
            let texts: Vec<Fragments> =
                texts.iter().map(|text| Fragments::from_hashes(text.to_vec())).collect();
            for pair in texts.windows(2) {
                let exact = divergence(&Sketch::of(&pair[0], None), &Sketch::of(&pair[1], None)).get();
                let long = [&pair[0], &pair[1]].map(|text| Sketch::of(text, most));
                let short = long.clone().map(|sketch| sketch.with_hashes_of(HashBytes::Four));
                let (four, eight) =
                    (divergence(&short[0], &short[1]).get(), divergence(&long[0], &long[1]).get());
                let apart = (four - eight).abs();
                pairs += 1;
                differ += u64::from(apart > 0.0);
                sum += apart;
                largest = largest.max(apart);
                squares[0] += (four - exact).powi(2);
                squares[1] += (eight - exact).powi(2);
            }
        }
        let deviation = squares.map(|sum| (sum / pairs.max(1) as f64).sqrt());
        println!(
            "{most:?}, {pairs}, {differ}, {:.2e}, {largest:.2e}, {:.5} {:.5}",
            sum / pairs.max(1) as f64,
            deviation[0],
            deviation[1]
        );
        assert!(sum <= 1e-4 * pairs as f64, "hashes of four bytes are another measure");
    }
}
