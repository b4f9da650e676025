//! Fig. 2: the time to index batches of changed pages, with and without measuring what their refreshes gain (§5.3).
//!
//! Made-up texts in a store of their own, which is in a temporary folder and goes away. Two indexes follow it: one measures and one
//! does not, by turns, so that both meet the same disturbances. Times are the only numbers here that don't follow from the seed.

use std::time::{Duration, Instant};

use rand::RngExt as _;

use crate::change::changed_when::ChangedWhen;
use crate::change::{self, ChangeSettings};
use crate::crawl::batch::{Batch, Content, VisitRecord};
use crate::crawl::record::record;
use crate::fetch::visit::Outcome;
use crate::follow::search_index::SearchIndex;
use crate::observation::Attempt;
use crate::page::{Normaliser, PageId};
use crate::policy::Policy;
use crate::policy::registry::{self, PolicySettings};
use crate::quality::attention::Attention;
use crate::quality::scoring::Scoring;
use crate::quality::search_workload::SearchWorkload;
use crate::quality::workload::Workload;
use crate::reproduce::{Effort, Experiment, Figure, FigureCurve, Numbers, Point, Scale};
use crate::store::{self, CycleCommand, CycleId, ReadContent, Store, version};
use crate::time::Timestamp;
use crate::unique::NewPage;
use crate::unique::seeds::Seed;

/// Words of the vocabulary, by Zipf.
const VOCABULARY: usize = 20_000;
/// Queries, each with a frequency of 1.
const QUERIES: usize = 1000;
/// Sizes of the batches, as shares of the pages.
const BATCHES: [f64; 6] = [0.05, 0.1, 0.2, 0.4, 0.7, 1.0];
/// Each size is indexed this often.
const TURNS: usize = 2;
/// Pages recorded together.
const RECORDED_TOGETHER: usize = 500;
/// The paper's overhead (§5.3).
const PAPERS: (f64, f64) = (0.07, 0.08);

/// What can go wrong is the store, the index or the folder; all are told in the same way.
type OrFailure<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The time of batches of one size.
struct BatchTime {
    pages: usize,
    megabytes: f64,
    without: Duration,
    with: Duration,
}

/// Fig. 2.
pub(super) fn figure_2(effort: Effort, told: &mut dyn FnMut(&str)) -> Experiment {
    let pages = (10 * effort.runs as usize).clamp(100, 10_000);
    told(&format!("figure 2: {pages} pages indexed with and without measuring"));
    let (times, failure) = match measured(effort, pages) {
        Ok(times) => (times, None),
        Err(error) => (Vec::new(), Some(format!("it could not be measured: {error}"))),
    };
    let mut table =
        Numbers::new(["changed pages of a batch", "MB of text", "s without measuring", "s with", "overhead"]);
    let mut sums = (0.0, 0.0);
    for time in &times {
        let (without, with) = (time.without.as_secs_f64(), time.with.as_secs_f64());
        sums = (sums.0 + without, sums.1 + with);
        table.row(time.pages.to_string(), [time.megabytes, without, with, with / without - 1.0]);
    }
    table.row("all", [f64::NAN, sums.0, sums.1, sums.1 / sums.0 - 1.0]);
    table.row("the paper, up to 2000 MB", [f64::NAN, f64::NAN, f64::NAN, f64::midpoint(PAPERS.0, PAPERS.1)]);
    let curve = |name: &str, seconds: fn(&BatchTime) -> Duration| {
        let points = times.iter().map(|time| Point::new(time.megabytes, seconds(time).as_secs_f64()));
        FigureCurve::measured(name, std::iter::once(Point::new(0.0, 0.0)).chain(points).collect())
    };
    let note = format!(
        "as printed, on made-up texts and smaller batches: the time to index a batch, by its size, with and without measuring. {pages} pages \
         of about 400 words are in the store and in the index; a part of them gets other texts, which the index takes in. {QUERIES} queries \
         of one or two words, BM25. Both indexes take turns, {TURNS} batches of each size. The paper: 7 to 8 % on Lucene, batches of up to \
         2000 MB of HTML. Times differ from run to run"
    );
    Experiment {
        name: "2-overhead",
        title: "Fig. 2: the overhead of measuring while indexing".to_owned(),
        notes: std::iter::once(note).chain(failure).collect(),
        tables: vec![table],
        figures: vec![Figure {
            name: "2-overhead",
            title: "Fig. 2: time to index a batch of changed pages".to_owned(),
            across: Scale::linear("batch size, MB of text").above(0.0),
            up: Scale::linear("seconds").above(0.0),
            curves: vec![
                curve("indexing without measurements", |time| time.without),
                curve("indexing with measurements", |time| time.with),
            ],
        }],
    }
}

