//! How fast stored pages are indexed and searched, and how large the index is: figures for docs/performance.md.
//!
//! The pages are made up: words of a vocabulary drawn by Zipf's law, in some markup. FRESHET_BENCH_PAGES_COUNT says how many there
//! are; without it, 100,000. The store is made first, which takes longer than the rest. All is done on one thread.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice)]

use std::path::Path;
use std::time::{Duration, Instant};

use freshet::change::changed_when::ChangedWhen;
use freshet::change::{self, ChangeSettings};
use freshet::crawl::batch::{Batch, Content, VisitRecord};
use freshet::crawl::record::record;
use freshet::fetch::visit::Outcome;
use freshet::follow::search_index::SearchIndex;
use freshet::look::search::{SearchQuery, search};
use freshet::observation::Attempt;
use freshet::page::{Normaliser, PageId};
use freshet::policy::registry::{self, PolicySettings};
use freshet::quality::attention::Attention;
use freshet::quality::scoring::Scoring;
use freshet::quality::search_workload::SearchWorkload;
use freshet::quality::workload::Workload;
use freshet::store::{self, CycleCommand, ReadContent, Store, version};
use freshet::time::Timestamp;
use freshet::unique::NewPage;
use freshet::unique::seeds::Seed;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

/// Words of the vocabulary.
const VOCABULARY: usize = 100_000;
/// Pages recorded together.
const BATCH: usize = 500;
/// Queries of each kind.
const QUERIES: usize = 100;

/// Queries that refreshes are measured by.
const MEASURED_QUERIES: usize = 1_000;
/// Pages that change and are measured.
const MEASURED_PAGES: usize = 100_000;

/// Made-up words, the most frequent first and shorter than the rare ones, with the chance of each or one before it.
struct Vocabulary {
    words: Vec<String>,
    chances: Vec<f64>,
}

impl Vocabulary {
    fn new() -> Self {
        let syllables =
            ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "an", "er", "in", "or", "st", "th"];
        let word = |mut number: usize| {
            let mut word = String::new();
            loop {
                word += syllables[number % syllables.len()];
                number /= syllables.len();
                if number == 0 {
                    return word;
                }
                number -= 1;
            }
        };
        let (mut sum, mut chances) = (0.0, Vec::new());
        for rank in 1..=VOCABULARY {
            sum += 1.0 / rank as f64;
            chances.push(sum);
        }
        chances.iter_mut().for_each(|chance| *chance /= sum);
        Self { words: (0..VOCABULARY).map(word).collect(), chances }
    }

    fn draw(&self, random: &mut Pcg64) -> &str {
        let chance: f64 = random.random();
        &self.words[self.chances.partition_point(|upto| *upto < chance).min(VOCABULARY - 1)]
    }
}

/// The text of a page: some hundred words, few pages many more.
fn text(words: &Vocabulary, random: &mut Pcg64) -> String {
    let spread: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    let length = (400.0 * (0.7 * spread).exp()) as usize + 20;
    let mut text = String::new();
    for place in 0..length {
        text += words.draw(random);
        text += if place % 14 == 13 { ". " } else { " " };
    }
    text
}

fn visit(page: PageId, body: &[u8], text: &str, at: Timestamp) -> VisitRecord {
    let read = ReadContent {
        sha256: version::sha256(body),
        body_hash: version::content_hash(body),
        text_hash: version::content_hash(text.as_bytes()),
        content_type: Some("text/html".to_owned()),
        charset: Some("UTF-8"),
        body_bytes: body.len(),
        text_bytes: text.len(),
        title: Some(text.split('.').next().unwrap_or_default().into()),
        sketch: Some(change::sketch(text, ChangeSettings::default())),
        packed: version::pack(body, text).expect("it is packed"),
    };
    let attempt = Attempt {
        at,
        outcome: Outcome::Fetched,
        reason: None,
        redirect_to: None,
        status: Some(200),
        bytes: body.len() as u64,
        took: Duration::from_millis(7),
    };
    VisitRecord {
        page,
        attempt,
        content: Some(Content::Read(read)),
        answer: None,
        etag: None,
        last_modified: None,
        has_safe_date: true,
        noindex: false,
        validator: None,
        rules: 1,
        text_rules: 0,
        changed_when: ChangedWhen::default(),
        found: Vec::new(),
        links: None,
        same_rules: false,
        entries: Vec::new(),
        read_at: at,
        entry_dates: None,
        redirect: None,
        alias: None,
    }
}

