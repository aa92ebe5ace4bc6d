//! Numbers as text, byte for byte as glibc's `printf` writes them.
//!
//! Lua 5.1 prints a number with `%.14g`, and `string.format` hands its directives to `sprintf`. Both are done here
//! without C: integers take a short path, everything else goes through exact decimal digits.

use std::fmt::Write as _;

/// Significant digits of `tostring(number)`: Lua's `LUAI_NUMFFORMAT` is `%.14g`.
const TOSTRING_DIGITS: usize = 14;

/// Largest text of one conversion: 309 integer digits, a point and 99 decimals of `%.99f`, with room for a sign.
const MAX_TEXT: usize = 512;

/// Flags, width and precision of one `printf` directive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spec {
    /// `-`: pad on the right
    pub left: bool,
    /// `+`: a sign in front of positive numbers
    pub plus: bool,
    /// space: a blank in front of positive numbers
    pub space: bool,
    /// `#`: alternative form (`0x`, a point that stays, zeros that stay)
    pub alt: bool,
    /// `0`: pad with zeros behind the sign
    pub zero: bool,
    /// Smallest number of bytes to write
    pub width: usize,
    /// Digits or bytes behind the point, if given
    pub precision: Option<usize>,
}

/// A stack buffer for the digits of one number; what does not fit is an error, which cannot happen with precisions
/// of at most two digits.
struct Digits {
    buf: [u8; MAX_TEXT],
    len: usize,
}

impl Digits {
    fn new() -> Self {
        Digits { buf: [0; MAX_TEXT], len: 0 }
    }
    fn bytes(&self) -> &[u8] {
        &self.buf[..self.len]
    }
    fn push(&mut self, byte: u8) {
        if self.len < MAX_TEXT {
            self.buf[self.len] = byte;
            self.len += 1;
        }
    }
    fn extend(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.push(*b);
        }
    }
}

