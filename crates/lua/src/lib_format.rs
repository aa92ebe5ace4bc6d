//! `string.format`: C's `sprintf` for each directive, with Lua 5.1's checks.

use crate::native::Ctx;
use crate::numfmt::{self, Spec};
use crate::value::{LuaError, StrId};

/// Most flags in a row.
const MAX_FLAGS: usize = 5;
/// Strings from here on are copied whole when the directive has no precision.
const LONG: usize = 100;
/// Bytes quoted between two looks at the interrupt word.
const PIECE: usize = 64 << 10;

/// One directive: its flags, its letter (0 at the end of the format) and the offset behind it.
struct Directive {
    spec: Spec,
    conversion: u8,
    end: usize,
}

pub(crate) fn format(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let f = ctx.check_str(1)?;
    let mut buf = ctx.take_buf();
    let (mut at, mut arg) = (0, 1);
    loop {
        let rest = &ctx.bytes(f)[at..];
        let Some(n) = memchr::memchr(b'%', rest) else {
            buf.extend_from_slice(rest);
            break;
        };
        buf.extend_from_slice(&rest[..n]);
        at += n + 1;
        if rest.get(n + 1) == Some(&b'%') {
            buf.push(b'%');
            at += 1;
            continue;
        }
        arg += 1;
        if arg > ctx.nargs() {
            return Err(ctx.arg_error(arg, "no value"));
        }
        let directive = match scan(ctx.bytes(f), at) {
            Ok(d) => d,
            Err(e) => return Err(ctx.error(e)),
        };
        at = directive.end;
        item(ctx, &mut buf, arg, &directive)?;
        ctx.check_len(buf.len())?;
        if at > ctx.bytes(f).len() {
            break;
        }
    }
    crate::lib_string::push_buf(ctx, buf)
}

fn scan(format: &[u8], from: usize) -> Result<Directive, &'static str> {
    let byte = |i: usize| format.get(i).copied().unwrap_or(0);
    let mut at = from;
    let mut spec = Spec::default();
    loop {
        match byte(at) {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alt = true,
            b'0' => spec.zero = true,
            _ => break,
        }
        at += 1;
    }
    if at - from > MAX_FLAGS {
        return Err("invalid format (repeated flags)");
    }
    let two_digits = |at: &mut usize| {
        let mut n = 0;
        for _ in 0..2 {
            if byte(*at).is_ascii_digit() {
                n = n * 10 + usize::from(byte(*at) - b'0');
                *at += 1;
            }
        }
        n
    };
    spec.width = two_digits(&mut at);
    if byte(at) == b'.' {
        at += 1;
        spec.precision = Some(two_digits(&mut at));
    }
    if byte(at).is_ascii_digit() {
        return Err("invalid format (width or precision too long)");
    }
    Ok(Directive { spec, conversion: byte(at), end: at + 1 })
}

fn item(ctx: &mut Ctx<'_>, buf: &mut Vec<u8>, arg: usize, d: &Directive) -> Result<(), LuaError> {
    match d.conversion {
        b'c' => {
            let c = numfmt::to_i32(ctx.check_number(arg)?) as u8;
            let from = buf.len();
            numfmt::format_bytes(buf, &Spec { precision: None, ..d.spec }, &[c]);
            cut_at_zero(buf, from);
        }
        b'd' | b'i' => {
            let n = ctx.check_number(arg)?;
            numfmt::format_signed(buf, &d.spec, numfmt::to_i64(n));
        }
        conversion @ (b'o' | b'u' | b'x' | b'X') => {
            let n = numfmt::to_u64(ctx.check_number(arg)?);
            let base = match conversion {
                b'o' => 8,
                b'u' => 10,
                _ => 16,
            };
            numfmt::format_unsigned(buf, &d.spec, n, base, conversion == b'X');
        }
        conversion @ (b'e' | b'E' | b'f' | b'g' | b'G') => {
            let n = ctx.check_number(arg)?;
            numfmt::format_float(buf, &d.spec, n, conversion);
        }
        b'q' => {
            let s = ctx.check_str(arg)?;
            quote(ctx, buf, s)?;
        }
        b's' => {
            let s = ctx.check_str(arg)?;
            let bytes = ctx.bytes(s);
            if bytes.len() >= LONG && d.spec.precision.is_none() {
                let len = bytes.len();
                ctx.check_len(buf.len() + len)?;
                ctx.append(buf, s, 0, len)?;
            } else {
                let text = memchr::memchr(0, bytes).map_or(bytes, |end| &bytes[..end]);
                numfmt::format_bytes(buf, &d.spec, text);
            }
        }
        other => {
            let mut text = b"invalid option '%".to_vec();
            // A zero byte ends a C string.
            text.extend((other != 0).then_some(other));
            text.extend_from_slice(b"' to 'format'");
            return Err(ctx.error_bytes(&text));
        }
    }
    Ok(())
}

/// `sprintf` fills a C string: what stands behind a zero byte is lost.
fn cut_at_zero(buf: &mut Vec<u8>, from: usize) {
    if let Some(n) = memchr::memchr(0, &buf[from..]) {
        buf.truncate(from + n);
    }
}

/// `%q`: a string as Lua reads it back.
fn quote(ctx: &mut Ctx<'_>, buf: &mut Vec<u8>, s: StrId) -> Result<(), LuaError> {
    buf.push(b'"');
    let len = ctx.bytes(s).len();
    let mut done = 0;
    while done < len {
        let n = PIECE.min(len - done);
        for b in &ctx.bytes(s)[done..done + n] {
            match b {
                b'"' | b'\\' | b'\n' => buf.extend_from_slice(&[b'\\', *b]),
                b'\r' => buf.extend_from_slice(b"\\r"),
                0 => buf.extend_from_slice(b"\\000"),
                b => buf.push(*b),
            }
        }
        done += n;
        ctx.check_len(buf.len())?;
        ctx.step(n as u32)?;
    }
    buf.push(b'"');
    Ok(())
}
