//! Text as numbers, accepting what glibc's `strtod` and `strtoul` accept: Lua 5.1 leaves the syntax of numbers to
//! them, so `inf`, `nan(x)`, hexadecimal fractions and the like are numbers to a script.

/// Powers of ten that a double holds exactly.
const EXACT_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Integers up to here are exact doubles.
const EXACT_INT: u64 = 1 << 53;

/// Exponents beyond this give 0 or infinity whatever the digits of a string of possible length are.
const EXP_CAP: i64 = 1 << 40;

/// C's `isspace` in the C locale.
#[inline]
pub fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

/// `s` as a number by Lua's rules: blanks around it are allowed, and since C strings end at a zero byte, so does the
/// number's text. `None` when it is not a number.
#[inline]
pub fn str_to_number(s: &[u8]) -> Option<f64> {
    if let Some(n) = small_integer(s) {
        return Some(n);
    }
    let (n, used) = strtod(s)?;
    ends_here(s, used).then_some(n)
}

/// One to fifteen plain digits: the usual case, and always exact.
#[inline]
fn small_integer(s: &[u8]) -> Option<f64> {
    if s.is_empty() || s.len() > 15 {
        return None;
    }
    let mut n = 0u64;
    for b in s {
        if !b.is_ascii_digit() {
            return None;
        }
        n = n * 10 + u64::from(b - b'0');
    }
    Some(n as f64)
}

fn ends_here(s: &[u8], used: usize) -> bool {
    for b in &s[used..] {
        match *b {
            0 => return true,
            b if is_space(b) => {}
            _ => return false,
        }
    }
    true
}

/// `tonumber(s, base)` for a base of 2 to 36: C's `strtoul` and nothing behind the number but blanks. Too large
/// numbers are the largest `unsigned long`, a minus sign wraps.
pub fn str_to_number_base(s: &[u8], base: u32) -> Option<f64> {
    let (n, used) = strtoul(s, base)?;
    ends_here(s, used).then_some(n as f64)
}

/// C's `strtoul`: the number and how many bytes were read; `None` when there is no digit.
pub fn strtoul(s: &[u8], base: u32) -> Option<(u64, usize)> {
    let mut at = s.iter().take_while(|b| is_space(**b)).count();
    let negative = sign(s, &mut at);
    if base == 16 && s.get(at) == Some(&b'0') && matches!(s.get(at + 1), Some(b'x' | b'X')) {
        if s.get(at + 2).is_some_and(u8::is_ascii_hexdigit) {
            at += 2;
        } else {
            return Some((0, at + 1));
        }
    }
    let start = at;
    let (mut n, mut overflow) = (0u64, false);
    while let Some(d) = s.get(at).and_then(|b| char::from(*b).to_digit(base)) {
        match n.checked_mul(u64::from(base)).and_then(|n| n.checked_add(u64::from(d))) {
            Some(next) => n = next,
            None => overflow = true,
        }
        at += 1;
    }
    if at == start {
        return None;
    }
    let n = match (overflow, negative) {
        (true, _) => u64::MAX,
        (false, true) => n.wrapping_neg(),
        (false, false) => n,
    };
    Some((n, at))
}

/// Reads an optional sign; true for minus.
fn sign(s: &[u8], at: &mut usize) -> bool {
    match s.get(*at) {
        Some(b'-') => {
            *at += 1;
            true
        }
        Some(b'+') => {
            *at += 1;
            false
        }
        _ => false,
    }
}

/// C's `strtod` in the C locale, correctly rounded: the number and how many bytes were read (with blanks in front);
/// `None` when no number starts here.
pub fn strtod(s: &[u8]) -> Option<(f64, usize)> {
    let mut at = s.iter().take_while(|b| is_space(**b)).count();
    let negative = sign(s, &mut at);
    let (n, used) = match s.get(at)? {
        b'0' if matches!(s.get(at + 1), Some(b'x' | b'X')) => hexadecimal(&s[at..]),
        b'0'..=b'9' | b'.' => decimal(&s[at..])?,
        b'i' | b'I' => infinity(&s[at..])?,
        b'n' | b'N' => not_a_number(&s[at..])?,
        _ => return None,
    };
    Some((if negative { -n } else { n }, at + used))
}

