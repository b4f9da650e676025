//! Trust in signals, by host and kind, learnt from visits.
//!
//! A signal is a tick of a second clock of the page: with n signals since the last visit of g a day on average, and trust ρ, the
//! time that counts is τ = (1 − ρ) t + ρ n/g. Each of a few candidates for ρ is charged with the staleness that it would have
//! cost at the visits of the host; the trust is their mean, weighted by how well they did. Hosts of which little is known lean
//! on all others.
//!
//! A change that one list told is no news in another. So the signals of all kinds are one stream: each counts by the trust in its
//! kind, and their absence by the mean trust.
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
/// Prior of the rate at which a host signals: signals of a page, and the cycles in which they came.
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
    /// The length of a cycle in days.
    pub cycle_days: f64,
    /// Changes that visits found before.
    pub changes: u32,
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

/// One kind of signals of one page: how many come, and how many came.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct HeardKind {
    trust: f64,
    /// The share of the page's own changes that signals can have told. One that no list names says nothing by its silence.
    reach: f64,
    /// Signals a day on average.
    rate: f64,
    /// Signals since the last visit.
    count: f64,
}

/// What the signals of one page say.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HeardKinds {
    kinds: [HeardKind; KINDS],
    /// Signals of all kinds a day on average (g).
    rate: f64,
    /// Days since the last visit.
    days: f64,
}

/// What the signals of a page amount to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalReading {
    /// The factor on the time since the last visit. It holds where divergence grows with each change.
    pub time_factor: f64,
    /// The factor on the divergence to be found.
    pub stretch: f64,
    /// How sure it is that a signal came, against that none did.
    pub came: f64,
    /// Trust in the kind that is trusted most.
    pub trust: f64,
    /// Signals of that kind a day, on average.
    pub rate: f64,
}

impl HeardKinds {
    /// τ/t: by how much signals, or their absence, stretch the time since the last visit.
    fn stretch(&self) -> f64 {
        let more = |kind: &HeardKind| kind.trust * (kind.count / self.days - kind.rate);
        1.0 + self.kinds.iter().map(more).sum::<f64>() / self.rate
    }

    /// The kinds that the host gives.
    fn places(&self) -> impl Iterator<Item = usize> {
        self.kinds.iter().enumerate().filter(|(_, kind)| kind.rate > 0.0).map(|(place, _)| place)
    }

    /// The stretch, if one of the kinds were trusted so much.
    fn stretch_with(&self, place: usize, trust: f64) -> f64 {
        let mut other = *self;
        if let Some(kind) = other.kinds.get_mut(place) {
            kind.trust = kind.reach * trust;
        }
        other.stretch()
    }

    /// How sure it is that a signal came. One of a kind that is little trusted does not end the silence of a better one.
    fn came(&self) -> f64 {
        let most = |came: bool| {
            let kinds = self.kinds.iter().filter(|kind| kind.count > 0.0 || !came);
            kinds.map(|kind| kind.trust).fold(0.0, f64::max)
        };
        if most(false) > 0.0 { most(true) / most(false) } else { 0.0 }
    }

    /// The time that is worth as much as this one with these signals, as its multiple: more if a signal came; less if none came,
    /// for the next will tell when it is time.
    fn time_factor(&self) -> f64 {
        let days = self.days;
        let time = self.stretch().max(0.0) * days;
        // What a signal adds, on average.
        let more = self.kinds.iter().map(|kind| kind.trust * kind.rate).sum::<f64>() / self.rate.powi(2);
        let came = (time * time + time * more) / 2.0;
        let silent = time * days / (2.0 + self.rate * days * more / (more + time).max(1e-12));
        let share = self.came();
        let index = share * came + (1.0 - share) * silent;
        (2.0 * index).sqrt() / days
    }

