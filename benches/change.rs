//! How fast text becomes fragments and a sketch, in bytes of text a second on one core, and how fast two sketches are
//! compared.
//!
//! The limit stands beside it: xxh3-64 over the same runs of words when they are already found, and over the whole text
//! at once. FRESHET_BENCH_PAGES names a folder of HTML pages to read; without it the pages are those of the model web.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice)]

use std::hint::black_box;
use std::path::PathBuf;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use freshet::change::divergence::divergence;
use freshet::change::fragment::{Fragmenter, Fragments};
use freshet::change::sketch::{Sketch, Sketcher};
use freshet::extract;
use freshet::model_web::{Site, WebSpec};
use xxhash_rust::xxh3::xxh3_64;

/// Words of a fragment.
const WORDS: usize = 4;

/// The texts of pages, as a reader sees them.
fn texts() -> Vec<String> {
    let text = |html: &[u8]| extract::html(html, Some("text/html; charset=utf-8"), 0).text;
    if let Some(folder) = std::env::var_os("FRESHET_BENCH_PAGES") {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
        files.retain(|file| file.extension().is_some_and(|kind| kind == "html"));
        files.sort();
        return files.iter().map(|file| text(&std::fs::read(file).expect("a page"))).collect();
    }
    let spec = WebSpec { pages: 100, median_bytes: 24_000, ..WebSpec::default() };
    let site = Site::new(&spec, 0);
    site.living(0.0).map(|page| text(site.html(&page, 0.0).as_bytes())).collect()
}

fn sketches(criterion: &mut Criterion) {
    let texts = texts();
    let bytes: usize = texts.iter().map(String::len).sum();
    let mut group = criterion.benchmark_group("text to sketch");
    group.throughput(Throughput::Bytes(bytes as u64));
    for most in [Some(8), Some(64), Some(256), None] {
        let name = most.map_or("all".to_owned(), |most| format!("m = {most}"));
        let mut sketcher = Sketcher::new(WORDS, most);
        group.bench_function(BenchmarkId::new("freshet", name), |bencher| {
            bencher.iter(|| {
                for text in &texts {
                    black_box(sketcher.sketch(black_box(text)));
                }
            });
        });
    }
    let mut fragmenter = Fragmenter::new(WORDS);
    group.bench_function("freshet, hashes only", |bencher| {
        bencher.iter(|| {
            let mut sum = 0_u64;
            for text in &texts {
                fragmenter.each(black_box(text), |hash| sum = sum.wrapping_add(hash));
            }
            sum
        });
    });
    group.bench_function("freshet, runs of words only", |bencher| {
        bencher.iter(|| {
            let mut sum = 0;
            for text in &texts {
                fragmenter.each_run(black_box(text), |run| sum += run.len());
            }
            sum
        });
    });
    let found: Vec<_> = texts.iter().map(|text| runs(text)).collect();
    group.bench_function("xxh3-64 of runs already found", |bencher| {
        bencher.iter(|| {
            let mut sum = 0_u64;
            for (words, runs) in &found {
                for (start, end) in runs {
                    sum = sum.wrapping_add(xxh3_64(&words[*start..*end]));
                }
            }
            sum
        });
    });
    group.bench_function("xxh3-64 of the whole text", |bencher| {
        bencher.iter(|| texts.iter().fold(0_u64, |sum, text| sum.wrapping_add(xxh3_64(text.as_bytes()))));
    });
    group.finish();
}

/// The words of a text in lower case, one blank between them, and where each run of them starts and ends.
fn runs(text: &str) -> (Vec<u8>, Vec<(usize, usize)>) {
    let (mut words, mut bounds) = (Vec::new(), Vec::new());
    Fragmenter::new(1).each_run(text, |word| {
        bounds.push((words.len(), words.len() + word.len()));
        words.extend_from_slice(word);
        words.push(b' ');
    });
    let runs = bounds.windows(WORDS).map(|run| (run[0].0, run[WORDS - 1].1)).collect();
    (words, runs)
}

fn divergences(criterion: &mut Criterion) {
    // As evenly spread as hashes are; every other one is in both.
    let hashes = |seed: u64| (0..5000_u64).map(move |n| xxh3_64(&(n + n % 2 * seed).to_le_bytes()));
    let [a, b] = [10_000, 20_000].map(|seed| Fragments::from_hashes(hashes(seed).collect()));
    let mut group = criterion.benchmark_group("divergence");
    for most in [Some(8), Some(64), Some(256), None] {
        let (left, right) = (Sketch::of(&a, most), Sketch::of(&b, most));
        let name = most.map_or("5000 fragments each".to_owned(), |most| format!("m = {most}"));
        group.bench_function(name, |bencher| {
            bencher.iter(|| divergence(black_box(&left), black_box(&right)));
        });
    }
    group.finish();
}

criterion_group!(benches, sketches, divergences);
criterion_main!(benches);
