//! `cmsgpack`: MessagePack as Redis's library writes and reads it.

use crate::native::{Ctx, NativeFn, State};
use crate::value::{LuaError, StrId, TableId, Value};

/// Tables nested deeper are packed as nil.
const MAX_NESTING: u32 = 16;
/// Values that a C function may have on its stack.
const MAX_STACK: usize = 8_000;
const TOO_MANY: &str = "too many return values at once; use unpack_one or unpack_limit instead.";
/// Items between two looks at the memory in use.
const ITEMS_PER_LOOK: u32 = 256;

const FUNCTIONS: &[(&str, NativeFn)] =
    &[("pack", pack), ("unpack", unpack), ("unpack_one", unpack_one), ("unpack_limit", unpack_limit)];

const ABOUT: [(&str, &str); 4] = [
    ("_NAME", "cmsgpack"),
    ("_VERSION", "lua-cmsgpack 0.4.0"),
    ("_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo"),
    ("_DESCRIPTION", "MessagePack C implementation for Lua"),
];

pub(crate) fn open(st: &mut State) {
    let lib = st.new_lib_growing("cmsgpack", FUNCTIONS);
    for (name, text) in ABOUT {
        let v = Value::Str(st.heap.intern(text.as_bytes()));
        st.set_field(lib, name, v);
    }
}

fn pack(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let n = ctx.nargs();
    if n == 0 {
        return Err(ctx.arg_error(0, "MessagePack pack needs input."));
    }
    // The original needs a stack slot more for each argument.
    if n * 2 > MAX_STACK {
        return Err(ctx.arg_error(0, "Too many arguments for MessagePack pack."));
    }
    let mut buf = ctx.take_buf();
    for i in 1..=n {
        let v = ctx.arg(i);
        encode(ctx, &mut buf, v, 0)?;
    }
    crate::lib_string::push_buf(ctx, buf)
}

/// Appends a value. Recursion ends at [`MAX_NESTING`].
fn encode(ctx: &mut Ctx<'_>, buf: &mut Vec<u8>, v: Value, level: u32) -> Result<(), LuaError> {
    match v {
        Value::Str(s) => {
            let len = ctx.bytes(s).len();
            ctx.check_len(buf.len() + len + 5)?;
            head_bytes(buf, len);
            ctx.append(buf, s, 0, len)?;
        }
        Value::Bool(b) => buf.push(if b { 0xc3 } else { 0xc2 }),
        Value::Num(n) => encode_number(buf, n),
        Value::Table(t) if level < MAX_NESTING => {
            ctx.check_len(buf.len())?;
            return encode_table(ctx, buf, t, level);
        }
        _ => buf.push(0xc0),
    }
    Ok(())
}

fn encode_table(ctx: &mut Ctx<'_>, buf: &mut Vec<u8>, t: TableId, level: u32) -> Result<(), LuaError> {
    let (entries, array) = shape(ctx, t)?;
    if array {
        let len = ctx.raw_len(t);
        head_many(buf, len, 0x90, 0xdc);
        for i in 1..=len {
            ctx.step(1)?;
            let v = ctx.raw_geti(t, i as i64);
            encode(ctx, buf, v, level + 1)?;
        }
        return ctx.check_len(buf.len());
    }
    head_many(buf, entries, 0x80, 0xde);
    let mut cursor = 0;
    while let Some((next, k, v)) = ctx.entry_from(t, cursor) {
        cursor = next;
        ctx.step(1)?;
        encode(ctx, buf, k, level + 1)?;
        encode(ctx, buf, v, level + 1)?;
    }
    ctx.check_len(buf.len())
}

/// Number of entries, and whether the keys are the integers from 1 to it.
fn shape(ctx: &mut Ctx<'_>, t: TableId) -> Result<(usize, bool), LuaError> {
    let (mut entries, mut array, mut max) = (0usize, true, 0i32);
    let mut cursor = 0;
    while let Some((next, k, _)) = ctx.entry_from(t, cursor) {
        cursor = next;
        ctx.step(1)?;
        entries += 1;
        match k {
            Value::Num(n) if n > 0.0 && f64::from(n as i32) == n => max = max.max(n as i32),
            _ => array = false,
        }
    }
    Ok((entries, array && max as usize == entries))
}