impl std::fmt::Write for Digits {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        let end = self.len + s.len();
        let room = self.buf.get_mut(self.len..end).ok_or(std::fmt::Error)?;
        room.copy_from_slice(s.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Appends `n` as `tostring` gives it (`%.14g`).
#[inline]
pub fn number_to_string(n: f64, out: &mut Vec<u8>) {
    let i = n as i64;
    // 1e14 has 15 digits and is printed with an exponent. Minus zero is `-0`, which an integer cannot say.
    if i as f64 == n && i.unsigned_abs() < 100_000_000_000_000 && (i != 0 || n.is_sign_positive()) {
        integer_to_string(i, out);
    } else {
        general_to_string(n, out);
    }
}

/// Appends a whole number in decimal.
#[inline]
pub fn integer_to_string(i: i64, out: &mut Vec<u8>) {
    let mut buf = [0u8; 20];
    let mut at = buf.len();
    let mut rest = i.unsigned_abs();
    loop {
        at -= 1;
        buf[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if i < 0 {
        at -= 1;
        buf[at] = b'-';
    }
    out.extend_from_slice(&buf[at..]);
}

#[cold]
fn special_text(n: f64, upper: bool) -> &'static [u8] {
    match (n.is_nan(), upper) {
        (true, false) => b"nan",
        (true, true) => b"NAN",
        (false, false) => b"inf",
        (false, true) => b"INF",
    }
}

/// `%.14g` of anything: by way of the shortest digits that give the number back, which are found much faster than
/// exact ones. They round to the same 14 digits, except when exactly a 5 is left over (then the exact digits decide).
fn general_to_string(n: f64, out: &mut Vec<u8>) {
    if n.is_sign_negative() {
        out.push(b'-');
    }
    if !n.is_finite() {
        out.extend_from_slice(special_text(n, false));
        return;
    }
    if n == 0.0 {
        out.push(b'0');
        return;
    }
    let mut digits = [0u8; 24];
    let (mut len, mut exp) = shortest(n.abs(), &mut digits);
    let tie = len == TOSTRING_DIGITS + 1 && digits[TOSTRING_DIGITS] == b'5';
    // Denormal numbers have fewer true digits than are printed.
    if tie || n.abs() < f64::MIN_POSITIVE {
        let mut text = Digits::new();
        exp = scientific(n.abs(), TOSTRING_DIGITS - 1, &mut text);
        digits[..text.len].copy_from_slice(text.bytes());
        len = text.len;
    } else if len > TOSTRING_DIGITS {
        if digits[TOSTRING_DIGITS] >= b'5' {
            exp += round_up(&mut digits[..TOSTRING_DIGITS]);
        }
        len = TOSTRING_DIGITS;
    }
    while len > 1 && digits[len - 1] == b'0' {
        len -= 1;
    }
    write_general(&digits[..len], exp, TOSTRING_DIGITS, b'e', out);
}

/// Adds one to a decimal number; the result is 1 when it grew by a digit (then it is 1000…).
fn round_up(digits: &mut [u8]) -> i32 {
    for d in digits.iter_mut().rev() {
        if *d != b'9' {
            *d += 1;
            return 0;
        }
        *d = b'0';
    }
    digits[0] = b'1';
    1
}

/// The shortest digits that read back as `n` (positive and finite), and the decimal exponent of the first of them.
fn shortest(n: f64, digits: &mut [u8; 24]) -> (usize, i32) {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(n).as_bytes();
    let (mut len, mut exp, mut point) = (0usize, -1i32, false);
    for (i, b) in text.iter().enumerate() {
        match b {
            b'.' => point = true,
            b'e' | b'E' => {
                let (mut e, mut negative) = (0i32, false);
                for b in &text[i + 1..] {
                    match b {
                        b'-' => negative = true,
                        _ => e = e * 10 + i32::from(b - b'0'),
                    }
                }
                exp += if negative { -e } else { e };
                break;
            }
            _ => {
                if !point {
                    exp += 1;
                }
                if len == 0 && *b == b'0' {
                    // A zero in front is no digit of the number: behind the point it lowers the exponent instead.
                    exp -= 1;
                } else if len < digits.len() {
                    digits[len] = *b;
                    len += 1;
                }
            }
        }
    }
    while len > 1 && digits[len - 1] == b'0' {
        len -= 1;
    }
    (len, exp)
}

/// Exact digits of `n` (positive, finite) rounded to `decimals` + 1 of them, written without the point; gives the
/// decimal exponent of the first.
fn scientific(n: f64, decimals: usize, out: &mut Digits) -> i32 {
    let mut text = Digits::new();
    // Cannot fail: at most 1 + 1 + 99 + 5 bytes.
    let _ = write!(text, "{n:.decimals$e}");
    let bytes = text.bytes();
    let at = bytes.iter().position(|b| *b == b'e').unwrap_or(bytes.len());
    for b in &bytes[..at] {
        if *b != b'.' {
            out.push(*b);
        }
    }
    let mut exp = 0i32;
    let mut negative = false;
    for b in bytes.iter().skip(at + 1) {
        match b {
            b'-' => negative = true,
            _ => exp = exp * 10 + i32::from(b - b'0'),
        }
    }
    if negative { -exp } else { exp }
}

/// Writes digits in the style that `%g` picks: fixed while the exponent is in [-4, precision), else scientific.
fn write_general(digits: &[u8], exp: i32, precision: usize, e: u8, out: &mut Vec<u8>) {
    if exp < -4 || exp >= precision as i32 {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        let (text, len) = exponent(exp, e);
        out.extend_from_slice(&text[..len]);
    } else if exp < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-exp - 1) as usize));
        out.extend_from_slice(digits);
    } else {
        let whole = exp as usize + 1;
        if digits.len() <= whole {
            out.extend_from_slice(digits);
            out.extend(std::iter::repeat_n(b'0', whole - digits.len()));
        } else {
            out.extend_from_slice(&digits[..whole]);
            out.push(b'.');
            out.extend_from_slice(&digits[whole..]);
        }
    }
}

/// `e+05`: a sign and at least two digits.
fn exponent(exp: i32, e: u8) -> ([u8; 5], usize) {
    let sign = if exp < 0 { b'-' } else { b'+' };
    let x = exp.unsigned_abs();
    if x < 100 {
        ([e, sign, b'0' + (x / 10) as u8, b'0' + (x % 10) as u8, 0], 4)
    } else {
        ([e, sign, b'0' + (x / 100) as u8, b'0' + (x / 10 % 10) as u8, b'0' + (x % 10) as u8], 5)
    }
}

