//! A web whose truth is known, and what a store remembers of it → how well the store stands.
//!
//! The copy is compared with the true page as text, not by dates: a host that wrongly says "not modified" fools the
//! crawler, never the judge.

pub mod score;
pub mod search_quality;
pub mod stored_past;
pub mod truth_client;

use std::collections::HashMap;

use self::score::{Board, ComparedCopy, HeldVersion, PagePast, ScorePoint, Sight, WebScores, age};
use crate::change::divergence::exact;
use crate::change::fragment::Fragments;
use crate::model_web::model::clock::Clock;
use crate::model_web::model::content::{Mix, RegionKind};
use crate::model_web::model::site::Site;
use crate::model_web::model::spec::WebSpec;
use crate::model_web::model::text_history::{TextHash, TextHistory, TextState};
use crate::model_web::model::truth::{self, FRAGMENT_WORDS};
use crate::model_web::model::turnover::{Fate, Tenant};
use crate::store::VersionId;

/// One host of a web, and its time.
#[derive(Clone, Debug)]
pub struct Witness {
    /// Scheme, address and port: `http://127.0.1.1:8000`.
    pub origin: String,
    /// Its number in the web, from 0.
    pub host: u32,
    /// Its days in real time.
    pub clock: Clock,
    /// The source of its truth.
    pub source: TruthSource,
}

/// The source of a host's truth.
#[derive(Clone, Debug, PartialEq)]
pub enum TruthSource {
    /// It is made again from this.
    Model(WebSpec),
    /// The paths of a recording, of all pages that are or were; the rest is asked for, page by page.
    Recording(Vec<String>),
}

/// The pasts of pages as a store remembers them, by their URLs.
pub type Pasts = HashMap<String, PagePast>;

/// Texts and histories that the judge asks for, one page at a time.
pub struct JudgedTexts<'a, E> {
    /// The text of a version that is held, as the truth would tell it; see [`truth::held_text`].
    pub held: &'a mut dyn FnMut(VersionId) -> Result<String, E>,
    /// The history of a path of a recorded host.
    pub history: &'a mut dyn FnMut(&Witness, &str) -> Result<TextHistory, E>,
    /// The text of a path of a recorded host at a moment.
    pub text: &'a mut dyn FnMut(&Witness, &str, f64) -> Result<String, E>,
}

/// The behaviour of recorded pages: it is not known.
const RECORDED: &str = "recorded";

/// Looks at every page that lives, or was held, at moments from `since` to `now`, in seconds since 1970.
pub fn judge<E>(
    web: &[Witness],
    pasts: &Pasts,
    since: f64,
    now: f64,
    ask: &mut JudgedTexts<'_, E>,
) -> Result<WebScores, E> {
    let mut board = Board::new(since, now);
    look(web, pasts, since, &mut board, ask)?;
    Ok(board.scores())
}

/// How the store stood at these moments, over all pages.
pub fn judge_at<E>(
    web: &[Witness],
    pasts: &Pasts,
    since: f64,
    moments: Vec<f64>,
    ask: &mut JudgedTexts<'_, E>,
) -> Result<Vec<ScorePoint>, E> {
    let mut board = Board::at(moments);
    look(web, pasts, since, &mut board, ask)?;
    Ok(board.scores().curve)
}

/// How the page of a URL behaves, if it lives at that moment; one that lists others may change though it is static.
pub fn behaviour_of(web: &[Witness], url: &str, at: f64) -> Option<&'static str> {
    web.iter().find_map(|witness| {
        let path = url.strip_prefix(&witness.origin)?;
        let TruthSource::Model(spec) = &witness.source else { return Some(RECORDED) };
        let site = Site::new(spec, witness.host);
        match site.fate(path, witness.clock.day_at_seconds(at)) {
            Fate::Lives(page) => Some(behaviour(&site.content(&page).mix)),
            _ => None,
        }
    })
}

fn look<E>(
    web: &[Witness],
    pasts: &Pasts,
    since: f64,
    board: &mut Board,
    ask: &mut JudgedTexts<'_, E>,
) -> Result<(), E> {
    for witness in web {
        match &witness.source {
            TruthSource::Model(spec) => made(witness, spec, pasts, since, board, ask)?,
            TruthSource::Recording(paths) => {
                for path in paths {
                    let past = pasts.get(&format!("{}{path}", witness.origin));
                    recorded(witness, path, past, since, board, ask)?;
                }
            }
        }
    }
    Ok(())
}

