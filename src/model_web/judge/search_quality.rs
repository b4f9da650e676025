//! How good the results of searches are: the copies of a store, held against the pages as they truly are.
//!
//! Comes in: a web whose truth is known, what the store remembers of it, and what people search for. Goes out: the exact quality of the
//! store as a repository, Q of Pandey & Olston 2005 (eq. 5), at any moment, through [`crate::quality::repository`].
//!
//! Copies and pages are read by the same functions, without noise and without titles. A page that the store does not know counts
//! against it, and so does the copy of a page that is no more. Links are those that the store knows, for copies and pages alike.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{JudgedTexts, Pasts, TruthSource, Witness};
use crate::model_web::model::site::Site;
use crate::model_web::model::text_history::TextState;
use crate::model_web::model::truth;
use crate::model_web::model::turnover::Fate;
use crate::quality::answer::CopyScores;
use crate::quality::copies::{CopyWords, WorkloadTerms};
use crate::quality::repository::{HeldPage, Searchers};
use crate::quality::scoring::Scoring;
use crate::quality::search_workload::SearchWorkload;
use crate::quality::terms::TermReader;
use crate::store::VersionId;

/// The quality of search results at a moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchQuality {
    /// Q, from 0 to 1; `None` if no query has a result on the web.
    pub quality: Option<f64>,
    /// Queries of the workload.
    #[serde(rename = "query_count")]
    pub queries: usize,
    /// Of these, those that have a result on the web.
    #[serde(rename = "answered_query_count")]
    pub answered: usize,
    /// How results are ranked.
    pub scoring: Scoring,
    /// The power of the rank with which attention falls.
    pub attention: f64,
}

/// Judges one store, moment by moment. Words that were counted once are kept.
pub struct SearchJudge<'a> {
    searched: &'a SearchWorkload,
    terms: WorkloadTerms,
    /// Pages that link to each page, by its URL.
    inlinks: HashMap<String, u32>,
    reader: TermReader,
    copies: HashMap<VersionId, CopyWords>,
    /// By host, path and version.
    pages: HashMap<(u32, String, u64), CopyWords>,
}

/// A page: its copy, and its state on the web.
type JudgedPage = (Option<CopyWords>, Option<CopyWords>);

impl<'a> SearchJudge<'a> {
    /// A judge of what these searchers see. `inlinks`: the pages that link to each page, by its URL.
    pub fn new(searched: &'a SearchWorkload, inlinks: HashMap<String, u32>) -> Self {
        Self {
            terms: WorkloadTerms::of(&searched.workload),
            searched,
            inlinks,
            reader: TermReader::default(),
            copies: HashMap::new(),
            pages: HashMap::new(),
        }
    }

    /// The quality at a moment, in seconds since 1970.
    pub fn quality_at<E>(
        &mut self,
        web: &[Witness],
        pasts: &Pasts,
        at: f64,
        ask: &mut JudgedTexts<'_, E>,
    ) -> Result<SearchQuality, E> {
        // In the order of their URLs, which decides between equal scores.
        let mut pages: BTreeMap<String, JudgedPage> = BTreeMap::new();
        for witness in web {
            match &witness.source {
                TruthSource::Model(spec) => {
                    let (site, day) = (Site::new(spec, witness.host), witness.clock.day_at_seconds(at));
                    for page in site.living(day) {
                        let (path, version) = (site.path(&page), site.version(&page, day));
                        let words =
                            self.page(witness, &path, version, || Ok(truth::text(&site, &page, day)))?;
                        pages.entry(format!("{}{path}", witness.origin)).or_default().1 = Some(words);
                    }
                }
                TruthSource::Recording(paths) => {
                    for path in paths {
                        let TextState::Shows { text, .. } = (ask.history)(witness, path)?.at(at) else {
                            continue;
                        };
                        let words = self.page(witness, path, text.0, || (ask.text)(witness, path, at))?;
                        pages.entry(format!("{}{path}", witness.origin)).or_default().1 = Some(words);
                    }
                }
            }
        }
        for (url, past) in pasts {
            let Some(held) = past.held(at).filter(|_| past.found_at <= at && is_page(web, url, at)) else {
                continue;
            };
            let words = self.copy(held.version, &mut *ask.held)?;
            pages.entry(url.clone()).or_default().0 = Some(words);
        }
        Ok(self.judged(&pages))
    }

