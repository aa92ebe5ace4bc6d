//! Numbers as strings, by the exact rules of Redis.

mod bignum;
mod dtoa;
mod float;

pub use dtoa::{F64Text, push_f64, push_fixed};
pub use float::{F80, FloatError, add_float_str, parse_f64, parse_f64_loose};

/// Parses a 64-bit integer as strictly as Redis: no leading zeros, plus sign or spaces, so that printing the number
/// gives back the same bytes. None otherwise, and on overflow.
#[inline]
pub fn parse_i64(s: &[u8]) -> Option<i64> {
    if s.is_empty() || s.len() > 20 {
        return None;
    }
    let (negative, digits) = if s[0] == b'-' { (true, &s[1..]) } else { (false, s) };
    match digits {
        [b'0'] => return if negative { None } else { Some(0) },
        [b'1'..=b'9', ..] => {}
        _ => return None,
    }
    let mut v: u64 = 0;
    if digits.len() <= 19 {
        // Nineteen digits never overflow 64 bits.
        for &c in digits {
            let d = c.wrapping_sub(b'0');
            if d > 9 {
                return None;
            }
            v = v * 10 + d as u64;
        }
    } else {
        return None;
    }
    if negative {
        if v > 1 << 63 { None } else { Some((v as i64).wrapping_neg()) }
    } else {
        i64::try_from(v).ok()
    }
}

/// Appends the decimal digits of `v`.
#[inline]
pub fn push_i64(out: &mut Vec<u8>, v: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes());
}
