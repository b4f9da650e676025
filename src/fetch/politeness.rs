//! How a host is paced: its delay, what `Retry-After` asked for, and how we back off when it fails.
//!
//! Pure: moments come in as arguments. The promise is that at least [`Pace::delay`] passes between the end of one
//! request to a host and the start of the next, and that a host that asked for time gets it.

use std::time::{Duration, SystemTime};

use rand::RngExt;
use tokio::time::Instant;

use super::visit::{Failure, Outcome, Waiting};

/// How polite we are.
#[derive(Clone, Debug, PartialEq)]
pub struct Politeness {
    /// The least pause between the end of a request and the start of the next, on one host.
    pub delay: Duration,
    /// Requests in flight on one host.
    pub per_host: u32,
    /// The longest `Crawl-delay` that is kept; a host that wants more is skipped, and that is said.
    pub max_crawl_delay: Duration,
    /// The longest a cycle waits for a host that asks for time; one that asks for more rests until a later cycle.
    pub patience: Duration,
    /// Tries of one page in one cycle.
    pub attempts: u32,
    /// Pages in a row that fail for the host's sake before it rests until a later cycle.
    pub max_failures: u32,
    /// The first pause after a failure; it doubles with each further one …
    pub back_off: Duration,
    /// … up to this.
    pub max_back_off: Duration,
}

impl Default for Politeness {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(1),
            per_host: 1,
            max_crawl_delay: Duration::from_secs(60),
            patience: Duration::from_secs(120),
            attempts: 3,
            max_failures: 10,
            back_off: Duration::from_secs(2),
            max_back_off: Duration::from_secs(60),
        }
    }
}

/// `Retry-After` beyond this is a mistake of the server: no one plans a month of downtime. The page is
/// not asked for again in the cycle, and the host gets the usual back-off.
const IMPLAUSIBLE_RETRY_AFTER: Duration = Duration::from_secs(30 * 86_400);

/// Bodies in a row that don't end in time before the host is taken for busy: one may be the page's own fault.
const SLOW_IN_A_ROW: u32 = 2;

/// A slow answer makes the pause longer, but a page of a minute does not stop a host for a minute.
const MAX_ADAPTIVE_DELAY: Duration = Duration::from_secs(10);

/// How long a host rests at the least once it was given up for a cycle; doubles with every cycle it fails again.
const FIRST_REST: Duration = Duration::from_secs(60);
const LONGEST_REST: Duration = Duration::from_secs(6 * 3600);

/// The sign that an ended request gives about its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It answers.
    Well,
    /// It asks for time, or is in trouble.
    Busy {
        /// How long it asks us to stay away, if it says so.
        retry_after: Option<Duration>,
    },
    /// It answers, but its body did not end in time. Twice in a row, that says the same as [`Sign::Busy`].
    Slow,
    /// It can't be reached at all.
    Unreachable,
}

/// Reads the sign off an outcome. A page that is broken in itself (too large, cut off within its body, not HTTP)
/// says nothing bad of its host: the host answered. A body that does not end holds a request for long, so two in a row do.
pub fn sign(outcome: &Outcome) -> Sign {
    match outcome {
        Outcome::Throttled { retry_after } => Sign::Busy { retry_after: *retry_after },
        Outcome::Failed(
            Failure::Dns
            | Failure::ConnectionRefused
            | Failure::ConnectionTimedOut
            | Failure::Connect
            | Failure::Tls,
        ) => Sign::Unreachable,
        Outcome::ServerError | Outcome::Failed(Failure::NoAnswer | Failure::HungUp) => {
            Sign::Busy { retry_after: None }
        }
        Outcome::Failed(Failure::TooSlow) => Sign::Slow,
        _ => Sign::Well,
    }
}

/// Reads a `Retry-After`: seconds or an HTTP date (RFC 9110 §10.2.3). Nonsense and the past are `None`.
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    httpdate::parse_http_date(value).ok()?.duration_since(now).ok()
}

/// Is the wish one that a server can mean?
pub(crate) fn is_plausible(retry_after: Duration) -> bool {
    retry_after <= IMPLAUSIBLE_RETRY_AFTER
}

/// The longest wait that a rule can have set for this reason. One that ends later was set by a wrong clock.
pub(crate) fn longest_wait(why: Waiting) -> Duration {
    match why {
        Waiting::Failing | Waiting::Unreachable | Waiting::RobotsUnavailable => LONGEST_REST,
        // The operator sets the longest back-off, and how long a robots.txt counts.
        _ => IMPLAUSIBLE_RETRY_AFTER,
    }
}

