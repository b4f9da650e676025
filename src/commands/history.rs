//! `freshet history`: the visits of a page, and how it moved between them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use freshet::change::behaviour::BehaviourShares;
use freshet::change::lifetime::Lifetimes;
use freshet::change::profile::Profiles;
use freshet::change::snapshots::Snapshots;
use freshet::page::PageId;
use freshet::report::diff::harmless;
use freshet::report::spark::spark;
use freshet::report::stripes::Stripes;
use freshet::report::{Align, Table, bytes, counted, number, percent, span};
use freshet::store::{self, Spelling, StoreError, VisitRow};
use freshet::time::Timestamp;

use super::held::{History, content};
use super::talk::columns;
use crate::cli::{CrawlFlags, Global, HistoryArgs};
use crate::settings::Settings;

/// Visits that a table shows unless told otherwise.
const TABLE_ROWS: usize = 20;
/// Points of a profile that are drawn, the latest; there are seldom more than profiles are kept.
const PROFILE_POINTS: usize = 30;

pub fn run(global: &Global, arguments: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let fragment_words = arguments.fragment_words;
    let settings = Settings::load(global, &CrawlFlags { fragment_words, ..CrawlFlags::default() })?;
    let fragment_words = settings.change().fragment_words;
    let mut store = store::open_to_look(&settings.store)?;
    let history = History::of(&mut *store, &settings, &arguments.url)?;
    let profiles = store.profiles(PageId(history.page.id))?;
    let mut past = Snapshots::new(fragment_words);
    for visit in history.sightings() {
        let Some(version) = visit.version else { continue };
        let text_of = |version| Ok::<_, StoreError>(content(&mut *store, version)?.text);
        past.see(visit.at, version, visit.text_rules, text_of)?;
    }
    let most = match arguments.limit {
        Some(0) => usize::MAX,
        Some(most) => most,
        None if global.json => usize::MAX,
        None => TABLE_ROWS,
    };
    let told = Told { history, profiles, past, fragment_words, most };
    let text = if global.json {
        serde_json::to_string_pretty(&told.to_json())? + "\n"
    } else {
        told.to_text(columns(), arguments.ascii)
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// All that is shown of a page.
struct Told {
    history: History,
    profiles: Profiles,
    past: Snapshots,
    fragment_words: usize,
    /// Visits that are shown.
    most: usize,
}

impl Told {
    fn to_json(&self) -> Value {
        let History { page, spellings, visits } = &self.history;
        let lifetimes = self.past.lifetimes();
        let times = lifetimes.times();
        let at = |snapshot: Option<usize>| snapshot.and_then(|snapshot| times.get(snapshot));
        let groups = lifetimes.lives().into_iter().map(
            |life| json!({ "born_at": at(life.born), "died_at": at(life.died), "fragments": life.fragments }),
        );
        let profiles = self.profiles.iter().map(|profile| {
            let points = profile.points.iter().map(|point| {
                json!({
                    "at": point.at,
                    "age_seconds": point.at.since(profile.base.at).seconds(),
                    "divergence": point.divergence.get(),
                })
            });
            json!({
                "base_at": profile.base.at,
                "base_version": profile.base.version.0,
                "points": points.collect::<Vec<_>>(),
            })
        });
        let behaviour = self.past.behaviour();
        let told = |(_, shares): (_, BehaviourShares)| json!({ "static": shares.static_share, "churn": shares.churn, "scroll": shares.scroll });
        json!({
            "url": page.url,
            "state": page.state,
            "found_at": page.found_at,
            "spellings": spellings.iter().map(|other| json!({
                "url": other.url,
                "moved": other.moved,
                "lived_there_until": left(other, visits),
            })).collect::<Vec<_>>(),
            "visit_count": visits.len(),
            "visits": self.shown().iter().map(visit_json).collect::<Vec<_>>(),
            "profiles": profiles.collect::<Vec<_>>(),
            "fragment_words": self.fragment_words,
            "snapshots": times.len(),
            "first_snapshot_at": times.first(),
            "last_snapshot_at": times.last(),
            "began_anew": self.past.times_anew(),
            "updates": lifetimes.updates(),
            "lifetimes": groups.collect::<Vec<_>>(),
            "fragment_counts": lifetimes.counts(),
            "longevity_seconds": lifetimes.longevity().map(|mean| mean.as_secs_f64()),
            "change_frequency_per_day": lifetimes.change_frequency(),
            "survived": lifetimes.survived(),
            "dominant_k": lifetimes.dominant_k(),
            "behaviour": behaviour.map(|(behaviour, _)| behaviour),
            "shares": behaviour.map(told),
        })
    }

    fn to_text(&self, width: usize, ascii: bool) -> String {
        let mut text = self.heading();
        if self.history.visits.is_empty() {
            text += "\nit has not been visited yet\n";
            return text;
        }
        text += "\n";
        text += &self.visits();
        if self.past.lifetimes().times().is_empty() {
            text += "\nno visit brought anything, so there is nothing to compare yet\n";
            return text;
        }
        text += &self.profiles(ascii);
        text += &self.lives(width, ascii);
        text
    }

    /// The latest visits.
    fn shown(&self) -> &[(String, VisitRow)] {
        let visits = &self.history.visits;
        visits.get(visits.len().saturating_sub(self.most)..).unwrap_or_default()
    }

    /// What it is called and was called, and how often it was seen.
    fn heading(&self) -> String {
        let History { page, spellings, visits } = &self.history;
        let changes = visits.iter().filter(|(_, visit)| visit.changed == Some(true)).count();
        let since = visits.first().map_or(page.found_at, |(_, visit)| visit.at.min(page.found_at));
        let mut text = format!(
            "{}\n{}, {}, {}, known since {since}\n",
            harmless(&page.url),
            page.state,
            counted(visits.len(), "visit"),
            counted(changes, "change")
        );
        for (place, other) in spellings.iter().enumerate() {
            let url = harmless(&other.url);
            let told = match (other.moved, left(other, visits)) {
                (true, Some(until)) => format!("until {until} it lived at {url}"),
                (true, None) => format!("{url} leads here for good"),
                (false, _) => format!("{url} shows it too"),
            };
            let _ = writeln!(text, "[{}] {told}", place + 1);
        }
        text
    }

    fn visits(&self) -> String {
        let History { page, spellings, visits } = &self.history;
        let mut heads = vec![
            ("when", Align::Left),
            ("outcome", Align::Left),
            ("changed", Align::Left),
            ("by", Align::Right),
            ("bytes", Align::Right),
            ("took", Align::Right),
            ("asked by", Align::Left),
        ];
        if !spellings.is_empty() {
            heads.push(("at", Align::Left));
        }
        let mut table = Table::new(&heads);
        let earlier = visits.len() - self.shown().len();
        for (place, (_, visit)) in visits.iter().enumerate().skip(earlier) {
            let before = visits.get(..place).unwrap_or_default().iter().rev().map(|(_, visit)| visit);
            let mut cells = vec![
                visit.at.to_string(),
                visit.outcome.clone(),
                change(visit, before).to_owned(),
                visit.divergence.map_or("-".to_owned(), |apart| format!("{apart:.3}")),
                if visit.bytes == 0 { "-".to_owned() } else { bytes(visit.bytes) },
                span(visit.took),
                validator(visit).to_owned(),
            ];
            if visit.page.0 != page.id {
                let other = spellings.iter().position(|other| other.page == visit.page);
                cells.push(other.map_or(String::new(), |place| format!("[{}]", place + 1)));
            }
            table.row(cells);
        }
        let mut text = table.render();
        if earlier > 0 {
            let _ = writeln!(text, "({} before these; --limit 0 shows them all)", counted(earlier, "visit"));
        }
        text
    }

    fn profiles(&self, ascii: bool) -> String {
        let mut table = Table::new(&[
            ("base version of", Align::Left),
            ("visits since", Align::Right),
            ("up to", Align::Right),
            ("divergence from it", Align::Left),
        ]);
        let mut any = false;
        for profile in self.profiles.iter() {
            let Some(last) = profile.points.last() else { continue };
            any = true;
            let latest = profile.points.len().saturating_sub(PROFILE_POINTS);
            let points = profile.points.iter().skip(latest).map(|point| point.divergence.get());
            table.row([
                profile.base.at.to_string(),
                number(profile.points.len() as u64),
                span(seconds(last.at.since(profile.base.at).seconds())),
                format!("{} {:.3}", spark(points, ascii), last.divergence.get()),
            ]);
        }
        if any { format!("\n{}", table.render()) } else { String::new() }
    }

    /// When fragments came and went, and what that says of the page.
    fn lives(&self, width: usize, ascii: bool) -> String {
        let lifetimes = self.past.lifetimes();
        let (lives, times) = (lifetimes.lives(), lifetimes.times());
        let mut text = String::from("\n");
        if let (1.., Some(first)) = (self.past.times_anew(), times.first()) {
            let _ = writeln!(text, "since {first}: the rules of what is noise were others before\n");
        }
        if lives.is_empty() {
            text += "it has no words, so there are no fragments to follow\n";
            return text;
        }
        let _ = writeln!(
            text,
            "fragments of {}, from when they came to when they went",
            counted(self.fragment_words, "word")
        );
        text += &Stripes { width, ascii, ..Stripes::default() }.draw(&lives, times);
        text.push('\n');
        let Some((behaviour, shares)) = self.past.behaviour() else {
            text += "behaviour  not known yet: it was seen once\n";
            return text;
        };
        let _ = writeln!(
            text,
            "behaviour  {behaviour}, by fragments: {} static, {} churn, {} scroll",
            percent(shares.static_share),
            percent(shares.churn),
            percent(shares.scroll)
        );
        text + &longevity(lifetimes) + &frequency(lifetimes) + &survival(lifetimes)
    }
}

fn longevity(lifetimes: &Lifetimes) -> String {
    match lifetimes.longevity() {
        Some(mean) => format!(
            "longevity  {}: the mean of {} seen to come and to go\n",
            span(mean),
            counted(lifetimes.counts().whole, "fragment")
        ),
        None => "longevity  not known: no fragment was seen to come and to go\n".to_owned(),
    }
}

fn frequency(lifetimes: &Lifetimes) -> String {
    let times = lifetimes.times();
    let among =
        format!("{} among {}", counted(lifetimes.updates(), "update"), counted(times.len(), "snapshot"));
    match lifetimes.change_frequency() {
        Some(a_day) if a_day > 0.0 => format!(
            "frequency  {} a day, one in {}: {among}\n",
            if a_day < 100.0 { format!("{a_day:.2}") } else { number(a_day.round() as u64) },
            span(seconds(SECONDS_PER_DAY / a_day)),
        ),
        _ => format!("frequency  {among}\n"),
    }
}

const SECONDS_PER_DAY: f64 = 86_400.0;

/// How many updates fragments survive (Olston & Pandey 2008, §3.3: replaced at the Kth after they came).
fn survival(lifetimes: &Lifetimes) -> String {
    let Some(dominant) = lifetimes.dominant_k() else { return String::new() };
    let [next, second, later] = by_k(&lifetimes.survived());
    format!(
        "replaced   by update K: K = 1 {}, K = 2 {}, K > 2 {}; most K = {dominant}\n",
        percent(next),
        percent(second),
        percent(later)
    )
}

/// The shares of fragments with K = 1, K = 2 and above.
fn by_k(survived: &BTreeMap<usize, usize>) -> [f64; 3] {
    let all: usize = survived.values().sum();
    let mut shares = [0.0; 3];
    for (k, fragments) in survived {
        if let Some(share) = shares.get_mut(k.saturating_sub(1).min(2)) {
            *share += *fragments as f64 / all.max(1) as f64;
        }
    }
    shares
}

/// When a spelling was found to lead elsewhere, if the page was ever seen there.
fn left(spelling: &Spelling, visits: &[(String, VisitRow)]) -> Option<Timestamp> {
    let there = || visits.iter().map(|(_, visit)| visit).filter(|visit| visit.page == spelling.page);
    let last = there().rfind(|visit| visit.version.is_some())?;
    there().find(|visit| visit.at > last.at && visit.redirect.is_some()).map(|visit| visit.at)
}

/// Whether a visit found a change, in a word. `before` are the earlier visits, the latest first.
fn change<'a>(visit: &VisitRow, before: impl Iterator<Item = &'a VisitRow>) -> &'static str {
    match (visit.changed, visit.version) {
        (Some(true), _) if visit.returned_to.is_some() => "back",
        (Some(true), _) => "yes",
        (Some(false), _) => "no",
        (None, None) => "-",
        (None, Some(_)) => {
            let mut held = before.filter(|earlier| earlier.page == visit.page && earlier.version.is_some());
            match held.next() {
                None => "first",
                // Texts that other rules left can't be compared.
                Some(earlier) if earlier.text_rules != visit.text_rules => "anew",
                Some(_) => "-",
            }
        }
    }
}