fn measured(effort: Effort, pages: usize) -> OrFailure<Vec<BatchTime>> {
    let folder = tempfile::tempdir()?;
    let mut store = store::open(&folder.path().join("freshet.db"))?;
    let policy = registry::find("age", &PolicySettings::default())?;
    let mut author = Author::new(effort);
    let now = Timestamp::from_seconds(1_100_000_000);
    let url = |page: usize| Normaliser::default().parse(&format!("https://example.org/{page}"));
    let seed = Seed { url: url(0)?, weight: 1.0, max_depth: None, scope: None, line: None };
    store.add_seeds(&[seed], now)?;
    let seed = store.seeds()?.first().ok_or("the seed is gone")?.id;
    let cycle = store.open_cycle(CycleCommand::Crawl, "age", None, now)?.id;
    let numbers: Vec<usize> = (0..pages).collect();
    for many in numbers.chunks(RECORDED_TOGETHER) {
        let new = |page: &usize| {
            let (found_on, lastmod, anchor) = (None, None, None);
            Ok(NewPage { url: url(*page)?, depth: 1, seed, found_on, lastmod, anchor })
        };
        let found = many.iter().map(new).collect::<OrFailure<Vec<_>>>()?;
        record(&mut *store, &*policy, cycle, Batch { found, now, ..Batch::default() })?;
    }
    author.change(&mut *store, &*policy, cycle, pages, now)?;
    let mut plain = SearchIndex::open(&folder.path().join("plain.db"), &mut *store)?;
    let mut measuring = SearchIndex::open(&folder.path().join("measuring.db"), &mut *store)?;
    plain.follow(&mut *store, &mut |_| ())?;
    measuring.follow(&mut *store, &mut |_| ())?;
    let search = SearchWorkload {
        workload: author.workload()?,
        scoring: Scoring::Bm25,
        attention: Attention::default(),
    };
    measuring.measure_by(&search, |_| Ok(Default::default()), &mut *store)?;
    let mut times = Vec::new();
    let mut at = now;
    for share in BATCHES {
        let many = ((share * pages as f64) as usize).max(1);
        let mut time =
            BatchTime { pages: many, megabytes: 0.0, without: Duration::ZERO, with: Duration::ZERO };
        for turn in 0..TURNS {
            at = at.plus(Duration::from_hours(24));
            let bytes = author.change(&mut *store, &*policy, cycle, many, at)?;
            time.megabytes += bytes as f64 / 1e6 / TURNS as f64;
            let mut indexed = |index: &mut SearchIndex| -> OrFailure<Duration> {
                let begun = Instant::now();
                index.follow(&mut *store, &mut |_| ())?;
                Ok(begun.elapsed() / TURNS as u32)
            };
            if turn % 2 == 0 {
                time.without += indexed(&mut plain)?;
                time.with += indexed(&mut measuring)?;
            } else {
                time.with += indexed(&mut measuring)?;
                time.without += indexed(&mut plain)?;
            }
        }
        times.push(time);
    }
    Ok(times)
}

/// Writes texts.
struct Author {
    random: rand_pcg::Pcg64Mcg,
    /// Running sums of 1, 1/2, 1/3 …
    zipf: Vec<f64>,
}

impl Author {
    fn new(effort: Effort) -> Author {
        let mut sum = 0.0;
        let zipf = (1..=VOCABULARY).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Author { zipf: zipf.collect(), random: effort.draws(430) }
    }

    fn word(&mut self) -> String {
        let drawn = self.random.random::<f64>() * self.zipf.last().copied().unwrap_or(1.0);
        word_of(self.zipf.partition_point(|sum| *sum < drawn))
    }

    fn text(&mut self) -> String {
        let length = self.random.random_range(100..700);
        let words: Vec<String> = (0..length).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn workload(&mut self) -> OrFailure<Workload> {
        let queries: Vec<(Vec<String>, f64)> = (0..QUERIES)
            .map(|_| {
                let terms = 1 + usize::from(self.random.random_bool(0.4));
                ((0..terms).map(|_| self.word()).collect(), 1.0)
            })
            .collect();
        Ok(Workload::of(queries)?)
    }

    /// Gives the first `many` pages other texts; the bytes of these.
    fn change(
        &mut self,
        store: &mut dyn Store,
        policy: &dyn Policy,
        cycle: CycleId,
        many: usize,
        at: Timestamp,
    ) -> OrFailure<u64> {
        let mut bytes = 0;
        let numbers: Vec<i64> = (1..).take(many).collect();
        for pages in numbers.chunks(RECORDED_TOGETHER) {
            let mut visits = Vec::with_capacity(pages.len());
            for page in pages {
                let text = self.text();
                bytes += text.len() as u64;
                visits.push(visit(PageId(*page), &text, at)?);
            }
            record(store, policy, cycle, Batch { visits, now: at, ..Batch::default() })?;
        }
        Ok(bytes)
    }
}

/// The word of a rank: syllables, more of them for rare words.
fn word_of(rank: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "an", "er", "in", "or", "st", "th"];
    let (mut word, mut left) = (String::new(), rank + SYLLABLES.len());
    while left > 0 {
        word.push_str(SYLLABLES.get(left % SYLLABLES.len()).copied().unwrap_or_default());
        left /= SYLLABLES.len();
    }
    word
}

/// A visit that brought this text.
fn visit(page: PageId, text: &str, at: Timestamp) -> OrFailure<VisitRecord> {
    let body = text.as_bytes();
    let read = ReadContent {
        sha256: version::sha256(body),
        body_hash: version::content_hash(body),
        text_hash: version::content_hash(body),
        content_type: Some("text/html".to_owned()),
        charset: Some("UTF-8"),
        body_bytes: body.len(),
        text_bytes: text.len(),
        title: None,
        sketch: Some(change::sketch(text, ChangeSettings::default())),
        packed: version::pack(body, text)?,
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
    Ok(VisitRecord {
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
        read_at: Timestamp::default(),
        entry_dates: None,
        redirect: None,
        alias: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_of_each_size_are_indexed_both_ways() {
        let found = figure_2(Effort { runs: 10, seed: 1 }, &mut |_| {});
        let table = &found.tables[0];
        assert_eq!(table.rows.len(), BATCHES.len() + 2, "{:?}", found.notes);
        assert!(table.rows[..BATCHES.len()].iter().all(|(_, row)| row[1] > 0.0 && row[2] > 0.0), "{table:?}");
    }

    #[test]
    fn words_differ_by_rank() {
        let words: std::collections::HashSet<String> = (0..2000).map(word_of).collect();
        assert_eq!(words.len(), 2000);
    }
}