/// The pace kept with one host.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// The pause that we keep with it if it asks for none.
    own_delay: Duration,
    /// The longest that its robots.txt has asked for.
    asked_delay: Duration,
    /// The pause of an earlier run, until robots.txt is read again.
    assumed_delay: Duration,
    /// The longest pause of its twins.
    twins_delay: Duration,
    next_allowed: Instant,
    last_end: Option<Instant>,
    /// When the last wait or rest is over.
    waits_until: Option<Instant>,
    failures: u32,
    /// Bodies in a row that did not end in time.
    slow: u32,
    rests: u32,
}

/// How to go on with a host after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostVerdict {
    /// Go on at its pace.
    GoOn,
    /// Wait within the cycle.
    Wait(Duration, Waiting),
    /// Give it up for this cycle; it may be asked again after this time.
    Rest(Duration, Waiting),
}

impl Pace {
    pub(crate) fn new(delay: Duration, now: Instant) -> Self {
        Self {
            own_delay: delay,
            asked_delay: Duration::ZERO,
            assumed_delay: Duration::ZERO,
            twins_delay: Duration::ZERO,
            next_allowed: now,
            last_end: None,
            waits_until: None,
            failures: 0,
            slow: 0,
            rests: 0,
        }
    }

    /// The pause kept between the end of one request and the start of the next.
    pub(crate) fn delay(&self) -> Duration {
        self.alone_delay().max(self.twins_delay)
    }

    /// The pause that would be kept if it had no twins.
    fn alone_delay(&self) -> Duration {
        self.own_delay.max(self.asked_delay).max(self.assumed_delay)
    }

