//! Doubles as strings, as Redis since 7.2 prints them: Grisu2, whose digits are nearly always the shortest.
//!
//! The algorithm is that of Florian Loitsch, "Printing Floating-Point Numbers Quickly and Accurately with Integers"
//! (2010). A shortest-digits printer would differ from Redis in one of some thousand doubles.

use super::push_i64;

/// Powers 10^-348, 10^-340 … 10^340, rounded to 64 bits. The binary exponents follow from the decimal ones.
#[rustfmt::skip]
static POWERS: [u64; 87] = [
    0xfa8fd5a0081c0288, 0xbaaee17fa23ebf76, 0x8b16fb203055ac76, 0xcf42894a5dce35ea, 0x9a6bb0aa55653b2d,
    0xe61acf033d1a45df, 0xab70fe17c79ac6ca, 0xff77b1fcbebcdc4f, 0xbe5691ef416bd60c, 0x8dd01fad907ffc3c,
    0xd3515c2831559a83, 0x9d71ac8fada6c9b5, 0xea9c227723ee8bcb, 0xaecc49914078536d, 0x823c12795db6ce57,
    0xc21094364dfb5637, 0x9096ea6f3848984f, 0xd77485cb25823ac7, 0xa086cfcd97bf97f4, 0xef340a98172aace5,
    0xb23867fb2a35b28e, 0x84c8d4dfd2c63f3b, 0xc5dd44271ad3cdba, 0x936b9fcebb25c996, 0xdbac6c247d62a584,
    0xa3ab66580d5fdaf6, 0xf3e2f893dec3f126, 0xb5b5ada8aaff80b8, 0x87625f056c7c4a8b, 0xc9bcff6034c13053,
    0x964e858c91ba2655, 0xdff9772470297ebd, 0xa6dfbd9fb8e5b88f, 0xf8a95fcf88747d94, 0xb94470938fa89bcf,
    0x8a08f0f8bf0f156b, 0xcdb02555653131b6, 0x993fe2c6d07b7fac, 0xe45c10c42a2b3b06, 0xaa242499697392d3,
    0xfd87b5f28300ca0e, 0xbce5086492111aeb, 0x8cbccc096f5088cc, 0xd1b71758e219652c, 0x9c40000000000000,
    0xe8d4a51000000000, 0xad78ebc5ac620000, 0x813f3978f8940984, 0xc097ce7bc90715b3, 0x8f7e32ce7bea5c70,
    0xd5d238a4abe98068, 0x9f4f2726179a2245, 0xed63a231d4c4fb27, 0xb0de65388cc8ada8, 0x83c7088e1aab65db,
    0xc45d1df942711d9a, 0x924d692ca61be758, 0xda01ee641a708dea, 0xa26da3999aef774a, 0xf209787bb47d6b85,
    0xb454e4a179dd1877, 0x865b86925b9bc5c2, 0xc83553c5c8965d3d, 0x952ab45cfa97a0b3, 0xde469fbd99a05fe3,
    0xa59bc234db398c25, 0xf6c69a72a3989f5c, 0xb7dcbf5354e9bece, 0x88fcf317f22241e2, 0xcc20ce9bd35c78a5,
    0x98165af37b2153df, 0xe2a0b5dc971f303a, 0xa8d9d1535ce3b396, 0xfb9b7cd9a4a7443c, 0xbb764c4ca7a44410,
    0x8bab8eefb6409c1a, 0xd01fef10a657842c, 0x9b10a4e5e9913129, 0xe7109bfba19c0c9d, 0xac2820d9623bf429,
    0x80444b5e7aa7cf85, 0xbf21e44003acdd2d, 0x8e679c2f5e44ff8f, 0xd433179d9c8cb841, 0x9e19db92b4e31ba9,
    0xeb96bf6ebadf77d9, 0xaf87023b9bf0ee6b,
];

const FIRST_POWER: i32 = -348;
const STEP: i32 = 8;

/// A number `frac` · 2^`exp`.
#[derive(Clone, Copy)]
struct Fp {
    frac: u64,
    exp: i32,
}

