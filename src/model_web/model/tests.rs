//! The web against its model: closed forms, golden curves, and what every web must have.

use std::collections::BTreeSet;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::change::divergence::exact;
use crate::change::fragment::Fragments;
use crate::extract;

fn html_of(content: &PageContent, day: f64) -> String {
    let mut html = String::new();
    content.write(&mut html, day);
    html
}

fn fragments_of(content: &PageContent, day: f64) -> Fragments {
    let text = extract::html(html_of(content, day).as_bytes(), None, 0).text;
    Fragments::of(&text, truth::FRAGMENT_WORDS)
}

fn content(seed: u64, static_words: usize, regions: Vec<Region>) -> PageContent {
    PageContent { seed, mix: Mix { static_words, regions }, rhythm: Rhythm::Even }
}

#[test]
fn the_same_moment_gives_the_same_bytes_whoever_asks_and_in_whatever_order() {
    let spec = WebSpec { pages: 60, turnover: 0.2, ..WebSpec::default() };
    let hashes = |days: &[f64]| -> Vec<u64> {
        let site = Site::new(&spec, 2);
        let pages = |day: f64| site.living(day).map(move |page| (page, day)).collect::<Vec<_>>();
        let all = days.iter().flat_map(|day| pages(*day));
        all.map(|(page, day)| xxh3_64(site.html(&page, day).as_bytes())).collect()
    };
    let forwards = hashes(&[0.0, 1.25, 40.5]);
    let mut backwards = hashes(&[40.5, 1.25, 0.0]);
    backwards.rotate_left(60);
    assert_eq!(forwards[60..120], backwards[..60]);
    assert_eq!(forwards[..60], backwards[60..120]);
    let whole: Vec<u8> = forwards.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    assert_eq!(xxh3_64(&whole), BYTES_OF_A_WEB, "written down once: the same on every machine");
}

const BYTES_OF_A_WEB: u64 = 7_866_875_090_809_645_004;

#[test]
fn hosts_and_seeds_and_pages_are_independent_of_each_other() {
    let spec = WebSpec { pages: 50, ..WebSpec::default() };
    let page = |spec: &WebSpec, host: u32, place: u32| {
        let site = Site::new(spec, host);
        let tenant = site.tenant(place, 0.0);
        (site.path(&tenant), site.html(&tenant, 3.0))
    };
    let all: BTreeSet<String> = (0..4).map(|host| page(&spec, host, 20).1).collect();
    assert_eq!(all.len(), 4);
    assert_ne!(page(&spec, 0, 20), page(&WebSpec { seed: 2, ..spec.clone() }, 0, 20));
    // More pages are more pages; what those that were there say of their own stays.
    let site = |pages| WebSpec { pages, ..spec.clone() };
    let (few, many) = (site(50), site(90));
    let content = |spec: &WebSpec| {
        let site = Site::new(spec, 1);
        html_of(&site.content(&site.tenant(30, 0.0)), 5.0)
    };
    assert_eq!(content(&few), content(&many));
}

/// P(lifetime ≤ t) of a fragment of a scroll region that shows K items, each event bringing one: Erlang-K, 1 − e^(−x)
/// Σ_{n<K} xⁿ/n! with x = rate · t (Olston & Pandey 2008, §3.3). A churn region is K = 1.
fn erlang(items: usize, x: f64) -> f64 {
    let mut term = (-x).exp();
    let mut sum = term;
    for n in 1..items {
        term *= x / n as f64;
        sum += term;
    }
    1.0 - sum
}

