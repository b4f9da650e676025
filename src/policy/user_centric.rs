//! The visit that does most for search results: the expected gain of a refresh in the quality of what searchers see.
//!
//! δQ_A, the gain of a page's refreshes for each day, is learnt from the last of them: ΔQ_A of each was measured when the search index
//! took the new copy in, and a refresh that found no change gained 0. The score is δQ_A · (now − last refresh) (Pandey & Olston
//! 2005, §6.1.3): the quality that is lost by now, if it is lost evenly.
//!
//! The paper takes δQ_A from all snapshots of a page. A crawl has to begin without any, so these are ours:
//! - a page is taken to be like its kin, pages of its name, its folder and its host, until many refreshes of its own were measured;
//! - no page is taken to gain less than a small share of what pages gain on average: so each is visited at some time;
//! - a new page gains what the first copies of its kin gained, or what the words of the links to it promise, if that is more;
//! - a page that leads to new pages gains what their first copies are expected to gain.

use std::collections::HashMap;

use super::registry::{Made, PolicyRequest};
use super::unseen::LINK_PRIOR_CYCLES;
use super::{Fact, Learnt, Lesson, LooksAt, PageState, Policy, Reason, Score, Survey, UNSEEN, Unit};
use crate::estimate::Seen;
use crate::observation::Life;
use crate::page::{Depth, HostId, Kin};
use crate::policy::Yield;
use crate::quality::gain::{GainWindow, MeasuredGain, MeasuredRefresh, mean_of_ratios, priority};
use crate::quality::measure::MeasureId;
use crate::time::Timestamp;

/// The least δQ_A, as a share of the mean over all pages. A page that never gained anything waits fifty times as long as an average one.
const FLOOR_SHARE: f64 = 0.02;
/// The least and the greatest weight of the prior, in refreshes; the greatest holds while too little is known to tell.
const PRIOR_REFRESHES: (f64, f64) = (4.0, 32.0);
/// Pages with two measured refreshes or more that it takes to tell how far pages differ.
const LEAST_PAGES: u32 = 10;
/// The weight that a larger group has when the mean of a smaller one is taken, in pages.
const PRIOR_PAGES: f64 = 10.0;
/// Measured refreshes from which on `why` speaks of a page's own.
const ENOUGH: usize = 2;
/// The loss of a new page's worth with each link away from the seeds: enough for breadth-first order among equals.
const DEPTH_LOSS: f64 = 0.01;
/// The factor for each failure in a row of a page that was never fetched.
const RETRY_FACTOR: f64 = 0.2;

#[derive(Debug)]
struct UserCentric {
    name: String,
    measure: MeasureId,
    /// δQ_A of pages.
    rates: KinMeans,
    /// The weight of the kin in δQ_A, in refreshes.
    prior_refreshes: f64,
    /// ΔQ_A of first copies.
    firsts: KinMeans,
    hosts: HashMap<HostId, Yield>,
    cycle_days: f64,
}

pub(super) fn make(request: &PolicyRequest<'_>) -> Made {
    let measure = request.queries()?;
    Ok(Box::new(UserCentric {
        name: request.name.to_owned(),
        measure,
        rates: KinMeans::default(),
        prior_refreshes: PRIOR_REFRESHES.1,
        firsts: KinMeans::default(),
        hosts: HashMap::new(),
        cycle_days: 1.0,
    }))
}

/// Means over the groups that pages belong to by their addresses.
#[derive(Debug, Default)]
struct KinMeans {
    all: KinMean,
    sites: HashMap<u32, KinMean>,
    sections: HashMap<u32, KinMean>,
    names: HashMap<u32, KinMean>,
}

#[derive(Clone, Copy, Debug, Default)]
struct KinMean {
    sum: f64,
    pages: u32,
}

impl KinMean {
    fn add(&mut self, value: f64, pages: usize) {
        self.sum += value * pages as f64;
        self.pages = self.pages.saturating_add(u32::try_from(pages).unwrap_or(u32::MAX));
    }

