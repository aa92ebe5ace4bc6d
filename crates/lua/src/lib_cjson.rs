//! `cjson`: module, settings and encoder. The decoder is in [`crate::lib_cjson_decode`].
//!
//! Behaves as lua-cjson 2.1 in Redis does. Settings live as long as the run. Beside Redis's functions there are
//! opt-in extras, which are found by indexing the module but not listed by `pairs`: where they do not exist they read
//! as nil, so `setmetatable(t, cjson.array_mt)` and `if cjson.decode_big_integers then … end` do no harm elsewhere.
//!
//! - `array_mt`: a table with this metatable is encoded as an array, an empty one as `[]`.
//! - `decode_array_with_array_mt(on)`: decoded arrays get that metatable, so they stay arrays when encoded again.
//! - `decode_big_integers(mode)`: `'number'` (the default) or `'string'`: whole numbers beyond 2^53 become strings with
//!   all their digits.
//! - `encode_big_integers(mode)`: `'string'` (the default) or `'number'`: strings that are such whole numbers, up to
//!   64 bits, are written without quotes.

use crate::buf::Buf;
use crate::native::{Ctx, NativeFn, State};
use crate::numfmt::{self, Spec};
use crate::value::{LuaError, StrId, TableId, Value};

/// Values that a C function may have on its stack; it bounds the depth of what can be encoded or decoded.
pub(crate) const MAX_STACK: usize = 8_000;
/// Items between two looks at the interrupt word and at the memory in use.
pub(crate) const ITEMS_PER_LOOK: u32 = 64;
/// Bytes of a string escaped between two looks.
const PIECE: usize = 64 << 10;

/// How one instance of the module works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Config {
    pub(crate) sparse_convert: bool,
    pub(crate) sparse_ratio: i32,
    pub(crate) sparse_safe: i32,
    pub(crate) encode_max_depth: i32,
    pub(crate) decode_max_depth: i32,
    /// 0 refuse, 1 write, 2 write null
    pub(crate) encode_invalid: u8,
    pub(crate) decode_invalid: bool,
    pub(crate) keep_buffer: bool,
    pub(crate) precision: i32,
    pub(crate) array_mt: bool,
    pub(crate) big_decode: bool,
    pub(crate) big_encode: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            sparse_convert: false,
            sparse_ratio: 2,
            sparse_safe: 10,
            encode_max_depth: 1000,
            decode_max_depth: 1000,
            encode_invalid: 0,
            decode_invalid: true,
            keep_buffer: true,
            precision: 14,
            array_mt: false,
            big_decode: false,
            big_encode: false,
        }
    }
}

/// Settings of a run: of the global module, and of those made by `cjson.new`.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    main: Config,
    more: Vec<Config>,
    array_mt: Option<TableId>,
}

impl Settings {
    /// Forgets what the run changed.
    pub(crate) fn reset(&mut self) {
        self.main = Config::default();
        if !self.more.is_empty() {
            self.more = Vec::new();
        }
    }

    /// The metatable that marks arrays.
    pub(crate) fn array_mt(&self) -> Option<TableId> {
        self.array_mt
    }
}

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("encode", encode),
    ("decode", crate::lib_cjson_decode::decode),
    ("encode_sparse_array", encode_sparse_array),
    ("encode_max_depth", encode_max_depth),
    ("decode_max_depth", decode_max_depth),
    ("encode_number_precision", encode_number_precision),
    ("encode_keep_buffer", encode_keep_buffer),
    ("encode_invalid_numbers", encode_invalid_numbers),
    ("decode_invalid_numbers", decode_invalid_numbers),
    ("new", new),
];

const EXTRAS: &[(&str, NativeFn)] = &[
    ("decode_array_with_array_mt", decode_array_with_array_mt),
    ("decode_big_integers", decode_big_integers),
    ("encode_big_integers", encode_big_integers),
];

const NULL: Value = Value::Light(0);
const ABOUT: [(&str, &str); 2] = [("_NAME", "cjson"), ("_VERSION", "2.1.0")];