/// Puts sign or prefix, zeros and digits together and pads them to the width.
fn padded(out: &mut Vec<u8>, spec: &Spec, prefix: &[u8], body: &[u8], zeros_allowed: bool) {
    let fill = spec.width.saturating_sub(prefix.len() + body.len());
    if spec.left {
        out.extend_from_slice(prefix);
        out.extend_from_slice(body);
        out.extend(std::iter::repeat_n(b' ', fill));
    } else if spec.zero && zeros_allowed {
        out.extend_from_slice(prefix);
        out.extend(std::iter::repeat_n(b'0', fill));
        out.extend_from_slice(body);
    } else {
        out.extend(std::iter::repeat_n(b' ', fill));
        out.extend_from_slice(prefix);
        out.extend_from_slice(body);
    }
}

fn sign_of(negative: bool, spec: &Spec) -> &'static [u8] {
    match (negative, spec.plus, spec.space) {
        (true, ..) => b"-",
        (_, true, _) => b"+",
        (_, _, true) => b" ",
        _ => b"",
    }
}

/// `%d`, `%i`
pub fn format_signed(out: &mut Vec<u8>, spec: &Spec, value: i64) {
    let digits = radix_digits(value.unsigned_abs(), 10, false, spec.precision);
    padded(out, spec, sign_of(value < 0, spec), digits.bytes(), spec.precision.is_none());
}

/// `%u`, `%o`, `%x`, `%X`, by the base 10, 8 or 16 and the case of the letters.
pub fn format_unsigned(out: &mut Vec<u8>, spec: &Spec, value: u64, base: u64, upper: bool) {
    let mut digits = radix_digits(value, base, upper, spec.precision);
    let mut prefix: &[u8] = b"";
    if spec.alt && base == 16 && value != 0 {
        prefix = if upper { b"0X" } else { b"0x" };
    } else if spec.alt && base == 8 && digits.bytes().first() != Some(&b'0') {
        // `#` makes the first octal digit a zero, by one digit more where it is none.
        let plain = digits;
        digits = Digits::new();
        digits.push(b'0');
        digits.extend(plain.bytes());
    }
    padded(out, spec, prefix, digits.bytes(), spec.precision.is_none());
}

/// Digits of an integer, with zeros in front up to the precision; a zero with precision 0 has none.
fn radix_digits(value: u64, base: u64, upper: bool, precision: Option<usize>) -> Digits {
    let alphabet: &[u8; 16] = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let mut reversed = [0u8; 24];
    let (mut len, mut rest) = (0, value);
    while rest > 0 {
        reversed[len] = alphabet[(rest % base) as usize];
        rest /= base;
        len += 1;
    }
    let mut digits = Digits::new();
    for _ in len..precision.unwrap_or(1) {
        digits.push(b'0');
    }
    for b in reversed[..len].iter().rev() {
        digits.push(*b);
    }
    digits
}

/// `%e`, `%E`, `%f`, `%g`, `%G`, by the letter. Precisions above 99 are cut to 99, which is all a format can ask for.
pub fn format_float(out: &mut Vec<u8>, spec: &Spec, value: f64, conversion: u8) {
    let sign = sign_of(value.is_sign_negative(), spec);
    let upper = conversion.is_ascii_uppercase();
    if !value.is_finite() {
        padded(out, spec, sign, special_text(value, upper), false);
        return;
    }
    let n = value.abs();
    let precision = spec.precision.unwrap_or(6).min(99);
    let mut body = Digits::new();
    match conversion | 0x20 {
        b'f' => {
            // Cannot fail: at most 309 + 1 + 99 bytes.
            let _ = write!(body, "{n:.precision$}");
            if spec.alt && precision == 0 {
                body.push(b'.');
            }
        }
        b'e' => {
            let mut digits = Digits::new();
            let exp = scientific(n, precision, &mut digits);
            write_scientific(&mut body, digits.bytes(), exp, conversion, spec.alt);
        }
        _ => general_float(&mut body, n, precision.max(1), conversion, spec.alt),
    }
    padded(out, spec, sign, body.bytes(), true);
}