fn made<E>(
    witness: &Witness,
    spec: &WebSpec,
    pasts: &Pasts,
    since: f64,
    board: &mut Board,
    ask: &mut JudgedTexts<'_, E>,
) -> Result<(), E> {
    let site = Site::new(spec, witness.host);
    for place in 0..spec.pages {
        let mut look = JudgedMoment { witness, site: &site, texts: HeldTexts::default() };
        look.living(place, pasts, since, board, ask)?;
    }
    let prefix = format!("{}/", witness.origin);
    for (url, past) in pasts.iter().filter(|(url, _)| url.starts_with(&prefix)) {
        let path = url.strip_prefix(&witness.origin).unwrap_or("/");
        dead(witness, &site, path, past, board);
    }
    Ok(())
}

/// A page of a recording, from moment to moment. Its text is asked for only where it is not the one that is held.
fn recorded<E>(
    witness: &Witness,
    path: &str,
    past: Option<&PagePast>,
    since: f64,
    board: &mut Board,
    ask: &mut JudgedTexts<'_, E>,
) -> Result<(), E> {
    let history = (ask.history)(witness, path)?;
    let mut texts = HeldTexts::default();
    for (moment, at) in board.times().to_vec().into_iter().enumerate() {
        let known = past.filter(|past| past.found_at <= at);
        let sight = match history.at(at) {
            TextState::NotYet => continue,
            TextState::Removed => match known.filter(|past| past.was_held(at)) {
                Some(past) => Sight::Dead { held: past.held(at).is_some() },
                None => continue,
            },
            TextState::Shows { text, born } => {
                let held = match known.and_then(|past| past.held(at)) {
                    Some(held) => {
                        let same = |words: &str| TextHash::of(words) == text;
                        let tell = || (ask.text)(witness, path, at);
                        let (fresh, divergence) =
                            texts.compare(held.version, text.0, &mut *ask.held, same, tell)?;
                        let changes = history.changes(held.read_at, at);
                        let age = if fresh { 0.0 } else { age(&changes, held.read_at, at) };
                        Some(ComparedCopy { fresh, divergence, age })
                    }
                    None => None,
                };
                living(known, Some(born), since, held)
            }
        };
        board.add(moment, &witness.origin, RECORDED, &sight);
    }
    Ok(())
}

/// A living page as the store has it, by when it was born.
fn living(known: Option<&PagePast>, born: Option<f64>, since: f64, held: Option<ComparedCopy>) -> Sight {
    let delay = known.zip(born.filter(|born| *born > since));
    let delay = delay.map(|(past, born)| (past.found_at - born).max(0.0));
    let weight = known.map_or(1.0, |past| past.weight);
    Sight::Living { known: known.is_some(), delay, weight, held }
}

/// How a page behaves: by the kinds of its own regions.
fn behaviour(mix: &Mix) -> &'static str {
    let has = |scroll: bool| {
        mix.regions.iter().any(|region| matches!(region.kind, RegionKind::Scroll { .. }) == scroll)
    };
    match (has(false), has(true)) {
        (false, false) => "static",
        (true, false) => "churn",
        (false, true) => "scroll",
        (true, true) => "mixed",
    }
}

/// The page of one place, from moment to moment.
struct JudgedMoment<'a> {
    witness: &'a Witness,
    site: &'a Site<'a>,
    texts: HeldTexts,
}

impl JudgedMoment<'_> {
    fn living<E>(
        &mut self,
        place: u32,
        pasts: &Pasts,
        since: f64,
        board: &mut Board,
        ask: &mut JudgedTexts<'_, E>,
    ) -> Result<(), E> {
        let (site, clock) = (self.site, self.witness.clock);
        let mut before: Option<(Tenant, Option<&PagePast>, &'static str)> = None;
        for (moment, at) in board.times().to_vec().into_iter().enumerate() {
            let day = clock.day_at_seconds(at);
            let page = site.tenant(place, day);
            let (past, kind) = match before {
                Some((same, past, kind)) if same == page => (past, kind),
                _ => {
                    let past = pasts.get(&format!("{}{}", self.witness.origin, site.path(&page)));
                    (past, behaviour(&site.content(&page).mix))
                }
            };
            before = Some((page, past, kind));
            let known = past.filter(|past| past.found_at <= at);
            let held = match known.and_then(|past| past.held(at)) {
                Some(held) => Some(self.compare(&page, held, at, ask)?),
                None => None,
            };
            let born = site.arrived(&page).map(|day| clock.seconds_at(day));
            board.add(moment, &self.witness.origin, kind, &living(known, born, since, held));
        }
        Ok(())
    }

    fn compare<E>(
        &mut self,
        page: &Tenant,
        held: HeldVersion,
        at: f64,
        ask: &mut JudgedTexts<'_, E>,
    ) -> Result<ComparedCopy, E> {
        let clock = self.witness.clock;
        let day = clock.day_at_seconds(at);
        let version = self.site.version(page, day);
        let tell = || Ok(truth::text(self.site, page, day));
        let (fresh, divergence) =
            self.texts.compare(held.version, version, &mut *ask.held, |_| false, tell)?;
        let age = if fresh {
            0.0
        } else {
            let changes = self.site.changes(page, clock.day_at_seconds(held.read_at), day);
            let changes: Vec<f64> = changes.into_iter().map(|day| clock.seconds_at(day)).collect();
            age(&changes, held.read_at, at)
        };
        Ok(ComparedCopy { fresh, divergence, age })
    }
}