fn starts_with(s: &[u8], word: &[u8]) -> bool {
    s.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
}

fn infinity(s: &[u8]) -> Option<(f64, usize)> {
    if starts_with(s, b"infinity") {
        Some((f64::INFINITY, 8))
    } else {
        starts_with(s, b"inf").then_some((f64::INFINITY, 3))
    }
}

fn not_a_number(s: &[u8]) -> Option<(f64, usize)> {
    if !starts_with(s, b"nan") {
        return None;
    }
    let nan = f64::NAN.copysign(1.0);
    if s.get(3) == Some(&b'(') {
        let word = s[4..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        if s.get(4 + word) == Some(&b')') {
            return Some((nan, 5 + word));
        }
    }
    Some((nan, 3))
}

/// A decimal number without sign: digits, at most one point, an exponent if it has digits.
fn decimal(s: &[u8]) -> Option<(f64, usize)> {
    let whole = s.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = whole;
    let mut fraction = 0;
    if s.get(at) == Some(&b'.') {
        fraction = s[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        at += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    let mantissa_end = at;
    let mut exp = 0i64;
    if matches!(s.get(at), Some(b'e' | b'E'))
        && let Some((e, used)) = exponent(&s[at + 1..])
    {
        exp = e;
        at += 1 + used;
    }
    if whole + fraction <= 19
        && let Some(n) = exact(&s[..mantissa_end], exp - fraction as i64)
    {
        return Some((n, at));
    }
    // The standard library's parser rounds correctly. Its exponent is made of few digits, since ours may be long.
    if exp == 0 || at - mantissa_end < 12 {
        let text = std::str::from_utf8(&s[..at]).ok()?;
        return Some((text.parse().ok()?, at));
    }
    let digits = std::str::from_utf8(&s[..mantissa_end]).ok()?;
    Some((format!("{digits}e{exp}").parse().ok()?, at))
}

/// Few digits and a small power of ten: one multiplication or division of exact doubles rounds correctly.
#[inline]
fn exact(digits: &[u8], exp: i64) -> Option<f64> {
    let mut m = 0u64;
    for b in digits {
        if *b != b'.' {
            m = m.checked_mul(10)?.checked_add(u64::from(b - b'0'))?;
        }
    }
    if m == 0 {
        return Some(0.0);
    }
    if m > EXACT_INT || exp.unsigned_abs() > 22 {
        return None;
    }
    let power = EXACT_TEN[exp.unsigned_abs() as usize];
    Some(if exp < 0 { m as f64 / power } else { m as f64 * power })
}

/// Digits of an exponent with their sign; `None` when there are no digits.
fn exponent(s: &[u8]) -> Option<(i64, usize)> {
    let mut at = 0;
    let negative = sign(s, &mut at);
    let start = at;
    let mut e = 0i64;
    while let Some(d) = s.get(at).filter(|b| b.is_ascii_digit()) {
        e = (e * 10 + i64::from(d - b'0')).min(EXP_CAP);
        at += 1;
    }
    (at > start).then_some((if negative { -e } else { e }, at))
}

/// A number that starts with `0x`. When no hexadecimal digit follows, only the `0` is a number.
fn hexadecimal(s: &[u8]) -> (f64, usize) {
    let (mut m, mut sticky, mut exp) = (0u64, false, 0i64);
    let (mut at, mut digits, mut point) = (2, 0usize, false);
    loop {
        match s.get(at) {
            Some(b'.') if !point => point = true,
            Some(b) => match char::from(*b).to_digit(16) {
                Some(d) => {
                    digits += 1;
                    if m >> 60 == 0 {
                        m = m << 4 | u64::from(d);
                        exp -= if point { 4 } else { 0 };
                    } else {
                        sticky |= d != 0;
                        exp += if point { 0 } else { 4 };
                    }
                }
                None => break,
            },
            None => break,
        }
        at += 1;
    }
    if digits == 0 {
        return (0.0, 1);
    }
    if matches!(s.get(at), Some(b'p' | b'P'))
        && let Some((e, used)) = exponent(&s[at + 1..])
    {
        exp = exp.saturating_add(e);
        at += 1 + used;
    }
    (scaled(m, sticky, exp), at)
}

/// `m * 2^exp`, to nearest and ties to even; `sticky` says that bits below `m` were set.
fn scaled(m: u64, sticky: bool, exp: i64) -> f64 {
    if m == 0 {
        return 0.0;
    }
    let shift = m.leading_zeros();
    let m = m << shift;
    // Value of the top bit of `m`.
    let top = exp.saturating_add(63 - i64::from(shift));
    if top > 1023 {
        return f64::INFINITY;
    }
    if top < -1075 {
        return 0.0;
    }
    // 53 bits stay for normal numbers, fewer below 2^-1022.
    let keep = if top >= -1022 { 53 } else { (top + 1075) as u32 };
    let drop = 64 - keep;
    let (mut kept, rest, half) =
        if drop == 64 { (0, m, 1u64 << 63) } else { (m >> drop, m & ((1 << drop) - 1), 1u64 << (drop - 1)) };
    if rest > half || (rest == half && (sticky || kept & 1 == 1)) {
        kept += 1;
    }
    // The bits of a double carry over into the exponent by themselves when rounding overflows the mantissa.
    let biased = if top >= -1022 { (top + 1022) as u64 } else { 0 };
    f64::from_bits((biased << 52) + kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn num(s: &str) -> Option<f64> {
        str_to_number(s.as_bytes())
    }

    #[test]
    fn decimal_numbers() {
        for (s, want) in [
            ("0", 0.0),
            ("10", 10.0),
            (" 10 ", 10.0),
            ("\t\n\x0b\x0c\r10\n", 10.0),
            ("+5", 5.0),
            ("-5", -5.0),
            ("007", 7.0),
            ("1.5", 1.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("5.e1", 50.0),
            ("1e5", 1e5),
            ("1E+5", 1e5),
            ("1e-5", 1e-5),
            ("1e22", 1e22),
            ("1e23", 1e23),
            ("9007199254740993", 9_007_199_254_740_992.0),
            ("9007199254740993.0000000000000000001", 9_007_199_254_740_994.0),
            ("0.1", 0.1),
            ("123456789012345678901234567890", 123_456_789_012_345_678_901_234_567_890.0),
            ("1e400", f64::INFINITY),
            ("-1e400", f64::NEG_INFINITY),
            ("1e-400", 0.0),
            ("4.9e-324", 5e-324),
            ("2.4703282292062327e-324", 0.0),
            ("2.4703282292062328e-324", 5e-324),
            ("2.2250738585072011e-308", 2.225073858507201e-308),
            ("0e99999999999999999999", 0.0),
            ("1e99999999999999999999", f64::INFINITY),
            ("1e-99999999999999999999", 0.0),
            ("1e0000000000000000000000000000000005", 1e5),
            ("0.000000000000000000000000000000001e33", 1.0),
        ] {
            assert_eq!(num(s), Some(want), "{s:?}");
        }
        assert!(num("-0").unwrap().is_sign_negative());
        let long = format!("{}e-50", "1".repeat(51));
        assert_eq!(num(&long), Some(1.111_111_111_111_111_2));
    }

    #[test]
    fn what_is_no_number() {
        for s in [
            "", " ", "+", "-", ".", "e5", "1e", "1e+", "1e5.5", "0x", "0xg", "0x.", "0x.p1", "0x1p", "0x1p+",
            "1LL", "1i", "0b101", "1_000", "1 2", "--1", "+-1", "- 1", "1,5", "in", "infi", "infinit", "na",
            "nan(", "nan(a-b)", "nan()x", "0x1.8.", "1..2", "00x10", "1x10", "infx", "ä",
        ] {
            assert_eq!(num(s), None, "{s:?}");
        }
    }

    #[test]
    fn a_zero_byte_ends_the_text() {
        assert_eq!(num("10\0abc"), Some(10.0));
        assert_eq!(num("1.5 \0x"), Some(1.5));
        assert_eq!(num("\0"), None);
        assert_eq!(num("0x10\0"), Some(16.0));
    }

    #[test]
    fn infinities_and_nans() {
        for s in ["inf", "INF", "Infinity", "infinity", "+inf", " inf "] {
            assert_eq!(num(s), Some(f64::INFINITY), "{s:?}");
        }
        assert_eq!(num("-inf"), Some(f64::NEG_INFINITY));
        for s in ["nan", "NaN", "nan(123)", "nan()", "+nan", "nan(a_1)"] {
            let n = num(s).unwrap();
            assert!(n.is_nan() && n.is_sign_positive(), "{s:?}");
        }
        assert!(num("-nan").unwrap().is_sign_negative());
    }

    #[test]
    fn hexadecimal_numbers() {
        for (s, want) in [
            ("0x10", 16.0),
            ("0XfF", 255.0),
            ("-0x10", -16.0),
            ("0x1p4", 16.0),
            ("0x1P-4", 0.0625),
            ("0x.8", 0.5),
            ("0x1.8", 1.5),
            ("0x8.", 8.0),
            ("0xFFFFFFFFFFFFFFFF", 18_446_744_073_709_551_615.0),
            ("0x1FFFFFFFFFFFFFFFFFFFFF", 38_685_626_227_668_133_590_597_631.0),
            ("0x20000000000001", 9_007_199_254_740_992.0),
            ("0x20000000000003", 9_007_199_254_740_996.0),
            ("0x2000000000000100000000000000000000000p-92", 9_007_199_254_740_992.0),
            ("0x2000000000000100000000000000000000001p-92", 9_007_199_254_740_994.0),
            ("0x1p1023", 8.98846567431158e307),
            ("0x1p1024", f64::INFINITY),
            ("0x1.fffffffffffff8p1023", f64::INFINITY),
            ("0x1.fffffffffffff7p1023", f64::MAX),
            ("0x1p-1074", 5e-324),
            ("0x1p-1075", 0.0),
            ("0x1.8p-1075", 5e-324),
            ("0x1.0000000000000000001p-1075", 5e-324),
            ("0x1p-1022", f64::MIN_POSITIVE),
            ("0x0.fffffffffffff8p-1022", f64::MIN_POSITIVE),
            ("0x1p99999999999999999999", f64::INFINITY),
            ("0x1p-99999999999999999999", 0.0),
            ("0x0p99999999999999999999", 0.0),
            ("0x00000000000000000000000000000001", 1.0),
            ("0x0.00000000000000000000000000000001p128", 1.0),
        ] {
            assert_eq!(num(s), Some(want), "{s:?}");
        }
    }

    #[test]
    fn bases() {
        for (s, base, want) in [
            ("101", 2, Some(5.0)),
            ("zZ", 36, Some(1295.0)),
            (" ff ", 16, Some(255.0)),
            ("0xff", 16, Some(255.0)),
            ("-0xff", 16, Some(18_446_744_073_709_551_361.0)),
            ("0x", 16, None),
            ("8", 8, None),
            ("77", 8, Some(63.0)),
            ("-1", 10, Some(18_446_744_073_709_551_615.0)),
            ("99999999999999999999999", 10, Some(18_446_744_073_709_551_615.0)),
            ("-99999999999999999999999", 10, Some(18_446_744_073_709_551_615.0)),
            ("1.5", 10, None),
            ("", 10, None),
            ("1e1", 16, Some(481.0)),
            ("10\0z", 2, Some(2.0)),
        ] {
            assert_eq!(str_to_number_base(s.as_bytes(), base), want, "{s:?} in base {base}");
        }
    }

    #[test]
    fn reads_back_what_it_printed() {
        let mut state = 0x2545_f491_4f6c_dd1du64;
        for _ in 0..50_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let n = f64::from_bits(state);
            if n.is_finite() {
                assert_eq!(num(&format!("{n:e}")), Some(n));
                assert_eq!(num(&format!("{n}")), Some(n));
            }
            let m = (state >> 20) as f64 / 1000.0;
            assert_eq!(num(&format!("{m}")), Some(m));
        }
    }

    #[test]
    fn strtod_says_how_much_it_read() {
        assert_eq!(strtod(b"12abc"), Some((12.0, 2)));
        assert_eq!(strtod(b"1e+"), Some((1.0, 1)));
        assert_eq!(strtod(b"0xg"), Some((0.0, 1)));
        assert_eq!(strtod(b"-0x1p3]"), Some((-8.0, 6)));
        assert_eq!(strtod(b"infinit"), Some((f64::INFINITY, 3)));
        assert_eq!(strtod(b"1.5.5"), Some((1.5, 3)));
        assert_eq!(strtod(b"-"), None);
    }
}