#[test]
fn fragments_live_as_long_as_the_closed_forms_say() {
    let (pages, rate) = (800, 0.8);
    for (kind, items) in [(RegionKind::Churn, 1), (RegionKind::Scroll { items: 5 }, 5)] {
        let points: [f64; 5] =
            if items == 1 { [0.2, 0.6, 1.2, 2.0, 3.5] } else { [2.0, 4.0, 6.0, 8.0, 12.0] };
        let mut ended = [0u32; 5];
        for seed in 0..pages {
            let content = content(seed, 10, vec![Region { kind, words: 6 * items, rate }]);
            // The first event after a fixed moment, seen as it comes: its fragment is new, and lives from here.
            let mut changes = content.changes(0.0, 60.0);
            changes.sort_by(f64::total_cmp);
            let born = changes[0];
            let before = fragments_of(&content, born.next_down());
            let after = fragments_of(&content, born);
            // The middle of six new words: three runs within the region's newest text, none across its edge.
            let html = html_of(&content, born);
            let region =
                html.split(if items == 1 { "churn\">" } else { "scroll\">" }).nth(1).unwrap_or_default();
            let words = extract::html(region.as_bytes(), None, 0).text;
            let words = words.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
            let own = Fragments::of(&words, truth::FRAGMENT_WORDS);
            let fragment = own.iter().next().unwrap_or_default();
            assert!(after.contains(fragment) && !before.contains(fragment));
            for (point, ended) in points.iter().zip(&mut ended) {
                *ended += u32::from(!fragments_of(&content, born + point).contains(fragment));
            }
        }
        for (point, ended) in points.iter().zip(ended) {
            let expected = erlang(items, rate * point);
            let error = (expected * (1.0 - expected) / pages as f64).sqrt();
            let measured = f64::from(ended) / pages as f64;
            assert!(
                (measured - expected).abs() < 3.0 * error,
                "{kind:?} at {point}: {measured} not {expected}"
            );
        }
    }
}

/// The mean and the variance of a page's divergence from itself, `t` later: churned or not, and 0 to K new items, each
/// with its probability (Olston & Pandey 2008, §3.3; a replaced share d is a distance of 2d / (1 + d)).
fn divergence_of(churn: (f64, f64), scroll: (f64, f64), items: usize, t: f64) -> (f64, f64) {
    let distance = |replaced: f64| 2.0 * replaced / (1.0 + replaced);
    let kept = (-churn.1 * t).exp();
    let x = scroll.1 * t;
    let (mut mean, mut square, mut poisson) = (0.0, 0.0, (-x).exp());
    for new in 0..=items {
        let probability = if new == items { erlang(items, x) } else { poisson };
        let scrolled = scroll.0 * new as f64 / items as f64;
        for (churned, probability) in [(0.0, probability * kept), (churn.0, probability * (1.0 - kept))] {
            let distance = distance(churned + scrolled);
            mean += probability * distance;
            square += probability * distance * distance;
        }
        poisson *= x / (new + 1) as f64;
    }
    (mean, square - mean * mean)
}

#[test]
fn pages_diverge_from_themselves_as_the_golden_curves_say() {
    const WORDS: f64 = 1000.0;
    const PAGES: u64 = 50;
    let golden: Value =
        serde_json::from_str(include_str!("../../../tests/golden/divergence_curves.json")).unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 14);
    for case in cases {
        let churn = (number(&case["churn_fraction"]), number(&case["churn_rate"]));
        let scroll = (number(&case["scroll_fraction"]), number(&case["scroll_rate"]));
        let items = number(&case["K"]) as usize;
        // All items have the same number of whole words: the page is as long as makes that the share that is asked for.
        let in_scroll = (scroll.0 * WORDS / items as f64).round() as usize * items;
        let words = if in_scroll > 0 { (in_scroll as f64 / scroll.0).round() } else { WORDS };
        let in_churn = (churn.0 * words).round() as usize;
        let mut regions = Vec::new();
        if in_churn > 0 {
            regions.push(Region { kind: RegionKind::Churn, words: in_churn, rate: churn.1 });
        }
        if in_scroll > 0 {
            regions.push(Region { kind: RegionKind::Scroll { items }, words: in_scroll, rate: scroll.1 });
        }
        // A page of W words has W − 3 runs of four. A region of w words that is rewritten takes w + 3 with it, for the
        // runs across its two edges; a list that scrolls on by w words takes w + 6, for its new front is an edge too. So
        // the share that is replaced is at most (6 + 3w/W) / (W − 3) above w/W, or half a word beside it by rounding;
        // and where the share is off by ε, 2d / (1 + d) is off by 2ε at the most. All this only where something changed.
        let border: f64 = regions.iter().map(|region| 6.5 + 3.0 * region.words as f64 / words).sum();
        let border = 2.0 * border / (words - 3.0);
        let pages: Vec<PageContent> = (0..PAGES)
            .map(|seed| content(1_000 + seed, words as usize - in_churn - in_scroll, regions.clone()))
            .collect();
        let bases: Vec<Fragments> = pages.iter().map(|page| fragments_of(page, 5.0)).collect();
        for point in case["points"].as_array().unwrap() {
            let (t, expected) = (number(&point["t"]), number(&point["D"]));
            let (mean, variance) = divergence_of(churn, scroll, items, t);
            assert!((mean - expected).abs() < 1e-9, "the closed form at {t}: {mean}, not {expected}");
            let (mut measured, mut changed) = (0.0, 0.0);
            for (page, base) in pages.iter().zip(&bases) {
                if !page.state(5.0).eq(page.state(5.0 + t)) {
                    measured += exact(base, &fragments_of(page, 5.0 + t)).get() / PAGES as f64;
                    changed += 1.0 / PAGES as f64;
                }
            }
            let error = (variance.max(0.0) / PAGES as f64).sqrt();
            assert!(
                (measured - expected).abs() <= 4.0 * error + changed * border,
                "{churn:?} {scroll:?} at {t}: {measured}, not {expected} ± {error}; {border} at the borders"
            );
        }
    }
}

