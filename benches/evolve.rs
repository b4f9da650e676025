//! How fast formulas are evaluated and replayed: node evaluations in columns, and a replay at the size of BRDC'12.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use freshet::evolve::fitness::Fitness;
use freshet::evolve::runner::Runner;
use freshet::evolve::warmed_up::WarmedUp;
use freshet::evolve::{EvolveSettings, terms};
use freshet::policy::expression::{Columns, Expression, Scratch, Terminal};
use freshet::simulate::synthetic::Spec;
use freshet::simulate::truth::Truth;

fn formula(text: &str) -> Expression {
    text.parse().expect("a formula")
}

/// Symbols of a formula, evaluated in many states at once.
fn nodes(criterion: &mut Criterion) {
    let states = 4096_u32;
    let mut columns = Columns::default();
    for terminal in Terminal::PAPERS {
        columns.of_mut(terminal).extend((0..states).map(|at| f64::from(at % 57)));
    }
    let mut values = vec![0.0; states as usize];
    let mut scratch = Scratch::default();
    let mut group = criterion.benchmark_group("nodes");
    for (name, text) in [
        ("sums and products", "(X + t) * (X * t) + X * t - (n + X) * t"),
        ("quotients", "X / n + t / (n + X) - X / (t + n)"),
        ("all functions", "log(X * t + 1) ^ (X / n) + exp(X / n) * t - n"),
    ] {
        let formula = formula(text);
        group.throughput(Throughput::Elements(formula.symbols().len() as u64 * u64::from(states)));
        group.bench_function(name, |bencher| {
            bencher.iter(|| formula.values(black_box(&columns), &mut scratch, &mut values));
        });
    }
    group.finish();
}

/// A formula on the pages that one fold of BRDC'12's size breeds on.
fn replays(criterion: &mut Criterion) {
    let dataset = Spec { pages: 417_048 * 2 / 5, cycles: 57, ..Spec::default() }.dataset();
    let group_of_pages = dataset.groups.first().expect("a group");
    let pages: Vec<u32> = (0..group_of_pages.pages.len() as u32).collect();
    let settings = EvolveSettings::default();
    let truth = Truth::of(group_of_pages, &pages);
    let pages = WarmedUp::new(truth, terms(&settings, group_of_pages), false);
    let mut group = criterion.benchmark_group("replay of 166,819 pages, 57 cycles");
    group.sample_size(10);
    for text in ["t", "X * t", "X * t + exp(X / n) * log(t + X) - n ^ 0.5"] {
        let formula = formula(text);
        for fitness in Fitness::ALL {
            let mut runner = Runner::new(&Terminal::PAPERS, 1.0);
            group.bench_function(BenchmarkId::new(text, fitness.name()), |bencher| {
                bencher.iter(|| runner.run(black_box(&pages), &formula, fitness));
            });
        }
    }
    group.finish();
}

/// The form that formulas share what is known of them by.
fn canonical(criterion: &mut Criterion) {
    let formula =
        formula("(X + 0) * (1 * t) + log(1) * exp(X - X) + (t * X) / (n + 0.001 * 10) - (n - n) ^ t");
    criterion.bench_function("canonical form", |bencher| bencher.iter(|| black_box(&formula).canonical()));
    criterion.bench_function("ranking form", |bencher| bencher.iter(|| black_box(&formula).ranking()));
}

criterion_group!(benches, nodes, canonical, replays);
criterion_main!(benches);