pub(crate) fn open(st: &mut State) {
    let lib = st.new_lib_growing("cjson", FUNCTIONS);
    st.set_field(lib, "null", NULL);
    for (name, text) in ABOUT {
        let v = Value::Str(st.heap.intern(text.as_bytes()));
        st.set_field(lib, name, v);
    }
    let extras = st.heap.add_table(crate::table::Table::new());
    st.set_funcs(extras, EXTRAS);
    let array_mt = st.heap.add_table(crate::table::Table::new());
    st.set_field(extras, "array_mt", Value::Table(array_mt));
    st.cjson.array_mt = Some(array_mt);
    let meta = st.heap.add_table(crate::table::Table::new());
    st.set_field(meta, "__index", Value::Table(extras));
    st.heap.tables[lib.index()].set_meta(Some(meta));
    for t in [extras, array_mt, meta] {
        st.heap.tables[t.index()].readonly = true;
    }
}

/// `cjson.new()`: a module with settings of its own. The functions know them by their upvalue.
fn new(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let t = ctx.new_table(0, 0)?;
    ctx.push(Value::Table(t));
    ctx.st.cjson.more.push(Config::default());
    let number = Value::Num(ctx.st.cjson.more.len() as f64);
    ctx.st.heap.mem.used += size_of::<Config>();
    for (name, f) in FUNCTIONS {
        let f = ctx.new_closure(*f, &[number]);
        let name = ctx.new_str(name.as_bytes())?;
        ctx.raw_set(t, name, f)?;
    }
    let name = ctx.new_str(b"null")?;
    ctx.raw_set(t, name, NULL)?;
    for (name, text) in ABOUT {
        let (name, text) = (ctx.new_str(name.as_bytes())?, ctx.new_str(text.as_bytes())?);
        ctx.raw_set(t, name, text)?;
    }
    Ok(1)
}

/// The settings of the module whose function is running.
pub(crate) fn config<'a>(ctx: &'a mut Ctx<'_>) -> &'a mut Config {
    let number = match ctx.upvalue(0) {
        Value::Num(n) => n as usize,
        _ => 0,
    };
    let settings = &mut ctx.st.cjson;
    match number.checked_sub(1).and_then(|i| settings.more.get_mut(i)) {
        Some(config) => config,
        None => &mut settings.main,
    }
}

// Settings

fn at_most(ctx: &mut Ctx<'_>, n: usize) -> Result<(), LuaError> {
    if ctx.nargs() > n { Err(ctx.arg_error(n + 1, "found too many arguments")) } else { Ok(()) }
}

/// A whole-number setting: changes it when the argument is not nil, and pushes it.
fn integer(
    ctx: &mut Ctx<'_>,
    i: usize,
    range: (i32, i32),
    field: fn(&mut Config) -> &mut i32,
) -> Result<usize, LuaError> {
    if !ctx.is_none_or_nil(i) {
        let n = ctx.check_i32(i)?;
        if n < range.0 || n > range.1 {
            // The original names argument 1, whichever it is.
            return Err(ctx.arg_error(1, &format!("expected integer between {} and {}", range.0, range.1)));
        }
        *field(config(ctx)) = n;
    }
    let n = *field(config(ctx));
    ctx.push(Value::Num(f64::from(n)));
    Ok(1)
}

/// A choice given as boolean or by name; `None` when the argument is absent.
fn choice(ctx: &mut Ctx<'_>, i: usize, names: &[&str]) -> Result<Option<u8>, LuaError> {
    match ctx.arg(i) {
        Value::Nil => Ok(None),
        Value::Bool(b) => Ok(Some(u8::from(b))),
        _ => named(ctx, i, names).map(Some),
    }
}

fn named(ctx: &mut Ctx<'_>, i: usize, names: &[&str]) -> Result<u8, LuaError> {
    let s = ctx.check_str(i)?;
    let bytes = ctx.bytes(s);
    let name = memchr::memchr(0, bytes).map_or(bytes, |end| &bytes[..end]);
    if let Some(n) = names.iter().position(|n| n.as_bytes() == name) {
        return Ok(n as u8);
    }
    let mut text = b"invalid option '".to_vec();
    text.extend_from_slice(name);
    text.push(b'\'');
    Err(ctx.arg_error_bytes(i, &text))
}