impl Fp {
    fn normalized(self) -> Fp {
        let n = self.frac.leading_zeros();
        Fp { frac: self.frac << n, exp: self.exp - n as i32 }
    }

    /// The upper half of the product, rounded half up.
    fn times(self, other: Fp) -> Fp {
        let p = self.frac as u128 * other.frac as u128;
        Fp { frac: ((p + (1 << 63)) >> 64) as u64, exp: self.exp + other.exp + 64 }
    }
}

/// A power of ten 10^k that brings a number of binary exponent `exp` into the range that digits are made in.
fn cached_power(exp: i32) -> (Fp, i32) {
    let approx = (-(exp + POWERS.len() as i32) as f64 * 0.30102999566398114) as i32;
    let mut index = (approx - FIRST_POWER) / STEP;
    loop {
        let k = FIRST_POWER + index * STEP;
        let power_exp = ((217_706 * k) >> 16) - 63;
        match exp + power_exp + 64 {
            ..-60 => index += 1,
            -31.. => index -= 1,
            _ => return (Fp { frac: POWERS[index as usize], exp: power_exp }, k),
        }
    }
}

/// Moves the last digit towards the number itself, within the interval.
fn round_digit(last: &mut u8, delta: u64, mut rest: u64, unit: u64, distance: u64) {
    while rest < distance
        && delta - rest >= unit
        && (rest.wrapping_add(unit) < distance || distance - rest > rest.wrapping_add(unit) - distance)
    {
        *last -= 1;
        rest += unit;
    }
}

/// Decimal digits and exponent of a finite, positive double.
fn grisu2(v: f64, digits: &mut [u8; 24]) -> (usize, i32) {
    let bits = v.to_bits();
    let (mantissa, biased) = (bits & ((1 << 52) - 1), (bits >> 52) as i32 & 0x7FF);
    let w = if biased == 0 {
        Fp { frac: mantissa, exp: -1074 }
    } else {
        Fp { frac: mantissa | 1 << 52, exp: biased - 1075 }
    };
    let upper = Fp { frac: (w.frac << 1) + 1, exp: w.exp - 1 }.normalized();
    // Below a power of two the next double is half as far.
    let shift = if w.frac == 1 << 52 { 2 } else { 1 };
    let lower_exp = w.exp - shift;
    let lower = Fp { frac: ((w.frac << shift) - 1) << (lower_exp - upper.exp), exp: upper.exp };

    let (power, k) = cached_power(upper.exp);
    let w = w.normalized().times(power);
    let mut upper = upper.times(power);
    let mut lower = lower.times(power);
    lower.frac += 1;
    upper.frac -= 1;
    let (n, shift) = make_digits(w, upper, lower, digits);
    (n, shift - k)
}

fn make_digits(w: Fp, upper: Fp, lower: Fp, digits: &mut [u8; 24]) -> (usize, i32) {
    let distance = upper.frac - w.frac;
    let mut delta = upper.frac - lower.frac;
    let bits = -upper.exp as u32;
    let one = 1u64 << bits;
    let mut whole = upper.frac >> bits;
    let mut part = upper.frac & (one - 1);
    let mut n = 0;
    let mut div = 1_000_000_000u64;
    for kappa in (0..10).rev() {
        let digit = whole / div;
        if digit != 0 || n > 0 {
            digits[n] = b'0' + digit as u8;
            n += 1;
        }
        whole -= digit * div;
        let rest = (whole << bits) + part;
        if rest <= delta {
            round_digit(&mut digits[n.saturating_sub(1)], delta, rest, div << bits, distance);
            return (n, kappa);
        }
        div /= 10;
    }
    let mut unit = 1u64;
    let mut kappa = 0;
    loop {
        part = part.wrapping_mul(10);
        delta = delta.wrapping_mul(10);
        unit = unit.wrapping_mul(10);
        kappa -= 1;
        let digit = part >> bits;
        if digit != 0 || n > 0 {
            digits[n] = b'0' + digit as u8;
            n += 1;
        }
        part &= one - 1;
        // Seventeen digits always suffice; the second test only keeps the loop finite whatever happens.
        if part < delta || n == digits.len() {
            round_digit(&mut digits[n.saturating_sub(1)], delta, part, one, distance.wrapping_mul(unit));
            return (n, kappa);
        }
    }
}

