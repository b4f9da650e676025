//! The crawls of the demo, compared with the true state of its web: all figures, as `--json` prints them.

use std::collections::HashMap;

use serde::Serialize;

use freshet::crawl::Counts;
use freshet::look::text_diff::{Hunk, TextDiff};
use freshet::model_web::judge::score::{ScoreFigures, ScoreGroup, VisitEffect};
use freshet::model_web::judge::search_quality::SearchJudge;
use freshet::model_web::judge::stored_past;
use freshet::model_web::judge::{JudgedTexts, Pasts, Witness, behaviour_of, judge, judge_at};
use freshet::quality::scoring::Scoring;
use freshet::report::shell_word;
use freshet::store::{self, StoreError, VersionId};

use super::super::diff::deadline;
use super::place::Place;
use super::{DemoContender, Ran};

/// Changed pages that are shown: at most one of each behaviour.
const MOST_CHANGES: usize = 3;

#[derive(Debug, Serialize)]
pub(super) struct Account {
    pub seed: u64,
    #[serde(rename = "host_count")]
    pub hosts: u32,
    pub pages_per_host: u32,
    pub median_bytes: u32,
    pub day_seconds: f64,
    pub delay_seconds: f64,
    /// Requests a cycle.
    pub budget: u64,
    #[serde(rename = "cycle_count")]
    pub cycles: u32,
    #[serde(rename = "elapsed_seconds")]
    pub seconds: f64,
    /// Days of the web from the end of the first crawl to the end.
    pub days: f64,
    pub first_crawl: DemoSpent,
    /// The first crawl's copy, had nothing been visited again.
    pub left_alone: DemoStanding,
    pub contenders: Vec<Judged>,
    /// Commands to try.
    pub next: Vec<Next>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct DemoSpent {
    pub requests: u64,
    #[serde(rename = "received_bytes")]
    pub bytes: u64,
    #[serde(rename = "succeeded")]
    pub fetched: u64,
    pub changed: u64,
    #[serde(rename = "new_pages")]
    pub new: u64,
}

/// How a store stands at the end (`now`), and on average since the first crawl ended (`past`).
#[derive(Debug, Serialize)]
pub(super) struct DemoStanding {
    pub all: ScoreGroup,
    pub behaviours: Vec<ScoreGroup>,
    pub search_quality: Option<DemoQuality>,
}

/// The quality of search results at the end, and on average over the ends of the cycles; `None` if no query has a result.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct DemoQuality {
    pub now: Option<f64>,
    pub past: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Judged {
    pub policy: String,
    pub store: String,
    #[serde(flatten)]
    pub spent: DemoSpent,
    #[serde(flatten)]
    pub standing: DemoStanding,
    pub by_cycle: Vec<JudgedCycle>,
    pub changes: Vec<ShownChange>,
}

#[derive(Debug, Serialize)]
pub(super) struct JudgedCycle {
    pub cycle: usize,
    /// Of the web, when the cycle had ended.
    pub day: f64,
    #[serde(flatten)]
    pub spent: DemoSpent,
    #[serde(flatten)]
    pub figures: ScoreFigures,
    /// Quality of search results, if queries are given.
    pub search_quality: Option<f64>,
}

/// A change that a visit found.
#[derive(Debug, Serialize)]
pub(super) struct ShownChange {
    pub url: String,
    pub behaviour: &'static str,
    pub words_removed: usize,
    pub words_added: usize,
    pub hunks: Vec<Hunk>,
    #[serde(skip)]
    pub diff: TextDiff,
}

#[derive(Debug, Serialize)]
pub(super) struct Next {
    pub what: &'static str,
    pub command: String,
}

impl DemoSpent {
    fn of(counts: &Counts) -> Self {
        let Counts { requests, bytes, fetched, changed, new, .. } = *counts;
        Self { requests, bytes, fetched, changed, new }
    }

    fn add(&mut self, other: &DemoSpent) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.fetched += other.fetched;
        self.changed += other.changed;
        self.new += other.new;
    }
}