/// What the host was asked to compare, in a word.
fn validator(visit: &VisitRow) -> &str {
    match visit.validator.as_deref() {
        None => "-",
        Some("last-modified") => "date",
        Some("etag, last-modified") => "both",
        Some(other) => other,
    }
}

fn visit_json((url, visit): &(String, VisitRow)) -> Value {
    json!({
        "at": visit.at,
        "url": url,
        "outcome": visit.outcome,
        "status": visit.status,
        "changed": visit.changed,
        "divergence": visit.divergence,
        "bases": visit.bases.iter().map(|found| json!({
            "base_at": found.base.at,
            "base_version": found.base.version.0,
            "divergence": found.divergence.get(),
        })).collect::<Vec<_>>(),
        "returned_to": visit.returned_to.map(|version| version.0),
        "version": visit.version.map(|version| version.0),
        "bytes": visit.bytes,
        "took_ms": visit.took.as_millis() as u64,
        "validator": visit.validator,
        "redirect": visit.redirect,
    })
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use freshet::store::{CycleId, VersionId};

    const NEVER: VisitRow = VisitRow {
        page: PageId(1),
        cycle: CycleId(1),
        at: Timestamp::from_millis(0),
        outcome: String::new(),
        status: None,
        changed: None,
        divergence: None,
        bases: Vec::new(),
        bytes: 0,
        took: Duration::ZERO,
        validator: None,
        version: None,
        text_rules: 0,
        returned_to: None,
        redirect: None,
    };

    fn visit(at: i64, version: Option<i64>) -> VisitRow {
        VisitRow { at: Timestamp::from_seconds(at), version: version.map(VersionId), ..NEVER }
    }

    #[test]
    fn a_page_left_where_it_was_last_seen() {
        let spelling = Spelling { page: PageId(1), url: String::new(), moved: true };
        let away = |at| VisitRow { redirect: Some("http://example.org/".to_owned()), ..visit(at, None) };
        let left = |visits: &[VisitRow]| {
            let visits: Vec<_> = visits.iter().map(|visit| (String::new(), visit.clone())).collect();
            left(&spelling, &visits).map(|at| at.millis() / 1000)
        };
        assert_eq!(left(&[visit(1, Some(1)), visit(2, None), away(3), away(4)]), Some(3));
        assert_eq!(left(&[away(1), visit(2, Some(1)), away(3)]), Some(3), "it had come back");
        assert_eq!(left(&[away(1), away(2)]), None, "it was never seen there");
        assert_eq!(left(&[away(1), visit(2, Some(1))]), None, "it is there");
        let elsewhere = VisitRow { page: PageId(2), ..away(5) };
        assert_eq!(left(&[visit(1, Some(1)), elsewhere]), None);
    }

    #[test]
    fn what_can_t_be_compared_is_first_or_anew() {
        let rules = |text_rules| VisitRow { text_rules, ..visit(1, Some(1)) };
        assert_eq!(change(&rules(0), [].iter()), "first");
        assert_eq!(change(&rules(0), [visit(0, None)].iter()), "first");
        assert_eq!(change(&rules(1), [visit(1, None), rules(0), rules(1)].iter()), "anew");
        assert_eq!(change(&rules(1), [rules(1)].iter()), "-");
        assert_eq!(change(&rules(1), [VisitRow { page: PageId(2), ..rules(2) }].iter()), "first");
        let back = VisitRow { changed: Some(true), returned_to: Some(VersionId(1)), ..rules(0) };
        assert_eq!(change(&back, [].iter()), "back");
    }

    #[test]
    fn replacements_fall_in_three_classes() {
        let shares = by_k(&BTreeMap::from([(1, 2), (2, 1), (3, 4), (9, 1)]));
        assert_eq!(shares, [0.25, 0.125, 0.625]);
        assert_eq!(by_k(&BTreeMap::new()), [0.0; 3]);
    }
}