    fn judged(&self, pages: &BTreeMap<String, JudgedPage>) -> SearchQuality {
        let SearchWorkload { scoring, attention, .. } = *self.searched;
        let held: Vec<HeldPage<'_>> = (0..)
            .zip(pages)
            .map(|(page, (url, (copy, web)))| {
                let inlinks = self.inlinks.get(url).copied().unwrap_or(0);
                HeldPage { page, copy: copy.as_ref(), web: web.as_ref(), inlinks }
            })
            .collect();
        let searchers = Searchers { terms: &self.terms, scoring, attention };
        let answers = |scores: &&Vec<_>| scores.iter().any(|page: &CopyScores| page.web > 0.0);
        SearchQuality {
            quality: searchers.quality(&held).normalised(),
            queries: self.terms.queries().len(),
            answered: searchers.scores(&held).iter().filter(answers).count(),
            scoring,
            attention: attention.exponent(),
        }
    }

    /// The words of a page on the web.
    fn page<E>(
        &mut self,
        witness: &Witness,
        path: &str,
        version: u64,
        tell: impl FnOnce() -> Result<String, E>,
    ) -> Result<CopyWords, E> {
        let key = (witness.host, path.to_owned(), version);
        if let Some(words) = self.pages.get(&key) {
            return Ok(words.clone());
        }
        let words = self.terms.words_of(&self.reader.count(&[&tell()?]));
        self.pages.insert(key, words.clone());
        Ok(words)
    }

    /// The words of a copy.
    fn copy<E>(
        &mut self,
        version: VersionId,
        read: &mut dyn FnMut(VersionId) -> Result<String, E>,
    ) -> Result<CopyWords, E> {
        if let Some(words) = self.copies.get(&version) {
            return Ok(words.clone());
        }
        let words = self.terms.words_of(&self.reader.count(&[&read(version)?]));
        self.copies.insert(version, words.clone());
        Ok(words)
    }
}