#[test]
fn all_living_pages_can_be_reached_from_the_front_page_at_any_time() {
    let spec = WebSpec { pages: 450, turnover: 0.3, median_bytes: 3_000, ..WebSpec::default() };
    let site = Site::new(&spec, 0);
    for day in [0.0, 9.5] {
        let (mut known, mut next) = (BTreeSet::from(["/".to_owned()]), vec!["/".to_owned()]);
        let mut alive = BTreeSet::new();
        while let Some(path) = next.pop() {
            let Fate::Lives(page) = site.fate(&path, day) else { continue };
            alive.insert(path);
            for link in extract::html(site.html(&page, day).as_bytes(), None, 1000).links {
                if known.insert(link.href.clone()) {
                    next.push(link.href);
                }
            }
        }
        let living: BTreeSet<String> = site.living(day).map(|page| site.path(&page)).collect();
        assert_eq!(living.len(), 450);
        assert_eq!(alive, living);
        assert_eq!(known.len() > living.len(), day > 0.0, "some links have gone stale");
    }
}

#[test]
fn sizes_are_those_of_web_pages() {
    let spec = WebSpec { pages: 1000, ..WebSpec::default() };
    let site = Site::new(&spec, 0);
    let mut sizes: Vec<usize> = site.living(0.0).map(|page| site.html(&page, 0.0).len()).collect();
    sizes.sort_unstable();
    assert!(sizes[0] >= 4_500 && sizes[999] <= 90_000, "{} … {}", sizes[0], sizes[999]);
    assert!((13_000..19_000).contains(&sizes[500]), "{}", sizes[500]);
    let mean = sizes.iter().sum::<usize>() / 1000;
    assert!(mean > sizes[500], "a long tail: {mean}");
}

#[test]
fn a_page_changes_when_the_truth_says_so_and_noise_is_no_change() {
    let spec = WebSpec { pages: 100, turnover: 0.1, median_bytes: 3_000, ..WebSpec::default() };
    let site = Site::new(&spec, 0);
    let (from, to) = (2.0, 3.5);
    let (mut changed, mut noisy) = (0, 0);
    for page in site.living(from).filter(|page| *page == site.tenant(page.place, to)) {
        let changes = site.changes(&page, from, to);
        let differs = site.quiet_html(&page, from) != site.quiet_html(&page, to);
        assert_eq!(differs, !changes.is_empty());
        assert_eq!(site.version(&page, from) != site.version(&page, to), differs);
        assert_eq!(site.last_change(&page, to) > from, differs);
        assert!(site.last_change(&page, from) <= from);
        assert_ne!(site.html(&page, from), site.html(&page, to), "the clock goes on");
        changed += u32::from(differs);
        noisy += u32::from(!differs);
    }
    assert!(changed > 20 && noisy > 20, "{changed} {noisy}");
}