    fn mean(self) -> Option<f64> {
        (self.pages > 0).then(|| self.sum / f64::from(self.pages))
    }
}

impl KinMeans {
    fn add(&mut self, kin: Kin, value: f64, pages: usize) {
        self.all.add(value, pages);
        self.sites.entry(kin.site).or_default().add(value, pages);
        self.sections.entry(kin.section).or_default().add(value, pages);
        self.names.entry(kin.name).or_default().add(value, pages);
    }

    /// The expected value of a page: the mean of its name, which is drawn towards that of its folder, that towards its host's, and that
    /// towards the mean of all. 0 if nothing is known of any page.
    fn of(&self, kin: Kin) -> f64 {
        let mut mean = self.all.mean().unwrap_or(0.0);
        for (means, group) in
            [(&self.sites, kin.site), (&self.sections, kin.section), (&self.names, kin.name)]
        {
            if let Some(found) = means.get(&group) {
                mean = (found.sum + PRIOR_PAGES * mean) / (f64::from(found.pages) + PRIOR_PAGES);
            }
        }
        mean
    }

    /// The least value that any page is taken to have.
    fn floor(&self) -> f64 {
        FLOOR_SHARE * self.all.mean().unwrap_or(0.0).max(0.0)
    }
}

/// How far the refreshes of a page differ from one another, and pages from each other.
#[derive(Debug, Default)]
struct GainSpread {
    pages: u32,
    /// Sums over pages: the variance of their refreshes, their means, the squares of these, and 1 ÷ the number of refreshes.
    variances: f64,
    means: f64,
    squares: f64,
    inverse_counts: f64,
}

impl GainSpread {
    fn add(&mut self, refreshes: &[MeasuredRefresh]) {
        let count = refreshes.len() as f64;
        let Some(mean) = mean_of_ratios(refreshes).filter(|_| count >= 2.0) else { return };
        let squares: f64 = refreshes.iter().map(|refresh| (refresh.delta / refresh.gap - mean).powi(2)).sum();
        self.pages = self.pages.saturating_add(1);
        self.variances += squares / (count - 1.0);
        self.means += mean;
        self.squares += mean * mean;
        self.inverse_counts += 1.0 / count;
    }

    /// The weight of the prior, in refreshes: the variance of a page's refreshes ÷ the variance of the true means of pages. This is the
    /// credibility of Bühlmann (1967, "Experience rating and credibility"), with his estimates of both.
    fn prior_refreshes(&self) -> f64 {
        let (least, greatest) = PRIOR_REFRESHES;
        if self.pages < LEAST_PAGES {
            return greatest;
        }
        let pages = f64::from(self.pages);
        let within = self.variances / pages;
        let of_means = (self.squares - self.means * self.means / pages) / (pages - 1.0);
        let between = of_means - within * self.inverse_counts / pages;
        if between > 0.0 { (within / between).clamp(least, greatest) } else { greatest }
    }
}

/// The window of refreshes that is remembered of a page.
fn window(learnt: &Learnt) -> GainWindow {
    learnt.memory.read(GainWindow::read)
}

impl UserCentric {
    /// δQ_A of a page, a day: its own and that of its kin, weighed by its refreshes, and never below the floor.
    fn gain_rate(&self, page: &PageState) -> f64 {
        let measured = window(&page.learnt).measured();
        let (own, refreshes) = (mean_of_ratios(&measured).unwrap_or(0.0), measured.len() as f64);
        let rate = (refreshes * own + self.prior_refreshes * self.rates.of(page.kin))
            / (refreshes + self.prior_refreshes);
        rate.max(self.rates.floor())
    }

