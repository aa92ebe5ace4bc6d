//! BITFIELD: reads and changes integers of any width at any bit offset of a string.
//!
//! Types are `i1` to `i64` and `u1` to `u63`; an offset `#n` counts fields of the type's width. OVERFLOW says, for the
//! SET and INCRBY that follow it, what becomes of a value that does not fit: WRAP (as at the beginning), SAT (the
//! nearest that fits) or FAIL (null, nothing is written).
//!
//! ```transcript
//! > BITFIELD k SET u8 0 255 GET u4 4
//! 1) (integer) 0
//! 2) (integer) 15
//! > BITFIELD k INCRBY u8 0 1 OVERFLOW SAT INCRBY u8 0 300 OVERFLOW FAIL INCRBY u8 0 1
//! 1) (integer) 0
//! 2) (integer) 255
//! 3) (nil)
//! > BITFIELD s OVERFLOW SAT SET i8 0 -9223372036854775808 GET i8 0 SET i8 0 -9000000000000000000 GET i8 0
//! 1) (integer) 0
//! 2) (integer) 127
//! 3) (integer) 127
//! 4) (integer) -128
//! > BITFIELD k GET u64 0
//! (error) ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.
//! > BITFIELD k OVERFLOW NONE
//! (error) ERR Invalid OVERFLOW type specified
//! ```

use crate::types::journal::StrEdit;
use crate::commands::bitmap_util::{bit_offset, edit, get_field, mask, set_field};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::notify::Event;
use crate::reply::Reply;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("bitfield", -2, Group::Bitmap, Flags::WRITE.union(Flags::DENYOOM), run).args("key:k@0 operation:o?*(get-block:b'GET'(encoding:s offset:i) write:b(overflow-block:o'OVERFLOW'?(wrap:t'WRAP' sat:t'SAT' fail:t'FAIL') write-operation:o(set-block:b'SET'(encoding:s offset:i value:i) incrby-block:b'INCRBY'(encoding:s offset:i increment:i))))")
    .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS).union(KeyFlags::VARIABLE))])
    .doc("3.2.0", "O(1) for each operation", "Reads and changes integers at bit offsets of a string.");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overflow {
    Wrap,
    Sat,
    Fail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Get,
    Set,
    IncrBy,
}

#[derive(Debug, Clone, Copy)]
struct Op {
    kind: Kind,
    offset: u64,
    bits: u32,
    signed: bool,
    value: i64,
    overflow: Overflow,
}

fn run(cx: &mut Cx<'_>) -> Res {
    generic(cx, false)
}

/// BITFIELD and BITFIELD_RO.
pub(super) fn generic(cx: &mut Cx<'_>, read_only: bool) -> Res {
    let ops = parse(cx)?;
    let writes = ops.iter().filter(|op| op.kind != Kind::Get);
    let Some(last_bit) = writes.map(|op| op.offset + u64::from(op.bits) - 1).max() else {
        let value = cx.ks.read_str(cx.args[1])?;
        cx.reply.array(ops.len());
        let bytes = value.as_deref().unwrap_or(b"");
        ops.iter().for_each(|op| cx.reply.int(op.get(bytes)));
        return Ok(());
    };
    if read_only {
        return Err(CmdError::new("ERR BITFIELD_RO only supports the GET subcommand"));
    }
    let reply = &mut cx.reply;
    let mut guard = cx.ks.write(cx.args[1]);
    let changes = edit(&mut guard, (last_bit >> 3) as usize + 1, |bytes, grew| {
        reply.array(ops.len());
        let changes = ops.iter().filter(|op| op.apply(bytes, grew, reply)).count() as u64;
        // A string that only grew, because everything overflowed, is a change as well.
        changes.max(u64::from(grew))
    })?;
    if changes > 0 {
        guard.changed(Event::string("setbit"), changes);
    }
    Ok(())
}