fn write_scientific(body: &mut Digits, digits: &[u8], exp: i32, e: u8, keep_point: bool) {
    body.extend(&digits[..1]);
    if digits.len() > 1 || keep_point {
        body.push(b'.');
    }
    body.extend(&digits[1..]);
    let (text, len) = exponent(exp, e);
    body.extend(&text[..len]);
}

fn general_float(body: &mut Digits, n: f64, precision: usize, conversion: u8, alt: bool) {
    let mut digits = Digits::new();
    let exp = scientific(n, precision - 1, &mut digits);
    if !alt {
        while digits.len > 1 && digits.buf[digits.len - 1] == b'0' {
            digits.len -= 1;
        }
    }
    // 'g' and 'G' become 'e' and 'E'.
    let e = conversion - 2;
    if exp < -4 || exp >= precision as i32 {
        write_scientific(body, digits.bytes(), exp, e, alt);
        return;
    }
    let digits = digits.bytes();
    if exp < 0 {
        body.extend(b"0.");
        for _ in 0..(-exp - 1) {
            body.push(b'0');
        }
        body.extend(digits);
        return;
    }
    let whole = exp as usize + 1;
    for i in 0..whole {
        body.push(digits.get(i).copied().unwrap_or(b'0'));
    }
    if digits.len() > whole || alt {
        body.push(b'.');
        body.extend(digits.get(whole..).unwrap_or_default());
    }
}

/// `%s` and `%c`: bytes cut to the precision and padded with blanks, whatever the `0` flag says.
pub fn format_bytes(out: &mut Vec<u8>, spec: &Spec, bytes: &[u8]) {
    let cut = bytes.len().min(spec.precision.unwrap_or(usize::MAX));
    padded(out, spec, b"", &bytes[..cut], false);
}

/// A double as a C `long long`: cut towards zero, and what does not fit is the smallest one, as x86-64 converts.
#[inline]
pub fn to_i64(n: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&n) { n as i64 } else { i64::MIN }
}

/// A double as a C `int`: cut towards zero, and what does not fit is the smallest one, as x86-64 converts.
#[inline]
pub fn to_i32(n: f64) -> i32 {
    if n > -2_147_483_649.0 && n < 2_147_483_648.0 { n as i32 } else { i32::MIN }
}

