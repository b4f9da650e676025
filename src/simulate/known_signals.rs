//! What a crawl knows of signals in a replay: which lists were read when, and the counts of each page.
//!
//! A list has the signals of a host. If lists are free, all are read before each cycle. If reading one costs a request, the
//! policy decides by what it expects to gain; for lists of which it expects nothing yet a share of the budget is put aside,
//! and the one that was not read for the longest time comes first. In both cases a list that was read tells all signals so far.

use std::collections::BTreeMap;

use super::distinct::Distinct;
use super::raised_signals::{RaisedSignal, RaisedSignals};
use super::truth::Truth;
use crate::page::HostId;
use crate::policy::Score;
use crate::signal::{PageSignals, SignalKind};

/// Signals as far as a crawl knows them.
#[derive(Debug)]
pub(super) struct KnownSignals<'a> {
    raised: &'a RaisedSignals,
    truth: &'a Truth,
    /// The counts of each page, by their number.
    pages: Vec<u32>,
    counts: Distinct<PageSignals>,
    /// Signals of earlier moments are counted, or wait in a list.
    next: u32,
    /// The lists by site, where reading costs.
    lists: BTreeMap<u32, List>,
    /// Requests put aside for reading.
    purse: f64,
    /// The score of the last page that was chosen in the last cycle: what a request could bring otherwise.
    price: f64,
}

/// The list of a host.
#[derive(Debug)]
struct List {
    /// The first moment at which it has a page.
    from: u32,
    read: Option<u32>,
    /// Signals that it tells at the next reading.
    waiting: Vec<RaisedSignal>,
}

/// Is a signal of this kind learnt by reading a list? Others come by themselves: by visits to hubs, or from somebody who tells.
fn is_listed(kind: SignalKind) -> bool {
    matches!(kind, SignalKind::Sitemap | SignalKind::Feed)
}

/// What reading a host's list is worth, by the number of moments since the last reading; `None`: the policy has no opinion.
pub(super) type ListGain<'a> = &'a dyn Fn(HostId, u32) -> Option<Score>;

/// The host of a site in a replay.
pub(super) fn host(site: u32) -> HostId {
    HostId(i64::from(site))
}

impl<'a> KnownSignals<'a> {
    /// Nothing is known yet.
    pub(super) fn new(raised: &'a RaisedSignals, truth: &'a Truth) -> Self {
        let mut lists: BTreeMap<u32, List> = BTreeMap::new();
        if raised.list_cost.is_some() {
            for (kin, born) in truth.kin.iter().zip(&truth.born) {
                let list = lists.entry(kin.site);
                let list = list.or_insert(List { from: *born, read: None, waiting: Vec::new() });
                list.from = list.from.min(*born);
            }
        }
        let mut counts = Distinct::default();
        number(&mut counts, PageSignals::default());
        let (pages, next, purse, price) = (vec![0; truth.pages()], 0, 1.0, 0.0);
        Self { raised, truth, pages, counts, next, lists, purse, price }
    }

    /// The number of a page's counts. 0: no signals.
    pub(super) fn number(&self, page: u32) -> u32 {
        self.pages.get(page as usize).copied().unwrap_or(0)
    }

    /// Counts by their number.
    pub(super) fn counts(&self, number: u32) -> PageSignals {
        self.counts.get(number).copied().unwrap_or_default()
    }

    /// A visit uses up the signals of a page.
    pub(super) fn visited(&mut self, page: u32) {
        let mut counts = self.counts(self.number(page));
        counts.visited();
        self.set(page, counts);
    }

    /// The score of the last page that a cycle chose.
    pub(super) fn paid(&mut self, price: f64) {
        self.price = price;
    }