/// Fills a store with pages; the bytes of their texts, plain and packed alone.
fn fill(store: &mut dyn Store, pages: usize, words: &Vocabulary, random: &mut Pcg64) -> (u64, u64) {
    let now = Timestamp::now();
    let url =
        |page: usize| Normaliser::default().parse(&format!("https://example.org/{page}")).expect("a URL");
    let seed = Seed { url: url(0), weight: 1.0, max_depth: None, scope: None, line: None };
    store.add_seeds(&[seed], now).expect("a seed");
    let seed = store.seeds().expect("seeds")[0].id;
    let cycle = store.open_cycle(CycleCommand::Crawl, "age", None, now).expect("a cycle").id;
    let policy = registry::find("age", &PolicySettings::default()).expect("a policy");
    let (mut plain, mut packed) = (0, 0);
    for first in (0..pages).step_by(BATCH) {
        let many = first..(first + BATCH).min(pages);
        let found = many
            .clone()
            .map(|page| NewPage {
                url: url(page),
                depth: 1,
                seed,
                found_on: None,
                lastmod: None,
                anchor: None,
            })
            .collect();
        let batch = Batch { found, now, ..Batch::default() };
        record(store, &*policy, cycle, batch).expect("pages are found");
        let visits = many.map(|page| {
            let text = text(words, random);
            let body = format!(
                "<html><head><title>{page}</title></head><body><nav><a href=/>home</a> <a href=/about>about</a></nav>\
                 <div class=\"content\"><p>{}</p></div></body></html>",
                text.replace(". ", ".</p>\n<p class=\"text\">")
            );
            plain += text.len() as u64;
            packed += version::compress(text.as_bytes()).expect("it is packed").len() as u64;
            visit(PageId(page as i64 + 1), body.as_bytes(), &text, now)
        });
        let batch = Batch { visits: visits.collect(), now, ..Batch::default() };
        record(store, &*policy, cycle, batch).expect("visits are recorded");
    }
    store.close_cycle(cycle, now, None).expect("it closes");
    (plain, packed)
}

fn main() {
    let count = std::env::var("FRESHET_BENCH_PAGES_COUNT").ok().and_then(|count| count.parse().ok());
    let pages = count.unwrap_or(100_000);
    let folder = tempfile::tempdir().expect("a folder");
    let (place, file) = (folder.path().join("freshet.db"), folder.path().join("freshet.search.db"));
    let (words, mut random) = (Vocabulary::new(), Pcg64::seed_from_u64(19));
    let begun = Instant::now();
    let mut store = store::open(&place).expect("a store");
    let (plain, packed) = fill(&mut *store, pages, &words, &mut random);
    let stored = store.summary().expect("a summary").stored_bytes;
    println!(
        "{pages} pages made in {:.1?}: {plain} bytes of text, {packed} packed alone, {stored} with bodies",
        begun.elapsed()
    );

    let begun = Instant::now();
    let mut index = SearchIndex::open(&file, &mut *store).expect("an index");
    index.follow(&mut *store, &mut |_| ()).expect("it is indexed");
    let took = begun.elapsed();
    let size = || std::fs::metadata(&file).expect("a file").len();
    println!("indexed in {took:.1?}: {:.0} pages/s", pages as f64 / took.as_secs_f64());
    report_searches(&mut *store, &index, &words, &mut random);
    drop(index);
    report_size("as it was written", size(), packed, stored);
    let begun = Instant::now();
    let mut index = SearchIndex::open(&file, &mut *store).expect("an index");
    index.compact().expect("it is merged");
    println!("compacted in {:.1?}", begun.elapsed());
    report_searches(&mut *store, &index, &words, &mut random);
    drop(index);
    report_size("compacted", size(), packed, stored);
    report_measuring(&mut *store, pages, &file, &words, &mut random);
}

