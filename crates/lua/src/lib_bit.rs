//! `bit`: operations on 32-bit integers with the semantics of BitOp.

use crate::native::{Ctx, NativeFn, State};
use crate::value::{LuaError, Value};

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("tobit", tobit),
    ("bnot", bnot),
    ("band", band),
    ("bor", bor),
    ("bxor", bxor),
    ("lshift", lshift),
    ("rshift", rshift),
    ("arshift", arshift),
    ("rol", rol),
    ("ror", ror),
    ("bswap", bswap),
    ("tohex", tohex),
];

pub(crate) fn open(st: &mut State) {
    st.new_lib("bit", FUNCTIONS);
}

/// An argument modulo 2^32, rounded to an integer. The addition leaves its low bits at the end of the mantissa, also
/// for numbers far out of range, whose results are defined by it.
#[inline]
fn arg(ctx: &mut Ctx<'_>, i: usize) -> Result<u32, LuaError> {
    let n = match ctx.arg(i) {
        Value::Num(n) => n,
        other => match ctx.to_number(other) {
            Some(n) => n,
            None => return Err(ctx.type_error(i, "number")),
        },
    };
    Ok((n + 6_755_399_441_055_744.0).to_bits() as u32)
}

#[inline]
fn ret(ctx: &mut Ctx<'_>, bits: u32) -> Result<usize, LuaError> {
    ctx.push(Value::Num(f64::from(bits as i32)));
    Ok(1)
}

fn tobit(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let b = arg(ctx, 1)?;
    ret(ctx, b)
}

fn bnot(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let b = arg(ctx, 1)?;
    ret(ctx, !b)
}

/// Combines all arguments: the first, then from the last to the second, which decides whose error is seen.
#[inline]
fn fold(ctx: &mut Ctx<'_>, f: impl Fn(u32, u32) -> u32) -> Result<usize, LuaError> {
    let mut bits = arg(ctx, 1)?;
    for i in (2..=ctx.nargs()).rev() {
        bits = f(bits, arg(ctx, i)?);
    }
    ret(ctx, bits)
}

fn band(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    fold(ctx, |a, b| a & b)
}

fn bor(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    fold(ctx, |a, b| a | b)
}

fn bxor(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    fold(ctx, |a, b| a ^ b)
}

#[inline]
fn shift(ctx: &mut Ctx<'_>, f: impl Fn(u32, u32) -> u32) -> Result<usize, LuaError> {
    let bits = arg(ctx, 1)?;
    let n = arg(ctx, 2)? & 31;
    ret(ctx, f(bits, n))
}

fn lshift(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    shift(ctx, |b, n| b << n)
}

fn rshift(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    shift(ctx, |b, n| b >> n)
}

fn arshift(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    shift(ctx, |b, n| ((b as i32) >> n) as u32)
}

fn rol(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    shift(ctx, u32::rotate_left)
}

fn ror(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    shift(ctx, u32::rotate_right)
}

fn bswap(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let b = arg(ctx, 1)?;
    ret(ctx, b.swap_bytes())
}

fn tohex(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let mut bits = arg(ctx, 1)?;
    let n = if ctx.is_none(2) { 8 } else { arg(ctx, 2)? as i32 };
    let alphabet = if n < 0 { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let n = n.unsigned_abs().min(8) as usize;
    let mut text = [0u8; 8];
    for digit in text[..n].iter_mut().rev() {
        *digit = alphabet[(bits & 15) as usize];
        bits >>= 4;
    }
    ctx.push_str(&text[..n])?;
    Ok(1)
}