    /// Reads lists before a cycle of that number of requests. Gives the requests that it took, and the pages that have new
    /// signals. `last` is the last visit of a page.
    pub(super) fn read(
        &mut self,
        moment: u32,
        requests: usize,
        gain: ListGain<'_>,
        last: &dyn Fn(u32) -> u32,
    ) -> (usize, Vec<u32>) {
        let raised = self.raised;
        let new = (self.next..=moment).flat_map(|moment| raised.known_from(moment));
        let mut told: Vec<RaisedSignal> = Vec::new();
        let mut read = 0;
        if let Some(share) = raised.list_cost {
            for signal in new {
                let site = self.truth.kin.get(signal.page as usize).map_or(0, |kin| kin.site);
                match self.lists.get_mut(&site) {
                    Some(list) if is_listed(signal.kind) => list.waiting.push(*signal),
                    _ => told.push(*signal),
                }
            }
            for site in self.choose(moment, requests, share, gain) {
                if let Some(list) = self.lists.get_mut(&site) {
                    list.read = Some(moment);
                    told.append(&mut list.waiting);
                    read += 1;
                }
            }
        } else {
            told.extend(new);
        }
        self.next = moment + 1;
        let mut pages: Vec<u32> = Vec::with_capacity(told.len());
        for signal in told {
            let mut counts = self.counts(self.number(signal.page));
            if signal.raised > last(signal.page) {
                counts.learn(signal.kind);
            } else {
                counts.learn_late(signal.kind);
            }
            self.set(signal.page, counts);
            pages.push(signal.page);
        }
        pages.sort_unstable();
        pages.dedup();
        (read, pages)
    }

    /// The lists that are worth a request each.
    fn choose(&mut self, moment: u32, requests: usize, share: f64, gain: ListGain<'_>) -> Vec<u32> {
        let (mut worth, mut in_turn) = (Vec::<(f64, u32)>::new(), Vec::<(Option<u32>, u32)>::new());
        for (site, list) in self.lists.iter().filter(|(_, list)| list.from <= moment) {
            let waited = moment - list.read.unwrap_or(list.from);
            match gain(host(*site), waited) {
                Some(gain) if gain.value() > self.price => worth.push((gain.value(), *site)),
                Some(_) => {}
                None => in_turn.push((list.read, *site)),
            }
        }
        worth.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        worth.truncate(requests);
        in_turn.sort_unstable();
        if !in_turn.is_empty() {
            self.purse += share * requests as f64;
        }
        in_turn.truncate((requests - worth.len()).min(self.purse as usize));
        self.purse -= in_turn.len() as f64;
        worth.into_iter().map(|(_, site)| site).chain(in_turn.into_iter().map(|(_, site)| site)).collect()
    }

    fn set(&mut self, page: u32, counts: PageSignals) {
        let number = number(&mut self.counts, counts);
        if let Some(place) = self.pages.get_mut(page as usize) {
            *place = number;
        }
    }
}

