//! How many pages each site of made-up pages has.
//!
//! Sizes follow a power law that is cut off at both ends (a bounded Pareto distribution): the smallest site has one page, the
//! largest 40 times the mean. These are the ends of Table 1 of Santos et al. 2013: 417,048 pages on 7,171 sites, from 1 to
//! 2,336 pages on each, 58.15 on average. The exponent is the one that gives the mean.

/// Pages of the largest site, as a multiple of the mean: 2,336 / (417,048 / 7,171).
const LARGEST: f64 = 2336.0 / (417_048.0 / 7171.0);

/// The largest site has at most this share of all pages, if there are few sites.
const MOST_OF_ALL: f64 = 0.25;

/// The exponent lies within this range, whatever the sizes are.
const EXPONENTS: (f64, f64) = (-50.0, 50.0);

/// The sizes of that number of sites, the largest first. They add up to `pages`; each is at least 1. If there are more sites than
/// pages, some are left out.
pub(super) fn sizes(pages: usize, sites: usize) -> Vec<usize> {
    let sites = sites.min(pages);
    if sites <= 1 {
        return vec![pages; sites];
    }
    let largest = largest(pages, sites);
    let sum = |exponent: f64| -> usize { (0..sites).map(|rank| size(rank, sites, largest, exponent)).sum() };
    // The sum falls with the exponent. The upper end is always low enough: one page for all sites but the largest.
    let (mut above, mut below) = EXPONENTS;
    for _ in 0..60 {
        let middle = f64::midpoint(above, below);
        if sum(middle) > pages { above = middle } else { below = middle }
    }
    let mut sizes: Vec<usize> = (0..sites).map(|rank| size(rank, sites, largest, below)).collect();
    // Sizes are whole numbers, so a few pages are left: one for each of the next largest sites, round and round. There is room,
    // as the largest size is at least the mean.
    let mut left = pages.saturating_sub(sizes.iter().sum());
    while left > 0 && sizes.iter().any(|size| *size < largest) {
        for size in sizes.iter_mut().filter(|size| **size < largest).take(left) {
            *size += 1;
            left -= 1;
        }
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

/// Pages of the largest site: at least twice the mean, so that sizes can differ, and one page is left for each other site.
fn largest(pages: usize, sites: usize) -> usize {
    let (pages_in_all, mean) = (pages as f64, pages as f64 / sites as f64);
    let wanted = (LARGEST * mean).min(MOST_OF_ALL * pages_in_all).max(2.0 * mean);
    (wanted.round() as usize).min(pages - (sites - 1))
}

/// The quantile of the bounded Pareto distribution on 1 to `largest` at a site's rank, as a whole number.
fn size(rank: usize, sites: usize, largest: usize, exponent: f64) -> usize {
    if rank == 0 {
        return largest;
    }
    let share = 1.0 - rank as f64 / (sites - 1) as f64;
    let most = largest as f64;
    let quantile = if exponent.abs() < 1e-9 {
        most.powf(share)
    } else {
        (1.0 - share * (1.0 - most.powf(-exponent))).powf(-1.0 / exponent)
    };
    // Beyond the range of numbers the quantile is an end of the range.
    (if quantile.is_finite() { quantile } else { most }).clamp(1.0, most) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sites_of_the_papers_size_are_those_of_its_table_1() {
        let sizes = sizes(417_048, 7171);
        assert_eq!((sizes.len(), sizes[0], sizes[7170]), (7171, 2336, 1));
        assert_eq!(sizes.iter().sum::<usize>(), 417_048);
        assert!((417_048.0_f64 / 7171.0 - 58.15).abs() < 0.01);
        // A heavy tail: four in five pages are on a twelfth of the sites, and half of the sites have at most five pages.
        let (twelfth, median) = (sizes[..7171 / 12].iter().sum::<usize>(), sizes[7171 / 2]);
        assert!((320_000..350_000).contains(&twelfth) && median <= 5, "{twelfth} {median}");
    }

    #[test]
    fn small_ones_worked_by_hand() {
        assert_eq!(sizes(10, 1), [10]);
        assert_eq!(sizes(3, 3), [1, 1, 1]);
        assert_eq!(sizes(2, 9), [1, 1], "no site without a page");
        assert_eq!(sizes(10, 2), [9, 1]);
        assert_eq!(sizes(0, 3), Vec::<usize>::new());
    }

    proptest! {
        #[test]
        fn sizes_add_up_and_none_is_empty(pages in 1usize..20_000, sites in 1usize..3000) {
            let sizes = sizes(pages, sites);
            prop_assert_eq!(sizes.len(), sites.min(pages));
            prop_assert_eq!(sizes.iter().sum::<usize>(), pages);
            prop_assert!(sizes.iter().all(|size| *size >= 1));
            prop_assert!(sizes.is_sorted_by(|a, b| a >= b));
            if sizes.len() > 1 {
                prop_assert_eq!(sizes[0], largest(pages, sizes.len()));
            }
        }
    }
}