fn parse(cx: &Cx<'_>) -> Res<Vec<Op>> {
    let mut ops = Vec::new();
    let mut overflow = Overflow::Wrap;
    let mut i = 2;
    while i < cx.argc() {
        let left = cx.argc() - i - 1;
        let kind = if cx.is(i, "GET") && left >= 2 {
            Kind::Get
        } else if cx.is(i, "SET") && left >= 3 {
            Kind::Set
        } else if cx.is(i, "INCRBY") && left >= 3 {
            Kind::IncrBy
        } else if cx.is(i, "OVERFLOW") && left >= 1 {
            overflow = if cx.is(i + 1, "WRAP") {
                Overflow::Wrap
            } else if cx.is(i + 1, "SAT") {
                Overflow::Sat
            } else if cx.is(i + 1, "FAIL") {
                Overflow::Fail
            } else {
                return Err(CmdError::new("ERR Invalid OVERFLOW type specified"));
            };
            i += 2;
            continue;
        } else {
            return Err(SYNTAX);
        };
        let (signed, bits) = field_type(cx.args[i + 1])?;
        let offset = bit_offset(cx, cx.args[i + 2], Some(bits))?;
        let value = if kind == Kind::Get { 0 } else { cx.int(i + 3)? };
        ops.push(Op { kind, offset, bits, signed, value, overflow });
        i += if kind == Kind::Get { 3 } else { 4 };
    }
    Ok(ops)
}

/// Reads `i<bits>` or `u<bits>`: true for signed, and the width.
fn field_type(arg: &[u8]) -> Res<(bool, u32)> {
    const BAD: CmdError = CmdError::new(
        "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.",
    );
    let (signed, digits) = match arg {
        [b'i', digits @ ..] => (true, digits),
        [b'u', digits @ ..] => (false, digits),
        _ => return Err(BAD),
    };
    let max = if signed { 64 } else { 63 };
    match crate::util::parse_i64(digits) {
        Some(bits) if (1..=max).contains(&bits) => Ok((signed, bits as u32)),
        _ => Err(BAD),
    }
}

impl Op {
    fn get(&self, bytes: &[u8]) -> i64 {
        self.extend(get_field(bytes, self.offset, self.bits))
    }

    /// The low bits as a number of the field's type.
    fn extend(&self, raw: u64) -> i64 {
        if self.signed {
            let unused = 64 - self.bits;
            (raw << unused) as i64 >> unused
        } else {
            raw as i64
        }
    }

    /// Executes the operation and answers it; true when it changed something.
    fn apply(&self, bytes: &mut StrEdit<'_>, grew: bool, reply: &mut Reply<'_>) -> bool {
        let old = self.get(bytes);
        let wanted = match self.kind {
            Kind::Get => {
                reply.int(old);
                return false;
            }
            // A negative value of an unsigned field is meant as its two's complement, so it is above the maximum.
            Kind::Set if !self.signed => i128::from(self.value as u64),
            Kind::Set => i128::from(self.value),
            Kind::IncrBy => i128::from(old) + i128::from(self.value),
        };
        let Some(new) = self.fit(wanted) else {
            reply.null();
            return false;
        };
        reply.int(if self.kind == Kind::Set { old } else { new });
        let first = (self.offset >> 3) as usize;
        let last = ((self.offset + u64::from(self.bits) - 1) >> 3) as usize;
        set_field(bytes.range_mut(first..last + 1), self.offset & 7, self.bits, new as u64);
        grew || old != new
    }

    /// The number that is stored for `wanted`; `None` for an overflow that fails.
    fn fit(&self, wanted: i128) -> Option<i64> {
        let (min, max) = if self.signed {
            let max = mask(self.bits - 1) as i64;
            (-max - 1, max)
        } else {
            (0, mask(self.bits) as i64)
        };
        if (i128::from(min)..=i128::from(max)).contains(&wanted) {
            return Some(wanted as i64);
        }
        match self.overflow {
            Overflow::Fail => None,
            Overflow::Sat => {
                // A value so far below that its distance from the maximum needs more than 64 bits is taken for one
                // above by Redis and Valkey.
                let far = self.kind == Kind::Set && max.checked_sub(self.value).is_none();
                Some(if wanted < i128::from(min) && !far { min } else { max })
            }
            Overflow::Wrap => Some(self.extend(wanted as u64 & mask(self.bits))),
        }
    }
}
