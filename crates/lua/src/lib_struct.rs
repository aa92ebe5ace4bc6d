//! `struct`: values packed as C lays them out, after Roberto Ierusalimschy's library of that name.

use crate::native::{Ctx, NativeFn, State};
use crate::numfmt::{to_i64, to_u64};
use crate::value::{LuaError, StrId, Value};

/// Widest integer, bytes.
const MAX_INT: i32 = 32;
/// Alignment that `!` alone asks for.
const MAX_ALIGN: i32 = 8;

const FUNCTIONS: &[(&str, NativeFn)] = &[("pack", pack), ("unpack", unpack), ("size", size)];

pub(crate) fn open(st: &mut State) {
    st.new_lib("struct", FUNCTIONS);
}

/// A format being read.
struct Format {
    text: StrId,
    at: usize,
    big: bool,
    align: u64,
}

impl Format {
    fn new(text: StrId) -> Self {
        Format { text, at: 0, big: false, align: 1 }
    }

    /// The byte at the cursor; a format is a C string and ends at a zero byte.
    fn peek(&self, ctx: &Ctx<'_>) -> u8 {
        ctx.bytes(self.text).get(self.at).copied().unwrap_or(0)
    }

    /// The next option with its size, or `None` at the end.
    fn next(&mut self, ctx: &mut Ctx<'_>) -> Result<Option<(u8, u64)>, LuaError> {
        let option = self.peek(ctx);
        if option == 0 {
            return Ok(None);
        }
        self.at += 1;
        ctx.step(1)?;
        let size = match option {
            b'B' | b'b' | b'x' => 1,
            b'H' | b'h' => 2,
            b'L' | b'l' | b'T' | b'd' => 8,
            b'f' => 4,
            b'c' => self.number(ctx, 1)? as u64,
            b'i' | b'I' => {
                let n = self.number(ctx, 4)?;
                if n > MAX_INT {
                    return Err(ctx.error(&format!("integral size {n} is larger than limit of {MAX_INT}")));
                }
                n as u64
            }
            _ => 0,
        };
        Ok(Some((option, size)))
    }

    /// A decimal number at the cursor, or the default.
    fn number(&mut self, ctx: &mut Ctx<'_>, default: i32) -> Result<i32, LuaError> {
        if !self.peek(ctx).is_ascii_digit() {
            return Ok(default);
        }
        let mut n = 0i32;
        loop {
            let digit = self.peek(ctx);
            if !digit.is_ascii_digit() {
                return Ok(n);
            }
            match n.checked_mul(10).and_then(|n| n.checked_add(i32::from(digit - b'0'))) {
                Some(next) => n = next,
                None => return Err(ctx.error("integral size overflow")),
            }
            self.at += 1;
        }
    }

    /// Bytes of padding in front of an item of this size at offset `at`. Sizes that are no power of two give what the
    /// original's bit arithmetic gives.
    fn padding(&self, at: u64, option: u8, size: u64) -> u64 {
        if size == 0 || option == b'c' {
            return 0;
        }
        let size = size.min(self.align);
        size.wrapping_sub(at & (size - 1)) & (size - 1)
    }

    /// Options that set endianness and alignment.
    fn control(&mut self, ctx: &mut Ctx<'_>, option: u8) -> Result<(), LuaError> {
        match option {
            b' ' => Ok(()),
            b'>' => {
                self.big = true;
                Ok(())
            }
            b'<' => {
                self.big = false;
                Ok(())
            }
            b'!' => {
                let n = self.number(ctx, MAX_ALIGN)?;
                if n <= 0 || n & (n - 1) != 0 {
                    return Err(ctx.error(&format!("alignment {n} is not a power of 2")));
                }
                self.align = n as u64;
                Ok(())
            }
            _ => Err(invalid_option(ctx, option)),
        }
    }
}

#[cold]
fn invalid_option(ctx: &mut Ctx<'_>, option: u8) -> LuaError {
    let mut text = b"invalid format option '".to_vec();
    text.push(option);
    text.push(b'\'');
    ctx.arg_error_bytes(1, &text)
}

/// Fails when argument `i` is missing: the original's arguments are followed by a nil that marks its buffer.
fn present(ctx: &mut Ctx<'_>, i: usize, expected: &str) -> Result<(), LuaError> {
    if ctx.is_none(i) { Err(ctx.arg_error(i, &format!("{expected} expected, got nil"))) } else { Ok(()) }
}

fn check_number(ctx: &mut Ctx<'_>, i: usize) -> Result<f64, LuaError> {
    present(ctx, i, "number")?;
    ctx.check_number(i)
}

/// Appends bytes given in little-endian order.
fn put(buf: &mut Vec<u8>, bytes: &[u8], big: bool) {
    if big {
        buf.extend(bytes.iter().rev());
    } else {
        buf.extend_from_slice(bytes);
    }
}

