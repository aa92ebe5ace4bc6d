//! Reading arguments and writing numbers as Redis does.

use crate::error::{CmdError, NOT_FLOAT, NOT_INTEGER, Res};
use smallvec::SmallVec;

/// Parses an integer exactly as Redis's `string2ll`: no spaces, no plus, no leading zeros.
#[inline]
pub fn parse_i64(bytes: &[u8]) -> Option<i64> {
    match bytes {
        // Counts and flags are mostly that short, and need no call.
        [digit @ b'0'..=b'9'] => Some(i64::from(digit - b'0')),
        _ => totality_ds::num::parse_i64(bytes),
    }
}

/// An integer argument.
#[inline]
pub fn int_arg(bytes: &[u8]) -> Res<i64> {
    parse_i64(bytes).ok_or(NOT_INTEGER)
}

/// A double argument, or `ERR value is not a valid float`.
pub fn float_arg(bytes: &[u8]) -> Res<f64> {
    totality_ds::num::parse_f64(bytes).ok_or(NOT_FLOAT)
}

/// True when a number that [`float_arg`] took is written in hexadecimal digits, which Valkey does not read.
pub fn is_hex(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").or(number.strip_prefix(b"+")).unwrap_or(number);
    matches!(digits, [b'0', b'x' | b'X', ..])
}

/// A database number or another argument of C's type `int`.
pub fn int32_arg(bytes: &[u8]) -> Res<i32> {
    Ok(range_arg(bytes, i64::from(i32::MIN), i64::from(i32::MAX))? as i32)
}

/// An integer argument between `min` and `max`, with Redis's messages of `getRangeLongFromObjectOrReply`.
pub fn range_arg(bytes: &[u8], min: i64, max: i64) -> Res<i64> {
    let n = int_arg(bytes)?;
    if n < min || n > max {
        return Err(CmdError::owned(format!(
            "ERR value is out of range, value must between {min} and {max}"
        )));
    }
    Ok(n)
}

/// The time at which a timeout in milliseconds ends that begins now; 0 for none.
pub fn deadline_ms(arg: &[u8], now: i64) -> Res<i64> {
    let timeout = parse_i64(arg).ok_or(CmdError::new("ERR timeout is not an integer or out of range"))?;
    match timeout {
        ..0 => Err(CmdError::new("ERR timeout is negative")),
        0 => Ok(0),
        _ => timeout.checked_add(now).ok_or(CmdError::new("ERR timeout is out of range")),
    }
}

/// Appends a double as replies show it: integers without a point, else the shortest digits that read back to the same
/// number, with an exponent where they would be far from the point.
pub fn format_double(d: f64, out: &mut SmallVec<[u8; 32]>) {
    out.extend_from_slice(&totality_ds::num::F64Text::new(d));
}

/// What C prints of bytes that a client sent: up to the first zero byte.
pub fn until_nul(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len())]
}

/// Lower-case ASCII copy for error texts.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Turns the index pair of GETRANGE, LRANGE, ZRANGE … into a range of `0..len`; `None` when it is empty.
pub fn index_range(mut start: i64, mut stop: i64, len: usize) -> Option<(usize, usize)> {
    let len = len as i64;
    if start < 0 {
        start = start.saturating_add(len).max(0);
    }
    if stop < 0 {
        stop = stop.saturating_add(len);
    }
    stop = stop.min(len - 1);
    (start <= stop && start < len && stop >= 0).then(|| (start as usize, stop as usize + 1))
}
