//! Reading doubles, and the 80-bit arithmetic of INCRBYFLOAT and HINCRBYFLOAT.
//!
//! Redis computes with the `long double` of x86-64: 64 bits of mantissa and 15 of exponent, round to nearest even.
//! [`F80`] does the same in integers, so that results are the same bytes on every machine.

use super::bignum::Big;
use std::cmp::Ordering;

/// Longest text in bytes that Redis reads as a long double, plus one.
const MAX_TEXT: usize = 5 * 1024;

/// An extended double: infinity, or ± `mant` · 2^`exp` with the top bit of `mant` set (or `mant` zero).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct F80 {
    negative: bool,
    infinite: bool,
    exp: i32,
    mant: u64,
}

/// Mantissa bits and exponents of a binary format.
struct Format {
    bits: i32,
    /// Exponent of the lowest bit of the smallest numbers.
    min_exp: i32,
    /// Exponent of the lowest bit of the largest numbers.
    max_exp: i32,
}

const EXTENDED: Format = Format { bits: 64, min_exp: -16445, max_exp: 16320 };
const DOUBLE: Format = Format { bits: 53, min_exp: -1074, max_exp: 971 };

/// Rounds `v` · 2^`exp` (plus something below the last bit if `sticky`) to the nearest number of the format, ties to
/// even. Gives mantissa and exponent; None on overflow. A non-zero `v` must have enough bits if `sticky` is set.
fn round(format: &Format, v: u128, exp: i32, sticky: bool) -> Option<(u64, i32)> {
    if v == 0 {
        return Some((0, 0));
    }
    let size = 128 - v.leading_zeros() as i32;
    let drop = (size - format.bits).max(format.min_exp.saturating_sub(exp));
    if drop > 127 {
        return Some((0, 0));
    }
    let (mut q, mut e) = (v, exp);
    if drop > 0 {
        let (rest, half) = (v & ((1 << drop) - 1), 1u128 << (drop - 1));
        q = v >> drop;
        e = exp + drop;
        if rest > half || (rest == half && (sticky || q & 1 == 1)) {
            q += 1;
        }
    }
    let size = 128 - q.leading_zeros() as i32;
    if size > format.bits {
        q >>= 1;
        e += 1;
    }
    // The largest exponent is that of a full mantissa.
    if e + (size.min(format.bits) - format.bits) > format.max_exp { None } else { Some((q as u64, e)) }
}

/// The number that a text means, before rounding.
enum Text {
    Infinity,
    Zero,
    /// Value · 2^exp, and whether there is more below.
    Binary(u128, i32, bool),
}

/// Reads what C's `strtold` reads, which must be the whole text. None for NaN and for anything else.
fn parse_text(s: &[u8]) -> Option<(bool, Text)> {
    let (negative, s) = match s {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, s),
    };
    let text = if s.eq_ignore_ascii_case(b"inf") || s.eq_ignore_ascii_case(b"infinity") {
        Text::Infinity
    } else if let [b'0', b'x' | b'X', rest @ ..] = s {
        parse_hex(rest)?
    } else {
        parse_decimal(s)?
    };
    Some((negative, text))
}

/// Splits `digits[.digits][e[sign]digits]`; gives the digits without the point, the number of them after it, and the
/// exponent (limited to a range that means overflow anyway).
fn split(s: &[u8], is_digit: fn(&u8) -> bool, mark: u8) -> Option<(Vec<u8>, i32, i32)> {
    let (number, exp) = match s.iter().position(|b| b.to_ascii_lowercase() == mark) {
        Some(i) => (&s[..i], Some(&s[i + 1..])),
        None => (s, None),
    };
    let mut digits = Vec::with_capacity(number.len());
    let mut parts = number.splitn(2, |&b| b == b'.');
    digits.extend_from_slice(parts.next()?);
    let fraction = parts.next().unwrap_or(&[]);
    digits.extend_from_slice(fraction);
    if digits.is_empty() || !digits.iter().all(is_digit) {
        return None;
    }
    let exp = match exp {
        None => 0,
        Some(e) => {
            let (negative, e) = match e {
                [b'-', rest @ ..] => (true, rest),
                [b'+', rest @ ..] => (false, rest),
                _ => (false, e),
            };
            if e.is_empty() || !e.iter().all(u8::is_ascii_digit) {
                return None;
            }
            let v = e.iter().fold(0i32, |v, d| (v * 10 + (d - b'0') as i32).min(10_000_000));
            if negative { -v } else { v }
        }
    };
    Some((digits, fraction.len() as i32, exp))
}