/// The texts last compared: most moments have the same ones as the moment before.
#[derive(Default)]
struct HeldTexts {
    held: Option<(VersionId, HeldText)>,
    truth: Option<(u64, HeldText)>,
    compared: Option<((VersionId, u64), (bool, f64))>,
}

struct HeldText {
    words: String,
    fragments: Fragments,
}

impl HeldText {
    fn new(words: String) -> Self {
        Self { fragments: Fragments::of(&words, FRAGMENT_WORDS), words }
    }
}

impl HeldTexts {
    /// Whether the two are the same, and how far apart they are. `same` may know that of the words that are held: then
    /// the truth is not asked for.
    fn compare<E>(
        &mut self,
        held: VersionId,
        version: u64,
        read: &mut dyn FnMut(VersionId) -> Result<String, E>,
        same: impl FnOnce(&str) -> bool,
        tell: impl FnOnce() -> Result<String, E>,
    ) -> Result<(bool, f64), E> {
        if let Some((_, result)) = self.compared.filter(|(pair, _)| *pair == (held, version)) {
            return Ok(result);
        }
        let ours = match self.held.take().filter(|(id, _)| *id == held) {
            Some((_, text)) => text,
            None => HeldText::new(read(held)?),
        };
        let result = if same(&ours.words) {
            (true, 0.0)
        } else {
            let theirs = match self.truth.take().filter(|(id, _)| *id == version) {
                Some((_, text)) => text,
                None => HeldText::new(tell()?),
            };
            let same = ours.words == theirs.words;
            let divergence = if same { 0.0 } else { exact(&ours.fragments, &theirs.fragments).get() };
            self.truth = Some((version, theirs));
            (same, divergence)
        };
        self.held = Some((held, ours));
        self.compared = Some(((held, version), result));
        Ok(result)
    }
}