fn pack(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let text = ctx.check_str(1)?;
    let mut format = Format::new(text);
    let mut buf = ctx.take_buf();
    let mut arg = 2;
    while let Some((option, size)) = format.next(ctx)? {
        let padding = format.padding(buf.len() as u64, option, size);
        buf.extend(std::iter::repeat_n(0, padding as usize));
        match option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let n = check_number(ctx, arg)?;
                arg += 1;
                let value = if n < 0.0 { to_i64(n) as u64 } else { to_u64(n) };
                // Integers wider than 8 bytes are filled up with zeros, negative ones too.
                let mut bytes = [0u8; MAX_INT as usize];
                bytes[..8].copy_from_slice(&value.to_le_bytes());
                put(&mut buf, &bytes[..size as usize], format.big);
            }
            b'x' => buf.push(0),
            b'f' => {
                let n = check_number(ctx, arg)? as f32;
                arg += 1;
                put(&mut buf, &n.to_le_bytes(), format.big);
            }
            b'd' => {
                let n = check_number(ctx, arg)?;
                arg += 1;
                put(&mut buf, &n.to_le_bytes(), format.big);
            }
            b'c' | b's' => {
                present(ctx, arg, "string")?;
                let s = ctx.check_str(arg)?;
                arg += 1;
                let len = ctx.bytes(s).len();
                let size = if size == 0 { len } else { size as usize };
                if len < size {
                    // The original has already moved on to the next argument.
                    return Err(ctx.arg_error(arg, "string too short"));
                }
                ctx.check_len(buf.len() + size + 1)?;
                ctx.append(&mut buf, s, 0, size)?;
                if option == b's' {
                    buf.push(0);
                }
            }
            _ => format.control(ctx, option)?,
        }
        ctx.check_len(buf.len())?;
    }
    crate::lib_string::push_buf(ctx, buf)
}

/// An integer of up to 32 bytes, of which the lowest 8 count.
fn integer(bytes: &[u8], big: bool, signed: bool) -> f64 {
    let mut n = 0u64;
    let add = |n: u64, b: &u8| n << 8 | u64::from(*b);
    if big {
        n = bytes.iter().fold(n, add);
    } else {
        n = bytes.iter().rev().fold(n, add);
    }
    if !signed {
        return n as f64;
    }
    // As on x86-64, the shift counts modulo 64, which matters for sizes of 0 and above 8.
    let mask = u64::MAX.wrapping_shl((bytes.len() as u32).wrapping_mul(8).wrapping_sub(1));
    if n & mask != 0 {
        n |= mask;
    }
    n as i64 as f64
}

fn unpack(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let text = ctx.check_str(1)?;
    let data = ctx.check_str(2)?;
    let len = ctx.bytes(data).len() as u64;
    let mut pos = ctx.opt_i64(3, 1)? as u64;
    if pos == 0 {
        return Err(ctx.arg_error(3, "offset must be 1 or greater"));
    }
    pos -= 1;
    let mut format = Format::new(text);
    let mut n = 0;
    while let Some((option, mut size)) = format.next(ctx)? {
        pos = pos.wrapping_add(format.padding(pos, option, size));
        fits(ctx, size, pos, len)?;
        ctx.check_stack(2, "too many results")?;
        let at = pos as usize;
        match option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let bytes = &ctx.bytes(data)[at..at + size as usize];
                let value = integer(bytes, format.big, option.is_ascii_lowercase());
                ctx.push(Value::Num(value));
                n += 1;
            }
            b'x' => {}
            b'f' => {
                let value = f32::from_bits(bits(&ctx.bytes(data)[at..at + 4], format.big) as u32);
                ctx.push(Value::Num(f64::from(value)));
                n += 1;
            }
            b'd' => {
                let value = f64::from_bits(bits(&ctx.bytes(data)[at..at + 8], format.big));
                ctx.push(Value::Num(value));
                n += 1;
            }
            b'c' => {
                if size == 0 {
                    let before = if n == 0 { None } else { ctx.to_number(ctx.peek()) };
                    let Some(before) = before else {
                        return Err(ctx.error("format 'c0' needs a previous size"));
                    };
                    size = to_u64(before);
                    ctx.pop();
                    n -= 1;
                    fits(ctx, size, pos, len)?;
                }
                push_part(ctx, data, at, at + size as usize)?;
                n += 1;
            }
            b's' => {
                let Some(end) = memchr::memchr(0, &ctx.bytes(data)[at..]) else {
                    return Err(ctx.error("unfinished string in data"));
                };
                push_part(ctx, data, at, at + end)?;
                n += 1;
                size = end as u64 + 1;
            }
            _ => format.control(ctx, option)?,
        }
        pos += size;
    }
    ctx.push(Value::Num((pos + 1) as i64 as f64));
    Ok(n + 1)
}

fn push_part(ctx: &mut Ctx<'_>, data: StrId, from: usize, to: usize) -> Result<(), LuaError> {
    ctx.check_len(to - from)?;
    let part = ctx.substr(data, from, to)?;
    ctx.push(part);
    Ok(())
}

fn bits(bytes: &[u8], big: bool) -> u64 {
    let add = |n: u64, b: &u8| n << 8 | u64::from(*b);
    if big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}

fn fits(ctx: &mut Ctx<'_>, size: u64, pos: u64, len: u64) -> Result<(), LuaError> {
    if size <= len && pos <= len - size { Ok(()) } else { Err(ctx.arg_error(2, "data string too short")) }
}

fn size(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let text = ctx.check_str(1)?;
    let mut format = Format::new(text);
    let mut pos = 0u64;
    while let Some((option, size)) = format.next(ctx)? {
        pos = pos.wrapping_add(format.padding(pos, option, size));
        if option == b's' {
            return Err(ctx.arg_error(1, "option 's' has no fixed size"));
        }
        if option == b'c' && size == 0 {
            return Err(ctx.arg_error(1, "option 'c0' has no fixed size"));
        }
        if !option.is_ascii_alphanumeric() {
            format.control(ctx, option)?;
        }
        pos = pos.wrapping_add(size);
    }
    ctx.push(Value::Num(pos as i64 as f64));
    Ok(1)
}
