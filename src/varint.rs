//! Numbers as they are stored in bytes: small ones take fewer (LEB128).

/// Seven bits a byte, the lowest first; the last byte has its highest bit clear.
pub fn push(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// [`push`] of a number that may be negative: those near 0 are short.
pub(crate) fn push_signed(bytes: &mut Vec<u8>, value: i64) {
    push(bytes, (value.wrapping_shl(1) ^ (value >> 63)).cast_unsigned());
}

/// Undoes [`push`] at the start of `rest`, which is cut by what was read; `None` if nothing of the kind is there.
pub fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, more) = rest.split_first()?;
        *rest = more;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Undoes [`push_signed`].
pub(crate) fn take_signed(rest: &mut &[u8]) -> Option<i64> {
    let value = take(rest)?;
    Some((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
}

/// [`take`] of a number that fits 32 bits.
pub(crate) fn take_small(rest: &mut &[u8]) -> Option<u32> {
    u32::try_from(take(rest)?).ok()
}

/// Eight bytes, whatever the number.
pub(crate) fn push_float(bytes: &mut Vec<u8>, value: f64) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

/// Undoes [`push_float`]; `None` for what is no number.
pub(crate) fn take_float(rest: &mut &[u8]) -> Option<f64> {
    let (eight, more) = rest.split_first_chunk::<8>()?;
    *rest = more;
    Some(f64::from_le_bytes(*eight)).filter(|value| !value.is_nan())
}

/// Four bytes: the number is rounded to that precision.
pub fn push_float32(bytes: &mut Vec<u8>, value: f64) {
    bytes.extend_from_slice(&(value as f32).to_le_bytes());
}

/// Undoes [`push_float32`]; `None` for what is no number.
pub fn take_float32(rest: &mut &[u8]) -> Option<f64> {
    let (four, more) = rest.split_first_chunk::<4>()?;
    *rest = more;
    Some(f64::from(f32::from_le_bytes(*four))).filter(|value| !value.is_nan())
}

/// The number rounded as [`push_short_float`] does. Negative numbers become 0.
pub(crate) fn short_float(value: f64) -> f64 {
    of_short(to_short(value))
}

/// Two bytes for a number that is not negative: rounded to nine binary digits, so by at most 0.2 %.
pub(crate) fn push_short_float(bytes: &mut Vec<u8>, value: f64) {
    bytes.extend_from_slice(&to_short(value).to_le_bytes());
}

/// Undoes [`push_short_float`]; `None` for what is no number.
pub(crate) fn take_short_float(rest: &mut &[u8]) -> Option<f64> {
    let (two, more) = rest.split_first_chunk::<2>()?;
    *rest = more;
    Some(of_short(u16::from_le_bytes(*two))).filter(|value| value.is_finite())
}

/// The exponent and the upper eight digits of a float of four bytes, without its sign.
fn to_short(value: f64) -> u16 {
    const HALF: u32 = 1 << 14;
    let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1e38) as f32 };
    // Adding half of the last digit may carry into the exponent, which is the next number then.
    ((value.to_bits() + HALF) >> 15) as u16
}

fn of_short(short: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(short) << 15))
}

/// The next byte.
pub fn take_byte(rest: &mut &[u8]) -> Option<u8> {
    let (byte, more) = rest.split_first()?;
    *rest = more;
    Some(*byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_float_is_near_and_stays_the_same() {
        for value in [0.0, 1e-9, 0.3, 1.0, 7.0, 1.998, 365.25, 1e12] {
            let short = short_float(value);
            assert!((short - value).abs() <= value / 512.0, "{short} for {value}");
            let mut bytes = Vec::new();
            push_short_float(&mut bytes, value);
            assert_eq!((bytes.len(), take_short_float(&mut &bytes[..])), (2, Some(short)));
            assert_eq!(short_float(short), short);
        }
        assert_eq!([-1.0, f64::NAN].map(short_float), [0.0, 0.0]);
        assert!(short_float(f64::INFINITY).is_finite() && take_short_float(&mut &[0xff, 0xff][..]).is_none());
    }

    proptest! {
        #[test]
        fn what_is_pushed_is_taken_again(
            number in any::<u64>(), signed in any::<i64>(), float in any::<f64>().prop_filter("a number", |x| !x.is_nan())
        ) {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            push_signed(&mut bytes, signed);
            push_float(&mut bytes, float);
            let mut rest = &bytes[..];
            prop_assert_eq!(take(&mut rest), Some(number));
            prop_assert_eq!(take_signed(&mut rest), Some(signed));
            prop_assert_eq!(take_float(&mut rest), Some(float));
            prop_assert!(rest.is_empty());
            prop_assert!(take(&mut rest).is_none() && take_float(&mut rest).is_none());
        }
    }
}