fn head_bytes(buf: &mut Vec<u8>, len: usize) {
    match len {
        0..=31 => buf.push(0xa0 | len as u8),
        32..=0xff => buf.extend_from_slice(&[0xd9, len as u8]),
        0x100..=0xffff => {
            buf.push(0xda);
            buf.extend_from_slice(&(len as u16).to_be_bytes());
        }
        _ => {
            buf.push(0xdb);
            buf.extend_from_slice(&(len as u32).to_be_bytes());
        }
    }
}

/// Head of an array or a map: up to 15 in the first byte, else in 2 or 4 bytes.
fn head_many(buf: &mut Vec<u8>, len: usize, fix: u8, wide: u8) {
    match len {
        0..=15 => buf.push(fix | len as u8),
        16..=0xffff => {
            buf.push(wide);
            buf.extend_from_slice(&(len as u16).to_be_bytes());
        }
        _ => {
            buf.push(wide + 1);
            buf.extend_from_slice(&(len as u32).to_be_bytes());
        }
    }
}

fn encode_number(buf: &mut Vec<u8>, n: f64) {
    if n.is_finite() && crate::numfmt::to_i64(n) as f64 == n {
        encode_int(buf, crate::numfmt::to_i64(n));
    } else if f64::from(n as f32) == n {
        buf.push(0xca);
        buf.extend_from_slice(&(n as f32).to_be_bytes());
    } else {
        buf.push(0xcb);
        buf.extend_from_slice(&n.to_be_bytes());
    }
}

fn encode_int(buf: &mut Vec<u8>, n: i64) {
    match n {
        -32..=127 => buf.push(n as u8),
        128..=0xff => buf.extend_from_slice(&[0xcc, n as u8]),
        -128..-32 => buf.extend_from_slice(&[0xd0, n as u8]),
        _ => {
            let (tag, bytes) = match n {
                0x100..=0xffff => (0xcd, 2),
                0x1_0000..=0xffff_ffff => (0xce, 4),
                0x1_0000_0000.. => (0xcf, 8),
                -0x8000..=-1 => (0xd1, 2),
                -0x8000_0000..-0x8000 => (0xd2, 4),
                _ => (0xd3, 8),
            };
            buf.push(tag);
            buf.extend_from_slice(&n.to_be_bytes()[8 - bytes..]);
        }
    }
}

fn unpack(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    unpack_full(ctx, 0, 0)
}

fn unpack_one(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let offset = ctx.opt_i64(2, 0)?;
    keep_first(ctx);
    unpack_full(ctx, 1, offset)
}

fn unpack_limit(ctx: &mut Ctx<'_>) -> Result<usize, LuaError> {
    let limit = ctx.check_i64(2)?;
    let offset = ctx.opt_i64(3, 0)?;
    keep_first(ctx);
    unpack_full(ctx, limit, offset)
}

/// Drops all arguments but the first, as the original does before it checks that.
fn keep_first(ctx: &mut Ctx<'_>) {
    if ctx.nargs > 1 {
        ctx.nargs = 1;
        ctx.drop_to(0);
    }
}

fn unpack_full(ctx: &mut Ctx<'_>, limit: i64, offset: i64) -> Result<usize, LuaError> {
    let all = limit == 0 && offset == 0;
    let data = ctx.check_str(1)?;
    let len = ctx.bytes(data).len();
    if offset < 0 || limit < 0 {
        // The original prints the length where it says limit.
        let (offset, len) = (offset as i32, len as i32);
        return Err(
            ctx.error(&format!("Invalid request to unpack with offset of {offset} and limit of {len}."))
        );
    }
    if offset as u64 > len as u64 {
        let offset = offset as i32;
        return Err(ctx.error(&format!("Start offset {offset} greater than input length {len}.")));
    }
    let limit = if all { i64::from(i32::MAX) } else { limit };
    // Everything read is at most as large as a few times the input: make room before there is anything to lose.
    ctx.reserve(len.saturating_mul(2).min(ctx.st.heap.max_string))?;
    let mut reader = Reader { data, at: offset as usize, looks: 0 };
    let mut n = 0;
    while reader.at < len && (n as i64) < limit {
        decode(ctx, &mut reader)?;
        n += 1;
    }
    if !all {
        ctx.check_stack(1, "in function mp_unpack_full")?;
        let next = if reader.at == len { -1.0 } else { reader.at as f64 };
        ctx.push(Value::Num(next));
        let from = ctx.st.top - n - 1;
        let top = ctx.st.top;
        ctx.st.stack[from..top].rotate_right(1);
        n += 1;
    }
    Ok(n)
}

