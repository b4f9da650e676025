//! How fast a page becomes text and links, in bytes of HTML a second on one core.
//!
//! Ours does all of it: charset, tokens, text, links, hints. `html5gum` only tokenises, `scraper` builds a tree, selects
//! the links and gathers the text. Pages are made up, the same on each run; 74 % of the
//! shortest is text, of the others 83 or 84 %.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice)]

use std::convert::Infallible;
use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use scraper::{Html, Selector};

/// A page of at least `bytes`, of the same words each time.
fn page(bytes: usize) -> String {
    const WORDS: [&str; 24] = [
        "the",
        "of",
        "and",
        "river",
        "to",
        "page",
        "in",
        "that",
        "freshness",
        "is",
        "crawler",
        "was",
        "he",
        "for",
        "it",
        "with",
        "as",
        "his",
        "on",
        "changed",
        "be",
        "yesterday",
        "at",
        "policy",
    ];
    let mut state = 1_u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>A page of words</title>\
         <link rel=\"stylesheet\" href=\"/site.css\"><style>body{margin:0}</style><script>window.id={\"t\":\"<a href=/no>\"};</script></head>\n\
         <body><header><nav><ul>",
    );
    for entry in 0..10 {
        let _ = write!(page, "<li><a href=\"/section-{entry}/\">Section {entry}</a></li>");
    }
    page.push_str("</ul></nav></header><main><article>\n");
    while page.len() < bytes {
        let _ = write!(page, "<p class=\"c{}\">", next(5));
        for _ in 0..40 + next(60) {
            let word = WORDS[next(WORDS.len())];
            match next(90) {
                0 => {
                    let _ = write!(
                        page,
                        "<a href=\"/section-{}/{word}-{}.html\">{word} {word}</a> ",
                        next(10),
                        next(1000)
                    );
                }
                1 => {
                    let _ = write!(page, "<em>{word}</em> ");
                }
                2 => page.push_str("&amp; "),
                3 => {
                    let _ = writeln!(page, "{word},");
                }
                _ => {
                    let _ = write!(page, "{word} ");
                }
            }
        }
        page.push_str("</p>\n");
    }
    page.push_str("</article></main><footer>the end</footer></body></html>\n");
    page
}

fn html5gum_tokens(page: &str) -> usize {
    let mut bytes = 0;
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        match event {
            CallbackEvent::String { value } | CallbackEvent::AttributeValue { value } => bytes += value.len(),
            _ => {}
        }
        None
    });
    emitter.naively_switch_states(true);
    for _ in Tokenizer::new_with_emitter(page, emitter) {}
    bytes
}

fn scraper_document(page: &str, links: &Selector) -> (String, Vec<String>) {
    let tree = Html::parse_document(page);
    let text = tree.root_element().text().collect();
    (text, tree.select(links).filter_map(|link| link.attr("href")).map(str::to_owned).collect())
}

fn extract(criterion: &mut Criterion) {
    let links = Selector::parse("a[href]").expect("a selector written here");
    let mut group = criterion.benchmark_group("html to text and links");
    for kilobytes in [5, 24, 50, 500] {
        let page = page(kilobytes * 1000);
        group.throughput(Throughput::Bytes(page.len() as u64));
        let name = format!("{kilobytes} KB");
        group.bench_function(BenchmarkId::new("freshet", &name), |bencher| {
            bencher.iter(|| freshet::extract::html(black_box(page.as_bytes()), Some("text/html"), 10_000));
        });
        group.bench_function(BenchmarkId::new("html5gum, tokens only", &name), |bencher| {
            bencher.iter(|| html5gum_tokens(black_box(&page)));
        });
        group.bench_function(BenchmarkId::new("scraper", &name), |bencher| {
            bencher.iter(|| scraper_document(black_box(&page), &links));
        });
    }
    group.finish();
}

criterion_group!(benches, extract);
criterion_main!(benches);