const SWITCH: &[&str] = &["off", "on"];

fn switch(ctx: &mut Ctx<'_>, i: usize, field: fn(&mut Config) -> &mut bool) -> Result<usize, LuaError> {
    if let Some(n) = choice(ctx, i, SWITCH)? {
        *field(config(ctx)) = n == 1;
    }
    let on = *field(config(ctx));
    ctx.push(Value::Bool(on));
    Ok(1)
}

fn encode_sparse_array(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    at_most(ctx, 3)?;
    switch(ctx, 1, |c| &mut c.sparse_convert)?;
    integer(ctx, 2, (0, i32::MAX), |c| &mut c.sparse_ratio)?;
    integer(ctx, 3, (0, i32::MAX), |c| &mut c.sparse_safe)?;
    Ok(3)
}

fn encode_max_depth(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    at_most(ctx, 1)?;
    integer(ctx, 1, (1, i32::MAX), |c| &mut c.encode_max_depth)
}

fn decode_max_depth(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    at_most(ctx, 1)?;
    integer(ctx, 1, (1, i32::MAX), |c| &mut c.decode_max_depth)
}

fn encode_number_precision(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    at_most(ctx, 1)?;
    integer(ctx, 1, (1, 14), |c| &mut c.precision)
}

fn encode_keep_buffer(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    at_most(ctx, 1)?;
    switch(ctx, 1, |c| &mut c.keep_buffer)
}

fn decode_invalid_numbers(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    at_most(ctx, 1)?;
    switch(ctx, 1, |c| &mut c.decode_invalid)
}

fn encode_invalid_numbers(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    at_most(ctx, 1)?;
    if let Some(n) = choice(ctx, 1, &["off", "on", "null"])? {
        config(ctx).encode_invalid = n;
    }
    match config(ctx).encode_invalid {
        2 => ctx.push_str(b"null")?,
        n => ctx.push(Value::Bool(n == 1)),
    }
    Ok(1)
}

fn decode_array_with_array_mt(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    at_most(ctx, 1)?;
    switch(ctx, 1, |c| &mut c.array_mt)
}

fn decode_big_integers(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    big_integers(ctx, &["number", "string"], |c| &mut c.big_decode)
}

fn encode_big_integers(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    big_integers(ctx, &["string", "number"], |c| &mut c.big_encode)
}

fn big_integers(
    ctx: &mut Ctx<'_>,
    names: &[&str; 2],
    field: fn(&mut Config) -> &mut bool,
) -> Result<usize, LuaError> {
    at_most(ctx, 1)?;
    if !ctx.is_none_or_nil(1) {
        *field(config(ctx)) = named(ctx, 1, names)? == 1;
    }
    let on = *field(config(ctx));
    ctx.push_str(names[usize::from(on)].as_bytes())?;
    Ok(1)
}

// Encoder

/// A container being written.
enum Open {
    Array { table: TableId, next: i64, len: i64 },
    Object { table: TableId, cursor: usize, first: bool },
}

struct Encoder {
    buf: Buf,
    open: Vec<Open>,
    /// Values that the original would have on its stack
    slots: usize,
    looks: u32,
}

fn encode(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    if ctx.nargs() != 1 {
        return Err(ctx.arg_error(1, "expected 1 argument"));
    }
    let cfg = *config(ctx);
    let mut e = Encoder { buf: ctx.take_buf(), open: Vec::new(), slots: 1, looks: 0 };
    let v = ctx.arg(1);
    e.value(ctx, &cfg, v)?;
    while let Some(top) = e.open.last_mut() {
        e.looks += 1;
        if e.looks.is_multiple_of(ITEMS_PER_LOOK) {
            ctx.step(ITEMS_PER_LOOK)?;
            ctx.check_len(e.buf.len())?;
        }
        match top {
            Open::Array { table, next, len } => {
                if *next > *len {
                    e.buf.push(b']');
                    e.open.pop();
                    e.slots -= 1;
                    continue;
                }
                if *next > 1 {
                    e.buf.push(b',');
                }
                let v = ctx.raw_geti(*table, *next);
                *next += 1;
                e.value(ctx, &cfg, v)?;
            }
            Open::Object { table, cursor, first } => {
                let Some((next, k, v)) = ctx.entry_from(*table, *cursor) else {
                    e.buf.push(b'}');
                    e.open.pop();
                    e.slots -= 2;
                    continue;
                };
                *cursor = next;
                if !std::mem::take(first) {
                    e.buf.push(b',');
                }
                e.key(ctx, &cfg, k)?;
                e.value(ctx, &cfg, v)?;
            }
        }
    }
    crate::lib_string::push_buf(ctx, e.buf)
}