impl Account {
    pub(super) fn of(ran: &Ran, place: &Place) -> Result<Account, StoreError> {
        let (since, now) = (ran.first_ended.seconds(), ran.ended.seconds());
        let mut left_alone = None;
        let mut contenders = Vec::new();
        for contender in &ran.contenders {
            let mut store = store::open_to_look(place.store(&contender.policy))?;
            let pasts = stored_past::pasts(&mut *store, &ran.web)?;
            let is_linked =
                ran.searched.as_ref().is_some_and(|searched| searched.scoring == Scoring::Inlinks);
            let inlinks = if is_linked { stored_past::inlinks(&mut *store)? } else { HashMap::new() };
            // Every page of the demo is made, none is recorded.
            let no_recording = || StoreError::BadValue("a recorded page, where none is".to_owned());
            let mut ask = JudgedTexts {
                held: &mut |version| stored_past::held_text(&mut *store, version),
                history: &mut |_, _| Err(no_recording()),
                text: &mut |_, _, _| Err(no_recording()),
            };
            let mut judge = ran.searched.as_deref().map(|searched| SearchJudge::new(searched, inlinks));
            if left_alone.is_none() {
                let first = until(&pasts, since);
                left_alone = Some(standing(ran, contender, &first, judge.as_mut(), &mut ask)?.0);
            }
            let (standing, found) = standing(ran, contender, &pasts, judge.as_mut(), &mut ask)?;
            let (spent, by_cycle) = by_cycle(ran, contender, &pasts, &found, &mut ask)?;
            let changes = changes(&ran.web, &pasts, now, &mut ask)?;
            let store = place.store(&contender.policy).display().to_string();
            let policy = contender.policy.clone();
            contenders.push(Judged { policy, store, spent, standing, by_cycle, changes });
        }
        let course = ran.course;
        Ok(Account {
            seed: ran.seed,
            hosts: course.hosts,
            pages_per_host: course.pages,
            median_bytes: course.median_bytes,
            day_seconds: course.day.as_secs_f64(),
            delay_seconds: course.delay.as_secs_f64(),
            budget: course.budget,
            cycles: course.cycles,
            seconds: ran.took.as_secs_f64(),
            days: (now - since) / course.day.as_secs_f64(),
            first_crawl: DemoSpent::of(&ran.first),
            left_alone: left_alone.unwrap_or_else(|| DemoStanding {
                all: no_pages(),
                behaviours: Vec::new(),
                search_quality: None,
            }),
            next: next(ran, contenders.first()),
            contenders,
        })
    }
}

fn no_pages() -> ScoreGroup {
    ScoreGroup { name: "all".to_owned(), now: ScoreFigures::default(), past: ScoreFigures::default() }
}

/// The visits up to that moment, as if the crawl had ended there.
fn until(pasts: &Pasts, end: f64) -> Pasts {
    let known = pasts.iter().filter(|(_, past)| past.found_at <= end);
    let cut = known.map(|(url, past)| {
        let mut past = past.clone();
        past.visits.retain(|seen| seen.at <= end);
        (url.clone(), past)
    });
    cut.collect()
}

/// How a store stands with these visits, and the quality of its search results after each cycle of the contender.
fn standing(
    ran: &Ran,
    contender: &DemoContender,
    pasts: &Pasts,
    searches: Option<&mut SearchJudge<'_>>,
    ask: &mut JudgedTexts<'_, StoreError>,
) -> Result<(DemoStanding, Vec<Option<f64>>), StoreError> {
    let (since, now) = (ran.first_ended.seconds(), ran.ended.seconds());
    let scores = judge(&ran.web, pasts, since, now, ask)?;
    let (mut found, mut search_quality) = (Vec::new(), None);
    if let Some(searches) = searches {
        for cycle in &contender.cycles {
            found.push(searches.quality_at(&ran.web, pasts, cycle.ended.seconds(), ask)?.quality);
        }
        let known: Vec<f64> = found.iter().copied().flatten().collect();
        let past = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
        let now = searches.quality_at(&ran.web, pasts, now, ask)?.quality;
        search_quality = Some(DemoQuality { now, past });
    }
    Ok((DemoStanding { all: scores.all, behaviours: scores.behaviours, search_quality }, found))
}

fn by_cycle(
    ran: &Ran,
    contender: &DemoContender,
    pasts: &Pasts,
    found: &[Option<f64>],
    ask: &mut JudgedTexts<'_, StoreError>,
) -> Result<(DemoSpent, Vec<JudgedCycle>), StoreError> {
    let ends = contender.cycles.iter().map(|cycle| cycle.ended.seconds()).collect();
    let points = judge_at(&ran.web, pasts, ran.first_ended.seconds(), ends, ask)?;
    let day = ran.course.day.as_secs_f64();
    let mut all = DemoSpent::default();
    let mut judged = Vec::new();
    for (place, (cycle, point)) in contender.cycles.iter().zip(points).enumerate() {
        let spent = DemoSpent::of(&cycle.counts);
        all.add(&spent);
        let day = (point.at - ran.first_ended.seconds()) / day;
        let search_quality = found.get(place).copied().flatten();
        judged.push(JudgedCycle { cycle: place + 1, day, spent, figures: point.figures, search_quality });
    }
    Ok((all, judged))
}