/// A double as a C `unsigned long long`, as compilers for x86-64 convert it: negative numbers wrap.
#[inline]
pub fn to_u64(n: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if n >= HALF { (to_i64(n - HALF) as u64) ^ (1 << 63) } else { to_i64(n) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(n: f64) -> String {
        let mut out = Vec::new();
        number_to_string(n, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn float(directive: &str, n: f64) -> String {
        let mut out = Vec::new();
        let (spec, conversion) = parse(directive);
        format_float(&mut out, &spec, n, conversion);
        String::from_utf8(out).unwrap()
    }

    fn int(directive: &str, n: i64) -> String {
        let mut out = Vec::new();
        match parse(directive) {
            (spec, b'd') => format_signed(&mut out, &spec, n),
            (spec, b'u') => format_unsigned(&mut out, &spec, n as u64, 10, false),
            (spec, b'o') => format_unsigned(&mut out, &spec, n as u64, 8, false),
            (spec, b'x') => format_unsigned(&mut out, &spec, n as u64, 16, false),
            (spec, _) => format_unsigned(&mut out, &spec, n as u64, 16, true),
        }
        String::from_utf8(out).unwrap()
    }

    fn parse(directive: &str) -> (Spec, u8) {
        let mut spec = Spec::default();
        let mut behind_point = false;
        for c in directive.bytes().skip(1) {
            match c {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alt = true,
                b'0' if spec.width == 0 && !behind_point => spec.zero = true,
                b'.' => {
                    behind_point = true;
                    spec.precision = Some(0);
                }
                b'0'..=b'9' if behind_point => {
                    spec.precision = spec.precision.map(|p| p * 10 + usize::from(c - b'0'));
                }
                b'0'..=b'9' => spec.width = spec.width * 10 + usize::from(c - b'0'),
                _ => return (spec, c),
            }
        }
        panic!("no conversion in {directive}")
    }

    #[test]
    fn tostring_of_integers_and_bounds() {
        for (n, want) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-17.0, "-17"),
            (99_999_999_999_999.0, "99999999999999"),
            (-99_999_999_999_999.0, "-99999999999999"),
            (1e14, "1e+14"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "1.2345678901234e+14"),
            (123_456_789_012_355.0, "1.2345678901236e+14"),
            (9_007_199_254_740_992.0, "9.007199254741e+15"),
            (9_223_372_036_854_775_808.0, "9.2233720368548e+18"),
            (1e100, "1e+100"),
            (1.7976931348623157e308, "1.7976931348623e+308"),
            (5e-324, "4.9406564584125e-324"),
            (2.2250738585072014e-308, "2.2250738585072e-308"),
        ] {
            assert_eq!(text(n), want);
        }
    }

    #[test]
    fn tostring_of_fractions() {
        for (n, want) in [
            (0.1 + 0.2, "0.3"),
            (0.1, "0.1"),
            (1.5, "1.5"),
            (1.0 / 3.0, "0.33333333333333"),
            (2.0 / 3.0, "0.66666666666667"),
            (std::f64::consts::PI, "3.1415926535898"),
            (1e-5, "1e-05"),
            (1e-4, "0.0001"),
            (0.00012345, "0.00012345"),
            (1.23e-7, "1.23e-07"),
            (0.999_999_999_999_999_9, "1"),
            (9.9999999999999995, "10"),
            (99999999999999.5, "1e+14"),
            (99999999999998.5, "99999999999998"),
            (99999999999997.5, "99999999999998"),
            (12345678.12345678, "12345678.123457"),
            (0.000_099_999_999_999_999_9, "0.0001"),
            (1e-10, "1e-10"),
            (123456.789e3, "123456789"),
        ] {
            assert_eq!(text(n), want, "{n:e}");
        }
    }

    #[test]
    fn tostring_of_infinities_and_nans() {
        assert_eq!(text(f64::INFINITY), "inf");
        assert_eq!(text(f64::NEG_INFINITY), "-inf");
        assert_eq!(text(f64::NAN.copysign(1.0)), "nan");
        assert_eq!(text(f64::NAN.copysign(-1.0)), "-nan");
    }

    #[test]
    fn shortest_digits_round_as_exact_ones() {
        // Walks doubles of all sizes, and the neighbours of 15-digit numbers that end in 5, where rounding is decided.
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for round in 0..60_000 {
            let n = match round % 3 {
                0 => f64::from_bits(next()),
                1 => (next() % 1_000_000_000_000_000) as f64 / 10f64.powi((next() % 20) as i32),
                _ => {
                    let tie =
                        ((next() % 100_000_000_000_000) * 10 + 5) as f64 / 10f64.powi((next() % 30) as i32);
                    f64::from_bits(tie.to_bits().wrapping_add(next() % 3).wrapping_sub(1))
                }
            };
            let exact = float("%.14g", n);
            assert_eq!(text(n), exact, "{n:e} ({:#x})", n.to_bits());
        }
    }

    #[test]
    fn integers_with_flags() {
        for (directive, n, want) in [
            ("%d", 42, "42"),
            ("%5d", 42, "   42"),
            ("%-5d", 42, "42   "),
            ("%+d", 42, "+42"),
            ("%05d", 42, "00042"),
            ("%05d", -42, "-0042"),
            ("%-05d", 42, "42   "),
            ("% d", 42, " 42"),
            ("%+ d", 42, "+42"),
            ("%.5d", 42, "00042"),
            ("%08.5d", 42, "   00042"),
            ("%.0d", 0, ""),
            ("%+.0d", 0, "+"),
            ("%d", i64::MIN, "-9223372036854775808"),
            ("%u", -1, "18446744073709551615"),
            ("%+u", 1, "1"),
            ("%x", 255, "ff"),
            ("%X", 255, "FF"),
            ("%#x", 255, "0xff"),
            ("%#X", 255, "0XFF"),
            ("%#x", 0, "0"),
            ("%#08x", 255, "0x0000ff"),
            ("%#8x", 255, "    0xff"),
            ("%#.5x", 255, "0x000ff"),
            ("%o", 8, "10"),
            ("%#o", 8, "010"),
            ("%#o", 0, "0"),
            ("%#.0o", 0, "0"),
            ("%#.3o", 8, "010"),
            ("%#05o", 8, "00010"),
            ("%.0x", 0, ""),
            ("%99d", 1, &format!("{:>99}", 1)),
        ] {
            assert_eq!(int(directive, n), want, "{directive}");
        }
    }

    #[test]
    fn floats_with_flags() {
        for (directive, n, want) in [
            ("%f", 0.1, "0.100000"),
            ("%.20f", 0.1, "0.10000000000000000555"),
            ("%.0f", 0.5, "0"),
            ("%.0f", 1.5, "2"),
            ("%.0f", 2.5, "2"),
            ("%#.0f", 2.5, "2."),
            ("%.1f", 0.25, "0.2"),
            ("%.1f", 0.75, "0.8"),
            ("%.2f", 1.005, "1.00"),
            ("%8.3f", -1.0, "  -1.000"),
            ("%08.3f", -1.0, "-001.000"),
            ("%+.1f", 1.0, "+1.0"),
            ("%e", 0.0, "0.000000e+00"),
            ("%e", 12345.678, "1.234568e+04"),
            ("%.0e", 15.0, "2e+01"),
            ("%.0e", 25.0, "2e+01"),
            ("%#.0e", 15.0, "2.e+01"),
            ("%E", 1e-300, "1.000000E-300"),
            ("%.3e", 9.9995, "9.999e+00"),
            ("%g", 100000.0, "100000"),
            ("%g", 1e6, "1e+06"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%#g", 1.0, "1.00000"),
            ("%#g", 1e10, "1.00000e+10"),
            ("%#.1g", 1.0, "1."),
            ("%.0g", 123.0, "1e+02"),
            ("%.3g", 999.6, "1e+03"),
            ("%G", 1e-10, "1E-10"),
            ("%g", -0.0, "-0"),
            ("%f", f64::INFINITY, "inf"),
            ("%05f", f64::NEG_INFINITY, " -inf"),
            ("%+G", f64::INFINITY, "+INF"),
            ("%-6f|", f64::INFINITY, "inf   "),
            ("%.14g", 1e15, "1e+15"),
        ] {
            assert_eq!(float(directive, n), want, "{directive} of {n}");
        }
        assert_eq!(float("%.99f", -1.7976931348623157e308).len(), 1 + 309 + 1 + 99);
        assert_eq!(float("%.99f", 5e-324).len(), 101);
        assert_eq!(
            float("%.99e", 5e-324),
            "4.940656458412465441765687928682213723650598026143247644255856825006755072702087518652998363616359924e-324"
        );
    }

    #[test]
    fn bytes_are_cut_and_padded() {
        let mut out = Vec::new();
        format_bytes(&mut out, &parse("%8.3s").0, b"abcdef");
        format_bytes(&mut out, &parse("%-4s").0, b"x");
        format_bytes(&mut out, &parse("%05s").0, b"y");
        format_bytes(&mut out, &parse("%.s").0, b"z");
        assert_eq!(out, b"     abcx       y");
    }

    #[test]
    fn conversions_as_the_processor_does() {
        assert_eq!(to_i64(-3.9), -3);
        assert_eq!(to_i64(f64::NAN), i64::MIN);
        assert_eq!(to_i64(1e300), i64::MIN);
        assert_eq!(to_i64(-9_223_372_036_854_775_808.0), i64::MIN);
        assert_eq!(to_i32(2_147_483_647.9), i32::MAX);
        assert_eq!(to_i32(2_147_483_648.0), i32::MIN);
        assert_eq!(to_i32(-2_147_483_648.9), i32::MIN);
        assert_eq!(to_u64(-1.0), u64::MAX);
        assert_eq!(to_u64(9_223_372_036_854_775_808.0), 1 << 63);
        assert_eq!(to_u64(18_446_744_073_709_551_616.0), 0);
        assert_eq!(to_u64(f64::NAN), 1 << 63);
    }
}
