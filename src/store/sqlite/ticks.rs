//! The latest visits of a host in a compact form: about four bytes a visit.
//!
//! A byte says what the visit brought (the lower half) and whether a divergence follows ([`MEASURED`]), then comes the time in seconds
//! since the visit before, then the divergence in 255ths.

use super::Timestamp;
use crate::store::{BroughtKind, MOST_TICKS, Tick};
use crate::varint::{push_signed, take_signed};

/// A divergence follows.
const MEASURED: u8 = 0x10;

/// The last [`MOST_TICKS`] of these, oldest first.
pub(super) fn to_bytes(ticks: &[Tick]) -> Vec<u8> {
    let latest = ticks.get(ticks.len().saturating_sub(MOST_TICKS)..).unwrap_or_default();
    let (mut bytes, mut before) = (Vec::with_capacity(5 * latest.len() + 8), 0);
    for tick in latest {
        let measured = if tick.divergence.is_some() { MEASURED } else { 0 };
        bytes.push(tick.brought.place() as u8 | measured);
        let at = seconds(tick.at);
        push_signed(&mut bytes, at - before);
        before = at;
        bytes.extend(tick.divergence.map(|share| (share.clamp(0.0, 1.0) * 255.0).round() as u8));
    }
    bytes
}

/// Undoes [`to_bytes`]. What can't be read is left out: the log has it all.
pub(super) fn from_bytes(bytes: &[u8]) -> Vec<Tick> {
    let (mut ticks, mut rest, mut at) = (Vec::new(), bytes, 0_i64);
    while let Some((&head, more)) = rest.split_first() {
        rest = more;
        let kind = BroughtKind::ALL.get(usize::from(head & 0x0f)).copied();
        let (Some(brought), Some(span)) = (kind, take_signed(&mut rest)) else { break };
        at = at.saturating_add(span);
        let mut divergence = None;
        if head & MEASURED != 0 {
            let Some((&share, more)) = rest.split_first() else { break };
            (divergence, rest) = (Some(f32::from(share) / 255.0), more);
        }
        ticks.push(Tick { at: Timestamp::from_seconds(at), brought, divergence });
    }
    ticks
}

/// A tick as it comes back from its bytes: in whole seconds, the divergence in 255ths.
pub(super) fn rounded(at: Timestamp, brought: BroughtKind, divergence: Option<f64>) -> Tick {
    let in_steps = |share: f64| (share.clamp(0.0, 1.0) * 255.0).round() as f32 / 255.0;
    Tick { at: Timestamp::from_seconds(seconds(at)), brought, divergence: divergence.map(in_steps) }
}

fn seconds(at: Timestamp) -> i64 {
    at.millis().div_euclid(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_back_from_few_bytes() {
        let shares = [None, Some(0.0), Some(0.5), Some(1.0)];
        let tick = |number: i64| {
            // Once the clock was set back.
            let at = Timestamp::from_seconds(1_800_000_000 + 86_400 * if number == 70 { 3 } else { number });
            let place = number as usize;
            rounded(at, BroughtKind::ALL[place % 8], shares[place % 4])
        };
        let ticks: Vec<Tick> = (0..100).map(tick).collect();
        let bytes = to_bytes(&ticks);
        assert!(bytes.len() <= 5 * MOST_TICKS + 8, "{}", bytes.len());
        assert_eq!(from_bytes(&bytes), ticks[40..]);
        assert_eq!(to_bytes(&from_bytes(&bytes)), bytes, "to the bit");
        assert!(from_bytes(&bytes[..7]).len() <= 2, "a part that is cut off is left out");
        assert_eq!(from_bytes(&[]), []);
    }
}
