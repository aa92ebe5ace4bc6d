//! The math library, with Redis's own random numbers.

use crate::native::{Ctx, NativeFn, State};
use crate::value::{LuaError, TableId, Value};

type R = Result<usize, LuaError>;

/// In the order in which Lua registers them.
pub(crate) const FUNCS: &[(&str, NativeFn)] = &[
    ("abs", |c| unary(c, f64::abs)),
    ("acos", |c| unary(c, f64::acos)),
    ("asin", |c| unary(c, f64::asin)),
    ("atan2", |c| binary(c, f64::atan2)),
    ("atan", |c| unary(c, f64::atan)),
    ("ceil", |c| unary(c, f64::ceil)),
    ("cosh", |c| unary(c, f64::cosh)),
    ("cos", |c| unary(c, f64::cos)),
    ("deg", |c| unary(c, |n| n / (std::f64::consts::PI / 180.0))),
    ("exp", |c| unary(c, f64::exp)),
    ("floor", |c| unary(c, crate::meta::floor)),
    ("fmod", |c| binary(c, |a, b| a % b)),
    ("frexp", frexp),
    ("ldexp", ldexp),
    ("log10", |c| unary(c, f64::log10)),
    ("log", |c| unary(c, f64::ln)),
    ("max", max),
    ("min", min),
    ("modf", modf),
    ("pow", |c| binary(c, f64::powf)),
    ("rad", |c| unary(c, |n| n * (std::f64::consts::PI / 180.0))),
    ("random", random),
    ("randomseed", randomseed),
    ("sinh", |c| unary(c, f64::sinh)),
    ("sin", |c| unary(c, f64::sin)),
    ("sqrt", |c| unary(c, f64::sqrt)),
    ("tanh", |c| unary(c, f64::tanh)),
    ("tan", |c| unary(c, f64::tan)),
];

/// Adds the constants, and the old name of `fmod`.
pub(crate) fn constants(st: &mut State, t: TableId) {
    st.set_field(t, "pi", Value::Num(std::f64::consts::PI));
    st.set_field(t, "huge", Value::Num(f64::INFINITY));
    let fmod = st.heap.intern(b"fmod");
    let f = st.heap.raw_get(t, Value::Str(fmod));
    st.set_field(t, "mod", f);
}

#[inline]
fn unary(c: &mut Ctx<'_>, f: fn(f64) -> f64) -> R {
    let n = c.check_number(1)?;
    c.push(Value::Num(f(n)));
    Ok(1)
}

#[inline]
fn binary(c: &mut Ctx<'_>, f: fn(f64, f64) -> f64) -> R {
    // C evaluates arguments from the last to the first: with two wrong ones it is the second that is told.
    let b = c.check_number(2)?;
    let a = c.check_number(1)?;
    c.push(Value::Num(f(a, b)));
    Ok(1)
}

fn frexp(c: &mut Ctx<'_>) -> R {
    let n = c.check_number(1)?;
    let (m, e) = split(n);
    c.push(Value::Num(m));
    c.push(Value::Num(f64::from(e)));
    Ok(2)
}

/// Mantissa in [0.5, 1) and exponent.
fn split(n: f64) -> (f64, i32) {
    if n == 0.0 || !n.is_finite() {
        return (n, 0);
    }
    let (n, shift) = if n.abs() < f64::MIN_POSITIVE { (n * 18_014_398_509_481_984.0, -54) } else { (n, 0) };
    let bits = n.to_bits();
    let e = ((bits >> 52) & 0x7FF) as i32 - 1022;
    (f64::from_bits(bits & !(0x7FF << 52) | (1022 << 52)), e + shift)
}

fn ldexp(c: &mut Ctx<'_>) -> R {
    let mut e = c.check_i32(2)?.clamp(-5000, 5000);
    let mut n = c.check_number(1)?;
    if !n.is_finite() {
        e = 0;
    }
    // In steps, so that neither factor leaves the range while the result is within it.
    while e > 1000 {
        n *= 2f64.powi(1000);
        e -= 1000;
    }
    if e < -1000 {
        let (m, x) = split(n);
        if x + e > -1000 {
            n *= 2f64.powi(e / 2);
            e -= e / 2;
        } else if x + e < -1080 {
            n = 0.0f64.copysign(n);
            e = 0;
        } else {
            n = m * 2f64.powi(-1000);
            e += x + 1000;
        }
    }
    c.push(Value::Num(n * 2f64.powi(e)));
    Ok(1)
}

fn modf(c: &mut Ctx<'_>) -> R {
    let n = c.check_number(1)?;
    let int = n.trunc();
    let frac = if n.is_infinite() { 0.0f64.copysign(n) } else { (n - int).copysign(n) };
    c.push(Value::Num(int));
    c.push(Value::Num(frac));
    Ok(2)
}

fn max(c: &mut Ctx<'_>) -> R {
    let mut m = c.check_number(1)?;
    for i in 2..=c.nargs() {
        let n = c.check_number(i)?;
        if n > m {
            m = n;
        }
    }
    c.push(Value::Num(m));
    Ok(1)
}

fn min(c: &mut Ctx<'_>) -> R {
    let mut m = c.check_number(1)?;
    for i in 2..=c.nargs() {
        let n = c.check_number(i)?;
        if n < m {
            m = n;
        }
    }
    c.push(Value::Num(m));
    Ok(1)
}

/// State of the generator before any seed: three words of 16 bits.
pub(crate) const RAND_START: [u32; 3] = [0x330E, 0xABCD, 0x1234];

/// The generator of `drand48`, as Redis carries it: 31 bits.
fn lrand48(x: &mut [u32; 3]) -> i32 {
    let v = u64::from(x[0]) | u64::from(x[1]) << 16 | u64::from(x[2]) << 32;
    let v = v.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & 0xFFFF_FFFF_FFFF;
    *x = [(v & 0xFFFF) as u32, (v >> 16 & 0xFFFF) as u32, (v >> 32) as u32];
    ((x[2] << 15) + (x[1] >> 1)) as i32
}

const LRAND48_MAX: i32 = i32::MAX;

fn random(c: &mut Ctx<'_>) -> R {
    let r = f64::from(lrand48(&mut c.st.rand) % LRAND48_MAX) / f64::from(LRAND48_MAX);
    let n = match c.nargs() {
        0 => r,
        1 => {
            let u = c.check_i32(1)?;
            if u < 1 {
                return Err(c.arg_error(1, "interval is empty"));
            }
            (r * f64::from(u)).floor() + 1.0
        }
        2 => {
            let l = c.check_i32(1)?;
            let u = c.check_i32(2)?;
            if l > u {
                return Err(c.arg_error(2, "interval is empty"));
            }
            (r * f64::from(u.wrapping_sub(l).wrapping_add(1))).floor() + f64::from(l)
        }
        _ => return Err(c.error("wrong number of arguments")),
    };
    c.push(Value::Num(n));
    Ok(1)
}

fn randomseed(c: &mut Ctx<'_>) -> R {
    let seed = c.check_i32(1)? as u32;
    c.st.rand = [0x330E, seed & 0xFFFF, seed >> 16];
    Ok(0)
}

/// `os.clock`, the only function of its library.
pub(crate) fn clock(c: &mut Ctx<'_>) -> R {
    let t = c.host.clock();
    c.push(Value::Num(t));
    Ok(1)
}