    /// The gain of a first copy; `None` if nothing is known of any page.
    fn first_gain(&self, page: &PageState) -> Option<f64> {
        self.firsts.all.mean()?;
        let kin = self.firsts.of(page.kin);
        let chance = self.hosts.get(&page.host).copied().unwrap_or_default().chance();
        let gain = kin.max(page.anchor_gain).max(self.firsts.floor());
        (gain > 0.0).then(|| chance * gain / (1.0 + DEPTH_LOSS * f64::from(page.depth)))
    }

    /// The gain of the pages that a page is expected to link to by now and that are not known yet.
    fn discovery_gain(&self, page: &PageState, days: f64) -> f64 {
        if page.learnt.new_links == 0 {
            return 0.0;
        }
        let watched = page.learnt.state.watched_days + LINK_PRIOR_CYCLES * self.cycle_days;
        let links = f64::from(page.learnt.new_links) / watched * days;
        links * self.firsts.of(page.kin).max(0.0)
    }
}

impl Policy for UserCentric {
    fn name(&self) -> &str {
        &self.name
    }

    fn score(&self, page: &PageState, now: Timestamp) -> Score {
        if !page.is_held() && matches!(page.life, Life::Failing | Life::Missing) {
            let gain = self.first_gain(page).unwrap_or(0.0);
            return Score::new(page.weight * gain * RETRY_FACTOR.powi(page.failures.min(99).cast_signed()));
        }
        let days = page.copy_age(now).days();
        let gain = priority(self.gain_rate(page), days) + self.discovery_gain(page, days);
        Score::new(page.weight * gain)
    }

    fn score_unseen(&self, page: &PageState) -> Score {
        match self.first_gain(page) {
            Some(gain) => Score::new(page.weight * gain),
            None => Score::new(UNSEEN - f64::from(page.depth)),
        }
    }

    fn reason(&self, page: &PageState, now: Timestamp) -> Reason {
        let (measured, rate) = (window(&page.learnt).measured().len(), self.gain_rate(page));
        let days = page.copy_age(now).days();
        let source = if measured < ENOUGH {
            "search results are expected to gain {} a day by it, as by pages like it"
        } else {
            "search results are expected to gain {} a day by it, as its last refreshes showed"
        };
        let gain = priority(rate, days);
        let facts = [
            Fact::new("search_gain_a_day", "", rate, Unit::Number).told_as(source),
            Fact::new("search_gain", "search results gain {}", gain, Unit::Number)
                .told_as("a visit now is expected to bring search results a gain of {}"),
        ];
        let links = self.discovery_gain(page, days);
        let links = Fact::new("new_links_search_gain", "", links, Unit::Number)
            .told_as("new pages that it is expected to link to add {}");
        Reason::of(facts.into_iter().chain((links.value > 0.0).then_some(links)))
    }

    fn learn(&self, _host: HostId, _depth: Depth, learnt: &mut Learnt, lesson: &Lesson, seen: Seen) {
        learnt.state.count(lesson.interval, seen);
        let mut window = window(learnt);
        window.push(lesson.at, (lesson.interval.seconds() * 1000.0).round() as u64, lesson.changed);
        learnt.memory.write(|bytes| window.write(bytes));
    }

    fn learn_gain(&self, learnt: &mut Learnt, gain: &MeasuredGain) {
        let mut window = window(learnt);
        window.measure(gain);
        learnt.memory.write(|bytes| window.write(bytes));
    }

    fn memory_version(&self) -> String {
        // Gains of another workload, or by other scores, are other numbers.
        format!("gains 1 {}", self.measure)
    }

    fn survey(&mut self, survey: &mut Survey<'_>) {
        self.hosts.clone_from(survey.hosts);
        self.cycle_days = survey.cycle_length.days();
        let (mut rates, mut firsts) = (KinMeans::default(), KinMeans::default());
        let mut spread = GainSpread::default();
        (survey.pages)(&mut |page, pages| {
            if page.learnt.memory.is_empty() {
                return;
            }
            let window = window(&page.learnt);
            let measured = window.measured();
            spread.add(&measured);
            if let Some(rate) = mean_of_ratios(&measured) {
                rates.add(page.kin, rate.max(0.0), pages);
            }
            if let Some(first) = window.first() {
                firsts.add(page.kin, first, pages);
            }
        });
        (self.rates, self.firsts, self.prior_refreshes) = (rates, firsts, spread.prior_refreshes());
    }