/// The largest change of each behaviour that a visit found, noise left out.
fn changes(
    web: &[Witness],
    pasts: &Pasts,
    now: f64,
    ask: &mut JudgedTexts<'_, StoreError>,
) -> Result<Vec<ShownChange>, StoreError> {
    let mut largest: Vec<ShownChange> = Vec::new();
    let mut urls: Vec<_> = pasts.iter().collect();
    urls.sort_by_key(|(url, _)| *url);
    for (url, past) in urls {
        let Some(behaviour) = behaviour_of(web, url, now) else { continue };
        let versions = past.visits.iter().filter_map(|seen| match seen.what {
            VisitEffect::Read(version) => Some(version),
            _ => None,
        });
        let mut versions: Vec<VersionId> = versions.collect();
        versions.dedup();
        let [.., before, after] = versions.as_slice() else { continue };
        let diff = TextDiff::of(&(ask.held)(*before)?, &(ask.held)(*after)?, deadline());
        let (words_removed, words_added) = (diff.words_removed(), diff.words_added());
        let size = words_removed + words_added;
        let known = largest.iter_mut().find(|change| change.behaviour == behaviour);
        if size == 0 || known.as_ref().is_some_and(|known| known.words_removed + known.words_added >= size) {
            continue;
        }
        let hunks = diff.replaced();
        let change = ShownChange { url: url.clone(), behaviour, words_removed, words_added, hunks, diff };
        match known {
            Some(known) => *known = change,
            None => largest.push(change),
        }
    }
    largest.sort_by_key(|change| std::cmp::Reverse(change.words_removed + change.words_added));
    largest.truncate(MOST_CHANGES);
    Ok(largest)
}

/// Commands that work as they are printed.
fn next(ran: &Ran, first: Option<&Judged>) -> Vec<Next> {
    let freshet = program();
    let (Some(judged), Some(witness)) = (first, ran.web.first()) else { return Vec::new() };
    let store = shell_word(&judged.store);
    let course = ran.course;
    let port = witness.origin.rsplit(':').next().unwrap_or("0");
    let start = witness.clock.start.millis() / 1000;
    let day = course.day.as_millis();
    let of_the_web = format!(
        "--hosts {} --pages {} --median-bytes {} --seed {}",
        course.hosts, course.pages, course.median_bytes, ran.seed
    );
    let seeds = "seeds/example.txt";
    let crawl = if std::path::Path::new(seeds).exists() {
        format!("{freshet} crawl --seeds {seeds}")
    } else {
        format!("echo https://example.org/ | {freshet} crawl --seeds -")
    };
    let changed = judged.changes.last().map(|change| Next {
        what: "how a page moved: its visits, and which parts of its text come and go",
        command: format!("{freshet} history {} --store {store}", shell_word(&change.url)),
    });
    let look = vec![
        Next {
            what: "what the store knows, and its cycles",
            command: format!("{freshet} status --store {store}"),
        },
        Next {
            what: "what changed in all of it, and lasted",
            command: format!("{freshet} changes --lasting --store {store}"),
        },
    ];
    let more = vec![
        Next {
            what: "every page with its visits and changes",
            command: format!("{freshet} pages --store {store} --format csv"),
        },
        Next {
            what: "the same web again, as it is by now (Ctrl-C ends it)",
            command: format!("{freshet} web {of_the_web} --day {day}ms --start {start} --port {port}"),
        },
        Next {
            what: "while it is up, in another terminal: how the store has aged",
            command: format!("{freshet} score --truth {}/ --store {store}", witness.origin),
        },
        Next { what: "real sites, politely", command: crawl },
    ];
    look.into_iter().chain(changed).chain(more).collect()
}

/// The program as it was called, shorter if it lies below the current folder.
fn program() -> String {
    let called = std::env::args_os().next().unwrap_or_else(|| "freshet".into());
    let path = std::path::PathBuf::from(called);
    let here = std::env::current_dir().ok();
    let below =
        here.and_then(|here| path.strip_prefix(here).ok().map(|below| std::path::Path::new(".").join(below)));
    shell_word(&below.unwrap_or(path).display().to_string())
}
