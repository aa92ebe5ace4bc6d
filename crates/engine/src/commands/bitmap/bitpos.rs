//! BITPOS: the first bit of a string that is set or clear.
//!
//! When a clear bit is looked for and no end is given, the string counts as followed by zeros.
//!
//! ```transcript
//! > SET k "\xff\xf0\x00"
//! OK
//! > BITPOS k 0
//! (integer) 12
//! > BITPOS k 1 2
//! (integer) -1
//! > BITPOS k 1 7 15 BIT
//! (integer) 7
//! > SET full "\xff"
//! OK
//! > BITPOS full 0
//! (integer) 8
//! > BITPOS full 0 0 -1
//! (integer) -1
//! > BITPOS nokey 1
//! (integer) -1
//! > BITPOS k 2
//! (error) ERR The bit argument must be 1 or 0.
//! ```

use super::bitcount::is_bit;
use crate::commands::bitmap_util::find_bit;
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("bitpos", -3, Group::Bitmap, Flags::READONLY, run).args("key:k@0 bit:i range:b?(start:i end-unit-block:b?(end:i unit:o?^7.0.0(byte:t'BYTE' bit:t'BIT')))")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.8.7", "O(N) for N bytes", "Finds the first bit of a string that is set or clear.");

fn run(cx: &mut Cx<'_>) -> Res {
    let bit = match cx.int(2)? {
        bit @ (0 | 1) => bit == 1,
        _ => return Err(CmdError::new("ERR The bit argument must be 1 or 0.")),
    };
    if cx.argc() > 6 {
        return Err(SYNTAX);
    }
    let start = if cx.argc() > 3 { cx.int(3)? } else { 0 };
    let bits = cx.argc() == 6 && is_bit(cx, 5)?;
    let end = if cx.argc() > 4 { Some(cx.int(4)?) } else { None };
    let Some(value) = cx.ks.read_str(cx.args[1])? else {
        cx.reply.int(if bit { -1 } else { 0 });
        return Ok(());
    };
    let len = value.len() as i64 * if bits { 8 } else { 1 };
    let clamp = |i: i64| if i < 0 { i.saturating_add(len).max(0) } else { i };
    let (start, last) = (clamp(start), clamp(end.unwrap_or(-1)).min(len - 1));
    if start > last {
        cx.reply.int(-1);
        return Ok(());
    }
    let (start, last) =
        if bits { (start as u64, last as u64) } else { (start as u64 * 8, last as u64 * 8 + 7) };
    let found = match find_bit(&value, bit, start, last) {
        Some(at) => at as i64,
        None if !bit && end.is_none() => value.len() as i64 * 8,
        None => -1,
    };
    cx.reply.int(found);
    Ok(())
}
