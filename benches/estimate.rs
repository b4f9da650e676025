//! How long one visit's update of each estimator takes, and the optimal crawl rates of many pages.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use freshet::estimate::registry::{EstimatorSettings, all};
use freshet::estimate::{EstimatorState, Seen};
use freshet::policy::allocation::{Objective, Watched, optimal};
use freshet::time::Age;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// Visits of a page that changes once a day, at random moments: enough that all lengths that are kept are there.
const VISITS: usize = 100;

fn visits() -> Vec<(Age, Seen)> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let visit = |_| {
        let days = -(1.0 - random.random::<f64>()).ln();
        (Age::from_days(days), Seen::from(random.random::<f64>() < -(-days).exp_m1()))
    };
    (0..VISITS).map(visit).collect()
}

fn updates(criterion: &mut Criterion) {
    let visits = visits();
    let mut group = criterion.benchmark_group("one visit more");
    for estimator in all(&EstimatorSettings::default()) {
        let mut state = EstimatorState::default();
        visits.iter().for_each(|(interval, seen)| estimator.observe(&mut state, *interval, *seen));
        group.bench_function(BenchmarkId::new("observe", estimator.name()), |bencher| {
            bencher.iter_batched_ref(
                || state.clone(),
                |state| estimator.observe(state, black_box(Age::from_days(0.7)), Seen::Changed),
                BatchSize::SmallInput,
            );
        });
        group.bench_function(BenchmarkId::new("estimate", estimator.name()), |bencher| {
            bencher.iter(|| estimator.estimate(black_box(&state)));
        });
    }
    group.finish();
}

fn crawl_rates(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("optimal crawl rates");
    group.sample_size(10);
    for count in [100_000_u32, 1_000_000] {
        let mut random = Pcg64Mcg::seed_from_u64(2);
        let pages: Vec<Watched> = (0..count)
            .map(|_| Watched {
                change_rate: 10_f64.powf(4.0 * random.random::<f64>() - 3.0),
                weight: 10_f64.powf(2.0 * random.random::<f64>()),
            })
            .collect();
        group.throughput(Throughput::Elements(u64::from(count)));
        for objective in Objective::ALL {
            group.bench_function(BenchmarkId::new(objective.name(), count), |bencher| {
                bencher.iter(|| optimal(objective, black_box(&pages), f64::from(count) / 10.0));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, updates, crawl_rates);
criterion_main!(benches);