    fn looks_at(&self) -> LooksAt {
        LooksAt { kin: true, gains: Some(self.measure), ..LooksAt::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::page::PageId;
    use crate::policy::registry::{PolicySettings, find};
    use crate::policy::score;
    use crate::time::Age;

    const DAY: i64 = 86_400_000;

    fn policy() -> Box<dyn Policy> {
        let settings = PolicySettings { queries: Some(MeasureId(7)), ..PolicySettings::default() };
        find("user-centric", &settings).expect("a policy")
    }

    fn page(number: i64, url: &str) -> PageState {
        let at = Timestamp::from_millis(0);
        PageState { kin: Kin::of(url), ..PageState::found(PageId(number), HostId(1), 1, 1.0, at) }
    }

    /// A page that was fetched on day 0 and then once a day; `None`: unchanged.
    fn visited(policy: &dyn Policy, number: i64, url: &str, gains: &[Option<f64>]) -> PageState {
        let mut page = page(number, url);
        let mut day = 0;
        for gain in gains {
            day += 1;
            let at = Timestamp::from_millis(day * DAY);
            let lesson = Lesson::of_bit(at, Age::from_days(1.0), gain.is_some());
            page.learnt.take(&lesson, page.host, page.depth, policy);
            if let Some(delta) = *gain {
                policy.learn_gain(&mut page.learnt, &MeasuredGain { at, delta, is_first: false });
            }
        }
        (page.last_visit, page.seen_at) =
            (Some(Timestamp::from_millis(day * DAY)), Some(Timestamp::from_millis(day * DAY)));
        page.life = Life::Alive;
        page
    }

    /// Three pages of one name, each of whose refreshes gained 3.
    fn three_of_a_name(policy: &dyn Policy) -> Vec<PageState> {
        (1..=3)
            .map(|page| {
                visited(policy, page, &format!("http://a.example/news/{page}.html"), &[Some(3.0), Some(3.0)])
            })
            .collect()
    }

    fn survey(policy: &mut dyn Policy, pages: &[PageState]) {
        policy.survey(&mut Survey {
            now: Timestamp::from_millis(10 * DAY),
            cycle: 1,
            cycle_length: Age::from_days(1.0),
            visits_a_day: None,
            shares_a_day: false,
            hosts: &HashMap::new(),
            memory: &mut None,
            pages: &mut |look| pages.iter().for_each(|page| look(page, 1)),
        });
    }

    fn worth(policy: &dyn Policy, page: &PageState, days: i64) -> f64 {
        score(policy, page, Timestamp::from_millis(page.waits_since().millis() + days * DAY)).value()
    }

    #[test]
    fn the_score_is_the_mean_gain_a_day_times_the_wait() {
        let mut policy = policy();
        let some = visited(&*policy, 1, "http://a.example/x/1.html", &[Some(2.0), None, Some(4.0), None]);
        survey(&mut *policy, std::slice::from_ref(&some));
        assert!((worth(&*policy, &some, 1) - 1.5).abs() < 1e-9);
        assert!((worth(&*policy, &some, 4) - 6.0).abs() < 1e-9);
    }

    #[test]
    fn a_page_that_never_gained_is_visited_at_some_time() {
        let mut policy = policy();
        let good = visited(&*policy, 1, "http://a.example/x/1.html", &[Some(2.0), Some(2.0)]);
        let none = visited(&*policy, 2, "http://b.example/y/z.html", &[Some(-999.0), None]);
        survey(&mut *policy, &[good.clone(), none.clone()]);
        // The mean is 1 a day, since a loss counts as 0 there.
        assert!((worth(&*policy, &none, 1) - 0.02).abs() < 1e-9);
        assert!(worth(&*policy, &none, 101) > worth(&*policy, &good, 1));
    }

    #[test]
    fn a_page_with_few_refreshes_is_taken_to_be_like_its_kin() {
        let mut policy = policy();
        let kin = three_of_a_name(&*policy);
        let others =
            (4..=9).map(|page| visited(&*policy, page, &format!("http://b.example/{page}/p"), &[None, None]));
        let all: Vec<PageState> = kin.into_iter().chain(others).collect();
        survey(&mut *policy, &all);
        let fresh = visited(&*policy, 20, "http://a.example/news/77.html", &[]);
        let once = visited(&*policy, 21, "http://a.example/news/78.html", &[Some(1.0)]);
        let elsewhere = visited(&*policy, 22, "http://c.example/", &[]);
        let worths = [&fresh, &once, &elsewhere].map(|page| worth(&*policy, page, 1));
        // The mean of all nine is 1; that of the host (9 + 10 · 1)/13, of the folder (9 + 10 · 1.46)/13, of the name 2.09.
        let name = [(); 3].iter().fold(1.0, |mean, ()| (9.0 + 10.0 * mean) / 13.0);
        assert!((worths[0] - name).abs() < 1e-9, "{worths:?}");
        assert!((worths[1] - (1.0 + 32.0 * name) / 33.0).abs() < 1e-9, "{worths:?}");
        assert!((worths[2] - 1.0).abs() < 1e-9, "the mean of all nine: {worths:?}");
    }

    #[test]
    fn kin_count_less_where_pages_differ_more_than_their_refreshes() {
        let policy = policy();
        let steady =
            |gain: f64| visited(&*policy, 1, "http://a.example/", &[Some(gain), Some(gain), Some(gain)]);
        let noisy = |gain: f64| visited(&*policy, 1, "http://a.example/", &[Some(3.0 * gain), None, None]);
        let spread = |pages: &dyn Fn(f64) -> PageState, many: u32| {
            let mut spread = GainSpread::default();
            (0..many).for_each(|page| spread.add(&window(&pages(f64::from(page % 5)).learnt).measured()));
            spread.prior_refreshes()
        };
        assert_eq!(spread(&steady, 20), 4.0, "refreshes of a page are all alike");
        assert_eq!(spread(&steady, 9), 32.0, "too few pages to tell");
        assert_eq!(spread(&|_| noisy(1.0), 20), 32.0, "pages are all alike");
        // Variance of 3g, 0, 0 is 3g², on average 3 · 6; that of the means is 2 · 20/19, less than 18 ÷ 3.
        assert_eq!(spread(&noisy, 20), 32.0);
    }

    #[test]
    fn new_pages_are_on_the_same_scale() {
        let mut policy = policy();
        let new = page(9, "http://a.example/news/9.html");
        assert!(
            score(&*policy, &new, Timestamp::from_millis(0)).value() > 1e9,
            "before anything was measured"
        );
        let mut held = three_of_a_name(&*policy);
        for page in &mut held {
            let first = MeasuredGain { at: Timestamp::from_millis(0), delta: 2.0, is_first: true };
            policy.learn_gain(&mut page.learnt, &first);
        }
        survey(&mut *policy, &held);
        let expected = 2.0 / 1.01;
        assert!((worth(&*policy, &new, 5) - expected).abs() < 1e-9);
        let promising = PageState { anchor_gain: 5.0, ..new };
        assert!((worth(&*policy, &promising, 5) - 5.0 / 1.01).abs() < 1e-9);
    }

    #[test]
    fn without_queries_the_error_says_how_to_get_some() {
        let error = find("user-centric", &PolicySettings::default()).err().expect("no queries");
        assert!(error.contains("--queries") && error.contains("freshet search"), "{error}");
    }

    #[test]
    fn the_memory_names_the_measure() {
        assert!(policy().memory_version().contains("0000000000000007"));
    }
}
