//! How long it takes to fit a curve to a page's profiles, and to score the page by it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use freshet::longevity::curve::Curve;
use freshet::longevity::fit::Fit;
use freshet::longevity::samples::{SAME_GAP, Sample, combined};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// Samples of a page, with noise, at ages from one day to a month.
fn samples(curve: Curve, count: u32) -> Vec<Sample> {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let sample = |i| {
        let days = 30_f64.powf(f64::from(i) / f64::from(count - 1));
        Sample::new(days, (curve.divergence(days) + 0.1 * random.random::<f64>() - 0.05).clamp(0.0, 1.0))
    };
    (0..count).map(sample).collect()
}

fn fits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fit");
    for (name, curve) in [("churn", Curve::churn(0.6, 0.2)), ("scroll", Curve::scroll(0.6, 1.0, 8))] {
        for count in [3, 12, 36] {
            let samples = samples(curve, count);
            group.bench_function(BenchmarkId::new(name, count), |bencher| {
                bencher.iter(|| Fit::of(black_box(&samples)));
            });
        }
    }
    let samples = samples(Curve::churn(0.6, 0.2), 12);
    group.bench_function("combine 12", |bencher| {
        bencher.iter(|| combined(black_box(&samples).iter().copied(), SAME_GAP));
    });
    group.bench_function("grid 12", |bencher| bencher.iter(|| Fit::on_grid(black_box(&samples), 1.0)));
    group.finish();
}

fn scores(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("score");
    let curves = [
        ("static", Curve::Static),
        ("churn", Curve::churn(0.6, 0.2)),
        ("scroll of 2", Curve::scroll(0.6, 0.4, 2)),
        ("scroll of 8", Curve::scroll(0.6, 1.6, 8)),
        ("scroll of 32", Curve::scroll(0.6, 6.4, 32)),
    ];
    for (name, curve) in curves {
        for days in [0.2, 4.0, 40.0] {
            group.bench_function(BenchmarkId::new(name, days), |bencher| {
                bencher.iter(|| black_box(&curve).utility(black_box(days)));
            });
        }
    }
    group.bench_function("period of a scroll of 32", |bencher| {
        let curve = Curve::scroll(0.6, 6.4, 32);
        bencher.iter(|| black_box(&curve).refresh_period(black_box(0.5)));
    });
    group.finish();
}

criterion_group!(benches, fits, scores);
criterion_main!(benches);