fn number(all: &mut Distinct<PageSignals>, counts: PageSignals) -> u32 {
    all.number(&counts.to_bytes(), counts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::metric::Figures;
    use super::super::raised_signals::RaisedSignal;
    use super::super::synthetic::Spec;
    use super::super::tests::{in_order, terms_of};
    use super::super::{ByPolicy, Chooser, Ties, replay, replay_telling};
    use super::*;
    use crate::dataset::Group;
    use crate::policy::{LooksAt, PageState, Policy};
    use crate::signal::spec::SignalSpec;
    use crate::time::Timestamp;

    /// Pages with signals first, then the oldest.
    struct Trusting {
        looks: bool,
    }

    impl Policy for Trusting {
        fn name(&self) -> &str {
            "trusting"
        }

        fn score(&self, page: &PageState, now: Timestamp) -> Score {
            let signals = page.signals.of(SignalKind::Sitemap);
            Score::new(score(page.age(now).days(), signals.since_visit, signals.total))
        }

        fn looks_at(&self) -> LooksAt {
            LooksAt { signals: self.looks, ..LooksAt::default() }
        }
    }

    fn score(days: f64, since_visit: u32, total: u32) -> f64 {
        days * (1.0 + 100.0 * f64::from(since_visit)) / (1.0 + f64::from(total))
    }

    fn group(spec: &str) -> Group {
        let mut group = spec.parse::<Spec>().expect("a spec").dataset().groups.remove(0);
        for (at, page) in group.pages.iter_mut().enumerate() {
            page.url = format!("http://{}.example/{at}", at % 3);
        }
        group
    }

    fn truth_of(group: &Group, signals: &str, list_cost: Option<f64>) -> Truth {
        let (order, terms) = (in_order(group), terms_of(group, 0.1, 2, Ties::OlderFirst));
        let truth = Truth::of(group, &order);
        let spec: SignalSpec = signals.parse().expect("signals");
        let raised = RaisedSignals::drawn(&spec, 1, group, &order, &truth, &terms);
        truth.with_signals(Some(raised.with_list_cost(list_cost)))
    }

    fn figures(group: &Group, truth: &Truth, budget: f64, looks: bool) -> Figures {
        let terms = terms_of(group, budget, 2, Ties::OlderFirst);
        let policy = Box::new(Trusting { looks });
        Figures::of(&replay(truth, &mut Chooser::Policy(ByPolicy::new(policy, truth, terms)), &terms))
    }

    #[test]
    fn a_visit_uses_signals_up_and_a_late_signal_of_a_change_that_was_seen_counts_in_the_total_only() {
        let group = group("pages=3,cycles=9");
        let truth = Truth::of(&group, &in_order(&group));
        let signal = |known, page, raised| (known, RaisedSignal { page, raised, kind: SignalKind::Feed });
        let raised =
            RaisedSignals::of(9, [signal(2, 0, 1), signal(4, 0, 3), signal(5, 0, 3), signal(9, 0, 9)]);
        let mut known = KnownSignals::new(&raised, &truth);
        let count = |known: &KnownSignals<'_>| {
            let count = known.counts(known.number(0)).of(SignalKind::Feed);
            (count.since_visit, count.total)
        };
        assert_eq!(known.read(1, 1, &|_, _| None, &|_| 0), (0, vec![]));
        assert_eq!(known.read(2, 1, &|_, _| None, &|_| 0), (0, vec![0]));
        assert_eq!(count(&known), (1, 1));
        known.visited(0);
        assert_eq!(count(&known), (0, 1));
        known.read(4, 1, &|_, _| None, &|_| 2);
        assert_eq!(count(&known), (1, 2));
        known.visited(0);
        known.read(8, 1, &|_, _| None, &|_| 4);
        assert_eq!(count(&known), (0, 3), "the signal of moment 3 came after the visit at moment 4");
        assert_eq!(known.number(1), 0);
    }

    #[test]
    fn perfect_signals_find_what_age_must_look_for() {
        let group = group("pages=90,cycles=60,static=0.3,median=0.05,spread=0.5,seed=2");
        let truth = truth_of(&group, "1,1", None);
        let (with, without) = (figures(&group, &truth, 0.1, true), figures(&group, &truth, 0.1, false));
        assert!(with.staleness < 0.3 * without.staleness, "{with:?} {without:?}");
        let bare = Truth::of(&group, &in_order(&group));
        assert_eq!(
            figures(&group, &bare, 0.1, false),
            without,
            "a policy that doesn't look sees no difference"
        );
        assert_eq!(figures(&group, &bare, 0.1, true), without, "a policy that looks, and sees no signals");
    }

    #[test]
    fn reading_a_list_costs_a_request_and_tells_all_signals_so_far() {
        let group = group("pages=90,cycles=60,static=0.3,median=0.05,spread=0.5,seed=2");
        let free = figures(&group, &truth_of(&group, "1,1", None), 0.1, true);
        let paid = figures(&group, &truth_of(&group, "1,1", Some(0.1)), 0.1, true);
        assert_eq!(free.requests, paid.requests);
        assert!(paid.staleness > free.staleness);
        let truth = truth_of(&group, "1,1", Some(0.1));
        let terms = terms_of(&group, 0.1, 2, Ties::OlderFirst);
        let policy = Box::new(Trusting { looks: true });
        let cycles = replay(&truth, &mut Chooser::Policy(ByPolicy::new(policy, &truth, terms)), &terms);
        // 9 requests a cycle, 0.9 of them for lists; the first reading is on the house.
        let readings: usize = cycles.iter().map(|cycle| cycle.readings).sum();
        assert_eq!(readings, 1 + cycles.len() * 9 / 10);
        assert!(cycles.iter().all(|cycle| cycle.visits + cycle.readings == 9));
    }

    #[test]
    fn a_policy_that_knows_what_a_list_is_worth_decides_when_it_is_read() {
        let group = group("pages=6,cycles=9");
        let truth = truth_of(&group, "1,1,always", Some(0.5));
        let mut known = KnownSignals::new(truth.signals.as_ref().expect("signals"), &truth);
        let busy = truth.kin[1].site;
        let gain = |of: HostId, waited: u32| {
            Some(Score::new(if of == host(busy) { 10.0 * f64::from(waited) } else { f64::from(waited) }))
        };
        known.paid(15.0);
        assert_eq!(known.read(1, 4, &gain, &|_| 0).0, 0);
        let (read, told) = known.read(2, 4, &gain, &|_| 0);
        assert_eq!((read, told), (1, vec![1, 4]), "the list of one host is worth more than 15");
        assert_eq!(known.counts(known.number(1)).of(SignalKind::Sitemap).total, 3, "all signals so far");
        known.paid(0.5);
        assert_eq!(known.read(3, 4, &gain, &|_| 0).0, 3);
        assert_eq!(known.read(4, 2, &gain, &|_| 0).0, 2, "no more than there are requests");
    }

    #[test]
    fn lists_of_which_nothing_is_expected_take_turns() {
        let group = group("pages=6,cycles=9");
        let truth = truth_of(&group, "1,1,always", Some(0.5));
        let mut known = KnownSignals::new(truth.signals.as_ref().expect("signals"), &truth);
        let (poor, sites) = (truth.kin[0].site, [truth.kin[1].site, truth.kin[2].site]);
        let gain = |of: HostId, _: u32| (of == host(poor)).then(|| Score::new(0.0));
        let mut last_read = Vec::new();
        for cycle in 0..4 {
            assert_eq!(
                known.read(cycle, 2, &gain, &|_| 0).0,
                if cycle == 0 { 2 } else { 1 },
                "cycle {cycle}"
            );
            last_read = sites.map(|site| known.lists[&site].read).to_vec();
        }
        last_read.sort_unstable();
        assert_eq!(last_read, [Some(2), Some(3)], "half of two requests, and one at the start");
        assert_eq!(known.lists[&poor].read, None);
    }

    proptest! {
        /// The replay chooses as one does that keeps every page apart and counts all signals again in each cycle.
        #[test]
        fn pages_are_chosen_by_the_signals_that_are_known(
            precision in 0.05..=1.0, recall in 0.0..=1.0, delay in 0_u32..5, kind in 0_usize..3, seed in 0_u32..1000,
            budget in 0.02..0.5,
        ) {
            let kind = ["poisson", "build", "always"][kind];
            let group = group(&format!("pages=40,cycles=25,static=0.3,median=0.1,seed={seed}"));
            let truth = truth_of(&group, &format!("{precision},{recall},delay={delay},{kind}"), None);
            let terms = terms_of(&group, budget, 2, Ties::OlderFirst);
            let mut last: Vec<u32> = truth.born.iter().map(|born| born + 2).collect();
            let mut picks: Vec<(u32, Vec<u32>)> = Vec::new();
            let policy = ByPolicy::new(Box::new(Trusting { looks: true }), &truth, terms);
            replay_telling(&truth, &mut Chooser::Policy(policy), &terms, &mut |cycle, chosen| {
                picks.push((cycle, chosen.to_vec()));
            });
            let signals: Vec<(u32, RaisedSignal)> =
                truth.signals.iter().flat_map(RaisedSignals::iter).map(|(known, signal)| (known, *signal)).collect();
            for (cycle, chosen) in picks {
                let count = |page: u32, from: Option<u32>| {
                    let is_counted = |(known, signal): &&(u32, RaisedSignal)| {
                        *known <= cycle && signal.page == page && from.is_none_or(|from| signal.raised > from)
                    };
                    signals.iter().filter(is_counted).count() as u32
                };
                let score_of = |page: u32| {
                    let last = last[page as usize];
                    let counts = (count(page, Some(last)), count(page, None));
                    Score::new(score(f64::from(cycle - last), counts.0, counts.1)).value()
                };
                let mut all: Vec<(f64, u32, u32)> =
                    (0..40).filter(|page| truth.born[*page as usize] + 3 <= cycle)
                    .map(|page| (score_of(page), last[page as usize], page)).collect();
                all.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
                let expected: Vec<u32> = all.iter().take(chosen.len()).map(|(_, _, page)| *page).collect();
                prop_assert_eq!(&chosen, &expected, "cycle {}", cycle);
                for page in chosen {
                    last[page as usize] = cycle;
                }
            }
        }
    }
}
