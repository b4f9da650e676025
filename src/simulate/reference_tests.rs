//! `calibrated` against reference runs of an independent implementation (tests/golden/learned_rate.json).
//!
//! The runs are over recorded pages that are not part of the project. Where `FRESHET_CORPORA` names a folder that has them as
//! the datasets `replay.ds` and `replay-2.ds`, they are replayed; else the test says that it left them out.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::compare::replayed;
use super::metric::CycleFigures;
use super::truth::Truth;
use super::{ByPolicy, Chooser, Measuring, ReplayTerms, Ties, replay};
use crate::dataset::{Dataset, Group};
use crate::estimate::Seen;
use crate::page::{Depth, HostId, Kin};
use crate::policy::registry::{PolicySettings, find};
use crate::policy::{CollectedVisit, Learnt, Lesson, LooksAt, PageState, PlanMoment, Policy, Score, Survey};
use crate::time::Timestamp;

const GOLDEN: &str = include_str!("../../tests/golden/learned_rate.json");

fn golden() -> Value {
    serde_json::from_str(GOLDEN).expect("the golden file")
}

/// The datasets of the reference runs, if they are there.
fn corpora() -> Option<[(&'static str, Dataset); 2]> {
    let Ok(folder) = std::env::var("FRESHET_CORPORA") else {
        println!("left out: FRESHET_CORPORA names no folder with replay.ds and replay-2.ds");
        return None;
    };
    Some(["replay", "replay-2"].map(|name| {
        let path = Path::new(&folder).join(format!("{name}.ds"));
        (name, Dataset::load(&path).expect("a dataset"))
    }))
}

fn group<'a>(corpora: &'a [(&'static str, Dataset); 2], corpus: &str, group: &str) -> &'a Group {
    let (_, dataset) = corpora.iter().find(|(name, _)| *name == corpus).expect("a corpus");
    dataset.groups.iter().find(|found| found.name == group).expect("a group")
}

fn terms(group: &Group, budget: f64) -> ReplayTerms {
    ReplayTerms {
        budget,
        warm_up: 2,
        step: group.step,
        every: 1,
        by_day: false,
        start: group.start,
        ties: Ties::OlderFirst,
        measuring: Measuring::default(),
    }
}

/// A page at a plan: its kin, how long it waits in days, its score.
type Scored = (Kin, f64, f64);

/// All pages at each plan.
type Noted = Vec<(Timestamp, Vec<Scored>)>;

/// Notes the score of every page at every plan.
struct Spy {
    policy: Box<dyn Policy>,
    noted: Arc<Mutex<Noted>>,
}

impl Policy for Spy {
    fn name(&self) -> &str {
        self.policy.name()
    }
    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        self.policy.score(page, now)
    }
    fn learn(&self, host: HostId, depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        self.policy.learn(host, depth, learnt, lesson, seen);
    }
    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.policy.survey(survey);
        let mut scored = Vec::new();
        let now = survey.now;
        (survey.pages)(&mut |page, _| {
            let score = self.policy.score(page, now).value();
            scored.push((page.kin, page.copy_age(now).days(), score));
        });
        self.noted.lock().expect("the notes").push((now, scored));
    }
    fn learns_from_all(&self) -> bool {
        true
    }
    fn planned(&self) -> Option<PlanMoment> {
        self.policy.planned()
    }
    fn learn_from_all(&mut self, plan: &PlanMoment, visits: &[CollectedVisit<'_>]) {
        self.policy.learn_from_all(plan, visits);
    }
    fn looks_at(&self) -> LooksAt {
        self.policy.looks_at()
    }
}

/// The cycle of each trace from which on our run has visited other pages than the reference, probably as a tie was broken otherwise.
const RUNS_PART: [(&str, u64); 3] = [("ota-dating", u64::MAX), ("bigquery-docs", 90), ("llvm-www", 6)];

#[test]
fn plans_are_those_of_the_reference() {
    let (golden, Some(corpora)) = (golden(), corpora()) else { return };
    for trace in golden["traces"].as_array().expect("traces") {
        let name = |key: &str| trace[key].as_str().expect("a name");
        let group = group(&corpora, name("corpus"), name("group"));
        let budget = trace["budget"].as_f64().expect("a budget");
        let order: Vec<u32> = (0..group.pages.len() as u32).collect();
        let (truth, terms) = (Truth::of(group, &order), terms(group, budget));
        let noted = Arc::new(Mutex::new(Vec::new()));
        let policy = find("calibrated", &PolicySettings::default()).expect("the policy");
        let spy = Spy { policy, noted: Arc::clone(&noted) };
        replay(&truth, &mut Chooser::Policy(ByPolicy::new(Box::new(spy), &truth, terms)), &terms);
        let noted = noted.lock().expect("the notes");
        let days = group.step.as_secs_f64() / 86_400.0;
        let broken = RUNS_PART.iter().find(|(name, _)| *name == group.name).map_or(0, |(_, cycle)| *cycle);
        let mut compared = 0;
        for cycle in trace["cycles"].as_array().expect("cycles") {
            let number = cycle["cycle"].as_u64().expect("a number");
            if number >= broken {
                break;
            }
            let (_, scored) = noted.iter().find(|(at, _)| *at == terms.at(number as u32)).expect("the plan");
            // Scores are scaled by one factor for all pages, the height that divergence reaches.
            let mut height = None;
            for page in cycle["pages"].as_array().expect("pages") {
                let place = page["page"].as_u64().expect("a place") as usize;
                let kin = Kin::of(&group.pages[place].url);
                let age = page["t"].as_f64().expect("an age") * days;
                let expected = page["score"].as_f64().expect("a score") * days;
                let alike: Vec<&Scored> =
                    scored.iter().filter(|(of, waits, _)| *of == kin && (waits - age).abs() < 1e-6).collect();
                let first =
                    alike.first().unwrap_or_else(|| panic!("{} {number}: no page {place}", group.name));
                let height = *height.get_or_insert(first.2 / expected);
                let off = alike.iter().map(|scored| (scored.2 / expected / height - 1.0).abs());
                let off = off.fold(f64::INFINITY, f64::min);
                assert!(off < 1e-6, "{} cycle {number} page {place}: off by {off:.1e}, {page}", group.name);
                compared += 1;
            }
        }
        println!("{} {budget}: {compared} scores are the same", group.name);
        assert!(compared > 15, "{}: {compared}", group.name);
    }
}

#[test]
fn whole_runs_are_those_of_the_reference() {
    let (golden, Some(corpora)) = (golden(), corpora()) else { return };
    for (name, run) in golden["runs"].as_object().expect("runs") {
        let [corpus, of, budget] = name.split('/').collect::<Vec<_>>()[..] else { panic!("{name}") };
        let group = group(&corpora, corpus, of);
        let terms = terms(group, budget.parse().expect("a share"));
        // Where scores tie, the order of pages decides, and a run of the reference is one of many.
        let found: Vec<f64> = (0..5)
            .map(|seed| {
                let truth = Truth::of(group, &in_order(group.pages.len(), seed));
                super::metric::Figures::of(&replayed("calibrated", group, &truth, &terms)).staleness
            })
            .collect();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        let squares: f64 = found.iter().map(|found| (found / mean - 1.0).powi(2)).sum();
        let spread = (squares / (found.len() - 1) as f64).sqrt();
        let expected = run["staleness"].as_f64().expect("a number");
        let off = mean / expected - 1.0;
        println!(
            "{name}: {mean:.5} ± {:.1} %, reference {expected:.5}, {:+.1} %",
            spread * 100.0,
            off * 100.0
        );
        if group.pages.len() >= 200 {
            assert!(off.abs() < f64::max(0.03, 2.0 * spread), "{name}: {found:?} against {expected}");
        }
    }
}

/// An order of pages; the first is that of the dataset.
fn in_order(pages: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..pages as u32).collect();
    if seed > 0 {
        order.sort_by_key(|page| xxhash_rust::xxh3::xxh3_64_with_seed(&page.to_le_bytes(), seed));
    }
    order
}

#[test]
fn a_window_of_ticks_loses_nothing() {
    let Some(corpora) = corpora() else { return };
    for (corpus, dataset) in &corpora {
        for ticks in [8, 16, 32, 64, 1 << 16] {
            let mut logs = Vec::new();
            for group in dataset.groups.iter().filter(|group| group.pages.len() >= 30) {
                let order: Vec<u32> = (0..group.pages.len() as u32).collect();
                let truth = Truth::of(group, &order);
                for budget in [0.02, 0.1] {
                    let terms = terms(group, budget);
                    let policy = crate::policy::calibrated::with_ticks(ticks);
                    let mut chooser = Chooser::Policy(ByPolicy::new(policy, &truth, terms));
                    let staleness = |cycles: Vec<CycleFigures>| super::metric::Figures::of(&cycles).staleness;
                    let found = staleness(replay(&truth, &mut chooser, &terms));
                    logs.push((found / staleness(replayed("age", group, &truth, &terms))).ln());
                }
            }
            let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
            println!("{corpus}: {ticks} ticks, {mean:.4} of age");
        }
    }
}