struct Reader {
    data: StrId,
    at: usize,
    looks: u32,
}

/// Why bytes cannot be read.
enum Bad {
    End,
    Format,
}

impl Bad {
    #[cold]
    fn raise(self, ctx: &mut Ctx<'_>) -> LuaError {
        ctx.error(match self {
            Bad::End => "Missing bytes in input.",
            Bad::Format => "Bad data format in input.",
        })
    }
}

/// What stands at the cursor.
enum Item {
    Value(Value),
    Bytes(usize),
    Array(usize),
    Map(usize),
}

impl Reader {
    fn take<const N: usize>(&mut self, data: &[u8]) -> Result<[u8; N], Bad> {
        let bytes = data.get(self.at..self.at + N).and_then(|b| b.try_into().ok()).ok_or(Bad::End)?;
        self.at += N;
        Ok(bytes)
    }

    fn item(&mut self, data: &[u8]) -> Result<Item, Bad> {
        let [tag] = self.take(data)?;
        let number = |n: f64| Item::Value(Value::Num(n));
        Ok(match tag {
            0x00..=0x7f => number(f64::from(tag)),
            0x80..=0x8f => Item::Map(usize::from(tag & 15)),
            0x90..=0x9f => Item::Array(usize::from(tag & 15)),
            0xa0..=0xbf => Item::Bytes(usize::from(tag & 31)),
            0xc0 => Item::Value(Value::Nil),
            0xc2 | 0xc3 => Item::Value(Value::Bool(tag == 0xc3)),
            0xca => number(f64::from(f32::from_be_bytes(self.take(data)?))),
            0xcb => number(f64::from_be_bytes(self.take(data)?)),
            0xcc => number(f64::from(self.take::<1>(data)?[0])),
            0xcd => number(f64::from(u16::from_be_bytes(self.take(data)?))),
            0xce => number(f64::from(u32::from_be_bytes(self.take(data)?))),
            // Unsigned 64-bit numbers pass through a signed integer.
            0xcf | 0xd3 => number(i64::from_be_bytes(self.take(data)?) as f64),
            0xd0 => number(f64::from(i8::from_be_bytes(self.take(data)?))),
            0xd1 => number(f64::from(i16::from_be_bytes(self.take(data)?))),
            0xd2 => number(f64::from(i32::from_be_bytes(self.take(data)?))),
            0xd9 => Item::Bytes(usize::from(self.take::<1>(data)?[0])),
            0xda => Item::Bytes(usize::from(u16::from_be_bytes(self.take(data)?))),
            0xdb => Item::Bytes(u32::from_be_bytes(self.take(data)?) as usize),
            0xdc => Item::Array(usize::from(u16::from_be_bytes(self.take(data)?))),
            0xdd => Item::Array(u32::from_be_bytes(self.take(data)?) as usize),
            0xde => Item::Map(usize::from(u16::from_be_bytes(self.take(data)?))),
            0xdf => Item::Map(u32::from_be_bytes(self.take(data)?) as usize),
            0xe0..=0xff => number(f64::from(tag as i8)),
            _ => return Err(Bad::Format),
        })
    }
}

/// A container being filled.
struct Open {
    table: TableId,
    map: bool,
    /// Entries still to come
    left: usize,
    /// Index of the next array element
    index: f64,
    /// The next item of a map is a value, its key is on the stack
    keyed: bool,
}