/// A page of the store, at the moments when it is no more.
fn dead(witness: &Witness, site: &Site<'_>, path: &str, past: &PagePast, board: &mut Board) {
    for (moment, at) in board.times().to_vec().into_iter().enumerate() {
        if !past.was_held(at) {
            continue;
        }
        let day = witness.clock.day_at_seconds(at);
        let page = match site.fate(path, day) {
            Fate::Lives(_) | Fate::Unknown => continue,
            Fate::Moved { tenant, .. } => Some(tenant),
            Fate::Died { at, .. } => match site.fate(path, at.next_down()) {
                Fate::Lives(page) | Fate::Moved { tenant: page, .. } => Some(page),
                _ => None,
            },
        };
        if let Some(page) = page {
            let kind = behaviour(&site.content(&page).mix);
            board.add(moment, &witness.origin, kind, &Sight::Dead { held: past.held(at).is_some() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_web::judge::score::{PastVisit, VisitEffect};
    use crate::model_web::model::text_history::Turn;
    use crate::time::Timestamp;
    use std::convert::Infallible;
    use std::time::Duration;

    const START: f64 = 1000.0;
    const DAY: f64 = 10.0;

    /// Every page is read as it is at the start; some that are born on the way are found half a day later, unread.
    #[test]
    fn a_store_is_judged_by_what_became_of_what_it_read() {
        let spec = WebSpec { pages: 90, turnover: 0.3, median_bytes: 2000, ..WebSpec::default() };
        let clock = Clock { start: Timestamp::from_seconds(1000), day: Duration::from_secs(10) };
        let origin = "http://127.0.1.1:1".to_owned();
        let site = Site::new(&spec, 0);
        let visits =
            |place: u32| vec![PastVisit { at: START, what: VisitEffect::Read(VersionId(i64::from(place))) }];
        let mut pasts = Pasts::new();
        for page in site.living(0.0) {
            let past = PagePast { found_at: START, weight: 1.0, visits: visits(page.place) };
            pasts.insert(origin.clone() + &site.path(&page), past);
        }
        let fragments = |text: &str| Fragments::of(text, FRAGMENT_WORDS);
        let (mut fresh, mut held, mut found, mut divergence) = (0.0, 0.0, 0.0, 0.0);
        for page in site.living(2.0) {
            let url = origin.clone() + &site.path(&page);
            let first = site.tenant(page.place, 0.0);
            if page == first {
                let (then, now) = (truth::text(&site, &page, 0.0), truth::text(&site, &page, 2.0));
                held += 1.0;
                fresh += f64::from(site.changes(&page, 0.0, 2.0).is_empty());
                divergence += exact(&fragments(&then), &fragments(&now)).get();
            } else {
                divergence += 1.0;
                if page.place % 2 == 0 {
                    let born = site.arrived(&page).expect("born on the way");
                    let found_at = START + (born + 0.5) * DAY;
                    found += f64::from(found_at <= START + 2.0 * DAY);
                    pasts.insert(url, PagePast { found_at, weight: 1.0, visits: Vec::new() });
                }
            }
        }
        let mut read = |version: VersionId| {
            let page = site.tenant(version.0 as u32, 0.0);
            Ok::<_, Infallible>(truth::text(&site, &page, 0.0))
        };
        let web = [Witness { origin, host: 0, clock, source: TruthSource::Model(spec.clone()) }];
        let ask = &mut JudgedTexts {
            held: &mut read,
            history: &mut |_, _| panic!("nothing is recorded"),
            text: &mut |_, _, _| panic!("nothing is recorded"),
        };
        let scores = judge(&web, &pasts, START, START + 2.0 * DAY, ask).expect("texts are read");
        let now = &scores.all.now;
        let near = |ours: Option<f64>, theirs: f64| ours.is_some_and(|ours| (ours - theirs).abs() < 1e-9);
        assert!(near(now.coverage, held / 90.0) && near(now.freshness, fresh / 90.0), "{now:?}");
        assert!(near(now.staleness, divergence / 90.0), "{now:?} {divergence}");
        assert!(near(now.discovery_seconds, 0.5 * DAY) && found > 5.0, "{now:?} {found}");
        assert_eq!((now.missed, now.dead), (90.0 - held - found, 90.0 - held));
        assert_eq!(now.dead_held, Some(1.0));
        let age = now.age_seconds.unwrap_or(-1.0);
        assert!(age > 0.0 && age < 2.0 * DAY, "{age}");
        let first = &scores.curve[0].figures;
        assert!(first.freshness > now.freshness && first.staleness < now.staleness);
        let shares: f64 = scores.behaviours.iter().map(|group| group.now.living).sum();
        assert_eq!(shares, 90.0);
    }

    /// Two pages of a recording, read once at the start: one changes and is removed, the other is born on the way.
    #[test]
    fn a_store_is_judged_by_a_recording() {
        let clock = Clock { start: Timestamp::from_seconds(1000), day: Duration::from_secs(10) };
        let origin = "http://127.0.1.1:1".to_owned();
        let text = |text: &str| Some(TextHash::of(text));
        let turn = |at: f64, text| Turn { at: START + at, text };
        let histories = HashMap::from([
            ("/a", vec![turn(-9.0, text("a b c d e")), turn(30.0, text("a b c d f")), turn(60.0, None)]),
            ("/b", vec![turn(20.0, text("b"))]),
            ("/c", vec![turn(-9.0, text("c"))]),
        ]);
        let read =
            |at: f64, version| PastVisit { at: START + at, what: VisitEffect::Read(VersionId(version)) };
        let pasts = Pasts::from([
            (origin.clone() + "/a", PagePast { found_at: START, weight: 3.0, visits: vec![read(0.0, 1)] }),
            (
                origin.clone() + "/b",
                PagePast { found_at: START + 25.0, weight: 1.0, visits: vec![read(25.0, 2)] },
            ),
        ]);
        let paths = ["/a", "/b", "/c"].map(str::to_owned).to_vec();
        let web = [Witness { origin, host: 0, clock, source: TruthSource::Recording(paths) }];
        let score = |now: f64| {
            let ask = &mut JudgedTexts {
                held: &mut |version| {
                    Ok::<_, Infallible>(["", "a b c d e", "b"][version.0 as usize].to_owned())
                },
                history: &mut |_, path| Ok(TextHistory::new(histories[path].clone())),
                text: &mut |_, path, at| {
                    assert!(path == "/a" && at >= START + 30.0, "asked for only where it is another");
                    Ok("a b c d f".to_owned())
                },
            };
            judge(&web, &pasts, START, START + now, ask).expect("texts are read").all.now
        };
        let third = |of: f64| Some(of / 3.0);
        let now = score(40.0);
        assert_eq!((now.living, now.coverage, now.freshness), (3.0, third(2.0), third(1.0)));
        assert_eq!(now.staleness, third(1.0 - 1.0 / 3.0 + 1.0), "and one is not held");
        assert_eq!(
            now.weighted_staleness,
            Some((3.0 * (1.0 - 1.0 / 3.0) + 1.0) / 5.0),
            "weights 3, 1, and 1"
        );
        assert_eq!((now.age_seconds, now.missed, now.discovery_seconds), (Some(5.0), 1.0, Some(5.0)));
        let later = score(70.0);
        assert_eq!((later.living, later.freshness), (2.0, Some(0.5)));
        assert_eq!((later.dead, later.dead_held), (1.0, Some(1.0)));
    }
}