    pub(crate) fn next_allowed(&self) -> Instant {
        self.next_allowed
    }

    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }

    /// An earlier run asked this host; whatever it asked has ended by now.
    pub(crate) fn asked_before(&mut self, now: Instant) {
        self.last_end = Some(now);
        self.next_allowed = self.next_allowed.max(now + self.delay());
    }

    /// Times in a row that it was given up for a cycle.
    pub(crate) fn rests(&self) -> u32 {
        self.rests
    }

    /// Takes over what an earlier run learnt.
    pub(crate) fn resume(&mut self, rests: u32, not_before: Instant) {
        self.rests = rests;
        self.next_allowed = self.next_allowed.max(not_before);
    }

    /// The pause of an earlier run is kept until robots.txt is read again.
    pub(crate) fn assume_delay(&mut self, delay: Duration) {
        self.assumed_delay = delay;
        self.keep_delay();
    }

    /// A robots.txt of the server was read: this pause is kept if it is longer than ours, from the request that brought it
    /// on.
    pub(crate) fn ask_delay(&mut self, crawl_delay: Option<Duration>) {
        self.assumed_delay = Duration::ZERO;
        self.asked_delay = self.asked_delay.max(crawl_delay.unwrap_or_default());
        self.keep_delay();
    }

    /// The delay changed: it is kept from the last request on.
    fn keep_delay(&mut self) {
        if let Some(ended) = self.last_end {
            self.next_allowed = self.next_allowed.max(ended + self.delay());
        }
    }

    /// A request starts now and others may run beside it: the next may start a share of the delay later.
    pub(crate) fn started(&mut self, now: Instant, per_host: u32) {
        self.next_allowed = self.next_allowed.max(now + self.delay() / per_host.max(1));
    }

    /// Requests of this pace and of its twins' go to one server: the longest delay holds, from the end of the last request.
    pub(crate) fn join(&mut self, twins: &[Pace]) {
        self.last_end = twins.iter().map(|twin| twin.last_end).fold(self.last_end, Option::max);
        self.twins_delay = twins.iter().map(Pace::alone_delay).max().unwrap_or_default();
        self.keep_delay();
    }

    /// A request to the server, ours or a twin's, ended at `now` after `took`: the next waits for the delay, or as long as the
    /// answer took.
    pub(crate) fn pause(&mut self, now: Instant, took: Duration) {
        // A delay of zero is the operator's word that the host needs no pause.
        let delay = self.delay();
        let pause = if delay.is_zero() { delay } else { delay.max(took.min(MAX_ADAPTIVE_DELAY)) };
        self.hold(now + pause);
        self.last_end = Some(now);
    }

    /// The server asked for time: nothing is sent before that moment.
    pub(crate) fn wait_until(&mut self, until: Instant) {
        self.hold(until);
        self.waits_until = self.waits_until.max(Some(until));
    }

    /// A request ended at `now` after `took`. `first_try` is false when the page had failed before: that it fails
    /// again says nothing new about its host.
    pub(crate) fn ended(
        &mut self,
        now: Instant,
        took: Duration,
        sign: Sign,
        first_try: bool,
        politeness: &Politeness,
        random: &mut impl rand::Rng,
    ) -> HostVerdict {
        self.pause(now, took);
        self.slow = if sign == Sign::Slow { self.slow + 1 } else { 0 };
        let sign = match sign {
            Sign::Slow if self.slow >= SLOW_IN_A_ROW => Sign::Busy { retry_after: None },
            sign => sign,
        };
        let verdict = match sign {
            Sign::Well | Sign::Slow => {
                // A request beside it may have brought a wait that is not over: then the host is not well yet.
                if self.waits_until.is_none_or(|until| until <= now) {
                    self.failures = 0;
                    self.rests = 0;
                }
                return HostVerdict::GoOn;
            }
            Sign::Unreachable => {
                self.failures += 1;
                if self.failures >= politeness.attempts {
                    self.rest(Waiting::Unreachable)
                } else {
                    HostVerdict::Wait(self.back_off(politeness, random), Waiting::BackOff)
                }
            }
            Sign::Busy { retry_after } => {
                self.failures += u32::from(first_try || self.failures == 0);
                let asked = retry_after.filter(|asked| is_plausible(*asked));
                match asked {
                    Some(asked) if asked > politeness.patience => {
                        HostVerdict::Rest(asked, Waiting::RetryAfter)
                    }
                    _ if self.failures >= politeness.max_failures => {
                        match (asked, self.rest(Waiting::Failing)) {
                            (Some(asked), HostVerdict::Rest(span, why)) => {
                                HostVerdict::Rest(span.max(asked), why)
                            }
                            (_, rest) => rest,
                        }
                    }
                    Some(asked) => HostVerdict::Wait(asked, Waiting::RetryAfter),
                    None => match self.back_off(politeness, random) {
                        span if span > politeness.patience => self.rest(Waiting::Failing),
                        span => HostVerdict::Wait(span, Waiting::BackOff),
                    },
                }
            }
        };
        if let HostVerdict::Wait(span, _) | HostVerdict::Rest(span, _) = verdict {
            self.wait_until(now + span.min(IMPLAUSIBLE_RETRY_AFTER));
        }
        verdict
    }

    /// Nothing is sent before that moment.
    pub(crate) fn hold(&mut self, until: Instant) {
        self.next_allowed = self.next_allowed.max(until);
    }

    /// Robots.txt could not be had: the host rests, everything on it is forbidden meanwhile.
    pub(crate) fn rest(&mut self, why: Waiting) -> HostVerdict {
        let span = FIRST_REST.saturating_mul(1 << self.rests.min(12)).min(LONGEST_REST);
        self.rests += 1;
        HostVerdict::Rest(span, why)
    }

    /// Exponential, with up to a quarter of jitter so that hosts of one operator don't come back in step.
    fn back_off(&self, politeness: &Politeness, random: &mut impl rand::Rng) -> Duration {
        let doubled = politeness.back_off.saturating_mul(1 << self.failures.saturating_sub(1).min(16));
        doubled.min(politeness.max_back_off).mul_f64(1.0 + random.random_range(0.0..0.25))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use std::time::UNIX_EPOCH;

    fn ended(pace: &mut Pace, sign: Sign, politeness: &Politeness) -> HostVerdict {
        let mut random = rand_pcg::Pcg64::seed_from_u64(1);
        let now = pace.next_allowed();
        pace.ended(now, Duration::from_millis(30), sign, true, politeness, &mut random)
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT
        assert_eq!(retry_after(" 120 ", now), Some(Duration::from_secs(120)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:57 GMT", now), Some(Duration::from_secs(20)));
        assert_eq!(retry_after("Sunday, 06-Nov-94 08:49:57 GMT", now), Some(Duration::from_secs(20)));
        for nonsense in ["-5 soonish", "", "Sun, 06 Nov 1994 08:49:07 GMT", "1.5e3"] {
            assert_eq!(retry_after(nonsense, now), None, "{nonsense}");
        }
    }

    #[test]
    fn the_pause_is_the_delay_or_the_last_answers_time() {
        let politeness = Politeness::default();
        let mut random = rand_pcg::Pcg64::seed_from_u64(1);
        let start = Instant::now();
        let mut pace = Pace::new(Duration::from_secs(1), start);
        assert_eq!(
            pace.ended(start, Duration::from_millis(5), Sign::Well, true, &politeness, &mut random),
            HostVerdict::GoOn
        );
        assert_eq!(pace.next_allowed(), start + Duration::from_secs(1));
        pace.ended(start, Duration::from_secs(3), Sign::Well, true, &politeness, &mut random);
        assert_eq!(pace.next_allowed(), start + Duration::from_secs(3));
        let mut hasty = Pace::new(Duration::ZERO, start);
        hasty.ended(start, Duration::from_secs(3), Sign::Well, true, &politeness, &mut random);
        assert_eq!(hasty.next_allowed(), start);
    }

    #[test]
    fn a_crawl_delay_counts_from_the_request_that_brought_it() {
        let politeness = Politeness::default();
        let mut random = rand_pcg::Pcg64::seed_from_u64(1);
        let start = Instant::now();
        let mut pace = Pace::new(Duration::from_millis(100), start);
        pace.ended(start, Duration::from_millis(5), Sign::Well, true, &politeness, &mut random);
        pace.ask_delay(Some(Duration::from_secs(3)));
        assert_eq!(pace.next_allowed(), start + Duration::from_secs(3));
        pace.ask_delay(Some(Duration::from_millis(1)));
        assert_eq!(pace.delay(), Duration::from_secs(3));
    }

    #[test]
    fn back_off_doubles_until_the_host_rests() {
        let politeness = Politeness::default();
        let mut pace = Pace::new(Duration::from_millis(1), Instant::now());
        let mut waits = Vec::new();
        let rest = loop {
            match ended(&mut pace, Sign::Busy { retry_after: None }, &politeness) {
                HostVerdict::Wait(span, Waiting::BackOff) => waits.push(span.as_secs_f64()),
                other => break other,
            }
        };
        assert_eq!(waits.len(), 9);
        for (n, wait) in waits.iter().enumerate() {
            let base = (2.0 * f64::from(1 << n)).min(60.0);
            assert!((base..base * 1.25).contains(wait), "{waits:?}");
        }
        assert_eq!(rest, HostVerdict::Rest(FIRST_REST, Waiting::Failing));
        ended(&mut pace, Sign::Well, &politeness);
        assert_eq!(pace.failures(), 0);
    }

    #[test]
    fn a_host_that_is_too_slow_twice_in_a_row_backs_off() {
        let politeness = Politeness::default();
        let mut pace = Pace::new(Duration::from_millis(1), Instant::now());
        let backs_off = |verdict| matches!(verdict, HostVerdict::Wait(_, Waiting::BackOff));
        assert!(!backs_off(ended(&mut pace, Sign::Slow, &politeness)));
        assert!(
            !backs_off(ended(&mut pace, Sign::Well, &politeness)),
            "an answer in time starts the count again"
        );
        assert!(!backs_off(ended(&mut pace, Sign::Slow, &politeness)));
        assert!(backs_off(ended(&mut pace, Sign::Slow, &politeness)));
        assert!(backs_off(ended(&mut pace, Sign::Slow, &politeness)));
        assert_eq!(pace.failures(), 2);
    }

    #[test]
    fn what_a_host_asks_for_is_waited_for_or_rested_for() {
        let politeness = Politeness::default();
        let busy = |seconds| Sign::Busy { retry_after: Some(Duration::from_secs(seconds)) };
        let mut pace = Pace::new(Duration::from_secs(1), Instant::now());
        assert_eq!(
            ended(&mut pace, busy(5), &politeness),
            HostVerdict::Wait(Duration::from_secs(5), Waiting::RetryAfter)
        );
        assert_eq!(
            ended(&mut pace, busy(3600), &politeness),
            HostVerdict::Rest(Duration::from_secs(3600), Waiting::RetryAfter)
        );
        assert!(matches!(
            ended(&mut pace, busy(315_360_000), &politeness),
            HostVerdict::Wait(_, Waiting::BackOff)
        ));
    }

    #[test]
    fn a_page_that_fails_again_says_nothing_new_about_its_host() {
        let politeness = Politeness::default();
        let mut random = rand_pcg::Pcg64::seed_from_u64(1);
        let mut pace = Pace::new(Duration::ZERO, Instant::now());
        for _ in 0..50 {
            let busy = Sign::Busy { retry_after: None };
            pace.ended(Instant::now(), Duration::ZERO, busy, false, &politeness, &mut random);
        }
        assert_eq!(pace.failures(), 1);
    }
}