/// Whether a URL is or was a page of the web. A list of addresses, such as a sitemap, is none.
fn is_page(web: &[Witness], url: &str, at: f64) -> bool {
    web.iter().any(|witness| {
        let Some(path) = url.strip_prefix(&witness.origin).filter(|path| path.starts_with('/')) else {
            return false;
        };
        match &witness.source {
            TruthSource::Model(spec) => {
                let day = witness.clock.day_at_seconds(at);
                !matches!(Site::new(spec, witness.host).fate(path, day), Fate::Unknown)
            }
            TruthSource::Recording(paths) => paths.iter().any(|known| known == path),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use super::*;
    use crate::model_web::judge::score::{PagePast, PastVisit, VisitEffect};
    use crate::model_web::model::clock::Clock;
    use crate::model_web::model::spec::WebSpec;
    use crate::model_web::model::text_history::{TextHash, TextHistory, Turn};
    use crate::quality::attention::Attention;
    use crate::quality::terms::distinct_terms;
    use crate::quality::workload::Workload;
    use crate::time::Timestamp;

    const START: f64 = 1000.0;

    fn searched(queries: &[(&str, f64)], scoring: Scoring) -> SearchWorkload {
        let queries = queries.iter().map(|(query, frequency)| (distinct_terms(query), *frequency));
        let workload = Workload::of(queries).expect("a workload");
        SearchWorkload { workload, scoring, attention: Attention::default() }
    }

    fn clock() -> Clock {
        Clock { start: Timestamp::from_seconds(1000), day: Duration::from_secs(10) }
    }

    fn read_once(version: i64) -> PagePast {
        let visits = vec![PastVisit { at: START, what: VisitEffect::Read(VersionId(version)) }];
        PagePast { found_at: START, weight: 1.0, visits }
    }

    /// The four discrepancies of Table 1, beside a page that stays. All pages have one link, so that the score is Boolean as there.
    #[test]
    fn the_four_discrepancies_of_table_1_by_hand() {
        let origin = "http://127.0.1.1:1".to_owned();
        let texts = [
            ("/0", Some("cancer today"), Some("cancer today")),
            ("/1", Some("nothing yet"), Some("cancer news")),
            ("/2", Some("cancer news"), Some("nothing more")),
            ("/3", None, Some("cancer page")),
            ("/4", Some("cancer page"), None),
        ];
        let paths: Vec<String> = texts.iter().map(|(path, ..)| (*path).to_owned()).collect();
        let web = [Witness {
            origin: origin.clone(),
            host: 0,
            clock: clock(),
            source: TruthSource::Recording(paths),
        }];
        let held = texts.iter().zip(0..).filter(|((_, copy, _), _)| copy.is_some());
        let pasts: Pasts =
            held.map(|((path, ..), number)| (format!("{origin}{path}"), read_once(number))).collect();
        let inlinks: HashMap<String, u32> =
            texts.iter().map(|(path, ..)| (format!("{origin}{path}"), 1)).collect();
        let of = |path: &str| *texts.iter().find(|(known, ..)| *known == path).expect("a page");
        let searched = searched(&[("cancer", 1.0), ("absent", 5.0)], Scoring::Inlinks);
        let quality = |pasts: &Pasts| {
            let mut held = |version: VersionId| {
                let copy = if version.0 < 10 {
                    texts[version.0 as usize].1
                } else {
                    texts[version.0 as usize - 10].2
                };
                Ok::<_, Infallible>(copy.expect("it is held").to_owned())
            };
            let ask = &mut JudgedTexts {
                held: &mut held,
                history: &mut |_, path| {
                    let (_, before, after) = of(path);
                    let turn =
                        |at: f64, text: Option<&str>| Turn { at: START + at, text: text.map(TextHash::of) };
                    let turns =
                        before.map(|text| turn(-9.0, Some(text))).into_iter().chain([turn(5.0, after)]);
                    Ok(TextHistory::new(turns))
                },
                text: &mut |_, path, _| Ok(of(path).2.expect("it lives").to_owned()),
            };
            let mut judge = SearchJudge::new(&searched, inlinks.clone());
            judge.quality_at(&web, pasts, START + 9.0, ask).expect("texts are read")
        };
        let before = quality(&pasts);
        // The repository answers 0, 2, 4, of which only the first is right; the web 0, 1, 3.
        let ideal = 1.0 + 2_f64.powf(-1.5) + 3_f64.powf(-1.5);
        assert!(before.quality.is_some_and(|quality| (quality - 1.0 / ideal).abs() < 1e-12), "{before:?}");
        assert_eq!((before.queries, before.answered), (2, 1));
        let fresh = texts.iter().zip(10..).filter(|((.., page), _)| page.is_some());
        let fresh: Pasts =
            fresh.map(|((path, ..), number)| (format!("{origin}{path}"), read_once(number))).collect();
        assert_eq!(quality(&fresh).quality, Some(1.0));
        assert_eq!(quality(&Pasts::new()).quality, Some(0.0), "nothing is held");
    }

    #[test]
    fn a_made_web_is_answered_less_well_as_it_moves_on() {
        let spec = WebSpec { pages: 40, turnover: 0.2, median_bytes: 1000, ..WebSpec::default() };
        let site = Site::new(&spec, 0);
        let origin = "http://127.0.1.1:1".to_owned();
        let urls =
            site.living(0.0).map(|page| (origin.clone() + &site.path(&page), read_once(page.place.into())));
        let pasts: Pasts = urls.collect();
        let mut read = |version: VersionId| {
            let page = site.tenant(version.0 as u32, 0.0);
            Ok::<_, Infallible>(truth::text(&site, &page, 0.0))
        };
        let web = [Witness { origin, host: 0, clock: clock(), source: TruthSource::Model(spec.clone()) }];
        let ask = &mut JudgedTexts {
            held: &mut read,
            history: &mut |_, _| panic!("nothing is recorded"),
            text: &mut |_, _, _| panic!("nothing is recorded"),
        };
        for scoring in [Scoring::Bm25, Scoring::TfIdf] {
            let searched = searched(&[("river", 3.0), ("summer garden", 1.0), ("oil price", 1.0)], scoring);
            let mut judge = SearchJudge::new(&searched, HashMap::new());
            let mut at =
                |days: f64| judge.quality_at(&web, &pasts, START + days * 10.0, ask).expect("texts").quality;
            let (first, later) = (at(0.0), at(20.0));
            assert_eq!(first, Some(1.0), "{scoring:?}");
            assert!(later.is_some_and(|later| later > 0.0 && later < 0.999), "{scoring:?}: {later:?}");
        }
    }
}
