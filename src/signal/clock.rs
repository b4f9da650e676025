//! Trust in signals, by host and kind, learnt from visits.
//!
//! A signal is a tick of a second clock of the page: with n signals since the last visit of g a day on average, and trust ρ, the
//! time that counts is τ = (1 − ρ) t + ρ n/g. Each of a few candidates for ρ is charged with the staleness that it would have
//! cost at the visits of the host; the trust is their mean, weighted by how well they did. Hosts of which little is known lean
//! on all others.
//!
//! What must stay true: without signals nothing is stretched, and a kind that tells nothing ends at no trust.

use std::collections::BTreeMap;

use super::{PageSignals, SignalKind};
use crate::page::HostId;
use crate::varint::{push, push_float, take, take_float};

/// Candidates for the trust.
const CANDIDATES: [f64; 10] = [0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.96, 0.99];
/// ln of the weight of any trust at all, before the first visit.
const PRIOR: f64 = -2.0;
/// A difference of losses counts this many times in ln of the weight.
const SHARPNESS: f64 = 2.0;
/// Typical changes' worth that the visits of other hosts count for.
const SHARED_CHANGES: f64 = 5.0;
/// Time is never taken for less than this part of itself.
const LEAST_STRETCH: f64 = 0.01;
/// Prior of the rate at which a host signals: signals of a page, and the days in which they came.
const RATE_PRIOR: (f64, f64) = (0.1, 1.0);

const KINDS: usize = SignalKind::ALL.len();

/// What signals say of a page at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SignalView {
    /// Its signals, counted.
    pub signals: PageSignals,
    /// Days since its copy was taken or confirmed (t).
    pub days: f64,
    /// Days since it was found.
    pub watched_days: f64,
    /// The kinds of signals that its host is known to give, in the order of [`SignalKind::ALL`]: none of them is a signal, too.
    pub heard: [bool; KINDS],
}

/// Trust in the signals of all hosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SignalClock {
    hosts: BTreeMap<HostId, [KindTrust; KINDS]>,
    all: [KindTrust; KINDS],
}

/// What visits taught about signals of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct KindTrust {
    /// The loss of each candidate.
    losses: [f64; CANDIDATES.len()],
    /// Typical changes found.
    changes: f64,
    /// Signals that came, in how many days under watch.
    signals: f64,
    days: f64,
}

/// One kind of signals of one page: how long a signal usually is in coming, and whether it came.
#[derive(Clone, Copy, Debug, PartialEq)]
struct KindTold {
    trust: f64,
    /// n/(g t): 1 if as many signals came as usual.
    ratio: f64,
    /// Signals a day on average (g).
    rate: f64,
    came: bool,
}

/// What reading the lists of a host is expected to tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedSignals {
    /// Signals that each page has had since the lists were read, on average.
    pub signals_a_page: f64,
    trust: f64,
    /// Signals of a page a day.
    rate: f64,
}

impl ExpectedSignals {
    /// The factor on the utility of a visit to a page that is told of, whose copy has this age in days.
    pub fn factor(&self, days: f64) -> f64 {
        let ratio = 1.0 / (self.rate * days).max(1e-12);
        KindTold { trust: self.trust, ratio, rate: self.rate, came: true }.factor(days)
    }
}

impl KindTold {
    /// The factor on the utility of a visit after this number of days.
    fn factor(self, days: f64) -> f64 {
        let time = ((1.0 - self.trust) + self.trust * self.ratio) * days;
        let more = self.trust / self.rate;
        let index = if self.came {
            (time * time + time * more) / 2.0
        } else {
            time * days / (2.0 + self.rate * days * more / (more + time).max(1e-12))
        };
        index / (days * days / 2.0)
    }
}

impl KindTrust {
    fn add(&mut self, other: &Self) {
        self.losses.iter_mut().zip(other.losses).for_each(|(sum, more)| *sum += more);
        self.changes += other.changes;
        self.signals += other.signals;
        self.days += other.days;
    }

    /// Has a signal of this kind ever come?
    fn has_told(&self) -> bool {
        self.signals > 0.0
    }

    /// The rate at which a page of the host has signals, before its own are looked at.
    fn rate(&self) -> f64 {
        (self.signals + RATE_PRIOR.0) / (self.days + RATE_PRIOR.1)
    }
}

impl SignalClock {
    /// Trust in signals of one kind from a host, 0 to 1; 0 if it never gave one.
    pub fn of(&self, host: HostId, kind: SignalKind) -> f64 {
        let place = kind as usize;
        let Some(own) = self.hosts.get(&host).and_then(|kinds| kinds.get(place)) else { return 0.0 };
        if own.has_told() { self.trust(place, own) } else { 0.0 }
    }