    fn reading(&self) -> SignalReading {
        let (trust, rate) = self
            .kinds
            .iter()
            .fold((0.0, 0.0), |best, kind| if kind.trust > best.0 { (kind.trust, kind.rate) } else { best });
        SignalReading {
            time_factor: self.time_factor(),
            stretch: self.stretch().max(0.0),
            came: self.came(),
            trust,
            rate,
        }
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
    fn rate(&self, cycle_days: f64) -> f64 {
        (self.signals + RATE_PRIOR.0) / (self.days + RATE_PRIOR.1 * cycle_days).max(1e-12)
    }

    /// The rate of a page that has had `total` signals while it was watched; it leans on the host's by one signal.
    fn rate_of(&self, total: u32, view: &SignalView) -> f64 {
        (f64::from(total) + 1.0) / (view.watched_days.max(0.0) + 1.0 / self.rate(view.cycle_days))
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

    /// What signals say of a page; `None` if its host never gave any.
    fn told(&self, host: HostId, view: &SignalView) -> Option<HeardKinds> {
        let kinds = self.hosts.get(&host);
        let unknown = KindTrust::default();
        let mut told = HeardKinds { kinds: [HeardKind::default(); KINDS], rate: 0.0, days: view.days };
        for (place, kind) in told.kinds.iter_mut().enumerate() {
            let own = kinds.and_then(|kinds| kinds.get(place)).unwrap_or(&unknown);
            let count = view.signals.by_kind.get(place).copied().unwrap_or_default();
            let is_heard = view.heard.get(place).is_some_and(|heard| *heard);
            if is_heard || count.total > 0 || own.has_told() {
                let rate = own.rate_of(count.total, view);
                let reach = ((f64::from(count.total) + 1.0) / (f64::from(view.changes) + 1.0)).min(1.0);
                let trust = reach * self.trust(place, own);
                *kind = HeardKind { trust, reach, rate, count: f64::from(count.since_visit) };
                told.rate += rate;
            }
        }
        (told.rate > 0.0 && told.days > 0.0).then_some(told)
    }

    /// ln of how much oftener than pages of its host a page has signals, each kind as far as it is trusted.
    pub fn log_relative_rate(&self, host: HostId, view: &SignalView) -> f64 {
        let Some(kinds) = self.hosts.get(&host) else { return 0.0 };
        let (mut page, mut pages, mut all) = (0.0, 0.0, 0.0);
        for (place, own) in kinds.iter().enumerate().filter(|(_, own)| own.has_told()) {
            let total = view.signals.by_kind.get(place).map_or(0, |count| count.total);
            let trust = self.trust(place, own);
            page += trust * own.rate_of(total, view);
            let rate = own.rate(view.cycle_days);
            pages += trust * rate;
            all += rate;
        }
        if page > 0.0 && pages > 0.0 { pages / all * (page / pages).ln() } else { 0.0 }
    }

    /// ln of τ/t: by how much signals, or their absence, stretch the time since the last visit.
    pub fn log_stretch(&self, host: HostId, view: &SignalView) -> f64 {
        self.told(host, view).map_or(0.0, |told| told.stretch().max(LEAST_STRETCH).ln())
    }

    /// What the signals of a page amount to; `None` if its host never gave any.
    pub fn reading(&self, host: HostId, view: &SignalView) -> Option<SignalReading> {
        self.told(host, view).map(|told| told.reading())
    }

    /// Signals of this kind that a page has a day; `None` if its host never gave one.
    pub fn rate(&self, host: HostId, kind: SignalKind, view: &SignalView) -> Option<f64> {
        let own = self.hosts.get(&host)?.get(kind as usize).filter(|own| own.has_told())?;
        let total = view.signals.by_kind.get(kind as usize).map_or(0, |count| count.total);
        Some(own.rate_of(total, view))
    }

    /// Charges every candidate with the staleness that it would have cost at these visits: the host of each, its signals, the
    /// divergence found and expected (both in typical changes), and ln of its predicted rate over the mean rate.
    pub fn learn(&mut self, visits: &[(HostId, SignalView, f64, f64, f64)]) {
        let mut learnt: Vec<(HostId, usize, KindTrust)> = Vec::new();
        for (host, view, found, expected, eta) in visits {
            let told = self.told(*host, view);
            let eta = eta.clamp(-MOST_ETA, MOST_ETA);
            for (told, place) in told.iter().flat_map(|told| told.places().map(move |place| (told, place))) {
                let losses = CANDIDATES.map(|trust| {
                    let eta = eta + told.stretch_with(place, trust).max(LEAST_STRETCH).ln();
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

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostId = HostId(3);

    fn view(since_visit: u32, total: u32, days: f64) -> SignalView {
        let mut signals = PageSignals::default();
        (signals.by_kind[0].since_visit, signals.by_kind[0].total) = (since_visit, total);
        SignalView { signals, days, watched_days: 100.0, cycle_days: 1.0, ..SignalView::default() }
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
        let factor = |count| right.reading(HOST, &view(count, 20, 5.0)).map_or(1.0, |told| told.time_factor);
        let [told, untold] = [factor(1), factor(0)];
        assert!(told > 1.0 && untold < 0.4, "{told} {untold}");
        // Where every visit has its signal, a signal tells nothing that time does not.
        let (told, untold) = (always.log_stretch(HOST, &view(1, 20, 5.0)), always.of(HOST, SignalKind::Feed));
        assert!(told.abs() < 0.2 && untold == 0.0, "{told} {untold}");
    }

    #[test]
    fn a_host_without_signals_is_left_alone() {
        let trust = taught(|visit| visit % 5 == 0);
        assert_eq!(trust.reading(HostId(9), &view(0, 0, 5.0)), None);
        assert_eq!(trust.log_stretch(HostId(9), &view(0, 0, 5.0)), 0.0);
        let mut bytes = Vec::new();
        trust.push_bytes(&mut bytes);
        assert_eq!(SignalClock::take_bytes(&mut &bytes[..]), Some(trust));
    }
}