fn parse_hex(s: &[u8]) -> Option<Text> {
    let (digits, fraction, exp) = split(s, u8::is_ascii_hexdigit, b'p')?;
    let (mut v, mut sticky, mut dropped) = (0u128, false, 0);
    for d in &digits {
        let d = (*d as char).to_digit(16)? as u128;
        if v >> 120 == 0 {
            v = v << 4 | d;
        } else {
            sticky |= d != 0;
            dropped += 4;
        }
    }
    if v == 0 { Some(Text::Zero) } else { Some(Text::Binary(v, exp - 4 * fraction + dropped, sticky)) }
}

fn parse_decimal(s: &[u8]) -> Option<Text> {
    if s.first().is_some_and(u8::is_ascii_digit)
        && let Some(v) = super::parse_i64(s)
    {
        // Most numbers are short integers.
        return Some(if v == 0 { Text::Zero } else { Text::Binary(v as u128, 0, false) });
    }
    let (digits, fraction, exp) = split(s, u8::is_ascii_digit, b'e')?;
    let zeros = digits.iter().take_while(|&&d| d == b'0').count();
    let mut digits = &digits[zeros..];
    let mut exp = exp - fraction;
    while let [rest @ .., b'0'] = digits {
        digits = rest;
        exp += 1;
    }
    if digits.is_empty() {
        return Some(Text::Zero);
    }
    // Beyond these the result is infinity or zero in any format.
    let magnitude = exp + digits.len() as i32;
    if magnitude > 5_000 {
        return Some(Text::Binary(1, 100_000, false));
    }
    if magnitude < -5_000 {
        return Some(Text::Binary(1, -100_000, false));
    }
    if digits.len() <= 19 && (-18..=18).contains(&exp) {
        let v = digits.iter().fold(0u64, |v, d| v * 10 + (d - b'0') as u64) as u128;
        let power = 10u128.pow(exp.unsigned_abs());
        if exp >= 0 {
            return Some(Text::Binary(v * power, 0, false));
        }
        let shift = v.leading_zeros();
        let v = v << shift;
        return Some(Text::Binary(v / power, -(shift as i32), !v.is_multiple_of(power)));
    }
    let mut num = Big::from_digits(digits);
    let (v, e, sticky) = if exp >= 0 {
        num.mul_pow10(exp as u32);
        num.top()
    } else {
        let mut den = Big::from_u64(1);
        den.mul_pow10(exp.unsigned_abs());
        Big::divide(num, den)
    };
    Some(Text::Binary(v, e, sticky))
}

impl F80 {
    /// Zero.
    pub const ZERO: F80 = F80 { negative: false, infinite: false, exp: 0, mant: 0 };

    /// The largest number.
    pub const MAX: F80 = F80 { negative: false, infinite: false, exp: EXTENDED.max_exp, mant: u64::MAX };

    /// The order of the values; zeros of both signs are equal.
    pub fn order(self, other: F80) -> Ordering {
        // Infinities are beyond every exponent, zero is below.
        let key = |f: F80| {
            let exp = if f.infinite {
                i32::MAX
            } else if f.mant == 0 {
                i32::MIN
            } else {
                f.exp
            };
            (exp, f.mant)
        };
        let sign = |f: F80| {
            if !f.infinite && f.mant == 0 {
                0
            } else if f.negative {
                -1
            } else {
                1
            }
        };
        sign(self).cmp(&sign(other)).then_with(|| {
            let order = key(self).cmp(&key(other));
            if self.negative && sign(self) != 0 { order.reverse() } else { order }
        })
    }

    fn infinity(negative: bool) -> F80 {
        F80 { negative, infinite: true, ..F80::ZERO }
    }

