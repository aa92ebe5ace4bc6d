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

/// Parses a double as Redis does: what `strtod` reads completely, hexadecimal digits and infinities included, but
/// neither NaN nor a number that is too large or that vanishes.
pub fn parse_f64(bytes: &[u8]) -> Option<f64> {
    let unsigned = bytes.strip_prefix(b"-").or(bytes.strip_prefix(b"+")).unwrap_or(bytes);
    if let [b'0', b'x' | b'X', digits @ ..] = unsigned {
        let value = parse_hex(digits)?;
        return Some(if bytes[0] == b'-' { -value } else { value });
    }
    let value: f64 = std::str::from_utf8(bytes).ok()?.parse().ok()?;
    let mantissa = || unsigned.iter().take_while(|b| !matches!(b, b'e' | b'E'));
    let fits = if value.is_infinite() {
        // Only what was written as an infinity may be one.
        matches!(unsigned.first(), Some(b'i' | b'I'))
    } else if value == 0.0 {
        !mantissa().any(|b| matches!(b, b'1'..=b'9'))
    } else {
        !value.is_nan()
    };
    fits.then_some(value)
}

/// Digits, point and binary exponent of a hexadecimal floating point number, after `0x`.
fn parse_hex(text: &[u8]) -> Option<f64> {
    let end = text.iter().position(|b| matches!(b, b'p' | b'P')).unwrap_or(text.len());
    let (mut mantissa, mut exponent, mut any, mut point) = (0u128, 0i32, false, false);
    for byte in &text[..end] {
        if *byte == b'.' && !point {
            point = true;
            continue;
        }
        let digit = char::from(*byte).to_digit(16)?;
        any = true;
        if mantissa >> 120 == 0 {
            mantissa = mantissa << 4 | u128::from(digit);
            exponent -= if point { 4 } else { 0 };
        } else {
            // Beyond what a double can tell apart; only that something follows matters for rounding.
            mantissa |= u128::from(digit != 0);
            exponent += if point { 0 } else { 4 };
        }
    }
    if !any {
        return None;
    }
    if let Some(digits) = text.get(end + 1..) {
        let digits = std::str::from_utf8(digits).ok()?;
        exponent = exponent.saturating_add(digits.parse::<i32>().ok()?.clamp(-100_000, 100_000));
    }
    let mut value = mantissa as f64;
    // In steps, since the power itself may be out of range where the product is not.
    while exponent != 0 && value != 0.0 && value.is_finite() {
        let step = exponent.clamp(-500, 500);
        value *= 2f64.powi(step);
        exponent -= step;
    }
    (value.is_finite() && (value != 0.0 || mantissa == 0)).then_some(value)
}

/// A double argument, or `ERR value is not a valid float`.
pub fn float_arg(bytes: &[u8]) -> Res<f64> {
    parse_f64(bytes).ok_or(NOT_FLOAT)
}

/// A database number or another argument of C's type `int`.
pub fn int32_arg(bytes: &[u8]) -> Res<i32> {
    i32::try_from(int_arg(bytes)?).map_err(|_| CmdError::new("ERR value is out of range"))
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

/// Appends a double as replies show it: integers without a point, else the shortest digits that read back to the same
/// number, with an exponent where they would be far from the point.
pub fn format_double(d: f64, out: &mut SmallVec<[u8; 32]>) {
    out.extend_from_slice(&totality_ds::num::F64Text::new(d));
}

/// A number of INCRBYFLOAT and HINCRBYFLOAT.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extended(f64);

impl From<i64> for Extended {
    fn from(n: i64) -> Self {
        Extended(n as f64)
    }
}

impl std::ops::Add for Extended {
    type Output = Extended;
    fn add(self, other: Extended) -> Extended {
        Extended(self.0 + other.0)
    }
}

impl Extended {
    /// Decimal digits without an exponent; `None` for what is not finite.
    pub fn format(self) -> Option<Vec<u8>> {
        self.0.is_finite().then(|| format!("{}", if self.0 == 0.0 { 0.0 } else { self.0 }).into_bytes())
    }
}

/// Parses a number of INCRBYFLOAT; `None` for what is none, infinities excepted.
pub fn parse_extended(bytes: &[u8]) -> Option<Extended> {
    parse_f64(bytes).map(Extended)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_read_as_strtod_reads_them() {
        for (text, value) in [
            ("1.5", 1.5),
            ("+5.", 5.0),
            (".5e1", 5.0),
            ("-inf", f64::NEG_INFINITY),
            ("Infinity", f64::INFINITY),
            ("0x1p3", 8.0),
            ("-0x.8", -0.5),
            ("0x1.8p-1", 0.75),
            ("0e400", 0.0),
        ] {
            assert_eq!(parse_f64(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["", " 1", "1 ", "nan", "1e400", "-1e400", "1e-400", "0x", "0x1p", "1e", ".", "0x1p99999"]
        {
            assert_eq!(parse_f64(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn doubles_are_written_as_redis_writes_them() {
        for (value, text) in [
            (0.1, "0.1"),
            (-3.0, "-3"),
            (1e15, "1000000000000000"),
            (1e17, "100000000000000000"),
            (900719925474099.25, "900719925474099.3"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (123456789.5, "123456789.5"),
            (0.000001, "0.000001"),
            (1e-7, "1e-7"),
            (1.25e-10, "1.25e-10"),
            (-0.0, "-0"),
            (f64::INFINITY, "inf"),
            (17179869184.5, "17179869184.5"),
            (4503599627370496.0, "4503599627370496"),
        ] {
            let mut out = SmallVec::new();
            format_double(value, &mut out);
            assert_eq!(std::str::from_utf8(&out).unwrap(), text);
        }
    }
}