    fn trust(&self, place: usize, own: &KindTrust) -> f64 {
        let Some(all) = self.all.get(place) else { return 0.0 };
        let scale = (SHARED_CHANGES / (all.changes - own.changes).max(1e-9)).min(1.0);
        let loss = |at: usize| {
            let [own, all] = [own, all].map(|of| of.losses.get(at).copied().unwrap_or(0.0));
            own + (all - own) * scale
        };
        let none = loss(0);
        let logs: [f64; CANDIDATES.len()] =
            std::array::from_fn(|at| if at == 0 { 0.0 } else { PRIOR - SHARPNESS * (loss(at) - none) });
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (candidate, log) in CANDIDATES.iter().zip(logs) {
            let weight = (log - most).exp();
            (sum, weights) = (sum + weight * candidate, weights + weight);
        }
        sum / weights
    }

    /// The kinds of a page's signals that its host has given before, each with the trust in it.
    fn told(&self, host: HostId, view: &SignalView) -> impl Iterator<Item = (usize, KindTold)> + '_ {
        let kinds = self.hosts.get(&host);
        let view = *view;
        (0..KINDS).filter(move |_| view.days > 0.0).filter_map(move |place| {
            let unknown = KindTrust::default();
            let own = kinds.and_then(|kinds| kinds.get(place)).unwrap_or(&unknown);
            let count = view.signals.by_kind.get(place).copied().unwrap_or_default();
            let is_heard = view.heard.get(place).is_some_and(|heard| *heard);
            if !(is_heard || count.total > 0 || own.has_told()) {
                return None;
            }
            let rate = (f64::from(count.total) + 1.0) / (view.watched_days.max(0.0) + 1.0 / own.rate());
            let ratio = f64::from(count.since_visit) / (rate * view.days);
            let trust = self.trust(place, own);
            Some((place, KindTold { trust, ratio, rate, came: count.since_visit > 0 }))
        })
    }

    /// ln of τ/t: by how much signals, or their absence, stretch the time since the last visit.
    pub fn log_stretch(&self, host: HostId, view: &SignalView) -> f64 {
        self.told(host, view).map(|(_, told)| log_stretch(told.trust, told.ratio)).sum()
    }

    /// The factor on the utility of a visit: more if a signal came; less if none came, for the next will tell when it is time.
    pub fn factor(&self, host: HostId, view: &SignalView) -> f64 {
        self.told(host, view).map(|(_, told)| told.factor(view.days)).product()
    }

    /// What the lists of a host are expected to tell that were read `days` ago; `None` if they never told anything.
    pub fn expected(&self, host: HostId, days: f64) -> Option<ExpectedSignals> {
        let kinds = self.hosts.get(&host)?;
        let listed = [SignalKind::Sitemap as usize, SignalKind::Feed as usize];
        let all = listed.into_iter().filter_map(|place| Some((place, kinds.get(place)?)));
        let (place, own) =
            all.filter(|(_, own)| own.has_told()).max_by(|a, b| a.1.signals.total_cmp(&b.1.signals))?;
        let (rate, trust) = (own.rate(), self.trust(place, own));
        Some(ExpectedSignals { signals_a_page: rate * days, trust, rate })
    }

    /// Charges every candidate with the staleness that it would have cost at these visits: the host of each, its signals, the
    /// divergence found and expected (both in typical changes), and ln of its predicted rate over the mean rate.
    pub fn learn(&mut self, visits: &[(HostId, SignalView, f64, f64, f64)]) {
        let mut learnt: Vec<(HostId, usize, KindTrust)> = Vec::new();
        for (host, view, found, expected, eta) in visits {
            let told: Vec<(usize, KindTold)> = self.told(*host, view).collect();
            let all: f64 = told.iter().map(|(_, told)| log_stretch(told.trust, told.ratio)).sum();
            for (place, of) in told {
                let others = all - log_stretch(of.trust, of.ratio);
                let losses = CANDIDATES.map(|trust| {
                    let eta = (eta + others).clamp(-MOST_ETA, MOST_ETA) + log_stretch(trust, of.ratio);
                    found * (-eta / 2.0).exp() + expected * (eta / 2.0).exp()
                });
                learnt.push((*host, place, KindTrust { losses, changes: *found, ..KindTrust::default() }));
            }
            for (place, count) in view.signals.by_kind.iter().enumerate() {
                let had_some = self.hosts.get(host).and_then(|kinds| kinds.get(place));
                if count.total > 0 || had_some.is_some_and(KindTrust::has_told) {
                    let signals = f64::from(count.since_visit);
                    let days = view.days;
                    learnt.push((*host, place, KindTrust { signals, days, ..KindTrust::default() }));
                }
            }
        }
        for (host, place, more) in learnt {
            let own = self.hosts.entry(host).or_default().get_mut(place);
            own.into_iter().chain(self.all.get_mut(place)).for_each(|of| of.add(&more));
        }
    }

    /// Appends the bytes of all that was learnt.
    pub fn push_bytes(&self, bytes: &mut Vec<u8>) {
        push(bytes, self.hosts.len() as u64);
        for (host, kinds) in &self.hosts {
            push(bytes, host.0.cast_unsigned());
            kinds.iter().for_each(|kind| kind.push_bytes(bytes));
        }
        self.all.iter().for_each(|kind| kind.push_bytes(bytes));
    }

    /// Reads what [`Self::push_bytes`] wrote.
    pub fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let mut taken = Self::default();
        for _ in 0..take(rest)? {
            let host = HostId(take(rest)?.cast_signed());
            let mut kinds = [KindTrust::default(); KINDS];
            for kind in &mut kinds {
                *kind = KindTrust::take_bytes(rest)?;
            }
            taken.hosts.insert(host, kinds);
        }
        for kind in &mut taken.all {
            *kind = KindTrust::take_bytes(rest)?;
        }
        Some(taken)
    }
}

