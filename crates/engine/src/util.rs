//! Reading arguments and writing numbers as Redis does.

use crate::error::{CmdError, NOT_FLOAT, NOT_INTEGER, Res};
use smallvec::SmallVec;

/// Parses an integer exactly as Redis's `string2ll`: no spaces, no plus, no leading zeros.
#[inline]
pub fn parse_i64(bytes: &[u8]) -> Option<i64> {
    totality_ds::num::parse_i64(bytes)
}

/// An integer argument.
#[inline]
pub fn int_arg(bytes: &[u8]) -> Res<i64> {
    parse_i64(bytes).ok_or(NOT_INTEGER)
}

/// A double argument: what `strtod` reads completely, infinities included, not NaN.
pub fn float_arg(bytes: &[u8]) -> Res<f64> {
    let text = std::str::from_utf8(bytes).map_err(|_| NOT_FLOAT)?;
    text.parse::<f64>().ok().filter(|d| !d.is_nan()).ok_or(NOT_FLOAT)
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

/// Appends a double as replies show it: the shortest digits that read back to the same number.
pub fn format_double(d: f64, out: &mut SmallVec<[u8; 32]>) {
    out.extend_from_slice(format!("{d}").as_bytes());
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
    (start <= stop && start < len && stop >= 0).then_some((start as usize, stop as usize + 1))
}