/// Reads one value and pushes it. Containers are kept in a list: nesting costs stack slots of the script, as in the
/// original, whose limit on these bounds it.
fn decode(ctx: &mut Ctx<'_>, reader: &mut Reader) -> Result<(), LuaError> {
    let mut open: Vec<Open> = Vec::new();
    loop {
        reader.looks += 1;
        if reader.looks.is_multiple_of(ITEMS_PER_LOOK) {
            ctx.step(ITEMS_PER_LOOK)?;
            ctx.check_len(2 * ITEMS_PER_LOOK as usize * 16)?;
        }
        if reader.at >= ctx.bytes(reader.data).len() {
            return Err(Bad::End.raise(ctx));
        }
        ctx.check_stack(1, TOO_MANY)?;
        let data = ctx.st.heap.strs.get(reader.data);
        let item = match reader.item(data) {
            Ok(item) => item,
            Err(bad) => return Err(bad.raise(ctx)),
        };
        match item {
            Item::Value(v) => ctx.push(v),
            Item::Bytes(n) => {
                let from = reader.at;
                if data.len() - from < n {
                    return Err(Bad::End.raise(ctx));
                }
                reader.at += n;
                let v = ctx.substr(reader.data, from, from + n)?;
                ctx.push(v);
            }
            Item::Array(left) | Item::Map(left) => {
                let map = matches!(item, Item::Map(_));
                let table = ctx.new_table(0, 0)?;
                ctx.push(Value::Table(table));
                if !map {
                    ctx.check_stack(1, "in function mp_decode_to_lua_array")?;
                }
                open.push(Open { table, map, left, index: 1.0, keyed: false });
                if left > 0 && !map {
                    ctx.push(Value::Num(1.0));
                }
                if left > 0 {
                    continue;
                }
                open.pop();
            }
        }
        if !store(ctx, &mut open)? {
            return Ok(());
        }
    }
}

/// Puts the value on the stack into the innermost open container, and closes those that are full. False when the value
/// belongs to none: it is a result.
fn store(ctx: &mut Ctx<'_>, open: &mut Vec<Open>) -> Result<bool, LuaError> {
    while let Some(top) = open.last_mut() {
        if top.map && !top.keyed {
            top.keyed = true;
            return Ok(true);
        }
        let v = ctx.pop();
        let k = ctx.pop();
        top.keyed = false;
        top.left -= 1;
        ctx.raw_set(top.table, k, v)?;
        if top.left > 0 {
            if !top.map {
                top.index += 1.0;
                let index = top.index;
                ctx.push(Value::Num(index));
            }
            return Ok(true);
        }
        // Full: the table itself is the value of the container around it.
        open.pop();
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(n: f64) -> Vec<u8> {
        let mut buf = Vec::new();
        encode_number(&mut buf, n);
        buf
    }

    #[test]
    fn numbers_take_the_shortest_form_of_their_sign() {
        for (n, want) in [
            (0.0, &[0][..]),
            (-0.0, &[0]),
            (127.0, &[127]),
            (128.0, &[0xcc, 128]),
            (256.0, &[0xcd, 1, 0]),
            (65_536.0, &[0xce, 0, 1, 0, 0]),
            (4_294_967_296.0, &[0xcf, 0, 0, 0, 1, 0, 0, 0, 0]),
            (-1.0, &[0xff]),
            (-32.0, &[0xe0]),
            (-33.0, &[0xd0, 0xdf]),
            (-129.0, &[0xd1, 0xff, 0x7f]),
            (-32_769.0, &[0xd2, 0xff, 0xff, 0x7f, 0xff]),
            (-2_147_483_649.0, &[0xd3, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]),
            (1.5, &[0xca, 0x3f, 0xc0, 0, 0]),
            (0.1, &[0xcb, 0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]),
            (f64::INFINITY, &[0xca, 0x7f, 0x80, 0, 0]),
            (9_223_372_036_854_775_808.0, &[0xca, 0x5f, 0, 0, 0]),
        ] {
            assert_eq!(number(n), want, "{n}");
        }
    }

    #[test]
    fn lengths_at_the_bounds() {
        let head = |f: &dyn Fn(&mut Vec<u8>)| {
            let mut buf = Vec::new();
            f(&mut buf);
            buf
        };
        assert_eq!(head(&|b| head_bytes(b, 31)), [0xbf]);
        assert_eq!(head(&|b| head_bytes(b, 32)), [0xd9, 32]);
        assert_eq!(head(&|b| head_bytes(b, 256)), [0xda, 1, 0]);
        assert_eq!(head(&|b| head_bytes(b, 65_536)), [0xdb, 0, 1, 0, 0]);
        assert_eq!(head(&|b| head_many(b, 15, 0x90, 0xdc)), [0x9f]);
        assert_eq!(head(&|b| head_many(b, 16, 0x90, 0xdc)), [0xdc, 0, 16]);
        assert_eq!(head(&|b| head_many(b, 65_536, 0x80, 0xde)), [0xdf, 0, 1, 0, 0]);
    }
}