#[cold]
fn refuse(ctx: &mut Ctx<'_>, v: Value, why: &str) -> LuaError {
    ctx.error(&format!("Cannot serialise {}: {why}", v.type_name()))
}

impl Encoder {
    fn key(&mut self, ctx: &mut Ctx<'_>, cfg: &Config, k: Value) -> Result<(), LuaError> {
        match k {
            Value::Num(n) => {
                self.buf.push(b'"');
                self.number(ctx, cfg, n)?;
                self.buf.extend_from_slice(b"\":");
                Ok(())
            }
            Value::Str(s) => {
                self.string(ctx, s)?;
                self.buf.push(b':');
                Ok(())
            }
            other => Err(refuse(ctx, other, "table key must be a number or string")),
        }
    }

    fn value(&mut self, ctx: &mut Ctx<'_>, cfg: &Config, v: Value) -> Result<(), LuaError> {
        match v {
            Value::Str(s) if cfg.big_encode && is_big_integer(ctx.bytes(s)) => {
                self.buf.extend_from_slice(ctx.bytes(s));
                Ok(())
            }
            Value::Str(s) => self.string(ctx, s),
            Value::Num(n) => self.number(ctx, cfg, n),
            Value::Bool(true) => {
                self.buf.extend_from_slice(b"true");
                Ok(())
            }
            Value::Bool(false) => {
                self.buf.extend_from_slice(b"false");
                Ok(())
            }
            Value::Table(t) => self.table(ctx, cfg, t),
            Value::Nil | Value::Light(0) => {
                self.buf.extend_from_slice(b"null");
                Ok(())
            }
            other => Err(refuse(ctx, other, "type not supported")),
        }
    }

    fn table(&mut self, ctx: &mut Ctx<'_>, cfg: &Config, t: TableId) -> Result<(), LuaError> {
        let depth = self.open.len() + 1;
        if depth > cfg.encode_max_depth as usize || self.slots + 3 > MAX_STACK {
            return Err(ctx.error(&format!("Cannot serialise, excessive nesting ({depth})")));
        }
        let marked = ctx.st.heap.tables[t.index()].meta();
        let len = if marked.is_some() && marked == ctx.st.cjson.array_mt {
            let len = i32::try_from(ctx.raw_len(t)).unwrap_or(i32::MAX);
            if len == 0 {
                self.buf.extend_from_slice(b"[]");
                return Ok(());
            }
            len
        } else {
            array_length(ctx, cfg, t)?
        };
        if len > 0 {
            self.buf.push(b'[');
            self.slots += 1;
            self.open.push(Open::Array { table: t, next: 1, len: i64::from(len) });
        } else {
            self.buf.push(b'{');
            self.slots += 2;
            self.open.push(Open::Object { table: t, cursor: 0, first: true });
        }
        Ok(())
    }

    fn number(&mut self, ctx: &mut Ctx<'_>, cfg: &Config, n: f64) -> Result<(), LuaError> {
        if !n.is_finite() {
            match cfg.encode_invalid {
                0 => return Err(refuse(ctx, Value::Num(n), "must not be NaN or Inf")),
                1 if n.is_nan() => {
                    self.buf.extend_from_slice(b"nan");
                    return Ok(());
                }
                1 => {}
                _ => {
                    self.buf.extend_from_slice(b"null");
                    return Ok(());
                }
            }
        }
        if cfg.precision == 14 {
            numfmt::number_to_string(n, &mut self.buf);
        } else {
            let spec = Spec { precision: Some(cfg.precision as usize), ..Spec::default() };
            numfmt::format_float(&mut self.buf, &spec, n, b'g');
        }
        Ok(())
    }