    /// Rounds; overflow gives infinity.
    fn rounded(negative: bool, v: u128, exp: i32, sticky: bool) -> F80 {
        match round(&EXTENDED, v, exp, sticky) {
            None => F80::infinity(negative),
            Some((0, _)) => F80 { negative, ..F80::ZERO },
            Some((m, e)) => {
                let n = m.leading_zeros();
                F80 { negative, infinite: false, mant: m << n, exp: e - n as i32 }
            }
        }
    }

    /// Reads a text by the rules of INCRBYFLOAT: decimal, hexadecimal or infinite; no spaces, no NaN, not too large
    /// for the format, and not so small that it becomes zero.
    pub fn parse(s: &[u8]) -> Option<F80> {
        if s.is_empty() || s.len() >= MAX_TEXT {
            return None;
        }
        let (negative, text) = parse_text(s)?;
        match text {
            Text::Infinity => Some(F80::infinity(negative)),
            Text::Zero => Some(F80 { negative, ..F80::ZERO }),
            Text::Binary(v, exp, sticky) => {
                let f = F80::rounded(negative, v, exp, sticky);
                if f.infinite || f.mant == 0 { None } else { Some(f) }
            }
        }
    }

    /// The sum, rounded to nearest even. None for the sum of infinities of both signs, which is not a number.
    pub fn plus(self, other: F80) -> Option<F80> {
        if self.infinite || other.infinite {
            if self.infinite && other.infinite && self.negative != other.negative {
                return None;
            }
            return Some(if self.infinite { self } else { other });
        }
        if self.mant == 0 && other.mant == 0 {
            return Some(F80 { negative: self.negative && other.negative, ..F80::ZERO });
        }
        let (a, b) =
            if other.mant == 0 || (self.mant != 0 && (self.exp, self.mant) >= (other.exp, other.mant)) {
                (self, other)
            } else {
                (other, self)
            };
        if b.mant == 0 {
            return Some(a);
        }
        // 63 bits below the larger number's last bit, one above its first.
        let shift = a.exp - b.exp;
        let (x, y) = ((a.mant as u128) << 63, (b.mant as u128) << 63);
        let (y, cut) = if shift > 127 { (0, true) } else { (y >> shift, y & ((1u128 << shift) - 1) != 0) };
        let y = y | cut as u128;
        let sum = if a.negative == b.negative { x + y } else { x - y };
        if sum == 0 {
            return Some(F80::ZERO);
        }
        Some(F80::rounded(a.negative, sum, a.exp - 63, false))
    }

    /// False for infinities.
    pub fn is_finite(self) -> bool {
        !self.infinite
    }

    /// Appends the number with up to 17 digits after the point and without trailing zeros.
    pub fn push(self, out: &mut Vec<u8>) {
        if self.infinite {
            out.extend_from_slice(if self.negative { b"-inf" } else { b"inf" });
            return;
        }
        const SCALE: u128 = 10u128.pow(17);
        let (whole, mut fraction) = if self.exp >= 0 {
            let mut b = Big::from_u64(self.mant);
            b.shl(self.exp as usize);
            (b.into_decimal(), 0)
        } else {
            let drop = -self.exp;
            // Below 2^121, so that a larger shift leaves nothing.
            let v = self.mant as u128 * SCALE;
            let mut q = 0;
            if drop < 128 {
                q = v >> drop;
                let (rest, half) = (v & ((1 << drop) - 1), 1u128 << (drop - 1));
                if rest > half || (rest == half && q & 1 == 1) {
                    q += 1;
                }
            }
            ((q / SCALE).to_string().into_bytes(), q % SCALE)
        };
        if self.negative && (fraction != 0 || whole != b"0") {
            out.push(b'-');
        }
        out.extend_from_slice(&whole);
        if fraction != 0 {
            let mut width = 17;
            while fraction % 10 == 0 {
                fraction /= 10;
                width -= 1;
            }
            out.extend_from_slice(format!(".{fraction:0width$}").as_bytes());
        }
    }
}

impl std::ops::Neg for F80 {
    type Output = F80;
    fn neg(self) -> F80 {
        F80 { negative: !self.negative, ..self }
    }
}

