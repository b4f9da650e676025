//! How fast a page becomes text and links, in bytes of HTML a second on one core.
//!
//! Ours does all of it: charset, tokens, text, links, hints. `html5gum` only tokenises, `scraper` builds a tree, selects
//! the links and gathers the text. Pages are made up, the same on each run; 74 % of the
//! shortest is text, of the others 83 or 84 %. If FRESHET_BENCH_PAGES names a folder of HTML pages, those of it that are
//! nearest to 5, 50 and 500 KB are read too.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice)]

use std::convert::Infallible;
use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use freshet::extract::text_rules::TextRules;
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

/// Of the pages that FRESHET_BENCH_PAGES holds, the one that is nearest to so many bytes.
fn real_page(bytes: usize) -> Option<String> {
    let entries = std::fs::read_dir(std::env::var_os("FRESHET_BENCH_PAGES")?).expect("a folder");
    let files = entries.map(|entry| entry.expect("a file"));
    let nearest = files.min_by_key(|file| {
        let length = file.metadata().expect("a file").len() as usize;
        (length.abs_diff(bytes), file.path())
    });
    let page = std::fs::read(nearest?.path()).expect("a page");
    Some(String::from_utf8_lossy(&page).into_owned())
}

fn extract(criterion: &mut Criterion) {
    let links = Selector::parse("a[href]").expect("a selector written here");
    let mut group = criterion.benchmark_group("html to text and links");
    let made_up = [5, 24, 50, 500].map(|kilobytes| (format!("{kilobytes} KB"), page(kilobytes * 1000)));
    let real = [5, 50, 500].into_iter().filter_map(|kilobytes| real_page(kilobytes * 1000));
    let real = real.map(|page| (format!("real, {} bytes", page.len()), page));
    for (name, page) in made_up.into_iter().chain(real) {
        group.throughput(Throughput::Bytes(page.len() as u64));
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

/// What is left of a page without what its reader called noise.
fn rules(criterion: &mut Criterion) {
    let written = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>();
    let elements = TextRules::new(&written(&["nav", "footer", ".c3"]), &[], &[]).expect("rules written here");
    let patterns = TextRules::new(&[], &[], &written(&["[0-9]+ views"])).expect("rules written here");
    let mut group = criterion.benchmark_group("html to the text that rules leave");
    let made_up = ("50 KB".to_owned(), page(50_000));
    let real = real_page(50_000).map(|page| (format!("real, {} bytes", page.len()), page));
    for (name, page) in [made_up].into_iter().chain(real) {
        group.throughput(Throughput::Bytes(page.len() as u64));
        for (kind, rules) in [("elements", &elements), ("patterns", &patterns)] {
            group.bench_function(BenchmarkId::new(kind, &name), |bencher| {
                bencher.iter(|| rules.html(black_box(page.as_bytes()), Some("text/html")));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, extract, rules);
criterion_main!(benches);