    fn string(&mut self, ctx: &mut Ctx<'_>, s: StrId) -> Result<(), LuaError> {
        self.buf.push(b'"');
        let len = ctx.bytes(s).len();
        let mut done = 0;
        while done < len {
            let n = PIECE.min(len - done);
            if len > PIECE {
                // Every byte may become six.
                ctx.check_len(self.buf.len() + n * 6)?;
                ctx.step(n as u32)?;
            }
            escape(&ctx.bytes(s)[done..done + n], &mut self.buf);
            done += n;
        }
        self.buf.push(b'"');
        if len > 256 {
            ctx.check_len(self.buf.len())?;
        }
        Ok(())
    }
}

/// Bytes that need an escape: 0 none, `u` the six-byte form, else the letter behind the backslash.
static ESCAPES: [u8; 256] = escapes();

const fn escapes() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut i = 0;
    while i < 32 {
        table[i] = b'u';
        i += 1;
    }
    table[127] = b'u';
    table[8] = b'b';
    table[9] = b't';
    table[10] = b'n';
    table[12] = b'f';
    table[13] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table
}

fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(n) = rest.iter().position(|b| ESCAPES[usize::from(*b)] != 0) {
        out.extend_from_slice(&rest[..n]);
        let b = rest[n];
        match ESCAPES[usize::from(b)] {
            b'u' => {
                let digit = |n: u8| b"0123456789abcdef"[usize::from(n)];
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(b >> 4), digit(b & 15)]);
            }
            letter => out.extend_from_slice(&[b'\\', letter]),
        }
        rest = &rest[n + 1..];
    }
    out.extend_from_slice(rest);
}

/// Length of a table that is an array, 0 or less for one that is not.
fn array_length(ctx: &mut Ctx<'_>, cfg: &Config, t: TableId) -> Result<i32, LuaError> {
    let (mut max, mut items) = (0i32, 0i32);
    let mut cursor = 0;
    while let Some((next, k, _)) = ctx.entry_from(t, cursor) {
        cursor = next;
        match k {
            Value::Num(n) if n >= 1.0 && n.floor() == n => {
                if n > f64::from(max) {
                    max = numfmt::to_i32(n);
                }
                items = items.wrapping_add(1);
                if items % 1024 == 0 {
                    ctx.step(1024)?;
                }
            }
            _ => return Ok(-1),
        }
    }
    if cfg.sparse_ratio > 0 && max > items.wrapping_mul(cfg.sparse_ratio) && max > cfg.sparse_safe {
        if !cfg.sparse_convert {
            return Err(refuse(ctx, Value::Table(t), "excessively sparse array"));
        }
        return Ok(-1);
    }
    Ok(max)
}

/// The canonical text of a whole number that a double cannot hold but 64 bits can.
pub(crate) fn is_big_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if !(16..=20).contains(&digits.len()) || digits[0] == b'0' || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let Ok(text) = std::str::from_utf8(text) else { return false };
    match (text.parse::<i64>(), text.parse::<u64>()) {
        (Ok(n), _) => n.unsigned_abs() > 1 << 53,
        (_, parsed) => parsed.is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_cjson() {
        let mut out = Vec::new();
        escape(b"a\"b\\c/d\n\t\r\x08\x0c\x0b\0\x1f\x7f\xc3\xa9", &mut out);
        assert_eq!(out, b"a\\\"b\\\\c\\/d\\n\\t\\r\\b\\f\\u000b\\u0000\\u001f\\u007f\xc3\xa9");
    }

    #[test]
    fn big_integers_are_canonical_and_beyond_doubles() {
        for yes in ["9007199254740993", "-9007199254740993", "9223372036854775807", "18446744073709551615"] {
            assert!(is_big_integer(yes.as_bytes()), "{yes}");
        }
        for no in [
            "9007199254740992",
            "1",
            "",
            "-",
            "18446744073709551616",
            "-9223372036854775809",
            "0009007199254740993",
            "9007199254740993.0",
            "+9007199254740993",
        ] {
            assert!(!is_big_integer(no.as_bytes()), "{no}");
        }
    }
}