impl KindTrust {
    fn push_bytes(&self, bytes: &mut Vec<u8>) {
        let rest = [self.changes, self.signals, self.days];
        self.losses.iter().chain(&rest).for_each(|number| push_float(bytes, *number));
    }

    fn take_bytes(rest: &mut &[u8]) -> Option<Self> {
        let mut taken = Self::default();
        let KindTrust { losses, changes, signals, days } = &mut taken;
        for number in losses.iter_mut().chain([changes, signals, days]) {
            *number = take_float(rest).filter(|number| number.is_finite())?;
        }
        Some(taken)
    }
}

/// ln of a rate over the mean rate is cut here.
const MOST_ETA: f64 = 12.0;

/// ln of τ/t for a trust, where n/(g t) signals came of each that was usual.
fn log_stretch(trust: f64, ratio: f64) -> f64 {
    (1.0 - trust + trust * ratio).max(LEAST_STRETCH).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostId = HostId(3);

    fn view(since_visit: u32, total: u32, days: f64) -> SignalView {
        let mut signals = PageSignals::default();
        (signals.by_kind[0].since_visit, signals.by_kind[0].total) = (since_visit, total);
        SignalView { signals, days, watched_days: 100.0, ..SignalView::default() }
    }

    /// Two hundred visits, of which each fifth finds a change; `tells`: was there a signal at this visit?
    fn taught(tells: impl Fn(usize) -> bool) -> SignalClock {
        let mut trust = SignalClock::default();
        for visit in 0..200 {
            let changed = visit % 5 == 0;
            let view = view(u32::from(tells(visit)), 20, 5.0);
            trust.learn(&[(HOST, view, f64::from(u8::from(changed)), 0.2, 0.0)]);
        }
        trust
    }

    #[test]
    fn signals_that_were_right_are_trusted_and_those_that_were_not_are_not() {
        let right = taught(|visit| visit % 5 == 0);
        let wrong = taught(|visit| visit % 5 == 2);
        let always = taught(|_| true);
        assert!(right.of(HOST, SignalKind::Sitemap) > 0.9, "{}", right.of(HOST, SignalKind::Sitemap));
        assert!(wrong.of(HOST, SignalKind::Sitemap) < 0.05, "{}", wrong.of(HOST, SignalKind::Sitemap));
        // One signal in five days is what is usual; with it all of the time counts, and a little more for what it saves.
        let (told, untold) = (right.factor(HOST, &view(1, 20, 5.0)), right.factor(HOST, &view(0, 20, 5.0)));
        assert!(told > 1.0 && untold < 0.2, "{told} {untold}");
        // Where every visit has its signal, a signal tells nothing that time does not.
        let (told, untold) = (always.log_stretch(HOST, &view(1, 20, 5.0)), always.of(HOST, SignalKind::Feed));
        assert!(told.abs() < 0.2 && untold == 0.0, "{told} {untold}");
    }

    #[test]
    fn a_host_without_signals_is_left_alone() {
        let trust = taught(|visit| visit % 5 == 0);
        assert_eq!(trust.factor(HostId(9), &view(0, 0, 5.0)), 1.0);
        assert_eq!(trust.log_stretch(HostId(9), &view(0, 0, 5.0)), 0.0);
        let mut bytes = Vec::new();
        trust.push_bytes(&mut bytes);
        assert_eq!(SignalClock::take_bytes(&mut &bytes[..]), Some(trust));
    }
}