impl From<i64> for F80 {
    fn from(v: i64) -> Self {
        F80::rounded(v < 0, v.unsigned_abs() as u128, 0, false)
    }
}

impl From<f64> for F80 {
    /// NaN becomes zero: no caller has one.
    fn from(v: f64) -> Self {
        if v.is_infinite() {
            return F80::infinity(v < 0.0);
        }
        if v.is_nan() {
            return F80::ZERO;
        }
        let bits = v.to_bits();
        let (m, e) = (bits & ((1 << 52) - 1), (bits >> 52) as i32 & 0x7FF);
        let (m, e) = if e == 0 { (m, -1074) } else { (m | 1 << 52, e - 1075) };
        F80::rounded(v.is_sign_negative(), m as u128, e, false)
    }
}

/// Why two texts have no sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatError {
    /// A text is not a number: Redis says "value is not a valid float".
    Invalid,
    /// The sum is infinite or not a number: Redis says "increment would produce NaN or Infinity".
    NotFinite,
}

/// The sum of two numbers as text, as INCRBYFLOAT computes and prints it.
///
/// # Errors
/// [`FloatError`], with the two messages of Redis.
pub fn add_float_str(a: &[u8], b: &[u8]) -> Result<Vec<u8>, FloatError> {
    let a = F80::parse(a).ok_or(FloatError::Invalid)?;
    let b = F80::parse(b).ok_or(FloatError::Invalid)?;
    let sum = a.plus(b).filter(|s| s.is_finite()).ok_or(FloatError::NotFinite)?;
    let mut out = Vec::new();
    sum.push(&mut out);
    Ok(out)
}

/// Rounds a text's value to a double: the value, and whether it was out of range.
fn to_f64(negative: bool, text: Text) -> (f64, bool) {
    let (v, out_of_range) = match text {
        Text::Infinity => (f64::INFINITY, false),
        Text::Zero => (0.0, false),
        Text::Binary(v, exp, sticky) => match round(&DOUBLE, v, exp, sticky) {
            None => (f64::INFINITY, true),
            Some((0, _)) => (0.0, true),
            Some((m, e)) => {
                let n = (m.leading_zeros() as i32 - 11).min(e + 1074).max(0);
                let (m, e) = (m << n, e - n);
                let biased = if m >> 52 == 0 { 0 } else { (e + 1075) as u64 };
                (f64::from_bits((m & ((1 << 52) - 1)) | biased << 52), false)
            }
        },
    };
    (if negative { -v } else { v }, out_of_range)
}

/// Reads a double by the rules of scores: decimal, hexadecimal or infinite; no spaces, no NaN, not out of range.
pub fn parse_f64(s: &[u8]) -> Option<f64> {
    if let Some(v) = super::parse_i64(s) {
        return Some(v as f64);
    }
    if s.iter().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E')) {
        // The standard library reads decimals exactly and fast, with the same grammar.
        let v: f64 = std::str::from_utf8(s).ok()?.parse().ok()?;
        let digits = s.split(|b| b | 0x20 == b'e').next()?;
        let nonzero = digits.iter().any(|b| matches!(b, b'1'..=b'9'));
        return if v.is_infinite() || (v == 0.0 && nonzero) { None } else { Some(v) };
    }
    let (negative, text) = parse_text(s)?;
    let (v, out_of_range) = to_f64(negative, text);
    if out_of_range { None } else { Some(v) }
}

/// Reads a double as loosely as C's `strtod` does, as Redis does for ends of score ranges: spaces may come first, out
/// of range gives infinity or zero, and nothing at all is zero. None for NaN and for bytes that are left over.
pub fn parse_f64_loose(s: &[u8]) -> Option<f64> {
    let spaces = s.iter().take_while(|b| matches!(b, b' ' | b'\t'..=b'\r')).count();
    if s.is_empty() {
        return Some(0.0);
    }
    let (negative, text) = parse_text(&s[spaces..])?;
    Some(to_f64(negative, text).0)
}

#[cfg(test)]
#[path = "float_tests.rs"]
mod tests;