/// A double as text, on the stack: dereferences to its bytes.
#[derive(Clone, Copy)]
pub struct F64Text {
    buf: [u8; 48],
    len: usize,
}

impl std::ops::Deref for F64Text {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.buf[..self.len]
    }
}

impl F64Text {
    /// The number as Redis prints it in replies and in listpacks: `3`, `0.1`, `1e+21`, `inf`, `-0`, `nan`.
    pub fn new(v: f64) -> Self {
        let mut out = F64Text { buf: [0; 48], len: 0 };
        if v.is_nan() {
            out.push(b"nan");
        } else if v.is_infinite() {
            out.push(if v < 0.0 { b"-inf" } else { b"inf" });
        } else if v == 0.0 {
            out.push(if v.is_sign_negative() { b"-0" } else { b"0" });
        } else if v.abs() <= (1u64 << 62) as f64 && v as i64 as f64 == v {
            out.push(itoa::Buffer::new().format(v as i64).as_bytes());
        } else {
            if v < 0.0 {
                out.push(b"-");
            }
            let mut digits = [0; 24];
            let (n, exp) = grisu2(v.abs(), &mut digits);
            out.digits(&digits[..n], exp, v < 0.0);
        }
        out
    }

    // The longest text is sign, 18 digits, point and exponent, or 17 digits and seven zeros.
    fn push(&mut self, bytes: &[u8]) {
        self.buf[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn zeros(&mut self, n: usize) {
        self.push(&[b'0'; 24][..n.min(24)]);
    }

    /// Appends `digits` · 10^`exp` in the shortest of the usual forms.
    fn digits(&mut self, digits: &[u8], exp: i32, negative: bool) {
        let n = digits.len() as i32;
        let scientific = exp + n - 1;
        if exp >= 0 && scientific < n + 7 {
            self.push(digits);
            self.zeros(exp as usize);
        } else if exp < 0 && (exp > -7 || scientific.abs() < 4) {
            let point = n + exp;
            if point <= 0 {
                self.push(b"0.");
                self.zeros(-point as usize);
                self.push(digits);
            } else {
                self.push(&digits[..point as usize]);
                self.push(b".");
                self.push(&digits[point as usize..]);
            }
        } else {
            let digits = &digits[..digits.len().min(18 - negative as usize)];
            self.push(&digits[..1]);
            if digits.len() > 1 {
                self.push(b".");
                self.push(&digits[1..]);
            }
            self.push(if scientific < 0 { b"e-" } else { b"e+" });
            self.push(itoa::Buffer::new().format(scientific.abs()).as_bytes());
        }
    }
}

/// Appends a double as [`F64Text`] writes it.
pub fn push_f64(out: &mut Vec<u8>, v: f64) {
    out.extend_from_slice(&F64Text::new(v));
}

/// Appends a double with exactly `digits` (at most 17) digits after the point, as distances are printed: scaled to an
/// integer first, so |`v`| · 10^`digits` must be below 2^63 (beyond, the largest such number is printed).
pub fn push_fixed(out: &mut Vec<u8>, v: f64, digits: u32) {
    let digits = digits.min(17);
    let scaled = (v * 10f64.powi(digits as i32)).round_ties_even() as i64;
    if scaled < 0 {
        out.push(b'-');
    }
    let (unit, scaled) = (10u64.pow(digits), scaled.unsigned_abs());
    push_i64(out, (scaled / unit) as i64);
    if digits > 0 {
        out.push(b'.');
        out.extend_from_slice(format!("{:0width$}", scaled % unit, width = digits as usize).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_digits() {
        for (v, s) in [
            (0.0, "0.0000"),
            (166274.15156, "166274.1516"),
            (-0.77504, "-0.7750"),
            (0.00005, "0.0000"),
            (12.0, "12.0000"),
        ] {
            let mut out = Vec::new();
            push_fixed(&mut out, v, 4);
            assert_eq!(String::from_utf8(out).unwrap(), s);
        }
    }
}