/// Pages that change and are indexed again, by an index that measures what their refreshes gain and by one that does not: by turns, so
/// that both meet the same disturbances.
fn report_measuring(
    store: &mut dyn Store,
    pages: usize,
    file: &Path,
    words: &Vocabulary,
    random: &mut Pcg64,
) {
    let queries = (0..MEASURED_QUERIES).map(|_| {
        let more = (random.random::<f64>() < 0.4).then(|| words.draw(random).to_owned());
        (std::iter::once(words.draw(random).to_owned()).chain(more).collect(), 1.0)
    });
    let workload = Workload::of(queries.collect::<Vec<_>>()).expect("queries");
    let terms = workload.single_terms().len();
    let search = SearchWorkload { workload, scoring: Scoring::Bm25, attention: Attention::default() };
    let other = file.with_extension("plain.db");
    std::fs::copy(file, &other).expect("a copy");
    let mut plain = SearchIndex::open(&other, store).expect("an index");
    let mut measured = SearchIndex::open(file, store).expect("an index");
    let begun = Instant::now();
    measured.measure_by(&search, |_| Ok(Default::default()), store).expect("a measure");
    println!(
        "{MEASURED_QUERIES} queries with {terms} terms: the words of all pages taken from the index in {:.1?}",
        begun.elapsed()
    );
    let now = Timestamp::now();
    let cycle = store.open_cycle(CycleCommand::Crawl, "age", None, now).expect("a cycle").id;
    let policy = registry::find("age", &PolicySettings::default()).expect("a policy");
    let (mut without, mut with, mut done) = (Duration::ZERO, Duration::ZERO, 0);
    for (part, first) in (0..pages.min(MEASURED_PAGES)).step_by(BATCH).enumerate() {
        let many = first..(first + BATCH).min(pages);
        done += many.len();
        let visits = many.map(|page| {
            let text = text(words, random);
            visit(PageId(page as i64 + 1), text.as_bytes(), &text, now)
        });
        let batch = Batch { visits: visits.collect(), now, ..Batch::default() };
        record(store, &*policy, cycle, batch).expect("visits are recorded");
        let mut turn = |index: &mut SearchIndex, spent: &mut Duration| {
            let begun = Instant::now();
            index.follow(store, &mut |_| ()).expect("it is indexed");
            *spent += begun.elapsed();
        };
        if part % 2 == 0 {
            turn(&mut plain, &mut without);
            turn(&mut measured, &mut with);
        } else {
            turn(&mut measured, &mut with);
            turn(&mut plain, &mut without);
        }
        if (part + 1).is_power_of_two() || done == pages.min(MEASURED_PAGES) {
            let more = 100.0 * (with.as_secs_f64() / without.as_secs_f64() - 1.0);
            println!(
                "{done} changed pages indexed in {without:.1?}, measured too in {with:.1?}: {more:+.1} %"
            );
        }
    }
}

fn report_size(what: &str, size: u64, packed: u64, stored: u64) {
    let share = |of: u64| 100.0 * size as f64 / of as f64;
    println!(
        "index {what}: {size} bytes, {:.1} % of the packed texts, {:.1} % of the packed contents",
        share(packed),
        share(stored)
    );
}

/// Searches with two words: any words of the texts, and only frequent ones.
fn report_searches(store: &mut dyn Store, index: &SearchIndex, words: &Vocabulary, random: &mut Pcg64) {
    for (kind, among) in [("any words", VOCABULARY), ("the 200 most frequent words", 200)] {
        let mut draw = || loop {
            let word = words.draw(random);
            if words.words.iter().take(among).any(|one| one == word) {
                return word.to_owned();
            }
        };
        let mut times = Vec::new();
        let mut matches = 0;
        for _ in 0..QUERIES {
            let query = format!("{} {}", draw(), draw());
            let query = SearchQuery::new(&query, Scoring::Bm25, 10).expect("a query");
            let begun = Instant::now();
            matches += search(store, index, &query, Timestamp::now()).expect("results").matches;
            times.push(begun.elapsed());
        }
        times.sort();
        println!(
            "{QUERIES} queries of two of {kind}: median {:.1?}, worst {:.1?}, {} pages match on average",
            times[QUERIES / 2],
            times[QUERIES - 1],
            matches / QUERIES as u64
        );
    }
}
