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
